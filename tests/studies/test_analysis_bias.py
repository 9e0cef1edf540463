"""The bias panel: length of texts, look-alikes, sides by form, difficulty, what could be found.

Numbers are held against R's ``glm`` and statsmodels' power classes, which share no code with
ours; rates of simulated readers are in ``tests.bench.readers``.
"""

from __future__ import annotations

from dataclasses import replace
from math import exp, log

import numpy as np
import pytest
from scipy.stats import binom
from scipy.stats import t as student
from statsmodels.discrete.discrete_model import Logit
from statsmodels.stats.multitest import multipletests
from statsmodels.stats.power import GofChisquarePower, NormalIndPower
from statsmodels.stats.proportion import proportion_confint

from studies.preference.analysis.analyse import analyse
from studies.preference.analysis.bias import length_bias, lookalike_bias, side_by_form
from studies.preference.analysis.davidson import davidson
from studies.preference.analysis.detectable import (
    smallest_detectable,
    smallest_effect,
    smallest_ratio,
)
from studies.preference.analysis.fatigue import fatigue
from studies.preference.analysis.rated import DECIDED, rated
from studies.preference.analysis.readers import READERS, Hidden, Reader, at_work
from studies.preference.analysis.schema_bias import NOT_RECORDED
from studies.preference.analysis.simulate import World, simulated
from studies.preference.analysis.stream import Replay
from studies.preference.kit.bias import bias_grid, bias_words, pair_lines
from studies.preference.kit.layout import grids_of
from studies.preference.lists import (
    DIFFICULTIES,
    DIFFICULTY_TITLES,
    DIFFICULTY_WORDS,
    difficulty_of,
)
from studies.preference.panels import Panel
from studies.preference.session import Presentation
from tests.studies.analysis_material import item, needs_r, r, row, study, vector
from tests.studies.kit_tables import made

STUDIES = 30
WORLD = World(guess_items=0, repeat_share=0.0)


def readings(name: str, seed: int, world: World = WORLD):
    return rated(simulated(world, [READERS[name]], seed))


def decided_texts(rows):
    """Doublings and whether the first was preferred, of what the slope is fitted to."""
    kept = [o for o in rows if o.item.doublings is not None and o.preferred in DECIDED]
    doublings = np.array([one.item.doublings for one in kept])
    return doublings, np.array([float(one.preferred == "first") for one in kept])


# --- longer texts


def test_the_slope_is_that_of_another_logistic_regression():
    rows = readings("length-biased", 3)
    doublings, first = decided_texts(rows)
    theirs = Logit(first, np.column_stack([np.ones(len(first)), doublings])).fit(disp=0, tol=1e-12)
    found = length_bias(rows)
    low, high = theirs.conf_int()[1]
    assert (found.slope.value, found.slope.low, found.slope.high, found.slope.n) == (
        pytest.approx(theirs.params[1], rel=1e-6),
        pytest.approx(low, rel=1e-6),
        pytest.approx(high, rel=1e-6),
        len(first),
    )
    ratio = 2 * (theirs.llf - theirs.llnull)
    assert found.slope_test.statistic == pytest.approx(ratio, rel=1e-6)
    assert found.slope_smallest == pytest.approx(2.8015852 * theirs.bse[1], rel=1e-6)


@needs_r
def test_r_gives_the_same_slope_and_share():
    rows = readings("length-biased", 4)
    doublings, first = decided_texts(rows)
    slope, error, ratio, p, share_p = r(f"""
        x <- {vector(doublings)}; y <- {vector(first)}
        fit <- glm(y ~ x, family = binomial); both <- summary(fit)$coefficients[2, 1:2]
        test <- anova(glm(y ~ 1, family = binomial), fit, test = "LRT")
        hits <- sum((y == 1) == (x > 0) & x != 0)
        cat(format(c(both, test$Deviance[2], test$`Pr(>Chi)`[2],
                     binom.test(hits, sum(x != 0))$p.value), digits = 15))
    """)
    found = length_bias(rows)
    assert found.slope.value == pytest.approx(slope, rel=1e-5)
    assert found.slope.high - found.slope.value == pytest.approx(1.959964 * error, rel=1e-5)
    assert found.slope_test.statistic == pytest.approx(ratio, rel=1e-5)
    assert found.slope_test.p == pytest.approx(p, rel=1e-4)
    assert found.sign.p == pytest.approx(share_p, rel=1e-6)


def test_the_longer_list_is_counted_by_its_words_whoever_made_it():
    """First longer and preferred, second longer and preferred, longer and not, equal, a tie."""
    facts = [
        ((40.0, 20.0), "first"), ((10.0, 20.5), "second"), ((9.0, 3.0), "second"),
        ((7.0, 7.0), "first"), ((50.0, 5.0), "both"), ((0.0, 5.0), "second"), ((0.0, 0.0), "first"),
        ((None, None), "first"),
    ]  # fmt: skip
    items = [item(n, words_first=w[0], words_second=w[1]) for n, (w, _) in enumerate(facts)]
    pairs = zip(items, facts, strict=True)
    rows = [row(one, liked, place=n) for n, (one, (_, liked)) in enumerate(pairs, 1)]
    found = length_bias(rated(study(items, rows)))
    assert (found.longer.count, found.longer.n, found.recorded, found.note) == (2, 3, 7, "")
    assert (found.slope.n, found.slope_test.p) == (4, None)
    low, high = proportion_confint(2, 3, method="wilson")
    assert (found.longer.low, found.longer.high) == pytest.approx((low, high))


def test_a_model_with_longer_texts_that_is_liked_is_no_length_bias():
    """The share is misled, the slope is not: which model it is stands in the constant."""
    rng = np.random.default_rng(2)
    items, rows = [], []
    for n in range(400):
        words = (float(rng.integers(60, 200)), float(rng.integers(5, 50)))
        items.append(item(n, words_first=words[0], words_second=words[1]))
        rows.append(row(items[-1], "first" if rng.random() < 0.7 else "second", place=n + 1))
    found = length_bias(rated(study(items, rows)))
    assert found.sign.p < 1e-9
    assert found.slope_test.p > 0.05


@pytest.mark.parametrize(
    ("words", "liked", "note", "why"),
    [
        ((None, None), "first", NOT_RECORDED, "too few"),
        ((0.0, 0.0), "first", "no item shows words in both lists", "too few"),
        ((8.0, 4.0), "first", "", "never varies"),
    ],
)
def test_what_cannot_be_told_says_why(words, liked, note, why):
    items = [item(n, words_first=words[0], words_second=words[1]) for n in range(20)]
    rows = [row(one, liked, place=n) for n, one in enumerate(items, 1)]
    found = length_bias(rated(study(items, rows)))
    assert found.note == note
    assert found.slope.value is None
    assert why in found.slope.note
    assert length_bias(()).note == "nothing was rated"


def test_a_reader_of_long_texts_is_flagged_and_an_unbiased_one_is_not():
    """Of 1,400 studies each the slope flags 99.2 % and 6.1 % (chance is 5 %, error 0.6 %)."""
    p = {
        name: [length_bias(readings(name, 500 + seed)).slope_test.p for seed in range(STUDIES)]
        for name in ("unbiased", "length-biased", "left-biased")
    }
    at_most = binom.ppf(0.999, STUDIES, 0.05) / STUDIES
    assert np.mean(np.array(p["length-biased"]) < 0.05) >= 0.9
    assert np.mean(np.array(p["unbiased"]) < 0.05) <= at_most
    assert np.mean(np.array(p["left-biased"]) < 0.05) <= at_most


def test_a_reader_of_long_texts_reads_so_in_a_real_session():
    """The habit turns with the sides of a repeat."""
    reader = replace(READERS["length-biased"], noise=0.0, width=0.0)
    answer = at_work(reader, {"x": Hidden(0.0, True, True, doublings=2.0)}, 1)
    shown = Presentation("x", "", Panel("text", (), ""), (), (), 1, 2)
    assert answer(shown)[0] == "left"
    assert answer(replace(shown, kind="repeat"))[0] == "right"


# --- look-alikes, forms, difficulty


def test_a_look_alike_counts_where_one_list_alone_holds_one():
    facts = [
        ("first", "none", "first"), ("none", "second", "second"), ("first", "second", "first"),
        ("both", "none", "first"), ("second", "unknown", "first"), ("none", "none", "first"),
        ("", "", "first"), ("first", "unknown", "neither"),
    ]  # fmt: skip
    items = [item(n, near_query=one, same_patient=own) for n, (one, own, _) in enumerate(facts)]
    pairs = zip(items, facts, strict=True)
    rows = [row(one, f[2], place=n) for n, (one, f) in enumerate(pairs, 1)]
    found = lookalike_bias(rated(study(items, rows)))
    assert (found.preferred.count, found.preferred.n, found.recorded) == (2, 3, 7)
    assert (found.near_query.count, found.near_query.n) == (2, 3)
    assert (found.same_patient.count, found.same_patient.n) == (1, 2)
    bare = lookalike_bias(rated(study([item(1)], [row(item(1), "first")])))
    assert (bare.note, bare.preferred.n) == (NOT_RECORDED, 0)


def test_sides_by_form_are_tested_once_and_each_with_holm():
    rows = readings("left-biased", 6)
    found = side_by_form(rows, Replay(1))
    decided = [one for one in rows if one.preferred in DECIDED]
    assert [one.name for one in found.groups] == ["2d", "3d", "text"]
    assert sum(one.left.n for one in found.groups) == len(decided)
    assert [one.sign.p_holm for one in found.groups] == pytest.approx(
        multipletests([one.sign.p for one in found.groups], method="holm")[1]
    )
    counts = [[one.left.count, one.left.n - one.left.count] for one in found.groups]
    expected = np.outer(np.sum(counts, 1), np.sum(counts, 0)) / np.sum(counts)
    assert found.heterogeneity.statistic == pytest.approx(
        ((counts - expected) ** 2 / expected).sum()
    )
    assert (found.heterogeneity.name, found.heterogeneity.df) == ("chi-square of left, right", 2)


@pytest.mark.parametrize(
    ("ranks", "name"),
    [((1, 40), "easy"), ((3, 2), "moderate"), ((11, 10), "hard"), ((11, 300), "very_hard"),
     ((None, 4), "hard"), ((None, None), "")],
)  # fmt: skip
def test_difficulty_is_the_rank_under_the_better_model(ranks, name):
    assert difficulty_of(*ranks) == difficulty_of(*ranks[::-1]) == name


def test_the_words_for_difficulty_are_its_bounds():
    """What plans freeze, the dictionary says and the tables are headed with is what is counted."""
    last, words, titles = 0, [], []
    for name, most in DIFFICULTIES.items():
        to = "or" if most == last + 2 else "to"
        told = f"beyond {last}" if most is None else str(most)
        if most is not None and most > last + 1:
            told = f"{last + 1} {to} {most}"
        words.append(f"{name.replace('_', ' ')} {told}")
        titles.append((name, told))
        last = most or last
    assert ", ".join(words) == DIFFICULTY_WORDS
    assert all(DIFFICULTY_TITLES[name].endswith(f" {told}") for name, told in titles)


def test_difficulty_is_a_table_with_its_test_and_holm():
    found = analyse(simulated(World(tasks=20), [READERS["unbiased"]], 3), draws=20).pairs[0]
    table = next(one for one in found.tables if one.group == "difficulty")
    assert [one.name for one in table.blocks] == list(DIFFICULTIES)
    assert sum(one.n for one in table.blocks) == found.overall.n
    assert table.heterogeneity.df == 6
    assert [one.sign.p_holm for one in table.blocks] == pytest.approx(
        multipletests([one.sign.p for one in table.blocks], method="holm")[1]
    )


# --- what could have been found


def test_what_could_have_been_found_is_what_others_say():
    """A share at one half: Cohen's h of the normal test; chi-square: statsmodels' own power."""
    away = smallest_detectable(382)
    power = NormalIndPower(ddof=0).power(2 * away, 382, 0.05, ratio=0)
    assert power == pytest.approx(0.8, abs=1e-5)
    for n, df in ((382, 2), (60, 1), (1000, 11)):
        power = GofChisquarePower().power(smallest_effect(n, df), n, 0.05, n_bins=df + 1)
        assert power == pytest.approx(0.8, abs=1e-9)
    assert (smallest_effect(5, 2), smallest_effect(0, 2), smallest_effect(9, None)) == (None,) * 3
    assert smallest_ratio(0.25) == pytest.approx(exp(2.8015852 * 0.25), rel=1e-6)
    assert smallest_ratio(40.0) is None


def test_every_trend_and_the_order_term_say_what_they_could_have_found():
    rows = readings("tiring", 8)
    found, fit = fatigue(rows), davidson(rows, ("A", "B"))
    for trend, least in (
        (found.tie_trend, found.tie_trend_smallest),
        (found.preference_trend, found.preference_trend_smallest),
    ):
        half = log(trend.high / trend.value)
        assert log(least) == pytest.approx(half * 2.8015852 / 1.9599640, rel=1e-6)
    assert found.time_trend_smallest > 1
    half = fit.order.high - fit.order.value
    assert fit.order_smallest == pytest.approx(half * 2.8015852 / 1.9599640, rel=1e-6)


def test_every_line_of_the_panel_says_what_it_could_have_found():
    found = analyse(made(items=60), draws=20)
    lines = pair_lines(found.pairs[0])
    assert {one.key.split(":")[0] for one in lines} == {
        "left", "order", "form", "forms", "longer", "doubling", "lookalike", "near_query",
        "same_patient",
    }  # fmt: skip
    assert all(one.least != "-" for one in lines)
    grid = bias_grid(found)
    assert len(grid.rows) == len(lines) + 3
    assert all(cells[-1] != "-" for cells in grid.rows)


def test_a_study_that_recorded_nothing_says_so_everywhere():
    found = analyse(made(items=40, known="no"), draws=20)
    pair = found.pairs[0]
    assert (pair.length.note, pair.lookalike.note) == (NOT_RECORDED, NOT_RECORDED)
    assert not any(one.group == "difficulty" for one in pair.tables)
    grids = {one.name: one for one in grids_of(found)}
    assert grids["difficulty"].rows == (("all items", NOT_RECORDED),)
    assert sum(NOT_RECORDED in cells for cells in grids["bias"].rows) == 2
    assert bias_words(found).count(NOT_RECORDED) == 2
    gone = analyse(made(items=40, known="no", gold="no"), draws=20)
    assert "difficulty" not in {one.name for one in grids_of(gone)}  # nothing to record


# --- several raters of the same items


def read_by(count: int, seed: int, *, wordy: float = 0.0, items: int = 200):
    world = World(items=items, tasks=items // 5, guess_items=0, repeat_share=0.0)
    readers = [Reader(f"R{n}", wordy=wordy) for n in range(count)]
    return rated(simulated(world, readers, seed))


def test_several_raters_have_one_vote_for_each_item():
    """Two for, one for and one against, one against and a tie: one vote, none, one lost."""
    facts = [
        (("first", "first"), 6), (("first", "second"), 3), (("second", "both"), 5)
    ]  # fmt: skip
    items, rows = [], []
    for liked, times in facts:
        for _ in range(times):
            words = {"words_first": 40.0, "words_second": 10.0, "near_query": "first"}
            items.append(item(len(items), **words))
            rows += [
                replace(row(items[-1], one, place=len(items)), rater=f"R{n}")
                for n, one in enumerate(liked)
            ]
    found = rated(study(items, rows))
    words, kin = length_bias(found), lookalike_bias(found)
    for share, test, least in (
        (words.longer, words.sign, words.smallest_detectable),
        (kin.preferred, kin.sign, kin.smallest_detectable),
    ):
        assert (share.count, share.n) == (15, 23)
        assert (test.statistic, test.n, test.note) == (6.0, 11, "one vote for each item")
        assert test.p == pytest.approx(2 * (1 - binom.cdf(5, 11, 0.5)))
        assert least == smallest_detectable(11)


def test_the_slope_of_several_raters_has_errors_by_item():
    rows = read_by(3, 5, wordy=0.3)
    doublings, first = decided_texts(rows)
    kept = [o for o in rows if o.item.doublings is not None and o.preferred in DECIDED]
    groups = np.unique([one.item.item_id for one in kept], return_inverse=True)[1]
    design, n, k = np.column_stack([np.ones(len(first)), doublings]), len(first), groups.max() + 1
    theirs = Logit(first, design).fit(
        disp=0, tol=1e-12, cov_type="cluster", cov_kwds={"groups": groups}
    )
    error = theirs.bse[1] / np.sqrt((n - 1) / (n - 2))  # their other small-sample factor
    found = length_bias(rows)
    assert found.slope.value == pytest.approx(theirs.params[1], rel=1e-6)
    half = student.ppf(0.975, k - 1) * error
    assert found.slope.high - found.slope.value == pytest.approx(half, rel=1e-6)
    assert found.slope_test.df == k - 1
    p = 2 * student.sf(abs(theirs.params[1]) / error, k - 1)
    assert found.slope_test.p == pytest.approx(p, rel=1e-5)


def test_several_unbiased_raters_are_not_flagged_oftener_than_one():
    """Taken as independent, 15 to 21 % of 300 studies by four raters were flagged."""
    found = [read_by(4, 900 + seed, items=120) for seed in range(STUDIES)]
    tests = [
        [length_bias(rows).slope_test, length_bias(rows).sign, lookalike_bias(rows).sign]
        for rows in found
    ]
    flags = np.array([[one.p < 0.05 for one in three] for three in tests]).sum(axis=0)
    assert flags.max() <= binom.ppf(0.9995, STUDIES, 0.05)
    biased = [length_bias(read_by(4, 900 + n, wordy=0.5)).slope_test.p < 0.05 for n in range(10)]
    assert sum(biased) >= 6


def test_where_there_is_no_number_nothing_is_said_to_be_too_few():
    """Sixty items all for the first: no slope, but not for want of items."""
    items = [item(n, words_first=8.0 + n, words_second=4.0) for n in range(60)]
    analysis = analyse(study(items, [row(one, "first", place=n) for n, one in enumerate(items, 1)]))
    line = next(one for one in pair_lines(analysis.pairs[0]) if one.key == "doubling")
    assert line.least == "-"
    assert "too few to say" not in bias_words(analysis)
