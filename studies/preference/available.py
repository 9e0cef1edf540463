"""What a study of some models could be drawn from: tasks with their queries, and what is missing.

Owns reading that from stored results. Opens no picture and ranks nothing; refuses nothing that
can be named instead: a model without runs and a task without queries each say why.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase
from math import comb
from pathlib import Path
from typing import Any

from db.home import Home
from engine.catalog import find_card
from studies.errors import NoRun
from studies.medheb.tasks import Task, load_tasks
from studies.preference.planner import PlanWish
from studies.preference.sample import equal_shares, generator
from studies.preference.wish import check_models
from studies.results import Results, TaskLine, load_results
from studies.results_stale import checked


@dataclass(frozen=True)
class TaskQueries:
    """A task with the number of queries that every model answered."""

    task_id: str
    family: str
    form: str
    queries: int


@dataclass(frozen=True)
class Available:
    """What there is to read.

    Attributes:
        models: ids, the tested one first.
        tasks: those with queries.
        missing: task to why it has none.
        unfinished: model to the number of tasks it has no result for, with the reason in words.
        total: tasks looked at.
    """

    models: tuple[str, ...]
    tasks: tuple[TaskQueries, ...]
    missing: Mapping[str, str]
    unfinished: Mapping[str, str]
    total: int

    @property
    def queries(self) -> int:
        """Queries of all tasks."""
        return sum(task.queries for task in self.tasks)

    def per(self, what: str) -> dict[str, int]:
        """Queries for each ``family`` or ``form``."""
        counts: Counter[str] = Counter()
        for task in self.tasks:
            counts[getattr(task, what)] += task.queries
        return dict(sorted(counts.items()))

    def to_json(self) -> dict[str, Any]:
        """Plain values."""
        return {
            "models": list(self.models),
            "tasks": [vars(task) for task in self.tasks],
            "queries": self.queries,
            "families": self.per("family"),
            "forms": self.per("form"),
            "missing": dict(self.missing),
            "unfinished": dict(self.unfinished),
        }


def available(
    home: Home, data: Path, models: Sequence[str], *, tasks: str | None = None
) -> Available:
    """Look at what is stored for some models.

    Args:
        home: holds the results.
        data: the data root of the runs.
        models: ids, hub ids or folders, the tested one first.
        tasks: only tasks that match one of these patterns.

    Raises:
        UnknownModel: no such model.
        BadStudy: one model twice, or too few.
        BadTaskFile: the data root cannot be read.
    """
    ids = tuple(find_card(name, cards_dir=home.cards).id for name in models)
    check_models(ids)
    try:
        results: Results | None = checked(home, load_results(home, data=data))
    except NoRun:
        results = None
    registry = [task for task in load_tasks(data) if _wanted(task.id, tasks)]
    lacking = {task.id: _lacking(results, task, ids) for task in registry}
    counts = {task.id: _queries(results, task, ids) for task in registry if not lacking[task.id]}
    return Available(
        models=ids,
        tasks=tuple(
            TaskQueries(task.id, task.family, task.form, counts[task.id])
            for task in registry
            if counts.get(task.id)
        ),
        missing={
            task.id: _reason(results, task, lacking[task.id])
            for task in registry
            if not counts.get(task.id)
        },
        unfinished=_unfinished(ids, lacking),
        total=len(registry),
    )


def fitted(wish: PlanWish, there: Available, *, seed: int = 1) -> PlanWish:
    """A wish with the tasks and forms that a sample of what is there would have.

    Raises:
        NoRun: there is nothing to draw from.
    """
    if not there.tasks:
        raise NoRun(
            "No task has results of all models; a study of them cannot be planned from this data."
        )
    pairs = comb(len(there.models), 2)
    caps = {task.task_id: task.queries * pairs for task in there.tasks}
    total = min(wish.total, sum(caps.values()))
    shares = equal_shares(caps, total, generator(seed))
    forms: Counter[str] = Counter()
    for task in there.tasks:
        forms[task.form] += shares[task.task_id]
    return replace(
        wish,
        total=total,
        models=len(there.models),
        tasks=sum(share > 0 for share in shares.values()),
        forms={form: count / total for form, count in sorted(forms.items())},
    )


def _wanted(task_id: str, patterns: str | None) -> bool:
    listed = [one.strip() for one in (patterns or "").split(",") if one.strip()]
    return not listed or any(fnmatchcase(task_id, one) for one in listed)


def _lacking(results: Results | None, task: Task, models: Sequence[str]) -> dict[str, str]:
    """Models that give the task nothing, with the reason."""
    line = _line(results, task)
    stale = results.stale.tasks.get(task.id, ()) if results and results.stale else ()
    found = {}
    for model in models:
        if line is None or model not in line.scores:
            found[model] = "no result"
        elif model in stale:
            found[model] = "its result is of other files than lie there now"
    return found


def _line(results: Results | None, task: Task) -> TaskLine | None:
    lines = results.tasks if results else ()
    return next((one for one in lines if one.task.id == task.id), None)


def _queries(results: Results | None, task: Task, models: Sequence[str]) -> int:
    line = _line(results, task)
    assert line is not None  # else every model lacks
    return min(line.scores[model].n for model in models)


def _reason(results: Results | None, task: Task, lacking: Mapping[str, str]) -> str:
    """Why a task gives nothing; the registry's own reason where nobody could run it."""
    line = _line(results, task)
    if line is not None and line.missing:
        return line.missing
    if not lacking:
        return "no query was scored"
    return "; ".join(f"{model}: {why}" for model, why in lacking.items())


def _unfinished(models: Sequence[str], lacking: Mapping[str, Mapping[str, str]]) -> dict[str, str]:
    found = {}
    for model in models:
        count = sum(model in why for why in lacking.values())
        if count == len(lacking):
            found[model] = "no finished run"
        elif count:
            found[model] = f"no result for {count} of {len(lacking)} tasks"
    return found
