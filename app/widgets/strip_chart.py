"""Quantities along a session, one strip below the other over the same stretches.

Owns the drawing; refuses to compute. Values stand at their points, intervals as whiskers.
"""

from __future__ import annotations

from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QPainter, QPen

from app.shown_statistics import Strip, Strips
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
    metrics,
    upright,
)

HEAD, HIGH, GAP, FOOT = 28, 92, 12, 40
EDGE = 46


class StripChart(MarkedChart):
    """Strips that share their stretches."""

    def __init__(self, name: str = "Along the session") -> None:
        super().__init__(name)
        self._shown = Strips(name, "", ())

    def show_chart(self, shown: Strips) -> None:
        """Draw other strips."""
        self._shown = shown
        self.setAccessibleName(shown.name)
        self.refit()

    def wanted_height(self) -> int:
        return px((HEAD + HIGH + GAP) * max(1, len(self._shown.strips)) + FOOT)

    def lay_out(self) -> list[Mark]:
        marks = []
        for row, strip in enumerate(self._shown.strips):
            field = self._field(row)
            wide = field.width() / max(1, len(strip.stops))
            marks += [
                Mark(
                    QRectF(field.left() + n * wide + 2, field.top(), wide - 4, field.height()),
                    stop.words,
                    stop.behind,
                    row,
                )
                for n, stop in enumerate(strip.stops)
            ]
        return marks

    def draw(self, painter: QPainter) -> None:
        for row, strip in enumerate(self._shown.strips):
            self._strip(painter, row, strip)
        if self._shown.strips:
            self._axis(painter, self._field(len(self._shown.strips) - 1))

    def _field(self, row: int) -> QRectF:
        top = px(HEAD) + row * px(HEAD + HIGH + GAP)
        return QRectF(px(EDGE), top, self.width() - px(EDGE) - px(8), px(HIGH))

    def _strip(self, painter: QPainter, row: int, strip: Strip) -> None:
        field = self._field(row)
        face(painter, 11, bold=True)
        painter.setPen(ink("text"))
        head = QRectF(0, field.top() - px(HEAD), self.width(), px(18))  # above the scale's top
        painter.drawText(head, MIDDLE | LEFT, elided(painter, strip.title, head.width()))
        face(painter, 11)
        for share in (0.0, 0.5, 1.0):
            y = field.bottom() - share * field.height()
            painter.setPen(QPen(ink("line"), 1))
            painter.drawLine(QPointF(field.left(), y), QPointF(field.right(), y))
            painter.setPen(ink("quiet"))
            at = QRectF(0, y - px(8), px(EDGE) - px(6), px(16))
            text = f"{strip.top * share:g} {strip.unit}".strip()
            painter.drawText(at, MIDDLE | RIGHT, text)
        self._points(painter, field, strip)

    def _points(self, painter: QPainter, field: QRectF, strip: Strip) -> None:
        wide = field.width() / max(1, len(strip.stops))
        tint = colour_of(strip.fill)
        places = [field.left() + (n + 0.5) * wide for n in range(len(strip.stops))]
        self._lines(painter, field, strip, places)
        for x, stop in zip(places, strip.stops, strict=True):
            if stop.value is None:
                continue
            at = QPointF(x, self._y(field, strip, stop.value))
            if stop.low is not None and stop.high is not None:
                ends = (self._y(field, strip, stop.low), self._y(field, strip, stop.high))
                upright(painter, x, *ends, colour=tint)
            painter.setPen(QPen(ink("picture"), 1))
            painter.setBrush(tint)
            painter.drawEllipse(at, px(4), px(4))
            painter.setBrush(Qt.BrushStyle.NoBrush)
            top = at.y() if stop.high is None else self._y(field, strip, stop.high)
            self._label(painter, at, top, stop.label, wide)

    def _lines(self, painter: QPainter, field: QRectF, strip: Strip, places: list[float]) -> None:
        """From point to point, under everything; a gap stays a gap."""
        painter.setPen(QPen(colour_of(strip.fill), 1.2, Qt.PenStyle.DotLine))
        before = None
        for x, stop in zip(places, strip.stops, strict=True):
            at = None if stop.value is None else QPointF(x, self._y(field, strip, stop.value))
            if before is not None and at is not None:
                painter.drawLine(before, at)
            before = at

    def _label(self, painter: QPainter, at: QPointF, top: float, text: str, wide: float) -> None:
        """Right of the point, where no whisker stands."""
        found = face(painter, 11)
        room = found.horizontalAdvance(text)
        if room > wide:
            return
        if room + px(10) > wide / 2:  # no room beside it: above the whisker
            box = QRectF(at.x() - wide / 2, top - px(16), wide, px(14))
            painter.setPen(ink("text"))
            painter.drawText(box, MIDDLE | CENTRE, text)
            return
        box = QRectF(at.x() + px(7), at.y() - px(7), room + px(4), px(14))
        painter.fillRect(box.adjusted(-2, 0, 0, 0), ink("panel"))
        painter.setPen(ink("text"))
        painter.drawText(box, MIDDLE | LEFT, text)

    def _y(self, field: QRectF, strip: Strip, value: float) -> float:
        inside = min(max(value, 0.0), strip.top)
        return field.bottom() - field.height() * (inside / strip.top if strip.top else 0)

    def _axis(self, painter: QPainter, field: QRectF) -> None:
        stops = self._shown.strips[-1].stops
        wide = field.width() / max(1, len(stops))
        face(painter, 11)
        painter.setPen(ink("quiet"))
        widest = max((metrics(11).horizontalAdvance(stop.title) for stop in stops), default=0)
        every = max(1, -(-(widest + px(8)) // max(1, int(wide))))
        for n, stop in enumerate(stops):
            if n % every == 0:
                box = QRectF(field.left() + n * wide, field.bottom() + px(4), wide * every, px(16))
                side = CENTRE if every == 1 else LEFT
                painter.drawText(box, MIDDLE | side, stop.title)
        box = QRectF(field.left(), field.bottom() + px(20), field.width(), px(18))
        painter.drawText(box, MIDDLE | CENTRE, elided(painter, self._shown.axis, box.width()))
