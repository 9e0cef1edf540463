"""The last door of the window: what nobody caught becomes one sentence, and the window stays up.

Owns the hooks and the notice of an exception. The sentences are those of ``studies.failures``,
so that the terminal and the window say the same.
"""

from __future__ import annotations

import logging
import sys
import threading
from types import TracebackType

from app.notify import Notice, Notify
from studies.failures import explain

log = logging.getLogger("triptych.failures")


def sentence(error: BaseException) -> str:
    """One sentence for a person: what happened, which file, what to do."""
    return explain(error).sentence


def notice_of(error: BaseException) -> Notice:
    """The notice that tells of ``error``; a bug brings its details to copy."""
    failure = explain(error)
    return Notice(failure.sentence, "error", details=failure.details)


class LastDoor:
    """Catches what nobody caught: logs it, shows one sentence, keeps the window up."""

    def __init__(self, notify: Notify) -> None:
        self._notify = notify
        self._before = (sys.excepthook, threading.excepthook)

    def install(self) -> None:
        """Take over the hooks of the interpreter and of its threads."""
        sys.excepthook = self._hook
        threading.excepthook = self._thread_hook

    def remove(self) -> None:
        """Give the hooks back."""
        sys.excepthook, threading.excepthook = self._before

    def _hook(
        self, kind: type[BaseException], error: BaseException, trace: TracebackType | None
    ) -> None:
        if issubclass(kind, KeyboardInterrupt):
            sys.__excepthook__(kind, error, trace)
            return
        log.error("uncaught", exc_info=(kind, error, trace))
        self._notify.post(notice_of(error.with_traceback(trace)))

    def _thread_hook(self, arguments: threading.ExceptHookArgs) -> None:
        if arguments.exc_value is not None:
            self._hook(arguments.exc_type, arguments.exc_value, arguments.exc_traceback)
