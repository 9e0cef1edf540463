"""The pages of the Viewer before something is open, and the dialogs that choose what to open.

Owns the two pages of a sentence and the file dialogs; opens nothing itself.
"""

from __future__ import annotations

from PySide6.QtCore import QObject, Signal
from PySide6.QtWidgets import QFileDialog, QWidget

from app.views.review_pages import SentencePage


class Doors(QObject):
    """Ways into the Viewer.

    Args:
        page: the parent of the dialogs.

    Signals:
        chosen: files or folders to open.
        stop_asked: stop looking for evidence.
    """

    chosen = Signal(list)
    stop_asked = Signal()

    def __init__(self, page: QWidget) -> None:
        super().__init__(page)
        self._page = page
        self.empty, self.working = SentencePage("Viewer"), SentencePage("Looking")
        folder = self.empty.add_button("Open a folder", primary=True)
        folder.clicked.connect(self.choose_folder)
        self.empty.add_button("Open files").clicked.connect(self.choose_files)
        self.working.add_button("Stop").clicked.connect(self.stop_asked)

    def choose_folder(self) -> None:
        """Ask for a folder."""
        folder = QFileDialog.getExistingDirectory(self._page, "Open a folder")
        if folder:
            self.chosen.emit([folder])

    def choose_files(self) -> None:
        """Ask for files."""
        files, _kind = QFileDialog.getOpenFileNames(self._page, "Open files")
        if files:
            self.chosen.emit(files)
