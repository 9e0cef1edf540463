"""Collections of evidence: what was indexed, listed and filtered. Frozen rows out.

Refuses to write evidence (``db.indexing`` does), to read a file's content or to decide what it is.
"""

from __future__ import annotations

import secrets
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from sqlalchemy import (
    ColumnElement,
    Connection,
    Select,
    and_,
    delete,
    exists,
    func,
    insert,
    literal_column,
    or_,
)
from sqlalchemy import select as select_rows

from db.clock import now_utc
from db.collection_rows import (
    CollectionRow,
    EvidenceRow,
    Facets,
    FileRow,
    Filters,
    NewEvidence,
)
from db.schema import collection, evidence, evidence_file, meta
from db.session import Store

__all__ = [
    "CollectionRow", "EvidenceRow", "Facets", "FileRow", "Filters", "NewEvidence",
    "add_collection", "collection_id", "collections", "count_items", "facets", "file_rows", "item",
    "items", "patient_counts", "related", "remove_collection", "report_of", "salt", "with_report",
]  # fmt: skip
IN_ONE_QUERY = 1000  # SQLite bounds the values of one query


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
        found = connection.execute(select_rows(meta.c.value).where(meta.c.key == "salt")).scalar()
        if found is None:
            found = secrets.token_hex(32)
            connection.execute(insert(meta).values(key="salt", value=found))
    return bytes.fromhex(found)


def add_collection(store: Store, name: str) -> CollectionRow:
    """The collection of that name, made if missing."""
    with store.session() as connection:
        if collection_id(connection, name) is None:
            connection.execute(insert(collection).values(name=name, created_utc=now_utc()))
    return next(row for row in collections(store) if row.name == name)


def collections(store: Store) -> tuple[CollectionRow, ...]:
    """Every collection, by name."""
    failed = func.count(evidence.c.error_code)
    query = (
        select_rows(collection, func.count(evidence.c.id).label("rows"), failed.label("failed"))
        .join_from(collection, evidence, isouter=True)
        .group_by(collection.c.id)
        .order_by(collection.c.name)
    )
    with store.reading() as connection:
        found = connection.execute(query).all()
    return tuple(
        CollectionRow(r.id, r.name, r.created_utc, r.rows - r.failed, r.failed) for r in found
    )


def remove_collection(store: Store, name: str) -> None:
    """Forget a collection; the files themselves stay."""
    with store.session() as connection:
        connection.execute(delete(collection).where(collection.c.name == name))


def items(
    store: Store,
    collection_name: str,
    *,
    offset: int = 0,
    limit: int = 200,
    filters: Filters | None = None,
    files: str = "all",
) -> tuple[EvidenceRow, ...]:
    """One page of a collection, in the order of indexing; what was left out comes last.

    Args:
        store: the home's database.
        collection_name: the collection.
        offset: rows to leave out before.
        limit: most rows.
        filters: which objects.
        files: ``"all"``, or ``"middle"`` for the middle file of each alone (a thumbnail's),
            since a page of series has tens of thousands of files.
    """
    wanted = filters or Filters()
    order: tuple[ColumnElement[Any], ...] = (evidence.c.id,)
    if wanted.failures == "show":
        order = (evidence.c.error_code.is_not(None), evidence.c.id)
    page = _filtered(select_rows(evidence.c.id), collection_name, wanted)
    page = page.order_by(*order).offset(offset).limit(limit)
    query = select_rows(evidence, with_report().label("has_report"))
    query = query.where(evidence.c.id.in_(page)).order_by(*order)
    with store.reading() as connection:
        return _whole(connection, query, files=files)


def item(store: Store, evidence_id: int) -> EvidenceRow | None:
    """One indexed object by its id."""
    query = select_rows(evidence, with_report().label("has_report"))
    with store.reading() as connection:
        found = _whole(connection, query.where(evidence.c.id == evidence_id), files="all")
    return found[0] if found else None


def related(store: Store, evidence_id: int, *, limit: int = 500) -> tuple[EvidenceRow, ...]:
    """The other objects of the same patient or study in the collection, by salted token.

    Returns:
        Rows with their middle file; those of the same study first, then by day.
    """
    one = item(store, evidence_id)
    if one is None or (one.subject is None and one.study is None):
        return ()
    same_study = evidence.c.study == one.study
    query = (
        _filtered(select_rows(evidence, with_report().label("has_report")), one.collection,
                  Filters())
        .where(evidence.c.id != one.id, or_(evidence.c.subject == one.subject, same_study))
        .order_by(func.coalesce(same_study, 0).desc(), evidence.c.day, evidence.c.id)
        .limit(limit)
    )  # fmt: skip
    with store.reading() as connection:
        return _whole(connection, query, files="middle")


def report_of(store: Store, evidence_id: int) -> EvidenceRow | None:
    """The text that belongs to a picture: of its study, else alone beside it in its folder."""
    me = evidence.alias("me")
    same_study = evidence.c.study == me.c.study
    beside = and_(
        evidence.c.folder == me.c.folder, or_(evidence.c.study.is_(None), me.c.study.is_(None))
    )
    query = (
        select_rows(evidence, with_report().label("has_report"), same_study.label("sure"))
        .join(me, me.c.collection_id == evidence.c.collection_id)
        .where(me.c.id == evidence_id, evidence.c.id != evidence_id)
        .where(evidence.c.text != literal_column("''"), or_(same_study, beside))
        .order_by(func.coalesce(same_study, 0).desc(), evidence.c.id)
        .limit(2)
    )
    with store.reading() as connection:
        found = connection.execute(query).all()
        if not found or not (found[0].sure or len(found) == 1):
            return None
        return _whole(connection, query, files="middle")[0]


def patient_counts(
    store: Store, collection_name: str, subjects: Iterable[str | None]
) -> dict[str, int]:
    """How many objects of the collection each of these patients has."""
    wanted = sorted({subject for subject in subjects if subject})
    counts: dict[str, int] = {}
    with store.reading() as connection:
        for start in range(0, len(wanted), IN_ONE_QUERY):
            part = wanted[start : start + IN_ONE_QUERY]
            query = _filtered(
                select_rows(evidence.c.subject, func.count()), collection_name, Filters()
            ).where(evidence.c.subject.in_(part))
            grouped = query.group_by(evidence.c.subject)
            counts.update({key: int(count) for key, count in connection.execute(grouped)})
    return counts


def count_items(store: Store, collection_name: str, *, filters: Filters | None = None) -> int:
    """How many objects ``items`` would list in all."""
    counted = select_rows(func.count(evidence.c.id))
    query = _filtered(counted, collection_name, filters or Filters())
    with store.reading() as connection:
        return int(connection.execute(query).scalar() or 0)


def facets(store: Store, collection_name: str) -> Facets:
    """The modalities and body parts that a collection holds."""
    found = []
    with store.reading() as connection:
        for column in (evidence.c.modality, evidence.c.body_part):
            query = _filtered(select_rows(column, func.count()), collection_name, Filters())
            query = query.where(column.is_not(None), column != "")
            grouped = query.group_by(column).order_by(column)
            found.append(tuple((word, int(count)) for word, count in connection.execute(grouped)))
    return Facets(*found)


def with_report() -> ColumnElement[bool]:
    """Whether an object has a report: its own text, or one in its study or beside it.

    A text in the same folder counts unless both name their studies, and differ.
    """
    other = evidence.alias("report")
    empty: ColumnElement[str] = literal_column(
        "''"
    )  # written out: a partial index holds the texts, and only then fits
    told = and_(other.c.collection_id == evidence.c.collection_id, other.c.text != empty)
    beside = other.c.folder == evidence.c.folder
    return or_(
        func.coalesce(evidence.c.text, "") != "",
        exists().where(told, other.c.study == evidence.c.study),
        exists().where(told, beside, other.c.study.is_(None)),
        and_(evidence.c.study.is_(None), exists().where(told, beside)),
    )


def _filtered(query: Select[Any], collection_name: str, filters: Filters) -> Select[Any]:
    home = select_rows(collection.c.id).where(collection.c.name == collection_name)
    query = query.where(evidence.c.collection_id == home.scalar_subquery())
    for name in ("form", "modality", "kind", "body_part", "subject"):
        wanted = getattr(filters, name)
        if wanted is not None:
            query = query.where(evidence.c[name] == wanted)
    if filters.failures != "show":
        lost = evidence.c.error_code
        query = query.where(lost.is_(None) if filters.failures == "hide" else lost.is_not(None))
    if filters.report is not None:
        query = query.where(with_report() if filters.report else ~with_report())
    for word in filters.words.split():
        searched = evidence.c.path + " " + func.coalesce(evidence.c.text, "")
        query = query.where(searched.icontains(word, autoescape=True))
    return query


def collection_id(connection: Connection, name: str) -> int | None:
    """The number of a collection, None if there is none of that name."""
    query = select_rows(collection.c.id).where(collection.c.name == name)
    return connection.execute(query).scalar()


def _whole(connection: Connection, query: Select[Any], *, files: str) -> tuple[EvidenceRow, ...]:
    """The rows of a query with their files and the names of their collections."""
    found = connection.execute(query).all()
    listed = connection.execute(select_rows(collection.c.id, collection.c.name))
    names = {place.id: place.name for place in listed}
    members = _files_of(connection, [row.id for row in found], files=files)
    return tuple(
        _evidence_row(row, members.get(row.id, ()), names[row.collection_id]) for row in found
    )


def _files_of(
    connection: Connection, ids: Sequence[int], *, files: str
) -> dict[int, tuple[FileRow, ...]]:
    found: dict[int, list[FileRow]] = {}
    for start in range(0, len(ids), IN_ONE_QUERY):
        member = evidence_file.c.evidence_id.in_(ids[start : start + IN_ONE_QUERY])
        query = select_rows(evidence_file).where(member)
        if files == "middle":
            middle = evidence_file.c.position == evidence.c.file_count // 2
            query = query.join(evidence, evidence.c.id == evidence_file.c.evidence_id).where(middle)
        ordered = query.order_by(evidence_file.c.evidence_id, evidence_file.c.position)
        for row in connection.execute(ordered):
            file = FileRow(Path(row.path), row.size, row.mtime_ns)
            found.setdefault(row.evidence_id, []).append(file)
    return {key: tuple(rows) for key, rows in found.items()}


SAME_NAME = ("kind", "form", "modality", "subject", "text", "digest", "error_code",
             "error_message", "details", "body_part", "study", "series", "day", "times",
             "laterality", "view", "id", "added_utc", "file_count")  # fmt: skip


def _evidence_row(row: Any, files: tuple[FileRow, ...], collection_name: str) -> EvidenceRow:
    return EvidenceRow(
        path=Path(row.path),
        files=files,
        collection=collection_name,
        shape=None if row.shape is None else tuple(row.shape),
        warnings=tuple(row.warnings or ()),
        has_report=bool(row.has_report),
        **{name: getattr(row, name) for name in SAME_NAME},
    )
