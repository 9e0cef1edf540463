"""The live viewer of one picture or volume: mouse and keys as viewers in hospitals have them.

Wheel scrolls slices, left-drag windows (across width, down level), middle-drag pans, right-drag
zooms; Shift+left pans and Ctrl+wheel zooms on laptops. Owns the state of looking at one picture
and its events; drawing is ``canvas_paint``. Knows neither files nor what the picture is of.
"""

from __future__ import annotations

from PySide6.QtCore import QEvent, QPointF, QRectF, QSize, Qt, Signal
from PySide6.QtGui import QColor, QKeyEvent, QMouseEvent, QPainter, QPaintEvent, QWheelEvent
from PySide6.QtWidgets import QSizePolicy, QWidget

from app import keys, theme
from app.widgets import canvas_paint as paint
from app.widgets.content import Picture, ViewState
from app.widgets.view_commands import STATE_COMMANDS, Room

OVERLAYS = frozenset({"letters", "slice", "window", "zoom", "bar"})
NOTCH = 120
WINDOW_PER_PIXEL = 1 / 250
ZOOM_PER_PIXEL = 1 / 150


class ImageCanvas(QWidget):
    """Shows one ``Picture``.

    Signals:
        acted: the user changed the state (slice, window, zoom, pan); links listen.
        maximise_asked: double click.
        chosen: the pointer or the focus came here.
        painted: a paint event of a newly set picture ended.
    """

    acted = Signal()
    maximise_asked = Signal()
    chosen = Signal()
    painted = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._picture: Picture | None = None
        self._state = ViewState()
        self._cache = paint.SliceCache()
        self._overlays = OVERLAYS
        self._wheel = 0
        self._drag_from: QPointF | None = None
        self._drag_with = Qt.MouseButton.NoButton
        self._fresh = False
        self._seen = (0.5, 0.5)
        self.setAttribute(Qt.WidgetAttribute.WA_OpaquePaintEvent)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Expanding)
        self.setAccessibleName("Picture")

    @property
    def state(self) -> ViewState:
        """How the picture is looked at."""
        return self._state

    @property
    def picture(self) -> Picture | None:
        """What is shown."""
        return self._picture

    def set_picture(self, picture: Picture | None, state: ViewState | None = None) -> None:
        """Show a picture afresh: middle slice, fitted, as its file asks, or in ``state``."""
        self._picture = picture
        self._state = state or ViewState()
        self._seen = (self._state.depth, self._state.depth)
        self._cache.clear()
        self._wheel, self._drag_from, self._fresh = 0, None, picture is not None
        self.update()

    def set_state(self, state: ViewState) -> None:
        """Follow another canvas; does not emit ``acted``."""
        if state != self._state:
            self._state = state
            self.update()

    @property
    def seen(self) -> tuple[float, float]:
        """Least and greatest relative depth looked at since the picture was set."""
        return self._seen

    def set_overlays(self, overlays: frozenset[str]) -> None:
        """Choose what is written over the picture, out of ``OVERLAYS``.

        ``changed window`` writes the window only where it is not the given one.
        """
        self._overlays = overlays
        self.update()

    def handle_key(self, event: QKeyEvent) -> bool:
        """Do what a key asks; False if the key means nothing here."""
        command = keys.current().command_of(event, "picture")
        return command is not None and self.do(command)

    def do(self, command_id: str) -> bool:
        """Do a command of ``app.keys`` for pictures; False if it means nothing here."""
        change = STATE_COMMANDS.get(command_id)
        if self._picture is None or change is None:
            return False
        self._act(change(self._state, self._picture, self._room()))
        return True

    def _room(self) -> Room:
        ratio = self.devicePixelRatioF()
        return Room(self.width() * ratio, self.height() * ratio)

    def sizeHint(self) -> QSize:
        return QSize(320, 320)

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        view = QRectF(self.rect())
        painter.fillRect(view, QColor(theme.PICTURE))
        picture = self._picture
        if picture is None:
            return
        painter.setClipRect(view)
        paint.draw_slice(painter, self._cache, picture, self._state, view)
        paint.draw_inset(painter, picture, view)
        if "bar" in self._overlays:
            paint.draw_slice_bar(painter, picture, self._state, view)
        if "letters" in self._overlays:
            paint.draw_letters(painter, picture.orientation, view)
        paint.draw_facts(painter, picture, self._state, view, self._overlays)
        painter.end()
        if self._fresh:
            self._fresh = False
            self.painted.emit()

    def wheelEvent(self, event: QWheelEvent) -> None:
        if self._picture is None:
            return
        turn = event.angleDelta().y() or event.angleDelta().x()
        if event.modifiers() & Qt.KeyboardModifier.ControlModifier:
            self._act(self._state.zoomed(1.0015**turn))
        else:
            self._wheel += turn
            notches = int(self._wheel / NOTCH)
            self._wheel -= notches * NOTCH
            self._act(self._state.scrolled(-notches, self._picture.slices))
        event.accept()

    def mousePressEvent(self, event: QMouseEvent) -> None:
        self._drag_from = event.position()
        self._drag_with = event.button()
        shift = event.modifiers() & Qt.KeyboardModifier.ShiftModifier
        if event.button() == Qt.MouseButton.LeftButton and shift:
            self._drag_with = Qt.MouseButton.MiddleButton
        self.chosen.emit()

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        if self._drag_from is None or self._picture is None:
            return
        moved = event.position() - self._drag_from
        self._drag_from = event.position()
        state = self._state
        if self._drag_with == Qt.MouseButton.LeftButton and not self._picture.color:
            state = state.windowed(moved.x() * WINDOW_PER_PIXEL, moved.y() * WINDOW_PER_PIXEL)
        elif self._drag_with == Qt.MouseButton.MiddleButton:
            state = state.panned(
                moved.x() / max(1, self.width()), moved.y() / max(1, self.height())
            )
        elif self._drag_with == Qt.MouseButton.RightButton:
            state = state.zoomed(1.0 + max(-0.5, -moved.y() * ZOOM_PER_PIXEL))
        self._act(state)

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        self._drag_from = None

    def mouseDoubleClickEvent(self, event: QMouseEvent) -> None:
        if event.button() == Qt.MouseButton.LeftButton:
            self._drag_from = None
            self.maximise_asked.emit()

    def enterEvent(self, event: QEvent) -> None:
        self.chosen.emit()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if not self.handle_key(event):
            event.ignore()

    def _act(self, state: ViewState) -> None:
        if state != self._state:
            self._take(state)
            self.acted.emit()

    def _take(self, state: ViewState) -> None:
        self._state = state
        self._seen = (min(self._seen[0], state.depth), max(self._seen[1], state.depth))
        self.update()
