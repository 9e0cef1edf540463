"""NDCG and hits over graded gains: of a ranking, of chance, and of the worst ranking.

Pure numbers. The gain is used linearly, the discount is 1 / log2(rank + 1), the ideal is the best
order of the same pool. Refuses a pool in which nothing is worth anything.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from studies.medheb.scores import LEVEL, RESAMPLES, SEED


def discounts(count: int) -> NDArray[np.float64]:
    """1 / log2(rank + 1) for ranks 1 to ``count``."""
    return 1 / np.log2(np.arange(2, count + 2))


def ndcg(gains_P: Sequence[float] | NDArray[np.float64], k: int) -> float:
    """Discounted gain of a pool in ranked order over that of its best order, 0..1.

    Args:
        gains_P: worth of every candidate of the pool, best ranked first.
        k: how many places count.

    Raises:
        ValueError: no candidate is worth anything.
    """
    gains = np.asarray(gains_P, np.float64)
    return _discounted(gains, k) / _ideal(gains, k)


def _discounted(gains_P: NDArray[np.float64], k: int) -> float:
    top = gains_P[:k]
    return float(top @ discounts(len(top)))


def _ideal(gains_P: NDArray[np.float64], k: int) -> float:
    best = _discounted(np.sort(gains_P)[::-1], k)
    if best <= 0:
        raise ValueError("no candidate of the pool is worth anything")
    return best


def chance_ndcg(gains_P: Sequence[float] | NDArray[np.float64], k: int) -> float:
    """Exact expectation of ``ndcg`` under a uniformly random order.

    Every place expects the pool's mean gain.
    """
    gains = np.asarray(gains_P, np.float64)
    places = min(k, len(gains))
    return float(gains.mean() * discounts(places).sum()) / _ideal(gains, k)


def worst_ndcg(gains_P: Sequence[float] | NDArray[np.float64], k: int) -> float:
    """``ndcg`` of the worst order: no model can score below it."""
    gains = np.sort(np.asarray(gains_P, np.float64))
    return _discounted(gains, k) / _ideal(gains, k)


def hit(gains_P: Sequence[float], k: int, counts: Callable[[float], bool]) -> bool:
    """Whether one of the first k candidates counts as found."""
    return any(counts(gain) for gain in list(gains_P)[:k])


def chance_hit(gains_P: Sequence[float], k: int, counts: Callable[[float], bool]) -> float:
    """Exact probability of ``hit`` under a uniformly random order, 0..1."""
    total, good = len(gains_P), sum(map(counts, gains_P))
    return 1 - math.comb(total - good, min(k, total)) / math.comb(total, min(k, total))


def interval(values_by_task: Sequence[Sequence[float]], *, seed: int = SEED) -> tuple[float, float]:
    """95 % bootstrap interval of the mean over tasks; queries are drawn within each task.

    Args:
        values_by_task: for each task one value per query; none may be empty.
        seed: of the resampling.
    """
    random = np.random.default_rng(seed)
    drawn_B = np.zeros(RESAMPLES)
    for values in values_by_task:
        values_V, counts_V = np.unique(np.asarray(values, np.float64), return_counts=True)
        total = int(counts_V.sum())
        drawn_BV = random.multinomial(total, counts_V / total, size=RESAMPLES)
        drawn_B += drawn_BV @ values_V / total
    half = (100 - LEVEL) / 2
    low, high = np.percentile(drawn_B / len(values_by_task), [half, 100 - half])
    return float(low), float(high)
