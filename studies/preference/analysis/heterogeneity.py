"""Whether groups differ in first, second and tie: one test for a table.

Chi-square by SciPy; where cells are sparse, the same statistic against permutations of the
ratings over the groups (Monte Carlo, all margins fixed), and the note says so. Refuses a
p-value below ten.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray
from scipy.stats import chi2_contingency

from studies.preference.analysis.counts import FEW, LEAST_FOR_P
from studies.preference.analysis.rated import WORDS, Rated
from studies.preference.analysis.schema import Test
from studies.preference.analysis.stream import Replay

PERMUTATIONS = 10_000
NAME = "chi-square of first, second, tie"
CLOSE = 1 - 1e-9


def heterogeneity(groups: Sequence[Sequence[Rated]], numbers: Replay) -> Test | None:
    """One test over the groups of a table; None for a single group."""
    counts = np.array([[sum(o.word == w for o in rows) for w in WORDS] for rows in groups])
    return heterogeneity_of(counts.reshape(-1, len(WORDS)), numbers)


def heterogeneity_of(counts: NDArray[np.int64], numbers: Replay) -> Test | None:
    """The same from counts [groups, 3]."""
    counts = counts[counts.sum(axis=1) > 0]
    n = int(counts.sum())
    if len(counts) < 2:
        return None
    counts = counts[:, counts.sum(axis=0) > 0]
    if counts.shape[1] < 2:
        return Test(NAME, None, None, None, n, note="every rating the same")
    found = chi2_contingency(counts, correction=False)
    df = float(found.dof)
    if n < LEAST_FOR_P:
        return Test(NAME, float(found.statistic), df, None, n, note=FEW)
    expected = found.expected_freq
    if expected.min() >= 1 and (expected < 5).mean() <= 0.2:
        return Test(NAME, float(found.statistic), df, float(found.pvalue), n)
    p = _permuted(counts, float(found.statistic), numbers)
    note = f"sparse cells: p from {PERMUTATIONS} permutations, margins fixed"
    return Test(NAME, float(found.statistic), df, p, n, note=note)


def _permuted(counts: NDArray[np.int64], observed: float, numbers: Replay) -> float:
    """Share of permutations at least as far from independence, the observed one counted in.

    One permutation takes n numbers of the stream; their ranks say which rating goes to which
    place, groups and words in the order of the table.
    """
    groups, words = counts.shape
    n = int(counts.sum())
    group = np.repeat(np.arange(groups), counts.sum(axis=1))
    word = np.repeat(np.arange(words), counts.sum(axis=0))
    expected = np.outer(counts.sum(axis=1), counts.sum(axis=0)) / n
    step, reached = max(1, 50_000 // n), 0
    for begin in range(0, PERMUTATIONS, step):
        some = min(step, PERMUTATIONS - begin)
        order = np.argsort(numbers.uniform(begin * n, some * n).reshape(some, n), axis=1)
        cell = group * words + word[order] + np.arange(some)[:, None] * (groups * words)
        table = np.bincount(cell.reshape(-1), minlength=some * groups * words)
        away = (table.reshape(some, groups, words) - expected) ** 2 / expected
        reached += int((away.sum(axis=(1, 2)) >= observed * CLOSE).sum())
    return (1 + reached) / (1 + PERMUTATIONS)
