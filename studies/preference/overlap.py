"""How far two lists show the same, found before anybody reads: a fact for the sealed key alone.

Evidence is compared as it is shown. *The same* means equal pixels and words, whatever the files
are called. *Nearly the same* is a likeness of pictures: each is made grey and small (the finest
grid up to 128 x 128 that the smaller of the two fills one and a half times), what is smooth over
5 x 5 cells is taken off, and the correlation of what is left must reach ``NEAR``. Brightness and
contrast cancel out; resizing and JPEG keep most of it; two pictures of one class share the smooth
part, which is gone. Of a volume eight slices are compared, evenly spread, up to 64 x 64, and their
mean counts. Measured by ``tests/bench/likeness.py`` on generated evidence alone: in the miniature
0 of 26,776 pairs of different pictures of one task and 1 of 3,816 pairs of volumes are called near,
and at most 1.2 % of changed pictures are missed; of volumes only 28 pixels wide a third is missed
once resized. The demo's chest films, one phantom with small findings, are near in 7.6 % of pairs.
A mirrored, turned or cropped copy is not found. Refuses to open files and to judge words.
"""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from PIL import Image, ImageFilter

OVERLAPS = ("identical", "same_set", "near_duplicate", "some", "none")
FLAGS = ("near_duplicate", "near_query", "same_patient")
HOLDERS = ("none", "first", "second", "both", "unknown")
NEAR = 0.9
GRIDS = (16, 24, 32, 48, 64, 96, 128)
GRID_OF = {"image": 128, "volume": 64}  # most cells of a side
FILLED = 1.5  # pixels of the smaller picture to one cell: below that, resizing takes the detail
SMOOTH = 2  # cells on each side
ROUGH = 256  # pixels of the shorter side that are left at least
PLAIN = 0.5  # grey levels of detail a cell, on average, under which a picture is blank
SLICES = 8

Detail = NDArray[np.float16]  # half the memory; likeness is computed in 32 bits


@dataclass(frozen=True, eq=False)
class Pattern:
    """What is left of a picture or volume for comparing.

    Attributes:
        side: pixels of its shorter side.
        kind: ``image`` or ``volume``.
        details: for each grid the unit vectors of its slices (one for a picture), None where
            a slice is blank.
    """

    side: int
    kind: str
    details: Mapping[int, tuple[Detail | None, ...]]


@dataclass(frozen=True)
class Kin:
    """Which list holds a candidate that is near the query, or of its patient; of ``HOLDERS``.

    "" means that nobody looked: an item of an earlier version, or one that is never shown.
    ``same_patient`` is ``unknown`` where nobody tells of whom the query or every candidate is.
    """

    near_query: str = ""
    same_patient: str = ""


@dataclass(frozen=True, eq=False)
class Look:
    """What one query or candidate shows.

    Attributes:
        exact: hash of pixels and words; equal means the same.
        patterns: of its pictures and volumes, in order.
        subject: token of the patient, drawn for this comparison only; None if nobody tells.
    """

    exact: str
    patterns: tuple[Pattern, ...] = ()
    subject: str | None = None


def pattern_of(pixels: NDArray[np.uint8], kind: str) -> Pattern:
    """The pattern of a picture [H, W] or [H, W, 3], or of a volume [S, H, W] or [S, H, W, 3]."""
    layers = [pixels]
    if kind == "volume":
        places = np.linspace(0, len(pixels) - 1, min(SLICES, len(pixels))).round().astype(int)
        layers = [pixels[place] for place in places]
    side = min(layers[0].shape[:2])
    greys = [_grey(layer) for layer in layers]
    least, most = GRIDS[0], GRID_OF[kind]
    grids = [grid for grid in GRIDS if grid == least or (grid <= most and grid * FILLED <= side)]
    return Pattern(side, kind, {grid: tuple(_detail(one, grid) for one in greys) for grid in grids})


def _grey(layer: NDArray[np.uint8]) -> Image.Image:
    """A picture in grey, a large one roughly reduced at once, which saves time."""
    grey = Image.fromarray(np.ascontiguousarray(layer)).convert("L")
    factor = min(grey.size) // ROUGH
    return grey.reduce(factor) if factor > 1 else grey


def _detail(grey: Image.Image, grid: int) -> Detail | None:
    """A unit vector of what a grid of cells shows beyond its smooth part."""
    method = Image.Resampling.BOX if min(grey.size) >= grid else Image.Resampling.BILINEAR
    small = grey.resize((grid, grid), method)
    smooth = small.filter(ImageFilter.BoxBlur(SMOOTH))
    left = np.asarray(small, np.float32) - np.asarray(smooth, np.float32)
    length = float(np.linalg.norm(left))
    if length < PLAIN * grid:
        return None
    return (left / np.float32(length)).ravel().astype(np.float16)


def likeness(one: Pattern, other: Pattern) -> float:
    """How alike two patterns are, -1 to 1; blank slices tell nothing, nothing at all tells 0."""
    if one.kind != other.kind:
        return 0.0
    grid = max(set(one.details) & set(other.details))
    first, second = one.details[grid], other.details[grid]
    found = []
    if len(first) != len(second):
        return 0.0
    for a, b in zip(first, second, strict=True):
        if a is not None and b is not None:
            found.append(float(a.astype(np.float32) @ b.astype(np.float32)))
        elif a is not None or b is not None:
            found.append(0.0)
    return sum(found) / len(found) if found else 0.0


def is_near(one: Look, other: Look) -> bool:
    """True for the same, and for pictures that are nearly the same one by one."""
    if one.exact == other.exact:
        return True
    if not one.patterns or len(one.patterns) != len(other.patterns):
        return False
    pairs = zip(one.patterns, other.patterns, strict=True)
    return all(likeness(a, b) >= NEAR for a, b in pairs)


def overlap_of(first: Sequence[Look], second: Sequence[Look]) -> str:
    """Which of ``OVERLAPS`` two lists have.

    ``near_duplicate`` means: the same set, if nearly the same counts as the same.
    """
    names = [one.exact for one in first], [one.exact for one in second]
    if names[0] == names[1]:
        return "identical"
    if sorted(names[0]) == sorted(names[1]):
        return "same_set"
    if len(first) == len(second) and any(
        all(is_near(a, b) for a, b in zip(first, order, strict=True))
        for order in itertools.permutations(second)
    ):
        return "near_duplicate"
    return "some" if set(names[0]) & set(names[1]) else "none"


def kin_of(query: Look, first: Sequence[Look], second: Sequence[Look]) -> Kin:
    """Which of two lists holds a look-alike of the query and which one its own patient."""
    near = [any(is_near(query, one) for one in listed) for listed in (first, second)]
    told = query.subject is not None and any(one.subject for one in (*first, *second))
    same = [any(one.subject == query.subject for one in listed) for listed in (first, second)]
    return Kin(_holder(*near), _holder(*same) if told else "unknown")


def _holder(first: bool, second: bool) -> str:
    held = {(True, True): "both", (True, False): "first", (False, True): "second"}
    return held.get((first, second), "none")


def flags_of(query: Look, candidates: Mapping[str, Look]) -> tuple[str, ...]:
    """Which of ``FLAGS`` hold.

    Args:
        query: what is asked.
        candidates: the candidates of both lists by their names; one in both lists counts once.
    """
    looks = list(candidates.values())
    found = {
        "near_duplicate": any(is_near(a, b) for a, b in itertools.combinations(looks, 2)),
        "near_query": any(is_near(query, one) for one in looks),
        "same_patient": any(
            one.subject is not None and one.subject == query.subject for one in looks
        ),
    }
    return tuple(flag for flag in FLAGS if found[flag])
