"""Which pairs a nano sees, in which order and with how many slices. Owns mixtures, renders nothing.

The demo's pairs come from train patients only. Most volumes are thinned to a few slices, which is
what makes training affordable; a share keeps all 64, which is what the benchmark shows.
"""

from __future__ import annotations

import itertools
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace

import numpy as np

from engine.evidence.item import ModelInput
from engine.evidence.pixels import sample_indices
from engine.packing import Pair
from studies.demo.nano.generic_pairs import generic_pairs
from studies.demo.train_pairs import Counts, training_pairs

SLICES: Mapping[int, float] = {6: 0.28, 8: 0.36, 12: 0.22, 24: 0.10, 64: 0.04}
# How often each task comes round: the hard ones with small findings more, the easy ones less.
TURNS: Mapping[str, int] = {
    "skin/i2i": 1,
    "pathology/i2i": 1,
    "brain/i2i": 2,
    "brain/t1-t2": 4,
    "brain/t2-t1": 4,
    "chest/xray-ct": 4,
    "chest/i2l": 4,
    "skin/i2l": 2,
    "chest_ct/i2l": 4,
    "chest/i2r": 5,
    "chest_ct/i2r": 4,
    "skin/t2i": 2,
    "chest/t2i": 4,
    "chest_ct/t2i": 4,
    "chest/vqa": 4,
    "brain/vqa": 4,
    "chest/t2r": 3,
    "pathology/t2r": 3,
    "chest/t2t": 2,
    "question/t2t": 2,
}
DEV_SEED = 1001  # patients of no split that is built: another seed


@dataclass(frozen=True)
class Shown:
    """A pair as it is shown: the same but for fewer slices."""

    family: str
    task: str
    query: ModelInput
    target: ModelInput
    group: str


def demo_stream(
    *, seed: int, counts: Counts, turns: Mapping[str, int] = TURNS, slices: Mapping[int, float]
) -> Iterator[Shown]:
    """Endless demo pairs of train patients, volumes thinned.

    Args:
        seed: of the demo and of the thinning.
        counts: patients per source.
        turns: how often each task comes in one round.
        slices: number of slices to its probability.
    """
    tasks = tuple(name for name, times in turns.items() for _ in range(times))
    pairs = training_pairs(seed=seed, count=10**9, counts=counts, tasks=tasks)
    return thinned(pairs, seed=seed, slices=slices)


def generic_stream(*, seed: int, tasks: Collection[str]) -> Iterator[Pair]:
    """Endless generic pairs of some kinds."""
    return (pair for pair in generic_pairs(seed=seed, count=10**9) if pair.task in tasks)


def mixed_stream(
    most: Iterator[Pair], some: Iterator[Pair], *, share: float, seed: int
) -> Iterator[Pair]:
    """Pairs of ``most`` with a ``share`` of ``some`` among them."""
    rng = np.random.default_rng([seed, 77])
    while True:
        yield next(some) if rng.random() < share else next(most)


def partly_mixed(pairs: Iterator[Pair], *, share: float, seed: int) -> Iterator[Pair]:
    """A share of the pairs under the task ``mixed``, so that some batches hold several tasks.

    Batches of one task have the harder negatives; the mixed ones keep the vectors of different
    tasks and kinds apart, without which everything falls onto one point.
    """
    rng = np.random.default_rng([seed, 31])
    for pair in pairs:
        if rng.random() < share:
            pair = Shown(pair.family, "mixed", pair.query, pair.target, pair.group)
        yield pair


def flat_first(pairs: Iterator[Pair], *, count: int, share: float, seed: int) -> Iterator[Pair]:
    """Pairs with volumes come rarely among the first ``count``: pictures teach sooner and cheaper.

    Args:
        pairs: the stream.
        count: pairs handed on before volumes come as they are.
        share: of the pairs with volumes that is kept until then.
        seed: of the choice.
    """
    rng = np.random.default_rng([seed, 13])
    passed = 0
    for pair in pairs:
        has_volume = bool(pair.query.volumes or pair.target.volumes)
        if passed >= count or not has_volume or rng.random() < share:
            passed += 1
            yield pair


def dev_pairs(*, count: int, slices: int = 64) -> list[Shown]:
    """Pairs of patients that no nano was trained on and no demo shows, to follow the training."""
    counts = Counts(chest=48, brain=30, pathology=48, skin=48, text=400)
    pairs = training_pairs(seed=DEV_SEED, count=count, slices=slices, counts=counts)
    return [shown(pair, slices=slices) for pair in pairs]


def thinned(pairs: Iterable[Pair], *, seed: int, slices: Mapping[int, float]) -> Iterator[Shown]:
    """Each pair with one number of slices on both sides."""
    rng = np.random.default_rng([seed, 64])
    numbers, shares = list(slices), np.array(list(slices.values()))
    for pair in pairs:
        yield shown(pair, slices=int(rng.choice(numbers, p=shares / shares.sum())))


def shown(pair: Pair, *, slices: int) -> Shown:
    """A pair with at most so many slices of every volume."""
    return Shown(
        pair.family, pair.task, _thin(pair.query, slices), _thin(pair.target, slices), pair.group
    )


def _thin(item: ModelInput, slices: int) -> ModelInput:
    volumes = tuple(volume[sample_indices(len(volume), slices)] for volume in item.volumes)
    return replace(item, volumes=volumes)


def texts_of(pairs: Iterable[Pair]) -> list[str]:
    """Every text and instruction of the pairs, for the vocabularies."""
    items = itertools.chain.from_iterable((pair.query, pair.target) for pair in pairs)
    return [text for item in items for text in (*item.texts, item.instruction) if text]
