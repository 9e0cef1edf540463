"""Decides for the results page: which data, which metric, which cell and query are open."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from app.changes import Change
from app.presenters.base import Presenter
from app.presenters.blind_warning import BlindWarning
from app.presenters.data_sets import DataSet, data_sets, titles
from app.presenters.result_figures import FigureDesk
from app.presenters.result_queries import QueryDesk
from app.presenters.result_records import record_line, record_of_cell, record_of_model
from app.presenters.result_sections import SectionDesk
from app.presenters.result_tables import (
    FAMILIES,
    SPLITS,
    consistency_of,
    heat_of,
    marks_of,
    note_of,
    scored,
    table_of,
)
from app.services import Services
from db.home import Home
from db.runs import task_results
from db.session import open_store
from studies.medheb.manifest import read_manifest
from studies.results import Results, put_together, to_json, to_markdown
from studies.results_stale import checked

CELLS, RECORDS = 2, 9  # the tabs of queries, and of how a result was computed


def load(home: Home, digest: str) -> tuple[Results, dict[str, str]]:
    """The results of one data set with the models' titles.

    Intervals take a while, so this runs in the pool with a connection of its own and leaves
    the database lane free.
    """
    with open_store(home) as store:
        rows = task_results(store, digest)
    return put_together(read_manifest(home.runs, digest), rows), titles(home)


class ResultsPresenter(Presenter):
    """Averages and opens queries on threads."""

    def __init__(self, view: Any, services: Services) -> None:
        super().__init__(view, services)
        self._queries = QueryDesk(view, services)
        self._figures = FigureDesk(view, services)
        self._sections = SectionDesk(view, services)
        self._wanted_root = ""
        self._digest = ""
        self._results: Results | None = None
        self._titles: Mapping[str, str] = {}
        self._metric = "hit@1"
        self._paper = False
        self._order = "family"
        self._blind = BlindWarning(services, "models and right answers")
        self._told_stale: dict[str, tuple[str, ...]] = {}
        self._model = ""
        self._connect()
        services.changes.watch("run", call=self._changed)

    def _connect(self) -> None:
        view = self.view
        view.data_chosen.connect(self._data_chosen)
        view.metric_chosen.connect(self._metric_chosen)
        view.compare_toggled.connect(self._compare)
        view.cell_chosen.connect(self._cell_chosen)
        view.order_chosen.connect(self._order_chosen)
        view.point_opened.connect(self._point_opened)
        view.export_wanted.connect(self._export)
        view.benchmark_wanted.connect(self._to_benchmark)
        view.model_chosen.connect(self._model_chosen)
        view.record_wanted.connect(self._record_of_cell)

    def shown(self, argument: Any = None) -> None:
        """The page came to the front; an argument is a data root."""
        if isinstance(argument, str):
            self._wanted_root = argument
        self._load_sets()
        self._blind.look()

    def _changed(self, _change: Change) -> None:
        self._load_sets()

    def _load_sets(self) -> None:
        home, store = self.services.home, self.services.store
        self.services.tasks.query(self, lambda: data_sets(home, store), self._take_sets)

    def _take_sets(self, sets: tuple[DataSet, ...]) -> None:
        digests = [one.digest for one in sets]
        wanted = next((one.digest for one in sets if one.root == self._wanted_root), "")
        self._wanted_root = ""
        if wanted:
            self._digest = wanted
        if self._digest not in digests:
            self._digest = digests[0] if digests else ""
        self.view.show_data_sets([(one.digest, one.words) for one in sets], self._digest)
        if self._digest:
            self._load()

    def _data_chosen(self, digest: str) -> None:
        self._digest = digest
        self._model = ""
        self._queries.leave()
        self._load()

    def _load(self) -> None:
        home, digest = self.services.home, self._digest
        if self._results is None or self._results.digest != digest:
            self.view.show_note("Averaging…")
        self.services.tasks.run(self, lambda: load(home, digest), self._take)

    def _take(self, found: tuple[Results, dict[str, str]]) -> None:
        if found[0].digest != self._digest:
            return
        self._results, self._titles = found
        self._show()
        home, results = self.services.home, found[0]
        self.services.tasks.run(self, lambda: checked(home, results), self._warn_if_stale)

    def _warn_if_stale(self, results: Results) -> None:
        """Say once for each state of the data that scores are of other files than lie there."""
        if results.stale is None or results.digest != self._digest:
            return
        self._results = results
        tasks = results.stale.tasks
        if tasks and tasks != self._told_stale:
            self.services.notify.warn(
                f"{len(tasks)} tasks were computed on other files than lie there now: "
                f"{', '.join(tasks)}. Run them again on the Benchmark page."
            )
        self._told_stale = tasks

    def _show(self) -> None:
        results = self._results
        if results is None:
            return
        columns = (*FAMILIES, "All")
        self.view.show_note(note_of(results))
        self.view.show_families(
            table_of(results, columns, self._metric, self._titles, paper=self._paper)
        )
        self.view.show_splits(
            table_of(results, SPLITS, self._metric, self._titles, paper=self._paper),
            consistency_of(results),
        )
        self.view.show_marks(marks_of(results) if self._paper else "")
        self._show_heat()
        self._queries.take(results, self._titles, self._metric)
        self._figures.take(results, self._titles)
        self._sections.take(results, self._titles, self._metric, paper=self._paper)
        names = [line.model for line in results.models]
        self.view.show_models([(name, self._title(name)) for name in names])
        if self._model not in names:
            self._model_chosen(names[0] if names else "")

    def _title(self, model: str) -> str:
        return self._titles.get(model, model)

    # -- how it was computed

    def _model_chosen(self, model: str) -> None:
        if self._results is None or not model:
            return
        self._model = model
        shown = record_of_model(self._results, model, self._title(model))
        self.view.show_record(shown, model)
        self.view.show_chosen(record_line(shown))

    def _record_of_cell(self) -> None:
        cell = self._queries.score()
        if cell is not None:
            shown = record_of_cell(self._queries.title(), cell)
            self.view.show_record(shown, self._queries.cell[1])
            self.view.show_tab(RECORDS)

    def _metric_chosen(self, metric: str) -> None:
        self._metric = metric
        self._show()

    def _order_chosen(self, order: str) -> None:
        self._order = order
        self._show_heat()

    def _show_heat(self) -> None:
        if self._results is not None:
            heat = heat_of(self._results, self._metric, self._titles, self._order)
            self.view.show_heat(heat)

    def _compare(self, on: bool) -> None:
        self._paper = on
        self._show()

    # -- one cell

    def _cell_chosen(self, task: int, model: int) -> None:
        if self._results is not None:
            line = scored(self._results, self._order)[task]
            self._queries.open(line, self._results.models[model].model)

    def _point_opened(self, task: str, model: str) -> None:
        """A point of a figure: the queries of its task, under its model or the best."""
        lines = () if self._results is None else self._results.tasks
        line = next((one for one in lines if one.task.id == task and one.scores), None)
        if line is None or self._results is None:
            return
        best = next(one.model for one in self._results.models if one.model in line.scores)
        self._queries.open(line, model if model in line.scores else best)
        self.view.show_tab(CELLS)

    # -- export

    def _export(self, form: str) -> None:
        results = self._results
        if results is None:
            return
        suffix = "md" if form == "markdown" else "json"
        path = self.view.ask_file(str(self.services.home.exports / f"results.{suffix}"))
        if path:
            paper = self._paper
            self.services.tasks.run(
                self, lambda: write(results, form, Path(path), compare_paper=paper), self._written
            )

    def _written(self, path: Path) -> None:
        self.services.notify.good(f"Written to {path}.")

    def _to_benchmark(self) -> None:
        self.services.go("benchmark")


def write(results: Results, form: str, path: Path, *, compare_paper: bool) -> Path:
    """Write results as Markdown or JSON."""
    if form == "markdown":
        text = to_markdown(results, compare_paper=compare_paper)
    else:
        text = json.dumps(to_json(results, compare_paper=compare_paper), indent=1)
    path.write_text(text, encoding="utf-8")
    return path
