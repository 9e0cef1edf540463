"""The reader's evidence as rows of the library, and rows as items to search with.

Owns which facts are kept. Refuses to keep any that name a patient: the reader hands out salted
tokens only.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from db.collections import EvidenceRow, FileRow, NewEvidence
from db.indexing import UNREAD
from engine.errors import EvidenceError
from engine.evidence.item import ImageRef, Item, VolumeRef
from engine.evidence.study import Evidence
from studies.walk import printable

USABLE = ("image", "volume", "cine", "report")
DETAILS = ("color", "dtype", "window", "window_source", "display_inverted", "spacing_mm",
           "spacing_source", "orientation", "notes")  # fmt: skip
SAME_NAME = ("kind", "form", "modality", "subject", "text", "body_part", "study", "series", "day",
             "times", "laterality", "view")  # fmt: skip
UNKNOWN = "unknown file"
REASONS = {
    UNKNOWN: "not a kind of file that is read as evidence",
    "Media Storage Directory Storage": "the index of a disc; the files that it names are read",
}
FactsOf = Callable[[Path], tuple[int, int]]


def new_row(evidence: Evidence, *, facts: FactsOf) -> NewEvidence:
    """The reader's facts as plain values for the store.

    Args:
        evidence: what was read.
        facts: size and modification time of a member, or of the container it lies in.
    """
    code, message = _problem(evidence)
    details = {name: _plain(getattr(evidence, name)) for name in DETAILS}
    details["source"] = {key: _plain(value) for key, value in evidence.source.items()}
    members = evidence.members or (evidence.path,)
    plain = {name: _plain(getattr(evidence, name)) for name in SAME_NAME}
    return NewEvidence(
        path=evidence.path,
        shape=None if evidence.shape is None else tuple(map(int, evidence.shape)),
        warnings=evidence.warnings,
        files=tuple(FileRow(path, *facts(path)) for path in members),
        error_code=code,
        error_message=message,
        details=details,
        **plain,
    )


def _problem(evidence: Evidence) -> tuple[str | None, str | None]:
    """Code and sentence of what is left out, None for what can be searched with."""
    if evidence.error is not None:
        return evidence.error.code, evidence.error.reason
    if usable(evidence):
        return None, None
    known = evidence.source.get("object") != UNKNOWN
    return "no_picture" if known else "not_evidence", why_left_out(evidence)


def unread_row(path: str, reason: str) -> NewEvidence:
    """A folder that cannot be opened, or a file that cannot be named, as a row left out."""
    return NewEvidence(Path(path), (), "error", error_code=UNREAD, error_message=reason)


def usable(one: Evidence | EvidenceRow) -> bool:
    """True for what can be searched with: pictures, reports, and documents with words in them."""
    return one.kind in USABLE or (one.kind == "document" and bool(one.text))


def why_left_out(evidence: Evidence) -> str:
    """Why something is no evidence to search with."""
    if evidence.error is not None:
        return evidence.error.reason
    named = evidence.source.get("object") or evidence.kind
    return REASONS.get(named, f"{named}, without picture or report")


def _plain(value: Any) -> Any:
    """A value that SQLite and JSON can hold: no number of numpy, no half of a letter."""
    if isinstance(value, str):
        return value if value.isascii() else printable(value)
    if value is None or type(value) in (bool, int, float):
        return value
    if isinstance(value, tuple | list):
        return [_plain(one) for one in value]
    return value.item() if hasattr(value, "item") else value


def item_of_row(row: EvidenceRow) -> Item:
    """The item that stands for an indexed object in a search.

    Raises:
        EvidenceError: it has neither picture nor text.
    """
    if row.kind == "report" or (row.kind == "document" and row.text):
        return Item(text=row.text or "")
    if row.kind == "image" and (row.shape or (1,))[0] == 1:
        return Item(images=(ImageRef(first_file(row.files, row.path)),))
    if row.kind in ("image", "volume", "cine"):  # pictures of several pages are seen page by page
        members = tuple(file.path for file in row.files) or (row.path,)
        series = row.details.get("source", {}).get("format") == "DICOM" and len(members) > 1
        return Item(volumes=(VolumeRef(members, kind="series" if series else "file"),))
    raise EvidenceError(row.path, row.error_code or "no_picture", row.error_message or row.kind)


def first_file(files: Sequence[FileRow], path: Path) -> Path:
    """The file to open: the only member, else the path itself."""
    return files[0].path if files else path
