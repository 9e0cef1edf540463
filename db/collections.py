"""Collections of evidence: what was indexed, from which files. Plain values in, frozen rows out.

Refuses to read a file's content or to decide what it is; the caller describes it.
"""

from __future__ import annotations

import secrets
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from sqlalchemy import Connection, Select, delete, func, insert, select

from db.clock import now_utc
from db.errors import StoreError
from db.schema import collection, evidence, evidence_file, meta
from db.session import Store

IN_ONE_QUERY = 1000  # SQLite bounds the values of one query


@dataclass(frozen=True)
class FileRow:
    """One file as it was when it was read.

    Attributes:
        path: the file.
        size: bytes.
        mtime_ns: modification time, nanoseconds.
    """

    path: Path
    size: int
    mtime_ns: int


@dataclass(frozen=True)
class CollectionRow:
    """A collection with its size.

    Attributes:
        count: objects that can be read.
        failures: objects that could not, kept with their reason.
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
        error_code: the reader's short word when kind is ``error``.
        error_message: the reader's sentence.
        details: whatever else the reader says, JSON values only.
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


@dataclass(frozen=True)
class EvidenceRow(NewEvidence):
    """One indexed object."""

    id: int = 0
    collection: str = ""
    added_utc: str = ""


@dataclass(frozen=True)
class Filters:
    """Which objects to list; None means any.

    Attributes:
        words: every blank-separated word must be in the path or the text.
        failures: ``"hide"``, ``"only"`` or ``"show"``.
    """

    form: str | None = None
    modality: str | None = None
    kind: str | None = None
    words: str = ""
    failures: str = "hide"


def file_rows(paths: Iterable[Path]) -> tuple[FileRow, ...]:
    """Size and time of files as they are now; a file that is gone counts as empty."""
    rows = []
    for path in paths:
        try:
            stat = path.stat()
        except OSError:
            rows.append(FileRow(path, 0, 0))
        else:
            rows.append(FileRow(path, stat.st_size, stat.st_mtime_ns))
    return tuple(rows)


def salt(store: Store) -> bytes:
    """The secret salt of this home for pseudonyms, made on first use; 32 bytes."""
    with store.session() as connection:
        found = connection.execute(select(meta.c.value).where(meta.c.key == "salt")).scalar()
        if found is None:
            found = secrets.token_hex(32)
            connection.execute(insert(meta).values(key="salt", value=found))
    return bytes.fromhex(found)


def add_collection(store: Store, name: str) -> CollectionRow:
    """The collection of that name, made if missing."""
    with store.session() as connection:
        if _collection_id(connection, name) is None:
            connection.execute(insert(collection).values(name=name, created_utc=now_utc()))
    return next(row for row in collections(store) if row.name == name)


def collections(store: Store) -> tuple[CollectionRow, ...]:
    """Every collection, by name."""
    failed = func.coalesce(func.sum(evidence.c.kind == "error"), 0)
    query = (
        select(collection, func.count(evidence.c.id).label("rows"), failed.label("failed"))
        .join_from(collection, evidence, isouter=True)
        .group_by(collection.c.id)
        .order_by(collection.c.name)
    )
    with store.reading() as connection:
        found = connection.execute(query).all()
    return tuple(
        CollectionRow(r.id, r.name, r.created_utc, r.rows - int(r.failed), int(r.failed))
        for r in found
    )


def remove_collection(store: Store, name: str) -> None:
    """Forget a collection; the files themselves stay."""
    with store.session() as connection:
        connection.execute(delete(collection).where(collection.c.name == name))


def add_evidence(
    store: Store, collection_name: str, rows: Sequence[NewEvidence]
) -> tuple[int, ...]:
    """Index objects, in one transaction, in place of what was known to begin with their files.

    Returns:
        The ids, in the order of ``rows``.

    Raises:
        StoreError: no such collection, or what SQLite refused.
    """
    with store.session() as connection:
        home = _collection_id(connection, collection_name)
        if home is None:
            raise StoreError(
                f"There is no collection {collection_name!r}. Make it with triptych import."
            )
        _forget(connection, home, [file.path for row in rows for file in row.files])
        return tuple(_add_one(connection, home, row) for row in rows)


def _forget(connection: Connection, home: int, files: Sequence[Path]) -> None:
    """Remove objects that begin with one of the files: a series that grew is not kept twice."""
    for start in range(0, len(files), IN_ONE_QUERY):
        part = files[start : start + IN_ONE_QUERY]
        keys = [str(path) for path in part]
        paths = {*keys, *(str(path.parent) for path in part)}  # an object is a file or a folder
        connection.execute(
            delete(evidence).where(
                evidence.c.collection_id == home,
                evidence.c.path.in_(paths),
                evidence.c.series_key.in_(keys),
            )
        )


def _add_one(connection: Connection, home: int, row: NewEvidence) -> int:
    key = str(row.files[0].path) if row.files else ""
    place = (
        evidence.c.collection_id == home,
        evidence.c.path == str(row.path),
        evidence.c.series_key == key,
    )
    connection.execute(delete(evidence).where(*place))
    values = {
        name: getattr(row, name)
        for name in ("kind", "form", "modality", "subject", "text", "digest")
    }
    made = connection.execute(
        insert(evidence).values(
            **values,
            collection_id=home,
            path=str(row.path),
            series_key=key,
            shape=None if row.shape is None else list(row.shape),
            error_code=row.error_code,
            error_message=row.error_message,
            details=dict(row.details),
            added_utc=now_utc(),
        )
    )
    assert made.inserted_primary_key is not None
    new_id = int(made.inserted_primary_key[0])
    files = [
        {
            "evidence_id": new_id,
            "position": position,
            "path": str(file.path),
            "size": file.size,
            "mtime_ns": file.mtime_ns,
        }
        for position, file in enumerate(row.files)
    ]
    if files:
        connection.execute(insert(evidence_file), files)
    return new_id


def known_files(store: Store, collection_name: str) -> dict[Path, tuple[int, int]]:
    """Every file already indexed there: path to (size, mtime_ns); for resuming an import."""
    query = (
        select(evidence_file.c.path, evidence_file.c.size, evidence_file.c.mtime_ns)
        .join_from(evidence_file, evidence)
        .join(collection)
        .where(collection.c.name == collection_name)
    )
    with store.reading() as connection:
        return {Path(p): (size, mtime) for p, size, mtime in connection.execute(query)}


def known(store: Store, collection_name: str, path: Path, size: int, mtime_ns: int) -> bool:
    """Whether that file, unchanged, is indexed there already."""
    query = (
        select(func.count())
        .select_from(evidence_file)
        .join(evidence)
        .join(collection)
        .where(
            collection.c.name == collection_name,
            evidence_file.c.path == str(path),
            evidence_file.c.size == size,
            evidence_file.c.mtime_ns == mtime_ns,
        )
    )
    with store.reading() as connection:
        return bool(connection.execute(query).scalar())


def items(
    store: Store,
    collection_name: str,
    *,
    offset: int = 0,
    limit: int = 200,
    filters: Filters | None = None,
) -> tuple[EvidenceRow, ...]:
    """One page of a collection, in the order of indexing."""
    query = _filtered(select(evidence), collection_name, filters or Filters())
    query = query.order_by(evidence.c.id).offset(offset).limit(limit)
    with store.reading() as connection:
        found = connection.execute(query).all()
        files = _files_of(connection, [row.id for row in found])
    return tuple(_evidence_row(row, files.get(row.id, ()), collection_name) for row in found)


def item(store: Store, evidence_id: int) -> EvidenceRow | None:
    """One indexed object by its id."""
    query = (
        select(evidence, collection.c.name.label("collection"))
        .join_from(evidence, collection)
        .where(evidence.c.id == evidence_id)
    )
    with store.reading() as connection:
        row = connection.execute(query).one_or_none()
        files = _files_of(connection, [evidence_id])
    return None if row is None else _evidence_row(row, files.get(row.id, ()), row.collection)


def count_items(store: Store, collection_name: str, *, filters: Filters | None = None) -> int:
    """How many objects ``items`` would list in all."""
    query = _filtered(select(func.count(evidence.c.id)), collection_name, filters or Filters())
    with store.reading() as connection:
        return int(connection.execute(query).scalar() or 0)


def _filtered(query: Select[Any], collection_name: str, filters: Filters) -> Select[Any]:
    query = query.select_from(evidence).join(collection).where(collection.c.name == collection_name)
    for name in ("form", "modality", "kind"):
        wanted = getattr(filters, name)
        if wanted is not None:
            query = query.where(evidence.c[name] == wanted)
    if filters.failures == "hide":
        query = query.where(evidence.c.kind != "error")
    elif filters.failures == "only":
        query = query.where(evidence.c.kind == "error")
    for word in filters.words.split():
        searched = evidence.c.path + " " + func.coalesce(evidence.c.text, "")
        query = query.where(searched.icontains(word, autoescape=True))
    return query


def _collection_id(connection: Connection, name: str) -> int | None:
    return connection.execute(select(collection.c.id).where(collection.c.name == name)).scalar()


def _files_of(connection: Connection, ids: Sequence[int]) -> dict[int, tuple[FileRow, ...]]:
    query = (
        select(evidence_file)
        .where(evidence_file.c.evidence_id.in_(ids))
        .order_by(evidence_file.c.evidence_id, evidence_file.c.position)
    )
    found: dict[int, list[FileRow]] = {}
    for row in connection.execute(query):
        found.setdefault(row.evidence_id, []).append(
            FileRow(Path(row.path), row.size, row.mtime_ns)
        )
    return {key: tuple(files) for key, files in found.items()}


def _evidence_row(row: Any, files: tuple[FileRow, ...], collection_name: str) -> EvidenceRow:
    return EvidenceRow(
        id=row.id,
        collection=collection_name,
        added_utc=row.added_utc,
        path=Path(row.path),
        files=files,
        kind=row.kind,
        form=row.form,
        modality=row.modality,
        shape=None if row.shape is None else tuple(row.shape),
        subject=row.subject,
        text=row.text,
        digest=row.digest,
        error_code=row.error_code,
        error_message=row.error_message,
        details=row.details,
    )
