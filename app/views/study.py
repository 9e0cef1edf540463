"""The study page: studies left; right the life of the chosen one, the wizard, or a build at work.

Lays out and emits intents; decides nothing. Names no model once a study is built.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from PySide6.QtCore import QEvent, QSize, Qt, QTimer, QUrl, Signal
from PySide6.QtGui import QDesktopServices, QDragEnterEvent, QDropEvent
from PySide6.QtWidgets import (
    QFileDialog,
    QListWidget,
    QListWidgetItem,
    QSplitter,
    QStackedWidget,
    QWidget,
)

from app.shown import StepShown, StudyShown
from app.shown_study import (
    ReaderShown,
    SizeAsked,
    SizeShown,
    SourceOffered,
    TaskOffered,
    VerdictShown,
)
from app.views.study_steps import STATE_WORDS, StepsPage
from app.views.study_wizard import BuildingPage, StudyWizard, scrolled
from app.widgets.blocks import EmptyState, button, column, margins, quiet, section
from app.widgets.ink import px
from app.widgets.start_folder import start_at

KEY = int(Qt.ItemDataRole.UserRole)
NONE, STEPS, WIZARD, BUILDING = range(4)
FILES = "Study (study.sqlite *.triptych)"
LEAST_LIST = 230


class StudyView(QWidget):
    """The list, the steps, the wizard.

    Signals:
        returned: the window came back to the front; files may have changed meanwhile.
        files_dropped: files that somebody dropped on the page.
    """

    study_chosen = Signal(str)
    new_wanted = Signal()
    open_file_wanted = Signal(str)
    files_dropped = Signal(list)
    returned = Signal()
    step_wanted = Signal(str)
    pack_wanted = Signal(object, str)
    share_wanted = Signal(str, str, str)
    merge_wanted = Signal(list)
    unblind_wanted = Signal(str, str)
    publish_wanted = Signal(object, str)
    folder_wanted = Signal(str)
    return_wanted = Signal(str)
    source_chosen = Signal(str, str)
    models_changed = Signal(list)
    tasks_changed = Signal(list)
    pattern_changed = Signal(str)
    size_changed = Signal(object)
    protocol_changed = Signal(object)
    build_wanted = Signal(object)
    build_left = Signal()
    cancel_wanted = Signal()

    def __init__(self) -> None:
        super().__init__()
        self.setAcceptDrops(True)
        split = QSplitter()
        split.setChildrenCollapsible(False)
        split.addWidget(self._list())
        split.addWidget(self._right())
        split.setStretchFactor(1, 1)
        split.setSizes([px(260), px(900)])
        self.setLayout(column(split))
        self._connect()

    def sizeHint(self) -> QSize:
        """A page."""
        return QSize(px(1160), px(740))

    def _list(self) -> QWidget:
        self.studies = QListWidget()
        self.studies.setAccessibleName("Studies")
        self.studies.setWordWrap(True)
        self.studies.setResizeMode(QListWidget.ResizeMode.Adjust)
        self.studies.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.studies.currentItemChanged.connect(self._moved)
        self.new = button("New study", self.new_wanted.emit)
        self.why_not = quiet(small=True)
        self.why_not.hide()
        side = QWidget()
        side.setMinimumWidth(LEAST_LIST)  # large text leaves the room to the steps
        layout = column(
            section("Studies"),
            self.studies,
            self.why_not,
            self.new,
            button("Open a file…", self._ask_file, name="Open a study or pack file"),
        )
        layout.setContentsMargins(px(12), px(12), px(8), px(12))
        side.setLayout(layout)
        return side

    def _right(self) -> QWidget:
        self.steps, self.wizard, self.building = StepsPage(), StudyWizard(), BuildingPage()
        self.first = button(
            "Plan a study", self.new_wanted.emit, kind="primary", name="Plan the first study"
        )
        self.none = EmptyState("No study yet", "", [self.first])
        self._pages = QStackedWidget()
        self._area = scrolled(self.steps)
        for page in (self.none, self._area, self.wizard, self.building):
            self._pages.addWidget(page)
        right = QWidget()
        right.setLayout(column(self._pages))
        margins(right, px(16), px(12), px(12), px(12))
        return right

    def _connect(self) -> None:
        steps, wizard = self.steps, self.wizard
        steps.step_wanted.connect(self.step_wanted)
        steps.hand.pack_wanted.connect(self.pack_wanted)
        steps.hand.share_wanted.connect(self.share_wanted)
        steps.merge.merge_wanted.connect(self.merge_wanted)
        steps.unblind.unblind_wanted.connect(self.unblind_wanted)
        steps.publish.publish_wanted.connect(self.publish_wanted)
        steps.publish.open_wanted.connect(self.folder_wanted)
        steps.back.return_wanted.connect(self.return_wanted)
        wizard.compare.source_chosen.connect(self.source_chosen)
        wizard.compare.models_changed.connect(self.models_changed)
        wizard.compare.tasks_changed.connect(self.tasks_changed)
        wizard.compare.pattern_changed.connect(self.pattern_changed)
        wizard.sizing.size_changed.connect(self.size_changed)
        wizard.page_shown.connect(
            lambda _page: self.protocol_changed.emit(wizard.reading.protocol())
        )
        wizard.build_wanted.connect(self.build_wanted)
        wizard.left.connect(self.build_left)
        self.building.cancel_wanted.connect(self.cancel_wanted)

    # -- the list and the steps

    def show_studies(self, studies: Sequence[StudyShown], chosen: str, why_not: str = "") -> None:
        """List the studies; say why none can be planned here, where that is so."""
        self.studies.blockSignals(True)
        self.studies.clear()
        for shown in studies:
            far = shown.told or f"{shown.answered:,} of {shown.total:,}"
            told = f"{shown.title}\n{STATE_WORDS[shown.state]} · {far}"
            item = QListWidgetItem(told)
            item.setData(KEY, shown.key)
            item.setToolTip(told)
            self.studies.addItem(item)
            if shown.key == chosen:
                self.studies.setCurrentItem(item)
        self.studies.blockSignals(False)
        self.new.setVisible(not why_not)
        self.why_not.setText(why_not)
        self.why_not.setVisible(bool(why_not))

    def show_none(self, text: str) -> None:
        """Say that there is no study, and what to do."""
        self.none.say("No study yet", text)
        self._pages.setCurrentIndex(NONE)

    def show_steps(self, study: StudyShown, steps: Sequence[StepShown], note: str = "") -> None:
        """Show a study's life."""
        self._pages.setCurrentIndex(STEPS)
        self.steps.show_steps(study, steps, note)

    def show_readers(self, readers: Sequence[ReaderShown]) -> None:
        """Who reads, below the reading step and where packs are handed out."""
        self.steps.readers.show_readers(readers)
        self.steps.cards["read"].fold(opened=bool(readers))

    def show_panel(self, step: str) -> None:
        """Fold one step open; an empty text folds all."""
        self.steps.fold(step)
        if step:
            self._bring(step)

    def _bring(self, step: str) -> None:
        """Into sight once it is laid out, with the focus in its first field."""
        card = self.steps.cards[step]
        card.enter()
        QTimer.singleShot(0, self, lambda: self._area.ensureWidgetVisible(card))

    @property
    def opened(self) -> str:
        """The step that is folded open."""
        return self.steps.opened

    def show_hand(self, text: str, tone: str = "quiet", *, busy: bool = False) -> None:
        """Say how handing out goes."""
        self.steps.hand.show_said(text, tone, busy=busy)
        if tone == "good":
            self.steps.hand.clear_reader()

    def show_merge(
        self,
        text: str,
        tone: str = "quiet",
        *,
        busy: bool = False,
        verdicts: Sequence[VerdictShown] = (),
        address: str = "",
    ) -> None:
        """Say how merging goes, and what became of each file."""
        self.steps.merge.show_said(text, tone, busy=busy)
        self.steps.merge.show_verdicts(verdicts)
        self.steps.merge.offer_address(address)

    def show_unblind(self, study_title: str, outstanding: str = "") -> None:
        """Ask for passphrase and reason, named."""
        self.steps.fold("unblind")
        self.steps.unblind.ask(study_title, outstanding)
        self._bring("unblind")

    def show_unblind_problem(self, text: str) -> None:
        """Say why the key did not open."""
        self.steps.unblind.show_problem(text)

    def show_publish(
        self, text: str, tone: str = "quiet", *, busy: bool = False, folder: str = ""
    ) -> None:
        """Say how publishing goes."""
        self.steps.publish.show_said(text, tone, busy=busy, folder=folder)

    def show_return(
        self, text: str, tone: str = "quiet", *, busy: bool = False, suggested: str = ""
    ) -> None:
        """Say how returning goes."""
        self.steps.back.show_said(text, tone, busy=busy)
        self.steps.back.suggested = suggested or self.steps.back.suggested

    def open_folder(self, folder: str) -> None:
        """Show a folder in the system's own window."""
        QDesktopServices.openUrl(QUrl.fromLocalFile(folder))

    # -- the wizard

    def show_wizard(self, sources: Sequence[SourceOffered], protocol: Mapping[str, Any]) -> None:
        """Begin a new study."""
        self.wizard.reading.show_protocol(protocol)
        self.wizard.offer(sources)
        self._pages.setCurrentIndex(WIZARD)
        self.wizard.compare.source.setFocus()

    def clear_wizard(self) -> None:
        """Forget what the wizard offered; it names models."""
        self.wizard.offer(())

    def show_models(self, models: Sequence[tuple[str, str]], chosen: Sequence[str]) -> None:
        """Offer the models of a source."""
        self.wizard.compare.offer_models(models, chosen)

    def show_tasks(self, tasks: Sequence[TaskOffered], chosen: Sequence[str]) -> None:
        """Offer the tasks of the chosen models."""
        self.wizard.compare.offer_tasks(tasks, chosen)

    def show_counts(self, text: str, missing: str, forms: Sequence[str]) -> None:
        """Say what is chosen and what is missing."""
        self.wizard.compare.show_counts(text, missing)
        self.wizard.sizing.show_forms(forms)

    def show_size_asked(self, asked: SizeAsked) -> None:
        """Fill the planner's fields."""
        self.wizard.sizing.show_asked(asked)

    def show_size(self, shown: SizeShown) -> None:
        """What follows from the planner's fields."""
        self.wizard.sizing.show_size(shown)

    def show_summary(self, text: str) -> None:
        """What is about to be frozen."""
        self.wizard.seal.summary.setText(text)

    def show_hindrance(self, text: str) -> None:
        """Say what keeps the wizard on its first page; empty if nothing."""
        self.wizard.show_problem(text)

    def show_building(self, words: str, done: int, total: int, phase: str, left: str) -> None:
        """Show a build at work."""
        self._pages.setCurrentIndex(BUILDING)
        self.building.show_progress(words, done, total, phase, left)

    def show_build_failure(self, text: str, tone: str = "error") -> None:
        """Building ended without a study: back in the wizard, with the reason."""
        self._pages.setCurrentIndex(WIZARD)
        self.wizard.show_failure(text, tone)

    # -- what the user does

    def event(self, event: QEvent) -> bool:
        """Back from another window: the terminal may have been at work."""
        if event.type() == QEvent.Type.WindowActivate and self.isVisible():
            self.returned.emit()
        return super().event(event)

    def dragEnterEvent(self, event: QDragEnterEvent) -> None:
        """Packs and answers are welcome."""
        if event.mimeData().hasUrls():
            event.acceptProposedAction()

    def dropEvent(self, event: QDropEvent) -> None:
        """Files came."""
        paths = [url.toLocalFile() for url in event.mimeData().urls() if url.isLocalFile()]
        if paths:
            event.acceptProposedAction()
            self.files_dropped.emit(paths)

    def _moved(self, item: QListWidgetItem | None) -> None:
        if item is not None:
            self.study_chosen.emit(item.data(KEY))

    def _ask_file(self) -> None:
        path = QFileDialog.getOpenFileName(self, "Open a study or a pack", start_at(), FILES)[0]
        if path:
            self.open_file_wanted.emit(path)
