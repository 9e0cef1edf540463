"""The settings page: a form made from the settings' own fields, and the keys.

Lays out and emits intents; decides nothing.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from PySide6.QtCore import QSize, Signal
from PySide6.QtWidgets import QFrame, QLineEdit, QScrollArea, QTabWidget, QWidget

from app.shown import KeyShown
from app.views.settings_keys import KeysView
from app.widgets.blocks import (
    button,
    column,
    label,
    margins,
    quiet,
    row,
    tell,
    title,
)
from app.widgets.form import DataForm
from app.widgets.ink import hold, px
from app.widgets.pattern_screen import PatternScreen, screen_of


class SettingsView(QWidget):
    """Settings and keys."""

    edited = Signal(str)
    defaults_wanted = Signal()
    words_changed = Signal(str)
    display_stated = Signal(str, str, str)

    def __init__(self) -> None:
        super().__init__()
        self.search = QLineEdit()
        self.search.setPlaceholderText("Search settings and keys")
        self.search.setAccessibleName("Search settings and keys")
        self.search.setClearButtonEnabled(True)
        hold(self.search.setFixedWidth, 280)
        self.search.textChanged.connect(self._searched)
        self.form = DataForm()
        self.form.edited.connect(self.edited)
        self.state = label("")
        self.state.hide()
        self.path = quiet(small=True)
        self.keys_page = KeysView()
        self.keys = self.keys_page.keys
        self.display = quiet(small=True)
        self._statement = ""
        self._pattern: PatternScreen | None = None
        self.none_found = quiet("No setting holds these words.")
        self.none_found.hide()
        self.tabs = QTabWidget()
        self.tabs.setDocumentMode(True)
        self.tabs.setAccessibleName("Settings and keys")
        self.tabs.addTab(self._form_page(), "Settings")
        self.tabs.addTab(self.keys_page, "Keys")
        layout = column(row(title("Settings"), 1, self.search), self.tabs)
        layout.setContentsMargins(px(12), px(12), px(12), px(12))
        self.setLayout(layout)

    def sizeHint(self) -> QSize:
        """A page."""
        return QSize(px(1160), px(740))

    def _form_page(self) -> QWidget:
        inner = QWidget()
        self._test = button("Test pattern of the display", self.open_pattern)
        self._defaults = button("Restore the defaults", self.defaults_wanted.emit)
        shown = row(self._test, self.display)
        shown.setStretchFactor(self.display, 1)
        inner.setLayout(
            column(
                self.none_found,
                self.form,
                shown,
                row(self._defaults, self.state, 1),
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

    def show_settings(self, settings: Any, path: str) -> None:
        """Show a settings dataclass and where it is kept."""
        self.form.show_value(settings)
        self.path.setText(f"Kept in {path}")
        for before, after in zip((self.form.last, self._test), (self._test, self._defaults),
                                 strict=True):  # fmt: skip
            self.setTabOrder(before, after)  # the fields were made after them

    def show_display(self, words: str, statement: str) -> None:
        """What is kept about the display."""
        self._statement = statement
        self.display.setText(words)

    def open_pattern(self) -> None:
        """The test pattern on the display that shows this window."""
        self._pattern = self._pattern or screen_of(self, self.display_stated)
        self._pattern.open(self, self._statement)

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
        self.keys_page.show_keys(keys)

    def _searched(self, words: str) -> None:
        left, found = self.form.filter(words), self.keys_page.search(words)
        sought = bool(words.strip())
        self.none_found.setVisible(left == 0)
        self.none_found.setText(_none_words(found))
        self.tabs.setTabText(0, f"Settings ({left})" if sought else "Settings")
        self.tabs.setTabText(1, f"Keys ({found})" if sought else "Keys")
        if sought and not left and found:
            self.tabs.setCurrentIndex(1)
        elif sought and left and not found:
            self.tabs.setCurrentIndex(0)


def _none_words(found: int) -> str:
    """What the settings say where none holds the words."""
    if not found:
        return "No setting and no key holds these words."
    return f"No setting holds these words; {found} {'key does' if found == 1 else 'keys do'}."
