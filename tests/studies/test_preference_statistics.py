"""The golden values of the paper's reader study, recomputed with an independent library."""

from __future__ import annotations

import pytest
from statsmodels.stats.proportion import proportion_confint

from studies.preference.statistics import block, preferred_of, share, sign_test


def rated(a: int, b: int, both: int = 0, neither: int = 0, auto: int = 0) -> list[str]:
    return ["A"] * a + ["B"] * b + ["both"] * both + ["neither"] * neither + ["auto_tie"] * auto


PAPER = block("all", "All", rated(260, 122, 90, 58))


@pytest.mark.parametrize(
    ("name", "value", "low", "high"),
    [
        ("a", 0.4906, 0.4482, 0.5330),
        ("b", 0.2302, 0.1964, 0.2679),
        ("tie", 0.2792, 0.2427, 0.3189),
        ("a_decided", 0.6806, 0.6323, 0.7254),
    ],
)
def test_shares_of_the_paper(name, value, low, high):
    found = getattr(PAPER, name)
    assert (found.share, found.low, found.high) == pytest.approx((value, low, high), abs=5e-5)
    independent = proportion_confint(found.count, found.n, method="wilson")
    assert (found.low, found.high) == pytest.approx(independent, abs=1e-12)


def test_sign_test_of_the_paper():
    assert PAPER.p == pytest.approx(1.37e-12, rel=0.005)


def test_percentages_as_printed():
    printed = [round(100 * getattr(PAPER, name).share, 1) for name in ("a", "b", "tie")]
    assert printed == [49.1, 23.0, 27.9]


def test_the_example_stratum():
    found = block("only_a", "Only A right", rated(110, 45, 60, 45))
    decided = found.a_decided
    assert (decided.share, decided.low, decided.high) == pytest.approx(
        (0.710, 0.634, 0.775), abs=5e-4
    )
    assert found.p == pytest.approx(1.8e-7, rel=0.02)
    assert [round(100 * s.share, 1) for s in (found.a, found.b)] == [42.3, 17.3]


def test_the_position_vector():
    left = share(212, 382)
    assert (left.share, left.low, left.high) == pytest.approx((0.555, 0.505, 0.604), abs=5e-4)
    assert sign_test(212, 170) == pytest.approx(0.036, abs=5e-4)


def test_the_two_ties_are_kept_apart_and_joined():
    found = block("x", "X", rated(3, 1, 4, 2, auto=5))
    assert (found.both.count, found.neither.count, found.auto_tie.count) == (4, 2, 5)
    assert (found.tie.count, found.n, found.a_decided.n) == (11, 15, 4)


@pytest.mark.parametrize(("a", "b", "given"), [(9, 0, False), (10, 0, True), (5, 5, True)])
def test_no_p_value_below_ten_decided(a, b, given):
    assert (sign_test(a, b) is not None) == given
    assert block("x", "X", rated(a, b)).a_decided.low is not None


def test_nothing_rated_gives_no_number():
    found = block("x", "X", [])
    assert (found.n, found.p, found.a) == (0, None, share(0, 0))
    assert found.a.share is None


@pytest.mark.parametrize(
    ("answer", "left", "swapped", "expected"),
    [
        ("left", "A", False, "A"),
        ("right", "A", False, "B"),
        ("left", "B", False, "B"),
        ("right", "B", False, "A"),
        ("left", "A", True, "B"),
        ("right", "B", True, "B"),
        ("both", "A", False, "both"),
        ("neither", "B", True, "neither"),
    ],
)
def test_sides_become_models(answer, left, swapped, expected):
    assert preferred_of(answer, left, swapped=swapped) == expected
