"""DICOM segmentations (PS3.3 A.51, C.8.20): which segment each frame belongs to, and how much.

Owns the reading of segments and their frames, labels by the standard's coded terms, and the
scaling of fractions. Refuses a segment's label and description: free text that may name a person.
The terms are those of PS3.16 context groups 7150 to 7171 and 7191 to 7199.
"""

from __future__ import annotations

import csv
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache
from importlib import resources
from typing import Any

import numpy as np
from numpy.typing import NDArray
from pydicom.dataset import Dataset

from engine.evidence.dicom import facts

SEGMENTATIONS = frozenset({"1.2.840.10008.5.1.4.1.1.66.4", "1.2.840.10008.5.1.4.1.1.66.7"})
MOST = 12  # labels that a note lists
RETIRED = ("SRT", "SNM3", "99SDM")
TERMS = ("SegmentedPropertyTypeCodeSequence", "SegmentedPropertyCategoryCodeSequence")


@dataclass(frozen=True)
class Segment:
    """One segment.

    Attributes:
        number: its number in the file, from 1.
        label: the standard's word for what it is, for example ``Liver``; None for other codes.
        frames: the frames, from 0, that show it; empty for a label map.
    """

    number: int
    label: str | None
    frames: tuple[int, ...]


@dataclass(frozen=True)
class Segmentation:
    """What a segmentation holds.

    Attributes:
        kind: ``binary``, ``fractional`` or ``labelmap``.
        segments: in the order of their numbers.
        scale: the stored value that means 1; 1 for binary ones and label maps.
        meaning: of fractions: ``probability`` or ``occupancy``, else empty.
    """

    kind: str
    segments: tuple[Segment, ...]
    scale: float = 1.0
    meaning: str = ""

    def fractions(self, values: NDArray[Any]) -> NDArray[np.float32]:
        """Stored values of any shape as shares from 0 to 1."""
        return (values / np.float32(self.scale)).astype(np.float32)

    def labels(self, values_FYX: NDArray[Any], place_F: Iterable[int]) -> NDArray[np.uint16]:
        """Frames of single segments as one label map.

        Args:
            values_FYX: decoded frames, [F, Y, X].
            place_F: which slice, from 0, each frame lies in.

        Returns:
            [slices, Y, X]: the number of the segment, 0 outside. Where segments overlap the
            greatest share wins, of equal ones the higher number.
        """
        places = list(place_F)
        shape = (max(places, default=-1) + 1, *values_FYX.shape[1:])
        found, best = np.zeros(shape, np.uint16), np.zeros(shape, np.float32)
        if self.kind == "labelmap":
            found[places] = values_FYX
            return found
        for segment in self.segments:
            for frame in segment.frames:
                share = self.fractions(values_FYX[frame])
                place = places[frame]
                wins = (share > 0) & (share >= best[place])
                found[place][wins], best[place][wins] = segment.number, share[wins]
        return found


def is_segmentation(dataset: Dataset) -> bool:
    """True for a segmentation object."""
    return facts.word(dataset, "SOPClassUID") in SEGMENTATIONS


def segmentation_of(dataset: Dataset, frames: int) -> Segmentation | None:
    """The segments of a segmentation object; None for other objects.

    Args:
        dataset: the header.
        frames: its number of frames.
    """
    if not is_segmentation(dataset):
        return None
    kind = facts.word(dataset, "SegmentationType").lower()
    kind = kind if kind in ("fractional", "labelmap") else "binary"
    shown: dict[int, list[int]] = {}
    items = {
        facts.integer(one, "SegmentNumber"): one for one in dataset.get("SegmentSequence") or []
    }
    if kind != "labelmap":
        for frame, number in enumerate(_numbers_of(dataset, frames, sorted(items))):
            shown.setdefault(number, []).append(frame)
    segments = [
        Segment(number, _label(item), tuple(shown.get(number, ())))
        for number, item in items.items()
    ]
    most = facts.integer(dataset, "MaximumFractionalValue", 255)
    return Segmentation(
        kind=kind,
        segments=tuple(sorted(segments, key=lambda one: one.number)),
        scale=float(max(1, most)) if kind == "fractional" else 1.0,
        meaning=_meaning(dataset) if kind == "fractional" else "",
    )


def _meaning(dataset: Dataset) -> str:
    """What a fraction is, in the standard's words."""
    word = facts.word(dataset, "SegmentationFractionalType").lower()
    return word if word in ("probability", "occupancy") else ""


def _numbers_of(dataset: Dataset, frames: int, numbers: list[int]) -> list[int]:
    """The segment that each frame shows.

    Frames of a TILED_FULL object name none: one segment after the other (C.7.6.17.3).
    """
    if facts.word(dataset, "DimensionOrganizationType") == "TILED_FULL" and numbers:
        each = max(1, frames // len(numbers))
        return [numbers[min(frame // each, len(numbers) - 1)] for frame in range(frames)]
    return [_segment_of(dataset, frame) for frame in range(frames)]


def _segment_of(dataset: Dataset, frame: int) -> int:
    """The number of the segment that a frame shows; 1 where the file names none."""
    for group in facts.groups(dataset, frame):
        found = facts.item(group, "SegmentIdentificationSequence")
        if found is not None:
            return facts.integer(found, "ReferencedSegmentNumber", 1)
    return 1


def _label(segment: Dataset) -> str | None:
    """The standard's meaning of a segment's type, else of its category.

    The meaning is looked up by the code; the words that the file writes beside it are free text.
    """
    for keyword in TERMS:
        code = facts.item(segment, keyword)
        meaning = None if code is None else _standard_meaning(code)
        if meaning is not None:
            return meaning
    return None


def _standard_meaning(code: Dataset) -> str | None:
    """The meaning that DICOM's context groups give to a code, None for others."""
    scheme = facts.word(code, "CodingSchemeDesignator")
    return _terms().get((scheme, facts.word(code, "CodeValue")))


@cache
def _terms() -> dict[tuple[str, str], str]:
    """(scheme, value) to meaning; SNOMED's retired values count as well."""
    table = resources.files("engine.evidence") / "resources/segment_terms.csv"
    found: dict[tuple[str, str], str] = {}
    for row in csv.DictReader(table.read_text(encoding="utf-8").splitlines()):
        found[row["scheme"], row["value"]] = row["meaning"]
        if row["retired_srt_value"]:
            found.update({(old, row["retired_srt_value"]): row["meaning"] for old in RETIRED})
    return found


def segmentation_notes(dataset: Dataset, frames: int) -> list[str]:
    """Sentences that say what a segmentation holds; none for other objects."""
    found = segmentation_of(dataset, frames)
    if found is None:
        return []
    shown = [one for one in found.segments if one.number > 0]  # 0 is a label map's background
    count, plural = len(shown), "" if len(shown) == 1 else "s"
    over = f"{frames} frame{'s' if frames > 1 else ''}"
    what = "labels" if found.kind != "fractional" else "shares of labels"
    notes = [
        f"segmentation: {count} segment{plural} over {over} (values are {what}, not a picture)"
    ]
    if found.kind == "fractional":
        meaning = f" of {found.meaning}" if found.meaning else ""
        notes.append(f"the value {found.scale:g} stands for 1{meaning}")
    named: dict[str, list[int]] = {}
    for one in shown:
        if one.label:
            named.setdefault(one.label, []).append(one.number)
    if named:
        notes.append("segments: " + "; ".join(_named(*one) for one in list(named.items())[:MOST]))
    return notes


def _named(label: str, numbers: list[int]) -> str:
    """One label and the segments that bear it."""
    some = ", ".join(map(str, numbers[:3])) + (", ..." if len(numbers) > 3 else "")
    return f"{label} ({some})"
