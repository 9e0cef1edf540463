"""A quiet text of at most two whole lines; what does not fit is in its tooltip."""

from __future__ import annotations

from PySide6.QtCore import QSize, Qt
from PySide6.QtGui import QFontMetrics, QResizeEvent
from PySide6.QtWidgets import QLabel, QWidget

from app import theme

WRAPPED = 0.94  # how much of a line is filled where words wrap


class TwoLines(QLabel):
    """Keeps its height whatever it says, so that nothing moves."""

    def __init__(self, name: str, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.words = ""
        self.setAccessibleName(name)
        self.setProperty("role", "small")
        self.setWordWrap(True)
        self.setTextFormat(Qt.TextFormat.PlainText)
        theme.theme.scaled.connect(self._fit)
        self._fit()

    def say(self, words: str) -> None:
        """Show a text, cut at the end of its second line."""
        self.words = words
        self.setToolTip(words)
        metrics = QFontMetrics(theme.font("small"))
        room = round(2 * self.width() * WRAPPED)
        self.setText(metrics.elidedText(words, Qt.TextElideMode.ElideRight, room))

    def minimumSizeHint(self) -> QSize:
        return QSize(0, self.height())

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self.say(self.words)

    def _fit(self) -> None:
        self.setFixedHeight(2 * QFontMetrics(theme.font("small")).lineSpacing() + 4)
        self.say(self.words)
