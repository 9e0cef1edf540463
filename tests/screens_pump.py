"""Lets the window live while pictures of it are taken."""

from __future__ import annotations

import time
from collections.abc import Callable

from PySide6.QtCore import QCoreApplication, QEvent, QEventLoop
from PySide6.QtWidgets import QApplication


def pump(seconds: float, until: Callable[[], bool] = lambda: False) -> None:
    """Let the window live for a while, or until something holds."""
    end = time.monotonic() + seconds
    while time.monotonic() < end and not until():
        QApplication.processEvents(QEventLoop.ProcessEventsFlag.AllEvents, 20)
        QCoreApplication.sendPostedEvents(None, QEvent.Type.DeferredDelete)
        time.sleep(0.005)
