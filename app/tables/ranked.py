"""The rows of one ranking for a list: keeps thumbnails, asks for each once."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from PySide6.QtCore import QAbstractListModel, Qt, Signal
from PySide6.QtGui import QImage

from app.shown import RankedShown
from app.tables.rows import ROOT, Index

ROW = int(Qt.ItemDataRole.UserRole) + 4
IMAGE = int(Qt.ItemDataRole.UserRole) + 5


class RankedModel(QAbstractListModel):
    """A ranking; ``picture_wanted(key)`` asks for a thumbnail."""

    picture_wanted = Signal(str)

    def __init__(self) -> None:
        super().__init__()
        self._rows: tuple[RankedShown, ...] = ()
        self._pictures: dict[str, QImage | None] = {}

    @property
    def rows(self) -> tuple[RankedShown, ...]:
        """The ranking shown."""
        return self._rows

    def set_rows(self, rows: Sequence[RankedShown]) -> None:
        """Show another ranking."""
        self.beginResetModel()
        self._rows = tuple(rows)
        wanted = {row.picture for row in rows}
        self._pictures = {key: image for key, image in self._pictures.items() if key in wanted}
        self.endResetModel()

    def set_picture(self, key: str, image: QImage | None) -> None:
        """Keep a thumbnail."""
        self._pictures[key] = image
        for position, row in enumerate(self._rows):
            if row.picture == key:
                here = self.index(position)
                self.dataChanged.emit(here, here, [IMAGE])

    def rowCount(self, parent: Index = ROOT) -> int:
        """The length of the ranking."""
        return 0 if parent.isValid() else len(self._rows)

    def data(self, index: Index, role: int = int(Qt.ItemDataRole.DisplayRole)) -> Any:
        """A row by role."""
        if not 0 <= index.row() < len(self._rows):
            return None
        row = self._rows[index.row()]
        if role == ROW:
            return row
        if role == IMAGE:
            return self._picture(row.picture)
        if role in (Qt.ItemDataRole.DisplayRole, Qt.ItemDataRole.AccessibleTextRole):
            return spoken(row)
        if role == Qt.ItemDataRole.ToolTipRole:
            return f"{spoken(row)}\n{row.detail}" if row.detail else spoken(row)
        return None

    def _picture(self, key: str) -> QImage | None:
        if not key:
            return None
        if key not in self._pictures:
            self._pictures[key] = None
            self.picture_wanted.emit(key)
        return self._pictures[key]


def spoken(row: RankedShown) -> str:
    """A row as one line of words."""
    score = "" if row.score is None else f", score {row.score:.3f}"
    return f"{row.rank}. {row.title}{score}{', the right one' if row.gold else ''}"
