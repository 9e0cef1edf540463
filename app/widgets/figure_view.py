"""A drawn figure whose points can be pointed at, walked with the arrow keys and opened.

Owns showing pixels and finding the nearest point; refuses to draw the figure. Says when its size
has settled, so that the figure is drawn anew in the right size.
"""

from __future__ import annotations

from PySide6.QtCore import QEvent, QPointF, QRectF, QSize, Qt, QTimer, Signal
from PySide6.QtGui import (
    QFocusEvent,
    QHelpEvent,
    QImage,
    QKeyEvent,
    QMouseEvent,
    QPainter,
    QPaintEvent,
    QPen,
    QResizeEvent,
    QShowEvent,
)
from PySide6.QtWidgets import QSizePolicy, QToolTip, QWidget

from app.shown_figures import FigureShown, MarkShown
from app.widgets.ink import ink, px

NEAR = 14
SETTLE_MS = 120
STEPS = {Qt.Key.Key_Right: 1, Qt.Key.Key_Down: 1, Qt.Key.Key_Left: -1, Qt.Key.Key_Up: -1}
OPEN = (Qt.Key.Key_Return, Qt.Key.Key_Enter, Qt.Key.Key_Space)


class FigureView(QWidget):
    """``wanted(width, height, ratio)`` asks for the figure, ``pointed(words)`` tells of a point,
    ``opened(task, model)`` of one that was clicked or entered.
    """

    wanted = Signal(int, int, float)
    pointed = Signal(str)
    opened = Signal(str, str)

    def __init__(self, name: str) -> None:
        super().__init__()
        self._shown: FigureShown | None = None
        self._image = QImage()
        self._current = -1
        self._words = "Drawing…"
        self.setAccessibleName(name)
        self.setMouseTracking(True)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Expanding)
        self._settle = QTimer(self)
        self._settle.setSingleShot(True)
        self._settle.setInterval(SETTLE_MS)
        self._settle.timeout.connect(self.ask)

    def minimumSizeHint(self) -> QSize:
        """The least in which a figure can be read."""
        return QSize(px(640), px(330))

    def ask(self) -> None:
        """Ask for the figure in the size there is now."""
        if self.isVisible() and self.width() > 1:
            scale = px(1000) / 1000
            width, height = round(self.width() / scale), round(self.height() / scale)
            self.wanted.emit(width, height, scale * self.devicePixelRatioF())

    def show_figure(self, shown: FigureShown) -> None:
        """Show another figure."""
        self._shown = shown
        form = QImage.Format.Format_RGBA8888
        self._image = QImage(shown.rgba, shown.width, shown.height, 4 * shown.width, form).copy()
        self._current = -1
        self.setAccessibleDescription(shown.spoken)
        self.update()

    def say(self, words: str) -> None:
        """Say why there is no figure."""
        self._shown, self._image, self._words = None, QImage(), words
        self.update()

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Draw anew once the size has settled."""
        super().resizeEvent(event)
        self._settle.start()

    def showEvent(self, event: QShowEvent) -> None:
        """Draw when the tab comes to the front."""
        super().showEvent(event)
        self._settle.start()

    def _scale(self) -> float:
        """Widget pixels in one pixel of the figure."""
        return self.width() / self._image.width() if self._image.width() else 1.0

    def _place(self, mark: MarkShown) -> QPointF:
        return QPointF(mark.x * self._scale(), mark.y * self._scale())

    def paintEvent(self, event: QPaintEvent) -> None:
        """Show the pixels and a ring round the point in hand."""
        painter = QPainter(self)
        painter.fillRect(self.rect(), ink("panel"))
        if self._shown is None:
            painter.setPen(ink("quiet"))
            painter.drawText(self.rect(), int(Qt.AlignmentFlag.AlignCenter), self._words)
        else:
            painter.setRenderHint(QPainter.RenderHint.SmoothPixmapTransform)
            high = self._image.height() * self._scale()
            painter.drawImage(QRectF(0, 0, self.width(), high), self._image)
            self._ring(painter)
        if self.hasFocus():
            painter.setPen(QPen(ink("accent"), 1))
            painter.drawRect(self.rect().adjusted(0, 0, -1, -1))
        painter.end()

    def _ring(self, painter: QPainter) -> None:
        if self._shown is None or not 0 <= self._current < len(self._shown.marks):
            return
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(QPen(ink("text"), 1.6))
        painter.drawEllipse(self._place(self._shown.marks[self._current]), px(8), px(8))

    def nearest(self, at: QPointF) -> int:
        """The place of the point that is near enough, or -1."""
        if self._shown is None or not self._shown.marks:
            return -1
        away = [_distance(self._place(mark), at) for mark in self._shown.marks]
        best = min(range(len(away)), key=away.__getitem__)
        return best if away[best] <= px(NEAR) else -1

    def point_at(self, place: int) -> None:
        """Take a point in hand; -1 lets go."""
        if place != self._current:
            self._current = place
            marks = self._shown.marks if self._shown else ()
            self.pointed.emit(marks[place].words if 0 <= place < len(marks) else "")
            self.update()

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        """Name the point under the pointer."""
        place = self.nearest(event.position())
        self.point_at(place)
        marks = self._shown.marks if self._shown else ()
        clickable = place >= 0 and bool(marks[place].task)
        shape = Qt.CursorShape.PointingHandCursor if clickable else Qt.CursorShape.ArrowCursor
        self.setCursor(shape)

    def event(self, event: QEvent) -> bool:
        """A tooltip says the point too, where the eye is."""
        if event.type() == QEvent.Type.ToolTip and isinstance(event, QHelpEvent):
            place = self.nearest(QPointF(event.pos()))
            words = self._shown.marks[place].words if self._shown and place >= 0 else ""
            QToolTip.showText(event.globalPos(), words, self)
            return True
        return super().event(event)

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        """Open the point."""
        self._open(self.nearest(event.position()))

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Arrows walk from point to point, Enter opens."""
        key = Qt.Key(event.key())
        count = len(self._shown.marks) if self._shown else 0
        if key in STEPS and count:
            first = 0 if STEPS[key] > 0 else count - 1
            self.point_at(first if self._current < 0 else (self._current + STEPS[key]) % count)
        elif key in OPEN:
            self._open(self._current)
        else:
            super().keyPressEvent(event)

    def focusOutEvent(self, event: QFocusEvent) -> None:
        """The frame goes."""
        super().focusOutEvent(event)
        self.update()

    def _open(self, place: int) -> None:
        if self._shown is not None and place >= 0 and self._shown.marks[place].task:
            mark = self._shown.marks[place]
            self.opened.emit(mark.task, mark.model)


def _distance(first: QPointF, second: QPointF) -> float:
    away = first - second
    return float((away.x() ** 2 + away.y() ** 2) ** 0.5)
