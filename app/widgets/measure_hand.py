"""The hand that draws measures: which point is being set, grasped or moved on one canvas.

Owns the measures of a canvas and the gesture in progress, in pixels of the picture. No painter.
"""

from __future__ import annotations

import itertools
import math
from dataclasses import replace

from PySide6.QtCore import QPointF

from app.widgets.measure import POINTS, Measure, Point
from app.widgets.placement import Placement

GRASP = 8.0  # units of the canvas within which a point is taken


class MeasureHand:
    """Measures of one picture and what the pointer does to them."""

    def __init__(self) -> None:
        self.measures: list[Measure] = []
        self.chosen: int | None = None
        self._held: tuple[int, int] | None = None  # measure, point (-1: the whole)
        self._last: Point = (0.0, 0.0)
        self._growing = False
        self._clicked = False

    @property
    def busy(self) -> bool:
        """True while a measure is drawn or moved."""
        return self._held is not None

    def clear(self) -> None:
        """Forget everything; the picture changed."""
        self.measures.clear()
        self.chosen, self._held, self._growing, self._clicked = None, None, False, False

    def of(self, index: int, moment: int) -> list[tuple[int, Measure]]:
        """The measures of one slice with their numbers."""
        return [
            (number, one)
            for number, one in enumerate(self.measures)
            if (one.index, one.moment) == (index, moment)
        ]

    def begin(self, kind: str, index: int, moment: int, at: Point) -> None:
        """Start a measure; of an angle under way set the next point."""
        if self._growing and self.chosen is not None:
            one = self.measures[self.chosen]
            if (one.kind, one.index, one.moment) == (kind, index, moment):
                self._held = (self.chosen, len(one.points) - 1)
                self.drag(at)
                return
            self.stop()
        points = (at,) * min(2, POINTS[kind])
        self.measures.append(Measure(kind, index, moment, points))
        self.chosen = len(self.measures) - 1
        self._held, self._growing = (self.chosen, len(points) - 1), True
        self._clicked = False

    def grasp(self, placed: Placement, index: int, moment: int, point: QPointF) -> bool:
        """Take hold of a point, else of a line, near the pointer; False if there is none."""
        if self._growing:
            return False
        nearest: tuple[float, tuple[int, int]] | None = None
        for number, one in self.of(index, moment):
            for which, spot in enumerate(one.points):
                gap = _gap(placed.to_screen(*spot), point)
                if gap <= GRASP and (nearest is None or gap < nearest[0]):
                    nearest = (gap, (number, which))
        if nearest is None:
            nearest = self._near_line(placed, index, moment, point)
        if nearest is None:
            self.chosen = None
            return False
        self._held, self._last = nearest[1], placed.to_picture(point)
        self.chosen = nearest[1][0]
        return True

    def drag(self, to: Point) -> None:
        """Move what is held."""
        if self._held is None:
            return
        number, which = self._held
        one = self.measures[number]
        if which < 0:
            moved = one.shifted(to[0] - self._last[0], to[1] - self._last[1])
            self._last = to
        else:
            moved = one.moved(which, to)
        self.measures[number] = moved

    def hover(self, to: Point) -> bool:
        """Let the open end of an angle follow the pointer; False if nothing is open."""
        if not self._growing or self._held is not None or self.chosen is None:
            return False
        one = self.measures[self.chosen]
        self.measures[self.chosen] = one.moved(len(one.points) - 1, to)
        return True

    def release(self) -> None:
        """The button is up: the point is set, by a drag or by a click of its own."""
        if self._held is None:
            return
        number, _which = self._held
        self._held = None
        if not self._growing:
            return
        one = self.measures[number]
        if len(one.points) > 1 and one.points[-1] == one.points[-2]:
            if self._clicked:
                self._remove(number)  # twice the same place is no measure
            self._clicked = not self._clicked
            return
        self._clicked, self._growing = False, not one.complete
        if self._growing:
            self.measures[number] = replace(one, points=(*one.points, one.points[-1]))

    def stop(self) -> bool:
        """Give up a measure under way; False if there is none."""
        if not self._growing or self.chosen is None:
            return False
        self._remove(self.chosen)
        return True

    def delete(self) -> bool:
        """Delete the chosen measure, else the last one; False if there is none."""
        if not self.measures:
            return False
        self._remove(len(self.measures) - 1 if self.chosen is None else self.chosen)
        return True

    def _remove(self, number: int) -> None:
        del self.measures[number]
        self.chosen, self._held, self._growing = None, None, False
        self._clicked = False

    def _near_line(
        self, placed: Placement, index: int, moment: int, point: QPointF
    ) -> tuple[float, tuple[int, int]] | None:
        for number, one in self.of(index, moment):
            corners = [placed.to_screen(*spot) for spot in outline(one)]
            for start, end in itertools.pairwise(corners):
                if _gap_to_line(start, end, point) <= GRASP / 2:
                    return 0.0, (number, -1)
        return None


def outline(measure: Measure) -> list[Point]:
    """The measure's line as points; regions are closed."""
    if measure.kind not in ("ellipse", "rectangle"):
        return list(measure.points)
    (x0, y0), (x1, y1) = measure.points
    if measure.kind == "rectangle":
        return [(x0, y0), (x1, y0), (x1, y1), (x0, y1), (x0, y0)]
    a, b, steps = (x1 - x0) / 2, (y1 - y0) / 2, 72
    turns = [2 * math.pi * step / steps for step in range(steps + 1)]
    return [(x0 + a + a * math.cos(t), y0 + b + b * math.sin(t)) for t in turns]


def _gap(a: QPointF, b: QPointF) -> float:
    return math.hypot(a.x() - b.x(), a.y() - b.y())


def _gap_to_line(start: QPointF, end: QPointF, point: QPointF) -> float:
    along = end - start
    length = along.x() ** 2 + along.y() ** 2
    if length == 0:
        return _gap(start, point)
    moved = point - start
    share = min(1.0, max(0.0, (moved.x() * along.x() + moved.y() * along.y()) / length))
    return _gap(start + along * share, point)
