"""The strip above the triptych: which item, how far, how long; link, pause and help.

Says practice items are practice and not counted. Neutral greys only: pictures lie below it.
"""

from __future__ import annotations

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QFrame, QHBoxLayout, QLabel, QProgressBar, QPushButton, QWidget

from app import theme
from app.keys import with_key

HEIGHT = 44
LEAST_BAR, MOST_BAR = 40, 260
COUNTS = "Items and those that come back; practice was counted apart"


class ProgressStrip(QFrame):
    """Shows progress in neutral greys."""

    pause_asked = Signal()
    help_asked = Signal()
    link_asked = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setProperty("surface", "bar")
        self.setFixedHeight(HEIGHT)
        self._place, self._left = QLabel(), QLabel()
        self._left.setProperty("role", "quiet")
        self._bar = QProgressBar()
        self._bar.setProperty("tone", "neutral")
        self._bar.setTextVisible(False)
        self._bar.setMinimumWidth(LEAST_BAR)
        self._bar.setMaximumWidth(MOST_BAR)
        self._bar.setAccessibleName("Progress through the study")
        self._link = self._button("Link or unlink the seven viewers", self.link_asked)
        self._pause = self._button("Pause", self.pause_asked)
        self._help = self._button("Show the keys", self.help_asked)
        self._linked = True
        self.name_keys()
        row = QHBoxLayout(self)
        row.setContentsMargins(theme.SPACE_M, 0, theme.SPACE_S, 0)
        row.setSpacing(theme.SPACE_M)
        row.addWidget(self._place)
        row.addWidget(self._bar, 8)
        row.addWidget(self._left)
        row.addStretch(1)
        for button in (self._link, self._pause, self._help):
            row.addWidget(button)

    def show_progress(self, position: int, total: int, left: str, *, kind: str = "item") -> None:
        """Where the reader is.

        Args:
            position: from 1, among those of its kind.
            total: of its kind.
            left: the time left in words, or empty.
            kind: ``item``, ``practice`` or ``guess``.
        """
        words = {"practice": f"practice {position:,} of {total:,}, not counted",
                 "guess": f"question {position:,} of {total:,}"}  # fmt: skip
        self._place.setText(words.get(kind, f"item {position:,} of {total:,}"))
        self._place.setToolTip(COUNTS if kind == "item" else "")
        self._bar.setVisible(kind != "practice")
        self._bar.setRange(0, max(1, total))
        self._bar.setValue(position - 1)
        self._left.setText(left)

    def show_link(self, *, on: bool) -> None:
        """Whether the viewers are linked."""
        self._linked = on
        self.name_keys()

    def name_keys(self) -> None:
        """Say the keys in force."""
        state = "linked" if self._linked else "not linked"
        self._link.setText(with_key(state, "link"))
        self._link.setAccessibleDescription(state)  # the words on it are not what is heard
        self._pause.setText(with_key("pause", "pause"))
        self._help.setText(with_key("keys", "help"))

    def _button(self, name: str, signal: object) -> QPushButton:
        button = QPushButton()
        button.setProperty("kind", "flat")
        button.setFocusPolicy(button.focusPolicy().NoFocus)
        button.setAccessibleName(name)
        button.clicked.connect(lambda: signal.emit())  # type: ignore[attr-defined]
        return button
