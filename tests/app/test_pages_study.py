"""The presenter of the study page: steps, sealing, and silence while blind."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import pytest

from app.presenters.study import StudyPresenter
from app.presenters.study_desk import logins_of
from app.shown_study import PublishAsked, ReaderAsked
from app.views.study import StudyView
from app.views.study_steps import STATE_WORDS
from app.widgets.step_card import MARKS
from db.home import Home
from db.session import open_store
from studies.cli_study_text import study_rows, study_table
from studies.preference.packs import open_pack, return_answers
from studies.preference.share import Shared
from studies.preference.study import list_studies, open_study
from studies.preference.unblind import unblind
from tests.app.blinding import of_windows
from tests.app.page_fakes import page_services, view_like
from tests.postgres import Server, server
from tests.studies.preference_material import PASSPHRASE, SECRETS, small_study

__all__ = ["server"]


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


def read(folder: Path, count: int, rater: str = "AB") -> None:
    """Give answers; all on the left."""
    with open_study(folder) as study:
        session = study.session(rater)
        for _ in range(count):
            if session.current() is None:
                return
            session.answer("left", answer_ms=1000)


def page(services: Any) -> tuple[Any, StudyPresenter]:
    view = view_like(StudyView)
    view.opened = ""
    return view, StudyPresenter(view, services)


def steps(view: Any) -> dict[str, Any]:
    return {step.key: step for step in view.last("show_steps")[0][1]}


def states(view: Any) -> dict[str, str]:
    return {key: step.state for key, step in steps(view).items()}


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


def test_each_step_has_its_state_and_exactly_one_is_next(services: Any) -> None:
    view, presenter = page(services)
    presenter.shown()
    assert list(steps(view)) == [
        "plan", "build", "hand", "read", "merge", "verify", "unblind", "publish",
    ]  # fmt: skip
    assert [key for key, state in states(view).items() if state == "next"] == ["hand"]
    assert steps(view)["read"].action == "Read here"
    read(services.folder, 3)
    presenter.shown()
    assert steps(view)["read"].action == "Go on reading"
    assert "AB: 3 of" in steps(view)["read"].sentence
    assert [key for key, state in states(view).items() if state == "next"] == ["read"]
    assert "Not complete yet: AB" in steps(view)["unblind"].sentence
    read(services.folder, 1000)
    presenter.shown()
    assert [key for key, state in states(view).items() if state == "next"] == ["verify"]
    view.step_wanted.emit("verify")
    assert [key for key, state in states(view).items() if state == "next"] == ["unblind"]


def test_many_readers_are_counted_in_the_sentence_and_named_in_the_table(services: Any) -> None:
    view, presenter = page(services)
    read(services.folder, 0, "Ann")
    presenter.shown()
    assert steps(view)["read"].action == "Begin reading"
    for number in range(5):
        read(services.folder, 1000 if number else 1, f"R{number}")
    presenter.shown()
    assert steps(view)["read"].sentence == "6 readers on this machine, 4 of them done."
    assert steps(view)["read"].action == "Go on reading"


def test_reading_goes_to_the_review_page(services: Any) -> None:
    view, presenter = page(services)
    presenter.shown()
    view.step_wanted.emit("read")
    assert services.went == [("review", list_studies(services.home)[0].id)]


def test_verifying_names_what_was_altered(services: Any) -> None:
    view, presenter = page(services)
    presenter.shown()
    view.step_wanted.emit("verify")
    assert steps(view)["verify"].state == "held"
    (services.folder / "key.sealed").write_bytes(b"another key")
    view.step_wanted.emit("verify")
    assert steps(view)["verify"].state == "failed"
    assert "key.sealed" in steps(view)["verify"].sentence


def test_a_verification_lapses_when_the_terminal_was_at_work(services: Any) -> None:
    """What stands on the page is read from the files, not remembered."""
    view, presenter = page(services)
    presenter.shown()
    view.step_wanted.emit("verify")
    read(services.folder, 2)
    view.returned.emit()
    step = steps(view)["verify"]
    assert step.state == "any"
    assert "since then 3 entries were added" in step.sentence, "an order and two answers"
    assert steps(view)["read"].sentence.startswith("AB: 2 of")
    view.step_wanted.emit("verify")
    assert steps(view)["verify"].state == "held"
    unblind(services.folder, PASSPHRASE, "in the terminal")
    view.returned.emit()
    assert states(view)["unblind"] == "done"
    assert steps(view)["read"].action == ""
    assert (states(view)["read"], MARKS["closed"][1]) == ("closed", "closed")
    assert (
        "The reason: in the terminal. Not complete then: AB (2 of"
        in steps(view)["unblind"].sentence
    )


def test_a_wrong_passphrase_leaves_the_study_blind(services: Any) -> None:
    read(services.folder, 2)
    view, presenter = page(services)
    presenter.shown()
    view.step_wanted.emit("unblind")
    (title, outstanding), _ = view.last("show_unblind")
    assert (title, outstanding) == ("Chest 2026", "Not complete yet: AB.")
    view.unblind_wanted.emit("wrong", "finished")
    assert "show_unblind_problem" in view.names()
    assert not list_studies(services.home)[0].unblinded


def test_unblinding_opens_the_statistics_and_publishing(
    services: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What publishing writes has tests of its own."""
    asked: list[tuple[Path, Path, dict[str, str]]] = []

    def written(path: Path, folder: Path, **choices: str) -> tuple[Path, ...]:
        asked.append((path, folder, choices))
        return (folder / "ratings.csv", folder / "README.md")

    monkeypatch.setattr("studies.preference.kit.publish.publish", written)
    read(services.folder, 1000)
    view, presenter = page(services)
    presenter.shown()
    assert steps(view)["publish"].action == "", "nothing can be published while blind"
    view.unblind_wanted.emit(PASSPHRASE, "all have finished")
    assert list_studies(services.home)[0].unblinded
    assert ("study",) in services.changes.told
    assert (states(view)["unblind"], states(view)["publish"]) == ("done", "ready")
    assert "The reason: all have finished." in steps(view)["unblind"].sentence
    assert "Not complete then" not in steps(view)["unblind"].sentence
    view.step_wanted.emit("publish")
    assert view.last("show_panel") == (("publish",), {})
    out = tmp_path / "out"
    view.publish_wanted.emit(PublishAsked("include", "names"), str(out))
    assert asked == [(services.folder, out, {"comments": "include", "names": "names"})]
    assert view.last("open_folder") == ((str(out),), {})
    (told, tone), named = view.last("show_publish")
    assert (told, tone, named["folder"]) == (f"2 files are in {out}.", "good", str(out))
    view.step_wanted.emit("unblind")
    assert services.went[-1][0] == "statistics"


def test_a_study_file_can_be_opened_from_elsewhere(services: Any, home: Home) -> None:
    services.home = home
    view, presenter = page(services)
    presenter.shown()
    assert "show_none" in view.names()
    view.open_file_wanted.emit(str(services.folder / "study.sqlite"))
    (shown,), _ = view.last("show_studies")[0][:1], None
    assert [study.title for study in shown] == ["Chest 2026"]


# -- packs: out, back, and a reader's own home


def hand(view: Any, tmp_path: Path, reader: str) -> Path:
    """A pack written by the page."""
    file = tmp_path / f"{reader}.triptych"
    view.pack_wanted.emit(ReaderAsked(reader, "chest", 7, "CT daily", "calibrated"), str(file))
    return file


def answers(pack: Path, home: Home, reader: str, count: int) -> Path:
    """What a reader sends back."""
    folder = open_pack(home, pack)
    with open_study(folder) as study:
        session = study.session(reader)
        for _ in range(count):
            if session.current() is not None:
                session.answer("both", answer_ms=900)
    return return_answers(folder, pack.with_suffix(".triptych-answers"))


def test_a_pack_goes_out_and_comes_back(services: Any, tmp_path: Path) -> None:
    view, presenter = page(services)
    presenter.shown()
    file = hand(view, tmp_path, "CD")
    assert view.last("show_hand")[0][1] == "good"
    assert steps(view)["hand"].sentence == "Handed to CD."
    [listed] = view.last("show_studies")[0][0]
    assert STATE_WORDS[listed.state] == "packs handed out"
    assert listed.told == "nothing back yet"  # 0 would be a number nobody knows
    assert [key for key, state in states(view).items() if state == "next"] == ["merge"]
    assert (states(view)["read"], MARKS["begun"][1]) == ("begun", "under way")
    [reader] = view.last("show_readers")[0][0]
    assert (reader.name, reader.answered, reader.returned) == ("CD", "not known yet", "not yet")
    away = Home(tmp_path / "away").make()
    view.merge_wanted.emit([str(answers(file, away, "CD", 2))])
    [reader] = view.last("show_readers")[0][0]
    assert reader.answered.startswith("2 of")
    assert reader.returned.startswith("in part")
    assert steps(view)["merge"].sentence == "0 of 1 came back complete, 1 in part."
    view.files_dropped.emit([str(answers(file, away, "CD", 1000))])
    assert (states(view)["merge"], states(view)["read"]) == ("done", "done")
    assert [key for key, state in states(view).items() if state == "next"] == ["verify"]
    view.step_wanted.emit("verify")
    assert states(view)["verify"] == "held", steps(view)["verify"].sentence


def test_each_returned_file_has_its_verdict_by_name(services: Any, tmp_path: Path) -> None:
    view, presenter = page(services)
    presenter.shown()
    away = Home(tmp_path / "away").make()
    good = answers(hand(view, tmp_path, "CD"), away, "CD", 3)
    altered = tmp_path / "altered.triptych-answers"
    altered.write_bytes(good.read_bytes().replace(b'"answer_ms":900', b'"answer_ms":901', 1))
    foreign = tmp_path / "foreign.triptych-answers"
    foreign.write_text("no answers", encoding="utf-8")
    view.merge_wanted.emit([str(altered), str(good), str(foreign)])
    verdicts = {one.source: one for one in view.last("show_merge")[1]["verdicts"]}
    assert {name: one.tone for name, one in verdicts.items()} == {
        altered.name: "error", good.name: "good", foreign.name: "error",
    }  # fmt: skip
    assert view.last("show_merge")[0][0] == "1 of 3 taken."
    view.merge_wanted.emit([str(good)])
    [again] = view.last("show_merge")[1]["verdicts"]
    assert again.tone == "quiet"


def test_a_second_pack_for_a_reader_is_refused_with_the_reason(services: Any,
                                                               tmp_path: Path) -> None:  # fmt: skip
    view, presenter = page(services)
    presenter.shown()
    hand(view, tmp_path, "CD")
    view.pack_wanted.emit(ReaderAsked("CD"), str(tmp_path / "again.triptych"))
    (words, tone), _ = view.last("show_hand")
    assert tone == "error"
    assert "CD" in words


def test_a_readers_home_shows_no_step_that_cannot_work_there(services: Any,
                                                             tmp_path: Path) -> None:  # fmt: skip
    view, presenter = page(services)
    presenter.shown()
    file = hand(view, tmp_path, "CD")
    away = Home(tmp_path / "away").make()
    with open_store(away) as store:
        view, presenter = page(page_services(home=away, store=store))
        presenter.shown()
        view.files_dropped.emit([str(file)])
    assert list(steps(view)) == ["open", "read", "return"]
    note = view.last("show_steps")[0][2]
    assert "coordinator" in note
    assert "CD" in note
    assert view.last("show_studies")[0][2].startswith("Planning needs results")
    [info] = list_studies(away)
    read(info.path, 4, "CD")
    view.returned.emit()
    view.step_wanted.emit("return")
    assert view.last("show_return")[1]["suggested"] == "Chest-2026-CD.triptych-answers"
    view.return_wanted.emit(str(tmp_path / "back.triptych-answers"))
    assert (tmp_path / "back.triptych-answers").is_file()
    assert view.last("show_return")[0][1] == "good"
    view.files_dropped.emit([str(tmp_path / "back.triptych-answers")])
    assert "coordinator" in view_notes(presenter)[-1]


def view_notes(presenter: StudyPresenter) -> list[str]:
    return presenter.services.notify.sentences


def test_a_password_in_a_database_address_is_not_shown(services: Any) -> None:
    view, presenter = page(services)
    presenter.shown()
    view.share_wanted.emit("postgresql://someone:hush-hush@127.0.0.1:1/nowhere", "", "")
    (_, tone), _ = view.last("show_hand")
    assert tone == "error"
    assert "hush-hush" not in repr(view.calls)


@pytest.mark.parametrize(
    ("typed", "told"),
    [("AB", "AB is not of the form NAME=LOGIN."), ("AB=", "AB= is not of the form NAME=LOGIN."),
     ("AB=anna, AB=carl", "AB is given two logins; give each name one.")],
)  # fmt: skip
def test_logins_that_are_none_are_refused_before_anything_is_copied(
    services: Any, typed: str, told: str
) -> None:
    view, presenter = page(services)
    presenter.shown()
    view.share_wanted.emit("postgresql://127.0.0.1:1/nowhere", "readers", typed)
    assert view.last("show_hand") == ((told, "error"), {})
    assert logins_of(" A. B. = anna; CD=carl,") == {"A. B.": "anna", "CD": "carl"}


def test_logins_reach_the_shared_copy(services: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    given: dict[str, Any] = {}

    def take(_path: Any, url: str, **more: Any) -> Shared:
        given.update(more)
        return Shared(url, "p", own_logins=True)

    monkeypatch.setattr("app.presenters.study_desk.share", take)
    view, presenter = page(services)
    presenter.shown()
    view.share_wanted.emit("postgresql://host/studies", "readers", "AB=anna")
    assert given == {"role": "readers", "logins": {"AB": "anna"}}
    assert "LOGIN@host" in view.last("show_hand")[0][0]


def test_a_study_is_shared_by_address_and_read_back(server: Server, services: Any) -> None:
    view, presenter = page(services)
    presenter.shown()
    view.share_wanted.emit(server.database, "", "")
    (words, tone), _ = view.last("show_hand")
    assert tone == "good", words
    assert "triptych study open" in words
    [shared] = view.last("show_readers")[0][0]
    assert (shared.way, shared.returned) == ("shared database", "not yet")
    view.step_wanted.emit("merge")
    address = view.last("show_merge")[1]["address"]
    with open_study(address) as study:
        study.session("R1").answer("both", answer_ms=900)
    view.merge_wanted.emit([address])
    [verdict] = view.last("show_merge")[1]["verdicts"]
    assert verdict.tone == "good", verdict.sentence
    assert view.last("show_readers")[0][0][0].answered.startswith("1 of")


def test_the_true_page_tells_nothing_while_blind(services: Any, qtbot: Any) -> None:
    read(services.folder, 5)
    view = StudyView()
    qtbot.addWidget(view)
    presenter = StudyPresenter(view, services)
    presenter.shown()
    view.resize(1196, 760)
    view.grab()
    told = [text.casefold() for _, text in of_windows([view])]
    assert any("chest 2026" in text for text in told), "the walk sees the page"
    assert not [word for word in SECRETS for text in told if word.casefold() in text]
