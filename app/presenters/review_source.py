"""The studies of this home, as the Review page asks for them.

Owns what it takes to sit a reader down, and knowing when a study's file has gone. Never reaches
a model: a rater's machine has none.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

from db import packs as pack_rows
from db.errors import StoreError
from db.home import Home
from studies.errors import StudyGone
from studies.preference import packs
from studies.preference.protocol import Protocol
from studies.preference.study import StudyInfo, list_studies, open_study

Value = TypeVar("Value")


@dataclass(frozen=True, eq=False)
class Opened:
    """A study with a reader seated.

    Attributes:
        study: ``studies.preference.study.Study``.
        session: None while a new reader's profile is still asked for.
        presentation: the item to be read now, None when all are answered.
        path: where it was opened.
        protocol: how it is read.
        seat: whose pack it is, empty for a study that anybody may read.
        mark: of the file that was opened, to see whether it is still there.
    """

    study: Any
    session: Any
    presentation: Any
    path: Path | str
    protocol: Protocol
    seat: str = ""
    mark: tuple[Path, int, int] | None = None

    def guarded(self, work: Callable[[], Value]) -> Value:
        """Do ``work``; a study whose file has gone says so, whatever the database says.

        A file that was deleted or pulled out while it is open takes writes that nobody will
        ever see: it is looked for before and after.

        Raises:
            StudyGone: the file is no longer there, or is another one.
        """
        self._look()
        try:
            done = work()
        except StoreError:
            self._look()
            raise
        self._look()
        return done

    def _look(self) -> None:
        if self.mark is not None and mark_of(self.mark[0]) != self.mark:
            raise StudyGone(
                f"{self.mark[0].parent} is not there any more. Put the stick or the folder back, "
                "then try again. Every answer given before is stored in it."
            )


class HomeStudies:
    """Lists and opens what lies below the home's ``studies`` folder."""

    def list_studies(self, home: Home) -> tuple[StudyInfo, ...]:
        """Every study, oldest first."""
        return tuple(list_studies(home))

    def sit(self, path: Path | str, rater: str, profile: Mapping[str, Any] | None) -> Opened:
        """Open a study and sit a reader down; without a profile a new one is asked for it.

        Raises:
            StoreError, StudyError: it cannot be opened or read by this person.
        """
        study = open_study(path)
        try:
            seat = pack_rows.seat_row(study.store)
            session = None
            if profile is not None or seat is not None or study.known_rater(rater):
                session = study.session(rater, **(profile or {}))
            return Opened(
                study=study,
                session=session,
                presentation=None if session is None else session.current(),
                path=path,
                protocol=study.protocol,
                seat="" if seat is None else seat.rater,
                mark=mark_of(file_of(path)),
            )
        except BaseException:
            study.close()
            raise

    def open_pack(self, home: Home, file: Path) -> Path:
        """Take a pack up; its folder in the home."""
        return packs.open_pack(home, file)

    def answers_name(self, path: Path | str, rater: str) -> str:
        """The name proposed for the file of a pack's answers."""
        with open_study(Path(path)) as study:
            return packs.answers_name(study.row.title, rater)

    def return_answers(self, path: Path | str, out: Path) -> Path:
        """Save a pack's answers as one file."""
        return packs.return_answers(Path(path), out)


def file_of(path: Path | str) -> Path | None:
    """The file of a study, None for one on a server."""
    if "://" in str(path):
        return None
    folder = Path(path)
    return folder / "study.sqlite" if folder.is_dir() else folder


def mark_of(file: Path | None) -> tuple[Path, int, int] | None:
    """A file with what tells it from another one of its name; None if it is not there."""
    if file is None:
        return None
    try:
        found = os.stat(file)  # noqa: PTH116 - a Path has no cheaper way
    except OSError:
        return None
    return file, found.st_dev, found.st_ino
