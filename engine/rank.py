"""Exact ranks by cosine, with pessimistic ties: who shares the positive's score stands before it.

Scores are summed in float64 and compared with a margin of 1e-9, so that two equal vectors tie
wherever they stand in the matrix. A vector that could not be made (NaN) loses against all.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

TIE = 1e-9
BLOCK = 512  # queries scored at once, which bounds the memory


def unit(vectors_ND: NDArray[np.floating]) -> NDArray[np.float64]:
    """Rows of length one, in float64; a zero row becomes NaN: it has no direction."""
    wide = np.asarray(vectors_ND, dtype=np.float64)
    norms = np.linalg.norm(wide, axis=-1, keepdims=True)
    return np.divide(wide, norms, out=np.full_like(wide, np.nan), where=norms > 0)


def whole_rows(vectors_ND: NDArray[np.floating]) -> NDArray[np.bool_]:
    """Which rows hold a vector at all, [N]: those without NaN."""
    return np.isfinite(vectors_ND.sum(axis=1))


def score_pool(
    query_QD: NDArray[np.floating], pool_PD: NDArray[np.floating]
) -> NDArray[np.float64]:
    """Cosine of every query with every candidate, [Q, P]; ``-inf`` where a vector is missing."""
    return _scores(unit(query_QD), unit(pool_PD))


def _scores(query_QD: NDArray[np.float64], pool_PD: NDArray[np.float64]) -> NDArray[np.float64]:
    missing_Q, missing_P = ~whole_rows(query_QD), ~whole_rows(pool_PD)
    score_QP = (
        np.where(missing_Q[:, None], 0, query_QD) @ np.where(missing_P[:, None], 0, pool_PD).T
    )
    score_QP[missing_Q] = -np.inf
    score_QP[:, missing_P] = -np.inf
    return score_QP


def rank_pool(
    query_QD: NDArray[np.floating],
    pool_PD: NDArray[np.floating],
    gold: Sequence[int],
    *,
    candidates: Sequence[Sequence[int]] | None = None,
) -> NDArray[np.int64]:
    """Rank of each query's positive: 1 + the others that score at least as high.

    Args:
        query_QD: query vectors.
        pool_PD: candidate vectors.
        gold: row of the positive in ``pool_PD``, per query.
        candidates: rows of ``pool_PD`` that compete, per query; all of them if None.

    Returns:
        int64 array [Q], from 1.

    Raises:
        ValueError: lengths differ, or a positive is not among its own candidates.
    """
    if len(gold) != len(query_QD) or (candidates is not None and len(candidates) != len(gold)):
        raise ValueError("gold and candidates need one entry per query")
    query_QD, pool_PD = unit(query_QD), unit(pool_PD)
    if candidates is None:
        return _rank_global(query_QD, pool_PD, np.asarray(gold, dtype=np.int64))
    ranks = np.empty(len(gold), dtype=np.int64)
    for row, (positive, among) in enumerate(zip(gold, candidates, strict=True)):
        scores_P = _scores(query_QD[row : row + 1], pool_PD[list(among)])[0]
        ranks[row] = rank_of(scores_P, list(among).index(positive))
    return ranks


def _rank_global(
    query_QD: NDArray[np.float64], pool_PD: NDArray[np.float64], gold_Q: NDArray[np.int64]
) -> NDArray[np.int64]:
    ranks = np.empty(len(gold_Q), dtype=np.int64)
    for start in range(0, len(gold_Q), BLOCK):
        gold = gold_Q[start : start + BLOCK]
        score_QP = _scores(query_QD[start : start + BLOCK], pool_PD)
        positive_Q = score_QP[np.arange(len(gold)), gold]
        # the positive counts itself once, which is the 1 of the rank
        ranks[start : start + BLOCK] = (score_QP >= positive_Q[:, None] - TIE).sum(axis=1)
    return ranks


def rank_of(scores_P: NDArray[np.floating], gold: int) -> int:
    """Pessimistic rank of one candidate among scores [P]."""
    scores = np.where(np.isnan(scores_P), -np.inf, scores_P)
    return int((scores >= scores[gold] - TIE).sum())


def order_candidates(scores_P: NDArray[np.floating], gold: int) -> list[int]:
    """The full order, best first: the positive after its ties, the rest stable by position."""
    scores = np.where(np.isnan(scores_P), -np.inf, np.asarray(scores_P, dtype=np.float64))
    order = [int(row) for row in np.argsort(-scores, kind="stable") if row != gold]
    order.insert(rank_of(scores, gold) - 1, gold)
    return order
