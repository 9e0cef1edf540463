"""What the mouse does on a canvas: the five reflexes, measures, the crosshair, the probe.

Owns the gesture in progress. Left windows or uses the tool in hand, middle (or Shift+left,
Space+left) pans, right zooms around where it was pressed; a point of a measure near the pointer
is grasped before anything else. Changes states only through its canvas.
"""

from __future__ import annotations

import weakref
from dataclasses import replace
from typing import TYPE_CHECKING

from PySide6.QtCore import QEvent, QObject, QPointF, Qt
from PySide6.QtGui import QKeyEvent, QMouseEvent, QWheelEvent
from PySide6.QtWidgets import QApplication

if TYPE_CHECKING:
    from app.widgets.image_canvas import ImageCanvas

NOTCH = 120
WINDOW_PER_PIXEL = 1 / 250
ZOOM_PER_PIXEL = 1 / 150
WHEEL_ZOOM = 1.0015
CROSS_GRASP = 10.0
CLICK = 3.0
DRIFT = 0.75  # less comes from whole device pixels
BAR_MARGIN = 8.0
BAR_REACH = 14.0  # from the right edge
MEASURE_OF = {
    "distance": "distance", "angle": "angle", "roi": "ellipse", "roi-box": "rectangle",
    "probe": "probe",
}  # fmt: skip
SHIFT, CONTROL = Qt.KeyboardModifier.ShiftModifier, Qt.KeyboardModifier.ControlModifier
BUTTON = Qt.MouseButton


class SpaceHeld(QObject):
    """Knows whether Space is down, from a press that it is told of to the release it sees."""

    def __init__(self, parent: QObject) -> None:
        super().__init__(parent)
        self.down = False

    def press(self) -> None:
        """Space went down; watch for its release, wherever the focus is by then."""
        application = QApplication.instance()
        if not self.down and application is not None:
            self.down = True
            application.installEventFilter(self)

    def release(self) -> None:
        """Space is up, or the canvas is gone from the screen."""
        application = QApplication.instance()
        if self.down and application is not None:
            self.down = False
            application.removeEventFilter(self)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if event.type() == QEvent.Type.ApplicationDeactivate:
            self.release()
        elif event.type() == QEvent.Type.KeyRelease:
            assert isinstance(event, QKeyEvent)
            if event.key() == Qt.Key.Key_Space and not event.isAutoRepeat():
                self.release()
        return False


class Gestures:
    """The gestures of one canvas."""

    def __init__(self, canvas: ImageCanvas) -> None:
        # Weak: a circle would let the collector end the canvas on whatever thread it runs.
        self._canvas: ImageCanvas = weakref.proxy(canvas)
        self._wheel = 0
        self._from: QPointF | None = None
        self._pressed = QPointF()
        self._doing = ""
        self.pointer: QPointF | None = None
        self.space = SpaceHeld(canvas)

    @property
    def dragging(self) -> bool:
        """True while a button is held."""
        return self._from is not None

    def stop(self) -> None:
        """Forget the gesture; the picture changed or is hidden."""
        self._wheel, self._from, self._doing = 0, None, ""
        self.space.release()

    def wheel(self, event: QWheelEvent) -> None:
        """Scroll slices, of a single slice time points; with Control zoom at the pointer."""
        canvas = self._canvas
        picture, state = canvas.picture, canvas.state
        assert picture is not None
        turn = event.angleDelta().y() or event.angleDelta().x()
        if event.modifiers() & CONTROL:
            self._zoom(WHEEL_ZOOM**turn, event.position())
            return
        self._wheel += turn
        notches = int(self._wheel / NOTCH)
        self._wheel -= notches * NOTCH
        if picture.slices > 1:
            canvas.act(state.scrolled(-notches, picture.slices))
        else:
            canvas.act(state.at_moment(-notches, picture.moments))

    def press(self, event: QMouseEvent) -> None:
        """A button went down: decide what the drag does."""
        at = event.position()
        self._from, self._pressed = at, at
        self._doing = self._meaning(event.button(), event.modifiers(), at)
        if self._doing == "measure":
            self._begin_measure(at)
        elif self._doing == "cross":
            self._canvas.point_cross(at)
        elif self._doing == "bar":
            self._to_depth(at)

    def _meaning(self, button: Qt.MouseButton, modifiers: Qt.KeyboardModifier, at: QPointF) -> str:
        canvas = self._canvas
        if canvas.picture is None:
            return ""
        if button == BUTTON.MiddleButton:
            return "pan"
        if button == BUTTON.RightButton:
            return "zoom"
        if button != BUTTON.LeftButton:
            return ""
        if modifiers & SHIFT or self.space.down:
            return "pan"
        if canvas.on_bar(at):
            return "bar"
        if canvas.grasp_measure(at):
            return "move"
        if canvas.tool in MEASURE_OF:
            return "measure"
        return "cross" if canvas.near_cross(at, CROSS_GRASP) else "window"

    def _begin_measure(self, at: QPointF) -> None:
        canvas = self._canvas
        kind = MEASURE_OF[canvas.tool]
        canvas.hand.begin(kind, *canvas.slice_and_moment, canvas.placed.to_picture(at))
        canvas.update()

    def move(self, event: QMouseEvent) -> None:
        """The pointer moved, with a button or without."""
        at = event.position()
        if self._from is not None and self._canvas.picture is not None:
            self._drag(at, at - self._from)
            self._from = at
        else:
            self._hover(at, event.modifiers())

    def _drag(self, at: QPointF, moved: QPointF) -> None:
        canvas, state = self._canvas, self._canvas.state
        assert canvas.picture is not None
        self.pointer = at
        if self._doing == "window" and not canvas.picture.color:
            canvas.act(state.windowed(moved.x() * WINDOW_PER_PIXEL, moved.y() * WINDOW_PER_PIXEL))
        elif self._doing == "pan":
            wide, high = max(1, canvas.width()), max(1, canvas.height())
            canvas.act(state.panned(moved.x() / wide, moved.y() / high))
        elif self._doing == "zoom":
            self._zoom(1.0 + max(-0.5, -moved.y() * ZOOM_PER_PIXEL), self._pressed)
        elif self._doing in ("measure", "move"):
            canvas.hand.drag(canvas.placed.to_picture(at))
            canvas.update()
        elif self._doing == "cross":
            canvas.point_cross(at)
        elif self._doing == "bar":
            self._to_depth(at)

    def _zoom(self, by: float, at: QPointF) -> None:
        """Zoom; what lies under a place stays there, whatever edge the picture stands at."""
        canvas = self._canvas
        spot = canvas.placed.to_picture(at)
        zoomed = canvas.state.zoomed(by, self._share(at))
        gone = canvas.placed_as(zoomed).to_screen(*spot) - at
        if _length(gone) > DRIFT:
            wide, high = max(1, canvas.width()), max(1, canvas.height())
            zoomed = zoomed.panned(-gone.x() / wide, -gone.y() / high)
        canvas.act(zoomed)

    def _to_depth(self, at: QPointF) -> None:
        """The slice at a place of the slice bar."""
        canvas = self._canvas
        assert canvas.picture is not None
        last = canvas.picture.slices - 1
        share = (at.y() - BAR_MARGIN) / max(1.0, canvas.height() - 2 * BAR_MARGIN)
        index = round(min(1.0, max(0.0, share)) * last)
        canvas.act(replace(canvas.state, depth=index / last))

    def _hover(self, at: QPointF, modifiers: Qt.KeyboardModifier) -> None:
        canvas = self._canvas
        self.pointer = at
        if canvas.picture is None:
            return
        if modifiers & SHIFT:
            canvas.point_cross(at)
        if canvas.hand.hover(canvas.placed.to_picture(at)) or canvas.probes:
            canvas.update()

    def release(self, event: QMouseEvent) -> None:
        """The button is up."""
        canvas, doing = self._canvas, self._doing
        still = self._from is not None and _length(event.position() - self._pressed) < CLICK
        self._from, self._doing = None, ""
        self.pointer = event.position()
        if canvas.picture is not None and canvas.probes:
            canvas.update()  # the value under the pointer comes back
        if doing in ("measure", "move"):
            canvas.hand.release()
            canvas.update()
        elif doing == "window" and still and canvas.cross_movable:
            canvas.point_cross(event.position())

    def leave(self) -> None:
        """The pointer is gone."""
        self.pointer = None
        if self._canvas.probes:
            self._canvas.update()

    def _share(self, at: QPointF) -> tuple[float, float]:
        """A place as shares of the canvas from its middle."""
        wide, high = max(1, self._canvas.width()), max(1, self._canvas.height())
        return at.x() / wide - 0.5, at.y() / high - 0.5


def _length(way: QPointF) -> float:
    return (way.x() ** 2 + way.y() ** 2) ** 0.5
