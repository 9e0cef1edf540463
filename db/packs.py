"""Packs handed to raters and what they returned. Written once each, with an entry in the log.

Owns the three tables and which entry belongs to which row. What a pack holds, its signature and
whether a return fits are decided by ``studies.preference``.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

from sqlalchemy import func, insert, select

from db.chain import append, refuse_if_unblinded
from db.errors import RatingRefused
from db.schema import pack, returned, seat
from db.session import Store


@dataclass(frozen=True)
class PackRow:
    """One file handed to one rater.

    Attributes:
        pack_id: opaque.
        public_key: what the returned answers are checked with, as text.
    """

    pack_id: str
    rater: str
    created_utc: str
    public_key: str
    note: str | None = None


@dataclass(frozen=True)
class SeatRow:
    """Whose pack this file is; only in a rater's file."""

    pack_id: str
    rater: str
    private_key: str


@dataclass(frozen=True)
class ReturnedRow:
    """One accepted return of a pack.

    Attributes:
        number: from 1, in the order of acceptance.
        entries: length of the returned log.
        head: hash of its last entry.
        sha256: of ``content``.
        content: the signed document as it came.
    """

    number: int
    pack_id: str
    rater: str
    received_utc: str
    entries: int
    head: str
    sha256: str
    content: bytes


def pack_digest(row: PackRow) -> str:
    """What the log holds of a pack, so that a changed row shows."""
    text = json.dumps(asdict(row), sort_keys=True, ensure_ascii=False, separators=(",", ":"))
    return hashlib.sha256(text.encode("utf-8")).hexdigest()


def add_pack(store: Store, row: PackRow, *, before: int = 0, software: str | None = None) -> None:
    """Write a pack and log its digest (action ``pack``).

    ``before`` is how many packs of that rater the decision to make this one rests on; refused
    when another window has made one since.

    Raises:
        RatingRefused: unblinded, made elsewhere meanwhile, or a broken chain.
    """
    with store.session() as connection:
        refuse_if_unblinded(connection)
        made = select(func.count()).where(pack.c.rater == row.rater)
        if row.rater and connection.execute(made).scalar() != before:
            raise RatingRefused(
                f"Another window has just made a pack for {row.rater}. Hand that one out."
            )
        connection.execute(insert(pack).values(**asdict(row)))
        values = {"action": "pack", "rater": row.rater, "note": pack_digest(row)}
        append(connection, {**values, "software": software})


def packs(store: Store) -> tuple[PackRow, ...]:
    """Every pack, oldest first."""
    query = select(pack).order_by(pack.c.created_utc, pack.c.pack_id)
    with store.reading() as connection:
        found = connection.execute(query).mappings().all()
    return tuple(PackRow(**row) for row in found)


def take_seat(store: Store, row: SeatRow) -> None:
    """Write whose file this is."""
    with store.session() as connection:
        connection.execute(insert(seat).values(one=1, **asdict(row)))


def seat_row(store: Store) -> SeatRow | None:
    """Whose file this is; None in the coordinator's."""
    with store.reading() as connection:
        row = connection.execute(select(seat)).mappings().one_or_none()
    return None if row is None else SeatRow(row["pack_id"], row["rater"], row["private_key"])


def add_returned(
    store: Store,
    row: ReturnedRow,
    *,
    after: int | None = None,
    software: str | None = None,
    told: Mapping[str, Any] | None = None,
) -> ReturnedRow:
    """Keep a returned document and log its hash (action ``merge``); its number is given here.

    ``after`` is the number of the newest return of that pack that the decision to accept rests
    on, None for a first one; refused when another window has accepted one since. ``told`` is
    what the log is to say of it besides, as JSON.

    Raises:
        RatingRefused: unblinded, accepted elsewhere meanwhile, or a broken chain.
    """
    with store.session() as connection:
        refuse_if_unblinded(connection)
        newest = connection.execute(
            select(func.max(returned.c.number)).where(returned.c.pack_id == row.pack_id)
        ).scalar()
        if newest != after:
            raise RatingRefused(
                f"Another window has just merged answers of {row.rater}. Merge these again."
            )
        last = connection.execute(select(func.max(returned.c.number))).scalar() or 0
        values: dict[str, Any] = {**asdict(row), "number": last + 1}
        connection.execute(insert(returned).values(**values))
        entry = {"action": "merge", "rater": row.rater, "note": row.sha256}
        append(connection, {**entry, "software": software, "viewer_state": told})
    return ReturnedRow(**values)


def returns(store: Store, rater: str | None = None) -> tuple[ReturnedRow, ...]:
    """Every accepted return in order, of one rater or of all."""
    query = select(returned).order_by(returned.c.number)
    if rater is not None:
        query = query.where(returned.c.rater == rater)
    with store.reading() as connection:
        found = connection.execute(query).mappings().all()
    return tuple(ReturnedRow(**{**row, "content": bytes(row["content"])}) for row in found)
