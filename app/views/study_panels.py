"""What folds out below a step of a study: readers and packs, answers that come back, publishing.

Each lays out and emits intents; none decides, and none shows a preference or a model.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from PySide6.QtCore import Signal
from PySide6.QtWidgets import (
    QComboBox,
    QFileDialog,
    QGridLayout,
    QLabel,
    QLineEdit,
    QProgressBar,
    QSpinBox,
    QVBoxLayout,
    QWidget,
)

from app.shown_study import PublishAsked, ReaderAsked, ReaderShown, VerdictShown
from app.widgets.blocks import button, clear, column, label, quiet, row, section, tell
from app.widgets.ink import hold, px
from app.widgets.start_folder import start_at

ANSWERS = "Answers of a reader (*.triptych-answers);;All files (*)"
COLUMNS = ("Reader", "By", "Handed out", "Answered", "Come back")
SHARE_WORDS = (
    "Several readers on one department database: give the address of a PostgreSQL database that "
    "all of them reach. Each opens the study there by the same address; the address may hold a "
    "password, which is used once and kept nowhere. With a role whose members have a login each, "
    "a reader is shown nothing of the others, and a name belongs to the login given here, else to "
    "the first that sits down under it; readers who use one login can read each other's answers "
    "with a database browser."
)


def grid(*lines: tuple[str, QWidget]) -> QGridLayout:
    """Words left, fields right; each field is heard by its words."""
    made = QGridLayout()
    made.setContentsMargins(0, 0, 0, 0)
    made.setHorizontalSpacing(px(12))
    made.setVerticalSpacing(px(8))
    for place, (words, field) in enumerate(lines):
        told = label(words, wrap=False)
        told.setBuddy(field)
        field.setAccessibleName(words)
        hold(field.setMinimumWidth, 150)
        made.addWidget(told, place, 0)
        made.addWidget(field, place, 1)
    made.setColumnStretch(1, 1)
    return made


class Said(QWidget):
    """How an act goes: a bar while it is at work, and one sentence."""

    def __init__(self) -> None:
        super().__init__()
        self.words, self.bar = label(""), QProgressBar()
        self.bar.setRange(0, 0)
        self.bar.setTextVisible(False)
        self.bar.setAccessibleName("At work")
        self.setLayout(column(self.bar, self.words, space=4))
        self.say("", "quiet", busy=False)

    def say(self, text: str, tone: str, *, busy: bool) -> None:
        """Show a sentence, with a bar while it is at work; an empty one hides both."""
        tell(self.words, text, tone)
        self.bar.setVisible(busy)
        self.setVisible(bool(text))

    def text(self) -> str:
        """The sentence."""
        return self.words.text()


class ReaderTable(QWidget):
    """Who reads, how far; a grid of words that a screen reader walks line by line."""

    def __init__(self) -> None:
        super().__init__()
        self.setAccessibleName("Readers")
        self._grid = QGridLayout(self)
        self._grid.setContentsMargins(0, 0, 0, 0)
        self._grid.setHorizontalSpacing(px(16))
        self._grid.setVerticalSpacing(px(4))
        self.cells: list[list[QLabel]] = []

    def show_readers(self, readers: Sequence[ReaderShown]) -> None:
        """List them; none hides the table."""
        clear(self._grid)
        self.cells = []
        self.setVisible(bool(readers))
        for column_, words in enumerate(COLUMNS):
            self._grid.addWidget(section(words), 0, column_)
        for place, reader in enumerate(readers, 1):
            told = (reader.name, reader.way, reader.handed, reader.answered, reader.returned)
            cells = [label(words, "" if number == 0 else "quiet")
                     for number, words in enumerate(told)]  # fmt: skip
            tell(cells[-1], reader.returned, reader.tone)
            for number, cell in enumerate(cells):
                self._grid.addWidget(cell, place, number)
            cells[0].setAccessibleDescription(", ".join(told[1:]))
            self.cells.append(cells)
        for column_ in range(len(COLUMNS)):
            self._grid.setColumnStretch(column_, 2 if column_ == len(COLUMNS) - 1 else 1)


class HandPanel(QWidget):
    """Name a reader and write the pack; or share by an address."""

    pack_wanted = Signal(object, str)
    share_wanted = Signal(str, str, str)

    def __init__(self) -> None:
        super().__init__()
        self.name, self.specialty, self.modalities, self.display = (QLineEdit() for _ in range(4))
        self.years = QSpinBox()
        self.years.setRange(-1, 60)
        self.years.setValue(-1)
        self.years.setSpecialValueText("not said")
        self.write = button("Write the pack file…", self._ask, kind="primary")
        self.said, self.url = Said(), QLineEdit()
        self.role, self.logins = QLineEdit(), QLineEdit()
        self.url.setEchoMode(QLineEdit.EchoMode.PasswordEchoOnEdit)
        self.share = button("Share", self._share, name="Share by a database address")
        self._lay_out()
        for field in (self.name, self.url, self.role):
            field.textChanged.connect(self._check)
        self._busy = False
        self._check()

    def _lay_out(self) -> None:
        self.name.setPlaceholderText("Name or initials, stored with each answer")
        self.specialty.setPlaceholderText("For example: chest radiology")
        self.modalities.setPlaceholderText("For example: CT and MR daily, ultrasound rarely")
        self.display.setPlaceholderText("For example: calibrated in May 2026")
        self.url.setPlaceholderText("postgresql://host/database")
        self.role.setPlaceholderText("May be left out; its members may read there and no more")
        self.logins.setPlaceholderText("May be left out; NAME=LOGIN, NAME=LOGIN")
        profile = grid(
            ("Reader", self.name),
            ("Specialty", self.specialty),
            ("Years of experience", self.years),
            ("Modalities", self.modalities),
            ("Display", self.display),
        )
        address = grid(
            ("Database address", self.url),
            ("Role of the readers", self.role),
            ("Logins of the role", self.logins),
        )
        self.setLayout(
            column(
                section("A pack for a reader"),
                quiet(
                    "One file that opens on any machine with this program, without the source "
                    "data and without the models. It holds the pictures and this reader's order."
                ),
                profile,
                row(self.write, 1),
                section("Or one database for all"),
                quiet(SHARE_WORDS),
                address,
                row(self.share, 1),
                self.said,
            )
        )

    def show_said(self, text: str, tone: str = "quiet", *, busy: bool = False) -> None:
        """Say how it went; while busy nothing else is begun."""
        self._busy = busy
        self.said.say(text, tone, busy=busy)
        self._check()

    def clear_reader(self) -> None:
        """Ready for the next reader."""
        for field in (self.name, self.specialty, self.modalities, self.display, self.url,
                      self.role, self.logins):  # fmt: skip
            field.clear()
        self.years.setValue(-1)
        self.name.setFocus()

    def _ask(self) -> None:
        name = self.name.text().strip()
        file = "".join(letter if letter.isalnum() else "-" for letter in name) or "reader"
        path = QFileDialog.getSaveFileName(
            self, f"Write the pack of {name}", start_at(f"{file}.triptych"), "Pack (*.triptych)"
        )[0]
        if path:
            self.pack_wanted.emit(self._asked(name), path)

    def _asked(self, name: str) -> ReaderAsked:
        texts = [box.text().strip() or None for box in (self.specialty, self.modalities,
                                                        self.display)]  # fmt: skip
        years = None if self.years.value() < 0 else self.years.value()
        return ReaderAsked(name, texts[0], years, texts[1], texts[2])

    def _share(self) -> None:
        url = self.url.text().strip()
        self.url.clear()
        logins = self.logins.text() if self.logins.isEnabled() else ""
        self.share_wanted.emit(url, self.role.text().strip(), logins.strip())

    def _check(self) -> None:
        self.write.setEnabled(bool(self.name.text().strip()) and not self._busy)
        self.share.setEnabled("://" in self.url.text() and not self._busy)
        self.logins.setEnabled(bool(self.role.text().strip()))


class MergePanel(QWidget):
    """Take answers back: choose files, drop them, or read a shared database."""

    merge_wanted = Signal(list)

    def __init__(self) -> None:
        super().__init__()
        self.choose = button("Choose answer files…", self._ask, kind="primary")
        self.url = QLineEdit()
        self.url.setEchoMode(QLineEdit.EchoMode.PasswordEchoOnEdit)
        self.url.setPlaceholderText("postgresql://host/database?schema=…")
        self.read = button("Read it back", self._read, name="Read a shared database back")
        self.said = Said()
        self._list = QVBoxLayout()
        self._list.setSpacing(px(6))
        self.setLayout(
            column(
                quiet(
                    "Drop the files of readers on this page, or choose them. Each is checked "
                    "against this study's fingerprint and its own chain; one that was altered "
                    "or belongs to another study is refused by name, the others are still taken."
                ),
                row(self.choose, 1),
                grid(("Shared database", self.url)),
                row(self.read, 1),
                self.said,
                self._list,
            )
        )
        self.url.textChanged.connect(self._check)
        self._busy = False
        self._check()

    def show_said(self, text: str, tone: str = "quiet", *, busy: bool = False) -> None:
        """Say how it goes."""
        self._busy = busy
        self.said.say(text, tone, busy=busy)
        self._check()

    def offer_address(self, url: str) -> None:
        """A shared database that is known, without its password; it can be typed in."""
        if not self.url.text():
            self.url.setText(url)

    def show_verdicts(self, verdicts: Sequence[VerdictShown]) -> None:
        """One line per file, in the order given."""
        clear(self._list)
        for verdict in verdicts:
            told = label("")
            tell(told, f"{verdict.source}: {verdict.sentence}", verdict.tone)
            told.setAccessibleName(f"{verdict.source}: {verdict.sentence}")
            self._list.addWidget(told)

    def _ask(self) -> None:
        paths = QFileDialog.getOpenFileNames(self, "Answers that came back", start_at(), ANSWERS)[0]
        if paths:
            self.merge_wanted.emit(list(paths))

    def _read(self) -> None:
        url = self.url.text().strip()
        self.url.clear()
        self.merge_wanted.emit([url])

    def _check(self) -> None:
        self.choose.setEnabled(not self._busy)
        self.read.setEnabled("://" in self.url.text() and not self._busy)


class PublishPanel(QWidget):
    """What the folder for the paper holds, and where it goes."""

    publish_wanted = Signal(object, str)
    open_wanted = Signal(str)

    def __init__(self) -> None:
        super().__init__()
        self.comments, self.names = QComboBox(), QComboBox()
        for words, key in (
            ("left out: they may hold more than a study should tell", "leave out"),
            ("kept, as the readers wrote them", "include"),
        ):
            self.comments.addItem(words, key)
        for words, key in (
            ("as codes, R1, R2 and so on", "codes"),
            ("by the names they gave", "names"),
        ):
            self.names.addItem(words, key)
        self.write = button("Choose a folder and write…", self._ask, kind="primary")
        self.open = button("Open the folder", lambda: self.open_wanted.emit(self._folder))
        self.open.hide()
        self.said = Said()
        self._folder = ""
        self.setLayout(
            column(
                quiet(
                    "Ratings, items, guesses and readers as CSV with a dictionary, every number "
                    "in one JSON file, tables, figures, the methods text, and R and Python "
                    "scripts that compute all of it again. No path of this machine is in it."
                ),
                grid(("Comments", self.comments), ("Readers", self.names)),
                row(self.write, self.open, 1),
                self.said,
            )
        )

    def show_said(
        self, text: str, tone: str = "quiet", *, busy: bool = False, folder: str = ""
    ) -> None:
        """Say how it went; a folder that was written can be opened."""
        self.write.setEnabled(not busy)
        self._folder = folder
        self.open.setVisible(bool(folder))
        self.said.say(text, tone, busy=busy)

    def _ask(self) -> None:
        folder = QFileDialog.getExistingDirectory(
            self, "A folder for the published study", start_at()
        )
        if folder:
            asked = PublishAsked(str(self.comments.currentData()), str(self.names.currentData()))
            self.publish_wanted.emit(asked, str(Path(folder)))


class ReturnPanel(QWidget):
    """A reader's copy: write the answers as one signed file."""

    return_wanted = Signal(str)

    def __init__(self) -> None:
        super().__init__()
        self.suggested = "answers.triptych-answers"
        self.write = button("Save the answers…", self._ask, kind="primary")
        self.said = Said()
        self.setLayout(
            column(
                quiet(
                    "One signed file with everything answered so far. It can be written again "
                    "later; the newest counts, and nothing is lost by returning early."
                ),
                row(self.write, 1),
                self.said,
            )
        )

    def show_said(self, text: str, tone: str = "quiet", *, busy: bool = False) -> None:
        """Say how it went."""
        self.write.setEnabled(not busy)
        self.said.say(text, tone, busy=busy)

    def _ask(self) -> None:
        path = QFileDialog.getSaveFileName(
            self, "Save the answers", start_at(self.suggested), "Answers (*.triptych-answers)"
        )[0]
        if path:
            self.return_wanted.emit(path)
