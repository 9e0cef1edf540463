"""Ties, preference and time along the reading order: does a rater tire.

Owns the windows and the trends, adjusted for form (2D and 3D are read in blocks) and rater.
Refuses a trend where the outcome never varies or is separated.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import pairwise
from statistics import median
from typing import Any

import numpy as np
from scipy.stats import chi2, norm
from scipy.stats import t as student

from studies.preference.analysis.counts import FEW, LEAST_FOR_P, share, undefined
from studies.preference.analysis.detectable import smallest_ratio
from studies.preference.analysis.loglinear import Array, dummies, fit, independent, separated
from studies.preference.analysis.rated import DECIDED, Rated
from studies.preference.analysis.schema import Estimate, Fatigue, Test, Window

WINDOWS = 10
ODDS, RATIO = "logistic regression on place", "log-linear regression on place"
Trend = tuple[Estimate, Test, float | None]


def fatigue(rows: Sequence[Rated], *, by_side: bool = False, practice: int = 0) -> Fatigue:
    """Windows and trends of items (no repeats).

    Args:
        rows: judged presentations.
        by_side: follow the left list in place of the first model (more than two models).
        practice: items of each order before the first that counts.
    """
    placed = [one for one in rows if one.row.position is not None]
    decided = [one for one in placed if one.preferred in DECIDED]
    timed = [one for one in placed if (one.row.answer_ms or 0) > 0]
    tie, tie_test, tie_least = _odds(placed, lambda one: one.word == "tie")
    liked, liked_test, liked_least = _odds(
        decided, lambda one: one.row.answer == "left" if by_side else one.preferred == "first"
    )
    time, time_test, time_least = _ratio(timed)
    trends = (tie, tie_test, time, time_test, liked, liked_test)
    return Fatigue(_windows(placed), *trends, tie_least, time_least, liked_least, practice)


def _windows(rows: Sequence[Rated]) -> tuple[Window, ...]:
    """Tenths of the reading order from its first item on, the same places for every rater."""
    if not rows:
        return ()
    places = [one.row.position or 0 for one in rows]
    before = min(places) - 1  # practice items, which nobody rates here
    span = max(places) - before
    edges = before + np.linspace(0, span, min(WINDOWS, span) + 1).round().astype(int)
    made = []
    for start, end in pairwise(edges.tolist()):
        inside = [one for one in rows if start < (one.row.position or 0) <= end]
        decided = [one for one in inside if one.preferred in DECIDED]
        times = [one.row.answer_ms for one in inside if one.row.answer_ms is not None]
        made.append(
            Window(
                start=start + 1,
                end=end,
                n=len(inside),
                tie=share(len(inside) - len(decided), len(inside)),
                first_decided=share(sum(o.preferred == "first" for o in decided), len(decided)),
                median_ms=float(median(times)) if times else None,
            )
        )
    return tuple(made)


def _design(rows: Sequence[Rated]) -> Array | None:
    """Constant, place from 0 to 1 within the rater's rows, form, rater; None without a place."""
    spans: dict[str, list[int]] = {}
    for one in rows:
        spans.setdefault(one.row.rater, []).append(one.row.position or 0)
    ends = {name: (min(found), max(found)) for name, found in spans.items()}
    place = []
    for one in rows:
        low, high = ends[one.row.rater]
        place.append(((one.row.position or 0) - low) / (high - low) if high > low else 0.0)
    columns = np.column_stack(
        [
            np.ones(len(rows)),
            np.array(place),
            dummies([one.item.form for one in rows]),
            dummies([one.row.rater for one in rows]),
        ]
    )
    kept = independent(columns, keep=2)
    return columns[:, kept] if kept and len(kept) < len(rows) else None


def _odds(rows: Sequence[Rated], of: Callable[[Rated], bool]) -> Trend:
    rows = _varying(rows, of)
    n = len(rows)
    outcome = np.array([float(of(one)) for one in rows])
    if n == 0:
        return _none(n, "it never varies, or nothing was rated", ODDS)
    design = _design(rows)
    if design is None:
        return _none(n, "too few to tell a trend", ODDS)
    if separated(design, outcome):
        return _none(n, "separated: no finite odds", ODDS)
    found, plain = (fit(part, outcome, "binomial") for part in (design, np.delete(design, 1, 1)))
    estimate = _exponential(found, n, ODDS, float(norm.ppf(0.975)))
    least, name = smallest_ratio(float(found.bse[1])), f"{ODDS}, likelihood ratio"
    if n < LEAST_FOR_P:
        return estimate, Test(name, None, None, None, n, note=FEW), least
    ratio = max(0.0, float(plain.deviance - found.deviance))
    return estimate, Test(name, ratio, 1.0, float(chi2.sf(ratio, 1)), n), least


def _varying(rows: Sequence[Rated], of: Callable[[Rated], bool]) -> Sequence[Rated]:
    """Without forms and raters in which the outcome never varies: they say nothing of a trend."""
    while rows:
        fixed = set()
        for key in ("form", "rater"):
            groups: dict[str, set[bool]] = {}
            for one in rows:
                groups.setdefault(_key(one, key), set()).add(of(one))
            fixed |= {(key, name) for name, seen in groups.items() if len(seen) < 2}
        if not fixed:
            break
        rows = [o for o in rows if not {(k, _key(o, k)) for k in ("form", "rater")} & fixed]
    return rows


def _key(one: Rated, key: str) -> str:
    return one.item.form if key == "form" else one.row.rater


def _ratio(rows: Sequence[Rated]) -> Trend:
    from statsmodels.regression.linear_model import OLS

    n = len(rows)
    design = _design(rows) if n else None
    if design is None:
        return _none(n, "too few times to tell a trend", RATIO)
    times = np.log([float(one.row.answer_ms or 1) for one in rows])
    if np.ptp(times) == 0:
        return _none(n, "every time the same", RATIO)
    found = OLS(times, design).fit()
    estimate = _exponential(found, n, RATIO, float(student.ppf(0.975, found.df_resid)))
    test = Test(f"{RATIO}, t", float(found.tvalues[1]), float(found.df_resid), None, n, note=FEW)
    least = smallest_ratio(float(found.bse[1]), df=float(found.df_resid))
    if n < LEAST_FOR_P:
        return estimate, test, least
    p = float(found.pvalues[1])
    return estimate, Test(test.name, test.statistic, test.df, p, n), least


def _exponential(found: Any, n: int, method: str, wide: float) -> Estimate:
    value, half = float(found.params[1]), wide * float(found.bse[1])
    edges = np.exp([value, value - half, value + half])
    return Estimate(float(edges[0]), float(edges[1]), float(edges[2]), n, "ratings", method)


def _none(n: int, note: str, method: str) -> Trend:
    test = Test(method, None, None, None, n, note=note)
    return undefined(n, note, unit="ratings", method=method), test, None
