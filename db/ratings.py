"""What raters do in a study: answers, answers taken back, guesses, pauses, and its unblinding.

Owns which of them may follow which. One act is one entry of the log (``db.chain``) and one
durable commit. Refuses an answer after unblinding, after the rater's first guess, for a place
that has one already, or on a broken chain.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

from sqlalchemy import Connection, Row, select

from db.chain import (
    NAMES,
    EntryRow,
    append,
    check_chain,
    clock_remarks,
    entries,
    refuse_if_unblinded,
)
from db.errors import AnsweredAlready, RatingRefused
from db.schema import entry, presentation
from db.session import Store

__all__ = [
    "ANSWERS",
    "CANNOT",
    "GUESSES",
    "NAMES",
    "PAUSES",
    "PLACES",
    "SETTLED",
    "EntryRow",
    "NewRating",
    "add_guess",
    "add_pause",
    "add_rating",
    "add_unblinding",
    "append",
    "check_chain",
    "clock_remarks",
    "entries",
    "guesses",
    "impossible",
    "pauses",
    "ratings",
    "refuse_if_unblinded",
    "standing",
    "unblinding",
    "undo",
]

CANNOT = "cannot"
ANSWERS = ("left", "right", "both", "neither", CANNOT)
GUESSES = ("left", "right", "unsure")
PAUSES = ("pause", "resume")
PLACES = tuple(f"{side}{place}" for side in ("left", "right") for place in (1, 2, 3))
LONGEST_MS = 10**12  # 31 years; what a clock gone mad counts is more
SETTLED = "Answers can no longer be changed: the questions at the end have begun."


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
        reason: why the item cannot be judged; for that answer only, and needed there.
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
    reason: str | None = None


def add_rating(store: Store, rating: NewRating) -> EntryRow:
    """Keep one answer; it is on the disk when this returns.

    Raises:
        AnsweredAlready: that place has an answer in force.
        RatingRefused: unblinded, the rater has guessed, not this rater's item at that place, an
            unknown answer, no reason where one is needed, a number that cannot be, or a broken
            chain.
        StoreError: what the store refused; then nothing was kept.
    """
    if rating.answer not in ANSWERS:
        raise RatingRefused(f"{rating.answer!r} is no answer; known are {', '.join(ANSWERS)}.")
    fault = impossible(rating)
    if fault:  # kept once, it would stand in the way of all the rater's answers for good
        raise RatingRefused(f"{fault} Nothing was kept.")
    values = asdict(rating)
    values["note"] = _reason(rating.answer, values.pop("reason"))
    with store.session() as connection:
        refuse_if_unblinded(connection)
        _check_place(connection, rating)
        _refuse_if_guessed(connection, rating.rater)
        if _last_action(connection, rating.rater, rating.position) == "answer":
            raise AnsweredAlready(
                f"Item {rating.position} has its answer already. Go back with Ctrl+Z to change it."
            )
        return append(connection, {"action": "answer", **values})


def impossible(said: NewRating | EntryRow) -> str:
    """What beside an answer cannot be, in one sentence; "" where nothing is wrong."""
    for name in ("first_action_ms", "answer_ms", "idle_ms"):
        time = getattr(said, name)
        if time is not None and not (type(time) is int and 0 <= time <= LONGEST_MS):
            return f"{name} cannot be {time!r}: whole milliseconds are wanted, from 0."
    if said.confidence is not None and not _grade(said.confidence, 1, 3):
        return f"A confidence is 1, 2 or 3, not {said.confidence!r}."
    for place, grade in (said.usefulness or {}).items():
        if place not in PLACES or not _grade(grade, 0, 2):
            return f"Usefulness is 0, 1 or 2 for {PLACES[0]} to {PLACES[-1]}, not {place}: {grade}."
    return ""


def _grade(value: object, low: int, high: int) -> bool:
    return type(value) is int and low <= value <= high


def undo(
    store: Store, *, rater: str, session_id: str, position: int, software: str | None = None
) -> EntryRow:
    """Take the answer at a place back: a new entry; the answer itself stays in the log.

    Raises:
        RatingRefused: unblinded, the rater has guessed, or there is no answer at that place.
    """
    with store.session() as connection:
        refuse_if_unblinded(connection)
        _refuse_if_guessed(connection, rater)
        if _last_action(connection, rater, position) != "answer":
            raise RatingRefused(f"Item {position} has no answer to take back.")
        shown = _place(connection, rater, position)
        assert shown is not None
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


def add_guess(
    store: Store,
    *,
    rater: str,
    session_id: str,
    position: int,
    item_id: str,
    answer: str,
    software: str | None = None,
) -> EntryRow:
    """Keep a guess which side is the tested model's; asked once for an item, at the end.

    ``position`` is where the item stood in the rater's order, ``answer`` one of ``GUESSES``.

    Raises:
        AnsweredAlready: that item was guessed before.
        RatingRefused: unblinded, an unknown guess, not that rater's item, or a broken chain.
    """
    if answer not in GUESSES:
        raise RatingRefused(f"{answer!r} is no guess; known are {', '.join(GUESSES)}.")
    with store.session() as connection:
        refuse_if_unblinded(connection)
        shown = _place(connection, rater, position)
        if shown is None or (shown.item_id, shown.kind) != (item_id, "item"):
            raise RatingRefused(f"There is nothing to guess at place {position} for this rater.")
        if _last_action(connection, rater, position, actions=("guess",)) is not None:
            raise AnsweredAlready(f"Item {position} has its guess already; a guess stands.")
        values = {
            "action": "guess",
            "rater": rater,
            "session_id": session_id,
            "position": position,
            "item_id": item_id,
            "kind": "item",
            "answer": answer,
            "software": software,
        }
        return append(connection, values)


def add_pause(
    store: Store,
    *,
    rater: str,
    session_id: str,
    kind: str,
    position: int | None = None,
    software: str | None = None,
) -> EntryRow:
    """Note that a rater stopped reading, or went on.

    ``kind`` is one of ``PAUSES``, ``position`` the item on the screen then.

    Raises:
        RatingRefused: unblinded, or an unknown kind.
    """
    if kind not in PAUSES:
        raise RatingRefused(f"{kind!r} is neither of {', '.join(PAUSES)}.")
    with store.session() as connection:
        refuse_if_unblinded(connection)
        values = {
            "action": kind,
            "rater": rater,
            "session_id": session_id,
            "position": position,
            "software": software,
        }
        return append(connection, values)


def add_unblinding(store: Store, *, reason: str, software: str) -> EntryRow:
    """Log the unblinding; from this commit on every rating is refused."""
    with store.session() as connection:
        return append(connection, {"action": "unblind", "note": reason, "software": software})


def unblinding(store: Store) -> EntryRow | None:
    """The first unblinding in the log, None while the study is blind."""
    return next(iter(entries(store, actions=("unblind",))), None)


def ratings(store: Store, rater: str | None = None) -> tuple[EntryRow, ...]:
    """Answers and undone answers in order, of one rater or of all."""
    return entries(store, actions=("answer", "undo"), rater=rater)


def guesses(store: Store, rater: str | None = None) -> tuple[EntryRow, ...]:
    """Guesses in order, of one rater or of all."""
    return entries(store, actions=("guess",), rater=rater)


def pauses(store: Store, rater: str | None = None) -> tuple[EntryRow, ...]:
    """Pauses and resumed readings in order, of one rater or of all."""
    return entries(store, actions=PAUSES, rater=rater)


def standing(store: Store, rater: str | None = None) -> dict[tuple[str, int], EntryRow]:
    """The answers in force: (rater, position) to the last answer that was not taken back."""
    found: dict[tuple[str, int], EntryRow] = {}
    for row in ratings(store, rater):
        place = (str(row.rater), int(row.position or 0))
        if row.action == "answer":
            found[place] = row
        else:
            found.pop(place, None)
    return found


def _reason(answer: str, reason: str | None) -> str | None:
    told = (reason or "").strip()
    if answer == CANNOT and not told:
        raise RatingRefused("Say why this item cannot be judged; the reason is kept with it.")
    if answer != CANNOT and told:
        raise RatingRefused("A reason belongs to an item that cannot be judged. Nothing was kept.")
    return told or None


def _place(connection: Connection, rater: str, position: int) -> Row[Any] | None:
    place = (presentation.c.rater == rater, presentation.c.position == position)
    return connection.execute(select(presentation).where(*place)).one_or_none()


def _check_place(connection: Connection, rating: NewRating) -> None:
    shown = _place(connection, rating.rater, rating.position)
    if shown is None or (shown.item_id, shown.kind) != (rating.item_id, rating.kind):
        raise RatingRefused(
            f"Place {rating.position} does not hold that item for this rater. Open the study again."
        )


def _refuse_if_guessed(connection: Connection, rater: str) -> None:
    """Who was asked about the two sides answers nothing any more: it could be the question's."""
    guessed = (entry.c.rater == rater, entry.c.action == "guess")
    if connection.execute(select(entry.c.number).where(*guessed).limit(1)).first() is not None:
        raise RatingRefused(SETTLED)


def _last_action(
    connection: Connection,
    rater: str,
    position: int,
    *,
    actions: tuple[str, ...] = ("answer", "undo"),
) -> str | None:
    return connection.execute(
        select(entry.c.action)
        .where(
            entry.c.rater == rater,
            entry.c.position == position,
            entry.c.action.in_(actions),
        )
        .order_by(entry.c.number.desc())
        .limit(1)
    ).scalar()
