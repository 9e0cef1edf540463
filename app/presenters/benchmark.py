"""Decides for the benchmark page: what is planned, what runs, what failed."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from app.changes import Change
from app.failures import sentence
from app.jobs import JobState
from app.presenters.base import Presenter
from app.presenters.bench_plan import (
    BenchPlan,
    Cell,
    failed_note,
    failures_by_cell,
    missing_words,
    pending,
    plan_words,
    read_plan,
    rows_of,
    stored_cells,
    tasks_shown,
)
from app.presenters.bench_sources import SourceDesk
from app.presenters.blind_warning import BlindWarning
from app.presenters.data_sets import DataSet, data_sets
from app.presenters.model_facts import models_shown, with_release
from app.services import Services
from app.shown import ModelShown, ProgressShown
from app.words import count_of, time_left
from db.runs import TaskResultRow

FIRST_MODELS = ("medemb-nano", "qwen3-vl-embedding-nano", "siglip-nano", "random")
LOOK_EVERY = 1.0
MEMORY = "Memory ran out"  # how the engine begins to say that it halved a batch


class BenchmarkPresenter(Presenter):
    """Plans on a thread, runs in the worker, looks for stored results once a second."""

    def __init__(self, view: Any, services: Services) -> None:
        super().__init__(view, services)
        self._read: BenchPlan | None = None
        self._root = ""
        self._models: tuple[ModelShown, ...] = ()
        self._chosen: list[str] = []
        self._tasks: list[str] = []
        self._rows: list[tuple[Cell, ProgressShown]] = []
        self._job = ""
        self._looked = 0.0
        self._blind = BlindWarning(services, "the models and which tasks they have answered")
        self._sources = SourceDesk(view, services, self._take_root)
        self._connect()

    def _connect(self) -> None:
        view = self.view
        view.data_wanted.connect(self._ask_data)
        view.models_changed.connect(self._models_changed)
        view.tasks_changed.connect(self._tasks_changed)
        view.run_wanted.connect(self._run)
        view.cancel_wanted.connect(self._cancel)
        view.results_wanted.connect(self._to_results)
        view.demo_wanted.connect(self._demo)
        self.services.jobs.changed.connect(self._job_changed)
        self.services.changes.watch("run", call=self._run_stored)

    def shown(self, argument: Any = None) -> None:
        """The page came to the front; an argument is a data root."""
        self._load_models()
        self._blind.look()
        if isinstance(argument, str) and argument:
            self._take_root(argument)
        elif not self._root:
            home, store = self.services.home, self.services.store
            self.services.tasks.query(self, lambda: data_sets(home, store), self._take_sets)

    # -- data, models, tasks

    def _take_sets(self, sets: tuple[DataSet, ...]) -> None:
        there = [one.root for one in sets if Path(one.root).is_dir()]
        demo = self.services.home.demo
        if (demo / "tasks.csv").is_file():
            there.append(str(demo))
        if there:
            self._take_root(there[0])
        else:
            self.view.show_data("")
            self.view.show_plan("Choose data to see the plan.")

    def _ask_data(self) -> None:
        if path := self.view.ask_data():
            self._take_root(path)

    def _take_root(self, root: str) -> None:
        self._root = root
        self._sources.take(root)
        self.view.show_data(root)
        self.view.show_plan("Reading the tasks…")
        home = self.services.home
        self.services.tasks.run(
            self, lambda: read_plan(home, Path(root)), self._take_plan, self._no_plan
        )

    def _take_plan(self, read: BenchPlan) -> None:
        if str(read.root) != self._root:
            return
        first = self._read is None or self._read.root != read.root
        self._read = read
        if first:
            self._tasks = list(read.plan.data)
        self.view.show_tasks(tasks_shown(read), self._tasks)
        self._show_plan()

    def _no_plan(self, error: Exception) -> None:
        self._read = None
        self._rows = []
        self.view.show_tasks((), ())
        self.view.show_rows(())
        self.view.show_plan("This data cannot be read.", warning=sentence(error))

    def _load_models(self, _change: Change | None = None) -> None:
        home, settings = self.services.home, self.services.settings.current
        machine = self.services.machine
        self.services.tasks.run(
            self,
            lambda: models_shown(home, settings.device, dtype=settings.dtype, machine=machine),
            self._take_models,
        )

    def _take_models(self, models: tuple[ModelShown, ...]) -> None:
        self._models = with_release(models)
        usable = [model.key for model in models if model.usable]
        if not self._chosen:
            self._chosen = [key for key in FIRST_MODELS if key in usable]
        self.view.show_models(self._models, self._chosen)
        self._show_plan()

    def _models_changed(self, keys: list[str]) -> None:
        self._chosen = list(keys)
        self._show_plan()

    def _tasks_changed(self, keys: list[str]) -> None:
        self._tasks = list(keys)
        self._show_plan()

    def _titles(self) -> Mapping[str, str]:
        return {model.key: model.title for model in self._models}

    def _show_plan(self) -> None:
        if self._read is None or self._job:
            return
        todo = pending(self._read, self._chosen, self._tasks)
        cells = len(self._chosen) * sum(task in self._tasks for task in self._read.plan.data)
        self._rows = rows_of(self._read, self._chosen, self._tasks, self._titles())
        self.view.show_rows([shown for _, shown in self._rows])
        self.view.show_plan(
            plan_words(self._read, self._chosen, self._tasks),
            warning=missing_words(self._read),
            can_run=bool(todo),
        )
        self.view.show_running(
            running=False, label_of_run="Go on" if 0 < len(todo) < cells else "Run"
        )

    # -- the run

    def _run(self) -> None:
        if self._read is None or self._job:
            return
        everything = set(self._tasks) >= set(self._read.plan.data)
        settings = self.services.settings.current
        arguments = {
            "data": self._root, "models": self._chosen,
            "tasks": None if everything else ",".join(self._tasks),
            "device": settings.device, "dtype": settings.dtype,
        }  # fmt: skip
        self._job = self.services.jobs.start(
            "bench",
            arguments,
            title=f"Benchmark {Path(self._root).name}",
            done=self._done,
            failed=self._stopped,
        )
        self.view.show_said("")
        self.view.show_running(running=True)
        self.view.show_progress(0, 0, "Starting", "")

    def _cancel(self) -> None:
        if self._job:
            self.services.jobs.cancel(self._job)

    def _job_changed(self, job: str) -> None:
        state = self.services.jobs.state(job) if job == self._job else None
        if state is None or state.ended:
            return
        left = state.seconds_left(time.monotonic())
        words = (
            f"{state.phase}: {count_of(state.done, state.total, state.unit)}"
            if state.total
            else state.phase or state.sentence or "Waiting for the worker"
        )
        if state.state == "stopping":
            words = "Stopping after the batch in hand"
        self.view.show_progress(
            state.done, state.total, words, time_left(left) if left is not None else ""
        )
        if MEMORY in state.sentence:
            self.view.show_said(state.sentence)
        self._mark_running(state)
        if time.monotonic() - self._looked > LOOK_EVERY:
            self._look()

    def _look(self) -> None:
        """See which results the worker has stored by now."""
        if self._read is None:
            return
        self._looked = time.monotonic()
        store, digest = self.services.store, self._read.plan.digest
        self.services.tasks.query(self, lambda: stored_cells(store, digest), self._mark_stored)

    def _run_stored(self, _change: Change) -> None:
        if self._job:
            self._look()

    def _mark_running(self, state: JobState) -> None:
        """The first waiting task of the model in hand is the one that runs."""
        model = state.phase.split(" (")[0].removeprefix("Loading ")
        for place, (cell, shown) in enumerate(self._rows):
            if cell[0] == model and shown.state == "running":
                return
            if cell[0] == model and shown.state == "waiting":
                self._put(place, replace(shown, state="running"))
                return

    def _mark_stored(self, stored: Mapping[Cell, TaskResultRow]) -> None:
        for place, (cell, shown) in enumerate(self._rows):
            row = stored.get(cell)
            if row is None or shown.state in ("done", "missing"):
                continue
            failed = list(row.details.get("failures", ()))
            note = failed_note([f"row {n}: {why}" for n, why in failed]) if failed else ""
            self._put(
                place,
                replace(shown, state="failed" if failed else "done", done=shown.total, note=note),
            )

    def _put(self, place: int, shown: ProgressShown) -> None:
        self._rows[place] = (self._rows[place][0], shown)
        self.view.show_row(place, shown)

    def _done(self, state: JobState) -> None:
        self._job = ""
        failures = failures_by_cell(state.result)
        self._name_failures(failures)
        self.view.show_running(running=False)
        computed, already = state.result.get("computed", 0), state.result.get("already", 0)
        told = f"Benchmark: {computed} results computed, {already} were stored."
        failed = sum(len(found) for found in failures.values())
        if failed:
            self.services.notify.warn(
                f"{told} {failed} failures are named in the table.",
                action="See results",
                act=self._to_results,
            )
        else:
            self.services.notify.good(told, action="See results", act=self._to_results)
        self._refresh(failures)

    def _stopped(self, state: JobState) -> None:
        self._job = ""
        self.view.show_running(running=False, label_of_run="Go on")
        if state.state != "cancelled":
            self.services.notify.error(state.sentence, details=state.details)
        self._refresh({})

    def _refresh(self, failures: Mapping[Cell, list[str]]) -> None:
        """Read the plan again, then lay this run's failures over its lines."""
        home, root = self.services.home, self._root

        def taken(read: BenchPlan) -> None:
            self._take_plan(read)
            self._name_failures(failures)

        self.services.tasks.run(self, lambda: read_plan(home, Path(root)), taken, self._no_plan)

    def _name_failures(self, failures: Mapping[Cell, list[str]]) -> None:
        for place, (cell, shown) in enumerate(self._rows):
            found = failures.get(cell) or failures.get((cell[0], ""))
            if found and shown.state != "missing":
                self._rows[place] = (cell, replace(shown, state="failed", note=failed_note(found)))
        if failures:
            self.view.show_rows([shown for _, shown in self._rows])

    def _to_results(self) -> None:
        self.services.go("results", self._root or None)

    def _demo(self) -> None:
        self.services.jobs.start("demo", {}, title="Make the demo", done=self._demo_made)

    def _demo_made(self, _state: JobState) -> None:
        self._take_root(str(self.services.home.demo))
