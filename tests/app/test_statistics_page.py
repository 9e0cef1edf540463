"""The presenter of the Statistics page on true studies: locked, computed, listed, opened."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import pytest

from app.presenters.statistics import StatisticsPresenter
from app.presenters.statistics_item import ItemDesk
from app.shown_statistics import Bars, Behind, StatisticsShown
from app.views.statistics import StatisticsView
from db.home import Home
from studies.errors import StillBlind
from studies.preference.analysis.tables import ItemFacts
from studies.preference.opened import open_item
from studies.preference.study import list_studies, open_study
from studies.preference.unblind import unblind
from tests.app.blinding import of_windows
from tests.app.page_fakes import page_services, view_like
from tests.studies.preference_material import PASSPHRASE, SECRETS, small_study

ANSWERS = ("left", "right", "both", "neither", "left")


@pytest.fixture(scope="module")
def kept(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A built study nobody has read."""
    folder = tmp_path_factory.mktemp("study")
    small_study(folder)
    return folder / "home"


@pytest.fixture(scope="module")
def opened(kept: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The same read by two and unblinded."""
    root = tmp_path_factory.mktemp("opened") / "home"
    shutil.copytree(kept, root)
    folder = next(Home(root).studies.glob("*/study.sqlite")).parent
    read(folder, 1000)
    read(folder, 9, "CD")
    unblind(folder, PASSPHRASE, "all have finished")
    return root


@pytest.fixture(autouse=True)
def few_draws(monkeypatch: pytest.MonkeyPatch) -> None:
    """The bootstrap is tested where it is made."""
    monkeypatch.setattr("app.presenters.statistics.DRAWS", 50)


def copied(root: Path, tmp_path: Path) -> Any:
    """Services on a copy of a home."""
    shutil.copytree(root, tmp_path / "home")
    home = Home(tmp_path / "home")
    return page_services(home=home, folder=next(home.studies.glob("*/study.sqlite")).parent)


@pytest.fixture
def blind(kept: Path, tmp_path: Path, qapp: object) -> Any:
    return copied(kept, tmp_path)


@pytest.fixture
def services(opened: Path, tmp_path: Path, qapp: object) -> Any:
    return copied(opened, tmp_path)


def read(folder: Path, count: int, rater: str = "AB") -> None:
    """Answer in turn; every answer has a comment."""
    with open_study(folder) as study:
        session = study.session(rater)
        for place in range(count):
            if session.current() is None:
                return
            session.answer(ANSWERS[place % 5], answer_ms=1000 + place, comment=f"note {place}")


def statistics(services: Any) -> tuple[Any, StatisticsPresenter]:
    view = view_like(StatisticsView)
    return view, StatisticsPresenter(view, services)


def shown(view: Any) -> StatisticsShown:
    return view.last("show_statistics")[0][0]


def bars(told: StatisticsShown) -> Bars:
    return next(part for part in told.sheets[0].panels[0].parts if isinstance(part, Bars))


def test_without_a_study_the_page_says_so(home: Home, qapp: object) -> None:
    view, presenter = statistics(page_services(home=home))
    presenter.shown()
    assert view.last("show_studies") == (([], ""), {})
    assert "show_working" not in view.names()


def test_a_sealed_study_says_why_it_is_locked_and_who_opens_it(blind: Any) -> None:
    read(blind.folder, 5)
    view, presenter = statistics(blind)
    presenter.shown()
    (heading, words), _ = view.last("show_locked")
    assert "Chest 2026" in heading
    assert "5 of" in words
    assert "passphrase" in words
    assert "coordinator" in words
    assert not {"show_statistics", "show_working", "show_choices"} & set(view.names())


def test_a_sealed_study_publishes_lists_and_opens_nothing(blind: Any, tmp_path: Path) -> None:
    read(blind.folder, 5)
    view, presenter = statistics(blind)
    presenter.shown()
    view.ask_folder = lambda suggested: str(tmp_path / "out")
    view.publish_wanted.emit("include", "names")
    view.behind_wanted.emit(Behind("All"))
    view.answer_wanted.emit(0)
    assert not (tmp_path / "out").exists()
    assert not {"show_answers", "show_opening", "show_item"} & set(view.names())


def test_an_item_of_a_blind_study_is_refused_below_the_window(blind: Any) -> None:
    with open_study(blind.folder) as study:
        item = ItemFacts("x", "item", "A", "B", "A", "t", "f", "2d", "id", "both")
        with pytest.raises(StillBlind):
            open_item(study, item, None)


def test_the_true_page_tells_nothing_while_blind(blind: Any, qtbot: Any) -> None:
    read(blind.folder, 5)
    view = StatisticsView()
    qtbot.addWidget(view)
    presenter = StatisticsPresenter(view, blind)
    presenter.shown()
    view.resize(1196, 760)
    view.grab()
    told = [text.casefold() for _, text in of_windows([view])]
    assert any("chest 2026" in text for text in told), "the walk sees the page"
    assert not [word for word in SECRETS for text in told if word.casefold() in text]


def test_no_page_that_was_open_stays_behind_the_lock(services: Any, qtbot: Any) -> None:
    view = StatisticsView()
    qtbot.addWidget(view)
    presenter = StatisticsPresenter(view, services)
    presenter.shown()
    view.behind_wanted.emit(Behind("All"))
    view.answer_wanted.emit(0)
    assert any("veiled title" in text.casefold() for _, text in of_windows([view]))
    view.show_locked("'Another' is sealed", "3 of 9 items are answered.")
    qtbot.wait(1)
    told = [(place, text.casefold()) for place, text in of_windows([view])]
    assert not [(w, at) for w in SECRETS for at, text in told if w.casefold() in text]


def test_an_unblinded_study_shows_its_outcome(services: Any) -> None:
    view, presenter = statistics(services)
    presenter.shown()
    told = shown(view)
    assert "show_working" in view.names(), "it says that it computes"
    assert "Veiled Title" in told.sentence
    assert "Masked Title" in told.sentence
    assert any("all have finished" in fact for fact in told.facts)
    drawn = bars(told)
    assert (drawn.first, drawn.second) == ("Veiled Title better", "Masked Title better")
    whole = drawn.bars[0]
    assert sum(piece.count for piece in whole.pieces) == whole.n
    assert sum(piece.share for piece in whole.pieces) == pytest.approx(100)
    for piece in whole.pieces:
        assert piece.low is None or piece.low <= piece.share <= piece.high
    assert {"Only Veiled Title right", "AB", "CD"} <= {bar.title for bar in drawn.bars}
    assert len(told.sheets) == 7


def test_one_rater_is_looked_at_alone(services: Any) -> None:
    view, presenter = statistics(services)
    presenter.shown()
    raters = view.last("show_choices")[0][0]
    assert raters == [("", "All raters, pooled"), ("AB", "AB"), ("CD", "CD")]
    pooled = bars(shown(view)).bars[0].n
    view.rater_chosen.emit("CD")
    assert bars(shown(view)).bars[0].n < pooled
    assert "judged by CD" in shown(view).sentence
    before = view.names().count("show_working")
    view.rater_chosen.emit("")
    assert bars(shown(view)).bars[0].n == pooled
    assert view.names().count("show_working") == before, "what was computed is kept"


def test_identical_lists_are_counted_or_left_out(services: Any) -> None:
    view, presenter = statistics(services)
    presenter.shown()
    without = bars(shown(view)).bars[0].n
    assert view.last("show_choices")[0][4] == "leave out"
    view.ties_chosen.emit("count")
    assert bars(shown(view)).bars[0].n > without
    assert "counted as ties" in " ".join(shown(view).facts)


def test_a_mark_lists_its_answers_and_one_opens_with_everything(services: Any) -> None:
    view, presenter = statistics(services)
    presenter.shown()
    piece = bars(shown(view)).bars[0].pieces[0]
    view.behind_wanted.emit(piece.behind)
    (title, lines), _ = view.last("show_answers")
    assert len(lines) == piece.count
    assert "Veiled Title better" in title
    assert all(line.answer.startswith("Veiled Title better (") for line in lines)
    view.answer_wanted.emit(1)
    (told, board), _ = view.last("show_item")
    chosen = [wing for wing in (told.left, told.right) if wing.chosen]
    assert [wing.model for wing in chosen] == ["Veiled Title"]
    assert {told.left.model, told.right.model} == {"Veiled Title", "Masked Title"}
    assert told.comment.startswith("note ")
    assert dict(told.facts)["Rater"] == lines[1].rater
    assert board.query.pictures or board.query.text
    view.step_wanted.emit(-1)
    assert view.last("show_item")[0][0].title == f"Item {lines[0].number}, {lines[0].task}"
    view.step_wanted.emit(-1)
    view.up_wanted.emit()
    assert view.last("show_list") == ((0,), {})
    view.up_wanted.emit()
    assert view.names()[-1] == "show_sheets"


def test_identical_lists_were_never_shown_and_say_so(services: Any) -> None:
    view, presenter = statistics(services)
    presenter.shown()
    view.behind_wanted.emit(Behind("Ties", (("kind", "auto_tie"),)))
    view.answer_wanted.emit(0)
    assert "never shown" in view.last("show_item_problem")[0][1]


def test_the_chosen_rater_is_published_where_the_user_says(
    services: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The kit itself is tested where it is made, and against the page in the numbers' test."""
    asked: list[Any] = []

    def publish(path: Path, folder: Path, **how: Any) -> tuple[Path, ...]:
        asked.append((path, folder, how))
        return (folder / "ratings.csv", folder / "summary.json")

    monkeypatch.setattr("studies.preference.kit.publish.publish", publish)
    view, presenter = statistics(services)
    presenter.shown()
    view.ask_folder = lambda suggested: ""
    view.publish_wanted.emit("leave out", "codes")
    assert "Publishing" not in " ".join(services.notify.sentences)
    view.ask_folder = lambda suggested: str(tmp_path / "out")
    view.rater_chosen.emit("CD")
    view.publish_wanted.emit("include", "codes")
    [(path, folder, how)] = asked
    assert (path, folder) == (services.folder, tmp_path / "out")
    assert how == {"comments": "include", "names": "codes", "rater": "CD"}
    assert "2 files were written" in services.notify.sentences[-1]


def test_an_altered_open_key_is_told_instead_of_numbers(services: Any) -> None:
    (services.folder / "key.json").write_text("{}", encoding="utf-8")
    view, presenter = statistics(services)
    presenter.shown()
    assert "key.json" in view.last("show_locked")[0][1]
    assert "show_statistics" not in view.names()


def test_a_study_from_elsewhere_is_shown_by_its_folder(services: Any, home: Home) -> None:
    folder, services.home = services.folder, home
    view, presenter = statistics(services)
    presenter.shown(str(folder))
    assert view.last("show_studies")[0][1] == str(folder)
    assert "Veiled Title" in shown(view).sentence
    services.home = Home(folder.parent.parent)
    presenter.shown(str(folder))
    assert view.last("show_studies")[0][1] == folder.name, "one of the home is listed once"
    assert len(view.last("show_studies")[0][0]) == 1


def test_what_was_cancelled_is_not_shown(services: Any) -> None:
    waiting: list[Any] = []
    at_once = services.tasks.run
    view, presenter = statistics(services)
    services.tasks.run = lambda owner, work, done=None, failed=None: waiting.append((work, done))
    presenter.shown()
    work, done = waiting.pop(0)
    done(work())
    assert view.names()[-1] == "show_working"
    view.cancel_wanted.emit()
    assert view.last("show_locked")[0][0] == "Stopped"
    work, done = waiting.pop(0)
    done(work())
    assert "show_statistics" not in view.names()
    services.tasks.run = at_once
    view.study_chosen.emit(list_studies(services.home)[0].id)
    assert "show_statistics" in view.names()


def test_answers_that_come_back_later_are_seen(services: Any) -> None:
    view, presenter = statistics(services)
    presenter.shown()
    drawn = view.names().count("show_statistics")
    presenter.shown()
    presenter.shown(services.folder.name)
    assert view.names().count("show_statistics") == drawn, "it stands as it was left"
    services.changes.tell("study", origin="study")
    assert view.names().count("show_statistics") == drawn + 1


def test_nothing_is_computed_behind_another_page(services: Any) -> None:
    view, presenter = statistics(services)
    presenter.shown()
    presenter.hidden()
    before = list(view.names())
    services.changes.tell("rating", origin="review")
    services.changes.tell("study", origin="study")
    assert view.names() == before
    presenter.shown()
    assert view.names().count("show_working") == before.count("show_working") + 1


def test_a_list_of_before_opens_nothing_after_another_study(services: Any) -> None:
    view = view_like(StatisticsView)
    desk = ItemDesk(view, services)
    view.answer_wanted.emit(0)
    view.up_wanted.emit()
    desk.close()
    assert view.calls == []
