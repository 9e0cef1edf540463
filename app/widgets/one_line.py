"""One line to write in, that keeps its keys to itself: Enter keeps, Esc leaves.

Owns that no key pressed in it reaches the page behind it.
"""

from __future__ import annotations

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QLineEdit, QWidget

MOST_LETTERS = 500


class OneLine(QLineEdit):
    """The line.

    Signals:
        kept: Enter, with the text without blanks around it.
        left: Esc.
    """

    kept = Signal(str)
    left = Signal()

    def __init__(self, name: str, told: str, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setAccessibleName(name)
        self.setPlaceholderText(told)
        self.setMaxLength(MOST_LETTERS)
        self.setContextMenuPolicy(Qt.ContextMenuPolicy.NoContextMenu)

    def open(self, text: str) -> None:
        """Show the line with a text, ready to write on."""
        self.setText(text)
        self.show()
        self.setFocus()
        self.end(False)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        key = event.key()
        if key in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
            if not event.isAutoRepeat():
                self.kept.emit(self.text().strip())
        elif key == Qt.Key.Key_Escape:
            self.left.emit()
        else:
            super().keyPressEvent(event)
        event.accept()

    def keyReleaseEvent(self, event: QKeyEvent) -> None:
        super().keyReleaseEvent(event)
        event.accept()
