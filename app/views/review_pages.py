"""The quiet pages around the triptych: start, pause, end, too small. They decide nothing."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from PySide6.QtCore import QObject, QSize, Qt, Signal, SignalInstance
from PySide6.QtWidgets import (
    QFileDialog,
    QHBoxLayout,
    QLabel,
    QLineEdit,
    QListWidget,
    QListWidgetItem,
    QPushButton,
    QVBoxLayout,
    QWidget,
)

from app import theme
from app.keys import with_key
from app.widgets.blocks import restyle
from app.widgets.ink import px
from app.widgets.start_folder import start_at

WIDTH, WIDEST = 560, 1040  # at the largest type the narrowest window still has margins
HAND_BACK = "Save answers to hand back"
SMALL, END, GONE = "This window is small", "Study finished", "This study cannot be reached"


@dataclass(frozen=True)
class StudyRow:
    """One study as the start page lists it."""

    id: str
    title: str
    facts: str
    open: bool = True
    rater: str = ""  # whose pack it is; nobody else reads it
    begun: bool = False  # that reader has answered something


class SentencePage(QWidget):
    """A title, a sentence and buttons, in the middle of the page.

    Args:
        title: a few words.
        parent: as in Qt.
        per_row: so many buttons stand side by side.
    """

    def __init__(self, title: str, parent: QWidget | None = None, *, per_row: int = 4) -> None:
        super().__init__(parent)
        self.title, self.sentence = QLabel(title), QLabel()
        self.title.setProperty("role", "title")
        self.sentence.setProperty("role", "reading")
        self.sentence.setWordWrap(True)
        self.body = QVBoxLayout()
        self.body.setContentsMargins(0, 0, 0, 0)  # the sentence is as wide as the room it asks
        self.body.setSpacing(theme.SPACE_L)
        self.body.addWidget(self.title)
        self.body.addWidget(self.sentence)
        self._per_row = per_row
        self._buttons: list[QPushButton] = []
        self._box = QWidget()
        self._box.setLayout(self.body)
        column = QVBoxLayout(self)
        column.addStretch(2)
        column.addWidget(self._box, 0, Qt.AlignmentFlag.AlignHCenter)
        column.addStretch(3)
        theme.theme.scaled.connect(self._say_again)
        self._say_again()

    def _say_again(self) -> None:
        self.say(self.sentence.text())

    def say(self, sentence: str) -> None:
        """The sentence, with room for all its lines."""
        wide = min(px(WIDTH), WIDEST)
        self._box.setFixedWidth(wide)
        self.sentence.setText(sentence)
        self.sentence.ensurePolished()  # before it is first shown its type has another size
        self.sentence.setMinimumHeight(self.sentence.heightForWidth(wide) if sentence else 0)

    def add_words(self, sentence: str) -> None:
        """One more sentence below, in place of the last one added."""
        first = self.sentence.text().partition("\n\n")[0]
        self.say(f"{first}\n\n{sentence}")

    def add_button(self, words: str, *, primary: bool = False) -> QPushButton:
        """One more button in the row below."""
        button = QPushButton(words)
        button.setAccessibleName(words)
        if primary:
            button.setProperty("kind", "primary")
        if len(self._buttons) % self._per_row == 0:
            self._row = QHBoxLayout()
            self._row.setSpacing(theme.SPACE_S)
            self._row.addStretch(1)
            self.body.addLayout(self._row)
        self._row.insertWidget(self._row.count() - 1, button)
        self._buttons.append(button)
        return button


class StartPage(SentencePage):
    """Choose a study, say who rates, begin."""

    begun = Signal(str, str)
    build_asked = Signal()
    folder_chosen = Signal(str, str)
    pack_chosen = Signal(str)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__("Review", parent)
        self._own = ""
        self._raters: dict[str, str] = {}
        self._begun: set[str] = set()
        self.list = QListWidget()
        self.list.setAccessibleName("Studies")
        self.list.setMinimumHeight(180)
        self.list.setSpacing(2)
        self.list.setWordWrap(True)
        self.rater = QLineEdit()
        self.rater.setAccessibleName("Your name or initials")
        self.rater.setPlaceholderText("Stored with each answer")
        self.rater.setMaxLength(60)
        self.named = QLabel("Your name or initials")
        self.named.setBuddy(self.rater)
        who = QVBoxLayout()
        who.setSpacing(theme.SPACE_XS)
        who.addWidget(self.named)
        who.addWidget(self.rater)
        self.body.addWidget(self.list, 1)
        self.body.addLayout(who)
        self.begin = self.add_button("Begin", primary=True)
        self.build = self.add_button("Build a study")
        self.pack = self.add_button("Open a pack")
        self.pack.clicked.connect(self._ask_pack)
        self.folder = self.add_button("Open a study folder")
        self.folder.clicked.connect(self._ask_folder)
        self.begin.clicked.connect(self._begin)
        self.build.clicked.connect(self.build_asked)
        self.list.itemActivated.connect(lambda _item: self._begin())
        self.list.currentItemChanged.connect(lambda *_: self._name_rater())
        self.rater.returnPressed.connect(self._begin)
        self.rater.textChanged.connect(lambda _text: self._fit())

    def show_studies(
        self, rows: Sequence[StudyRow], *, rater: str, sentence: str, chosen: str = ""
    ) -> None:
        """List the studies of this home; without any, say how to get one."""
        self.say(sentence)
        self._own = rater
        self._raters = {row.id: row.rater for row in rows}
        self._begun = {row.id for row in rows if row.begun}
        self.list.clear()
        for row in rows:
            item = QListWidgetItem(f"{row.title}\n{row.facts}")
            item.setData(Qt.ItemDataRole.UserRole, row.id)
            item.setSizeHint(QSize(0, theme.px("body") * 21 // 4))  # facts may take two lines
            item.setToolTip(f"{row.title}: {row.facts}")
            if not row.open:
                item.setFlags(Qt.ItemFlag.NoItemFlags)
            self.list.addItem(item)
        for widget in (self.list, self.named, self.rater, self.begin):
            widget.setVisible(bool(rows))
        restyle(self.pack, "kind", "" if rows else "primary")  # without a study that comes first
        self.build.setVisible(not rows)
        if not self.rater.text():
            self.rater.setText(rater)
        ids = [row.id for row in rows if row.open]
        wanted = chosen if chosen in ids else next(iter(ids), "")
        self.list.setCurrentRow(next((n for n, row in enumerate(rows) if row.id == wanted), -1))
        self._name_rater()

    def _name_rater(self) -> None:
        """A pack is read under the name that it was made for."""
        item = self.list.currentItem()
        named = "" if item is None else self._raters.get(item.data(Qt.ItemDataRole.UserRole), "")
        if named:
            self.rater.setText(named)
        elif not self.rater.isEnabled():
            self.rater.setText(self._own)
        self.rater.setEnabled(not named)
        self._fit()

    def _ask_folder(self) -> None:
        folder = QFileDialog.getExistingDirectory(self, "Open a study folder", start_at())
        if folder:
            self.folder_chosen.emit(folder, self.rater.text().strip())

    def _ask_pack(self) -> None:
        file, _kind = QFileDialog.getOpenFileName(
            self, "Open a pack", start_at(), "Packs (*.triptych);;All files (*)"
        )
        if file:
            self.pack_chosen.emit(file)

    def _begin(self) -> None:
        item = self.list.currentItem()
        if item is not None and self.begin.isEnabled():
            self.begun.emit(item.data(Qt.ItemDataRole.UserRole), self.rater.text().strip())

    def _fit(self) -> None:
        item = self.list.currentItem()
        begun = item is not None and item.data(Qt.ItemDataRole.UserRole) in self._begun
        self.begin.setText("Go on" if begun else "Begin")
        self.begin.setEnabled(item is not None and bool(self.rater.text().strip()))


class QuietPages(QObject):
    """Curtain, questions, end, a vanished study, a small window, waiting; with their buttons.

    Signals:
        resume_asked, leave_asked, undo_asked, hand_back_asked, guess_begun, retry_asked,
        full_screen_asked: what they say.
    """

    resume_asked = Signal()
    leave_asked = Signal()
    undo_asked = Signal()
    hand_back_asked = Signal()
    guess_begun = Signal()
    retry_asked = Signal()
    full_screen_asked = Signal()

    def __init__(self) -> None:
        super().__init__()
        self.start, self.curtain = StartPage(), SentencePage("Paused")
        self.asking, self.end = SentencePage("A last question"), SentencePage(END, per_row=2)
        self.gone, self.small = SentencePage(GONE), SentencePage(SMALL)
        self.wait = SentencePage("")
        self.all = (
            self.start, self.curtain, self.asking, self.end, self.gone, self.small, self.wait,
        )  # fmt: skip
        self._named: list[tuple[QPushButton, str, str]] = []
        self._save: dict[SentencePage, QPushButton] = {}
        self._back: dict[SentencePage, QPushButton] = {}
        for page, words, command, asked, primary in self._buttons():
            button = page.add_button(words, primary=primary)
            button.clicked.connect(lambda _checked=False, asked=asked: asked.emit())
            self._named.append((button, words, command))
            if asked is self.hand_back_asked:
                self._save[page] = button
            if asked is self.undo_asked:
                self._back[page] = button
            if asked is self.full_screen_asked:
                self._full_screen = button
        self.name_keys()

    def say(self, page: SentencePage, sentence: str, *, hand_back: bool) -> None:
        """A sentence on the curtain or at the end; a pack's answers can be saved there."""
        page.say(sentence)
        self._save[page].setVisible(hand_back)

    def say_small(self, sentence: str, *, full: bool) -> None:
        """Why the window is too small; one that fills the screen already is offered no more."""
        self.small.say(sentence)
        self._full_screen.setVisible(not full)

    def open_back(self, page: SentencePage, *, there: bool) -> None:
        """Whether the last item may be gone back to."""
        self._back[page].setVisible(there)

    def hand_back_at_end(self) -> None:
        """The key of the end page's button, where it has one."""
        if not self._save[self.end].isHidden():
            self.hand_back_asked.emit()

    def name_keys(self) -> None:
        """Say the keys in force."""
        for button, words, command in self._named:
            button.setText(with_key(words, command) if command else words)

    def _buttons(self) -> Sequence[tuple[SentencePage, str, str, SignalInstance, bool]]:
        """Page, words, key, what it asks, whether it is the main one."""
        curtain, asking, end, gone = self.curtain, self.asking, self.end, self.gone
        return (
            (curtain, "Go on", "pause", self.resume_asked, True),
            (curtain, HAND_BACK, "", self.hand_back_asked, False),
            (curtain, "Leave the study", "", self.leave_asked, False),
            (asking, "Begin", "confirm", self.guess_begun, True),
            (asking, "Back to the last item", "undo", self.undo_asked, False),
            (asking, "Leave the study", "", self.leave_asked, False),
            (end, HAND_BACK, "confirm", self.hand_back_asked, True),
            (end, "Back to the studies", "", self.leave_asked, False),
            (end, "Back to the last item", "undo", self.undo_asked, False),
            (gone, "Try again", "confirm", self.retry_asked, True),
            (gone, "Leave the study", "", self.leave_asked, False),
            (self.small, "Full screen", "full-screen", self.full_screen_asked, True),
            (self.small, "Leave the study", "", self.leave_asked, False),
        )
