"""A real pack in the real window: opened, read, handed back; and a file that goes away."""

from __future__ import annotations

import shutil
import sqlite3

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QFileDialog

from app.presenters.review_source import HomeStudies
from db import ratings
from db.home import Home
from studies.errors import BadStudy, StudyGone
from studies.preference.packs import make_pack
from studies.preference.study import open_study
from tests.app.reading import answer, ready, state
from tests.studies.preference_material import small_study

KEY = Qt.Key


@pytest.fixture(scope="module")
def built(tmp_path_factory):
    return small_study(tmp_path_factory.mktemp("built"), per_task=6, total=6)


@pytest.fixture(scope="module")
def pack(built, tmp_path_factory):
    return make_pack(built.path, tmp_path_factory.mktemp("stick"), rater="Reader 7")


def test_a_pack_is_opened_read_and_handed_back(program, home, qtbot, pack, tmp_path, monkeypatch):
    window = program().window
    window.go("review")
    qtbot.waitUntil(lambda: window.presenter("review") is not None)
    view = window.presenter("review").view
    qtbot.waitUntil(lambda: view.start.sentence.text() != "")
    monkeypatch.setattr(QFileDialog, "getOpenFileName", lambda *_a, **_n: (str(pack), ""))
    qtbot.mouseClick(view.start.pack, Qt.MouseButton.LeftButton)
    qtbot.waitUntil(lambda: view.start.list.count() == 1, timeout=20_000)
    assert "pack of Reader 7" in view.start.list.item(0).text()
    assert (view.start.rater.text(), view.start.rater.isEnabled()) == ("Reader 7", False)
    assert view.start.begin.text() == "Begin"
    qtbot.mouseClick(view.start.begin, Qt.MouseButton.LeftButton)
    for number, key in enumerate((KEY.Key_F, KEY.Key_J), start=1):
        ready(qtbot, window, at=number)
        answer(qtbot, view, key)
    ready(qtbot, window, at=3)
    qtbot.keyClick(view, KEY.Key_P)
    out = tmp_path / "mine"
    monkeypatch.setattr(QFileDialog, "getSaveFileName", lambda *_a, **_n: (str(out), ""))
    view.hand_back_asked.emit()
    made = out.with_name("mine.triptych-answers")
    qtbot.waitUntil(lambda: "Saved to" in view.curtain.sentence.text(), timeout=20_000)
    assert made.stat().st_size > 0
    window.presenter("review").leave()
    qtbot.waitUntil(lambda: "2 of 6" in view.start.list.item(0).text(), timeout=20_000)
    assert view.start.begin.text() == "Go on"


def test_a_file_that_is_no_pack_says_so_and_the_list_stays(program, home, qtbot, tmp_path):
    window = program().window
    window.go("review")
    view = window.presenter("review").view
    wrong = tmp_path / "wrong.triptych"
    wrong.write_text("not a pack", encoding="utf-8")
    view.pack_chosen.emit(str(wrong))
    qtbot.waitUntil(lambda: window.notices.current is not None, timeout=20_000)
    assert "wrong.triptych" in window.notices.current.text
    qtbot.waitUntil(lambda: view._stack.currentWidget() is view.start)


def test_a_study_that_is_pulled_out_keeps_the_answer_until_it_is_back(program, home, qtbot, built):
    path = home.studies / built.id
    shutil.copytree(built.path, path)
    with open_study(path) as study:
        study.session("reader")
    window = program().window
    window.go("review", built.id)
    ready(qtbot, window, at=1)
    view = window.presenter("review").view
    away = path.with_name("away")
    path.rename(away)
    answer(qtbot, view, KEY.Key_T)
    qtbot.waitUntil(lambda: state(window) == "gone", timeout=20_000)
    assert "not there any more" in view.pages.gone.sentence.text()
    qtbot.keyClick(view, KEY.Key_Return)  # still away
    qtbot.waitUntil(lambda: state(window) == "gone", timeout=20_000)
    away.rename(path)
    qtbot.keyClick(view, KEY.Key_Return)
    ready(qtbot, window, at=1)
    assert view.answers.buttons["both"].isChecked()
    qtbot.keyClick(view, KEY.Key_Return)
    ready(qtbot, window, at=2)
    window.presenter("review").leave()
    qtbot.waitUntil(lambda: state(window) == "start")
    with open_study(path) as study:
        assert [row.answer for row in ratings.ratings(study.store)] == ["both"]


def test_a_locked_study_keeps_the_answer_on_the_screen(program, home, qtbot, built):
    path = home.studies / built.id
    shutil.copytree(built.path, path)
    with open_study(path) as study:
        study.session("reader")
    window = program().window
    window.go("review", built.id)
    ready(qtbot, window, at=1)
    view = window.presenter("review").view
    other = sqlite3.connect(path / "study.sqlite", isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    answer(qtbot, view, KEY.Key_N)
    qtbot.waitUntil(lambda: view.fault.isVisible(), timeout=40_000)
    assert "in use by another program" in view.fault.sentence.text()
    assert view.answers.buttons["neither"].isChecked()
    other.execute("ROLLBACK")
    other.close()
    ready(qtbot, window, at=1)
    qtbot.keyClick(view, KEY.Key_Return)
    ready(qtbot, window, at=2)
    assert not view.fault.isVisible()
    window.presenter("review").leave()
    qtbot.waitUntil(lambda: state(window) == "start")


def test_a_file_that_goes_while_it_is_open_is_noticed_before_and_after(built, tmp_path):
    home = Home(tmp_path / "home").make()
    path = home.studies / built.id
    shutil.copytree(built.path, path)
    source = HomeStudies()
    opened = source.sit(path, "reader", {})
    assert opened.guarded(lambda: 7) == 7
    with pytest.raises(StudyGone, match="not there any more"):
        opened.guarded(lambda: path.rename(path.with_name("away")))
    with pytest.raises(StudyGone):
        opened.guarded(lambda: pytest.fail("nothing is written to a file that is gone"))
    opened.study.close()
    with pytest.raises(BadStudy):
        source.sit(path, "reader", None)


def test_a_new_reader_is_not_seated_before_the_profile(built, tmp_path):
    home = Home(tmp_path / "home").make()
    path = home.studies / built.id
    shutil.copytree(built.path, path)
    source = HomeStudies()
    opened = source.sit(path, "new", None)
    assert (opened.session, opened.presentation) == (None, None)
    assert not opened.study.known_rater("new")
    opened.study.close()
    opened = source.sit(path, "new", {"specialty": "chest", "years": 3})
    assert opened.presentation.position == 1
    assert source.list_studies(home)[0].raters == (("new", 0),)
    opened.study.close()
