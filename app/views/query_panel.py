"""The queries of one cell of the heat map, and one of them opened under one or two models."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QEvent, QModelIndex, QObject, Qt, Signal
from PySide6.QtGui import QImage, QKeyEvent
from PySide6.QtWidgets import QCheckBox, QComboBox, QSplitter, QStackedWidget, QWidget

from app import keys
from app.shown import QueryDetail, QueryShown
from app.tables.rows import ROOT, Column, RowsModel
from app.views.query_detail import QueryOpened
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


def rank_colour(rank: int | None) -> str:
    """A hit is good, a miss beyond the top five is an error."""
    if rank is None:
        return INK["quiet"]
    return INK["good" if rank == 1 else "text" if rank <= 5 else "error"]


def _first(shown: QueryShown) -> str:
    return "✓ the right one" if shown.rank == 1 else shown.top


ROW = Column[QueryShown]("Row", lambda shown: shown.key, right=True)
QUERY = Column[QueryShown]("Query", lambda shown: shown.text, tip=lambda shown: shown.text)
FIRST = Column[QueryShown]("Ranked first", _first, tip=_first)
ONE: tuple[Column[QueryShown], ...] = (
    ROW,
    QUERY,
    Column("Rank", lambda shown: f"{shown.rank} of {shown.pool}", right=True,
           colour=lambda shown: rank_colour(shown.rank)),
    FIRST,
)  # fmt: skip
TWO: tuple[Column[QueryShown], ...] = (
    ROW,
    QUERY,
    Column("Rank", lambda shown: f"{shown.rank} | {shown.rank_b or '–'} of {shown.pool}",
           right=True, colour=lambda shown: rank_colour(shown.rank),
           tip=lambda shown: f"the first model {shown.rank}, the second {shown.rank_b or '–'}"),
    FIRST,
)  # fmt: skip


class QueryPanel(QWidget):
    """A list of queries over the opened one."""

    query_chosen = Signal(str)
    picture_wanted = Signal(str)
    open_wanted = Signal(str)
    record_wanted = Signal()
    beside_chosen = Signal(str)
    filter_chosen = Signal(str)
    map_toggled = Signal()

    def __init__(self) -> None:
        super().__init__()
        self.model = RowsModel[QueryShown](ONE)
        self.heading = heading()
        self.summary = quiet()
        self.table = table_view("Queries of the task")
        self.table.setModel(self.model)
        stretch_columns(self.table, 1, {0: 48, 2: 96, 3: 140})
        self.table.selectionModel().currentChanged.connect(self._moved)
        self.opened = QueryOpened()
        self.opened.picture_wanted.connect(self.picture_wanted)
        self.opened.open_wanted.connect(self.open_wanted)
        upper = QWidget()
        upper.setLayout(column(self._head(), self._choices(), self.summary, self.table, space=6))
        self._why = EmptyState("", "Choose a query to see its ranking.")
        self._detail = QStackedWidget()
        self._detail.addWidget(self._why)
        self._detail.addWidget(self.opened)
        halves = QSplitter(Qt.Orientation.Vertical)
        halves.setChildrenCollapsible(False)
        halves.addWidget(upper)
        halves.addWidget(self._detail)
        halves.setSizes([px(220), px(450)])
        full = QWidget()
        full.setLayout(column(halves))
        margins(full, px(12), px(8), 0, 0)
        self._pages = QStackedWidget()
        self._pages.addWidget(EmptyState("", "Choose a cell to open its queries."))
        self._pages.addWidget(full)
        hold(self.setMinimumWidth, 360)
        self.setLayout(column(self._pages))
        for listener in (self.table, self.opened.ranking, self.opened.beside):
            listener.installEventFilter(self)

    def _head(self) -> QWidget:
        self.record = button("Settings", self.record_wanted.emit, name="Settings of this result")
        self.record.setToolTip("How this result was computed, and who states each value")
        self.fold = button(
            keys.with_key("Map", "fold-map"), self.map_toggled.emit, name="Show or hide the map"
        )
        self.fold.setToolTip("Give the queries the whole page, or bring the heat map back")
        head = QWidget()
        self.failures_first = QCheckBox("Failures first")
        self.failures_first.setAccessibleName("Failures first")
        self.failures_first.setChecked(True)
        line = row(self.heading, self.failures_first, self.fold, self.record)
        line.setStretch(0, 1)
        head.setLayout(line)
        return head

    def _choices(self) -> QWidget:
        self.beside = QComboBox()
        self.beside.setAccessibleName("Second model")
        hold(self.beside.setMinimumWidth, 120)
        self.beside.activated.connect(
            lambda _place: self.beside_chosen.emit(str(self.beside.currentData() or ""))
        )
        self.filters = QComboBox()
        self.filters.setAccessibleName("Which queries")
        hold(self.filters.setMinimumWidth, 130)
        self.filters.activated.connect(
            lambda _place: self.filter_chosen.emit(str(self.filters.currentData() or ""))
        )
        choices = QWidget()
        line = row(section("Beside"), self.beside, section("Show"), self.filters)
        line.setStretch(1, 1)
        line.setStretch(3, 1)
        choices.setLayout(line)
        return choices

    # -- what the presenter says

    def show_beside(self, models: Sequence[tuple[str, str]], chosen: str) -> None:
        """Offer the models that may stand beside, as (key, title); an empty key is none."""
        self.beside.clear()
        for key, words in models:
            self.beside.addItem(words, key)
        self.beside.setCurrentIndex(max(0, self.beside.findData(chosen)))

    def show_filters(self, filters: Sequence[tuple[str, str]], chosen: str) -> None:
        """Offer choices of queries, as (key, words with their count)."""
        self.filters.clear()
        for key, words in filters:
            self.filters.addItem(words, key)
        self.filters.setCurrentIndex(max(0, self.filters.findData(chosen)))

    def show_queries(self, title: str, summary: str, queries: Sequence[QueryShown]) -> None:
        """List the queries of a cell."""
        self._pages.setCurrentIndex(1 if title else 0)
        self.heading.setText(title)
        self.heading.setToolTip(title)
        self.summary.setText(summary)
        self.model.set_columns(TWO if any(q.rank_b is not None for q in queries) else ONE)
        self.model.set_rows(queries)
        self.show_detail(None)
        if queries:
            self.table.setCurrentIndex(self.model.index(0, 1))

    def show_detail(self, detail: QueryDetail | None, *, why_not: str = "") -> None:
        """Open a query, or say why it cannot be opened."""
        self._detail.setCurrentIndex(0 if detail is None else 1)
        if detail is None:
            self._why.say("", why_not or "Choose a query to see its ranking.")
        else:
            self.opened.show_detail(detail)

    def show_picture(self, key: str, image: QImage | None) -> None:
        """Show a thumbnail where it belongs."""
        self.opened.show_picture(key, image)

    # -- what the user does

    def step(self, steps: int) -> None:
        """Go on to another query of the list."""
        now = self.table.currentIndex().row()
        while (place := now + steps) >= self.model.rowCount() and self.model.canFetchMore(ROOT):
            self.model.fetchMore(ROOT)
        if 0 <= place < self.model.rowCount():
            self.table.setCurrentIndex(self.model.index(place, 1))

    def next_filter(self) -> None:
        """Take the next choice of queries, round and round."""
        if self.filters.count():
            self.filters.setCurrentIndex((self.filters.currentIndex() + 1) % self.filters.count())
            self.filter_chosen.emit(str(self.filters.currentData() or ""))

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """The page's keys, heard by its lists."""
        if event.type() == QEvent.Type.KeyPress and isinstance(event, QKeyEvent):
            return self.do(keys.current().command_of(event, "results"))
        return super().eventFilter(watched, event)

    def do(self, command: str | None) -> bool:
        """Do a command of the page; False if it is none."""
        if command in ("next-query", "previous-query"):
            self.step(1 if command == "next-query" else -1)
        elif command == "next-filter":
            self.next_filter()
        elif command == "fold-map":
            self.map_toggled.emit()
        else:
            return False
        return True

    def _moved(self, index: QModelIndex) -> None:
        if (shown := self.model.row_at(index)) is not None:
            self.query_chosen.emit(shown.key)
