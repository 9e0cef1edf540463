"""Asked once, before a reader's first item: who reads. Everything may be left empty.

Owns the four fields. Refuses to keep anything itself; one signal carries what was written.
"""

from __future__ import annotations

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QGridLayout, QLabel, QLineEdit, QSpinBox, QWidget

from app import theme
from app.views.review_pages import SentencePage

ASKED = (
    ("specialty", "Specialty", "For example radiology, chest imaging"),
    ("years", "Years of experience", ""),
    ("modalities", "Modalities you read", "For example CT, MRI, radiographs"),
    ("display", "Your display", "Calibrated or not, how and when; or leave it empty"),
)
TOLD = (
    "What you write here is stored with your answers and printed in tables of the readers, never "
    "beside an answer on the screen. Each line may be left empty. You are asked once per study."
)


class ProfilePage(SentencePage):
    """Four lines and a button.

    Signals:
        given: specialty, years (None if not said), modalities, display.
        left: back to the studies.
    """

    given = Signal(str, object, str, str)
    left = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__("About you", parent)
        self.fields: dict[str, QLineEdit] = {}
        self.years = QSpinBox()
        self.years.setRange(-1, 80)
        self.years.setSpecialValueText("not said")
        self.years.setValue(-1)
        grid = QGridLayout()
        grid.setHorizontalSpacing(theme.SPACE_M)
        grid.setVerticalSpacing(theme.SPACE_S)
        for row, (name, words, told) in enumerate(ASKED):
            label = QLabel(words)
            field: QWidget = self.years if name == "years" else self._line(name, told)
            field.setAccessibleName(words)
            label.setBuddy(field)
            grid.addWidget(label, row, 0)
            grid.addWidget(field, row, 1)
        grid.setColumnStretch(1, 1)
        self.body.addLayout(grid)
        self.begin = self.add_button("Begin reading", primary=True)
        self.begin.clicked.connect(self._give)
        self.back = self.add_button("Back")
        self.back.clicked.connect(self.left)

    def show_profile(self, rater: str, *, display: str) -> None:
        """Ask somebody; what is known of the display stands there already."""
        self.say(f"You read as {rater}. {TOLD}")
        for field in self.fields.values():
            field.clear()
        self.fields["display"].setText(display)
        self.years.setValue(-1)
        self.fields["specialty"].setFocus()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Enter on any line goes on: fields hand it up, the button behind them is the main one."""
        enter = event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter)
        if enter and not event.isAutoRepeat() and not self.back.hasFocus():
            self._give()
        elif enter:
            self.left.emit()
        else:
            super().keyPressEvent(event)

    def _line(self, name: str, told: str) -> QLineEdit:
        line = QLineEdit()
        line.setPlaceholderText(told)
        line.setMaxLength(200)
        self.fields[name] = line
        return line

    def _give(self) -> None:
        words = {name: field.text().strip() for name, field in self.fields.items()}
        years = self.years.value() if self.years.value() >= 0 else None
        self.given.emit(words["specialty"], years, words["modalities"], words["display"])
