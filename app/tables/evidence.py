"""The objects of a collection for the grid and the table: rows and pictures come page by page.

Owns what is loaded so far and asks for more; refuses to query or decode.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Sequence
from typing import Any

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QImage

from app.shown import EvidenceShown
from app.tables.rows import ROOT, Column, Index, RowsModel
from app.widgets.ink import INK
from app.widgets.thumbnail_grid import BADGES, DETAIL, PICTURE, PROBLEM, SNIPPET


def problem_of(row: EvidenceShown) -> str:
    """What is to be known of an object before it is used."""
    return row.problem or (f"▲ {' '.join(row.warnings)}" if row.warnings else "")


def badges_of(row: EvidenceShown) -> tuple[tuple[str, str], ...]:
    """Short marks over a picture: (words, tone)."""
    marks = [(f"▲ {word}", "warn") for word in row.warnings]
    if row.has_report and row.kind != "report":
        marks.append(("report", "quiet"))
    if row.kin:
        marks.append((f"patient × {row.kin}", "quiet"))
    return tuple(marks)


COLUMNS: tuple[Column[EvidenceShown], ...] = (
    Column("Name", lambda row: row.title, tip=lambda row: row.tip),
    Column("Kind", lambda row: row.kind),
    Column("Modality", lambda row: row.modality),
    Column("Body part", lambda row: row.body_part.lower()),
    Column("Size", lambda row: row.size, right=True),
    Column("Report", lambda row: "yes" if row.has_report else ""),
    Column("Patient", lambda row: f"× {row.kin}" if row.kin else "",
           tip=lambda row: f"{row.kin} objects of the same patient" if row.kin else ""),
    Column("To know", problem_of, colour=lambda row: INK["error" if row.problem else "warn"],
           tip=lambda row: row.problem or row.tip),
)  # fmt: skip
NARROW = (1, 5)  # columns that a narrow table does without; the tile and the tip say them
NO_PICTURE = QImage()  # asked for, and not to be had
KEPT_PICTURES = 600  # of 160 x 160 pixels: at most 62 MB


class EvidenceModel(RowsModel[EvidenceShown]):
    """Rows loaded so far of a collection of known length.

    ``more_wanted(offset)`` asks for the page at an offset, ``picture_wanted(key)`` for a
    thumbnail, once until it is forgotten again: the pictures looked at last are kept.
    """

    more_wanted = Signal(int)
    picture_wanted = Signal(str)

    def __init__(self) -> None:
        super().__init__(COLUMNS)
        self._all = 0
        self._asked = False
        self._pictures: OrderedDict[str, QImage | None] = OrderedDict()
        self._places: dict[str, int] = {}

    def restart(self, total: int, rows: Sequence[EvidenceShown]) -> None:
        """Show another collection or filter: its length and its first page."""
        self.beginResetModel()
        self._rows, self._shown, self._all = list(rows), len(rows), total
        self._places = {row.key: place for place, row in enumerate(rows)}
        for key in [key for key, image in self._pictures.items() if image is None]:
            del self._pictures[key]  # its wish may have been dropped
        self._asked = False
        self.endResetModel()

    def append(self, rows: Sequence[EvidenceShown]) -> None:
        """Take the page that was asked for."""
        self._asked = False
        if not rows:
            self._all = len(self._rows)
            return
        first = len(self._rows)
        self.beginInsertRows(ROOT, first, first + len(rows) - 1)
        self._rows.extend(rows)
        self._places.update({row.key: place for place, row in enumerate(rows, start=first)})
        self._shown = len(self._rows)
        self.endInsertRows()

    def replace(self, row: EvidenceShown) -> None:
        """An object that turned out otherwise: it keeps its place until the next listing."""
        place = self._places.get(row.key)
        if place is not None:
            self._rows[place] = row
            self.dataChanged.emit(self.index(place, 0), self.index(place, len(COLUMNS) - 1))

    @property
    def total(self) -> int:
        """Objects in the collection under the filter, loaded or not."""
        return self._all

    def place_of(self, key: str) -> int | None:
        """The row of an object, None if it is not loaded."""
        return self._places.get(key)

    def canFetchMore(self, parent: Index) -> bool:
        """True while the collection holds more than is loaded."""
        return not parent.isValid() and len(self._rows) < self._all and not self._asked

    def fetchMore(self, parent: Index) -> None:
        """Ask for the next page."""
        self._asked = True
        self.more_wanted.emit(len(self._rows))

    def set_picture(self, key: str, image: QImage | None) -> None:
        """Keep a thumbnail; None says that there is none to be had."""
        self._pictures[key] = NO_PICTURE if image is None else image
        self._pictures.move_to_end(key)
        while len(self._pictures) > KEPT_PICTURES:
            self._pictures.popitem(last=False)
        place = self._places.get(key)
        if place is not None:
            here = self.index(place, 0)
            self.dataChanged.emit(here, here, [PICTURE])

    def forget_picture(self, key: str) -> None:
        """Ask again once it is looked at: the wish for it was dropped."""
        self._pictures.pop(key, None)

    def picture(self, key: str) -> QImage | None:
        """The thumbnail if it is there; the first asking emits ``picture_wanted``."""
        if key not in self._pictures:
            self._pictures[key] = None
            self.picture_wanted.emit(key)
        else:
            self._pictures.move_to_end(key)
        return self._pictures.get(key)

    def data(self, index: Index, role: int = int(Qt.ItemDataRole.DisplayRole)) -> Any:
        """A cell by role; tiles ask for their picture, second line, marks and problem."""
        row = self.row_at(index)
        if row is None:
            return None
        if role == PICTURE:
            visual = row.kind not in ("report", "error", "document", "other")
            return self.picture(row.key) if visual else None
        if role in TILE:
            return TILE[role](row)
        return super().data(index, role)


def _detail(row: EvidenceShown) -> str:
    kind = {"error": "", "other": ""}.get(row.kind, row.kind) if row.problem else row.kind
    return " · ".join(part for part in (row.modality, row.size or kind) if part)


def _spoken(row: EvidenceShown) -> str:
    """What a screen reader says of a tile."""
    told = [row.title, _detail(row), row.problem, *(words for words, _ in badges_of(row))]
    return ", ".join(part for part in told if part)


TILE = {
    DETAIL: _detail,
    PROBLEM: lambda row: row.problem,
    SNIPPET: lambda row: row.snippet,
    BADGES: badges_of,
    int(Qt.ItemDataRole.AccessibleDescriptionRole): _spoken,
}
