"""What a reader asks for on the reading screen, as far as it may be done now.

Owns which intents count in which state; the states themselves are ``app.presenters.review``'s.
Refuses every key until the item is painted and 300 ms have passed.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from app.presenters import review_words as words
from app.presenters.review_said import CANDIDATES, Said
from studies.preference.protocol import REASONS

if TYPE_CHECKING:
    from app.presenters.pace import ItemClock, Pace
    from app.presenters.review_desk import Desk
    from app.services import Services

log = logging.getLogger("triptych.review")
GUARD_SECONDS = 0.3
REST_SECONDS = 120.0  # a pause of that length was a rest


class ReviewIntents:
    """The intents; mixed into the presenter, which owns every attribute."""

    view: Any
    services: Services
    _desk: Desk
    _opened: Any
    _presentation: Any
    _said: Said
    _state: str
    _before_pause: str
    _clock: ItemClock
    _pace: Pace
    _now: Callable[[], float]
    _guard_from: float
    _paused_at: float
    _away: bool
    _stale: bool
    _guessing: bool
    _looked_since: bool
    _settled: bool
    _chosen = ""
    _place_note = ""  # in the strip until the first act
    _close_asked = False
    _told: Any = None  # the item at which a candidate was asked for
    # what the presenter does about them
    _store: Any
    _open_again: Any
    _undone: Any
    _not_stored: Any
    _keep_view: Any
    _leave: Any
    _sat_down: Any
    _refused: Any
    _revealed: Any
    _show_place: Any
    _tick: Any
    shown: Any
    retry: Any
    begin_guesses: Any

    def begin(self, study_id: str, rater: str) -> None:
        """Open a study and show the rater's next item."""
        if self._state in ("start", "finished"):
            self._state = "loading"
            if not self._desk.begin(study_id, rater):
                self._state = "start"

    def begin_folder(self, folder: str, rater: str) -> None:
        """Open a study that was handed over as a folder or a file."""
        if self._state in ("start", "finished"):
            self._state = "loading"
            self._desk.begin_folder(folder, rater)

    def choose(self, answer: str) -> None:
        """An answer was chosen; it is stored once it is confirmed."""
        if self._acts():
            self._said = self._said.with_answer(answer)
            self._show_answer()

    def ask_reason(self) -> None:
        """The item cannot be judged: why."""
        if self._acts() and not self._guessing:
            self.view.ask_reason(REASONS)

    def take_reason(self, reason: str) -> None:
        """The reason; with it the item has its answer, to be confirmed like any other."""
        if self._acts():
            self._said = self._said.with_answer("cannot", reason=reason)
            self._show_answer()

    def choose_confidence(self, value: int) -> None:
        """1 to 3, 0 for the next; only where the protocol asks for it."""
        if self._asks("confidence") and self._acts():
            self._said = self._said.with_confidence(value)
            self._show_said()

    def choose_usefulness(self, candidate: str, value: int) -> None:
        """0 to 2 for a candidate, -1 for the next; only where the protocol asks for it."""
        if not self._asks("usefulness") or not self._acts():
            return
        if candidate not in CANDIDATES:
            self._ask_for(words.NO_CANDIDATE)
            return
        self._said = self._said.with_usefulness(candidate, value)
        self._chosen = candidate
        self._show_said()

    def ask_frame(self) -> None:
        """A frame was to be enlarged, and none is chosen."""
        if self._state == "rating":
            self._ask_for(words.NO_FRAME)

    def ask_comment(self) -> None:
        """The line to write in; only where the protocol asks for it."""
        if self._asks("comments") and self._acts():
            self.view.ask_comment(self._said.comment)

    def take_comment(self, text: str) -> None:
        """What was written; it is stored with the answer."""
        if self._state in ("rating", "paused"):  # a pause keeps what was being written
            self._said = Said(**{**vars(self._said), "comment": text})
            self._show_said()

    def choose_frame(self, name: str) -> None:
        """Another frame is chosen: its usefulness is shown."""
        self._chosen = name
        self._heeded()
        self.view.show_candidate(chosen=name in CANDIDATES)
        self._show_said()

    def confirm(self) -> None:
        """Store the chosen answer, then go on."""
        if not self._listening():
            return
        if self._said.answer is None:
            self.view.show_hint(words.choose_first(), kind="warn")
        elif self._stale:
            self._open_again(store=True)
        else:
            self._store()

    def undo(self) -> None:
        """Take the choice back; without one, return to the item before, from the end too."""
        if self._state in ("finished", "asking"):
            if self._settled:
                self.view.say_handed_back(words.SETTLED)
            else:
                self._undo_from_the_end()
            return
        if not self._listening():
            return
        if self._said.answer is not None:
            self._said = self._said.with_answer(None)
            self._show_answer()
        elif self._guessing:
            self.view.show_hint("A guess stands once it is given")
        elif self._presentation.position <= 1:
            self.view.show_hint(words.FIRST)
        else:
            self._state = "storing"
            self.view.set_live(False)
            opened = self._opened
            self.services.tasks.query(
                self, lambda: opened.guarded(opened.session.undo), self._undone, self._not_stored
            )

    def pause(self, *, away: bool = False) -> None:
        """Draw the curtain; the time until it opens does not count."""
        if self._state not in ("rating", "revealing"):
            return
        self._keep_view()
        self._before_pause, self._state = self._state, "paused"
        self._paused_at = self._now()
        self._clock.stop()
        place, warmups = self._presentation, self._opened.session.warmups
        self.view.close_overlays()  # a comment that was being written is kept
        told = words.paused(
            None if self._guessing else place, warmups, away=away, said=self._said != Said()
        )
        self.view.show_paused(told, hand_back=bool(self._opened.seat))
        self.services.quiet(False)
        self._note("pause")
        log.info("paused at %s of %s", place.position, place.total)

    def keeps_open(self) -> bool:
        """Ask once, on the curtain, before a comment or a reason without an answer is lost."""
        open_item = self._state in ("rating", "revealing", "paused") and not self._guessing
        if not open_item or self._close_asked:
            return False
        self.view.close_overlays()  # a comment that is being written counts
        if not (self._said.comment or self._said.reason):
            return False
        self.pause()
        self._close_asked = True
        self.view.show_paused(words.closing(), hand_back=bool(self._opened.seat))
        return True

    def resume(self) -> None:
        """Open the curtain on the same item."""
        if self._state != "paused":
            return
        self._close_asked = False
        if self._now() - self._paused_at >= REST_SECONDS:
            self._pace.rested()
        self._clock.go_on()
        self.services.quiet(True)
        self.view.show_reading()
        self._guard_from = self._now()
        self._state = self._before_pause
        self._note("resume")

    def leave(self) -> None:
        """Back to the list of studies; what is answered is stored."""
        self._close_asked = False
        self._leave()
        self.shown()

    def look(self) -> None:
        """A picture was scrolled, windowed, zoomed or moved."""
        self._clock.act()
        self._begun()
        self._looked_since = True

    # what they share

    def _listening(self) -> bool:
        return self._state == "rating" and self._now() - self._guard_from >= GUARD_SECONDS

    def _acts(self) -> bool:
        """True if an act counts now; then it has begun."""
        if not self._listening():
            return False
        self._clock.act()
        self._begun()
        self._heeded()
        return True

    def _ask_for(self, wanted: str) -> None:
        self._told = self._presentation
        self.view.show_hint(wanted, kind="warn")

    def _heeded(self) -> None:
        """That a frame was asked for is said until the next act, no longer."""
        told, self._told = self._told, None
        if told is not None and told is self._presentation:
            self._show_standing()

    def _begun(self) -> None:
        """What the strip said of this item until the first act gives way to the time left."""
        if self._place_note and self._state == "rating":
            self._place_note = ""
            self._show_place()

    def _asks(self, what: str) -> bool:
        opened = self._opened
        return opened is not None and not self._guessing and getattr(opened.protocol, what) != "off"

    def _show_answer(self) -> None:
        said = self._said
        self.view.show_answer(said.answer)
        self.view.show_fault("")
        self._show_standing()
        self._show_said()

    def _show_standing(self) -> None:
        """What the confirming key does now, or the keys."""
        said = self._said
        self.view.show_hint(words.stores(said.reason) if said.answer else "")

    def _show_said(self) -> None:
        said = self._said
        self.view.show_said(
            confidence=said.confidence,
            usefulness=said.usefulness.get(self._chosen),
            comment=said.comment,
            cannot=said.answer == "cannot",
        )
        self.view.show_notes(said.notes())

    def _note(self, kind: str) -> None:
        """Pauses belong to the log; one that cannot be noted stops nobody."""
        session = self._opened.session
        self.services.tasks.query(
            self, lambda: session.note_pause(kind), failed=lambda _error: None
        )

    def _undo_from_the_end(self) -> None:
        """Sit down again where the last answer was given, and take it back."""
        self._leave()
        self._state = "loading"
        self.view.show_waiting("Going back to the last item")
        desk = self._desk
        self.services.tasks.query(self, lambda: desk.again_undone(), self._sat_down, self._refused)

    def _connect(self) -> None:
        view, desk = self.view, self._desk
        for signal, call in (
            (view.begun, self.begin), (view.folder_chosen, self.begin_folder),
            (view.pack_chosen, desk.open_pack), (view.profile_given, desk.give_profile),
            (view.hand_back_asked, desk.hand_back), (view.answer_chosen, self.choose),
            (view.confirm_asked, self.confirm), (view.undo_asked, self.undo),
            (view.pause_asked, self.pause), (view.resume_asked, self.resume),
            (view.leave_asked, self.leave), (view.retry_asked, self.retry),
            (view.guess_begun, self.begin_guesses), (view.cannot_asked, self.ask_reason),
            (view.reason_kept, self.take_reason), (view.comment_asked, self.ask_comment),
            (view.comment_kept, self.take_comment), (view.chosen_frame, self.choose_frame),
            (view.frame_wanted, self.ask_frame),
            (view.confidence_chosen, self.choose_confidence),
            (view.usefulness_chosen, self.choose_usefulness), (view.revealed, self._revealed),
            (view.looked, self.look), (view.ticked, self._tick),
        ):  # fmt: skip
            signal.connect(call)
        view.input_seen.connect(lambda: self._clock.touch())
        view.build_asked.connect(lambda: self.services.go("study"))
        view.full_screen_asked.connect(lambda: self.services.full_screen())
