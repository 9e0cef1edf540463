"""What an import does and did: one line, its progress, and the list of what was left out.

Lays out and emits intents; decides nothing.
"""

from __future__ import annotations

from PySide6.QtCore import Signal
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QFrame, QPlainTextEdit, QProgressBar, QWidget

from app.shown import ImportShown
from app.widgets.blocks import button, column, row, sentence, tell
from app.widgets.ink import hold, px

TONES = {"running": "quiet", "done": "good", "stopped": "warn", "failed": "error"}


class ImportStrip(QFrame):
    """Folded to one line until the list is asked for."""

    stop_wanted = Signal()
    problems_wanted = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setProperty("surface", "raised")
        self.setAccessibleName("Import")
        self.words = sentence()
        self.warnings = sentence()
        self.progress = QProgressBar()
        self.progress.setTextVisible(False)
        hold(self.progress.setFixedHeight, 4)
        self.list = QPlainTextEdit()
        self.list.setReadOnly(True)
        self.list.setAcceptDrops(False)
        self.list.setAccessibleName("What was left out")
        self.list.setLineWrapMode(QPlainTextEdit.LineWrapMode.NoWrap)
        hold(self.list.setFixedHeight, 150)
        self.list.hide()
        self.stop = button("Stop", self.stop_wanted.emit, name="Stop the import")
        self.unfold = button("What was left out", self._unfold)
        self.copy = button("Copy list", self._copy, name="Copy what was left out")
        self.filter = button("Show in library", self.problems_wanted.emit,
                             name="Show what was left out in the library")  # fmt: skip
        self.close_key = button("Close", self.hide, kind="flat", name="Close the import's report")
        self._keys = (self.unfold, self.copy, self.filter, self.close_key)
        head = row(self.words, self.stop, *self._keys)
        head.setStretch(0, 1)
        inner = column(head, self.progress, self.warnings, self.list)
        inner.setContentsMargins(px(12), px(8), px(8), px(8))
        self.setLayout(inner)
        self.hide()

    def show_import(self, shown: ImportShown | None) -> None:
        """Show how an import stands; None takes the strip away."""
        self.setVisible(shown is not None)
        if shown is None:
            return
        running, left = shown.state == "running", bool(shown.lines)
        tell(self.words, shown.sentence, TONES[shown.state])
        tell(self.warnings, "\n▲ ".join(shown.warnings), "warn")
        self.progress.setVisible(running)
        self.progress.setRange(0, 0 if shown.permille is None else 1000)
        self.progress.setValue(shown.permille or 0)
        self.stop.setVisible(running)
        self.close_key.setVisible(not running)
        for key in (self.unfold, self.copy, self.filter):
            key.setVisible(left)
        self.list.setPlainText("\n".join(shown.lines))
        self._fold(shown=left and not self.list.isHidden())

    def _unfold(self) -> None:
        self._fold(shown=self.list.isHidden())

    def _fold(self, *, shown: bool) -> None:
        self.list.setVisible(shown)
        self.unfold.setText("Hide the list" if shown else "What was left out")

    def _copy(self) -> None:
        QGuiApplication.clipboard().setText(self.list.toPlainText())
