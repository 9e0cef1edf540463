"""A table of one panel: as high as its rows, each row with what stands behind it; the first
column stays where the others are scrolled. Where it is wider than its room, its heads and its
numbers take two lines.

Owns its height and what opening a row means (Enter or a click); refuses to sort or to compute.
"""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import QModelIndex, Qt, Signal
from PySide6.QtGui import QGuiApplication, QKeyEvent, QResizeEvent, QWheelEvent
from PySide6.QtWidgets import QAbstractItemView, QFrame, QHeaderView, QTableView

from app import theme
from app.shown_statistics import Behind, Grid, Line
from app.tables.rows import Column, Index, RowsModel
from app.widgets.ink import px
from app.widgets.still_column import StillColumn

MOST_ROWS = 24
LONG_NAME = 28  # letters
OPENING = (Qt.Key.Key_Return, Qt.Key.Key_Enter, Qt.Key.Key_Space)


class GridModel(RowsModel[Line]):
    """Lines of a grid; the heads carry the definitions of their columns."""

    def __init__(self) -> None:
        super().__init__(())
        self._tips: tuple[str, ...] = ()
        self._heads: tuple[str, ...] = ()  # in lines; empty where all is in one line

    @property
    def broken(self) -> bool:
        """Whether heads and numbers take more than a line."""
        return bool(self._heads)

    def break_lines(self, heads: tuple[str, ...]) -> None:
        """Show these heads, and every number in two lines; none puts all in one line again."""
        if heads != self._heads:
            self._heads = heads
            self.headerDataChanged.emit(Qt.Orientation.Horizontal, 0, self.columnCount() - 1)
            last = self.index(self.rowCount() - 1, self.columnCount() - 1)
            self.dataChanged.emit(self.index(0, 0), last)

    def show_grid(self, grid: Grid) -> None:
        """Show other lines."""
        self._tips, self._heads = grid.tips, ()
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
        if role == Qt.ItemDataRole.DisplayRole and across and section < len(self._heads):
            return self._heads[section]
        if role == Qt.ItemDataRole.ToolTipRole and across and section < len(self._tips):
            return self._tips[section]
        return super().headerData(section, orientation, role)

    def data(self, index: Index, role: int = int(Qt.ItemDataRole.DisplayRole)) -> object:
        """A cell; its words are the same in one line and in two."""
        found = super().data(index, role)
        two = role == Qt.ItemDataRole.DisplayRole and self.broken
        return in_lines(str(found), place=index.column()) if two else found


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
        wide = self._widths(tuple(self.grid.head), lambda text, place: text)
        heads: tuple[str, ...] = ()
        if sum(wide) > self.viewport().width():
            heads, wide = self._broken()
        self.rows.break_lines(heads)
        for place, one in enumerate(wide):
            self.setColumnWidth(place, one)
        line = self.fontMetrics().lineSpacing() if heads else 0
        self.verticalHeader().setDefaultSectionSize(px(26) + line)
        self._fit_height()

    def _fit_height(self) -> None:
        count = min(self.rows.rowCount(), MOST_ROWS)
        head = self.horizontalHeader().sizeHint().height()
        wider = self.horizontalHeader().length() > self.viewport().width()
        bar = px(4) + (self.horizontalScrollBar().sizeHint().height() if wider else 0)
        self.setFixedHeight(head + count * self.verticalHeader().defaultSectionSize() + bar)
        self.updateGeometries()
        self.still.place()

    def _widths(self, heads: tuple[str, ...], lines_of: Callable[[str, int], str]) -> list[int]:
        """Of the widest text; measured here, Qt would ask the model for every cell."""
        found, room, wide = self.fontMetrics(), px(26), []
        for place, head in enumerate(heads):
            cells = (lines_of(line.cells[place], place) for line in self.grid.lines)
            texts = [line for cell in cells for line in cell.split("\n")]
            longest = (*head.split("\n"), *sorted(texts, key=len)[-4:])
            wide.append(max(map(found.horizontalAdvance, longest)) + room)
        return wide

    def _broken(self) -> tuple[tuple[str, ...], list[int]]:
        """Heads in as many lines as their columns want, and the widths of the columns."""
        found = self.fontMetrics()
        bare = self._widths(("",) * len(self.grid.head), _lines)
        heads = tuple(
            _wrapped(head, room - px(26), found.horizontalAdvance)
            for head, room in zip(self.grid.head, bare, strict=True)
        )
        return heads, self._widths(heads, _lines)

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
            self.fit()

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


def in_lines(text: str, *, place: int) -> str:
    """Two lines of a cell: ``49.1 % [44.8, 53.3]`` over ``(260 of 530)``, a test over its n.

    Args:
        text: in one line.
        place: of its column; the first one holds names, of which only a long one is broken.
    """
    if place == 0:
        return text if len(text) <= LONG_NAME else _halved(text)
    if ", n = " in text:
        return text.replace(", n = ", "\nn = ")
    return text.replace(" (", "\n(", 1)


def _lines(text: str, place: int) -> str:
    return in_lines(text, place=place)


def _halved(text: str) -> str:
    """Broken at the space next to its middle; as it is if it has none."""
    spaces = [place for place, letter in enumerate(text) if letter == " " and text[:place].strip()]
    if not spaces:
        return text
    at = min(spaces, key=lambda place: abs(place - len(text) / 2))
    return f"{text[:at]}\n{text[at + 1 :]}"


def _wrapped(text: str, room: int, wide: Callable[[str], int]) -> str:
    """Words in lines no wider than the room or the longest word."""
    lines: list[str] = []
    for word in text.split(" "):
        longer = f"{lines[-1]} {word}" if lines else word
        if lines and wide(longer) <= room:
            lines[-1] = longer
        else:
            lines.append(word)
    return "\n".join(lines)


def _cell(place: int) -> Callable[[Line], str]:
    return lambda line: line.cells[place] if place < len(line.cells) else ""


def _tip(place: int) -> Callable[[Line], str]:
    return lambda line: line.tip or (line.cells[place] if place < len(line.cells) else "")
