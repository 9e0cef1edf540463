"""Decides the Review page: what is shown when, which keys count, and that no answer is lost.

An answer is stored (one durable commit) before the next item is drawn. Keys count only once
the whole item is painted and 300 ms have passed. Logs positions and times, never an answer.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

from app.failures import sentence
from app.presenters import review_words as words
from app.presenters.base import Presenter
from app.presenters.display import picture_bytes
from app.presenters.pace import AWAY_SECONDS, ItemClock, Pace
from app.presenters.review_ahead import AHEAD, Ahead
from app.presenters.review_desk import Desk
from app.presenters.review_end import ReviewEnd
from app.presenters.review_intents import ReviewIntents
from app.presenters.review_resume import Places, reading_of
from app.presenters.review_said import Draft, Said, said_again
from app.services import Services
from app.widgets.triptych import BoardItem
from db.errors import NotWritable, RatingRefused, StoreDamaged
from studies.errors import StudyGone

log = logging.getLogger("triptych.review")
KEEP_VIEW_SECONDS = 3.0
READING = ("rating", "revealing")


class ReviewPresenter(ReviewIntents, ReviewEnd, Presenter):
    """Runs one rating session.

    Args:
        view: ``app.views.review.ReviewView`` or a fake.
        services: the program's objects.
        source: as for ``Desk``; the studies of this home by default.
        now: seconds that only grow.
    """

    def __init__(
        self,
        view: Any,
        services: Services,
        *,
        source: Any = None,
        now: Callable[[], float] = time.monotonic,
    ) -> None:
        super().__init__(view, services)
        self._now = now
        self._desk = Desk(
            view, services, source=source, seated=self._sat_down, refused=self._refused
        )
        limit = picture_bytes(services.settings.current.picture_memory_mb)
        self._ahead = Ahead(services.tasks, limit, view.rooms)
        self._places = Places(services.home.root)
        self._opened: Any = None
        # start, profile, loading, revealing, rating, storing, paused, asking, gone, finished
        self._state = "start"
        self._before_pause = ""
        self._away = self._stale = self._guessing = self._looked_since = self._settled = False
        self._presentation: Any = None
        self._guesses: tuple[Any, ...] = ()
        self._guess_total = 0
        self._said, self._draft = Said(), Draft()
        self._said_next = self._enlarge_next = ""
        self._clock = ItemClock(now)
        self._shown_utc = ""
        self._guard_from = self._paused_at = self._view_kept = now()
        self._spent = 0.0
        self._pace = Pace()
        self._connect()

    def shown(self, argument: Any = None) -> None:
        """List the studies; with a study's id, folder or pack, go straight to its next item."""
        self._away = False
        if self._opened is not None and argument is None:
            return
        self._leave()
        self.services.quiet(False)
        self._desk.list(str(argument) if argument else None)

    def hidden(self) -> None:
        """Another page: the curtain falls, and rail and notices come back at once."""
        self._away = True
        self.pause()
        self.services.quiet(False)

    def close(self) -> None:
        self._leave()

    # from the desk

    def _sat_down(self, opened: Any) -> None:
        self._opened = opened
        self._pace, self._stale = Pace(), False
        self._ahead.open(opened.study.media)
        self.services.quiet(not self._away)
        protocol = opened.protocol
        self.view.show_protocol(
            confidence=protocol.confidence != "off",
            usefulness=protocol.usefulness != "off",
            comments=protocol.comments != "off",
        )
        self.view.show_link(on=self.services.settings.current.linked_viewers)
        log.info("session opened")
        self._take(opened.presentation)

    def _refused(self, error: Exception) -> None:
        self._leave()
        self.services.notify.error(sentence(error))
        self.shown()

    # items

    def _take(self, presentation: Any) -> None:
        """Show what the session says comes next; decoded before anything of it is drawn."""
        self._presentation = presentation
        self._state = "loading"
        if presentation is None:
            session = self._opened.session
            self.services.tasks.query(self, session.guesses, self._all_answered, self._unreachable)
            return
        self._ahead.get(presentation, self._put, self._unreachable)

    def _put(self, item: BoardItem) -> None:
        taken = None
        if not self._guessing:
            taken = self._opened.session.taken_back(self._presentation.position)
        self._say_again(taken)
        self._place_note = ""
        if self._said_next == words.PRACTICE_OVER:
            self._place_note, self._said_next = words.PRACTICE_OVER, ""
        self._state = "revealing"
        self.view.set_live(False)
        self._show_place()
        self.view.show_hint(self._said_next)
        self._said_next = ""
        if self._guessing:
            question = self._opened.protocol.guess_question
            self.view.show_item(replace(item, prompt=question), guess=True)
        else:
            self.view.show_item(item, view=self._view_of_last_time())
        self._show_said()  # behind the titles of the item that is there now
        if self._away:
            self.pause()

    def _say_again(self, taken: Any) -> None:
        """What was said of the item before it was taken back, or left without an answer."""
        self._said = said_again(taken)
        before = words.TAKEN_BACK if taken is not None else ""
        if taken is None and not self._guessing:
            self._said = self._draft.find(self._here())
            before = words.HERE_AGAIN if self._said != Said() else ""
        self._said_next = self._said_next or before

    def _view_of_last_time(self) -> dict[str, Any]:
        """How the item was looked at if reading stopped at it."""
        place = self._presentation
        view = self._places.find(self._reading(), place.item_id, place.position)
        self._enlarge_next = str(view.get("enlarged", ""))
        if view:
            self.view.show_link(on=bool(view.get("linked", True)))
        return view

    def _show_place(self) -> None:
        if self._guessing:
            total = self._guess_total
            self.view.show_progress(total - len(self._guesses) + 1, total, "", kind="guess")
            return
        session = self._opened.session
        place, total, kind = words.place_of(self._presentation, session.warmups)
        left = self._place_note or words.left_words(
            self._pace, session.left, self._presentation.block
        )
        self.view.show_progress(place, total, left, kind=kind)

    def _revealed(self) -> None:
        """All of the item is on the screen: from now on it counts."""
        if self._state != "revealing":
            return
        self._state = "rating"
        self._guard_from = self._now()
        self._clock = ItemClock(self._now)
        self._shown_utc = datetime.now(UTC).isoformat(timespec="milliseconds")
        enlarge, self._enlarge_next = self._enlarge_next, ""
        if enlarge:
            self.view.enlarge(enlarge)
        self.view.set_live(True)
        self._propose_rest()
        self._look_ahead()  # not before: decoding would hold up the painting
        log.info("shown %s of %s", *self._place())

    def _look_ahead(self) -> None:
        """Decode the next items while this one is read, so that nobody waits."""
        session = self._opened.session
        if self._guessing:
            self._ahead.look(self._guesses[1 : 1 + AHEAD])
        else:
            self.services.tasks.query(
                self, lambda: session.upcoming(AHEAD), self._look_at, _never_mind
            )

    def _look_at(self, presentations: tuple[Any, ...]) -> None:
        if self._opened is not None:
            self._ahead.look(presentations)

    # storing

    def _store(self) -> None:
        """Keep what was said of the item on the screen; the next one comes after that."""
        self._state = "storing"
        self.view.set_live(False)
        self.view.show_fault("")
        opened, item_id, said = self._opened, self._presentation.item_id, self._said
        answer = str(said.answer)
        done: Callable[[Any], None] = self._guessed if self._guessing else self._stored
        if self._guessing:

            def work() -> Any:
                return opened.session.guess(item_id, answer)
        else:
            kept = {**self._timing(), **said.details()}
            self._spent = kept["answer_ms"] / 1000

            def work() -> Any:
                return opened.session.answer(answer, **kept)

        self.services.tasks.query(self, lambda: opened.guarded(work), done, self._not_stored)

    def _stored(self, following: Any) -> None:
        place = self._presentation
        self._pace.add(self._spent, place.block, counted=place.kind != "warmup")
        self.services.changes.tell("rating", origin="review")
        log.info("answer stored %s of %s", *self._place())
        if place.kind == "warmup" and getattr(following, "kind", "warmup") != "warmup":
            self._said_next = words.PRACTICE_OVER
        self._take(following)

    def _guessed(self, left: tuple[Any, ...]) -> None:
        log.info("question stored")
        self._ask_next(left)

    def _undone(self, before: Any) -> None:
        log.info("went back from %s of %s", *self._place())
        self._take(before)

    def _not_stored(self, error: Exception) -> None:
        """Nothing was kept: the item stays, with its answer, and says why."""
        if isinstance(error, StudyGone):
            self._unreachable(error)
            return
        self._stale = isinstance(error, (NotWritable, StoreDamaged))
        self._state = "rating"
        self.view.set_live(True)
        self.view.show_fault(sentence(error))
        if isinstance(error, RatingRefused) and not self._guessing:
            session = self._opened.session
            self.services.tasks.query(self, session.current, self._elsewhere, _never_mind)

    def _elsewhere(self, current: Any) -> None:
        """Another window was at work: go on with the item that is to be read now."""
        if self._state != "rating" or (current is not None and self._is_shown(current)):
            return
        self._said_next = words.ELSEWHERE
        self.view.show_fault("")
        self._take(current)

    def _is_shown(self, presentation: Any) -> bool:
        shown = self._presentation
        return (presentation.item_id, presentation.position) == (shown.item_id, shown.position)

    # a study that went away

    def _unreachable(self, error: Exception) -> None:
        """A named state: what was chosen stays, and the reader can try again or leave."""
        self._state, self._stale = "gone", True
        self.services.quiet(False)
        self.view.show_gone(sentence(error))
        log.info("study out of reach")

    def retry(self) -> None:
        """Open the study again and go on with the same item, its answer still chosen."""
        if self._state == "gone":
            self._open_again(store=False)

    def _open_again(self, *, store: bool) -> None:
        self._state = "loading"
        self.services.tasks.query(
            self, self._desk.again, lambda opened: self._again(opened, store=store),
            self._unreachable,
        )  # fmt: skip

    def _again(self, opened: Any, *, store: bool) -> None:
        before, self._opened, self._stale = self._opened, opened, False
        if before is not None:
            self.services.tasks.query(self.services, before.study.close, failed=_never_mind)
        self.services.quiet(not self._away)
        shown = self._presentation
        self._ahead.open(opened.study.media)
        here = opened.presentation
        if shown is None or self._guessing or here is None or not self._is_shown(here):
            self._guessing = False
            self._take(here)
            return
        if store:
            self._store()
            return
        self._state = "rating"
        self._guard_from = self._now()
        self.view.show_reading()
        self.view.set_live(True)
        self.view.show_hint(words.THERE_AGAIN)
        self._look_ahead()

    def _leave(self) -> None:
        self._keep_view()
        if self._presentation is not None and not self._guessing:
            self._draft.keep(self._here(), self._said)
        self._desk.close()
        if self._opened is not None:
            # Behind the writes that wait on the same lane.
            self.services.tasks.query(self.services, self._opened.study.close, failed=_never_mind)
        self._ahead.close()
        self._opened = self._presentation = None
        self._guesses, self._guessing = (), False
        if self._state not in ("start", "finished"):
            self.services.quiet(False)
        self._state = "start"

    # time

    def _tick(self) -> None:
        """Once a second: is anybody there, and is the view worth keeping."""
        if self._state != "rating":
            return
        if self._clock.untouched >= AWAY_SECONDS:
            self.pause(away=True)
        elif self._looked_since and self._now() - self._view_kept >= KEEP_VIEW_SECONDS:
            self._keep_view()

    def _keep_view(self) -> None:
        """Remember how the item on the screen is looked at, for a reader who comes back."""
        if self._presentation is None or self._guessing or self._state not in (*READING, "paused"):
            return
        self._looked_since, self._view_kept = False, self._now()
        place, own, view = self._presentation, self._reading(), self.view.looking()
        places = self._places
        if isinstance(view, dict):
            self.services.tasks.query(
                self.services, lambda: places.keep(own, place.item_id, place.position, view)
            )

    def _propose_rest(self) -> None:
        """By the time read, or by a pace unlike the reader's own; never by the answers."""
        form = "" if self._guessing else self._presentation.block
        own = self.services.settings.current.rest_minutes
        minutes = words.rest_after(self._opened.protocol.rest_minutes, own)
        said = words.proposal(self._pace, minutes, form)
        if said:
            self._pace.rested()
            self.view.show_hint(said, kind="warn")

    def _timing(self) -> dict[str, Any]:
        first, spent, idle = self._clock.milliseconds()
        return {
            "item_id": self._presentation.item_id,
            "shown_utc": self._shown_utc,
            "first_action_ms": first,
            "answer_ms": spent,
            "idle_ms": idle,
            "viewer_state": self.view.viewing(),
        }

    def _reading(self) -> str:
        return reading_of(str(self._opened.study.row.study_id), self._desk.rater)

    def _here(self) -> tuple[str, str, int]:
        return self._reading(), self._presentation.item_id, self._presentation.position

    def _place(self) -> tuple[int, int]:
        return self._presentation.position, self._presentation.total


def _never_mind(_error: Exception) -> None:
    """It failed beside the reading, and will say why once it is its turn."""
