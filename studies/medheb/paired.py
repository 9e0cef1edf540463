"""Differences between two models over the same queries: interval, p value, correction.

Pure numbers from the ranks of both. The interval resamples queries within each task; the p value is
of a randomisation test, in which each query's difference keeps or changes its sign at random, the
null hypothesis being that the two models are interchangeable; Holm's step-down correction holds the
chance of any false claim over a set of tests. Refuses queries that only one model ranked: the
caller hands over pairs.
"""

from __future__ import annotations

import zlib
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from studies.medheb.pools import DEPTH, METRICS, worth
from studies.medheb.scores import LEVEL, RESAMPLES, SEED

FLIPS = 20_000


@dataclass(frozen=True)
class Difference:
    """First model minus second, in points.

    Attributes:
        value: mean over queries of a task, or over tasks of their means.
        interval: 95 % bootstrap ends.
        p: two-sided, of the randomisation test, never below 1 / (flips + 1).
        queries: pairs.
        tasks: averaged over.
        holm: corrected for the tests made beside it; None where none were.
    """

    value: float
    interval: tuple[float, float]
    p: float
    queries: int
    tasks: int
    holm: float | None = None


def query_values(ranks: Sequence[int] | NDArray[np.intp], metric: str) -> NDArray[np.float64]:
    """What each query is worth in percent: 100 for a hit, 100 / rank within five for MRR@5."""
    worth_R = 100 * worth()[:, METRICS.index(metric)]
    capped = np.clip(np.asarray(ranks, np.intp), 1, DEPTH + 1)
    values: NDArray[np.float64] = worth_R[capped - 1]
    return values


@dataclass(frozen=True, eq=False)
class Drawn:
    """One task's difference with its replicates, to be averaged with those of other tasks.

    Attributes:
        value: mean over its queries.
        drawn_B: means of resampled queries.
        flipped_B: means under random signs.
        queries: pairs.
    """

    value: float
    drawn_B: NDArray[np.float64]
    flipped_B: NDArray[np.float64]
    queries: int


def draw(task: str, difference_Q: NDArray[np.float64]) -> Drawn:
    """The replicates of one task, the same in every mean that it is part of.

    Args:
        task: its id, which seeds them.
        difference_Q: one difference per query, in points; not empty.
    """
    return Drawn(
        value=float(difference_Q.mean()),
        drawn_B=_drawn(task, difference_Q),
        flipped_B=_flipped(task, difference_Q),
        queries=len(difference_Q),
    )


def mean_difference(tasks: Sequence[Drawn]) -> Difference:
    """The difference over one task, or the mean over several; at least one."""
    value = float(np.mean([task.value for task in tasks]))
    # each task's half query either way pulls towards 0; over many they count once, as in `scores`
    pull = float(np.mean([task.value / (task.queries + 1) for task in tasks]))
    drawn_B = np.mean([task.drawn_B for task in tasks], axis=0) + pull * (1 - 1 / len(tasks))
    flipped_B = np.mean([task.flipped_B for task in tasks], axis=0)
    half = (100 - LEVEL) / 2
    low, high = np.percentile(drawn_B, [half, 100 - half])
    extreme = int((np.abs(flipped_B) >= abs(value) - 1e-9).sum())
    return Difference(
        value=value,
        interval=(min(float(low), value), max(float(high), value)),
        p=(1 + extreme) / (FLIPS + 1),
        queries=sum(task.queries for task in tasks),
        tasks=len(tasks),
    )


def _drawn(task: str, difference_Q: NDArray[np.float64]) -> NDArray[np.float64]:
    """Replicates of a task's mean, [B]. As in ``scores``, half a query either way joins the draw:
    twenty equal answers do not prove that there is never a difference.
    """
    values_V, counts_V = np.unique(difference_Q, return_counts=True)
    values = np.concatenate((values_V, [100.0, -100.0]))
    weights = np.concatenate((counts_V, [0.5, 0.5]))
    total = len(difference_Q)
    drawn_BV = _random(task, 1).multinomial(total, weights / weights.sum(), size=RESAMPLES)
    means_B: NDArray[np.float64] = drawn_BV @ values / total
    return means_B


def _flipped(task: str, difference_Q: NDArray[np.float64]) -> NDArray[np.float64]:
    """Means of a task under random signs, [B]. Equal sizes flip together, as one binomial draw."""
    random = _random(task, 2)
    sizes_V, counts_V = np.unique(np.abs(difference_Q).round(9), return_counts=True)
    sums_B = np.zeros(FLIPS)
    for size, count in zip(sizes_V, counts_V, strict=True):
        if size:
            sums_B += size * (2 * random.binomial(count, 0.5, FLIPS) - count)
    return sums_B / len(difference_Q)


def _random(task: str, stream: int) -> np.random.Generator:
    return np.random.default_rng([SEED, zlib.crc32(task.encode()), stream])
