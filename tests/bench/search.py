"""Exact search against faiss's flat index in one run: ``python -m tests.bench.search``.

Same vectors, same queries, same threads; prints seconds, the ratio and the largest difference of
scores. Ratios are what counts: the machine may be busy.
"""

from __future__ import annotations

import importlib
import sys
import time
from collections.abc import Callable

import numpy as np

from engine.index import ExactIndex

CASES = ((1, 75_000, 256), (100, 20_000, 256), (700, 20_000, 512))
K = 10
ROUNDS = 3


def seconds(work: Callable[[], object]) -> float:
    """The fastest of a few rounds."""
    times = []
    for _ in range(ROUNDS):
        started = time.perf_counter()
        work()
        times.append(time.perf_counter() - started)
    return min(times)


def compare(queries: int, rows: int, width: int) -> str:
    """One case as a line of text."""
    faiss = importlib.import_module("faiss")
    random = np.random.default_rng(0)
    rows_ND = random.standard_normal((rows, width)).astype(np.float32)
    rows_ND /= np.linalg.norm(rows_ND, axis=1, keepdims=True)
    query_QD = rows_ND[:queries] + 0.1 * random.standard_normal((queries, width)).astype("f4")
    query_QD /= np.linalg.norm(query_QD, axis=1, keepdims=True)

    def ours() -> list[list[tuple[int, float]]]:
        return ExactIndex(rows_ND).search_many(query_QD, K)

    def theirs() -> np.ndarray:
        index = faiss.IndexFlatIP(width)
        index.add(rows_ND)
        return np.asarray(index.search(query_QD, K)[0])

    found = np.array([[score for _, score in hits] for hits in ours()])
    worst = np.abs(found - theirs()).max()
    mine, peer = seconds(ours), seconds(theirs)
    return (
        f"{queries:5} x {rows:6} x {width:4}   ours {mine:7.3f} s   faiss flat {peer:7.3f} s   "
        f"faiss / ours {peer / mine:5.2f}   largest difference {worst:.1e}\n"
    )


if __name__ == "__main__":
    for case in CASES:
        sys.stdout.write(compare(*case))
