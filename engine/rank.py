"""Exact ranks by cosine, with pessimistic ties: who shares the positive's score stands before it.

Scores are summed in float64 and compared with a margin of 1e-9, so that two equal vectors tie
wherever they stand in the matrix. A vector that could not be made (NaN) or has no direction (zero)
loses against all. Memory is bounded by blocks: the vectors stay float32 as they came.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

TIE = 1e-9
BLOCK_NUMBERS = 16_000_000  # float64 numbers of a block, 128 MB


def unit(vectors_ND: NDArray[np.floating]) -> NDArray[np.float64]:
    """Rows of length one, in float64; a zero row becomes NaN: it has no direction."""
    wide = np.asarray(vectors_ND, dtype=np.float64)
    norms = np.linalg.norm(wide, axis=-1, keepdims=True)
    return np.divide(wide, norms, out=np.full_like(wide, np.nan), where=norms > 0)


def whole_rows(vectors_ND: NDArray[np.floating]) -> NDArray[np.bool_]:
    """Which rows hold a vector at all, [N]: those without NaN."""
    return np.isfinite(vectors_ND.sum(axis=1))


class Candidates:
    """Candidate vectors to score queries against.

    Args:
        vectors_CD: as they came, any length; not copied.
    """

    def __init__(self, vectors_CD: NDArray[np.floating]) -> None:
        self._vectors = vectors_CD

    def among(
        self, query_D: NDArray[np.floating], members: NDArray[np.intp]
    ) -> NDArray[np.float64]:
        """Cosines [P] of one query with some candidates; ``-inf`` where a vector is missing."""
        return _cosines(unit(query_D[None]), unit(self._vectors[members]))[0]

    def all(self, query_BD: NDArray[np.floating]) -> NDArray[np.float64]:
        """Cosines [B, C] of some queries with every candidate, block by block."""
        unit_BD = unit(query_BD)
        count, width = self._vectors.shape
        block = max(1, BLOCK_NUMBERS // max(1, width))
        score_BC = np.empty((len(unit_BD), count))
        for start in range(0, count, block):
            part = slice(start, start + block)
            score_BC[:, part] = _cosines(unit_BD, unit(self._vectors[part]))
        return score_BC

    @property
    def count(self) -> int:
        """How many candidates there are, C."""
        return len(self._vectors)

    @property
    def queries_at_once(self) -> int:
        """How many queries ``all`` should be given, so that their scores make one block."""
        return max(1, min(512, BLOCK_NUMBERS // max(1, len(self._vectors))))


def _cosines(query_BD: NDArray[np.float64], pool_PD: NDArray[np.float64]) -> NDArray[np.float64]:
    missing_B, missing_P = ~whole_rows(query_BD), ~whole_rows(pool_PD)
    if missing_B.any():
        query_BD = np.where(missing_B[:, None], 0, query_BD)
    if missing_P.any():
        pool_PD = np.where(missing_P[:, None], 0, pool_PD)
    score_BP = query_BD @ pool_PD.T
    score_BP[missing_B] = -np.inf
    score_BP[:, missing_P] = -np.inf
    return score_BP


def rank_of(scores_P: NDArray[np.floating], gold: int) -> int:
    """Pessimistic rank of one candidate among scores [P]."""
    scores = np.where(np.isnan(scores_P), -np.inf, scores_P)
    return int((scores >= scores[gold] - TIE).sum())


def order_candidates(
    scores_P: NDArray[np.floating], gold: int, *, keep: int | None = None
) -> list[int]:
    """The order, best first: the positive after its ties, the rest stable by position.

    Args:
        scores_P: one score per candidate.
        gold: position of the positive.
        keep: how many of the first; all if None. The positive is among them only if its rank is.
    """
    scores = np.where(np.isnan(scores_P), -np.inf, np.asarray(scores_P, dtype=np.float64))
    rank = rank_of(scores, gold)
    wanted = len(scores) if keep is None else min(keep, len(scores))
    found = _first(scores, min(len(scores), wanted + 1))
    order = found[found != gold]
    if rank <= wanted:
        order = np.concatenate((order[: rank - 1], [gold], order[rank - 1 :]))
    return [int(place) for place in order[:wanted]]


def _first(scores_P: NDArray[np.float64], count: int) -> NDArray[np.intp]:
    """Positions of the ``count`` highest scores, best first, stable by position."""
    if count * 4 >= len(scores_P):
        return np.argsort(-scores_P, kind="stable")[:count]
    least = np.partition(scores_P, len(scores_P) - count)[len(scores_P) - count]
    some = np.flatnonzero(scores_P >= least)
    return some[np.argsort(-scores_P[some], kind="stable")][:count]
