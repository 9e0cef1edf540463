"""Files that the system hands to the running program: a double click on a Mac.

Owns the one event. Other systems start the program with the file as an argument instead.
"""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import QEvent, QObject
from PySide6.QtGui import QFileOpenEvent


class FileOpener(QObject):
    """Waits for files; to be installed as an event filter of the application.

    Args:
        open_file: takes the file's path.
    """

    def __init__(self, open_file: Callable[[str], None]) -> None:
        super().__init__()
        self._open_file = open_file

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Take the event of a file, leave every other."""
        if isinstance(event, QFileOpenEvent) and event.file():
            self._open_file(event.file())
            return True
        return super().eventFilter(watched, event)
