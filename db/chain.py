"""The chain of a study's log: entries that only ever grow, each holding the hash of the last.

Owns the form of an entry, how one is appended and how the whole is checked. Refuses to add to a
log that was altered. Which entries make sense is said by ``db.ratings`` and its neighbours.
"""

from __future__ import annotations

import hashlib
import itertools
import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Connection, insert, select, update

from db.clock import now_utc
from db.errors import RatingRefused
from db.schema import entry, head, study
from db.server import OWN_ROWS
from db.session import Store


@dataclass(frozen=True)
class EntryRow:
    """One entry of the log.

    Attributes:
        number: from 1, without a gap.
        action: ``order``, ``answer``, ``undo``, ``guess``, ``pause``, ``resume``, ``pack``,
            ``merge`` or ``unblind``.
        at_utc: by the clock of the machine that wrote it; never decides an order.
        note: why an item cannot be judged, why the study was unblinded, or a hash.
        previous: hash of the entry before; of the study for the first.
        hash: SHA-256 of all the other fields.
    """

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

    @property
    def reason(self) -> str | None:
        """Why the item cannot be judged; None for every other answer."""
        return self.note if self.answer == "cannot" else None


# A time as this program writes it; anything else in a log is words of somebody.
TIME = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{1,6})?(Z|[+-]\d\d:\d\d)", re.ASCII)
NAMES = tuple(EntryRow.__dataclass_fields__)


def entries(
    store: Store, *, actions: Sequence[str] | None = None, rater: str | None = None
) -> tuple[EntryRow, ...]:
    """The log in order: all of it, or certain actions, or those of one rater."""
    query = select(entry).order_by(entry.c.number)
    if actions is not None:
        query = query.where(entry.c.action.in_(actions))
    if rater is not None:
        query = query.where(entry.c.rater == rater)
    with store.reading() as connection:
        found = connection.execute(query).all()
    return tuple(_entry(row) for row in found)


def length(store: Store) -> int:
    """How many entries the log has, those that this login is not shown among them."""
    with store.reading() as connection:
        return connection.execute(select(head.c.entries)).scalar() or 0


def check_chain(store: Store) -> tuple[str, ...]:
    """What is wrong with the log, one sentence each; empty when it is whole.

    A login that is shown its own entries only has those checked, and the links between them.
    """
    with store.reading() as connection:
        own = connection.info.get(OWN_ROWS)
        found = [_entry(row) for row in connection.execute(select(entry).order_by(entry.c.number))]
        last = connection.execute(select(head)).one_or_none()
        start = connection.execute(select(study.c.hash)).scalar()
    if own:
        return _own_faults(found, end=None if last is None else (last.entries, last.hash))
    faults = list(chain_faults(found, start=str(start)))
    newest = found[-1].hash if found else start
    if last is None or (last.entries, last.hash) != (len(found), newest):
        faults.append("The end of the log is not the one last written: entries were cut or added.")
    return tuple(faults)


def chain_faults(found: Iterable[EntryRow], *, start: str) -> tuple[str, ...]:
    """What is wrong between the entries of a log, wherever they come from.

    Args:
        found: in order.
        start: the hash that the first one follows: the study's.
    """
    faults: list[str] = []
    previous = start
    for expected, row in enumerate(found, start=1):
        if row.number != expected:
            faults.append(f"The log lacks entry {expected}, or one was slipped in before it.")
            break
        if row.previous != previous:
            faults.append(f"Entry {row.number} of the log does not follow the one before it.")
        if row.hash != entry_hash(row):
            faults.append(f"Entry {row.number} of the log was altered.")
        previous = row.hash
    return tuple(faults)


def _own_faults(found: Sequence[EntryRow], *, end: tuple[int, str] | None) -> tuple[str, ...]:
    """What is wrong with some entries of a log whose others are not shown."""
    faults = [f"Entry {row.number} of the log was altered." for row in found
              if row.hash != entry_hash(row)]  # fmt: skip
    for before, row in itertools.pairwise(found):
        if row.number == before.number + 1 and row.previous != before.hash:
            faults.append(f"Entry {row.number} of the log does not follow the one before it.")
    last = (found[-1].number, found[-1].hash) if found else (0, "")
    if end is None or last[0] > end[0] or (last[0] == end[0] > 0 and last != end):
        faults.append("The end of the log is not the one last written: entries were cut or added.")
    return tuple(faults)


def clock_remarks(found: Sequence[EntryRow]) -> tuple[str, ...]:
    """Where a clock was set back: said, and no fault, for the time never decides the order."""
    latest: dict[str | None, EntryRow] = {}
    remarks = []
    for row in found:
        if not TIME.fullmatch(row.at_utc):
            continue
        before = latest.get(row.rater)
        if before is not None and row.at_utc < before.at_utc:
            remarks.append(
                f"Entry {row.number} of the log bears the time {row.at_utc}, which is before "
                f"that of entry {before.number} ({before.at_utc}): the clock of that machine was "
                "set back. The order of the log holds; nothing is lost."
            )
        latest[row.rater] = row
    return tuple(remarks)


def entry_hash(row: EntryRow) -> str:
    """The hash that an entry must carry: of all its other fields."""
    return _hash({name: getattr(row, name) for name in NAMES})


def append(connection: Connection, values: Mapping[str, Any]) -> EntryRow:
    """Write one entry inside an open writing transaction.

    Raises:
        RatingRefused: the end of the log is not the one last written.
    """
    own = connection.info.get(OWN_ROWS)
    last = connection.execute(select(head)).one_or_none()
    if last is None or not (own or _is_newest(connection, last.entries, last.hash)):
        raise RatingRefused(
            "The log of this study was altered, so nothing more is added to it. "
            "See what is wrong with triptych study verify."
        )
    row: dict[str, Any] = dict.fromkeys(NAMES)
    row.update({name: _as_json(value) for name, value in values.items()})
    row.update(number=last.entries + 1, at_utc=now_utc(), previous=last.hash)
    row["hash"] = _hash(row)
    connection.execute(insert(entry).values(**row))
    if not own:  # for a reader's login the server looks at the end of the log, and moves it
        connection.execute(update(head).values(entries=row["number"], hash=row["hash"]))
    return EntryRow(**row)


def _is_newest(connection: Connection, number: int, digest: str) -> bool:
    """Whether the end of the log is the entry that was written last."""
    newest = connection.execute(
        select(entry.c.number, entry.c.hash).order_by(entry.c.number.desc()).limit(1)
    ).one_or_none()
    return (number, digest) == ((0, digest) if newest is None else (newest.number, newest.hash))


def refuse_if_unblinded(connection: Connection) -> None:
    """Raise RatingRefused once the study's key was opened."""
    found = connection.execute(select(entry.c.at_utc).where(entry.c.action == "unblind")).scalar()
    if found is not None:
        raise RatingRefused(
            f"This study was unblinded on {found[:10]}; it takes no more ratings. "
            "Build a new study to go on reading."
        )


def _as_json(value: Any) -> Any:
    """A value as it will come back from its column (keys as text, tuples as lists, no NaN)."""
    if isinstance(value, Mapping):
        return _plain(json.loads(json.dumps(dict(value)), parse_constant=lambda _: None))
    return _whole(value) if isinstance(value, str) else value


def _plain(value: Any) -> Any:
    if isinstance(value, dict):
        return {_whole(name): _plain(inner) for name, inner in value.items()}
    if isinstance(value, list):
        return [_plain(inner) for inner in value]
    return _whole(value) if isinstance(value, str) else value


def _whole(text: str) -> str:
    """A text with ``?`` for each half of a character and for the character zero.

    UTF-8, and so a file, cannot hold the one; PostgreSQL cannot hold the other.
    """
    return text.encode("utf-8", "replace").decode("utf-8").replace("\x00", "?")


def _hash(row: Mapping[str, Any]) -> str:
    content = {name: row[name] for name in NAMES if name != "hash"}
    text = json.dumps(content, sort_keys=True, ensure_ascii=False, separators=(",", ":"))
    return hashlib.sha256(text.encode("utf-8")).hexdigest()


def _entry(row: Any) -> EntryRow:
    return EntryRow(**{name: getattr(row, name) for name in NAMES})
