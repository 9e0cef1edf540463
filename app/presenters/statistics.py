"""Decides for the statistics page: locked before unblinding, the numbers after it.

Before unblinding it asks for nothing but counts of answers, so there is nothing to leak.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

from app.changes import Change
from app.failures import sentence
from app.presenters.base import Presenter
from app.presenters.study import day, study_shown
from app.services import Services
from app.shown import ShareShown, StatisticsShown
from studies.preference.statistics import Block, Share, Statistics, summary
from studies.preference.study import StudyInfo, list_studies
from studies.preference.unblind import load_unblinded

FIGURES = ("png", "svg", "pdf")


def percent(share: Share) -> tuple[float, tuple[float, float]]:
    """A share and its interval in percent; zeros when n is 0."""
    if share.share is None or share.low is None or share.high is None:
        return 0.0, (0.0, 0.0)
    return 100 * share.share, (100 * share.low, 100 * share.high)


def bar_of(block: Block) -> ShareShown:
    """A group of ratings as one bar."""
    told = [percent(share) for share in (block.a, block.tie, block.b)]
    decided = block.a.count + block.b.count
    return ShareShown(
        title=block.title, n=block.n, counts=(block.a.count, block.tie.count, block.b.count),
        shares=(told[0][0], told[1][0], told[2][0]),
        intervals=(told[0][1], told[1][1], told[2][1]), p_value=block.p,
        note=f"no test, {decided} decided" if block.p is None and block.n else "",
    )  # fmt: skip


def named(title: str, found: Statistics) -> str:
    """A group's title with the models' names in place of A and B."""
    words = {"A": found.model_a, "B": found.model_b}
    return " ".join(words.get(word, word) for word in title.split(" "))


def statistics_shown(found: Statistics) -> StatisticsShown:
    """Everything the page draws."""
    overall = (found.overall, *([found.with_auto_ties] if found.auto_ties else []))
    groups = (
        ("", overall),
        ("By top-1 correctness", found.strata),
        ("By family", found.families),
        ("By form", found.forms),
    )
    bars = tuple(
        replace(bar_of(block), title=named(block.title, found), group=group)
        for group, blocks in groups
        for block in blocks
        if block.n
    )
    return StatisticsShown(
        found.title, found.model_a, found.model_b, bars, sentences_of(found), found.hash
    )


def sentences_of(found: Statistics) -> tuple[str, ...]:
    """What must stand beside the bars."""
    told = [_decided(found)]
    if found.left.n:
        share, (low, high) = percent(found.left)
        told.append(
            f"Side: left was chosen in {share:.1f} % ({low:.1f}–{high:.1f}) of "
            f"{found.left.n} decided answers{_p(found.left_p)}."
        )
    readers = "1 reader" if len(found.raters) == 1 else f"{len(found.raters)} readers"
    told.append(
        f"{readers}, {found.items} items, {found.unanswered} unanswered, "
        f"{found.changed} answers changed, {found.auto_ties} identical lists set aside."
    )
    told.append(f"Unblinded {day(found.unblinded_utc)}: {found.reason}")
    return tuple(told)


def _decided(found: Statistics) -> str:
    block = found.overall
    if not block.a_decided.n:
        return "No answer preferred one side."
    share, (low, high) = percent(block.a_decided)
    return (
        f"Of {block.a_decided.n} decided answers {found.model_a} was preferred in "
        f"{share:.1f} % ({low:.1f}–{high:.1f}){_p(block.p)}."
    )


def _p(value: float | None) -> str:
    if value is None:
        return ", too few for a test"
    return ", sign test p < 0.001" if value < 0.001 else f", sign test p = {value:.3f}"


class StatisticsPresenter(Presenter):
    """Reads study files on threads."""

    def __init__(self, view: Any, services: Services) -> None:
        super().__init__(view, services)
        self._studies: tuple[StudyInfo, ...] = ()
        self._chosen = ""
        view.study_chosen.connect(self._choose)
        view.export_wanted.connect(self._export)
        view.study_page_wanted.connect(self._to_study)
        services.changes.watch("study", "rating", call=self._changed)

    def shown(self, argument: Any = None) -> None:
        """The page came to the front; an argument names a study."""
        if isinstance(argument, str) and argument:
            self._chosen = argument
        self._load()

    def _changed(self, _change: Change) -> None:
        self._load()

    def _load(self) -> None:
        home = self.services.home
        self.services.tasks.run(self, lambda: list_studies(home), self._take)

    def _take(self, studies: tuple[StudyInfo, ...]) -> None:
        self._studies = studies
        ids = [info.id for info in studies]
        if self._chosen not in ids:
            opened = [info.id for info in studies if info.unblinded]
            self._chosen = (opened or ids or [""])[-1]
        self.view.show_studies([study_shown(info) for info in studies], self._chosen)
        self._show()

    def _info(self) -> StudyInfo | None:
        return next((info for info in self._studies if info.id == self._chosen), None)

    def _choose(self, study: str) -> None:
        self._chosen = study
        self._show()

    def _show(self) -> None:
        info = self._info()
        if info is None:
            return
        if info.fault:
            self.view.show_locked("The study cannot be opened", info.fault)
            return
        if not info.unblinded:
            self._lock(info)
            return
        self.services.tasks.run(
            self,
            lambda: (info.id, statistics_shown(summary(load_unblinded(info.path)))),
            self._computed,
            self._failed,
        )

    def _lock(self, info: StudyInfo) -> None:
        self.view.show_locked(
            f"'{info.title}' is sealed",
            f"{info.answered} of {info.items} items are answered. What was preferred is shown "
            "after unblinding, so that nobody still reading is led by it. Whoever holds the "
            "passphrase can unblind the study on the Study page.",
        )

    def _computed(self, found: tuple[str, StatisticsShown]) -> None:
        if found[0] == self._chosen:
            self.view.show_statistics(found[1])

    def _failed(self, error: Exception) -> None:
        self.view.show_locked("The numbers cannot be shown", sentence(error))

    def _to_study(self) -> None:
        self.services.go("study", self._chosen)

    def _export(self, form: str) -> None:
        info = self._info()
        if info is None or not info.unblinded:
            return
        name = "ratings" if form == "csv" else "summary" if form == "json" else "shares"
        suggested = self.services.home.exports / f"{info.id}-{name}.{form}"
        chosen = self.view.ask_file(str(suggested))
        if chosen:
            path = Path(chosen)
            self.services.tasks.run(self, lambda: write_one(info.path, form, path), self._written)

    def _written(self, path: Path) -> None:
        self.services.notify.good(f"Written to {path}.")


def write_one(study: Path, form: str, target: Path) -> Path:
    """Write one export under the name the user gave."""
    import shutil
    import tempfile

    # matplotlib comes with the figures; only here, on a thread.
    from studies.preference.export import export

    with tempfile.TemporaryDirectory(dir=target.parent, prefix=".export-") as folder:
        written = [Path(path) for path in export(study, Path(folder))]
        wanted = [path for path in written if path.suffix == f".{form}"]
        first = "ratings" if form == "csv" else "summary" if form == "json" else ""
        best = next((path for path in wanted if path.stem == first), wanted[0])
        shutil.move(best, target)
    return target
