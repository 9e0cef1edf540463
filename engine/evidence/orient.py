"""Sides of the patient: letters from directions, and grids turned the way pictures are read.

Owns the letters (L R A P S I) and ``upright``. Refuses to resample: axes are only swapped and
turned round.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from engine.evidence.study import Evidence, Pixels

Stored = Callable[[int, int, int, int], tuple[int, int, int]]

OPPOSITE = dict(zip("LRAPSI", "RLPAIS", strict=True))
# by the axis that the slices run along: how columns, rows and slices run when read
READ_AS = {"S": "LPS", "I": "LPS", "P": "LIP", "A": "LIP", "R": "PIR", "L": "PIR"}


def letter(direction: Sequence[float] | NDArray[np.floating]) -> str:
    """The patient side nearest to a direction in DICOM's axes (x to L, y to P, z to S)."""
    vector = np.asarray(direction, float)
    axis = int(np.argmax(np.abs(vector)))
    return "LPS"[axis] if vector[axis] >= 0 else "RAI"[axis]


def letters(
    columns: NDArray[np.floating], rows: NDArray[np.floating], slices: NDArray[np.floating]
) -> str:
    """Sides to which column, row and slice indices run; each axis is used once where it can be."""
    matrix = np.abs(np.stack([np.asarray(v, float) for v in (columns, rows, slices)]))
    names = ["", "", ""]
    for _ in range(3):
        index, axis = np.unravel_index(int(np.argmax(matrix)), matrix.shape)
        value = (columns, rows, slices)[int(index)][int(axis)]
        names[int(index)] = "LPS"[int(axis)] if value >= 0 else "RAI"[int(axis)]
        matrix[index, :] = -1.0
        matrix[:, axis] = -1.0
    return "".join(names)


def turning(pixels: Pixels) -> tuple[bool, tuple[bool, bool, bool]]:
    """What ``upright`` does: whether rows and columns are swapped, and then which are turned.

    Returns:
        Swapped; turned round along (slices, rows, columns).
    """
    now = pixels.orientation
    if pixels.display_order or now is None or len(set(now)) < 3:
        return False, (False, False, False)
    wanted = READ_AS[now[2]]
    swapped = now[0] not in (wanted[0], OPPOSITE[wanted[0]])
    if swapped:
        now = now[1] + now[0] + now[2]
    return swapped, (now[2] != wanted[2], now[1] != wanted[1], now[0] != wanted[0])


def stored_index(evidence: Evidence, pixels: Pixels) -> Stored:
    """The way back from a place in ``upright(pixels)`` to the place that ``show --probe`` takes.

    Returns:
        A function of (time point, slice, row, column) giving (slice, row, column) of ``pixels``
        before it was turned; slices of a DICOM object as they were delivered.
    """
    swapped, turned = turning(pixels)
    slices, rows, columns = pixels.array.shape[:3]
    shape = (slices, columns, rows) if swapped else (slices, rows, columns)
    delivered = evidence.order
    counted = evidence.times > 1 and evidence.source.get("format") == "DICOM"

    def stored(moment: int, *place: int) -> tuple[int, int, int]:
        z, y, x = (
            count - 1 - at if turn else at
            for at, count, turn in zip(place, shape, turned, strict=True)
        )
        slot = moment * slices + z if counted else z
        z = delivered[slot] if slot < len(delivered) else slot
        return (z, x, y) if swapped else (z, y, x)

    return stored


def upright(pixels: Pixels) -> Pixels:
    """Turn a grid so that it reads as radiologists read: patient left on the right of the picture.

    DICOM and plain pictures are stored as they are to be shown and come back unchanged. For
    grids (NIfTI, NRRD, MetaImage) columns and rows are swapped and turned round as needed:
    axial LPS, coronal LIP, sagittal PIR. Values are views, not copies; the geometry turns with
    them, so that every voxel keeps its place in the patient.
    """
    if pixels.display_order or pixels.orientation is None or len(set(pixels.orientation)) < 3:
        return pixels
    wanted = READ_AS[pixels.orientation[2]]
    array, spacing = pixels.array, pixels.spacing_mm
    times, geometry = pixels.times, pixels.geometry
    swapped, turned = turning(pixels)
    if swapped:
        array = array.swapaxes(1, 2)
        times = None if times is None else times.swapaxes(2, 3)
        spacing = None if spacing is None else (spacing[0], spacing[2], spacing[1])
        geometry = None if geometry is None else geometry.swapped()
    for axis in (2, 1, 0):
        if turned[axis]:
            geometry = None if geometry is None else geometry.turned(axis, array.shape[axis])
            array = np.flip(array, axis)
            times = None if times is None else np.flip(times, axis + 1)
    return replace(
        pixels,
        array=array,
        times=times,
        spacing_mm=spacing,
        aspect=1.0 if spacing is None else spacing[1] / spacing[2],
        orientation=wanted,
        display_order=True,
        geometry=geometry,
    )
