"""What is laid on a canvas by hand: the tool, measures, the crosshair and reference lines.

Owns their state and the way from the pointer to them, for ``ImageCanvas`` alone; drawing is
``measure_paint``.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from PySide6.QtCore import QPointF, Qt, Signal
from PySide6.QtWidgets import QWidget

from app import theme
from app.widgets import canvas_layers as layers
from app.widgets.canvas_gestures import MEASURE_OF
from app.widgets.content import Picture
from app.widgets.measure_hand import MeasureHand
from app.widgets.placement import Placement

TOOLS = ("window", *MEASURE_OF)


class MarkedCanvas(QWidget):
    """The part of a canvas that is drawn on.

    Signals:
        pointed: patient coordinates [3] that the crosshair was put on, None where it went.
        tool_chosen: the tool in hand changed here.
    """

    pointed = Signal(object)
    tool_chosen = Signal(str)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.hand = MeasureHand()
        self.cross_movable = False
        self._measures = True
        self._tool = "window"
        self._cross: NDArray[np.float64] | None = None
        self._cross_colors = (theme.ACCENT, theme.ACCENT)
        self._lines: tuple[layers.Line, ...] = ()

    @property
    def picture(self) -> Picture | None:
        """What is shown."""
        raise NotImplementedError

    @property
    def placed(self) -> Placement:
        """Where the picture lies."""
        raise NotImplementedError

    @property
    def slice_and_moment(self) -> tuple[int, int]:
        """Index of the slice and of the time point in force."""
        raise NotImplementedError

    @property
    def tool(self) -> str:
        """What a left drag does: one of ``TOOLS``."""
        return self._tool

    @property
    def cross(self) -> NDArray[np.float64] | None:
        """Patient coordinates of the crosshair."""
        return self._cross

    def choose_tool(self, tool: str) -> bool:
        """Take a tool and tell others; again for the other shape of a region."""
        tool = "roi-box" if tool == self._tool == "roi" else tool
        if tool not in TOOLS or not (self._measures or tool == "window"):
            return False
        self.set_tool(tool)
        self.tool_chosen.emit(tool)
        return True

    def set_measuring(self, *, on: bool) -> None:
        """Allow measuring tools or not; where they are not, their commands mean nothing."""
        self._measures = on
        self.set_tool("window")

    def set_tool(self, tool: str) -> None:
        """Take a tool in hand without telling others."""
        self._tool = tool
        self.hand.stop()
        crossed = tool in MEASURE_OF
        self.setCursor(Qt.CursorShape.CrossCursor if crossed else Qt.CursorShape.ArrowCursor)
        self.update()

    def set_cross(self, point: NDArray[np.float64] | None) -> None:
        """Put the crosshair on patient coordinates without telling others; None takes it away."""
        self._cross = point
        self.update()

    def set_cross_colors(self, upright: str, level: str) -> None:
        """Colours of the crosshair's two lines."""
        self._cross_colors = (upright, level)

    def set_lines(self, lines: tuple[layers.Line, ...]) -> None:
        """Draw reference lines, each from (column, row) to (column, row)."""
        if lines != self._lines:
            self._lines = lines
            self.update()

    def grasp_measure(self, at: QPointF) -> bool:
        """Take hold of a measure near a place; False if there is none."""
        if not self._measures:
            return False
        taken = self.hand.grasp(self.placed, *self.slice_and_moment, at)
        self.update()
        return taken

    def near_cross(self, at: QPointF, reach: float) -> bool:
        """True if a movable crosshair's line is within reach."""
        if not self.cross_movable or self._cross is None:
            return False
        place = layers.cross_place(self.picture, self._cross, self.placed)
        return place is not None and (
            abs(place.x() - at.x()) <= reach or abs(place.y() - at.y()) <= reach
        )

    def point_cross(self, at: QPointF) -> None:
        """Put the crosshair on the patient point under a place and tell others."""
        point = layers.patient_point(self.picture, self.slice_and_moment[0], self.placed, at)
        if point is not None:
            self.set_cross(point)
            self.pointed.emit(point)

    def lift_cross(self) -> None:
        """Take a crosshair that came by pointing away again, here and elsewhere."""
        if self._cross is not None and not self.cross_movable:
            self.set_cross(None)
            self.pointed.emit(None)
