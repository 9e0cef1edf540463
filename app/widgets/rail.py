"""The slim rail of pages on the left: an icon over a word. Emits which page is wanted."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QSize, Qt, Signal
from PySide6.QtWidgets import QButtonGroup, QFrame, QToolButton, QVBoxLayout, QWidget

from app import theme
from app.actions import Page
from app.keys import first_key


class Rail(QFrame):
    """Buttons of all pages, one checked."""

    chosen = Signal(str)

    def __init__(self, pages: Sequence[Page], parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setProperty("surface", "bar")
        self.setAccessibleName("Pages")
        self._buttons: dict[str, QToolButton] = {}
        group = QButtonGroup(self)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, theme.SPACE_S, 0, theme.SPACE_S)
        column.setSpacing(2)
        for page in pages:
            if page is pages[-1]:
                column.addStretch(1)
            button = self._button(page)
            group.addButton(button)
            column.addWidget(button)
        self.name_keys(pages)
        theme.theme.scaled.connect(self._fit)
        self._fit()

    def name_keys(self, pages: Sequence[Page]) -> None:
        """Say the keys in force in the tooltips."""
        for page in pages:
            key = first_key(f"go-{page.id}")
            self._buttons[page.id].setToolTip(f"{page.hint} ({key})" if key else page.hint)

    def check(self, page_id: str) -> None:
        """Mark the page that is shown; a focus on the rail goes with it, so that one is lit."""
        shown = self._buttons[page_id]
        shown.setChecked(True)
        if any(button.hasFocus() for button in self._buttons.values()):
            shown.setFocus()

    def _button(self, page: Page) -> QToolButton:
        button = QToolButton(self)
        button.setProperty("kind", "rail")
        button.setCheckable(True)
        button.setText(page.text)
        button.setIcon(theme.icon(page.icon))
        button.setIconSize(QSize(22, 22))
        button.setToolButtonStyle(Qt.ToolButtonStyle.ToolButtonTextUnderIcon)
        button.setAccessibleName(page.text)
        button.setAccessibleDescription(page.hint)
        button.clicked.connect(lambda: self.chosen.emit(page.id))
        self._buttons[page.id] = button
        return button

    def _fit(self) -> None:
        """As wide as its longest word needs at the text scale in force."""
        width = max(76, theme.px("small") * 6 + 18)
        self.setFixedWidth(width)
        for button in self._buttons.values():
            button.setFixedWidth(width)
