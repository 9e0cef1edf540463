"""The results page's figures, queries of two models and further tables; the sources tab."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from PySide6.QtCore import QPoint, Qt

from app.presenters.bench_sources import SOURCES, build_report, mini_report, sources_of
from app.presenters.benchmark import BenchmarkPresenter
from app.presenters.results import CELLS, ResultsPresenter
from app.shown import QueryShown
from app.shown_figures import FigureShown, MarkShown, SectionShown, SettingChoice, SourceShown
from app.views.benchmark import BenchmarkView
from app.views.results import ResultsView
from app.views.source_panel import SourcePanel
from app.widgets.choice_menu import ChoiceMenu
from app.widgets.figure_view import FigureView
from db.home import Home
from db.session import open_store
from engine.control import Control
from studies.run import bench_job
from tests.app.page_fakes import page_services, view_like
from tests.studies.medheb_tree import small_root

OTHER = {"id": "random-b", "title": "Random, other seed", "family": "random",
         "settings": {"seed": 7}}  # fmt: skip


@pytest.fixture(scope="module")
def kept(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A home with the results of two random encoders; never written to."""
    folder = tmp_path_factory.mktemp("figures")
    root = small_root(folder / "data", queries=6)
    home = Home(folder / "home").make()
    (home.cards / "random-b.json").write_text(json.dumps(OTHER), encoding="utf-8")
    bench_job(home, {"data": str(root), "models": ["random", "random-b"]}, Control())
    return folder


@pytest.fixture
def services(kept: Path) -> Any:
    home = Home(kept / "home")
    with open_store(home) as store:
        yield page_services(home=home, store=store)


@pytest.fixture
def page(services: Any) -> tuple[Any, ResultsPresenter]:
    view = view_like(ResultsView)
    presenter = ResultsPresenter(view, services)
    presenter.shown()
    return view, presenter


def figure(view: Any, name: str) -> FigureShown:
    found = [values for called, values, _ in view.calls if called == "show_figure"]
    return next(values[1] for values in reversed(found) if values[0] == name)


def test_a_figure_is_drawn_in_the_size_asked_for(page: Any) -> None:
    view, _ = page
    view.figure_wanted.emit("targets", 800, 500, 1.5)
    shown = figure(view, "targets")
    assert (shown.width, shown.height, shown.ratio) == (1200, 750, 1.5)
    assert any(mark.task and mark.model for mark in shown.marks)
    (offered, chosen), _ = view.last("show_figure_models")
    assert {key for key, _ in offered} == {"random", "random-b"}
    view.figure_models_chosen.emit(["random-b"])
    view.figure_wanted.emit("targets", 800, 500, 1.0)
    assert {m.model for m in figure(view, "targets").marks if m.model} == {"random-b"}
    assert view.last("show_figure_models")[0][1] == ["random-b"] != chosen


def test_a_point_opens_the_queries_of_its_task(page: Any) -> None:
    view, _ = page
    view.point_opened.emit("no such task", "")
    assert view.last("show_tab") is None
    view.figure_wanted.emit("targets", 800, 500, 1.0)
    mark = next(mark for mark in figure(view, "targets").marks if mark.task and mark.model)
    view.point_opened.emit(mark.task, mark.model)
    assert view.last("show_tab") == ((CELLS,), {})
    assert view.last("show_queries")[0][0].startswith(mark.task)


@pytest.mark.parametrize("form", ["svg", "pdf", "png"])
def test_a_figure_is_written_where_asked(page: Any, services: Any, tmp_path: Path,
                                         form: str) -> None:  # fmt: skip
    view, _ = page
    view.figure_export_wanted.emit("profiles", form)
    assert not services.notify.sentences, "nothing is drawn yet, nothing is written"
    view.figure_wanted.emit("profiles", 800, 500, 1.0)
    path = tmp_path / f"out.{form}"
    view.ask_file = lambda suggested: str(path)
    view.figure_export_wanted.emit("profiles", form)
    assert path.stat().st_size > 1000
    assert "out." in services.notify.sentences[-1]


def rows(view: Any) -> list[QueryShown]:
    return list(view.last("show_queries")[0][2])


def test_two_models_stand_side_by_side_and_choices_part_the_queries(
    page: Any, services: Any
) -> None:
    view, presenter = page
    names = [line.model for line in presenter._results.models]
    view.cell_chosen.emit(0, names.index("random"))
    assert all(query.rank_b is None for query in rows(view)), "a floor is not offered unasked"
    view.beside_chosen.emit("random-b")
    everything = rows(view)
    assert len(everything) == 6
    assert all(query.rank_b for query in everything)
    seen = []
    for key in ("left", "right", "neither", "both"):
        view.filter_chosen.emit(key)
        (counted, chosen), _ = view.last("show_filters")
        assert chosen == key
        kept_rows = rows(view) if f"({len(rows(view))})" in dict(counted)[key] else []
        if "(0)" not in dict(counted)[key]:
            assert kept_rows, key
            seen += [query.key for query in kept_rows]
        if key == "left" and "(0)" not in dict(counted)[key]:
            assert all(q.rank == 1 and q.rank_b != 1 for q in kept_rows)
    assert sorted(set(seen)) == sorted(query.key for query in everything)
    view.filter_chosen.emit("all")
    view.query_chosen.emit(everything[0].key)
    (detail,), _ = view.last("show_query")
    assert detail.model_b == f"Random, other seed · rank {everything[0].rank_b}"
    for candidates in (detail.candidates, detail.candidates_b):
        assert sum(one.gold for one in candidates) == 1
        scores = [one.score for one in candidates if one.score is not None]
        assert scores == sorted(scores, reverse=True)
    opened: list[Any] = []
    services.open_evidence = opened.append
    view.open_wanted.emit("")
    assert opened
    assert all(path.is_file() for path in opened[0])
    pictures = {one.picture for one in (*detail.candidates, *detail.candidates_b)}
    assert len(pictures) == len(detail.candidates) + len(detail.candidates_b)
    view.picture_wanted.emit(detail.candidates_b[0].picture)
    assert view.last("show_picture")[0][1] is not None


def test_the_heat_map_is_ordered_by_difficulty_and_says_n(page: Any) -> None:
    view, _ = page
    view.order_chosen.emit("difficulty")
    (heat,), _ = view.last("show_heat")
    means = [sum(line) / len(line) for line in heat.cells]
    assert means == sorted(means)
    assert all("n = 6" in words for line in heat.words for words in line)
    view.cell_chosen.emit(0, 0)
    assert view.last("show_queries")[0][0].startswith(heat.tasks[0])


def test_further_tables_are_made_when_they_are_seen(page: Any) -> None:
    view, _ = page
    assert view.last("show_sections") is None
    view.tab_shown.emit(6)
    (name, shown), _ = view.last("show_sections")
    assert (name, len(shown)) == ("targets", 1)
    view.tab_shown.emit(8)
    (name, shown), _ = view.last("show_sections")
    assert (name, len(shown)) == ("pair", 2)
    assert "queries" in shown[0].head
    count = len(view.calls)
    view.tab_shown.emit(8)
    assert len(view.calls) == count, "made once"
    view.pair_chosen.emit("random", "random")
    assert "two different models" in view.last("show_sections")[1]["why_not"]


MARKS = (MarkShown(100, 80, "one, n = 3", "a/i2i", "m"), MarkShown(300, 200, "two, n = 3"))


def test_points_are_named_walked_and_opened(qtbot: Any) -> None:
    view = FigureView("Figure")
    qtbot.addWidget(view)
    view.resize(400, 300)
    view.show_figure(FigureShown(400, 300, bytes(4 * 400 * 300), 1.0, MARKS, "words"))
    view.show()
    told: list[str] = []
    opened: list[tuple[str, str]] = []
    view.pointed.connect(told.append)
    view.opened.connect(lambda task, model: opened.append((task, model)))
    qtbot.mouseMove(view, QPoint(200, 290))
    qtbot.mouseMove(view, QPoint(104, 83))
    assert told[-1] == "one, n = 3"
    qtbot.mouseClick(view, Qt.MouseButton.LeftButton, pos=QPoint(300, 200))
    assert opened == [], "this point is of no task"
    qtbot.mouseClick(view, Qt.MouseButton.LeftButton, pos=QPoint(100, 80))
    qtbot.keyClick(view, Qt.Key.Key_Right)
    assert told[-1] == "two, n = 3"
    qtbot.keyClick(view, Qt.Key.Key_Right)
    qtbot.keyClick(view, Qt.Key.Key_Return)
    assert opened == [("a/i2i", "m")] * 2
    assert view.accessibleDescription() == "words"
    view.say("No drawing.")
    qtbot.keyClick(view, Qt.Key.Key_Return)
    view.grab()


def test_some_models_are_chosen_never_none_and_never_too_many(qtbot: Any) -> None:
    menu = ChoiceMenu("Models", most=2)
    qtbot.addWidget(menu)
    menu.show_choices([(key, key.upper()) for key in "abc"], ["a"])
    chosen: list[list[str]] = []
    menu.chosen.connect(chosen.append)
    for key in ("b", "c", "b", "c"):
        menu._actions[key].trigger()
    assert chosen == [["a", "b"], ["b", "c"], ["c"], ["c"]]
    assert menu._actions["c"].isChecked()


def test_keys_go_on_through_the_queries(qtbot: Any) -> None:
    view = ResultsView()
    qtbot.addWidget(view)
    view.show_data_sets([("d", "d")], "d")
    view.show_tab(CELLS)
    view.resize(1200, 800)
    view.show()
    queries = [QueryShown(str(n), "text", n + 1, 9, "top", rank_b=2) for n in range(3)]
    view.show_filters([("all", "All (3)"), ("left", "Left (0)")], "all")
    view.show_queries("cell", "words", queries)
    chosen: list[str] = []
    filters: list[str] = []
    view.query_chosen.connect(chosen.append)
    view.filter_chosen.connect(filters.append)
    table = view.queries.table
    for key in (Qt.Key.Key_N, Qt.Key.Key_N, Qt.Key.Key_N, Qt.Key.Key_P, Qt.Key.Key_F):
        qtbot.keyClick(table, key)
    assert chosen == ["1", "2", "1"]
    assert filters == ["left"]
    qtbot.keyClick(table, Qt.Key.Key_M)
    assert not view.map.isVisible()
    qtbot.keyClick(table, Qt.Key.Key_M)
    assert view.map.isVisible()


# -- sources


@pytest.fixture(scope="module")
def sources() -> tuple[SourceShown, ...]:
    return sources_of("")


def test_every_source_says_how_it_is_had(sources: tuple[SourceShown, ...]) -> None:
    assert len({one.key for one in sources}) == len(sources) >= 50
    for one in sources:
        assert one.licence, one.key
        assert one.url.startswith("http"), one.key
        assert one.obtain, one.key
        assert one.access_words.startswith(one.access), one.key
        assert not one.built
        assert {"cap", "seed"} <= {choice.name for choice in one.settings}


BUILT = {
    "source": "kvasir", "data": "root", "records": 9, "faulty": 1,
    "tasks": {
        "kvasir/i2i": {"rows": 4, "pool": "exemplars", "faulty": 2, "notes": ["seed 42"],
                       "faults": [{"where": "a.jpg", "reason": "no second of its class"}]},
        "kvasir/t2i": {"rows": 0, "pool": "exemplars", "faulty": 0, "notes": [], "faults": []},
    },
    "faults": [{"where": "b.jpg", "reason": "cannot be read"}],
}  # fmt: skip


def test_a_build_names_what_it_left_out() -> None:
    report, tone = build_report(BUILT)
    assert tone == "warn"
    assert "9 records read, 3 entries left out; no row for kvasir/t2i" in report.title
    assert report.rows[0] == ("kvasir/i2i", "4", "exemplars", "2")
    assert "a.jpg: no second of its class" in report.notes
    assert "b.jpg: cannot be read" in report.notes
    whole = {"tasks": ["a/i2i"], "data": "root", "missing": []}
    assert mini_report(whole)[1] == "good"
    lacking = {**whole, "missing": [{"task": "b/i2i", "reason": "no generator"}]}
    assert mini_report(lacking)[0].rows == (("b/i2i", "no generator"),)


def test_a_source_is_built_in_the_worker(services: Any, tmp_path: Path) -> None:
    view = view_like(BenchmarkView)
    presenter = BenchmarkPresenter(view, services)
    asked: list[str] = []
    view.ask_folder = lambda title: asked.append(title) or str(tmp_path)
    view.tab_shown.emit(SOURCES)
    assert len(view.last("show_sources")[0][0]) >= 50
    view.build_wanted.emit("kvasir", {"cap": "10"})
    kind, arguments, title = services.jobs.started[-1]
    assert (kind, title) == ("bench-build", "Build kvasir")
    assert arguments == {"source": "kvasir", "folder": str(tmp_path), "data": str(tmp_path),
                         "settings": {"cap": "10"}}  # fmt: skip
    assert len(asked) == 2, "the folder of the files, then the data root that is not chosen yet"
    view.build_wanted.emit("kvasir", {})
    assert len(services.jobs.started) == 1, "one at a time"
    services.jobs.progress("j0", phase="Reading", done=3, total=9, unit="records")
    assert view.last("show_building")[0] == ("kvasir", "Reading: 3 of 9 records")
    services.jobs.end("j0", result={**BUILT, "data": str(tmp_path)})
    assert view.last("show_building")[0] == ("kvasir", "")
    assert view.last("show_built")[0][1] == "warn"
    assert view.last("show_data")[0] == (str(tmp_path),)
    view.mini_wanted.emit()
    assert services.jobs.started[-1][:2] == ("bench-mini", {"data": str(tmp_path)})
    services.jobs.end("j1", state="failed", sentence="The folder holds something else.")
    assert view.last("show_built")[0][0].title == "The folder holds something else."
    assert presenter is not None


SOURCE = SourceShown(
    "kvasir", "Kvasir", "2d", "endoscopy", "abdomen_pelvis", "open", "open: no account is needed",
    "free", "https://example.org", "Unpack it.", ("kvasir/i2i", "kvasir/t2i"), ("kvasir/i2i",),
    (SettingChoice("cap", "1000", (), "most rows"), SettingChoice("pool", "a", ("a", "b"), "open")),
)  # fmt: skip


def test_a_card_shows_what_is_built_and_hands_on_changed_settings(qtbot: Any) -> None:
    panel = SourcePanel()
    qtbot.addWidget(panel)
    other = SourceShown(**{**vars(SOURCE), "key": "b", "title": "Other", "access": "credentialed"})
    panel.show_sources([SOURCE, other])
    assert "2 sources, 2 of 4 tasks built here" in panel.count.text()
    assert "✓ kvasir/i2i" in panel.facts.text()
    assert "– kvasir/t2i" in panel.facts.text()
    assert panel.chosen_settings() == {}
    panel._fields["cap"][1].setText("50")
    panel._fields["pool"][1].setCurrentText("b")
    with qtbot.waitSignal(panel.build_wanted) as told:
        panel.build.click()
    assert told.args == ["kvasir", {"cap": "50", "pool": "b"}]
    panel.show_building("kvasir", "Reading")
    assert not panel.build.isEnabled()
    panel.show_building("kvasir", "")
    panel.show_built(SectionShown("Done.", ("task",), (("kvasir/i2i",),)), "good")
    assert not panel.report.isHidden()
    panel.search.setText("credentialed")
    assert panel.title.text() == "Other"
    assert panel.report.isHidden(), "a report belongs to its source"


def test_scores_of_other_files_than_lie_there_are_told_once(tmp_path: Path):
    root = small_root(tmp_path / "data", queries=6)
    home = Home(tmp_path / "home").make()
    bench_job(home, {"data": str(root), "models": ["random"]}, Control())
    picture = next(root.rglob("*.png"))
    picture.write_bytes(picture.read_bytes() + b"\0")
    with open_store(home) as store:
        services = page_services(home=home, store=store)
        presenter = ResultsPresenter(view_like(ResultsView), services)
        presenter.shown()
        presenter.shown()
        told = [one for one in services.notify.sentences if "other files than lie there" in one]
    assert len(told) == 1
    assert "Run them again" in told[0]
