"""A score table as a Qt model: one column of names, then one per family or split."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from PySide6.QtCore import QAbstractTableModel, Qt

from app.shown import ScoreRow, ScoreShown, ScoreTable
from app.tables.rows import ROOT, Index

SCORE = int(Qt.ItemDataRole.UserRole) + 6


@dataclass(frozen=True)
class ScoreCell:
    """What a cell shows: a number, a second line, a tone of the theme."""

    text: str
    detail: str = ""
    tone: str = "text"
    best: bool = False


class ScoresModel(QAbstractTableModel):
    """Rows are few (models); columns are the table's, with further columns of words after."""

    def __init__(self) -> None:
        super().__init__()
        self._table = ScoreTable((), ())
        self._words: dict[str, str] = {}
        self._best: tuple[float, ...] = ()

    def set_table(self, table: ScoreTable, consistency: Sequence[tuple[str, str]] = ()) -> None:
        """Show other scores; ``consistency`` is (model key, words) for a last column."""
        self.beginResetModel()
        self._table = table
        self._words = dict(consistency)
        self._best = tuple(_best_of(table, place) for place in range(len(table.columns)))
        self.endResetModel()

    def key_at(self, row: int) -> str:
        """The model of a row; empty for chance and for the paper's lines."""
        if not 0 <= row < len(self._table.rows):
            return ""
        found = self._table.rows[row]
        return "" if found.printed else found.key

    def rowCount(self, parent: Index = ROOT) -> int:
        """The models and the chance line."""
        return 0 if parent.isValid() else len(self._table.rows)

    def columnCount(self, parent: Index = ROOT) -> int:
        """Names, scores and, where told, the consistency."""
        if parent.isValid() or not self._table.columns:
            return 0
        return 1 + len(self._table.columns) + bool(self._words)

    def headerData(
        self,
        section: int,
        orientation: Qt.Orientation,
        role: int = int(Qt.ItemDataRole.DisplayRole),
    ) -> Any:
        """The head of a column."""
        if orientation != Qt.Orientation.Horizontal:
            return None
        if role == Qt.ItemDataRole.TextAlignmentRole and section == 0:
            return int(Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter)
        if role != Qt.ItemDataRole.DisplayRole:
            return None
        heads = ("Model", *self._table.columns, "CV")
        return heads[section]

    def data(self, index: Index, role: int = int(Qt.ItemDataRole.DisplayRole)) -> Any:
        """A cell by role."""
        if not 0 <= index.row() < len(self._table.rows):
            return None
        row = self._table.rows[index.row()]
        if index.column() == 0:
            return self._name(row, role)
        cell = self._cell(row, index.column() - 1)
        if role == SCORE:
            return cell
        if role == Qt.ItemDataRole.DisplayRole:
            return cell.text
        if role in (Qt.ItemDataRole.ToolTipRole, Qt.ItemDataRole.AccessibleTextRole):
            head = self.headerData(index.column(), Qt.Orientation.Horizontal)
            return f"{row.title}, {head}: {cell.text} {cell.detail}".strip()
        return None

    def _name(self, row: ScoreRow, role: int) -> Any:
        if role in (Qt.ItemDataRole.DisplayRole, Qt.ItemDataRole.ToolTipRole):
            return row.title
        return None

    def _cell(self, row: ScoreRow, place: int) -> ScoreCell:
        if place >= len(self._table.columns):
            return ScoreCell(self._words.get(row.key, ""), tone="text")
        score = row.scores[place]
        if score is None:
            return ScoreCell("–", tone="disabled")
        if not row.key:
            return ScoreCell(f"{score.value:.1f}", tone="warn")
        best = not row.printed and score.value == self._best[place]
        return ScoreCell(
            f"{score.value:.1f}", detail_of(score), "quiet" if row.printed else "text", best
        )


def _best_of(table: ScoreTable, place: int) -> float:
    """The highest score of a column among our own models; -1 where there is none."""
    ours = [row.scores[place] for row in table.rows if row.key and not row.printed]
    return max((score.value for score in ours if score is not None), default=-1.0)


def detail_of(score: ScoreShown) -> str:
    """The interval of a score as words."""
    if score.interval is None:
        return ""
    return f"{score.interval[0]:.1f}–{score.interval[1]:.1f}"
