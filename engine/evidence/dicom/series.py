"""DICOM files that belong together: grouped, and each group turned into evidence.

Owns the grouping by series, frame of reference, size, spacing and direction, and what is left
out as a copy. Refuses to trust file names or instance numbers for the order while positions are
there (``arrange`` sorts).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from math import log

import numpy as np
from numpy.typing import NDArray

from engine.evidence.dicom import arrange
from engine.evidence.dicom.arrange import Arranged
from engine.evidence.dicom.copies import without_copies
from engine.evidence.dicom.instance import Instance
from engine.evidence.dicom.native import Native
from engine.evidence.identity.risks import LONG_MM
from engine.evidence.study import Evidence

SAME_WAY = 0.01  # largest difference of a direction cosine
SAME_SPACING = 1e-3  # largest relative difference of a pixel spacing
TOLERANCE = np.array([SAME_WAY] * 6 + [SAME_SPACING] * 2)
UNKNOWN = (1e3,)


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
        for part in _fitting(group):
            found.extend(_evidence(part))
    return found


def _fitting(group: list[Instance]) -> list[list[Instance]]:
    """Split files whose rows or columns run another way or are spaced otherwise."""
    parts: list[list[Instance]] = []
    traits_P8 = np.empty((len(group), 8))
    for one in group:
        mine = _traits(one)
        near = np.abs(traits_P8[: len(parts)] - mine) <= TOLERANCE
        fitting = np.flatnonzero(near.all(axis=1))
        if fitting.size:
            parts[fitting[0]].append(one)
        else:
            traits_P8[len(parts)] = mine
            parts.append([one])
    return parts


def _traits(one: Instance) -> NDArray[np.float64]:
    """Directions of rows and columns, and the logarithm of the spacing; far off if unknown."""
    plane, spacing = one.spot.plane, one.base.spacing_mm
    ways = UNKNOWN * 6 if plane is None else plane.columns + plane.rows
    steps = UNKNOWN * 2 if spacing is None else (log(spacing[1]), log(spacing[2]))
    return np.array((*ways, *steps))


def _evidence(group: list[Instance]) -> list[Evidence]:
    """One series, several where places are shared unequally, or a single file."""
    kept, told = without_copies(group)
    found: list[Evidence] = []
    for station in arrange.stations([one.spot for one in kept]):
        members = [kept[index] for index in station]
        parts = arrange.divide([one.spot for one in members])
        stacks = [_stack([members[index] for index in part]) for part in parts]
        if len(stacks) > 1:
            note = f"some positions occur more often than others; divided into {len(parts)} stacks"
            stacks = [replace(one, notes=(note, *one.notes)) for one in stacks]
        found.extend(stacks)
    return [replace(one, notes=(*told, *one.notes)) for one in found]


def _stack(group: list[Instance]) -> Evidence:
    """One volume of several files."""
    if len(group) == 1:
        return group[0].evidence
    stack = arrange.arrange([one.spot for one in group])
    if stack is None:
        return _by_number(group)
    if stack.times > 1 and len(stack.along) == 1:
        return _cine(group, stack)
    members, order = _members(group, stack)
    middle = members[len(members) // 2].evidence
    spacing = middle.spacing_mm
    if spacing is not None and stack.between is not None:
        spacing = (stack.between, spacing[1], spacing[2])
    notes = arrange.notes_of(stack)
    if stack.planes[0] is None or stack.planes[0].position is None:
        notes.append("no positions in the files; sorted by slice location")
    found = _joined(members, middle, notes)
    return replace(
        found,
        warnings=_warnings(found, members[0], stack),
        shape=(len(stack.along), *(middle.shape or (1, 0, 0))[1:]),
        times=stack.times,
        order=order,
        spacing_mm=spacing,
        orientation=arrange.letters_of(stack),
        geometry=arrange.geometry_of(stack.planes, spacing and spacing[1:], members[0].frame),
    )


def _warnings(found: Evidence, first: Instance, stack: Arranged) -> tuple[str, ...]:
    """The warnings of the files, and those that hold because the stack is long."""
    length = float(stack.along[-1] - stack.along[0])
    more = first.if_long if length >= LONG_MM else ()
    return tuple(dict.fromkeys((*found.warnings, *more)))


def _members(group: list[Instance], stack: Arranged) -> tuple[list[Instance], tuple[int, ...]]:
    """The files, those of one position together, and which of them each slice is."""
    slots = np.array(stack.order).reshape(stack.times, -1)
    members = [group[index] for index in slots.T.reshape(-1)]
    if stack.times == 1:
        return members, ()
    order = np.arange(len(members)).reshape(-1, stack.times).T.reshape(-1)
    return members, tuple(int(number) for number in order)


def _joined(members: list[Instance], middle: Evidence, notes: list[str]) -> Evidence:
    """What all members share, as a volume."""
    shared = [note for note in middle.notes if note not in notes]
    return replace(
        middle,
        path=members[0].path.parent,
        members=tuple(one.path for one in members),
        native=_native(members),
        kind="volume",
        form="3d",
        notes=(*notes, *shared),
        warnings=tuple(dict.fromkeys(word for one in members for word in one.base.warnings)),
    )


def _native(members: list[Instance]) -> tuple[Native | None, ...]:
    """How to read each member's pixels; empty if none can be read straight from its file."""
    found = [one.own.get("native", (None,))[0] for one in members]
    return tuple(found) if any(found) else ()


def _by_number(group: list[Instance]) -> Evidence:
    """A volume whose files do not say where they lie."""
    members = sorted(group, key=lambda one: one.spot.number)
    middle = members[len(members) // 2].evidence
    found = _joined(members, middle, ["no positions in the files; sorted by instance number"])
    return replace(found, shape=(len(members), *(middle.shape or (1, 0, 0))[1:]))


def _cine(group: list[Instance], stack: Arranged) -> Evidence:
    """Pictures of one place at several times."""
    members = [group[index] for index in stack.order]
    middle = members[len(members) // 2].evidence
    notes = [f"{stack.times} pictures of one position, told apart by {stack.label}"]
    spacing = middle.spacing_mm
    planes = [one.spot.plane for one in members]
    return replace(
        _joined(members, middle, notes),
        kind="cine",
        form="2d",
        frame_ms=_frame_ms(members, stack.label),
        shape=(len(members), *(middle.shape or (1, 0, 0))[1:]),
        geometry=arrange.geometry_of(planes, spacing and spacing[1:], members[0].frame),
    )


def _frame_ms(members: list[Instance], label: str | None) -> float | None:
    """The usual time between pictures in ms, where trigger times tell them apart."""
    if label != "trigger time":
        return None
    steps = np.diff([np.asarray(one.spot.labels[label], float)[0] for one in members])
    return float(np.median(steps)) or None
