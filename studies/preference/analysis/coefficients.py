"""Agreement beyond chance from counts: AC1, Fleiss' kappa, Krippendorff's alpha, raw agreement.

Owns the formulas with their variances over items (linearised), also where raters miss items:
the packages that have them are under licences this project does not take in, so they check
these in the tests. Refuses an interval where nobody disagrees.
Source: Gwet 2008, Br J Math Stat Psychol 61; Gwet 2014, Handbook of Inter-Rater Reliability;
Fleiss 1971; Krippendorff 2004.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray
from scipy.stats import t as student

from studies.preference.analysis.schema import Estimate

Counts = NDArray[np.float64]
Chance = Callable[[Counts, NDArray[np.float64]], NDArray[np.float64]]
SAME = "no disagreement: no interval"


def raw(counts: Counts) -> Estimate:
    """Share of agreeing pairs of readings over items read at least twice."""
    each = _agreeing(counts[counts.sum(axis=1) >= 2])
    if len(each) == 0:
        return Estimate(None, None, None, 0, "items", "agreement", "nothing was read twice")
    return _estimate(float(each.mean()), each, "agreement, linearised")


def ac1(counts: Counts) -> Estimate:
    """Gwet's AC1.

    Args:
        counts: how many readings gave each item each answer [items, answers].
    """
    q = counts.shape[1]
    return _chance_corrected(
        counts, "AC1, linearised", lambda part, rest: (part @ (1 - rest)) / (q - 1)
    )


def fleiss(counts: Counts) -> Estimate:
    """Fleiss' kappa."""
    return _chance_corrected(counts, "Fleiss, linearised", lambda part, rest: part @ rest)


def alpha(counts: Counts) -> Estimate:
    """Krippendorff's alpha, nominal; items read once are left out."""
    method = "Krippendorff, linearised"
    counts = counts[counts.sum(axis=1) >= 2]
    if len(counts) == 0:
        return Estimate(None, None, None, 0, "items", method, "nothing was read twice")
    read = counts.sum(axis=1)
    mean = read.mean()
    agree = (counts * (counts - 1)).sum(axis=1) / (mean * (read - 1))
    small, plain = 1 / read.sum(), float(agree.mean())
    share = counts.mean(axis=0) / mean
    chance = float((share**2).sum())
    if np.isclose(chance, 1):
        return Estimate(None, None, None, len(counts), "items", method, "every answer the same")
    value = ((1 - small) * plain + small - chance) / (1 - chance)
    uneven = (read - mean) / mean
    prime = (plain - chance) / (1 - chance)
    of_item = (agree - plain * uneven - chance) / (1 - chance)
    by_chance = counts @ share / mean - chance * uneven
    of_item = of_item - 2 * (1 - prime) * (by_chance - chance) / (1 - chance)
    return _estimate(float(value), of_item - prime + value, method)


def _agreeing(counts: Counts) -> NDArray[np.float64]:
    read = counts.sum(axis=1)
    return (counts * (counts - 1)).sum(axis=1) / (read * (read - 1))


def _chance_corrected(counts: Counts, method: str, chance_of: Chance) -> Estimate:
    counts = counts[counts.sum(axis=1) >= 1]
    read = counts.sum(axis=1)
    twice = read >= 2
    n, n2 = len(counts), int(twice.sum())
    if n2 == 0:
        return Estimate(None, None, None, 0, "items", method, "nothing was read twice")
    part = counts / read[:, None]
    share = part.mean(axis=0)
    by_chance = chance_of(part, share)
    chance = float(by_chance.mean())
    if np.isclose(chance, 1):
        return Estimate(None, None, None, n2, "items", method, "every answer the same")
    agree = np.zeros(n)
    agree[twice] = _agreeing(counts[twice]) - chance  # an item read once says nothing of agreement
    of_item = n / n2 * agree / (1 - chance)
    value = float(of_item.mean())
    of_item = of_item - 2 * (1 - value) * (by_chance - chance) / (1 - chance)
    return _estimate(value, of_item, method)


def _estimate(value: float, of_item: NDArray[np.float64], method: str) -> Estimate:
    """Interval from the scatter of the items' own values, Student with one less than items."""
    n = len(of_item)
    if n < 2 or np.ptp(of_item) < 1e-12:
        note = "one item: no interval" if n < 2 else SAME
        return Estimate(value, None, None, n, "items", method, note)
    error = float(np.sqrt(((of_item - value) ** 2).sum() / (n * (n - 1))))
    half = float(student.ppf(0.975, n - 1)) * error
    return Estimate(value, max(-1.0, value - half), min(1.0, value + half), n, "items", method)
