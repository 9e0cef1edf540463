"""Whether returned answers fit a study: every step that the program itself would have refused.

Owns the checks of hash, rater, order, chain and of each entry against the ones before it.
Refuses by one sentence that says what does not fit and what to do; never tells a preference.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

from db.chain import EntryRow, chain_faults
from db.packs import PackRow
from db.ratings import ANSWERS, GUESSES
from db.study_items import ItemRow, PresentationRow, StudyRow
from studies.errors import BadAnswers, BadStudy
from studies.preference.answers import Answers, Place, Seated, signed_by
from studies.preference.frozen import order_hash
from studies.preference.seating import guess_sample, rater_name, reading_order

ALTERED = "Ask the rater to write the answers again from the pack as it was handed out."


@dataclass
class Frame:
    """The study that answers must fit, with the orders drawn so far."""

    row: StudyRow
    items: tuple[ItemRow, ...]
    _orders: dict[str, tuple[Place, ...]] = field(default_factory=dict)

    def order(self, rater: str) -> tuple[Place, ...]:
        """The order of a rater, drawn again from the seed and the name."""
        if rater not in self._orders:
            self._orders[rater] = reading_order(self.row, self.items, rater)
        return self._orders[rater]


def check(answers: Answers, frame: Frame, pack: PackRow) -> None:
    """Refuse answers that do not fit.

    Args:
        answers: as read.
        frame: the coordinator's study.
        pack: the pack they name, as it was handed out.

    Raises:
        BadAnswers: says what does not fit.
    """
    if answers.study != frame.row.hash:
        raise BadAnswers(
            "The answers belong to another study (its fingerprint begins with "
            f"{answers.study[:16]}). Merge them there."
        )
    if pack.public_key and not signed_by(answers, pack.public_key):
        raise BadAnswers(f"The signature does not fit the pack of {pack.rater}. {ALTERED}")
    if pack.rater and (answers.rater, len(answers.seats)) != (pack.rater, 1):
        raise BadAnswers(f"The pack was handed to {pack.rater}, not to {answers.rater}. {ALTERED}")
    faults = chain_faults(answers.entries, start=answers.study)
    if faults:
        raise BadAnswers(f"{faults[0]} {ALTERED}")
    for seat in answers.seats:
        _check_seat(seat, frame, pack)
    _check_entries(answers, frame)


def in_force(entries: Iterable[EntryRow]) -> dict[tuple[str, int], EntryRow]:
    """The answers in force: (rater, position) to the last answer that was not taken back."""
    found: dict[tuple[str, int], EntryRow] = {}
    for row in entries:
        place = (str(row.rater), int(row.position or 0))
        if row.action == "answer":
            found[place] = row
        elif row.action == "undo":
            found.pop(place, None)
    return found


def _check_seat(seat: Seated, frame: Frame, pack: PackRow) -> None:
    name = seat.rater.name
    try:
        plain = rater_name(name) == name
    except BadStudy:
        plain = False
    if not plain or (pack.rater and pack.rater != name):
        raise BadAnswers(f"{name!r} is not whom the pack was handed to. {ALTERED}")
    if seat.order != frame.order(name):
        raise BadAnswers(
            f"The order of {name} is not the one that the study draws for that name. {ALTERED}"
        )


def _check_entries(answers: Answers, frame: Frame) -> None:
    """Go through the log as the program would have written it."""
    desks: dict[str, _Desk] = {}
    seats = {seat.rater.name: seat for seat in answers.seats}
    for row in answers.entries:
        seat = seats.get(str(row.rater))
        if seat is None:
            raise _bad(row, "is of nobody who sat there")
        if row.action == "order":
            if row.rater in desks or row.note != order_hash(seat.rater, seat.order):
                raise _bad(row, "does not fit the rater's order or profile")
            desks[seat.rater.name] = _Desk(seat, frame)
            continue
        desk, act = desks.get(seat.rater.name), _ACTS.get(row.action)
        if desk is None or act is None:
            raise _bad(row, f"({row.action}) has no place in answers")
        act(desk, row)
    if set(desks) != set(seats):
        raise BadAnswers(f"The log does not say when everybody sat down. {ALTERED}")


class _Desk:
    """One rater's answers while the log is gone through."""

    def __init__(self, seat: Seated, frame: Frame) -> None:
        self.seat = seat
        self.answered: set[int] = set()
        self.guessed: set[int] = set()
        name = seat.rater.name
        places = [PresentationRow(name, n, *p) for n, p in enumerate(seat.order, start=1)]
        self.to_guess = {place.position for place in guess_sample(frame.row, places, name)}

    def answer(self, row: EntryRow) -> None:
        """An answer to a place that has none."""
        place = self._place(row)
        told = row.answer in ANSWERS and (row.answer != "cannot" or bool(row.note))
        if not told or place in self.answered:
            raise _bad(row, "is no answer that can be given there")
        times = (row.first_action_ms, row.answer_ms, row.idle_ms)
        if any(time is not None and time < 0 for time in times):
            raise _bad(row, "holds a time below zero")
        if row.confidence is not None and not 1 <= row.confidence <= 3:
            raise _bad(row, "holds a confidence that cannot be given")
        self.answered.add(place)

    def undo(self, row: EntryRow) -> None:
        """A step back from an answer."""
        place = self._place(row)
        if place not in self.answered:
            raise _bad(row, "takes back what was not given")
        self.answered.remove(place)

    def guess(self, row: EntryRow) -> None:
        """A guess at an item of the sample."""
        place = self._place(row)
        if place not in self.to_guess or place in self.guessed or row.answer not in GUESSES:
            raise _bad(row, "is no guess that was asked for")
        self.guessed.add(place)

    def pause(self, _row: EntryRow) -> None:
        """A pause, or its end."""

    def _place(self, row: EntryRow) -> int:
        place = row.position or 0
        if not 1 <= place <= len(self.seat.order):
            raise _bad(row, "names no place of the order")
        if (row.item_id, row.kind) != self.seat.order[place - 1][:2]:
            raise _bad(row, "names another item than stands at its place")
        return place


_ACTS: dict[str, Callable[[_Desk, EntryRow], None]] = {
    "answer": _Desk.answer,
    "undo": _Desk.undo,
    "guess": _Desk.guess,
    "pause": _Desk.pause,
    "resume": _Desk.pause,
}


def _bad(row: EntryRow, what: str) -> BadAnswers:
    return BadAnswers(f"Entry {row.number} of the log {what}. {ALTERED}")
