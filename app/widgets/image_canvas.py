"""The live viewer of one picture or volume: mouse and keys as viewers in hospitals have them.

Owns the state of looking at one picture, its tool, measures, cine and crosshair. Gestures are
``canvas_gestures``, drawing is ``canvas_paint`` and ``measure_paint``. Knows neither files nor
what the picture is of.
"""

from __future__ import annotations

import time
from dataclasses import replace
from typing import Any

from PySide6.QtCore import QEvent, QPointF, QRectF, QSize, Qt, QTimer, Signal
from PySide6.QtGui import (
    QColor,
    QEnterEvent,
    QHideEvent,
    QKeyEvent,
    QMouseEvent,
    QPainter,
    QPaintEvent,
    QWheelEvent,
)
from PySide6.QtWidgets import QSizePolicy, QWidget

from app import keys, theme
from app.widgets import canvas_layers as layers
from app.widgets import cine, drawn_ahead, placement
from app.widgets.canvas_gestures import BAR_REACH, MEASURE_OF, Gestures
from app.widgets.canvas_marks import MarkedCanvas
from app.widgets.content import Picture, ViewState, slice_index
from app.widgets.drawn_ahead import Place
from app.widgets.pointer_rest import PointerRest
from app.widgets.slice_images import SliceImages
from app.widgets.view_commands import STATE_COMMANDS, Room

OVERLAYS = frozenset(
    {"letters", "slice", "window", "zoom", "bar", "badges", "convention", "position", "scale",
     "graphics", "probe"}
)  # fmt: skip
LASTING = frozenset({"badges"})  # never hidden: a flipped picture must say so
REPEATING = ("slice-", "zoom-", "grey-", "pan-")
TWICE_S = 0.5
IDLE_MS = 150
AHEAD = 3


class ImageCanvas(MarkedCanvas):
    """Shows one ``Picture``.

    Signals:
        acted: the user changed the state (slice, window, zoom, pan); links listen.
        maximise_asked: double click.
        chosen: the pointer or the focus came here.
        painted: a paint event of a newly set picture ended.
        words_hidden: what is written over the picture was hidden (True) or shown.
    """

    acted = Signal()
    maximise_asked = Signal()
    chosen = Signal()
    painted = Signal()
    words_hidden = Signal(bool)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._picture: Picture | None = None
        self._state = self._before = ViewState()
        self._images = SliceImages()
        self._overlays = OVERLAYS
        self._hidden = False
        self._gestures = Gestures(self)
        self.pointer: PointerRest | None = None  # the board's; without it each coming counts
        self._cine = cine.Cine(self)
        self._cine.turn.connect(self._show_frame)
        self._fresh = False
        self._seen = (0.5, 0.5)
        self._heading = 1
        self._fitted_at = -TWICE_S
        self._ahead = 0
        self._idle = QTimer(self, singleShot=True, interval=IDLE_MS)
        self._idle.timeout.connect(self._look_ahead)
        self.setAttribute(Qt.WidgetAttribute.WA_OpaquePaintEvent)
        self.setMouseTracking(True)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Expanding)
        self.setAccessibleName("Picture")
        self.destroyed.connect(self._images.clear)

    @property
    def state(self) -> ViewState:
        """How the picture is looked at."""
        return self._state

    @property
    def before(self) -> ViewState:
        """The state before the user's last action."""
        return self._before

    @property
    def picture(self) -> Picture | None:
        """What is shown."""
        return self._picture

    @property
    def seen(self) -> tuple[float, float]:
        """Least and greatest relative depth looked at since the picture was set."""
        return self._seen

    @property
    def playing(self) -> bool:
        """True while a cine runs."""
        return self._cine.playing

    @property
    def slice_and_moment(self) -> tuple[int, int]:
        """Index of the slice and of the time point in force."""
        if self._picture is None:
            return 0, 0
        return (
            slice_index(self._state.depth, self._picture.slices),
            slice_index(self._state.moment, self._picture.moments),
        )

    @property
    def placed(self) -> placement.Placement:
        """Where the picture lies."""
        return self.placed_as(self._state)

    def placed_as(self, state: ViewState) -> placement.Placement:
        """Where the picture would lie in another state."""
        assert self._picture is not None
        view, ratio = QRectF(self.rect()), self.devicePixelRatioF()
        return placement.place(self._picture, state, view, ratio)

    @property
    def probes(self) -> bool:
        """True if the value under the pointer is written."""
        return "probe" in self._shown()

    def set_picture(self, picture: Picture | None, state: ViewState | None = None) -> None:
        """Show a picture afresh: middle slice, fitted, as its file asks, or in ``state``.

        The same series again (an equal ``token`` and shape: more of it was decoded) keeps
        measures and crosshair.
        """
        again = _same_series(self._picture, picture)
        self._picture = picture
        self._state = state or ViewState()
        self._seen = (self._state.depth, self._state.depth)
        self._images.clear()
        self._cine.stop()
        self._gestures.stop()
        if not again:
            self.hand.clear()
            self._cross, self._lines = None, ()
        self._fresh = picture is not None
        self.update()

    def set_state(self, state: ViewState) -> None:
        """Follow another canvas; does not emit ``acted``."""
        if state != self._state:
            self._state = state
            self._seen = (min(self._seen[0], state.depth), max(self._seen[1], state.depth))
            self.update()

    def refresh(self) -> None:
        """Slices became ready, or a setting of the drawing changed."""
        self.update()

    def set_overlays(self, overlays: frozenset[str]) -> None:
        """Choose what is written over the picture, out of ``OVERLAYS``.

        ``changed window`` writes the window only where it is not the given one.
        """
        self._overlays = overlays
        self.update()

    def hide_words(self, *, hidden: bool) -> None:
        """Hide what is written over the picture, except what must not be forgotten."""
        self._hidden = hidden
        self.update()

    def handle_key(self, event: QKeyEvent) -> bool:
        """Do what a key asks; False if the key means nothing here."""
        if self._picture is None:
            return False
        if event.key() == Qt.Key.Key_Space and not event.modifiers():
            if self._cine.playing:
                self._cine.stop()
            else:
                self._gestures.space.press()
            return True
        if event.key() == Qt.Key.Key_Escape and self.hand.stop():
            self.update()
            return True
        command = keys.current().command_of(event, "picture")
        if command is not None and event.isAutoRepeat() and not command.startswith(REPEATING):
            return True  # a key held down inverts or flips once
        return command is not None and self.do(command)

    def do(self, command_id: str) -> bool:
        """Do a command of ``app.keys`` for pictures; False if it means nothing here."""
        if self._picture is None:
            return False
        if self._cine.playing and command_id in ("zoom-in", "zoom-out"):
            self._cine.speed(cine.FASTER if command_id == "zoom-in" else 1 / cine.FASTER)
            self.update()
            return True
        if command_id == "fit" and self._asked_twice():
            command_id = "reset"
        change = STATE_COMMANDS.get(command_id)
        if change is not None:
            self.act(change(self._state, self._picture, self._room()))
            if command_id == "reset":
                self.lift_cross()
            return True
        return self._do_here(command_id)

    def _do_here(self, command_id: str) -> bool:
        """Commands that are about this canvas rather than its state."""
        if command_id == "cine":
            self._play_or_stop()
        elif command_id == "overlays":
            self.hide_words(hidden=not self._hidden)
            self.words_hidden.emit(self._hidden)
        elif command_id.startswith("tool-"):
            return self.choose_tool(command_id.removeprefix("tool-"))
        elif command_id == "delete-measure" and self.hand.delete():
            self.update()
        else:
            return False
        return True

    def act(self, state: ViewState) -> None:
        """Take a state that the user asked for, and tell links."""
        if state != self._state:
            self._heading = -1 if state.depth < self._state.depth else 1
            self._before, self._state = self._state, state
            self._seen = (min(self._seen[0], state.depth), max(self._seen[1], state.depth))
            self.update()
            self.acted.emit()

    _act = act

    def on_bar(self, at: QPointF) -> bool:
        """True if a place lies on the slice bar."""
        if self._picture is None or self._picture.slices < 2 or "bar" not in self._shown():
            return False
        return at.x() >= self.width() - BAR_REACH

    def sizeHint(self) -> QSize:
        return QSize(320, 320)

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        view = QRectF(self.rect())
        if self._picture is None:
            painter.fillRect(view, QColor(theme.PICTURE))
            return
        if self._fresh:
            room = Place(self.width(), self.height(), self.devicePixelRatioF())
            if (ahead := drawn_ahead.find(self._picture, room)) is not None:
                self._images.adopt(ahead)
        try:
            layers.paint(painter, self._images, self._looks())
        finally:
            painter.end()  # a painter left open takes the program down with the error
        if self._fresh:
            self._fresh = False
            self.painted.emit()
        if not self._cine.playing:
            self._ahead = 0
            self._idle.start()

    def _looks(self) -> layers.Looks:
        """Everything that one paint needs."""
        assert self._picture is not None
        return layers.Looks(
            picture=self._picture,
            state=self._state,
            placed=self.placed,
            view=QRectF(self.rect()),
            shown=self._shown(),
            hand=self.hand if self._measures and not self._hidden else None,
            index=self.slice_and_moment[0],
            moment=self.slice_and_moment[1],
            tool=self._tool,
            rate=self._cine.rate if self._cine.playing else None,
            pointer=None if self._gestures.dragging else self._gestures.pointer,
            cross=self._cross,
            cross_colors=self._cross_colors,
            lines=self._lines,
        )

    def _shown(self) -> frozenset[str]:
        return self._overlays & LASTING if self._hidden else self._overlays

    def wheelEvent(self, event: QWheelEvent) -> None:
        if self._picture is not None:
            self._cine.stop()
            self._gestures.wheel(event)
            event.accept()

    def mousePressEvent(self, event: QMouseEvent) -> None:
        self._gestures.press(event)
        self.chosen.emit()

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        self._gestures.move(event)

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        self._gestures.release(event)

    def mouseDoubleClickEvent(self, event: QMouseEvent) -> None:
        if event.button() != Qt.MouseButton.LeftButton:
            return
        if self._tool in MEASURE_OF:
            self._gestures.press(event)
            return
        self._gestures.stop()
        self.maximise_asked.emit()

    def enterEvent(self, event: QEnterEvent) -> None:
        if self.pointer is None or self.pointer.moved_to(event.globalPosition().toPoint()):
            self.chosen.emit()

    def leaveEvent(self, event: QEvent) -> None:
        self._gestures.leave()

    def hideEvent(self, event: QHideEvent) -> None:
        self._cine.stop()
        self._idle.stop()
        self._gestures.stop()
        super().hideEvent(event)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if not self.handle_key(event):
            event.ignore()

    def _room(self) -> Room:
        ratio = self.devicePixelRatioF()
        return Room(self.width() * ratio, self.height() * ratio)

    def _asked_twice(self) -> bool:
        """True for the second of two quick presses."""
        before, self._fitted_at = self._fitted_at, time.monotonic()
        return self._fitted_at - before < TWICE_S

    def _play_or_stop(self) -> None:
        picture = self._picture
        assert picture is not None
        if self._cine.playing:
            self._cine.stop()
        else:
            over_time = picture.moments > 1
            index, moment = self.slice_and_moment
            self._cine.play(
                start=moment if over_time else index,
                count=picture.moments if over_time else picture.slices,
                rate=cine.rate_of(picture.frame_ms),
            )
        self.update()

    def _show_frame(self, number: int) -> None:
        picture = self._picture
        if picture is None:
            return
        if picture.moments > 1:
            self.act(replace(self._state, moment=number / (picture.moments - 1)))
        else:
            self.act(replace(self._state, depth=number / (picture.slices - 1)))

    def _look_ahead(self) -> None:
        """Render the next slice, and then the one after it, while nothing else happens."""
        if self._picture is None or self._gestures.dragging or not self.isVisible():
            return
        if self._picture.slices < 2:
            self._images.warm(self._picture, self._state, self.placed)
            return
        self._ahead += 1
        ahead = self._state.scrolled(self._ahead * self._heading, self._picture.slices)
        self._images.slice(self._picture, ahead, self.placed, QRectF(self.rect()))
        if self._ahead < AHEAD:
            self._idle.start()


def _same_series(before: Picture | None, after: Picture | None) -> bool:
    """True if both show one series in one shape."""
    if before is None or after is None or before.token is None:
        return False
    shapes: tuple[Any, Any] = (before.array.shape, after.array.shape)
    return before.token == after.token and shapes[0] == shapes[1]
