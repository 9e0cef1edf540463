"""The results page: scores by family and split, the heat map, and a cell's queries.

Lays out and emits intents; decides nothing.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from PySide6.QtCore import QSize, Qt, Signal
from PySide6.QtGui import QImage
from PySide6.QtWidgets import (
    QButtonGroup,
    QCheckBox,
    QComboBox,
    QFileDialog,
    QHBoxLayout,
    QSplitter,
    QStackedWidget,
    QTabWidget,
    QWidget,
)

from app.shown import HeatShown, QueryDetail, QueryShown, RecordShown, ScoreTable
from app.shown_figures import FigureShown, SectionShown
from app.views.figure_panel import FigurePanel
from app.views.query_panel import QueryPanel
from app.views.record_panel import RecordPanel
from app.views.score_panel import ScorePanel
from app.views.section_panel import SectionList
from app.widgets.blocks import EmptyState, button, column, margins, quiet, row, section
from app.widgets.heat_map import HeatMap
from app.widgets.ink import hold, px

FIGURES = (
    ("difficulty", "Difficulty", 4, False),
    ("domains", "Anatomy", 5, True),
    ("profiles", "Profile", 6, False),
    ("targets", "Target length", 8, True),
)  # name, words, number in the paper, whether a table stands below
RECORDS = 9  # the tab
ORDERS = (("family", "By family"), ("difficulty", "Hardest first"))
METRICS = ("hit@1", "hit@5", "mrr@5")


class ResultsView(QWidget):
    """Tabs of tables and figures over one data set of results."""

    data_chosen = Signal(str)
    metric_chosen = Signal(str)
    compare_toggled = Signal(bool)
    cell_chosen = Signal(int, int)
    query_chosen = Signal(str)
    failures_first_toggled = Signal(bool)
    picture_wanted = Signal(str)
    open_wanted = Signal(str)
    export_wanted = Signal(str)
    benchmark_wanted = Signal()
    model_chosen = Signal(str)
    record_wanted = Signal()
    beside_chosen = Signal(str)
    filter_chosen = Signal(str)
    order_chosen = Signal(str)
    figure_wanted = Signal(str, int, int, float)
    figure_models_chosen = Signal(list)
    figure_export_wanted = Signal(str, str)
    point_opened = Signal(str, str)
    pair_chosen = Signal(str, str)
    tab_shown = Signal(int)

    def __init__(self) -> None:
        super().__init__()
        self.families = ScorePanel("Scores by family")
        self.splits = ScorePanel("Scores by split")
        self.heat = HeatMap()
        self.heat.cell_chosen.connect(self.cell_chosen)
        self.queries = QueryPanel()
        self.queries.query_chosen.connect(self.query_chosen)
        self.queries.picture_wanted.connect(self.picture_wanted)
        self.queries.open_wanted.connect(self.open_wanted)
        self.queries.failures_first.toggled.connect(self.failures_first_toggled)
        self.queries.beside_chosen.connect(self.beside_chosen)
        self.queries.filter_chosen.connect(self.filter_chosen)
        self.queries.map_toggled.connect(self._fold_map)
        self.tabs = QTabWidget()
        self.tabs.setAccessibleName("Views of the results")
        self.tabs.setDocumentMode(True)
        self.tabs.addTab(self.families, "Families")
        self.tabs.addTab(self.splits, "Splits and consistency")
        self.tabs.addTab(self._cells(), "Tasks and queries")
        self._add_figures()
        self.graded = SectionList("Graded relevance and further tables")
        self.tabs.addTab(self.graded, "Graded and more")
        self.tabs.addTab(self._pair(), "Two models")
        self.tabs.addTab(self._records(), "How computed")
        self.tabs.currentChanged.connect(self.tab_shown)
        full = QWidget()
        full.setLayout(column(self._bar(), self.tabs))
        margins(full, px(12), px(12), px(12), px(12))
        self._pages = QStackedWidget()
        self._none = EmptyState(
            "No results yet",
            "Compute a benchmark, and its scores are shown here.",
            [button("Go to Benchmark", self.benchmark_wanted.emit, kind="primary")],
        )
        self._pages.addWidget(self._none)
        self._pages.addWidget(full)
        self.setLayout(column(self._pages))

    def sizeHint(self) -> QSize:
        """A page."""
        return QSize(px(1160), px(740))

    def _bar(self) -> QHBoxLayout:
        self.data = QComboBox()
        self.data.setAccessibleName("Benchmark data")
        hold(self.data.setMinimumWidth, 220)
        self.data.currentIndexChanged.connect(
            lambda: self.data_chosen.emit(str(self.data.currentData() or ""))
        )
        self.compare = QCheckBox("Compare with the paper")
        self.compare.setAccessibleName("Compare with the paper")
        self.compare.toggled.connect(self.compare_toggled)
        self.note = quiet(wrap=False)
        pieces = (section("Data"), self.data, self._metric_keys(), self.compare)
        return row(*pieces, 1, self.note, section("Export"), self._export_keys(), space=12)

    def _metric_keys(self) -> QHBoxLayout:
        self._metrics = QButtonGroup(self)
        for place, metric in enumerate(METRICS):
            words = metric.replace("hit", "Hit").replace("mrr", "MRR")
            key = button(words, partial(self.metric_chosen.emit, metric), name=f"Show {words}")
            key.setCheckable(True)
            key.setChecked(place == 0)
            self._metrics.addButton(key, place)
        return row(*self._metrics.buttons(), space=2)

    def _export_keys(self) -> QHBoxLayout:
        keys = [
            button(name, partial(self.export_wanted.emit, name.lower()), name=f"Export as {name}")
            for name in ("Markdown", "JSON")
        ]
        return row(*keys, space=4)

    def _records(self) -> QWidget:
        self.record = RecordPanel()
        self.record.model_chosen.connect(self.model_chosen)
        self.queries.record_wanted.connect(self.record_wanted)
        for panel in (self.families, self.splits):
            panel.model_chosen.connect(self.model_chosen)
            panel.model_opened.connect(lambda _key: self.show_tab(RECORDS))
        return self.record

    def _add_figures(self) -> None:
        self.figures: dict[str, FigurePanel] = {}
        for name, words, number, table in FIGURES:
            made = FigurePanel(words, number, table=table)
            made.wanted.connect(partial(self.figure_wanted.emit, name))
            made.export_wanted.connect(partial(self.figure_export_wanted.emit, name))
            made.opened.connect(self.point_opened)
            made.models.chosen.connect(self.figure_models_chosen)
            self.figures[name] = made
            self.tabs.addTab(made, words)

    def _pair(self) -> QWidget:
        self.pair = (QComboBox(), QComboBox())
        for place, box in enumerate(self.pair):
            box.setAccessibleName(("First model", "Second model")[place])
            hold(box.setMinimumWidth, 220)
            box.activated.connect(self._pair_moved)
        self.differences = SectionList("Paired differences")
        page = QWidget()
        chosen = row(section("First"), self.pair[0], section("minus second"), self.pair[1], 1)
        page.setLayout(column(chosen, self.differences, space=12))
        margins(page, 0, px(8), 0, 0)
        return page

    def _cells(self) -> QWidget:
        self.orders = QComboBox()
        self.orders.setAccessibleName("Order of the tasks")
        for key, words in ORDERS:
            self.orders.addItem(words, key)
        self.orders.activated.connect(
            lambda _place: self.order_chosen.emit(str(self.orders.currentData()))
        )
        self.map = QWidget()
        self.map.setLayout(column(row(section("Tasks"), self.orders, 1), self.heat))
        margins(self.map, 0, px(8), 0, 0)
        split = QSplitter(Qt.Orientation.Horizontal)
        split.setChildrenCollapsible(False)
        split.addWidget(self.map)
        split.addWidget(self.queries)
        split.setStretchFactor(0, 5)
        split.setStretchFactor(1, 4)
        split.setSizes([px(620), px(520)])
        return split

    # -- what the presenter says

    def show_data_sets(self, sets: Sequence[tuple[str, str]], chosen: str) -> None:
        """List the data sets as (key, words); none shows the empty state."""
        self._pages.setCurrentIndex(1 if sets else 0)
        self.data.blockSignals(True)
        self.data.clear()
        for key, words in sets:
            self.data.addItem(words, key)
        self.data.setCurrentIndex(max(0, self.data.findData(chosen)))
        self.data.blockSignals(False)

    def show_note(self, text: str) -> None:
        """One line about what the numbers are."""
        self.note.setText(text)

    def show_marks(self, text: str) -> None:
        """Say which columns may not be compared with the paper."""
        self.families.show_marks(text)
        self.splits.show_marks(text)

    def show_families(self, table: ScoreTable) -> None:
        """Show the family table and its bars."""
        self.families.show_table(table)

    def show_splits(self, table: ScoreTable, consistency: Sequence[tuple[str, str]]) -> None:
        """Show the splits and, as (model, words), the consistency across families."""
        self.splits.show_table(table, consistency)

    def show_heat(self, heat: HeatShown) -> None:
        """Show the heat map."""
        self.heat.show_data(heat)

    def show_queries(self, title: str, summary: str, queries: Sequence[QueryShown]) -> None:
        """Show the queries of a cell."""
        self.queries.show_queries(title, summary, queries)

    def show_query(self, detail: QueryDetail | None, *, why_not: str = "") -> None:
        """Show one query opened, or why it cannot be."""
        self.queries.show_detail(detail, why_not=why_not)

    def show_models(self, models: Sequence[tuple[str, str]]) -> None:
        """List the models whose settings can be shown, as (key, title)."""
        self.record.show_models(models)

    def show_record(self, shown: RecordShown, key: str) -> None:
        """Show how a model or a cell was computed."""
        self.record.show_record(shown, key)

    def show_beside(self, models: Sequence[tuple[str, str]], chosen: str) -> None:
        """Offer the models that may stand beside the cell's."""
        self.queries.show_beside(models, chosen)

    def show_filters(self, filters: Sequence[tuple[str, str]], chosen: str) -> None:
        """Offer choices of queries."""
        self.queries.show_filters(filters, chosen)

    def show_figures_stale(self) -> None:
        """What the figures show has changed: the one in front asks for itself."""
        for panel in self.figures.values():
            panel.figure.ask()

    def show_figure_models(self, models: Sequence[tuple[str, str]], chosen: Sequence[str]) -> None:
        """Offer the models of the figures."""
        for panel in self.figures.values():
            panel.models.show_choices(models, chosen)

    def show_figure(self, name: str, shown: FigureShown) -> None:
        """Show a drawing."""
        self.figures[name].show_figure(shown)

    def say_figure(self, name: str, words: str) -> None:
        """Say why there is no drawing."""
        self.figures[name].say(words)

    def show_sections(self, name: str, shown: Sequence[SectionShown], *, why_not: str = "") -> None:
        """Show further tables: below a figure, ``graded`` or ``pair``."""
        if name in self.figures:
            self.figures[name].show_section(shown[0] if shown else None, why_not=why_not)
        else:
            tables = self.graded if name == "graded" else self.differences
            tables.show_sections(shown, why_not=why_not)

    def show_pair(self, models: Sequence[tuple[str, str]], first: str, second: str) -> None:
        """Offer the models that may be compared, with two of them chosen."""
        for box, chosen in zip(self.pair, (first, second), strict=True):
            box.clear()
            for key, words in models:
                box.addItem(words, key)
            box.setCurrentIndex(box.findData(chosen))

    def show_chosen(self, text: str) -> None:
        """Say in one line how the model in hand was computed."""
        self.families.show_chosen(text)
        self.splits.show_chosen(text)

    def show_picture(self, key: str, image: QImage | None) -> None:
        """Show a thumbnail of the opened query or of a candidate."""
        self.queries.show_picture(key, image)

    def show_tab(self, place: int) -> None:
        """Bring a tab to the front."""
        self.tabs.setCurrentIndex(place)

    def ask_file(self, suggested: str) -> str:
        """Let the user name a file to write; an empty text if none."""
        return QFileDialog.getSaveFileName(self, "Export results", suggested)[0]

    # -- what the user does

    def _fold_map(self) -> None:
        self.map.setVisible(not self.map.isVisible())

    def _pair_moved(self) -> None:
        first, second = (str(box.currentData() or "") for box in self.pair)
        self.pair_chosen.emit(first, second)
