"""Three orthogonal planes of a volume as pictures of their own, true to the patient.

Owns which stored axis is which of the patient's, and the geometry of each plane: a plane's
``Geometry`` gives the same patient point for the same voxel as the volume's. The planes run
along the stored axes; an oblique volume's planes are as oblique, and their letters say so.
Refuses volumes without a geometry or with one slice.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable
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
GAP_STEPS = 2.0  # a distance of more usual steps than this is a gap, not a way of scanning
ALIKE = 0.05
ON_SLICE = 1e-3
GAPS = "Where slices are missing nothing is drawn (hatched)."
ACROSS = " and slice positions"
WHOLE_GRID = ("header", "pixdim", "qform", "sform")  # sources that give all three distances
Triple = tuple[int, int, int]
Stored = Callable[[int, int, int, int], Triple | None]


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
    even, gone, notes = evened(picture)
    made = {}
    for name in NAMES:
        if order[0] == RUNS[name][0][0]:
            made[name] = _plane(picture, name, order)
        else:
            made[name] = replace(
                _plane(even, name, order, gone), spacing_source=_across(picture.spacing_source)
            )
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


def gaps_of(geometry: Geometry) -> tuple[float, tuple[tuple[float, float], ...]]:
    """The usual step from slice to slice and the gaps between slices, both along the normal.

    The usual step is the lower quartile of all: of a few slices left of many even the median step
    is a gap. Three alike steps in a row are a way of scanning, however large.

    Returns:
        Step in mm; (from, to) of each gap in mm, as ``Geometry.distance`` counts.
    """
    places = np.unique(np.round(geometry.distance(), 4))
    steps = np.diff(places)
    if not steps.size:
        return 1.0, ()
    step = float(np.quantile(steps, 0.25, method="lower"))
    alike = np.abs(np.diff(steps)) <= ALIKE * np.maximum(steps[1:], steps[:-1])
    regular = np.zeros(len(steps), bool)
    for first in np.flatnonzero(alike[1:] & alike[:-1]):
        regular[first : first + 3] = True
    wide = np.flatnonzero((steps > GAP_STEPS * step + EVEN_MM) & ~regular)
    return step, tuple((float(places[at]), float(places[at + 1])) for at in wide)


def in_gap(geometry: Geometry, point: NDArray[np.float64]) -> bool:
    """True if a patient point lies in a gap, more than a usual step from the nearest slice."""
    return bool(_gone(geometry, np.array([float(point @ geometry.normal)]))[0])


def _gone(geometry: Geometry, places: NDArray[np.float64]) -> NDArray[np.bool_]:
    """Which distances along the normal lie in a gap."""
    step, gaps = gaps_of(geometry)
    made = np.zeros(len(places), bool)
    for start, end in gaps:
        made |= (places > start + step + EVEN_MM) & (places < end - step - EVEN_MM)
    return made


def evened(picture: Picture) -> tuple[Picture, NDArray[np.bool_] | None, tuple[str, ...]]:
    """The volume with slices at even distances.

    Returns:
        The volume; which of its slices lie in a gap, None for none; what was done in words.
    """
    geometry = picture.geometry
    assert geometry is not None
    count = len(geometry.origin_Z3)
    even = geometry.origin_Z3[0] + np.arange(count)[:, None] * geometry.slice_step
    if np.abs(geometry.origin_Z3 - even).max() <= EVEN_MM:
        return picture, None, ()
    distance = geometry.distance()
    step, _gaps = gaps_of(geometry)
    wanted = round(abs(distance[-1] - distance[0]) / step) + 1
    each = picture.array.nbytes // count
    wanted = max(2, min(wanted, MOST_BYTES // max(1, each)))
    places = np.linspace(distance[0], distance[-1], wanted)
    order = np.argsort(distance, kind="stable")
    index = np.interp(places, distance[order], order.astype(float))
    origin = np.stack(
        [np.interp(index, np.arange(count), geometry.origin_Z3[:, axis]) for axis in range(3)],
        axis=1,
    )
    apart = abs(float(places[1] - places[0]))
    said = (f"Slices lie unevenly: planes across them are interpolated to {apart:.1f} mm.",)
    gone = _gone(geometry, places)
    made = replace(
        picture,
        array=_interpolated(picture.array, index, picture.padding),
        geometry=replace(geometry, origin_Z3=origin),
        times=None,
        ready=None,
        marks=(),
        stored=_stored_at(picture, index),
    )
    return (made, gone, (*said, GAPS)) if gone.any() else (made, None, said)


def _stored_at(picture: Picture, index: NDArray[np.float64]) -> Stored | None:
    """The stored place of interpolated slices: none but where they are slices themselves."""
    stored = picture.stored
    if stored is None:
        return None
    nearest = np.rint(index).astype(int)
    exact = np.abs(index - nearest) <= ON_SLICE

    def found(moment: int, z: int, y: int, x: int) -> Triple | None:
        return stored(moment, int(nearest[z]), y, x) if exact[z] else None

    return found


def _across(source: str | None) -> str | None:
    """Where the distances of a plane across the slices come from."""
    return source if source is None or source in WHOLE_GRID else source + ACROSS


def _interpolated(
    array: NDArray[Any], index: NDArray[np.float64], padding: tuple[float, float] | None
) -> NDArray[Any]:
    """Slices at fractional indices, linear, in the array's own number format.

    Padding is not mixed with values: there the nearer slice counts.
    """
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
        if padding is not None and array.ndim == 3:
            pair = array[[first, last]]
            edge = ((pair >= padding[0]) & (pair <= padding[1])).any(axis=0)
            made[place][edge] = pair[int(part >= 0.5)][edge]
    return made


def _plane(
    picture: Picture, name: str, order: Triple, gone: NDArray[np.bool_] | None = None
) -> Picture:
    """One plane: the array turned (a view), the geometry with it.

    The plane in which the volume was acquired keeps the order of its slices: slice 12 of 300 is
    the same one here as where the volume is seen alone.
    """
    geometry = picture.geometry
    assert geometry is not None
    steps = (geometry.slice_step, geometry.row_step, geometry.column_step)
    shape = picture.array.shape
    axes: list[int] = []
    flips: list[bool] = []
    for patient_axis, direction in RUNS[name]:
        axis = order.index(patient_axis)
        axes.append(axis)
        backward = bool(steps[axis][patient_axis] * direction < 0)
        acquired = axis == 0 and len(axes) == 1
        flips.append(backward and not acquired)
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
        calibrated=None,  # the distances are those of the geometry, everywhere
        stored=_stored_in(picture, axes, flips),
        absent=None if gone is None else _absent(gone, axes, flips, array.shape[1:3]),
    )


def _stored_in(picture: Picture, axes: list[int], flips: list[bool]) -> Stored | None:
    """The stored place of the turned array's voxels."""
    stored, shape = picture.stored, picture.array.shape
    if stored is None:
        return None

    def found(moment: int, *place: int) -> Triple | None:
        at = [0, 0, 0]
        for axis, flip, number in zip(axes, flips, place, strict=True):
            at[axis] = shape[axis] - 1 - number if flip else number
        return stored(moment, at[0], at[1], at[2])

    return found


def _absent(
    gone: NDArray[np.bool_], axes: list[int], flips: list[bool], shape: tuple[int, ...]
) -> NDArray[np.bool_]:
    """The gaps between slices as rows or columns of a plane across them."""
    where = axes.index(0)
    line = gone[::-1] if flips[where] else gone
    return np.broadcast_to(line[:, None] if where == 1 else line[None, :], shape)


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
