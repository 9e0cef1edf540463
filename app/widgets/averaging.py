"""Smaller pictures by exact averages of their values: over 1.5, 2, 3, 4, 6 ... pixels a side.

Owns the arithmetic and the choice of the block, so that what is left to interpolate is never
smaller than two thirds. Refuses values that are names rather than amounts; the caller knows.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

BLOCKS = (1.0, 1.5, 2.0, 3.0, 4.0, 6.0, 8.0, 12.0, 16.0, 24.0, 32.0)


def block_for(scale: float) -> float:
    """The largest block that is not shown smaller than one device pixel.

    Args:
        scale: device pixels of one stored pixel.
    """
    fitting = [block for block in BLOCKS if block * scale <= 1.0]
    return fitting[-1] if fitting else 1.0


def neighbour(block: float, step: int) -> float:
    """The block so many places further in the list, as far as it goes."""
    return BLOCKS[min(len(BLOCKS) - 1, max(0, BLOCKS.index(block) + step))]


def blocks_in(length: int, block: float) -> int:
    """How many averaged pixels stand for ``length`` stored ones; the last may reach beyond."""
    if block == 1.5:
        return -(-length // 3) * 2
    return -(-length // int(block))


def averaged(values: NDArray[Any], down: float, across: float) -> NDArray[Any]:
    """Means of blocks of ``down`` x ``across`` values, rounded to nearest.

    A block of 1.5 pixels shares every third pixel with its neighbour. What lies beyond the last
    row and column repeats them.

    Args:
        values: [Y, X] or [Y, X, 3] of any number format.
        down: rows of a block, one of ``BLOCKS``.
        across: columns of a block, one of ``BLOCKS``.

    Returns:
        Of the same format, ``blocks_in`` rows and columns.
    """
    if down == across == 1.0:
        return values
    whole = values.dtype.kind != "f"
    fine = values.dtype.itemsize <= 2 or values.dtype == np.float32
    if whole and 1.5 not in (down, across):
        wide = np.dtype(np.int32 if fine else np.int64)
    else:
        wide = np.dtype(np.float32 if fine else np.float64)
    sums = _sums(_sums(values, 0, down, wide), 1, across, wide)
    if wide.kind == "i":
        count = int(down * across)
        sums += count // 2
        sums //= count
    else:
        sums *= wide.type(1.0 / (down * across))
        if whole:
            np.rint(sums, out=sums)
    return sums.astype(values.dtype, copy=False)


def _sums(values: NDArray[Any], axis: int, block: float, wide: np.dtype[Any]) -> NDArray[Any]:
    """Sums of ``block`` rows (axis 0) or columns (axis 1); the last one repeats what is there."""
    if block == 1.0:
        return values.astype(wide)
    unit, parts = (3, 2) if block == 1.5 else (int(block), 1)
    groups, rest = divmod(values.shape[axis], unit)
    shape = list(values.shape)
    shape[axis] = (groups + bool(rest)) * parts
    made = np.empty(shape, wide)
    _fill(_part(made, axis, 0, groups * parts), _part(values, axis, 0, groups * unit), axis, block)
    if rest:
        last = np.take(values, groups * unit + np.minimum(np.arange(unit), rest - 1), axis=axis)
        _fill(_part(made, axis, groups * parts, None), last, axis, block)
    return made


def _part(
    array: NDArray[Any], axis: int, start: int, stop: int | None, step: int = 1
) -> NDArray[Any]:
    return array[start:stop:step] if axis == 0 else array[:, start:stop:step]


def _fill(made: NDArray[Any], values: NDArray[Any], axis: int, block: float) -> None:
    """Sums of whole blocks, into ``made``."""
    wide = made.dtype
    if block == 1.5:
        half = _part(values, axis, 1, None, 3) * wide.type(0.5)
        first, last = _part(made, axis, 0, None, 2), _part(made, axis, 1, None, 2)
        np.add(_part(values, axis, 0, None, 3), half, out=first)
        np.add(_part(values, axis, 2, None, 3), half, out=last)
        return
    step = int(block)
    made[...] = _part(values, axis, 0, None, step)
    for start in range(1, step):
        made += _part(values, axis, start, None, step)
