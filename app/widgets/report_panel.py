"""A report beside the pictures: its sections under their headings, and keys that jump to them.

Owns typesetting and jumping; where a section starts is found elsewhere. Plain text throughout.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from PySide6.QtCore import QSize, Signal
from PySide6.QtGui import QTextCharFormat, QTextCursor
from PySide6.QtWidgets import (
    QFrame,
    QHBoxLayout,
    QLabel,
    QPushButton,
    QToolButton,
    QVBoxLayout,
    QWidget,
)

from app import theme
from app.keys import with_key
from app.widgets.ink import px
from app.widgets.text_panel import TextPanel

JUMPS = (("findings", "Findings"), ("impression", "Impression"))
WIDTH, LEAST, MOST = 340, 240, 400


@dataclass(frozen=True)
class ReportPart:
    """One section.

    Attributes:
        name: ``findings``, ``impression``, ... or ``whole``.
        heading: as it is written, empty for none.
        text: the words below it.
    """

    name: str
    heading: str
    text: str


class ReportText(TextPanel):
    """A text set section by section; findings and impression stand out by size and rule."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._parts: tuple[ReportPart, ...] = ()
        self._starts: dict[str, int] = {}

    def show_parts(self, text: str, parts: Sequence[ReportPart]) -> None:
        """Show a report; ``text`` is the whole of it."""
        self._parts = tuple(parts)
        self.show_text(text)

    def jump(self, name: str) -> bool:
        """Bring a section's heading to the top; False if there is none."""
        if name not in self._starts:
            return False
        block = self.document().findBlockByNumber(self._starts[name])
        top = self.document().documentLayout().blockBoundingRect(block).top()
        self.verticalScrollBar().setValue(int(top) - theme.SPACE_XS)
        return True

    def _set(self) -> None:
        if not self._parts:
            super()._set()
            return
        self._starts = {}
        self.clear()
        cursor = QTextCursor(self.document())
        for number, part in enumerate(self._parts):
            self._add_part(cursor, part, first=number == 0)
        self.moveCursor(QTextCursor.MoveOperation.Start)
        self._fit()
        self.verticalScrollBar().setValue(0)

    def _add_part(self, cursor: QTextCursor, part: ReportPart, *, first: bool) -> None:
        empty = first
        if part.heading:
            self._block(cursor, first=empty, above=theme.SPACE_L)
            self._starts.setdefault(part.name, cursor.blockNumber())
            cursor.insertText(part.heading.strip(), self._head(part.name))
            empty = False
        for line in part.text.splitlines():
            self._block(cursor, first=empty, above=theme.SPACE_XS)
            cursor.insertText(line, self._face(bold=False))
            empty = False

    def _head(self, name: str) -> QTextCharFormat:
        form = self._face(bold=True)
        face = form.font()
        important = name in dict(JUMPS)
        face.setPixelSize(theme.px("reading") + (2 if important else 0))
        form.setFont(face)
        return form


class ReportPanel(QFrame):
    """The text, the two jumps above it, steps to other reports, and a doubt whose it is.

    Signals:
        jumped: nothing to know; the reader went to a section.
        step_asked: -1 or 1, the report before or the next one.
    """

    jumped = Signal(str)
    step_asked = Signal(int)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setAccessibleName("Report")
        self.text = ReportText()
        self.text.setAccessibleName("Report text")
        self.buttons: dict[str, QPushButton] = {}
        row = QHBoxLayout()
        row.setSpacing(theme.SPACE_XS)
        for name, words in JUMPS:
            button = QPushButton(words)
            button.setProperty("kind", "flat")
            button.setAccessibleName(f"Go to the {words.lower()}")
            button.clicked.connect(lambda _on=False, name=name: self.jump(name))
            self.buttons[name] = button
            row.addWidget(button)
        row.addStretch(1)
        self.place, self.doubt = QLabel(), QLabel()
        self.place.setProperty("role", "small")
        row.addWidget(self.place)
        self.before = self._step_button("control-up", "Report before", -1)
        self.after = self._step_button("control-down", "Next report", 1)
        row.addWidget(self.before)
        row.addWidget(self.after)
        self.doubt.setWordWrap(True)
        self.doubt.setStyleSheet(f"color: {theme.WARN};")
        self.doubt.setContentsMargins(theme.SPACE_S, theme.SPACE_XS, 0, theme.SPACE_XS)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
        column.addLayout(row)
        column.addWidget(self.doubt)
        column.addWidget(self.text, 1)
        self.show_place(1, 1)
        theme.theme.scaled.connect(self._fit)
        self._fit()
        self.name_keys()

    @property
    def words(self) -> str:
        """The report as given."""
        return self.text.words

    def show_report(self, text: str, parts: Sequence[ReportPart] = ()) -> None:
        """Show a report from its top; jumps to sections that it lacks are off."""
        self.text.show_parts(text, parts)
        for name, button in self.buttons.items():
            button.setVisible(any(part.name == name and part.heading for part in parts))

    def show_place(self, number: int, count: int, *, doubt: str = "") -> None:
        """Which of several reports it is, and why it may not be of the patient beside it."""
        for widget in (self.place, self.before, self.after):
            widget.setVisible(count > 1)
        self.place.setText(f"{number} / {count}")
        self.before.setEnabled(number > 1)
        self.after.setEnabled(number < count)
        self.doubt.setText(f"▲ {doubt}" if doubt else "")
        self.doubt.setVisible(bool(doubt))

    def _step_button(self, icon: str, words: str, by: int) -> QToolButton:
        made = QToolButton()
        made.setProperty("kind", "flat")
        made.setIcon(theme.icon(icon, size=14))
        made.setToolTip(words)
        made.setAccessibleName(words)
        made.clicked.connect(lambda: self.step_asked.emit(by))
        return made

    def jump(self, name: str) -> bool:
        """Go to the findings or the impression."""
        there = self.text.jump(name)
        if there:
            self.jumped.emit(name)
        return there

    def name_keys(self) -> None:
        """Say the keys in force."""
        for name, words in JUMPS:
            self.buttons[name].setText(with_key(words, name))

    def sizeHint(self) -> QSize:
        return QSize(min(px(WIDTH), MOST), px(WIDTH))

    def _fit(self) -> None:
        self.setMinimumWidth(min(px(LEAST), MOST))
