"""Batching, schedule and loop on a toy model; seconds."""

from __future__ import annotations

import math
import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import pytest
import torch
from torch import Tensor, nn

from engine.control import Control
from engine.errors import Cancelled
from engine.evidence.item import ModelInput
from engine.packing import Limits, pack_batches
from engine.train import (
    TrainSettings,
    equal_targets,
    learning_rate,
    make_optimizer,
    train,
)


@dataclass(frozen=True)
class Words:
    """A pair of texts; its length is that of the longer text."""

    query: ModelInput
    target: ModelInput
    task: str = "toy"
    family: str = "T-T"
    group: str = ""


def words(query: str, target: str, *, task: str = "toy") -> Words:
    return Words(
        ModelInput(None, (query,), (), ()),
        ModelInput(None, (target,), (), ()),
        task=task,
        group=target,
    )


class Toy:
    """Embeds a text by the mean of its letters' vectors."""

    def __init__(self, seed: int = 0) -> None:
        torch.manual_seed(seed)
        self.module: nn.Module = nn.Sequential(nn.EmbeddingBag(256, 16), nn.Linear(16, 16))

    def cost(self, item: ModelInput) -> int:
        return len(item.texts[0])

    def embed(self, items: Sequence[ModelInput]) -> Tensor:
        codes = [torch.tensor(list(item.texts[0].encode())) for item in items]
        starts = torch.tensor([0, *(len(code) for code in codes[:-1])]).cumsum(0)
        bag, linear = self.module
        return linear(bag(torch.cat(codes), starts))


def toy_pairs(count: int, seed: int = 0) -> Iterator[Words]:
    """Words and their shifted spelling."""
    rng = random.Random(seed)
    for _ in range(count):
        word = "".join(rng.choices("abcdefgh", k=rng.randint(3, 9)))
        yield words(word, "".join(chr(ord(letter) + 8) for letter in word))


def length_of(pair: Words) -> int:
    return max(len(pair.query.texts[0]), len(pair.target.texts[0]))


def settings(**more: object) -> TrainSettings:
    values: dict[str, object] = {"steps": 10, "nominal_batch": 4, "longest": 8, "most_pairs": 8}
    return TrainSettings(**(values | more))  # type: ignore[arg-type]


def limits(**more: object) -> Limits:
    return settings(**more).limits


def test_every_batch_keeps_the_papers_constraint_and_no_pair_is_lost() -> None:
    chosen = settings().limits
    assert chosen == Limits(tokens=64, pairs=8)
    pairs = list(toy_pairs(500))
    batches = list(pack_batches(pairs, length_of, chosen))
    for batch in batches:
        longest = max(length_of(pair) for pair in batch)
        assert 2 * len(batch) * longest <= 64
        assert len(batch) <= 8
    packed = [pair for batch in batches for pair in batch]
    assert sorted(map(id, packed)) == sorted(map(id, pairs))


def test_best_fit_puts_like_with_like() -> None:
    lengths = [8, 2, 8, 2, 8, 2, 8, 2]
    pairs = [words("x" * length, "y") for length in lengths]
    batches = list(pack_batches(pairs, length_of, limits()))
    assert [[length_of(pair) for pair in batch] for batch in batches] == [[8] * 4, [2] * 4]


def test_padding_is_less_than_in_the_order_of_arrival() -> None:
    pairs = list(toy_pairs(400))
    lengths = [length_of(pair) for pair in pairs]

    def padded(batches: list[list[Words]]) -> int:
        return sum(2 * len(b) * max(length_of(pair) for pair in b) for b in batches)

    packed = padded(list(pack_batches(pairs, length_of, limits())))
    arrival = padded([pairs[start : start + 4] for start in range(0, 400, 4)])
    assert 2 * sum(lengths) <= packed < arrival


def test_tasks_stay_apart_when_asked() -> None:
    pairs = [words("abc", "def", task="one" if i % 2 else "two") for i in range(40)]
    for batch in pack_batches(pairs, length_of, limits(by_task=True)):
        assert len({pair.task for pair in batch}) == 1


def test_a_pair_over_the_budget_is_reported_and_left_out() -> None:
    refused: list[int] = []
    pairs = [words("a" * 33, "b"), words("a", "b")]
    batches = list(
        pack_batches(pairs, length_of, limits(), refused=lambda _, length: refused.append(length))
    )
    assert [len(batch) for batch in batches] == [1]
    assert refused == [33]


def test_the_rate_warms_up_and_falls_as_a_cosine() -> None:
    chosen = settings(steps=100, peak_rate=1.0, warmup_share=0.1)
    assert learning_rate(0, chosen) == pytest.approx(0.1)
    assert learning_rate(9, chosen) == pytest.approx(1.0)
    assert learning_rate(10, chosen) == pytest.approx(1.0)
    assert learning_rate(55, chosen) == pytest.approx(0.5)
    assert learning_rate(99, chosen) == pytest.approx(
        0.5 * (1 + math.cos(math.pi * 89 / 90)), abs=1e-9
    )


def test_only_matrices_decay() -> None:
    module = nn.Linear(3, 2)
    decayed, free = make_optimizer(module, settings()).param_groups
    assert decayed["weight_decay"] > 0
    assert free["weight_decay"] == 0
    assert decayed["params"] == [module.weight]
    assert free["params"] == [module.bias]


def test_training_learns_and_is_the_same_twice() -> None:
    chosen = settings(steps=150, peak_rate=1e-2, temperature=0.05, longest=16, most_pairs=16)
    first = train(Toy(), toy_pairs(10_000), chosen)
    again = train(Toy(), toy_pairs(10_000), chosen)
    assert first == again
    assert len(first) == 150
    early = sum(row.loss for row in first[:10]) / 10
    late = sum(row.loss for row in first[-10:]) / 10
    assert late < 0.5 * early
    assert sum(row.hit_at_1 for row in first[-10:]) / 10 > 0.8


def test_several_batches_make_one_step() -> None:
    rows = train(Toy(), toy_pairs(1000), settings(steps=5, batches_per_step=3))
    assert [row.step for row in rows] == [step for step in range(5) for _ in range(3)]
    one = train(Toy(), toy_pairs(1000), settings(steps=5))
    assert rows[0] == one[0]  # the first batch meets the same parameters
    assert rows[1].loss != one[1].loss


def test_training_ends_with_the_stream() -> None:
    rows = train(Toy(), toy_pairs(16), settings(steps=1000))
    assert 1 <= len(rows) < 16


def test_training_stops_between_steps_when_asked() -> None:
    asked = iter([False, False, True])
    reports: list[int] = []
    control = Control(
        cancelled=lambda: next(asked), report=lambda done, total, unit, phase: reports.append(done)
    )
    with pytest.raises(Cancelled):
        train(Toy(), toy_pairs(1000), settings(steps=50), control=control)
    assert reports == [0, 1, 2]


def test_equal_groups_are_equal_targets() -> None:
    batch = [words("a", "x"), words("b", "y"), words("c", "x")]
    assert equal_targets(batch).tolist() == [
        [True, False, True],
        [False, True, False],
        [True, False, True],
    ]


@pytest.mark.parametrize(
    "wrong",
    [
        {"steps": 0},
        {"compare": "dot"},
        {"temperature": 0.0},
        {"open_batches": 0},
        {"batches_per_step": 0},
    ],
)
def test_settings_are_checked_at_the_border(wrong: dict[str, object]) -> None:
    with pytest.raises(ValueError, match=r"must be|compare"):
        settings(**wrong)
