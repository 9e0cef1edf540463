"""The study page: studies left, the life of the chosen one as steps right, and the build form.

Lays out and emits intents; decides nothing. Names no model once a study is built.
"""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QSize, Qt, Signal
from PySide6.QtWidgets import (
    QFileDialog,
    QFrame,
    QListWidget,
    QListWidgetItem,
    QScrollArea,
    QSplitter,
    QStackedWidget,
    QVBoxLayout,
    QWidget,
)

from app.shown import StepShown, StudyShown
from app.views.study_forms import BuildForm, UnblindForm
from app.widgets.blocks import (
    EmptyState,
    button,
    clear,
    column,
    heading,
    label,
    margins,
    panel,
    quiet,
    restyle,
    row,
    section,
    title,
)
from app.widgets.ink import INK, hold, px

KEY = int(Qt.ItemDataRole.UserRole)
STATE_WORDS = {
    "built": "built, not begun", "reading": "being read", "read": "all answers given",
    "unblinded": "unblinded", "damaged": "cannot be opened",
}  # fmt: skip
MARKS = {
    "done": ("✓", "done", "good"), "next": ("▸", "next", "text"),
    "later": ("·", "later", "quiet"), "failed": ("✕", "failed", "error"),
}  # fmt: skip


class StudyView(QWidget):
    """The list, the steps, the forms."""

    study_chosen = Signal(str)
    new_wanted = Signal()
    build_wanted = Signal(object)
    build_data_chosen = Signal(str)
    build_left = Signal()
    step_wanted = Signal(str)
    unblind_wanted = Signal(str, str)
    open_file_wanted = Signal(str)

    def __init__(self) -> None:
        super().__init__()
        split = QSplitter()
        split.setChildrenCollapsible(False)
        split.addWidget(self._list())
        split.addWidget(self._right())
        split.setStretchFactor(1, 1)
        split.setSizes([px(280), px(880)])
        self.setLayout(column(split))

    def sizeHint(self) -> QSize:
        """A page."""
        return QSize(px(1160), px(740))

    def _list(self) -> QWidget:
        self.studies = QListWidget()
        self.studies.setAccessibleName("Studies")
        self.studies.currentItemChanged.connect(self._moved)
        side = QWidget()
        hold(side.setMinimumWidth, 220)
        layout = column(
            section("Studies"),
            self.studies,
            row(
                button("New study", self.new_wanted.emit),
                button("Open a file…", self._ask_file, name="Open a study file"),
                1,
            ),
        )
        layout.setContentsMargins(px(12), px(12), px(8), px(12))
        side.setLayout(layout)
        return side

    def _right(self) -> QWidget:
        self.build = BuildForm()
        self.build.build_wanted.connect(self.build_wanted)
        self.build.data_chosen.connect(self.build_data_chosen)
        self.build.left.connect(self.build_left)
        self._pages = QStackedWidget()
        self._pages.addWidget(
            EmptyState(
                "No study yet",
                "A study shows readers the top three of two models, side by side and unnamed.",
                [
                    button(
                        "Build a study",
                        self.new_wanted.emit,
                        kind="primary",
                        name="Build the first study",
                    )
                ],
            )
        )
        self._pages.addWidget(self._steps_page())
        self._pages.addWidget(_scrolled(self.build))
        right = QWidget()
        right.setLayout(column(self._pages))
        margins(right, px(16), px(12), px(12), px(12))
        return right

    def _steps_page(self) -> QWidget:
        self.heading = title()
        self.summary = quiet()
        self.hash = quiet(small=True)
        self.hash.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        self.unblind = UnblindForm()
        self.unblind.unblind_wanted.connect(self.unblind_wanted)
        self._steps = QVBoxLayout()
        self._steps.setSpacing(px(8))
        inner = QWidget()
        layout = column(self.heading, self.summary, self.hash, self._steps, self.unblind, 1)
        layout.setContentsMargins(0, 0, px(8), 0)
        inner.setLayout(layout)
        return _scrolled(inner)

    # -- what the presenter says

    def show_studies(self, studies: Sequence[StudyShown], chosen: str) -> None:
        """List the studies with their state."""
        self.studies.blockSignals(True)
        self.studies.clear()
        for shown in studies:
            told = f"{shown.title}\n{STATE_WORDS[shown.state]} · {shown.answered} of {shown.total}"
            item = QListWidgetItem(told)
            item.setData(KEY, shown.key)
            item.setToolTip(told)
            self.studies.addItem(item)
            if shown.key == chosen:
                self.studies.setCurrentItem(item)
        self.studies.blockSignals(False)

    def show_none(self) -> None:
        """Say that there is no study."""
        self._pages.setCurrentIndex(0)

    def show_steps(self, study: StudyShown, steps: Sequence[StepShown]) -> None:
        """Show a study's life."""
        self._pages.setCurrentIndex(1)
        self.heading.setText(study.title)
        told = f"{study.answered} of {study.total} items answered"
        made = f" · built {study.created}" if study.created else ""
        self.summary.setText(f"{STATE_WORDS[study.state].capitalize()} · {told}{made}")
        self.hash.setText(f"Fingerprint {study.hash}" if study.hash else "")
        clear(self._steps)
        for number, step in enumerate(steps, 1):
            self._steps.addWidget(self._step(number, step))
        self.unblind.hide()

    def show_unblind(self, study_title: str) -> None:
        """Ask for passphrase and reason, named."""
        self.unblind.ask(study_title)

    def show_unblind_problem(self, text: str) -> None:
        """Say why the key did not open."""
        self.unblind.show_problem(text)

    def show_build(
        self, data: Sequence[tuple[str, str]], models: Sequence[tuple[str, str]]
    ) -> None:
        """Show the build form with the data sets and models that have results."""
        self._pages.setCurrentIndex(2)
        self.build.offer(data, models)

    def show_build_models(self, models: Sequence[tuple[str, str]]) -> None:
        """Offer other models after another data set was chosen."""
        self.build.offer_models(models)

    def clear_build(self) -> None:
        """Forget what the build form offered; it names models."""
        self.build.offer((), ())

    def show_build_state(self, text: str, *, tone: str = "quiet", building: bool = False) -> None:
        """Say how building goes, or what is missing."""
        self.build.show_state(text, tone=tone, building=building)

    def ask_folder(self, words: str) -> str:
        """Let the user choose a folder; an empty text if none."""
        return QFileDialog.getExistingDirectory(self, words)

    def _step(self, number: int, step: StepShown) -> QFrame:
        mark, word, tone = MARKS[step.state]
        framed = panel("raised" if step.state == "next" else "panel")
        sign = label(mark, wrap=False)
        sign.setStyleSheet(f"color: {INK[tone]}; font-size: {px(20)}px;")
        hold(sign.setFixedWidth, 28)
        name = heading(f"{number}  {step.title}")
        state = label(word, "quiet", wrap=False)
        restyle(state, "role", {"text": "quiet"}.get(tone, tone))
        told = label(step.sentence, "quiet" if step.state == "later" else "")
        words = column(row(name, state, 1), told, space=3)
        layout = row(sign, words, space=8)
        layout.setStretch(1, 1)
        if step.action:
            key = button(
                step.action,
                lambda: self.step_wanted.emit(step.key),
                kind="primary" if step.state == "next" else "",
                name=f"{step.title}: {step.action}",
            )
            key.setEnabled(step.enabled)
            hold(key.setMinimumWidth, 150)
            layout.addWidget(key, 0, Qt.AlignmentFlag.AlignVCenter)
        layout.setContentsMargins(px(12), px(10), px(12), px(10))
        framed.setLayout(layout)
        return framed

    def _moved(self, item: QListWidgetItem | None) -> None:
        if item is not None:
            self.study_chosen.emit(item.data(KEY))

    def _ask_file(self) -> None:
        path = QFileDialog.getOpenFileName(self, "Open a study", "", "Study (study.sqlite)")[0]
        if path:
            self.open_file_wanted.emit(path)


def _scrolled(inner: QWidget) -> QScrollArea:
    area = QScrollArea()
    area.setWidgetResizable(True)
    area.setFrameShape(QFrame.Shape.NoFrame)
    area.setWidget(inner)
    return area
