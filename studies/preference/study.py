"""A study as a rater meets it: what to show next, and one durable commit per answer.

Owns opening, sessions and the order of a rater. Never reaches torch. Refuses to tell anything
about preferences: it counts answers, never which.
"""

from __future__ import annotations

import hashlib
import secrets
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from db import ratings, study_items
from db.errors import RatingRefused, StoreError
from db.home import Home
from db.ratings import NewRating
from db.session import Store, open_study_store
from db.study_items import PresentationRow, RaterRow
from studies.errors import BadStudy
from studies.preference.frozen import order_hash, software_version
from studies.preference.media import decode
from studies.preference.panels import Panel, panel_from_json
from studies.preference.sample import generator, reading_order

ANSWERS = ratings.ANSWERS


@dataclass(frozen=True)
class StudyInfo:
    """A study from outside.

    Attributes:
        items: items to be read.
        auto_ties: identical lists, recorded and never shown.
        answered: answers in force of the rater who is furthest.
        raters: name and number of answers in force.
        unblinded: the key was opened; no more ratings.
        hash: SHA-256 of everything frozen.
        path: its folder.
        fault: why it cannot be opened; then everything but id and path is empty.
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


@dataclass(frozen=True)
class Presentation:
    """One item as it is to be drawn.

    Attributes:
        item_id: opaque.
        prompt: the task in the reader's words.
        query: the centre.
        left: the left wing, best first; three panels, fewer where a task has fewer candidates.
        right: the right wing.
        position: place in the rater's order, from 1.
        total: places in the rater's order.
        kind: ``item``, ``warmup`` or ``repeat``.
    """

    item_id: str
    prompt: str
    query: Panel
    left: tuple[Panel, ...]
    right: tuple[Panel, ...]
    position: int
    total: int
    kind: str = "item"

    @property
    def media_ids(self) -> tuple[str, ...]:
        """Everything that must be decoded before it may be rated, without repeats."""
        panels = (self.query, *self.left, *self.right)
        return tuple(dict.fromkeys(name for panel in panels for name in panel.media_ids))


def list_studies(home: Home) -> tuple[StudyInfo, ...]:
    """Every study of a home, oldest first; one that cannot be opened says why in ``fault``."""
    found = []
    for folder in sorted(home.studies.glob("*/study.sqlite")):
        if folder.parent.name.startswith("."):
            continue
        try:
            with open_study(folder.parent) as study:
                found.append(study.info())
        except (StoreError, BadStudy) as error:
            folder_name, path = folder.parent.name, folder.parent
            found.append(
                StudyInfo(folder_name, "", "", 0, 0, 0, (), False, "", path, fault=str(error))
            )
    return tuple(sorted(found, key=lambda info: (info.created_utc, info.id)))


def open_study(path: Path) -> Study:
    """Open a study's folder, or its ``study.sqlite`` alone.

    Raises:
        BadStudy: there is no study.
        StoreError: locked, newer, damaged or not writable.
    """
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

    def info(self) -> StudyInfo:
        """Where the study stands; counts only."""
        counts = study_items.count_items(self.store)
        standing = ratings.standing(self.store)
        done = {rater.name: 0 for rater in study_items.raters(self.store)}
        for name, _ in standing:
            done[name] = done.get(name, 0) + 1
        return StudyInfo(
            id=self.row.study_id,
            title=self.row.title,
            created_utc=self.row.created_utc,
            items=sum(n for kind, n in counts.items() if kind == "item"),
            auto_ties=counts.get("auto_tie", 0),
            answered=max(done.values(), default=0),
            raters=tuple(sorted(done.items())),
            unblinded=ratings.unblinding(self.store) is not None,
            hash=self.row.hash,
            path=self.store.path.parent,
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
            BadStudy: no name.
            RatingRefused: the study is unblinded.
        """
        name = " ".join(rater.split())
        if not name:
            raise BadStudy("A rater needs a name or initials; set it under Settings.")
        if ratings.unblinding(self.store) is not None:
            raise RatingRefused(
                "This study was unblinded; it takes no more ratings. Build a new study to go on."
            )
        if name not in {row.name for row in study_items.raters(self.store)}:
            self._seat(RaterRow(name, specialty, years, modalities, display))
        session_id = secrets.token_hex(6)
        study_items.start_session(self.store, session_id, name, software_version())
        return Session(self, name, session_id)

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

    def _seat(self, row: RaterRow) -> None:
        """Draw a new rater's order from the study's seed and the name, and keep it."""
        blocks: dict[str, list[str]] = {}
        for item in study_items.items(self.store):
            if item.kind == "item":
                blocks.setdefault(item.block, []).append(item.item_id)
        own = int.from_bytes(hashlib.sha256(row.name.encode("utf-8")).digest()[:8], "big")
        ids = reading_order(blocks, generator(int(self.row.order_seed), own))
        order = [(item_id, "item", False) for item_id in ids]
        study_items.add_rater(self.store, row, order, order_hash(row, order))


class Session:
    """One rater at work. Every answer and every step back is on the disk when the call returns.

    Args:
        study: the open study.
        rater: the name as stored.
        session_id: opaque.
    """

    def __init__(self, study: Study, rater: str, session_id: str) -> None:
        self.study = study
        self.rater = rater
        self.session_id = session_id
        self.software = software_version()
        self._order = study_items.presentations(study.store, rater)
        self._answered: set[int] = set()
        self.refresh()

    @property
    def total(self) -> int:
        """Places in this rater's order."""
        return len(self._order)

    @property
    def answered(self) -> int:
        """Places that have an answer in force."""
        return len(self._answered)

    def refresh(self) -> None:
        """Read again which places are answered (another window may have been at work)."""
        standing = ratings.standing(self.study.store)
        self._answered = {place for rater, place in standing if rater == self.rater}

    def current(self) -> Presentation | None:
        """The item to be read now; None when all are answered."""
        return self._present(self._next_place())

    def upcoming(self) -> Presentation | None:
        """The item after the current one, so that its pictures can be decoded beforehand."""
        current = self._next_place()
        after = [p for p in self._order if p.position not in self._answered and p != current]
        return self._present(after[0] if current and after else None)

    def answer(
        self,
        answer: str,
        *,
        item_id: str | None = None,
        shown_utc: str | None = None,
        first_action_ms: int | None = None,
        answer_ms: int | None = None,
        idle_ms: int | None = None,
        confidence: int | None = None,
        comment: str | None = None,
        usefulness: Mapping[str, int] | None = None,
        viewer_state: Mapping[str, Any] | None = None,
    ) -> Presentation | None:
        """Keep an answer to the current item.

        Args:
            answer: ``left``, ``right``, ``both`` or ``neither``.
            item_id: of the item on the screen; refused if it is not the current one.
            shown_utc: when it was first shown.
            first_action_ms: from showing to the first key or click.
            answer_ms: from showing to the answer, without idle time.
            idle_ms: idle time taken out.
            confidence: 1 to 3.
            comment: free text.
            usefulness: ``left1`` ... ``right3`` to 0, 1 or 2.
            viewer_state: window and slice range seen.

        Returns:
            The next item, None when that was the last.

        Raises:
            RatingRefused: unblinded, answered already, not the current item, broken chain.
            StoreError: what SQLite refused; then nothing was kept and the item stays.
        """
        place = self._next_place()
        if place is None:
            raise RatingRefused("Every item of this study has its answer. Nothing was kept.")
        if item_id is not None and item_id != place.item_id:
            raise RatingRefused("That is not the item to be read now. Nothing was kept.")
        rating = NewRating(
            rater=self.rater,
            session_id=self.session_id,
            position=place.position,
            item_id=place.item_id,
            kind=place.kind,
            answer=answer,
            shown_utc=shown_utc,
            first_action_ms=first_action_ms,
            answer_ms=answer_ms,
            idle_ms=idle_ms,
            confidence=confidence,
            comment=comment,
            usefulness=usefulness,
            viewer_state=viewer_state,
            software=self.software,
        )
        ratings.add_rating(self.study.store, rating)
        self._answered.add(place.position)
        return self.current()

    def undo(self) -> Presentation | None:
        """Go back to the item before the current one and take its answer back.

        The first answer stays in the log; a new entry says that it was taken back.

        Returns:
            That item, to be answered again; the current one if there is none before it.

        Raises:
            RatingRefused: the study is unblinded.
        """
        place = self._next_place()
        limit = self.total + 1 if place is None else place.position
        before = [position for position in self._answered if position < limit]
        if before:
            ratings.undo(
                self.study.store,
                rater=self.rater,
                session_id=self.session_id,
                position=max(before),
                software=self.software,
            )
            self._answered.discard(max(before))
        return self.current()

    def _next_place(self) -> PresentationRow | None:
        return next((p for p in self._order if p.position not in self._answered), None)

    def _present(self, place: PresentationRow | None) -> Presentation | None:
        if place is None:
            return None
        row = study_items.item_row(self.study.store, place.item_id)
        left = tuple(panel_from_json(panel) for panel in row.left)
        right = tuple(panel_from_json(panel) for panel in row.right)
        if place.swapped:
            left, right = right, left
        return Presentation(
            item_id=row.item_id,
            prompt=row.prompt,
            query=panel_from_json(row.query),
            left=left,
            right=right,
            position=place.position,
            total=self.total,
            kind=place.kind,
        )
