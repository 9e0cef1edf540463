"""A forest plot: one row per group over one or more scales, intervals always drawn.

Owns the drawing; refuses to compute. The whole is a diamond and a dashed line through all rows,
each group a square whose size tells its n; the numbers stand beside them, or below where there is
no room beside.
"""

from __future__ import annotations

import math

from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QColor, QPainter, QPen, QPolygonF, QResizeEvent

from app.shown_statistics import Branch, Dot, Field, Forest
from app.widgets.ink import ink, px
from app.widgets.marked_chart import Mark, MarkedChart
from app.widgets.plot_ink import (
    CENTRE,
    LEFT,
    MIDDLE,
    RIGHT,
    WRAP,
    colour_of,
    face,
    group_line,
    interval,
    metrics,
    name_in,
)

HEAD, GROUP, LANE, FOOT = 44, 24, 26, 24
LINE = 16  # another line of small words


class ForestPlot(MarkedChart):
    """Rows over scales."""

    def __init__(self, name: str = "Forest plot") -> None:
        super().__init__(name)
        self._shown = Forest(name, (), ())

    def show_chart(self, shown: Forest) -> None:
        """Draw other rows."""
        self._shown = shown
        self.setAccessibleName(shown.name)
        self.refit()

    def wanted_height(self) -> int:
        heads = sum(self._opens(place) for place in range(len(self._shown.branches)))
        rows = self._lane() * len(self._shown.branches)
        return px(self._head() + GROUP * heads + FOOT) + rows

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        if event.size().width() != event.oldSize().width():
            self.refit()  # the numbers may need a line of their own

    def lay_out(self) -> list[Mark]:
        marks = []
        for row, (branch, y) in enumerate(self._rows()):
            said = [dot.words for dot in branch.dots]
            title = QRectF(2, y + 3, self._names() - px(10), self._lane() - 6)
            marks.append(Mark(title, f"{branch.title}, n = {branch.n}", branch.behind, row))
            for place, words in enumerate(said):
                left, wide, _room = self._field(place)
                box = QRectF(left, y + 2, wide, self._lane() - 4)
                marks.append(Mark(box, words, branch.behind, row))
        return marks

    def draw(self, painter: QPainter) -> None:
        if not self._shown.branches:
            return
        rows = self._rows()
        top, bottom = rows[0][1], rows[-1][1] + self._lane()
        for place, field in enumerate(self._shown.fields):
            self._scale(painter, place, field, top, bottom)
        for place, (branch, y) in enumerate(rows):
            if self._opens(place):
                box = QRectF(0, y - px(GROUP), self.width(), px(GROUP))
                group_line(painter, box, branch.group)
            self._row(painter, branch, y)

    # where things are

    def _opens(self, place: int) -> bool:
        rows = self._shown.branches
        return bool(rows[place].group) and (
            place == 0 or rows[place - 1].group != rows[place].group
        )

    def _rows(self) -> list[tuple[Branch, float]]:
        y = float(px(self._head()))
        found = []
        for place, branch in enumerate(self._shown.branches):
            y += px(GROUP) if self._opens(place) else 0
            found.append((branch, y))
            y += self._lane()
        return found

    def _names(self) -> float:
        found = metrics(13)
        titles = max((found.horizontalAdvance(b.title) for b in self._shown.branches), default=0)
        counts = max((found.horizontalAdvance(str(b.n)) for b in self._shown.branches), default=0)
        return min(titles + counts + px(36), self.width() * 0.36)

    def _each(self) -> float:
        """Width of one scale with its numbers."""
        return (self.width() - self._names()) / max(1, len(self._shown.fields))

    def _room(self, place: int) -> int:
        """What the numbers of a scale need on its right."""
        found = metrics(11, bold=True)
        labels = [b.dots[place].label for b in self._shown.branches if place < len(b.dots)]
        return max((found.horizontalAdvance(text) for text in labels), default=0) + px(14)

    def _beside(self) -> bool:
        """Whether every scale has room for its numbers on its right."""
        places = range(len(self._shown.fields))
        return all(self._each() - self._room(place) > px(170) for place in places)

    def _lane(self) -> int:
        return px(LANE + (0 if self._beside() else LINE))

    def _head(self) -> int:
        """Height of the head at 100 %: a title that is too long has two lines."""
        found, room = metrics(11, bold=True), self._each() - px(12)
        long = any(found.horizontalAdvance(one.title) > room for one in self._shown.fields)
        return HEAD + LINE * long

    def _field(self, place: int) -> tuple[float, float, float]:
        """Left edge, width of the scale, room for its numbers on the right (0 where none)."""
        each = self._each()
        room = self._room(place) if self._beside() else 0
        left = self._names() + place * each
        return left + px(10), each - room - px(22), room

    def _x(self, place: int, value: float) -> float:
        left, wide, _room = self._field(place)
        field = self._shown.fields[place]
        inside = min(max(value, field.low), field.high)
        return left + wide * (inside - field.low) / (field.high - field.low)

    # drawing

    def _scale(
        self, painter: QPainter, place: int, field: Field, top: float, bottom: float
    ) -> None:
        left, wide, room = self._field(place)
        face(painter, 11, bold=True)
        painter.setPen(ink("text"))
        high = px(self._head() - HEAD)
        box = QRectF(left, 0, wide + room + px(10), px(18) + high)
        painter.drawText(box, (MIDDLE | LEFT).value | WRAP, field.title)
        middle = self._x(place, field.zero)
        self._ends(painter, field, QRectF(left, px(18) + high, wide, px(18)))
        painter.setPen(QPen(ink("quiet"), 1))
        painter.drawLine(QPointF(middle, top), QPointF(middle, bottom))
        self._whole(painter, place, top, bottom)
        face(painter, 11)
        for value in (field.low, field.zero, field.high):
            x = self._x(place, value)
            painter.setPen(QPen(ink("line"), 1))
            painter.drawLine(QPointF(x, bottom), QPointF(x, bottom + px(4)))
            painter.setPen(ink("quiet"))
            side, shift = {field.low: (LEFT, 0), field.high: (RIGHT, 60)}.get(value, (CENTRE, 30))
            at = QRectF(x - px(shift), bottom + px(4), px(60), px(16))
            text = f"{value:+.0f}" if field.low < 0 and value else f"{value:.0f}"
            painter.drawText(at, MIDDLE | side, f"{text} {field.unit}".strip())

    def _ends(self, painter: QPainter, field: Field, box: QRectF) -> None:
        """Which way is which: an arrow and its name, a model's in its colour."""
        found = face(painter, 11)
        room = int(box.width() * 0.49) - found.horizontalAdvance("◂ ")
        left, right = (found.elidedText(one, Qt.TextElideMode.ElideRight, room)
                       for one in (field.left, field.right))  # fmt: skip
        for fill, side, text in (
            ("second", LEFT, f"◂ {left}" if left else ""),
            ("first", RIGHT, f"{right} ▸" if right else ""),
        ):
            painter.setPen(colour_of(fill) if field.models else ink("quiet"))
            painter.drawText(box, MIDDLE | side, text)

    def _whole(self, painter: QPainter, place: int, top: float, bottom: float) -> None:
        for branch in self._shown.branches:
            value = branch.dots[place].value if branch.whole else None
            if value is not None:
                painter.setPen(QPen(ink("disabled"), 1, Qt.PenStyle.DashLine))
                x = self._x(place, value)
                painter.drawLine(QPointF(x, top), QPointF(x, bottom))

    def _row(self, painter: QPainter, branch: Branch, y: float) -> None:
        found = face(painter, 13, bold=branch.whole)
        count = f"{branch.n}"
        names, wide = self._names() - px(12), found.horizontalAdvance(count) + px(12)
        painter.setPen(ink("text"))
        title = QRectF(0, y, names - wide, self._lane())
        name_in(painter, title, branch.title, LEFT, bold=branch.whole)
        face(painter, 13, bold=branch.whole)
        painter.setPen(ink("quiet"))
        painter.drawText(QRectF(0, y, names, self._lane()), MIDDLE | RIGHT, count)
        most = max(b.n for b in self._shown.branches if not b.whole or len(
            self._shown.branches) == 1)  # fmt: skip
        for place, dot in enumerate(branch.dots):
            self._dot(painter, place, dot, y, branch, most)

    def _dot(
        self, painter: QPainter, place: int, dot: Dot, y: float, branch: Branch, most: int
    ) -> None:
        left, wide, room = self._field(place)
        middle = y + px(LANE) / 2
        face(painter, 11, bold=branch.whole)
        if dot.value is None:
            painter.setPen(ink("quiet"))
            text = "no value" if room else dot.label
            painter.drawText(QRectF(left, y, wide, px(LANE)), MIDDLE | CENTRE, text)
            return
        centre = QPointF(self._x(place, dot.value), middle)
        self._tell(painter, self._number(place, dot, centre), dot.label)
        half = px(3) + px(4) * math.sqrt(branch.n / most if most else 0)
        half = float(px(7)) if branch.whole else half
        ends = self._interval(place, dot)
        over = ends is not None and min(centre.x() - ends[0], ends[1] - centre.x()) < half + 2
        if ends is not None and not over:
            interval(painter, *ends, middle, colour=ink("text"))
        self._mark(painter, place, dot, centre, half, whole=branch.whole)
        if ends is not None and over:  # below the mark an end of it would be hidden
            interval(painter, *ends, middle, colour=ink("text"))

    def _interval(self, place: int, dot: Dot) -> tuple[float, float] | None:
        if dot.low is None or dot.high is None:
            return None
        return self._x(place, dot.low), self._x(place, dot.high)

    def _number(self, place: int, dot: Dot, centre: QPointF) -> QRectF:
        """Where the number of a dot stands: right of the scale, or below the dot."""
        left, wide, room = self._field(place)
        if room:
            return QRectF(left + wide + px(12), centre.y() - px(LANE) / 2, room, px(LANE))
        long = metrics(11, bold=True).horizontalAdvance(dot.label)
        most = left + wide + px(10) - long
        x = max(left - px(8), min(centre.x() - long / 2, most))
        return QRectF(x, centre.y() + px(LANE) / 2 - px(3), long, px(LINE))

    def _tell(self, painter: QPainter, at: QRectF, text: str) -> None:
        """A number on its own ground: lines of the scale end at it."""
        painter.fillRect(at, ink("panel"))
        painter.setPen(ink("text"))
        painter.drawText(at, MIDDLE | LEFT, text)

    def _mark(
        self, painter: QPainter, place: int, dot: Dot, at: QPointF, half: float, *, whole: bool
    ) -> None:
        if whole:
            _diamond(painter, at, half, ink("text"))
            return
        field = self._shown.fields[place]
        ahead = (dot.value or 0) - field.zero
        fill = "first" if ahead > 0 else "second" if ahead < 0 else "both"
        _square(painter, at, half, colour_of(fill if field.models else "both"))


def _square(painter: QPainter, at: QPointF, half: float, colour: QColor) -> None:
    painter.setPen(QPen(ink("picture"), 1))
    painter.setBrush(colour)
    painter.drawRect(QRectF(at.x() - half, at.y() - half, 2 * half, 2 * half))
    painter.setBrush(Qt.BrushStyle.NoBrush)


def _diamond(painter: QPainter, at: QPointF, half: float, colour: QColor) -> None:
    painter.setPen(QPen(ink("picture"), 1))
    painter.setBrush(colour)
    corners = ((-half, 0), (0, -half), (half, 0), (0, half))
    painter.drawPolygon(QPolygonF([QPointF(at.x() + x, at.y() + y) for x, y in corners]))
    painter.setBrush(Qt.BrushStyle.NoBrush)
