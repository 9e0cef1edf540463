"""A table of one panel: as high as its rows, each row with what stands behind it; the first
column stays where the others are scrolled.

Owns its height and what opening a row means (Enter or a click); refuses to sort or to compute.
"""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import QModelIndex, Qt, Signal
from PySide6.QtGui import QGuiApplication, QKeyEvent, QResizeEvent, QWheelEvent
from PySide6.QtWidgets import QAbstractItemView, QFrame, QHeaderView, QTableView

from app import theme
from app.shown_statistics import Behind, Grid, Line
from app.tables.rows import Column, RowsModel
from app.widgets.ink import hold, px
from app.widgets.still_column import StillColumn

MOST_ROWS = 24
OPENING = (Qt.Key.Key_Return, Qt.Key.Key_Enter, Qt.Key.Key_Space)


class GridModel(RowsModel[Line]):
    """Lines of a grid; the heads carry the definitions of their columns."""

    def __init__(self) -> None:
        super().__init__(())
        self._tips: tuple[str, ...] = ()

    def show_grid(self, grid: Grid) -> None:
        """Show other lines."""
        self._tips = grid.tips
        self.set_rows(())
        self.set_columns(
            [
                Column[Line](head, _cell(n), right=n > 0, tip=_tip(n))
                for n, head in enumerate(grid.head)
            ]
        )
        self.set_rows(grid.lines)

    def headerData(
        self,
        section: int,
        orientation: Qt.Orientation,
        role: int = int(Qt.ItemDataRole.DisplayRole),
    ) -> object:
        """The head of a column, its definition as a tooltip."""
        across = orientation == Qt.Orientation.Horizontal
        if role == Qt.ItemDataRole.ToolTipRole and across and section < len(self._tips):
            return self._tips[section]
        return super().headerData(section, orientation, role)


class RowTable(QTableView):
    """A read-only table that never scrolls downwards by itself unless it is very long.

    Signals:
        opened: the ``Behind`` of a row.
        pointed: the definition of the row under the focus.
    """

    opened = Signal(object)
    pointed = Signal(str)

    def __init__(self) -> None:
        super().__init__()
        self.rows = GridModel()
        self.grid = Grid("", (), ())
        self.setModel(self.rows)
        self.setSelectionBehavior(QAbstractItemView.SelectionBehavior.SelectRows)
        self.setSelectionMode(QAbstractItemView.SelectionMode.SingleSelection)
        self.setEditTriggers(QAbstractItemView.EditTrigger.NoEditTriggers)
        self.setHorizontalScrollMode(QAbstractItemView.ScrollMode.ScrollPerPixel)
        self.setVerticalScrollMode(QAbstractItemView.ScrollMode.ScrollPerPixel)
        self.setShowGrid(False)
        self.setWordWrap(False)
        self.setTabKeyNavigation(False)
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setAlternatingRowColors(True)
        self.verticalHeader().hide()
        hold(self.verticalHeader().setDefaultSectionSize, 26)
        header = self.horizontalHeader()
        header.setHighlightSections(False)
        header.setSectionResizeMode(QHeaderView.ResizeMode.Interactive)
        self.still = StillColumn(self)
        for table in (self, self.still):
            table.clicked.connect(self._open)
        self.selectionModel().currentChanged.connect(lambda now, _before: self._tell(now))
        theme.theme.scaled.connect(self.fit)

    def show_grid(self, grid: Grid) -> None:
        """Show another table, as high as its rows."""
        self.grid = grid
        self.setAccessibleName(grid.name)
        self.rows.show_grid(grid)
        self.fit()

    def fit(self) -> None:
        """Room for the rows, and for a bar below where the columns are wider than the page."""
        self._fit_columns()
        self._fit_height()

    def _fit_height(self) -> None:
        count = min(self.rows.rowCount(), MOST_ROWS)
        head = self.horizontalHeader().sizeHint().height()
        wider = self.horizontalHeader().length() > self.viewport().width()
        bar = px(4) + (self.horizontalScrollBar().sizeHint().height() if wider else 0)
        self.setFixedHeight(head + count * self.verticalHeader().defaultSectionSize() + bar)
        self.still.place()

    def _fit_columns(self) -> None:
        """As wide as the widest text; measured here, Qt would ask the model for every cell."""
        found, room = self.fontMetrics(), px(26)
        for place, head in enumerate(self.grid.head):
            texts = [head, *(line.cells[place] for line in self.grid.lines)]
            longest = sorted(texts, key=len)[-4:]
            self.setColumnWidth(place, max(map(found.horizontalAdvance, longest)) + room)

    def text(self) -> str:
        """The table as tab-separated lines, for a spreadsheet or a document."""
        lines = [self.grid.head, *(line.cells for line in self.grid.lines)]
        return "\n".join("\t".join(cells) for cells in lines)

    def copy(self) -> None:
        """Put the table on the clipboard."""
        QGuiApplication.clipboard().setText(self.text())

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self.still.place()
        if event.size().width() != event.oldSize().width():
            self._fit_height()

    def wheelEvent(self, event: QWheelEvent) -> None:
        """A table that shows all its rows leaves the wheel to the page."""
        if self.rows.total <= MOST_ROWS and not event.angleDelta().x():
            event.ignore()
        else:
            super().wheelEvent(event)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() in OPENING:
            self._open(self.currentIndex())
        else:
            super().keyPressEvent(event)

    def _open(self, index: QModelIndex) -> None:
        line = self.rows.row_at(index) if index.isValid() else None
        behind = None if line is None else line.behind
        if isinstance(behind, Behind):
            self.opened.emit(behind)

    def _tell(self, index: QModelIndex) -> None:
        line = self.rows.row_at(index) if index.isValid() else None
        self.pointed.emit("" if line is None else line.tip)


def _cell(place: int) -> Callable[[Line], str]:
    return lambda line: line.cells[place] if place < len(line.cells) else ""


def _tip(place: int) -> Callable[[Line], str]:
    return lambda line: line.tip or (line.cells[place] if place < len(line.cells) else "")
