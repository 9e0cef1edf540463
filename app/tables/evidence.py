"""The objects of a collection for the grid and the table: rows and pictures come page by page.

Owns what is loaded so far and asks for more; refuses to query or decode.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QImage

from app.shown import EvidenceShown
from app.tables.rows import ROOT, Column, Index, RowsModel
from app.widgets.ink import INK
from app.widgets.thumbnail_grid import DETAIL, PICTURE, PROBLEM, SNIPPET

COLUMNS: tuple[Column[EvidenceShown], ...] = (
    Column("Name", lambda row: row.title),
    Column("Kind", lambda row: row.kind),
    Column("Form", lambda row: row.form.upper() if row.form in ("2d", "3d") else row.form),
    Column("Modality", lambda row: row.modality),
    Column("Size", lambda row: row.size, right=True),
    Column("Problem", lambda row: row.problem, colour=lambda row: INK["error"]),
)
KEPT_PICTURES = 2000


class EvidenceModel(RowsModel[EvidenceShown]):
    """Rows loaded so far of a collection of known length.

    ``more_wanted(offset)`` asks for the page at an offset, ``picture_wanted(key)`` for a
    thumbnail, each once.
    """

    more_wanted = Signal(int)
    picture_wanted = Signal(str)

    def __init__(self) -> None:
        super().__init__(COLUMNS)
        self._all = 0
        self._asked = False
        self._pictures: dict[str, QImage | None] = {}

    def restart(self, total: int, rows: Sequence[EvidenceShown]) -> None:
        """Show another collection or filter: its length and its first page."""
        self.beginResetModel()
        self._rows, self._shown, self._all = list(rows), len(rows), total
        self._asked = False
        self.endResetModel()

    def append(self, rows: Sequence[EvidenceShown]) -> None:
        """Take the page that was asked for."""
        self._asked = False
        if not rows:
            self._all = len(self._rows)
            return
        self.beginInsertRows(ROOT, len(self._rows), len(self._rows) + len(rows) - 1)
        self._rows.extend(rows)
        self._shown = len(self._rows)
        self.endInsertRows()

    @property
    def total(self) -> int:
        """Objects in the collection under the filter, loaded or not."""
        return self._all

    def canFetchMore(self, parent: Index) -> bool:
        """True while the collection holds more than is loaded."""
        return not parent.isValid() and len(self._rows) < self._all and not self._asked

    def fetchMore(self, parent: Index) -> None:
        """Ask for the next page."""
        self._asked = True
        self.more_wanted.emit(len(self._rows))

    def set_picture(self, key: str, image: QImage | None) -> None:
        """Keep a thumbnail; None says that there is none to be had."""
        if len(self._pictures) >= KEPT_PICTURES:
            self._pictures.pop(next(iter(self._pictures)))
        self._pictures[key] = image
        for position, row in enumerate(self._rows):
            if row.key == key:
                here = self.index(position, 0)
                self.dataChanged.emit(here, here, [PICTURE])

    def picture(self, key: str) -> QImage | None:
        """The thumbnail if it is there; the first asking emits ``picture_wanted``."""
        if key not in self._pictures:
            self._pictures[key] = None
            self.picture_wanted.emit(key)
        return self._pictures[key]

    def data(self, index: Index, role: int = int(Qt.ItemDataRole.DisplayRole)) -> Any:
        """A cell by role; tiles ask for their picture, second line and problem."""
        row = self.row_at(index)
        if row is None:
            return None
        if role == PICTURE:
            visual = row.kind not in ("report", "error", "document")
            return self.picture(row.key) if visual else None
        if role == DETAIL:
            return " · ".join(part for part in (row.modality, row.size or row.kind) if part)
        if role == PROBLEM:
            return row.problem
        if role == SNIPPET:
            return row.snippet
        return super().data(index, role)
