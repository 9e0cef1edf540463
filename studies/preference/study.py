"""A study as a rater meets it: opened, listed, its pictures decoded, a rater seated.

Owns opening and the order of a rater; what happens then is in ``studies.preference.session``.
Never reaches torch. Refuses to tell anything about preferences: it counts answers, never which.
"""

from __future__ import annotations

import secrets
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType

import numpy as np
from numpy.typing import NDArray

from db import packs, ratings, study_items
from db.errors import RatingRefused, StoreError
from db.home import Home
from db.session import Store, is_url, open_study_store
from db.study_items import RaterRow
from studies.errors import BadStudy, StudyError
from studies.preference.frozen import order_hash, software_version
from studies.preference.ledger import PackState, pack_states
from studies.preference.media import decode
from studies.preference.order_words import Seat, order_words
from studies.preference.panels import Panel
from studies.preference.protocol import Protocol
from studies.preference.seating import (
    profile,
    protocol_of,
    rater_name,
    reading_order,
    refuse_other_spelling,
)
from studies.preference.session import Presentation, Session

__all__ = [
    "ANSWERS",
    "Panel",
    "Presentation",
    "Session",
    "Study",
    "StudyInfo",
    "list_studies",
    "open_study",
]

ANSWERS = ratings.ANSWERS
# So long that nobody guesses it: readers on one server see the hash of another's last entry, and
# what it is of cannot be tried out without this.
SESSION_BYTES = 16


@dataclass(frozen=True)
class StudyInfo:
    """A study from outside.

    Attributes:
        items: items to be read.
        auto_ties: identical lists, recorded and never shown.
        answered: answers in force of the rater who is furthest, practice and repeats included.
        places: places in that rater's order, practice and repeats included; the items where
            nobody has an order yet.
        raters: name and number of answers in force, those of returned packs too.
        unblinded: the key was opened; no more ratings.
        hash: SHA-256 of everything frozen.
        path: its folder.
        seat: whose pack this is; empty for a study that anybody may read.
        packs: every seat handed out, oldest first; empty in a pack.
        practice: practice items of each order, none while nobody has one.
        fault: why it cannot be opened; then everything but id and path is empty.
        seats: who reads or was handed a pack that is waited for: name, answers in force (None while
            nothing is back), places.
    """

    id: str
    title: str
    created_utc: str
    items: int
    auto_ties: int
    answered: int
    raters: tuple[tuple[str, int], ...]
    unblinded: bool
    hash: str
    path: Path
    fault: str = ""
    seat: str = ""
    packs: tuple[PackState, ...] = ()
    places: int = 0
    practice: int = 0
    seats: tuple[Seat, ...] = ()

    @property
    def far(self) -> tuple[int, int]:
        """(answers in force, places) over everybody who reads; the items where nobody does."""
        if not self.seats:
            return self.answered, self.places
        return sum(one[1] or 0 for one in self.seats), sum(one[2] for one in self.seats)

    @property
    def reads(self) -> str:
        """What ``places`` counts, in words: ``24 items and 3 repeats, 3 practice``."""
        return order_words(self.items, self.places - self.items - self.practice, self.practice)


def list_studies(home: Home) -> tuple[StudyInfo, ...]:
    """Every study of a home, oldest first; one that cannot be opened says why in ``fault``."""
    found = []
    for folder in sorted(home.studies.glob("*/study.sqlite")):
        if folder.parent.name.startswith("."):
            continue
        try:
            with open_study(folder.parent) as study:
                found.append(study.info())
        except (StoreError, StudyError) as error:
            folder_name, path = folder.parent.name, folder.parent
            found.append(
                StudyInfo(folder_name, "", "", 0, 0, 0, (), False, "", path, fault=str(error))
            )
    return tuple(sorted(found, key=lambda info: (info.created_utc, info.id)))


def open_study(path: Path | str) -> Study:
    """Open a study's folder, its ``study.sqlite`` alone, or one on a server.

    Args:
        path: the folder or file, or ``postgresql://.../database?schema=study_...``.

    Raises:
        BadStudy: there is no study.
        StoreError: locked, newer, damaged, not writable, or the server refuses.
    """
    if is_url(path):
        return Study(open_study_store(path))
    path = Path(path)
    file = path / "study.sqlite" if path.is_dir() else path
    if not file.is_file():
        raise BadStudy(f"{path} is no study: there is no study.sqlite. Choose the study's folder.")
    return Study(open_study_store(file))


class Study:
    """An open study; use it on one thread, or on several: each call is its own transaction.

    Args:
        store: of the study file.
    """

    def __init__(self, store: Store) -> None:
        self.store = store
        try:
            self.row = study_items.study_row(store)
        except BaseException:
            store.close()
            raise

    @property
    def protocol(self) -> Protocol:
        """How this study is read, as frozen in it."""
        return protocol_of(self.row)

    @property
    def location(self) -> str:
        """Its folder, or its address on a server with the password hidden."""
        return self.store.location

    def known_rater(self, name: str) -> bool:
        """Whether somebody of that name sat down before."""
        return rater_name(name) in {row.name for row in study_items.raters(self.store)}

    def info(self) -> StudyInfo:
        """Where the study stands; counts only."""
        counts = study_items.count_items(self.store)
        standing = ratings.standing(self.store)
        done = {rater.name: 0 for rater in study_items.raters(self.store)}
        for name, _ in standing:
            done[name] = done.get(name, 0) + 1
        handed = pack_states(self.store)
        for pack in handed:
            done.update(pack.raters)
        seat = packs.seat_row(self.store)
        items = counts.get("item", 0)
        own = study_items.count_places(self.store)
        places = max((*own.values(), *map(_places, handed)), default=0)
        return StudyInfo(
            # a pack may lie in one home with the study it was made of
            id=f"{self.row.study_id}-{seat.pack_id}" if seat else self.row.study_id,
            title=self.row.title,
            created_utc=self.row.created_utc,
            items=items,
            auto_ties=counts.get("auto_tie", 0),
            answered=max(done.values(), default=0),
            raters=tuple(sorted(done.items())),
            unblinded=ratings.unblinding(self.store) is not None,
            hash=self.row.hash,
            path=self.store.path.parent,
            seat=seat.rater if seat else "",
            packs=handed,
            places=places or items,
            practice=counts.get("warmup", 0) if places else 0,
            seats=_seats(own, handed, done),
        )

    def session(
        self,
        rater: str,
        *,
        specialty: str | None = None,
        years: int | None = None,
        modalities: str | None = None,
        display: str | None = None,
    ) -> Session:
        """Sit a rater down; a new one gets an own order, a known one goes on where it stopped.

        Raises:
            BadStudy: no name, this is another rater's pack, this rater was handed one, or another
                is called so but for capitals.
            RatingRefused: the study is unblinded, or the name is another login's on the server.
        """
        name = rater_name(rater)
        handed = {row.rater for row in packs.packs(self.store)}
        self._refuse_seat(name, handed)
        known = {row.name for row in study_items.raters(self.store)}
        session_id = secrets.token_hex(SESSION_BYTES)
        if name not in known:
            refuse_other_spelling(name, known | handed - {""})
            self._seat(
                profile(
                    name,
                    specialty=specialty,
                    years=years,
                    modalities=modalities,
                    display=display,
                ),
                session_id,
            )
        study_items.start_session(self.store, session_id, name, software_version())
        return Session(self.store, name, session_id)

    def media(self, media_id: str) -> NDArray[np.uint8]:
        """Decode one medium.

        Returns:
            uint8: a picture [H, W] or [H, W, 3], a volume [S, H, W] or [S, H, W, 3].

        Raises:
            StoreDamaged, BadStudy: it is not there, or damaged.
        """
        return decode(study_items.medium_row(self.store, media_id))

    def close(self) -> None:
        """Let go of the file."""
        self.store.close()

    def __enter__(self) -> Study:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def _refuse_seat(self, name: str, handed: set[str]) -> None:
        """Say why somebody cannot read here."""
        seat = packs.seat_row(self.store)
        if seat is not None and seat.rater != name:
            raise BadStudy(
                f"This study was handed to {seat.rater}. Read it under that name, or ask the "
                "coordinator for a pack of your own."
            )
        if seat is None and name in handed:
            raise BadStudy(
                f"{name} was handed a pack of this study and reads there. "
                "Open that file, or read here under another name."
            )
        if ratings.unblinding(self.store) is not None:
            raise RatingRefused(
                "This study was unblinded; it takes no more ratings. Build a new study to go on."
            )

    def _seat(self, row: RaterRow, session_id: str) -> None:
        """Draw a new rater's order from the study's seed and the name, and keep it."""
        order = reading_order(self.row, study_items.items(self.store), row.name)
        digest = order_hash(row, order)
        study_items.add_rater(self.store, row, order, digest, session_id=session_id)


def _seats(
    own: Mapping[str, int], handed: Sequence[PackState], done: Mapping[str, int]
) -> tuple[Seat, ...]:
    """Everybody who reads, with how far; a replaced pack is not waited for."""
    places, away = dict(own), set[str]()
    for pack in handed:
        names = [name for name, _ in pack.raters] if pack.url else [pack.rater]
        if not pack.replaced:
            places |= dict.fromkeys(names, _places(pack))
            away |= set() if pack.returned_utc else set(names)
    return tuple(
        (name, None if name in away else done.get(name, 0), count)
        for name, count in sorted(places.items())
    )


def _places(pack: PackState) -> int:
    """Places of one rater's order, of a pack or of those who read a shared study."""
    return pack.items // max(1, len(pack.raters)) if pack.url else pack.items
