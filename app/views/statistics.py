"""The statistics page: locked before unblinding and says why; after it, sheets of panels.

Lays out and emits intents; decides nothing. From a mark it goes down to the list of answers
behind it and to one item opened, and Esc comes back.
"""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QSize, Qt, Signal, SignalInstance
from PySide6.QtGui import QGuiApplication, QKeyEvent, QResizeEvent
from PySide6.QtWidgets import (
    QComboBox,
    QFileDialog,
    QProgressBar,
    QSizePolicy,
    QStackedWidget,
    QTabWidget,
    QToolButton,
    QWidget,
)

from app import theme
from app.shown_statistics import AnswerLine, OpenedShown, Sheet, StatisticsShown
from app.views.statistics_answers import AnswersView
from app.views.statistics_item import ItemView
from app.views.statistics_panel import SheetView, selectable
from app.widgets.blocks import (
    EmptyState,
    button,
    column,
    forget,
    label,
    panel,
    quiet,
    restyle,
    row,
    section,
    title,
)
from app.widgets.flow_row import FlowRow
from app.widgets.ink import hold, px
from app.widgets.publish_menu import PublishMenu
from app.widgets.triptych import BoardItem

NONE, LOCKED, WORKING, SHEETS, ANSWERS, ITEM, UNKNOWN = range(7)
OUTCOME = (WORKING, SHEETS, ANSWERS, ITEM)
TIES = (("leave out", "Identical lists left out"), ("count", "Identical lists as ties"))


class StatisticsView(QWidget):
    """One study's outcome, or the lock.

    Signals:
        study_chosen, rater_chosen, pair_chosen, ties_chosen: keys of the choices in the head.
        behind_wanted: the ``Behind`` of a mark.
        answer_wanted: place in the list of answers.
        step_wanted: +1 or -1 in that list.
        up_wanted: one level up, to the list or to the numbers.
        publish_wanted: comments and names, as the kit takes them.
        study_page_wanted, cancel_wanted, copied: what they say.
    """

    study_chosen = Signal(str)
    rater_chosen = Signal(str)
    pair_chosen = Signal(str)
    ties_chosen = Signal(str)
    behind_wanted = Signal(object)
    answer_wanted = Signal(int)
    step_wanted = Signal(int)
    up_wanted = Signal()
    publish_wanted = Signal(str, str)
    study_page_wanted = Signal()
    cancel_wanted = Signal()
    copied = Signal(str)

    def __init__(self) -> None:
        super().__init__()
        self._left_at: QWidget | None = None
        self._folded = False
        self._sheets: tuple[Sheet, ...] = ()
        self._waiting: set[int] = set()  # sheets nobody has looked at
        self._pages = QStackedWidget()
        self.answers, self.item = AnswersView(), ItemView()
        self._none = EmptyState(
            "No study yet",
            "Build a study, let it be read, unblind it: then its outcome is here.",
            [button("Go to Study", self.study_page_wanted.emit, kind="primary")],
        )
        pages = (self._none, self._locked(), self._working(), self._open(), self.answers, self.item)
        for page in (*pages, QWidget()):  # the last one until it is known what there is
            self._pages.addWidget(page)
        self._head_row = self._head()
        layout = column(self._head_row, self._pages, space=8)
        layout.setStretch(1, 1)
        layout.setContentsMargins(px(12), px(12), px(12), px(12))
        self.setLayout(layout)
        self.answers.opened.connect(self.answer_wanted)
        self.answers.left.connect(self.up_wanted)
        self.item.left.connect(self.up_wanted)
        self.item.stepped.connect(self.step_wanted)
        self._show(UNKNOWN)

    def sizeHint(self) -> QSize:
        """A page."""
        return QSize(px(1160), px(740))

    # -- what the presenter says

    def show_studies(self, studies: Sequence[tuple[str, str]], chosen: str) -> None:
        """Offer the studies as (key, title); none shows the empty state."""
        _offer(self.study, studies, chosen)
        self._study_words.setVisible(bool(studies))
        self.study.setVisible(bool(studies))
        if not studies:
            self._show(NONE)

    def show_locked(self, heading_words: str, text: str) -> None:
        """Say that the study is sealed, why, and who can open it; forget any outcome."""
        self.lock_title.setText(heading_words)
        self.lock_text.setText(text)
        self._forget()
        self._show(LOCKED)

    def show_working(self, words: str) -> None:
        """Say that the numbers are being computed."""
        self.work_words.setText(words)
        self._show(WORKING)

    def show_choices(
        self,
        raters: Sequence[tuple[str, str]],
        rater: str,
        pairs: Sequence[tuple[str, str]],
        pair: str,
        ties: str,
    ) -> None:
        """Offer raters, pairs of models, and identical lists (an empty key is not offered)."""
        _offer(self.rater, raters, rater)
        _offer(self.pair, pairs, pair)
        _offer(self.ties, TIES if ties else (), ties)

    def show_statistics(self, shown: StatisticsShown) -> None:
        """Show the outcome; the sheet in front stays in front."""
        self.heading.setText(shown.title)
        self.outcome.setText(shown.sentence)
        self.facts.setText("  ·  ".join(shown.facts))
        chosen = max(0, self.tabs.currentIndex())
        self._sheets = shown.sheets
        self.tabs.blockSignals(True)
        while self.tabs.count() > len(shown.sheets):
            self._drop_tab()
        for place, sheet in enumerate(shown.sheets):
            if place == self.tabs.count():
                self.tabs.addTab(self._sheet(), sheet.title)
            self.tabs.setTabText(place, sheet.title)
        self.tabs.setCurrentIndex(min(chosen, self.tabs.count() - 1))
        self.tabs.blockSignals(False)
        self._waiting = set(range(len(shown.sheets)))
        self._fill(self.tabs.currentIndex())
        self._show(SHEETS)

    def show_sheets(self) -> None:
        """Back to the numbers, as they were left."""
        self._show(SHEETS)
        if self._left_at is not None:
            self._left_at.setFocus(Qt.FocusReason.OtherFocusReason)

    def show_answers(self, title_words: str, lines: Sequence[AnswerLine]) -> None:
        """List the answers behind a mark."""
        if self._pages.currentIndex() == SHEETS:
            self._left_at = self.focusWidget()
        self._show(ANSWERS)
        self.answers.show_answers(title_words, lines)

    def show_list(self, place: int) -> None:
        """Back to the list, with an answer in hand."""
        self.item.clear()
        self._show(ANSWERS)
        self.answers.choose(place)

    def show_opening(self, title_words: str) -> None:
        """An item is being decoded."""
        self.item.show_opening(title_words)
        self._show(ITEM)

    def show_item(self, shown: OpenedShown, item: BoardItem) -> None:
        """Show an item opened."""
        self._show(ITEM)
        self.item.show_item(shown, item)

    def show_item_problem(self, title_words: str, words: str) -> None:
        """Say why an item cannot be shown."""
        self.item.show_problem(title_words, words)
        self._show(ITEM)

    def ask_folder(self, suggested: str) -> str:
        """Let the user name a folder to publish into; an empty text if none."""
        return QFileDialog.getExistingDirectory(self, "Publish the study into a folder", suggested)

    # -- building

    def _head(self) -> QWidget:
        self.study = _choice("Study", 220, self.study_chosen)
        self.rater = _choice("Rater", 150, self.rater_chosen)
        self.pair = _choice("Pair of models", 200, self.pair_chosen)
        self.ties = _choice("Identical lists", 190, self.ties_chosen)
        self.publish = PublishMenu()
        self.publish.wanted.connect(self.publish_wanted)
        self._study_words = section("Study")
        flow = FlowRow(space=8)
        for piece in (self._study_words, self.study, self.rater, self.pair, self.ties):
            flow.add(piece)
        flow.add(self.publish)
        return flow

    def _locked(self) -> QWidget:
        sign = label("")
        sign.setPixmap(theme.pixmap("lock", theme.QUIET, size=px(40)))
        sign.setAlignment(Qt.AlignmentFlag.AlignHCenter)
        sign.setAccessibleName("Locked")
        self.lock_title = title("Sealed")
        self.lock_title.setAlignment(Qt.AlignmentFlag.AlignHCenter)
        self.lock_text = label("", "reading")
        hold(self.lock_text.setFixedWidth, 520)
        self.lock_text.setAlignment(Qt.AlignmentFlag.AlignHCenter)
        key = button("Go to Study", self.study_page_wanted.emit, name="Go to the study's steps")
        page = QWidget()
        page.setLayout(
            column(1, sign, self.lock_title, row(1, self.lock_text, 1), row(1, key, 1), 1, space=16)
        )
        return page

    def _working(self) -> QWidget:
        self.work_words = label("", "reading")
        self.work_words.setAlignment(Qt.AlignmentFlag.AlignHCenter)
        self.work = QProgressBar()
        self.work.setRange(0, 0)
        self.work.setTextVisible(False)
        self.work.setAccessibleName("Computing")
        hold(self.work.setFixedWidth, 320)
        stop = button("Cancel", self.cancel_wanted.emit, name="Cancel computing")
        page = QWidget()
        page.setLayout(
            column(1, self.work_words, row(1, self.work, 1), row(1, stop, 1), 2, space=16)
        )
        return page

    def _open(self) -> QWidget:
        self.heading, self.outcome = title(), selectable("", "reading")
        self.facts = quiet(small=True)
        self.facts.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        copy = button("Copy", self._copy, kind="flat", name="Copy the outcome")
        self.fold = QToolButton()
        self.fold.setText("▴")
        self.fold.setAccessibleName("Fold the outcome away or show it")
        self.fold.setProperty("kind", "flat")
        self.fold.clicked.connect(self._fold)
        top = panel()
        head = row(self.heading, copy, self.fold)
        head.setStretch(0, 1)
        top.setLayout(column(head, self.outcome, self.facts, space=4, margin=12))
        self.tabs = QTabWidget()
        self.tabs.setAccessibleName("Sheets of the statistics")
        self.tabs.tabBar().setAccessibleName("Sheets of the statistics")
        self.tabs.setDocumentMode(True)
        self.tabs.currentChanged.connect(self._fill)
        self.tabs.tabBar().setElideMode(Qt.TextElideMode.ElideNone)
        self.tabs.tabBar().setUsesScrollButtons(True)
        for piece in (self.outcome, self.facts):
            piece.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Minimum)
        page = QWidget()
        layout = column(top, self.tabs, space=8)
        layout.setStretch(1, 1)
        page.setLayout(layout)
        return page

    def _sheet(self) -> SheetView:
        made = SheetView()
        made.opened.connect(self.behind_wanted)
        made.copied.connect(self.copied)
        return made

    def _drop_tab(self) -> None:
        gone = self.tabs.widget(self.tabs.count() - 1)
        self.tabs.removeTab(self.tabs.count() - 1)
        if gone is not None:
            gone.deleteLater()

    def _fill(self, place: int) -> None:
        """Lay a sheet out once it is looked at: each is a page full of charts and tables."""
        view = self.tabs.widget(place)
        if place in self._waiting and isinstance(view, SheetView):
            self._waiting.discard(place)
            view.show_sheet(self._sheets[place])

    # -- what the user does

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() == Qt.Key.Key_Escape and self._pages.currentIndex() in (ANSWERS, ITEM):
            self.up_wanted.emit()
        else:
            super().keyPressEvent(event)

    def _copy(self) -> None:
        QGuiApplication.clipboard().setText(f"{self.outcome.text()}\n{self.facts.text()}")
        self.copied.emit("The outcome")

    def _fold(self) -> None:
        self._folded = not self._folded
        self._fit_outcome()

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._fit_outcome()

    def _fit_outcome(self) -> None:
        """Leave the numbers most of the page: large text has the facts folded away first."""
        tight = self.height() < px(600)
        self.outcome.setVisible(not self._folded)
        self.facts.setVisible(not self._folded and not tight)
        self.fold.setText("▾" if self._folded else "▴")
        role = "" if tight else "reading"
        if self.outcome.property("role") != role:
            restyle(self.outcome, "role", role)

    def _forget(self) -> None:
        """No number, no name and no item stays behind a lock."""
        self._sheets, self._waiting = (), set()
        while self.tabs.count():
            self._drop_tab()
        for told in (self.heading, self.outcome, self.facts):
            forget(told)
        for box in (self.rater, self.pair, self.ties):
            _offer(box, (), "")
        self.item.clear()
        self.answers.show_answers("", ())
        self._left_at = None

    def _show(self, page: int) -> None:
        self._pages.setCurrentIndex(page)
        self._head_row.setVisible(page != ITEM)  # the pictures have the page
        self.publish.setVisible(page in (SHEETS, ANSWERS))
        for box in (self.rater, self.pair, self.ties):
            box.setVisible(page in OUTCOME and box.count() > 1)
            box.setEnabled(page in (WORKING, SHEETS))


def _choice(name: str, wide: int, chosen: SignalInstance) -> QComboBox:
    """A choice whose entries are never cut: it is as wide as the page lets it be."""
    box = QComboBox()
    box.setAccessibleName(name)
    box.setToolTip(name)
    hold(box.setMinimumWidth, wide)
    box.setSizeAdjustPolicy(QComboBox.SizeAdjustPolicy.AdjustToContents)
    box.activated.connect(lambda _place: chosen.emit(str(box.currentData() or "")))
    return box


def _offer(box: QComboBox, choices: Sequence[tuple[str, str]], chosen: str) -> None:
    """Replace the entries of a choice without telling anybody."""
    box.blockSignals(True)
    box.clear()
    for key, words in choices:
        box.addItem(words, key)
        box.setItemData(box.count() - 1, words, Qt.ItemDataRole.ToolTipRole)
    box.setCurrentIndex(max(0, box.findData(chosen)) if choices else -1)
    box.blockSignals(False)
