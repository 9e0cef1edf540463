"""What a study file shows: items, media, raters and the order each of them reads in.

Everything here is written once and never changed; the file itself refuses (triggers).
Refuses to know a model, a gold answer or a stratum: there is no column for them.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence, Set
from dataclasses import asdict, dataclass
from typing import Any

from sqlalchemy import Connection, func, insert, select
from sqlalchemy.exc import IntegrityError

from db.chain import append, refuse_if_unblinded
from db.clock import now_utc
from db.errors import RatingRefused, StoreDamaged
from db.schema import head, item, medium, presentation, rater, session, study
from db.session import Store


@dataclass(frozen=True)
class StudyRow:
    """The frozen frame of a study.

    Attributes:
        study_id: opaque.
        order_seed: seed of the raters' item orders, as text.
        settings: what else was frozen, JSON values only.
        sealed_sha256: hash of the sealed key's bytes.
        commitment: hash of the key's plain text, which begins with random bytes.
        hash: SHA-256 of everything frozen.
    """

    study_id: str
    title: str
    created_utc: str
    software: str
    order_seed: str
    settings: Mapping[str, Any]
    sealed_sha256: str
    commitment: str
    hash: str


@dataclass(frozen=True)
class ItemRow:
    """One comparison as it is shown.

    Attributes:
        item_id: opaque.
        kind: ``item``, ``warmup`` or ``auto_tie`` (recorded, never shown).
        block: items of one block are read together (``2d``, ``3d``, ``text``).
        prompt: the task in the reader's words.
        query: a panel as JSON: kind, media ids, text.
        left: three panels.
        right: three panels.
    """

    item_id: str
    kind: str
    block: str
    prompt: str
    query: Mapping[str, Any]
    left: tuple[Mapping[str, Any], ...]
    right: tuple[Mapping[str, Any], ...]


@dataclass(frozen=True)
class MediumRow:
    """One picture or volume.

    Attributes:
        key: random number; its order says nothing.
        media_id: random name.
        coding: ``png`` or ``zlib`` (raw bytes, compressed).
        shape: of the decoded array.
        sha256: of ``content``.
        content: the encoded pixels; empty where only the index was asked for.
    """

    key: int
    media_id: str
    coding: str
    shape: tuple[int, ...]
    sha256: str
    content: bytes


@dataclass(frozen=True)
class RaterRow:
    """A rater's profile; all but the name may be left out."""

    name: str
    specialty: str | None = None
    years: int | None = None
    modalities: str | None = None
    display: str | None = None


@dataclass(frozen=True)
class PresentationRow:
    """One place in a rater's order.

    Attributes:
        position: from 1.
        kind: ``item``, ``warmup`` or ``repeat``.
        swapped: sides are exchanged (repeats).
    """

    rater: str
    position: int
    item_id: str
    kind: str
    swapped: bool


def add_medium(store: Store, row: MediumRow) -> None:
    """Write one medium."""
    with store.session() as connection:
        connection.execute(insert(medium).values({**asdict(row), "shape": list(row.shape)}))


def add_media(store: Store, rows: Sequence[MediumRow]) -> None:
    """Write several media in one transaction: all of them or none."""
    values = [{**vars(row), "shape": list(row.shape)} for row in rows]
    if values:
        with store.session() as connection:
            connection.execute(insert(medium), values)


def freeze(store: Store, row: StudyRow, rows: Sequence[ItemRow]) -> None:
    """Write items and frame in one transaction; from here on only the log grows."""
    with store.session() as connection:
        values = [{**asdict(r), "left": list(r.left), "right": list(r.right)} for r in rows]
        if values:
            connection.execute(insert(item), values)
        connection.execute(insert(study).values(one=1, **asdict(row)))
        connection.execute(insert(head).values(one=1, entries=0, hash=row.hash))


def study_row(store: Store) -> StudyRow:
    """The frame of the study.

    Raises:
        StoreDamaged: the file holds no frozen study.
    """
    with store.reading() as connection:
        row = connection.execute(select(study)).mappings().one_or_none()
    if row is None:
        raise StoreDamaged(
            f"{store.location} holds no finished study. Build it again; a build was cut short."
        )
    return StudyRow(**{name: row[name] for name in StudyRow.__dataclass_fields__})


def frozen_hash(store: Store) -> str | None:
    """The hash of the study in a store, None before one is finished there."""
    with store.reading() as connection:
        return connection.execute(select(study.c.hash)).scalar()


def items(store: Store) -> tuple[ItemRow, ...]:
    """Every item, by id."""
    with store.reading() as connection:
        found = connection.execute(select(item).order_by(item.c.item_id)).all()
    return tuple(_item(row) for row in found)


def blocks(store: Store) -> dict[str, str]:
    """The block of every item, by id."""
    with store.reading() as connection:
        return {row[0]: row[1] for row in connection.execute(select(item.c.item_id, item.c.block))}


def item_row(store: Store, item_id: str) -> ItemRow:
    """One item.

    Raises:
        RatingRefused: no such item.
    """
    with store.reading() as connection:
        row = connection.execute(select(item).where(item.c.item_id == item_id)).one_or_none()
    if row is None:
        raise RatingRefused(f"This study has no item {item_id}. Check it: triptych study verify")
    return _item(row)


def count_items(store: Store) -> dict[str, int]:
    """How many items there are of each kind."""
    query = select(item.c.kind, func.count()).group_by(item.c.kind)
    with store.reading() as connection:
        return {row[0]: row[1] for row in connection.execute(query)}


def medium_row(store: Store, media_id: str) -> MediumRow:
    """One medium with its content.

    Raises:
        StoreDamaged: no such medium.
    """
    with store.reading() as connection:
        row = connection.execute(select(medium).where(medium.c.media_id == media_id)).one_or_none()
    if row is None:
        raise StoreDamaged(
            f"{store.location} lacks a picture it should hold. Check it: triptych study verify"
        )
    return _medium(row)


def media_ids(store: Store) -> set[str]:
    """The names of every medium."""
    with store.reading() as connection:
        return set(connection.execute(select(medium.c.media_id)).scalars())


def media(store: Store) -> Iterator[MediumRow]:
    """Every medium, by id, one at a time."""
    for media_id in sorted(media_ids(store)):
        yield medium_row(store, media_id)


def media_besides(store: Store, known: Set[str]) -> Iterator[MediumRow]:
    """Every medium but those known, by id, one at a time, all as they were at one instant."""
    with store.reading() as connection:
        wanted = sorted(set(connection.execute(select(medium.c.media_id)).scalars()) - known)
        for media_id in wanted:
            row = connection.execute(select(medium).where(medium.c.media_id == media_id)).one()
            yield _medium(row)


def add_rater(
    store: Store,
    row: RaterRow,
    order: Sequence[tuple[str, str, bool]],
    digest: str,
    *,
    session_id: str | None = None,
) -> None:
    """Write a new rater with the order of items (item id, kind, swapped), and log its digest.

    One whom another window has just written is left as written there. ``session_id`` is that of
    the sitting that is about to begin.

    Raises:
        RatingRefused: unblinded, or the name is that of another login of the server.
    """
    with store.session() as connection:
        refuse_if_unblinded(connection)
        if connection.execute(select(rater).where(rater.c.name == row.name)).first():
            return
        _take_name(connection, row)
        places = [
            {
                "rater": row.name,
                "position": position,
                "item_id": item_id,
                "kind": kind,
                "swapped": swapped,
            }
            for position, (item_id, kind, swapped) in enumerate(order, start=1)
        ]
        if places:
            connection.execute(insert(presentation), places)
        values = {"action": "order", "rater": row.name, "note": digest}
        append(connection, {**values, "session_id": session_id})


def _take_name(connection: Connection, row: RaterRow) -> None:
    try:
        connection.execute(insert(rater).values(**asdict(row), created_utc=now_utc()))
    except IntegrityError as error:
        raise RatingRefused(
            f"{row.name} reads this study with another login of the server, or the name differs "
            "from one there in capitals alone. Log in as before, or read under another name; the "
            "coordinator can say whose a name is."
        ) from error


def raters(store: Store) -> tuple[RaterRow, ...]:
    """Every rater, by name."""
    with store.reading() as connection:
        found = connection.execute(select(rater).order_by(rater.c.name)).all()
    return tuple(RaterRow(r.name, r.specialty, r.years, r.modalities, r.display) for r in found)


def presentations(store: Store, rater_name: str | None = None) -> tuple[PresentationRow, ...]:
    """The order of one rater, or of all, by rater and position."""
    query = select(presentation).order_by(presentation.c.rater, presentation.c.position)
    if rater_name is not None:
        query = query.where(presentation.c.rater == rater_name)
    with store.reading() as connection:
        found = connection.execute(query).all()
    return tuple(PresentationRow(r.rater, r.position, r.item_id, r.kind, r.swapped) for r in found)


def count_places(store: Store) -> dict[str, int]:
    """How many places the order of each rater has; empty where nobody sat down."""
    counts = select(presentation.c.rater, func.count()).group_by(presentation.c.rater)
    with store.reading() as connection:
        return {str(rater): int(count) for rater, count in connection.execute(counts)}


def start_session(store: Store, session_id: str, rater_name: str, software: str) -> None:
    """Note that a rater sat down."""
    with store.session() as connection:
        connection.execute(
            insert(session).values(
                session_id=session_id, rater=rater_name, started_utc=now_utc(), software=software
            )
        )


def _item(row: Any) -> ItemRow:
    return ItemRow(
        row.item_id, row.kind, row.block, row.prompt, row.query, tuple(row.left), tuple(row.right)
    )


def _medium(row: Any) -> MediumRow:
    return MediumRow(
        row.key, row.media_id, row.coding, tuple(row.shape), row.sha256, bytes(row.content)
    )
