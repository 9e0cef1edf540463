"""The keys in force on a page, on top of it, until any key is pressed.

Made from ``app.keys.COMMANDS`` each time it opens, so that it never tells of keys that are no
longer so. What the mouse does stands beside it.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence

from PySide6.QtCore import QEvent, QObject, Qt
from PySide6.QtWidgets import QFrame, QGridLayout, QLabel, QVBoxLayout, QWidget

from app import keys, theme
from app.key_names import shown_name
from app.keys import COMMANDS
from app.widgets.blocks import clear

TITLES = {"review": "Rating", "viewer": "Viewer", "shared": "Frames", "picture": "Pictures"}
MOUSE = (
    ("Wheel", "Slices"),
    ("Left drag", "Window: across for width, down for level"),
    ("Middle drag", "Move; on a laptop left drag with Shift"),
    ("Right drag", "Zoom; or the wheel with Ctrl"),
    ("Double click", "Enlarge the frame, or shrink it"),
    ("Tab, pointer", "Choose a frame"),
)
COLUMNS = 3

Line = tuple[str, str]
Block = tuple[str, tuple[Line, ...]]


def blocks_of(page: str, without: Collection[str] = ()) -> tuple[Block, ...]:
    """Headings with lines of (keys, what they do) of ``viewer`` or ``review``.

    Args:
        page: whose keys.
        without: commands that are not to be told, with all whose ids begin so (``confidence``).
    """
    places = (page, "shared", "picture")
    left_out = set(keys.NOT_RATING if page == "review" else ())
    left_out |= {one.id for one in COMMANDS if one.id.partition("-")[0] in without}
    made = [(TITLES[place], tuple(_lines(place, left_out))) for place in places]
    return (*made, ("Mouse", MOUSE))


def _lines(place: str, left_out: Collection[str]) -> list[Line]:
    force = keys.current()
    return [
        (", ".join(map(shown_name, force.keys_of(command.id))), command.text)
        for command in COMMANDS
        if command.page == place and command.id not in left_out and force.keys_of(command.id)
    ]


class KeyHelp(QFrame):
    """A panel with the keys of a page.

    Args:
        parent: what it lies on.
        page: ``viewer`` or ``review``.
    """

    def __init__(self, parent: QWidget, *, page: str) -> None:
        super().__init__(parent)
        self._room, self._page = parent, page
        self._without: frozenset[str] = frozenset()
        self.setProperty("surface", "raised")
        self.setAccessibleName("Keys")
        column = QVBoxLayout(self)
        column.setContentsMargins(*([theme.SPACE_L] * 4))
        column.setSpacing(theme.SPACE_M)
        self._grid = QGridLayout()
        self._grid.setHorizontalSpacing(theme.SPACE_M)
        self._grid.setVerticalSpacing(2)
        column.addLayout(self._grid)
        close = QLabel("Any key closes this. Settings, Keys changes them.")
        close.setProperty("role", "small")
        close.setAlignment(Qt.AlignmentFlag.AlignCenter)
        column.addWidget(close)
        parent.installEventFilter(self)
        self.hide()

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Stay in the middle, and as large as can be, when the page changes its size."""
        if event.type() == QEvent.Type.Resize and watched is self._room and self.isVisible():
            self.hide()  # lines made while it is shown would be measured by and by, not at once
            self.open()
        return False

    def words(self) -> str:
        """Everything that it says, for a look or a test."""
        return "\n".join(label.text() for label in self.findChildren(QLabel))

    def leave_out(self, commands: Collection[str]) -> None:
        """Commands that are not to be told, with all whose ids begin so."""
        self._without = frozenset(commands)

    def open(self) -> None:
        """Show the keys in force, in the middle of its parent."""
        clear(self._grid)
        self._fill(blocks_of(self._page, self._without))
        self.setStyleSheet("")
        self.adjustSize()
        size = theme.px("body")
        while self._too_large() and size > theme.TYPE_PX["small"] - 2:
            size -= 1
            self.setStyleSheet(f"QLabel {{ font-size: {size}px; }}")
            self.adjustSize()
        place = self.rect()
        place.moveCenter(self._room.rect().center())
        self.setGeometry(place)
        self.raise_()
        self.show()

    def _too_large(self) -> bool:
        return self.height() > self._room.height() or self.width() > self._room.width()

    def _fill(self, blocks: Sequence[Block]) -> None:
        """Three columns of about one height; a heading never stands alone at a column's foot."""
        lines: list[Line | str] = []
        for title, inside in blocks:
            lines += [title, *inside]
        high = -(-len(lines) // COLUMNS)
        row, column = 0, 0
        for line in lines:
            last = row == high - 1 and isinstance(line, str)
            if column < COLUMNS - 1 and (row >= high or last):
                row, column = 0, column + 1
            self._add(line, row, column)
            row += 1

    def _add(self, line: Line | str, row: int, column: int) -> None:
        if isinstance(line, str):
            heading = QLabel(line.upper())
            heading.setProperty("role", "quiet")
            self._grid.addWidget(heading, row, column * 2, 1, 2)
            return
        name, words = QLabel(line[0]), QLabel(line[1])
        name.setStyleSheet("font-weight: 600;")
        words.setContentsMargins(0, 0, theme.SPACE_L, 0)
        self._grid.addWidget(name, row, column * 2)
        self._grid.addWidget(words, row, column * 2 + 1)
