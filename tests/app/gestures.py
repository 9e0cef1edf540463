"""Mouse events on widgets as a person would make them."""

from __future__ import annotations

from PySide6.QtCore import QPoint, QPointF, Qt
from PySide6.QtGui import QMouseEvent, QWheelEvent
from PySide6.QtWidgets import QApplication

NONE = Qt.KeyboardModifier.NoModifier
SHIFT = Qt.KeyboardModifier.ShiftModifier
CONTROL = Qt.KeyboardModifier.ControlModifier
LEFT, MIDDLE = Qt.MouseButton.LeftButton, Qt.MouseButton.MiddleButton
RIGHT, NO_BUTTON = Qt.MouseButton.RightButton, Qt.MouseButton.NoButton
PRESS, MOVE = QMouseEvent.Type.MouseButtonPress, QMouseEvent.Type.MouseMove
RELEASE = QMouseEvent.Type.MouseButtonRelease
DOUBLE = QMouseEvent.Type.MouseButtonDblClick


def mouse(widget, kind, at, button=LEFT, modifier=NONE):
    at = QPointF(*at) if isinstance(at, tuple) else at
    asks = NO_BUTTON if kind == MOVE else button
    held = NO_BUTTON if kind == RELEASE else button
    event = QMouseEvent(kind, at, widget.mapToGlobal(at), asks, held, modifier)
    QApplication.sendEvent(widget, event)


def drag(widget, start, *stops, button=LEFT, modifier=NONE):
    mouse(widget, PRESS, start, button, modifier)
    for stop in stops:
        mouse(widget, MOVE, stop, button, modifier)
    mouse(widget, RELEASE, stops[-1], button, modifier)


def click(widget, at, button=LEFT):
    mouse(widget, PRESS, at, button)
    mouse(widget, RELEASE, at, button)


def hover(widget, at, modifier=NONE):
    mouse(widget, MOVE, at, NO_BUTTON, modifier)


def wheel(widget, turn, at=(100, 100), modifier=NONE):
    place = QPointF(*at)
    event = QWheelEvent(
        place, widget.mapToGlobal(place), QPoint(), QPoint(0, turn), NO_BUTTON, modifier,
        Qt.ScrollPhase.NoScrollPhase, False,
    )  # fmt: skip
    QApplication.sendEvent(widget, event)
