"""Boxes of regions: tight boxes of masks, boxes clipped, widened and merged as the release does.

Pure numbers: boxes are (left, top, right, bottom) in pixels, right and bottom excluded. Refuses
boxes without area.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence

import numpy as np
from numpy.typing import NDArray

from studies.medheb.builders.record import Box

SMALLEST = 28  # pixels of a crop's side; the patch of the models (medheb_release.md 4.4)


def of_mask(mask: NDArray[np.generic]) -> Box | None:
    """The tight box round everything above 0 in [H, W]; None for an empty mask."""
    rows = np.flatnonzero(np.asarray(mask).any(axis=1))
    columns = np.flatnonzero(np.asarray(mask).any(axis=0))
    if not rows.size:
        return None
    return int(columns[0]), int(rows[0]), int(columns[-1]) + 1, int(rows[-1]) + 1


def clip(box: Sequence[float], height: int, width: int) -> Box | None:
    """A box in whole pixels inside the picture; None if nothing of it is inside."""
    left, top, right, bottom = box
    if not all(math.isfinite(side) for side in box):
        return None
    inside = (
        max(0, math.floor(left)), max(0, math.floor(top)),
        min(width, math.ceil(right)), min(height, math.ceil(bottom)),
    )  # fmt: skip
    return inside if inside[0] < inside[2] and inside[1] < inside[3] else None


def widen(box: Box, height: int, width: int, least: int = SMALLEST) -> Box:
    """The box grown round its centre to ``least`` pixels a side, kept inside the picture."""
    left, right = _grown(box[0], box[2], width, least)
    top, bottom = _grown(box[1], box[3], height, least)
    return left, top, right, bottom


def _grown(start: int, end: int, limit: int, least: int) -> tuple[int, int]:
    if end - start >= least:
        return start, end
    wanted = min(least, limit)
    first = (start + end - wanted) // 2
    first = min(max(0, first), limit - wanted)
    return first, first + wanted


def merged(boxes: Iterable[Box], *, iou: float = 0.5, cover: float = 0.7) -> list[Box]:
    """Boxes of one class in one picture, joined while two of them overlap enough.

    Args:
        boxes: of one class.
        iou: intersection over union from which two are one.
        cover: share of the smaller box from which two are one.
    """
    left = sorted(set(boxes))
    joined = True
    while joined:
        joined = False
        for first in range(len(left)):
            for second in range(first + 1, len(left)):
                if _belongs(left[first], left[second], iou, cover):
                    left[first] = _union(left[first], left.pop(second))
                    joined = True
                    break
            if joined:
                break
    return sorted(left)


def _belongs(one: Box, other: Box, iou: float, cover: float) -> bool:
    width = min(one[2], other[2]) - max(one[0], other[0])
    height = min(one[3], other[3]) - max(one[1], other[1])
    if width <= 0 or height <= 0:
        return False
    shared, first, second = width * height, area(one), area(other)
    return shared / (first + second - shared) >= iou or shared / min(first, second) >= cover


def area(box: Box) -> int:
    """Pixels of a box."""
    return (box[2] - box[0]) * (box[3] - box[1])


def _union(one: Box, other: Box) -> Box:
    return (
        min(one[0], other[0]),
        min(one[1], other[1]),
        max(one[2], other[2]),
        max(one[3], other[3]),
    )
