"""The reading screen: triptych, strip above, answers and details below, and what opens over it.

Turns keys and clicks into intents; shows what it is told. Owns that no key pressed while a
comment or a reason is written reaches the rating. Decides nothing.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from PySide6.QtCore import QRect, Qt, Signal
from PySide6.QtGui import QKeyEvent, QResizeEvent
from PySide6.QtWidgets import QVBoxLayout, QWidget

from app import keys
from app.widgets.answer_bar import GUESSES, AnswerBar
from app.widgets.details_bar import DetailsBar
from app.widgets.fault_card import FaultCard
from app.widgets.progress_strip import ProgressStrip
from app.widgets.reason_panel import ReasonPanel
from app.widgets.triptych import BoardItem, TriptychBoard

ANSWERS = ("left", "right", "both", "neither")
MARKED = {"left": ("left",), "right": ("right",), "both": ("left", "right")}
GUESS_OF = {"left": "left", "right": "right", "both": "unsure", "neither": "unsure"}
STEPS = {"select-left": (-1, 0), "select-right": (1, 0), "select-up": (0, -1),
         "select-down": (0, 1)}  # fmt: skip
TURNS = {"text-up": -1, "text-down": 1}


class ReadingScreen(QWidget):
    """Everything a reader sees while rating.

    Signals:
        answer_chosen: ``left``, ``right``, ``both``, ``neither``; ``unsure`` of a guess.
        confirm_asked, undo_asked, pause_asked: what they say.
        confidence_chosen: 1 to 3; 0 for the next one.
        usefulness_chosen: a candidate's name and 0 to 2; -1 for the next one.
        comment_asked, comment_kept: the line is wanted; what was written.
        cannot_asked, reason_kept: the reasons are wanted; the one taken.
        chosen_frame: name of the frame that is chosen, or empty.
        frame_wanted: a frame was to be enlarged, and none is chosen or under the pointer.
        help_asked: the keys are wanted.
        idle: a line or a list over the screen was closed; the keys are the page's again.
    """

    answer_chosen = Signal(str)
    confirm_asked = Signal()
    undo_asked = Signal()
    pause_asked = Signal()
    confidence_chosen = Signal(int)
    usefulness_chosen = Signal(str, int)
    comment_asked = Signal()
    comment_kept = Signal(str)
    cannot_asked = Signal()
    reason_kept = Signal(str)
    chosen_frame = Signal(str)
    frame_wanted = Signal()
    help_asked = Signal()
    idle = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.strip, self.board = ProgressStrip(), TriptychBoard()
        self.answers, self.guesses = AnswerBar(), AnswerBar(entries=GUESSES)
        self.details = DetailsBar()
        self.reasons, self.fault = ReasonPanel(self), FaultCard(self)
        self._guessing = False
        self._flip_key = 0
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
        column.addWidget(self.strip)
        column.addWidget(self.board, 1)
        for bar in (self.answers, self.guesses, self.details):
            column.addWidget(bar)
        self.guesses.hide()
        self._connect()

    # setters

    def show_item(self, item: BoardItem, *, view: Mapping[str, Any], guess: bool) -> None:
        """A whole item, in one frame; nothing is chosen, nothing lies over it."""
        self._guessing = guess
        self.answers.setVisible(not guess)
        self.guesses.setVisible(guess)
        self.details.setVisible(not guess)
        self._drop_overlays()
        for bar in (self.answers, self.guesses):
            bar.show_answer(None)
        self.board.show_item(item, view=view)

    def show_answer(self, answer: str | None) -> None:
        """Fill the chosen answer and thicken its wing."""
        (self.guesses if self._guessing else self.answers).show_answer(answer)
        self.board.mark(MARKED.get(answer or "", ()))

    def show_fault(self, sentence: str) -> None:
        """Why the answer could not be stored, over the prompt; empty hides it."""
        self.fault.say(sentence, self._middle(), self.board.prompt.height())

    def ask_reason(self, reasons: Sequence[str]) -> None:
        """The reasons why an item cannot be judged; the last one wants words of one's own."""
        self.details.keep_comment()
        self.reasons.open(reasons)
        self._place_reasons()

    def ask_comment(self, text: str) -> None:
        """The comment line."""
        self.reasons.close_quietly()
        self.details.open_comment(text)

    def close_overlays(self) -> None:
        """Nothing is being written any more; a comment begun is kept."""
        self.reasons.close_quietly()
        self.details.keep_comment()
        self.fault.hide()

    def _drop_overlays(self) -> None:
        """Another item: nothing that was being written belongs to it."""
        self.reasons.close_quietly()
        self.fault.hide()
        if self.details.writing:
            self.details.close_comment()

    def toggle_link(self) -> None:
        self.show_link(on=not self.board.link.on)

    def show_link(self, *, on: bool) -> None:
        """Whether the viewers are linked."""
        self.board.link.set_on(on)
        self.strip.show_link(on=on)

    @property
    def writing(self) -> bool:
        """True while a comment or a reason is being written."""
        return self.details.writing or not self.reasons.isHidden()

    def name_keys(self) -> None:
        """Keys may have been changed while another page was on show."""
        for part in (self.answers, self.guesses, self.details, self.strip, self.board.prompt):
            part.name_keys()

    # keys

    def handle_key(self, event: QKeyEvent) -> bool:
        """Do what a key asks; False if it means nothing here."""
        if self.writing:  # the line and the list have their own keys; a click took them away
            self._key_beside(event)
            return True
        command = keys.current().command_of(event, "review") or ""
        return self._said_key(command, event) or self._looking_key(command, event)

    def _key_beside(self, event: QKeyEvent) -> None:
        """Esc closes what is open; any other key finds its way back there."""
        if event.key() == Qt.Key.Key_Escape:
            self.reasons.leave()
            self.details.leave_comment()
        elif not self.reasons.isHidden():
            self.reasons.list.setFocus()
        else:
            self.details.line.setFocus()

    def handle_release(self, event: QKeyEvent) -> bool:
        """The key of the flip is up."""
        if event.key() != self._flip_key or event.isAutoRepeat():
            return False
        self._flip_key = 0
        self.board.flip_back()
        return True

    def _said_key(self, command: str, event: QKeyEvent) -> bool:
        if command == "undo":
            self.undo_asked.emit()
            return True
        if event.isAutoRepeat():
            return False
        answer = command.removeprefix("answer-")
        if answer in ANSWERS:
            self.answer_chosen.emit(GUESS_OF[answer] if self._guessing else answer)
            return True
        return self._step_key(command) or (not self._guessing and self._detail_key(command))

    def _step_key(self, command: str) -> bool:
        asked = {"confirm": self.confirm_asked, "pause": self.pause_asked}.get(command)
        if asked is not None:
            asked.emit()
        return asked is not None

    def _detail_key(self, command: str) -> bool:
        name, _, value = command.partition("-")
        if command == "answer-cannot":
            self.cannot_asked.emit()
        elif name == "confidence":
            self.confidence_chosen.emit(int(value or 0))
        elif name == "usefulness":
            self.usefulness_chosen.emit(self._candidate(), int(value or -1))
        elif name == "comment":
            self.comment_asked.emit()
        else:
            return False
        return True

    def _looking_key(self, command: str, event: QKeyEvent) -> bool:
        first = not event.isAutoRepeat()
        if command == "flip":
            if first:
                self._flip_key = event.key()
                self.board.flip()
        elif command == "maximise":
            if first:
                self._enlarge()
        elif command == "back":
            self.board.shrink()
        elif command == "link":
            if first:
                self.toggle_link()
        elif command == "help":
            self.help_asked.emit()
        elif command in STEPS:
            self.board.step(*STEPS[command])
        elif command in TURNS:
            self.board.turn_text(TURNS[command])
        else:
            return self.board.handle_key(event)
        return True

    def _enlarge(self) -> None:
        was = self.board.enlarged
        self.board.enlarge()
        if not was and not self.board.enlarged:
            self.frame_wanted.emit()

    def _candidate(self) -> str:
        return self.board.enlarged_name or self.board.selected_name

    # places

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self.settle()
        if not self.reasons.isHidden():
            self._place_reasons()
        if not self.fault.isHidden():
            self.fault.place(self._middle(), self.board.prompt.height())

    def settle(self) -> None:
        """Places at once: a row more or less below must not move the pictures a frame later."""
        self.details.fit_to(self.width())
        layout = self.layout()
        if layout is not None:
            layout.activate()

    def _middle(self) -> QRect:
        """The middle column, from the query to the prompt."""
        board = self.board
        room = board.query.geometry().united(board.prompt.geometry())
        return room.translated(board.pos())

    def _place_reasons(self) -> None:
        room = self._middle()
        self.reasons.ensurePolished()
        inner = room.width()
        high = min(room.height(), self.reasons.heightForWidth(inner))
        self.reasons.setGeometry(room.x(), room.bottom() + 1 - high, room.width(), high)

    def _connect(self) -> None:
        for bar in (self.answers, self.guesses):
            bar.chosen.connect(self._clicked_answer)
        self.strip.pause_asked.connect(self.pause_asked)
        self.strip.help_asked.connect(self.help_asked)
        self.strip.link_asked.connect(self.toggle_link)
        self.board.prompt.back_asked.connect(self.undo_asked)
        self.board.prompt.on_asked.connect(self._clicked_on)
        self.board.selected_changed.connect(self.chosen_frame)
        self.details.confidence_asked.connect(lambda: self.confidence_chosen.emit(0))
        self.details.usefulness_asked.connect(
            lambda: self.usefulness_chosen.emit(self._candidate(), -1)
        )
        self.details.comment_asked.connect(self.comment_asked)
        self.details.cannot_asked.connect(self.cannot_asked)
        for closed in (self.details.comment_left, self.reasons.left):
            closed.connect(self.idle)
        self.details.comment_kept.connect(self._comment)
        self.reasons.chosen.connect(self._reason)
        self.fault.retry_asked.connect(self.confirm_asked)
        self.reasons.setFocusPolicy(Qt.FocusPolicy.NoFocus)

    def _clicked_answer(self, answer: str) -> None:
        """A click beside what is being written keeps the comment and needs no reason."""
        self.close_overlays()
        self.answer_chosen.emit(answer)

    def _clicked_on(self) -> None:
        self.close_overlays()
        self.confirm_asked.emit()

    def _comment(self, text: str) -> None:
        self.idle.emit()
        self.comment_kept.emit(text)

    def _reason(self, words: str) -> None:
        self.idle.emit()
        self.reason_kept.emit(words)
