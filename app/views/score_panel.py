"""A table of scores over its bars: value and interval in each cell, chance as its own row."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from PySide6.QtCore import QRect, QSize, Qt, Signal, SignalInstance
from PySide6.QtGui import QPainter
from PySide6.QtWidgets import (
    QHeaderView,
    QScrollArea,
    QStyle,
    QStyledItemDelegate,
    QStyleOptionViewItem,
    QWidget,
)

from app.shown import ScoreTable
from app.tables.rows import Index
from app.tables.scores import SCORE, ScoresModel
from app.widgets.blocks import column, label, quiet, table_view, tell
from app.widgets.chart import IntervalBars, font_of
from app.widgets.ink import ink, px


class ScoreDelegate(QStyledItemDelegate):
    """Paints a score with its interval below."""

    def sizeHint(self, option: QStyleOptionViewItem, index: Index) -> QSize:
        """Two lines."""
        return QSize(px(90), px(38))

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: Index) -> None:
        """Draw a cell; the best of a column is bold and marked."""
        cell = index.data(SCORE)
        style: Any = option
        painter.save()
        box: QRect = style.rect
        chosen = bool(style.state & QStyle.StateFlag.State_Selected)
        painter.fillRect(box, ink("raised" if chosen else "panel"))
        inner = box.adjusted(px(6), px(3), -px(10), -px(3))
        font_of(painter, 13, bold=cell.best)
        painter.setPen(ink(cell.tone))
        upper = QRect(inner.left(), inner.top(), inner.width(), inner.height() // 2)
        lower = QRect(inner.left(), inner.center().y(), inner.width(), inner.height() // 2)
        right = int(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)
        painter.drawText(upper if cell.detail else inner, right, cell.text)
        if cell.detail:
            font_of(painter, 11)
            painter.setPen(ink("quiet"))
            painter.drawText(lower, right, cell.detail)
        painter.restore()


class ScorePanel(QWidget):
    """Table above, small multiples below. ``model_chosen`` carries the model of the row in hand;
    ``model_opened`` the one that was double-clicked or entered.
    """

    model_chosen = Signal(str)
    model_opened = Signal(str)

    def __init__(self, name: str) -> None:
        super().__init__()
        self.model = ScoresModel()
        self.table = table_view(name)
        self.table.setModel(self.model)
        self.table.verticalHeader().setDefaultSectionSize(px(38))
        self.table.selectionModel().currentChanged.connect(
            lambda now, _before: self._tell(self.model_chosen, now.row())
        )
        self.table.activated.connect(lambda index: self._tell(self.model_opened, index.row()))
        self.chosen = quiet(small=True)
        self.chosen.hide()
        self.bars = IntervalBars()
        self.bars.setAccessibleName(f"{name}, bars with 95 % intervals")
        self.legend = quiet(
            "Bar: score in percent. Whisker: 95 % bootstrap interval. "
            "Dashed line: chance of that pool.",
            small=True,
        )
        self.marks = label("", "small")
        self.marks.hide()
        self.area = QScrollArea()
        self.area.setWidgetResizable(True)
        self.area.setAccessibleName(f"{name}, drawn")
        self.area.setWidget(self.bars)
        layout = column(self.table, self.chosen, self.marks, self.legend, self.area, space=6)
        layout.setStretchFactor(self.area, 1)
        layout.setContentsMargins(0, px(8), 0, 0)
        self.setLayout(layout)

    def _tell(self, signal: SignalInstance, place: int) -> None:
        if key := self.model.key_at(place):
            signal.emit(key)

    def show_chosen(self, text: str) -> None:
        """Say in one line how the model of the row in hand was computed."""
        tell(self.chosen, text)

    def show_marks(self, text: str) -> None:
        """Say which columns may not be compared, and why."""
        tell(self.marks, text, "warn")

    def show_table(self, table: ScoreTable, consistency: Sequence[tuple[str, str]] = ()) -> None:
        """Show other scores."""
        self.model.set_table(table, consistency)
        delegate = ScoreDelegate(self.table)
        header = self.table.horizontalHeader()
        header.setDefaultAlignment(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)
        for place in range(1, self.model.columnCount()):
            self.table.setItemDelegateForColumn(place, delegate)
            header.setSectionResizeMode(place, QHeaderView.ResizeMode.Stretch)
        if self.model.columnCount():
            header.setSectionResizeMode(0, QHeaderView.ResizeMode.Interactive)
            header.resizeSection(0, max(px(190), min(px(280), self.table.sizeHintForColumn(0))))
        self.bars.show_table(table)
        wanted = px(38) * len(table.rows) + self.table.horizontalHeader().sizeHint().height()
        # A long table (the paper's models) scrolls and leaves the figure its half.
        self.table.setFixedHeight(min(wanted + px(6), px(330)))
        self.bars.setMinimumHeight(self.bars.wanted_height())
