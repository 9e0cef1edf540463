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
from engine.evidence.open import IGNORED, find_evidence
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
    name = _text(str(arguments["collection"])).strip() or "Collection"
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
    taken = Taken()
    groups = [_nameable(files, taken) for files in by_folder(roots, closed=taken.left_out)]
    control.begin(sum(len(files) for files in groups), unit="files", phase="reading evidence")
    for files in filter(None, groups):
        control.check()
        rows = file_rows(files)
        if all(known.get(row.path) == (row.size, row.mtime_ns) for row in rows):
            taken.unchanged += len(files)
        else:
            part = Part(control)
            _take(store, name, files, secret, taken, part)
            files = files[part.steps :]  # data files beside a header were not looked at
        control.step(len(files))
    return taken


def by_folder(
    roots: Iterable[Path], *, closed: list[dict[str, str]] | None = None
) -> Iterator[list[Path]]:
    """Files below the roots, grouped by folder, hidden files left alone, in stable order.

    Args:
        roots: files and folders; files named one by one are one group, since they may be a series.
        closed: gets a row for every folder that cannot be opened.
    """
    places = list(roots)
    trees = [root for root in places if _is_folder(root)]
    named = [root for root in places if not _is_folder(root)]
    if named:
        yield named

    def note(error: OSError) -> None:
        if closed is not None:
            reason = "the folder cannot be opened; check its rights"
            closed.append({"path": printable(Path(error.filename)), "reason": reason})

    for root in trees:
        for folder, folders, names in os.walk(root, onerror=note):
            folders[:] = sorted(name for name in folders if not name.startswith("."))
            files = [Path(folder) / name for name in sorted(names) if not _hidden(name)]
            if files:
                yield files


def _is_folder(path: Path) -> bool:
    try:
        return path.is_dir()
    except OSError:  # looking is not allowed, or no path is that long; the reader says which
        return False


def _hidden(name: str) -> bool:
    return name.startswith(".") or name.lower() in IGNORED


def printable(path: Path) -> str:
    """A path with ``?`` for bytes that are no text."""
    return _text(str(path))


def _text(words: str) -> str:
    return words.encode("utf-8", "replace").decode("utf-8")


def _nameable(files: list[Path], taken: Taken) -> list[Path]:
    """The files whose names are text; a database holds no other."""
    reason = "its name is no text in UTF-8; rename it, or the folder that is written so"
    odd = [path for path in files if printable(path) != str(path)]
    taken.left_out += [{"path": printable(path), "reason": reason} for path in odd]
    return [path for path in files if path not in odd] if odd else files


class Part(Control):
    """One folder of an import: its steps are the whole's, and so is the wish to stop.

    Args:
        whole: told each file.
    """

    def __init__(self, whole: Control) -> None:
        super().__init__()
        self._whole = whole
        self.steps = 0

    def check(self) -> None:
        """Raise ``Cancelled`` if the user asked to stop."""
        self._whole.check()

    def step(self, count: int = 1) -> None:
        """Pass files on."""
        self.steps += count
        self._whole.step(count)


def _take(
    store: Store, name: str, files: list[Path], secret: bytes, taken: Taken, control: Control
) -> None:
    """Read one folder's files and store what they are, in one short transaction."""
    rows = []
    for evidence in find_evidence(files, salt=secret, control=control):
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
