"""The paired-comparison model with ties of Davidson and an order term, for two models or more.

Fitted as a Poisson log-linear model by statsmodels. With log worth l, tie parameter nu and order d,
the chances of left, right and tie are as exp(l_left + d / 2), exp(l_right - d / 2) and
nu * exp((l_left + l_right) / 2). Owns the design. Refuses a fit that is not finite and names what
is empty; then it tries without the order term.
Source: Davidson 1970; Davidson and Beaver 1977; Fienberg and Larntz 1976 for the log-linear form.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy.stats import chi2, norm

from studies.preference.analysis.counts import FEW, LEAST_FOR_P, undefined
from studies.preference.analysis.detectable import smallest_coefficient
from studies.preference.analysis.loglinear import Array, fit, runaway
from studies.preference.analysis.rated import WORDS, Rated, pooled
from studies.preference.analysis.schema import Davidson, Estimate, Test

Z = float(norm.ppf(0.975))
LR = "likelihood ratio, no order term"
METHOD = "Davidson, Wald"
Setting = tuple[str, str, str]
Table = dict[Setting, list[int]]


@dataclass(frozen=True)
class Fitted:
    """One fit: parameter name to value and standard error; ``why`` says why there is none."""

    values: dict[str, float]
    errors: dict[str, float]
    deviance: float
    why: str = ""


def davidson(rows: Sequence[Rated], models: Sequence[str]) -> Davidson:
    """Fit to judged presentations.

    Args:
        rows: without automatic ties, which stood on no side.
        models: letters, the reference first.
    """
    table: Table = {}
    for one in rows:
        setting = (one.item.first, one.item.second, one.row.left)
        table.setdefault(setting, [0, 0, 0])[WORDS.index(one.word)] += 1
    found = davidson_of(table, models)
    note = pooled(rows) if found.converged else ""
    return replace(found, note="; ".join(part for part in (found.note, note) if part))


def davidson_of(table: Table, models: Sequence[str]) -> Davidson:
    """Fit to counts.

    Args:
        table: (first, second, left) to counts of first, second, tie.
        models: letters, the reference first.
    """
    n = sum(map(sum, table.values()))
    with_order = _fitted(table, models, order=True)
    without = _fitted(table, models, order=False)
    best = without if with_order.why else with_order
    note = "; ".join(dict.fromkeys(w for w in (with_order.why, without.why) if w))
    two = len(models) == 2
    return Davidson(
        models=tuple(models),
        log_worth=_worths(best, models, n),
        log_ratio=_estimate(best, models[1], n, sign=-1) if two else None,
        log_tie=_estimate(best, "tie", n),
        order=_estimate(with_order, "order", n),
        order_test=_order_test(with_order, without, n),
        without_order=_estimate(without, models[1], n, sign=-1) if two else None,
        converged=not best.why,
        note=note,
        order_smallest=_smallest(with_order),
    )


def _smallest(found: Fitted) -> float | None:
    return smallest_coefficient(found.errors["order"]) if "order" in found.errors else None


def _worths(best: Fitted, models: Sequence[str], n: int) -> dict[str, Estimate]:
    reference = Estimate(0.0, None, None, n, "ratings", METHOD, "the reference")
    return {models[0]: reference, **{m: _estimate(best, m, n) for m in models[1:]}}


def _estimate(found: Fitted, name: str, n: int, *, sign: int = 1) -> Estimate:
    if name not in found.values:
        return undefined(n, found.why or f"no {name}s", unit="ratings", method=METHOD)
    value, half = sign * found.values[name], Z * found.errors[name]
    return Estimate(value, value - half, value + half, n, "ratings", METHOD)


def _order_test(with_order: Fitted, without: Fitted, n: int) -> Test:
    why = with_order.why or without.why
    if why or n < LEAST_FOR_P:
        return Test(LR, None, None, None, n, note=why or FEW)
    statistic = max(0.0, without.deviance - with_order.deviance)
    return Test(LR, statistic, 1.0, float(chi2.sf(statistic, 1)), n)


def _fitted(table: Table, models: Sequence[str], *, order: bool) -> Fitted:
    known = {setting: counts for setting, counts in table.items() if sum(counts)}
    if not any(counts[0] + counts[1] for counts in known.values()):
        return Fitted({}, {}, 0.0, "no decided answers" if known else "nothing rated")
    ties = any(counts[2] for counts in known.values())
    names = [*models[1:], *(["tie"] if ties else []), *(["order"] if order else [])]
    design, counts = _design(known, models, names, words=3 if ties else 2)
    if np.linalg.matrix_rank(design) < design.shape[1]:
        return Fitted({}, {}, 0.0, _not_linked(known, models, order=order))
    away = runaway(design, counts)
    if away is not None:
        return Fitted({}, {}, 0.0, _empty(known, models, names, away[len(known) :]))
    found: Any = fit(design, counts, "poisson")
    places = range(len(known), design.shape[1])
    return Fitted(
        {name: float(found.params[p]) for name, p in zip(names, places, strict=True)},
        {name: float(found.bse[p]) for name, p in zip(names, places, strict=True)},
        float(found.deviance),
    )


def _design(
    table: Table, models: Sequence[str], names: Sequence[str], *, words: int
) -> tuple[Array, Array]:
    """One row for each setting and outcome; settings first, then the parameters by name."""
    rows, counts = [], []
    for place, (setting, found) in enumerate(sorted(table.items())):
        for outcome in WORDS[:words]:
            own = _parameters(setting, outcome)
            rows.append(
                [float(k == place) for k in range(len(table))] + [own.get(n, 0.0) for n in names]
            )
            counts.append(float(found[WORDS.index(outcome)]))
    return np.array(rows), np.array(counts)


def _parameters(setting: Setting, outcome: str) -> dict[str, float]:
    first, second, left = setting
    if outcome == "tie":
        return {first: 0.5, second: 0.5, "tie": 1.0}
    won = first if outcome == "first" else second
    return {won: 1.0, "order": 0.5 if won == left else -0.5}


def _not_linked(table: Table, models: Sequence[str], *, order: bool) -> str:
    seen = {name for setting in table for name in setting[:2]}
    unseen = [name for name in models if name not in seen]
    if unseen:
        return f"nothing rated of {', '.join(unseen)}"
    if order and len({(*s[:2], s[2] == s[0]) for s in table}) == len({s[:2] for s in table}):
        return "each pair stood one way round only: order cannot be told from worth"
    return "the models are not linked by comparisons"


def _empty(table: Table, models: Sequence[str], names: Sequence[str], away: Array) -> str:
    """Which outcomes never occurred, in words."""
    moving = [name for name, part in zip(names, away, strict=True) if abs(part) > 1e-6]
    if len(models) == 2:
        sums = np.array(list(table.values())).sum(axis=0)
        for name, other, count in ((*models, sums[0]), (*models[::-1], sums[1])):
            if count == 0:
                return f"{name} was never preferred to {other}"
    if "order" in moving and not set(moving) & set(models):
        return "one side was never preferred: no finite order term"
    stuck = [name for name in moving if name in models]
    named = f" ({', '.join(stuck)})" if stuck else ""
    return f"outcomes that never occurred leave no finite fit{named}"
