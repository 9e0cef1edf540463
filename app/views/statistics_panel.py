"""One panel of the Statistics page: its sentence, its charts and tables, what it points at.

Lays out and passes on; decides nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from itertools import groupby

from PySide6.QtCore import QCoreApplication, QEvent, Qt, Signal
from PySide6.QtGui import QGuiApplication, QResizeEvent, QShowEvent
from PySide6.QtWidgets import QFrame, QGridLayout, QLabel, QScrollArea, QWidget

from app.shown_statistics import Bars, Chart, Forest, Grid, Matrix, Panel, Sheet, Strips
from app.widgets.blocks import button, clear, column, heading, label, panel, quiet, row
from app.widgets.count_matrix import CountMatrix
from app.widgets.forest_plot import ForestPlot
from app.widgets.ink import px
from app.widgets.marked_chart import MarkedChart
from app.widgets.row_table import RowTable
from app.widgets.stacked_bars import StackedBars
from app.widgets.strip_chart import StripChart

CHARTS: dict[type, Callable[[], MarkedChart]] = {
    Bars: StackedBars,
    Forest: ForestPlot,
    Strips: StripChart,
    Matrix: CountMatrix,
}
SETTLES = 4  # a plot's height hangs on its width, its panel's on that, the sheet's on both
POINT = (
    "Point at a mark, or walk with the arrow keys; Enter or a click lists the answers behind it."
)


def selectable(text: str, role: str = "") -> QLabel:
    """A sentence that can be marked and copied."""
    made = label(text, role)
    made.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
    return made


def chart_of(shown: Chart) -> MarkedChart:
    """The widget that draws a chart."""
    made = CHARTS[type(shown)]()
    made.show_chart(shown)  # type: ignore[attr-defined]  # each takes its own kind
    return made


class PanelView(QWidget):
    """A panel.

    Signals:
        opened: the ``Behind`` of a mark or row.
        copied: what was put on the clipboard, in words.
    """

    opened = Signal(object)
    copied = Signal(str)

    def __init__(self, shown: Panel) -> None:
        super().__init__()
        self.setAccessibleName(shown.title)
        self.heading = heading(shown.title)
        self.says = selectable(shown.says)
        if not shown.says:  # showing it here, without a parent, would open a window of its own
            self.says.hide()
        self.charts: list[MarkedChart] = []
        self.tables: list[RowTable] = []
        self.point = quiet(POINT, small=True)
        self.notes = [selectable(text, "small") for text in shown.notes]
        keys: list[QWidget] = []
        if shown.says:
            keys.append(self._copy_key("Copy sentence", "sentence", self.says.text))
        parts = self._parts(shown.parts)
        if self.tables:
            words = "Copy table" if len(self.tables) == 1 else "Copy tables"
            keys.append(self._copy_key(words, "table", self._texts))
        head = row(self.heading, *keys, space=6)
        head.setStretch(0, 1)
        self._frame = frame = panel()
        # Charts and rows say what they are in one line of the panel, which keeps its place.
        told = self.point if self.charts else None
        frame.setLayout(column(head, self.says, *parts, told, *self.notes, space=8, margin=12))
        self.point.setMinimumHeight(2 * self.point.fontMetrics().lineSpacing())
        self.point.setAlignment(Qt.AlignmentFlag.AlignTop)
        self.setLayout(column(frame))

    def settle(self) -> bool:
        """Lay out again from within, if a part wants another height; True if one did."""
        laid = [one.layout() for one in (self._frame, self)]
        redone = [layout.activate() for layout in laid if layout is not None]
        return any(redone)

    def _parts(self, shown: Sequence[Chart | Grid]) -> list[QWidget | QGridLayout]:
        """Charts and tables below each other; tables of counts in a row two by two."""
        laid: list[QWidget | QGridLayout] = []
        for matrices, parts in groupby(shown, key=lambda part: isinstance(part, Matrix)):
            made = [self._part(part) for part in parts]
            if not matrices or len(made) == 1:
                laid += made
                continue
            grid = QGridLayout()
            grid.setContentsMargins(0, 0, 0, 0)
            for place, widget in enumerate(made):
                grid.addWidget(widget, place // 2, place % 2)
            laid.append(grid)
        return laid

    def _texts(self) -> str:
        return "\n\n".join(table.text() for table in self.tables)

    def _part(self, part: Chart | Grid) -> QWidget:
        if isinstance(part, Grid):
            table = RowTable()
            table.show_grid(part)
            table.opened.connect(self.opened)
            table.pointed.connect(self._say)
            self.tables.append(table)
            return table
        chart = chart_of(part)
        chart.opened.connect(self.opened)
        chart.pointed.connect(self._say)
        self.charts.append(chart)
        return chart

    def _copy_key(self, words: str, what: str, text: Callable[[], str]) -> QWidget:
        name = f"{words}: {self.accessibleName()}"
        key = button(words, partial(self._copy, what, text), kind="flat", name=name)
        key.setToolTip(f"Put the {what} of this panel on the clipboard")
        return key

    def _copy(self, what: str, text: Callable[[], str]) -> None:
        QGuiApplication.clipboard().setText(text())
        self.copied.emit(f"The {what}")

    def _say(self, words: str) -> None:
        self.point.setText(words or POINT)


class SheetView(QScrollArea):
    """Panels one below the other; the one in focus comes into sight."""

    opened = Signal(object)
    copied = Signal(str)

    def __init__(self) -> None:
        super().__init__()
        self.setWidgetResizable(True)
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.panels: list[PanelView] = []
        self._inner = QWidget()
        self._lines = column(space=12)
        self._outer = column(self._lines, 1)
        self._outer.setContentsMargins(0, px(8), px(8), 0)
        self._inner.setLayout(self._outer)
        self.setWidget(self._inner)
        self._place = 0  # where the sheet was, until its new panels are laid out
        self._settling = False
        self.verticalScrollBar().rangeChanged.connect(self._scroll_back)

    def _scroll_back(self, _least: int, most: int) -> None:
        if self._place and most >= self._place:
            place, self._place = self._place, 0
            self.verticalScrollBar().setValue(place)

    def show_sheet(self, sheet: Sheet) -> None:
        """Show other panels."""
        place = self.verticalScrollBar().value()
        self.setAccessibleName(sheet.title)
        clear(self._lines)
        self.panels = [PanelView(shown) for shown in sheet.panels]
        for view in self.panels:
            view.opened.connect(self.opened)
            view.copied.connect(self.copied)
            self._lines.addWidget(view)
            view.show()  # now: Qt shows it later, and lays out nothing that is not shown
        self._place = place
        self.settle()

    def settle(self) -> None:
        """Every height in force before anything is painted; Qt alone would take some frames."""
        if self._settling:
            return
        self._settling = True
        for _ in range(SETTLES):
            redone = [view.settle() for view in self.panels]
            redone.append(self._outer.activate())
            QCoreApplication.sendEvent(self, QEvent(QEvent.Type.LayoutRequest))
            if not any(redone):
                break
        self._settling = False

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self.settle()

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        self.settle()
