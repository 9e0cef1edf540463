"""The preview of one object: picture, facts, report, what is to be known about it."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QImage, QPainter, QPaintEvent
from PySide6.QtWidgets import QGridLayout, QStackedWidget, QWidget

from app.shown import KinShown, PreviewShown
from app.widgets.blocks import (
    button,
    clear,
    column,
    heading,
    quiet,
    row,
    section,
    sentence,
    tell,
)
from app.widgets.ink import hold, ink, px
from app.widgets.report_panel import JUMPS, ReportPanel, ReportPart
from app.widgets.thumbnail_grid import draw_fitted


class PictureBox(QWidget):
    """A picture on black, as large as fits."""

    def __init__(self, name: str) -> None:
        super().__init__()
        self._image: QImage | None = None
        self._words = ""
        self.setAccessibleName(name)
        hold(self.setMinimumHeight, 120)

    def show_image(self, image: QImage | None, words: str = "") -> None:
        """Show an image, or words on black where there is none."""
        self._image, self._words = image, words
        self.update()

    def paintEvent(self, event: QPaintEvent) -> None:
        """Draw it."""
        painter = QPainter(self)
        painter.fillRect(self.rect(), ink("picture"))
        if self._image is not None and not self._image.isNull():
            draw_fitted(painter, self.rect(), self._image)
        elif self._words:
            painter.setPen(ink("error"))
            painter.drawText(self.rect(), int(Qt.AlignmentFlag.AlignCenter), self._words)
        painter.end()


class FactList(QWidget):
    """Facts as two columns: what, and its value, selectable."""

    def __init__(self) -> None:
        super().__init__()
        self._grid = QGridLayout(self)
        self._grid.setContentsMargins(0, 0, 0, 0)
        self._grid.setHorizontalSpacing(px(12))
        self._grid.setVerticalSpacing(px(3))
        self._grid.setColumnStretch(1, 1)

    def show_facts(self, facts: tuple[tuple[str, str], ...]) -> None:
        """Replace every fact."""
        clear(self._grid)
        for line, (name, value) in enumerate(facts):
            told = sentence(value)
            told.setWordWrap(True)
            told.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
            told.setAccessibleName(f"{name}: {value}")
            label = quiet(name, wrap=False)
            self._grid.addWidget(label, line, 0, Qt.AlignmentFlag.AlignTop)
            self._grid.addWidget(told, line, 1)


class PreviewPanel(QWidget):
    """The right side of the library."""

    open_wanted = Signal(str)
    neighbours_wanted = Signal(str)
    patient_wanted = Signal(str)

    def __init__(self) -> None:
        super().__init__()
        self._key = ""
        self.setMinimumWidth(px(280))
        self.heading = heading()
        self.picture = PictureBox("Preview picture")
        self.picture.setMinimumHeight(px(220))
        self.problem = sentence()
        self.warnings = sentence()
        self.facts = FactList()
        self.notes = quiet()
        self.kin = quiet()
        self.kin_key = button(
            "Show them", lambda: self.patient_wanted.emit(self._key),
            name="List all objects of this patient",
        )  # fmt: skip
        self.report_head = section("Report")
        self.report = ReportPanel()
        for name, words in JUMPS:  # the viewer's keys do not reach here
            self.report.buttons[name].setText(words)
        self._rest = QWidget()
        self._pages = QStackedWidget()
        nothing = quiet("Choose an object to see it here.")
        nothing.setAlignment(Qt.AlignmentFlag.AlignCenter)
        self._pages.addWidget(nothing)
        self._pages.addWidget(self._full())
        self.setLayout(column(self._pages))
        for one in (self.report, self.report_head, self.kin, self.kin_key):  # nothing is chosen yet
            one.hide()

    def _full(self) -> QWidget:
        self.neighbours = button(
            "Neighbours", lambda: self.neighbours_wanted.emit(self._key), name="Find neighbours"
        )
        opened = button("Open", lambda: self.open_wanted.emit(self._key), name="Open in the viewer")
        keys = row(opened, self.neighbours, 1)
        kin = row(self.kin, self.kin_key)
        kin.setStretch(0, 1)
        texts = (self.problem, self.warnings, kin, self.facts, self.notes)
        layout = column(
            self.heading, self.picture, keys, *texts, self.report_head, self.report, self._rest
        )
        layout.setStretchFactor(self.picture, 2)
        layout.setStretchFactor(self.report, 3)
        layout.setStretchFactor(self._rest, 1)
        layout.setContentsMargins(px(8), px(12), px(12), px(12))
        inner = QWidget()
        inner.setLayout(layout)
        return inner

    def show_object(self, shown: PreviewShown | None, image: QImage | None) -> None:
        """Show an object, or the sentence that none is chosen."""
        self._pages.setCurrentIndex(0 if shown is None else 1)
        if shown is None:
            return
        self._key = shown.key
        self.heading.setText(shown.title)
        self.heading.setToolTip(shown.title)
        self.picture.show_image(image)
        tell(self.problem, shown.problem, "error")
        tell(self.warnings, "\n▲ ".join(shown.warnings), "warn")
        self.facts.show_facts(shown.facts)
        self.notes.setText("\n".join(shown.notes))
        self.notes.setVisible(bool(shown.notes))
        self.show_report(shown.key, "", shown.text, shown.sections)
        self._rest.setVisible(not shown.text and not shown.pictured)
        self.neighbours.setEnabled(shown.pictured or bool(shown.text))
        self.picture.setVisible(shown.pictured)
        self.show_kin(shown.key, None)

    def show_report(
        self, key: str, title: str, text: str, parts: Sequence[tuple[str, str, str]]
    ) -> None:
        """Show a text by its sections, its own or another's of that title."""
        if key != self._key:
            return
        self.report_head.setText(f"Report: {title}" if title else "Report")
        self.report.show_report(text, [ReportPart(*part) for part in parts])
        self.report.setVisible(bool(text))
        self.report_head.setVisible(bool(text))

    def show_kin(self, key: str, kin: KinShown | None) -> None:
        """Say what else there is of the patient, if the object is still the chosen one."""
        if key != self._key:
            return
        self.kin.setText("" if kin is None else kin.sentence)
        self.kin.setVisible(kin is not None)
        self.kin_key.setVisible(kin is not None and kin.can_filter)

    def show_picture(self, key: str, image: QImage | None) -> None:
        """Show the large picture, if the object is still the chosen one."""
        if key == self._key:
            self.picture.show_image(image, "✕ This picture cannot be shown.")
