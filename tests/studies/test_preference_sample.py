"""Shares per task, sides and orders: the arithmetic of the sample."""

from __future__ import annotations

import itertools
import re
from collections import Counter
from fractions import Fraction

import numpy as np
import pytest

from studies.cli_study_text import built
from studies.preference.frozen import opaque_id
from studies.preference.prompts import prompt_for
from studies.preference.sample import (
    balanced,
    equal_shares,
    generator,
    largest_remainder,
    reading_plan,
)


def test_the_papers_sample_takes_four_or_five_per_task():
    caps = {f"task{n:03}": 1000 for n in range(107)}
    shares = equal_shares(caps, 530, generator(1))
    assert sum(shares.values()) == 530
    assert Counter(shares.values()) == {5: 102, 4: 5}


def test_small_tasks_give_all_and_the_others_share_the_rest():
    shares = equal_shares({"a": 2, "b": 100, "c": 100, "d": 0}, 30, generator(3))
    assert shares == {"a": 2, "b": 14, "c": 14, "d": 0}


@pytest.mark.parametrize("total", range(12))
def test_shares_always_add_up_and_never_exceed_a_cap(total):
    caps = {"a": 1, "b": 3, "c": 2, "d": 4}
    shares = equal_shares(caps, total, generator(total))
    assert sum(shares.values()) == min(total, 10)
    assert all(0 <= shares[task] <= caps[task] for task in caps)
    open_shares = [shares[task] for task in caps if shares[task] < caps[task]]
    assert not open_shares or max(shares.values()) - min(open_shares) <= 1


def test_the_remainder_falls_by_lot_of_the_seed():
    caps = {f"t{n}": 50 for n in range(10)}
    first = equal_shares(caps, 15, generator(5))
    assert first == equal_shares(caps, 15, generator(5))
    assert any(equal_shares(caps, 15, generator(seed)) != first for seed in range(6, 10))


# Seats of the first House of Representatives by Hamilton's method, as he proposed them in 1792:
# population of 1790 and seats of 120. An apportionment known to everybody who counts.
HOUSE = {
    "CT": (236841, 8), "DE": (55540, 2), "GA": (70835, 2), "KY": (68705, 2), "MD": (278514, 9),
    "MA": (475327, 16), "NH": (141822, 5), "NJ": (179570, 6), "NY": (331589, 11),
    "NC": (353523, 12), "PA": (432879, 14), "RI": (68446, 2), "SC": (206236, 7),
    "VT": (85533, 3), "VA": (630560, 21),
}  # fmt: skip


def test_the_largest_remainders_are_hamiltons():
    people = sum(number for number, _ in HOUSE.values())
    quotas = {state: Fraction(120 * number, people) for state, (number, _) in HOUSE.items()}
    seats = {state: seats for state, (_, seats) in HOUSE.items()}
    assert largest_remainder(quotas, generator(1)) == seats


def plain_shares(caps: dict[str, int], total: int) -> tuple[int, ...]:
    """The sizes of equal capped shares, sorted: one query more in turn while any task has one."""
    given = dict.fromkeys(caps, 0)
    for _ in range(min(total, sum(caps.values()))):
        open_tasks = [task for task in caps if given[task] < caps[task]]
        given[min(open_tasks, key=lambda task: given[task])] += 1
    return tuple(sorted(given.values()))


@pytest.mark.parametrize("seed", range(60))
def test_shares_are_those_of_dealing_one_query_after_the_other(seed):
    random = np.random.default_rng(seed)
    caps = {f"t{n}": int(random.integers(0, 12)) for n in range(int(random.integers(1, 15)))}
    total = int(random.integers(0, 90))
    shares = equal_shares(caps, total, generator(seed))
    assert tuple(sorted(shares.values())) == plain_shares(caps, total)


SIZES = {
    ("both", "I-I", "2d"): 17, ("only_a", "VQA", "3d"): 8, ("only_b", "T-T", "text"): 1,
    ("neither", "VG", "2d"): 5, ("neither", "T-T", "text"): 3, ("unknown", "similar", "3d"): 4,
}  # fmt: skip


@pytest.mark.parametrize("labels", [("A", "B"), ("AB", "AC", "BC"), tuple("abcdef")])
def test_every_label_comes_as_often_in_every_cell_and_over_all_for_a_thousand_seeds(labels):
    cells = [cell for cell, size in SIZES.items() for _ in range(size)]
    first = Counter()
    for seed in range(1000):
        given = balanced(cells, labels, generator(seed))
        for cell in SIZES:
            found = Counter(label for label, of in zip(given, cells, strict=True) if of == cell)
            counts = [found[label] for label in labels]
            assert max(counts) - min(counts) <= 1
        whole = [Counter(given)[label] for label in labels]
        assert max(whole) - min(whole) <= 1
        first[given[0]] += 1
    share = 1000 / len(labels)  # each place gets each label as often: within five standard errors
    limit = 5 * (share * (1 - 1 / len(labels))) ** 0.5
    assert all(abs(first[label] - share) < limit for label in labels)


def test_labels_are_drawn_not_dealt_in_turn():
    cells = ["one"] * 12
    drawn = {balanced(cells, "AB", generator(seed)) for seed in range(30)}
    assert len(drawn) > 20
    assert balanced(cells, "AB", generator(7)) == balanced(cells, "AB", generator(7))
    assert balanced([], "AB", generator(1)) == ()


PLAN = "w1 w2 b3 b1 b2 a5 a0 a1 a11 a8 a10 a2 a7 a3 a5* a4 a9 a6 a8* b3*"
SIDES = "ABABAABBA"
SHARES = {"a": 3, "b": 2, "c": 3, "d": 2, "e": 2, "f": 2, "g": 3}


def test_every_machine_draws_the_same():
    """Recorded on Linux with numpy 2: what changes here changes studies that are under way."""
    blocks = {"2d": [f"a{n}" for n in range(12)], "3d": ["b1", "b2", "b3"]}
    plan = reading_plan(
        blocks, warmups=["w1", "w2"], repeat_share=0.2, repeat_gap=4, rng=generator(2026, 1)
    )
    assert " ".join(item + {"repeat": "*"}.get(kind, "") for item, kind, _ in plan) == PLAN
    assert "".join(balanced("xxxxxyyyz", "AB", generator(5))) == SIDES
    assert equal_shares(dict.fromkeys("abcdefg", 9), 17, generator(5)) == SHARES


# ------------------------------------------------------------------ what one rater reads


def plan_of(seed: int, sizes: dict[str, int], share: float, gap: int, warmups: int = 3):
    blocks = {name: [f"{name}-{n}" for n in range(size)] for name, size in sizes.items()}
    practice = [f"w{n}" for n in range(warmups)]
    return reading_plan(
        blocks, warmups=practice, repeat_share=share, repeat_gap=gap, rng=generator(seed, 9)
    )


@pytest.mark.parametrize("seed", range(150))
def test_whatever_the_blocks_every_item_comes_once_and_repeats_keep_their_distance(seed):
    random = np.random.default_rng(seed)
    sizes = {name: int(random.integers(0, 80)) for name in ("2d", "3d", "text")}
    share, gap = float(random.choice([0, 0.1, 0.15, 0.3, 0.5])), int(random.integers(1, 40))
    plan = plan_of(seed, sizes, share, gap)
    assert plan == plan_of(seed, sizes, share, gap), "a pure function of its generator"
    assert [kind for _, kind, _ in plan[:3]] == ["warmup"] * 3
    assert [kind for _, kind, _ in plan].count("warmup") == 3
    assert all(swapped == (kind == "repeat") for _, kind, swapped in plan)
    items = [item_id for item_id, kind, _ in plan if kind == "item"]
    assert sorted(items) == sorted(f"{name}-{n}" for name in sizes for n in range(sizes[name]))
    where = {item_id: place for place, (item_id, kind, _) in enumerate(plan) if kind == "item"}
    repeats = [(place, one[0]) for place, one in enumerate(plan) if one[1] == "repeat"]
    assert len({item_id for _, item_id in repeats}) == len(repeats)
    assert all(place - where[item_id] >= gap for place, item_id in repeats)
    wanted = int(share * len(items) + 0.5)
    assert len(repeats) <= wanted
    if max(sizes.values()) >= gap * 2:
        assert len(repeats) == wanted


@pytest.mark.parametrize("seed", range(40))
def test_blocks_stay_whole_and_repeat_by_their_size(seed):
    sizes = {"2d": 60, "3d": 40, "text": 30}
    plan = plan_of(seed, sizes, 0.1, 20)[3:]
    blocks = [item_id.split("-")[0] for item_id, *_ in plan]
    assert len(list(itertools.groupby(blocks))) == 3
    assert Counter(b for b, one in zip(blocks, plan, strict=True) if one[1] == "repeat") == {
        "2d": 6, "3d": 4, "text": 3,
    }  # fmt: skip


def test_a_short_block_repeats_behind_the_last_one_and_never_comes_last():
    for seed in range(40):
        plan = plan_of(seed, {"2d": 60, "3d": 12, "text": 10}, 0.1, 20)[3:]
        runs = [name for name, _ in itertools.groupby(one[0].split("-")[0] for one in plan)]
        assert runs[2] == "2d"
        assert sorted(runs[:2]) == ["3d", "text"]
        repeats = Counter(one[0].split("-")[0] for one in plan if one[1] == "repeat")
        assert repeats == {"2d": 6, "3d": 1, "text": 1}
        assert {one[1] for one in plan[-2:]} == {"repeat"}


def test_raters_read_in_different_orders_and_any_early_item_may_come_back():
    plans = {plan_of(seed, {"2d": 40}, 0.25, 20) for seed in range(30)}
    assert len(plans) == 30
    again = Counter(one[0] for plan in plans for one in plan if one[1] == "repeat")
    assert len(again) == 40
    places = [plan.index(one) for plan in plans for one in plan if one[1] == "repeat"]
    assert len(set(places)) > 20, "repeats stand everywhere behind the gap, not in a row"


@pytest.mark.parametrize("items", [1, 5, 10, 24, 25, 530])
@pytest.mark.parametrize("share", [0.1, 0.15, 0.25, 0.5])
def test_planner_and_reading_order_count_repeats_alike(items, share):
    from studies.preference.planner import PlanWish, plan

    order = reading_plan(
        {"2d": [f"i{n:03}" for n in range(items)]},
        warmups=[],
        repeat_share=share,
        repeat_gap=1,
        rng=generator(7),
    )
    made = plan(PlanWish(total=items, repeat_share=share, warmup=0))
    assert made.repeats == sum(kind == "repeat" for _, kind, _ in order)
    assert made.presentations == len(order)


def test_a_study_shorter_than_the_gap_repeats_nothing():
    plan = plan_of(1, {"2d": 9, "3d": 6}, 0.2, 20, warmups=0)
    assert {kind for _, kind, _ in plan} == {"item"}


@pytest.mark.parametrize(
    ("family", "form", "instruction", "sentence"),
    [
        (
            "MB-VR",
            "3d",
            "Find a T2-weighted MRI series that matches the given T1-weighted MRI series:",
            "Find a T2-weighted MRI series of the same patient.",
        ),
        (
            "MB-VR",
            "3d",
            "Find a CT series that matches the given chest X-ray image:",
            "Find a CT series of the same patient.",
        ),
        ("MB-VR", "3d", None, "Find a series of the same patient."),
        ("I-I", "2d", "Find the same category image:", "Find a picture of the same category."),
        ("I-I", "3d", None, "Find a series of the same category."),
        (
            "T-T",
            "text",
            "Find the answer of the given question:",
            "Find the answer to this question.",
        ),
        (
            "T-T",
            "text",
            "Identifying impressions based on given radiology findings.",
            "Find the impression that follows from these findings.",
        ),
        ("other", "2d", None, "Find what answers this query best."),
    ],
)  # fmt: skip
def test_prompts_speak_the_readers_language(family, form, instruction, sentence):
    assert prompt_for(family, form, instruction) == sentence


def test_every_task_of_the_registry_has_a_prompt_of_its_family():
    from studies.medheb.tasks import load_tasks

    prompts = {}
    for task in load_tasks():
        said = prompt_for(task.family, task.form, task.qry_inst)
        assert said.startswith("Find ")
        assert said.endswith(".")
        assert said != "Find what answers this query best."
        assert task.source not in said
        prompts.setdefault(task.family, set()).add(said)
    assert set(map(len, prompts.values())) <= {1, 2, 3, 4, 5}


def test_no_name_of_an_item_or_a_study_is_a_number_for_a_spreadsheet():
    names = [opaque_id() for _ in range(2000)]
    assert len(set(names)) == 2000
    assert all(re.fullmatch("[abc][0-9a-f]{11}", name) for name in names)


def test_one_identical_pair_is_a_tie():
    document = {"items": 3, "hash": "h", "path": "p", "auto_ties": 1}
    assert "1 identical pair set aside as a tie\n" in built(document)
    assert "2 identical pairs set aside as ties\n" in built({**document, "auto_ties": 2})
