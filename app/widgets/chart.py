"""Bars with their intervals, painted directly: small multiples of scores.

Owns the drawing; refuses to compute. Every number is labelled where it stands, no legend.
"""

from __future__ import annotations

from PySide6.QtCore import QPointF, QRectF, QSize, Qt
from PySide6.QtGui import QColor, QFontMetrics, QPainter, QPaintEvent, QPen
from PySide6.QtWidgets import QSizePolicy, QWidget

from app.shown import ScoreRow, ScoreShown, ScoreTable
from app.widgets.ink import ink, px, series

PRINTED_INK = "#6f6f6f"


def font_of(painter: QPainter, size: int, *, bold: bool = False) -> QFontMetrics:
    """Set the painter's font to a size of the design and return its metrics."""
    font = painter.font()
    font.setPixelSize(px(size))
    font.setBold(bold)
    painter.setFont(font)
    return painter.fontMetrics()


def shade_text(background: QColor) -> QColor:
    """Black or white, whichever reads better on a colour (WCAG 2 relative luminance)."""
    parts = (background.redF(), background.greenF(), background.blueF())
    red, green, blue = (c / 12.92 if c <= 0.03928 else ((c + 0.055) / 1.055) ** 2.4 for c in parts)
    light = 0.2126 * red + 0.7152 * green + 0.0722 * blue
    return QColor("#000000" if light > 0.179 else "#ffffff")


def whisker(painter: QPainter, left: float, right: float, y: float, half: float) -> None:
    """An interval with end caps, in a line that shows on any ground."""
    for colour, width in (("#000000", 3.4), ("#f0f0f0", 1.4)):
        painter.setPen(QPen(QColor(colour), width))
        painter.drawLine(QPointF(left, y), QPointF(right, y))
        painter.drawLine(QPointF(left, y - half), QPointF(left, y + half))
        painter.drawLine(QPointF(right, y - half), QPointF(right, y + half))


class IntervalBars(QWidget):
    """Scores as small multiples: one panel per column of a table, one bar per row.

    The scale of every panel is 0 to 100 percent; the dashed line is the chance level.
    """

    def __init__(self) -> None:
        super().__init__()
        self._table = ScoreTable((), ())
        self.setAccessibleName("Scores by family with 95 % intervals")
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Expanding)

    def show_table(self, table: ScoreTable) -> None:
        """Draw another table; its chance row (empty key) becomes the dashed line."""
        rows = tuple(row for row in table.rows if row.key)
        self._table = ScoreTable(table.columns, rows)
        self.setAccessibleDescription(_spoken(self._table))
        self.updateGeometry()
        self.update()

    def minimumSizeHint(self) -> QSize:
        """Room for two lines of panels."""
        return QSize(px(480), px(120))

    def wanted_height(self) -> int:
        """Room for every bar to be read."""
        _, down = self._grid()
        return down * (px(46) + px(17) * len(self._table.rows))

    def _grid(self) -> tuple[int, int]:
        columns = len(self._table.columns)
        across = columns if self.width() >= columns * px(190) else (columns + 1) // 2
        return max(1, across), -(-columns // max(1, across))

    def paintEvent(self, event: QPaintEvent) -> None:
        """Draw every panel."""
        if not self._table.columns or not self._table.rows:
            return
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        across, down = self._grid()
        metrics = font_of(painter, 11)
        names = min(px(190), max(metrics.horizontalAdvance(r.title) for r in self._table.rows))
        wide = (self.width() - names - px(10)) / across
        high = min(self.height() / down, px(36) + px(48) * len(self._table.rows))
        for index, name in enumerate(self._table.columns):
            line, place = divmod(index, across)
            box = QRectF(names + px(10) + place * wide, line * high, wide - px(14), high - px(8))
            self._panel(painter, box, index, name)
            if place == 0:
                self._names(painter, box, names)
        painter.end()

    def _lanes(self, box: QRectF) -> tuple[float, float]:
        top = box.top() + px(18)
        lane = (box.height() - px(32)) / len(self._table.rows)
        return top, min(lane, px(44))

    def _names(self, painter: QPainter, box: QRectF, wide: int) -> None:
        metrics = font_of(painter, 11)
        top, lane = self._lanes(box)
        painter.setPen(ink("text"))
        for index, row in enumerate(self._table.rows):
            text = metrics.elidedText(row.title, Qt.TextElideMode.ElideMiddle, wide)
            at = QRectF(0, top + index * lane, wide, lane)
            painter.drawText(at, Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter, text)

    def _panel(self, painter: QPainter, box: QRectF, column: int, name: str) -> None:
        font_of(painter, 11, bold=True)
        painter.setPen(ink("text"))
        painter.drawText(
            QRectF(box.left(), box.top(), box.width(), px(16)),
            Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter,
            name,
        )
        top, lane = self._lanes(box)
        bottom = top + lane * len(self._table.rows)
        self._scale(painter, box, top, bottom)
        chance: float | None = None
        for index, row in enumerate(self._table.rows):
            score = row.scores[column] if column < len(row.scores) else None
            chance = score.chance if score and score.chance is not None else chance
            self._bar(
                painter,
                QRectF(box.left(), top + index * lane, box.width(), lane),
                row,
                score,
                QColor(PRINTED_INK) if row.printed else series(index),
            )
        if chance is not None:
            painter.setPen(QPen(ink("warn"), 1.2, Qt.PenStyle.DashLine))
            x = box.left() + box.width() * chance / 100
            painter.drawLine(QPointF(x, top), QPointF(x, bottom))

    def _scale(self, painter: QPainter, box: QRectF, top: float, bottom: float) -> None:
        font_of(painter, 10)
        for percent in (0, 50, 100):
            x = box.left() + box.width() * percent / 100
            painter.setPen(QPen(ink("line"), 1))
            painter.drawLine(QPointF(x, top), QPointF(x, bottom))
            painter.setPen(ink("quiet"))
            side = {0: Qt.AlignmentFlag.AlignLeft, 100: Qt.AlignmentFlag.AlignRight}
            at = QRectF(x - px(40) * percent / 100, bottom + 1, px(40), px(13))
            painter.drawText(at, side.get(percent, Qt.AlignmentFlag.AlignHCenter), str(percent))

    def _bar(
        self,
        painter: QPainter,
        lane: QRectF,
        row: ScoreRow,
        score: ScoreShown | None,
        colour: QColor,
    ) -> None:
        font_of(painter, 10)
        if score is None:
            painter.setPen(ink("disabled"))
            painter.drawText(lane, Qt.AlignmentFlag.AlignVCenter, " no task")
            return
        high = min(lane.height() * 0.62, px(14))
        y = lane.center().y()
        width = lane.width() * score.value / 100
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(colour)
        painter.drawRect(QRectF(lane.left(), y - high / 2, max(width, 1.0), high))
        end = width
        if score.interval is not None:
            low, up = (lane.width() * edge / 100 for edge in score.interval)
            whisker(painter, lane.left() + low, lane.left() + up, y, high / 4)
            end = max(end, up)
        self._number(painter, lane, score, end)

    def _number(self, painter: QPainter, lane: QRectF, score: ScoreShown, end: float) -> None:
        text = f"{score.value:.1f}"
        wide = painter.fontMetrics().horizontalAdvance(text) + px(6)
        x = lane.left() + end + px(4)
        if x + wide > lane.right() + px(12):
            x = lane.left() + px(4)
        box = QRectF(x, lane.center().y() - px(7), wide, px(14))
        painter.fillRect(box, QColor(13, 13, 13, 190))
        painter.setPen(ink("text"))
        painter.drawText(box, Qt.AlignmentFlag.AlignCenter, text)


def _spoken(table: ScoreTable) -> str:
    """The same numbers as text, for a screen reader."""
    parts = []
    for row in table.rows:
        told = [
            f"{name} {score.value:.1f}"
            for name, score in zip(table.columns, row.scores, strict=False)
            if score is not None
        ]
        parts.append(f"{row.title}: {', '.join(told)}")
    return ". ".join(parts)
