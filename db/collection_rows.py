"""What the library holds, as frozen values: collections, evidence, files, filters.

Owns the fields and their meaning. Refuses to query.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any


@dataclass(frozen=True)
class FileRow:
    """One file as it was when it was read.

    Attributes:
        path: the file.
        size: bytes; of the container for a part of one.
        mtime_ns: modification time, nanoseconds; likewise.
    """

    path: Path
    size: int
    mtime_ns: int


@dataclass(frozen=True)
class CollectionRow:
    """A collection with its size.

    Attributes:
        count: objects that can be read.
        failures: files that could not, or are no evidence; kept with their reason.
    """

    id: int
    name: str
    created_utc: str
    count: int
    failures: int


@dataclass(frozen=True)
class NewEvidence:
    """One object to index.

    Attributes:
        path: the file or folder shown to a person.
        files: its files in order; a series has many.
        kind: ``image``, ``volume``, ``cine``, ``report``, ``document``, ``other``, ``error``.
        form: ``2d``, ``3d``, ``text`` or None.
        shape: as the evidence reader gives it.
        subject: salted pseudonym or None; never an identifier.
        text: the text of a report or None.
        digest: content hash or None.
        error_code: the reader's short word for what is no evidence.
        error_message: the reader's sentence.
        details: whatever else the reader says, JSON values only.
        body_part: the part examined, in DICOM's word.
        study: salted token of the study or None.
        series: salted token of the series or None.
        day: day of the study counted from a secret one of each patient, or None.
        warnings: the reader's words, for example ``burned_in_text``.
        times: time points of a 4D file.
        laterality: side of a paired body part: ``L``, ``R``, ``B`` or ``U``.
        view: the projection, in DICOM's word.
    """

    path: Path
    files: tuple[FileRow, ...]
    kind: str
    form: str | None = None
    modality: str | None = None
    shape: tuple[int, ...] | None = None
    subject: str | None = None
    text: str | None = None
    digest: str | None = None
    error_code: str | None = None
    error_message: str | None = None
    details: Mapping[str, Any] = field(default_factory=dict)
    body_part: str | None = None
    study: str | None = None
    series: str | None = None
    day: int | None = None
    warnings: tuple[str, ...] = ()
    times: int = 1
    laterality: str | None = None
    view: str | None = None


@dataclass(frozen=True)
class EvidenceRow(NewEvidence):
    """One indexed object.

    Attributes:
        file_count: how many files it has; ``files`` may hold fewer, see ``items``.
        has_report: it is one, has a text, or one lies in its study or folder.
    """

    id: int = 0
    collection: str = ""
    added_utc: str = ""
    file_count: int = 0
    has_report: bool = False


@dataclass(frozen=True)
class Filters:
    """Which objects to list; None means any.

    Attributes:
        words: every blank-separated word must be in the path or the text.
        failures: ``"hide"``, ``"only"`` or ``"show"`` what could not be taken.
        report: True for objects with a report, False for those without.
        subject: token of a patient; its objects alone.
    """

    form: str | None = None
    modality: str | None = None
    kind: str | None = None
    words: str = ""
    failures: str = "hide"
    body_part: str | None = None
    report: bool | None = None
    subject: str | None = None


@dataclass(frozen=True)
class Facets:
    """What a collection's filters can offer: words with how many objects have them, by word."""

    modalities: tuple[tuple[str, int], ...] = ()
    body_parts: tuple[tuple[str, int], ...] = ()
