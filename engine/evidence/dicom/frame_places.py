"""Where each frame of a DICOM file lies, and what tells frames of one place apart.

Owns the functional groups (PS3.3 C.7.6.16), the offsets of RT dose (C.8.8.3.2) and the vectors of
nuclear medicine (C.8.4.8, C.8.4.15). Refuses to sort.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from pydicom.dataset import Dataset

from engine.evidence.dicom import facts
from engine.evidence.dicom.arrange import Spot
from engine.evidence.dicom.facts import Plane

PER_FRAME = "PerFrameFunctionalGroupsSequence"
# name, functional group macro, elements of which the first that is there counts
GROUPED = (
    ("stack", "FrameContentSequence", ("StackID",)),
    ("segment", "SegmentIdentificationSequence", ("ReferencedSegmentNumber",)),
    ("temporal position", "FrameContentSequence", ("TemporalPositionIndex",)),
    ("temporal position", "TemporalPositionSequence", ("TemporalPositionTimeOffset",)),
    ("cardiac phase", "CardiacSynchronizationSequence", ("NominalPercentageOfCardiacPhase",)),
    ("trigger time", "CardiacSynchronizationSequence", ("NominalCardiacTriggerDelayTime",)),
    ("b-value", "MRDiffusionSequence", ("DiffusionBValue",)),
    ("echo time", "MREchoSequence", ("EffectiveEchoTime",)),
    ("inversion time", "MRModifierSequence", ("InversionTimes",)),
    ("acquisition time", "FrameContentSequence", ("FrameAcquisitionDateTime",)),
    ("reference time", "FrameContentSequence", ("FrameReferenceDateTime",)),
    ("acquisition number", "FrameContentSequence", ("FrameAcquisitionNumber",)),
    ("dimension index", "FrameContentSequence", ("DimensionIndexValues",)),
)
# vectors of nuclear medicine that tell frames of one slice apart
VECTORS = (
    ("time slot", "TimeSlotVector"),
    ("phase", "PhaseVector"),
    ("R-R interval", "RRIntervalVector"),
    ("time slice", "TimeSliceVector"),
    ("energy window", "EnergyWindowVector"),
    ("detector", "DetectorVector"),
    ("rotation", "RotationVector"),
    ("angular view", "AngularViewVector"),
)


@dataclass(frozen=True, eq=False)
class Placed:
    """The places of all frames.

    Attributes:
        spots: one for each frame; empty where the file names no places.
        patient: False if the places are not in the patient's own axes (ultrasound volumes).
    """

    spots: list[Spot]
    patient: bool = True


def placed(dataset: Dataset, count: int) -> Placed:
    """Look for the places of a file's frames."""
    if PER_FRAME in dataset:
        complete = len(dataset.get(PER_FRAME) or []) >= count
        return _grouped(dataset, count) if complete else Placed([])
    offsets = facts.numbers(dataset.get("GridFrameOffsetVector"))
    if len(offsets) == count:
        return Placed(_offset(dataset, offsets))
    slices = facts.numbers(dataset.get("SliceVector"))
    if len(slices) == count and len(set(slices)) > 1:
        return Placed(_vectored(dataset, slices))
    return Placed([])


def _grouped(dataset: Dataset, count: int) -> Placed:
    """Frames of functional groups."""
    planes = [facts.plane_of(dataset, number) for number in range(count)]
    patient = any(plane is not None for plane in planes)
    if not patient:
        planes = [_in_volume(dataset, number) for number in range(count)]
    if any(plane is None or plane.position is None for plane in planes):
        return Placed([])
    return Placed(
        [Spot(plane, None, {}, number) for number, plane in enumerate(planes)], patient=patient
    )


def _in_volume(dataset: Dataset, frame: int) -> Plane | None:
    """The plane of a frame in an ultrasound volume's own axes (C.8.24.3)."""
    position = facts.grouped(dataset, "PlanePositionVolumeSequence", frame)
    orientation = facts.grouped(dataset, "PlaneOrientationVolumeSequence", frame)
    if position is None or orientation is None:
        return None
    return facts.plane_of(
        _Renamed(
            ImagePositionPatient=position.get("ImagePositionVolume"),
            ImageOrientationPatient=orientation.get("ImageOrientationVolume"),
        )
    )


class _Renamed:
    """A header that answers with values found under other names."""

    def __init__(self, **known: Any) -> None:
        self._known = known

    def get(self, keyword: str, default: Any = None) -> Any:
        return self._known.get(keyword, default)


def _offset(dataset: Dataset, offsets: list[float]) -> list[Spot]:
    """Frames of RT dose: offsets from the first frame, or places along z where they start so."""
    plane = facts.plane_of(dataset)
    if plane is None or plane.position is None:
        return []
    return [
        Spot(moved(plane, offset - offsets[0]), None, {}, number)
        for number, offset in enumerate(offsets)
    ]


def moved(plane: Plane, along: float) -> Plane:
    """A plane moved along its normal by so many mm."""
    x, y, z = np.array(plane.position) + along * plane.normal
    return replace(plane, position=(float(x), float(y), float(z)))


def _vectored(dataset: Dataset, slices: list[float]) -> list[Spot]:
    """Frames of reconstructed nuclear medicine; a negative spacing runs against the normal."""
    spacing = (facts.numbers(dataset.get("SpacingBetweenSlices")) or [0.0])[0] or 1.0
    plane = detector_plane(dataset)
    spots = []
    for number, place in enumerate(slices):
        along = (place - slices[0]) * spacing
        known = plane is not None and plane.position is not None
        at = moved(plane, along) if plane is not None and known else None
        spots.append(Spot(at, along, {}, number))
    return spots


def detector_plane(dataset: Dataset) -> Plane | None:
    """The plane of the first frame of nuclear medicine, which stands with the detector."""
    found = facts.plane_of(dataset)
    detector = facts.item(dataset, "DetectorInformationSequence")
    return facts.plane_of(detector) if found is None and detector is not None else found


def labelled(dataset: Dataset, spots: list[Spot]) -> list[Spot]:
    """The same places with what tells frames of one place apart."""
    if PER_FRAME in dataset:
        pointers = _position_pointers(dataset)
        return [
            replace(spot, labels=_labels(dataset, number, pointers))
            for number, spot in enumerate(spots)
        ]
    vectors = {name: facts.numbers(dataset.get(keyword)) for name, keyword in VECTORS}
    known = {name: values for name, values in vectors.items() if len(values) == len(spots)}
    return [
        replace(spot, labels={name: values[number] for name, values in known.items()})
        for number, spot in enumerate(spots)
    ]


def _labels(dataset: Dataset, frame: int, pointers: frozenset[int]) -> Mapping[str, object]:
    """What the functional groups say of one frame."""
    found: dict[str, object] = {}
    for name, macro, keywords in GROUPED:
        holder = facts.grouped(dataset, macro, frame)
        for keyword in keywords if holder is not None else ():
            value = holder.get(keyword) if holder is not None else None
            known = _comparable(value)
            if keyword == "DimensionIndexValues":
                known = tuple(one for place, one in enumerate(known) if place not in pointers)
            if known:
                found.setdefault(name, known)
    return found


def _comparable(value: Any) -> tuple[object, ...]:
    """Numbers, or words where they are none."""
    return tuple(facts.numbers(value)) or ((str(value).strip(),) if value else ())


def _position_pointers(dataset: Dataset) -> frozenset[int]:
    """Which of a frame's dimension index values only count places."""
    places = (0x00209057, 0x00200032, 0x00209301)  # in-stack position, position in two spaces
    found = dataset.get("DimensionIndexSequence") or []
    return frozenset(
        number for number, one in enumerate(found) if one.get("DimensionIndexPointer") in places
    )
