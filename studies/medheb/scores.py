"""Scores from ranks: per task, per family, per split, with intervals. Pure numbers, no files.

Everything starts from the pessimistic rank of the one positive (1 is best). A family's score is
the mean over its tasks; a split's the mean over the tasks of that split. Refuses to average over
queries of different tasks.
"""

from __future__ import annotations

import zlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from studies.medheb.pools import DEPTH, METRICS, worth

CUTS = (1, 5, 10)
RESAMPLES = 2000
SEED = 20261130
LEVEL = 95.0
ESTABLISHED = ("I-I", "I-Lab", "I-Rep", "T-I", "T-T")
UNDEREXPLORED = ("MB-VR", "VG")
REGIMES = (("Collapse", 3.0), ("Weak", 10.0), ("Medium", 30.0), ("Tractable", float("inf")))

# score_M = share_R @ _WORTH_RM
_WORTH = worth()
# Half a hit and half a miss join the queries that are resampled: twenty misses in a row do not
# prove that there is never a hit, and a plain bootstrap would claim just that. Once for a mean, not
# once for each of its tasks: their pulls towards the middle add up where their noise cancels.
_DOUBT = np.array([0.5, 0, 0, 0, 0, 0.5])


@dataclass(frozen=True)
class Score:
    """Hit@1, Hit@5 and MRR@5 in percent.

    Attributes:
        values: by metric name.
        interval: 95 % bootstrap interval by metric name.
        tasks: number of tasks averaged over.
    """

    values: Mapping[str, float]
    interval: Mapping[str, tuple[float, float]]
    tasks: int

    def document(self) -> dict[str, object]:
        """The values with their intervals, rounded, as JSON holds them."""
        spans = {name: [round(end, 4) for end in span] for name, span in self.interval.items()}
        rounded = {name: round(value, 4) for name, value in self.values.items()}
        return {**rounded, "interval": spans, "tasks": self.tasks}


def hit_at_k(ranks: Sequence[int] | NDArray[np.intp], k: int) -> float:
    """Share of queries with the positive among the first k, 0..1."""
    return float(np.mean(np.asarray(ranks) <= k))


def mrr_at_k(ranks: Sequence[int] | NDArray[np.intp], k: int) -> float:
    """Mean of 1 / rank where the rank is at most k, else 0."""
    array = np.asarray(ranks, np.float64)
    return float(np.mean(np.where(array <= k, 1 / array, 0.0)))


def ndcg_at_k(ranks: Sequence[int] | NDArray[np.intp], k: int) -> float:
    """Normalised discounted gain with one positive of relevance 1: 1 / log2(rank + 1)."""
    array = np.asarray(ranks, np.float64)
    return float(np.mean(np.where(array <= k, 1 / np.log2(array + 1), 0.0)))


def release_metrics(ranks: Sequence[int] | NDArray[np.intp]) -> dict[str, float]:
    """The scores of the release's score file at 1, 5 and 10, as shares 0..1.

    With one positive recall equals hit, precision hit / k, map equals mrr, and both gains of
    ndcg agree (medheb_release.md 2.3).
    """
    scores: dict[str, float] = {}
    for k in CUTS:
        hit, mrr, ndcg = hit_at_k(ranks, k), mrr_at_k(ranks, k), ndcg_at_k(ranks, k)
        scores |= {
            f"hit@{k}": hit,
            f"ndcg_linear@{k}": ndcg,
            f"ndcg_exponential@{k}": ndcg,
            f"precision@{k}": hit / k,
            f"recall@{k}": hit,
            f"f1@{k}": 2 * hit / (k + 1),
            f"map@{k}": mrr,
            f"mrr@{k}": mrr,
        }
    return scores


def histogram(ranks: Sequence[int] | NDArray[np.intp]) -> tuple[int, ...]:
    """How many queries have the positive at rank 1, 2, 3, 4, 5 and beyond: six counts."""
    capped = np.clip(np.asarray(ranks, np.intp), 1, DEPTH + 1)
    return tuple(int(count) for count in np.bincount(capped, minlength=DEPTH + 2)[1:])


def task_score(counts: Sequence[int], task_id: str) -> Score:
    """Scores of one task from its rank counts; the interval resamples its queries."""
    return macro_score({task_id: counts})


def macro_score(counts: Mapping[str, Sequence[int]]) -> Score:
    """Mean over tasks of their scores; the interval resamples the queries within each task.

    Args:
        counts: for each task id the six counts of ``histogram``; at least one task, each with
            at least one query.
    """
    shares = [np.asarray(c, np.float64) / sum(c) for c in counts.values()]
    doubt = _DOUBT / len(counts)
    drawn = [_resampled(task, sum(c), np.asarray(c) + doubt) for task, c in counts.items()]
    return _score(shares, drawn)


def chance_score(shares: Mapping[str, Sequence[float]], sizes: Mapping[str, int]) -> Score:
    """Mean over tasks of the chance level; the interval is where a random ranking falls.

    Args:
        shares: for each task id the six shares of ``pools.chance_shares``.
        sizes: for each task id its number of queries.
    """
    exact = [np.asarray(share, np.float64) for share in shares.values()]
    drawn = [_resampled(task, sizes[task], np.asarray(share)) for task, share in shares.items()]
    return _score(exact, drawn)


def _score(shares: list[NDArray[np.float64]], drawn: list[NDArray[np.float64]]) -> Score:
    """Mean over tasks; the ends of the interval never cross it."""
    values_M = 100 * np.mean([share @ _WORTH for share in shares], axis=0)
    drawn_BM = 100 * np.mean(drawn, axis=0)
    half = (100 - LEVEL) / 2
    low_M, high_M = np.percentile(drawn_BM, [half, 100 - half], axis=0)
    low_M, high_M = np.minimum(low_M, values_M), np.maximum(high_M, values_M)
    return Score(
        values={name: float(values_M[i]) for i, name in enumerate(METRICS)},
        interval={name: (float(low_M[i]), float(high_M[i])) for i, name in enumerate(METRICS)},
        tasks=len(shares),
    )


def _resampled(task_id: str, total: int, weights: NDArray[np.float64]) -> NDArray[np.float64]:
    """Replicates of the three scores, [B, M]; seeded by the task's id.

    Drawing queries with replacement and counting their ranks is one multinomial draw.
    """
    random = np.random.default_rng([SEED, zlib.crc32(task_id.encode())])
    drawn_BR = random.multinomial(total, weights / weights.sum(), size=RESAMPLES)
    replicates: NDArray[np.float64] = drawn_BR @ _WORTH / total
    return replicates


def coefficient_of_variation(values: Sequence[float]) -> float | None:
    """Population standard deviation over mean; None where the mean is 0."""
    array = np.asarray(values, np.float64)
    mean = float(array.mean())
    return float(array.std()) / mean if mean else None


def regime(mean_baseline_hit_at_1: float) -> str:
    """The difficulty regime of a task from its mean baseline Hit@1 in percent."""
    return next(name for name, below in REGIMES if mean_baseline_hit_at_1 < below)


def drop(family_hit_at_1: Mapping[str, float]) -> float | None:
    """Mean of the established families minus mean of the underexplored, in points.

    None unless every family of both groups is there.
    """
    if not all(family in family_hit_at_1 for family in ESTABLISHED + UNDEREXPLORED):
        return None
    known = np.mean([family_hit_at_1[family] for family in ESTABLISHED])
    new = np.mean([family_hit_at_1[family] for family in UNDEREXPLORED])
    return float(known - new)
