"""What comes after the last item of a reading: the questions, then the end.

Owns the way from the last answer to the last page, and that no answer is changed once a question
has its own. Refuses to know what anybody answered.
"""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, Any

from app.presenters import review_words as words

if TYPE_CHECKING:
    from app.services import Services

log = logging.getLogger("triptych.review")


class ReviewEnd:
    """The end of a reading; mixed into the presenter, which owns every attribute."""

    view: Any
    services: Services
    _opened: Any
    _state: str
    _guesses: tuple[Any, ...]
    _guess_total: int
    _guessing: bool
    _settled: bool
    _leave: Any
    _take: Any

    def _all_answered(self, guesses: tuple[Any, ...]) -> None:
        if not guesses:
            self._finish()
            return
        self._state, self._guesses = "asking", guesses
        self.services.quiet(False)
        settled = self._settled = self._opened.session.settled
        self.view.show_asking(words.asking(len(guesses), settled=settled), back=not settled)

    def begin_guesses(self) -> None:
        """The first of the questions at the end."""
        if self._state == "asking":
            self._guessing, self._guess_total = True, len(self._guesses)
            self.services.quiet(True)
            self._ask_next(self._guesses)

    def _ask_next(self, left: tuple[Any, ...]) -> None:
        self._guesses = left
        if left:
            self._take(left[0])
        else:
            self._finish()

    def _finish(self) -> None:
        pack, settled = bool(self._opened.seat), self._opened.session.settled
        self._leave()
        self._settled = settled
        self._state = "finished"
        self.services.quiet(False)
        said = words.FINISHED_PACK if pack else words.FINISHED
        self.view.show_finished(said, hand_back=pack, back=not settled)
        log.info("session finished")
        self.services.changes.tell("study", origin="review")
