"""The button that publishes a study, with the two things that are left out unless asked for.

Owns the two choices; writes nothing.
"""

from __future__ import annotations

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QMenu, QToolButton


class PublishMenu(QToolButton):
    """``wanted(comments, names)`` in the words of the kit."""

    wanted = Signal(str, str)

    def __init__(self) -> None:
        super().__init__()
        self.setText("Publish  ▾")
        self.setAccessibleName("Publish the study")
        self.setToolTip("Write tables, figures, methods and scripts into a folder")
        self.setPopupMode(QToolButton.ToolButtonPopupMode.InstantPopup)
        menu = QMenu(self)
        self.comments = menu.addAction("With the readers' comments")
        self.names = menu.addAction("With the readers' names")
        for choice in (self.comments, self.names):
            choice.setCheckable(True)
        menu.addSeparator()
        self.write = menu.addAction("Write into a folder")
        self.write.triggered.connect(self._write)
        self.setMenu(menu)

    def _write(self) -> None:
        comments = "include" if self.comments.isChecked() else "leave out"
        self.wanted.emit(comments, "names" if self.names.isChecked() else "codes")
