"""Full disks, locks, lost servers, turned-back clocks, two windows: named, and nothing is lost."""

from __future__ import annotations

import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest
from sqlalchemy import event

from db import ratings
from db.errors import (
    AnsweredAlready,
    DiskFull,
    NotWritable,
    RatingRefused,
    ServerGone,
    StoreError,
    StoreLocked,
)
from studies.preference.study import open_study
from studies.preference.verify import remarks, verify
from tests.studies.plain_study import on_server, plain_study


@pytest.fixture(params=["file", "server"])
def path(request, tmp_path):
    made = plain_study(tmp_path)
    return (
        made
        if request.param == "file"
        else on_server(made, request.getfixturevalue("server").study())
    )


def answers(study) -> list[str]:
    return [row.answer for row in ratings.ratings(study.store)]


def pages_of(store, limit: int | None):
    """Let SQLite grow the file no further (or again): what a full disk does to it."""

    def set_limit(raw, _record) -> None:
        raw.execute(f"PRAGMA max_page_count = {limit or 2**30}")

    store._engine.dispose()
    event.listen(store._engine, "connect", set_limit)


def test_a_full_disk_keeps_the_item_and_takes_the_answer_once_there_is_room(tmp_path):
    path = plain_study(tmp_path)
    with open_study(path) as study:
        session = study.session("Ann")
        shown = session.answer("left")
        pages_of(study.store, 1)
        with pytest.raises(DiskFull, match="Free some space and try again"):
            session.answer("right", comment="x" * 200_000)
        assert (session.current(), answers(study)) == (shown, ["left"])
        pages_of(study.store, None)
        assert session.answer("right", comment="x" * 200_000).position == shown.position + 1
        assert answers(study) == ["left", "right"]
    assert verify(path) == ()


HOLD = """
import sqlite3, sys
raw = sqlite3.connect(sys.argv[1], isolation_level=None)
raw.execute("BEGIN IMMEDIATE")
print("held", flush=True)
sys.stdin.readline()
raw.execute("ROLLBACK")
raw.close()
"""


def test_a_file_that_another_program_holds_is_said_and_answered_later(tmp_path, monkeypatch):
    monkeypatch.setattr("db.sqlite_file.BUSY_TIMEOUT_MS", 50)
    path = plain_study(tmp_path)
    command = [sys.executable, "-c", HOLD, str(path / "study.sqlite")]
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
    with open_study(path) as study:
        session = study.session("Ann")
        shown = session.current()
        with subprocess.Popen(command, text=True, **pipes) as holder:
            assert holder.stdout.readline() == "held\n"
            for act in (lambda: session.answer("left"), lambda: session.note_pause("pause")):
                with pytest.raises(StoreLocked, match="in use by another program"):
                    act()
            assert (session.current(), answers(study)) == (shown, [])
            holder.communicate("\n")
        assert session.answer("left", item_id=shown.item_id).position == 2
        assert answers(study) == ["left"]
    assert verify(path) == ()


def test_a_folder_that_became_read_only_is_said_and_answered_later(tmp_path, monkeypatch):
    path = plain_study(tmp_path)
    connect = sqlite3.connect

    def read_only(name: str, **options: object) -> sqlite3.Connection:
        return connect(f"{Path(name).as_uri()}?mode=ro", uri=True, **options)

    with open_study(path) as study:
        session = study.session("Ann")
        shown = session.answer("left")
        study.store._engine.dispose()
        with monkeypatch.context() as patched:
            patched.setattr("db.sqlite_file.sqlite3.connect", read_only)
            with pytest.raises(NotWritable, match="its permissions"):
                session.answer("right")
            assert session.current() == shown
        study.store._engine.dispose()
        session.answer("right", item_id=shown.item_id)
        assert answers(study) == ["left", "right"]
    assert verify(path) == ()


def test_a_server_that_went_away_takes_the_answer_when_it_is_back(tmp_path, server):
    path = on_server(plain_study(tmp_path), server.study())
    with open_study(path) as study:
        session = study.session("Ann")
        shown = session.answer("left")
        server.stop()
        try:
            with pytest.raises(ServerGone, match="try again"):
                session.answer("right", item_id=shown.item_id)
        finally:
            server.start()
        session.answer("right", item_id=shown.item_id)
        assert answers(study) == ["left", "right"]
    assert verify(path) == ()


def break_after(monkeypatch, name: str) -> None:
    """Let one act reach the store and its confirmation get lost, as a cut connection does."""
    kept = getattr(ratings, name)

    def cut(*given: object, **named: object) -> None:
        kept(*given, **named)
        monkeypatch.setattr(ratings, name, kept)
        raise ServerGone("cut")

    monkeypatch.setattr(ratings, name, cut)


def test_an_answer_that_was_kept_though_nobody_was_told_is_not_kept_twice(path, monkeypatch):
    with open_study(path) as study:
        session = study.session("Ann")
        shown = session.current()
        break_after(monkeypatch, "add_rating")
        with pytest.raises(StoreError):
            session.answer("left", item_id=shown.item_id)
        assert session.current() == shown
        following = session.answer("left", item_id=shown.item_id)
        assert (following.position, answers(study)) == (2, ["left"])
        break_after(monkeypatch, "add_rating")
        with pytest.raises(StoreError):
            session.answer("both")
        with pytest.raises(AnsweredAlready, match="Go back with"):
            session.answer("neither", item_id=following.item_id)
        assert (session.current().position, answers(study)) == (3, ["left", "both"])
        break_after(monkeypatch, "undo")
        with pytest.raises(StoreError):
            session.undo()
        assert session.undo() == following
        assert answers(study) == ["left", "both", None]
    assert verify(path) == ()


def test_a_guess_that_was_kept_though_nobody_was_told_is_not_kept_twice(path, monkeypatch):
    with open_study(path) as study:
        session = study.session("Ann")
        while session.current() is not None:
            session.answer("both")
        first, second, *_ = session.guesses()
        break_after(monkeypatch, "add_guess")
        with pytest.raises(StoreError):
            session.guess(first.item_id, "left")
        assert session.guess(first.item_id, "left")[0] == second
        break_after(monkeypatch, "add_guess")
        with pytest.raises(StoreError):
            session.guess(second.item_id, "left")
        with pytest.raises(AnsweredAlready, match="a guess stands"):
            session.guess(second.item_id, "right")
        assert [row.answer for row in ratings.guesses(study.store)] == ["left", "left"]
    assert verify(path) == ()


def test_a_store_that_goes_between_the_commit_and_the_next_item_does_nothing_twice(
    path, monkeypatch
):
    """The act was kept; only what follows could not be read. Asked again it is not done again."""

    def refuse(*_given: object, **_named: object) -> None:
        raise ServerGone("away")

    def cut_off(act):
        with monkeypatch.context() as patched:
            patched.setattr(session, "_rows", {})
            patched.setattr("db.study_items.item_row", refuse)
            with pytest.raises(ServerGone):
                act()

    with open_study(path) as study:
        session = study.session("Ann")
        session.answer("left")
        shown = session.current()
        for named in ({"item_id": shown.item_id}, {}):
            cut_off(lambda named=named: session.answer("both", **named))
            assert session.answer("both", **named).position == 3
            cut_off(session.undo)
            assert session.undo() == shown
        session.answer("both")
        assert answers(study) == ["left", *("both", None) * 2, "both"]
        while session.current() is not None:
            session.answer("both")
        first, second, *_ = session.guesses()
        cut_off(lambda: session.guess(first.item_id, "left"))
        assert session.guess(first.item_id, "left")[0] == second
        assert [row.answer for row in ratings.guesses(study.store)] == ["left"]
    assert verify(path) == ()


def test_an_act_that_was_not_kept_may_be_another_one(path, monkeypatch):
    """The first attempt never reached the store; the rater thinks better of it."""

    def refuse(*_given: object, **_named: object) -> None:
        raise ServerGone("away")

    with open_study(path) as study:
        session = study.session("Ann")
        session.answer("left")
        with monkeypatch.context() as patched:
            patched.setattr(ratings, "add_rating", refuse)
            patched.setattr(ratings, "undo", refuse)
            for act in (lambda: session.answer("right"), session.undo):
                with pytest.raises(ServerGone):
                    act()
        session.answer("neither")
        assert session.undo().position == 2
        assert answers(study) == ["left", "neither", None]


def test_two_windows_on_one_study_are_named_and_the_second_goes_on(path):
    with open_study(path) as one, open_study(path) as two:
        first, second = one.session("Ann"), two.session("Ann")
        shown = first.current()
        following = first.answer("left")
        with pytest.raises(AnsweredAlready, match="answer already"):
            second.answer("right", item_id=shown.item_id)
        assert second.current() == following
        second.answer("both", item_id=following.item_id)
        with pytest.raises(AnsweredAlready):
            first.answer("both", item_id=following.item_id)
        assert first.current() == second.current()
        assert answers(one) == ["left", "both"]
    assert verify(path) == ()


def test_a_clock_set_back_is_a_remark_and_changes_no_order(path, monkeypatch):
    times = iter(["2096-03-01T10:00:00.000Z", "2096-03-01T10:00:05.000Z",
                  "2020-01-01T00:00:00.000Z", "2020-01-01T00:00:09.000Z"])  # fmt: skip
    with open_study(path) as study:
        session = study.session("Ann")
        monkeypatch.setattr("db.chain.now_utc", lambda: next(times))
        session.answer("left")
        session.answer("right")
        session.undo()
        session.answer("neither")
        standing = ratings.standing(study.store)
        assert [standing["Ann", place].answer for place in (1, 2)] == ["left", "neither"]
    assert verify(path) == ()
    told = [remark for remark in remarks(path) if "clock" in remark]
    assert len(told) == 1
    assert "2020-01-01T00:00:00.000Z" in told[0]
    assert "The order of the log holds; nothing is lost" in told[0]


def test_an_unblinding_elsewhere_ends_the_sitting_and_keeps_what_was_answered(path):
    with open_study(path) as study:
        session = study.session("Ann")
        session.answer("left")
        ratings.add_unblinding(study.store, reason="finished", software="0")
        for act in (
            lambda: session.answer("right"),
            session.undo,
            lambda: session.note_pause("pause"),
            lambda: study.session("Bob"),
        ):
            with pytest.raises(RatingRefused, match="unblinded"):
                act()
        assert answers(study) == ["left"]
    assert verify(path) == ()


def test_a_file_without_its_log_beside_it_holds_every_answer(tmp_path):
    """What is copied from a laptop that was switched off without a word."""
    path = plain_study(tmp_path)
    with open_study(path) as study:
        study.session("Ann").answer("left")
        copy = tmp_path / "copy.sqlite"
        with (
            closing(sqlite3.connect(path / "study.sqlite")) as raw,
            closing(sqlite3.connect(copy)) as target,
        ):
            raw.backup(target)
    with open_study(copy) as study:
        assert answers(study) == ["left"]
