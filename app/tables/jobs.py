"""The list of jobs behind the tray. Reads ``app.jobs``; starts and stops nothing."""

from __future__ import annotations

import time
from typing import Any

from PySide6.QtCore import QAbstractListModel, QModelIndex, QPersistentModelIndex, Qt

from app.jobs import Jobs, JobState
from app.words import count_of, time_left

WORDS = {
    "queued": "Waiting",
    "starting": "Starting",
    "running": "Running",
    "stopping": "Stopping",
    "done": "Done",
    "failed": "Failed",
    "cancelled": "Cancelled",
    "lost": "Lost",
}
ID_ROLE = Qt.ItemDataRole.UserRole
STATE_ROLE = Qt.ItemDataRole.UserRole + 1


def line(state: JobState, now: float) -> str:
    """What a job does, in words: phase, count, time left; or how it ended."""
    if state.ended:
        return f"{WORDS[state.state]}. {state.sentence}".strip()
    if state.total <= 0 or state.state in ("queued", "starting", "stopping"):
        return state.sentence if state.state == "stopping" else WORDS[state.state]
    parts = [state.phase, count_of(state.done, state.total, state.unit)]
    left = state.seconds_left(now)
    if left is not None:
        parts.append(time_left(left))
    return ", ".join(part for part in parts if part)


class JobList(QAbstractListModel):
    """All jobs, newest first."""

    def __init__(self, jobs: Jobs) -> None:
        super().__init__()
        self._jobs = jobs
        self._rows: list[str] = []
        jobs.changed.connect(self._refresh)
        self._refresh("")

    def rowCount(self, parent: QModelIndex | QPersistentModelIndex = QModelIndex()) -> int:
        return 0 if parent.isValid() else len(self._rows)

    def data(
        self,
        index: QModelIndex | QPersistentModelIndex,
        role: int = Qt.ItemDataRole.DisplayRole,
    ) -> Any:
        state = self._jobs.state(self._rows[index.row()]) if index.isValid() else None
        if state is None:
            return None
        if role == Qt.ItemDataRole.DisplayRole:
            return f"{state.title}\n{line(state, time.monotonic())}"
        if role == Qt.ItemDataRole.AccessibleTextRole:
            return f"{state.title}: {line(state, time.monotonic())}"
        return {ID_ROLE: state.id, STATE_ROLE: state.state}.get(role)

    def _refresh(self, job: str) -> None:
        rows = [state.id for state in reversed(self._jobs.states())]
        if rows != self._rows:
            self.beginResetModel()
            self._rows = rows
            self.endResetModel()
        elif job in rows:
            index = self.index(rows.index(job))
            self.dataChanged.emit(index, index)
