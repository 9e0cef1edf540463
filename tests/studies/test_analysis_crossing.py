"""The mean of several raters: against plain loops, at its edges, and how often it is right."""

from __future__ import annotations

import itertools
from dataclasses import replace

import numpy as np
import pytest
from scipy.stats import t as student

from studies.preference.analysis.analyse import analyse
from studies.preference.analysis.crossing import across_raters, parts_of
from studies.preference.analysis.rated import rated
from studies.preference.analysis.readers import Hidden, Reader, at_work
from studies.preference.analysis.simulate import World, simulated
from studies.preference.session import Presentation
from tests.bench.pooled import hillis, holds, study, truth
from tests.studies.kit_tables import made

SMALL = World(items=96, tasks=24, repeat_share=0.0, guess_items=0)


def by_loops(rows, value_of):
    """Mean, variance over raters and items, by the book and one number at a time."""
    raters = sorted({one.row.rater for one in rows})
    tasks = sorted({one.item.task_id for one in rows})
    mean, error = {}, {}
    for rater in raters:
        own = [one for one in rows if one.row.rater == rater]
        mean[rater] = sum(map(value_of, own)) / len(own)
        for task in tasks:
            inside = [value_of(one) - mean[rater] for one in own if one.item.task_id == task]
            error[rater, task] = sum(inside) / len(own)
    r, k = len(raters), len(tasks)
    pairs = list(itertools.combinations(raters, 2))
    shared = sum(
        k / (k - 1) * sum(error[a, task] * error[b, task] for task in tasks) for a, b in pairs
    ) / len(pairs)
    middle = sum(mean.values()) / r
    scatter = sum((one - middle) ** 2 for one in mean.values()) / (r - 1) / r
    shared = max(0.0, shared)
    weighed = student.ppf(0.975, r - 1) * scatter + student.ppf(0.975, k - 1) * shared
    return middle, weighed / (scatter + shared) ** 0.5


@pytest.mark.parametrize("raters", [2, 3])
def test_the_mean_of_raters_is_that_of_plain_loops(raters):
    rows = rated(made(raters=raters))
    assert len({one.item.item_id for one in rows}) > len(rows) // raters  # some are missing
    found = across_raters(rows)
    middle, half = by_loops(rows, lambda one: one.sign)
    assert found.net.value == pytest.approx(middle, abs=1e-13)
    assert found.net.low == pytest.approx(middle - half, abs=1e-13)
    assert found.net.high == pytest.approx(middle + half, abs=1e-13)
    assert (found.raters, found.net.n, found.net.unit) == (raters, len(rows), "ratings")
    decided = [one for one in rows if one.sign]
    middle, half = by_loops(decided, lambda one: one.sign > 0)
    assert found.decided.value == pytest.approx(middle, abs=1e-13)
    assert found.decided.high == pytest.approx(min(1.0, middle + half), abs=1e-13)
    assert found.decided.n == len(decided)
    assert 0 <= found.from_raters <= 1


def test_there_is_none_for_one_rater_and_none_is_made_up():
    tables = made(raters=2)
    assert across_raters(rated(tables, rater="Reader X")) is None
    assert across_raters(rated(made(raters=1))) is None
    rows = rated(tables)
    assert analyse(made(raters=2, items=9), draws=10).pairs[0].pooled is not None
    same = [replace(one, preferred="first") for one in rows]
    found = across_raters(same)
    assert (found.net.value, found.net.low, found.from_raters) == (1.0, None, None)
    assert "no interval" in found.net.note
    ties = [replace(one, preferred="both") for one in rows]
    found = across_raters(ties)
    assert (found.decided.value, found.decided.note) == (None, "nothing decided")
    one = across_raters([one for one in rows if one.item.item_id == rows[0].item.item_id])
    assert one is None or one.net.value is None


def test_items_are_the_clusters_where_there_is_one_task():
    tables = made(raters=2)
    alone = replace(tables, items=tuple(replace(one, task_id="t") for one in tables.items))
    rows = rated(alone)
    found = parts_of(rows, [float(one.sign) for one in rows])
    assert found.clusters == len({one.item.item_id for one in rows})
    assert across_raters(rows).net.low is not None


def test_a_taste_is_the_readers_own_whichever_side_the_model_stands():
    world = World(items=400, tasks=40, repeat_share=0.0, guess_items=0)
    fond, cool = Reader("fond", lean=1.0), Reader("cool", lean=-1.0)
    tables = simulated(world, [fond, cool], 3)
    found = {
        one.name: one.net.value for one in analyse(tables, draws=10).pairs[0].tables[-1].blocks
    }
    assert found["fond"] == pytest.approx(world.net(fond), abs=0.12)
    assert found["cool"] == pytest.approx(world.net(cool), abs=0.12)
    assert world.net(fond) - world.net(cool) > 0.8
    assert across_raters(rated(tables)).rater_sd > 0.3
    sure = replace(fond, lean=9.0)
    for tested_left, kind, word in ((True, "item", "left"), (False, "item", "right"),
                                    (True, "repeat", "right")):  # fmt: skip
        shown = Presentation.__new__(Presentation)
        for name, value in (("item_id", "i"), ("kind", kind), ("position", 1), ("total", 2)):
            object.__setattr__(shown, name, value)
        answer = at_work(sure, {"i": Hidden(0.0, True, tested_left)}, 1)
        assert answer(shown)[0] == word


def test_the_interval_holds_the_truth_about_other_raters_too():
    lean, held = 0.4, {"net": 0, "decided": 0, "Hillis": 0, "items alone": 0}
    true, count = truth(SMALL, lean), 120
    for seed in range(count):
        rows = study(SMALL, 3, lean, seed)
        found = across_raters(rows)
        parts = parts_of(rows, [float(one.sign) for one in rows])
        held["net"] += holds(found.net, true[0])
        held["decided"] += holds(found.decided, true[1])
        held["Hillis"] += abs(parts.value - true[0]) <= hillis(parts)
        alone = 1.96 * np.sqrt((parts.own + 3 * parts.shared) / 3)
        held["items alone"] += abs(parts.value - true[0]) <= alone
    # 95 % of 120 are 114; one in a hundred thousand would fall below 103
    assert held["net"] >= 106
    assert held["decided"] >= 106
    assert held["items alone"] < 90 < held["Hillis"]


def test_equal_means_by_chance_are_not_said_to_be_no_difference():
    """Two raters of equal means who err in opposite tasks: items differ, yet no interval."""
    world = World(items=4, tasks=2, repeat_share=0.0, guess_items=0)
    rows = rated(simulated(world, [Reader("a"), Reader("b")], 1))
    liked = {("a", 0): "first", ("a", 1): "second", ("b", 0): "second", ("b", 1): "first"}
    rows = [replace(one, preferred=liked[one.row.rater, int(one.item.task_id[-1])]) for one in rows]
    found = across_raters(rows).net
    assert (found.value, found.low) == (0.0, None)
    assert "by chance" in found.note
    same = across_raters([replace(one, preferred="first") for one in rows]).net
    assert (same.value, same.note) == (1.0, "neither raters nor items differ: no interval")


def test_one_task_is_told_to_be_clustered_by_item():
    world = World(items=30, tasks=1, repeat_share=0.0, guess_items=0)
    found = across_raters(rated(simulated(world, [Reader("a"), Reader("b")], 2)))
    assert found.net.method.endswith("by item")
    assert across_raters(rated(made(raters=2))).net.method.endswith("by task")
