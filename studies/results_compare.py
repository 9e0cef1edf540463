"""Two models over the same queries: differences per task, family, split and overall.

Owns joining the stored ranks of both, query by query, and the document. A task counts only where
both models ranked the same queries against the same positives; the others are named. Refuses a
model without stored queries (imported as scores alone).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from db.home import Home
from db.runs import query_ranks
from db.session import Store, open_store
from studies.errors import NoRun
from studies.holm import holm
from studies.medheb.paired import (
    FLIPS,
    Difference,
    Drawn,
    draw,
    mean_difference,
    query_values,
)
from studies.medheb.paper import SPLIT_COLUMNS, column_tasks
from studies.medheb.tasks import FAMILIES, Task
from studies.results_sections import Section

if TYPE_CHECKING:
    from studies.results import Results, TaskLine

NAMES = {"hit@1": "Hit@1", "hit@5": "Hit@5", "mrr@5": "MRR@5"}


@dataclass(frozen=True)
class Pair:
    """Two models compared.

    Attributes:
        first: model id; differences are its values minus the other's.
        second: model id.
        metric: one of ``METRICS``.
        tasks: task id to its difference, with Holm's correction over all of them.
        families: family to the mean over its tasks, with Holm's correction over the families.
        splits: ``ID``, ``Held-out``, ``All``, each tested once and not corrected.
        of: column to how many tasks the registry has there.
        left_out: (task id, why) of tasks without pairs.
    """

    first: str
    second: str
    metric: str
    tasks: Mapping[str, Difference]
    families: Mapping[str, Difference]
    splits: Mapping[str, Difference]
    of: Mapping[str, int]
    left_out: tuple[tuple[str, str], ...]


def compare_models(
    home: Home, results: Results, first: str, second: str, *, metric: str = "hit@1"
) -> Pair:
    """Compare two models of a run.

    Args:
        home: where the queries are stored.
        results: of one data root.
        first: a model id of the run.
        second: another.
        metric: one of ``METRICS``.

    Raises:
        NoRun: a model has no result, both are one, or no query was ranked by both.
    """
    known = [line.model for line in results.models]
    for model in (first, second):
        if model not in known:
            raise NoRun(f"{model} has no result here; there are: {', '.join(known)}.")
    if first == second:
        raise NoRun("Name two different models to compare.")
    with open_store(home) as store:
        paired, left_out = _paired(store, results, first, second)
    if not paired:
        why = left_out[0][1] if left_out else "no task was run by both"
        raise NoRun(f"{first} and {second} have no query in common: {why}.")
    gaps = {
        task.id: draw(task.id, query_values(ranks[0], metric) - query_values(ranks[1], metric))
        for task, ranks in paired.items()
    }
    return Pair(
        first, second, metric,
        tasks=_corrected({task: mean_difference([each]) for task, each in gaps.items()}),
        families=_corrected(_means(paired, gaps, FAMILIES)),
        splits=_means(paired, gaps, SPLIT_COLUMNS),
        of=results.of,
        left_out=left_out,
    )  # fmt: skip


Ranks = tuple[NDArray[np.intp], NDArray[np.intp]]


def _paired(
    store: Store, results: Results, first: str, second: str
) -> tuple[dict[Task, Ranks], tuple[tuple[str, str], ...]]:
    found: dict[Task, Ranks] = {}
    left: list[tuple[str, str]] = []
    for line in results.tasks:
        lacking = [model for model in (first, second) if model not in line.scores]
        if lacking:
            left.append((line.task.id, f"{' and '.join(lacking)} did not run it"))
            continue
        ranks, why = _ranks(store, line, first, second)
        if ranks is None:
            left.append((line.task.id, why))
        else:
            found[line.task] = ranks
    return found, tuple(left)


def _ranks(store: Store, line: TaskLine, first: str, second: str) -> tuple[Ranks | None, str]:
    """Ranks of both over the queries that both ranked; None and the reason where there are none."""
    sides = []
    for model in (first, second):
        rows = query_ranks(store, line.scores[model].result_id)
        if not rows:
            return None, f"of {model} there are scores alone"
        sides.append({(row, gold): rank for row, rank, gold in rows})
    both = sorted(sides[0].keys() & sides[1].keys())
    if not both:
        return None, "their queries or positives differ"
    arrays = [np.array([side[name] for name in both], np.intp) for side in sides]
    return (arrays[0], arrays[1]), ""


def _means(
    paired: Mapping[Task, Ranks], gaps: Mapping[str, Drawn], names: Sequence[str]
) -> dict[str, Difference]:
    columns = column_tasks(tuple(paired))
    return {
        name: mean_difference([gaps[task] for task in gaps if task in columns[name]])
        for name in names
        if columns[name]
    }


def _corrected(found: Mapping[str, Difference]) -> dict[str, Difference]:
    adjusted = holm([one.p for one in found.values()])
    return {
        name: replace(one, holm=p) for (name, one), p in zip(found.items(), adjusted, strict=True)
    }


def pair_document(pair: Pair) -> dict[str, Any]:
    """The comparison as JSON holds it; differences in points."""
    return {
        "first": pair.first,
        "second": pair.second,
        "metric": pair.metric,
        "flips": FLIPS,
        "families": {n: _document(d, pair.of.get(n)) for n, d in pair.families.items()},
        "splits": {n: _document(d, pair.of.get(n)) for n, d in pair.splits.items()},
        "tasks": {name: _document(one, None) for name, one in pair.tasks.items()},
        "left_out": [{"task": task, "reason": why} for task, why in pair.left_out],
    }


def _document(one: Difference, of: int | None) -> dict[str, Any]:
    found: dict[str, Any] = {
        "difference": round(one.value, 4),
        "interval": [round(end, 4) for end in one.interval],
        "p": round(one.p, 6),
        "holm": None if one.holm is None else round(one.holm, 6),
        "queries": one.queries,
    }
    return found if of is None else {**found, "tasks": one.tasks, "of": of}


def pair_sections(pair: Pair) -> tuple[Section, Section]:
    """The comparison as two tables: families and splits, then tasks."""
    name = NAMES[pair.metric]
    title = f"{pair.first} minus {pair.second}, points of {name}, same queries"
    means = {**pair.families, **pair.splits}
    rows = tuple(
        (column, f"{one.tasks}/{pair.of.get(column, one.tasks)}", *_cells(one))
        for column, one in means.items()
    )
    groups = Section(
        "families", title, ("mean over tasks", "tasks", *_HEAD), rows, notes=tuple(_notes(pair))
    )
    lines = tuple((task, *_cells(one)) for task, one in pair.tasks.items())
    return groups, Section("tasks", f"{title}, by task", ("task", *_HEAD), lines)


_HEAD = ("difference", "95 % interval", "p", "Holm", "queries")


def _cells(one: Difference) -> tuple[str, ...]:
    low, high = one.interval
    return (
        f"{one.value:+.1f}",
        f"{low:+.1f} to {high:+.1f}",
        _p(one.p),
        "" if one.holm is None else _p(one.holm),
        str(one.queries),
    )


def _p(value: float) -> str:
    return "<0.0001" if value < 0.0001 else f"{value:.4f}"


def _notes(pair: Pair) -> Iterable[str]:
    yield (
        "Interval: bootstrap over queries within each task. p: two-sided randomisation test, the "
        f"signs of the queries' differences drawn {FLIPS:,} times. Holm: corrected over the "
        "families, and below over the tasks; splits are tested once each and not corrected."
    )
    reasons: dict[str, list[str]] = {}
    for task, why in pair.left_out:
        reasons.setdefault(why, []).append(task)
    for why, tasks in reasons.items():
        yield f"Left out, {why}: {', '.join(tasks)}."
