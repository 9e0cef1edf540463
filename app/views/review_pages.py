"""The quiet pages around the triptych: start, pause, end, too small. They decide nothing."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from PySide6.QtCore import QSize, Qt, Signal
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
from app.widgets.ink import hold, px

WIDTH = 560


@dataclass(frozen=True)
class StudyRow:
    """One study as the start page lists it."""

    id: str
    title: str
    facts: str
    open: bool = True


class SentencePage(QWidget):
    """A title, a sentence and buttons, in the middle of the page."""

    def __init__(self, title: str, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.title, self.sentence = QLabel(title), QLabel()
        self.title.setProperty("role", "title")
        self.sentence.setProperty("role", "reading")
        self.sentence.setWordWrap(True)
        self.body = QVBoxLayout()
        self.body.setSpacing(theme.SPACE_L)
        self.body.addWidget(self.title)
        self.body.addWidget(self.sentence)
        self.buttons = QHBoxLayout()
        self.buttons.setSpacing(theme.SPACE_S)
        box = QWidget()
        box.setLayout(self.body)
        hold(box.setFixedWidth, WIDTH)
        column = QVBoxLayout(self)
        column.addStretch(2)
        column.addWidget(box, 0, Qt.AlignmentFlag.AlignHCenter)
        column.addStretch(3)
        theme.theme.scaled.connect(self._say_again)

    def _say_again(self) -> None:
        self.say(self.sentence.text())

    def say(self, sentence: str) -> None:
        """The sentence, with room for all its lines."""
        self.sentence.setText(sentence)
        self.sentence.setMinimumHeight(self.sentence.heightForWidth(px(WIDTH)) if sentence else 0)

    def add_button(self, words: str, *, primary: bool = False) -> QPushButton:
        """One more button in the row below."""
        button = QPushButton(words)
        button.setAccessibleName(words)
        if primary:
            button.setProperty("kind", "primary")
        if self.buttons.count() == 0:
            self.body.addLayout(self.buttons)
            self.buttons.addStretch(1)
        self.buttons.insertWidget(self.buttons.count() - 1, button)
        return button


class StartPage(SentencePage):
    """Choose a study, say who rates, begin."""

    begun = Signal(str, str)
    build_asked = Signal()
    folder_chosen = Signal(str, str)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__("Review", parent)
        self.list = QListWidget()
        self.list.setAccessibleName("Studies")
        self.list.setMinimumHeight(180)
        self.list.setSpacing(2)
        self.rater = QLineEdit()
        self.rater.setAccessibleName("Your name or initials")
        self.rater.setPlaceholderText("Your name or initials, stored with each answer")
        self.rater.setMaxLength(60)
        self.body.addWidget(self.list, 1)
        self.body.addWidget(self.rater)
        self.begin = self.add_button("Begin", primary=True)
        self.build = self.add_button("Build a study")
        self.folder = self.add_button("Open a study folder")
        self.folder.clicked.connect(self._ask_folder)
        self.begin.clicked.connect(self._begin)
        self.build.clicked.connect(self.build_asked)
        self.list.itemActivated.connect(lambda _item: self._begin())
        self.list.currentItemChanged.connect(lambda *_: self._fit())
        self.rater.returnPressed.connect(self._begin)
        self.rater.textChanged.connect(lambda _text: self._fit())

    def show_studies(self, rows: Sequence[StudyRow], *, rater: str, sentence: str) -> None:
        """List the studies of this home; without any, say how to get one."""
        self.say(sentence)
        self.list.clear()
        for row in rows:
            item = QListWidgetItem(f"{row.title}\n{row.facts}")
            item.setData(Qt.ItemDataRole.UserRole, row.id)
            item.setSizeHint(QSize(0, theme.px("body") * 4))
            if not row.open:
                item.setFlags(Qt.ItemFlag.NoItemFlags)
            self.list.addItem(item)
        for widget in (self.list, self.rater, self.begin):
            widget.setVisible(bool(rows))
        self.build.setVisible(not rows)
        if not self.rater.text():
            self.rater.setText(rater)
        first = next((index for index, row in enumerate(rows) if row.open), -1)
        self.list.setCurrentRow(first)
        self._fit()

    def _ask_folder(self) -> None:
        folder = QFileDialog.getExistingDirectory(self, "Open a study folder")
        if folder:
            self.folder_chosen.emit(folder, self.rater.text().strip())

    def _begin(self) -> None:
        item = self.list.currentItem()
        if item is not None and self.begin.isEnabled():
            self.begun.emit(item.data(Qt.ItemDataRole.UserRole), self.rater.text().strip())

    def _fit(self) -> None:
        chosen = self.list.currentItem() is not None
        self.begin.setEnabled(chosen and bool(self.rater.text().strip()))
