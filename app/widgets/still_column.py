"""The first column of a wide table, which keeps its place while the others move below it.

Owns its place over the table; rows, selection and looks are the table's. Takes no focus and no
wheel, and is not there while the whole table is in sight.
"""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtGui import QWheelEvent
from PySide6.QtWidgets import QFrame, QTableView

from app import theme

MOST_SHARE = 0.5  # of the table: a wider column would leave no room for what moves


class StillColumn(QTableView):
    """Lies over the first column of ``table``.

    Args:
        table: its parent; has its model already.
    """

    def __init__(self, table: QTableView) -> None:
        super().__init__(table)
        self._table = table
        self.setModel(table.model())
        self.setSelectionModel(table.selectionModel())
        self.setSelectionBehavior(table.selectionBehavior())
        self.setSelectionMode(table.selectionMode())
        self.setEditTriggers(table.editTriggers())
        self.setVerticalScrollMode(table.verticalScrollMode())
        self.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setStyleSheet(f"QTableView {{ border: none; border-right: 1px solid {theme.LINE}; }}")
        self.setShowGrid(False)
        self.setWordWrap(False)
        self.setAlternatingRowColors(True)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setVerticalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.verticalHeader().hide()
        self.horizontalHeader().setHighlightSections(False)
        table.verticalScrollBar().valueChanged.connect(self.verticalScrollBar().setValue)
        table.horizontalHeader().sectionResized.connect(lambda *_sizes: self.place())
        self.hide()

    def place(self) -> None:
        """Lie over the first column, where the table is wider than its room."""
        table, heads = self._table, self._table.horizontalHeader()
        wide, room = table.columnWidth(0), table.viewport().width()
        if heads.length() <= room or wide > MOST_SHARE * room:
            self.hide()
            return
        for column in range(1, table.model().columnCount()):
            self.setColumnHidden(column, True)
        self.setColumnWidth(0, wide)
        self.verticalHeader().setDefaultSectionSize(table.verticalHeader().defaultSectionSize())
        self.horizontalHeader().setFixedHeight(heads.height())
        edge = table.frameWidth()
        self.setGeometry(edge, edge, wide, heads.height() + table.viewport().height())
        self.verticalScrollBar().setValue(table.verticalScrollBar().value())
        self.show()
        self.raise_()

    def wheelEvent(self, event: QWheelEvent) -> None:
        """Left to the table."""
        event.ignore()
