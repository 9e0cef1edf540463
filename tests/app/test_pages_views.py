"""Every page's view: empty, ordinary, huge and ugly data; names on every control."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import pytest
from PySide6.QtCore import QMimeData, QPoint, QPointF, Qt, QUrl
from PySide6.QtGui import QDragEnterEvent, QDragLeaveEvent, QDropEvent, QGuiApplication, QImage
from PySide6.QtWidgets import (
    QAbstractButton,
    QAbstractItemView,
    QAbstractSpinBox,
    QApplication,
    QComboBox,
    QLineEdit,
    QPlainTextEdit,
    QTabBar,
    QWidget,
)

from app import theme
from app.shown import CollectionShown, ImportShown, KeyShown, KinShown, LibraryFilter
from app.shown_figures import SectionShown, SettingChoice, SourceShown
from app.tables.evidence import KEPT_PICTURES
from app.views.benchmark import BenchmarkView
from app.views.library import LibraryView
from app.views.models import ModelsView
from app.views.neighbours import NeighboursView
from app.views.results import ResultsView
from app.views.settings import SettingsView
from app.views.statistics import StatisticsView
from app.views.study import StudyView
from app.widgets.thumbnail_grid import BADGES, PROBLEM, two_lines
from db.settings import Settings
from tests.app import page_data as made
from tests.app import statistics_data

VIEWS = (LibraryView, BenchmarkView, ResultsView, NeighboursView, StudyView, StatisticsView,
         ModelsView, SettingsView)  # fmt: skip
SIZES = ((1196, 760), (1836, 1040), (880, 600))


def fill_library(view: Any, count: int, text: str) -> None:
    view.show_collections([CollectionShown("a", text, count)], "a")
    view.show_facets([("CT (3)", "CT"), (text, text)], [(text, text)])
    view.show_patient(text)
    view.show_import(ImportShown("done", text, None, (text,) * 3, (text,)))
    view.show_options([("retain-uids", text)], ["retain-uids"])
    view.show_clean(on=True, folder=text)
    view.show_items(count, made.evidence(min(count, 200), text))
    view.show_preview(made.preview(text), QImage(8, 8, QImage.Format.Format_RGB888))
    view.show_kin("1", KinShown(text))
    view.show_report("1", text, text, [("findings", text, text)])


def fill_benchmark(view: Any, count: int, text: str) -> None:
    view.show_data(text)
    view.show_models([made.model(str(n), title=text, usable=n % 2 == 0) for n in range(20)], ["0"])
    view.show_tasks(made.tasks(count, text), [f"{text}/0"])
    view.show_rows(made.progress(count, text))
    view.show_plan(text, warning=text, can_run=True)
    view.show_running(running=True)
    view.show_progress(3, 9, text, text)
    choice = SettingChoice(text, text, (text,), text)
    told = SourceShown(text, text, "2d", text, text, "open", text, text, text, text, (text,), (),
                       (choice,))  # fmt: skip
    view.show_sources([told] * min(count, 60))
    view.show_building(text, text)
    view.show_built(SectionShown(text, (text,), ((text,),), (text,)), "warn")


def fill_results(view: Any, count: int, text: str) -> None:
    view.show_data_sets([("d", text)], "d")
    view.show_note(text)
    view.show_marks(text)
    view.show_families(made.scores(9, min(count, 40), text))
    view.show_splits(made.scores(3, min(count, 40), text), [("m0", "0.4")])
    view.show_heat(made.heat(count, 13, text))
    view.show_queries(text or "t", text, made.queries(count, text))
    view.show_query(made.detail(50, text))
    view.show_models([("a", text), ("b", "B")])
    view.show_record(made.record(text), "a")
    view.show_chosen(text)
    view.show_beside([("", text), ("b", text)], "b")
    view.show_filters([("all", text)], "all")
    view.show_figure_models([("a", text), ("b", text)], ["a"])
    view.say_figure("targets", text)
    table = SectionShown(text, (text, text), ((text, text),) * min(count, 200), (text,))
    for name in ("targets", "graded", "pair"):
        view.show_sections(name, (table,))
    view.show_pair([("a", text), ("b", text)], "a", "b")
    view.show_tab(2)


def fill_neighbours(view: Any, count: int, text: str) -> None:
    view.show_query(made.preview(text))
    view.show_collections([CollectionShown("a", text, count)], "a")
    view.show_models([made.model("a", title=text), made.model("b")], "a", "b")
    view.show_state(text, tone="error")
    view.show_ranking("left", text, made.ranked(min(count, 100), text))
    view.show_ranking("right", text, made.ranked(min(count, 100), text)[::-1])


def fill_study(view: Any, count: int, text: str) -> None:
    view.show_studies([made.study(text) for _ in range(min(count, 300))], "s1")
    view.show_steps(made.study(text), made.steps(text))
    view.show_readers([made.reader(text)] * min(count, 60))
    view.show_unblind(text, text)
    view.show_unblind_problem(text)


def fill_statistics(view: Any, count: int, text: str) -> None:
    view.show_studies([("s1", text)], "s1")
    view.show_statistics(statistics_data.shown(min(count, 60), text))


def fill_models(view: Any, count: int, text: str) -> None:
    shown = [made.model(str(n), title=text, usable=n % 3 == 0) for n in range(min(count, 40))]
    view.show_models(shown, text)
    view.show_check("0", text, tone="error")


def fill_settings(view: Any, count: int, text: str) -> None:
    view.show_settings(Settings(rater_name=text[:20].strip()), text)
    view.show_keys([KeyShown(text, text, "Ctrl+1", text) for _ in range(min(count, 300))])
    view.show_state(text, tone="error")


FILL: dict[type, Callable[[Any, int, str], None]] = dict(
    zip(VIEWS, (fill_library, fill_benchmark, fill_results, fill_neighbours, fill_study,
                fill_statistics, fill_models, fill_settings), strict=True)
)  # fmt: skip


def draw(view: QWidget, size: tuple[int, int] = SIZES[0]) -> QImage:
    view.resize(*size)
    view.ensurePolished()
    return view.grab().toImage()


@pytest.mark.parametrize("view_class", VIEWS)
def test_an_empty_page_draws(view_class: type, qtbot: Any) -> None:
    view = view_class()
    qtbot.addWidget(view)
    assert not draw(view).isNull()


@pytest.mark.parametrize("view_class", VIEWS)
@pytest.mark.parametrize("count", [1, 5000])
def test_a_page_draws_one_and_many(view_class: type, count: int, qtbot: Any) -> None:
    view = view_class()
    qtbot.addWidget(view)
    FILL[view_class](view, count, "case")
    for size in SIZES:
        picture = draw(view, size)
        assert picture.width() >= size[0]
    colours = {picture.pixel(x, y) for x in range(0, 880, 11) for y in range(0, 600, 7)}
    assert len(colours) > 5, "the page is blank"


@pytest.mark.parametrize("view_class", VIEWS)
def test_a_page_draws_ugly_words(view_class: type, ugly: str, qtbot: Any) -> None:
    view = view_class()
    qtbot.addWidget(view)
    FILL[view_class](view, 3, ugly)
    assert not draw(view).isNull()


def inside(widget: QWidget, kinds: tuple[type, ...]) -> bool:
    """Whether a widget is a part of one of these kinds."""
    above = widget.parentWidget()
    while above is not None and not isinstance(above, kinds):
        above = above.parentWidget()
    return above is not None


def controls(view: QWidget) -> list[QWidget]:
    """What a person can reach with Tab or the pointer; not the parts Qt builds them of."""
    kinds = (QAbstractButton, QAbstractItemView, QAbstractSpinBox, QComboBox, QLineEdit,
             QPlainTextEdit)  # fmt: skip
    owners = (QComboBox, QAbstractSpinBox, QLineEdit, QTabBar, QAbstractItemView)
    return [child for child in view.findChildren(QWidget)
            if isinstance(child, kinds) and not inside(child, owners)]  # fmt: skip


@pytest.mark.parametrize("view_class", VIEWS)
def test_every_control_has_an_accessible_name(view_class: type, qtbot: Any) -> None:
    view = view_class()
    qtbot.addWidget(view)
    FILL[view_class](view, 3, "case")
    shown = controls(view)
    nameless = [f"{type(c).__name__} {c.objectName()}" for c in shown if not c.accessibleName()]
    assert shown
    assert not nameless


@pytest.mark.parametrize("view_class", VIEWS)
def test_names_are_unique_where_the_words_are_the_same(view_class: type, qtbot: Any) -> None:
    view = view_class()
    qtbot.addWidget(view)
    visible = [c for c in controls(view) if isinstance(c, QAbstractButton) and not c.isHidden()]
    names = [c.accessibleName() for c in visible if c.parentWidget() is not None]
    assert len(names) >= len(set(names))
    assert all(name.strip() == name for name in names)


def test_the_library_pages_its_rows_and_asks_for_each_picture_once(qtbot: Any) -> None:
    view = LibraryView()
    qtbot.addWidget(view)
    view.show_collections([CollectionShown("a", "A", 700)], "a")
    view.show_items(700, made.evidence(200))
    asked: list[int] = []
    view.more_wanted.connect(asked.append)
    assert view.model.canFetchMore(view.grid.rootIndex())
    view.model.fetchMore(view.grid.rootIndex())
    assert asked == [200]
    assert not view.model.canFetchMore(view.grid.rootIndex()), "asked twice for one page"
    view.add_items(made.evidence(200))
    assert view.model.rowCount() == 400
    wanted: list[str] = []
    view.picture_wanted.connect(wanted.append)
    view.model.picture("7")
    view.model.picture("7")
    assert wanted == ["7"]


def test_a_collection_that_shrank_stops_asking(qtbot: Any) -> None:
    view = LibraryView()
    qtbot.addWidget(view)
    view.show_items(700, made.evidence(200))
    view.model.fetchMore(view.grid.rootIndex())
    view.add_items([])
    assert not view.model.canFetchMore(view.grid.rootIndex())


def test_files_dropped_on_the_library_are_imported(qtbot: Any, tmp_path: Any) -> None:
    view = LibraryView()
    qtbot.addWidget(view)
    got: list[list[str]] = []
    view.import_wanted.connect(got.append)
    data = QMimeData()
    data.setUrls([QUrl.fromLocalFile(str(tmp_path)), QUrl("https://example.org/x")])
    none, left = Qt.KeyboardModifier.NoModifier, Qt.MouseButton.LeftButton
    view.dropEvent(QDropEvent(QPointF(9, 9), Qt.DropAction.CopyAction, data, left, none))
    assert got == [[str(tmp_path)]]


def test_files_hanging_over_the_library_are_announced(qtbot: Any, tmp_path: Any) -> None:
    view = LibraryView()
    qtbot.addWidget(view)
    view.show_collections([CollectionShown("a", "Chest", 1)], "a")
    data = QMimeData()
    data.setUrls([QUrl.fromLocalFile(str(tmp_path / "scans.zip"))])
    none, left = Qt.KeyboardModifier.NoModifier, Qt.MouseButton.LeftButton
    event = QDragEnterEvent(QPoint(9, 9), Qt.DropAction.CopyAction, data, left, none)
    view.dragEnterEvent(event)
    assert event.isAccepted()
    assert not view._landing.isHidden()
    assert "Chest" in view._landing.text()
    view.dragLeaveEvent(QDragLeaveEvent())
    assert view._landing.isHidden()


def test_pictures_looked_at_last_are_kept_and_forgotten_ones_asked_again(qtbot: Any) -> None:
    view = LibraryView()
    qtbot.addWidget(view)
    view.show_items(2000, made.evidence(700))
    wanted: list[str] = []
    view.picture_wanted.connect(wanted.append)
    image = QImage(2, 2, QImage.Format.Format_RGB888)
    for key in range(KEPT_PICTURES):
        view.show_picture(str(key), image)
    assert view.model.picture("0") is image, "looked at: now the last to go"
    view.show_picture("650", image)
    assert view.model.picture("0") is image
    assert view.model.picture("1") is None, "the one not looked at for longest made room"
    view.model.picture("9999")
    view.forget_picture("9999")
    view.model.picture("9999")
    assert wanted == ["1", "9999", "9999"]


def test_what_an_import_left_out_can_be_read_and_copied(qtbot: Any) -> None:
    view = LibraryView()
    qtbot.addWidget(view)
    view.show()
    strip = view.strip
    view.show_import(ImportShown("running", "Reading evidence: 5 of 10 files", 500))
    assert strip.progress.value() == 500
    with qtbot.waitSignal(view.stop_wanted):
        strip.stop.click()
    view.show_import(ImportShown("done", "3 added, 2 left out.", None, ("/a: empty", "/b: cut")))
    assert strip.progress.isHidden()
    assert strip.list.isHidden(), "one line, until it is asked for"
    strip.unfold.click()
    assert not strip.list.isHidden()
    strip.copy.click()
    assert QGuiApplication.clipboard().text() == "/a: empty\n/b: cut"
    with qtbot.waitSignal(view.filter_changed) as emitted:
        strip.filter.click()
    assert emitted.args[0].problems
    strip.close_key.click()
    assert strip.isHidden()


@pytest.mark.parametrize("percent", [100, 150, 200])
def test_nothing_of_the_librarys_left_side_is_squashed(qtbot: Any, percent: int) -> None:
    theme.theme.apply(QApplication.instance(), percent=percent)
    try:
        view = LibraryView()
        qtbot.addWidget(view)
        view.show_collections([CollectionShown("a", "Chest", 3, 18)], "a")
        view.show_clean(on=True, folder="/clean")
        view.show_import(ImportShown("done", "3 added.", None, ("/a: empty",) * 18, ("copies",)))
        view.strip.unfold.click()
        view.setMinimumSize(300, 300)
        view.resize(1196, 700)
        view.show()
        QApplication.processEvents()
        assert view.height() == 700
        panel = view.side.panel
        shown = (panel.folder, panel.files, panel.clean, panel.place, view.side.form)
        least = view.preview.minimumSizeHint().width()
        assert least <= view.preview.minimumWidth(), "the preview is as narrow as it may be"
        for one in (*shown, view.side.problems, view.strip.list, view.strip.copy):
            assert one.height() >= one.minimumSizeHint().height(), one.accessibleName()
    finally:
        theme.theme.apply(QApplication.instance())


def test_a_collection_is_removed_only_once_confirmed(qtbot: Any) -> None:
    view = LibraryView()
    qtbot.addWidget(view)
    two = [CollectionShown("a", "Chest", 1), CollectionShown("b", "Knee", 1)]
    view.show_collections(two, "a")
    view.show()
    panel = view.side.remove
    gone: list[str] = []
    view.remove_wanted.connect(gone.append)
    panel.ask.click()
    assert "'Chest'" in panel.words.text()
    assert "files stay" in panel.words.text()
    view.show_collections(two, "b")
    assert not panel.sure.isVisible(), "another collection, another question"
    panel.ask.click()
    panel.leave.click()
    assert (gone, panel.sure.isVisible()) == ([], False)
    panel.ask.click()
    assert panel.sure.accessibleName() == "Remove collection Knee"
    panel.sure.click()
    assert gone == ["b"]
    view.show_collections([], "")
    assert panel.isHidden()


def test_a_lost_picture_is_told_in_its_place_and_not_counted(qtbot: Any) -> None:
    view = LibraryView()
    qtbot.addWidget(view)
    rows = made.evidence(3)
    view.show_items(3, rows)
    view.show_lost(2, replace(rows[1], kind="error", problem="cut"))
    assert view.count.text() == "2 objects"
    assert (view.model.rowCount(), view.model.index(1, 0).data(PROBLEM)) == (3, "cut")


def test_library_filters_say_all_that_is_set(qtbot: Any) -> None:
    view = LibraryView()
    qtbot.addWidget(view)
    view.show_facets([("CT (2)", "CT")], [("head (1)", "HEAD")])
    got: list[LibraryFilter] = []
    view.filter_changed.connect(got.append)
    view.side.body_part.setCurrentIndex(1)
    view.side.report.setCurrentIndex(1)
    view.side.modality.setCurrentIndex(1)
    assert got[-1] == LibraryFilter(modality="CT", body_part="HEAD", report="with")
    view.show_facets([("CT (3)", "CT"), ("MR (1)", "MR")], [])
    assert view.side.modality.currentData() == "CT", "what was chosen stays"
    view.show_patient("Same patient as a/b")
    with qtbot.waitSignal(view.patient_left):
        view.side.patient.click()


@pytest.mark.parametrize(
    ("words", "lines"),
    [
        ("film.png", ["film.png"]),
        (
            "1.2.840.113619.2.55.3.604688119.868.123",
            ["1.2.840.113619.2.55.3.", "604688119.868.123"],
        ),
        ("x" * 60, ["x" * 24, "x" * 36]),
        ("", [""]),
    ],
)
def test_captions_break_where_names_are_joined(words: str, lines: list[str]) -> None:
    fixed = SimpleNamespace(horizontalAdvance=lambda text: 5 * len(text))
    assert two_lines(words, fixed, 120) == lines  # type: ignore[arg-type]


def test_a_tile_says_its_marks_in_words(qtbot: Any) -> None:
    view = LibraryView()
    qtbot.addWidget(view)
    row = replace(made.evidence(1)[0], warnings=("face?",), kin=3, has_report=True, tip="all of it")
    view.show_items(1, [row])
    index = view.model.index(0, 0)
    assert [words for words, _ in index.data(BADGES)] == ["▲ face?", "report", "patient × 3"]
    spoken = index.data(int(Qt.ItemDataRole.AccessibleDescriptionRole))
    assert "patient × 3" in spoken
    assert index.data(int(Qt.ItemDataRole.ToolTipRole)) == "all of it"


def test_the_empty_library_offers_import_and_demo(qtbot: Any) -> None:
    view = LibraryView()
    qtbot.addWidget(view)
    view.show_collections((), "")
    with qtbot.waitSignal(view.folder_wanted):
        view._import_first.click()
    with qtbot.waitSignal(view.demo_wanted):
        view._demo_first.click()


def test_the_benchmark_tells_what_is_checked(qtbot: Any) -> None:
    view = BenchmarkView()
    qtbot.addWidget(view)
    view.show_models([made.model("a"), made.model("b", usable=False)], ["a", "b"])
    view.show_tasks(made.tasks(10), ["task/0", "task/4"])
    assert view.chosen_tasks() == ["task/0"], "a task without data cannot be chosen"
    family = view.tasks.topLevelItem(1)
    assert family is not None
    with qtbot.waitSignal(view.tasks_changed):
        family.setCheckState(0, Qt.CheckState.Checked)
    assert set(view.chosen_tasks()) == {"task/0", "task/1", "task/9"}


def test_only_failures_are_kept_by_the_filter(qtbot: Any) -> None:
    view = BenchmarkView()
    qtbot.addWidget(view)
    view.show_rows(made.progress(10))
    view.only_failures.setChecked(True)
    assert view.progress.total == 4
    assert "2 failed" in view.counts.text()


def test_a_heat_map_cell_is_chosen_by_mouse_and_keys(qtbot: Any) -> None:
    view = ResultsView()
    qtbot.addWidget(view)
    view.show_data_sets([("d", "d")], "d")
    view.show_heat(made.heat(107, 13))
    view.show_tab(2)
    draw(view)
    chosen: list[tuple[int, int]] = []
    view.cell_chosen.connect(lambda task, model: chosen.append((task, model)))
    place: QPoint = view.heat.cell_box(2, 1).center()
    qtbot.mouseClick(view.heat.viewport(), Qt.MouseButton.LeftButton, pos=place)
    qtbot.keyClick(view.heat, Qt.Key.Key_Down)
    qtbot.keyClick(view.heat, Qt.Key.Key_Return)
    assert chosen == [(2, 1), (3, 1)]
    view.heat.choose(106, 12)
    box = view.heat.cell_box(106, 12)
    assert view.heat.viewport().rect().contains(box.center()), "the last cell stays out of sight"
    assert "task/106" in view.heat.cell_words(106, 12)


def test_neighbours_open_on_enter_and_lines_join_equal_keys(qtbot: Any) -> None:
    view = NeighboursView()
    qtbot.addWidget(view)
    fill_neighbours(view, 10, "case")
    draw(view)
    opened: list[str] = []
    view.open_wanted.connect(opened.append)
    left = view.lists["left"]
    left.setCurrentIndex(left.rows.index(3))
    qtbot.keyClick(left, Qt.Key.Key_Return)
    assert opened == ["3"]
    assert "10 objects are in both" in view.shift.accessibleDescription()
