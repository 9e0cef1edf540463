"""Which queries go into a study, and which model stands on which side. Arithmetic on names only.

Equal share per task, capped by its queries, remainder by largest remainder; sides by blocked
allocation inside stratum x family x form. All draws come from ``numpy``'s PCG64 and a stored
seed. Refuses to touch evidence.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Mapping, Sequence
from fractions import Fraction
from typing import TypeVar

import numpy as np

Cell = TypeVar("Cell", bound=Hashable)
Place = tuple[str, str]  # item id, and "item" or "repeat"


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
    return largest_remainder(_quotas(caps, min(total, sum(caps.values()))), rng)


def largest_remainder(quotas: Mapping[str, Fraction], rng: np.random.Generator) -> dict[str, int]:
    """Whole numbers for fractional ones that add up to a whole number (Hamilton's method).

    Each is rounded down; what is left goes one each to the largest remainders, by lot where they
    are equal. Fractions, so that equal remainders are equal on every machine.
    """
    order = sorted(quotas)
    shares = {name: math.floor(quotas[name]) for name in order}
    left = int(sum(quotas.values())) - sum(shares.values())
    lots = dict(zip(order, rng.permutation(len(order)), strict=True))
    rest = sorted(order, key=lambda name: (shares[name] - quotas[name], lots[name]))
    for name in rest[:left]:
        shares[name] += 1
    return shares


def _quotas(caps: Mapping[str, int], total: int) -> dict[str, Fraction]:
    """The share of each task before rounding: equal, but never above its cap."""
    quotas: dict[str, Fraction] = {}
    left, waiting = Fraction(total), sorted(caps, key=lambda task: (caps[task], task))
    while waiting:
        share = left / len(waiting)
        task = waiting.pop(0)
        quotas[task] = min(Fraction(caps[task]), share)
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


def reading_plan(
    blocks: Mapping[str, Sequence[str]],
    *,
    warmups: Sequence[str],
    repeat_share: float,
    repeat_gap: int,
    rng: np.random.Generator,
) -> tuple[tuple[str, str, bool], ...]:
    """What one rater reads, in order: warm-ups, then block after block with its repeats.

    Blocks follow each other by lot and are shuffled inside. Each gives repeats by its size
    (largest remainder). A repeat stands at a random place of its own block, at least the gap
    after its item; where the block is too short for that, after the last block; where even
    that is too near, another block repeats one more.

    Args:
        blocks: block name (``2d``, ``3d``, ``text``) to item ids.
        warmups: item ids of practice items, read first.
        repeat_share: share of the items that come back with sides swapped.
        repeat_gap: least number of places from an item to its repeat.
        rng: the rater's generator.

    Returns:
        (item id, ``item``, ``warmup`` or ``repeat``, swapped) for each place.
    """
    practice = sorted(warmups)
    first = [practice[place] for place in rng.permutation(len(practice))]
    read = _with_repeats(blocks, repeat_share, repeat_gap, rng)
    return (
        *((item_id, "warmup", False) for item_id in first),
        *((item_id, kind, kind == "repeat") for item_id, kind in read),
    )


def _with_repeats(
    blocks: Mapping[str, Sequence[str]], share: float, gap: int, rng: np.random.Generator
) -> list[Place]:
    """Items and repeats of all blocks in order."""
    sizes = {name: len(ids) for name, ids in blocks.items() if ids}
    count = int(np.floor(share * sum(sizes.values()) + 0.5))
    whole = max(1, sum(sizes.values()))
    wanted = largest_remainder({n: Fraction(count * s, whole) for n, s in sizes.items()}, rng)
    parts: dict[str, list[Place]] = {}
    owed: dict[str, int] = {}
    for name in _order_of_blocks(sizes, gap, rng):
        ids = sorted(blocks[name])
        parts[name] = [(ids[place], "item") for place in rng.permutation(len(ids))]
        owed[name] = wanted[name] - _repeat_inside(parts[name], wanted[name], gap, rng)
    tail, lost = _repeat_after(parts, owed, gap, rng)
    for name in sorted(parts, key=lambda name: (-sizes[name], name)):
        lost -= _repeat_inside(parts[name], lost, gap, rng)
    return [*(place for part in parts.values() for place in part), *tail]


def _order_of_blocks(
    sizes: Mapping[str, int], gap: int, rng: np.random.Generator
) -> tuple[str, ...]:
    """Blocks by lot, a long one last: what a short one cannot repeat has its place after it."""
    names = sorted(sizes)
    order = [names[place] for place in rng.permutation(len(names))]
    roomy = [name for name in order if sizes[name] >= gap]
    if roomy:
        order.remove(roomy[-1])
        order.append(roomy[-1])
    return tuple(order)


def _repeat_inside(part: list[Place], count: int, gap: int, rng: np.random.Generator) -> int:
    """Slip repeats into a block, each the gap or more after its item; how many found a place."""
    before = list(part)
    for done in range(count):
        open_places = _repeatable(part, part, len(part) - gap)
        if not open_places:
            return _append_repeats(part, before, count, gap, done=done)
        place = open_places[int(rng.integers(len(open_places)))]
        later = place + gap + int(rng.integers(len(part) - place - gap + 1))
        part.insert(later, (part[place][0], "repeat"))
    return count


def _append_repeats(
    part: list[Place], before: list[Place], count: int, gap: int, *, done: int
) -> int:
    """Where repeats at random places took each other's room: all behind the block, in its order."""
    if len(before) < gap:
        return done
    fresh = [before[place] for place in _repeatable(before, before, len(before))]
    added = min(count, len(fresh))
    if added > done and all(
        before.index(one) + gap <= len(before) + n for n, one in enumerate(fresh[:added])
    ):
        part[:] = [*before, *((item_id, "repeat") for item_id, _ in fresh[:added])]
        return added
    return done


def _repeat_after(
    parts: Mapping[str, list[Place]], owed: Mapping[str, int], gap: int, rng: np.random.Generator
) -> tuple[list[Place], int]:
    """Repeats behind the last block, block by block, and how many had no place there either."""
    read = [place for part in parts.values() for place in part]
    length, lost = len(read), 0
    for name, part in parts.items():
        start = read.index(part[0])
        for _ in range(owed[name]):
            own = _repeatable(read[start : start + len(part)], read, len(read) - gap - start)
            if not own:
                lost += 1
                continue
            place = start + own[int(rng.integers(len(own)))]
            read.append((read[place][0], "repeat"))
    return read[length:], lost


def _repeatable(part: Sequence[Place], read: Sequence[Place], last: int) -> list[int]:
    """Places up to the last one whose item has no repeat yet."""
    again = {item_id for item_id, kind in read if kind == "repeat"}
    return [
        place
        for place, (item_id, kind) in enumerate(part)
        if kind == "item" and place <= last and item_id not in again
    ]
