"""Writing evidence into a collection, and remembering which files need not be read again.

Owns short transactions in which new rows take the place of what was known of the same files.
Refuses to look at the disk: sizes and times are the caller's.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sqlalchemy import Connection, delete, func, insert, select, text, update

from db.clock import now_utc
from db.collections import EvidenceRow, NewEvidence, collection_id
from db.errors import StoreError
from db.schema import evidence, evidence_file, indexed_file
from db.session import Store

# Every value travels as one JSON list, so that SQLite's bound on values does not matter.
SAME_FILE = text(
    "DELETE FROM evidence WHERE collection_id = :home AND id IN (SELECT evidence_id"
    " FROM evidence_file WHERE path IN (SELECT value FROM json_each(:paths)))"
)
BELOW_FILE = text(
    "DELETE FROM evidence WHERE collection_id = :home AND id IN (SELECT f.evidence_id"
    " FROM json_each(:paths) g CROSS JOIN evidence_file f"
    " ON f.path > g.value || :first AND f.path < g.value || :past)"
)
SIBLINGS = text(
    "SELECT DISTINCT m.path FROM evidence_file m WHERE m.evidence_id IN (SELECT f.evidence_id"
    " FROM evidence_file f JOIN evidence e ON e.id = f.evidence_id"
    " WHERE e.collection_id = :home AND f.path IN (SELECT value FROM json_each(:paths)))"
)
SERIES = text(
    "SELECT e.series, f.path FROM json_each(:series) s"
    " CROSS JOIN json_each(:folders) d CROSS JOIN evidence e ON e.collection_id = :home"
    " AND e.folder = d.value AND e.series = s.value"
    " JOIN evidence_file f ON f.evidence_id = e.id"
)
KNOWN = text(
    "SELECT folder, name, size, mtime_ns FROM indexed_file WHERE collection_id = :home"
    " AND reader = :reader AND folder IN (SELECT value FROM json_each(:folders))"
)
UNREAD = "not_looked_at"  # the code of folders and names that a walk could not follow
FACTS = ("kind", "form", "modality", "subject", "text", "digest", "error_code", "error_message",
         "body_part", "study", "series", "day", "times", "laterality", "view")  # fmt: skip


@dataclass(frozen=True)
class IndexedFile:
    """A file on disk that was read to its end.

    Attributes:
        folder: where it lies.
        name: its name there.
        size: bytes.
        mtime_ns: modification time, nanoseconds.
    """

    folder: str
    name: str
    size: int
    mtime_ns: int


def add_evidence(
    store: Store,
    collection_name: str,
    rows: Sequence[NewEvidence],
    *,
    read: Iterable[str] | None = None,
    done: Sequence[IndexedFile] = (),
    gone: Sequence[IndexedFile] = (),
    reader: int = 0,
) -> tuple[int, ...]:
    """Index objects, in one transaction, in place of what was known of the same files.

    Args:
        store: the home's database.
        collection_name: the collection.
        rows: the objects.
        read: files whose former objects go, and those of their parts; the rows' own when None.
        done: files that need not be read again while they stay as they are.
        gone: files that are no longer there.
        reader: version of what reads; ``known_files`` answers for one version.

    Returns:
        The ids, in the order of ``rows``.

    Raises:
        StoreError: no such collection, or what SQLite refused.
    """
    with store.session() as connection:
        home = _home(connection, collection_name)
        own = (str(file.path) for row in rows for file in row.files)
        forgotten = {*(own if read is None else read)}
        forgotten |= {str(Path(file.folder, file.name)) for file in gone}
        _forget(connection, home, forgotten)
        _unmark(connection, home, gone)
        ids = _insert(connection, home, rows)
        _mark(connection, home, done, reader)
    return ids


def note_lost(store: Store, row: EvidenceRow, code: str, reason: str) -> bool:
    """Keep that the picture of an object cannot be had: it counts as left out from now on.

    Args:
        store: the home's database.
        row: the object as it was listed; one that was read again meanwhile is let alone.
        code: the reader's short word.
        reason: the reader's sentence.

    Returns:
        True if it was noted now.
    """
    same = (evidence.c.id == row.id, evidence.c.added_utc == row.added_utc)
    found = {"kind": "error", "form": None, "error_code": code, "error_message": reason}
    with store.session() as connection:
        done = connection.execute(
            update(evidence).where(*same, evidence.c.error_code.is_(None)).values(**found)
        )
    return bool(done.rowcount)


def note_unread(
    store: Store, collection_name: str, roots: Iterable[Path], rows: Sequence[NewEvidence]
) -> None:
    """Keep what a walk could not look at, in place of what an earlier one could not.

    Args:
        store: the home's database.
        collection_name: the collection.
        roots: the places that were walked.
        rows: without files, their ``error_code`` is ``UNREAD``.
    """
    with store.session() as connection:
        home = _home(connection, collection_name)
        ours = (evidence.c.collection_id == home, evidence.c.error_code == UNREAD)
        listed = connection.execute(select(evidence.c.id, evidence.c.path).where(*ours)).all()
        places = [Path(root) for root in roots]
        old = [row.id for row in listed if _below(Path(row.path), places)]
        for number in old:
            connection.execute(delete(evidence).where(evidence.c.id == number))
        _insert(connection, home, rows)


def _below(path: Path, places: Sequence[Path]) -> bool:
    return any(path.is_relative_to(place) for place in places)


def _home(connection: Connection, name: str) -> int:
    found = collection_id(connection, name)
    if found is None:
        raise StoreError(f"There is no collection {name!r}. Make it with triptych import.")
    return found


def _forget(connection: Connection, home: int, paths: Iterable[str]) -> None:
    """Remove the objects of files and of what lies in them: a series that grew is kept once."""
    listed = json.dumps(list(paths))
    connection.execute(SAME_FILE, {"home": home, "paths": listed})
    for mark in "/\\":  # a container's parts, as either system writes them
        bounds = {"first": mark, "past": chr(ord(mark) + 1)}
        connection.execute(BELOW_FILE, {"home": home, "paths": listed, **bounds})


def _insert(connection: Connection, home: int, rows: Sequence[NewEvidence]) -> tuple[int, ...]:
    if not rows:
        return ()
    # the write lock is held: nobody else takes a number meanwhile
    first = int(connection.execute(select(func.max(evidence.c.id))).scalar() or 0) + 1
    now, seen = now_utc(), set[tuple[str, str]]()
    values = [_values(row, home, number, now, seen) for number, row in enumerate(rows, start=first)]
    for row in rows:
        if not row.files:
            nameless = (evidence.c.path == str(row.path), evidence.c.series_key == "")
            connection.execute(delete(evidence).where(evidence.c.collection_id == home, *nameless))
    connection.execute(insert(evidence), values)
    files = [file for number, row in enumerate(rows, start=first) for file in _files(row, number)]
    if files:
        connection.execute(insert(evidence_file), files)
    return tuple(range(first, first + len(rows)))


def _values(
    row: NewEvidence, home: int, number: int, now: str, seen: set[tuple[str, str]]
) -> dict[str, Any]:
    path = str(row.path)
    first = row.files[0].path if row.files else row.path
    key = str(first) if row.files else ""
    while key and (path, key) in seen:  # two objects in one file
        key += "#"
    seen.add((path, key))
    facts = {name: getattr(row, name) for name in FACTS}
    return facts | {
        "id": number,
        "collection_id": home,
        "path": path,
        "series_key": key,
        "shape": None if row.shape is None else list(row.shape),
        "warnings": list(row.warnings) or None,
        "details": dict(row.details),
        "folder": str(first.parent),
        "file_count": len(row.files),
        "added_utc": now,
    }


def _files(row: NewEvidence, number: int) -> Iterable[dict[str, Any]]:
    for position, file in enumerate(row.files):
        yield {
            "evidence_id": number,
            "position": position,
            "path": str(file.path),
            "size": file.size,
            "mtime_ns": file.mtime_ns,
        }


def _mark(connection: Connection, home: int, done: Sequence[IndexedFile], reader: int) -> None:
    if done:
        rows = [{"collection_id": home, "reader": reader, **vars(file)} for file in done]
        connection.execute(insert(indexed_file).prefix_with("OR REPLACE"), rows)


def _unmark(connection: Connection, home: int, gone: Sequence[IndexedFile]) -> None:
    for file in gone:
        place = (indexed_file.c.folder == file.folder, indexed_file.c.name == file.name)
        ours = indexed_file.c.collection_id == home
        connection.execute(delete(indexed_file).where(ours, *place))


def known_files(
    store: Store, collection_name: str, folders: Iterable[str], *, reader: int = 0
) -> dict[str, dict[str, tuple[int, int]]]:
    """Files of these folders that were read to their end: folder to name to (size, mtime_ns)."""
    asked = {"reader": reader, "folders": json.dumps(list(folders))}
    found: dict[str, dict[str, tuple[int, int]]] = {}
    with store.reading() as connection:
        home = collection_id(connection, collection_name)
        for folder, name, size, mtime_ns in connection.execute(KNOWN, {"home": home, **asked}):
            found.setdefault(folder, {})[name] = (size, mtime_ns)
    return found


def siblings(store: Store, collection_name: str, paths: Iterable[str]) -> set[str]:
    """Every file of the objects that have one of these files."""
    with store.reading() as connection:
        home = collection_id(connection, collection_name)
        asked = {"home": home, "paths": json.dumps(list(paths))}
        return set(connection.execute(SIBLINGS, asked).scalars())


def series_files(
    store: Store, collection_name: str, folders: Iterable[str], tokens: Iterable[str]
) -> Mapping[str, set[str]]:
    """The files of series that are indexed from some folders, by the token of the series."""
    found: dict[str, set[str]] = {}
    with store.reading() as connection:
        home = collection_id(connection, collection_name)
        asked = {"folders": json.dumps(list(folders)), "series": json.dumps(list(tokens))}
        for token, path in connection.execute(SERIES, {"home": home, **asked}):
            found.setdefault(token, set()).add(path)
    return found
