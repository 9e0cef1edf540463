"""NDCG with graded relevance over stored rankings: per task, per relation, mean over tasks.

Owns matching ranked names with classes and classes with gains. A query whose own class or any of
whose candidates has no place in the table is left out and counted. Never reaches torch; reads no
file itself.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from studies.medheb.gains import chance_ndcg, interval, ndcg, worst_ndcg
from studies.medheb.graded import RELATIONS, Scale
from studies.medheb.release import TaskData
from studies.medheb.rows import Query
from studies.medheb.writer import Prediction

DEPTH = 5
ALL = "All"


@dataclass(frozen=True)
class GradedTask:
    """One task under graded relevance.

    Attributes:
        task: its id.
        relation: one of ``RELATIONS``.
        values: model id to NDCG@5 of its queries, 0..1.
        chance: exact expectation under random ranking, mean over queries, 0..1.
        floor: mean of what the worst order scores, 0..1.
        queries: that take part, the most over models.
        left_out: queries without a place in the table, or of an unpaired class.
        missing: why there is no score, None if there is one.
        lost: sentences about models whose rankings could not be read.
    """

    task: str
    relation: str
    values: Mapping[str, Sequence[float]]
    chance: float = 0.0
    floor: float = 0.0
    queries: int = 0
    left_out: int = 0
    missing: str | None = None
    lost: tuple[str, ...] = ()


@dataclass(frozen=True)
class GradedScore:
    """A mean over tasks, in percent.

    Attributes:
        value: NDCG@5.
        interval: 95 % bootstrap ends.
        tasks: averaged over.
    """

    value: float
    interval: tuple[float, float]
    tasks: int


@dataclass(frozen=True)
class Graded:
    """Graded relevance over a run.

    Attributes:
        tasks: every task of the table in force.
        models: model id to relation (and ``All``) to its score.
        chance: relation to the exact chance level in percent.
        floor: relation to what the worst ranking scores, in percent.
        of: relation to the number of its tasks.
    """

    tasks: tuple[GradedTask, ...]
    models: Mapping[str, Mapping[str, GradedScore]]
    chance: Mapping[str, float]
    floor: Mapping[str, float]
    of: Mapping[str, int]


def classes(data: TaskData) -> dict[str, str]:
    """Candidate's name to its class: as the rows tell it, else from what they must mean.

    Of a file from elsewhere a text candidate is its own class, and the positive of a query by a
    class's name is of that class.
    """
    found: dict[str, str] = {}
    for query in data.queries:
        if label := _label(data, query):
            found.setdefault(query.gold, label)
        for candidate in query.candidates:
            item = candidate.item
            if item.text and not item.images and not item.volumes:
                found.setdefault(candidate.name, item.text)
    return found | dict(data.labels)


def _label(data: TaskData, query: Query) -> str:
    """The class of a query, empty where nothing tells it."""
    return query.label or ((query.item.text or "") if data.task.family == "T-I" else "")


def graded_task(
    scale: Scale, data: TaskData, predictions: Mapping[str, Sequence[Prediction]]
) -> GradedTask:
    """Score one task.

    Args:
        scale: its graded relevance.
        data: the task as read, for the classes.
        predictions: model id to its ranked queries.
    """
    known = classes(data)
    own = {query.row: _label(data, query) for query in data.queries}
    values: dict[str, list[float]] = {}
    pools: dict[int, list[float]] = {}
    left: set[int] = set()
    for model, lines in predictions.items():
        scored = []
        for line in lines:
            gains = _gains(scale, own.get(line.row, ""), line, known)
            if gains is None:
                left.add(line.row)
                continue
            pools.setdefault(line.row, gains)
            scored.append(ndcg(gains, DEPTH))
        if scored:
            values[model] = scored
    if not values:
        return GradedTask(
            data.task.id, scale.relation, {}, left_out=len(left),
            missing=f"{data.task.id}: the classes of its pictures are not known",
        )  # fmt: skip
    return GradedTask(
        task=data.task.id,
        relation=scale.relation,
        values=values,
        chance=float(np.mean([chance_ndcg(gains, DEPTH) for gains in pools.values()])),
        floor=float(np.mean([worst_ndcg(gains, DEPTH) for gains in pools.values()])),
        queries=max(map(len, values.values())),
        left_out=len(left),
    )


def _gains(
    scale: Scale, label: str, line: Prediction, known: Mapping[str, str]
) -> list[float] | None:
    """Worth of a query's candidates as ranked; None where it does not take part."""
    if not scale.asks(label) or len(line.names) < line.pool:
        return None
    try:
        gains = [scale.gain(label, known[name]) for name in line.names]
    except KeyError:
        return None
    return gains if any(gains) else None


def put_together(tasks: Sequence[GradedTask]) -> Graded:
    """Average over tasks: each relation, and all of them."""
    columns = {name: [t for t in tasks if t.relation == name] for name in RELATIONS}
    columns[ALL] = list(tasks)
    scored = {name: [t for t in of if t.missing is None] for name, of in columns.items()}
    models = sorted({model for task in tasks for model in task.values})
    lines = {
        model: {
            name: score
            for name, of in scored.items()
            if (score := _mean([task.values[model] for task in of if model in task.values]))
        }
        for model in models
    }
    return Graded(
        tasks=tuple(tasks),
        models=lines,
        chance={n: 100 * float(np.mean([t.chance for t in of])) for n, of in scored.items() if of},
        floor={n: 100 * float(np.mean([t.floor for t in of])) for n, of in scored.items() if of},
        of={name: len(of) for name, of in columns.items()},
    )


def _mean(values: Sequence[Sequence[float]]) -> GradedScore | None:
    if not values:
        return None
    low, high = interval(values)
    mean = float(np.mean([np.mean(one) for one in values]))
    low, high = min(low, mean), max(high, mean)
    return GradedScore(100 * mean, (100 * low, 100 * high), len(values))
