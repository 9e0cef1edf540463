"""A forest plot: one row per group over one or more scales, intervals always drawn.

Owns the drawing; refuses to compute. The whole is a diamond and a dashed line through all rows,
each group a square whose size tells its n; the numbers stand beside them where there is room.
"""

from __future__ import annotations

import math

from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QColor, QPainter, QPen, QPolygonF

from app.shown_statistics import Branch, Dot, Field, Forest
from app.widgets.ink import ink, px
from app.widgets.marked_chart import Mark, MarkedChart
from app.widgets.plot_ink import (
    CENTRE,
    LEFT,
    MIDDLE,
    RIGHT,
    colour_of,
    elided,
    face,
    group_line,
    interval,
    metrics,
    name_in,
)

HEAD, GROUP, LANE, FOOT = 44, 24, 26, 24


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
        return px(HEAD + GROUP * heads + LANE * len(self._shown.branches) + FOOT)

    def lay_out(self) -> list[Mark]:
        marks = []
        for row, (branch, y) in enumerate(self._rows()):
            said = [dot.words for dot in branch.dots]
            title = QRectF(2, y + 3, self._names() - px(10), px(LANE) - 6)
            marks.append(Mark(title, f"{branch.title}, n = {branch.n}", branch.behind, row))
            for place, words in enumerate(said):
                left, wide, _room = self._field(place)
                box = QRectF(left, y + 2, wide, px(LANE) - 4)
                marks.append(Mark(box, words, branch.behind, row))
        return marks

    def draw(self, painter: QPainter) -> None:
        if not self._shown.branches:
            return
        rows = self._rows()
        top, bottom = rows[0][1], rows[-1][1] + px(LANE)
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
        y = float(px(HEAD))
        found = []
        for place, branch in enumerate(self._shown.branches):
            y += px(GROUP) if self._opens(place) else 0
            found.append((branch, y))
            y += px(LANE)
        return found

    def _names(self) -> float:
        found = metrics(13)
        titles = max((found.horizontalAdvance(b.title) for b in self._shown.branches), default=0)
        counts = max((found.horizontalAdvance(str(b.n)) for b in self._shown.branches), default=0)
        return min(titles + counts + px(36), self.width() * 0.36)

    def _field(self, place: int) -> tuple[float, float, float]:
        """Left edge, width of the scale, room for its numbers on the right (0 where none)."""
        count = max(1, len(self._shown.fields))
        each = (self.width() - self._names()) / count
        found = metrics(11)
        labels = [b.dots[place].label for b in self._shown.branches if place < len(b.dots)]
        room = max((found.horizontalAdvance(text) for text in labels), default=0) + px(14)
        room = room if each - room > px(170) else 0
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
        box = QRectF(left, 0, wide + room, px(18))
        painter.drawText(box, MIDDLE | LEFT, elided(painter, field.title, box.width()))
        middle = self._x(place, field.zero)
        self._ends(painter, field, QRectF(left, px(18), wide, px(18)))
        painter.setPen(QPen(ink("quiet"), 1))
        painter.drawLine(QPointF(middle, top), QPointF(middle, bottom))
        self._whole(painter, place, top, bottom)
        face(painter, 11)
        for value in (field.low, field.zero, field.high):
            x = self._x(place, value)
            painter.setPen(QPen(ink("line"), 1))
            painter.drawLine(QPointF(x, bottom), QPointF(x, bottom + px(4)))
            painter.setPen(ink("quiet"))
            at = QRectF(x - px(30), bottom + px(4), px(60), px(16))
            text = f"{value:+.0f}" if field.low < 0 and value else f"{value:.0f}"
            painter.drawText(at, MIDDLE | CENTRE, f"{text} {field.unit}".strip())

    def _ends(self, painter: QPainter, field: Field, box: QRectF) -> None:
        """Which way is which model: an arrow, its colour and its name."""
        face(painter, 11)
        for fill, side, text in (
            ("second", LEFT, f"◂ {field.left}" if field.left else ""),
            ("first", RIGHT, f"{field.right} ▸" if field.right else ""),
        ):
            painter.setPen(colour_of(fill))
            painter.drawText(box, MIDDLE | side, elided(painter, text, box.width() * 0.48))

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
        title = QRectF(0, y, names - wide, px(LANE))
        name_in(painter, title, branch.title, LEFT, bold=branch.whole)
        face(painter, 13, bold=branch.whole)
        painter.setPen(ink("quiet"))
        painter.drawText(QRectF(0, y, names, px(LANE)), MIDDLE | RIGHT, count)
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
        if room:
            painter.setPen(ink("text"))
            at = QRectF(left + wide + px(12), y, room, px(LANE))
            painter.drawText(at, MIDDLE | LEFT, dot.label)
        if dot.value is None:
            painter.setPen(ink("quiet"))
            text = "no value" if room else dot.label
            painter.drawText(QRectF(left, y, wide, px(LANE)), MIDDLE | CENTRE, text)
            return
        zero = self._shown.fields[place].zero
        ahead = "first" if dot.value > zero else "second" if dot.value < zero else "both"
        colour = colour_of(ahead)
        centre = QPointF(self._x(place, dot.value), middle)
        if branch.whole:
            _diamond(painter, centre, px(7), ink("text"))
        else:
            half = px(3) + px(4) * math.sqrt(branch.n / most if most else 0)
            _square(painter, centre, half, colour)
        if dot.low is not None and dot.high is not None:  # above the square, which may be wider
            ends = (self._x(place, dot.low), self._x(place, dot.high))
            interval(painter, *ends, middle, colour=ink("text"))


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
