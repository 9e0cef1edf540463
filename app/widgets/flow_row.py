"""A row that breaks into further lines where it does not fit. Owns the places; decides nothing."""

from __future__ import annotations

from PySide6.QtCore import QEvent, QObject, QSize
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QSizePolicy, QWidget


class FlowRow(QWidget):
    """Pieces from left to right in as many lines as are needed; the very last one stands right."""

    def __init__(self, *, space: int = 8) -> None:
        super().__init__()
        self._space = space
        self._pieces: list[QWidget] = []
        policy = QSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Fixed)
        self.setSizePolicy(policy)

    def add(self, piece: QWidget) -> None:
        """One more piece at the end."""
        piece.setParent(self)
        piece.installEventFilter(self)
        self._pieces.append(piece)
        self._arrange()

    def sizeHint(self) -> QSize:
        return QSize(sum(size.width() + self._space for _p, size in self._shown()), self.height())

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._arrange()

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """A piece that is shown, hidden or wants another size moves the others."""
        if event.type() in (
            QEvent.Type.ShowToParent,
            QEvent.Type.HideToParent,
            QEvent.Type.LayoutRequest,
            QEvent.Type.StyleChange,
        ):
            self._arrange()
        return super().eventFilter(watched, event)

    def event(self, event: QEvent) -> bool:
        """A child asked for another size."""
        if event.type() == QEvent.Type.LayoutRequest:
            self._arrange()
        return super().event(event)

    def _shown(self) -> list[tuple[QWidget, QSize]]:
        return [
            (piece, piece.sizeHint().expandedTo(piece.minimumSize()))
            for piece in self._pieces
            if not piece.isHidden()
        ]

    def _lines(self) -> list[list[tuple[QWidget, QSize]]]:
        lines: list[list[tuple[QWidget, QSize]]] = [[]]
        x = 0
        for piece, size in self._shown():
            if lines[-1] and x + size.width() > self.width():
                lines.append([])
                x = 0
            lines[-1].append((piece, size))
            x += size.width() + self._space
        return lines

    def _arrange(self) -> None:
        y = 0
        for line in self._lines():
            high = max((size.height() for _piece, size in line), default=0)
            x = 0
            for piece, size in line:
                wide = min(size.width(), max(1, self.width()))
                last = piece is self._pieces[-1]
                at = max(x, self.width() - wide) if last else x
                piece.setGeometry(at, y + (high - size.height()) // 2, wide, size.height())
                x += wide + self._space
            y += high + self._space
        high = max(0, y - self._space)
        if self.minimumHeight() != high or self.maximumHeight() != high:
            self.setFixedHeight(high)
