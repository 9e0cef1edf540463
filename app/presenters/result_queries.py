"""Decides for the queries of one cell: which stand beside which model, which are shown, what opens.

Reads rankings on threads. Where the data is gone the stored ranks of the first model remain.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from app.failures import sentence
from app.presenters.pictures import Pictures
from app.presenters.result_tables import (
    cell_words,
    item_picture,
    ordered,
    query_detail,
    query_shown,
    stored_queries,
)
from app.services import Services
from app.shown import QueryDetail, QueryShown
from db.runs import query_results
from engine.evidence.item import ImageRef, VolumeRef
from studies.queries import RankedQuery, task_queries
from studies.results import Results, TaskLine, TaskScore

QUERY_SIDE, CANDIDATE_SIDE = 320, 96
DEPTH = 20
ALL = "all"
Cell = tuple[str, str]
Test = Callable[[QueryShown], bool]
ONE: tuple[tuple[str, str, Test], ...] = (
    (ALL, "All", lambda q: True),
    ("missed", "Missed", lambda q: q.rank > 1),
    ("beyond", "Beyond the top 5", lambda q: q.rank > 5),
    ("hit", "Right", lambda q: q.rank == 1),
)
# The first model stands left, the second right.
TWO: tuple[tuple[str, str, Test], ...] = (
    (ALL, "All", lambda q: True),
    ("left", "Only the left is right", lambda q: q.rank == 1 and q.rank_b != 1),
    ("right", "Only the right is right", lambda q: q.rank != 1 and q.rank_b == 1),
    ("neither", "Both wrong", lambda q: q.rank != 1 and q.rank_b != 1),
    ("both", "Both right", lambda q: q.rank == 1 and q.rank_b == 1),
)


class QueryDesk:
    """The queries of the results page; one of its presenter's two hands.

    Args:
        view: the page.
        services: the program's objects.
    """

    def __init__(self, view: Any, services: Services) -> None:
        self.view = view
        self.services = services
        self.cell: Cell = ("", "")
        self._pictures = Pictures(services, self)
        self._results: Results | None = None
        self._titles: Mapping[str, str] = {}
        self._metric = "hit@1"
        self._beside: str | None = None  # None until somebody chooses
        self._with = ""
        self._filter = ALL
        self._failures_first = True
        self._queries: dict[str, RankedQuery] = {}
        self._list: list[QueryShown] = []
        self._refs: dict[str, ImageRef | VolumeRef] = {}
        self._why_not = ""
        self._opened = ""
        view.query_chosen.connect(self._query_chosen)
        view.failures_first_toggled.connect(self._order)
        view.picture_wanted.connect(self._picture)
        view.open_wanted.connect(self._open)
        view.beside_chosen.connect(self._beside_chosen)
        view.filter_chosen.connect(self._filter_chosen)

    def take(self, results: Results, titles: Mapping[str, str], metric: str) -> None:
        """Work on other results, or under another metric."""
        self._results, self._titles, self._metric = results, titles, metric
        self._show_list()

    def leave(self) -> None:
        """Close the cell: other data was chosen."""
        self.cell, self._list, self._queries = ("", ""), [], {}
        self.view.show_queries("", "", ())

    def title(self) -> str:
        """What the cell is called."""
        return f"{self.cell[0]} · {self._title(self.cell[1])}"

    def score(self) -> TaskScore | None:
        """The cell's score; None where it was not computed or no cell is open."""
        line = self._line()
        return None if line is None else line.scores.get(self.cell[1])

    def open(self, line: TaskLine, model: str) -> None:
        """Open a cell."""
        if self._results is None:
            return
        self.cell = (line.task.id, model)
        self._queries, self._list, self._why_not = {}, [], ""
        self._filter = ALL
        others = [one.model for one in self._results.models if one.model in line.scores]
        others = [name for name in others if name != model]
        self._with = _second(others, self._beside)
        offered = [("", "no other model"), *((name, self._title(name)) for name in others)]
        self.view.show_beside(offered, self._with)
        if model not in line.scores:
            self.view.show_filters((), "")
            self.view.show_queries(self.title(), "Not computed.", ())
            return
        self._read()

    def _read(self) -> None:
        assert self._results is not None
        home, root, cell = self.services.home, Path(self._results.root), self.cell
        models = [cell[1], *([self._with] if self._with else [])]
        self.view.show_queries(self.title(), "Reading the queries…", ())
        self.services.tasks.run(
            self,
            lambda: (cell, models, task_queries(home, root, cell[0], models, DEPTH)),
            self._take_queries,
            self._only_stored,
        )

    def _title(self, model: str) -> str:
        return self._titles.get(model, model)

    def _line(self) -> TaskLine | None:
        lines = () if self._results is None else self._results.tasks
        return next((line for line in lines if line.task.id == self.cell[0]), None)

    def _take_queries(self, found: tuple[Cell, list[str], tuple[RankedQuery, ...]]) -> None:
        cell, models, queries = found
        if cell != self.cell or models[1:] != ([self._with] if self._with else []):
            return
        self._queries = {str(query.row): query for query in queries}
        self._list = [query_shown(query, *models) for query in queries]
        self._show_list()

    def _only_stored(self, error: Exception) -> None:
        """The data is gone or changed: ranks are stored, evidence cannot be shown."""
        self._why_not = sentence(error)
        line, store, key = self._line(), self.services.store, (self.cell, self._with)
        scores = {} if line is None else line.scores
        first, second = scores.get(self.cell[1]), scores.get(self._with)
        if first is not None:
            self.services.tasks.query(
                self,
                lambda: (
                    key,
                    stored_queries(
                        query_results(store, first.result_id),
                        None if second is None else query_results(store, second.result_id),
                    ),
                ),
                self._take_stored,
            )

    def _take_stored(self, found: tuple[tuple[Cell, str], list[QueryShown]]) -> None:
        if found[0] == (self.cell, self._with):
            self._list = found[1]
            self._show_list()

    def _show_list(self) -> None:
        line, cell = self._line(), self.score()
        if line is None or cell is None or not self._list:
            return
        choices = TWO if self._with else ONE
        counted = [
            (key, f"{words} ({sum(map(test, self._list)):,})") for key, words, test in choices
        ]
        test = next((test for key, _, test in choices if key == self._filter), choices[0][2])
        self.view.show_filters(counted, self._filter)
        self.view.show_queries(
            self.title(),
            cell_words(line, cell, self._metric),
            ordered([q for q in self._list if test(q)], failures_first=self._failures_first),
        )

    def _order(self, failures_first: bool) -> None:
        self._failures_first = failures_first
        self._show_list()

    def _filter_chosen(self, key: str) -> None:
        self._filter = key
        self._show_list()

    def _beside_chosen(self, model: str) -> None:
        self._beside = self._with = model
        self._filter = ALL
        if self.score() is not None:
            self._read()

    # -- one query

    def _query_chosen(self, key: str) -> None:
        query = self._queries.get(key)
        self._opened = key
        if query is None:
            self.view.show_query(None, why_not=self._why_not)
            return
        models = [self.cell[1], *([self._with] if self._with else [])]
        pictured = {"q": item_picture(query.item)}
        for letter, model in zip("cd", models, strict=False):
            pictured |= {
                f"{letter}{candidate.place}": item_picture(candidate.item)
                for candidate in query.rankings[model].top
            }
        # The row is part of each key, so that a late thumbnail of another query is not shown.
        self._refs = {f"{key}/{name}": ref for name, ref in pictured.items() if ref is not None}
        named = {model: self._title(model) for model in models}
        self.view.show_query(_with_row(query_detail(query, models, named), key))

    def _picture(self, key: str) -> None:
        side = QUERY_SIDE if key.endswith("/q") else CANDIDATE_SIDE
        self._pictures.want(
            self._refs.get(key), side, lambda image: self.view.show_picture(key, image)
        )

    def _open(self, name: str) -> None:
        """Open a candidate, or the query for an empty name, in the viewer; texts stay."""
        items = [
            candidate.item
            for query in self._queries.values()
            for ranking in query.rankings.values()
            for candidate in ranking.top
            if candidate.name == name
        ]
        if not name and self._opened in self._queries:
            items = [self._queries[self._opened].item]
        ref = next((ref for item in items if (ref := item_picture(item)) is not None), None)
        if ref is not None:
            self.services.open_evidence((ref.path,) if isinstance(ref, ImageRef) else ref.paths)


def _second(others: Sequence[str], wish: str | None) -> str:
    """The model beside: as wished, else the best that is no floor; empty for none."""
    if wish is not None:
        return wish if wish in others else ""
    return next((name for name in others if not name.startswith("random")), "")


def _with_row(detail: QueryDetail, row: str) -> QueryDetail:
    def placed(candidates: tuple[Any, ...]) -> tuple[Any, ...]:
        return tuple(
            replace(one, picture=f"{row}/{one.picture}" if one.picture else "")
            for one in candidates
        )

    return replace(
        detail,
        picture=f"{row}/q" if detail.picture else "",
        candidates=placed(detail.candidates),
        candidates_b=placed(detail.candidates_b),
    )
