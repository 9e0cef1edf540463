"""Simulated readers: the panel finds each habit, clears who has none, and intervals cover.

Rates are over ``STUDIES`` simulated studies of 530 items in 107 tasks that truly differ; a rate
"at most 5 %" may exceed it by what chance allows (the 99.9 % quantile of the binomial). The long
run is ``python -m tests.bench.readers``.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from scipy.stats import binom

from studies.preference.analysis.agreement import between, repeats
from studies.preference.analysis.analyse import analyse
from studies.preference.analysis.clustering import clustering
from studies.preference.analysis.rated import rated
from studies.preference.analysis.readers import READERS
from studies.preference.analysis.simulate import World, simulated
from studies.preference.analysis.validity import criterion
from tests.bench.readers import COVER, checks

STUDIES = 40
WORLD = World(guess_items=40)
AT_MOST = binom.ppf(0.999, STUDIES, 0.05) / STUDIES


@pytest.fixture(scope="module")
def panel() -> Callable[[str], dict[str, list[float]]]:
    """What every check says of every study of a reader, computed once."""
    made: dict[str, dict[str, list[float]]] = {}

    def of(name: str) -> dict[str, list[float]]:
        if name not in made:
            reader, truth = READERS[name], WORLD.net(READERS[name])
            found = [checks(WORLD, reader, seed, 300, truth) for seed in range(STUDIES)]
            made[name] = {check: [one[check] for one in found] for check in found[0]}
        return made[name]

    return of


@pytest.mark.parametrize("check", ["side", "order term", "ties", "times", "preference", "blind"])
def test_the_unbiased_reader_is_flagged_at_most_as_often_as_stated(panel, check):
    assert np.mean(panel("unbiased")[check]) <= AT_MOST


@pytest.mark.parametrize(
    ("name", "check", "power"),
    [
        ("left-biased", "side", 0.95),
        ("left-biased", "order term", 0.95),
        ("tiring", "ties", 0.6),
        ("tiring", "times", 0.95),
        ("guessing", "blind", 0.95),
    ],
)
def test_a_habit_is_found_with_the_stated_power(panel, name, check, power):
    assert np.mean(panel(name)[check]) >= power


def test_a_habit_is_not_taken_for_another(panel):
    assert np.mean(panel("tiring")["side"]) <= AT_MOST
    assert np.mean(panel("left-biased")["times"]) <= AT_MOST
    assert np.mean(panel("guessing")["side"]) <= AT_MOST


def test_inattention_shows_in_repeats_and_in_criterion_validity(panel):
    careless = panel("inattentive")
    assert abs(np.mean(careless["kappa"])) < 0.06
    assert np.mean(np.array(careless["least kappa"]) < 0) >= 0.9  # chance level with themselves
    assert np.mean(np.array(panel("unbiased")["least kappa"]) > 0) >= 0.4
    assert np.mean(careless["right of decided"]) < 0.7
    assert np.mean(panel("unbiased")["right of decided"]) > 0.85


def test_intervals_cover_the_truth(panel):
    """Tasks then items is on the safe side (nearer 98 %), tasks alone is at the stated 95 %."""
    found = panel("unbiased")
    least = binom.ppf(0.001, STUDIES, 0.95) / STUDIES
    assert min(np.mean(found[name]) for name in COVER) >= least
    assert np.mean(found["covered"]) >= np.mean(found["tasks only"])
    assert np.mean(found["net"]) == pytest.approx(WORLD.net(READERS["unbiased"]), abs=0.02)


def test_the_expert_agrees_with_themselves_and_with_the_truth():
    for one in (simulated(WORLD, [READERS["expert"]], seed) for seed in range(5)):
        (again,) = repeats(one)
        assert (again.same.share, again.flipped.count, again.agreement.kappa.value) == (1, 0, 1)
        assert criterion(rated(one)).right.share > 0.9


def test_wilson_is_too_narrow_where_tasks_differ():
    """Why the analysis says what the tasks leave of the number of items."""
    found = [clustering(rated(simulated(WORLD, [READERS["unbiased"]], seed))) for seed in range(9)]
    assert np.mean([one.design_effect for one in found]) > 1.2
    assert all(one.effective_n <= 530 for one in found)
    assert "intraclass correlation" in found[0].sentence


def test_two_careful_readers_agree_more_than_a_careful_and_a_careless_one():
    readers = [READERS["unbiased"], READERS["expert"], READERS["inattentive"]]
    found = {one.name: one for one in between(rated(simulated(WORLD, readers, 3)))}
    good, bad = found["unbiased and expert"], found["unbiased and inattentive"]
    assert good.kappa.low > bad.kappa.high
    assert good.ac1.value > found["all raters"].ac1.value > bad.ac1.value


def test_three_models_come_back_in_their_order():
    worth = {"A": 0.6, "B": 0.3, "C": 0.0}
    world = World(items=400, tasks=20, worth=worth, strata={"unknown": 1.0}, task_sd=0.1)
    found = analyse(simulated(world, [READERS["unbiased"]], 5), draws=50)
    assert [(one.first, one.second) for one in found.pairs] == [("A", "B"), ("A", "C"), ("B", "C")]
    worth = found.davidson.log_worth
    assert 0 > worth["B"].value > worth["C"].value
    assert worth["C"].high < 0
    assert found.davidson.order_test.p > 0.001
    assert sum(one.overall.n for one in found.pairs) == 400
    assert found.pairs[0].criterion.right.share is None  # no gold: nothing is right
    assert found.pairs[0].correctness.n == 0


def test_a_world_is_the_same_for_the_same_seed():
    once, twice = (
        simulated(World(items=40, tasks=8, auto_ties=3), [READERS["unbiased"]] * 2, 9)
        for _ in range(2)
    )
    assert once == twice
    assert [one.name for one in once.raters] == ["unbiased 1", "unbiased 2"]
    assert sum(row.kind == "auto_tie" for row in once.presented) == 6
    left = [one.left for one in once.items if one.kind == "item"]
    assert abs(left.count("A") - left.count("B")) <= 1
