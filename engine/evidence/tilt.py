"""Stacks made straight and even on request: gantry tilt undone, slice distances made equal.

Owns the resampling, linear in one direction at a time. Refuses to do it unasked: what is shown
and measured is what the scanner stored, unless somebody says otherwise.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from engine.evidence.geometry import Geometry
from engine.evidence.study import Pixels
from engine.evidence.window import derive_window, function_of

SHIFT = 0.01  # pixels: less is no shift
MOST_TIMES, FREE = 16.0, 1 << 26  # how much larger a result may be; values that are no matter
EVEN = 1e-3  # relative difference of steps that counts as none


def straighten(pixels: Pixels) -> Pixels:
    """Shift the slices of a tilted stack so that they stand straight above each other.

    Each slice moves within its plane by what its position says, with linear interpolation along
    rows and columns; the picture grows so that nothing is cut off. What lies outside a slice gets
    the padding value, or the least value, which is air in CT.

    Args:
        pixels: decoded values with their geometry.

    Returns:
        The same values where the stack is straight, its places are unknown, or lie so far apart
        that they must be wrong. Otherwise new arrays whose geometry has origins along the
        normal; overlays are left out.
    """
    shift_Z2 = _shifts(pixels)
    if pixels.geometry is None or shift_Z2 is None:
        return pixels
    least = np.floor(shift_Z2.min(axis=0) + SHIFT)
    more = np.ceil(shift_Z2.max(axis=0) - least - SHIFT)
    if _too_large(pixels, *(1 + more / pixels.array.shape[1:3])):
        return pixels
    moved = shift_Z2 - least
    fill = _outside(pixels)
    geometry = pixels.geometry
    along = geometry.distance() - geometry.distance()[0]
    corner = geometry.origin_Z3[0] + least[0] * geometry.row_step + least[1] * geometry.column_step
    straight = replace(geometry, origin_Z3=corner + along[:, None] * geometry.normal)
    every = _every(pixels)
    made = np.stack([_move_all(volume, moved, more.astype(int), fill) for volume in every])
    return _with(pixels, made, straight)


def _too_large(pixels: Pixels, *factors: float) -> bool:
    """True if a result of so many times the size is not worth its memory: places are damaged."""
    grown = float(np.prod(factors))
    return not np.isfinite(grown) or (grown > MOST_TIMES and grown * pixels.array.size > FREE)


def _every(pixels: Pixels) -> NDArray[Any]:
    """All time points, [T, Z, Y, X] or with a last 3."""
    return pixels.array[None] if pixels.times is None else pixels.times


def _with(pixels: Pixels, made: NDArray[Any], geometry: Geometry) -> Pixels:
    """The result as pixels; a derived window is derived again."""
    several = pixels.times is not None
    step = float(np.median(np.abs(np.diff(geometry.distance())))) if made.shape[1] > 1 else None
    spacing = pixels.spacing_mm
    if spacing is not None and step is not None:
        spacing = (step, spacing[1], spacing[2])
    derived = pixels.window_source == "derived" and not pixels.color
    window = derive_window(made, padding=pixels.padding) if derived else pixels.window
    return replace(
        pixels,
        array=made[0],
        times=made if several else None,
        geometry=geometry,
        spacing_mm=spacing,
        window=window,
        window_function=function_of(window) if derived else pixels.window_function,
        overlays=(),
    )


def _shifts(pixels: Pixels) -> NDArray[np.float64] | None:
    """How far each slice lies from the first within its plane, (rows, columns); None if nowhere."""
    geometry = pixels.geometry
    if geometry is None or len(geometry.origin_Z3) != len(pixels.array) or len(pixels.array) < 2:
        return None
    way_Z3 = geometry.origin_Z3 - geometry.origin_Z3[0]
    steps = (geometry.row_step, geometry.column_step)
    shift_Z2 = np.stack([way_Z3 @ step / float(step @ step) for step in steps], axis=1)
    return None if np.abs(shift_Z2).max() <= SHIFT else shift_Z2


def _outside(pixels: Pixels) -> float:
    """The value of what was never measured."""
    if pixels.color:
        return 0.0
    if pixels.padding is not None:
        return pixels.padding[0]
    values = _every(pixels)
    return float(np.nanmin(values)) if values.size else 0.0


def _move_all(
    volume: NDArray[Any], moved_Z2: NDArray[np.float64], more: NDArray[np.int_], fill: float
) -> NDArray[Any]:
    """One time point with all its slices moved, [Z, Y + more, X + more]."""
    rows, columns = volume.shape[1] + int(more[0]), volume.shape[2] + int(more[1])
    made = np.full((len(volume), rows, columns, *volume.shape[3:]), fill, volume.dtype)
    for place, (down, right) in enumerate(moved_Z2):
        values = _move(volume[place], float(down), 0, rows, fill)
        values = _move(values, float(right), 1, columns, fill)
        made[place] = _as(values, volume.dtype)
    return made


def _as(values: NDArray[Any], kind: np.dtype[Any]) -> NDArray[Any]:
    """Values in a number format; whole numbers are rounded."""
    if values.dtype == kind:
        return values
    return (np.rint(values) if kind.kind in "ui" else values).astype(kind)


def _move(values: NDArray[Any], by: float, axis: int, length: int, fill: float) -> NDArray[Any]:
    """A slice moved along one axis by a fraction of pixels, into ``length`` of them."""
    whole = int(np.floor(by + SHIFT))
    part = by - whole
    count = values.shape[axis]
    if whole == 0 and abs(part) <= SHIFT and count == length:
        return values
    shape = list(values.shape)
    shape[axis] = length
    made = np.full(shape, fill, np.float64)
    source, target = np.moveaxis(values, axis, 0), np.moveaxis(made, axis, 0)
    if abs(part) <= SHIFT:
        target[whole : whole + count] = source
        return made
    between = source[:-1] * part + source[1:] * (1.0 - part)
    target[whole + 1 : whole + count] = between
    return made


def even(pixels: Pixels, *, step_mm: float | None = None) -> Pixels:
    """Resample a stack so that its slices stand at equal distances along the normal.

    Values between two slices are interpolated linearly; what a gap hides stays a guess, and a
    caller must say so.

    Args:
        pixels: decoded values with their geometry; a tilted stack is made straight first.
        step_mm: distance of the new slices; None takes the usual one of the stack.

    Returns:
        The same values where distances are equal already, unknown, or so different that they
        must be wrong; else new arrays.

    Raises:
        ValueError: the step is not above zero.
    """
    if step_mm is not None and step_mm <= 0:
        raise ValueError(f"a slice distance of {step_mm} mm is not possible")
    pixels = straighten(pixels)
    geometry = pixels.geometry
    if geometry is None or len(geometry.origin_Z3) != len(pixels.array) or len(pixels.array) < 2:
        return pixels
    along = geometry.distance()
    steps = np.abs(np.diff(along))
    wanted = float(np.median(steps)) if step_mm is None else step_mm
    if wanted <= 0 or np.abs(steps - wanted).max() <= EVEN * wanted:
        return pixels
    sign = 1.0 if along[-1] >= along[0] else -1.0
    span = abs(float(along[-1] - along[0]))
    if _too_large(pixels, span / wanted / len(along)):
        return pixels
    away = np.arange(int(np.floor(span / wanted + EVEN)) + 1) * wanted
    place = np.interp(away, (along - along[0]) * sign, np.arange(len(along)))
    made = np.stack([_between(volume, place) for volume in _every(pixels)])
    origins = geometry.origin_Z3[0] + sign * away[:, None] * geometry.normal
    return _with(pixels, made, replace(geometry, origin_Z3=origins))


def _between(volume: NDArray[Any], place: NDArray[np.float64]) -> NDArray[Any]:
    """Slices at fractional places of a stack."""
    made = np.empty((len(place), *volume.shape[1:]), volume.dtype)
    for index, at in enumerate(place):
        low = min(int(at), len(volume) - 2)
        part = float(at) - low
        values = volume[low] * (1.0 - part) + volume[low + 1] * part
        made[index] = _as(values, volume.dtype)
    return made
