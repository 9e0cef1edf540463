"""Decides for the study page: which study is in hand, which steps it has, what is opened.

Tells no model once a study is built, and no preference ever: only how many items are answered.
Where a study stands is read from its files each time the page or the window comes back.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from app.changes import Change
from app.presenters.base import Presenter
from app.presenters.data_sets import data_sets
from app.presenters.study_desk import StudyDesk
from app.presenters.study_standing import Standing, day, standings
from app.presenters.study_steps import note_of, readers_shown, steps_of, study_shown
from app.presenters.study_wizard import StudyWizardDesk
from app.services import Services
from app.shown import StepShown
from studies.preference.packs import SUFFIX, open_pack
from studies.preference.study import open_study

__all__ = ["StudyPresenter", "day"]

EMPTY = (
    "A study shows readers the top three of two models, side by side and unnamed. Plan one from "
    "results on this machine, or open the pack that a coordinator gave you."
)
NO_RESULTS = "Planning needs results of two models; there are none on this machine."


class StudyPresenter(Presenter):
    """Reads study files on threads; builds in the worker."""

    def __init__(self, view: Any, services: Services) -> None:
        super().__init__(view, services)
        self._standings: tuple[Standing, ...] = ()
        self._extra: dict[str, Path] = {}
        self._chosen = ""
        self._can_plan = True
        self.desk = StudyDesk(view, services, chosen=self._standing, changed=self._show)
        self.wizard = StudyWizardDesk(view, services, built=self._built, left=self._show)
        self._connect()
        services.changes.watch("study", "rating", "run", call=self._changed)

    def _connect(self) -> None:
        view = self.view
        view.study_chosen.connect(self._choose)
        view.new_wanted.connect(self.wizard.open)
        view.step_wanted.connect(self._step)
        view.open_file_wanted.connect(self._open_file)
        view.files_dropped.connect(self._dropped)
        view.returned.connect(self._load)

    def shown(self, argument: Any = None) -> None:
        """The page came to the front; an argument names a study, or a pack to open."""
        if isinstance(argument, Path) or str(argument or "").endswith(SUFFIX):
            self._open_file(str(argument))
            return
        if isinstance(argument, str) and argument:
            self._chosen = argument
        self._load()

    def hidden(self) -> None:
        """The wizard names models: nothing of it stays behind the page."""
        self.wizard.leave()

    def _changed(self, _change: Change) -> None:
        self._load()

    def _load(self) -> None:
        home, extra, store = self.services.home, dict(self._extra), self.services.store

        def work() -> tuple[Standing, ...]:
            return standings(home, extra.values())

        self.services.tasks.run(self, work, self._take)
        if store is not None:
            self.services.tasks.query(self, lambda: data_sets(home, store), self._take_sets)

    def _take_sets(self, sets: tuple[Any, ...]) -> None:
        self._can_plan = any(len(one.models) > 1 for one in sets)
        self._list()

    def _take(self, found: tuple[Standing, ...]) -> None:
        self._standings = found
        ids = [standing.info.id for standing in found]
        if self._chosen not in ids:
            self._chosen = ids[-1] if ids else ""
        self._list()
        self._show()

    def _list(self) -> None:
        """A home that holds only copies for reading offers no planning that could not work."""
        copies = bool(self._standings) and all(
            standing.seat or not standing.holds_key for standing in self._standings
        )
        why_not = NO_RESULTS if copies and not self._can_plan else ""
        self.view.show_studies([study_shown(one) for one in self._standings], self._chosen, why_not)

    def _show(self) -> None:
        if self.wizard.opened:
            return
        if self.wizard.building and self.wizard.watched:
            self.wizard.show_building()
            return
        standing = self._standing()
        if standing is None:
            self.view.show_none(EMPTY)
            return
        steps = steps_of(standing, self.desk.verdicts.get(standing.info.id))
        if self.desk.checking == standing.info.id:
            steps = tuple(_at_work(step) if step.key == "verify" else step for step in steps)
        self.view.show_steps(study_shown(standing), steps, note_of(standing))
        self.view.show_readers(() if standing.seat else readers_shown(standing))

    def _standing(self) -> Standing | None:
        return next((one for one in self._standings if one.info.id == self._chosen), None)

    def _choose(self, study: str) -> None:
        self._chosen = study
        self.wizard.watched = False
        self.desk.fold()
        if self.wizard.opened:
            self.wizard.leave()
        else:
            self._show()

    def _built(self, study: str) -> None:
        self._chosen = study or self._chosen
        self._load()

    def _step(self, step: str) -> None:
        standing = self._standing()
        if standing is not None:
            self.desk.start(step, standing)

    # -- files that come from elsewhere

    def _dropped(self, paths: list[str]) -> None:
        opened = [path for path in paths if _opens(path)]
        for path in opened:
            self._open_file(path)
        if answers := [path for path in paths if not _opens(path)]:
            standing = self._standing()
            if standing is None or not standing.holds_key:
                self.services.notify.warn(
                    "Answers are merged into the coordinator's study; choose it first."
                )
                return
            self.desk.merge(answers)

    def _open_file(self, path: str) -> None:
        file, home = Path(path), self.services.home

        def work() -> tuple[str, Path]:
            folder = open_pack(home, file) if file.suffix == SUFFIX else file.parent
            with open_study(folder) as study:
                return study.info().id, folder

        self.services.tasks.run(self, work, self._opened_file)

    def _opened_file(self, found: tuple[str, Path]) -> None:
        self._chosen, folder = found
        if folder.parent != self.services.home.studies:
            self._extra[found[0]] = folder
        self.wizard.leave()
        self._load()
        self.services.changes.tell("study", origin="study page")


def _opens(path: str) -> bool:
    return Path(path).suffix == SUFFIX or Path(path).name == "study.sqlite"


def _at_work(step: StepShown) -> StepShown:
    told = "Every item, picture, order and answer is hashed again."
    return StepShown(step.key, step.title, "busy", told, step.action, enabled=False)
