"""What the guesses at the end say about the blind: the indices of James and of Bang.

Owns both with their variances by the delta method and the multinomial. Arms are the sides on
which the tested model stood. Refuses guesses on items in which the tested model took no part.
Source: James et al. 1996; Bang, Ni and Davis 2004.
"""

from __future__ import annotations

from collections.abc import Mapping
from math import sqrt

import numpy as np
from numpy.typing import NDArray
from scipy.stats import norm

from studies.preference.analysis.schema import Blinding, Estimate
from studies.preference.analysis.tables import StudyTables

Z = float(norm.ppf(0.975))
ANSWERS = ("left", "right", "unsure")


def blinding(tables: StudyTables, *, rater: str | None = None) -> Blinding | None:
    """Both indices; None where nobody was asked."""
    tested = next(iter(tables.models), "A")
    parts = {one.item_id: (one.first, one.second) for one in tables.items}
    guesses = [
        one
        for one in tables.guesses
        if rater in (None, one.rater)
        and one.answer in ANSWERS
        and tested in parts.get(one.item_id, (tested,))
    ]
    if not guesses:
        return None
    table = np.zeros(
        (2, 3), dtype=np.int64
    )  # tested on the left, right; guessed left, right, unsure
    for one in guesses:
        table[int(one.left != tested), ANSWERS.index(one.answer)] += 1
    counts = {
        f"{tested} left": (int(table[0, 0]), int(table[0, 1]), int(table[0, 2])),
        f"{tested} right": (int(table[1, 1]), int(table[1, 0]), int(table[1, 2])),
    }
    return Blinding(len(guesses), james(table), _bang_by_arm(counts), counts)


def james(table: NDArray[np.int64]) -> Estimate:
    """James's index: 1 all unsure, 0.5 at random, 0 all right.

    Args:
        table: guesses [arm, guessed arm or unsure], 2 by 3.
    """
    n = int(table.sum())
    method = "James, delta method"
    if n == 0:
        return Estimate(None, None, None, 0, "guesses", method, "no guesses")
    p = table / n
    unsure = float(p[:, 2].sum())
    if unsure == 1:
        return Estimate(1.0, None, None, n, "guesses", method, "every guess is unsure")
    wrong = (p[0, 1] + p[1, 0]) / 2
    rows, columns = p[:, :2].sum(axis=1), p[:, :2].sum(axis=0)
    chance = (columns[1] * rows[0] + columns[0] * rows[1]) / 2
    if chance == 0:
        return Estimate(
            None, None, None, n, "guesses", method, "one arm, one guess: no chance level"
        )
    known = 1 - unsure
    value = unsure + known**2 * wrong / (2 * chance)
    slopes = _slopes(rows, columns, known, float(wrong), float(chance))
    variance = float((p * slopes**2).sum() - (p * slopes).sum() ** 2) / n
    return _normal(float(value), variance, n, method)


def _slopes(
    rows: NDArray[np.float64],
    columns: NDArray[np.float64],
    known: float,
    wrong: float,
    chance: float,
) -> NDArray[np.float64]:
    """Derivative of James's index by each cell's probability [2, 3]."""
    found = np.zeros((2, 3))
    found[:, 2] = 1 - known * wrong / chance
    for arm in range(2):
        for guess in range(2):
            of_wrong = 0.5 if arm != guess else 0.0
            of_chance = (columns[1 - arm] + rows[1 - guess]) / 2
            found[arm, guess] = known**2 / 2 * (of_wrong / chance - wrong * of_chance / chance**2)
    return found


def _bang_by_arm(counts: Mapping[str, tuple[int, int, int]]) -> dict[str, Estimate]:
    return {name: bang(*found) for name, found in counts.items()}


def bang(right: int, wrong: int, unsure: int) -> Estimate:
    """Bang's index of one arm: 0 at random, 1 all right, -1 all wrong."""
    n, method = right + wrong + unsure, "Bang, multinomial"
    if n == 0:
        return Estimate(None, None, None, 0, "guesses", method, "no guesses in this arm")
    p, q = right / n, wrong / n
    return _normal(p - q, (p * (1 - p) + q * (1 - q) + 2 * p * q) / n, n, method, low=-1.0)


def _normal(value: float, variance: float, n: int, method: str, *, low: float = 0.0) -> Estimate:
    if variance <= 1e-15:
        return Estimate(value, None, None, n, "guesses", method, "every guess the same")
    half = Z * sqrt(variance)
    return Estimate(value, max(low, value - half), min(1.0, value + half), n, "guesses", method)
