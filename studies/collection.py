"""Evidence into a collection: folder by folder, resumable, with what was left out and why.

A folder whose files are all known and unchanged is not read again. Nothing that names a patient
is kept: only the reader's salted pseudonym.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from db.collections import (
    EvidenceRow,
    FileRow,
    NewEvidence,
    add_collection,
    add_evidence,
    file_rows,
    known_files,
    salt,
)
from db.home import Home
from db.session import Store, open_store
from engine.control import Control
from engine.errors import EvidenceError
from engine.evidence.item import ImageRef, Item, VolumeRef
from engine.evidence.open import find_evidence
from engine.evidence.study import Evidence

USABLE = ("image", "volume", "cine", "report")
DETAILS = ("color", "dtype", "window", "window_source", "display_inverted", "spacing_mm",
           "spacing_source", "orientation", "notes", "body_part", "times")  # fmt: skip


@dataclass
class Taken:
    """What an import did."""

    added: int = 0
    unchanged: int = 0
    left_out: list[dict[str, str]] = field(default_factory=list)


def import_job(home: Home, arguments: dict[str, Any], control: Control) -> dict[str, Any]:
    """Index ``arguments["paths"]`` into ``arguments["collection"]``."""
    name = str(arguments["collection"]).strip() or "Collection"
    roots = [Path(path) for path in arguments["paths"]]
    with open_store(home) as store:
        taken = import_paths(store, roots, name, control)
    return {
        "collection": name,
        "added": taken.added,
        "unchanged": taken.unchanged,
        "left_out": taken.left_out,
        "saved": ("collection",),
    }


def import_paths(store: Store, roots: Sequence[Path], name: str, control: Control) -> Taken:
    """Index everything below the roots; what is stored already is not read again."""
    add_collection(store, name)
    known = known_files(store, name)
    secret = salt(store)
    groups = list(by_folder(roots))
    control.begin(sum(len(files) for files in groups), unit="files", phase="reading evidence")
    taken = Taken()
    for files in groups:
        control.check()
        rows = file_rows(files)
        if all(known.get(row.path) == (row.size, row.mtime_ns) for row in rows):
            taken.unchanged += len(files)
        else:
            _take(store, name, files, secret, taken)
        control.step(len(files))
    return taken


def by_folder(roots: Iterable[Path]) -> Iterator[list[Path]]:
    """Files below the roots, grouped by folder, hidden files left alone, in stable order."""
    for root in roots:
        if not root.is_dir():
            yield [root]
            continue
        for folder, folders, names in os.walk(root):
            folders[:] = sorted(name for name in folders if not name.startswith("."))
            files = [Path(folder) / name for name in sorted(names) if not name.startswith(".")]
            if files:
                yield files


def _take(store: Store, name: str, files: list[Path], secret: bytes, taken: Taken) -> None:
    """Read one folder's files and store what they are, in one short transaction."""
    rows = []
    for evidence in find_evidence(files, salt=secret):
        rows.append(new_row(evidence))
        if evidence.kind in USABLE:
            taken.added += 1
        else:
            taken.left_out.append({"path": str(evidence.path), "reason": why_left_out(evidence)})
    rows += _unread(files, rows)
    if rows:
        add_evidence(store, name, rows)


def _unread(files: list[Path], rows: list[NewEvidence]) -> list[NewEvidence]:
    """Files that became no evidence of their own (a raw file beside its header), kept as known."""
    seen = {file.path for row in rows for file in row.files}
    rest = [path for path in files if path not in seen]
    return [
        NewEvidence(path=path, files=file_rows([path]), kind="other", details={"companion": True})
        for path in rest
    ]


def why_left_out(evidence: Evidence) -> str:
    """Why something is no evidence to search with."""
    if evidence.error is not None:
        return evidence.error.reason
    return f"a {evidence.source.get('object') or evidence.kind}, without picture or report"


def new_row(evidence: Evidence) -> NewEvidence:
    """The reader's facts as plain values for the store."""
    error = evidence.error
    details = {name: _plain(getattr(evidence, name)) for name in DETAILS}
    details["source"] = dict(evidence.source)
    return NewEvidence(
        path=evidence.path,
        files=file_rows(evidence.members or (evidence.path,)),
        kind=evidence.kind,
        form=evidence.form,
        modality=evidence.modality,
        shape=evidence.shape,
        subject=evidence.subject,
        text=evidence.text,
        error_code=error.code if error else None,
        error_message=error.reason if error else None,
        details=details,
    )


def _plain(value: Any) -> Any:
    return list(value) if isinstance(value, tuple) else value


def item_of_row(row: EvidenceRow) -> Item:
    """The item that stands for an indexed object in a search.

    Raises:
        EvidenceError: it has neither picture nor text.
    """
    if row.kind == "report":
        return Item(text=row.text or "")
    if row.kind == "image":
        return Item(images=(ImageRef(first_file(row.files, row.path)),))
    if row.kind in ("volume", "cine"):
        members = tuple(file.path for file in row.files) or (row.path,)
        series = row.details.get("source", {}).get("format") == "DICOM" and len(members) > 1
        return Item(volumes=(VolumeRef(members, kind="series" if series else "file"),))
    raise EvidenceError(row.path, row.error_code or "no_picture", row.error_message or row.kind)


def first_file(files: Sequence[FileRow], path: Path) -> Path:
    """The file to open: the only member, else the path itself."""
    return files[0].path if files else path
