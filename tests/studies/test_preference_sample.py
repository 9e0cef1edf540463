"""Shares per task, sides and orders: the arithmetic of the sample."""

from __future__ import annotations

import itertools
from collections import Counter

import pytest

from studies.preference.prompts import prompt_for
from studies.preference.sample import balanced_sides, equal_shares, generator, reading_order


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


@pytest.mark.parametrize("seed", range(20))
def test_each_model_is_left_as_often_as_right_in_every_cell(seed):
    sizes = {("both", "I-I", "2d"): 17, ("only_a", "VQA", "3d"): 8, ("only_b", "T-T", "text"): 1}
    sizes[("neither", "VG", "2d")] = 5
    cells = [cell for cell, size in sizes.items() for _ in range(size)]
    sides = balanced_sides(cells, generator(seed))
    for cell in sizes:
        found = Counter(side for side, of in zip(sides, cells, strict=True) if of == cell)
        assert abs(found["A"] - found["B"]) <= 1
    whole = Counter(sides)
    assert abs(whole["A"] - whole["B"]) <= 1
    assert set(whole) == {"A", "B"}


def test_sides_are_drawn_not_dealt_in_turn():
    cells = ["one"] * 12
    drawn = {balanced_sides(cells, generator(seed)) for seed in range(30)}
    assert len(drawn) > 20
    assert balanced_sides(cells, generator(7)) == balanced_sides(cells, generator(7))
    assert balanced_sides([], generator(1)) == ()


def test_a_rater_reads_block_after_block():
    blocks = {"2d": [f"a{n}" for n in range(9)], "3d": ["b1", "b2", "b3"], "text": ["c1"]}
    orders = {reading_order(blocks, generator(9, rater)) for rater in range(12)}
    assert len(orders) == 12
    for order in orders:
        assert sorted(order) == sorted(i for ids in blocks.values() for i in ids)
        letters = "".join(item[0] for item in order)
        assert sum(one != two for one, two in itertools.pairwise(letters)) == 2


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
