"""How many queries each task gives, which label each place gets, what a rater reads in which order.

Arithmetic on names only: equal shares capped by what there is, largest remainder, blocked
allocation, repeats with a least distance. All draws come from ``numpy``'s PCG64 and a stored seed,
and no float decides, so that every machine draws the same. Refuses to touch evidence.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Mapping, Sequence
from fractions import Fraction
from typing import TypeVar

import numpy as np

Cell = TypeVar("Cell", bound=Hashable)
Label = TypeVar("Label")
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


def balanced(
    cells: Sequence[Cell], labels: Sequence[Label], rng: np.random.Generator
) -> tuple[Label, ...]:
    """A label for each place, exactly balanced: blocked allocation, not coin flips.

    Within each cell every label comes as often as any other, give or take one. The odd places of
    a cell get different labels, those that odd places have had least so far, by lot where equal;
    so the whole is balanced to within one place as well.

    Args:
        cells: the cell (stratum, family, form and so on) of each place.
        labels: what is given out: sides, or pairs of models.
        rng: the generator.

    Returns:
        One label for each place.
    """
    members: dict[Cell, list[int]] = {}
    for index, cell in enumerate(cells):
        members.setdefault(cell, []).append(index)
    given: dict[int, int] = {}
    odd = [0] * len(labels)
    names = sorted(members, key=str)
    for cell in (names[place] for place in rng.permutation(len(names))):
        mixed = [members[cell][place] for place in rng.permutation(len(members[cell]))]
        whole = len(mixed) - len(mixed) % len(labels)
        given.update({index: n % len(labels) for n, index in enumerate(mixed[:whole])})
        lots = rng.permutation(len(labels))
        least = sorted(range(len(labels)), key=lambda label: (odd[label], lots[label]))
        for index, label in zip(mixed[whole:], least, strict=False):
            given[index] = label
            odd[label] += 1
    return tuple(labels[given[index]] for index in range(len(cells)))


def repeat_count(items: int, share: float) -> int:
    """How many of so many items are to come back; a half is rounded up.

    The one count of planner, wizard, reading order and methods text. An order holds fewer where
    its blocks are too short for the gap.
    """
    return math.floor(share * items + 0.5)


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
    count = repeat_count(sum(sizes.values()), share)
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
