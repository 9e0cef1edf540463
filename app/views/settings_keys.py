"""The keys page of the settings: every command with its keys, changed by pressing a key.

Lays out and emits intents; decides nothing.
"""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QEvent, Qt, Signal
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QLabel, QSizePolicy, QWidget

from app.key_names import key_name
from app.shown import KeyShown
from app.tables.rows import Column, RowsModel
from app.widgets.blocks import (
    button,
    column,
    label,
    margins,
    panel,
    quiet,
    row,
    stretch_columns,
    table_view,
    tell,
)
from app.widgets.ink import INK, px


def _note(shown: KeyShown) -> str:
    if shown.conflict:
        return f"▲ also {shown.conflict}"
    return "changed" if shown.changed else ""


COLUMNS: tuple[Column[KeyShown], ...] = (
    Column("Command", lambda shown: shown.command),
    Column("Where", lambda shown: shown.page),
    Column("Keys", lambda shown: shown.keys),
    Column("", _note, colour=lambda shown: INK["warn" if shown.conflict else "quiet"]),
)


class KeyCatcher(QLabel):
    """Takes the next key as it is; Escape or a look elsewhere lets go.

    Signals:
        caught: the key's name.
        left: nothing was pressed.
    """

    caught = Signal(str)
    left = Signal()

    def __init__(self) -> None:
        super().__init__()
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setAccessibleName("Press the new key")
        self.hide()

    def wait(self, sentence: str) -> None:
        """Listen."""
        self.setText(sentence)
        self.show()
        self.setFocus()

    def event(self, event: QEvent) -> bool:
        """Shortcuts of the window and Tab are keys like others here."""
        if event.type() == QEvent.Type.ShortcutOverride:
            event.accept()
            return True
        if event.type() == QEvent.Type.KeyPress and isinstance(event, QKeyEvent):
            self._pressed(event)
            return True
        return super().event(event)

    def focusOutEvent(self, event: QEvent) -> None:
        if self.isVisible():
            self._end()

    def _pressed(self, event: QKeyEvent) -> None:
        name = "" if event.isAutoRepeat() else key_name(event)
        if event.key() == Qt.Key.Key_Escape:
            self._end()
        elif name:
            self.hide()
            self.caught.emit(name)

    def _end(self) -> None:
        self.hide()
        self.left.emit()


class KeysView(QWidget):
    """The table of keys and what changes one.

    Signals:
        key_pressed: command id, name of a key, whether beside its keys.
        swap_agreed, swap_refused: the answer to ``ask_swap``.
        reset_wanted: command id. reset_all_wanted: all of them.
    """

    key_pressed = Signal(str, str, bool)
    swap_agreed = Signal()
    swap_refused = Signal()
    reset_wanted = Signal(str)
    reset_all_wanted = Signal()

    def __init__(self) -> None:
        super().__init__()
        self.keys = RowsModel[KeyShown](COLUMNS)
        self.table = table_view("Keys")
        self.table.setModel(self.keys)
        stretch_columns(self.table, 3, {0: 360, 1: 160, 2: 200})
        self.table.doubleClicked.connect(lambda _index: self.catch(add=False))
        self.table.activated.connect(lambda _index: self.catch(add=False))
        self._all: tuple[KeyShown, ...] = ()
        self._words = ""
        self._waiting: tuple[str, bool] = ("", False)
        self.catcher, self.state = KeyCatcher(), label("")
        self.catcher.caught.connect(self._caught)
        self.catcher.left.connect(self._let_go)
        self.state.hide()
        self.change = button("Change key", lambda: self.catch(add=False))
        self.add = button("Add a key", lambda: self.catch(add=True))
        self.reset = button("Reset key", self._reset)
        self.all = button("Reset all keys", self.reset_all_wanted.emit, kind="flat")
        self._ask_row: QWidget = self._question()
        hint = quiet("Choose a command, then press Enter and the new key. Esc lets go.", small=True)
        keys = row(self.change, self.add, self.reset, 1, self.all)
        self.setLayout(column(hint, self.table, self._ask_row, self.catcher, self.state, keys))
        margins(self, 0, px(10), 0, 0)

    def show_keys(self, shown: Sequence[KeyShown]) -> None:
        """List the keys; the chosen command stays chosen."""
        chosen = self._chosen()
        self._all = tuple(shown)
        self._ask_row.hide()
        self.search(self._words)
        self._choose(chosen.id if chosen else "")

    def search(self, words: str) -> int:
        """Only commands that hold every word; how many."""
        self._words = words
        wanted = words.casefold().split()
        found = [one for one in self._all if all(w in _hay(one) for w in wanted)]
        self.keys.set_rows(found)
        return len(found)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Escape leaves a question as it was."""
        if event.key() == Qt.Key.Key_Escape and self._ask_row.isVisible():
            self.swap_refused.emit()
        else:
            super().keyPressEvent(event)

    def ask_swap(self, sentence: str) -> None:
        """The key is taken; ask what to do."""
        tell(self.state, "", "quiet")
        self._sentence.setText(sentence)
        self._ask_row.show()
        self._yes.setFocus()

    def show_state(self, text: str, *, tone: str = "quiet") -> None:
        """What happened."""
        self._ask_row.hide()
        tell(self.state, text, tone)
        self.table.setFocus()

    def catch(self, *, add: bool) -> None:
        """Listen for the new key of the chosen command."""
        chosen = self._chosen()
        if chosen is None:
            self.show_state("Choose a command first.")
            return
        tell(self.state, "", "quiet")
        self._ask_row.hide()
        self._waiting = (chosen.id, add)
        more = "another key" if add else "the new key"
        self.catcher.wait(f"Press {more} for \u201c{chosen.command}\u201d. Esc lets go.")

    def _question(self) -> QWidget:
        self._sentence = label("")
        self._yes = button("Swap", self.swap_agreed.emit, kind="primary")
        self._no = button("Leave it", self.swap_refused.emit)
        asked = panel("raised")
        line = row(self._sentence, self._yes, self._no)
        line.setStretch(0, 1)
        for key in (self._yes, self._no):
            key.setSizePolicy(QSizePolicy.Policy.Maximum, QSizePolicy.Policy.Fixed)
        asked.setLayout(line)
        margins(asked, px(10), px(8), px(10), px(8))
        asked.hide()
        return asked

    def _caught(self, name: str) -> None:
        id_, add = self._waiting
        self.table.setFocus()
        self.key_pressed.emit(id_, name, add)

    def _let_go(self) -> None:
        self._ask_row.hide()

    def _reset(self) -> None:
        chosen = self._chosen()
        if chosen is not None:
            self.reset_wanted.emit(chosen.id)

    def _chosen(self) -> KeyShown | None:
        index = self.table.currentIndex()
        return self.keys.row_at(index.row()) if index.isValid() else None

    def _choose(self, id_: str) -> None:
        for place in range(self.keys.rowCount()):
            shown = self.keys.row_at(place)
            if shown is not None and shown.id == id_:
                self.table.setCurrentIndex(self.keys.index(place, 0))


def _hay(shown: KeyShown) -> str:
    return f"{shown.command} {shown.page} {shown.keys}".casefold()
