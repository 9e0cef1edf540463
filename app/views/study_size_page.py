"""The planner's page of the study wizard: what is expected left, what follows from it right, live.

Lays out and emits what the fields hold; the numbers come from the presenter.
"""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QFrame, QGridLayout, QWidget

from app.shown_study import SizeAsked, SizeShown
from app.views.study_panels import grid
from app.widgets.blocks import button, clear, column, heading, label, panel, quiet, row, tell
from app.widgets.ink import px
from app.widgets.number_fields import count, number
from app.widgets.side_by_side import SideBySide

CLUSTERING = (
    "Alike within a task is the intraclass correlation: how much answers to one task resemble "
    "each other. 0.02 to 0.10 are usual; 0 counts every item as independent."
)
FORMS = {"2d": "2D", "3d": "3D", "text": "text"}


class SizePage(QWidget):
    """What is expected and what there is time for, left; what follows from it, right, live."""

    size_changed = Signal(object)

    def __init__(self) -> None:
        super().__init__()
        self.items, self.readers = count(1, 100_000, ""), count(1, 50, "")
        self.share, self.ties = number(50.1, 99, 1, " %"), number(0, 90, 0, " %")
        self.power, self.clustering = number(50, 99, 0, " %"), number(0, 0.9, 2, "")
        self.seconds = {form: count(1, 3600, " s") for form in FORMS}
        self.session = count(5, 240, " min")
        self.take = button("Take the number that is needed", self._take)
        self.warning, self.sentence = label("", "warn"), label("")
        self._facts = QGridLayout()
        self.copy = button("Copy the sentence", self._copy)
        tell(self.warning, "")
        sides = SideBySide(self._expected(), self._follows(), least=700, shares=(4, 7))
        self.setLayout(column(sides))
        self._needed = 0
        self.show_asked(SizeAsked())
        for whole in (self.items, self.readers, self.session, *self.seconds.values()):
            whole.valueChanged.connect(self._changed)
        for part in (self.share, self.ties, self.power, self.clustering):
            part.valueChanged.connect(self._changed)

    def _expected(self) -> QFrame:
        self.clustering.setAccessibleDescription(CLUSTERING)
        left = panel()
        left.setLayout(
            column(
                heading("Expected, and the time there is"),
                grid(
                    ("Items", self.items),
                    ("Share for the tested model", self.share),
                    ("Ties", self.ties),
                    ("Alike within a task", self.clustering),
                    ("Wanted chance to find it", self.power),
                    ("Readers, each reads every item", self.readers),
                    *((f"One {FORMS[form]} item", self.seconds[form]) for form in FORMS),
                    ("Reading before a pause", self.session),
                ),
                self.take,
                quiet(CLUSTERING, small=True),
                1,
                margin=px(12),
            )
        )
        return left

    def _follows(self) -> QFrame:
        right = panel()
        self._facts.setHorizontalSpacing(px(16))
        self._facts.setVerticalSpacing(px(6))
        self.sentence.setTextInteractionFlags(
            Qt.TextInteractionFlag.TextSelectableByMouse
            | Qt.TextInteractionFlag.TextSelectableByKeyboard
        )
        self.sentence.setAccessibleName("Sentence for the paper")
        right.setLayout(
            column(
                heading("What follows"),
                self._facts,
                self.warning,
                heading("For the paper"),
                self.sentence,
                row(self.copy, 1),
                1,
                margin=px(12),
            )
        )
        return right

    def show_asked(self, asked: SizeAsked) -> None:
        """Fill the fields."""
        self._filling = True
        self.items.setValue(asked.items)
        self.share.setValue(asked.share)
        self.ties.setValue(asked.ties)
        self.clustering.setValue(asked.clustering)
        self.power.setValue(asked.power)
        self.readers.setValue(asked.readers)
        self.session.setValue(round(asked.session))
        for form, box in self.seconds.items():
            box.setValue(round(asked.seconds[form]))
        self._filling = False

    def asked(self) -> SizeAsked:
        """What the fields hold."""
        return SizeAsked(
            self.items.value(), self.share.value(), self.ties.value(), self.clustering.value(),
            self.power.value(), self.readers.value(),
            {form: float(box.value()) for form, box in self.seconds.items()},
            float(self.session.value()),
        )  # fmt: skip

    def show_forms(self, forms: Sequence[str]) -> None:
        """Only the times of forms that come up can be set."""
        for form, box in self.seconds.items():
            box.setEnabled(form in forms or not forms)

    def show_size(self, shown: SizeShown) -> None:
        """What follows from the fields."""
        clear(self._facts)
        for place, (what, figure) in enumerate(shown.facts):
            told = label(what, "quiet")
            value = label(figure)
            value.setAccessibleName(f"{what}: {figure}")
            self._facts.addWidget(told, place, 0, Qt.AlignmentFlag.AlignTop)
            self._facts.addWidget(value, place, 1)
        self._facts.setColumnStretch(0, 2)
        self._facts.setColumnStretch(1, 4)
        tell(self.warning, shown.warning, "warn")
        self.sentence.setText(shown.sentence)
        self.copy.setEnabled(bool(shown.sentence))
        self._needed = shown.needed
        within = 0 < shown.needed <= shown.available
        self.take.setEnabled(within and shown.needed != self.items.value())
        words = f"{shown.needed:,} items needed, more than there are"
        if within:
            words = f"Take the {shown.needed:,} items needed"
        self.take.setText(words if shown.needed else "No number of items is enough")

    def _changed(self) -> None:
        if not self._filling:
            self.size_changed.emit(self.asked())

    def _take(self) -> None:
        self.items.setValue(self._needed)

    def _copy(self) -> None:
        QGuiApplication.clipboard().setText(self.sentence.text())
