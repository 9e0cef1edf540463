"""The frames of one DICOM file: their order, and whether they are a volume or a cine.

Owns the choice between volume and cine, and the order of frames by place and time. Refuses to
decode and to move pixels: it hands out an order that loading applies.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from pydicom.dataset import Dataset

from engine.evidence.dicom import arrange, facts
from engine.evidence.dicom.arrange import Arranged, Spot
from engine.evidence.dicom.facts import Plane
from engine.evidence.dicom.frame_places import Placed, detector_plane, labelled, moved, placed
from engine.evidence.geometry import Geometry
from engine.evidence.orient import letters

CINE_MODALITIES = frozenset({"US", "IVUS", "XA", "RF", "ES", "GM", "OP", "XC", "DX", "CR"})
VOLUME_MODALITIES = frozenset({"CT", "MR", "PT", "NM", "SEG", "RTDOSE"})
NM_SERIES = {
    "TOMO": "views of a turning detector, no slices",
    "DYNAMIC": "one view over time",
    "GATED": "one view over the heart's cycle",
    "STATIC": "separate views",
    "WHOLE BODY": "separate views",
}
SAME_WAY = 0.01
UNSORTED = (
    "frames are stored against the slice normal or unsorted; sorted by position, "
    "probes count them as stored"
)
ASSUMED = "the header places the first frame only; the rest follow at the slice spacing"


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
    found = placed(dataset, count)
    if not found.spots:
        return _unplaced(dataset, count, spacing, frame)
    if not _one_direction(found.spots):
        return Frames("cine", count, notes=("frames run in several directions; no volume",))
    stack = arrange.arrange(found.spots)
    if stack is None:
        return _unequal(dataset, found, spacing, frame)
    if stack.times > 1:
        stack = arrange.arrange(labelled(dataset, found.spots)) or stack
    if len(stack.along) == 1:
        return _still(found, stack, spacing, frame)
    return _volume(found, stack, spacing, frame)


def orientation_of(plane: Plane | None) -> str | None:
    """Sides to which columns, rows and the normal run."""
    if plane is None:
        return None
    return letters(np.array(plane.columns), np.array(plane.rows), plane.normal)


def _one_direction(spots: Sequence[Spot]) -> bool:
    """True if all frames run the same way."""
    ways = np.array([one.plane.columns + one.plane.rows for one in spots if one.plane])
    return not ways.size or bool(np.abs(ways - ways[0]).max() <= SAME_WAY)


def _volume(
    found: Placed, stack: Arranged, spacing: tuple[float, float] | None, frame: str | None
) -> Frames:
    """Frames sorted by position."""
    stored = stack.order == tuple(range(len(stack.order)))
    notes = arrange.notes_of(stack)
    if not stored and (stack.times == 1 or not _in_turn(stack)):
        notes.append(UNSORTED)
    return Frames(
        kind="volume",
        slices=len(stack.along),
        times=stack.times,
        order=() if stored else stack.order,
        between=stack.between,
        orientation=arrange.letters_of(stack) if found.patient else None,
        geometry=arrange.geometry_of(stack.planes, spacing, frame if found.patient else None),
        notes=tuple(notes),
    )


def _in_turn(stack: Arranged) -> bool:
    """True if the frames of each place are stored together, places in order."""
    slots = np.array(stack.order).reshape(stack.times, -1).T.reshape(-1)
    return bool((np.diff(slots) > 0).all())


def _still(
    found: Placed, stack: Arranged, spacing: tuple[float, float] | None, frame: str | None
) -> Frames:
    """Frames of one place at several times, in order of what tells them apart."""
    stored = stack.order == tuple(range(len(stack.order)))
    plane = found.spots[0].plane
    return Frames(
        kind="cine",
        slices=len(found.spots),
        order=() if stored else stack.order,
        orientation=orientation_of(plane) if found.patient else None,
        geometry=arrange.geometry_of([plane] * len(found.spots), spacing, frame),
        notes=(f"{len(found.spots)} frames of one position, told apart by {stack.label}",),
    )


def _unequal(
    dataset: Dataset, found: Placed, spacing: tuple[float, float] | None, frame: str | None
) -> Frames:
    """Some places hold more frames than others: left as stored, and said."""
    along = arrange.distances(found.spots)
    steps = np.diff(np.unique(np.round([] if along is None else along, 3)))
    planes = [one.plane for one in found.spots]
    return Frames(
        kind=_kind(dataset),
        slices=len(planes),
        between=float(np.median(steps)) if steps.size else None,
        orientation=orientation_of(planes[0]) if found.patient else None,
        geometry=arrange.geometry_of(planes, spacing, frame if found.patient else None),
        notes=("some positions hold more frames than others; frames stand as stored",),
    )


def _unplaced(
    dataset: Dataset, count: int, spacing: tuple[float, float] | None, frame: str | None
) -> Frames:
    """Frames that name no places of their own."""
    kind, notes = _kind(dataset), _series_notes(dataset)
    plane, between = detector_plane(dataset), facts.slice_spacing(dataset)
    planes: list[Plane | None] = [plane] * count
    if kind == "volume" and plane is not None and plane.position is not None and between:
        planes = [moved(plane, number * between) for number in range(count)]
        notes = (*notes, ASSUMED)
    geometry = arrange.geometry_of(planes, spacing, frame)
    return Frames(kind, count, orientation=orientation_of(plane), geometry=geometry, notes=notes)


def _series_type(dataset: Dataset) -> str:
    """Value 3 of Image Type of nuclear medicine (C.8.4.9.1.3)."""
    words = [str(one).strip() for one in dataset.get("ImageType") or []]
    return words[2] if len(words) > 2 and facts.word(dataset, "Modality") == "NM" else ""


def _series_notes(dataset: Dataset) -> tuple[str, ...]:
    """What the frames of nuclear medicine are, where they are no slices."""
    told = NM_SERIES.get(_series_type(dataset).removesuffix(" TOMO"))
    if _series_type(dataset) == "GATED TOMO":
        told = NM_SERIES["TOMO"]
    return () if told is None else (f"frames are {told}",)


def _kind(dataset: Dataset) -> str:
    """Volume or cine for frames that name no places."""
    modality = facts.word(dataset, "Modality")
    if "GridFrameOffsetVector" in dataset:
        return "volume"
    timed = bool(facts.numbers(dataset.get("FrameTime"))) or "FrameTimeVector" in dataset
    if timed or modality in CINE_MODALITIES or _series_notes(dataset):
        return "cine"
    return "volume" if modality in VOLUME_MODALITIES else "cine"
