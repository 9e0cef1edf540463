"""The Review page: the reading screen and the quiet pages around it.

Shows what it is told, one page at a time, and hands on what was asked for. Says nothing of
models, and decides nothing: whether a key counts is the presenter's business.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from PySide6.QtCore import QEvent, QObject, QSize, Qt, QTimer, Signal, SignalInstance
from PySide6.QtGui import QHideEvent, QKeyEvent, QResizeEvent, QShowEvent
from PySide6.QtWidgets import QApplication, QFileDialog, QPushButton, QStackedLayout, QWidget

from app import keys, theme
from app.views.review_pages import QuietPages, SentencePage, StudyRow
from app.views.review_profile import ProfilePage
from app.views.review_reading import ReadingScreen
from app.widgets.board_geometry import LEAST, large_enough
from app.widgets.drawn_ahead import Place
from app.widgets.key_help import KeyHelp
from app.widgets.start_folder import start_at
from app.widgets.triptych import BoardItem

TICK_MS = 1000
_INPUTS = (
    QEvent.Type.KeyPress,
    QEvent.Type.MouseButtonPress,
    QEvent.Type.MouseMove,
    QEvent.Type.Wheel,
)


class ReviewView(QWidget):
    """Everything a reader sees.

    Signals:
        begun: study id and rater.
        folder_chosen: folder of a study handed over, and rater.
        pack_chosen: file of a pack.
        profile_given: specialty, years, modalities, display.
        hand_back_asked: the answers are to be saved for the coordinator.
        resume_asked, leave_asked, guess_begun, retry_asked, build_asked: what they say.
        revealed: the item put up last has been painted, all of it.
        input_seen: a key, a click, a move or the wheel.
        looked: a picture was scrolled, windowed, zoomed or panned.
        ticked: a second has passed with the page on show.
        full_screen_asked: the window is too small.

    The signals of ``ReadingScreen`` are the view's as well.
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
    resume_asked = Signal()
    leave_asked = Signal()
    begun = Signal(str, str)
    folder_chosen = Signal(str, str)
    pack_chosen = Signal(str)
    profile_given = Signal(str, object, str, str)
    hand_back_asked = Signal()
    guess_begun = Signal()
    retry_asked = Signal()
    build_asked = Signal()
    revealed = Signal()
    input_seen = Signal()
    looked = Signal()
    ticked = Signal()
    full_screen_asked = Signal()

    def __init__(self) -> None:
        super().__init__()
        self.setAccessibleName("Review")
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self._reading = ReadingScreen()
        self.strip, self.board = self._reading.strip, self._reading.board
        self.answers, self.guesses = self._reading.answers, self._reading.guesses
        self.details, self.reasons = self._reading.details, self._reading.reasons
        self.fault = self._reading.fault
        self.pages, self.profile = QuietPages(), ProfilePage()
        self.start, self.curtain, self.end = self.pages.start, self.pages.curtain, self.pages.end
        self.small, self.wait = self.pages.small, self.pages.wait
        self._stack = QStackedLayout(self)
        self._stack.setContentsMargins(0, 0, 0, 0)
        for page in (*self.pages.all, self.profile, self._reading):
            self._stack.addWidget(page)
        self._wanted: QWidget = self.start
        self._clock = QTimer(self, interval=TICK_MS)
        self._clock.timeout.connect(self.ticked)
        self._connect()
        self.help = KeyHelp(self, page="review")

    # setters

    def show_studies(
        self, rows: Sequence[StudyRow], *, rater: str, sentence: str, chosen: str = ""
    ) -> None:
        """The start page."""
        self.start.show_studies(rows, rater=rater, sentence=sentence, chosen=chosen)
        self._show(self.start)

    def show_profile(self, rater: str, *, display: str) -> None:
        """Ask a new reader about themselves."""
        self.profile.show_profile(rater, display=display)
        self._show(self.profile)

    def show_protocol(self, *, confidence: bool, usefulness: bool, comments: bool) -> None:
        """What the study asks for; the rest is not on the screen."""
        self.details.show_protocol(confidence=confidence, usefulness=usefulness, comments=comments)
        self._reading.settle()
        asked = {"confidence": confidence, "usefulness": usefulness, "comment": comments}
        self.help.leave_out({name for name, wanted in asked.items() if not wanted})

    def show_item(
        self, item: BoardItem, *, view: Mapping[str, Any] | None = None, guess: bool = False
    ) -> None:
        """A whole item, in one frame; no answer is chosen."""
        self._reading.show_item(item, view=view or {}, guess=guess)
        self._show(self._reading)

    def rooms(self) -> tuple[Place, ...]:
        """Where the frames would draw pictures now."""
        return self.board.rooms()

    def enlarge(self, name: str) -> None:
        """Let a frame cover the board."""
        frame = self.board.frame_of(name)
        if frame is not None and not self.board.enlarged:
            self.board.enlarge(frame)

    def show_progress(self, position: int, total: int, left: str, *, kind: str = "item") -> None:
        """Which item, and the time left in words."""
        self.strip.show_progress(position, total, left, kind=kind)

    def show_answer(self, answer: str | None) -> None:
        """Fill the chosen answer and thicken its wing."""
        self._reading.show_answer(answer)

    def show_said(
        self, *, confidence: int | None, usefulness: int | None, comment: str, cannot: bool
    ) -> None:
        """What else was said of the item; usefulness is that of the chosen candidate."""
        self.details.show_said(
            confidence=confidence, usefulness=usefulness, comment=comment, cannot=cannot
        )

    def show_candidate(self, *, chosen: bool) -> None:
        """Whether a candidate is chosen."""
        self.details.show_candidate(chosen=chosen)

    def show_notes(self, notes: Mapping[str, str]) -> None:
        """What was said of each candidate, behind its title."""
        self.board.show_notes(notes)

    def show_hint(self, sentence: str, *, kind: str = "quiet") -> None:
        """One sentence below the answers, in the place of the keys."""
        self.details.keys.show_hint(sentence, kind=kind)

    def show_fault(self, sentence: str) -> None:
        """Why the answer was not stored; empty once it is."""
        self._reading.show_fault(sentence)

    def show_link(self, *, on: bool) -> None:
        """Whether the viewers are linked."""
        self._reading.show_link(on=on)

    def set_live(self, live: bool) -> None:
        """Whether an answer is taken now."""
        self.answers.set_live(live)
        self.guesses.set_live(live)

    def ask_reason(self, reasons: Sequence[str]) -> None:
        """Why the item cannot be judged."""
        self._reading.ask_reason(reasons)

    def ask_comment(self, text: str) -> None:
        """The comment line."""
        self._reading.ask_comment(text)

    def show_waiting(self, sentence: str) -> None:
        """Nothing to see yet."""
        self.wait.say(sentence)
        self._show(self.wait)

    def close_overlays(self) -> None:
        """Nothing is being written any more; a comment begun is kept."""
        self._reading.close_overlays()

    def show_paused(self, sentence: str, *, hand_back: bool = False) -> None:
        """A curtain before the pictures."""
        self.close_overlays()
        self.pages.say(self.curtain, sentence, hand_back=hand_back)
        self._show(self.curtain)

    def show_reading(self) -> None:
        """The triptych again, as it was."""
        self._show(self._reading)

    def show_asking(self, sentence: str, *, back: bool = True) -> None:
        """Before the questions at the end; the way back is open until the first is answered."""
        self.board.clear()
        self.pages.asking.say(sentence)
        self.pages.open_back(self.pages.asking, there=back)
        self._show(self.pages.asking)

    def show_finished(self, sentence: str, *, hand_back: bool = False, back: bool = True) -> None:
        """The end of the study."""
        self.board.clear()
        self.pages.say(self.end, sentence, hand_back=hand_back)
        self.pages.open_back(self.end, there=back)
        self._show(self.end)

    def show_gone(self, sentence: str) -> None:
        """The study cannot be reached; what was chosen is kept."""
        self.pages.gone.say(sentence)
        self._show(self.pages.gone)

    def say_handed_back(self, sentence: str) -> None:
        """Below the sentence on show: where the answers were saved, or why not."""
        page = self._stack.currentWidget()
        if isinstance(page, SentencePage):
            page.add_words(sentence)

    def ask_save(self, name: str) -> str:
        """Where to save the answers; empty if nowhere."""
        file, _kind = QFileDialog.getSaveFileName(
            self, "Save answers to hand back", start_at(name), "Answers (*.triptych-answers)"
        )
        return file

    def viewing(self) -> dict[str, dict[str, object]]:
        """How the pictures are looked at: plain values, kept with the answer."""
        return self.board.viewing()

    def looking(self) -> dict[str, Any]:
        """All that is needed to go on looking as now."""
        return self.board.looking()

    # events

    def keyPressEvent(self, event: QKeyEvent) -> None:
        page = self._stack.currentWidget()
        if page is self._reading:
            self._reading_key(event)
        elif not self._quiet_key(page, keys.current().command_of(event, "review") or "", event):
            event.ignore()

    def _reading_key(self, event: QKeyEvent) -> None:
        if self.help.isVisible():
            self.help.hide()
        elif not self._reading.handle_key(event):
            event.ignore()

    def _quiet_key(self, page: QWidget | None, command: str, event: QKeyEvent) -> bool:
        """The pages around the triptych are walked through by keys as well."""
        if event.isAutoRepeat():
            return False
        wanted: dict[tuple[QWidget | None, str], SignalInstance] = {
            (self.curtain, "pause"): self.resume_asked,
            (self.curtain, "confirm"): self.resume_asked,
            (self.pages.asking, "confirm"): self.guess_begun,
            (self.pages.asking, "undo"): self.undo_asked,
            (self.end, "undo"): self.undo_asked,
            (self.pages.gone, "confirm"): self.retry_asked,
        }
        if command == "confirm" and isinstance(self.focusWidget(), QPushButton):
            return False  # Enter is the button's that has the keys
        if (page, command) == (self.end, "confirm"):
            self.pages.hand_back_at_end()
            return True
        asked = wanted.get((page, command))
        if asked is not None:
            asked.emit()
        return asked is not None

    def keyReleaseEvent(self, event: QKeyEvent) -> None:
        if not self._reading.handle_release(event):
            event.ignore()

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        self._reading.name_keys()
        self.pages.name_keys()
        self._clock.start()
        application = QApplication.instance()
        if application is not None:
            application.installEventFilter(self)

    def hideEvent(self, event: QHideEvent) -> None:
        super().hideEvent(event)
        self._clock.stop()
        application = QApplication.instance()
        if application is not None:
            application.removeEventFilter(self)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._show(self._wanted)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Notice that somebody is there; take nothing away."""
        if event.type() in _INPUTS and isinstance(watched, QWidget) and self.isAncestorOf(watched):
            self.input_seen.emit()
        return False

    # building

    def _connect(self) -> None:
        reading, pages = self._reading, self.pages
        for name in (
            "answer_chosen", "confirm_asked", "undo_asked", "pause_asked", "confidence_chosen",
            "usefulness_chosen", "comment_asked", "comment_kept", "cannot_asked", "reason_kept",
            "chosen_frame", "frame_wanted",
        ):  # fmt: skip
            getattr(reading, name).connect(getattr(self, name))
        for name in ("resume_asked", "leave_asked", "hand_back_asked", "guess_begun",
                     "retry_asked", "undo_asked", "full_screen_asked"):  # fmt: skip
            getattr(pages, name).connect(getattr(self, name))
        for name in ("begun", "folder_chosen", "pack_chosen", "build_asked"):
            getattr(self.start, name).connect(getattr(self, name))
        reading.help_asked.connect(lambda: self.help.open())
        reading.idle.connect(self.setFocus)
        self.profile.given.connect(self.profile_given)
        self.profile.left.connect(self.leave_asked)
        # Queued: the signal comes from inside a paint.
        self.board.revealed.connect(self.revealed, Qt.ConnectionType.QueuedConnection)
        self.board.link.moved.connect(lambda _canvas: self.looked.emit())

    def _show(self, page: QWidget) -> None:
        """Show a page, or say that the window is too small to read on."""
        self._wanted = page
        if page is self._reading and not self._large_enough(self.size()):
            display, ratio = self.screen().size(), self.devicePixelRatioF()
            fits = self._large_enough(display)
            said = _small_words(self.size() * ratio, display * ratio, fits=fits)
            self.pages.say_small(said, full=self.window().isFullScreen())
            page = self.small
        if page is self._stack.currentWidget() and self._reading.writing:
            return  # a resize takes no focus away from what is being written
        self._stack.setCurrentWidget(page)
        if page in (self._reading, self.curtain, self.end, self.pages.asking, self.pages.gone):
            self.setFocus()

    def _large_enough(self, size: QSize) -> bool:
        return large_enough(
            size.width(),
            size.height(),
            ratio=self.devicePixelRatioF(),
            percent=theme.theme.scale.percent,
        )


def _small_words(window: QSize, display: QSize, *, fits: bool) -> str:
    """Why nothing can be read on this window, and what helps; sizes in the display's pixels."""
    why = (
        f"It has {window.width()} x {window.height()} pixels; pictures are compared on "
        f"{LEAST[0]} x {LEAST[1]} or more."
    )
    if _sharp(window):
        why = "Words as large as they are drawn here leave the pictures too little room."
    if fits:
        return f"{why} Make the window larger."
    if _sharp(display):
        return f"{why} Choose smaller text in Settings, or a smaller scale in the system's."
    return (
        f"{why} This display has {display.width()} x {display.height()} in all: read on a larger "
        "one."
    )


def _sharp(pixels: QSize) -> bool:
    return pixels.width() >= LEAST[0] and pixels.height() >= LEAST[1]
