"""Nothing reachable while rating tells a model, the gold or the stratum; and the walk that says
so finds a planted name in each channel."""

from __future__ import annotations

import json
import logging
import shutil
import sqlite3
from contextlib import closing

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QGuiApplication

from app.jobs import JobState
from tests.app.blinding import find_leaks
from tests.app.reading import answer, ready, sit_down, state
from tests.studies.preference_material import MODEL_A, SECRETS, small_study

KEY = Qt.Key
# Words that would tell the arms apart whatever the study.
ARMS = ("model a", "model b", "model_a", "model_b", "medemb", "siglip", "qwen", "gold", "stratum")


@pytest.fixture(scope="module")
def built(tmp_path_factory):
    """One study for all; each test reads a copy."""
    return small_study(tmp_path_factory.mktemp("built"), per_task=6, total=12)


@pytest.fixture
def rating(qtbot, program, home, built, caplog):
    """A real window with a real study open at its second item; gives a walk over all channels."""
    caplog.set_level(logging.DEBUG, logger="triptych")
    path = home.studies / built.id
    shutil.copytree(built.path, path)
    (path / "key.sealed").unlink()  # a rater is given the study file alone
    made = program()
    window = made.window
    view = sit_down(qtbot, window, built.id)
    answer(qtbot, view, KEY.Key_F)
    ready(qtbot, window, at=2)

    def walk(words=SECRETS):
        return find_leaks([window], home, path, caplog.records, words)

    walk.window, walk.view, walk.path, walk.program = window, view, path, made
    yield walk
    QGuiApplication.clipboard().clear()


def test_the_real_screens_tell_nothing(rating, qtbot):
    assert rating() == []
    assert rating(ARMS) == []
    view, board = rating.view, rating.view.board
    # Every state of the page: chosen, flipped, enlarged, help, paused, refused, the end.
    qtbot.keyClick(view, KEY.Key_J)
    board.select(board.left[0])
    qtbot.keyPress(view, KEY.Key_Space)
    assert rating((*SECRETS, *ARMS)) == []
    qtbot.keyRelease(view, KEY.Key_Space)
    qtbot.keyClick(view, KEY.Key_M)
    qtbot.keyClick(view, "?")
    assert rating((*SECRETS, *ARMS)) == []
    qtbot.keyClick(view, KEY.Key_Escape)
    qtbot.keyClick(view, KEY.Key_P)
    assert rating((*SECRETS, *ARMS)) == []


def test_a_whole_study_tells_nothing_to_its_end(rating, qtbot):
    window, view = rating.window, rating.view
    total = window.presenter("review")._presentation.total
    for number in range(2, total + 1):
        ready(qtbot, window, at=number)
        answer(qtbot, view, KEY.Key_N)
        assert rating((*SECRETS, *ARMS)) == []
    qtbot.waitUntil(lambda: state(window) == "finished")
    window.close()
    assert rating((*SECRETS, *ARMS)) == []


def test_what_other_pages_know_is_not_on_the_rating_screen(rating, qtbot):
    """A running benchmark names models; its job and its notices wait until the reader is done."""
    services = rating.program.services
    services.notify.warn(f"{MODEL_A} could not be loaded.")
    jobs = services.jobs
    jobs._states["j"] = JobState("j", "bench", f"Benchmark {MODEL_A}", state="running")
    jobs._current = "j"
    jobs.changed.emit("j")
    qtbot.wait(10)
    try:
        assert rating() == []
    finally:
        jobs._current = None


def plant_title(walk):
    walk.window.setWindowTitle(f"Triptych {MODEL_A}")


def plant_text(walk):
    walk.view.board.left[0].set_title(f"LEFT 1 ({MODEL_A})")


def plant_report(walk):
    walk.view.board.right[2].text.show_text(f"Found by {MODEL_A}.")


def plant_tooltip(walk):
    walk.view.board.right[1].setToolTip(MODEL_A)


def plant_accessible_name(walk):
    walk.view.board.left[2].setAccessibleName(MODEL_A)


def plant_accessible_description(walk):
    walk.view.answers.setAccessibleDescription(f"by {MODEL_A.upper()}")


def plant_object_name(walk):
    walk.view.board.left[1].setObjectName(f"frame-{MODEL_A}")


def plant_property(walk):
    walk.view.board.left[1].setProperty("arm", MODEL_A)


def plant_file_path(walk):
    walk.window.setWindowFilePath(f"scores/{MODEL_A}.json")


def plant_model_cell(walk):
    walk.view.start.list.addItem(MODEL_A)


def plant_log(walk):
    logging.getLogger("triptych.review").info("left list by %s", MODEL_A)


def plant_settings(walk):
    home = walk.program.services.home
    home.settings.write_text(json.dumps({"last": MODEL_A}), encoding="utf-8")


def plant_state(walk):
    home = walk.program.services.home
    home.state.write_text(json.dumps({"recent": [MODEL_A]}), encoding="utf-8")


def plant_clipboard(walk):
    QGuiApplication.clipboard().setText(MODEL_A)


def plant_file_name(walk):
    (walk.path / f"{MODEL_A}.png").write_bytes(b"")


def plant_cache_name(walk):
    (walk.program.services.home.thumbnails / MODEL_A).mkdir()


def plant_database(walk):
    with closing(sqlite3.connect(walk.path / "study.sqlite")) as connection:
        connection.execute("CREATE TABLE note (words TEXT)")
        connection.execute("INSERT INTO note VALUES (?)", (f"left is {MODEL_A}",))
        connection.commit()


PLANTS = [value for name, value in sorted(globals().items()) if name.startswith("plant_")]


@pytest.mark.parametrize("plant", PLANTS, ids=lambda plant: plant.__name__[6:])
def test_a_planted_name_is_found_in_each_channel(rating, plant):
    plant(rating)
    assert MODEL_A in {find.word for find in rating()}, plant.__name__
