"""Where a study stands, read from its files each time: readers, packs, protocol, a stamp.

Counts and times only; never an answer. Called on threads. The stamp changes whenever a file of
the study does, so that a verdict on it lapses by itself.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from db import ratings, study_items
from db.home import Home
from studies.preference.ledger import PackState
from studies.preference.protocol import Protocol
from studies.preference.study import Study, StudyInfo, list_studies, open_study
from studies.preference.verify import KEY, OPEN_KEY

FILES = ("study.sqlite", KEY, OPEN_KEY)
Stamp = tuple[tuple[int, int], ...]


@dataclass(frozen=True)
class Reader:
    """One reader, by whatever way.

    Attributes:
        name: as stored; "" for a shared database.
        way: ``here``, ``pack`` or ``shared``.
        answered: places with an answer in force, as far as known here.
        places: places in the order, practice items and repeats included.
        handed_utc: when the pack was made, "" for a reader here.
        returned_utc: of the last accepted return, "" if there was none.
        replaced: a newer pack was made; this one is not waited for.
    """

    name: str
    way: str
    answered: int
    places: int
    handed_utc: str = ""
    returned_utc: str = ""
    replaced: bool = False

    @property
    def complete(self) -> bool:
        """Nothing is to be waited for."""
        return self.replaced or 0 < self.places <= self.answered


@dataclass(frozen=True)
class Standing:
    """A study as it lies on the disk now.

    Attributes:
        info: from outside.
        protocol: how it is read; None if it cannot be opened.
        seat: whose pack this is; "" for the coordinator's study.
        holds_key: the sealed key lies beside it.
        readers: everybody who reads it.
        entries: length of the log.
        stamp: size and time of its files.
        opened_utc: when it was unblinded, "" while it is blind.
        reason: why it was.
    """

    info: StudyInfo
    protocol: Protocol | None = None
    seat: str = ""
    holds_key: bool = False
    readers: tuple[Reader, ...] = ()
    entries: int = 0
    stamp: Stamp = ()
    opened_utc: str = ""
    reason: str = ""

    @property
    def outstanding(self) -> tuple[Reader, ...]:
        """Readers who were handed a study and have not sent back all of it."""
        return tuple(one for one in self.readers if one.way != "here" and not one.complete)

    @property
    def complete(self) -> bool:
        """Somebody reads, and everybody has finished."""
        return bool(self.readers) and all(one.complete for one in self.readers)


def standings(home: Home, extra: Iterable[Path] = ()) -> tuple[Standing, ...]:
    """Every study of a home, and those opened from elsewhere, oldest first.

    Raises:
        StoreError, BadStudy: one from elsewhere cannot be opened.
    """
    found = {info.id: info for info in list_studies(home)}
    for path in extra:
        with open_study(path) as study:
            info = study.info()
        found.setdefault(info.id, info)
    return tuple(standing_of(info) for info in found.values())


def standing_of(info: StudyInfo) -> Standing:
    """Read one study; one that cannot be opened keeps its fault."""
    if info.fault:
        return Standing(info)
    with open_study(info.path) as study:
        opened = ratings.unblinding(study.store)
        return Standing(
            info=info,
            protocol=study.protocol,
            seat=info.seat,
            holds_key=(info.path / KEY).is_file(),
            readers=_readers(study, info.packs),
            entries=len(ratings.entries(study.store)),
            stamp=stamp_of(info.path),
            opened_utc=opened.at_utc if opened else "",
            reason=(opened.note or "") if opened else "",
        )


def stamp_of(path: Path) -> Stamp:
    """Size and time of the files of a study; a missing one counts as none."""
    found = []
    for name in FILES:
        try:
            stat = (path / name).stat()
        except OSError:
            found.append((-1, -1))
        else:
            found.append((stat.st_size, stat.st_mtime_ns))
    return tuple(found)


def _readers(study: Study, handed: Sequence[PackState]) -> tuple[Reader, ...]:
    """Those who read in this file, then those who were handed one."""
    answered = Counter(name for name, _ in ratings.standing(study.store))
    places = Counter(place.rater for place in study_items.presentations(study.store))
    here = [Reader(row.name, "here", answered[row.name], places[row.name])
            for row in study_items.raters(study.store)]  # fmt: skip
    return (*here, *map(_handed, handed))


def _handed(state: PackState) -> Reader:
    return Reader(
        state.rater, "shared" if state.url else "pack", state.answered, state.items,
        state.handed_utc, state.returned_utc, state.replaced,
    )  # fmt: skip


def day(utc: str) -> str:
    """A stored time as a person reads it; as it is if it is none."""
    try:
        return datetime.fromisoformat(utc).strftime("%d %b %Y %H:%M UTC")
    except ValueError:
        return utc
