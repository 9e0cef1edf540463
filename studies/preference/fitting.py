"""Whether returned answers fit a study: every step that the program itself would have refused.

Owns the checks of hash, rater, order, chain and of each entry against the ones before it.
Refuses by one sentence that says what does not fit and what to do; never tells a preference.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, field

from db.chain import TIME, EntryRow, chain_faults
from db.packs import PackRow
from db.ratings import impossible
from db.server_own import RATERS_ACTIONS
from db.study_items import ItemRow, PresentationRow, StudyRow
from studies.errors import BadAnswers, BadStudy
from studies.preference.answers import Answers, Place, Seated, signed_by
from studies.preference.frozen import order_hash
from studies.preference.seating import folded, guess_sample, profile, reading_order
from studies.preference.verify_log import acts_faults

WORD = re.compile(r"[0-9A-Za-z][0-9A-Za-z.+!_-]{0,63}")
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
    misfits = unfit(answers, frame)
    if pack.rater and misfits:
        raise BadAnswers(misfits[pack.rater if pack.rater in misfits else next(iter(misfits))])
    _check_known(answers)


def unfit(answers: Answers, frame: Frame) -> dict[str, str]:
    """Raters whose part of the answers this program could not have written, and why.

    In a pack that is its rater; in a shared study one who did without the program spoils nothing
    of the others.
    """
    found = {} if answers.rater else _strangers(answers)
    for seat in answers.seats:
        try:
            _check_seat(seat, frame, answers.rater)
            _check_entries(seat, frame, answers.entries)
        except BadAnswers as error:
            told = str(error)
            found[seat.rater.name] = told if answers.rater else told.removesuffix(f" {ALTERED}")
    return found


def _strangers(answers: Answers) -> dict[str, str]:
    """Names in a shared log under which nobody sat down, or that are another's but for capitals."""
    seats = {seat.rater.name for seat in answers.seats}
    found, first = {}, dict[str, str]()
    for row in answers.entries:
        name = row.rater
        if name is None or row.action != "order":
            continue
        other = first.setdefault(folded(name), name)
        if other != name:
            found[name] = f"{other}, who sat down before, differs in capitals or width alone."
    for row in answers.entries:
        if row.rater is not None and row.rater not in seats:
            found[row.rater] = f"Entry {row.number} of the log is of nobody who sat down."
    return found


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


def _check_seat(seat: Seated, frame: Frame, handed_to: str) -> None:
    name = seat.rater.name
    try:
        plain = profile(**asdict(seat.rater)).name == name
    except BadStudy:
        plain = False
    if not plain and not handed_to:
        raise BadAnswers(f"The name or profile of {name!r} is none that this program writes.")
    if not plain or (handed_to and handed_to != name):
        raise BadAnswers(f"{name!r} is not whom the pack was handed to. {ALTERED}")
    if seat.order != frame.order(name):
        raise BadAnswers(
            f"The order of {name} is not the one that the study draws for that name. {ALTERED}"
        )


def _check_known(answers: Answers) -> None:
    """Refuse entries of nobody, in a pack those of others too, and what has no place in answers."""
    seats = {seat.rater.name for seat in answers.seats}
    for row in answers.entries:
        known = row.rater in seats if answers.rater else row.rater is not None
        if not known or row.action not in RATERS_ACTIONS:
            raise _bad(row, f"({row.action}) has no place in answers")


def _check_entries(seat: Seated, frame: Frame, log: Sequence[EntryRow]) -> None:
    """Go through the entries of one rater as the program would have written them."""
    own = [row for row in log if row.rater == seat.rater.name]
    seated = False
    for row in own:
        if row.action not in RATERS_ACTIONS:
            raise _bad(row, f"({row.action}) has no place in answers")
        if row.action == "order":
            if seated or row.note != order_hash(seat.rater, seat.order):
                raise _bad(row, "does not fit the rater's order or profile")
            seated = True
        elif not seated:
            raise _bad(row, "comes before its rater sat down")
        elif impossible(row):
            raise _bad(row, "holds a number that cannot be given")
        if not _written(row):
            raise _bad(row, "holds a time or a name that this program does not write")
    if not seated:
        raise BadAnswers(f"The log does not say when everybody sat down. {ALTERED}")
    places = _places(seat)
    faults = acts_faults(own, places)
    if faults:
        raise BadAnswers(f"{faults[0]} {ALTERED}")
    # only what the study draws for a rater is guessed
    asked = {place.position for place in guess_sample(frame.row, places, seat.rater.name)}
    for row in own:
        if row.action == "guess" and row.position not in asked:
            raise _bad(row, "is no guess that was asked for")


def _written(row: EntryRow) -> bool:
    """Whether times, sitting and version are as this program writes them: no words of anybody."""
    times = [row.at_utc] if row.shown_utc is None else [row.at_utc, row.shown_utc]
    words = [word for word in (row.session_id, row.software) if word is not None]
    return all(map(TIME.fullmatch, times)) and all(map(WORD.fullmatch, words))


def _places(seat: Seated) -> tuple[PresentationRow, ...]:
    return tuple(
        PresentationRow(seat.rater.name, position, *place)
        for position, place in enumerate(seat.order, start=1)
    )


def _bad(row: EntryRow, what: str) -> BadAnswers:
    return BadAnswers(f"Entry {row.number} of the log {what}. {ALTERED}")
