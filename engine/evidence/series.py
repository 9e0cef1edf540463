"""DICOM files that belong together: grouped, sorted along the slice normal, and looked at.

Owns the grouping by series, orientation and size, the order by position, and the notes on gaps,
copies, uneven steps, tilt and time points. Refuses to trust file names or instance numbers for
the order while positions are there.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from engine.evidence.dicom import Instance
from engine.evidence.orient import letters
from engine.evidence.study import Evidence

SAME_PLACE_MM = 0.01
SAME_WAY = 0.01  # largest difference of a direction cosine
GAP = 1.5
UNEVEN = 0.02
TILT_DEGREES = 0.5


def group_series(instances: Sequence[Instance]) -> list[Evidence]:
    """Turn described files into evidence: series where they belong together, else one by one.

    Returns:
        Evidence in the order in which the first file of each was met.
    """
    groups: dict[object, list[Instance]] = {}
    for number, instance in enumerate(instances):
        key = ("alone", number) if instance.group is None else instance.group
        groups.setdefault(key, []).append(instance)
    found: list[Evidence] = []
    for group in groups.values():
        for part in _by_orientation(group):
            found.append(_evidence(part))
    return found


def _by_orientation(group: list[Instance]) -> list[list[Instance]]:
    """Split files whose rows or columns run another way (localizers of one series)."""
    parts: list[list[Instance]] = []
    for one in group:
        for part in parts:
            if _parallel(one, part[0]):
                part.append(one)
                break
        else:
            parts.append([one])
    return parts


def _parallel(one: Instance, other: Instance) -> bool:
    """True if two pictures run the same way, up to rounding in the files."""
    if one.plane is None or other.plane is None:
        return one.plane is other.plane
    mine = np.array(one.plane.columns + one.plane.rows)
    theirs = np.array(other.plane.columns + other.plane.rows)
    return bool(np.abs(mine - theirs).max() <= SAME_WAY)


def _evidence(group: list[Instance]) -> Evidence:
    """One series, or a single file."""
    kept, copies = _without_copies(group)
    if len(kept) == 1:
        single = kept[0].evidence
        return replace(single, notes=(*single.notes, *_copy_note(copies)))
    return _stack(kept, copies)


def _without_copies(group: list[Instance]) -> tuple[list[Instance], int]:
    """Files of distinct instances and how many copies were left out.

    Of copies the one with the shortest name is kept: copying tools make names longer.
    """
    kept: dict[str, Instance] = {}
    for instance in sorted(group, key=_name_length):
        kept.setdefault(instance.instance_uid or str(instance.evidence.path), instance)
    return list(kept.values()), len(group) - len(kept)


def _name_length(instance: Instance) -> tuple[int, str]:
    name = instance.evidence.path.name
    return len(name), name


def _copy_note(copies: int) -> tuple[str, ...]:
    if copies == 0:
        return ()
    return (f"{copies} duplicate file{'s' if copies > 1 else ''} of one slice left out",)


@dataclass(frozen=True, eq=False)
class _Geometry:
    """Slices in order, their distinct places along the normal, and the time points."""

    order: list[Instance]
    places: NDArray[np.float64]
    counts: list[int]


def _sort(group: list[Instance]) -> _Geometry | None:
    """Sort by position along the normal; None where positions are missing."""
    first = group[0].plane
    if first is None or any(one.plane is None or one.plane.position is None for one in group):
        return None
    normal = first.normal
    along = {id(one): float(normal @ np.array(one.plane.position)) for one in group if one.plane}
    ordered = sorted(group, key=lambda one: along[id(one)])
    places: list[list[Instance]] = []
    for one in ordered:
        if places and along[id(one)] - along[id(places[-1][0])] <= SAME_PLACE_MM:
            places[-1].append(one)
        else:
            places.append([one])
    flat = [one for place in places for one in sorted(place, key=lambda one: one.order)]
    where = np.array([along[id(place[0])] for place in places])
    return _Geometry(flat, where, [len(place) for place in places])


def _stack(group: list[Instance], copies: int) -> Evidence:
    """One volume of several files."""
    geometry = _sort(group)
    notes = [*_copy_note(copies)]
    if geometry is None:
        order = sorted(group, key=lambda one: one.order)
        notes.append("no positions in the files; sorted by instance number")
        orientation = order[0].evidence.orientation
        between = None
    else:
        order = geometry.order
        notes.extend(_geometry_notes(geometry))
        orientation = _letters(order[0])
        between = _between(geometry)
    middle = order[len(order) // 2].evidence
    shape = middle.shape or (1, 0, 0)
    spacing = middle.spacing_mm
    if spacing is not None and between is not None:
        spacing = (between, spacing[1], spacing[2])
    shared = [note for note in middle.notes if note not in notes]
    return replace(
        middle,
        path=order[0].evidence.path.parent,
        members=tuple(one.evidence.path for one in order),
        kind="volume",
        form="3d",
        shape=(len(order), *shape[1:]),
        spacing_mm=spacing,
        orientation=orientation,
        notes=(*notes, *shared),
    )


def _letters(first: Instance) -> str | None:
    """Sides to which columns, rows and the sorted slices run."""
    plane = first.plane
    if plane is None:
        return None
    return letters(np.array(plane.columns), np.array(plane.rows), plane.normal)


def _between(geometry: _Geometry) -> float | None:
    """The usual distance of neighbouring slices in mm."""
    steps = np.diff(geometry.places)
    return float(np.median(steps)) if steps.size else None


def _geometry_notes(geometry: _Geometry) -> list[str]:
    """Sentences on tilt, time points, gaps and uneven steps."""
    notes = _tilt_note(geometry)
    counts = set(geometry.counts)
    if counts != {1}:
        if len(counts) == 1:
            times = counts.pop()
            notes.append(
                f"{times} time points at each of {len(geometry.places)} positions; "
                "the slices of one position stand together"
            )
        else:
            notes.append("some positions occur more often than others")
    return notes + _step_notes(np.diff(geometry.places))


def _step_notes(steps: NDArray[np.float64]) -> list[str]:
    """Gaps (whole slices missing) and uneven distances."""
    if steps.size < 2:
        return []
    usual = float(np.median(steps))
    notes = []
    if steps.max() - steps.min() > UNEVEN * usual:
        notes.append(f"uneven spacing: {steps.min():.2f} to {steps.max():.2f} mm")
    for index in np.flatnonzero(steps > GAP * usual):
        missing = max(1, round(float(steps[index]) / usual) - 1)
        plural = "s" if missing > 1 else ""
        notes.append(f"gap of {missing} slice{plural} after {int(index) + 1}")
    return notes


def _tilt_note(geometry: _Geometry) -> list[str]:
    """A stack whose slices are shifted against each other (gantry tilt)."""
    first, last = geometry.order[0].plane, geometry.order[-1].plane
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
