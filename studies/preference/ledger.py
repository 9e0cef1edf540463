"""Everything that was answered: the study's own log and all accepted returns together.

Owns which return of a pack counts (the last) and how far each pack is. Refuses to count
preferences; it hands entries on to what is computed after unblinding.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from db import chain, packs, study_items
from db.chain import EntryRow
from db.packs import PackRow, ReturnedRow
from db.session import Store
from db.study_items import PresentationRow, RaterRow
from studies.errors import BadAnswers
from studies.preference.answers import Answers, read_answers
from studies.preference.fitting import in_force
from studies.preference.frozen import sha256
from studies.preference.seating import reading_order


@dataclass(frozen=True)
class PackState:
    """How far one handed-out seat is; counts only.

    Attributes:
        rater: whose pack; "" for a study shared on a server.
        pack_id: opaque.
        handed_utc: when it was made.
        answered: places with an answer in force, as last returned.
        items: places in the order, warm-up and repeats included.
        returned_utc: of the last accepted return, "" if there was none.
        replaced: a newer pack was made for this rater; answers of this one are refused.
        url: of a shared study, without a password.
        raters: who has returned answers, with how many: one for a pack, more for a share.
    """

    rater: str
    pack_id: str
    handed_utc: str
    answered: int
    items: int
    returned_utc: str
    replaced: bool = False
    url: str = ""
    raters: tuple[tuple[str, int], ...] = ()


@dataclass(frozen=True)
class Ledger:
    """The whole log.

    Attributes:
        entries: of the study's own log, then of each accepted return; in order for each rater.
            Numbers and hashes are those of the log an entry comes from.
        presentations: the order of every rater, by rater and position.
        raters: profiles, by name.
    """

    entries: tuple[EntryRow, ...]
    presentations: tuple[PresentationRow, ...]
    raters: tuple[RaterRow, ...]


def whole_log(store: Store) -> Ledger:
    """The study's own log and all accepted returns.

    Raises:
        StoreError: the study cannot be read.
        BadAnswers: a kept return does not hold any more.
    """
    entries = list(chain.entries(store))
    places = list(study_items.presentations(store))
    raters = list(study_items.raters(store))
    for row in latest(packs.returns(store)).values():
        answers = kept(row)
        entries += answers.entries
        for seat in answers.seats:
            raters.append(seat.rater)
            places += [
                PresentationRow(seat.rater.name, position, *place)
                for position, place in enumerate(seat.order, start=1)
            ]
    return Ledger(
        entries=tuple(entries),
        presentations=tuple(sorted(places, key=lambda place: (place.rater, place.position))),
        raters=tuple(sorted(raters, key=lambda rater: rater.name)),
    )


def pack_states(store: Store) -> tuple[PackState, ...]:
    """Every seat handed out, oldest first.

    Raises:
        StoreError: the study cannot be read.
        BadAnswers: a kept return does not hold any more.
    """
    handed = packs.packs(store)
    if not handed:
        return ()
    last = latest(packs.returns(store))
    replaced = replaced_ids(handed)
    row, items = study_items.study_row(store), study_items.items(store)
    places = len(reading_order(row, items, handed[0].rater))  # as many for every name
    return tuple(
        _state(one, last.get(one.pack_id), places, replaced=one.pack_id in replaced)
        for one in handed
    )


def latest(returns: tuple[ReturnedRow, ...]) -> Mapping[str, ReturnedRow]:
    """The return of each pack that counts: the last accepted."""
    return {row.pack_id: row for row in returns}


def kept(row: ReturnedRow) -> Answers:
    """The document of an accepted return.

    Raises:
        BadAnswers: it is not the one that was accepted.
    """
    if sha256(row.content) != row.sha256:
        raise BadAnswers(
            f"The answers of {row.rater or 'a shared study'} that were merged on "
            f"{row.received_utc[:10]} were altered in the study. Fetch it from a backup."
        )
    return read_answers(row.content)


def replaced_ids(handed: tuple[PackRow, ...]) -> set[str]:
    """Packs that a newer one stands for."""
    return {
        str(row.note).removeprefix(REPLACES)
        for row in handed
        if row.note and row.note.startswith(REPLACES)
    }


REPLACES = "replaces "
SHARED = "shared at "


def shared_url(row: PackRow) -> str:
    """Where a shared study lies, "" for a pack."""
    note = row.note or ""
    return note.removeprefix(SHARED) if note.startswith(SHARED) else ""


def _state(one: PackRow, row: ReturnedRow | None, places: int, *, replaced: bool) -> PackState:
    counts: dict[str, int] = {}
    if row is not None:
        answers = kept(row)
        counts = {seat.rater.name: 0 for seat in answers.seats}
        for name, _ in in_force(answers.entries):
            counts[name] += 1
    url = shared_url(one)
    return PackState(
        rater=one.rater,
        pack_id=one.pack_id,
        handed_utc=one.created_utc,
        answered=sum(counts.values()),
        items=places * (len(counts) if url else 1),
        returned_utc=row.received_utc if row else "",
        replaced=replaced,
        url=url,
        raters=tuple(sorted(counts.items())),
    )
