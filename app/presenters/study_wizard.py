"""Decides in the study wizard: what can be compared, what follows from the numbers, the build.

Plans on threads, builds in the worker. Keeps no passphrase, and no model's name once the wizard
is left.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

from app.failures import sentence
from app.jobs import JobState
from app.presenters.study_offer import (
    COLLECTION,
    DATA,
    NOBODY,
    Source,
    count_words,
    forms_of,
    matching,
    sources,
    tasks_of,
)
from app.presenters.study_plan import plan_kept, plan_shown, size_of
from app.presenters.study_steps import protocol_words
from app.services import Services
from app.shown_study import SizeAsked, SizeShown, StudyWish, TaskOffered
from app.words import count_of, time_left
from studies.preference.planner import PlanWish
from studies.preference.protocol import Protocol

FIRST_TOTAL = 530


class StudyWizardDesk:
    """The wizard of one study page.

    Args:
        view: the page.
        services: the program's objects.
        built: called with the id of a new study.
        left: called when the wizard is done with.
    """

    def __init__(
        self,
        view: Any,
        services: Services,
        *,
        built: Callable[[str], None],
        left: Callable[[], None],
    ) -> None:
        self.view, self.services = view, services
        self._tell_built, self._tell_left = built, left
        self.opened = False
        self.watched = False
        self._forget()
        self._job, self._title = "", ""
        self._connect()

    def _forget(self) -> None:
        self._sources: tuple[Source, ...] = ()
        self._source: Source | None = None
        self._models: list[str] = []
        self._tasks: tuple[TaskOffered, ...] = ()
        self._chosen: list[str] = []
        self._asked = SizeAsked()
        self._protocol = Protocol()
        self._planned = 0

    def _connect(self) -> None:
        view = self.view
        view.source_chosen.connect(self._take_source)
        view.models_changed.connect(self._models_changed)
        view.tasks_changed.connect(self._tasks_changed)
        view.pattern_changed.connect(self._pattern_changed)
        view.size_changed.connect(self._size_changed)
        view.protocol_changed.connect(self._protocol_changed)
        view.build_wanted.connect(self._build)
        view.build_left.connect(self.leave)
        view.cancel_wanted.connect(self._cancel)
        self.services.jobs.changed.connect(self._job_changed)

    @property
    def building(self) -> bool:
        """A build is at work."""
        return bool(self._job)

    def open(self) -> None:
        """Begin: look for what can be compared; one build at a time."""
        if self.building:
            self.show_building()
            return
        self.opened = True
        services = self.services
        home, store, machine = services.home, services.store, services.machine
        device = services.settings.current.device
        services.tasks.query(self, lambda: sources(home, store, machine, device), self._offer)

    def leave(self) -> None:
        """Wipe every name and go back to the steps."""
        if not self.opened:
            return
        self.opened = False
        self._forget()
        self.view.clear_wizard()
        self._tell_left()

    def show_building(self) -> None:
        """Show the build at work again."""
        self.watched = True
        self._job_changed(self._job)

    # -- what is compared

    def _offer(self, found: tuple[Source, ...]) -> None:
        if not self.opened:
            return
        self._sources = found
        self.view.show_wizard([one.offered for one in found], Protocol().to_json())
        self.view.show_size_asked(self._asked)
        if found:
            self._take_source(found[0].offered.kind, found[0].offered.key)
        else:
            self.view.show_hindrance(NOBODY)

    def _take_source(self, kind: str, key: str) -> None:
        self._source = next(
            (one for one in self._sources if (one.offered.kind, one.offered.key) == (kind, key)),
            None,
        )
        if self._source is None:
            return
        # None is proposed: their order says nothing, and what is sealed cannot be changed.
        self._models, self._chosen, self._tasks = [], [], ()
        self.view.show_models(self._source.offered.models, self._models)
        self._load_tasks(everything=True)

    def _models_changed(self, models: list[str]) -> None:
        self._models = list(models)
        self._load_tasks(everything=False)

    def _load_tasks(self, *, everything: bool) -> None:
        if self._source is None:
            return
        before = [task.key for task in self._tasks if task.count]
        self._tasks = tasks_of(self._source, self._models)
        there = matching(self._tasks, "")
        left_out = set() if everything else set(before) - set(self._chosen)
        self._chosen = [key for key in there if key not in left_out]
        self.view.show_tasks(self._tasks, self._chosen)
        self._chosen_moved()

    def _tasks_changed(self, tasks: list[str]) -> None:
        self._chosen = list(tasks)
        self._chosen_moved()

    def _pattern_changed(self, pattern: str) -> None:
        self._chosen = matching(self._tasks, pattern)
        self.view.show_tasks(self._tasks, self._chosen)
        self._chosen_moved()

    def _chosen_moved(self) -> None:
        told, missing = count_words(self._tasks, self._chosen)
        forms = forms_of(self._tasks, self._chosen)
        if self._source is not None and self._source.offered.kind == COLLECTION:
            told = f"{self._source.items:,} items; each may be asked for once."
        elif not self._models:
            told, missing = "Tasks can be chosen once models are.", ""
        self.view.show_counts(told, missing, tuple(forms))
        self.view.show_hindrance(self._hindrance())
        self._plan()

    def _hindrance(self) -> str:
        if self._source is None:
            return NOBODY
        if len(self._models) < 2:
            return "Choose two models or more."
        if self._source.offered.kind == DATA and not self._chosen:
            return "Choose a task that all chosen models have answered."
        return ""

    def _available(self) -> int:
        if self._source is not None and self._source.offered.kind == COLLECTION:
            return self._source.items
        return sum(task.count or 0 for task in self._tasks if task.key in self._chosen)

    # -- how many

    def _size_changed(self, asked: SizeAsked) -> None:
        self._asked = asked
        self._plan()

    def _protocol_changed(self, document: dict[str, Any]) -> None:
        self._protocol = Protocol(**document)
        self._plan()

    def _plan(self) -> None:
        """On a thread: the exact power takes a library; only the newest answer is shown."""
        if self._hindrance():
            return
        self._planned += 1
        number, wish, available = self._planned, self._size(), self._available()
        self.services.tasks.run(
            self,
            lambda: (number, plan_shown(wish, available, self._asked.items)),
            self._take_plan,
            self._no_plan,
        )

    def _size(self) -> PlanWish:
        """What the planner is asked; a collection has no tasks whose items resemble each other."""
        collection = self._source is not None and self._source.offered.kind == COLLECTION
        return size_of(
            replace(self._asked, clustering=0.0) if collection else self._asked,
            models=len(self._models),
            forms=forms_of(self._tasks, self._chosen),
            tasks=max(1, len(self._chosen)),
            available=self._available(),
            protocol=self._protocol,
        )

    def _take_plan(self, found: tuple[int, SizeShown]) -> None:
        if found[0] == self._planned and self.opened:
            self.view.show_size(found[1])
            self.view.show_summary(self._summary(found[1]))

    def _no_plan(self, error: Exception) -> None:
        self.view.show_size(SizeShown(0, (), "", sentence(error)))

    def _summary(self, _shown: SizeShown) -> str:
        total = min(self._asked.items, self._available())
        models = f"{len(self._models)} models"
        tasks = f" from {len(self._chosen)} tasks" if self._chosen else ""
        return (
            f"{models}, up to {total:,} items{tasks}; {protocol_words(self._protocol)}. The "
            "planned size and its reasons are frozen too. After this nothing of it changes: one "
            "altered byte is found."
        )

    # -- building

    def _build(self, wish: StudyWish) -> None:
        there = matching(self._tasks, "")
        tasks = None if not wish.tasks or len(wish.tasks) == len(there) else ",".join(wish.tasks)
        self._title, self.watched = wish.title, True
        planned = self._frozen(wish)
        total = min(wish.total, planned["wish"]["total"]) if planned else wish.total
        self.view.show_building(f"Building '{wish.title}'", 0, 0, "Starting", "")
        self._job = self.services.jobs.start(
            "study-build",
            {
                "data": wish.source if wish.kind == DATA else None,
                "collection": wish.source if wish.kind == COLLECTION else None,
                "models": list(wish.models), "total": total, "seed": wish.seed,
                "title": wish.title, "passphrase": wish.passphrase, "tasks": tasks,
                "protocol": dict(wish.protocol), "planned": planned,
                **self._search(wish),
            },
            title=f"Build study '{wish.title}'",
            done=self._built,
            failed=self._not_built,
        )  # fmt: skip

    def _frozen(self, wish: StudyWish) -> dict[str, Any] | None:
        """The plan as its page has it; none where its numbers make none."""
        self._protocol = Protocol(**wish.protocol)
        return plan_kept(self._size())

    def _search(self, wish: StudyWish) -> dict[str, Any]:
        """How the models search a collection; lists of a benchmark are stored already."""
        if wish.kind == DATA:
            return {}
        settings = self.services.settings.current
        return {"other_patients": wish.other_patients, "device": settings.device,
                "dtype": settings.dtype}  # fmt: skip

    def _cancel(self) -> None:
        if self._job:
            self.services.jobs.cancel(self._job)

    def _job_changed(self, job: str) -> None:
        state = self.services.jobs.state(job) if job and job == self._job else None
        if state is None or state.ended or not self.watched:
            return
        phase = state.phase or "Starting"
        if state.total:
            phase = f"{phase}, {count_of(state.done, state.total, state.unit)}"
        if state.state == "stopping":
            phase = "Stopping after the item in hand"
        left = state.seconds_left(time.monotonic())
        self.view.show_building(
            f"Building '{self._title}'", state.done, state.total, phase,
            "" if left is None else time_left(left),
        )  # fmt: skip

    def _built(self, state: JobState) -> None:
        self._job = ""
        missing: Sequence[str] = tuple(state.result.get("missing", ()))
        told = f"{state.result.get('items', 0):,} items are sealed."
        if missing:
            told += f" {len(missing)} tasks or queries gave nothing; the methods text names them."
        told = " ".join((told, *map(str, state.result.get("notes", ()))))
        self.services.notify.good(told)
        self._tell_built(str(state.result.get("id", "")))
        self.leave()

    def _not_built(self, state: JobState) -> None:
        self._job = ""
        told = state.sentence or "Building was stopped."
        if state.state == "cancelled":
            told = "Building was stopped; no study was made."
        if self.opened:
            self.view.show_build_failure(told, "warn" if state.state == "cancelled" else "error")
        else:
            self.services.notify.error(told)
            self._tell_left()
