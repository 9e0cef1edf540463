"""Shares with Wilson intervals, the exact sign test, Holm: the plain counting under every table.

Formulas are SciPy's; Holm's steps are in ``studies.holm``. Refuses a p-value below ten.
Source: Wilson 1927; Holm 1979; MedHEB section 5.6 counts ties as one class.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import lru_cache

from scipy.stats import binomtest

from studies.holm import holm as corrected
from studies.preference.analysis.schema import Block, Estimate, Share, Test

LEAST_FOR_P = 10
FEW = f"no p-value below {LEAST_FOR_P}"


@lru_cache(maxsize=4096)
def share(count: int, n: int) -> Share:
    """A share with its Wilson 95 % interval, without continuity correction."""
    if n == 0:
        return Share(count, 0, None, None, None)
    interval = binomtest(count, n).proportion_ci(0.95, method="wilson")
    return Share(count, n, count / n, float(interval.low), float(interval.high))


def clopper_pearson(count: int, n: int) -> Share:
    """A share with the exact interval of Clopper and Pearson 1934: never too narrow, but wide."""
    if n == 0:
        return Share(count, 0, None, None, None)
    interval = binomtest(count, n).proportion_ci(0.95, method="exact")
    return Share(count, n, count / n, float(interval.low), float(interval.high))


@lru_cache(maxsize=4096)
def sign_test(first: int, second: int, *, name: str = "exact sign test", note: str = "") -> Test:
    """Exact two-sided sign test of equal chances; its statistic is ``first``.

    Args:
        first: how often the one.
        second: how often the other; what is neither is left out beforehand.
        name: of the test.
        note: kept where there is a p-value.
    """
    n = first + second
    if n < LEAST_FOR_P:
        return Test(name, float(first), None, None, n, note=FEW)
    return Test(name, float(first), None, float(binomtest(first, n).pvalue), n, note=note)


def holm(blocks: Sequence[Block]) -> tuple[Block, ...]:
    """The blocks of one table, sign tests adjusted; those without a p-value stay as they are."""
    adjusted = iter(corrected([one.sign.p for one in blocks if one.sign.p is not None]))
    return tuple(
        one if one.sign.p is None else replace(one, sign=replace(one.sign, p_holm=next(adjusted)))
        for one in blocks
    )


def undefined(n: int, note: str, *, unit: str = "items", method: str = "") -> Estimate:
    """A number that is not there, with the reason."""
    return Estimate(None, None, None, n, unit, method, note)
