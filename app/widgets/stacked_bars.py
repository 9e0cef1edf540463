"""Figure 7: shares of two models and their ties as one bar per group, intervals always drawn.

Owns the drawing; refuses to compute. Each part has its colour and hatching, its number where
there is room, and its interval at its border. No legend apart: the head names the parts.
"""

from __future__ import annotations

from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QPainter, QPen, QResizeEvent

from app.shown_statistics import FILLS, Bar, Bars, Piece
from app.widgets.ink import ink, px
from app.widgets.marked_chart import Mark, MarkedChart
from app.widgets.plot_ink import (
    CENTRE,
    LEFT,
    MIDDLE,
    RIGHT,
    SERIES,
    colour_of,
    elided,
    face,
    fill_box,
    group_line,
    interval,
    metrics,
    name_in,
    number_on,
    swatch,
)

HEAD, GROUP, LANE, FOOT = 26, 24, 46, 24


class StackedBars(MarkedChart):
    """Bars of five parts at most: first model, three kinds of ties, second model."""

    def __init__(self, name: str = "Shares of preference") -> None:
        super().__init__(name)
        self._shown = Bars(name, "", "", ())

    def show_chart(self, shown: Bars) -> None:
        """Draw other bars."""
        self._shown = shown
        self.setAccessibleName(shown.name)
        self.refit()

    def wanted_height(self) -> int:
        heads = sum(self._opens(place) for place in range(len(self._shown.bars)))
        count = len(self._shown.bars)
        return px(self._top() + GROUP * heads + LANE * count + FOOT)

    def lay_out(self) -> list[Mark]:
        marks = []
        for row, (bar, lane) in enumerate(self._lanes()):
            words = bar.words or f"{bar.title}, n = {bar.n}"
            title = QRectF(0, lane.top(), self._names(), lane.height())
            marks.append(Mark(title.adjusted(2, 4, -8, -4), words, bar.behind, row))
            marks += [
                Mark(box, piece.words, piece.behind, row)
                for piece, box in self._boxes(bar, lane)
                if piece.count
            ]
        return marks

    def draw(self, painter: QPainter) -> None:
        if not self._shown.bars:
            return
        self._head(painter)
        bottom = 0.0
        for place, (bar, lane) in enumerate(self._lanes()):
            if self._opens(place):
                box = QRectF(0, lane.top() - px(GROUP), self.width(), px(GROUP))
                group_line(painter, box, bar.group)
            self._bar(painter, bar, lane)
            bottom = lane.bottom()
        self._scale(painter, bottom)

    # where things are

    def _opens(self, place: int) -> bool:
        bars = self._shown.bars
        return bool(bars[place].group) and (
            place == 0 or bars[place - 1].group != bars[place].group
        )

    def _crowded(self) -> bool:
        """Whether the words of both ends need a line each."""
        found, (_left, wide) = metrics(13, bold=True), self._field()
        ends = (self._shown.first, self._shown.second)
        return sum(map(found.horizontalAdvance, ends)) + px(24) > wide

    def _top(self) -> int:
        """Height of the head at 100 %."""
        return HEAD * (1 + self._crowded() + bool(self._ties()))

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        if event.size().width() != event.oldSize().width():
            self.refit()  # the head may need another line

    def _names(self) -> int:
        found = metrics(13)
        wide = max((found.horizontalAdvance(bar.title) for bar in self._shown.bars), default=0)
        return min(wide + px(20), self.width() // 3)

    def _counts(self) -> int:
        notes = max((metrics(11).horizontalAdvance(b.note) for b in self._shown.bars), default=0)
        counts = [metrics(13).horizontalAdvance(f"n = {b.n}") for b in self._shown.bars]
        wide = max([notes, *counts]) + px(14)
        return wide if wide <= self.width() // 3 else max(counts, default=0) + px(14)

    def _field(self) -> tuple[float, float]:
        left = float(self._names())
        return left, max(px(120), self.width() - left - self._counts())

    def _lanes(self) -> list[tuple[Bar, QRectF]]:
        left, wide = self._field()
        y = float(px(self._top()))
        lanes = []
        for place, bar in enumerate(self._shown.bars):
            y += px(GROUP) if self._opens(place) else 0
            lanes.append((bar, QRectF(left, y, wide, px(LANE))))
            y += px(LANE)
        return lanes

    def _boxes(self, bar: Bar, lane: QRectF) -> list[tuple[Piece, QRectF]]:
        high = px(22)
        x, top = lane.left(), lane.center().y() - high / 2
        boxes = []
        for piece in bar.pieces:
            wide = lane.width() * piece.share / 100
            boxes.append((piece, QRectF(x, top, wide, high)))
            x += wide
        return boxes

    def _ties(self) -> list[tuple[str, str]]:
        """The kinds that occur between the ends, as (fill, word): the head must name them."""
        between = [
            p for bar in self._shown.bars for p in bar.pieces if p.fill not in self._shown.ends
        ]
        found = {piece.fill: piece.word for piece in between if piece.count}
        return [(fill, found[fill]) for fill in FILLS if fill in found]

    # drawing

    def _head(self, painter: QPainter) -> None:
        left, wide = self._field()
        crowded = self._crowded()
        face(painter, 13, bold=True)
        names = ((LEFT, self._shown.first), (RIGHT, self._shown.second))
        for line, (fill, (side, name)) in enumerate(zip(self._shown.ends, names, strict=True)):
            box = QRectF(left, px(2) + px(HEAD) * line * crowded, wide, px(22))
            _end(painter, box, fill, side, name)
        ties = self._ties()
        if not ties:
            return
        found, y = face(painter, 11), px(HEAD * (1 + crowded))
        each = [found.horizontalAdvance(word) + px(22) for _fill, word in ties]
        lead = found.horizontalAdvance(self._shown.middle) + px(10) if self._shown.middle else 0
        x = left + max(0.0, (wide - sum(each) - lead) / 2)
        painter.setPen(ink("quiet"))
        painter.drawText(QRectF(x, y, lead, px(20)), MIDDLE | LEFT, self._shown.middle)
        x += lead
        for (fill, word), room in zip(ties, each, strict=True):
            swatch(painter, QRectF(x, y + px(5), px(10), px(10)), fill)
            painter.setPen(ink("quiet"))
            at = QRectF(x + px(14), y, room, px(20))
            painter.drawText(at, MIDDLE | LEFT, word)
            x += room

    def _bar(self, painter: QPainter, bar: Bar, lane: QRectF) -> None:
        painter.setPen(ink("text"))
        title = QRectF(0, lane.top(), self._names() - px(12), lane.height())
        name_in(painter, title, bar.title, RIGHT)
        self._beside(painter, bar, lane)
        for piece, box in self._boxes(bar, lane):
            fill_box(painter, box, piece.fill)
            painter.fillRect(QRectF(box.right() - 1, box.top(), 1, box.height()), ink("ground"))
            number_on(painter, box, piece.share, piece.fill)
        self._intervals(painter, bar, lane)

    def _beside(self, painter: QPainter, bar: Bar, lane: QRectF) -> None:
        left, room = lane.right() + px(10), self._counts() - px(10)
        face(painter, 13)
        painter.setPen(ink("text"))
        fits = bar.note and metrics(11).horizontalAdvance(bar.note) <= room
        if not fits:
            at = QRectF(left, lane.top(), room, lane.height())
            painter.drawText(at, MIDDLE | LEFT, f"n = {bar.n}")
            return
        half = lane.height() / 2
        at = QRectF(left, lane.top() + px(3), room, half - px(3))
        painter.drawText(at, MIDDLE | LEFT, f"n = {bar.n}")
        face(painter, 11)
        painter.setPen(ink("quiet"))
        at = QRectF(left, lane.top() + half - px(2), room, half - px(3))
        painter.drawText(at, MIDDLE | LEFT, bar.note)

    def _intervals(self, painter: QPainter, bar: Bar, lane: QRectF) -> None:
        """Of the first model and of all ties above, at their right borders; the second below."""
        one = lane.width() / 100
        above, below = lane.center().y() - px(16), lane.center().y() + px(16)
        first, second = bar.pieces[0], bar.pieces[-1]
        if first.low is not None and first.high is not None:
            ends = (lane.left() + first.low * one, lane.left() + first.high * one)
            interval(painter, *ends, above, colour=colour_of("first"))
        if second.low is not None and second.high is not None:
            ends = (lane.right() - second.high * one, lane.right() - second.low * one)
            interval(painter, *ends, below, colour=colour_of("second"))
        if bar.tie is not None and first.high is not None:
            low, high = (lane.left() + end * one for end in tie_ends(first.share, bar.tie))
            crowded = low < lane.left() + first.high * one + px(4)
            lift = px(5) if crowded else 0
            interval(painter, low, high, above - lift, colour=colour_of("both"))

    def _scale(self, painter: QPainter, y: float) -> None:
        left, wide = self._field()
        face(painter, 11)
        for percent in (0, 25, 50, 75, 100):
            x = left + wide * percent / 100
            painter.setPen(QPen(ink("line"), 1))
            painter.drawLine(QPointF(x, y), QPointF(x, y + px(4)))
            painter.setPen(ink("quiet"))
            side = {0: LEFT, 100: RIGHT}.get(percent, CENTRE)
            shift = {0: 0, 100: px(60)}.get(percent, px(30))
            painter.drawText(QRectF(x - shift, y + px(4), px(60), px(16)), MIDDLE | side,
                             f"{percent} %")  # fmt: skip


def _end(painter: QPainter, box: QRectF, fill: str, side: Qt.AlignmentFlag, name: str) -> None:
    """What an end of the bars says: a model in its colour, anything else beside its grey."""
    painter.setPen(colour_of(fill))
    if fill not in SERIES:
        high, room = px(10), px(14)
        x = box.left() if side == LEFT else box.right() - high
        swatch(painter, QRectF(x, box.center().y() - high / 2, high, high), fill)
        box = box.adjusted(room, 0, 0, 0) if side == LEFT else box.adjusted(0, 0, -room, 0)
        painter.setPen(ink("text"))
    painter.drawText(box, MIDDLE | side, elided(painter, name, box.width()))


def tie_ends(before: float, tie: tuple[float, float, float]) -> tuple[float, float]:
    """Where the interval of all ties lies on the scale: never beyond 0 or 100 %.

    At the right border of the ties; where that leaves no room at their left one, from the right;
    where few answers leave room at neither, read from 0 % like the scale below it.

    Args:
        before: percent that stand left of the ties.
        tie: share of the ties and its interval, percent.

    Returns:
        Both ends, percent of the bar.
    """
    share, low, high = tie
    if before + high <= 100:
        return before + low, before + high
    after = before + share
    return (after - high, after - low) if after >= high else (low, high)
