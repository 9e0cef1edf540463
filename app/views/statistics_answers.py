"""The answers behind a bar or a row, as a list; one of them can be opened.

Lays out and emits intents; decides nothing.
"""

from __future__ import annotations

import time
from collections.abc import Sequence

from PySide6.QtCore import QEvent, QModelIndex, QObject, Qt, Signal
from PySide6.QtGui import QGuiApplication, QKeyEvent
from PySide6.QtWidgets import QHeaderView, QStackedWidget, QWidget

from app.shown_statistics import AnswerLine
from app.tables.rows import Column, RowsModel
from app.widgets.blocks import EmptyState, button, column, heading, margins, quiet, row, table_view
from app.widgets.ink import px

COLUMNS: tuple[Column[AnswerLine], ...] = (
    Column("Item", lambda line: str(line.number), right=True),
    Column("Task", lambda line: line.task),
    Column("Form", lambda line: line.form),
    Column("Answer", lambda line: line.answer),
    Column("Top answers", lambda line: line.stratum),
    Column("Rater", lambda line: line.rater),
    Column("Read as", lambda line: line.place, right=True),
    Column("Time", lambda line: line.time, right=True),
    Column("To know", lambda line: line.note),
)
OPENING = (Qt.Key.Key_Return, Qt.Key.Key_Enter, Qt.Key.Key_Space)
GUARD_S = 0.4  # the second half of a double click on a bar is no wish to open an item


class AnswersView(QWidget):
    """A list of answers under what they have in common.

    Signals:
        opened: place of an answer in the list.
        left: back to the numbers.
    """

    opened = Signal(int)
    left = Signal()

    def __init__(self) -> None:
        super().__init__()
        self.back = button("Back to the numbers  Esc", self.left.emit, name="Back to the numbers")
        self.copy = button("Copy list", self._copy, kind="flat", name="Copy the list of answers")
        self.heading = heading()
        self.heading.setWordWrap(True)
        self.hint = quiet(
            "Enter or a double click opens an item with the models' names.", small=True
        )
        self.model = RowsModel[AnswerLine](COLUMNS)
        self.table = table_view("Answers behind the mark")
        self.table.setModel(self.model)
        header = self.table.horizontalHeader()
        header.setSectionResizeMode(QHeaderView.ResizeMode.ResizeToContents)
        self.table.doubleClicked.connect(self._open)
        self.table.installEventFilter(self)
        self._pages = QStackedWidget()
        self._pages.addWidget(self.table)
        self._pages.addWidget(EmptyState("", "No answer stands behind this."))
        head = row(self.back, self.heading, self.copy, space=12)
        head.setStretch(1, 1)
        self.setLayout(column(head, self.hint, self._pages, space=8))
        margins(self, 0, px(8), 0, 0)
        self._lines: tuple[AnswerLine, ...] = ()
        self._since = 0.0

    def show_answers(self, title: str, lines: Sequence[AnswerLine]) -> None:
        """Show another list with its first answer in hand."""
        self._since = time.monotonic()
        self._lines = tuple(lines)
        count = "1 answer" if len(lines) == 1 else f"{len(lines):,} answers"
        self.heading.setText(f"{title}: {count}")
        self.model.set_rows(lines)
        self._pages.setCurrentIndex(0 if lines else 1)
        self.choose(0)

    def choose(self, place: int) -> None:
        """Put an answer of the list in hand."""
        while place >= self.model.rowCount() and self.model.canFetchMore(QModelIndex()):
            self.model.fetchMore(QModelIndex())
        if 0 <= place < self.model.rowCount():
            self.table.setCurrentIndex(self.model.index(place, 1))
        self.table.setFocus(Qt.FocusReason.OtherFocusReason)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Enter opens, Esc goes back."""
        if event.type() == QEvent.Type.KeyPress and isinstance(event, QKeyEvent):
            if event.key() in OPENING:
                if not event.isAutoRepeat():
                    self.opened.emit(self.table.currentIndex().row())
                return True
            if event.key() == Qt.Key.Key_Escape:
                self.left.emit()
                return True
        return super().eventFilter(watched, event)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() == Qt.Key.Key_Escape:
            self.left.emit()
        else:
            super().keyPressEvent(event)

    def _open(self, index: QModelIndex) -> None:
        if index.isValid() and time.monotonic() - self._since > GUARD_S:
            self.opened.emit(index.row())

    def _copy(self) -> None:
        lines = ["\t".join(one.title for one in COLUMNS)]
        lines += ["\t".join(one.text(line) for one in COLUMNS) for line in self._lines]
        QGuiApplication.clipboard().setText("\n".join(lines))
