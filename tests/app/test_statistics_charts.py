"""Charts and tables of the Statistics page: pointing, keys, clicks, words, large text."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from PySide6.QtCore import QEvent, QPoint, QPointF, QRectF, Qt
from PySide6.QtGui import QGuiApplication, QHelpEvent, QImage, QMouseEvent, QPainter
from PySide6.QtWidgets import QApplication, QLabel, QPushButton, QToolTip, QWidget
from statsmodels.stats.proportion import proportion_confint

from app import theme
from app.shown_statistics import FILLS, Bars, Grid, Panel
from app.views.statistics import StatisticsView
from app.views.statistics_answers import GUARD_S
from app.views.statistics_item import ItemView
from app.views.statistics_panel import PanelView, SheetView, chart_of
from app.widgets.content import Content
from app.widgets.forest_plot import LANE
from app.widgets.ink import px
from app.widgets.marked_chart import MarkedChart
from app.widgets.plot_ink import _place_of, colour_of, number_on, pattern_of
from app.widgets.row_table import RowTable
from app.widgets.stacked_bars import tie_ends
from app.widgets.triptych import BoardItem
from tests.app import statistics_data as made

CHARTS = (made.bars(4), made.forest(4), made.strips(), made.matrix())
NAMES = ("bars", "forest", "strips", "matrix")
KEYS = Qt.Key


def shown(chart: MarkedChart, qtbot: Any, *, wide: int = 1000) -> MarkedChart:
    qtbot.addWidget(chart)
    chart.resize(wide, chart.wanted_height())
    chart.show()
    qtbot.waitExposed(chart)
    chart.activateWindow()
    qtbot.waitUntil(chart.isActiveWindow)
    return chart


@pytest.mark.parametrize("data", CHARTS, ids=NAMES)
def test_keys_reach_every_mark_and_enter_opens_each(data: Any, qtbot: Any) -> None:
    chart = shown(chart_of(data), qtbot)
    opened: list[Any] = []
    said: list[str] = []
    chart.opened.connect(opened.append)
    chart.pointed.connect(said.append)
    chart.setFocus(Qt.FocusReason.TabFocusReason)
    qtbot.keyClick(chart, KEYS.Key_Home)
    for _ in chart.marks:
        qtbot.keyClick(chart, KEYS.Key_Return)
        qtbot.keyClick(chart, KEYS.Key_Right)
    assert opened == [mark.behind for mark in chart.marks if mark.behind is not None]
    assert {mark.words for mark in chart.marks} <= set(said)
    assert chart.accessibleDescription() == chart.marks[-1].words, "a screen reader hears it"


@pytest.mark.parametrize("data", CHARTS[:1] + CHARTS[2:], ids=("bars", "strips", "matrix"))
def test_up_and_down_walk_between_rows(data: Any, qtbot: Any) -> None:
    chart = shown(chart_of(data), qtbot)
    chart.setFocus(Qt.FocusReason.TabFocusReason)
    qtbot.keyClick(chart, KEYS.Key_Home)
    rows = {mark.row for mark in chart.marks}
    for _ in range(len(rows) - 1):
        qtbot.keyClick(chart, KEYS.Key_Down)
    assert chart.marks[chart._at].row == max(rows)
    for _ in rows:
        qtbot.keyClick(chart, KEYS.Key_Up)
    assert chart.marks[chart._at].row == min(rows)


@pytest.mark.parametrize("data", CHARTS, ids=NAMES)
def test_a_click_opens_what_is_under_it_and_hovering_says_it(
    data: Any, qtbot: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    tips: list[str] = []
    monkeypatch.setattr(QToolTip, "showText", lambda _at, words, *_more: tips.append(words))
    chart = shown(chart_of(data), qtbot)
    opened: list[Any] = []
    chart.opened.connect(opened.append)
    for mark in chart.marks:
        at = mark.box.center().toPoint()
        place = chart.mark_at(QPointF(at))
        qtbot.mouseClick(chart, Qt.MouseButton.LeftButton, pos=at)
        assert chart.marks[place].words == mark.words
    assert len(opened) == sum(mark.behind is not None for mark in chart.marks)
    first = chart.marks[0]
    point = first.box.center().toPoint()
    QApplication.sendEvent(chart, QHelpEvent(QEvent.Type.ToolTip, point, chart.mapToGlobal(point)))
    assert tips == [first.words]
    said: list[str] = []
    chart.pointed.connect(said.append)
    move = QMouseEvent(QEvent.Type.MouseMove, QPointF(point), QPointF(point),
                       Qt.MouseButton.NoButton, Qt.MouseButton.NoButton,
                       Qt.KeyboardModifier.NoModifier)  # fmt: skip
    QApplication.sendEvent(chart, move)
    QApplication.sendEvent(chart, QEvent(QEvent.Type.Leave))
    assert said[0] == first.words
    assert said[-1] == chart.marks[chart._at].words, "back to the mark in focus"
    assert chart.mark_at(QPointF(-9, -9)) == -1


@pytest.mark.parametrize("percent", [100, 150, 200])
@pytest.mark.parametrize("data", CHARTS, ids=NAMES)
def test_every_mark_lies_inside_its_chart(data: Any, percent: int, qtbot: Any) -> None:
    theme.theme.apply(QApplication.instance(), percent=percent)
    try:
        chart = shown(chart_of(data), qtbot, wide=1060)
        room = chart.rect().adjusted(-1, -1, 1, 1)
        for mark in chart.marks:
            assert room.contains(mark.box.toAlignedRect()), mark.words
            assert mark.box.height() >= 8
        assert not chart.grab().toImage().isNull()
    finally:
        theme.theme.apply(QApplication.instance())


def test_a_chart_grows_with_the_text(qtbot: Any) -> None:
    chart = shown(chart_of(made.bars(4)), qtbot)
    before = chart.minimumHeight()
    theme.theme.apply(QApplication.instance(), percent=200)
    try:
        assert chart.minimumHeight() >= 2 * before - 4
    finally:
        theme.theme.apply(QApplication.instance())


@pytest.mark.parametrize(("percent", "wide"), [(100, 1060), (150, 1060), (200, 1060), (100, 480)])
def test_the_numbers_of_a_forest_have_room_beside_or_below(
    percent: int, wide: int, qtbot: Any
) -> None:
    theme.theme.apply(QApplication.instance(), percent=percent)
    try:
        chart: Any = shown(chart_of(made.forest(4)), qtbot, wide=wide)
        chart.resize(wide, chart.wanted_height())
        boxes = []
        for branch, y in chart._rows():
            for place, dot in enumerate(branch.dots):
                if dot.value is not None:
                    centre = QPointF(chart._x(place, dot.value), y + px(LANE) / 2)
                    boxes.append(chart._number(place, dot, centre))
        assert boxes
        for number, box in enumerate(boxes):
            assert QRectF(chart.rect()).contains(box)
            assert not any(box.intersects(other) for other in boxes[:number])
        assert chart.wanted_height() == chart.minimumHeight()
    finally:
        theme.theme.apply(QApplication.instance())


@pytest.mark.parametrize(("wide", "said"), [(60, "3.0 %"), (24, "3.0"), (13, "3.0"), (6, "")])
def test_a_narrow_part_keeps_its_number_smaller_and_upright(wide: int, said: str) -> None:
    picture = QImage(80, 30, QImage.Format.Format_RGB32)
    picture.fill(colour_of("first"))
    before = picture.copy()
    painter = QPainter(picture)
    place = _place_of(painter, QRectF(4, 4, wide, 22), 3.0)
    assert ("" if place is None else place[0]) == said
    assert number_on(painter, QRectF(4, 4, wide, 22), 3.0, "first") is bool(said)
    painter.end()
    drawn = [(x, y) for x in range(80) for y in range(30)
             if picture.pixel(x, y) != before.pixel(x, y)]  # fmt: skip
    assert bool(drawn) is bool(said)
    assert all(4 <= x <= 4 + wide and 4 <= y <= 26 for x, y in drawn), "nothing outside its part"


def test_no_two_kinds_of_answers_look_alike_even_without_colour() -> None:
    looks = {(pattern_of(fill), round(colour_of(fill).lightnessF(), 2)) for fill in FILLS}
    assert len(looks) == len(FILLS)
    assert pattern_of("first") != pattern_of("second")
    assert pattern_of("both") != pattern_of("neither")


def test_empty_charts_draw_nothing_and_hold_no_marks(qtbot: Any) -> None:
    chart = shown(chart_of(Bars("none", "a", "b", ())), qtbot)
    assert chart.marks == ()
    for key in (KEYS.Key_Down, KEYS.Key_Right, KEYS.Key_Return, KEYS.Key_End):
        qtbot.keyClick(chart, key)


def test_rows_open_by_click_and_enter_and_are_copied(qtbot: Any) -> None:
    table = RowTable()
    qtbot.addWidget(table)
    table.show_grid(made.grid(3))
    table.resize(700, 200)
    table.show()
    opened: list[Any] = []
    table.opened.connect(opened.append)
    table.clicked.emit(table.rows.index(0, 0))
    table.setCurrentIndex(table.rows.index(2, 0))
    qtbot.keyClick(table, KEYS.Key_Return)
    table.setCurrentIndex(table.rows.index(1, 0))
    qtbot.keyClick(table, KEYS.Key_Return)
    assert [behind.title for behind in opened] == ["Table 0", "Table 2"], "the second has no rows"
    assert table.text().splitlines()[1] == "Table 0\t0\t49.1 % [44.8, 53.3] (260 of 530)"
    across = Qt.Orientation.Horizontal
    assert table.rows.headerData(1, across, Qt.ItemDataRole.ToolTipRole) == "how many"
    assert table.rows.data(table.rows.index(0, 1), Qt.ItemDataRole.ToolTipRole) == "Table tip 0"


def test_no_number_of_a_table_is_cut(qtbot: Any) -> None:
    table = RowTable()
    qtbot.addWidget(table)
    table.show_grid(made.grid(9, "A very long name of a group that must be read whole"))
    for column in range(3):
        wanted = table.sizeHintForColumn(column)
        assert table.columnWidth(column) >= wanted
    assert table.height() >= 9 * table.verticalHeader().defaultSectionSize()


def test_a_panel_copies_its_sentence_and_its_table(qtbot: Any) -> None:
    view = PanelView(Panel("p", "Side bias", "All is well.", (made.bars(2), made.grid(2)), ("n",)))
    qtbot.addWidget(view)
    told: list[str] = []
    view.copied.connect(told.append)
    keys = {key.text(): key for key in view.findChildren(QPushButton)}
    keys["Copy sentence"].click()
    assert QGuiApplication.clipboard().text() == "All is well."
    keys["Copy table"].click()
    assert QGuiApplication.clipboard().text() == view.tables[0].text()
    assert told == ["The sentence", "The table"]
    view.charts[0].pointed.emit("49.1 %")
    assert view.point.text() == "49.1 %"


def test_a_panel_without_a_chart_is_its_sentence(qtbot: Any) -> None:
    view = PanelView(Panel("p", "Blinding", "Nobody was asked to guess."))
    qtbot.addWidget(view)
    words = [label.text() for label in view.findChildren(QLabel) if not label.isHidden()]
    assert words[:2] == ["Blinding", "Nobody was asked to guess."]
    assert view.charts == []


def page(qtbot: Any) -> StatisticsView:
    view = StatisticsView()
    qtbot.addWidget(view)
    view.resize(1196, 760)
    view.show_studies([("s1", "Chest")], "s1")
    raters = [("", "All raters"), ("AB", "AB")]
    view.show_choices(raters, "", [("0", "A : B"), ("1", "A : C")], "1", "leave out")
    view.show_statistics(made.shown())
    view.show()
    qtbot.waitExposed(view)
    view.activateWindow()
    qtbot.waitUntil(view.isActiveWindow)
    return view


def test_the_choices_of_the_head_say_what_was_chosen(qtbot: Any) -> None:
    view = page(qtbot)
    told: list[tuple[str, str]] = []
    for name in ("rater", "pair", "ties", "study"):
        getattr(view, f"{name}_chosen").connect(lambda key, name=name: told.append((name, key)))
        box = getattr(view, name)
        assert not box.isHidden()
        box.setCurrentIndex(0)
        box.activated.emit(0)
    assert told == [("rater", ""), ("pair", "0"), ("ties", "leave out"), ("study", "s1")]
    view.show_choices([("", "AB")], "", [("0", "A : B")], "0", "")
    view.show_statistics(made.shown())
    assert view.rater.isHidden()
    assert view.pair.isHidden()
    assert view.ties.isHidden()


def test_from_a_mark_to_its_answers_to_one_item_and_back(qtbot: Any) -> None:
    view = page(qtbot)
    sheet = view.tabs.currentWidget()
    assert isinstance(sheet, SheetView)
    chart = sheet.panels[0].charts[0]
    wanted: list[Any] = []
    view.behind_wanted.connect(wanted.append)
    chart.setFocus(Qt.FocusReason.TabFocusReason)
    qtbot.keyClick(chart, KEYS.Key_Return)
    assert wanted[0].title == "Model 0"
    view.show_answers("Model 0", made.answers(3))
    assert "3 answers" in view.answers.heading.text()
    places: list[int] = []
    ups: list[int] = []
    view.answer_wanted.connect(places.append)
    view.up_wanted.connect(lambda: ups.append(1))
    qtbot.keyClick(view.answers.table, KEYS.Key_Down)
    qtbot.keyClick(view.answers.table, KEYS.Key_Return)
    assert places == [1]
    qtbot.keyClick(view.answers.table, KEYS.Key_Escape)
    assert ups == [1]
    view.show_sheets()
    assert view.focusWidget() is chart, "the focus is where it was left"


def test_the_second_half_of_a_double_click_opens_no_item(qtbot: Any) -> None:
    view = page(qtbot)
    places: list[int] = []
    view.answer_wanted.connect(places.append)
    view.show_answers("x", made.answers(3))
    view.answers._open(view.answers.model.index(0, 0))
    assert places == []
    view.answers._since -= 2 * GUARD_S
    view.answers._open(view.answers.model.index(0, 0))
    assert places == [0]


def test_the_list_is_copied_and_an_empty_one_says_so(qtbot: Any) -> None:
    view = page(qtbot)
    view.show_answers("x", made.answers(2))
    view.answers.copy.click()
    assert QGuiApplication.clipboard().text().splitlines()[0].startswith("Item\tTask\tForm")
    view.show_answers("x", [])
    assert "0 answers" in view.answers.heading.text()
    assert view.answers._pages.currentIndex() == 1


def board() -> BoardItem:
    content = Content((), "a text")
    return BoardItem(content, (content,) * 3, (content,) * 3, "Find it.")


def opened_item(qtbot: Any) -> ItemView:
    view = ItemView()
    qtbot.addWidget(view)
    view.resize(1196, 700)
    view.show_item(made.opened(), board())
    view.show()
    qtbot.waitExposed(view)
    return view


def test_an_opened_item_names_models_and_marks_the_right_answer_in_words(qtbot: Any) -> None:
    view = opened_item(qtbot)
    assert view.wings["left"].accessibleName() == "left: Model A"
    assert "Preferred" in view.wings["left"].accessibleDescription()
    assert "not among the three" in view.wings["right"].accessibleDescription()
    assert [frame.accessibleName() for frame in view.board.left] == [
        "LEFT 1", "LEFT 2  ✓ right answer", "LEFT 3"]  # fmt: skip
    assert "Comment: Model" in view.comment.text()
    assert view.board.prompt.back.isHidden(), "there is nothing to answer here"
    assert view.board.prompt.on.isHidden()


def test_keys_of_an_opened_item_step_and_leave_and_never_answer(qtbot: Any) -> None:
    view = opened_item(qtbot)
    steps: list[int] = []
    left: list[int] = []
    view.stepped.connect(steps.append)
    view.left.connect(lambda: left.append(1))
    for key in (KEYS.Key_N, KEYS.Key_P, KEYS.Key_F, KEYS.Key_J, KEYS.Key_T):
        qtbot.keyClick(view, key)
    assert steps == [1, -1]
    view.board.enlarge(view.board.query)
    qtbot.keyClick(view, KEYS.Key_Escape)
    assert not view.board.enlarged
    assert left == []
    qtbot.keyClick(view, KEYS.Key_Escape)
    assert left == [1]


def test_an_item_that_cannot_be_shown_says_why(qtbot: Any) -> None:
    view = opened_item(qtbot)
    view.show_problem("Item 3", "It was never shown.")
    assert view.board.isHidden()
    assert view.wait.text() == "It was never shown."


@pytest.mark.parametrize("percent", [100, 200])
def test_the_head_breaks_into_lines_and_cuts_no_choice(percent: int, qtbot: Any) -> None:
    theme.theme.apply(QApplication.instance(), percent=percent)
    try:
        view = page(qtbot)
        QApplication.processEvents()
        for piece in (view.study, view.rater, view.pair, view.ties, view.publish):
            assert piece.width() >= piece.sizeHint().width()
            assert view.rect().contains(_inside(view, piece))
        assert view.outcome.height() >= view.outcome.heightForWidth(view.outcome.width())
    finally:
        theme.theme.apply(QApplication.instance())


def _inside(view: QWidget, piece: QWidget) -> Any:
    corner = piece.mapTo(view, QPoint(0, 0))
    return piece.rect().translated(corner)


def test_what_is_published_is_chosen_in_the_menu(qtbot: Any) -> None:
    view = page(qtbot)
    asked: list[tuple[str, str]] = []
    view.publish_wanted.connect(lambda comments, names: asked.append((comments, names)))
    view.publish.write.trigger()
    view.publish.comments.setChecked(True)
    view.publish.names.setChecked(True)
    view.publish.write.trigger()
    assert asked == [("leave out", "codes"), ("include", "names")]


def test_the_interval_of_ties_never_leaves_the_scale() -> None:
    """Every split of up to twelve answers, by Wilson's interval."""
    for n in range(1, 13):
        for first in range(n + 1):
            for ties in range(n - first + 1):
                low, high = (100 * end for end in proportion_confint(ties, n, method="wilson"))
                ends = tie_ends(100 * first / n, (100 * ties / n, low, high))
                assert -1e-9 <= ends[0] <= ends[1] <= 100 + 1e-9, (n, first, ties)
                assert ends[1] - ends[0] == pytest.approx(high - low), "its length is the interval"


def test_the_interval_of_ties_stands_at_a_border_where_there_is_room() -> None:
    assert tie_ends(20.0, (30.0, 25.0, 36.0)) == (45.0, 56.0), "around the right border"
    assert tie_ends(60.0, (30.0, 10.0, 50.0)) == (40.0, 80.0), "around the left one"
    assert tie_ends(100 / 3, (100 / 3, 6.15, 79.23)) == (6.15, 79.23), "1 of 3: from 0 %"


def test_the_first_column_of_a_wide_table_stays_while_the_others_move(qtbot: Any) -> None:
    table = RowTable()
    qtbot.addWidget(table)
    head = ("Group", *(f"A quantity with a name, {n}" for n in range(8)))
    lines = tuple(
        replace(line, cells=(line.cells[0], *("49.1 % [44.8, 53.3] (260 of 530)",) * 8))
        for line in made.grid(5).lines
    )
    table.show_grid(Grid("Groups", head, lines))
    table.resize(700, table.height())
    table.show()
    qtbot.waitExposed(table)
    still = table.still
    assert still.isVisible()
    assert still.width() == table.columnWidth(0)
    bar = table.horizontalScrollBar()
    bar.setValue(bar.maximum())
    first = table.model().index(2, 0)
    assert table.visualRect(first).right() < 0, "the table's own is out of sight"
    assert still.visualRect(first).left() == 0
    assert still.visualRect(first).top() == table.visualRect(first).top()
    assert [n for n in range(9) if not still.isColumnHidden(n)] == [0]
    opened: list[Any] = []
    table.opened.connect(opened.append)
    qtbot.mouseClick(still.viewport(), Qt.MouseButton.LeftButton,
                     pos=still.visualRect(first).center())  # fmt: skip
    assert opened == [lines[2].behind]
    assert table.currentIndex().row() == 2, "one selection for both"
    table.resize(4000, table.height())
    assert not still.isVisible(), "nothing lies over a table that is in sight"
