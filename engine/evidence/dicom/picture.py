"""What a DICOM header says of its picture, as far as the slices of a series share it.

Owns the judgement of kind (image, volume, cine), the form, windows and notes. Refuses to ask where
a single picture lies: answers are remembered for the other files of its series.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pydicom.dataset import Dataset

from engine.errors import EvidenceError
from engine.evidence.bounded import LIMIT_VALUES
from engine.evidence.dicom import facts
from engine.evidence.dicom.calibration import is_at_detector
from engine.evidence.dicom.facts import Plane
from engine.evidence.dicom.layout import (
    FLOATING,
    QUARTERED,
    Layout,
    is_video,
    layout_of,
)
from engine.evidence.dicom.multiframe import Frames, frames_of, orientation_of
from engine.evidence.dicom.notes import picture_notes
from engine.evidence.dicom.presentation import inverted_of
from engine.evidence.dicom.read import Header
from engine.evidence.dicom.technique import directions_of, frame_ms_of, projection_of, side_of
from engine.evidence.failures import truncated
from engine.evidence.identity import tokens as identity
from engine.evidence.study import Evidence
from engine.evidence.terms import body_part_of, modality_of

NOWHERE = Path()
LONGEST = 1_000_000
MOST_FRAMES = 200_000


@dataclass(frozen=True, eq=False)
class Base:
    """What one header says of its picture, apart from what differs from slice to slice."""

    evidence: Evidence
    layout: Layout
    way: Plane | None
    frame: str | None
    series: str
    if_long: tuple[str, ...]


class _Unplaced:
    """A header without the position of its picture, for questions of direction alone."""

    def __init__(self, dataset: Dataset) -> None:
        self._dataset = dataset

    def get(self, keyword: str, default: Any = None) -> Any:
        """As the header's, but no position."""
        return default if keyword == "ImagePositionPatient" else self._dataset.get(keyword, default)


def meta_class(dataset: Dataset) -> str:
    """The class that the file meta names."""
    return str(getattr(dataset, "file_meta", {}).get("MediaStorageSOPClassUID") or "")


def frame_token(dataset: Dataset) -> str | None:
    """A hash of the frame of reference: equal for pictures of one space, None if unnamed."""
    named = facts.word(dataset, "FrameOfReferenceUID")
    return hashlib.sha256(named.encode()).hexdigest()[:16] if named else None


def source_of(dataset: Dataset, header: Header) -> dict[str, str]:
    """The transfer syntax and the object's name."""
    name = facts.object_name(dataset)
    return {"transfer_syntax": str(header.syntax), "object": name, "format": "DICOM"}


def tokens_of(dataset: Dataset, salt: bytes) -> dict[str, Any]:
    """Tokens of patient, study and series, and the shifted day."""
    return {
        "subject": identity.pseudonym(dataset, salt),
        "series": identity.series_token(dataset, salt),
        "study": identity.study_token(dataset, salt),
        "day": identity.shifted_day(dataset, salt),
    }


def base_of(path: Path, header: Header, salt: bytes) -> Base:
    """Describe a DICOM object with pixels.

    Raises:
        EvidenceError: the header names no picture, one that cannot be opened, or more pixels than
            the file holds.
    """
    dataset = header.dataset
    layout = _layout(path, header)
    found = facts.in_plane_spacing(dataset)
    in_plane = None if found is None else found[0]
    frame = frame_token(dataset)
    way = facts.plane_of(_Unplaced(dataset)) if layout.frames == 1 else None
    if layout.frames == 1:
        frames = Frames("image", 1, orientation=orientation_of(way))
    else:
        frames = frames_of(dataset, layout.frames, in_plane, frame)
    fields = {
        **_framed(dataset, layout, frames, in_plane),
        "spacing_source": None if found is None else found[1],
        "at_detector": is_at_detector(dataset),
        "calibrated": _box(dataset, layout),
        "source": source_of(dataset, header),
        **tokens_of(dataset, salt),
    }
    if header.pixel_length is None and is_video(header.syntax):
        told = f"a video ({header.syntax.name}), which is not played"
        fields.update(kind="cine", form="2d", notes=(told, *fields["notes"]))
    shape = fields["shape"]
    warnings = _warnings(dataset, fields, shape[0])
    fields["notes"] = (*_notes(dataset, warnings), *fields["notes"])
    return Base(
        evidence=Evidence(path=NOWHERE, members=(), warnings=warnings, **fields),
        layout=layout,
        way=way,
        frame=frame,
        series=facts.word(dataset, "SeriesInstanceUID"),
        if_long=_warnings(dataset, fields, LONGEST),
    )


def _box(dataset: Dataset, layout: Layout) -> tuple[int, int, int, int] | None:
    """Where distances hold, within the picture; None if they hold all over it."""
    box = facts.calibrated_box(dataset)
    if box is None:
        return None
    left, top = max(0, box[0]), max(0, box[1])
    right, bottom = min(layout.columns, box[2]), min(layout.rows, box[3])
    whole = (left, top, right, bottom) == (0, 0, layout.columns, layout.rows)
    return None if whole else (left, top, max(left, right), max(top, bottom))


def _framed(
    dataset: Dataset, layout: Layout, frames: Frames, in_plane: tuple[float, float] | None
) -> dict[str, Any]:
    """The evidence's fields on the picture itself: form, frames and how it is to be shown."""
    between = facts.slice_spacing(dataset) if frames.between is None else frames.between
    return {
        "kind": frames.kind,
        "form": "3d" if frames.kind == "volume" else "2d",
        "modality": modality_of(facts.word(dataset, "Modality")),
        "shape": (frames.slices, layout.rows, layout.columns, *((3,) if layout.color else ())),
        "color": layout.color,
        "dtype": layout.dtype.name,
        "display_inverted": inverted_of(dataset),
        "spacing_mm": None if in_plane is None else (between, *in_plane),
        "orientation": frames.orientation,
        "notes": (*picture_notes(dataset, layout), *frames.notes),
        "photometric": layout.photometric,
        "aspect": facts.pixel_aspect(dataset, in_plane),
        "body_part": body_part_of(facts.word(dataset, "BodyPartExamined")),
        "laterality": side_of(dataset),
        "view": projection_of(dataset),
        "directions": None if frames.orientation else directions_of(dataset),
        "frame_ms": frame_ms_of(dataset) if frames.kind == "cine" else None,
        "times": frames.times,
        "order": frames.order,
        "geometry": frames.geometry,
    }


def _warnings(dataset: Dataset, fields: dict[str, Any], slices: int) -> tuple[str, ...]:
    """What must be asked before this leaves the house, were it of so many slices."""
    return identity.warnings_of(
        dataset,
        kind=fields["kind"],
        modality=fields["modality"],
        body_part=fields["body_part"],
        shape=(slices, *fields["shape"][1:]),
    )


def _layout(path: Path, header: Header) -> Layout:
    """The form of the pixels, checked against what can be opened and what is there."""
    try:
        found = layout_of(header.dataset, floating=FLOATING.get(header.pixel_tag or 0, 0))
    except ValueError as failure:
        reason = "the header names no picture size; copy it again"
        raise EvidenceError(path, "damaged", reason) from failure
    if found.values * found.frames > LIMIT_VALUES or found.frames > MOST_FRAMES:
        reason = (
            f"the header claims {found.frames} x {found.rows} x {found.columns} values, "
            "more than can be opened"
        )
        raise EvidenceError(path, "too_large", reason)
    held = header.pixel_length
    if found.photometric == QUARTERED and held is not None and 8 * held < found.bits * found.frames:
        reason = f"plain pixels in {QUARTERED} are not read; convert them to RGB"
        raise EvidenceError(path, "unsupported", reason)
    if header.pixel_length is not None and 8 * header.pixel_length < found.bits * found.frames:
        raise truncated(path)
    return found


def window_of(dataset: Dataset, *, color: bool) -> dict[str, Any]:
    """The evidence's fields on windows, with a note on a window that cannot be used."""
    if color:
        return {"notes": ()}
    notes = ("the window in the header is not valid",) if facts.invalid_window(dataset) else ()
    found = facts.window_of(dataset)
    if found is not None:
        windows = facts.windows_of(dataset)
        return {
            "window": found[0], "window_source": "header", "window_function": found[1],
            "windows": windows, "notes": notes,
        }  # fmt: skip
    lut = facts.voi_lut_of(dataset)
    if lut is not None:
        last = lut.first + len(lut.table) - 1
        window = ((lut.first + last + 1.0) / 2.0, last - lut.first + 1.0)
        return {"window": window, "window_source": "lut", "notes": notes}
    return {"window_source": "derived", "notes": notes}


def _notes(dataset: Dataset, warnings: tuple[str, ...]) -> list[str]:
    """What a reader should know before anything of the picture itself."""
    notes = ["burned-in text possible"] if "burned_in_text" in warnings else []
    kinds = [str(one).strip() for one in dataset.get("ImageType") or []]
    if "LOCALIZER" in kinds:
        notes.append("localizer")
    if "MOSAIC" in kinds:
        notes.append("a mosaic: the slices of a volume stand side by side in one picture")
    if "ConcatenationUID" in dataset:
        notes.append("one part of an object that was divided into several files")
    return notes
