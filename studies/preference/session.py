"""One rater at work: the item to be read now, one durable commit per answer, steps back.

Never reaches torch. Refuses an answer to another item than the current one, and to draw the
next item before the answer is on the disk.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, TypedDict, Unpack

from db import ratings, study_items
from db.errors import RatingRefused
from db.ratings import NewRating
from db.session import Store
from db.study_items import ItemRow, PresentationRow
from studies.errors import BadStudy
from studies.preference.frozen import software_version
from studies.preference.panels import Panel, panel_from_json


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


class Details(TypedDict, total=False):
    """What may be kept beside an answer; each may be left out.

    Attributes:
        shown_utc: when the item was first shown.
        first_action_ms: from showing to the first key or click.
        answer_ms: from showing to the answer, without idle time.
        idle_ms: idle time taken out.
        confidence: 1 to 3.
        comment: free text.
        usefulness: ``left1`` ... ``right3`` to 0, 1 or 2.
        viewer_state: window and slice range seen.
    """

    shown_utc: str | None
    first_action_ms: int | None
    answer_ms: int | None
    idle_ms: int | None
    confidence: int | None
    comment: str | None
    usefulness: Mapping[str, int] | None
    viewer_state: Mapping[str, Any] | None


class Session:
    """One rater at work. Every answer and every step back is on the disk when the call returns.

    Args:
        store: of the open study file.
        rater: the name as stored.
        session_id: opaque.
    """

    def __init__(self, store: Store, rater: str, session_id: str) -> None:
        self.store = store
        self.rater = rater
        self.session_id = session_id
        self.software = software_version()
        self._order = study_items.presentations(store, rater)
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
        standing = ratings.standing(self.store)
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
        self, answer: str, *, item_id: str | None = None, **details: Unpack[Details]
    ) -> Presentation | None:
        """Keep an answer to the current item.

        Args:
            answer: ``left``, ``right``, ``both`` or ``neither``.
            item_id: of the item on the screen; refused if it is not the current one.
            details: times and what else belongs to the answer, see ``Details``.

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
            software=self.software,
            **details,
        )
        try:
            ratings.add_rating(self.store, rating)
        except RatingRefused:
            self.refresh()  # another window was at work; go on from where the file stands
            raise
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
            self._take_back(max(before))
        return self.current()

    def _take_back(self, position: int) -> None:
        try:
            ratings.undo(
                self.store,
                rater=self.rater,
                session_id=self.session_id,
                position=position,
                software=self.software,
            )
        except RatingRefused:
            self.refresh()
            raise
        self._answered.discard(position)

    def _next_place(self) -> PresentationRow | None:
        return next((p for p in self._order if p.position not in self._answered), None)

    def _present(self, place: PresentationRow | None) -> Presentation | None:
        if place is None:
            return None
        try:
            row = study_items.item_row(self.store, place.item_id)
            query, left, right = _panels(row)
        except (KeyError, TypeError, IndexError, AttributeError) as error:
            raise BadStudy(
                "An item of this study is damaged. See which with triptych study verify, "
                "and fetch the study again."
            ) from error
        if place.swapped:
            left, right = right, left
        return Presentation(
            item_id=row.item_id,
            prompt=row.prompt,
            query=query,
            left=left,
            right=right,
            position=place.position,
            total=self.total,
            kind=place.kind,
        )


def _panels(row: ItemRow) -> tuple[Panel, tuple[Panel, ...], tuple[Panel, ...]]:
    """Centre, left and right."""
    left, right = (tuple(map(panel_from_json, side)) for side in (row.left, row.right))
    return panel_from_json(row.query), left, right
