"""Reading a study: order, answers, steps back, sittings, and the end of it."""

from __future__ import annotations

import shutil

import pytest

from db import ratings, study_items
from db.errors import RatingRefused
from db.session import open_study_store
from studies.errors import BadStudy, StillBlind, StudyError, WrongPassphrase
from studies.preference.study import open_study
from studies.preference.unblind import load_unblinded, unblind
from studies.preference.verify import remarks, verify
from tests.studies.plain_study import on_server
from tests.studies.preference_material import PASSPHRASE, small_study


@pytest.fixture(scope="module")
def original(tmp_path_factory):
    return small_study(tmp_path_factory.mktemp("read")).path


@pytest.fixture
def path(original, tmp_path):
    target = tmp_path / original.name
    shutil.copytree(original, target)
    return target


@pytest.fixture(params=["file", "server"])
def shared(request, path):
    """The same study in a folder, then on a server."""
    if request.param == "file":
        return path
    return on_server(path, request.getfixturevalue("server").study())


def test_a_rater_reads_every_item_once_and_goes_on_where_it_stopped(shared):
    seen = []
    with open_study(shared) as study:
        session = study.session("  Ann   Lee ")
        assert (session.rater, session.total, session.answered) == (
            "Ann Lee",
            study.info().items,
            0,
        )
        for _ in range(5):
            now, (after, *_) = session.current(), session.upcoming()
            assert (now.position, now.total) == (len(seen) + 1, session.total)
            seen.append(now.item_id)
            assert session.answer("left", item_id=now.item_id).item_id == after.item_id
    with open_study(shared) as study:
        session = study.session("Ann Lee")
        assert session.answered == 5
        while (now := session.current()) is not None:
            seen.append(now.item_id)
            session.answer("neither")
        assert session.upcoming() == ()
        assert len(seen) == len(set(seen)) == session.total
        with pytest.raises(RatingRefused, match="Every item"):
            session.answer("left")
        assert study.info().answered == session.total


def test_each_rater_has_an_own_order_that_stays(shared):
    with open_study(shared) as study:
        for name in ("Ann", "Bob"):
            study.session(name, specialty="chest", years=3)
            study.session(name)
        orders = {
            name: [p.item_id for p in study_items.presentations(study.store, name)]
            for name in ("Ann", "Bob")
        }
        blocks = {row.item_id: row.block for row in study_items.items(study.store)}
        assert study_items.raters(study.store)[0].specialty == "chest"
    assert orders["Ann"] != orders["Bob"]
    assert sorted(orders["Ann"]) == sorted(orders["Bob"])
    for order in orders.values():
        read = [blocks[item] for item in order]
        assert len([1 for a, b in zip(read, read[1:], strict=False) if a != b]) == 2  # noqa: RUF007


def test_a_step_back_adds_a_row_and_shows_the_item_again(shared):
    with open_study(shared) as study:
        session = study.session("Ann")
        first = session.current()
        assert session.undo() == first, "nothing before the first item"
        second = session.answer("left", answer_ms=1200)
        assert session.undo() == first
        assert session.answered == 0
        assert session.answer("right", answer_ms=300) == second
        log = [(row.action, row.answer) for row in ratings.ratings(study.store)]
        assert log == [("answer", "left"), ("undo", None), ("answer", "right")]
        assert ratings.standing(study.store)["Ann", 1].answer == "right"
    assert verify(shared) == ()


def test_what_was_said_beside_an_answer_is_still_known_when_it_is_taken_back(shared):
    with open_study(shared) as study:
        study.session("Ann").answer("left", confidence=2, comment="blurred")
    with open_study(shared) as study:
        session = study.session("Ann")
        assert session.taken_back(1) is None
        assert session.undo().position == 1
        taken = session.taken_back(1)
        assert (taken.answer, taken.confidence, taken.comment) == ("left", 2, "blurred")
        session.answer("right")
        assert session.taken_back(1) is None


def test_steps_back_can_be_repeated_and_survive_closing(shared):
    with open_study(shared) as study:
        session = study.session("Ann")
        ids = [session.current().item_id]
        for _ in range(3):
            ids.append(session.answer("both").item_id)
        assert [session.undo().item_id for _ in range(2)] == [ids[2], ids[1]]
        assert (session.pauses(), session.guesses()) == ((), ())
    with open_study(shared) as study:
        assert study.session("Ann").current().item_id == ids[1]


def test_two_windows_cannot_answer_one_item_twice(shared):
    with open_study(shared) as one, open_study(shared) as two:
        first, second = one.session("Ann"), two.session("Ann")
        shown = first.current()
        first.answer("left")
        with pytest.raises(RatingRefused, match="answer already"):
            second.answer("right", item_id=shown.item_id)
        second.refresh()
        with pytest.raises(RatingRefused, match="not the item"):
            second.answer("right", item_id=shown.item_id)
        assert second.current() == first.current()


def test_an_unknown_answer_or_no_name_is_refused(shared):
    with open_study(shared) as study:
        with pytest.raises(BadStudy, match="needs a name"):
            study.session("  ")
        session = study.session("Ann")
        with pytest.raises(RatingRefused, match="is no answer"):
            session.answer("A")
        assert session.answered == 0


def test_a_raters_copy_needs_no_key(path, tmp_path):
    alone = tmp_path / "pack" / "study.sqlite"
    alone.parent.mkdir()
    shutil.copy(path / "study.sqlite", alone)
    with open_study(alone) as study:
        assert study.session("Ann").answer("left").position == 2
    with pytest.raises(BadStudy, match="is no study"):
        open_study(tmp_path)


def test_nothing_is_told_before_unblinding(path):
    with open_study(path) as study:
        study.session("Ann").answer("left")
    with pytest.raises(StillBlind, match="still blind"):
        load_unblinded(path)
    with pytest.raises(WrongPassphrase, match="does not open"):
        unblind(path, "wrong", "finished")
    with pytest.raises(StudyError, match="needs a reason"):
        unblind(path, PASSPHRASE, "  ")
    with open_study_store(path) as store:
        assert ratings.unblinding(store) is None
    assert not (path / "key.json").exists()


def test_unblinding_is_logged_and_ends_the_rating(path):
    with open_study(path) as study:
        session = study.session("Ann")
        session.answer("left")
        opened = unblind(path, PASSPHRASE, " reading finished ")
        assert (opened.reason, opened.info.unblinded) == ("reading finished", True)
        for act in (lambda: session.answer("left"), session.undo):
            with pytest.raises(RatingRefused, match="unblinded"):
                act()
        for name in ("Ann", "Bob"):
            with pytest.raises(RatingRefused, match="unblinded"):
                study.session(name)
    again = unblind(path, PASSPHRASE, "once more")
    assert (again.reason, again.at_utc, len(again.log)) == (
        opened.reason, opened.at_utc, len(opened.log),
    )  # fmt: skip
    assert [row.action for row in load_unblinded(path).log] == ["order", "answer", "unblind"]
    assert verify(path) == ()


def test_a_kill_between_the_log_and_the_opened_key_loses_nothing(path):
    with open_study_store(path) as store:
        ratings.add_unblinding(store, reason="finished", software="0")
    with pytest.raises(BadStudy, match="Unblind the study again"):
        load_unblinded(path)
    assert unblind(path, PASSPHRASE, "again").reason == "finished"


def test_a_study_on_a_server_says_where_it_lies_and_is_verified_there(path, server):
    url = on_server(path, server.study())
    with open_study(url) as study:
        assert study.location == url.replace("/tmp/", "%2Ftmp%2F")
        assert study.session("Ann").answer("left").position == 2
        assert study.known_rater(" Ann ")
        assert not study.known_rater("Bob")
    assert verify(url) == ()
    assert any("fsync off" in remark for remark in remarks(url))
    with open_study(path) as study:
        assert study.location == str(path / "study.sqlite")
        assert not study.known_rater("Ann")
