"""A benchmark run as the page shows it: tasks, the plan's sentence, one line per task and model.

Reads task files and stored results; computes nothing. Called on threads.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from app.shown import ProgressShown, TaskShown
from app.words import duration, size
from db.home import Home
from db.runs import TaskResultRow, task_results
from db.session import Store, open_store
from studies.plan import Plan, item_count, plan_run

VECTOR_BYTES = 4 * 2048
Cell = tuple[str, str]


@dataclass(frozen=True, eq=False)
class BenchPlan:
    """A data root, read.

    Attributes:
        root: the folder.
        plan: tasks, missing ones and what is stored.
        items: task id to queries and candidates.
        pace: model id to seconds per item in earlier runs.
    """

    root: Path
    plan: Plan
    items: Mapping[str, int]
    pace: Mapping[str, float]


def read_plan(home: Home, root: Path) -> BenchPlan:
    """Read a data root.

    Raises:
        BadTaskFile: the root or its registry cannot be read.
    """
    with open_store(home) as store:
        plan = plan_run(home, store, data=root, models=())
        rows = task_results(store)
    items = {task: item_count(data) for task, data in plan.data.items()}
    return BenchPlan(root, plan, items, pace_of(rows))


def pace_of(rows: Sequence[TaskResultRow]) -> dict[str, float]:
    """Seconds per item of each model, over its stored results."""
    seconds: dict[str, float] = {}
    items: dict[str, int] = {}
    for row in rows:
        seconds[row.model_id] = seconds.get(row.model_id, 0.0) + row.seconds
        items[row.model_id] = (
            items.get(row.model_id, 0) + row.n + int(row.details.get("candidates", 0))
        )
    return {model: seconds[model] / items[model] for model in seconds if items[model]}


def tasks_shown(read: BenchPlan) -> tuple[TaskShown, ...]:
    """Every task of the registry; those without data have no count."""
    return tuple(
        TaskShown(task.id, task.family, task.form, task.split,
                  len(read.plan.data[task.id].queries) if task.id in read.plan.data else None)
        for task in read.plan.tasks)  # fmt: skip


def pending(read: BenchPlan, models: Sequence[str], tasks: Collection[str]) -> list[Cell]:
    """(model, task) still to compute, in the order of the run."""
    return [
        (model, task)
        for model in models
        for task in read.plan.data
        if task in tasks and (model, task) not in read.plan.stored
    ]


def plan_words(read: BenchPlan, models: Sequence[str], tasks: Collection[str]) -> str:
    """The plan as one sentence."""
    chosen = [task for task in read.plan.data if task in tasks]
    if not chosen or not models:
        what = "a task" if models else "a model"
        return f"Choose at least {what} on the left."
    todo = pending(read, models, tasks)
    items = sum(read.items[task] for task in chosen)
    cells = len(chosen) * len(models)
    missing = sum(task.id not in read.plan.data for task in read.plan.tasks)
    told = [
        f"{len(chosen) + missing} tasks, {missing} missing data"
        if missing
        else f"{len(chosen)} tasks",
        f"{len(models)} model{'s' if len(models) > 1 else ''}",
        f"{items:,} items",
        f"{distinct(read, chosen):,} distinct",
    ]
    if not todo:
        return ", ".join(told) + ". Everything is computed already."
    if len(todo) < cells:
        told.append(f"{len(todo)} of {cells} results still to compute")
    if (seconds := seconds_of(read, todo)) is not None:
        told.append(f"about {duration(seconds)}")
    told.append(f"{size(distinct(read, chosen) * VECTOR_BYTES * len(models))}")
    return ", ".join(told) + "."


def distinct(read: BenchPlan, tasks: Collection[str]) -> int:
    """Items to embed with equal ones counted once."""
    seen = {query.item for task in tasks for query in read.plan.data[task].queries}
    for task in tasks:
        seen |= {c.item for query in read.plan.data[task].queries for c in query.candidates}
    return len(seen)


def seconds_of(read: BenchPlan, todo: Sequence[Cell]) -> float | None:
    """How long the run takes at the pace of earlier runs; None where a model never ran."""
    if any(model not in read.pace for model, _ in todo):
        return None
    return sum(read.pace[model] * read.items[task] for model, task in todo)


def missing_words(read: BenchPlan) -> str:
    """Which tasks have no data, named while they are few."""
    names = [task.id for task in read.plan.tasks if task.id not in read.plan.data]
    if not names:
        return ""
    some = ", ".join(names[:3]) + (", …" if len(names) > 3 else "")
    verb = "has" if len(names) == 1 else "have"
    return f"{len(names)} of {len(read.plan.tasks)} tasks {verb} no data here: {some}"


def rows_of(
    read: BenchPlan, models: Sequence[str], tasks: Collection[str], titles: Mapping[str, str]
) -> list[tuple[Cell, ProgressShown]]:
    """One line per model and task of the plan; missing tasks once, at the end."""
    found = []
    for model in models:
        for task in read.plan.tasks:
            if task.id not in tasks or task.id not in read.plan.data:
                continue
            done = (model, task.id) in read.plan.stored
            shown = ProgressShown(
                task.id,
                task.family,
                titles.get(model, model),
                "done" if done else "waiting",
                read.items[task.id] if done else 0,
                read.items[task.id],
                "stored" if done else "",
            )
            found.append(((model, task.id), shown))
    for task in read.plan.tasks:
        if task.id in read.plan.missing:
            note = read.plan.missing[task.id]
            found.append(
                (("", task.id), ProgressShown(task.id, task.family, "", "missing", note=note))
            )
    return found


def stored_cells(store: Store, digest: str) -> dict[Cell, TaskResultRow]:
    """What is stored for a data root now; on the database lane."""
    return {(row.model_id, row.task_id): row for row in task_results(store, digest)}


def failures_by_cell(result: Mapping[str, Any]) -> dict[Cell, list[str]]:
    """What a run could not do: row failures by cell, refused models under an empty task."""
    found: dict[Cell, list[str]] = {}
    for failure in result.get("failures", ()):
        cell = (str(failure["model"]), str(failure["task"]))
        found.setdefault(cell, []).append(f"row {failure['row']}: {failure['reason']}")
    for refused in result.get("refused", ()):
        found.setdefault((str(refused["model"]), ""), []).append(str(refused["reason"]))
    return found


def failed_note(failures: Sequence[str]) -> str:
    """Failures of one cell in one line."""
    more = f" And {len(failures) - 1} more." if len(failures) > 1 else ""
    return f"{failures[0]}{more}"
