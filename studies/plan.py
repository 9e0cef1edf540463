"""What a run would do: what is asked, minus what is stored. Never reaches torch.

Reads the tasks of a data root, says which are missing and why, and which cells (task and model)
are still to compute. A cell counts as stored only while the task's content is the same and its
files are there, as long as they were written. Computes nothing.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from db.home import Home
from db.runs import TaskResultRow, task_results
from db.session import Store
from engine.control import Control
from studies.errors import BadTaskFile
from studies.medheb.pools import build_pools
from studies.medheb.release import (
    TaskData,
    data_digest,
    find_index,
    missing_sentence,
    read_task,
)
from studies.medheb.tasks import Task, load_tasks, match_tasks
from studies.medheb.writer import files_whole, result_folder


@dataclass(frozen=True, eq=False)
class Plan:
    """A run before it runs.

    Attributes:
        root: the data root.
        digest: names its content.
        tasks: the whole registry in force at the root.
        wanted: ids of the tasks that fit the pattern.
        data: tasks of these that could be read, by id, in the order of the registry.
        missing: task id to the sentence why it cannot run; tasks outside the pattern too.
        models: the model ids asked for.
        stored: (model id, task id) already computed.
    """

    root: Path
    digest: str
    tasks: tuple[Task, ...]
    wanted: frozenset[str]
    data: Mapping[str, TaskData]
    missing: Mapping[str, str]
    models: tuple[str, ...]
    stored: frozenset[tuple[str, str]]

    @property
    def pending(self) -> tuple[tuple[str, str], ...]:
        """(model id, task id) to compute, model by model."""
        cells = [(model, task) for model in self.models for task in self.data]
        return tuple(cell for cell in cells if cell not in self.stored)


def item_count(data: TaskData) -> int:
    """Queries and distinct candidates of one task."""
    return len(data.queries) + len(build_pools(data).candidates)


def plan_run(
    home: Home,
    store: Store,
    *,
    data: Path,
    models: Sequence[str],
    tasks: str | None = None,
    control: Control = Control(),
) -> Plan:
    """Work out a run.

    Args:
        home: where results are kept.
        store: the home's database.
        data: a data root in the release layout.
        models: model ids.
        tasks: patterns of task ids, families or release names; None is all.
        control: asked between tasks, told the progress.

    Raises:
        BadTaskFile: the root or its registry cannot be read.
        UnknownTask: the pattern fits no task.
        Cancelled: the user asked to stop.
    """
    registry = load_tasks(data)
    wanted = match_tasks(registry, tasks)
    digest = data_digest(data, registry)
    read, missing = _read(wanted, data, control)
    missing |= _absent([t for t in registry if t not in wanted], data)
    rows = task_results(store, digest)
    return Plan(
        root=data,
        digest=digest,
        tasks=registry,
        wanted=frozenset(task.id for task in wanted),
        data=read,
        missing=missing,
        models=tuple(models),
        stored=frozenset((r.model_id, r.task_id) for r in rows if still_valid(home, r, read)),
    )


def _absent(tasks: Iterable[Task], root: Path) -> dict[str, str]:
    """Tasks without an index file, by a look at names alone."""
    return {t.id: missing_sentence(t, root) for t in tasks if find_index(t, root) is None}


def _read(
    wanted: Iterable[Task], root: Path, control: Control
) -> tuple[dict[str, TaskData], dict[str, str]]:
    read: dict[str, TaskData] = {}
    missing: dict[str, str] = {}
    tasks = tuple(wanted)
    control.begin(len(tasks), unit="tasks", phase="Reading tasks")
    for task in tasks:
        control.check()
        try:
            read[task.id] = read_task(task, root)
        except BadTaskFile as error:
            missing[task.id] = str(error)
        control.step()
    return read, missing


def still_valid(home: Home, row: TaskResultRow, read: Mapping[str, TaskData]) -> bool:
    """True if a stored result is of the task as it is now and its files are there, whole."""
    data = read.get(row.task_id)
    if data is None or data.digest != row.task_digest:
        return False
    folder = result_folder(home.runs, row.data_digest, row.model_id, data.task)
    return files_whole(folder, data.task, row.details.get("file_bytes"))
