"""Two pieces side by side where there is room for both, one above the other where there is not.

Owns the change of direction; knows nothing of the pieces.
"""

from __future__ import annotations

from PySide6.QtCore import QSize
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QBoxLayout, QWidget

from app.widgets.ink import px


class SideBySide(QWidget):
    """Two pieces; below ``least`` (at 100 % text) they stand one above the other."""

    def __init__(
        self, left: QWidget, right: QWidget, *, least: int, shares: tuple[int, int]
    ) -> None:
        super().__init__()
        self._least = least
        self._pieces = (left, right)
        self._box = QBoxLayout(QBoxLayout.Direction.LeftToRight, self)
        self._box.setContentsMargins(0, 0, 0, 0)
        self._box.setSpacing(12)
        for piece, share in zip(self._pieces, shares, strict=True):
            self._box.addWidget(piece, share)

    def minimumSizeHint(self) -> QSize:
        """As narrow as the wider piece: the other can go below it."""
        hints = [piece.minimumSizeHint() for piece in self._pieces]
        stacked = self._box.direction() == QBoxLayout.Direction.TopToBottom
        tall = (sum if stacked else max)(hint.height() for hint in hints)
        return QSize(max(hint.width() for hint in hints), tall + self._box.spacing())

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Turn where the width asks for it."""
        wide = event.size().width() >= px(self._least)
        towards = QBoxLayout.Direction.LeftToRight if wide else QBoxLayout.Direction.TopToBottom
        if towards != self._box.direction():
            self._box.setDirection(towards)
            self.updateGeometry()
        super().resizeEvent(event)
