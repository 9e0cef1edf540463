"""The life of one study as cards, one per step, with what folds out below them.

Lays out and emits intents; decides nothing. Cards stay the same widgets while values change.
"""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QWidget

from app.shown import StepShown, StudyShown
from app.views.study_forms import UnblindForm
from app.views.study_panels import HandPanel, MergePanel, PublishPanel, ReaderTable, ReturnPanel
from app.widgets.blocks import button, column, quiet, row, title
from app.widgets.ink import px
from app.widgets.step_card import StepCard

STATE_WORDS = {
    "built": "built, not begun", "handed": "packs handed out", "reading": "being read",
    "read": "all answers given",
    "unblinded": "unblinded", "damaged": "cannot be opened",
}  # fmt: skip
ORDER = ("open", "plan", "build", "hand", "read", "return", "merge", "verify", "unblind", "publish")


class StepsPage(QWidget):
    """Title, where the study stands, and its steps."""

    step_wanted = Signal(str)

    def __init__(self) -> None:
        super().__init__()
        self.heading, self.summary, self.hash = title(), quiet(), quiet(small=True)
        self.copy = button("Copy", self._copy, kind="flat", name="Copy the fingerprint")
        self._whole = ""
        self.note = quiet()
        self.hash.setTextInteractionFlags(
            Qt.TextInteractionFlag.TextSelectableByMouse
            | Qt.TextInteractionFlag.TextSelectableByKeyboard
        )
        self.hash.setAccessibleName("Fingerprint of the study")
        self.hand, self.merge, self.publish = HandPanel(), MergePanel(), PublishPanel()
        self.unblind, self.back = UnblindForm(), ReturnPanel()
        self.readers = ReaderTable()
        self.unblind.left.connect(lambda: self.fold(""))
        bodies: dict[str, QWidget] = {
            "hand": self.hand, "read": self.readers, "return": self.back, "merge": self.merge,
            "unblind": self.unblind, "publish": self.publish,
        }  # fmt: skip
        self.cards = {key: StepCard(bodies.get(key)) for key in ORDER}
        self.cards["read"].shuts = False
        for key, card in self.cards.items():
            card.wanted.connect(lambda key=key: self.step_wanted.emit(key))
        printed = row(self.hash, self.copy)
        printed.setStretch(0, 1)
        layout = column(
            self.heading,
            self.summary,
            printed,
            *self.cards.values(),
            self.note,
            1,
        )
        layout.setContentsMargins(0, 0, px(8), 0)
        self.setLayout(layout)
        self.opened = ""

    def show_steps(self, study: StudyShown, steps: Sequence[StepShown], note: str) -> None:
        """Show where a study stands; a step that is not named is not shown."""
        self.heading.setText(study.title)
        told = study.told or f"{study.answered:,} of {study.total:,} items answered"
        made = f" · built {study.created}" if study.created else ""
        words = STATE_WORDS[study.state].capitalize()
        self.summary.setText(words if study.state == "damaged" else f"{words} · {told}{made}")
        self._whole = study.hash
        groups = [study.hash[place : place + 16] for place in range(0, len(study.hash), 16)]
        self.hash.setText(" ".join(("Fingerprint", *groups)) if groups else "")
        for part in (self.hash, self.copy):
            part.setVisible(bool(groups))
        self.note.setText(note)
        self.note.setVisible(bool(note))
        there = {step.key: step for step in steps}
        numbers = {step.key: place for place, step in enumerate(steps, 1)}
        for key, card in self.cards.items():
            step = there.get(key)
            card.setVisible(step is not None)
            if step is not None:
                card.show_step(numbers[key], step.title, step.state, step.sentence, step.action,
                               enabled=step.enabled)  # fmt: skip
        if self.opened not in there:
            self.fold("")

    def _copy(self) -> None:
        QGuiApplication.clipboard().setText(self._whole)

    def fold(self, key: str) -> None:
        """Open the body of one step and shut the others; an empty key shuts all."""
        self.opened = key
        for name, card in self.cards.items():
            if name != "read":
                card.fold(opened=name == key)
