"""The log of a study: answers, undone answers, orders, the unblinding. It only ever grows.

Each entry carries the hash of the one before, so that a changed, missing or slipped-in entry
shows. One entry is one durable commit. Refuses an answer after unblinding, for a place that
has one already, or on a broken chain.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

from sqlalchemy import Connection, insert, select, update

from db.clock import now_utc
from db.errors import RatingRefused
from db.schema import entry, head, presentation, study
from db.session import Store

ANSWERS = ("left", "right", "both", "neither")


@dataclass(frozen=True)
class NewRating:
    """One answer about to be kept.

    Attributes:
        position: place in the rater's order, from 1.
        answer: one of ``ANSWERS``.
        shown_utc: when the item was first shown.
        first_action_ms: from showing to the first key or click.
        answer_ms: from showing to the answer, idle time taken out.
        idle_ms: the idle time (over 60 s without input).
        confidence: 1 to 3.
        usefulness: candidate place (``left1`` ...) to 0, 1 or 2.
        viewer_state: window, slice range seen; JSON values only.
    """

    rater: str
    session_id: str
    position: int
    item_id: str
    kind: str
    answer: str
    shown_utc: str | None = None
    first_action_ms: int | None = None
    answer_ms: int | None = None
    idle_ms: int | None = None
    confidence: int | None = None
    comment: str | None = None
    usefulness: Mapping[str, int] | None = None
    viewer_state: Mapping[str, Any] | None = None
    software: str | None = None


@dataclass(frozen=True)
class EntryRow:
    """One entry of the log; ``action`` is ``answer``, ``undo``, ``order`` or ``unblind``."""

    number: int
    action: str
    at_utc: str
    rater: str | None
    session_id: str | None
    position: int | None
    item_id: str | None
    kind: str | None
    answer: str | None
    shown_utc: str | None
    first_action_ms: int | None
    answer_ms: int | None
    idle_ms: int | None
    confidence: int | None
    comment: str | None
    usefulness: Mapping[str, int] | None
    viewer_state: Mapping[str, Any] | None
    software: str | None
    note: str | None
    previous: str
    hash: str


NAMES = tuple(EntryRow.__dataclass_fields__)


def add_rating(store: Store, rating: NewRating) -> EntryRow:
    """Keep one answer; it is on the disk when this returns.

    Raises:
        RatingRefused: unblinded, not this rater's item at that place, answered already, an
            unknown answer, or a broken chain.
        StoreError: what SQLite refused; then nothing was kept.
    """
    if rating.answer not in ANSWERS:
        raise RatingRefused(f"{rating.answer!r} is no answer; known are {', '.join(ANSWERS)}.")
    with store.session() as connection:
        refuse_if_unblinded(connection)
        _check_place(connection, rating)
        if _last_action(connection, rating.rater, rating.position) == "answer":
            raise RatingRefused(
                f"Item {rating.position} has its answer already. Go back with Ctrl+Z to change it."
            )
        return append(connection, {"action": "answer", **asdict(rating)})


def undo(
    store: Store, *, rater: str, session_id: str, position: int, software: str | None = None
) -> EntryRow:
    """Take the answer at a place back: a new entry; the answer itself stays in the log.

    Raises:
        RatingRefused: unblinded, or there is no answer at that place.
    """
    with store.session() as connection:
        refuse_if_unblinded(connection)
        if _last_action(connection, rater, position) != "answer":
            raise RatingRefused(f"Item {position} has no answer to take back.")
        place = (presentation.c.rater == rater, presentation.c.position == position)
        shown = connection.execute(select(presentation).where(*place)).one()
        values = {
            "action": "undo",
            "rater": rater,
            "session_id": session_id,
            "position": position,
            "item_id": shown.item_id,
            "kind": shown.kind,
            "software": software,
        }
        return append(connection, values)


def add_unblinding(store: Store, *, reason: str, software: str) -> EntryRow:
    """Log the unblinding; from this commit on every rating is refused."""
    with store.session() as connection:
        return append(connection, {"action": "unblind", "note": reason, "software": software})


def unblinding(store: Store) -> EntryRow | None:
    """The first unblinding in the log, None while the study is blind."""
    return next((row for row in entries(store) if row.action == "unblind"), None)


def entries(store: Store) -> tuple[EntryRow, ...]:
    """The whole log in order."""
    with store.reading() as connection:
        found = connection.execute(select(entry).order_by(entry.c.number)).all()
    return tuple(_entry(row) for row in found)


def ratings(store: Store, rater: str | None = None) -> tuple[EntryRow, ...]:
    """Answers and undone answers in order, of one rater or of all."""
    return tuple(
        row
        for row in entries(store)
        if row.action in ("answer", "undo") and rater in (None, row.rater)
    )


def standing(store: Store) -> dict[tuple[str, int], EntryRow]:
    """The answers in force: (rater, position) to the last answer that was not taken back."""
    found: dict[tuple[str, int], EntryRow] = {}
    for row in ratings(store):
        place = (str(row.rater), int(row.position or 0))
        if row.action == "answer":
            found[place] = row
        else:
            found.pop(place, None)
    return found


def check_chain(store: Store) -> tuple[str, ...]:
    """What is wrong with the log, one sentence each; empty when it is whole."""
    with store.reading() as connection:
        found = [_entry(row) for row in connection.execute(select(entry).order_by(entry.c.number))]
        last = connection.execute(select(head)).one_or_none()
        previous = connection.execute(select(study.c.hash)).scalar()
    faults = []
    for expected, row in enumerate(found, start=1):
        if row.number != expected:
            faults.append(f"The log lacks entry {expected}, or one was slipped in before it.")
            break
        if row.previous != previous:
            faults.append(f"Entry {row.number} of the log does not follow the one before it.")
        if row.hash != _hash({name: getattr(row, name) for name in NAMES}):
            faults.append(f"Entry {row.number} of the log was altered.")
        previous = row.hash
    if last is None or (last.entries, last.hash) != (len(found), previous):
        faults.append("The end of the log is not the one last written: entries were cut or added.")
    return tuple(faults)


def append(connection: Connection, values: Mapping[str, Any]) -> EntryRow:
    """Write one entry inside an open writing transaction.

    Raises:
        RatingRefused: the end of the log is not the one last written.
    """
    last = connection.execute(select(head)).one_or_none()
    newest = connection.execute(
        select(entry.c.number, entry.c.hash).order_by(entry.c.number.desc()).limit(1)
    ).one_or_none()
    there = (0, last.hash if last else "") if newest is None else (newest.number, newest.hash)
    if last is None or (last.entries, last.hash) != there:
        raise RatingRefused(
            "The log of this study was altered, so nothing more is added to it. "
            "See what is wrong with triptych study verify."
        )
    row: dict[str, Any] = dict.fromkeys(NAMES)
    row.update({name: _as_json(value) for name, value in values.items()})
    row.update(number=last.entries + 1, at_utc=now_utc(), previous=last.hash)
    row["hash"] = _hash(row)
    connection.execute(insert(entry).values(**row))
    connection.execute(update(head).values(entries=row["number"], hash=row["hash"]))
    return EntryRow(**row)


def refuse_if_unblinded(connection: Connection) -> None:
    """Raise RatingRefused once the study's key was opened."""
    found = connection.execute(select(entry.c.at_utc).where(entry.c.action == "unblind")).scalar()
    if found is not None:
        raise RatingRefused(
            f"This study was unblinded on {found[:10]}; it takes no more ratings. "
            "Build a new study to go on reading."
        )


def _check_place(connection: Connection, rating: NewRating) -> None:
    place = (presentation.c.rater == rating.rater, presentation.c.position == rating.position)
    shown = connection.execute(select(presentation).where(*place)).one_or_none()
    if shown is None or (shown.item_id, shown.kind) != (rating.item_id, rating.kind):
        raise RatingRefused(
            f"Place {rating.position} does not hold that item for this rater. Open the study again."
        )


def _last_action(connection: Connection, rater: str, position: int) -> str | None:
    return connection.execute(
        select(entry.c.action)
        .where(
            entry.c.rater == rater,
            entry.c.position == position,
            entry.c.action.in_(("answer", "undo")),
        )
        .order_by(entry.c.number.desc())
        .limit(1)
    ).scalar()


def _as_json(value: Any) -> Any:
    """A value as it will come back from its column (keys as text, tuples as lists)."""
    if isinstance(value, Mapping):
        return json.loads(_whole(json.dumps(dict(value), ensure_ascii=False)))
    return _whole(value) if isinstance(value, str) else value


def _whole(text: str) -> str:
    """A text with ``?`` for each half of a character: UTF-8, and so the file, cannot hold one."""
    return text.encode("utf-8", "replace").decode("utf-8")


def _hash(row: Mapping[str, Any]) -> str:
    content = {name: row[name] for name in NAMES if name != "hash"}
    text = json.dumps(content, sort_keys=True, ensure_ascii=False, separators=(",", ":"))
    return hashlib.sha256(text.encode("utf-8")).hexdigest()


def _entry(row: Any) -> EntryRow:
    return EntryRow(**{name: getattr(row, name) for name in NAMES})
