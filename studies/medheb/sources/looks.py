"""What several sources share: which pictures are turned, flipped or zoomed copies of one original.

Owns a fingerprint that such changes hardly touch: colours on rings round the centre, whose radii
grow by a constant factor, so that a zoom becomes a step along the rings. It finds copies made
about the centre (as augmentation programs make them); copies cut elsewhere, and strongly changed
colours, are not found. Opens one picture at a time.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from PIL import Image, UnidentifiedImageError

from engine.errors import EvidenceError
from engine.evidence.files import open_file

SIDE = 96  # pixels of the reduced picture
RINGS, ANGLES, STEP = 24, 96, 1.06
ZOOMS = 5  # STEP ** 5 = 1.34: a square turned by 25 degrees is cut to 1 / 1.33 of its side
NEAR = 0.35  # of the median distance of two pictures of a class
BLOCK = 512
Rings = NDArray[np.float32]


def rings(path: Path) -> Rings:
    """The fingerprint of a picture, [RINGS, 6]: mean and spread of red, green, blue on each ring.

    Raises:
        EvidenceError: it cannot be read.
    """
    try:
        with open_file(path) as stream, Image.open(stream) as image:
            image.draft("RGB", (2 * SIDE, 2 * SIDE))  # JPEG files are decoded no larger
            small = image.convert("RGB").resize((SIDE, SIDE), Image.Resampling.BOX)
    except (OSError, UnidentifiedImageError, Image.DecompressionBombError) as error:
        raise EvidenceError(path, "damaged", "is no picture that can be read") from error
    return _on_rings(np.asarray(small, np.float32))


def _on_rings(pixels: NDArray[np.float32]) -> Rings:
    rows, columns = _places()
    top, left = np.floor(rows).astype(int), np.floor(columns).astype(int)
    down, right = (rows - top)[..., None], (columns - left)[..., None]
    upper = pixels[top, left] * (1 - right) + pixels[top, left + 1] * right
    lower = pixels[top + 1, left] * (1 - right) + pixels[top + 1, left + 1] * right
    seen = upper * (1 - down) + lower * down  # [RINGS, ANGLES, 3]
    return np.concatenate([seen.mean(axis=1), seen.std(axis=1)], axis=1).astype(np.float32)


@lru_cache(maxsize=1)
def _places() -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    radii = (SIDE / 2 - 1.5) * STEP ** -np.arange(RINGS)[:, None]
    turns = np.arange(ANGLES) * (2 * np.pi / ANGLES)
    centre = (SIDE - 1) / 2
    return centre + radii * np.sin(turns), centre + radii * np.cos(turns)


def families(prints: Sequence[Rings], near: float = NEAR) -> list[int]:
    """Which pictures of one class are copies of one original.

    Args:
        prints: of each picture.
        near: how near two must be, as a share of the median distance of two pictures.

    Returns:
        For each picture the place of the first picture of its family.
    """
    if len(prints) < 3:
        return list(range(len(prints)))
    stack = np.stack(prints)
    parent = list(range(len(stack)))
    limit = near * _median(stack)
    for start in range(0, len(stack), BLOCK):
        apart = _distances(stack[start : start + BLOCK], stack)
        for row, other in zip(*np.nonzero(apart <= limit), strict=True):
            _join(parent, start + int(row), int(other))
    return [_root(parent, place) for place in range(len(stack))]


def _median(stack: Rings) -> float:
    """Of the distances of at most BLOCK pictures, evenly taken, to one another."""
    some = stack[:: max(1, len(stack) // BLOCK)]
    apart = _distances(some, some)
    return float(np.median(apart[np.triu_indices(len(some), 1)]))


def _distances(some: Rings, every: Rings) -> NDArray[np.float32]:
    """Root mean square difference [S, E] at the zoom that fits best."""
    width = RINGS - ZOOMS
    best: NDArray[np.float32] | None = None
    for zoom in range(ZOOMS + 1):
        for first, second in {(zoom, 0), (0, zoom)}:
            a_SD = some[:, first : first + width].reshape(len(some), -1)
            b_ED = every[:, second : second + width].reshape(len(every), -1)
            squares = (a_SD**2).sum(1)[:, None] + (b_ED**2).sum(1)[None] - 2 * (a_SD @ b_ED.T)
            best = squares if best is None else np.minimum(best, squares)
    assert best is not None
    return np.sqrt(np.maximum(best, 0) / (width * some.shape[2]))


def _root(parent: list[int], place: int) -> int:
    while parent[place] != place:
        parent[place] = parent[parent[place]]
        place = parent[place]
    return place


def _join(parent: list[int], one: int, other: int) -> None:
    first, second = sorted((_root(parent, one), _root(parent, other)))
    parent[second] = first


def by_family(keys: Sequence[str], found: Sequence[int]) -> dict[str, str]:
    """Each key's family, named by the family's first key in order."""
    members: dict[int, list[str]] = defaultdict(list)
    for key, family in zip(keys, found, strict=True):
        members[family].append(key)
    return {key: min(same) for same in members.values() for key in same}
