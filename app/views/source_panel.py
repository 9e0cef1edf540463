"""The sources of the benchmark: whose each is, how it is had, what it feeds, and building it."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QModelIndex, Qt, Signal
from PySide6.QtWidgets import (
    QComboBox,
    QFormLayout,
    QFrame,
    QLabel,
    QLineEdit,
    QScrollArea,
    QSplitter,
    QStackedWidget,
    QWidget,
)

from app.shown_figures import SectionShown, SettingChoice, SourceShown
from app.tables.rows import Column, RowsModel
from app.views.section_panel import SectionPanel
from app.widgets.blocks import (
    EmptyState,
    button,
    column,
    heading,
    label,
    margins,
    quiet,
    row,
    section,
    stretch_columns,
    table_view,
    tell,
)
from app.widgets.ink import INK, hold, px

FORMS = {"2d": "2D", "3d": "3D", "text": "text"}
GATED = ("credentialed", "challenge", "registration")


def built_words(shown: SourceShown) -> str:
    """``2 of 3 built``."""
    return f"{len(shown.built)} of {len(shown.tasks)} built"


def _colour(shown: SourceShown) -> str:
    return INK["good" if len(shown.built) == len(shown.tasks) else "quiet"]


COLUMNS: tuple[Column[SourceShown], ...] = (
    Column("Source", lambda one: one.title, tip=lambda one: f"{one.title} ({one.key})"),
    Column("Form", lambda one: FORMS.get(one.form, one.form)),
    Column("Access", lambda one: one.access, tip=lambda one: one.access_words,
           colour=lambda one: INK["warn" if one.access in GATED else "good"]),
    Column("Tasks", built_words, right=True, colour=_colour, tip=lambda one: ", ".join(one.tasks)),
)  # fmt: skip


class SourcePanel(QWidget):
    """``build_wanted(key, settings)`` with the settings that differ from their defaults."""

    build_wanted = Signal(str, dict)
    mini_wanted = Signal()

    def __init__(self) -> None:
        super().__init__()
        self._shown: SourceShown | None = None
        self._all: tuple[SourceShown, ...] = ()
        self._fields: dict[str, tuple[SettingChoice, QLineEdit | QComboBox]] = {}
        self.model = RowsModel[SourceShown](COLUMNS)
        self.table = table_view("Sources of the benchmark")
        self.table.setModel(self.model)
        stretch_columns(self.table, 0, {1: 50, 2: 104, 3: 96})
        self.table.selectionModel().currentChanged.connect(self._moved)
        self.search = QLineEdit()
        self.search.setPlaceholderText("Name, task, access or part of the body")
        self.search.setAccessibleName("Filter the sources")
        self.search.setClearButtonEnabled(True)
        self.search.textChanged.connect(self._fill)
        self.count = quiet("Reading the sources…", small=True, wrap=False)
        self.mini = button("Write a miniature…", self.mini_wanted.emit,
                           name="Write a miniature benchmark")  # fmt: skip
        self.mini.setToolTip(
            "Small invented data in every source's official layout, built into all tasks: it "
            "shows that the whole benchmark runs here, in minutes."
        )
        left = QWidget()
        left.setLayout(column(row(self.search, self.mini), self.table, self.count, space=6))
        split = QSplitter(Qt.Orientation.Horizontal)
        split.setChildrenCollapsible(False)
        split.addWidget(left)
        split.addWidget(self._card())
        split.setStretchFactor(0, 1)
        split.setStretchFactor(1, 1)
        split.setSizes([px(430), px(340)])
        self.setLayout(column(split))
        margins(self, px(8), px(12), px(12), px(12))

    def _card(self) -> QWidget:
        self.title = heading()
        self.what = quiet()
        self.access = label("")
        self.facts = label("")
        self.facts.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        self.settings = QFormLayout()
        self.settings.setFieldGrowthPolicy(QFormLayout.FieldGrowthPolicy.AllNonFixedFieldsGrow)
        self.build = button(
            "Build from a folder…", self._build, kind="primary", name="Build this source's tasks"
        )
        self.state = label("")
        self.state.hide()
        self.report = SectionPanel("What was built")
        self.report.hide()
        inner = QWidget()
        inner.setLayout(
            column(
                self.title, self.what, self.access, self.facts,
                row(self.build, 1), self.state, self.report,
                section("Open facts, as settings"), self.settings, 1, space=8,
            )
        )  # fmt: skip
        margins(inner, px(12), 0, px(8), 0)
        area = QScrollArea()
        area.setWidgetResizable(True)
        area.setFrameShape(QFrame.Shape.NoFrame)
        area.setWidget(inner)
        self._pages = QStackedWidget()
        self._pages.addWidget(EmptyState("", "Choose a source to see how it is had."))
        self._pages.addWidget(area)
        hold(self._pages.setMinimumWidth, 260)
        return self._pages

    # -- what the presenter says

    def show_sources(self, sources: Sequence[SourceShown]) -> None:
        """List the sources; the one in hand stays."""
        self._all = tuple(sources)
        self._fill()

    def show_building(self, key: str, words: str) -> None:
        """Say how a build goes; empty words: nothing is built."""
        self.build.setEnabled(not words)
        self.mini.setEnabled(not words)
        tell(self.state, words)
        if words:
            self.report.hide()

    def show_built(self, report: SectionShown | None, tone: str) -> None:
        """Show what a build made and what it could not."""
        self.report.setVisible(report is not None)
        self._pages.setCurrentIndex(1 if report is not None or self._shown else 0)
        if report is not None:
            tell(self.state, report.title, tone)
            self.report.show_section(report)
            self.report.heading.hide()
            self.report.fit()

    # -- what the user does

    def _fill(self) -> None:
        words = self.search.text().lower().split()
        kept = self._shown.key if self._shown else ""
        found = [one for one in self._all if all(word in _sought(one) for word in words)]
        self.model.set_rows(found)
        tasks = sum(len(one.tasks) for one in found)
        built = sum(len(one.built) for one in found)
        self.count.setText(f"{len(found)} sources, {built} of {tasks} tasks built here")
        place = next((n for n, one in enumerate(found) if one.key == kept), 0)
        if found:
            self.table.setCurrentIndex(self.model.index(place, 0))

    def _moved(self, index: QModelIndex) -> None:
        shown = self.model.row_at(index)
        if shown is None:
            return
        fresh = self._shown is None or self._shown.key != shown.key
        self._shown = shown
        self._pages.setCurrentIndex(1)
        self.title.setText(shown.title)
        held = ", held out of training" if shown.held_out else ""
        self.what.setText(f"{FORMS.get(shown.form, shown.form)}, {shown.modality}{held}")
        tell(self.access, shown.access_words, "warn" if shown.access in GATED else "good")
        self.facts.setText(_facts(shown))
        if fresh:
            self._ask(shown.settings)
            self.report.hide()
            tell(self.state, "")

    def _ask(self, settings: Sequence[SettingChoice]) -> None:
        while self.settings.rowCount():
            self.settings.removeRow(0)
        self._fields = {}
        for choice in settings:
            field = _field(choice)
            self._fields[choice.name] = (choice, field)
            told = QLabel(choice.name.replace("_", " "))
            told.setToolTip(choice.why)
            self.settings.addRow(told, field)
            self.settings.addRow(quiet(choice.why, small=True))

    def chosen_settings(self) -> dict[str, str]:
        """What differs from the defaults."""
        found = {}
        for name, (choice, field) in self._fields.items():
            value = field.currentText() if isinstance(field, QComboBox) else field.text().strip()
            if value and value != choice.default:
                found[name] = value
        return found

    def _build(self) -> None:
        if self._shown is not None:
            self.build_wanted.emit(self._shown.key, self.chosen_settings())


def _sought(shown: SourceShown) -> str:
    parts = (shown.key, shown.title, shown.access, shown.anatomy, shown.modality, *shown.tasks)
    return " ".join(parts).lower()


def _facts(shown: SourceShown) -> str:
    tasks = [f"{'✓' if task in shown.built else '–'} {task}" for task in shown.tasks]
    return "\n".join(
        (
            f"Licence: {shown.licence}",
            f"Where to read and apply: {shown.url}",
            f"How to get it: {shown.obtain}",
            f"Tasks ({built_words(shown)}):",
            *tasks,
        )
    )


def _field(choice: SettingChoice) -> QLineEdit | QComboBox:
    if choice.values:
        box = QComboBox()
        box.addItems(list(choice.values))
        box.setCurrentText(choice.default)
        box.setAccessibleName(choice.name)
        return box
    line = QLineEdit(choice.default)
    line.setAccessibleName(choice.name)
    return line
