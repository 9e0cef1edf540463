"""The study wizard: four pages inside the study page, no dialog; then the one button that builds.

Lays out and emits intents. A passphrase is taken from its field, emitted once and wiped.
"""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import (
    QButtonGroup,
    QFrame,
    QLineEdit,
    QProgressBar,
    QPushButton,
    QScrollArea,
    QSpinBox,
    QStackedWidget,
    QWidget,
)

from app.shown_study import LONGEST_TITLE, SourceOffered, StudyWish
from app.views.study_panels import grid
from app.views.study_size_page import SizePage
from app.views.study_wizard_pages import ComparePage, ReadingPage
from app.widgets.blocks import button, column, heading, label, quiet, row, tell, title
from app.widgets.ink import hold, px

SHORTEST = 8
PAGES = ("Compare", "Size", "Reading", "Seal")
TITLED = f"Shown to readers; names no model; {LONGEST_TITLE} characters at most"
LEAVE = "Leave"
DROPPED = "The title and the passphrase typed here are dropped. Leave again to go."
LOST = (
    "A lost passphrase is lost. Without it nobody can unblind this study, and nothing here can "
    "restore it. Write it down, and keep it away from whoever reads."
)


class SealPage(QWidget):
    """Title, seed, passphrase twice, and what is about to be frozen."""

    changed = Signal()

    def __init__(self) -> None:
        super().__init__()
        self.name, self.secret, self.again = QLineEdit(), QLineEdit(), QLineEdit()
        self.name.setPlaceholderText(TITLED)
        for line in (self.secret, self.again):
            line.setEchoMode(QLineEdit.EchoMode.Password)
        self.secret.setPlaceholderText(f"At least {SHORTEST} characters")
        self.seed = QSpinBox()
        self.seed.setRange(0, 2_147_483_647)
        self.seed.setValue(1)
        self.summary = label("", "reading")
        lost = label("", "warn")
        tell(lost, LOST, "warn")
        fields = QWidget()
        fields.setLayout(
            grid(
                ("Title", self.name),
                ("Seed of the sample", self.seed),
                ("Passphrase of the key", self.secret),
                ("The same again", self.again),
            )
        )
        hold(fields.setMaximumWidth, 620)
        self.setLayout(
            column(
                heading("What will be frozen"),
                self.summary,
                heading("How it is sealed"),
                quiet(
                    "Which list is from which model is drawn by item, balanced, and locked with "
                    "the passphrase. It is opened once, at unblinding."
                ),
                fields,
                lost,
                1,
                space=12,
            )
        )
        for line in (self.name, self.secret, self.again):
            line.textChanged.connect(lambda _text: self.changed.emit())

    def problem(self, names: Sequence[str]) -> str:
        """What still speaks against building; empty if nothing."""
        told = self.name.text().strip()
        if not told:
            return "Give the study a title."
        if any(len(name) > 3 and name.casefold() in told.casefold() for name in names):
            return "The title names a model; readers would see it."
        if (long := len(" ".join(told.split()))) > LONGEST_TITLE:
            return f"A title has {LONGEST_TITLE} characters at most; this one has {long}."
        if len(self.secret.text()) < SHORTEST:
            return f"Choose a passphrase of at least {SHORTEST} characters."
        if self.secret.text() != self.again.text():
            return "The two passphrases differ."
        return ""

    @property
    def typed(self) -> bool:
        """Whether something stands here that leaving would drop."""
        return any(line.text().strip() for line in (self.name, self.secret, self.again))

    def take_secret(self) -> str:
        """The passphrase, which is wiped from its fields."""
        secret = self.secret.text()
        for line in (self.secret, self.again):
            line.clear()
        return secret


class StudyWizard(QWidget):
    """Four pages, back and next; the last one builds."""

    build_wanted = Signal(object)
    left = Signal()
    page_shown = Signal(int)

    def __init__(self) -> None:
        super().__init__()
        self.compare, self.sizing, self.reading = ComparePage(), SizePage(), ReadingPage()
        self.seal = SealPage()
        self.pages = QStackedWidget()
        for page in (self.compare, self.sizing, self.reading, self.seal):
            self.pages.addWidget(scrolled(page))
        self.tabs = QButtonGroup(self)
        self.tabs.setExclusive(True)
        self.problem, self._hindrance = label(""), ""
        self.back = button("Back", lambda: self.turn(self.page - 1))
        self.forth = button("Next", self._forth, kind="primary")
        self.leave = button(LEAVE, self._leave, name="Leave without building")
        self._warned = False
        feet = row(self.back, self.forth, 1, self.leave)
        feet.setContentsMargins(0, 0, px(12), 0)  # as far in as the pages above
        layout = column(
            title("A new study"),
            row(*[self._tab(place, words) for place, words in enumerate(PAGES)], 1, space=4),
            self.pages,
            self.problem,
            feet,
            space=12,
        )
        layout.setStretch(2, 1)
        self.setLayout(layout)
        self.tabs.idClicked.connect(self.turn)
        self.seal.changed.connect(self._check)
        self.compare.models_changed.connect(lambda _models: self._check())
        self.compare.tasks_changed.connect(lambda _tasks: self._check())
        self.turn(0)

    @property
    def page(self) -> int:
        """The page in front."""
        return self.pages.currentIndex()

    def offer(self, sources: Sequence[SourceOffered]) -> None:
        """Begin anew with what can be compared; nothing clears every name."""
        self.compare.offer(sources)
        if not sources:
            self.compare.offer_models((), ())
            self.compare.offer_tasks((), ())
            self.compare.show_counts("", "")
            self.seal.summary.clear()
            self.seal.name.clear()
        self.seal.take_secret()
        self.turn(0)

    def show_problem(self, text: str) -> None:
        """What the presenter says speaks against going on from the first page; empty if nothing."""
        self._hindrance = text
        self._check()

    def show_failure(self, text: str, tone: str = "error") -> None:
        """Why building ended; the fields are as they were, but for the passphrase."""
        tell(self.problem, text, tone)

    def turn(self, page: int) -> None:
        """Show a page; what is wrong on the first keeps the others shut."""
        before, page = self.page, 0 if self._hindrance else max(0, min(page, len(PAGES) - 1))
        self.pages.setCurrentIndex(page)
        tab = self.tabs.button(page)
        if tab is not None:
            tab.setChecked(True)
        if page == len(PAGES) - 1 and page != before:
            self.seal.name.setFocus()  # else the keys fall to Leave, for the button beside is shut
        self.page_shown.emit(page)
        self._check()

    def wish(self) -> StudyWish:
        """Everything that was chosen; wipes the passphrase."""
        kind, source = self.compare.source.currentData()
        return StudyWish(
            source=str(source),
            kind=str(kind),
            models=tuple(self.compare.chosen_models()),
            tasks=tuple(self.compare.chosen_tasks()) or None,
            total=self.sizing.asked().items,
            title=self.seal.name.text().strip(),
            seed=self.seal.seed.value(),
            protocol=self.reading.protocol(),
            other_patients=self.compare.others.isChecked(),
            passphrase=self.seal.take_secret(),
        )

    def _leave(self) -> None:
        """Go; where something was typed that would be lost, only when asked a second time."""
        if self._warned or not self.seal.typed:
            self.left.emit()
            return
        self._warned = True
        self.leave.setText("Leave and drop it")
        tell(self.problem, DROPPED, "warn")

    def _tab(self, place: int, words: str) -> QPushButton:
        made = button(f"{place + 1}  {words}", lambda: None, kind="flat",
                      name=f"Step {place + 1} of {len(PAGES)}: {words}")  # fmt: skip
        made.setCheckable(True)
        self.tabs.addButton(made, place)
        return made

    def _check(self) -> None:
        self._warned = False
        self.leave.setText(LEAVE)
        last = self.page == len(PAGES) - 1
        problem = self._hindrance
        if not problem and last:
            problem = self.seal.problem(self.compare.titles())
        tell(self.problem, problem, "warn" if self._hindrance else "quiet")
        self.back.setEnabled(self.page > 0)
        self.forth.setText("Build the study" if last else "Next")
        self.forth.setAccessibleName(self.forth.text() if last else f"Next: {PAGES[self.page + 1]}")
        self.forth.setEnabled(not problem)
        for place in range(1, len(PAGES)):
            self.tabs.button(place).setEnabled(not self._hindrance)

    def _forth(self) -> None:
        if self.page < len(PAGES) - 1:
            self.turn(self.page + 1)
        else:
            self.build_wanted.emit(self.wish())


class BuildingPage(QWidget):
    """While a study is built: how far, how long still, cancel. Names no model."""

    cancel_wanted = Signal()

    def __init__(self) -> None:
        super().__init__()
        self.heading, self.phase, self.left = title(), quiet(wrap=False), quiet(wrap=False)
        self.bar = QProgressBar()
        self.bar.setTextVisible(False)
        self.bar.setAccessibleName("Progress of building")
        self.cancel = button("Cancel", self.cancel_wanted.emit, name="Cancel building")
        inner = QWidget()
        hold(inner.setMaximumWidth, 720)
        inner.setLayout(
            column(
                self.heading,
                quiet(
                    "The items are drawn and copied, the sides drawn and sealed, everything "
                    "hashed. You can leave this page; the job goes on."
                ),
                self.bar,
                row(self.phase, 1, self.left),
                row(self.cancel, 1),
                1,
                space=12,
            )
        )
        layout = row(inner, 1)
        layout.setStretch(0, 4)
        self.setLayout(layout)

    def show_progress(self, words: str, done: int, total: int, phase: str, left: str) -> None:
        """Say how far it is; a total of 0 shows that it works."""
        self.heading.setText(words)
        self.bar.setRange(0, total)
        self.bar.setValue(done)
        self.phase.setText(phase)
        self.left.setText(left)


def scrolled(inner: QWidget) -> QScrollArea:
    """A page that scrolls where it is taller than the window."""
    area = QScrollArea()
    area.setWidgetResizable(True)
    area.setFrameShape(QFrame.Shape.NoFrame)
    area.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAsNeeded)
    area.setWidget(inner)
    layout = inner.layout()
    if layout is not None:
        layout.setContentsMargins(0, px(4), px(12), px(4))
    return area
