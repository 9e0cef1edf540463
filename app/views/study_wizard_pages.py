"""Two pages of the study wizard: what is compared, and how it is read.

Each lays out its fields and says what they hold; none decides. The first names models, so what
it offers is cleared when the wizard is left.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import (
    QCheckBox,
    QComboBox,
    QGridLayout,
    QHeaderView,
    QLineEdit,
    QListWidget,
    QListWidgetItem,
    QTreeWidget,
    QTreeWidgetItem,
    QWidget,
)

from app.shown_study import SourceOffered, TaskOffered
from app.views.study_panels import grid
from app.widgets.blocks import column, label, quiet, row, tell
from app.widgets.ink import hold, ink, px
from app.widgets.number_fields import choice, count
from app.widgets.side_by_side import SideBySide

KEY = int(Qt.ItemDataRole.UserRole)
FORMS = {"2d": "2D", "3d": "3D", "text": "text"}
EACH_ITEM = "Every item sets two of them side by side"
ON, OFF = Qt.CheckState.Checked, Qt.CheckState.Unchecked


class ComparePage(QWidget):
    """Data or a collection, two or more models, tasks."""

    source_chosen = Signal(str, str)
    models_changed = Signal(list)
    tasks_changed = Signal(list)
    pattern_changed = Signal(str)

    def __init__(self) -> None:
        super().__init__()
        self._filling = False
        self.source, self.tested = QComboBox(), QComboBox()
        self.others = QCheckBox("List nothing of the query's own patient")
        self.others.setAccessibleName(self.others.text())
        self.others.setChecked(True)
        self.pairs = quiet(EACH_ITEM, small=True)
        self.models = QListWidget()
        self.models.setAccessibleName("Models to compare")
        self.pattern = QLineEdit()
        self.pattern.setPlaceholderText("All; or patterns such as kvasir/*, VQA")
        self.pattern.setAccessibleName("Tasks by pattern or family")
        self.tasks = self._tree()
        self.counts, self.missing = quiet(small=True), label("", "warn")
        hold(self.models.setFixedHeight, 150)
        hold(self.tasks.setMinimumHeight, 200)
        tell(self.missing, "")
        left, right = QWidget(), QWidget()
        left.setLayout(column(
            grid(("Compare on", self.source)),
            label("Models, two or more"),
            self.models,
            grid(("The tested one", self.tested)),
            self.pairs,
            self.others,
            1,
        ))  # fmt: skip
        right.setLayout(column(
            row(label("Tasks", wrap=False), self.pattern), self.tasks, self.counts, self.missing
        ))  # fmt: skip
        self.setLayout(column(SideBySide(left, right, least=700, shares=(5, 6))))
        self._connect()

    def _tree(self) -> QTreeWidget:
        made = QTreeWidget()
        made.setAccessibleName("Tasks by family")
        made.setHeaderLabels(["Task", "Form", "Queries, or why none"])
        made.setUniformRowHeights(True)
        made.setTextElideMode(Qt.TextElideMode.ElideMiddle)  # siblings differ at the end
        header = made.header()
        header.setMinimumSectionSize(px(56))
        header.setSectionResizeMode(1, QHeaderView.ResizeMode.ResizeToContents)
        header.resizeSection(0, px(210))
        header.setStretchLastSection(True)
        return made

    def _connect(self) -> None:
        self.source.currentIndexChanged.connect(self._moved)
        self.models.itemChanged.connect(self._models_moved)
        self.tested.currentIndexChanged.connect(self._models_moved)
        self.tasks.itemChanged.connect(self._tasks_moved)
        self.pattern.textEdited.connect(self.pattern_changed)

    def offer(self, sources: Sequence[SourceOffered]) -> None:
        """Offer what there is; nothing clears every name."""
        self._filling = True
        self.source.clear()
        for one in sources:
            self.source.addItem(one.words, (one.kind, one.key))
        self.pattern.clear()
        self._filling = False

    def offer_models(self, models: Sequence[tuple[str, str]], chosen: Sequence[str]) -> None:
        """Offer models with check boxes."""
        self._filling = True
        self.models.clear()
        for key, words in models:
            item = QListWidgetItem(words)
            item.setData(KEY, key)
            item.setFlags(item.flags() | Qt.ItemFlag.ItemIsUserCheckable)
            item.setCheckState(ON if key in chosen else OFF)
            self.models.addItem(item)
        self._filling = False
        self._offer_tested()

    def offer_tasks(self, tasks: Sequence[TaskOffered], chosen: Sequence[str]) -> None:
        """List tasks under their families, those without queries with the reason."""
        self._filling = True
        self.tasks.clear()
        wanted = set(chosen)
        families: dict[str, list[TaskOffered]] = {}
        for task in tasks:
            families.setdefault(task.family, []).append(task)
        for family, members in families.items():
            top = _family(family, members, wanted)
            self.tasks.addTopLevelItem(top)
            top.setExpanded(any(not task.count for task in members))
        self._widen([task.key for task in tasks])
        if len(families) < 3:
            self.tasks.expandAll()
        self._filling = False
        self.others.setVisible(not tasks)
        self.tasks.setEnabled(bool(tasks))
        self.pattern.setEnabled(bool(tasks))

    def _widen(self, names: Sequence[str]) -> None:
        """Give the names the room they need, while counts and reasons keep some."""
        metrics = self.tasks.fontMetrics()
        longest = max(map(metrics.horizontalAdvance, names), default=0)
        wide = longest + 2 * self.tasks.indentation() + px(40)  # the tick and the margins
        self.tasks.header().resizeSection(0, min(max(px(210), wide), px(320)))

    def show_counts(self, text: str, missing: str) -> None:
        """Say what is chosen, and what is missing."""
        self.counts.setText(text)
        tell(self.missing, missing, "warn")

    def chosen_models(self) -> list[str]:
        """The checked models, the tested one first."""
        items = [self.models.item(place) for place in range(self.models.count())]
        found = [str(item.data(KEY)) for item in items if item.checkState() == ON]
        tested = self.tested.currentData()
        return sorted(found, key=lambda key: key != tested)

    def chosen_tasks(self) -> list[str]:
        """The checked tasks."""
        tops = [self.tasks.topLevelItem(n) for n in range(self.tasks.topLevelItemCount())]
        items = [top.child(n) for top in tops if top is not None for n in range(top.childCount())]
        return [str(item.data(0, KEY)) for item in items if item and item.checkState(0) == ON]

    def titles(self) -> list[str]:
        """Names of the offered models, which a study's title may not hold."""
        return [self.models.item(place).text() for place in range(self.models.count())]

    def _moved(self) -> None:
        data = self.source.currentData()
        if not self._filling and data is not None:
            self.source_chosen.emit(*data)

    def _models_moved(self) -> None:
        if not self._filling:
            self._offer_tested()
            self.models_changed.emit(self.chosen_models())

    def _offer_tested(self) -> None:
        """Only a checked model can be the tested one."""
        self._filling = True
        before = self.tested.currentData()
        self.tested.clear()
        for place in range(self.models.count()):
            item = self.models.item(place)
            if item.checkState() == ON:
                self.tested.addItem(item.text(), item.data(KEY))
        if self.tested.count():
            self.tested.setCurrentIndex(max(0, self.tested.findData(before)))
        many = self.tested.count() > 2
        self.pairs.setText(f"{EACH_ITEM}; all pairs come equally often." if many else EACH_ITEM)
        self._filling = False

    def _tasks_moved(self) -> None:
        if not self._filling:
            self.tasks_changed.emit(self.chosen_tasks())


def _family(family: str, members: Sequence[TaskOffered], wanted: set[str]) -> QTreeWidgetItem:
    there = [task for task in members if task.count]
    queries = sum(task.count or 0 for task in there)
    item = QTreeWidgetItem([family, "", f"{len(there)} of {len(members)} tasks, {queries:,}"])
    item.setFlags(item.flags() | Qt.ItemFlag.ItemIsAutoTristate | Qt.ItemFlag.ItemIsUserCheckable)
    for task in members:
        item.addChild(_task(task, chosen=task.key in wanted))
    if not there:
        item.setCheckState(0, OFF)
        item.setDisabled(True)
    return item


def _task(task: TaskOffered, *, chosen: bool) -> QTreeWidgetItem:
    told = f"{task.count:,}" if task.count else task.reason
    item = QTreeWidgetItem([task.key, FORMS.get(task.form, task.form), told])
    item.setData(0, KEY, task.key)
    item.setToolTip(2, told)
    item.setToolTip(0, task.key)
    item.setCheckState(0, ON if chosen and task.count else OFF)
    if not task.count:
        item.setDisabled(True)
        item.setForeground(2, ink("warn"))
    return item


class ReadingPage(QWidget):
    """How the study is read; every field starts at the project's own default."""

    def __init__(self) -> None:
        super().__init__()
        self.identical = choice(("set aside as ties, not shown", "auto-tie"),
                                 ("shown like any other", "show"),
                                 ("left out of the sample", "exclude"))  # fmt: skip
        self.warmup, self.repeats = count(0, 20, ""), count(0, 50, " %")
        self.gap, self.rest = count(1, 500, " items"), count(0, 240, " min")
        self.rest.setSpecialValueText("never")
        self.guesses = count(0, 100, "")
        self.guesses.setSpecialValueText("none")
        asked = (("not asked", "off"), ("asked, may be left out", "optional"))
        self.confidence, self.usefulness, self.comments = (choice(*asked) for _ in range(3))
        self._lay_out(self._lines())

    def _lines(self) -> tuple[tuple[str, QWidget, str], ...]:
        """Words, field, and why one would choose otherwise."""
        return (
            ("Identical lists", self.identical, "Two models that answer alike need no reader."),
            ("Practice items", self.warmup, "Come first, are flagged, count nowhere."),
            ("Repeats", self.repeats, "Come back with sides swapped: does a reader agree with "
                                      "the own answer? 15 % gives a narrower interval."),
            ("Repeats come after", self.gap, "So that the first answer is not remembered."),
            ("A rest is proposed after", self.rest, "Of reading, without the time away."),
            ("Blinding guess on", self.guesses, "At the end: which list is from the tested "
                                                "model? Tells whether the blinding held."),
            ("Confidence", self.confidence, "1 to 3, beside the answer."),
            ("Usefulness of each candidate", self.usefulness, "0 to 2; doubles the reading time."),
            ("Comments", self.comments, "Free text; left out of what is published unless asked."),
        )  # fmt: skip

    def _lay_out(self, lines: Sequence[tuple[str, QWidget, str]]) -> None:
        layout = QGridLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setHorizontalSpacing(px(16))
        layout.setVerticalSpacing(px(10))
        for place, (words, field, why) in enumerate(lines):
            field.setAccessibleName(words)
            field.setAccessibleDescription(why)
            hold(field.setMinimumWidth, 200)
            told = label(words)
            told.setBuddy(field)
            layout.addWidget(told, place, 0)
            layout.addWidget(field, place, 1)
            layout.addWidget(quiet(why), place, 2)
        layout.setColumnStretch(0, 2)
        layout.setColumnStretch(2, 5)
        layout.setRowStretch(len(lines), 1)

    def show_protocol(self, document: Mapping[str, Any]) -> None:
        """Fill the fields."""
        chosen = {
            "identical": self.identical, "confidence": self.confidence,
            "usefulness": self.usefulness, "comments": self.comments,
        }  # fmt: skip
        for name, box in chosen.items():
            box.setCurrentIndex(max(0, box.findData(document[name])))
        self.warmup.setValue(int(document["warmup"]))
        self.repeats.setValue(round(100 * float(document["repeat_share"])))
        self.gap.setValue(int(document["repeat_gap"]))
        self.rest.setValue(int(document["rest_minutes"]))
        self.guesses.setValue(int(document["guess_items"]))

    def protocol(self) -> dict[str, Any]:
        """What the fields hold."""
        return {
            "identical": self.identical.currentData(),
            "warmup": self.warmup.value(),
            "repeat_share": self.repeats.value() / 100,
            "repeat_gap": self.gap.value(),
            "rest_minutes": self.rest.value(),
            "guess_items": self.guesses.value(),
            "confidence": self.confidence.currentData(),
            "usefulness": self.usefulness.currentData(),
            "comments": self.comments.currentData(),
        }
