"""How small an effect a study could have found: 80 % power at two-sided 5 %.

Owns the figures beside every line of the bias panel, so that "no bias was found" comes with its
size. Nothing of it uses what was found: only how many answers there are, or a standard error.
Source: Cohen 1988 for w; the normal approximation at one half for shares.
"""

from __future__ import annotations

from functools import lru_cache
from math import exp, sqrt

from scipy.optimize import brentq
from scipy.stats import chi2, ncx2, norm
from scipy.stats import t as student

ALPHA, POWER = 0.05, 0.80
REACH = float(norm.ppf(1 - ALPHA / 2) + norm.ppf(POWER))
MOST_LOG = 100.0  # of the log of a ratio; beyond it the ratio is hardly a number


def smallest_detectable(decided: int) -> float | None:
    """The distance of a share from one half (normal, at one half)."""
    if decided == 0:
        return None
    found = REACH * 0.5 / sqrt(decided)
    return found if found < 0.5 else None


def smallest_coefficient(error: float) -> float:
    """The size of a coefficient with this standard error (Wald)."""
    return REACH * error


def smallest_ratio(error: float, *, df: float | None = None) -> float | None:
    """The ratio above 1 whose log has this standard error; Student's t with ``df``.

    None beyond ``MOST_LOG``; what is too large to matter is for those to say who tell of it.
    """
    reach = REACH if df is None else float(student.ppf(1 - ALPHA / 2, df) + student.ppf(POWER, df))
    return exp(reach * error) if reach * error < MOST_LOG else None


def smallest_effect(n: int, df: float | None) -> float | None:
    """Cohen's w of a chi-square test with n observations; None from 1 on, its largest value."""
    if not n or not df:
        return None
    found = sqrt(_noncentrality(df) / n)
    return found if found < 1 else None


@lru_cache(maxsize=64)
def _noncentrality(df: float) -> float:
    edge = chi2.ppf(1 - ALPHA, df)
    return float(brentq(lambda nc: ncx2.sf(edge, df, nc) - POWER, 1e-6, 1e3, xtol=1e-13))
