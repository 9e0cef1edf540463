"""What the region sources share: sizes by header, grey pixels, boxes of one class as a candidate.

Owns nothing of a single source. Boxes are in pixels of the picture that is written, never of a
smaller frame. Refuses boxes without area inside the picture.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path

import numpy as np
from PIL import Image

from engine.errors import EvidenceError
from engine.evidence.item import ImageRef, Item, readable
from engine.evidence.open import read_file
from engine.evidence.pixels import prepare
from studies.medheb.builders import regions
from studies.medheb.builders.record import Box, Pixels

Corners = tuple[float, float, float, float]


def is_name(text: str) -> bool:
    """Whether a table's cell can name one file or folder inside the set."""
    return bool(text.strip(". ")) and not any(sign in text for sign in "/\\:\0")


def size_of(path: Path) -> tuple[int, int]:
    """Height and width of a picture, from its header alone.

    Raises:
        EvidenceError: it is missing, damaged or no picture.
    """
    if not path.is_file():
        raise EvidenceError(path, "missing", "the picture is not there")
    shape = readable(read_file(path)).shape
    if shape is None or len(shape) < 3:
        raise EvidenceError(path, "no_picture", "this holds no picture")
    return shape[1], shape[2]


def shown(path: Path, side: int = 0) -> Pixels:
    """The pixels of a picture or DICOM file as a model sees them, low values never white.

    Args:
        path: of the file; a DICOM file is windowed, and inverted where its low values are white.
        side: longest side to shrink to; 0 keeps the size.

    Returns:
        [H, W] for grey, [H, W, 3] for colour, uint8.

    Raises:
        EvidenceError: it cannot be read.
    """
    pixels = prepare(Item(images=(ImageRef(path),))).images[0]
    height, width = scaled_size(pixels.shape[0], pixels.shape[1], side)
    if (height, width) != pixels.shape[:2]:
        picture = Image.fromarray(pixels).resize((width, height), Image.Resampling.BILINEAR)
        pixels = np.asarray(picture)
    grey = (pixels[..., :1] == pixels).all()
    return np.ascontiguousarray(pixels[..., 0]) if grey else pixels


def scaled_size(height: int, width: int, side: int) -> tuple[int, int]:
    """Height and width with the longest side shrunk to ``side``; 0 leaves them."""
    if side <= 0 or max(height, width) <= side:
        return height, width
    scale = side / max(height, width)
    return max(1, round(height * scale)), max(1, round(width * scale))


def scaled(
    boxes: Iterable[Sequence[float]], old: tuple[int, int], new: tuple[int, int]
) -> list[Corners]:
    """Boxes of a picture of one size (height, width) in pixels of the same picture in another."""
    down, across = new[0] / old[0], new[1] / old[1]
    return [
        (left * across, top * down, right * across, bottom * down)
        for left, top, right, bottom in boxes
    ]


def candidate(
    boxes: Iterable[Sequence[float]], height: int, width: int, *, least: int = regions.SMALLEST
) -> tuple[Box, ...]:
    """All boxes of one class in one picture, joined where they overlap, as one candidate.

    Args:
        boxes: (left, top, right, bottom) in pixels of the picture; parts outside are cut off.
        height: of the picture.
        width: of the picture.
        least: pixels a side to which a box is widened round its centre.

    Returns:
        The boxes in order; empty if nothing lies inside the picture.
    """
    inside = [box for one in boxes if (box := regions.clip(one, height, width)) is not None]
    joined = regions.merged(inside)
    return tuple(dict.fromkeys(regions.widen(box, height, width, least) for box in joined))


def four(texts: Iterable[str]) -> Corners:
    """Four corners from a table's cells.

    Raises:
        ValueError: one of them is no number.
    """
    left, top, right, bottom = (float(text) for text in texts)
    return left, top, right, bottom
