"""Stand-ins for the pages' presenters: jobs, changes, a view with the true view's signals."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

from PySide6.QtCore import Signal as QtSignal

from app.jobs import JobState
from tests.app.fakes import FakeView, Signal, fake_services


def view_like(view_class: type) -> FakeView:
    """A fake view with every signal of the true one."""
    names = {
        name
        for each in view_class.__mro__
        for name, value in vars(each).items()
        if isinstance(value, QtSignal)
    }
    return FakeView(*sorted(names))


class FakeChanges:
    """Remembers who watches what; ``tell`` calls them."""

    def __init__(self) -> None:
        self.watchers: list[tuple[set[str], Any]] = []
        self.told: list[tuple[str, ...]] = []

    def watch(self, *kinds: str, call: Any) -> None:
        self.watchers.append((set(kinds), call))

    def tell(self, *kinds: str, origin: str = "") -> None:
        self.told.append(kinds)
        change = SimpleNamespace(kinds=frozenset(kinds), origin=origin)
        for wanted, call in self.watchers:
            if wanted & set(kinds):
                call(change)


class FakeJobs:
    """Jobs that end when a test says so."""

    def __init__(self) -> None:
        self.changed = Signal()
        self.started: list[tuple[str, dict[str, Any], str]] = []
        self.cancelled: list[str] = []
        self.current = None
        self._states: dict[str, JobState] = {}
        self._ends: dict[str, tuple[Any, Any]] = {}

    def start(
        self, kind: str, arguments: Any, *, title: str, done: Any = None, failed: Any = None
    ) -> str:
        job = f"j{len(self.started)}"
        self.started.append((kind, dict(arguments), title))
        self._states[job] = JobState(job, kind, title)
        self._ends[job] = (done, failed)
        return job

    def cancel(self, job: str) -> None:
        self.cancelled.append(job)

    def state(self, job: str) -> JobState | None:
        return self._states.get(job)

    def progress(self, job: str, **facts: Any) -> None:
        """The worker reports."""
        base = vars(self._states[job]) | {"state": "running"} | facts
        self._states[job] = JobState(**base)
        self.changed.emit(job)

    def end(self, job: str, state: str = "done", **facts: Any) -> None:
        """The job ends."""
        base = vars(self._states[job]) | {"state": state} | facts
        self._states[job] = JobState(**base)
        self.changed.emit(job)
        call = self._ends[job][0 if state == "done" else 1]
        if call is not None:
            call(self._states[job])


def page_services(**more: Any) -> Any:
    """Services for a page's presenter: fake jobs and changes beside the common fakes."""
    return fake_services(**{"jobs": FakeJobs(), "changes": FakeChanges(), **more})
