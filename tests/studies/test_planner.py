"""The planner: every number of peers.md 2.3, and a second implementation of each formula."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.stats import binom, binomtest
from statsmodels.stats.power import normal_sample_size_one_tail
from statsmodels.stats.proportion import proportion_confint

from studies.errors import BadRequest
from studies.preference.analysis.detectable import smallest_detectable
from studies.preference.planner import (
    PlanWish,
    decided_needed,
    design_effect,
    plan,
    side_bias,
    sign_test_power,
    wilson,
)
from studies.preference.planner_words import table


@pytest.mark.parametrize(
    ("share", "at_80", "at_90", "with_ties"),
    [(0.55, 783, 1047, 1087), (0.60, 194, 259, 270), (0.65, 85, 113, 118), (0.68, 59, 77, 81)],
)
def test_the_sample_sizes_of_the_notes(share, at_80, at_90, with_ties):
    made = plan(PlanWish(share=share, power=0.80))
    assert (made.decided_needed, made.items_needed) == (at_80, with_ties)
    assert plan(PlanWish(share=share, power=0.90)).decided_needed == at_90


@pytest.mark.parametrize("share", [0.52, 0.55, 0.6, 0.65, 0.68, 0.8])
@pytest.mark.parametrize("power", [0.7, 0.8, 0.9])
def test_the_sample_size_is_that_of_statsmodels(share, power):
    ours = decided_needed(share, power=power, alpha=0.05)
    theirs = normal_sample_size_one_tail(
        share - 0.5, power, 0.025, std_null=0.5, std_alternative=math.sqrt(share * (1 - share))
    )
    assert ours == pytest.approx(float(theirs), rel=1e-9)


@pytest.mark.parametrize(("icc", "worth"), [(0.02, 491), (0.05, 443), (0.10, 380), (0.20, 296)])
def test_what_530_items_over_107_tasks_are_worth(icc, worth):
    assert plan(PlanWish(icc=icc)).effective == worth


def test_the_worth_of_clustered_items_is_what_a_simulation_finds():
    tasks, each, icc = 107, 5, 0.2
    rng = np.random.default_rng(5)
    spread = rng.normal(0, math.sqrt(icc), (3000, tasks, 1))
    means = (spread + rng.normal(0, math.sqrt(1 - icc), (3000, tasks, each))).mean(axis=(1, 2))
    assert 1 / means.var() == pytest.approx(
        tasks * each / design_effect(tasks * each, tasks, icc), rel=0.1
    )


@pytest.mark.parametrize("icc", [0.0, 0.02, 0.05, 0.1])
def test_the_clustered_number_is_the_least_that_is_worth_enough(icc):
    made = plan(PlanWish(icc=icc, share=0.6))
    need = decided_needed(0.6, power=0.8, alpha=0.05) / 0.72
    n = made.items_clustered
    assert n / design_effect(n, 107, icc) >= need - 1e-9
    assert (n - 1) / design_effect(n - 1, 107, icc) < need
    assert plan(PlanWish(icc=icc, total=n)).enough
    assert not plan(PlanWish(icc=icc, total=n - 1)).enough


def test_no_number_of_items_over_few_tasks_may_be_enough():
    made = plan(PlanWish(share=0.55, icc=0.2, tasks=20))
    assert made.items_clustered is None
    assert not made.enough
    assert "no number of items" in made.sentence


def test_coin_flips_and_side_bias():
    made = plan(PlanWish())
    assert round(made.coin_flip_sd, 1) == 11.5
    assert made.coin_flip_sd == pytest.approx(binom(530, 0.5).std())
    assert made.decided == 382
    assert round(100 * made.side_bias, 1) == 7.2
    assert side_bias(382, power=0.8, alpha=0.05) == pytest.approx(smallest_detectable(382))
    found = sign_test_power(382, 0.5 + side_bias(382, power=0.8, alpha=0.05), alpha=0.05)
    assert found == pytest.approx(0.8, abs=0.02)


@pytest.mark.parametrize(
    ("repeat_share", "repeats", "low", "high"),
    [
        (0.05, 27, 0.63, 0.92),  # 26.5: a half is rounded up, as the reading order has it
        (0.10, 53, 0.67, 0.88),
        (0.15, 80, 0.70, 0.87),
        (0.20, 106, 0.72, 0.87),
    ],
)
def test_what_repeats_tell_of_agreement(repeat_share, repeats, low, high):
    made = plan(PlanWish(repeat_share=repeat_share))
    assert made.repeats == repeats
    assert round(made.agreement_low, 2) == low
    assert made.agreement_high == pytest.approx(high, abs=0.0051)
    told = proportion_confint(round(0.8 * repeats), repeats, method="wilson")
    assert (made.agreement_low, made.agreement_high) == pytest.approx(told, rel=1e-9)


@pytest.mark.parametrize(("seconds", "hours"), [(18, 2.7), (30, 4.4), (60, 8.8)])
def test_the_reading_burden_of_530_items(seconds, hours):
    made = plan(PlanWish(seconds=dict.fromkeys(("2d", "3d"), float(seconds))))
    assert math.floor(10 * made.item_hours + 0.5) / 10 == hours
    assert made.hours == pytest.approx(made.item_hours * (530 + 53 + 3) / 530)
    assert made.sessions == math.ceil(made.hours * 60 / 45)


def test_a_third_dimension_is_over_a_thousand_volumes():
    made = plan(PlanWish(readers=3))
    assert made.items == {"2d": 376, "3d": 154}
    assert made.volumes == 1078
    assert made.hours_all == pytest.approx(3 * made.hours)


@pytest.mark.parametrize(("n", "share"), [(20, 0.7), (85, 0.65), (194, 0.6), (11, 0.9), (5, 0.9)])
def test_exact_power_is_the_sum_over_every_outcome(n, share):
    told = sum(binom.pmf(k, n, share) for k in range(n + 1) if binomtest(k, n).pvalue <= 0.05)
    assert sign_test_power(n, share, alpha=0.05) == pytest.approx(told, abs=1e-12)


def test_the_approximate_sample_size_gives_about_its_power():
    # the exact test is conservative, the more so the fewer pairs there are
    for share, n, below in [(0.55, 783, 0.02), (0.6, 194, 0.04), (0.65, 85, 0.07)]:
        assert 0.8 - below <= sign_test_power(n, share, alpha=0.05) <= 0.81


def test_wilson_is_that_of_statsmodels():
    for count, n in [(260, 530), (0, 7), (7, 7), (1, 3)]:
        told = proportion_confint(count, n, method="wilson")
        assert wilson(count / n, n) == pytest.approx(told, abs=1e-12)


def test_more_models_share_the_items():
    made = plan(PlanWish(models=3, total=300))
    assert made.per_pair == 100
    assert made.effective == 100
    assert made.sentence.count("of each pair") == 2
    assert "100 for each pair" in table(made)
    assert "clustering for each pair of models: too few" in table(made)


def test_the_sentence_holds_the_numbers():
    made = plan(PlanWish())
    for words in (
        "194 decided comparisons (270 items)",
        "80 % power",
        "107 tasks (4.95 items",
        "worth 443 independent",
        "7.2 points",
        "53 repeats",
        "66.5 % to 88 %",
    ):
        assert words in made.sentence, words
    assert made.to_json()["sentence"] == made.sentence


@pytest.mark.parametrize(
    ("change", "named"),
    [
        ({"share": 0.5}, "share"),
        ({"share": float("nan")}, "share"),
        ({"ties": 1.0}, "ties"),
        ({"icc": -0.1}, "icc"),
        ({"total": 0}, "total"),
        ({"models": 3, "total": 2}, "pairs"),
        ({"forms": {"2d": 0.4}}, "forms"),
        ({"seconds": {"2d": 30.0, "3d": 0.0}}, "3d"),
        ({"session_minutes": 0}, "session minutes"),
    ],
)
def test_what_no_study_can_be_is_named(change, named):
    with pytest.raises(BadRequest, match=named):
        plan(PlanWish(**change))
