"""Scores of retrieval across two sources: NDCG and hits over shared findings.

Owns what counts as a hit and the measures of the paper's Table 6, with the exact chance level of
each. Relevance is the overlap (Jaccard) of two sets of findings; the sets are the labels of the
rows. Reads no file itself.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from studies.medheb.gains import chance_hit, chance_ndcg, hit, interval, ndcg
from studies.medheb.graded import as_set, jaccard
from studies.medheb.release import TaskData
from studies.medheb.writer import Prediction

RULES: Mapping[str, Callable[[float], bool]] = {
    "half": lambda gain: gain >= 0.5,
    "strict": lambda gain: gain == 1.0,
    "loose": lambda gain: gain > 0.0,
}
SUPPORT = "Support Devices"
MEASURES = ("ndcg@5", "ndcg@10", "hit@1", "hit@5")


@dataclass(frozen=True)
class CrossScore:
    """One model, or chance.

    Attributes:
        values: measure to its mean over queries, 0..1.
        interval: measure to its 95 % bootstrap ends; empty for chance.
        queries: that were scored.
        pool: mean number of candidates ranked.
    """

    values: Mapping[str, float]
    interval: Mapping[str, tuple[float, float]]
    queries: int
    pool: float


def cross_scores(
    data: TaskData,
    predictions: Mapping[str, Sequence[Prediction]],
    *,
    rule: str = "half",
    without: Collection[str] = (),
) -> dict[str, CrossScore]:
    """The scores of every model, and of ``chance`` over the queries of all of them.

    Args:
        data: the task as read; labels of queries and candidates are their findings.
        predictions: model id to its ranked queries.
        rule: a key of ``RULES``.
        without: findings that do not count; queries left with nothing in common fall.
    """
    asked = {query.row: as_set(query.label) - set(without) for query in data.queries}
    shown = {name: as_set(label) - set(without) for name, label in data.labels.items()}
    lines = {
        model: {line.row: gains for line in of if (gains := _gains(line, asked, shown))}
        for model, of in predictions.items()
    }
    found = {
        model: _score(list(rows.values()), _measures(rule)) for model, rows in lines.items() if rows
    }
    pools = {row: gains for rows in lines.values() for row, gains in rows.items()}
    if pools:
        chance = _score(list(pools.values()), _chances(rule))
        found["chance"] = CrossScore(chance.values, {}, chance.queries, chance.pool)
    return found


def _gains(
    line: Prediction, asked: Mapping[int, Collection[str]], shown: Mapping[str, Collection[str]]
) -> list[float] | None:
    """Worth of a query's candidates as ranked; None where some are unknown or none is akin."""
    if len(line.names) < line.pool or not all(name in shown for name in line.names):
        return None
    gains = [jaccard(asked.get(line.row, ()), shown[name]) for name in line.names]
    return gains if any(gains) else None


Measure = Callable[[Sequence[float]], float]


def _measures(rule: str) -> dict[str, Measure]:
    counts = RULES[rule]
    return {
        "ndcg@5": lambda gains: ndcg(gains, 5),
        "ndcg@10": lambda gains: ndcg(gains, 10),
        "hit@1": lambda gains: float(hit(gains, 1, counts)),
        "hit@5": lambda gains: float(hit(gains, 5, counts)),
    }


def _chances(rule: str) -> dict[str, Measure]:
    counts = RULES[rule]
    return {
        "ndcg@5": lambda gains: chance_ndcg(gains, 5),
        "ndcg@10": lambda gains: chance_ndcg(gains, 10),
        "hit@1": lambda gains: chance_hit(gains, 1, counts),
        "hit@5": lambda gains: chance_hit(gains, 5, counts),
    }


def _score(pools: Sequence[Sequence[float]], measures: Mapping[str, Measure]) -> CrossScore:
    values = {name: [measure(gains) for gains in pools] for name, measure in measures.items()}
    return CrossScore(
        values={name: float(np.mean(each)) for name, each in values.items()},
        interval={name: interval([each]) for name, each in values.items()},
        queries=len(pools),
        pool=float(np.mean([len(gains) for gains in pools])),
    )
