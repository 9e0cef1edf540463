"""The presenters of the study and statistics pages: steps, sealing, and silence while blind."""

from __future__ import annotations

import csv
import shutil
from pathlib import Path
from typing import Any

import pytest

from app.presenters.statistics import StatisticsPresenter
from app.presenters.study import StudyPresenter
from app.views.statistics import StatisticsView
from app.views.study import StudyView
from app.views.study_forms import BuildWish
from db.home import Home
from studies.cli_text import study_rows, study_table
from studies.preference.study import list_studies, open_study
from studies.preference.unblind import unblind
from tests.app.blinding import of_windows
from tests.app.page_fakes import page_services, view_like
from tests.studies.preference_material import PASSPHRASE, SECRETS, small_study


@pytest.fixture(scope="module")
def kept(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A built study nobody has read."""
    folder = tmp_path_factory.mktemp("study")
    small_study(folder)
    return folder / "home"


@pytest.fixture
def services(kept: Path, tmp_path: Path, qapp: object) -> Any:
    """Services on a copy, which a test may read and unblind."""
    shutil.copytree(kept, tmp_path / "home")
    home = Home(tmp_path / "home")
    return page_services(home=home, folder=next(home.studies.glob("*/study.sqlite")).parent)


def read(folder: Path, count: int) -> None:
    """Give answers; all on the left."""
    with open_study(folder) as study:
        session = study.session("AB")
        for _ in range(count):
            if session.current() is None:
                return
            session.answer("left", answer_ms=1000)


def page(services: Any) -> tuple[Any, StudyPresenter]:
    view = view_like(StudyView)
    return view, StudyPresenter(view, services)


def steps(view: Any) -> dict[str, Any]:
    return {step.key: step for step in view.last("show_steps")[0][1]}


def test_a_damaged_study_is_listed_with_its_reason(services: Any, tmp_path: Path) -> None:
    """In the window and in the terminal alike; nothing is left out in silence."""
    for file in (tmp_path / "home" / "studies").glob("*/study.sqlite"):
        file.write_bytes(b"this is no database at all" * 100)
    view, presenter = page(services)
    presenter.shown()
    [listed] = view.last("show_studies")[0][0]
    assert (listed.title, listed.state) == ("A damaged study", "damaged")
    [step] = view.last("show_steps")[0][1]
    assert step.state == "failed"
    assert "study.sqlite" in step.sentence
    [row] = study_rows(services.home, None)
    assert row["fault"] == step.sentence
    assert step.sentence in study_table([row])


def test_a_home_without_a_study_says_so(home: Home, qapp: object) -> None:
    view, presenter = page(page_services(home=home))
    presenter.shown()
    assert "show_none" in view.names()


def test_each_step_has_its_state_and_its_one_next_action(services: Any) -> None:
    view, presenter = page(services)
    presenter.shown()
    assert [step.state for step in steps(view).values()] == ["done", "next", "later", "later",
                                                            "later"]  # fmt: skip
    assert steps(view)["read"].action == "Read"
    read(services.folder, 3)
    presenter.shown()
    assert steps(view)["read"].action == "Go on reading"
    assert "3 of" in steps(view)["read"].sentence
    read(services.folder, 1000)
    presenter.shown()
    found = steps(view)
    assert (found["read"].state, found["unblind"].state) == ("done", "next")


def test_reading_goes_to_the_review_page(services: Any) -> None:
    view, presenter = page(services)
    presenter.shown()
    view.step_wanted.emit("read")
    assert services.went == [("review", list_studies(services.home)[0].id)]


def test_verifying_names_what_was_altered(services: Any) -> None:
    view, presenter = page(services)
    presenter.shown()
    view.step_wanted.emit("verify")
    assert steps(view)["verify"].state == "done"
    (services.folder / "key.sealed").write_bytes(b"another key")
    view.step_wanted.emit("verify")
    assert steps(view)["verify"].state == "failed"
    assert "key.sealed" in steps(view)["verify"].sentence


def test_a_wrong_passphrase_leaves_the_study_blind(services: Any) -> None:
    view, presenter = page(services)
    presenter.shown()
    view.step_wanted.emit("unblind")
    assert view.last("show_unblind") == (("Chest 2026",), {})
    view.unblind_wanted.emit("wrong", "finished")
    assert "show_unblind_problem" in view.names()
    assert not list_studies(services.home)[0].unblinded


def test_unblinding_opens_the_statistics_and_the_export(services: Any, tmp_path: Path) -> None:
    read(services.folder, 1000)
    view, presenter = page(services)
    presenter.shown()
    view.unblind_wanted.emit(PASSPHRASE, "all have finished")
    assert list_studies(services.home)[0].unblinded
    assert ("study",) in services.changes.told
    found = steps(view)
    assert (found["unblind"].state, found["export"].state) == ("done", "next")
    view.step_wanted.emit("export")
    assert services.notify.sentences[-1].startswith("Study"), "no folder was chosen"
    view.ask_folder = lambda words: str(tmp_path / "out")
    view.step_wanted.emit("export")
    assert (tmp_path / "out" / "ratings.csv").is_file()


def test_a_study_is_built_in_the_worker_and_the_passphrase_is_not_kept(services: Any) -> None:
    view, presenter = page(services)
    presenter.shown()
    wish = BuildWish("New", "root", "a", "b", 10, 1, "a long secret")
    view.build_wanted.emit(wish)
    kind, arguments, title = services.jobs.started[0]
    assert (kind, title) == ("study-build", "Build study 'New'")
    assert arguments["passphrase"] == "a long secret"
    assert "a long secret" not in repr(vars(presenter))
    services.jobs.end("j0", state="failed", sentence="No task has results of both models.")
    words, named = view.last("show_build_state")
    assert words == ("No task has results of both models.",)
    assert named["tone"] == "error"


def test_the_build_form_leaves_no_names_behind_the_page(services: Any) -> None:
    services.tasks.query = lambda owner, work, done=None, failed=None: None
    view, presenter = page(services)
    presenter.shown()
    view.new_wanted.emit()
    presenter.hidden()
    assert "clear_build" in view.names()
    assert view.names()[-1] == "show_steps"


def test_a_study_file_can_be_opened_from_elsewhere(services: Any, home: Home) -> None:
    services.home = home
    view, presenter = page(services)
    presenter.shown()
    assert "show_none" in view.names()
    view.open_file_wanted.emit(str(services.folder / "study.sqlite"))
    (shown,), _ = view.last("show_studies")[0][:1], None
    assert [study.title for study in shown] == ["Chest 2026"]


def statistics(services: Any) -> tuple[Any, StatisticsPresenter]:
    view = view_like(StatisticsView)
    return view, StatisticsPresenter(view, services)


def test_statistics_are_locked_before_unblinding_and_say_why(services: Any,
                                                             tmp_path: Path) -> None:  # fmt: skip
    read(services.folder, 5)
    view, presenter = statistics(services)
    presenter.shown()
    (heading, words), _ = view.last("show_locked")
    assert "Chest 2026" in heading
    assert "5 of" in words
    assert "passphrase" in words
    assert "show_statistics" not in view.names()
    view.ask_file = lambda suggested: str(tmp_path / "out.csv")
    for form in ("csv", "json", "png", "svg", "pdf"):
        view.export_wanted.emit(form)
    assert not (tmp_path / "out.csv").exists()


def test_statistics_after_unblinding(services: Any, tmp_path: Path) -> None:
    read(services.folder, 1000)
    unblind(services.folder, PASSPHRASE, "all have finished")
    view, presenter = statistics(services)
    presenter.shown()
    (shown,), _ = view.last("show_statistics")
    assert {shown.arm_a, shown.arm_b} == {"Veiled Title", "Masked Title"}
    overall = shown.bars[0]
    assert sum(overall.counts) == overall.n
    assert sum(overall.shares) == pytest.approx(100)
    for share, (low, high) in zip(overall.shares, overall.intervals, strict=True):
        assert low <= share <= high
    titles = [bar.title for bar in shown.bars]
    assert "Only Veiled Title right" in titles
    assert any("all have finished" in sentence for sentence in shown.sentences)
    for form in ("csv", "json", "png", "svg", "pdf"):
        target = tmp_path / f"out.{form}"
        view.ask_file = lambda suggested, target=target: str(target)
        view.export_wanted.emit(form)
        assert target.stat().st_size > 100
    with (tmp_path / "out.csv").open(encoding="utf-8", newline="") as file:
        assert "answer" in next(csv.reader(file))
    assert {path.name for path in tmp_path.glob("out.*")} == {
        f"out.{form}" for form in ("csv", "json", "png", "svg", "pdf")
    }


def test_an_altered_open_key_is_told_instead_of_numbers(services: Any) -> None:
    read(services.folder, 3)
    unblind(services.folder, PASSPHRASE, "finished")
    (services.folder / "key.json").write_text("{}", encoding="utf-8")
    view, presenter = statistics(services)
    presenter.shown()
    assert "key.json" in view.last("show_locked")[0][1]


@pytest.mark.parametrize("view_class", [StudyView, StatisticsView])
def test_the_true_pages_tell_nothing_while_blind(view_class: Any, services: Any,
                                                 qtbot: Any) -> None:  # fmt: skip
    read(services.folder, 5)
    view = view_class()
    qtbot.addWidget(view)
    presenter_class = StudyPresenter if view_class is StudyView else StatisticsPresenter
    presenter = presenter_class(view, services)
    presenter.shown()
    view.resize(1196, 760)
    view.grab()
    told = [text.casefold() for _, text in of_windows([view])]
    assert any("chest 2026" in text for text in told), "the walk sees the page"
    assert not [word for word in SECRETS for text in told if word.casefold() in text]
