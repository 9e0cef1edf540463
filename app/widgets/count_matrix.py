"""A small table of counts over two readings, shaded by count, the diagonal outlined.

Owns the drawing; refuses to compute. Numbers stand in every cell, so that shade is never alone.
"""

from __future__ import annotations

from PySide6.QtCore import QRectF, Qt
from PySide6.QtGui import QColor, QPainter, QPen

from app.shown_statistics import Cell, Matrix
from app.widgets.ink import ink, px
from app.widgets.marked_chart import Mark, MarkedChart
from app.widgets.plot_ink import CENTRE, LEFT, MIDDLE, RIGHT, elided, face, metrics

HEAD, LANE = 40, 34
MOST = 120


class CountMatrix(MarkedChart):
    """Counts by two readings."""

    def __init__(self, name: str = "Counts of two readings") -> None:
        super().__init__(name)
        self._shown = Matrix(name, "", "", (), (), ())

    def show_chart(self, shown: Matrix) -> None:
        """Draw other counts."""
        self._shown = shown
        self.setAccessibleName(shown.name)
        self.refit()

    def wanted_height(self) -> int:
        return px(HEAD + LANE * len(self._shown.rows) + 6)

    def lay_out(self) -> list[Mark]:
        return [
            Mark(self._box(row, column), cell.words, cell.behind, row)
            for row, line in enumerate(self._shown.cells)
            for column, cell in enumerate(line)
        ]

    def draw(self, painter: QPainter) -> None:
        if not self._shown.rows:
            return
        names = self._names()
        face(painter, 11)
        painter.setPen(ink("quiet"))
        across = QRectF(names, 0, self._wide() * len(self._shown.columns), px(18))
        painter.drawText(across, MIDDLE | LEFT, elided(painter, self._shown.across, across.width()))
        down = QRectF(0, px(20), names - px(10), px(18))
        painter.drawText(down, MIDDLE | RIGHT, elided(painter, self._shown.down, down.width()))
        painter.setPen(ink("text"))
        for column, word in enumerate(self._shown.columns):
            box = self._box(0, column)
            at = QRectF(box.left(), px(20), box.width(), px(18))
            painter.drawText(at, MIDDLE | CENTRE, elided(painter, word, at.width()))
        most = max((cell.count for line in self._shown.cells for cell in line), default=0)
        for row, line in enumerate(self._shown.cells):
            face(painter, 13)
            painter.setPen(ink("text"))
            at = QRectF(0, self._box(row, 0).top(), names - px(10), px(LANE))
            painter.drawText(at, MIDDLE | RIGHT, elided(painter, self._shown.rows[row], at.width()))
            for column, cell in enumerate(line):
                self._cell(painter, self._box(row, column), cell, most)

    def _cell(self, painter: QPainter, box: QRectF, cell: Cell, most: int) -> None:
        inner = box.adjusted(1, 1, -1, -1)
        light = 22 + round(62 * cell.count / most) if most else 22
        painter.fillRect(inner, QColor(light, light, light))
        if cell.same:
            painter.setPen(QPen(ink("quiet"), 1))
            painter.setBrush(Qt.BrushStyle.NoBrush)
            painter.drawRect(inner)
        face(painter, 13, bold=cell.same)
        painter.setPen(ink("text"))
        painter.drawText(inner, MIDDLE | CENTRE, str(cell.count))

    def _names(self) -> float:
        found = metrics(13)
        words = [*self._shown.rows, self._shown.down]
        wide = max((found.horizontalAdvance(word) for word in words), default=0) + px(14)
        return min(wide, self.width() * 0.4)

    def _wide(self) -> float:
        count = max(1, len(self._shown.columns))
        found = metrics(11)
        words = max((found.horizontalAdvance(w) for w in self._shown.columns), default=0)
        room = (self.width() - self._names() - px(4)) / count
        return min(room, max(px(MOST), words + px(12)))

    def _box(self, row: int, column: int) -> QRectF:
        wide = self._wide()
        left = self._names() + column * wide
        return QRectF(left, px(HEAD) + row * px(LANE), wide, px(LANE))
