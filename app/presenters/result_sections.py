"""Decides for the further tables of the results page: which are made, when their tab is seen.

Makes them on threads and only when somebody looks: some read every stored ranking.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

from app.failures import sentence
from app.services import Services
from app.shown_figures import SectionShown
from db.home import Home
from studies.results import Results
from studies.results_compare import compare_models, pair_sections
from studies.results_cross import cross_section
from studies.results_free import free_section
from studies.results_graded import graded_section, load_graded
from studies.results_groups import anatomy_section, load_lengths, target_section
from studies.results_own import own_section
from studies.results_paper import paper_sections
from studies.results_sections import Section

TABS = {4: "domains", 6: "targets", 7: "graded", 8: "pair"}
NOTHING = "No task of this run belongs in these tables."
Made = tuple[SectionShown, ...]


def section_shown(section: Section, titles: Mapping[str, str]) -> SectionShown:
    """A table for the view, with the models' titles in its head."""
    head = tuple(titles.get(word, word) for word in section.head)
    return SectionShown(section.title, head, section.rows, section.notes)


def domains(_home: Home, results: Results, *, paper: bool) -> list[Section | None]:
    """The table under Figure 5."""
    return [anatomy_section(results.benchmark)]


def targets(home: Home, results: Results, *, paper: bool) -> list[Section | None]:
    """The table under Figure 8."""
    return [target_section(results.benchmark, load_lengths(home, results.benchmark))]


def more(home: Home, results: Results, *, paper: bool) -> list[Section | None]:
    """Graded relevance, across sources, without instructions, own data, the paper's numbers."""
    bench = results.benchmark
    graded = load_graded(home, bench)
    found = [
        graded_section(graded, paper=paper),
        cross_section(home, bench, paper=paper),
        free_section(bench),
        own_section(results),
    ]
    return [*found, *(paper_sections(bench, graded) if paper else ())]


MAKERS: Mapping[str, Callable[..., list[Section | None]]] = {
    "domains": domains,
    "targets": targets,
    "graded": more,
}


class SectionDesk:
    """The further tables; one of the results presenter's hands.

    Args:
        view: the page.
        services: the program's objects.
    """

    def __init__(self, view: Any, services: Services) -> None:
        self.view = view
        self.services = services
        self._results: Results | None = None
        self._titles: Mapping[str, str] = {}
        self._paper = False
        self._metric = "hit@1"
        self._tab = ""
        self._pair = ("", "")
        self._made: set[str] = set()
        view.tab_shown.connect(self._tab_shown)
        view.pair_chosen.connect(self._pair_chosen)

    def take(
        self, results: Results, titles: Mapping[str, str], metric: str, *, paper: bool
    ) -> None:
        """Work on other results, under another metric, or beside the paper."""
        if results is not self._results:
            self._made, self._results, self._titles = set(), results, titles
            self._offer_pair(results)
        self._made -= {"graded"} if paper != self._paper else set()
        self._made -= {"pair"} if metric != self._metric else set()
        self._paper, self._metric = paper, metric
        self._make()

    def _offer_pair(self, results: Results) -> None:
        names = [line.model for line in results.models]
        if not set(self._pair) <= set(names):
            self._pair = (names[0], names[1]) if len(names) > 1 else ("", "")
        offered = [(name, self._titles.get(name, name)) for name in names]
        self.view.show_pair(offered, *self._pair)

    def _tab_shown(self, place: int) -> None:
        self._tab = TABS.get(place, "")
        self._make()

    def _pair_chosen(self, first: str, second: str) -> None:
        self._pair = (first, second)
        self._made.discard("pair")
        self._make()

    def _make(self) -> None:
        """Make the table in front, once."""
        name, results = self._tab, self._results
        if not name or results is None or name in self._made:
            return
        self._made.add(name)
        self.view.show_sections(name, (), why_not="Computing…")
        make = self._compare(results) if name == "pair" else self._further(name, results)
        key = (results, self._paper, self._metric, self._pair)
        self.services.tasks.run(
            self,
            lambda: (key, [one for one in make() if one is not None and one.rows]),
            partial(self._take, name),
            lambda error: self.view.show_sections(name, (), why_not=sentence(error)),
        )

    def _further(self, name: str, results: Results) -> Callable[[], Sequence[Section | None]]:
        home, paper = self.services.home, self._paper
        return lambda: MAKERS[name](home, results, paper=paper)

    def _compare(self, results: Results) -> Callable[[], Sequence[Section | None]]:
        home, (first, second), metric = self.services.home, self._pair, self._metric
        return lambda: pair_sections(compare_models(home, results, first, second, metric=metric))

    def _take(self, name: str, found: tuple[Any, list[Section]]) -> None:
        if found[0] != (self._results, self._paper, self._metric, self._pair):
            return
        shown = tuple(section_shown(one, self._titles) for one in found[1])
        self.view.show_sections(name, shown, why_not=NOTHING)
