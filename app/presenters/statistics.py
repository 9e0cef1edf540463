"""Decides for the statistics page: locked before unblinding, the numbers after it.

Before unblinding it asks for nothing but counts of answers, so there is nothing to leak. After it
the analysis is computed off the window thread, once for each rater that is looked at.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from app.changes import Change
from app.failures import sentence
from app.presenters.base import Presenter
from app.presenters.statistics_behind import practice_of
from app.presenters.statistics_item import ItemDesk
from app.presenters.statistics_look import Look
from app.presenters.statistics_sheets import statistics_shown
from app.services import Services
from app.shown_statistics import Behind
from db.errors import StoreError
from db.home import Home
from studies.errors import StudyError
from studies.preference.analysis.schema import Analysis
from studies.preference.analysis.tables import StudyTables
from studies.preference.order_words import far_words
from studies.preference.study import StudyInfo, list_studies, open_study
from studies.preference.unblind import Unblinded, load_unblinded

DRAWS = 10_000


@dataclass(frozen=True)
class Loaded:
    """An unblinded study as it is analysed."""

    info: StudyInfo
    unblinded: Unblinded
    tables: StudyTables


@dataclass(frozen=True)
class Computed:
    """One analysis of it; ``rater`` None pools all."""

    loaded: Loaded
    rater: str | None
    analysis: Analysis
    wish: int


def load(info: StudyInfo) -> Loaded:
    """Read an unblinded study."""
    # The analysis comes with SciPy; only here, on a thread.
    from studies.preference.analysis.gather import tables_of

    unblinded = load_unblinded(info.path)
    return Loaded(info, unblinded, tables_of(unblinded))


def compute(info: StudyInfo, known: Loaded | None, rater: str | None, wish: int) -> Computed:
    """Every number of a study."""
    from studies.preference.analysis.analyse import analyse

    loaded = known or load(info)
    return Computed(loaded, rater, analyse(loaded.tables, rater=rater, draws=DRAWS), wish)


def studies_of(home: Home, wanted: str) -> tuple[StudyInfo, ...]:
    """The studies of a home, and one from elsewhere if its folder is wanted."""
    found = list_studies(home)
    known = {info.id for info in found} | {str(info.path) for info in found}
    if not wanted or wanted in known or not Path(wanted).exists():
        return found
    try:
        with open_study(Path(wanted)) as study:
            info = study.info()
    except (StoreError, StudyError) as error:
        path = Path(wanted)
        info = StudyInfo(wanted, "", "", 0, 0, 0, (), False, "", path, fault=str(error))
    # Its place stands for it: an id may be in the home too.
    return (*found, replace(info, id=wanted))


class StatisticsPresenter(Presenter):
    """Reads and computes on threads; shows what was chosen last."""

    def __init__(self, view: Any, services: Services) -> None:
        super().__init__(view, services)
        self._studies: tuple[StudyInfo, ...] = ()
        self._chosen = ""
        self._elsewhere = ""
        self._rater: str | None = None
        self._pair = 0
        self._ties = "leave out"
        self._wish = 0
        self._front = False
        self._drawn: tuple[str, str | None, int, str] | None = None
        self._loaded: Loaded | None = None
        self._analyses: dict[str | None, Analysis] = {}
        self._item = ItemDesk(view, services)
        view.study_chosen.connect(self._choose)
        view.rater_chosen.connect(self._choose_rater)
        view.pair_chosen.connect(self._choose_pair)
        view.ties_chosen.connect(self._choose_ties)
        view.behind_wanted.connect(self._list)
        view.publish_wanted.connect(self._publish)
        view.study_page_wanted.connect(self._to_study)
        view.cancel_wanted.connect(self._cancel)
        view.copied.connect(self._copied)
        services.changes.watch("study", "rating", call=self._changed)

    def shown(self, argument: Any = None) -> None:
        """The page came to the front; an argument names a study, by its id or its folder."""
        if isinstance(argument, str) and argument:
            self._chosen = self._elsewhere = argument
        self._front = True
        self._read()

    def hidden(self) -> None:
        """Nothing is read or computed for a page that nobody sees, least of all while rating."""
        self._front = False

    def close(self) -> None:
        self._item.close()

    def _changed(self, change: Change) -> None:
        if "study" in change.kinds:
            self._drop()
        if self._front:
            self._read()

    def _drop(self) -> None:
        self._wish += 1
        self._drawn = None
        self._loaded, self._analyses = None, {}
        self._item.close()

    # -- which study

    def _read(self) -> None:
        home, wanted = self.services.home, self._elsewhere
        self.services.tasks.run(self, lambda: studies_of(home, wanted), self._take)

    def _take(self, studies: tuple[StudyInfo, ...]) -> None:
        before = self._info()
        self._studies = studies
        ids = [info.id for info in studies]
        by_path = {str(info.path): info.id for info in studies}
        self._chosen = by_path.get(self._chosen, self._chosen)
        if self._chosen not in ids:
            opened = [info.id for info in studies if info.unblinded]
            self._chosen = (opened or ids or [""])[-1]
        told = [(info.id, info.title or "A study that cannot be opened") for info in studies]
        self.view.show_studies(told, self._chosen)
        if self._info() != before:
            self._drop()
        if self._drawn != (self._chosen, self._rater, self._pair, self._ties):
            self._show()  # else it stands there, with the list or item that was opened

    def _info(self) -> StudyInfo | None:
        return next((info for info in self._studies if info.id == self._chosen), None)

    def _choose(self, study: str) -> None:
        if study != self._chosen:
            self._chosen, self._rater, self._pair = study, None, 0
            self._drop()
        self._show()

    def _show(self) -> None:
        info = self._info()
        if info is None:
            return
        if info.fault:
            self.view.show_locked("The study cannot be opened", info.fault)
        elif not info.unblinded:
            self.view.show_locked(f"'{info.title}' is sealed", locked_words(info))
        elif self._rater in self._analyses:
            self._draw()
        else:
            self._compute(info)

    # -- the numbers

    def _compute(self, info: StudyInfo) -> None:
        self._wish += 1
        self._drawn = None
        known, rater, wish = self._loaded, self._rater, self._wish
        whom = f" of {rater}" if rater else ""
        self.view.show_working(f"Computing the statistics{whom}: {DRAWS:,} bootstrap draws")
        self.services.tasks.run(
            self, lambda: compute(info, known, rater, wish), self._computed, self._failed
        )

    def _computed(self, found: Computed) -> None:
        if found.wish != self._wish:
            return
        self._loaded = found.loaded
        self._analyses[found.rater] = found.analysis
        self._draw()

    def _failed(self, error: Exception) -> None:
        self.view.show_locked("The numbers cannot be shown", sentence(error))

    def _cancel(self) -> None:
        """Forget what is being computed; what was computed before is shown again."""
        self._wish += 1
        if None in self._analyses:
            self._rater = None
            self._draw()
        else:
            self.view.show_locked(
                "Stopped", "The statistics were not computed. Choose the study again to go on."
            )

    def _look(self) -> Look | None:
        found = self._analyses.get(self._rater)
        if found is None or not found.pairs:
            return None
        self._pair = min(self._pair, len(found.pairs) - 1)
        practice = 0 if self._loaded is None else practice_of(self._loaded.tables)
        return Look(found, found.pairs[self._pair], self._ties, practice)

    def _draw(self) -> None:
        look = self._look()
        if look is None or self._loaded is None:
            self.view.show_locked(
                "Nothing to show",
                "This study compares no two models; there is nothing to count.",
            )
            return
        everybody = tuple(dict.fromkeys(row.rater for row in self._loaded.tables.presented))
        raters = [("", "All raters, pooled"), *((name, name) for name in everybody)]
        pairs = [
            (str(place), f"{pair.first_title} : {pair.second_title}")
            for place, pair in enumerate(look.found.pairs)
        ]
        ties = self._ties if look.pair.with_auto_ties.auto_tie.count else ""
        self.view.show_choices(
            raters if len(everybody) > 1 else raters[:1], self._rater or "", pairs,
            str(self._pair), ties,
        )  # fmt: skip
        self.view.show_statistics(statistics_shown(look))
        self._drawn = (self._chosen, self._rater, self._pair, self._ties)

    def _choose_rater(self, rater: str) -> None:
        self._rater = rater or None
        self._show()

    def _choose_pair(self, pair: str) -> None:
        self._pair = int(pair)
        self._show()

    def _choose_ties(self, ties: str) -> None:
        self._ties = ties
        self._show()

    # -- what stands behind, and the kit

    def _list(self, wanted: Behind) -> None:
        look, loaded = self._look(), self._loaded
        if look is not None and loaded is not None:
            pair = (look.pair.first, look.pair.second)
            self._item.list_behind(
                loaded.unblinded, loaded.tables, wanted, pair=pair, rater=self._rater
            )

    def _to_study(self) -> None:
        self.services.go("study", self._chosen)

    def _copied(self, what: str) -> None:
        self.services.notify.good(f"{what} is on the clipboard.")

    def _publish(self, comments: str, names: str) -> None:
        info = self._info()
        if info is None or not info.unblinded:
            return
        suggested = self.services.home.exports
        chosen = self.view.ask_folder(str(suggested))
        if not chosen:
            return
        folder, rater = Path(chosen), self._rater
        self.services.notify.info(f"Publishing '{info.title}' into {folder}.")
        self.services.tasks.run(
            self,
            lambda: publish_kit(info.path, folder, comments, names, rater),
            self._published,
        )

    def _published(self, told: str) -> None:
        self.services.notify.good(told)


def publish_kit(path: Path, folder: Path, comments: str, names: str, rater: str | None) -> str:
    """Write the kit; how many files, and which of them stand beside what somebody changed."""
    # matplotlib comes with the figures; only here, on a thread.
    from studies.preference.kit.keeping import remarks
    from studies.preference.kit.publish import publish

    made = publish(path, folder, comments=comments, names=names, rater=rater)
    return " ".join([f"{len(made)} files were written into {folder}.", *remarks(made)])


def locked_words(info: StudyInfo) -> str:
    """Why a study is locked, and by whom it can be opened; counts of answers only."""
    if info.seat:
        return (
            f"This is the pack of {info.seat}. It holds no key: what was preferred is computed "
            "by the coordinator, after the answers have gone back and the study is unblinded."
        )
    ties = "1 identical list" if info.auto_ties == 1 else f"{info.auto_ties} identical lists"
    aside = f", {ties} set aside" if info.auto_ties else ""
    return (
        f"{far_words(info.far, info.seats, info.reads)}{aside}. What was preferred "
        "is shown after unblinding, so that nobody still reading is led by it. Whoever holds the "
        "passphrase, as a rule the coordinator who built the study, can unblind it on the "
        "Study page; after that it takes no more answers."
    )
