"""Forms of the study page: what a study is built from, and the one act of unblinding.

A passphrase is taken from its field, emitted once and wiped; it is never shown or kept.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QComboBox, QFormLayout, QLineEdit, QSpinBox, QWidget

from app.widgets.blocks import button, column, heading, label, panel, quiet, row, tell, title
from app.widgets.ink import hold, px

SHORTEST = 8
BUILD_WORDS = (
    "Items are drawn in equal shares from every task. Which side shows which model is drawn per "
    "item, sealed with the passphrase, and opened once, at unblinding. Keep the passphrase: "
    "nobody can restore it."
)


@dataclass(frozen=True)
class BuildWish:
    """What the build form asks for."""

    title: str
    data: str
    model_a: str
    model_b: str
    total: int
    seed: int
    passphrase: str


class BuildForm(QWidget):
    """Build a study: title, data, two models, size, seed, passphrase twice."""

    build_wanted = Signal(object)
    data_chosen = Signal(str)
    left = Signal()

    def __init__(self) -> None:
        super().__init__()
        self._building = False
        form = self._fields()
        self.state = label("")
        self.build_button = button("Build the study", self._build, kind="primary")
        self.leave_button = button("Back", self.left.emit, name="Leave the build form")
        keys = row(self.build_button, self.leave_button, 1)
        narrow = QWidget()
        hold(narrow.setMaximumWidth, 720)
        narrow.setLayout(
            column(title("Build a study"), quiet(BUILD_WORDS), form, self.state, keys, 1, space=16)
        )
        self.setLayout(row(narrow, 1))
        self._watch()

    def _fields(self) -> QFormLayout:
        self.name, self.secret, self.again = QLineEdit(), QLineEdit(), QLineEdit()
        self.name.setPlaceholderText("Shown to readers; do not name a model here")
        for line in (self.secret, self.again):
            line.setEchoMode(QLineEdit.EchoMode.Password)
        self.data, self.model_a, self.model_b = QComboBox(), QComboBox(), QComboBox()
        self.data.currentIndexChanged.connect(
            lambda: self.data_chosen.emit(str(self.data.currentData() or ""))
        )
        self.total, self.seed = QSpinBox(), QSpinBox()
        self.total.setRange(1, 100_000)
        self.total.setValue(530)
        self.seed.setRange(0, 2_147_483_647)
        form = QFormLayout()
        form.setHorizontalSpacing(px(16))
        form.setVerticalSpacing(px(10))
        lines: tuple[tuple[str, QWidget], ...] = (
            ("Title", self.name), ("Results of", self.data), ("First model", self.model_a),
            ("Second model", self.model_b), ("Items", self.total), ("Seed", self.seed),
            ("Passphrase of the key", self.secret), ("The same again", self.again),
        )  # fmt: skip
        for words, field in lines:
            field.setAccessibleName(words)
            hold(field.setMinimumWidth, 340)
            form.addRow(words, field)
        return form

    def _watch(self) -> None:
        for line in (self.name, self.secret, self.again):
            line.textChanged.connect(self._check)
        for box in (self.data, self.model_a, self.model_b):
            box.currentIndexChanged.connect(self._check)
        self._check()

    def offer(self, data: Sequence[tuple[str, str]], models: Sequence[tuple[str, str]]) -> None:
        """Offer data sets and models as (key, words)."""
        self.data.blockSignals(True)
        self.data.clear()
        for key, words in data:
            self.data.addItem(words, key)
        self.data.blockSignals(False)
        self.offer_models(models)

    def offer_models(self, models: Sequence[tuple[str, str]]) -> None:
        """Offer models; two different ones are chosen at first."""
        for place, box in enumerate((self.model_a, self.model_b)):
            box.clear()
            for key, words in models:
                box.addItem(words, key)
            box.setCurrentIndex(min(place, len(models) - 1))
        self._check()

    def show_state(self, text: str, *, tone: str = "quiet", building: bool = False) -> None:
        """Say how it goes."""
        self._building = building
        self._check()
        tell(self.state, text, tone)

    def problem(self) -> str:
        """What still speaks against building; empty if nothing."""
        if self.data.currentData() is None or self.model_b.count() < 2:
            return "Two models need results on the same data. Compute them in Benchmark first."
        if not self.name.text().strip():
            return "Give the study a title."
        if self.model_a.currentData() == self.model_b.currentData():
            return "Choose two different models."
        if len(self.secret.text()) < SHORTEST:
            return f"Choose a passphrase of at least {SHORTEST} characters."
        if self.secret.text() != self.again.text():
            return "The two passphrases differ."
        return ""

    def _check(self) -> None:
        problem = self.problem()
        self.build_button.setEnabled(not problem and not self._building)
        tell(self.state, problem, "quiet")

    def _build(self) -> None:
        wish = BuildWish(
            self.name.text().strip(),
            str(self.data.currentData()),
            str(self.model_a.currentData()),
            str(self.model_b.currentData()),
            self.total.value(),
            self.seed.value(),
            self.secret.text(),
        )
        self.secret.clear()
        self.again.clear()
        self.build_wanted.emit(wish)


class UnblindForm(QWidget):
    """Names the act, takes passphrase and reason, and is confirmed by its one button."""

    unblind_wanted = Signal(str, str)

    def __init__(self) -> None:
        super().__init__()
        self.heading = heading()
        self.secret, self.reason = QLineEdit(), QLineEdit()
        self.secret.setEchoMode(QLineEdit.EchoMode.Password)
        self.reason.setPlaceholderText("For example: all readers have finished")
        form = QFormLayout()
        form.setHorizontalSpacing(px(16))
        for words, box in (("Passphrase of the key", self.secret), ("Reason", self.reason)):
            box.setAccessibleName(words)
            box.textChanged.connect(self._check)
            form.addRow(words, box)
        self.problem = label("")
        self.problem.hide()
        self.confirm = button("Unblind", self._confirm, kind="danger")
        self.leave = button("Keep it blind", self.hide)
        framed = panel("raised")
        framed.setLayout(
            column(
                self.heading,
                quiet(
                    "This cannot be undone. It is logged with its reason and time, the names are "
                    "shown from then on, and no further answer is taken."
                ),
                form,
                self.problem,
                row(self.confirm, self.leave, 1),
                margin=px(12),
            )
        )
        self.setLayout(column(framed))
        self.hide()

    def ask(self, study_title: str) -> None:
        """Ask about one study."""
        self.heading.setText(f"Unblind study '{study_title}'")
        self.confirm.setText(f"Unblind '{study_title}'")
        self.confirm.setAccessibleName(f"Unblind study {study_title}")
        self.secret.clear()
        self.reason.clear()
        tell(self.problem, "")
        self._check()
        self.show()
        self.secret.setFocus()

    def show_problem(self, text: str) -> None:
        """Say why the key did not open."""
        tell(self.problem, text, "error")
        self._check()

    def _check(self) -> None:
        self.confirm.setEnabled(bool(self.secret.text() and self.reason.text().strip()))

    def _confirm(self) -> None:
        secret, reason = self.secret.text(), self.reason.text().strip()
        self.secret.clear()
        self.confirm.setEnabled(False)
        self.unblind_wanted.emit(secret, reason)
