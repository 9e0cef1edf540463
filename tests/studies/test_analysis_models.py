"""Davidson's model for two and more models, and what becomes of empty categories."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import minimize
from statsmodels.tools.numdiff import approx_hess

from studies.preference.analysis.davidson import davidson_of
from tests.studies.analysis_material import needs_r, r

# (first, second, left) to first, second, tie preferred
THREE = {
    ("A", "B", "A"): [40, 15, 12],
    ("A", "B", "B"): [30, 22, 14],
    ("A", "C", "A"): [35, 20, 11],
    ("A", "C", "C"): [28, 25, 13],
    ("B", "C", "B"): [20, 28, 18],
    ("B", "C", "C"): [18, 33, 15],
}


def likelihood(parameters, table, models):
    """Minus the log-likelihood, from the chances of Davidson and Beaver themselves."""
    *worths, tie, order = parameters
    worth = dict(zip(models, [0.0, *worths], strict=True))
    total = 0.0
    for (first, second, left), (a, b, t) in table.items():
        side = order / 2 if left == first else -order / 2
        win, lose = np.exp(worth[first] + side), np.exp(worth[second] - side)
        draw = np.exp(tie) * np.sqrt(np.exp(worth[first] + worth[second]))
        total += a * np.log(win) + b * np.log(lose) + t * np.log(draw)
        total -= (a + b + t) * np.log(win + lose + draw)
    return -total


def test_three_models_are_the_maximum_of_the_likelihood():
    found = davidson_of(THREE, ("A", "B", "C"))
    fitted = minimize(likelihood, np.zeros(4), args=(THREE, "ABC"), options={"gtol": 1e-9})
    mine = (found.log_worth["B"], found.log_worth["C"], found.log_tie, found.order)
    assert [one.value for one in mine] == pytest.approx(fitted.x, abs=1e-5)
    curved = approx_hess(fitted.x, likelihood, args=(THREE, "ABC"))
    errors = [(one.high - one.low) / (2 * 1.959964) for one in mine]
    assert errors == pytest.approx(np.sqrt(np.diag(np.linalg.inv(curved))), rel=1e-4)
    plain = minimize(
        lambda p: likelihood([*p, 0.0], THREE, "ABC"), np.zeros(3), options={"gtol": 1e-9}
    )
    assert found.order_test.statistic == pytest.approx(2 * (plain.fun - fitted.fun), abs=1e-6)
    assert (found.log_ratio, found.without_order, found.converged) == (None, None, True)
    assert found.log_worth["A"].value == 0


@needs_r
def test_r_fits_the_same_three_models():
    rows = []
    for place, ((first, second, left), counts) in enumerate(THREE.items()):
        for word, count in zip(("first", "second", "tie"), counts, strict=True):
            won = {"first": first, "second": second}.get(word)
            worth = [0.5 * (m in (first, second)) if won is None else float(m == won) for m in "BC"]
            side = 0 if won is None else 0.5 if won == left else -0.5
            rows.append((count, place, *worth, float(won is None), side))
    columns = ";".join(
        f"{name} <- c({','.join(str(row[k]) for row in rows)})"
        for k, name in enumerate(("y", "s", "b", "c2", "tie", "side"))
    )
    theirs = r(f"""
        {columns}
        fit <- glm(y ~ factor(s) + b + c2 + tie + side, poisson, epsilon = 1e-12)
        cat(sprintf("%.12g", coef(fit)[7:10]), sprintf("%.12g", sqrt(diag(vcov(fit)))[7:10]))
    """)
    found = davidson_of(THREE, ("A", "B", "C"))
    mine = (found.log_worth["B"], found.log_worth["C"], found.log_tie, found.order)
    assert [one.value for one in mine] == pytest.approx(theirs[:4], abs=1e-6)
    errors = [(one.high - one.low) / (2 * 1.959963985) for one in mine]
    assert errors == pytest.approx(theirs[4:], rel=1e-5)


def without_ties():
    """Both ways round alike, so that the order term is nought and the rest is Bradley-Terry."""
    pairs = {("A", "B"): (40, 15), ("A", "C"): (35, 20), ("B", "C"): (20, 28)}
    return {(*pair, left): [*counts, 0] for pair, counts in pairs.items() for left in pair}, pairs


def test_without_ties_it_is_bradley_terry_by_choix():
    choix = pytest.importorskip("choix")
    table, pairs = without_ties()
    found = davidson_of(table, ("A", "B", "C"))
    data = []
    for (first, second), (a, b) in pairs.items():
        i, j = "ABC".index(first), "ABC".index(second)
        data += [(i, j)] * (2 * a) + [(j, i)] * (2 * b)
    theirs = choix.opt_pairwise(3, data, tol=1e-10)
    mine = [found.log_worth[letter].value for letter in "ABC"]
    assert np.subtract(mine, np.mean(mine)) == pytest.approx(theirs - np.mean(theirs), abs=1e-4)
    assert found.order.value == pytest.approx(0, abs=1e-8)
    assert (found.log_tie.value, found.log_tie.note) == (None, "no ties")


def test_without_ties_it_is_bradley_terry_by_evalica():
    evalica = pytest.importorskip("evalica")
    table, pairs = without_ties()
    xs, ys, winners = [], [], []
    for (first, second), (a, b) in pairs.items():
        xs += [first] * (a + b)
        ys += [second] * (a + b)
        winners += [evalica.Winner.X] * a + [evalica.Winner.Y] * b
    scores = evalica.bradley_terry(xs, ys, winners, tolerance=1e-10, limit=10_000).scores
    found = davidson_of(table, ("A", "B", "C"))
    for letter in "BC":
        assert found.log_worth[letter].value == pytest.approx(
            np.log(scores[letter] / scores["A"]), abs=1e-5
        )


@pytest.mark.parametrize(
    ("table", "words"),
    [
        ({}, "nothing rated"),
        ({("A", "B", "A"): [0, 0, 9], ("A", "B", "B"): [0, 0, 4]}, "no decided answers"),
        ({("A", "B", "A"): [9, 0, 3], ("A", "B", "B"): [5, 0, 2]}, "B was never preferred to A"),
        ({("A", "B", "A"): [0, 9, 0], ("A", "B", "B"): [0, 5, 0]}, "A was never preferred to B"),
    ],
)
def test_two_models_that_cannot_be_fitted_say_why(table, words):
    found = davidson_of(table, ("A", "B"))
    assert (found.converged, found.log_ratio.value, found.order.value) == (False, None, None)
    assert words in found.note
    assert (found.order_test.p, words in found.order_test.note) == (None, True)


def test_always_the_same_side_still_gives_the_worth():
    """Left was always preferred: no finite order term, and the worths without it stand."""
    found = davidson_of({("A", "B", "A"): [30, 0, 5], ("A", "B", "B"): [0, 20, 5]}, ("A", "B"))
    assert (found.order.value, found.converged) == (None, True)
    assert "one side was never preferred" in found.note
    assert found.log_ratio.value == pytest.approx(np.log(30 / 20), abs=1e-6)


def test_one_way_round_only_gives_no_order_term():
    found = davidson_of({("A", "B", "A"): [30, 10, 5]}, ("A", "B"))
    assert found.order.value is None
    assert "one way round" in found.note
    assert found.log_ratio.value == pytest.approx(np.log(3), abs=1e-6)


@pytest.mark.parametrize(
    ("table", "words"),
    [
        ({("A", "B", "A"): [9, 4, 3], ("A", "B", "B"): [5, 6, 2]}, "nothing rated of C"),
        (
            {
                **{s: [5, 6, 2] for s in (("A", "B", "A"), ("A", "B", "B"))},
                **{s: [7, 0, 0] for s in (("A", "C", "A"), ("A", "C", "C"))},
            },
            "no finite fit (C)",
        ),
        (
            {
                **{s: [5, 6, 2] for s in (("A", "B", "A"), ("A", "B", "B"))},
                **{s: [7, 3, 1] for s in (("C", "D", "C"), ("C", "D", "D"))},
            },
            "not linked",
        ),
    ],
)
def test_more_models_that_cannot_be_fitted_say_why(table, words):
    models = tuple(sorted({name for setting in table for name in setting} | {"C"}))
    found = davidson_of(table, models)
    assert not found.converged
    assert words in found.note
    assert found.log_worth["B"].value is None


def test_few_ratings_give_an_interval_and_no_p():
    found = davidson_of({("A", "B", "A"): [2, 1, 1], ("A", "B", "B"): [1, 1, 1]}, ("A", "B"))
    assert found.log_ratio.low is not None
    assert found.order_test.p is None
