"""The keys of a page, on top of it, until any key is pressed."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QFrame, QGridLayout, QLabel, QVBoxLayout, QWidget

from app import theme

RATING_KEYS = (
    ("F", "left list is better"),
    ("J", "right list is better"),
    ("T", "both are useful"),
    ("N", "neither is useful"),
    ("Enter", "store the answer and go on"),
    ("Ctrl+Z", "take the answer back, or return to the item before"),
    ("P", "pause"),
)
LOOKING_KEYS = (
    ("Wheel, arrows", "slices; Page Up and Page Down by ten"),
    ("Left drag", "window: across width, down level"),
    ("1 2 3 4", "window presets; 8 full range, 9 as given"),
    ("I", "invert"),
    ("Middle drag", "pan; Shift with left drag on a laptop"),
    ("Right drag", "zoom; Ctrl with wheel, + and -, 0 fits"),
    ("R", "as first shown"),
    ("Tab, pointer", "choose a frame"),
    ("Space", "hold: chosen frame in the place of the query"),
    ("M, double click", "enlarge the frame; Esc returns"),
    ("K", "link or unlink the viewers"),
    ("F11", "full screen"),
)

BLOCKS = {"Rating": RATING_KEYS, "Looking": LOOKING_KEYS}


class KeyHelp(QFrame):
    """A panel with blocks of keys."""

    def __init__(self, parent: QWidget, *, blocks: Sequence[str] = ("Rating", "Looking")) -> None:
        super().__init__(parent)
        self._room = parent
        self.setProperty("surface", "raised")
        self.setAccessibleName("Keys")
        column = QVBoxLayout(self)
        column.setContentsMargins(*([theme.SPACE_XL] * 4))
        column.setSpacing(theme.SPACE_M)
        for title in blocks:
            heading = QLabel(title)
            heading.setProperty("role", "heading")
            column.addWidget(heading)
            column.addLayout(_table(BLOCKS[title]))
        close = QLabel("Any key closes this")
        close.setProperty("role", "small")
        close.setAlignment(Qt.AlignmentFlag.AlignCenter)
        column.addWidget(close)
        self.hide()

    def open(self) -> None:
        """Show it in the middle of its parent."""
        self.setStyleSheet("")
        self.adjustSize()
        size = theme.px("body")
        while self.height() > self._room.height() and size > theme.TYPE_PX["small"]:
            size -= 1
            self.setStyleSheet(f"QLabel {{ font-size: {size}px; }}")
            self.adjustSize()
        room = self._room.rect()
        place = self.rect()
        place.moveCenter(room.center())
        self.setGeometry(place)
        self.raise_()
        self.show()


def _table(keys: Sequence[tuple[str, str]]) -> QGridLayout:
    grid = QGridLayout()
    grid.setHorizontalSpacing(theme.SPACE_XL)
    grid.setVerticalSpacing(theme.SPACE_XS)
    for row, (key, words) in enumerate(keys):
        name = QLabel(key)
        name.setStyleSheet("font-weight: 600;")
        grid.addWidget(name, row, 0)
        grid.addWidget(QLabel(words), row, 1)
    grid.setColumnStretch(1, 1)
    return grid
