"""Decides what the job tray shows."""

from __future__ import annotations

import time
from typing import Any

from app.jobs import Jobs
from app.tables.jobs import ID_ROLE, JobList, line


class JobTrayPresenter:
    """Keeps the tray in step with the jobs.

    Args:
        view: ``app.widgets.job_tray.JobTray`` or a fake.
        jobs: the program's jobs.
    """

    def __init__(self, view: Any, jobs: Jobs) -> None:
        self._view = view
        self._jobs = jobs
        self._blank = False
        self.table = JobList(jobs)
        view.set_model(self.table)
        jobs.changed.connect(self._refresh)
        view.cancel_asked.connect(self._cancel)
        view.list_asked.connect(self.toggle)
        view.again_asked.connect(self._again)
        view.clear_asked.connect(jobs.forget_ended)
        self._open = False
        self._refresh("")

    def toggle(self) -> None:
        """Fold or unfold the list."""
        self._open = not self._open
        self._view.show_list(shown=self._open)

    def blank(self, blank: bool) -> None:
        """Show nothing at all while a reader rates: a job's title may name a model."""
        self._blank = blank
        self._view.set_model(None if blank else self.table)
        self._refresh("")

    def _refresh(self, _job: str) -> None:
        state = self._jobs.current
        if self._blank or state is None:
            self._view.show_idle("" if self._blank else "No job runs.")
            return
        text = line(state, time.monotonic())
        if self._jobs.waiting:
            text += f" ({self._jobs.waiting} waiting)"
        permille = round(1000 * state.done / state.total) if state.total > 0 else None
        self._view.show_job(
            state.title, text, permille=permille, stopping=state.state == "stopping"
        )

    def _cancel(self) -> None:
        if self._jobs.current is not None:
            self._jobs.cancel(self._jobs.current.id)

    def _again(self, index: Any) -> None:
        job = index.data(ID_ROLE)
        if job and self._jobs.can_again(job):
            self._jobs.again(job)
