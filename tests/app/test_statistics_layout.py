"""Sheets of the Statistics page: the first frame, wide tables, whose colours are whose."""

from __future__ import annotations

from dataclasses import replace
from itertools import combinations
from typing import Any

import pytest
from PySide6.QtCore import QEvent, QObject, QPoint, QRect, Qt
from PySide6.QtWidgets import QApplication, QWidget

from app import theme
from app.shown_statistics import Bar, Bars, Grid, Line, Panel, Piece, Sheet, StatisticsShown
from app.views.statistics import StatisticsView
from app.views.statistics_panel import PanelView, SheetView
from app.widgets.forest_plot import ForestPlot
from app.widgets.row_table import RowTable
from app.widgets.stacked_bars import StackedBars
from tests.app import statistics_data as made


def outcome(rows: int) -> StatisticsShown:
    """A sheet of one sentence, then one of a forest plot with its table and notes."""
    long = "Group with a long name"
    parts = (made.forest(rows, long), made.grid(rows, long))
    forest = Panel("f", "Forest", "Says something.", parts, ("One note.", "Another note."))
    sheets = (
        Sheet("a", "First", (Panel("p", "First", "Says."),)),
        Sheet("b", "Forest", (forest, Panel("q", "Second", "Says more."))),
    )
    return StatisticsShown("Study", "Sentence", ("fact",), sheets)


def boxes(view: PanelView) -> dict[QWidget, QRect]:
    """Where every part of a panel lies in it."""
    parts = (view.heading, view.says, *view.charts, *view.tables, view.point, *view.notes)
    return {
        one: QRect(one.mapTo(view, QPoint(0, 0)), one.size()) for one in parts if one.isVisible()
    }


class Frames(QObject):
    """What lay where whenever a forest plot was painted."""

    def __init__(self, sheet: SheetView) -> None:
        super().__init__()
        self.sheet = sheet
        self.found: list[list[dict[QWidget, QRect]]] = []

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if event.type() == QEvent.Type.Paint and isinstance(watched, ForestPlot):
            self.found.append([boxes(view) for view in self.sheet.panels])
        return False


@pytest.mark.parametrize("wide", [1080, 1780])
@pytest.mark.parametrize("rows", [4, 22])
def test_nothing_lies_over_a_plot_in_the_first_frame(wide: int, rows: int, qtbot: Any) -> None:
    page = StatisticsView()
    qtbot.addWidget(page)
    page.resize(wide, 960)
    page.show_statistics(outcome(rows))
    page.show()
    qtbot.waitExposed(page)
    sheet = page.tabs.widget(1)
    assert isinstance(sheet, SheetView)
    frames, application = Frames(sheet), QApplication.instance()
    assert application is not None
    application.installEventFilter(frames)
    page.tabs.setCurrentIndex(1)
    qtbot.waitUntil(lambda: bool(frames.found))
    qtbot.wait(50)
    application.removeEventFilter(frames)
    for panels in frames.found:
        assert panels == frames.found[-1], "nothing moves after the first frame"
        for one, other in combinations(panels[0].values(), 2):
            assert not one.intersects(other)
    plot = sheet.panels[0].charts[0]
    assert plot.height() >= plot.wanted_height()


def wide_grid() -> Grid:
    head = ("Group", *(f"Qwen3-VL-Embedding nano better, {n}" for n in range(6)), "Sign test")
    cells = (
        "A group with a name that is long indeed",
        *("49.1 % [44.8, 53.3] (260 of 530)",) * 6,
        "p 0.036 (Holm 0.072), n = 382",
    )
    return Grid("Wide", head, tuple(Line(cells) for _ in range(4)))


def test_a_table_wider_than_its_room_takes_two_lines_and_says_the_same(qtbot: Any) -> None:
    table = RowTable()
    qtbot.addWidget(table)
    table.resize(4000, 200)
    table.show_grid(wide_grid())
    table.show()
    qtbot.waitExposed(table)
    one = (table.horizontalHeader().length(), table.height(), table.text())
    assert not table.rows.broken
    table.resize(1400, table.height())
    assert table.rows.broken
    assert table.horizontalHeader().length() < min(1400, 0.75 * one[0])
    shown = [table.rows.data(table.rows.index(1, place)) for place in (0, 1, 7)]
    assert shown == [
        "A group with a name\nthat is long indeed",
        "49.1 % [44.8, 53.3]\n(260 of 530)",
        "p 0.036 (Holm 0.072)\nn = 382",
    ]
    for place in range(8):
        assert table.columnWidth(place) >= table.sizeHintForColumn(place), "no number is cut"
        head = table.rows.headerData(place, Qt.Orientation.Horizontal)
        for line in str(head).split("\n"):  # the style pads by 8 on both sides
            assert table.columnWidth(place) >= table.fontMetrics().horizontalAdvance(line) + 16
    assert table.rowHeight(0) >= table.sizeHintForRow(0)
    assert table.text() == one[2], "what is copied has no broken lines"
    spoken = int(Qt.ItemDataRole.AccessibleTextRole)
    assert "\n" not in str(table.rows.data(table.rows.index(1, 1), spoken))
    table.resize(4000, table.height())
    assert (table.horizontalHeader().length(), table.height()) == one[:2]


def colours(chart: ForestPlot | StackedBars, qtbot: Any) -> set[str]:
    """Every colour of a chart that is no grey."""
    qtbot.addWidget(chart)
    chart.resize(900, chart.wanted_height())
    picture = chart.grab().toImage()
    found = {picture.pixelColor(x, y).name() for x in range(0, 900)
             for y in range(0, picture.height(), 3)}  # fmt: skip
    return {one for one in found if one in theme.PLOT_COLORS[:2]}


def test_the_colours_of_the_models_mean_the_models_only(qtbot: Any) -> None:
    forest = made.forest(4)
    models = replace(forest, fields=tuple(replace(one, models=True) for one in forest.fields))
    for shown, expected in ((forest, set()), (models, set(theme.PLOT_COLORS[:2]))):
        plot = ForestPlot()
        plot.show_chart(shown)
        assert colours(plot, qtbot) == expected
    fills = ("right", "unsure", "wrong")
    pieces = tuple(Piece(one, one, 3, 100 / 3, None, None, one) for one in fills)
    chart = StackedBars()
    ends = ("right", "wrong")
    chart.show_chart(Bars("Guesses", "right", "wrong", (Bar("A", 9, pieces),), "", ends))
    assert colours(chart, qtbot) == set()
