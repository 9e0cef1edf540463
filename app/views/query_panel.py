"""The queries of one cell of the heat map, and one of them opened with its ranking."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QModelIndex, Qt, Signal
from PySide6.QtGui import QImage
from PySide6.QtWidgets import QCheckBox, QPlainTextEdit, QSplitter, QStackedWidget, QWidget

from app.shown import QueryDetail, QueryShown
from app.tables.rows import Column, RowsModel
from app.views.preview import PictureBox
from app.widgets.blocks import (
    EmptyState,
    button,
    column,
    heading,
    margins,
    quiet,
    row,
    section,
    stretch_columns,
    table_view,
)
from app.widgets.ink import INK, hold, px
from app.widgets.ranked_list import RankedList


def rank_colour(shown: QueryShown) -> str:
    """A hit is good, a miss beyond the top five is an error."""
    return INK["good" if shown.rank == 1 else "text" if shown.rank <= 5 else "error"]


COLUMNS: tuple[Column[QueryShown], ...] = (
    Column("Row", lambda shown: shown.key, right=True),
    Column("Query", lambda shown: shown.text),
    Column("Rank", lambda shown: f"{shown.rank} of {shown.pool}", right=True, colour=rank_colour),
    Column("Ranked first", lambda shown: "✓ the right one" if shown.rank == 1 else shown.top),
)


class QueryPanel(QWidget):
    """A list of queries over the opened one."""

    query_chosen = Signal(str)
    picture_wanted = Signal(str)
    open_wanted = Signal(str)
    record_wanted = Signal()

    def __init__(self) -> None:
        super().__init__()
        self._picture_key = ""
        self.model = RowsModel[QueryShown](COLUMNS)
        self.heading = heading()
        self.summary = quiet()
        self.failures_first = QCheckBox("Failures first")
        self.failures_first.setAccessibleName("Failures first")
        self.failures_first.setChecked(True)
        self.table = table_view("Queries of the task")
        self.table.setModel(self.model)
        stretch_columns(self.table, 1, {0: 48, 2: 84, 3: 140})
        self.table.selectionModel().currentChanged.connect(self._moved)
        upper = QWidget()
        self.record = button("Settings", self.record_wanted.emit, name="Settings of this result")
        self.record.setToolTip("How this result was computed, and who states each value")
        head = row(self.heading, self.record, self.failures_first)
        head.setStretch(0, 1)
        upper.setLayout(column(head, self.summary, self.table, space=6))
        halves = QSplitter(Qt.Orientation.Vertical)
        halves.setChildrenCollapsible(False)
        halves.addWidget(upper)
        halves.addWidget(self._detail())
        halves.setSizes([px(260), px(400)])
        full = QWidget()
        full.setLayout(column(halves))
        margins(full, px(12), px(8), 0, 0)
        self._pages = QStackedWidget()
        self._pages.addWidget(EmptyState("", "Choose a cell to open its queries."))
        self._pages.addWidget(full)
        hold(self.setMinimumWidth, 360)
        self.setLayout(column(self._pages))

    def _detail(self) -> QWidget:
        self.detail_heading = section("")
        self.instruction = quiet()
        self.picture = PictureBox("Picture of the query")
        self.picture.setFixedSize(px(150), px(150))
        self.text = QPlainTextEdit()
        self.text.setReadOnly(True)
        self.text.setTabChangesFocus(True)
        self.text.setAccessibleName("Text of the query")
        hold(self.text.setFixedHeight, 150)
        self.ranking = RankedList("Ranked candidates", lane=48)
        self.ranking.rows.picture_wanted.connect(self.picture_wanted)
        self.ranking.opened.connect(self.open_wanted)
        hold(self.ranking.setMinimumHeight, 100)
        opened = QWidget()
        opened.setLayout(
            column(
                self.detail_heading,
                self.instruction,
                row(self.picture, self.text),
                self.ranking,
                space=6,
            )
        )
        margins(opened, 0, px(8), 0, 0)
        self._why = EmptyState("", "Choose a query to see its ranking.")
        self._opened = QStackedWidget()
        self._opened.addWidget(self._why)
        self._opened.addWidget(opened)
        return self._opened

    def show_queries(self, title: str, summary: str, queries: Sequence[QueryShown]) -> None:
        """List the queries of a cell."""
        self._pages.setCurrentIndex(1 if title else 0)
        self.heading.setText(title)
        self.summary.setText(summary)
        self.model.set_rows(queries)
        self.show_detail(None)
        if queries:
            self.table.setCurrentIndex(self.model.index(0, 1))

    def show_detail(self, detail: QueryDetail | None, *, why_not: str = "") -> None:
        """Open a query, or say why it cannot be opened."""
        self._opened.setCurrentIndex(0 if detail is None else 1)
        if detail is None:
            self._why.say("", why_not or "Choose a query to see its ranking.")
            return
        self.detail_heading.setText(detail.title)
        self.instruction.setText(detail.instruction)
        self.instruction.setVisible(bool(detail.instruction))
        self.text.setPlainText(detail.text)
        self.text.setVisible(bool(detail.text))
        self._picture_key = detail.picture
        self.picture.setVisible(bool(detail.picture))
        self.picture.show_image(None)
        self.picture.setMaximumWidth(px(150) if detail.text else px(4000))
        self.ranking.show_rows(detail.candidates)
        if detail.picture:
            self.picture_wanted.emit(detail.picture)

    def show_picture(self, key: str, image: QImage | None) -> None:
        """Show a thumbnail where it belongs."""
        if key == self._picture_key:
            self.picture.show_image(image)
        self.ranking.rows.set_picture(key, image)

    def _moved(self, index: QModelIndex) -> None:
        if (shown := self.model.row_at(index)) is not None:
            self.query_chosen.emit(shown.key)
