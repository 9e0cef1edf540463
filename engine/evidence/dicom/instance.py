"""One DICOM file as ``Evidence``, with what the grouping into series needs to know of it.

Owns what differs from slice to slice: place, window, technique, where the pixels lie. Refuses to
group files: that is the business of ``series``.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

from pydicom.dataset import Dataset

from engine.errors import EvidenceError
from engine.evidence.dicom import arrange, facts
from engine.evidence.dicom.arrange import Spot
from engine.evidence.dicom.facts import Plane
from engine.evidence.dicom.labels import labels_of
from engine.evidence.dicom.native import natives_of, stored_of
from engine.evidence.dicom.notes import stream_notes, surplus_notes
from engine.evidence.dicom.other import without_pixels
from engine.evidence.dicom.picture import Base, base_of, meta_class, window_of
from engine.evidence.dicom.read import PARSE_ERRORS, Header, read_header
from engine.evidence.dicom.recall import Recall
from engine.evidence.dicom.technique import technique_of
from engine.evidence.failures import of_system
from engine.evidence.quiet import quiet
from engine.evidence.study import Evidence

NO_SPOT = Spot(None, None, {}, 0.0)
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
        own = dict(self.own)
        if self.base.kind == "image" and self.base.spacing_mm is not None:
            spacing = self.base.spacing_mm[1:]
            own["geometry"] = arrange.geometry_of([self.spot.plane], spacing, self.frame)
        return replace(self.base, path=self.path, members=(self.path,), **own)


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
        return Instance(path, without_pixels(path, header, salt), {})
    given = (header.syntax, header.pixel_tag, header.pixel_length, meta_class(dataset))
    base = recall.ask("base", dataset, given, lambda: base_of(path, header, salt))
    color = base.evidence.color
    own = dict(recall.ask("window", dataset, color, lambda: window_of(dataset, color=color)))
    own["technique"] = recall.ask("technique", dataset, None, lambda: technique_of(dataset))
    streamed = stream_notes(base.layout, header.codestream)
    surplus = surplus_notes(base.layout, begun=header.begun, length=header.pixel_length)
    own["notes"] = (*base.evidence.notes, *own["notes"], *streamed, *surplus)
    stored = recall.ask("stored", dataset, given, lambda: stored_of(dataset, header))
    if stored is not None and stamp is not None:
        own["native"] = natives_of(stored, header, base.layout.frames, stamp)
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


def _first(dataset: Dataset, keyword: str) -> float | None:
    """The first number of an element."""
    found = facts.numbers(dataset.get(keyword))
    return found[0] if found else None


def _placed(dataset: Dataset, way: Plane | None) -> Plane | None:
    """The plane of a single picture: its direction, which a series shares, at its position."""
    if way is None:
        return None
    position = facts.numbers(dataset.get("ImagePositionPatient"))
    if len(position) != 3:
        return facts.plane_of(dataset)
    return Plane(way.columns, way.rows, (position[0], position[1], position[2]))


def _group_key(base: Base, spot: Spot) -> tuple[object, ...] | None:
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
