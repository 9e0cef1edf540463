"""Agreement within and between raters against irrCAC, krippendorff, statsmodels."""

from __future__ import annotations

import numpy as np
import pytest
from statsmodels.stats.inter_rater import cohens_kappa, fleiss_kappa

from studies.preference.analysis import coefficients
from studies.preference.analysis.agreement import agreement, between, majority, repeats
from studies.preference.analysis.rated import WORDS, rated
from tests.studies.analysis_material import item, matrix, row, study

# 40 items, three raters, some missing (-1); 0 first, 1 second, 2 tie
READINGS = [
    [2, 2, 2], [2, 2, 2], [1, 0, 1], [-1, 0, 0], [0, 0, 0], [0, 0, 0], [0, 0, 0], [0, 2, -1],
    [1, 0, 0], [2, 1, 0], [1, 1, 1], [0, -1, 0], [0, -1, 0], [2, 1, 2], [2, 2, 2], [2, 2, 2],
    [0, 0, 1], [0, 0, 1], [1, 1, 0], [0, 0, 2], [-1, -1, 1], [0, 0, 2], [2, 2, 2], [0, 0, 0],
    [1, 1, 1], [2, 2, 1], [0, 0, 2], [2, 2, 2], [2, 2, 2], [2, 1, 0], [1, 2, 1], [0, 0, 2],
    [1, 0, 2], [0, 0, 1], [0, 2, 0], [0, 1, 2], [2, 2, 2], [0, 0, 0], [0, 0, 2], [0, 1, 1],
]  # fmt: skip
PAIRS = [one[:2] for one in READINGS if -1 not in one[:2]]
# irrCAC 0.4.4, CAC(..., categories=[first, second, tie]): value and 95 % interval
IRRCAC = {
    ("three", "ac1"): (0.40748, 0.21529, 0.59967),
    ("three", "fleiss"): (0.37629, 0.18222, 0.57036),
    ("three", "alpha"): (0.37109, 0.17773, 0.56445),
    ("two", "ac1"): (0.55216, 0.3135, 0.79082),
    ("two", "fleiss"): (0.51913, 0.28171, 0.75654),
    ("two", "alpha"): (0.5258, 0.28839, 0.76322),
}


@pytest.mark.parametrize(("which", "name"), list(IRRCAC))
def test_coefficients_and_intervals_are_irrcac_s(which, name):
    counts = matrix(READINGS if which == "three" else PAIRS)
    found = getattr(coefficients, name)(counts)
    assert (found.value, found.low, found.high) == pytest.approx(IRRCAC[which, name], abs=2e-5)


def test_alpha_is_krippendorff_s():
    krippendorff = pytest.importorskip("krippendorff")
    data = np.array(READINGS, dtype=float).T
    data[data < 0] = np.nan
    theirs = krippendorff.alpha(reliability_data=data, level_of_measurement="nominal")
    assert coefficients.alpha(matrix(READINGS)).value == pytest.approx(theirs, abs=1e-12)


def test_fleiss_is_statsmodels_where_nobody_misses():
    whole = matrix([one for one in READINGS if -1 not in one])
    assert coefficients.fleiss(whole).value == pytest.approx(fleiss_kappa(whole), abs=1e-12)
    assert coefficients.raw(whole).value == pytest.approx(
        np.mean([(c * (c - 1)).sum() / 6 for c in whole])
    )


def test_kappa_of_two_is_cohen_s():
    pairs = [(WORDS[a], WORDS[b]) for a, b in PAIRS]
    found = agreement("x", pairs, alpha="nominal")
    theirs = cohens_kappa(np.array(found.table))
    assert (found.kappa.value, found.kappa.low, found.kappa.high) == pytest.approx(
        (theirs.kappa, theirs.kappa_low, theirs.kappa_upp)
    )
    assert (found.raw.value, found.n) == (pytest.approx(0.694444, abs=1e-6), 36)
    assert sum(map(sum, found.table)) == 36


def pairs_of(table: list[list[int]]) -> list[tuple[str, str]]:
    return [
        (WORDS[i], WORDS[j])
        for i, row in enumerate(table)
        for j, n in enumerate(row)
        for _ in range(n)
    ]


def test_the_paradox_of_kappa():
    """The same raters, one class more common: kappa collapses, AC1 does not.

    With exactly equal classes both are (0.8 - 1/3) / (2/3) = 0.70; the figures 0.68 and 0.71 of
    the project's notes are of some sample that was not quite balanced.
    """
    balanced = agreement("x", pairs_of([[80, 10, 10], [10, 80, 10], [10, 10, 80]]), alpha=None)
    assert balanced.raw.value == pytest.approx(0.8)
    assert (balanced.kappa.value, balanced.ac1.value) == pytest.approx((0.70, 0.70), abs=1e-9)
    skewed = agreement("x", pairs_of([[830, 35, 35], [35, 10, 5], [35, 5, 10]]), alpha=None)
    assert skewed.raw.value == pytest.approx(0.85)
    assert (skewed.kappa.value, skewed.ac1.value) == pytest.approx((0.19, 0.83), abs=0.005)


def twice(first: list[str], again: list[str], rater: str = "r"):
    """Items of one rater read twice, sides swapped."""
    items = [item(n, left="AB"[n % 2]) for n in range(len(first))]
    rows = [
        row(i, w, rater=rater, place=n + 1)
        for n, (i, w) in enumerate(zip(items, first, strict=True))
    ]
    rows += [
        row(
            i,
            w,
            rater=rater,
            place=len(first) + n + 1,
            kind="repeat",
            left="BA"["AB".index(i.left)],
        )
        for n, (i, w) in enumerate(zip(items, again, strict=True))
        if w
    ]
    return items, rows


def test_swapped_repeats_are_told_apart():
    first = ["first"] * 6 + ["second"] * 3 + ["both"] * 4 + ["neither"] * 2
    again = ["first"] * 4 + ["second", "both"] + ["second"] * 2 + ["first"]
    again += ["neither"] * 3 + ["first"] + ["neither", "second"]
    (found,) = repeats(study(*twice(first, again)))
    assert (found.n, found.same.count, found.flipped.count) == (15, 10, 2)
    assert (found.to_tie.count, found.from_tie.count) == (1, 2)  # both to neither is no change
    assert found.agreement.table == ((4, 1, 1), (1, 2, 0), (1, 1, 4))
    assert (found.drift.n, found.drift.statistic, found.drift.p) == (5, 2.0, None)


def test_a_repeat_without_both_answers_does_not_count():
    items, rows = twice(["first", "second", "both"], ["first", "", "cannot"])
    (found,) = repeats(study(items, rows))
    assert (found.n, found.same.count) == (1, 1)
    assert repeats(study(items, rows[:3])) == ()
    (found,) = repeats(study(items, [r for r in rows if r.kind == "repeat"]))
    assert (found.n, found.agreement.kappa.value, found.agreement.raw.value) == (0, None, None)


def test_several_raters_have_their_own_and_a_pooled_table():
    items, rows = twice(["first"] * 12, ["first"] * 9 + ["second"] * 3, "Ann")
    _, more = twice(["second"] * 12, ["second"] * 12, "Bob")
    ann, bob, pooled = repeats(study(items, rows + more))
    assert (ann.rater, bob.rater, pooled.rater) == ("Ann", "Bob", "all raters")
    assert (ann.same.count, bob.same.count, pooled.same.count, pooled.n) == (9, 12, 21, 24)
    assert repeats(study(items, rows + more), rater="Bob") == (bob,)
    assert (bob.agreement.kappa.value, bob.agreement.raw.value) == (None, 1.0)
    assert "every answer the same" in bob.agreement.kappa.note
    assert (bob.agreement.ac1.value, bob.agreement.ac1.low) == (1.0, None)


def test_raters_are_compared_two_by_two_and_all_together():
    items = [item(n) for n in range(len(READINGS))]
    rows = [
        row(items[n], (*WORDS[:2], "both")[code], rater="abc"[k], place=n + 1)
        for n, codes in enumerate(READINGS)
        for k, code in enumerate(codes)
        if code >= 0
    ]
    found = between(rated(study(items, rows)))
    assert [one.name for one in found] == ["a and b", "a and c", "b and c", "all raters"]
    assert [one.n for one in found] == [36, 37, 36, 39]
    everyone = found[-1]
    for name, one in (("ac1", everyone.ac1), ("fleiss", everyone.kappa), ("alpha", everyone.alpha)):
        assert one.value == pytest.approx(IRRCAC["three", name][0], abs=1e-5)
    assert everyone.table is None
    assert between(rated(study(items, rows), rater="a")) == ()


def test_one_vote_for_each_item():
    cast = {
        0: ["first", "first", "second"],
        1: ["first", "second", "both"],
        2: ["both", "neither", "both"],
        3: ["neither", "both"],
        4: ["second"],
        5: ["first", "second"],
    }
    items = [item(n) for n in cast]
    rows = [
        row(items[n], word, rater="abc"[k])
        for n, words in cast.items()
        for k, word in enumerate(words)
    ]
    found = [one.preferred for one in majority(rated(study(items, rows)))]
    assert found == ["first", "split", "both", "split", "second", "split"]
    assert [one.word for one in majority(rated(study(items, rows)))].count("tie") == 4
