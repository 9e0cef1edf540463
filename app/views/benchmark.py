"""The benchmark page: models and tasks left, plan, run and live progress in the centre.

Lays out and emits intents; decides nothing.
"""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QSize, Qt, Signal
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import (
    QCheckBox,
    QFileDialog,
    QLineEdit,
    QProgressBar,
    QSplitter,
    QStackedWidget,
    QTabWidget,
    QTreeWidgetItem,
    QWidget,
)

from app.shown import ModelShown, ProgressShown, TaskShown
from app.shown_figures import SectionShown, SourceShown
from app.tables.progress import COLUMNS
from app.tables.rows import RowsModel
from app.views.bench_lists import KEY, family_item, items, model_item, release_line, tree
from app.views.source_panel import SourcePanel
from app.widgets.blocks import (
    EmptyState,
    button,
    column,
    heading,
    label,
    margins,
    panel,
    quiet,
    row,
    section,
    stretch_columns,
    table_view,
    tell,
)
from app.widgets.ink import hold, px

MODEL, MODEL_WIDTH, NOTES = 2, 170, 260  # a column, its least width, what is left to the last


class BenchmarkView(QWidget):
    """Choose, see the plan, run, watch."""

    data_wanted = Signal()
    models_changed = Signal(list)
    tasks_changed = Signal(list)
    run_wanted = Signal()
    cancel_wanted = Signal()
    results_wanted = Signal()
    demo_wanted = Signal()
    tab_shown = Signal(int)
    build_wanted = Signal(str, dict)
    mini_wanted = Signal()

    def __init__(self) -> None:
        super().__init__()
        self._filling = False
        self._progress: tuple[ProgressShown, ...] = ()
        self._release: dict[str, str] = {}
        self.progress = RowsModel[ProgressShown](COLUMNS)
        split = QSplitter()
        split.setChildrenCollapsible(False)
        self.side = self._left()
        split.addWidget(self.side)
        self.sources = SourcePanel()
        self.sources.build_wanted.connect(self.build_wanted)
        self.sources.mini_wanted.connect(self.mini_wanted)
        self.tabs = QTabWidget()
        self.tabs.setAccessibleName("Run, or sources")
        self.tabs.setDocumentMode(True)
        self.tabs.addTab(self._centre(), "Run")
        self.tabs.addTab(self.sources, "Sources")
        self.tabs.currentChanged.connect(self.tab_shown)
        # models and tasks belong to a run; the sources need the room for their names
        self.tabs.currentChanged.connect(lambda place: self.side.setVisible(place == 0))
        split.addWidget(self.tabs)
        split.setStretchFactor(1, 1)
        split.setSizes([px(430), px(730)])
        self.setLayout(column(split))

    def sizeHint(self) -> QSize:
        """A page."""
        return QSize(px(1160), px(740))

    def _left(self) -> QWidget:
        self.models = tree("Models", ("Model", "On this machine"))
        self.models.itemChanged.connect(self._models_moved)
        self.models.currentItemChanged.connect(lambda now, _before: self._model_moved(now))
        self.models.setRootIsDecorated(True)
        self.models.setIndentation(px(18))
        self.release = quiet(small=True)
        self.release.hide()
        self.tasks = tree("Tasks by family", ("Task", "Form", "Queries"))
        self.tasks.itemChanged.connect(self._tasks_moved)
        self.task_count = quiet(small=True, wrap=False)
        upper, lower = QWidget(), QWidget()
        upper.setLayout(column(section("Models"), self.models, self.release, space=6))
        tools = row(section("Tasks by family"), 1, self.task_count)
        lower.setLayout(column(tools, self.tasks, space=6))
        margins(lower, 0, px(8), 0, 0)
        halves = QSplitter(Qt.Orientation.Vertical)
        halves.addWidget(upper)
        halves.addWidget(lower)
        halves.setSizes([px(330), px(390)])
        side = QWidget()
        hold(side.setMinimumWidth, 300)
        side.setLayout(column(halves))
        margins(side, px(12), px(12), px(8), px(12))
        return side

    def _centre(self) -> QWidget:
        self.table = table_view("Progress by task and model")
        self.table.setModel(self.progress)
        stretch_columns(self.table, 5, {0: 190, 1: 70, MODEL: MODEL_WIDTH, 3: 90, 4: 100})
        self.only_failures = QCheckBox("Only failures")
        self.only_failures.setAccessibleName("Show only failures")
        self.only_failures.toggled.connect(self._fill_table)
        self.counts = quiet(wrap=False)
        below = QWidget()
        below.setLayout(
            column(
                row(heading("Tasks of this run"), self.counts, 1, self.only_failures), self.table
            )
        )
        self._pages = QStackedWidget()
        self._none = EmptyState(
            "No benchmark data chosen",
            "Choose a folder in the MedHEB release layout, or compute the demo's.",
            [
                button("Choose a folder", self.data_wanted.emit, kind="primary"),
                button("Open the demo", self.demo_wanted.emit),
            ],
        )
        self._pages.addWidget(self._none)
        self._pages.addWidget(below)
        centre = QWidget()
        layout = column(self._plan_panel(), self._pages, space=12)
        layout.setStretchFactor(self._pages, 1)
        layout.setContentsMargins(px(8), px(12), px(12), px(12))
        centre.setLayout(layout)
        return centre

    def _plan_panel(self) -> QWidget:
        self.data = QLineEdit()
        self.data.setReadOnly(True)
        self.data.setAccessibleName("Benchmark data")
        self.data.setPlaceholderText("No data chosen")
        self.plan = label("", "reading")
        hold(self.plan.setMinimumHeight, 40)
        self.warning = label("", "warn")
        self.warning.hide()
        self.run_button = button(
            "Run", self.run_wanted.emit, kind="primary", name="Run the benchmark"
        )
        self.cancel_button = button("Cancel", self.cancel_wanted.emit, name="Cancel the run")
        self.results_button = button("See results", self.results_wanted.emit)
        self.bar = QProgressBar()
        self.bar.setTextVisible(False)
        self.bar.setAccessibleName("Progress of the run")
        self.phase = quiet(wrap=False)
        self.left = quiet(wrap=False)
        self.said = label("", "warn")
        self.said.hide()
        framed = panel()
        framed.setLayout(
            column(
                row(
                    section("Data"),
                    self.data,
                    button("Choose…", self.data_wanted.emit, name="Choose benchmark data"),
                ),
                self.plan,
                self.warning,
                row(self.run_button, self.cancel_button, self.results_button, 1),
                self.bar,
                row(self.phase, 1, self.left),
                self.said,
                margin=px(12),
            )
        )
        self.show_running(running=False)
        return framed

    # -- what the presenter says

    def show_data(self, path: str) -> None:
        """Show the chosen data folder; an empty text shows how to choose one."""
        self.data.setText(path)
        self.data.setCursorPosition(0)
        self._pages.setCurrentIndex(1 if path else 0)

    def show_models(self, models: Sequence[ModelShown], chosen: Sequence[str]) -> None:
        """List the models, with what speaks against each, other settings below their model."""
        self._filling = True
        self.models.clear()
        self._release = {shown.key: release_line(shown) for shown in models}
        tops: dict[str, QTreeWidgetItem] = {}
        for shown in models:
            item = model_item(shown, chosen=shown.key in chosen)
            if (above := tops.get(shown.variant_of)) is not None:
                above.addChild(item)
            else:
                self.models.addTopLevelItem(item)
                tops[shown.key] = item
        self.models.expandAll()
        self._filling = False
        self._model_moved(self.models.currentItem())

    def show_tasks(self, tasks: Sequence[TaskShown], chosen: Sequence[str]) -> None:
        """List the tasks under their families."""
        self._filling = True
        self.tasks.clear()
        wanted = set(chosen)
        families: dict[str, list[TaskShown]] = {}
        for shown in tasks:
            families.setdefault(shown.family, []).append(shown)
        for family, members in families.items():
            self.tasks.addTopLevelItem(family_item(family, members, wanted))
        self._filling = False
        there = sum(shown.count is not None for shown in tasks)
        self.task_count.setText(f"{there} of {len(tasks)} have data" if tasks else "")

    def show_plan(self, text: str, *, warning: str = "", can_run: bool = False) -> None:
        """Show the plan's sentence, what is missing, and whether it can start."""
        self.plan.setText(text)
        tell(self.warning, warning, "warn")
        self.run_button.setEnabled(can_run)

    def show_running(self, *, running: bool, label_of_run: str = "Run") -> None:
        """Switch between ready and running."""
        self.run_button.setVisible(not running)
        self.run_button.setText(label_of_run)
        self.cancel_button.setVisible(running)
        self.cancel_button.setEnabled(running)
        for piece in (self.bar, self.phase, self.left):
            piece.setVisible(running)
        self.models.setEnabled(not running)
        self.tasks.setEnabled(not running)

    def show_progress(self, done: int, total: int, phase: str, left: str) -> None:
        """Show how far the run is; a total of 0 shows that it works."""
        self.bar.setRange(0, total)
        self.bar.setValue(done)
        self.phase.setText(phase)
        self.left.setText(left)

    def show_said(self, text: str) -> None:
        """Show what the run had to do otherwise than planned, for example smaller batches."""
        tell(self.said, text, "warn")

    def show_rows(self, rows: Sequence[ProgressShown]) -> None:
        """Show every (task, model) of the run."""
        self._progress = tuple(rows)
        ended = sum(shown.state == "done" for shown in rows)
        failed = sum(shown.state == "failed" for shown in rows)
        told = f"{ended:,} of {len(rows):,} done" if rows else "nothing planned"
        self.counts.setText(told + (f" · {failed} failed" if failed else ""))
        self.only_failures.setText(f"Only failures ({failed})")
        self._fill_table()

    def show_row(self, position: int, shown: ProgressShown) -> None:
        """Change one line of the live table."""
        rows = list(self._progress)
        rows[position] = shown
        self._progress = tuple(rows)
        if not self.only_failures.isChecked():
            self.progress.replace_row(position, shown)

    def ask_data(self) -> str:
        """Let the user choose the data folder; an empty text if none."""
        return QFileDialog.getExistingDirectory(self, "Choose benchmark data")

    def show_sources(self, sources: Sequence[SourceShown]) -> None:
        """List the sources of the benchmark."""
        self.sources.show_sources(sources)

    def show_building(self, key: str, words: str) -> None:
        """Say how a build goes; empty words: nothing is built."""
        self.sources.show_building(key, words)

    def show_built(self, report: SectionShown | None, tone: str = "good") -> None:
        """Show what a build made and what it could not."""
        self.sources.show_built(report, tone)

    def ask_folder(self, title: str) -> str:
        """Let the user choose a folder; an empty text if none."""
        return QFileDialog.getExistingDirectory(self, title)

    # -- what the user does

    def chosen_models(self) -> list[str]:
        """The checked models, each before its other settings."""
        return [
            str(item.data(0, KEY))
            for item in items(self.models)
            if item.checkState(0) == Qt.CheckState.Checked
        ]

    def chosen_tasks(self) -> list[str]:
        """The checked tasks."""
        found: list[str] = []
        for family in range(self.tasks.topLevelItemCount()):
            parent = self.tasks.topLevelItem(family)
            children = (
                [] if parent is None else [parent.child(i) for i in range(parent.childCount())]
            )
            found += [
                str(item.data(0, KEY))
                for item in children
                if item is not None and item.checkState(0) == Qt.CheckState.Checked
            ]
        return found

    def _models_moved(self) -> None:
        if not self._filling:
            self.models_changed.emit(self.chosen_models())

    def _model_moved(self, item: QTreeWidgetItem | None) -> None:
        """Say what the release's settings change for the model in hand."""
        self.release.setText("" if item is None else self._release.get(item.data(0, KEY), ""))
        self.release.setVisible(bool(self.release.text()))

    def _tasks_moved(self) -> None:
        if not self._filling:
            self.tasks_changed.emit(self.chosen_tasks())

    def _fill_table(self) -> None:
        only = self.only_failures.isChecked()
        rows = [
            shown for shown in self._progress if not only or shown.state in ("failed", "missing")
        ]
        self.progress.set_rows(rows)
        self._fit_models()

    def resizeEvent(self, event: QResizeEvent) -> None:
        """A wide page shows models' names whole."""
        super().resizeEvent(event)
        self._fit_models()

    def _fit_models(self) -> None:
        """Names as wide as they are, where the notes keep a column of their own."""
        header = self.table.horizontalHeader()
        others = sum(header.sectionSize(place) for place in (0, 1, 3, 4))
        room = self.table.viewport().width() - others - px(NOTES)
        wanted = self.table.sizeHintForColumn(MODEL) + px(8)
        header.resizeSection(MODEL, max(px(MODEL_WIDTH), min(wanted, room)))
