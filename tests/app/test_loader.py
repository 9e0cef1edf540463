"""The loader: first slice at once, one filling at a time, cancelled, preloaded, bounded."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from app.presenters import loader as module
from app.presenters.loader import Loader
from engine.errors import Cancelled, EvidenceError
from engine.evidence.study import Evidence, Pixels

SLICES = 8
WEIGHT = SLICES * 16 * 16 * 2


def series(name, *, slices=SLICES):
    path = Path(f"{name}.dcm")
    return Evidence(path=path, members=(path,), kind="volume", dtype="int16", modality="CT",
                    shape=(slices, 16, 16), window_source="header")  # fmt: skip


class FakeStack:
    """Fills when told; ``steps`` counts the slices that were decoded."""

    def __init__(self, evidence, *, lazy=True):
        self.evidence = evidence
        array = np.zeros(evidence.shape, np.int16)
        self.pixels = Pixels(array, window_source="header")
        self.ready_TZ = np.zeros((1, len(array)), bool)
        self.ready_TZ[0, len(array) // 2] = True
        if not lazy:
            self.ready_TZ[:] = True
        self.fail_at = None

    @property
    def ready(self):
        return self.ready_TZ[0]

    @property
    def complete(self):
        return bool(self.ready_TZ.all())

    def fill(self, *, control):
        for place in range(len(self.ready)):
            control.check()
            if place == self.fail_at:
                raise EvidenceError(self.evidence.path, "truncated", "the file ends early")
            self.ready_TZ[0, place] = True
        return self.pixels


class Later:
    """Tasks that wait until a test lets one happen."""

    def __init__(self):
        self.waiting = []

    def run(self, _owner, work, done=None, failed=None):
        self.waiting.append((work, done, failed))

    def step(self, place=0):
        work, done, failed = self.waiting.pop(place)
        try:
            value = work()
        except (EvidenceError, Cancelled) as error:
            failed(error)
        else:
            done(value)

    def all(self):
        for _ in range(1000):
            if not self.waiting:
                return
            self.step()
        raise AssertionError("it never ends")


@pytest.fixture
def kit(monkeypatch):
    stacks = {}

    def open_stack(evidence):
        stacks[evidence.path.stem] = FakeStack(evidence)
        return stacks[evidence.path.stem]

    monkeypatch.setattr(module, "open_stack", open_stack)
    tasks, told, failed = Later(), [], []
    limit = [10 * WEIGHT]
    made = Loader(
        tasks, limit=lambda: limit[0], told=told.append,
        failed=lambda row, error: failed.append((row, error)),
    )  # fmt: skip
    made.give([series(name) for name in "abcdef"])
    return SimpleNamespace(loader=made, tasks=tasks, told=told, failed=failed, limit=limit,
                           stacks=stacks)  # fmt: skip


def test_the_first_slice_is_told_before_the_rest(kit):
    kit.loader.want([0])
    kit.tasks.step()
    assert kit.told == [0]
    entry = kit.loader.entry(0)
    assert entry.progress == (1, SLICES)
    assert entry.picture.ready.sum() == 1
    assert kit.loader.busy
    kit.tasks.step()
    assert kit.told == [0, 0]
    assert entry.complete
    assert entry.picture.ready is None
    assert not kit.loader.busy


def test_one_filling_at_a_time_the_urgent_one_first(kit):
    kit.loader.want([2, 1])
    kit.tasks.step(0)
    kit.tasks.step(0)
    assert len(kit.tasks.waiting) == 1
    kit.tasks.step()
    assert kit.loader.entry(2).complete
    assert not kit.loader.entry(1).complete
    kit.tasks.all()
    assert kit.loader.entry(1).complete


def test_choosing_another_series_cancels_and_coming_back_goes_on(kit):
    kit.loader.want([0])
    kit.tasks.step()
    kit.loader.want([1])
    kit.tasks.all()
    assert kit.loader.entry(0).progress == (1, SLICES)
    assert kit.loader.entry(1).complete
    assert kit.failed == []
    kit.loader.want([0])
    kit.tasks.all()
    assert kit.loader.entry(0).complete


def test_the_next_series_is_decoded_when_idle(kit):
    kit.loader.want([0], ahead=1)
    kit.tasks.step()
    assert kit.loader.entry(1) is None
    kit.tasks.all()
    assert kit.loader.entry(1).complete
    assert 1 not in kit.loader._wanted
    kit.loader.want([1], ahead=2)
    assert not kit.loader.busy


def test_decoding_ahead_gives_way_to_a_click(kit):
    kit.loader.want([0], ahead=1)
    while kit.loader.entry(1) is None:
        kit.tasks.step()
    kit.loader.want([3], ahead=1)  # the filling of 1 waits in the pool, 3 was clicked
    kit.tasks.step()
    assert kit.loader.entry(1).progress == (1, SLICES)
    kit.tasks.all()
    assert kit.loader.entry(3).complete
    assert kit.loader.entry(1).complete


def test_a_series_too_large_for_the_memory_is_not_decoded_ahead(kit):
    kit.limit[0] = round(1.9 * WEIGHT)
    kit.loader.want([0], ahead=1)
    kit.tasks.all()
    assert kit.loader.kept == (0,)


def test_memory_is_bounded_and_the_least_recently_used_goes(kit):
    kit.limit[0] = 3 * WEIGHT
    for row in (0, 1, 2, 0, 3):
        kit.loader.want([row])
        kit.tasks.all()
    assert kit.loader.kept == (2, 0, 3)
    assert sum(kit.loader.entry(row).weight for row in kit.loader.kept) <= kit.limit[0]


def test_what_is_on_show_stays_even_if_it_is_too_much(kit):
    kit.limit[0] = WEIGHT
    kit.loader.want([0, 1, 2])
    kit.tasks.all()
    assert set(kit.loader.kept) == {0, 1, 2}
    kit.loader.want([2])
    kit.loader.want([3])
    kit.tasks.all()
    assert kit.loader.kept == (3,)


def test_a_slice_that_cannot_be_decoded_takes_the_series_away(kit):
    kit.loader.want([0])
    kit.tasks.step()
    kit.stacks["a"].fail_at = 6
    kit.tasks.all()
    assert kit.loader.entry(0) is None
    assert kit.failed[0][0] == 0
    assert kit.failed[0][1].code == "truncated"
    assert not kit.loader.busy


def test_a_new_search_forgets_everything(kit):
    kit.loader.want([0])
    kit.tasks.step()
    kit.loader.give([series("z")])
    kit.tasks.all()
    assert kit.loader.kept == ()
    assert kit.told == [0]


def test_values_that_moved_are_taken_over(kit):
    kit.loader.want([0])
    kit.tasks.step()
    entry, stack = kit.loader.entry(0), kit.stacks["a"]
    assert not entry.renew()
    stack.pixels = replace(stack.pixels, array=stack.pixels.array.astype(np.int32))
    assert entry.renew()
    assert entry.picture.array.dtype == np.int32
    assert entry.picture.ready is not None
