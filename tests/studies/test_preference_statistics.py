"""The golden values of the paper's reader study, each recomputed with an independent library."""

from __future__ import annotations

from math import log, sqrt

import numpy as np
import pytest
from scipy.optimize import minimize
from scipy.stats import chi2
from statsmodels.stats.proportion import proportion_confint
from statsmodels.stats.weightstats import DescrStatsW

from studies.preference.analysis.blocks import block
from studies.preference.analysis.counts import clopper_pearson, share, sign_test
from studies.preference.analysis.davidson import davidson
from studies.preference.analysis.rated import preferred_of, rated
from studies.preference.analysis.side import side_bias, smallest_detectable
from tests.studies.analysis_material import POSITION, counted, how, needs_r, r

PAPER = {("A", "first"): 130, ("B", "first"): 130, ("A", "second"): 61, ("B", "second"): 61}
PAPER |= {("A", "both"): 45, ("B", "both"): 45, ("A", "neither"): 29, ("B", "neither"): 29}


class Numbers:
    """The parts of a pair that these tests look at."""

    def __init__(self, counts, *, tasks: int = 10) -> None:
        rows = rated(counted(counts, tasks=tasks))
        self.overall = block("all", "all", "All", rows, how(4000))
        self.davidson = davidson(rows, ("A", "B"))
        self.side = side_bias(rows)


@pytest.fixture(scope="module")
def paper():
    """The counts recovered from the published percentages, every item a task of its own."""
    return Numbers(PAPER, tasks=530)


@pytest.fixture(scope="module")
def position():
    return Numbers(POSITION, tasks=107)


@pytest.mark.parametrize(
    ("name", "value", "wilson", "exact"),
    [
        ("first", 0.4906, (0.4482, 0.5330), (0.4472, 0.5340)),
        ("second", 0.2302, (0.1964, 0.2679), (0.1950, 0.2684)),
        ("tie", 0.2792, (0.2427, 0.3189), (0.2414, 0.3195)),
        ("first_decided", 0.6806, (0.6323, 0.7254), (0.6313, 0.7271)),
    ],
)
def test_shares_of_the_paper(paper, name, value, wilson, exact):
    found = getattr(paper.overall, name)
    assert (found.share, found.low, found.high) == pytest.approx((value, *wilson), abs=5.1e-5)
    independent = proportion_confint(found.count, found.n, method="wilson")
    assert (found.low, found.high) == pytest.approx(independent, abs=1e-12)
    wide = clopper_pearson(found.count, found.n)
    assert (wide.low, wide.high) == pytest.approx(exact, abs=5.1e-5)
    independent = proportion_confint(found.count, found.n, method="beta")
    assert (wide.low, wide.high) == pytest.approx(independent, abs=1e-9)


def test_percentages_as_printed(paper):
    overall = paper.overall
    printed = [round(100 * getattr(overall, n).share, 1) for n in ("first", "second", "tie")]
    assert printed == [49.1, 23.0, 27.9]
    assert (overall.first.count, overall.second.count, overall.tie.count) == (260, 122, 148)


def test_sign_test_of_the_paper(paper):
    assert paper.overall.sign.p == pytest.approx(1.37e-12, rel=0.005)


def test_net_preference_of_the_paper(paper):
    """Wald by statsmodels from the items; the bootstrap of independent items comes close to it."""
    overall = paper.overall
    values = np.repeat([1.0, 0.0, -1.0], [260, 148, 122])
    wald = DescrStatsW(values, weights=np.ones(530))
    error = sqrt(wald.var / 530)
    assert overall.net.value == pytest.approx(wald.mean, abs=1e-12)
    assert (wald.mean, error) == pytest.approx((0.2604, 0.0351), abs=5e-5)
    expected = (0.1916, 0.3292)
    assert (wald.mean - 1.96 * error, wald.mean + 1.96 * error) == pytest.approx(expected, abs=5e-5)
    for found in (overall.net, overall.net_bca, overall.net_tasks):
        assert (found.low, found.high) == pytest.approx(expected, abs=0.006)


def likelihood(table, parameters, *, order):
    """Minus the log-likelihood of Davidson's model of two, written out anew.

    Args:
        table: rows A left, B left; columns A, B, tie preferred.
        parameters: log ratio, log nu, and the order term.
    """
    ratio, tie = parameters[:2]
    side = parameters[2] if order else 0.0
    total = 0.0
    for counts, sign in zip(table, (1, -1), strict=True):
        terms = np.array([ratio / 2 + sign * side / 2, -ratio / 2 - sign * side / 2, tie])
        total += counts @ (terms - np.log(np.exp(terms).sum()))
    return -total


def best(table, *, order):
    start = np.zeros(3 if order else 2)
    return minimize(
        lambda p: likelihood(np.array(table), p, order=order), start, options={"gtol": 1e-9}
    )


def test_davidson_of_the_paper(paper):
    found = paper.davidson.without_order
    error = (found.high - found.low) / (2 * 1.959964)
    assert (found.value, error) == pytest.approx((0.7567, 0.1097), abs=5e-5)
    assert np.exp(found.value) == pytest.approx(2.131, abs=5e-4)
    assert np.exp(paper.davidson.log_tie.value) == pytest.approx(0.831, abs=5e-4)
    fitted = best([[130, 61, 74], [130, 61, 74]], order=False)
    assert (found.value, paper.davidson.log_tie.value) == pytest.approx(fitted.x, abs=1e-5)
    assert error == pytest.approx(sqrt(fitted.hess_inv[0, 0]), rel=0.02)


def test_ties_as_half_wins_are_smaller(paper):
    """Why it is not the primary analysis."""
    evalica = pytest.importorskip("evalica")
    winners = [evalica.Winner.X] * 260 + [evalica.Winner.Y] * 122 + [evalica.Winner.Draw] * 148
    fitted = evalica.bradley_terry(["A"] * 530, ["B"] * 530, winners, tie_weight=0.5).scores
    half = log(fitted["A"] / fitted["B"])
    assert half == pytest.approx(log((260 + 74) / (122 + 74)), abs=1e-4)
    assert half == pytest.approx(0.533, abs=5e-4)
    assert half / paper.davidson.without_order.value == pytest.approx(0.70, abs=0.01)


def test_the_example_stratum():
    counts = {("A", "first"): 110, ("A", "second"): 45, ("A", "both"): 105}
    overall = Numbers(counts).overall
    decided = overall.first_decided
    assert (decided.share, decided.low, decided.high) == pytest.approx(
        (0.710, 0.634, 0.775), abs=5e-4
    )
    assert overall.sign.p == pytest.approx(1.8e-7, rel=0.02)
    assert [round(100 * s.share, 1) for s in (overall.first, overall.second)] == [42.3, 17.3]


def test_the_position_vector(position):
    side = position.side
    left = side.left
    assert (left.count, left.n) == (212, 382)
    assert (left.share, left.low, left.high) == pytest.approx((0.555, 0.505, 0.604), abs=5e-4)
    assert side.sign.p == pytest.approx(0.036, abs=5e-4)
    assert (side.first_when_left.share, side.first_when_right.share) == pytest.approx(
        (0.737, 0.625), abs=5e-4
    )
    assert side.averaged == pytest.approx(0.681, abs=5e-4)


def test_davidson_with_order_term(position):
    found = position.davidson
    assert (found.log_ratio.value, found.order.value) == pytest.approx((0.764, 0.244), abs=5e-4)
    assert (found.order_test.statistic, found.order_test.p) == pytest.approx(
        (5.11, 0.024), abs=2e-3
    )
    table = [[140, 50, 75], [120, 72, 73]]
    full, plain = best(table, order=True), best(table, order=False)
    mine = (found.log_ratio.value, found.log_tie.value, found.order.value)
    assert mine == pytest.approx(full.x, abs=1e-5)
    assert found.order_test.statistic == pytest.approx(2 * (plain.fun - full.fun), abs=1e-6)
    assert found.order_test.p == pytest.approx(chi2.sf(2 * (plain.fun - full.fun), 1), abs=1e-6)
    assert found.without_order.value == pytest.approx(plain.x[0], abs=1e-5)


def test_side_bias_that_could_be_found():
    """80 % power at 382 decided: about 7.2 points."""
    assert smallest_detectable(382) == pytest.approx(0.072, abs=5e-4)
    assert smallest_detectable(0) is None
    assert smallest_detectable(5) is None  # no bias at all is small enough to be missed


@needs_r
def test_r_has_the_same_numbers(paper, position):
    """prop.test, binom.test and glm of R."""
    numbers = r("""
        cat(prop.test(260, 530, correct = FALSE)$conf.int, binom.test(260, 382)$p.value,
            binom.test(212, 382)$p.value, binom.test(148, 530)$conf.int, sep = "\n")
        y <- c(140, 50, 75, 120, 72, 73)
        setting <- gl(2, 3)
        ratio <- c(1, 0, .5, 1, 0, .5)
        tie <- c(0, 0, 1, 0, 0, 1)
        order <- c(.5, -.5, 0, -.5, .5, 0)
        options(digits = 15)
        full <- glm(y ~ setting + ratio + tie + order, poisson, epsilon = 1e-12)
        plain <- glm(y ~ setting + ratio + tie, poisson, epsilon = 1e-12)
        cat("\n", coef(full)[3:5], sqrt(diag(vcov(full)))[3:5], deviance(plain) - deviance(full))
    """)
    block, fit = paper.overall, position.davidson
    tie = clopper_pearson(148, 530)
    expected = [block.first.low, block.first.high, block.sign.p, position.side.sign.p]
    expected += [tie.low, tie.high]
    expected += [one.value for one in (fit.log_ratio, fit.log_tie, fit.order)]
    expected += [
        (one.high - one.low) / (2 * 1.959963985) for one in (fit.log_ratio, fit.log_tie, fit.order)
    ]
    expected += [fit.order_test.statistic]
    assert numbers == pytest.approx(expected, rel=1e-5)


@pytest.mark.parametrize(("first", "second", "given"), [(9, 0, False), (10, 0, True), (5, 5, True)])
def test_no_p_value_below_ten_decided(first, second, given):
    found = sign_test(first, second)
    assert (found.p is not None) == given
    assert bool(found.note) != given
    assert share(first, first + second).low is not None


@pytest.mark.parametrize(
    ("answer", "left", "expected"),
    [
        ("left", "B", "first"),
        ("right", "B", "second"),
        ("left", "C", "second"),
        ("right", "C", "first"),
        ("both", "B", "both"),
        ("neither", "C", "neither"),
        ("cannot", "C", "cannot"),
        ("", "B", ""),
    ],
)
def test_sides_become_models(answer, left, expected):
    assert preferred_of(answer, left, first="B", second="C") == expected
