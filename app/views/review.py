"""The Review page: the triptych with its strip and answers, and the pages around it.

Turns keys and clicks into intents; shows what it is told. Says nothing of models, and decides
nothing: whether a key counts is the presenter's business.
"""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QEvent, QObject, Qt, Signal
from PySide6.QtGui import QHideEvent, QKeyEvent, QResizeEvent, QShowEvent
from PySide6.QtWidgets import QApplication, QStackedLayout, QVBoxLayout, QWidget

from app import keys
from app.views.review_pages import SentencePage, StartPage, StudyRow
from app.widgets.answer_bar import AnswerBar
from app.widgets.key_help import KeyHelp
from app.widgets.progress_strip import ProgressStrip
from app.widgets.triptych import BoardItem, TriptychBoard

LEAST = (1280, 800)
ANSWERS = ("left", "right", "both", "neither")
MARKED = {"left": ("left",), "right": ("right",), "both": ("left", "right")}
_INPUTS = (
    QEvent.Type.KeyPress,
    QEvent.Type.MouseButtonPress,
    QEvent.Type.MouseMove,
    QEvent.Type.Wheel,
)


class ReviewView(QWidget):
    """Everything a reader sees while rating.

    Signals:
        answer_chosen: ``left``, ``right``, ``both`` or ``neither``.
        confirm_asked, undo_asked, pause_asked, resume_asked, leave_asked: what they say.
        begun: study id and rater.
        folder_chosen: folder of a study handed over, and rater.
        build_asked: there is no study; make one.
        revealed: the item put up last has been painted, all of it.
        input_seen: a key, a click, a move or the wheel.
        looked: a picture was scrolled, windowed, zoomed or panned.
        full_screen_asked: the window is too small.
    """

    answer_chosen = Signal(str)
    confirm_asked = Signal()
    undo_asked = Signal()
    pause_asked = Signal()
    resume_asked = Signal()
    leave_asked = Signal()
    begun = Signal(str, str)
    folder_chosen = Signal(str, str)
    build_asked = Signal()
    revealed = Signal()
    input_seen = Signal()
    looked = Signal()
    full_screen_asked = Signal()

    def __init__(self) -> None:
        super().__init__()
        self.setAccessibleName("Review")
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.strip, self.board, self.answers = ProgressStrip(), TriptychBoard(), AnswerBar()
        self.start, self.curtain = StartPage(), SentencePage("Paused")
        self.end, self.small = SentencePage("Study finished"), SentencePage("This window is small")
        self.wait = SentencePage("")
        self._reading = QWidget()
        self._stack = QStackedLayout(self)
        self._wanted: QWidget = self.start
        self._lay_out()
        self._connect()
        self.help = KeyHelp(self, page="review")
        self._flip_key = 0

    # setters

    def show_studies(self, rows: Sequence[StudyRow], *, rater: str, sentence: str) -> None:
        """The start page."""
        self.start.show_studies(rows, rater=rater, sentence=sentence)
        self._show(self.start)

    def show_item(self, item: BoardItem) -> None:
        """A whole item, in one frame; no answer is chosen."""
        self.answers.show_answer(None)
        self.board.show_item(item)
        self._show(self._reading)

    def show_progress(self, position: int, total: int, left: str) -> None:
        """Which item, and the time left in words."""
        self.strip.show_progress(position, total, left)

    def show_answer(self, answer: str | None) -> None:
        """Fill the chosen answer and thicken its wing."""
        self.answers.show_answer(answer)
        self.board.mark(MARKED.get(answer or "", ()))

    def show_hint(self, sentence: str, *, kind: str = "quiet") -> None:
        """One sentence above the triptych."""
        self.strip.show_hint(sentence, kind=kind)

    def show_link(self, *, on: bool) -> None:
        """Whether the viewers are linked."""
        self.board.link.set_on(on)
        self.strip.show_link(on=on)

    def set_live(self, live: bool) -> None:
        """Whether an answer is taken now."""
        self.answers.set_live(live)

    def show_waiting(self, sentence: str) -> None:
        """Nothing to see yet."""
        self.wait.say(sentence)
        self._show(self.wait)

    def show_paused(self, sentence: str) -> None:
        """A curtain before the pictures."""
        self.curtain.say(sentence)
        self._show(self.curtain)

    def show_reading(self) -> None:
        """The triptych again, as it was."""
        self._show(self._reading)

    def show_finished(self, sentence: str) -> None:
        """The end of the study."""
        self.board.clear()
        self.end.say(sentence)
        self._show(self.end)

    def viewing(self) -> dict[str, dict[str, object]]:
        """How the pictures are looked at: plain values, kept with the answer."""
        return self.board.viewing()

    # events

    def keyPressEvent(self, event: QKeyEvent) -> None:
        command = keys.current().command_of(event, "review") or ""
        page = self._stack.currentWidget()
        if page is self.curtain and command == "pause":
            self.resume_asked.emit()
        elif page is self.end and command == "undo":
            self.undo_asked.emit()
        elif page is not self._reading:
            event.ignore()
        elif self.help.isVisible():
            self.help.hide()
        elif not self._rating_key(command, event) and not self._looking_key(command, event):
            event.ignore()

    def keyReleaseEvent(self, event: QKeyEvent) -> None:
        if event.key() == self._flip_key and not event.isAutoRepeat():
            self._flip_key = 0
            self.board.flip_back()
        else:
            event.ignore()

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        self._name_keys()
        application = QApplication.instance()
        if application is not None:
            application.installEventFilter(self)

    def hideEvent(self, event: QHideEvent) -> None:
        super().hideEvent(event)
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

    def _rating_key(self, command: str, event: QKeyEvent) -> bool:
        if command == "undo":
            self.undo_asked.emit()
            return True
        if event.isAutoRepeat():
            return False
        if command.removeprefix("answer-") in ANSWERS:
            self.answer_chosen.emit(command.removeprefix("answer-"))
        elif command == "confirm":
            self.confirm_asked.emit()
        elif command == "pause":
            self.pause_asked.emit()
        else:
            return False
        return True

    def _looking_key(self, command: str, event: QKeyEvent) -> bool:
        if command == "flip":
            if not event.isAutoRepeat():
                self._flip_key = event.key()
                self.board.flip()
        elif command == "maximise":
            self.board.enlarge()
        elif command == "back":
            self.board.shrink()
        elif command == "link":
            if not event.isAutoRepeat():
                self.show_link(on=not self.board.link.on)
        elif command == "help":
            self.help.open()
        else:
            return self.board.handle_key(event)
        return True

    def _name_keys(self) -> None:
        """Keys may have been changed while another page was on show."""
        for part in (self.answers, self.strip, self.board.prompt):
            part.name_keys()
        self._go_on.setText(keys.with_key("Go on", "pause"))
        self._back.setText(keys.with_key("Back to the last item", "undo"))

    # building

    def _lay_out(self) -> None:
        column = QVBoxLayout(self._reading)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
        column.addWidget(self.strip)
        column.addWidget(self.board, 1)
        column.addWidget(self.answers)
        self._stack.setContentsMargins(0, 0, 0, 0)
        for page in (
            self.start, self._reading, self.curtain, self.end, self.small, self.wait,
        ):  # fmt: skip
            self._stack.addWidget(page)
        self.small.add_button("Full screen  F11", primary=True).clicked.connect(
            self.full_screen_asked
        )
        self._go_on = self.curtain.add_button("Go on", primary=True)
        self._go_on.clicked.connect(self.resume_asked)
        self.curtain.add_button("Leave the study").clicked.connect(self.leave_asked)
        self.end.add_button("Back to the studies", primary=True).clicked.connect(self.leave_asked)
        self._back = self.end.add_button("Back to the last item")
        self._back.clicked.connect(self.undo_asked)

    def _connect(self) -> None:
        self.answers.chosen.connect(self.answer_chosen)
        self.strip.pause_asked.connect(self.pause_asked)
        self.strip.help_asked.connect(lambda: self.help.open())
        self.strip.link_asked.connect(lambda: self.show_link(on=not self.board.link.on))
        self.board.prompt.back_asked.connect(self.undo_asked)
        self.board.prompt.on_asked.connect(self.confirm_asked)
        # Queued: the children of the board are painted in the same pass, after it.
        self.board.revealed.connect(self.revealed, Qt.ConnectionType.QueuedConnection)
        self.board.link.moved.connect(lambda _canvas: self.looked.emit())
        self.start.begun.connect(self.begun)
        self.start.folder_chosen.connect(self.folder_chosen)
        self.start.build_asked.connect(self.build_asked)

    def _show(self, page: QWidget) -> None:
        """Show a page, or say that the window is too small to read on."""
        self._wanted = page
        small = self.width() < LEAST[0] or self.height() < LEAST[1]
        if page is self._reading and small:
            self.small.say(
                f"It has {self.width()} x {self.height()} points; pictures are compared on "
                f"{LEAST[0]} x {LEAST[1]} or more. Make the window larger."
            )
            page = self.small
        self._stack.setCurrentWidget(page)
        if page in (self._reading, self.curtain, self.end):
            self.setFocus()
