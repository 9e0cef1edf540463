"""Keeps jobs in the store and brings them back after a restart. Knows no process, no widget."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from app.jobs import JobState
from app.tasks import Tasks
from db import jobs as rows
from db.session import Store

SHOWN_AFTER_RESTART = 20


class JobRows:
    """Writes job rows on the database lane.

    Args:
        store: the home's database.
        tasks: for its database lane.
    """

    def __init__(self, store: Store, tasks: Tasks) -> None:
        self._store = store
        self._tasks = tasks
        self._known: set[str] = set()

    def remember(self, state: JobState, arguments: Mapping[str, Any]) -> None:
        """Keep a job's state; the first time with its arguments (secrets are left out there)."""
        if state.state not in rows.STATES:
            return
        if state.id not in self._known:
            self._known.add(state.id)
            self._write(
                lambda: rows.add_job(
                    self._store, state.id, kind=state.kind, title=state.title, arguments=arguments
                )
            )
        if state.state != "queued":
            self._write(lambda: self._set(state))

    def earlier(self, adopt: Callable[[tuple[JobState, ...]], None]) -> None:
        """Bring back the jobs of earlier sessions; those that never ended are lost."""
        self._tasks.query(self, self._read, adopt)

    def _read(self) -> tuple[JobState, ...]:
        rows.lose_unfinished(self._store)
        found = rows.jobs(self._store, limit=SHOWN_AFTER_RESTART)
        self._known.update(row.id for row in found)
        return tuple(
            JobState(
                id=row.id,
                kind=row.kind,
                title=row.title,
                state=row.state,
                done=row.done,
                total=row.total,
                unit=row.unit,
                phase=row.phase,
                sentence=row.sentence,
                result=dict(row.result or {}),
                details=row.details,
            )
            for row in reversed(found)
        )

    def _set(self, state: JobState) -> None:
        rows.set_state(
            self._store,
            state.id,
            state.state,
            sentence=state.sentence,
            details=state.details,
            result=state.result or None,
            exit_code=state.exit_code,
        )

    def _write(self, work: Callable[[], object]) -> None:
        self._tasks.query(self, work)
