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
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from app.actions import load
from app.failures import sentence
from app.keys import first_key
from app.presenters.base import Presenter
from app.presenters.pace import ItemClock, Pace
from app.presenters.review_media import board_item
from app.services import Services
from app.views.review_pages import StudyRow
from app.widgets.triptych import BoardItem
from app.words import time_left

log = logging.getLogger("triptych.review")
GUARD_SECONDS = 0.3
NOBODY = "reader"
EMPTY = (
    "There is no study on this machine yet. Build one from two models' results, or open a study "
    "folder that was handed to you."
)
CHOOSE = "Choose the study to rate. You can stop at any time; it goes on where you stopped."


class ReviewPresenter(Presenter):
    """Runs one rating session.

    Args:
        view: ``app.views.review.ReviewView`` or a fake.
        services: the program's objects.
        source: object with ``list_studies(home)`` and ``open_study(path)``; the studies of this
            home by default.
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
        self._source = source
        self._now = now
        self._studies: dict[str, Any] = {}
        self._study: Any = None
        self._session: Any = None
        self._rater = ""
        self._path: Any = None
        # start, loading, revealing, rating, storing, paused, finished
        self._state = "start"
        self._before_pause = ""
        self._away = False
        self._presentation: Any = None
        self._ahead: tuple[str, BoardItem] | None = None
        self._answer: str | None = None
        self._clock = ItemClock(now)
        self._shown_utc = ""
        self._guard_from = now()
        self._spent = 0.0
        self._pace = Pace()
        self._connect()

    def shown(self, argument: Any = None) -> None:
        """List the studies; with a study's id or folder, go straight to its next item."""
        self._away = False
        if self._session is not None and argument is None:
            return
        self._leave()
        wanted = str(argument) if argument else None
        self.services.tasks.query(
            self, self._list, lambda studies: self._listed(studies, wanted), self._not_listed
        )

    def hidden(self) -> None:
        """Another page: the curtain falls, and rail and notices come back at once."""
        self._away = True
        self.pause()
        self.services.quiet(False)

    def close(self) -> None:
        self._leave()

    # intents

    def begin(self, study_id: str, rater: str) -> None:
        """Open a study and show the rater's next item."""
        info = self._studies.get(study_id)
        if info is None or self._state not in ("start", "finished"):
            return
        self._rater, self._path = rater, info.path
        self._state = "loading"
        self.view.show_waiting("Opening the study")
        self._remember_rater(rater)
        self.services.tasks.query(self, lambda: self._open(info.path), self._opened, self._refused)

    def begin_folder(self, folder: str, rater: str) -> None:
        """Open a study that was handed over as a folder or a file."""
        path = Path(folder)
        self._studies[folder] = SimpleNamespace(path=path)
        self.begin(folder, rater or self.services.settings.current.rater_name or NOBODY)

    def choose(self, answer: str) -> None:
        """An answer was chosen; it is stored once it is confirmed."""
        if not self._listening():
            return
        self._clock.act()
        self._answer = answer
        self.view.show_answer(answer)
        self.view.show_hint(f"{first_key('confirm')} stores it and goes on")

    def confirm(self) -> None:
        """Store the chosen answer, then go on."""
        if not self._listening():
            return
        if self._answer is None:
            names = [first_key(f"answer-{one}") for one in ("left", "right", "both", "neither")]
            words = f"{', '.join(names[:-1])} or {names[-1]}"
            self.view.show_hint(f"Choose first: {words}", kind="warn")
            return
        self._state = "storing"
        self.view.set_live(False)
        answer, timing = self._answer, self._timing()
        self._spent = timing["answer_ms"] / 1000
        self.services.tasks.query(
            self, lambda: self._session.answer(answer, **timing), self._stored, self._not_stored
        )

    def undo(self) -> None:
        """Take the choice back; without one, return to the item before, from the end too."""
        if self._state == "finished" and self._path is not None:
            self._state = "loading"
            self.view.show_waiting("Going back to the last item")
            self.services.tasks.query(self, self._open_last, self._opened, self._refused)
            return
        if not self._listening():
            return
        if self._answer is not None:
            self._answer = None
            self.view.show_answer(None)
            self.view.show_hint("")
            return
        if self._presentation.position <= 1:
            self.view.show_hint("This is the first item")
            return
        self._state = "storing"
        self.view.set_live(False)
        self.services.tasks.query(self, self._session.undo, self._undone, self._not_stored)

    def pause(self) -> None:
        """Draw the curtain; the time until it opens does not count."""
        if self._state not in ("rating", "revealing"):
            return
        self._before_pause, self._state = self._state, "paused"
        self._clock.stop()
        place = self._presentation
        self.view.show_paused(
            f"Item {place.position:,} of {place.total:,}. Everything answered so far is stored."
        )
        self.services.quiet(False)
        log.info("paused at %s of %s", place.position, place.total)

    def resume(self) -> None:
        """Open the curtain on the same item."""
        if self._state != "paused":
            return
        self._clock.go_on()
        self.services.quiet(True)
        self.view.show_reading()
        self._guard_from = self._now()
        self._state = self._before_pause

    def leave(self) -> None:
        """Back to the list of studies; what is answered is stored."""
        self._leave()
        self.shown()

    # states

    def _listening(self) -> bool:
        return self._state == "rating" and self._now() - self._guard_from >= GUARD_SECONDS

    def _revealed(self) -> None:
        """All of the item is on the screen: from now on it counts."""
        if self._state != "revealing":
            return
        self._state = "rating"
        self._guard_from = self._now()
        self._clock = ItemClock(self._now)
        self._shown_utc = datetime.now(UTC).isoformat(timespec="milliseconds")
        self.view.set_live(True)
        self._propose_rest()
        log.info("shown %s of %s", self._presentation.position, self._presentation.total)

    def _list(self) -> tuple[Any, ...]:
        if self._source is None:
            self._source = load("app.presenters.review_source:HomeStudies")()
        return tuple(self._source.list_studies(self.services.home))

    def _listed(self, studies: tuple[Any, ...], wanted: str | None) -> None:
        self._studies = {info.id: info for info in studies}
        rater = self.services.settings.current.rater_name
        self._state = "start"
        self.services.quiet(False)
        rows = [_row(info) for info in studies]
        self.view.show_studies(rows, rater=rater, sentence=CHOOSE if rows else EMPTY)
        if wanted is None:
            return
        if Path(wanted).name in self._studies:
            self.begin(Path(wanted).name, rater or NOBODY)
        else:
            self.begin_folder(wanted, rater)

    def _not_listed(self, error: Exception) -> None:
        self.view.show_studies([], rater="", sentence=sentence(error))

    def _open(self, path: Any) -> tuple[Any, Any, Any]:
        study = self._source.open_study(path)
        session = study.session(self._rater)
        return study, session, session.current()

    def _open_last(self) -> tuple[Any, Any, Any]:
        study, session, _nothing = self._open(self._path)
        return study, session, session.undo()

    def _opened(self, opened: tuple[Any, Any, Any]) -> None:
        self._study, self._session, presentation = opened
        self.services.quiet(not self._away)
        self.view.show_link(on=self.services.settings.current.linked_viewers)
        log.info("session opened")
        self._take(presentation)

    def _refused(self, error: Exception) -> None:
        self._leave()
        self.services.notify.error(sentence(error))
        self.shown()

    def _take(self, presentation: Any) -> None:
        """Show what the session says comes next; decoded before anything of it is drawn."""
        self._presentation = presentation
        if presentation is None:
            self._finish()
            return
        self._state = "loading"
        ahead, self._ahead = self._ahead, None
        if ahead is not None and ahead[0] == presentation.item_id:
            self._put(ahead[1])
            return
        media = self._study.media
        self.services.tasks.run(
            self, lambda: board_item(presentation, media), self._put, self._refused
        )

    def _put(self, item: BoardItem) -> None:
        self._answer = None
        self._state = "revealing"
        place = self._presentation
        left = self._pace.seconds_left(place.total - place.position + 1)
        self.view.set_live(False)
        self.view.show_progress(
            place.position, place.total, "" if left is None else time_left(left)
        )
        self.view.show_hint("")
        self.view.show_item(item)
        if self._away:
            self.pause()
        self._look_ahead()

    def _look_ahead(self) -> None:
        """Decode the next item while this one is read, so that nobody waits."""
        session = self._session
        self.services.tasks.query(
            self, lambda: next(iter(session.upcoming(1)), None), self._decode_ahead, _never_mind
        )

    def _decode_ahead(self, presentation: Any) -> None:
        if presentation is None or self._study is None:
            return
        media, item_id = self._study.media, presentation.item_id
        self.services.tasks.run(
            self,
            lambda: (item_id, board_item(presentation, media)),
            self._keep_ahead,
            _never_mind,
        )

    def _keep_ahead(self, ahead: tuple[str, BoardItem]) -> None:
        self._ahead = ahead

    def _stored(self, following: Any) -> None:
        self._pace.add(self._spent)
        self.services.changes.tell("rating", origin="review")
        log.info("answer stored %s of %s", *self._place())
        self._take(following)

    def _undone(self, before: Any) -> None:
        log.info("went back from %s of %s", *self._place())
        self._take(before)

    def _not_stored(self, error: Exception) -> None:
        """Nothing was kept: the item stays, with its answer, and says why."""
        self._state = "rating"
        self.view.set_live(True)
        self.view.show_hint(sentence(error), kind="error")

    def _finish(self) -> None:
        self._leave()
        self._state = "finished"
        self.services.quiet(False)
        self.view.show_finished(
            "Every item has its answer, and every answer is stored. The coordinator can now "
            "verify and unblind the study."
        )
        log.info("session finished")
        self.services.changes.tell("study", origin="review")

    def _leave(self) -> None:
        if self._study is not None:
            # Behind the writes that wait on the same lane.
            self.services.tasks.query(self.services, self._study.close)
        self._study = self._session = self._presentation = self._ahead = None
        if self._state not in ("start", "finished"):
            self.services.quiet(False)
        self._state = "start"

    def _propose_rest(self) -> None:
        limit = self.services.settings.current.rest_minutes * 60
        if limit and self._pace.total >= limit:
            self._pace.rest()
            self.view.show_hint("You have read for a while; P pauses", kind="warn")

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

    def _place(self) -> tuple[int, int]:
        return self._presentation.position, self._presentation.total

    def _remember_rater(self, rater: str) -> None:
        settings = self.services.settings
        if rater != settings.current.rater_name:
            settings.save(replace(settings.current, rater_name=rater), origin="review")

    def _connect(self) -> None:
        view = self.view
        view.begun.connect(self.begin)
        view.folder_chosen.connect(self.begin_folder)
        view.answer_chosen.connect(self.choose)
        view.confirm_asked.connect(self.confirm)
        view.undo_asked.connect(self.undo)
        view.pause_asked.connect(self.pause)
        view.resume_asked.connect(self.resume)
        view.leave_asked.connect(self.leave)
        view.revealed.connect(self._revealed)
        view.input_seen.connect(lambda: self._clock.touch())
        view.looked.connect(lambda: self._clock.act())
        view.build_asked.connect(lambda: self.services.go("study"))
        view.full_screen_asked.connect(lambda: self.services.full_screen())


def _row(info: Any) -> StudyRow:
    """What the start page says of a study: its title and how far it is, never what it compares."""
    if info.fault:
        return StudyRow(info.id, "A study that cannot be opened", info.fault, open=False)
    facts = f"{info.answered:,} of {info.items:,} items answered"
    if info.unblinded:
        facts += "; unblinded, takes no more answers"
    return StudyRow(info.id, info.title or "Untitled study", facts, open=not info.unblinded)


def _never_mind(_error: Exception) -> None:
    """Looking ahead failed; the item itself will say why once it is its turn."""
