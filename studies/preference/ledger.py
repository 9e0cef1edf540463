"""Everything that was answered: the study's own log and all accepted returns together.

Owns which return of a pack counts (the last), whose answers count where one name was used in two
places (the study's own, then a pack's, then those of the share that came first; none that this
program could not have written), and how far each pack is. Refuses to count preferences; it hands
entries on to what is computed after unblinding.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from db import chain, packs, study_items
from db.chain import EntryRow
from db.packs import PackRow, ReturnedRow
from db.session import Store
from db.study_items import PresentationRow, RaterRow
from studies.errors import BadAnswers
from studies.preference.answers import Answers, read_answers
from studies.preference.fitting import Frame, in_force, unfit
from studies.preference.frozen import sha256
from studies.preference.seating import folded, reading_order


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
    for answers, names in counted(store):
        entries += [entry for entry in answers.entries if entry.rater in names]
        for seat in answers.seats:
            if seat.rater.name not in names:
                continue
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
    names = {answers.pack_id: names for answers, names in counted(store)}
    replaced = replaced_ids(handed)
    row, items = study_items.study_row(store), study_items.items(store)

    def length(rater: str) -> int:
        """Of the order drawn for that name: short blocks give some names fewer repeats."""
        return len(reading_order(row, items, rater))

    return tuple(
        _state(
            one,
            last.get(one.pack_id),
            names.get(one.pack_id, frozenset()),
            length,
            replaced=one.pack_id in replaced,
        )
        for one in handed
    )


def counted(store: Store) -> tuple[tuple[Answers, frozenset[str]], ...]:
    """The return of each pack that counts, with the raters whose answers in it count.

    Of a shared study those of a rater who did what this program does not do are left out.

    Raises:
        BadAnswers: a kept return does not hold any more.
    """
    handed = packs.packs(store)
    own = [row.name for row in study_items.raters(store)]
    taken = {folded(name) for name in (*own, *(row.rater for row in handed if row.rater))}
    found = []
    for row in latest(packs.returns(store)).values():
        answers = kept(row)
        names = frozenset(seat.rater.name for seat in answers.seats)
        if not row.rater:  # of a share, where anybody could take any name
            names -= set(unfit(answers, frame_of(store)))
            names = frozenset(name for name in names if folded(name) not in taken)
            taken |= set(map(folded, names))
        found.append((answers, names))
    return tuple(found)


def frame_of(store: Store) -> Frame:
    """The study that answers must fit."""
    return Frame(study_items.study_row(store), study_items.items(store))


def latest(returns: tuple[ReturnedRow, ...]) -> Mapping[str, ReturnedRow]:
    """The return of each pack that counts: the last accepted."""
    return {row.pack_id: row for row in returns}


@functools.lru_cache(maxsize=16)
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


def _state(
    one: PackRow,
    row: ReturnedRow | None,
    names: frozenset[str],
    length: Callable[[str], int],
    *,
    replaced: bool,
) -> PackState:
    counts = dict.fromkeys(names, 0)
    for name, _ in in_force(kept(row).entries) if row is not None else ():
        if name in counts:
            counts[name] += 1
    url = shared_url(one)
    return PackState(
        rater=one.rater,
        pack_id=one.pack_id,
        handed_utc=one.created_utc,
        answered=sum(counts.values()),
        items=sum(map(length, counts)) if url else length(one.rater),
        returned_utc=row.received_utc if row else "",
        replaced=replaced,
        url=url,
        raters=tuple(sorted(counts.items())),
    )
