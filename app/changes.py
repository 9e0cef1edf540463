"""Says what was written and by whom, so that pages refresh. Stores nothing, decides nothing."""

from __future__ import annotations

import weakref
from collections.abc import Callable
from dataclasses import dataclass

from PySide6.QtCore import QObject, Signal


@dataclass(frozen=True)
class Change:
    """Something was stored.

    Attributes:
        kinds: what changed: ``settings``, ``collection``, ``run``, ``study``, ``rating``, ...
        origin: who wrote it, so that the writer need not refresh; free text.
    """

    kinds: frozenset[str]
    origin: str = ""


class Changes(QObject):
    """One signal for every write. Lives on the window thread."""

    changed = Signal(object)

    def tell(self, *kinds: str, origin: str = "") -> None:
        """Say that ``kinds`` were written; safe from any thread."""
        self.changed.emit(Change(frozenset(kinds), origin))

    def watch(self, *kinds: str, call: Callable[[Change], None]) -> None:
        """Call a bound method after each write of one of ``kinds``; forgets dead owners."""
        method = weakref.WeakMethod(call)
        wanted = frozenset(kinds)

        def pass_on(change: Change) -> None:
            target = method()
            if target is not None and wanted & change.kinds:
                target(change)

        self.changed.connect(pass_on)
