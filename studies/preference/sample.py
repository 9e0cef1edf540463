"""Which queries go into a study, and which model stands on which side. Arithmetic on names only.

Equal share per task, capped by its queries, remainder by largest remainder; sides by blocked
allocation inside stratum x family x form. All draws come from ``numpy``'s PCG64 and a stored
seed. Refuses to touch evidence.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from typing import TypeVar

import numpy as np

Cell = TypeVar("Cell", bound=Hashable)


def generator(seed: int, *stream: int) -> np.random.Generator:
    """The generator of one purpose; streams of one seed are independent of each other."""
    return np.random.Generator(np.random.PCG64(np.random.SeedSequence([seed, *stream])))


def equal_shares(caps: Mapping[str, int], total: int, rng: np.random.Generator) -> dict[str, int]:
    """How many queries each task gives.

    Every task gives the same share; one with fewer queries gives all it has and the others
    share the rest. What is left after rounding down goes one each to the largest remainders,
    drawn by lot where they are equal.

    Args:
        caps: task to the number of its queries.
        total: queries wanted; less is given if there are fewer.
        rng: draws the lots.

    Returns:
        Task to count, the counts adding up to ``min(total, sum of caps)``.
    """
    order = sorted(caps)
    total = min(total, sum(caps.values()))
    quotas = _quotas(caps, total)
    shares = {task: int(np.floor(quotas[task] + 1e-9)) for task in order}
    left = total - sum(shares.values())
    lots = dict(zip(order, rng.permutation(len(order)), strict=True))
    open_tasks = [task for task in order if shares[task] < caps[task]]
    open_tasks.sort(key=lambda task: (-round(quotas[task] - shares[task], 9), lots[task]))
    for task in open_tasks[:left]:
        shares[task] += 1
    return shares


def _quotas(caps: Mapping[str, int], total: int) -> dict[str, float]:
    """The share of each task before rounding: equal, but never above its cap."""
    quotas: dict[str, float] = {}
    left, waiting = float(total), sorted(caps, key=lambda task: (caps[task], task))
    while waiting:
        share = left / len(waiting)
        task = waiting.pop(0)
        quotas[task] = min(float(caps[task]), share)
        left -= quotas[task]
    return quotas


def draw(
    counts: Mapping[str, int], shares: Mapping[str, int], rng: np.random.Generator
) -> dict[str, tuple[int, ...]]:
    """Draw the queries of each task without replacement.

    Args:
        counts: task to the number of its queries.
        shares: task to the number wanted.
        rng: the generator.

    Returns:
        Task to the drawn indices below its count, ascending.
    """
    drawn = {}
    for task in sorted(counts):
        chosen = rng.choice(counts[task], size=shares[task], replace=False)
        drawn[task] = tuple(sorted(int(index) for index in chosen))
    return drawn


def balanced_sides(cells: Sequence[Cell], rng: np.random.Generator) -> tuple[str, ...]:
    """Which model stands left for each item.

    Within each cell A is left as often as B, give or take one; the odd ones of all cells are
    balanced among themselves, so the whole study is balanced to within one item as well.

    Args:
        cells: the cell (stratum, family, form) of each item.
        rng: the generator.

    Returns:
        ``"A"`` or ``"B"`` for each item.
    """
    members: dict[Cell, list[int]] = {}
    for index, cell in enumerate(cells):
        members.setdefault(cell, []).append(index)
    sides = [""] * len(cells)
    odd: list[int] = []
    for cell in sorted(members, key=str):
        mixed = [members[cell][place] for place in rng.permutation(len(members[cell]))]
        half = len(mixed) // 2
        for index in mixed[:half]:
            sides[index] = "A"
        for index in mixed[half : 2 * half]:
            sides[index] = "B"
        odd.extend(mixed[2 * half :])
    coin = int(rng.integers(2))
    for place, which in enumerate(rng.permutation(len(odd))):
        sides[odd[which]] = "AB"[(place + coin) % 2]
    return tuple(sides)


def reading_order(blocks: Mapping[str, Sequence[str]], rng: np.random.Generator) -> tuple[str, ...]:
    """The order in which one rater reads: block after block, each shuffled.

    Args:
        blocks: block name (``2d``, ``3d``, ``text``) to item ids.
        rng: the rater's generator.

    Returns:
        Every item id once.
    """
    names = sorted(blocks)
    order: list[str] = []
    for which in rng.permutation(len(names)):
        ids = sorted(blocks[names[which]])
        order.extend(ids[place] for place in rng.permutation(len(ids)))
    return tuple(order)
