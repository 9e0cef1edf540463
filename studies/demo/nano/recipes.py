"""What each nano is trained on, in which stages. Owns every number of the recipe, runs nothing."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace

from engine.packing import Pair
from engine.train import TrainSettings
from studies.demo.nano.generic_pairs import MAKERS
from studies.demo.nano.streams import (
    SLICES,
    TURNS,
    demo_stream,
    flat_first,
    generic_stream,
    mixed_stream,
    partly_mixed,
    thinned,
)
from studies.demo.train_pairs import Counts

BASE, MEDEMB, SIGLIP = "qwen3-vl-embedding-nano", "medemb-nano", "siglip-nano"


@dataclass(frozen=True)
class Stage:
    """One schedule of the optimiser.

    Attributes:
        settings: of the loop.
        counts: how many of the demo's train patients.
        slices: number of slices of a volume to its share.
        turns: how often each task of the demo comes round.
        flat_steps: steps at the beginning in which volumes are rare.
    """

    settings: TrainSettings
    counts: Counts
    slices: Mapping[int, float] = field(default_factory=lambda: SLICES)
    turns: Mapping[str, int] = field(default_factory=lambda: TURNS)
    flat_steps: int = 0


@dataclass(frozen=True)
class Recipe:
    """How one model is made.

    Attributes:
        name: its folder.
        why: a sentence for the card.
        demo_share: share of demo pairs; the rest is generic.
        mixed_share: share of pairs in batches of several tasks.
        generic_tasks: kinds of generic pairs.
        stages: one after the other, each on patients of its own.
    """

    name: str
    why: str
    demo_share: float
    mixed_share: float
    generic_tasks: tuple[str, ...]
    stages: tuple[Stage, ...]


COMMON = TrainSettings(
    steps=160,
    peak_rate=1e-3,
    temperature=0.03,
    margin=0.1,
    spare_equal_targets=True,
    both_ways=True,
    nominal_batch=16,
    longest=450,
    most_pairs=16,
    open_batches=48,
    by_task=True,
    batches_per_step=4,
)
FEW = Counts(chest=60, brain=40, pathology=80, skin=100, text=400)
GENERALIST = (
    "trained from nothing on generated shapes, colours, places and surfaces with captions, and on "
    "pairs from a few of the demo's train patients"
)
# Two towers learn from pairs of a picture and a text; questions beside a picture say nothing to
# a mean of two vectors.
TOWER_TASKS = ("same class", "label", "caption", "picture", "text")
TOWER_TURNS = {
    name: turns
    for name, turns in TURNS.items()
    if not name.endswith(("vqa", "t2r", "t1-t2", "t2-t1", "xray-ct"))
}
MEDEMB_SETTINGS = replace(COMMON, temperature=0.01)
RECIPES = (
    Recipe(BASE, GENERALIST, 0.35, 0.3, tuple(MAKERS), (Stage(COMMON, FEW, flat_steps=80),)),
    Recipe(
        SIGLIP,
        GENERALIST,
        0.35,
        0.3,
        TOWER_TASKS,
        (
            Stage(
                replace(COMMON, steps=240, peak_rate=3e-4, temperature=0.02, longest=2400),
                FEW,
                turns=TOWER_TURNS,
                flat_steps=180,
            ),
        ),
    ),
    Recipe(
        MEDEMB,
        f"{BASE} after contrastive training with the MedEmb loss on the demo's train patients",
        1.0,
        0.2,
        (),
        (
            Stage(
                replace(MEDEMB_SETTINGS, steps=420, peak_rate=1.2e-3),
                Counts(chest=480, brain=240),
                slices={8: 0.4, 12: 0.3, 24: 0.25, 64: 0.05},
                flat_steps=160,
            ),
        ),
    ),
)


def stream_of(recipe: Recipe, stage: int, *, seed: int) -> Iterator[Pair]:
    """The endless pairs of a stage; every stage has train patients of its own."""
    chosen, seed = recipe.stages[stage], seed + stage
    pairs: Iterator[Pair] = demo_stream(
        seed=seed, counts=chosen.counts, turns=chosen.turns, slices=chosen.slices
    )
    if recipe.demo_share < 1:
        generic = thinned(
            generic_stream(seed=seed, tasks=recipe.generic_tasks), seed=seed, slices=chosen.slices
        )
        pairs = mixed_stream(generic, pairs, share=recipe.demo_share, seed=seed)
    flat = chosen.flat_steps * chosen.settings.batches_per_step * chosen.settings.most_pairs
    pairs = flat_first(pairs, count=flat, share=0.15, seed=seed)
    return partly_mixed(pairs, share=recipe.mixed_share, seed=seed)
