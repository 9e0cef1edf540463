"""The presenters of the benchmark and results pages on a small release tree."""

from __future__ import annotations

import json
import shutil
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from PySide6.QtCore import Qt

from app.presenters.benchmark import BenchmarkPresenter
from app.presenters.data_sets import data_sets
from app.presenters.result_records import NO_RECORD, cut_words, record_line, record_of_cell
from app.presenters.result_tables import item_words, ordered
from app.presenters.results import RECORDS, ResultsPresenter
from app.shown import QueryShown
from app.views.benchmark import BenchmarkView
from app.views.results import ResultsView
from db.home import Home
from db.session import open_store
from engine.control import Control
from engine.evidence.item import ImageRef, Item, VolumeRef
from studies.run import bench_job
from tests.app import page_data as made
from tests.app.page_fakes import page_services, view_like
from tests.studies.medheb_tree import small_root

TASKS = 9


@pytest.fixture(autouse=True)
def _only_random(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A machine without the demo models: the random encoder alone is ready."""
    monkeypatch.setattr("studies.places.shipped_models", lambda: tmp_path / "none")


@pytest.fixture(scope="module")
def kept(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A home and a data root with the random encoder's results; never written to."""
    folder = tmp_path_factory.mktemp("bench")
    root = small_root(folder / "data", queries=6)
    home = Home(folder / "home").make()
    bench_job(home, {"data": str(root), "models": ["random"]}, Control())
    return folder


@pytest.fixture
def done(kept: Path) -> Any:
    """Services on the finished home."""
    home = Home(kept / "home")
    with open_store(home) as store:
        yield page_services(home=home, store=store)


@pytest.fixture
def fresh(home: Home, kept: Path) -> Any:
    """Services on a home without results."""
    with open_store(home) as store:
        yield page_services(home=home, store=store, root=str(kept / "data"))


def bench(services: Any) -> tuple[Any, BenchmarkPresenter]:
    view = view_like(BenchmarkView)
    return view, BenchmarkPresenter(view, services)


def results(services: Any) -> tuple[Any, ResultsPresenter]:
    view = view_like(ResultsView)
    return view, ResultsPresenter(view, services)


def test_without_data_the_page_says_how_to_choose_it(fresh: Any) -> None:
    view, presenter = bench(fresh)
    presenter.shown()
    assert view.last("show_data") == (("",), {})
    view.run_wanted.emit()
    assert fresh.jobs.started == []


def test_a_plan_names_tasks_items_and_models(fresh: Any) -> None:
    view, presenter = bench(fresh)
    presenter.shown(fresh.root)
    (words,), named = view.last("show_plan")
    assert words.startswith(f"{TASKS} tasks, 1 model, ")
    assert named["can_run"] is True
    (tasks, chosen), _ = view.last("show_tasks")
    assert len(tasks) == len(chosen) == TASKS
    view.models_changed.emit([])
    assert "Choose" in view.last("show_plan")[0][0]
    assert view.last("show_plan")[1]["can_run"] is False


def test_data_that_cannot_be_read_is_named(fresh: Any, tmp_path: Path) -> None:
    (tmp_path / "tasks.csv").write_text("id,family\nx", encoding="utf-8")
    view, presenter = bench(fresh)
    presenter.shown(str(tmp_path))
    assert "tasks.csv" in view.last("show_plan")[1]["warning"]


def test_a_folder_without_tasks_says_that_all_are_missing(fresh: Any, tmp_path: Path) -> None:
    view, presenter = bench(fresh)
    presenter.shown(str(tmp_path))
    assert "107 of 107" in view.last("show_plan")[1]["warning"]
    assert view.last("show_plan")[1]["can_run"] is False


def test_a_run_asks_for_what_was_chosen(fresh: Any) -> None:
    view, presenter = bench(fresh)
    presenter.shown(fresh.root)
    view.tasks_changed.emit([view.last("show_tasks")[0][1][0]])
    view.run_wanted.emit()
    view.run_wanted.emit()
    assert len(fresh.jobs.started) == 1, "a second press starts nothing"
    kind, arguments, _ = fresh.jobs.started[0]
    assert kind == "bench"
    assert arguments["models"] == ["random"]
    assert arguments["tasks"] == view.last("show_tasks")[0][1][0]
    view.cancel_wanted.emit()
    assert fresh.jobs.cancelled == ["j0"]


def test_progress_failures_and_the_end_are_told(fresh: Any) -> None:
    view, presenter = bench(fresh)
    presenter.shown(fresh.root)
    view.run_wanted.emit()
    fresh.jobs.progress("j0", phase="random (1 of 1)", done=30, total=90, unit="items")
    (done, total, words, _), _ = view.last("show_progress")
    assert (done, total) == (30, 90)
    assert words == "random (1 of 1): 30 of 90 items"
    (place, shown), _ = view.last("show_row")
    assert (place, shown.state) == (0, "running")
    failure = {"model": "random", "task": shown.task, "row": 4, "reason": "the picture is gone"}
    fresh.jobs.end("j0", result={"computed": 8, "already": 0, "failures": [failure]})
    rows = view.last("show_rows")[0][0]
    assert [row.note for row in rows if row.state == "failed"] == ["row 4: the picture is gone"]
    assert "1 failures" in fresh.notify.sentences[-1]
    assert view.last("show_running")[1]["running"] is False


def test_memory_that_runs_out_is_said_while_it_runs_and_its_item_named(fresh: Any) -> None:
    view, presenter = bench(fresh)
    presenter.shown(fresh.root)
    view.run_wanted.emit()
    assert view.last("show_said")[0] == ("",)
    fresh.jobs.progress("j0", phase="random (1 of 1)", done=3, total=9, sentence="Reading")
    assert view.last("show_said")[0] == ("",)
    said = "Memory ran out; going on with 4 items at a time."
    fresh.jobs.progress("j0", phase="random (1 of 1)", done=4, total=9, sentence=said)
    assert view.last("show_said")[0] == (said,)
    (_, shown), _ = view.last("show_row")
    why = "large.png: about 900 tokens need more memory than the device has."
    failure = {"model": "random", "task": shown.task, "row": 2, "reason": why}
    fresh.jobs.end("j0", result={"computed": 9, "already": 0, "failures": [failure]})
    notes = [row.note for row in view.last("show_rows")[0][0] if row.state == "failed"]
    assert notes == [f"row 2: {why}"]
    assert view.last("show_said")[0] == (said,), "it stands until the next run"


def test_a_refused_model_is_named_on_each_of_its_lines(fresh: Any) -> None:
    view, presenter = bench(fresh)
    presenter.shown(fresh.root)
    view.run_wanted.emit()
    refused = [{"model": "random", "reason": "its weights are damaged"}]
    fresh.jobs.end("j0", result={"computed": 0, "refused": refused})
    rows = view.last("show_rows")[0][0]
    assert {row.note for row in rows} == {"its weights are damaged"}


def test_a_stopped_run_can_go_on(fresh: Any) -> None:
    view, presenter = bench(fresh)
    presenter.shown(fresh.root)
    view.run_wanted.emit()
    fresh.jobs.end("j0", state="lost", sentence="The worker ended.")
    assert fresh.notify.sentences == ["The worker ended."]
    view.run_wanted.emit()
    assert len(fresh.jobs.started) == 2


def test_what_is_stored_is_not_planned_again(done: Any, kept: Path) -> None:
    view, presenter = bench(done)
    presenter.shown()
    assert view.last("show_data") == ((str(kept / "data"),), {}), "the newest data comes first"
    (words,), named = view.last("show_plan")
    assert "computed already" in words
    assert named["can_run"] is False
    assert {row.state for row in view.last("show_rows")[0][0]} == {"done"}


def test_results_are_loaded_with_chance_and_intervals(done: Any) -> None:
    view, presenter = results(done)
    presenter.shown()
    (sets, chosen), _ = view.last("show_data_sets")
    assert chosen == sets[0][0]
    assert f"{TASKS} tasks" in sets[0][1]
    (table,), _ = view.last("show_families")
    assert table.rows[0].title == "Chance"
    random = table.rows[1]
    scored = [score for score in random.scores if score is not None]
    assert all(s.interval[0] <= s.value <= s.interval[1] for s in scored)
    assert all(s.chance is not None for s in scored)
    (heat,), _ = view.last("show_heat")
    assert (len(heat.tasks), heat.models) == (TASKS, ("Random",))


def test_another_metric_and_the_paper_are_shown_on_demand(done: Any) -> None:
    view, presenter = results(done)
    presenter.shown()
    before = view.last("show_families")[0][0]
    view.metric_chosen.emit("hit@5")
    after = view.last("show_families")[0][0]
    assert before.rows[1].scores[-1].value <= after.rows[1].scores[-1].value
    view.compare_toggled.emit(True)
    table = view.last("show_families")[0][0]
    printed = [row for row in table.rows if row.printed]
    assert len(printed) == 10
    assert view.last("show_marks")[0][0], "why the numbers may not be compared"
    view.compare_toggled.emit(False)
    assert view.last("show_marks")[0][0] == ""


def test_a_cell_opens_its_queries_worst_first(done: Any) -> None:
    view, presenter = results(done)
    presenter.shown()
    view.cell_chosen.emit(0, 0)
    (title, summary, queries), _ = view.last("show_queries")
    assert "Random" in title
    assert "chance" in summary
    ranks = [query.rank for query in queries]
    assert ranks == sorted(ranks, reverse=True)
    view.failures_first_toggled.emit(False)
    keys = [int(query.key) for query in view.last("show_queries")[0][2]]
    assert keys == sorted(keys)
    view.query_chosen.emit(str(keys[0]))
    (detail,), _ = view.last("show_query")
    assert sum(one.gold for one in detail.candidates) == 1
    assert detail.candidates[detail.rank - 1].gold
    view.picture_wanted.emit(detail.picture)
    (key, image), _ = view.last("show_picture")
    assert key == detail.picture
    assert image is not None


def test_a_candidate_opens_in_the_viewer(done: Any) -> None:
    view, presenter = results(done)
    opened: list[Any] = []
    done.open_evidence = opened.append
    presenter.shown()
    view.cell_chosen.emit(0, 0)
    view.query_chosen.emit(view.last("show_queries")[0][2][0].key)
    view.open_wanted.emit(view.last("show_query")[0][0].candidates[0].key)
    assert opened
    assert all(path.is_file() for path in opened[0])


def test_ranks_stay_when_the_data_is_gone(kept: Path, tmp_path: Path) -> None:
    shutil.copytree(kept / "home", tmp_path / "home")
    home = Home(tmp_path / "home")
    manifest = next(home.runs.glob("*/data.json"))
    told = json.loads(manifest.read_text(encoding="utf-8"))
    manifest.write_text(json.dumps({**told, "root": str(tmp_path / "gone")}), encoding="utf-8")
    with open_store(home) as store:
        services = page_services(home=home, store=store)
        view, presenter = results(services)
        presenter.shown()
        view.cell_chosen.emit(0, 0)
        (_, _, queries), _ = view.last("show_queries")
        assert len(queries) == 6
        view.query_chosen.emit(queries[0].key)
        (detail,), named = view.last("show_query")
        assert detail is None
        assert named["why_not"]


@pytest.mark.parametrize(("form", "start"), [("json", "{"), ("markdown", "# MedHEB")])
def test_results_are_written_where_asked(done: Any, form: str, start: str,
                                         tmp_path: Path) -> None:  # fmt: skip
    view, presenter = results(done)
    presenter.shown()
    view.ask_file = lambda suggested: str(tmp_path / "out.txt")
    view.export_wanted.emit(form)
    assert (tmp_path / "out.txt").read_text(encoding="utf-8").startswith(start)
    assert "out.txt" in done.notify.sentences[-1]


def test_a_home_without_results_shows_the_way_to_them(fresh: Any) -> None:
    view, presenter = results(fresh)
    presenter.shown()
    assert view.last("show_data_sets") == (([], ""), {})
    view.benchmark_wanted.emit()
    assert fresh.went == [("benchmark", None)]


def test_data_sets_name_their_models(done: Any) -> None:
    (found,) = data_sets(done.home, done.store)
    assert found.models == (("random", "Random"),)


def test_items_in_one_line() -> None:
    assert item_words(Item(text="<image> Which\n lobe?")) == "Which lobe?"
    assert item_words(Item(images=(ImageRef(Path("a/b.png")),))) == "b.png"
    two = Item(images=(ImageRef(Path("a/b.png")), ImageRef(Path("a/c.png"))))
    assert item_words(two) == "b.png and 1 more"
    assert item_words(Item(volumes=(VolumeRef((Path("v/ct7/0.png"),)),))) == "ct7"
    assert item_words(Item()) == "(empty)"


def test_order_of_queries() -> None:
    made = [QueryShown(str(n), "", rank, 9, "") for n, rank in enumerate((1, 9, 3, 9))]
    assert [query.key for query in ordered(made, failures_first=True)] == ["1", "3", "2", "0"]
    assert [query.key for query in ordered(made, failures_first=False)] == ["0", "1", "2", "3"]


def test_a_model_says_how_it_was_computed(done: Any) -> None:
    view, presenter = results(done)
    presenter.shown()
    assert view.last("show_models")[0] == ([("random", "Random")],)
    (shown, key), _ = view.last("show_record")
    assert (key, shown.title, shown.warning) == ("random", "Random", "")
    facts = dict(shown.facts)
    assert facts["Preset"] == "default"
    assert facts["Texts"] == "No text was cut"
    rows = {row.name: row for row in shown.settings}
    assert rows["max_slices"].value == "64"
    assert rows["max_slices"].tip == "max_slices: stated by the MedHEB paper"
    assert view.last("show_chosen")[0][0].startswith("Random: default settings, ")
    view.model_chosen.emit("no such model")
    assert view.last("show_record")[0][0].warning == NO_RECORD


def test_a_cell_says_how_it_was_computed(done: Any) -> None:
    view, presenter = results(done)
    presenter.shown()
    view.record_wanted.emit()
    assert view.last("show_tab") is None, "no cell is open"
    view.cell_chosen.emit(0, 0)
    view.record_wanted.emit()
    (shown, key), _ = view.last("show_record")
    assert key == "random"
    assert shown.title == view.last("show_queries")[0][0]
    assert view.last("show_tab") == ((RECORDS,), {})


RECORD = {
    "preset": "release", "dtype": "bfloat16", "device": "cuda:0", "attention": "sdpa",
    "end_of_text": "End-of-text token: appended.", "adapter_tensors": 252, "revision": "abc",
    "weights": "ab" * 32 + "+" + "cd" * 32, "libraries": ["torch 2.14"],
    "settings": [{"name": "fuse", "value": "sum", "origin": "release"}],
}  # fmt: skip


def test_a_record_in_words() -> None:
    cell = SimpleNamespace(record=RECORD, shortened=3)
    shown = record_of_cell("task · model", cell)
    facts = dict(shown.facts)
    assert facts["Texts"] == "3 texts cut to its length"
    assert facts["Adapter"] == "252 tensors merged"
    assert facts["End of text"].startswith("End-of-text")
    assert facts["Weights"] == f"{'ab' * 8} + {'cd' * 8}"
    assert shown.settings[0].tip == "fuse: as the benchmark authors' wrapper has it"
    assert "252 tensors merged" in record_line(shown)
    old = record_of_cell("t", SimpleNamespace(record={}, shortened=None))
    assert (old.settings, old.warning) == ((), NO_RECORD)
    assert cut_words(1) == "1 text cut to its length"


def test_the_release_settings_stand_below_their_model(qtbot: Any) -> None:
    view = BenchmarkView()
    qtbot.addWidget(view)
    plain = replace(made.model("a"), release="fuse sum → mean")
    twin = replace(plain, key="a@release", title="Model A, release settings", variant_of="a")
    view.show_models([plain, twin, made.model("b")], ["a"])
    assert view.models.topLevelItemCount() == 2
    child = view.models.topLevelItem(0).child(0)
    assert (child.text(0), child.text(1)) == ("with the release's settings", "1 setting differs")
    assert "fuse sum → mean" in child.toolTip(0)
    view.models.setCurrentItem(child)
    assert view.release.text() == "Release settings: fuse sum → mean."
    with qtbot.waitSignal(view.models_changed) as emitted:
        child.setCheckState(0, Qt.CheckState.Checked)
    assert emitted.args == [["a", "a@release"]]
    view.models.setCurrentItem(view.models.topLevelItem(1))
    assert view.release.isHidden()


def test_a_row_of_scores_chooses_its_model(qtbot: Any) -> None:
    view = ResultsView()
    qtbot.addWidget(view)
    view.show_families(made.scores(3, 2))
    chosen: list[str] = []
    view.model_chosen.connect(chosen.append)
    for place in (0, 1, 2):
        view.families.table.setCurrentIndex(view.families.model.index(place, 0))
    assert chosen == ["m0", "m1"], "the line of chance is no model"
    view.families.table.activated.emit(view.families.model.index(1, 0))
    assert view.tabs.currentIndex() == RECORDS


def test_the_window_runs_a_benchmark_in_the_true_worker(program: Any, qtbot: Any,
                                                        kept: Path) -> None:  # fmt: skip
    made = program()
    window, jobs = made.window, made.services.jobs
    window.go("benchmark", str(kept / "data"))
    view = window.pages.currentWidget()
    qtbot.waitUntil(view.run_button.isEnabled, timeout=20_000)
    states: list[str] = []
    view.progress.dataChanged.connect(
        lambda index, _last: states.append(view.progress.row_at(index).state)
    )
    view.run_button.click()
    assert view.cancel_button.isVisible()
    qtbot.waitUntil(lambda: bool(jobs.states()) and jobs.states()[0].ended, timeout=120_000)
    assert jobs.states()[0].state == "done", jobs.states()[0].sentence
    qtbot.waitUntil(lambda: f"{TASKS} of {TASKS} done" in view.counts.text(), timeout=20_000)
    assert "running" in states
    view.results_button.click()
    results_view = window.pages.currentWidget()
    qtbot.waitUntil(lambda: results_view.families.model.rowCount() == 2, timeout=20_000)
    assert window.page_id == "results"
