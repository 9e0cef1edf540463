"""The jobs of the worker: their states, their order, and the list the tray shows.

Owns one worker process and the queue before it: one job at a time, the rest wait. Knows no
widget. Arguments stay in memory (one of them may be a passphrase); only title, kind and state
are kept in the store.
"""

from __future__ import annotations

import time
import uuid
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from PySide6.QtCore import QObject, Signal

from app.changes import Changes
from app.notify import Notify
from app.worker_process import WorkerProcess
from studies.errors import WorkerLost
from studies.messages import (
    Done,
    Failed,
    Log,
    Message,
    Progress,
    Ready,
    Run,
    Saved,
    Stopped,
)

STATES = ("queued", "starting", "running", "stopping", "done", "failed", "cancelled", "lost")
ENDED = frozenset({"done", "failed", "cancelled", "lost"})


@dataclass(frozen=True)
class JobState:
    """One job as it stands.

    Attributes:
        id: opaque.
        kind: a key of ``studies.jobs.JOBS``.
        title: what a person calls it.
        state: one of ``STATES``.
        done, total, unit, phase: progress; total 0 means not known yet.
        sentence: the last thing it said, or why it ended.
        result: what ``Done`` brought.
        details: the traceback of a bug, or the last lines of a lost worker.
        phase_started: ``time.monotonic()`` at the start of the phase, for the time left.
        exit_code: of a worker that died.
    """

    id: str
    kind: str
    title: str
    state: str = "queued"
    done: int = 0
    total: int = 0
    unit: str = ""
    phase: str = ""
    sentence: str = ""
    result: Mapping[str, Any] = field(default_factory=dict)
    details: str = ""
    phase_started: float = 0.0
    exit_code: int | None = None

    @property
    def ended(self) -> bool:
        """True once nothing more will come."""
        return self.state in ENDED

    def seconds_left(self, now: float) -> float | None:
        """An honest guess from the pace of this phase; None before 5 % or 3 seconds."""
        spent = now - self.phase_started
        if self.total <= 0 or self.done <= 0 or spent < 3 or self.done / self.total < 0.05:
            return None
        return spent * (self.total - self.done) / self.done


@dataclass(frozen=True, eq=False)
class _Order:
    arguments: Mapping[str, Any]
    done: Callable[[JobState], None] | None
    failed: Callable[[JobState], None] | None


class Jobs(QObject):
    """Starts, queues, cancels and remembers jobs.

    Args:
        worker: the process client.
        changes: told what the worker stored.
        notify: told how a job ended, unless whoever started it takes care.
        remember: keeps a job's row, called with state and arguments at each change of state.
    """

    changed = Signal(str)
    finished = Signal(str)
    idle = Signal()

    def __init__(
        self,
        worker: WorkerProcess,
        changes: Changes,
        notify: Notify,
        *,
        remember: Callable[[JobState, Mapping[str, Any]], None] | None = None,
        parent: QObject | None = None,
    ) -> None:
        super().__init__(parent)
        self._worker = worker
        self._changes = changes
        self._notify = notify
        self._remember = remember
        self._states: dict[str, JobState] = {}
        self._orders: dict[str, _Order] = {}
        self._failures: dict[str, list[str]] = {}  # by kind, as they were told
        self._current: str | None = None
        self._closing = False
        worker.message.connect(self._take)
        worker.lost.connect(self._lost)
        worker.ended.connect(self._worker_ended)

    def start(
        self,
        kind: str,
        arguments: Mapping[str, Any],
        *,
        title: str,
        done: Callable[[JobState], None] | None = None,
        failed: Callable[[JobState], None] | None = None,
    ) -> str:
        """Queue a job and return its id.

        Args:
            kind: a key of ``studies.jobs.JOBS``.
            arguments: what JSON can hold.
            title: shown in the tray, for example ``Import 'Chest 2026'``.
            done: called with the final state after success (window thread).
            failed: called with the final state otherwise (failed, cancelled, lost); without it
                a notice is shown.
        """
        job = uuid.uuid4().hex
        self._orders[job] = _Order(dict(arguments), done, failed)
        self._put(JobState(job, kind, title))
        self._next()
        return job

    def cancel(self, job: str) -> None:
        """Stop a job: a waiting one at once, a running one after the batch in hand."""
        state = self._states.get(job)
        if state is None or state.ended or state.state == "stopping":
            return
        if job != self._current:
            self._end(job, "cancelled", "Cancelled before it began.")
            return
        self._put(replace(state, state="stopping", sentence="Stopping after the batch in hand"))
        self._worker.cancel(job)

    def again(self, job: str) -> str:
        """Start an ended job again with the same arguments; what is stored is not redone."""
        state, order = self._states[job], self._orders[job]
        return self.start(
            state.kind, order.arguments, title=state.title, done=order.done, failed=order.failed
        )

    def adopt(self, states: tuple[JobState, ...]) -> None:
        """Show jobs of an earlier session, before those of this one."""
        self._states = {**{state.id: state for state in states}, **self._states}
        self.changed.emit("")

    def forget_ended(self) -> None:
        """Take the ended jobs off the list."""
        for job in [state.id for state in self._states.values() if state.ended]:
            del self._states[job]
            self._orders.pop(job, None)
            self.changed.emit(job)

    def states(self) -> tuple[JobState, ...]:
        """All jobs, oldest first."""
        return tuple(self._states.values())

    def state(self, job: str) -> JobState | None:
        """One job, or None."""
        return self._states.get(job)

    def can_again(self, job: str) -> bool:
        """True if the job ended and its arguments are still known."""
        state = self._states.get(job)
        return state is not None and state.ended and job in self._orders

    @property
    def current(self) -> JobState | None:
        """The job in the worker's hands, or None."""
        return self._states.get(self._current) if self._current else None

    @property
    def waiting(self) -> int:
        """How many jobs wait."""
        return sum(state.state == "queued" for state in self._states.values())

    def close(self) -> None:
        """Stop everything and let the worker go; ``idle`` is emitted once it has gone."""
        self._closing = True
        for state in self.states():
            if not state.ended and state.id != self._current:
                self._end(state.id, "cancelled", "The program was closed.")
        if not self._worker.running:
            self.idle.emit()
        elif self._current:
            self.cancel(self._current)
        else:
            self._worker.shutdown()

    def kill(self) -> None:
        """End the worker at once; for the end of the program only."""
        self._closing = True
        self._worker.kill()

    def _next(self) -> None:
        if self._current is not None or self._closing:
            return
        for state in self._states.values():
            if state.state == "queued":
                self._current = state.id
                going = "running" if self._worker.running else "starting"
                self._put(replace(state, state=going, phase_started=time.monotonic()))
                self._worker.start()
                arguments = dict(self._orders[state.id].arguments)
                self._worker.send(Run(state.id, state.kind, arguments))
                return

    def _take(self, message: Message) -> None:
        state = self._states.get(getattr(message, "job", ""))
        if isinstance(message, Ready) and self.current is not None:
            self._put(replace(self.current, state="running"))
        if state is None:
            return
        if isinstance(message, Progress):
            self._progress(state, message)
        elif isinstance(message, Log):
            self._put(replace(state, sentence=message.sentence), keep=False)
        elif isinstance(message, Saved):
            self._changes.tell(*message.kinds, origin=state.id)
        else:
            self._final(state, message)

    def _progress(self, state: JobState, message: Progress) -> None:
        started = state.phase_started
        if message.phase != state.phase:
            started = time.monotonic()
        going = "stopping" if state.state == "stopping" else "running"
        self._put(
            replace(
                state,
                state=going,
                done=message.done,
                total=message.total,
                unit=message.unit,
                phase=message.phase,
                phase_started=started,
            ),
            keep=going != state.state,
        )

    def _final(self, state: JobState, message: Message) -> None:
        if isinstance(message, Done):
            self._states[state.id] = replace(state, result=dict(message.result))
            self._end(state.id, "done", f"{state.title}: done.")
        elif isinstance(message, Failed):
            self._states[state.id] = replace(state, details=message.details)
            self._end(state.id, "failed", message.sentence)
        elif isinstance(message, Stopped):
            self._end(state.id, "cancelled", f"{state.title}: stopped. What it stored is kept.")

    def _lost(self, error: WorkerLost) -> None:
        if self._current is not None:
            state = self._states[self._current]
            self._states[state.id] = replace(
                state, details="\n".join(error.last_lines), exit_code=error.exit_code
            )
            self._end(state.id, "lost", str(error))
        if self._closing:
            self.idle.emit()

    def _worker_ended(self) -> None:
        """The process left because it was asked to, or was ended by the ladder."""
        if self._current is not None:
            title = self._states[self._current].title
            self._end(self._current, "cancelled", f"{title}: stopped. What it stored is kept.")
        if self._closing:
            self.idle.emit()

    def _end(self, job: str, how: str, sentence: str) -> None:
        if job == self._current:
            self._current = None
            self._worker.settled()
        state = replace(self._states[job], state=how, sentence=sentence)
        self._put(state)
        self._answer(state)
        self.finished.emit(job)
        if self._closing and self._current is None and self._worker.running:
            self._worker.shutdown()
        self._next()

    def _answer(self, state: JobState) -> None:
        if state.state in ("failed", "lost"):
            self._failures.setdefault(state.kind, []).append(state.sentence)
        elif state.state == "done":  # what failed before has come well
            for sentence in self._failures.pop(state.kind, []):
                self._notify.recall(sentence)
        order = self._orders.get(state.id)
        call = None if order is None else order.done if state.state == "done" else order.failed
        if call is not None:
            call(state)
        elif self._closing:
            return
        elif state.state in ("failed", "lost"):
            self._notify.error(
                state.sentence,
                action="Start again",
                act=lambda: self._restart(state.id),
                details=state.details,
            )
        elif state.state == "done":
            self._notify.good(state.sentence)

    def _restart(self, job: str) -> None:
        if self.can_again(job):
            self.again(job)

    def _put(self, state: JobState, *, keep: bool = True) -> None:
        self._states[state.id] = state
        if keep and self._remember is not None:
            order = self._orders.get(state.id)
            self._remember(state, {} if order is None else order.arguments)
        self.changed.emit(state.id)
