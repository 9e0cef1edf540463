"""One rater at work: the item to be read now, one durable commit per act, steps back, guesses.

Never reaches torch. Refuses an answer to another item than the current one, and to draw the
next item before the answer is on the disk. A broken store loses nothing: the act may be done
again, and one that was kept after all is not kept twice.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, TypedDict, Unpack

from db import ratings, study_items
from db.errors import AnsweredAlready, RatingRefused, StoreError
from db.ratings import EntryRow, NewRating
from db.session import Store
from db.study_items import ItemRow, PresentationRow
from studies.errors import BadStudy
from studies.preference.frozen import software_version
from studies.preference.panels import Panel, panel_from_json
from studies.preference.protocol import Protocol
from studies.preference.seating import guess_sample, protocol_of


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
        block: items of one block are read together (``2d``, ``3d``, ``text``).
    """

    item_id: str
    prompt: str
    query: Panel
    left: tuple[Panel, ...]
    right: tuple[Panel, ...]
    position: int
    total: int
    kind: str = "item"
    block: str = ""

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
        reason: why the item cannot be judged; needed for ``cannot``, refused elsewhere.
    """

    shown_utc: str | None
    first_action_ms: int | None
    answer_ms: int | None
    idle_ms: int | None
    confidence: int | None
    comment: str | None
    usefulness: Mapping[str, int] | None
    viewer_state: Mapping[str, Any] | None
    reason: str | None


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
        self._frame = study_items.study_row(store)
        self._order = study_items.presentations(store, rater)
        self._blocks = study_items.blocks(store)
        self._to_guess = guess_sample(self._frame, self._order, rater)
        self._answered: dict[int, EntryRow] = {}
        self._guessed: dict[int, EntryRow] = {}
        self._rows: dict[str, ItemRow] = {}
        self._taken: dict[int, EntryRow] = {}
        self._unsure = False
        self._said: tuple[str | None, ...] = ()
        self.refresh()

    @property
    def total(self) -> int:
        """Places in this rater's order, warm-ups and repeats among them."""
        return len(self._order)

    @property
    def answered(self) -> int:
        """Places that have an answer in force."""
        return len(self._answered)

    @property
    def settled(self) -> bool:
        """Whether a guess is stored: from then on no answer is taken back or changed."""
        return bool(self._guessed)

    @property
    def warmups(self) -> int:
        """Practice items at the beginning; they count nowhere."""
        return sum(place.kind == "warmup" for place in self._order)

    @property
    def protocol(self) -> Protocol:
        """How this study is read, as frozen in it."""
        return protocol_of(self._frame)

    @property
    def left(self) -> dict[str, int]:
        """Places of each block without an answer, the current one among them."""
        waiting = (p for p in self._order if p.position not in self._answered)
        return dict(Counter(self._blocks.get(place.item_id, "") for place in waiting))

    def refresh(self) -> None:
        """Read again which places are answered (another window may have been at work)."""
        standing = ratings.standing(self.store, self.rater)
        guesses = ratings.guesses(self.store, self.rater)
        self._answered = {place: row for (_, place), row in standing.items()}
        self._guessed = {row.position: row for row in guesses if row.position is not None}
        self._unsure = False

    def current(self) -> Presentation | None:
        """The item to be read now; None when all are answered."""
        place = self._next_place()
        found = None if place is None else self._present(place)
        self._said = ()
        return found

    def upcoming(self, count: int = 2) -> tuple[Presentation, ...]:
        """The items after the current one, so that their pictures can be decoded beforehand."""
        waiting = [place for place in self._order if place.position not in self._answered]
        return tuple(self._present(place) for place in waiting[1 : 1 + count])

    def answer(
        self, answer: str, *, item_id: str | None = None, **details: Unpack[Details]
    ) -> Presentation | None:
        """Keep an answer to the current item.

        Args:
            answer: one of ``ratings.ANSWERS``; ``cannot`` needs a ``reason``.
            item_id: of the item on the screen; refused if it is not the current one.
            details: times and what else belongs to the answer, see ``Details``.

        Returns:
            The next item, None when that was the last.

        Raises:
            AnsweredAlready: another window was quicker; ``current`` says where to go on.
            RatingRefused: unblinded, not the current item, no reason, broken chain.
            StoreError: what the store refused; the item stays and may be answered again.
        """
        said = ("answer", answer, item_id)
        if self._said == said:
            return self.current()
        place = self._next_place()
        if place is None:
            raise RatingRefused("Every item of this study has its answer. Nothing was kept.")
        if item_id is not None and item_id != place.item_id:
            raise RatingRefused("That is not the item to be read now. Nothing was kept.")
        if self._unsure and self._kept_after_all(place, answer):
            return self._go_on(said)
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
        self._answered[place.position] = self._write(lambda: ratings.add_rating(self.store, rating))
        return self._go_on(said)

    def undo(self) -> Presentation | None:
        """Go back to the item before the current one and take its answer back.

        The first answer stays in the log; a new entry says that it was taken back.

        Returns:
            That item, to be answered again; the current one if there is none before it.

        Raises:
            RatingRefused: the study is unblinded, or a guess of this rater is stored.
        """
        if self._said == ("undo",):
            return self.current()
        if self.settled:
            raise RatingRefused(ratings.SETTLED)
        if self._unsure and self._taken_back_after_all():
            return self._go_on(("undo",))
        before = self._place_before()
        if before is not None:
            self._write(
                lambda: ratings.undo(
                    self.store,
                    rater=self.rater,
                    session_id=self.session_id,
                    position=before,
                    software=self.software,
                )
            )
            self._taken[before] = self._answered.pop(before)
        return self._go_on(("undo",))

    def taken_back(self, position: int) -> EntryRow | None:
        """The answer that was taken back here and not given anew, with what was said beside it."""
        return None if position in self._answered else self._taken.get(position)

    def guesses(self) -> tuple[Presentation, ...]:
        """What is still to be guessed, in order; empty until every item has its answer."""
        if self._next_place() is not None:
            return ()
        left = [place for place in self._to_guess if place.position not in self._guessed]
        found = tuple(self._present(place) for place in left)
        self._said = ()
        return found

    def guess(self, item_id: str, answer: str) -> tuple[Presentation, ...]:
        """Keep a guess which side is the tested model's; a guess stands.

        Args:
            item_id: one of ``guesses()``.
            answer: ``left``, ``right`` or ``unsure``.

        Returns:
            What is left to be guessed.

        Raises:
            AnsweredAlready: another window was quicker.
            RatingRefused: not asked for, an unknown guess, unblinded, broken chain.
            StoreError: what the store refused; may be guessed again.
        """
        said = ("guess", answer, item_id)
        if self._said == said:
            return self.guesses()
        if self._unsure and self._guessed_after_all(item_id, answer):
            self._said = said
            return self.guesses()
        asked = next((one for one in self.guesses() if one.item_id == item_id), None)
        if asked is None:
            raise RatingRefused("That item is not to be guessed now. Nothing was kept.")
        self._guessed[asked.position] = self._write(
            lambda: ratings.add_guess(
                self.store,
                rater=self.rater,
                session_id=self.session_id,
                position=asked.position,
                item_id=item_id,
                answer=answer,
                software=self.software,
            )
        )
        self._said = said
        return self.guesses()

    def note_pause(self, kind: str) -> None:
        """Note that the rater stops reading (``pause``) or goes on (``resume``).

        Raises:
            RatingRefused: the study is unblinded.
            StoreError: what the store refused.
        """
        place = self._next_place()
        self._write(
            lambda: ratings.add_pause(
                self.store,
                rater=self.rater,
                session_id=self.session_id,
                kind=kind,
                position=None if place is None else place.position,
                software=self.software,
            )
        )

    def pauses(self) -> tuple[tuple[str, str], ...]:
        """The rater's pauses so far: (``pause`` or ``resume``, UTC), in order."""
        found = ratings.pauses(self.store, self.rater)
        return tuple((row.action, row.at_utc) for row in found)

    def _go_on(self, said: tuple[str | None, ...]) -> Presentation | None:
        """The next item. Where it cannot be read, the same act asked again is not done again."""
        self._said = said
        return self.current()

    def _write(self, act: Callable[[], EntryRow]) -> EntryRow:
        """Do one act; after a refusal go on from where the study stands."""
        try:
            return act()
        except RatingRefused:
            self.refresh()  # another window was at work
            raise
        except StoreError:
            # a connection may break after the commit: then it was kept, though nobody was told
            self._unsure = True
            raise

    def _kept_after_all(self, place: PresentationRow, answer: str) -> bool:
        """Whether the last attempt at this place was kept although the store broke.

        Raises:
            AnsweredAlready: another answer was.
        """
        self.refresh()
        kept = self._answered.get(place.position)
        if kept is None:
            return False
        if (kept.session_id, kept.answer) == (self.session_id, answer):
            return True
        raise AnsweredAlready(
            f"Item {place.position} has its answer already. Go back with Ctrl+Z to change it."
        )

    def _taken_back_after_all(self) -> bool:
        wanted, before = self._place_before(), self._answered
        self.refresh()
        if wanted is None or wanted in self._answered:
            return False
        self._taken[wanted] = before[wanted]
        return True

    def _guessed_after_all(self, item_id: str, answer: str) -> bool:
        self.refresh()
        kept = next((row for row in self._guessed.values() if row.item_id == item_id), None)
        if kept is None or (kept.session_id, kept.answer) == (self.session_id, answer):
            return kept is not None
        raise AnsweredAlready(f"Item {kept.position} has its guess already; a guess stands.")

    def _next_place(self) -> PresentationRow | None:
        return next((p for p in self._order if p.position not in self._answered), None)

    def _place_before(self) -> int | None:
        """The answered place before the current one, None at the beginning."""
        place = self._next_place()
        limit = self.total + 1 if place is None else place.position
        return max((position for position in self._answered if position < limit), default=None)

    def _row(self, item_id: str) -> ItemRow:
        """An item, asked of the store once: it was frozen, and a server may be far away."""
        if item_id not in self._rows:
            self._rows[item_id] = study_items.item_row(self.store, item_id)
        return self._rows[item_id]

    def _present(self, place: PresentationRow) -> Presentation:
        try:
            row = self._row(place.item_id)
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
            block=row.block,
        )


def _panels(row: ItemRow) -> tuple[Panel, tuple[Panel, ...], tuple[Panel, ...]]:
    """Centre, left and right."""
    left, right = (tuple(map(panel_from_json, side)) for side in (row.left, row.right))
    return panel_from_json(row.query), left, right
