"""A button whose menu holds check marks: some of several, at least one, no more than a few."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import Signal
from PySide6.QtGui import QAction
from PySide6.QtWidgets import QMenu, QToolButton


class ChoiceMenu(QToolButton):
    """``chosen(keys)`` after every change, in the order in which they were chosen.

    Args:
        name: what is chosen, in the plural.
        most: how many at once; the one chosen first goes for another.
    """

    chosen = Signal(list)

    def __init__(self, name: str, *, most: int) -> None:
        super().__init__()
        self._name, self._most = name, most
        self._keys: list[str] = []
        self._actions: dict[str, QAction] = {}
        self.setAccessibleName(f"{name} of the figures")
        self.setPopupMode(QToolButton.ToolButtonPopupMode.InstantPopup)
        self._menu = QMenu(self)
        self._menu.setToolTipsVisible(True)
        self.setMenu(self._menu)

    def show_choices(self, choices: Sequence[tuple[str, str]], keys: Sequence[str]) -> None:
        """Offer (key, words) with some of them chosen."""
        self._menu.clear()
        self._actions = {}
        self._keys = list(keys)
        for key, words in choices:
            action = self._menu.addAction(words)
            action.setCheckable(True)
            action.setChecked(key in keys)
            action.triggered.connect(lambda on, key=key: self._toggle(key, on=on))
            self._actions[key] = action
        self._tell()

    def _toggle(self, key: str, *, on: bool) -> None:
        if on:
            self._keys.append(key)
            del self._keys[: -self._most]
        elif len(self._keys) > 1:
            self._keys.remove(key)
        for name, action in self._actions.items():
            action.setChecked(name in self._keys)
        self._tell()
        self.chosen.emit(list(self._keys))

    def _tell(self) -> None:
        self.setText(f"{self._name} ({len(self._keys)} of {len(self._actions)})  ▾")
        names = [action.text() for key, action in self._actions.items() if key in self._keys]
        self.setToolTip("\n".join(names))
