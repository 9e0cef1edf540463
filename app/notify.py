"""One sentence to the user, with at most one action. Holds sentences until a window listens.

Owns the queue; draws nothing. While a reader rates (``hold(True)``) sentences wait, so that
nothing appears beside a picture.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from PySide6.QtCore import QObject, Signal

KINDS = ("info", "good", "warn", "error")


@dataclass(frozen=True)
class Notice:
    """One sentence.

    Attributes:
        text: the sentence.
        kind: one of ``KINDS``.
        action: the words on its one button, or None.
        act: what the button does.
        details: a traceback to copy, for a bug.
        leads: the page to which the button goes, where it does no more than that; once that page
            is on show the sentence is done with.
    """

    text: str
    kind: str = "info"
    action: str | None = None
    act: Callable[[], None] | None = None
    details: str = ""
    leads: str = ""


class Notify(QObject):
    """Passes notices to the window; ``post`` is safe from any thread."""

    posted = Signal(object)
    recalled = Signal(str)
    _arrived = Signal(object)

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._waiting: list[Notice] = []
        self._listening = False
        self._held = False
        self._arrived.connect(self._take)

    def post(self, notice: Notice) -> None:
        """Show ``notice`` now, or once a window listens."""
        self._arrived.emit(notice)

    def info(
        self, text: str, *, action: str | None = None, act: Callable[[], None] | None = None
    ) -> None:
        """Something worth knowing."""
        self.post(Notice(text, "info", action, act))

    def good(
        self,
        text: str,
        *,
        action: str | None = None,
        act: Callable[[], None] | None = None,
        leads: str = "",
    ) -> None:
        """Something was done."""
        self.post(Notice(text, "good", action, act, leads=leads))

    def warn(
        self, text: str, *, action: str | None = None, act: Callable[[], None] | None = None
    ) -> None:
        """Something needs attention."""
        self.post(Notice(text, "warn", action, act))

    def error(
        self,
        text: str,
        *,
        action: str | None = None,
        act: Callable[[], None] | None = None,
        details: str = "",
    ) -> None:
        """Something failed."""
        self.post(Notice(text, "error", action, act, details))

    def recall(self, text: str) -> None:
        """Take a sentence back that holds no longer, wherever it stands or waits."""
        self._waiting = [notice for notice in self._waiting if notice.text != text]
        self.recalled.emit(text)

    def listen(self) -> None:
        """The window listens from now on: what waited is shown."""
        self._listening = True
        self._flush()

    def hold(self, held: bool) -> None:
        """Keep notices back while a reader rates; let them out afterwards."""
        self._held = held
        self._flush()

    def _take(self, notice: Notice) -> None:
        self._waiting.append(notice)
        self._flush()

    def _flush(self) -> None:
        if not self._listening or self._held:
            return
        waiting, self._waiting = self._waiting, []
        for notice in waiting:
            self.posted.emit(notice)
