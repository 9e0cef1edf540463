"""The frames of one DICOM file: their planes, their order, and whether they are a volume or a cine.

Owns the functional groups' places (PS3.3 C.7.6.16), the frame vectors of RT dose and nuclear
medicine, and time points within one file. Refuses to decode and to move pixels: it hands out an
order that loading applies.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from pydicom.dataset import Dataset

from engine.evidence import arrange
from engine.evidence import dicom_facts as facts
from engine.evidence.arrange import Arranged, Spot
from engine.evidence.dicom_facts import Plane
from engine.evidence.geometry import Geometry
from engine.evidence.orient import letters

PER_FRAME = "PerFrameFunctionalGroupsSequence"
CINE_MODALITIES = frozenset({"US", "IVUS", "XA", "RF", "ES", "GM", "OP", "XC", "DX", "CR"})
VOLUME_MODALITIES = frozenset({"CT", "MR", "PT", "NM", "SEG", "RTDOSE"})
SAME_WAY = 0.01
UNSORTED = (
    "frames are stored against the slice normal or unsorted; sorted by position, "
    "probes count them as stored"
)


@dataclass(frozen=True, eq=False)
class Frames:
    """What is known of a file's frames.

    Attributes:
        kind: image, volume or cine.
        slices: frames of one time point.
        times: time points.
        order: the stored frame of each slice, first time point first; empty if as stored.
        between: distance of neighbouring slices in mm, None if the frames do not say.
        orientation: sides to which columns, rows and slices run, or None.
        geometry: where the slices lie, or None.
        notes: sentences.
    """

    kind: str
    slices: int
    times: int = 1
    order: tuple[int, ...] = ()
    between: float | None = None
    orientation: str | None = None
    geometry: Geometry | None = None
    notes: tuple[str, ...] = ()


def frames_of(
    dataset: Dataset, count: int, spacing: tuple[float, float] | None, frame: str | None
) -> Frames:
    """Look at the frames of a file.

    Args:
        dataset: the header.
        count: number of frames, more than one.
        spacing: (row, column) distances in mm, None if unknown.
        frame: token of the frame of reference.
    """
    spots = _spots(dataset, count)
    if spots and _one_direction(spots):
        stack = arrange.arrange(spots)
        if stack is not None and len(stack.along) > 1:
            return _volume(stack, spacing, frame)
        if stack is None:
            return _unequal(dataset, spots, spacing, frame)
    return _unplaced(dataset, count, spots, spacing, frame)


def orientation_of(plane: Plane | None) -> str | None:
    """Sides to which columns, rows and the normal run."""
    if plane is None:
        return None
    return letters(np.array(plane.columns), np.array(plane.rows), plane.normal)


def _spots(dataset: Dataset, count: int) -> list[Spot]:
    """One spot per frame, empty where the file names no places of its frames."""
    if PER_FRAME in dataset:
        planes = [facts.plane_of(dataset, number) for number in range(count)]
        if all(plane is not None and plane.position is not None for plane in planes):
            return [Spot(plane, None, {}, number) for number, plane in enumerate(planes)]
        return []
    return _offset_spots(dataset, count)


def _offset_spots(dataset: Dataset, count: int) -> list[Spot]:
    """RT dose: frames at offsets from the first along the normal (PS3.3 C.8.8.3.2)."""
    offsets = facts.numbers(dataset.get("GridFrameOffsetVector"))
    plane = facts.plane_of(dataset)
    if len(offsets) != count or plane is None or plane.position is None:
        return []
    start = 0.0 if offsets[0] == 0.0 else offsets[0]
    return [
        Spot(moved(plane, offset - start), None, {}, number)
        for number, offset in enumerate(offsets)
    ]


def moved(plane: Plane, along: float) -> Plane:
    """A plane moved along its normal by so many mm."""
    x, y, z = np.array(plane.position) + along * plane.normal
    return replace(plane, position=(float(x), float(y), float(z)))


def _one_direction(spots: Sequence[Spot]) -> bool:
    """True if all frames run the same way."""
    ways = np.array([one.plane.columns + one.plane.rows for one in spots if one.plane])
    return bool(np.abs(ways - ways[0]).max() <= SAME_WAY)


def _volume(stack: Arranged, spacing: tuple[float, float] | None, frame: str | None) -> Frames:
    """Frames sorted by position."""
    stored = stack.order == tuple(range(len(stack.order)))
    notes = arrange.notes_of(stack)
    if not stored and (stack.times == 1 or list(stack.along) != sorted(stack.along)):
        notes.append(UNSORTED)
    return Frames(
        kind="volume",
        slices=len(stack.along),
        times=stack.times,
        order=() if stored else stack.order,
        between=stack.between,
        orientation=arrange.letters_of(stack),
        geometry=arrange.geometry_of(stack.planes, spacing, frame),
        notes=tuple(notes),
    )


def _unequal(
    dataset: Dataset, spots: list[Spot], spacing: tuple[float, float] | None, frame: str | None
) -> Frames:
    """Some places hold more frames than others: left as stored, and said."""
    along = arrange.distances(spots)
    steps = np.diff(np.unique(np.round([] if along is None else along, 3)))
    note = "some positions hold more frames than others; frames stand as stored"
    return Frames(
        kind=_kind(dataset),
        slices=len(spots),
        between=float(np.median(steps)) if steps.size else None,
        orientation=orientation_of(spots[0].plane),
        geometry=arrange.geometry_of([one.plane for one in spots], spacing, frame),
        notes=(note,),
    )


def _unplaced(
    dataset: Dataset, count: int, spots: list[Spot], spacing: tuple[float, float] | None,
    frame: str | None,
) -> Frames:  # fmt: skip
    """Frames at one place, in several directions, or without places."""
    plane = spots[0].plane if spots else facts.plane_of(dataset)
    if spots and not _one_direction(spots):
        return Frames("cine", count, notes=("frames run in several directions; no volume",))
    between = facts.slice_spacing(dataset)
    kind = "cine" if spots else _kind(dataset)
    planes: list[Plane | None] = [plane] * count
    if kind == "volume" and plane is not None and plane.position is not None:
        planes = [moved(plane, number * between) for number in range(count)]
    geometry = arrange.geometry_of(planes, spacing, frame)
    return Frames(kind, count, orientation=orientation_of(plane), geometry=geometry)


def _kind(dataset: Dataset) -> str:
    """Volume or cine for frames that name no places."""
    modality = facts.word(dataset, "Modality")
    if "GridFrameOffsetVector" in dataset:
        return "volume"
    timed = bool(facts.numbers(dataset.get("FrameTime"))) or "FrameTimeVector" in dataset
    if timed or modality in CINE_MODALITIES:
        return "cine"
    return "volume" if modality in VOLUME_MODALITIES else "cine"
