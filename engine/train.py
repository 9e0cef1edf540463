"""Contrastive training on the CPU or one device. Owns settings, schedule and the loop.

Refuses to know where pairs come from (a stream is passed in), how a model turns items into vectors
(a ``Trainee`` does) and where weights are kept (the caller saves them).

Source: MedHEB paper, section 4 and appendix A.1. Shape letters as in ``engine.losses``.
"""

from __future__ import annotations

import itertools
import math
import random
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
import torch
from torch import Tensor, nn

from engine.control import Control
from engine.evidence.item import ModelInput
from engine.losses import COMPARISONS, cosines, masked_info_nce
from engine.packing import Limits, Pair, pack_batches

LossOf = Callable[[Tensor, Tensor, Tensor], Tensor]


class Trainee(Protocol):
    """A model as the loop sees it."""

    @property
    def module(self) -> nn.Module:
        """What holds the parameters."""

    def cost(self, item: ModelInput) -> int:
        """Length of the item in tokens."""

    def embed(self, items: Sequence[ModelInput]) -> Tensor:
        """Vectors [B, D] with gradient, in the order of the items, not yet of unit length."""


class LoadedEncoder(Protocol):
    """An encoder of ``engine.models`` that holds its model and processor open."""

    model: Any
    processor: Any
    settings: Any

    def cost(self, item: ModelInput) -> int:
        """Length of the item in tokens."""


class EncoderTrainee:
    """Trains a loaded encoder through its own adapter, so that pixels and prompts are the same.

    Args:
        encoder: from ``engine.models.load.load_encoder``.
        build_batch: the adapter's, ``(processor, items, settings) -> tensors``.
        pool: the adapter's, ``(model, tensors) -> vectors``, differentiable.
    """

    def __init__(
        self,
        encoder: LoadedEncoder,
        *,
        build_batch: Callable[[Any, Sequence[ModelInput], Any], Mapping[str, Tensor]],
        pool: Callable[[Any, Mapping[str, Tensor]], Tensor],
    ) -> None:
        self.encoder, self.build_batch, self.pool = encoder, build_batch, pool

    @property
    def module(self) -> nn.Module:
        """The encoder's model, whose parameters are changed in place."""
        return self.encoder.model

    def cost(self, item: ModelInput) -> int:
        """The encoder's estimate."""
        return self.encoder.cost(item)

    def embed(self, items: Sequence[ModelInput]) -> Tensor:
        """Vectors [B, D] with gradient."""
        batch = self.build_batch(self.encoder.processor, items, self.encoder.settings)
        device = next(self.module.parameters()).device
        return self.pool(self.module, {name: value.to(device) for name, value in batch.items()})


@dataclass(frozen=True)
class TrainSettings:
    """What decides a training run, with the paper's values where it gives them.

    Attributes:
        steps: optimiser steps of the whole schedule.
        peak_rate: learning rate at the end of the warm-up.
        warmup_share: share of the steps with a rising rate.
        floor_share: the rate at the very end, as a share of the peak.
        temperature: tau of the loss.
        margin: delta of the false-negative mask.
        compare: ``cosine`` or ``phi``: what the margin is measured on.
        spare_equal_targets: targets of one group are no negatives (not in the paper).
        both_ways: also rank the queries for every target (not in the paper).
        nominal_batch: B_nom; with ``longest`` it gives the token budget T = 2 B_nom L_max.
        longest: L_max in tokens.
        most_pairs: S_max, most pairs in a batch.
        open_batches: how many batches may be under construction at once.
        by_task: batches of one ``task`` only, whose negatives are harder.
        batches_per_step: their gradients are averaged before the optimiser moves.
        weight_decay: AdamW's, on matrices only.
        clip: largest norm of the gradient.
        seed: of every random choice made here.
    """

    steps: int
    peak_rate: float = 1e-4
    warmup_share: float = 0.05
    floor_share: float = 0.0
    temperature: float = 0.01
    margin: float = 0.1
    compare: str = "cosine"
    spare_equal_targets: bool = False
    both_ways: bool = False
    nominal_batch: int = 32
    longest: int = 256
    most_pairs: int = 64
    open_batches: int = 8
    by_task: bool = False
    batches_per_step: int = 1
    weight_decay: float = 0.01
    clip: float = 1.0
    seed: int = 0

    def __post_init__(self) -> None:
        """Check at the border."""
        if self.compare not in COMPARISONS:
            raise ValueError(f"compare is {self.compare!r}; use one of {', '.join(COMPARISONS)}")
        if min(self.steps, self.nominal_batch, self.longest, self.most_pairs) < 1:
            raise ValueError("steps, nominal_batch, longest and most_pairs must be at least 1")
        if self.temperature <= 0 or min(self.open_batches, self.batches_per_step) < 1:
            raise ValueError(
                "temperature must be above 0, open_batches and batches_per_step at least 1"
            )

    @property
    def limits(self) -> Limits:
        """What a batch may hold; T = 2 B_nom L_max."""
        return Limits(
            tokens=2 * self.nominal_batch * self.longest,
            pairs=self.most_pairs,
            open_batches=self.open_batches,
            by_task=self.by_task,
        )


@dataclass(frozen=True)
class BatchRow:
    """One batch of the log.

    Attributes:
        step: the optimiser step it went into.
        task: the task of its pairs, or ``mixed``.
        loss: before the step.
        hit_at_1: share of queries that rank their own target, or its equal, first in the batch.
        pairs: its size.
        tokens: its padded length on both sides.
        rate: learning rate of the step.
    """

    step: int
    task: str
    loss: float
    hit_at_1: float
    pairs: int
    tokens: int
    rate: float


def learning_rate(step: int, settings: TrainSettings) -> float:
    """Rate of step 0, 1, ...: linear warm-up to the peak, then a half cosine down to the floor."""
    warmup = max(1, round(settings.warmup_share * settings.steps))
    if step < warmup:
        return settings.peak_rate * (step + 1) / warmup
    done = min(1.0, (step - warmup) / max(1, settings.steps - warmup))
    floor = settings.floor_share
    return settings.peak_rate * (floor + (1 - floor) * 0.5 * (1 + math.cos(math.pi * done)))


def seed_everything(seed: int) -> None:
    """Seed Python, numpy's legacy generator and torch."""
    random.seed(seed)
    np.random.seed(seed)
    torch.manual_seed(seed)


def make_optimizer(module: nn.Module, settings: TrainSettings) -> torch.optim.AdamW:
    """AdamW with decay on matrices only; norms, biases and single numbers are left alone."""
    trained = [p for p in module.parameters() if p.requires_grad]
    groups = [
        {"params": [p for p in trained if p.ndim >= 2], "weight_decay": settings.weight_decay},
        {"params": [p for p in trained if p.ndim < 2], "weight_decay": 0.0},
    ]
    return torch.optim.AdamW(groups, lr=settings.peak_rate, betas=(0.9, 0.98), eps=1e-6)


def equal_targets(batch: Sequence[Pair]) -> Tensor:
    """Bool [B, B]: the targets of rows i and j belong to one group."""
    return torch.tensor([[one.group == other.group for other in batch] for one in batch])


def medemb_loss(settings: TrainSettings) -> LossOf:
    """The loss of the settings as a function of query_BD, target_BD, same_BB."""

    def one_way(query_BD: Tensor, target_BD: Tensor, same_BB: Tensor) -> Tensor:
        return masked_info_nce(
            query_BD,
            target_BD,
            temperature=settings.temperature,
            margin=settings.margin,
            compare=settings.compare,
            same_BB=same_BB if settings.spare_equal_targets else None,
        )

    def both(query_BD: Tensor, target_BD: Tensor, same_BB: Tensor) -> Tensor:
        forth = one_way(query_BD, target_BD, same_BB)
        return 0.5 * (forth + one_way(target_BD, query_BD, same_BB))

    return both if settings.both_ways else one_way


def train(
    trainee: Trainee,
    pairs: Iterable[Pair],
    settings: TrainSettings,
    *,
    loss_of: LossOf | None = None,
    on_batch: Callable[[BatchRow], None] = lambda row: None,
    control: Control | None = None,
) -> tuple[BatchRow, ...]:
    """Train until the schedule or the stream ends.

    Args:
        trainee: the model; its parameters are changed in place.
        pairs: the stream of pairs, in the order to be used.
        settings: everything that decides the run.
        loss_of: another loss than MedEmb's, as a function of query_BD, target_BD, same_BB.
        on_batch: told of every batch.
        control: asked for cancellation between steps, told of progress and of refused pairs.

    Returns:
        The log, one row a batch.

    Raises:
        Cancelled: the user asked to stop; the parameters are those of the last whole step.
    """
    control = control or Control()
    seed_everything(settings.seed)
    optimizer = make_optimizer(trainee.module, settings)
    loss_of = loss_of or medemb_loss(settings)
    batches = pack_batches(
        pairs,
        lambda pair: pair_length(trainee, pair),
        settings.limits,
        refused=_say_refused(control),
    )
    control.begin(settings.steps, unit="steps", phase="training")
    trainee.module.train()
    rows: list[BatchRow] = []
    together = _in_groups(batches, settings.batches_per_step)
    for step, group in zip(range(settings.steps), together, strict=False):
        control.check()
        rate = learning_rate(step, settings)
        for row in _one_step(trainee, group, optimizer, loss_of, (step, rate), settings.clip):
            rows.append(row)
            on_batch(row)
        control.step()
    trainee.module.eval()
    return tuple(rows)


def _in_groups(batches: Iterator[list[Pair]], size: int) -> Iterator[tuple[list[Pair], ...]]:
    while group := tuple(itertools.islice(batches, size)):
        yield group


def pair_length(trainee: Trainee, pair: Pair) -> int:
    """The longer side of a pair in tokens."""
    return max(trainee.cost(pair.query), trainee.cost(pair.target))


def _one_step(
    trainee: Trainee,
    group: Sequence[Sequence[Pair]],
    optimizer: torch.optim.Optimizer,
    loss_of: LossOf,
    step_and_rate: tuple[int, float],
    clip: float,
) -> list[BatchRow]:
    step, rate = step_and_rate
    for parameters in optimizer.param_groups:
        parameters["lr"] = rate
    optimizer.zero_grad(set_to_none=True)
    rows = []
    for batch in group:
        query_BD = trainee.embed([pair.query for pair in batch])
        target_BD = trainee.embed([pair.target for pair in batch])
        same_BB = equal_targets(batch).to(query_BD.device)
        loss = loss_of(query_BD, target_BD, same_BB)
        (loss / len(group)).backward()
        hit = batch_hit_at_1(query_BD.detach(), target_BD.detach(), same_BB)
        rows.append(_row(step, batch, trainee, float(loss.detach()), hit, rate))
    nn.utils.clip_grad_norm_(trainee.module.parameters(), clip)
    optimizer.step()
    return rows


def batch_hit_at_1(query_BD: Tensor, target_BD: Tensor, same_BB: Tensor) -> float:
    """Share of queries whose own target (or its equal) scores highest within the batch."""
    best_B = cosines(query_BD, target_BD).argmax(dim=1)
    return float(same_BB[torch.arange(len(best_B), device=best_B.device), best_B].float().mean())


def _row(
    step: int, batch: Sequence[Pair], trainee: Trainee, loss: float, hit: float, rate: float
) -> BatchRow:
    tasks = {pair.task for pair in batch}
    task = tasks.pop() if len(tasks) == 1 else "mixed"
    tokens = 2 * len(batch) * max(pair_length(trainee, pair) for pair in batch)
    return BatchRow(step, task, loss, hit, len(batch), tokens, rate)


def _say_refused(control: Control) -> Callable[[Pair, int], None]:
    def say(pair: Pair, length: int) -> None:
        control.say(
            f"A pair of {pair.task} with {length} tokens exceeds the token budget alone and is "
            "left out; raise longest or nominal_batch to keep it."
        )

    return say
