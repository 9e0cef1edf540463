"""Whether the log of a study makes sense: acts that can follow each other, packs, returns.

The chain alone shows that nobody changed an entry; here it is seen whether an entry could ever
have been written by this program. Refuses to look at which side was preferred.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from db import packs, ratings, study_items
from db.ratings import EntryRow
from db.session import Store
from db.study_items import PresentationRow
from studies.preference.frozen import sha256

Orders = Mapping[tuple[str, int], PresentationRow]


@dataclass
class Replay:
    """Where each rater stands while the log is read from its beginning.

    Attributes:
        places: of each rater's order.
        answered: (rater, place) of answers in force.
        guessed: (rater, place).
        unblinded: the key was opened.
    """

    places: Orders
    answered: set[tuple[str, int]] = field(default_factory=set)
    guessed: set[tuple[str, int]] = field(default_factory=set)
    unblinded: bool = False

    def fault_of(self, row: EntryRow) -> str:
        """Why an entry cannot follow those before it, "" if it can; then it is taken in."""
        if row.action == "unblind":
            self.unblinded = True
            return ""
        if self.unblinded:
            return "was added after the unblinding"
        if row.action in ("answer", "undo", "guess"):
            return self._act(row)
        return ""

    def _act(self, row: EntryRow) -> str:
        place = (str(row.rater), int(row.position or 0))
        shown = self.places.get(place)
        if shown is None or (shown.item_id, shown.kind) != (row.item_id, row.kind):
            return "is about an item that did not stand at that place"
        if row.action == "guess":
            return self._guess(place, row)
        fault = self._answer(place, row) if row.action == "answer" else self._undo(place)
        settled = any(rater == place[0] for rater, _ in self.guessed)
        return fault or ("changes an answer after the first guess" if settled else "")

    def _undo(self, place: tuple[str, int]) -> str:
        if place not in self.answered:
            return "takes back an answer that there was not"
        self.answered.discard(place)
        return ""

    def _answer(self, place: tuple[str, int], row: EntryRow) -> str:
        if row.answer not in ratings.ANSWERS or (row.answer == ratings.CANNOT and not row.note):
            return "holds no answer that could be given"
        if place in self.answered:
            return "answers an item that has its answer"
        self.answered.add(place)
        return ""

    def _guess(self, place: tuple[str, int], row: EntryRow) -> str:
        if row.answer not in ratings.GUESSES or row.kind != "item":
            return "holds no guess that could be made"
        if place in self.guessed:
            return "guesses an item a second time"
        open_places = {one for one in self.places if one[0] == place[0]} - self.answered
        if open_places:
            return "is a guess before every item had its answer"
        self.guessed.add(place)
        return ""


def acts_faults(log: Sequence[EntryRow], order: Sequence[PresentationRow]) -> tuple[str, ...]:
    """What in a log, here or returned from elsewhere, could not have been done."""
    replay = Replay({(place.rater, place.position): place for place in order})
    found = ((row.number, replay.fault_of(row)) for row in log)
    return tuple(f"Entry {number} of the log {fault}." for number, fault in found if fault)


def in_acts(store: Store) -> Iterator[str]:
    """Entries that could not have been written in that order."""
    yield from acts_faults(ratings.entries(store), study_items.presentations(store))


def in_packs(store: Store) -> Iterator[str]:
    """Packs that are not those of the log."""
    logged = {row.note: row.rater for row in ratings.entries(store) if row.action == "pack"}
    for pack in packs.packs(store):
        if logged.pop(packs.pack_digest(pack), None) != pack.rater:
            yield f"The pack of rater {pack.rater} was altered or added."
    for name in logged.values():
        yield f"The pack of rater {name} was removed or altered."


def in_returns(store: Store) -> Iterator[str]:
    """Returned answers that are not those of the log, or whose content was altered."""
    logged = [(row.note, row.rater) for row in ratings.entries(store) if row.action == "merge"]
    returned = packs.returns(store)
    for row in returned:
        if sha256(row.content) != row.sha256:
            yield f"The answers returned by {row.rater} (number {row.number}) were altered."
    if [(row.sha256, row.rater) for row in returned] != logged:
        yield "The returned answers are not those of the log: some were added or removed."
    numbers = [row.number for row in returned]
    if numbers != list(range(1, len(numbers) + 1)):
        yield "The returned answers are not numbered from one without a gap."
