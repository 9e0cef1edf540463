"""Which slices of a volume are shown and in which grey values: the release's rules.

Owns indices, windows and percentiles (medheb_release.md 4.1). Refuses nothing but empty arrays;
reads no file.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from studies.medheb.builders.record import Pixels

SLICES = 64


def evenly(count: int, wanted: int = SLICES) -> list[int]:
    """Indices over a whole axis: the floor of ``linspace``, each once where there are few."""
    if count <= wanted:
        return list(range(count))
    return [int(place) for place in np.linspace(0, count - 1, wanted)]


def filled(volume: NDArray[np.generic], share: float) -> list[int]:
    """Indices of the slices of the last axis of [X, Y, Z] with that share of voxels above 0."""
    above_Z = (np.asarray(volume) > 0).mean(axis=(0, 1))
    return [int(place) for place in np.flatnonzero(above_Z >= share)]


def informative(volume: NDArray[np.generic], share: float, wanted: int = SLICES) -> list[int]:
    """``wanted`` indices evenly over the slices that are filled, repeats (rounded) if fewer.

    A volume without any filled slice is shown evenly over its whole axis.
    """
    kept = filled(volume, share) or list(range(volume.shape[2]))
    if len(kept) >= wanted:
        return [kept[int(place)] for place in np.linspace(0, len(kept) - 1, wanted)]
    return [kept[round(place)] for place in np.linspace(0, len(kept) - 1, wanted)]


def between_filled(volume: NDArray[np.generic], share: float, wanted: int = SLICES) -> list[int]:
    """``wanted`` indices between the first and the last filled slice, repeats allowed."""
    kept = filled(volume, share) or [0, volume.shape[2] - 1]
    return [int(place) for place in np.linspace(kept[0], kept[-1], wanted)]


def windowed(volume: NDArray[np.generic], *, level: float, width: float) -> Pixels:
    """Grey values of a CT window, 0..255.

    Args:
        volume: Hounsfield units.
        level: centre of the window.
        width: of the window, above 0.
    """
    low = level - width / 2
    scaled = (np.asarray(volume, np.float32) - low) / width
    return (np.clip(scaled, 0, 1) * 255).astype(np.uint8)


def stretched(
    volume: NDArray[np.generic], low: float, high: float, *, above_zero: bool = True
) -> Pixels:
    """Grey values between two percentiles, 0..255.

    Args:
        volume: any numbers.
        low: percentile that becomes 0.
        high: percentile that becomes 255.
        above_zero: percentiles of the voxels above 0 only, where there are any.
    """
    numbers = np.asarray(volume)
    basis = numbers[numbers > 0] if above_zero and (numbers > 0).any() else numbers
    return between(numbers, *(float(end) for end in np.percentile(basis, (low, high))))


def between(values: NDArray[np.generic], bottom: float, top: float) -> Pixels:
    """Grey values 0..255 of a range of numbers; what lies outside takes its ends."""
    scaled = (np.asarray(values, np.float32) - bottom) / max(top - bottom, 1e-6)
    return (np.clip(scaled, 0, 1) * 255).astype(np.uint8)


def stacked(volume: Pixels, indices: list[int]) -> Pixels:
    """Slices [S, X, Y] of the last axis of [X, Y, Z], as the release writes them: not turned."""
    return np.ascontiguousarray(np.moveaxis(volume[:, :, indices], 2, 0))
