"""Decides for the results page: which data, which metric, which cell and query are open."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from app.changes import Change
from app.failures import sentence
from app.presenters.base import Presenter
from app.presenters.data_sets import DataSet, data_sets, titles
from app.presenters.pictures import Pictures
from app.presenters.result_records import record_line, record_of_cell, record_of_model
from app.presenters.result_tables import (
    FAMILIES,
    SPLITS,
    cell_words,
    consistency_of,
    heat_of,
    item_picture,
    marks_of,
    note_of,
    ordered,
    query_detail,
    query_shown,
    scored,
    stored_query,
    table_of,
)
from app.services import Services
from app.shown import QueryDetail, QueryShown
from db.home import Home
from db.runs import query_results, task_results
from db.session import open_store
from engine.evidence.item import ImageRef, VolumeRef
from studies.medheb.manifest import read_manifest
from studies.preference.study import StudyInfo, list_studies
from studies.queries import RankedQuery, task_queries
from studies.results import Results, put_together, to_json, to_markdown

QUERY_SIDE, CANDIDATE_SIDE = 320, 96
DEPTH = 20
RECORDS = 3  # the tab that says how a result was computed


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
        self._pictures = Pictures(services, self)
        self._wanted_root = ""
        self._digest = ""
        self._results: Results | None = None
        self._titles: Mapping[str, str] = {}
        self._metric = "hit@1"
        self._paper = False
        self._cell: tuple[str, str] = ("", "")
        self._failures_first = True
        self._queries: dict[str, RankedQuery] = {}
        self._list: list[QueryShown] = []
        self._refs: dict[str, ImageRef | VolumeRef] = {}
        self._why_not = ""
        self._warned = False
        self._model = ""
        self._connect()
        services.changes.watch("run", call=self._changed)

    def _connect(self) -> None:
        view = self.view
        view.data_chosen.connect(self._data_chosen)
        view.metric_chosen.connect(self._metric_chosen)
        view.compare_toggled.connect(self._compare)
        view.cell_chosen.connect(self._cell_chosen)
        view.query_chosen.connect(self._query_chosen)
        view.failures_first_toggled.connect(self._order)
        view.picture_wanted.connect(self._picture)
        view.open_wanted.connect(self._open)
        view.export_wanted.connect(self._export)
        view.benchmark_wanted.connect(self._to_benchmark)
        view.model_chosen.connect(self._model_chosen)
        view.record_wanted.connect(self._record_of_cell)

    def shown(self, argument: Any = None) -> None:
        """The page came to the front; an argument is a data root."""
        if isinstance(argument, str):
            self._wanted_root = argument
        self._load_sets()
        home = self.services.home
        self.services.tasks.run(self, lambda: list_studies(home), self._warn_if_sealed)

    def _warn_if_sealed(self, studies: tuple[StudyInfo, ...]) -> None:
        """A rater who looks here can find the model behind a list; say so once."""
        sealed = [info.title for info in studies if not info.unblinded and not info.fault]
        if sealed and not self._warned:
            self._warned = True
            self.services.notify.warn(
                f"'{sealed[-1]}' is still blind. Whoever rates it should not read this page: "
                "it names models and right answers."
            )

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
        self._cell, self._model = ("", ""), ""
        self.view.show_queries("", "", ())
        self._load()

    def _load(self) -> None:
        home, digest = self.services.home, self._digest
        self.services.tasks.run(self, lambda: load(home, digest), self._take)

    def _take(self, found: tuple[Results, dict[str, str]]) -> None:
        if found[0].digest != self._digest:
            return
        self._results, self._titles = found
        self._show()

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
        self.view.show_heat(heat_of(results, self._metric, self._titles))
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
        cell = self._score()
        if cell is not None:
            self.view.show_record(record_of_cell(self._cell_title(), cell), self._cell[1])
            self.view.show_tab(RECORDS)

    def _metric_chosen(self, metric: str) -> None:
        self._metric = metric
        self._show()
        self._show_list()

    def _compare(self, on: bool) -> None:
        self._paper = on
        self._show()

    # -- one cell

    def _cell_chosen(self, task: int, model: int) -> None:
        if self._results is None:
            return
        line, name = scored(self._results)[task], self._results.models[model].model
        self._cell = (line.task.id, name)
        self._queries, self._list, self._why_not = {}, [], ""
        if name not in line.scores:
            self.view.show_queries(self._cell_title(), "Not computed.", ())
            return
        home, root, cell = self.services.home, Path(self._results.root), self._cell
        self.view.show_queries(self._cell_title(), "Reading the queries…", ())
        self.services.tasks.run(
            self,
            lambda: (cell, task_queries(home, root, cell[0], [cell[1]], DEPTH)),
            self._take_queries,
            self._only_stored,
        )

    def _cell_title(self) -> str:
        return f"{self._cell[0]} · {self._title(self._cell[1])}"

    def _take_queries(self, found: tuple[tuple[str, str], tuple[RankedQuery, ...]]) -> None:
        cell, queries = found
        if cell != self._cell:
            return
        self._queries = {str(query.row): query for query in queries}
        self._list = [query_shown(query, cell[1]) for query in queries]
        self._show_list()

    def _only_stored(self, error: Exception) -> None:
        """The data is gone or changed: ranks are stored, evidence cannot be shown."""
        self._why_not = sentence(error)
        store, task_score = self.services.store, self._score()
        if task_score is not None:
            self.services.tasks.query(
                self,
                lambda: [stored_query(row) for row in query_results(store, task_score.result_id)],
                self._take_stored,
            )

    def _take_stored(self, queries: list[QueryShown]) -> None:
        self._list = queries
        self._show_list()

    def _score(self) -> Any:
        line = self._line()
        return None if line is None else line.scores.get(self._cell[1])

    def _line(self) -> Any:
        lines = () if self._results is None else self._results.tasks
        return next((line for line in lines if line.task.id == self._cell[0]), None)

    def _show_list(self) -> None:
        line, cell = self._line(), self._score()
        if line is not None and cell is not None and self._list:
            self.view.show_queries(
                self._cell_title(),
                cell_words(line, cell, self._metric),
                ordered(self._list, failures_first=self._failures_first),
            )

    def _order(self, failures_first: bool) -> None:
        self._failures_first = failures_first
        self._show_list()

    # -- one query

    def _query_chosen(self, key: str) -> None:
        query = self._queries.get(key)
        if query is None:
            self.view.show_query(None, why_not=self._why_not)
            return
        pictured = {
            f"c{candidate.place}": item_picture(candidate.item)
            for candidate in query.rankings[self._cell[1]].top
        }
        pictured["q"] = item_picture(query.item)
        # The row is part of each key, so that a late thumbnail of another query is not shown.
        self._refs = {f"{key}/{name}": ref for name, ref in pictured.items() if ref is not None}
        self.view.show_query(_with_row(query_detail(query, self._cell[1]), key))

    def _picture(self, key: str) -> None:
        side = QUERY_SIDE if key.endswith("/q") else CANDIDATE_SIDE
        self._pictures.want(
            self._refs.get(key), side, lambda image: self.view.show_picture(key, image)
        )

    def _open(self, name: str) -> None:
        """Open a candidate in the viewer; texts stay where they are."""
        for query in self._queries.values():
            for candidate in query.rankings[self._cell[1]].top:
                ref = item_picture(candidate.item)
                if candidate.name == name and ref is not None:
                    paths = (ref.path,) if isinstance(ref, ImageRef) else ref.paths
                    self.services.open_evidence(paths)
                    return

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


def _with_row(detail: QueryDetail, row: str) -> QueryDetail:
    candidates = tuple(
        replace(one, picture=f"{row}/{one.picture}" if one.picture else "")
        for one in detail.candidates
    )
    return replace(detail, picture=f"{row}/q" if detail.picture else "", candidates=candidates)


def write(results: Results, form: str, path: Path, *, compare_paper: bool) -> Path:
    """Write results as Markdown or JSON."""
    if form == "markdown":
        text = to_markdown(results, compare_paper=compare_paper)
    else:
        text = json.dumps(to_json(results, compare_paper=compare_paper), indent=1)
    path.write_text(text, encoding="utf-8")
    return path
