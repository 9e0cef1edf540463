"""Three orthogonal planes of a volume as pictures of their own, true to the patient.

Owns which stored axis is which of the patient's, and the geometry of each plane: a plane's
``Geometry`` gives the same patient point for the same voxel as the volume's. The planes run
along the stored axes; an oblique volume's planes are as oblique, and their letters say so.
Refuses volumes without a geometry or with one slice.
"""

from __future__ import annotations

import itertools
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from app.widgets.content import Picture
from engine.evidence.geometry import Geometry

NAMES = ("axial", "coronal", "sagittal")
# (slices, rows, columns) run towards these sides of the patient: axis of LPS, direction.
RUNS = {
    "axial": ((2, -1), (1, 1), (0, 1)),
    "coronal": ((1, 1), (2, -1), (0, 1)),
    "sagittal": ((0, 1), (2, -1), (1, 1)),
}
EVEN_MM = 0.05
TILTED = (
    "The stack is tilted: planes across it are skewed. Straighten the series to see true shapes; "
    "places and distances are right either way."
)
MOST_BYTES = 2_000_000_000
Triple = tuple[int, int, int]


@dataclass(frozen=True, eq=False)
class Planes:
    """What the three planes are cut from.

    Attributes:
        axial, coronal, sagittal: pictures of the same voxels.
        notes: sentences about what was done to draw them, for the reader.
    """

    axial: Picture
    coronal: Picture
    sagittal: Picture
    notes: tuple[str, ...] = ()

    def of(self, name: str) -> Picture:
        """One plane by its name."""
        return {"axial": self.axial, "coronal": self.coronal, "sagittal": self.sagittal}[name]


def can_reslice(picture: Picture) -> bool:
    """True if three planes can be cut: more than one slice and a known place in the patient."""
    geometry = picture.geometry
    if geometry is None or picture.slices < 2 or len(geometry.origin_Z3) != picture.slices:
        return False
    return abs(float(geometry.slice_step @ geometry.normal)) > 1e-6


def planes_of(picture: Picture) -> Planes:
    """Axial, coronal and sagittal pictures.

    The plane in which the volume was acquired shows the stored slices themselves. Where their
    distances are uneven, the other two are cut from slices interpolated to even ones.

    Raises:
        ValueError: ``can_reslice`` is False.
    """
    if not can_reslice(picture):
        raise ValueError("three planes need a volume whose place in the patient is known")
    assert picture.geometry is not None
    order = patient_axes(picture.geometry)
    even, notes = evened(picture)
    made = {}
    for name in NAMES:
        acquired = order[0] == RUNS[name][0][0]
        made[name] = _plane(picture if acquired else even, name, order)
    if _tilt(picture.geometry) > EVEN_MM:
        notes += (TILTED,)
    return Planes(**made, notes=notes)


def patient_axes(geometry: Geometry) -> Triple:
    """For the stored axes (slices, rows, columns) the patient's axis each runs along most.

    Every axis of the patient (0 left-right, 1 front-back, 2 head-feet) is taken once; of all ways
    the one with the largest sum of direction cosines.
    """
    steps = np.stack([geometry.slice_step, geometry.row_step, geometry.column_step])
    size = np.abs(steps) / np.maximum(np.linalg.norm(steps, axis=1, keepdims=True), 1e-12)
    best = max(
        itertools.permutations(range(3)), key=lambda way: sum(size[n, way[n]] for n in range(3))
    )
    return best[0], best[1], best[2]


def _tilt(geometry: Geometry) -> float:
    """How far the last slice is shifted sideways against the first, per slice, in mm."""
    along = geometry.normal * float(geometry.slice_step @ geometry.normal)
    return float(np.linalg.norm(geometry.slice_step - along))


def evened(picture: Picture) -> tuple[Picture, tuple[str, ...]]:
    """The volume with slices at even distances, and what was done to it in words."""
    geometry = picture.geometry
    assert geometry is not None
    count = len(geometry.origin_Z3)
    even = geometry.origin_Z3[0] + np.arange(count)[:, None] * geometry.slice_step
    if np.abs(geometry.origin_Z3 - even).max() <= EVEN_MM:
        return picture, ()
    distance = geometry.distance()
    gaps = np.abs(np.diff(distance))
    step = float(np.median(gaps[gaps > 1e-6])) if (gaps > 1e-6).any() else 1.0
    wanted = round(abs(distance[-1] - distance[0]) / step) + 1
    each = picture.array.nbytes // count
    wanted = max(2, min(wanted, MOST_BYTES // max(1, each)))
    places = np.linspace(distance[0], distance[-1], wanted)
    order = np.argsort(distance, kind="stable")
    index = np.interp(places, distance[order], order.astype(float))
    array = _interpolated(picture.array, index)
    origin = np.stack(
        [np.interp(index, np.arange(count), geometry.origin_Z3[:, axis]) for axis in range(3)],
        axis=1,
    )
    apart = abs(float(places[1] - places[0]))
    said = f"Slices lie unevenly: planes across them are interpolated to {apart:.1f} mm."
    made = replace(
        picture,
        array=array,
        geometry=replace(geometry, origin_Z3=origin),
        times=None,
        ready=None,
        marks=(),
    )
    return made, (said,)


def _interpolated(array: NDArray[Any], index: NDArray[np.float64]) -> NDArray[Any]:
    """Slices at fractional indices, linear, in the array's own number format."""
    low = np.clip(np.floor(index).astype(int), 0, len(array) - 1)
    high = np.minimum(low + 1, len(array) - 1)
    share = (index - low).astype(np.float32)
    made = np.empty((len(index), *array.shape[1:]), array.dtype)
    for place, (first, last, part) in enumerate(zip(low, high, share, strict=True)):
        if part <= 1e-6:
            made[place] = array[first]
            continue
        mixed = array[first] * (1 - part) + array[last] * part
        made[place] = mixed if array.dtype.kind == "f" else np.rint(mixed)
    return made


def _plane(picture: Picture, name: str, order: Triple) -> Picture:
    """One plane: the array turned (a view), the geometry with it."""
    geometry = picture.geometry
    assert geometry is not None
    steps = (geometry.slice_step, geometry.row_step, geometry.column_step)
    shape = picture.array.shape
    axes: list[int] = []
    flips: list[bool] = []
    for patient_axis, direction in RUNS[name]:
        axis = order.index(patient_axis)
        axes.append(axis)
        flips.append(bool(steps[axis][patient_axis] * direction < 0))
    rest = tuple(range(3, picture.array.ndim))
    turn = tuple(slice(None, None, -1 if flip else 1) for flip in flips)
    array = picture.array.transpose(*axes, *rest)[turn]
    placed = _placed(geometry, shape[:3], tuple(axes), tuple(flips))
    return replace(
        picture,
        array=array,
        times=_turned_times(picture, axes, turn),
        geometry=placed,
        spacing_mm=None,
        aspect=_aspect(placed),
        orientation=None,
        overlays=(),
        marks=_marks(picture, axes[0] == 0, flips[0]),
        ready=_ready(picture, axes[0] == 0, flips[0], len(array)),
        kind="volume",
    )


def _turned_times(
    picture: Picture, axes: list[int], turn: tuple[slice, ...]
) -> NDArray[Any] | None:
    if picture.times is None:
        return None
    moved = picture.times.transpose(0, *(axis + 1 for axis in axes), *range(4, picture.times.ndim))
    return moved[(slice(None), *turn)]


def _placed(
    geometry: Geometry, shape: tuple[int, ...], axes: tuple[int, ...], flips: tuple[bool, ...]
) -> Geometry:
    """The geometry of the turned array: each of its voxels keeps its patient point."""

    def point(slice_: int, row: int, column: int) -> NDArray[np.float64]:
        stored = [0.0, 0.0, 0.0]
        for axis, flip, at in zip(axes, flips, (slice_, row, column), strict=True):
            stored[axis] = float(shape[axis] - 1 - at if flip else at)
        return geometry.point((stored[0], stored[1], stored[2]))

    count = shape[axes[0]]
    origin = np.stack([point(index, 0, 0) for index in range(count)])
    rows, columns = shape[axes[1]], shape[axes[2]]
    last = max(1, rows - 1), max(1, columns - 1)
    row = (point(0, last[0], 0) - origin[0]) / last[0]
    column = (point(0, 0, last[1]) - origin[0]) / last[1]
    return Geometry(origin, column_step=column, row_step=row, frame=geometry.frame)


def _aspect(geometry: Geometry) -> float:
    row = float(np.linalg.norm(geometry.row_step))
    return row / max(float(np.linalg.norm(geometry.column_step)), 1e-9)


def _marks(picture: Picture, along: bool, flip: bool) -> tuple[int, ...]:
    if not along:
        return ()
    return tuple(picture.slices - 1 - mark if flip else mark for mark in picture.marks)


def _ready(picture: Picture, along: bool, flip: bool, count: int) -> NDArray[np.bool_] | None:
    """Planes across the acquired one wait until everything is decoded: half is not shown."""
    if picture.ready is None or picture.ready.all():
        return None
    if not along:
        return np.zeros(count, bool)
    return picture.ready[::-1] if flip else picture.ready
