"""Reads a study in a real window as a person would."""

from __future__ import annotations

import time
from typing import Any

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QWidget

GUARD_MS = 320


def state(window: Any) -> str:
    """The state of the Review page, empty before it was shown."""
    presenter = window.presenter("review")
    return "" if presenter is None else str(presenter._state)


def place(window: Any) -> int:
    """The place of the item on the screen."""
    return int(window.presenter("review")._presentation.position)


def sit_down(qtbot: Any, window: Any, study: str) -> Any:
    """Open a study for a new reader, who leaves the profile empty; the view, ready to rate."""
    window.go("review", study)
    qtbot.waitUntil(lambda: window.presenter("review") is not None)
    view = window.presenter("review").view
    qtbot.waitUntil(lambda: view._stack.currentWidget() is view.profile, timeout=20_000)
    qtbot.mouseClick(view.profile.begin, Qt.MouseButton.LeftButton)
    ready(qtbot, window)
    return view


def ready(qtbot: Any, window: Any, at: int | None = None) -> None:
    """Wait until an item (at that place) may be rated."""

    def there() -> bool:
        return state(window) == "rating" and at in (None, place(window))

    qtbot.waitUntil(there, timeout=20_000)
    presenter = window.presenter("review")
    qtbot.waitUntil(lambda: time.monotonic() - presenter._guard_from > GUARD_MS / 1000)


def answer(qtbot: Any, view: QWidget, key: Qt.Key) -> None:
    """A key and Enter."""
    qtbot.keyClick(view, key)
    qtbot.keyClick(view, Qt.Key.Key_Return)
