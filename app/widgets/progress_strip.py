"""The strip above the triptych: which item, how far, how long; one hint; pause and help."""

from __future__ import annotations

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QFrame, QHBoxLayout, QLabel, QProgressBar, QPushButton, QWidget

from app import theme
from app.keys import with_key

HEIGHT = 44


class ProgressStrip(QFrame):
    """Shows progress in neutral greys."""

    pause_asked = Signal()
    help_asked = Signal()
    link_asked = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setProperty("surface", "bar")
        self.setFixedHeight(HEIGHT)
        self._place, self._left, self._hint = QLabel(), QLabel(), QLabel()
        self._left.setProperty("role", "quiet")
        self._bar = QProgressBar()
        self._bar.setProperty("tone", "neutral")
        self._bar.setTextVisible(False)
        self._bar.setFixedWidth(220)
        self._bar.setAccessibleName("Progress through the study")
        self._hint.setAlignment(Qt.AlignmentFlag.AlignCenter)
        self._link = self._button("Link or unlink the seven viewers", self.link_asked)
        self._pause = self._button("Pause", self.pause_asked)
        self._help = self._button("Show the keys", self.help_asked)
        self._linked = True
        self.name_keys()
        row = QHBoxLayout(self)
        row.setContentsMargins(theme.SPACE_M, 0, theme.SPACE_S, 0)
        row.setSpacing(theme.SPACE_M)
        for widget in (self._place, self._bar, self._left):
            row.addWidget(widget)
        row.addWidget(self._hint, 1)
        for button in (self._link, self._pause, self._help):
            row.addWidget(button)

    def show_progress(self, position: int, total: int, left: str) -> None:
        """Item ``position`` of ``total``; ``left`` is the time in words, or empty."""
        self._place.setText(f"item {position:,} of {total:,}")
        self._bar.setRange(0, max(1, total))
        self._bar.setValue(position - 1)
        self._left.setText(left)

    def show_hint(self, sentence: str, *, kind: str = "quiet") -> None:
        """One sentence in the middle; ``kind`` is ``quiet``, ``warn`` or ``error``."""
        word = {"warn": "Note: ", "error": "Error: "}.get(kind, "")
        self._hint.setProperty("role", kind)
        self._hint.style().polish(self._hint)
        self._hint.setText(f"{word}{sentence}" if sentence else "")

    def show_link(self, *, on: bool) -> None:
        """Whether the viewers are linked."""
        self._linked = on
        self.name_keys()

    def name_keys(self) -> None:
        """Say the keys in force."""
        self._link.setText(with_key("linked" if self._linked else "not linked", "link"))
        self._pause.setText(with_key("pause", "pause"))
        self._help.setText(with_key("keys", "help"))

    def _button(self, name: str, signal: object) -> QPushButton:
        button = QPushButton()
        button.setProperty("kind", "flat")
        button.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        button.setAccessibleName(name)
        button.clicked.connect(lambda: signal.emit())  # type: ignore[attr-defined]
        return button
