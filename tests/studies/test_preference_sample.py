"""Shares per task, sides and orders: the arithmetic of the sample."""

from __future__ import annotations

from collections import Counter

import pytest

from studies.preference.prompts import prompt_for
from studies.preference.sample import equal_shares, generator


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
