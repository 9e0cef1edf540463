"""What cannot be read is nobody's candidate, and a text points at one volume only."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from pathlib import Path

import numpy as np
import pytest

from engine.errors import EvidenceError
from studies.medheb.builders.card import COMMON, SourceCard, TaskPlan
from studies.medheb.builders.job import build
from studies.medheb.builders.record import Pixels, Record, Volume
from studies.medheb.release import read_task
from studies.medheb.tasks import load_tasks

SETTINGS = {choice.name: choice.default for choice in COMMON}


def card(*plans: TaskPlan) -> SourceCard:
    return SourceCard(
        "made", "Made", "3d", "", "", "open", "", "", "", (), lambda *_: iter(()), plans,
        labels=("a", "b", "c"),
    )  # fmt: skip


def pixels(seed: int) -> Pixels:
    return np.random.default_rng(seed).integers(0, 256, (3, 4, 4)).astype(np.uint8)


def unreadable(name: str) -> Pixels:
    raise EvidenceError(name, "damaged", "cannot be read")


def records(broken: set[str]) -> list[Record]:
    made = []
    for label in "abc":
        for number in range(4):
            key = f"{label}{number}"
            make = partial(unreadable, key) if key in broken else partial(pixels, ord(label))
            volume = Volume(key, make)
            text = {"report": f" Text of {label} "}
            made.append(Record(key, key, "test", (label,), volumes={"v": volume}, texts=text))
    return made


def built(plan: TaskPlan, root: Path, broken: set[str]):
    made = build(card(plan), records(broken), root, SETTINGS)[plan.task]
    (task,) = [task for task in load_tasks(root) if task.id == plan.task]
    data = read_task(task, root)
    assert not data.failures
    return made, data


@pytest.mark.parametrize("make", ["exemplars", "text-exemplars"])
def test_one_broken_volume_costs_its_own_row_only(tmp_path: Path, make: str):
    task = {"exemplars": "mrnet/i2i", "text-exemplars": "mrnet/t2i"}[make]
    made, data = built(TaskPlan(task, make), tmp_path, {"a1", "c0"})
    assert made.rows == 10
    assert {where for where, _ in made.faults} == {"a1", "c0"}
    for query in data.queries:
        assert len(query.candidates) == 3
        shown = {Path(c.item.volumes[0].paths[0]).parent.name for c in query.candidates}
        assert not shown & {"a1", "c0"}


def test_a_class_that_cannot_be_read_is_left_out_of_the_pools(tmp_path: Path):
    broken = {f"b{number}" for number in range(4)} | {"c0", "c1", "c2"}
    made, data = built(TaskPlan("mrnet/i2i", "exemplars"), tmp_path, broken)
    assert made.rows == 4
    assert {query.label for query in data.queries} == {"a"}
    assert {len(query.candidates) for query in data.queries} == {2}
    assert dict(made.faults)["c3"].endswith("no other of its class can be read")


def test_a_text_that_several_volumes_share_asks_for_the_first_alone(tmp_path: Path):
    made, data = built(
        TaskPlan("m3d_cap/t2i", "text-to-volume", {"query": "report"}), tmp_path, set()
    )
    assert made.rows == 3
    assert any("9 records repeat another's text" in note for note in made.notes)
    assert [Path(q.candidates[0].item.volumes[0].paths[0]).parent.name for q in data.queries] == [
        "a0", "b0", "c0",
    ]  # fmt: skip


def test_names_that_tell_settings_apart_are_not_written_anew(tmp_path: Path):
    drawn: list[str] = []

    def draws(key: str) -> Pixels:
        drawn.append(key)
        return pixels(1)

    made = [
        Record(f"{label}{n}", f"{label}{n}", "test", (label,),
               volumes={"v": Volume(f"{label}{n}", partial(draws, f"{label}{n}"))})
        for label in "abc" for n in range(2)
    ]  # fmt: skip
    plan = TaskPlan("mrnet/i2l", "label")
    for stable, seed, count in ((True, 42, 6), (True, 7, 6), (False, 9, 12)):
        one = replace(card(plan), stable=stable)
        build(one, made, tmp_path, {**SETTINGS, "seed": seed})
        assert len(drawn) == count
