"""Sizes and the one resize that the Qwen families share: multiples of a factor, Pillow's bicubic.

Owns ``smart_resize`` as their processors have it. Refuses pictures more than 200 times longer
than wide, which those processors refuse too; ``squared`` is VLM2Vec's way round that. Torch-free.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from engine.errors import ItemRefused

MOST_ELONGATED = 200


def smart_resize(
    height: int,
    width: int,
    *,
    factor: int,
    min_pixels: float,
    max_pixels: float,
    least: int | None = None,
) -> tuple[int, int]:
    """Height and width rounded to multiples of ``factor`` with their area within the limits.

    Args:
        height: in pixels.
        width: in pixels.
        factor: side of a token in pixels.
        min_pixels: smallest area.
        max_pixels: largest area.
        least: smallest side the rounding may give; ``factor`` as qwen-vl-utils has it, or 0 as
            transformers' own processors have it, where a thin picture then grows.

    Raises:
        ItemRefused: one side is more than 200 times the other.
    """
    if max(height, width) > MOST_ELONGATED * min(height, width):
        raise ItemRefused(
            f"A picture of {width} x {height} pixels is more than {MOST_ELONGATED} times longer "
            "than wide, which this model does not take. Crop it."
        )
    return rounded(
        height, width, factor=factor, min_pixels=min_pixels, max_pixels=max_pixels, least=least
    )


def rounded(
    height: int,
    width: int,
    *,
    factor: int,
    min_pixels: float,
    max_pixels: float,
    least: int | None = None,
) -> tuple[int, int]:
    """The same for a picture of any shape."""
    least = factor if least is None else least
    rows = max(least, round(height / factor) * factor)
    columns = max(least, round(width / factor) * factor)
    if rows * columns > max_pixels:
        shrink = math.sqrt(height * width / max_pixels)
        rows = max(factor, math.floor(height / shrink / factor) * factor)
        columns = max(factor, math.floor(width / shrink / factor) * factor)
    elif rows * columns < min_pixels:
        grow = math.sqrt(min_pixels / (height * width))
        rows = math.ceil(height * grow / factor) * factor
        columns = math.ceil(width * grow / factor) * factor
    return rows, columns


def squared(height: int, width: int, *, factor: int) -> tuple[int, int]:
    """VLM2Vec's stand-in for a size its rounding cannot take: the square of the longer side.

    A side below ``factor``, or one more than 200 times the other, makes a square (7.4).
    """
    elongated = max(height, width) > MOST_ELONGATED * min(height, width)
    if elongated or min(height, width) < factor:
        side = max(factor, height, width)
        return side, side
    return height, width


def bicubic(pixels: NDArray[np.uint8], rows: int, columns: int) -> NDArray[np.uint8]:
    """A picture [H, W, 3] at another size, uint8; itself where it has that size."""
    if pixels.shape[:2] == (rows, columns):
        return np.ascontiguousarray(pixels)
    picture = Image.fromarray(np.ascontiguousarray(pixels))
    return np.asarray(picture.resize((columns, rows), resample=Image.Resampling.BICUBIC))
