"""The settings page: a form made from the settings' own fields, and the keys.

Lays out and emits intents; decides nothing.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from PySide6.QtCore import QSize, Signal
from PySide6.QtWidgets import QFrame, QLineEdit, QScrollArea, QTabWidget, QWidget

from app.shown import KeyShown
from app.tables.rows import Column, RowsModel
from app.widgets.blocks import (
    button,
    column,
    label,
    margins,
    quiet,
    row,
    stretch_columns,
    table_view,
    tell,
    title,
)
from app.widgets.form import DataForm
from app.widgets.ink import INK, px

COLUMNS: tuple[Column[KeyShown], ...] = (
    Column("Command", lambda shown: shown.command),
    Column("Where", lambda shown: shown.page),
    Column("Keys", lambda shown: shown.keys),
    Column(
        "Conflict",
        lambda shown: f"▲ {shown.conflict}" if shown.conflict else "",
        colour=lambda shown: INK["warn"],
    ),
)


class SettingsView(QWidget):
    """Settings and keys."""

    edited = Signal(str)
    defaults_wanted = Signal()
    words_changed = Signal(str)

    def __init__(self) -> None:
        super().__init__()
        self.search = QLineEdit()
        self.search.setPlaceholderText("Search settings and keys")
        self.search.setAccessibleName("Search settings and keys")
        self.search.setClearButtonEnabled(True)
        self.search.setFixedWidth(px(280))
        self.search.textChanged.connect(self._searched)
        self.form = DataForm()
        self.form.edited.connect(self.edited)
        self.state = label("")
        self.state.hide()
        self.path = quiet(small=True)
        self.keys = RowsModel[KeyShown](COLUMNS)
        self.table = table_view("Keys")
        self.table.setModel(self.keys)
        stretch_columns(self.table, 3, {0: 300, 1: 180, 2: 220})
        self.none_found = quiet("No setting holds these words.")
        self.none_found.hide()
        self._all_keys: tuple[KeyShown, ...] = ()
        self.tabs = QTabWidget()
        self.tabs.setDocumentMode(True)
        self.tabs.setAccessibleName("Settings and keys")
        self.tabs.addTab(self._form_page(), "Settings")
        self.tabs.addTab(self._keys_page(), "Keys")
        layout = column(row(title("Settings"), 1, self.search), self.tabs)
        layout.setContentsMargins(px(12), px(12), px(12), px(12))
        self.setLayout(layout)

    def sizeHint(self) -> QSize:
        """A page."""
        return QSize(px(1160), px(740))

    def _form_page(self) -> QWidget:
        inner = QWidget()
        inner.setLayout(
            column(
                self.none_found,
                self.form,
                row(button("Restore the defaults", self.defaults_wanted.emit), self.state, 1),
                self.path,
                1,
                space=12,
            )
        )
        margins(inner, px(4), px(12), px(12), px(12))
        area = QScrollArea()
        area.setWidgetResizable(True)
        area.setFrameShape(QFrame.Shape.NoFrame)
        area.setWidget(inner)
        return area

    def _keys_page(self) -> QWidget:
        page = QWidget()
        page.setLayout(
            column(
                quiet(
                    "Keys are fixed in this version; two commands on one key in "
                    "the same place are named here.",
                    small=True,
                ),
                self.table,
            )
        )
        margins(page, 0, px(10), 0, 0)
        return page

    def show_settings(self, settings: Any, path: str) -> None:
        """Show a settings dataclass and where it is kept."""
        self.form.show_value(settings)
        self.path.setText(f"Kept in {path}")

    def settings(self) -> Any:
        """The dataclass as edited.

        Raises:
            ValueError: a field holds what it cannot.
        """
        return self.form.value()

    def show_state(self, text: str, *, tone: str = "quiet") -> None:
        """Say that it was saved, or why not."""
        tell(self.state, text, tone)

    def show_keys(self, keys: Sequence[KeyShown]) -> None:
        """List the keys."""
        self._all_keys = tuple(keys)
        self.keys.set_rows(self._all_keys)

    def _searched(self, words: str) -> None:
        left = self.form.filter(words)
        self.none_found.setVisible(left == 0)
        wanted = words.casefold().split()
        self.keys.set_rows(
            [
                shown
                for shown in self._all_keys
                if all(
                    word in f"{shown.command} {shown.page} {shown.keys}".casefold()
                    for word in wanted
                )
            ]
        )
