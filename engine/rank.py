"""Exact ranks by cosine, with pessimistic ties: who shares the positive's score stands before it.

Scores are summed in float64 and compared with a margin of 1e-9, so that two equal vectors tie
wherever they stand in the matrix. A vector that could not be made (NaN) or has no direction (zero)
loses against all. Memory is bounded by blocks: the vectors stay float32 as they came.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import numpy as np
from numpy.typing import NDArray

TIE = 1e-9
BLOCK_NUMBERS = 16_000_000  # float64 numbers of a block, 128 MB
HELD_BLOCKS = 2  # vectors of at most so many blocks are held in float64


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
        vectors_CD: as they came, any length. Kept in float64 where all of them make few blocks,
            else turned into float64 block by block whenever they are scored.
    """

    def __init__(self, vectors_CD: NDArray[np.floating]) -> None:
        self.count, self._width = vectors_CD.shape
        small = vectors_CD.size <= HELD_BLOCKS * BLOCK_NUMBERS
        self._vectors = np.asarray(vectors_CD, np.float64) if small else vectors_CD
        self._norm_C = np.empty(self.count)
        for part in self._parts():
            block = np.asarray(self._vectors[part], np.float64)
            self._norm_C[part] = np.sqrt(np.einsum("cd,cd->c", block, block))
        self._missing_C = ~(self._norm_C > 0)  # NaN too
        self._norm_C[self._missing_C] = np.inf
        if small and self._missing_C.any():
            self._vectors = np.where(self._missing_C[:, None], 0, self._vectors)

    def _parts(self) -> Iterator[slice]:
        step = max(1, BLOCK_NUMBERS // max(1, self._width))
        for start in range(0, self.count, step):
            yield slice(start, start + step)

    def among(
        self, query_D: NDArray[np.floating], members: NDArray[np.intp]
    ) -> NDArray[np.float64]:
        """Cosines [P] of one query with some candidates; ``-inf`` where a vector is missing."""
        query, norm = _query(query_D)
        score_P = np.asarray(self._vectors[members], np.float64) @ query
        score_P /= self._norm_C[members] * norm
        missing_P = self._missing_C[members]
        if missing_P.any() or not np.isfinite(norm):
            score_P[missing_P | ~np.isfinite(norm)] = -np.inf
        return score_P

    def all(self, query_BD: NDArray[np.floating]) -> NDArray[np.float64]:
        """Cosines [B, C] of some queries with every candidate, block by block."""
        query_BD = np.asarray(query_BD, np.float64)
        norm_B = np.sqrt(np.einsum("bd,bd->b", query_BD, query_BD))
        missing_B = ~(norm_B > 0)
        query_BD = np.where(missing_B[:, None], 0, query_BD)
        score_BC = np.empty((len(query_BD), self.count))
        for part in self._parts():
            block = np.asarray(self._vectors[part], np.float64)
            score_BC[:, part] = query_BD @ block.T
        score_BC /= np.where(missing_B, np.inf, norm_B)[:, None]
        score_BC /= self._norm_C
        score_BC[missing_B] = -np.inf
        score_BC[:, self._missing_C] = -np.inf
        return score_BC

    @property
    def queries_at_once(self) -> int:
        """How many queries ``all`` should be given, so that their scores make one block."""
        return max(1, min(512, BLOCK_NUMBERS // max(1, self.count)))


def _query(query_D: NDArray[np.floating]) -> tuple[NDArray[np.float64], float]:
    """A query in float64 with its length; a missing one as zeros of infinite length."""
    query = np.asarray(query_D, np.float64)
    norm = float(np.sqrt(query @ query))
    return (query, norm) if norm > 0 else (np.zeros_like(query), np.inf)


def rank_rows(
    score_BP: NDArray[np.float64], gold_B: NDArray[np.intp]
) -> tuple[NDArray[np.intp], NDArray[np.bool_]]:
    """Pessimistic ranks [B] of each row's positive, and whether it ties with another.

    Args:
        score_BP: without NaN; ``-inf`` where a vector is missing.
        gold_B: position of the positive in each row.
    """
    of_gold_B = score_BP[np.arange(len(gold_B)), gold_B][:, None]
    rank_B = (score_BP >= of_gold_B - TIE).sum(axis=1)
    worse_B = (score_BP < of_gold_B - TIE).sum(axis=1) + (score_BP > of_gold_B + TIE).sum(axis=1)
    return rank_B, score_BP.shape[1] - worse_B > 1


def order_rows(
    score_BP: NDArray[np.float64],
    gold_B: NDArray[np.intp],
    rank_B: NDArray[np.intp],
    *,
    keep: int,
) -> list[NDArray[np.intp]]:
    """What ``order_candidates`` gives for each row, made for many rows at once.

    Args:
        score_BP: without NaN.
        gold_B: position of the positive in each row.
        rank_B: its rank, as ``rank_rows`` gives it.
        keep: how many of the first.
    """
    count = score_BP.shape[1]
    if count <= 4 * (keep + 1):
        found_BP = np.argsort(-score_BP, axis=1)
        sorted_BP = np.take_along_axis(score_BP, found_BP, axis=1)
        # the quick sort leaves equal scores in any order
        for row in np.flatnonzero((sorted_BP[:, 1:] == sorted_BP[:, :-1]).any(axis=1)):
            found_BP[row] = np.argsort(-score_BP[row], kind="stable")
        rows: Iterable[NDArray[np.intp]] = found_BP
    else:
        rows = (_first(score_P, keep + 1) for score_P in score_BP)
    return [
        _placed(found, int(gold), int(rank), min(keep, count))
        for found, gold, rank in zip(rows, gold_B, rank_B, strict=True)
    ]


def _placed(found: NDArray[np.intp], gold: int, rank: int, wanted: int) -> NDArray[np.intp]:
    """The first of an order with the positive at its pessimistic rank."""
    order = found[found != gold]
    if rank <= wanted:
        order = np.concatenate((order[: rank - 1], [gold], order[rank - 1 :]))
    return order[:wanted]


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
    scores = np.asarray(scores_P, dtype=np.float64)
    if np.isnan(scores).any():
        scores = np.where(np.isnan(scores), -np.inf, scores)
    rank = int((scores >= scores[gold] - TIE).sum())
    wanted = len(scores) if keep is None else min(keep, len(scores))
    found = _first(scores, min(len(scores), wanted + 1))
    return _placed(found, gold, rank, wanted).tolist()


def _first(scores_P: NDArray[np.float64], count: int) -> NDArray[np.intp]:
    """Positions of the ``count`` highest scores, best first, stable by position."""
    if count * 4 >= len(scores_P):
        return np.argsort(-scores_P, kind="stable")[:count]
    least = np.partition(scores_P, len(scores_P) - count)[len(scores_P) - count]
    some = np.flatnonzero(scores_P >= least)
    return some[np.argsort(-scores_P[some], kind="stable")][:count]
