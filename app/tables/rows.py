"""A table model over frozen rows that hands them out page by page.

Owns paging and roles; refuses to query: the presenter gives the rows.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from PySide6.QtCore import QAbstractTableModel, QModelIndex, QPersistentModelIndex, Qt
from PySide6.QtGui import QColor

Row = TypeVar("Row")
Index = QModelIndex | QPersistentModelIndex
PAGE = 200
ROOT = QModelIndex()


@dataclass(frozen=True)
class Column(Generic[Row]):
    """One column: its head, how a row is told in it, and how it stands.

    Attributes:
        title: the head.
        text: a row as text.
        right: numbers stand right.
        colour: a row's colour as ``#rrggbb`` or an empty string.
        tip: a row as a tooltip.
    """

    title: str
    text: Callable[[Row], str]
    right: bool = False
    colour: Callable[[Row], str] = lambda row: ""
    tip: Callable[[Row], str] = lambda row: ""


class RowsModel(QAbstractTableModel, Generic[Row]):
    """Rows by columns; only the rows that were fetched are counted."""

    def __init__(self, columns: Sequence[Column[Row]], *, page: int = PAGE) -> None:
        super().__init__()
        self._columns = tuple(columns)
        self._rows: list[Row] = []
        self._shown = 0
        self._page = page

    def set_rows(self, rows: Sequence[Row]) -> None:
        """Replace every row."""
        self.beginResetModel()
        self._rows = list(rows)
        self._shown = min(self._page, len(self._rows))
        self.endResetModel()

    def set_columns(self, columns: Sequence[Column[Row]]) -> None:
        """Replace the columns; the rows stay."""
        self.beginResetModel()
        self._columns = tuple(columns)
        self.endResetModel()

    def replace_row(self, position: int, row: Row) -> None:
        """Change one row in place, so that a live table keeps its selection."""
        self._rows[position] = row
        if position < self._shown:
            last = self.index(position, len(self._columns) - 1)
            self.dataChanged.emit(self.index(position, 0), last)

    def row_at(self, index: Index | int) -> Row | None:
        """The row behind an index, or None."""
        position = index if isinstance(index, int) else index.row()
        return self._rows[position] if 0 <= position < len(self._rows) else None

    @property
    def total(self) -> int:
        """All rows, fetched or not."""
        return len(self._rows)

    def rowCount(self, parent: Index = ROOT) -> int:
        """The rows handed out so far."""
        return 0 if parent.isValid() else self._shown

    def columnCount(self, parent: Index = ROOT) -> int:
        """The columns."""
        return 0 if parent.isValid() else len(self._columns)

    def canFetchMore(self, parent: Index) -> bool:
        """True while rows wait."""
        return not parent.isValid() and self._shown < len(self._rows)

    def fetchMore(self, parent: Index) -> None:
        """Hand out another page."""
        more = min(self._page, len(self._rows) - self._shown)
        self.beginInsertRows(ROOT, self._shown, self._shown + more - 1)
        self._shown += more
        self.endInsertRows()

    def data(self, index: Index, role: int = int(Qt.ItemDataRole.DisplayRole)) -> Any:
        """A cell by role."""
        row = self.row_at(index)
        if row is None:
            return None
        return self._cell(self._columns[index.column()], row, role)

    def _cell(self, column: Column[Row], row: Row, role: int) -> Any:
        if role in (Qt.ItemDataRole.DisplayRole, Qt.ItemDataRole.AccessibleTextRole):
            return column.text(row)
        if role == Qt.ItemDataRole.ToolTipRole:
            return column.tip(row) or column.text(row)
        if role == Qt.ItemDataRole.TextAlignmentRole:
            return int(_side(right=column.right))
        if role == Qt.ItemDataRole.ForegroundRole and (colour := column.colour(row)):
            return QColor(colour)
        return None

    def headerData(
        self,
        section: int,
        orientation: Qt.Orientation,
        role: int = int(Qt.ItemDataRole.DisplayRole),
    ) -> Any:
        """The head of a column."""
        if orientation != Qt.Orientation.Horizontal or section >= len(self._columns):
            return None
        if role == Qt.ItemDataRole.DisplayRole:
            return self._columns[section].title
        if role == Qt.ItemDataRole.TextAlignmentRole:
            return int(_side(right=self._columns[section].right))
        return None


def _side(*, right: bool) -> Qt.AlignmentFlag:
    side = Qt.AlignmentFlag.AlignRight if right else Qt.AlignmentFlag.AlignLeft
    return side | Qt.AlignmentFlag.AlignVCenter
