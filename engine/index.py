"""Nearest neighbours of a vector: exact, by one matrix product; faiss where many ask at once.

Never approximate in this version. faiss is imported by name when it is used, since windows may
import this module, and left alone where it is not installed.
"""

from __future__ import annotations

import importlib
from typing import Any

import numpy as np
from numpy.typing import NDArray

from engine.rank import unit, whole_rows

MANY = 2_000_000_000  # multiplications from which faiss's threads pay for its index


class ExactIndex:
    """Unit vectors to search.

    Args:
        vectors_ND: any length; a row with NaN is never found.
    """

    def __init__(self, vectors_ND: NDArray[np.floating]) -> None:
        units = unit(vectors_ND)
        self._rows = np.flatnonzero(whole_rows(units))
        self._units_ND = units[self._rows].astype(np.float32)

    def __len__(self) -> int:
        return len(self._rows)

    def search(self, query_D: NDArray[np.floating], k: int) -> list[tuple[int, float]]:
        """The ``k`` nearest as (row, cosine), best first; ties by row."""
        return self.search_many(np.asarray(query_D)[None], k)[0]

    def search_many(self, query_QD: NDArray[np.floating], k: int) -> list[list[tuple[int, float]]]:
        """The ``k`` nearest of each query."""
        query_QD = unit(query_QD).astype(np.float32)
        k = min(k, len(self))
        if k <= 0:
            return [[] for _ in query_QD]
        faiss = _faiss() if query_QD.size * len(self) >= MANY else None
        if faiss is None:
            return [self._search_one(query_D, k) for query_D in query_QD]
        return self._search_faiss(faiss, query_QD, k)

    def _search_one(self, query_D: NDArray[np.float32], k: int) -> list[tuple[int, float]]:
        if not np.isfinite(query_D).all():
            return []
        score_N = self._units_ND @ query_D
        if k < len(score_N):
            least = np.partition(score_N, len(score_N) - k)[len(score_N) - k]
            found = np.flatnonzero(score_N >= least)
        else:
            found = np.arange(len(score_N))
        best = found[np.argsort(-score_N[found], kind="stable")][:k]
        return [(int(self._rows[row]), float(score_N[row])) for row in best]

    def _search_faiss(
        self, faiss: Any, query_QD: NDArray[np.float32], k: int
    ) -> list[list[tuple[int, float]]]:
        index = faiss.IndexFlatIP(self._units_ND.shape[1])
        index.add(np.ascontiguousarray(self._units_ND))
        usable = whole_rows(query_QD)
        score_QK, row_QK = index.search(np.where(usable[:, None], query_QD, 0), k)
        return [
            [(int(self._rows[row]), float(score)) for row, score in zip(rows, scores, strict=True)]
            if good
            else []
            for rows, scores, good in zip(row_QK, score_QK, usable, strict=True)
        ]


def _faiss() -> Any | None:
    try:
        return importlib.import_module("faiss")
    except ImportError:
        return None
