"""One DICOM file as ``Evidence``: what object it is, how its picture is to be shown.

Owns the judgement of kind (image, volume, cine, report, document, other) and the notes of a
single file. Refuses to group files: that is the business of ``series``.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

from pydicom.dataset import Dataset

from engine.errors import EvidenceError
from engine.evidence import arrange, dicomdir, identity
from engine.evidence import dicom_facts as facts
from engine.evidence.arrange import Spot
from engine.evidence.dicom_facts import Plane
from engine.evidence.dicom_layout import FLOATING, LIMIT_VALUES, Layout, layout_of
from engine.evidence.dicom_notes import picture_notes, stream_notes
from engine.evidence.dicom_read import PARSE_ERRORS, Header, read_header
from engine.evidence.failures import of_system, truncated
from engine.evidence.labels import labels_of
from engine.evidence.multiframe import Frames, frames_of, orientation_of
from engine.evidence.native import Native, stored_of
from engine.evidence.objects import sentence_of
from engine.evidence.pdf import enclosed_text
from engine.evidence.presentation import inverted_of
from engine.evidence.quiet import quiet
from engine.evidence.recall import Recall
from engine.evidence.sr import is_report, report_text
from engine.evidence.study import Evidence
from engine.evidence.technique import (
    directions_of,
    frame_ms_of,
    projection_of,
    side_of,
    technique_of,
)
from engine.evidence.terms import body_part_of, modality_of

NOWHERE = Path()
NO_SPOT = Spot(None, None, {}, 0.0)
LONGEST = 1_000_000
SLICED = frozenset({"CT", "MR", "PT"})
SINGLE = frozenset({"CR", "DX", "MG", "IO", "PX", "RG", "XA", "RF", "US", "ES", "XC", "GM", "SM"})


@dataclass(frozen=True, eq=False)
class Instance:
    """One described DICOM file and what the grouping into series needs to know of it.

    Holds no patient attribute beyond what ``Evidence`` holds, apart from the two identifiers
    that grouping compares.

    Attributes:
        path: the file.
        base: what the file shares with others of its series.
        own: fields of its evidence that it need not share.
        group: files with equal keys may form one series; None for those that never do.
        instance_uid: to find copies of one instance.
        spot: where it lies and what tells it apart from others of the same place.
        frame: token of the frame of reference.
        if_long: warnings that hold if the series turns out to be long.
        pixels: where the pixel element's value begins (0 if unknown) and its length (0 if it has
            none and runs to the end).
    """

    path: Path
    base: Evidence
    own: Mapping[str, Any]
    group: tuple[object, ...] | None = None
    instance_uid: str = ""
    spot: Spot = NO_SPOT
    frame: str | None = None
    if_long: tuple[str, ...] = ()
    pixels: tuple[int, int] = (0, 0)

    @cached_property
    def evidence(self) -> Evidence:
        """The file by itself."""
        found = replace(self.base, path=self.path, members=(self.path,), **self.own)
        if found.kind != "image" or found.geometry is not None:
            return found
        spacing = found.spacing_mm and found.spacing_mm[1:]
        return replace(found, geometry=arrange.geometry_of([self.spot.plane], spacing, self.frame))


@dataclass(frozen=True, eq=False)
class _Base:
    """What one header says of its picture, apart from what differs from slice to slice."""

    evidence: Evidence
    layout: Layout
    way: Plane | None
    frame: str | None
    series: str
    if_long: tuple[str, ...]


def read_dicom(path: Path, *, salt: bytes = b"", recall: Recall | None = None) -> Instance:
    """Describe one DICOM file from its header.

    Args:
        path: the file.
        salt: key of the pseudonyms.
        recall: a memory for the files of one walk, all read with one salt.

    Raises:
        EvidenceError: the file is not DICOM, damaged, cut short or absurdly large.
    """
    return describe(path, read_header(path), salt=salt, recall=recall)


def describe(
    path: Path,
    header: Header,
    *,
    salt: bytes = b"",
    recall: Recall | None = None,
    stamp: tuple[int, int] | None = None,
) -> Instance:
    """Describe a DICOM file whose header was read.

    Args:
        path: the file.
        header: its header.
        salt: key of the pseudonyms.
        recall: as for ``read_dicom``.
        stamp: size and modification time in ns of a file on disk, None inside containers.

    Raises:
        EvidenceError: the header holds what no picture can have.
    """
    try:
        if header.lean:
            return _describe(path, header, salt, recall or Recall(), stamp)
        with quiet():
            return _describe(path, header, salt, recall or Recall(), stamp)
    except OSError as failure:
        raise of_system(path, failure) from failure
    except PARSE_ERRORS as failure:
        reason = "the DICOM header holds values that cannot be read; ask for the file again"
        raise EvidenceError(path, "damaged", reason) from failure


def _describe(
    path: Path, header: Header, salt: bytes, recall: Recall, stamp: tuple[int, int] | None
) -> Instance:
    """Describe a parsed header; raw values become numbers only here."""
    dataset = header.dataset
    if header.pixel_tag is None:
        return Instance(path, _without_pixels(path, header, salt), {})
    given = (header.syntax, header.pixel_tag, header.pixel_length, _meta_class(dataset))
    base = recall.ask("base", dataset, given, lambda: _base(path, header, salt))
    color = base.evidence.color
    own = dict(recall.ask("window", dataset, color, lambda: _window(dataset, color=color)))
    own["technique"] = recall.ask("technique", dataset, None, lambda: technique_of(dataset))
    streamed = stream_notes(base.layout, header.codestream)
    own["notes"] = (*base.evidence.notes, *own["notes"], *streamed)
    stored = recall.ask("stored", dataset, given, lambda: stored_of(dataset, header))
    if stored is not None and stamp is not None:
        own["native"] = (Native(stored, header.pixel_at, *stamp),)
    spot = Spot(
        plane=_placed(dataset, base.way),
        along=_first(dataset, "SliceLocation"),
        labels=labels_of(dataset),
        number=_first(dataset, "InstanceNumber") or 0.0,
    )
    return Instance(
        path, base.evidence, own, _group_key(base, spot), facts.word(dataset, "SOPInstanceUID"),
        spot, base.frame, base.if_long, (header.pixel_at, header.pixel_length or 0),
    )  # fmt: skip


def _meta_class(dataset: Dataset) -> str:
    """The class that the file meta names."""
    return str(getattr(dataset, "file_meta", {}).get("MediaStorageSOPClassUID") or "")


def _first(dataset: Dataset, keyword: str) -> float | None:
    """The first number of an element."""
    found = facts.numbers(dataset.get(keyword))
    return found[0] if found else None


class _Unplaced:
    """A header without the position of its picture, for questions of direction alone."""

    def __init__(self, dataset: Dataset) -> None:
        self._dataset = dataset

    def get(self, keyword: str, default: Any = None) -> Any:
        """As the header's, but no position."""
        return default if keyword == "ImagePositionPatient" else self._dataset.get(keyword, default)


def _placed(dataset: Dataset, way: Plane | None) -> Plane | None:
    """The plane of a single picture: its direction, which a series shares, at its position."""
    if way is None:
        return None
    position = facts.numbers(dataset.get("ImagePositionPatient"))
    if len(position) != 3:
        return facts.plane_of(dataset)
    return Plane(way.columns, way.rows, (position[0], position[1], position[2]))


def _group_key(base: _Base, spot: Spot) -> tuple[object, ...] | None:
    """Series, space, size and kind of picture (not yet direction); None if it stands alone."""
    evidence = base.evidence
    if not base.series or evidence.kind != "image" or evidence.modality in SINGLE:
        return None
    placed = spot.plane is not None and spot.plane.position is not None
    sliced = "Secondary" not in evidence.source["object"] and evidence.modality in SLICED
    if not placed and not sliced:
        return None
    scout = "localizer" in evidence.notes
    return base.series, placed, base.frame, evidence.shape, evidence.photometric, scout


def frame_token(dataset: Dataset) -> str | None:
    """A hash of the frame of reference: equal for pictures of one space, None if unnamed."""
    named = facts.word(dataset, "FrameOfReferenceUID")
    return hashlib.sha256(named.encode()).hexdigest()[:16] if named else None


def _source(dataset: Dataset, header: Header) -> dict[str, str]:
    """The transfer syntax and the object's name."""
    name = facts.object_name(dataset)
    return {"transfer_syntax": str(header.syntax), "object": name, "format": "DICOM"}


def _known_of(dataset: Dataset, salt: bytes) -> dict[str, Any]:
    """Tokens of patient, study and series, and the shifted day."""
    return {
        "subject": identity.pseudonym(dataset, salt),
        "series": identity.series_token(dataset, salt),
        "study": identity.study_token(dataset, salt),
        "day": identity.shifted_day(dataset, salt),
    }


def _without_pixels(path: Path, header: Header, salt: bytes) -> Evidence:
    """A DICOM object that holds no picture: a report, a document or something else."""
    dataset = header.dataset
    source = _source(dataset, header)
    name = source["object"]
    if "Rows" in dataset and "Columns" in dataset and "Image Storage" in name:
        reason = "the header announces a picture that the file does not hold; ask for it again"
        raise EvidenceError(path, "no_pixels", reason)
    modality = modality_of(facts.word(dataset, "Modality"))
    text, told = None, ""
    if is_report(dataset):
        kind, text = "report", report_text(dataset)
    elif name.startswith("Encapsulated"):
        enclosed = enclosed_text(dataset)
        kind, text, told = "document", enclosed.text, enclosed.sentence
    else:
        kind = "other"
    uid = facts.word(dataset, "SOPClassUID") or _meta_class(dataset)
    more: tuple[str, ...] = (sentence_of(uid), told)
    if uid == dicomdir.UID:
        more = dicomdir.notes_of(dicomdir.disc_of(path, dataset))
    if name.startswith("DICOM object of") and kind == "other" and modality is None:
        raise EvidenceError(path, "no_picture", "the file holds no picture; copy it again")
    notes = () if kind == "report" else (f"{name}: holds no picture", *filter(None, more))
    return Evidence(
        path=path, members=(path,), kind=kind, form=None if text is None else "text",
        modality=modality, text=text, notes=notes, source=source,
        warnings=identity.warnings_of(
            dataset, kind=kind, modality=modality, body_part=None, shape=None
        ),
        **_known_of(dataset, salt),
    )  # fmt: skip


def _base(path: Path, header: Header, salt: bytes) -> _Base:
    """A DICOM object with pixels; nothing here may depend on where a single picture lies."""
    dataset = header.dataset
    layout = _layout(path, header)
    shape = (layout.frames, layout.rows, layout.columns, *((3,) if layout.color else ()))
    found = facts.in_plane_spacing(dataset)
    in_plane = None if found is None else found[0]
    frame = frame_token(dataset)
    way = facts.plane_of(_Unplaced(dataset)) if shape[0] == 1 else None
    if shape[0] == 1:
        frames = Frames("image", 1, orientation=orientation_of(way))
    else:
        frames = frames_of(dataset, shape[0], in_plane, frame)
    between = facts.slice_spacing(dataset) if frames.between is None else frames.between
    evidence = Evidence(
        path=NOWHERE,
        members=(),
        kind=frames.kind,
        form="3d" if frames.kind == "volume" else "2d",
        modality=modality_of(facts.word(dataset, "Modality")),
        shape=(frames.slices, *shape[1:]),
        color=layout.color,
        dtype=layout.dtype.name,
        display_inverted=inverted_of(dataset),
        spacing_mm=None if in_plane is None else (between, *in_plane),
        spacing_source=None if found is None else found[1],
        orientation=frames.orientation,
        notes=(*_notes(dataset), *picture_notes(dataset, layout), *frames.notes),
        source=_source(dataset, header),
        photometric=layout.photometric,
        aspect=facts.pixel_aspect(dataset, in_plane),
        body_part=body_part_of(facts.word(dataset, "BodyPartExamined")),
        laterality=side_of(dataset),
        view=projection_of(dataset),
        directions=None if frames.orientation else directions_of(dataset),
        frame_ms=frame_ms_of(dataset) if frames.kind == "cine" else None,
        times=frames.times,
        order=frames.order,
        geometry=frames.geometry,
        **_known_of(dataset, salt),
    )
    return _Base(
        replace(evidence, warnings=_warnings(dataset, evidence, evidence.shape)),
        layout, way, frame, facts.word(dataset, "SeriesInstanceUID"),
        _warnings(dataset, evidence, (LONGEST, *shape[1:])),
    )  # fmt: skip


def _warnings(
    dataset: Dataset, evidence: Evidence, shape: tuple[int, ...] | None
) -> tuple[str, ...]:
    """What must be asked before this leaves the house."""
    return identity.warnings_of(
        dataset, kind=evidence.kind, modality=evidence.modality, body_part=evidence.body_part,
        shape=shape,
    )  # fmt: skip


def _layout(path: Path, header: Header) -> Layout:
    """The form of the pixels, checked against what can be opened and what is there."""
    try:
        found = layout_of(header.dataset, floating=FLOATING.get(header.pixel_tag or 0, 0))
    except ValueError as failure:
        reason = "the header names no picture size; copy it again"
        raise EvidenceError(path, "damaged", reason) from failure
    if found.values * found.frames > LIMIT_VALUES:
        reason = (
            f"the header claims {found.frames} x {found.rows} x {found.columns} values, "
            "more than can be opened"
        )
        raise EvidenceError(path, "too_large", reason)
    if header.pixel_length is not None and 8 * header.pixel_length < found.bits * found.frames:
        raise truncated(path)
    return found


def _window(dataset: Dataset, *, color: bool) -> dict[str, Any]:
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


def _notes(dataset: Dataset) -> list[str]:
    """What a reader should know before anything of the picture itself."""
    notes = []
    modality = facts.word(dataset, "Modality")
    burned = facts.word(dataset, "BurnedInAnnotation")
    if burned == "YES" or (burned != "NO" and modality in ("US", "ES", "OT", "SC")):
        notes.append("burned-in text possible")
    if "LOCALIZER" in [str(one).strip() for one in dataset.get("ImageType") or []]:
        notes.append("localizer")
    return notes
