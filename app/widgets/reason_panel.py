"""Why an item cannot be judged: a list of reasons and a line for other words, by keys alone.

Owns the choosing; the reasons are handed in. Keys pressed in it never reach the page behind it.
"""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QFrame, QLabel, QListWidget, QVBoxLayout, QWidget

from app import theme
from app.widgets.one_line import OneLine

TOLD = "A number, Enter or a click takes a reason; Tab writes more words first, Esc returns"
NEEDED = "This reason needs a few words of your own; Enter takes them, Esc returns"

# Pictures to be judged lie beside it: no accent here, the chosen line is framed and marked.
NEUTRAL = f"""
QListWidget {{ border: 1px solid {theme.LINE}; background: {theme.PANEL}; outline: none; }}
QListWidget:focus {{ border: 1px solid {theme.QUIET}; }}
QListWidget::item:selected {{ background: {theme.LINE}; color: {theme.TEXT};
  border: 1px solid {theme.QUIET}; }}
QLineEdit:focus {{ border: 1px solid {theme.QUIET}; }}
"""


class _List(QListWidget):
    """The reasons; digits take one."""

    taken = Signal(int)
    left = Signal()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        number = event.key() - int(Qt.Key.Key_1)
        if event.isAutoRepeat() and event.key() not in (Qt.Key.Key_Up, Qt.Key.Key_Down):
            pass
        elif 0 <= number < self.count():
            self.setCurrentRow(number)
            self.taken.emit(number)
        elif event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
            self.taken.emit(self.currentRow())
        elif event.key() == Qt.Key.Key_Escape:
            self.left.emit()
        elif event.key() in (Qt.Key.Key_Up, Qt.Key.Key_Down):
            super().keyPressEvent(event)
        event.accept()

    def keyReleaseEvent(self, event: QKeyEvent) -> None:
        event.accept()


class ReasonPanel(QFrame):
    """The panel.

    Signals:
        chosen: the reason in words, never empty.
        left: closed without one.
    """

    chosen = Signal(str)
    left = Signal()

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        self.setProperty("surface", "raised")
        self.setAccessibleName("Why this item cannot be judged")
        title, self._told = QLabel("Why can this item not be judged?"), QLabel(TOLD)
        title.setProperty("role", "heading")
        title.setWordWrap(True)
        self._told.setProperty("role", "small")
        self._told.setWordWrap(True)
        self._reasons: tuple[str, ...] = ()
        self.list = _List()
        self.list.setAccessibleName("Reasons")
        self.list.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.list.setWordWrap(True)
        self.list.setStyleSheet(NEUTRAL)
        self.words = OneLine("The reason in your own words", "Other or more words")
        self.words.setStyleSheet(NEUTRAL)
        column = QVBoxLayout(self)
        column.setContentsMargins(*([theme.SPACE_M] * 4))
        column.setSpacing(theme.SPACE_S)
        for widget in (title, self.list, self.words, self._told):
            column.addWidget(widget)
        self.setTabOrder(self.list, self.words)
        self.list.taken.connect(self._take)
        self.list.itemClicked.connect(lambda _item: self._take(self.list.currentRow()))
        self.list.left.connect(self._leave)
        self.words.kept.connect(lambda _text: self._take(self.list.currentRow(), written=True))
        self.words.left.connect(self._leave)
        self.hide()

    def open(self, reasons: Sequence[str]) -> None:
        """Show the reasons afresh, the last one for other words; the list has the keys."""
        self._reasons = tuple(reasons)
        self._told.setText(TOLD)
        self.list.clear()
        self.list.addItems([f"{n}   {words}" for n, words in enumerate(reasons, start=1)])
        self.words.setText("")
        self.list.setCurrentRow(0)
        rows = sum(self.list.sizeHintForRow(row) for row in range(self.list.count()))
        self.list.setFixedHeight(rows + 2 * self.list.frameWidth() + theme.SPACE_XS)
        self.show()
        self.raise_()
        self.list.setFocus()

    def leave(self) -> None:
        """As by Esc: closed without a reason."""
        if not self.isHidden():
            self._leave()

    def close_quietly(self) -> None:
        """Hide, without a word."""
        self.hide()

    def focusNextPrevChild(self, next: bool) -> bool:
        """Tab stays inside: from the list to the words and back."""
        (self.words if self.list.hasFocus() else self.list).setFocus()
        return True

    def _take(self, row: int, *, written: bool = False) -> None:
        words = self.words.text().strip()
        other = row == len(self._reasons) - 1
        if other and not words:
            self._told.setText(NEEDED)
            self.words.setFocus()
            return
        reason = words if other else self._reasons[max(0, row)]
        if words and not other:
            reason = f"{reason}: {words}"
        self.hide()
        self.chosen.emit(reason)

    def _leave(self) -> None:
        self.hide()
        self.left.emit()
