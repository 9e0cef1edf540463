"""Whether a log-linear or logistic model has a finite best fit, and the fit.

Owns the exact check for separation by linear programming, so that an empty category is named
and never becomes a huge number. Refuses to fit what has no finite answer.
Source: Albert and Anderson 1984; Haberman 1974 for log-linear models.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import linprog

Array = NDArray[np.float64]
CLOSE = 1e-7


def independent(columns: Array, keep: int = 0) -> list[int]:
    """Columns that add something to those before them.

    Args:
        columns: the design [rows, columns].
        keep: the number of rows is taken as given; columns before this place must all stay.
    """
    kept: list[int] = []
    for place in range(columns.shape[1]):
        if np.linalg.matrix_rank(columns[:, [*kept, place]]) > len(kept):
            kept.append(place)
        elif place < keep:
            return []
    return kept


def runaway(design: Array, counts: Array) -> Array | None:
    """A direction in which the likelihood of a Poisson log-linear model rises without end.

    Args:
        design: [cells, parameters].
        counts: [cells].

    Returns:
        The direction [parameters], None where the best fit is finite.
    """
    empty, filled = design[counts == 0], design[counts > 0]
    if len(empty) == 0:
        return None
    found = linprog(
        empty.sum(axis=0),
        A_ub=empty,
        b_ub=np.zeros(len(empty)),
        A_eq=filled if len(filled) else None,
        b_eq=np.zeros(len(filled)) if len(filled) else None,
        bounds=(-1, 1),
    )
    return np.asarray(found.x) if found.success and found.fun < -CLOSE else None


def separated(design: Array, outcome: Array) -> bool:
    """Whether a logistic model's best fit is infinite."""
    signed = design * np.where(outcome > 0, 1.0, -1.0)[:, None]
    found = linprog(-signed.sum(axis=0), A_ub=-signed, b_ub=np.zeros(len(signed)), bounds=(-1, 1))
    return bool(found.success and found.fun < -CLOSE)


def fit(design: Array, outcome: Array, family: str) -> Any:
    """A generalised linear model by statsmodels.

    Args:
        design: [rows, parameters].
        outcome: [rows].
        family: ``poisson`` or ``binomial``.
    """
    # its parts by name: the whole library takes twice as long to load
    from statsmodels.genmod.families import Binomial, Poisson
    from statsmodels.genmod.generalized_linear_model import GLM
    from statsmodels.tools.sm_exceptions import PerfectSeparationWarning

    kind = Poisson() if family == "poisson" else Binomial()
    # a fit that meets every cell is no fault here: whether one exists was checked beforehand
    with np.errstate(divide="ignore", invalid="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore", PerfectSeparationWarning)
        # by the parameters: by the deviance they, and errors more so, may still be 1e-8 away
        return GLM(outcome, design, family=kind).fit(
            atol=1e-10, rtol=1e-10, tol_criterion="params", maxiter=200
        )


def dummies(values: Sequence[str]) -> Array:
    """One column for each value but the first in order [rows, values - 1]."""
    names = sorted(set(values))[1:]
    return np.array([[float(v == name) for name in names] for v in values]).reshape(len(values), -1)
