"""Pictures in any order, sorted into a stack: places along the normal, time points, geometry.

Owns the order by position, what tells pictures of one place apart, and the notes on gaps, uneven
steps, tilt and time points. Refuses to know files: it takes planes and labels, whether they come
from the files of a series or from the frames of one file.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from engine.evidence.dicom.facts import Plane
from engine.evidence.geometry import Geometry
from engine.evidence.orient import letters

SAME_PLACE_MM = 0.01
NEAR, FAR_MM = 0.05, 0.2
BESIDE_MM = 1.0
GAP = 1.5
MOST_GAPS = 20  # named one by one
UNEVEN = 0.02
TILT_DEGREES = 0.5
INSTANCE = "instance number"
NOUNS = {"segment": "segments", "energy window": "energy windows", "image type": "pictures"}
Labels = Mapping[str, object]


@dataclass(frozen=True, eq=False)
class Spot:
    """One picture before sorting.

    Attributes:
        plane: where it lies; None if the header does not say.
        along: place along the normal in mm where there is no plane with a position (Slice
            Location), or None.
        labels: what may tell pictures of one place apart, by name, best first.
        number: instance number or place in the file.
    """

    plane: Plane | None
    along: float | None
    labels: Labels
    number: float


@dataclass(frozen=True, eq=False)
class Arranged:
    """A sorted stack.

    Attributes:
        order: indices into the given pictures, the first time point's slices first.
        times: pictures at each place.
        along: places along the normal in mm, ascending, shape [Z].
        label: what tells the time points apart, None for one.
        planes: of the first time point's slices.
    """

    order: tuple[int, ...]
    times: int
    along: NDArray[np.float64]
    label: str | None
    planes: tuple[Plane | None, ...]

    @property
    def between(self) -> float | None:
        """The usual distance of neighbouring slices in mm."""
        return float(np.median(np.diff(self.along))) if len(self.along) > 1 else None


def distances(spots: Sequence[Spot]) -> NDArray[np.float64] | None:
    """Places of all pictures along the normal of the first, None where one names none."""
    first = spots[0].plane
    if first is not None and all(one.plane and one.plane.position for one in spots):
        return np.array([one.plane.position for one in spots if one.plane]) @ first.normal
    if all(one.along is not None for one in spots):
        return np.array([one.along for one in spots], float)
    return None


def places(along_N: NDArray[np.float64]) -> list[list[int]]:
    """Indices of pictures that share a place, places in ascending order."""
    found: list[list[int]] = []
    start, near = 0.0, _near(along_N)
    for index in np.argsort(along_N, kind="stable"):
        at = float(along_N[index])
        if found and at - start <= near:
            found[-1].append(int(index))
        else:
            found.append([int(index)])
            start = at
    return found


def _near(along_N: NDArray[np.float64]) -> float:
    """How far apart two pictures of one place may be by rounding: a share of the usual step."""
    if np.ptp(along_N) <= SAME_PLACE_MM:
        return SAME_PLACE_MM
    steps = np.diff(np.sort(along_N))
    return min(FAR_MM, NEAR * float(np.percentile(steps[steps > 0], 75)))


def arrange(spots: Sequence[Spot]) -> Arranged | None:
    """Sort pictures of one direction by place, then by what tells one place's pictures apart.

    Returns:
        None where places are missing, or where some places hold more pictures than others.
    """
    along_N = distances(spots)
    if along_N is None:
        return None
    grouped = places(along_N)
    times = len(grouped[0])
    if any(len(place) != times for place in grouped):
        return None
    names = _telling(spots, grouped) if times > 1 else ()
    for place in grouped:
        place.sort(key=lambda index: (_values(spots[index], names), spots[index].number))
    order = tuple(place[time] for time in range(times) for place in grouped)
    return Arranged(
        order=order,
        times=times,
        along=np.array([along_N[place[0]] for place in grouped]),
        label=None if times == 1 else " and ".join(names) or INSTANCE,
        planes=tuple(spots[place[0]].plane for place in grouped),
    )


def _values(spot: Spot, names: Iterable[str]) -> tuple[object, ...]:
    return tuple(spot.labels[name] for name in names)


def _telling(spots: Sequence[Spot], grouped: list[list[int]]) -> tuple[str, ...]:
    """The labels that differ between all pictures of each place; none if only numbers do.

    Those with the same values at every place come first, then pairs of such, then the rest.
    """
    shared = [name for name in spots[0].labels if all(name in one.labels for one in spots)]
    for names in (*((name,) for name in shared), *combinations(shared, 2)):
        if _distinct(spots, grouped, names) and _alike(spots, grouped, names):
            return names
    return next(((one,) for one in shared if _distinct(spots, grouped, (one,))), ())


def _distinct(spots: Sequence[Spot], grouped: list[list[int]], names: tuple[str, ...]) -> bool:
    """True if no place has a value twice."""
    return all(
        len({_values(spots[index], names) for index in place}) == len(place) for place in grouped
    )


def _alike(spots: Sequence[Spot], grouped: list[list[int]], names: tuple[str, ...]) -> bool:
    """True if every place has the same values."""
    first = {_values(spots[index], names) for index in grouped[0]}
    return all({_values(spots[index], names) for index in place} == first for place in grouped)


def stations(spots: Sequence[Spot]) -> list[list[int]]:
    """Pictures of one place along the normal that lie beside each other, told apart.

    The stations of a long spine share their places along the normal; they are several stacks, not
    several time points. A tilted stack, whose slices shift evenly, stays one.
    """
    along_N = distances(spots)
    one = [list(range(len(spots)))]
    if along_N is None or spots[0].plane is None or spots[0].plane.position is None:
        return one
    places_N3 = np.array([spot.plane.position for spot in spots if spot.plane])
    beside_N3 = places_N3 - along_N[:, None] * spots[0].plane.normal
    if all(np.ptp(beside_N3[place], axis=0).max() <= BESIDE_MM for place in places(along_N)):
        return one
    found: list[list[int]] = []
    first_P3 = np.empty_like(beside_N3)
    for index, beside in enumerate(beside_N3):
        near = np.abs(first_P3[: len(found)] - beside).max(axis=1, initial=0.0) <= BESIDE_MM
        fitting = np.flatnonzero(near)
        if fitting.size:
            found[fitting[0]].append(index)
        else:
            first_P3[len(found)] = beside
            found.append([index])
    return found


def divide(spots: Sequence[Spot]) -> list[list[int]]:
    """Pictures whose places hold unequal numbers, divided into stacks that ``arrange`` can sort.

    By the first label that no place has twice, else by rank; the values that every place has
    stay together, each other value becomes a stack of its own.
    """
    along_N = distances(spots)
    if along_N is None:
        return [list(range(len(spots)))]
    grouped = places(along_N)
    most = max(len(place) for place in grouped)
    if most == min(len(place) for place in grouped):
        return [list(range(len(spots)))]
    by_value: dict[object, list[int]] = {}
    keys = _keys(spots, grouped, most)
    for place in grouped:
        for index in place:
            by_value.setdefault(keys[index], []).append(index)
    whole = [index for part in by_value.values() if len(part) == len(grouped) for index in part]
    parts = [part for part in by_value.values() if len(part) < len(grouped)]
    return ([sorted(whole)] if whole else []) + [sorted(part) for part in parts]


def _keys(spots: Sequence[Spot], grouped: list[list[int]], most: int) -> list[object]:
    """What each picture is divided by: a label's value, or its rank at its place."""
    for name in spots[0].labels:
        if not all(name in one.labels for one in spots):
            continue
        values: list[object] = [one.labels[name] for one in spots]
        if len(set(values)) <= 2 * most and _distinct(spots, grouped, (name,)):
            return values
    ranks: list[object] = [0] * len(spots)
    for place in grouped:
        for rank, index in enumerate(sorted(place, key=lambda index: spots[index].number)):
            ranks[index] = rank
    return ranks


def geometry_of(
    planes: Sequence[Plane | None], spacing: tuple[float, float] | None, frame: str | None
) -> Geometry | None:
    """Where sorted slices lie; None if a plane, a position or the pixel spacing is missing.

    Args:
        planes: of the slices, in order.
        spacing: (row, column) distances in mm.
        frame: token of the frame of reference.
    """
    first = planes[0] if planes else None
    if first is None or spacing is None:
        return None
    origins = [plane.position for plane in planes if plane is not None]
    if len(origins) < len(planes) or any(origin is None for origin in origins):
        return None
    return Geometry(
        origin_Z3=np.array(origins, float),
        column_step=np.array(first.columns) * spacing[1],
        row_step=np.array(first.rows) * spacing[0],
        frame=frame,
    )


def letters_of(stack: Arranged) -> str | None:
    """Sides to which columns, rows and the sorted slices run."""
    plane = stack.planes[0]
    if plane is None:
        return None
    return letters(np.array(plane.columns), np.array(plane.rows), plane.normal)


def notes_of(stack: Arranged) -> list[str]:
    """Sentences on tilt, time points, gaps and uneven steps."""
    notes = tilt_notes(stack)
    if stack.times > 1:
        what = NOUNS.get(stack.label or "", "time points")
        notes.append(
            f"{stack.times} {what} at each of {len(stack.along)} positions, told apart by "
            f"{stack.label}; the slices of one position stand together"
        )
    return notes + _step_notes(np.diff(stack.along))


def _step_notes(steps: NDArray[np.float64]) -> list[str]:
    """Gaps (whole slices missing) and uneven distances."""
    if steps.size < 2:
        return []
    usual = float(np.median(steps))
    notes = []
    if steps.max() - steps.min() > UNEVEN * usual:
        notes.append(f"uneven spacing: {steps.min():.2f} to {steps.max():.2f} mm")
    gaps = np.flatnonzero(steps > GAP * usual)
    for index in gaps[:MOST_GAPS]:
        missing = max(1, round(float(steps[index]) / usual) - 1)
        plural = "s" if missing > 1 else ""
        notes.append(f"gap of {missing} slice{plural} after {int(index) + 1}")
    if len(gaps) > MOST_GAPS:
        notes.append(f"{len(gaps) - MOST_GAPS} more gaps")
    return notes


def tilt_notes(stack: Arranged) -> list[str]:
    """A stack whose slices are shifted against each other (gantry tilt)."""
    first, last = stack.planes[0], stack.planes[-1]
    if first is None or last is None or first.position is None or last.position is None:
        return []
    way = np.array(last.position) - np.array(first.position)
    length = float(np.linalg.norm(way))
    if length < SAME_PLACE_MM:
        return []
    cosine = float(np.clip(abs(first.normal @ way) / length, 0.0, 1.0))
    degrees = float(np.degrees(np.arccos(cosine)))
    if degrees < TILT_DEGREES:
        return []
    return [f"gantry tilt of {degrees:.1f} degrees: the slices are shifted against each other"]
