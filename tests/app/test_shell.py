"""The window around the pages: lists, lanes, notices, failures, close guard, state."""

from __future__ import annotations

import dataclasses
import errno
import gc
import sqlite3
import sys
import threading

import pytest
from PySide6.QtCore import QObject, QSize, Qt
from PySide6.QtWidgets import QFileDialog, QWidget

import app.main
from app import actions, theme, words
from app.changes import Changes
from app.failures import LastDoor, sentence
from app.jobs import JobState
from app.notify import Notice, Notify
from app.tasks import Tasks
from app.widgets import notice
from app.widgets.notice import NoticeBar
from app.window import FIRST_SIZE, MainWindow, room_on
from engine.errors import EvidenceError

# Icons of the style sheet have a colour of their own.
LINE_ICONS = sorted(p for p in theme.ICONS.glob("*.svg") if not p.stem.startswith("control-"))

# lists


def test_pages_and_commands_are_told_apart():
    ids = [entry.id for entry in (*actions.PAGES, *actions.COMMANDS)]
    keys = [entry.shortcut for entry in (*actions.PAGES, *actions.COMMANDS)]
    assert len(set(ids)) == len(ids)
    assert len(set(keys)) == len(keys)
    assert {f"Ctrl+{digit}" for digit in range(1, 10)} <= set(keys)
    assert actions.page(actions.FIRST_PAGE)


@pytest.mark.parametrize("page", actions.PAGES, ids=lambda page: page.id)
def test_every_page_has_its_icon_its_view_and_its_presenter(page):
    assert (theme.ICONS / f"{page.icon}.svg").is_file()
    assert issubclass(actions.load(page.view), QWidget)
    assert callable(actions.load(page.presenter).shown)


@pytest.mark.parametrize("command", actions.COMMANDS, ids=lambda command: command.id)
def test_every_command_has_its_method(command):
    assert callable(getattr(MainWindow, command.method))


@pytest.mark.parametrize("path", LINE_ICONS, ids=lambda path: path.stem)
def test_every_icon_draws_in_one_colour(path, qapp):
    image = theme.pixmap(path.stem, "#ff0000", size=32).toImage()
    seen = {image.pixelColor(x, y).name() for x in range(32) for y in range(32)
            if image.pixelColor(x, y).alpha() == 255}  # fmt: skip
    assert seen == {"#ff0000"}


def test_the_style_sheet_grows_with_the_text():
    assert "font-size: 13px" in theme.style_sheet(theme.Scale(100))
    assert "font-size: 26px" in theme.style_sheet(theme.Scale(200))


# lanes


class Owner:
    def __init__(self):
        self.got = []

    def take(self, value):
        self.got.append((value, threading.current_thread() is threading.main_thread()))


@pytest.fixture
def tasks():
    made = Tasks(Notify())
    yield made
    made.close()


def test_results_come_back_on_the_window_thread(qtbot, tasks):
    owner = Owner()
    tasks.run(owner, lambda: threading.current_thread().name, owner.take)
    qtbot.waitUntil(lambda: bool(owner.got))
    name, on_window = owner.got[0]
    assert name.startswith("task")
    assert on_window


def test_the_database_lane_keeps_its_order(qtbot, tasks):
    owner, order = Owner(), []
    for number in range(20):
        tasks.query(owner, lambda number=number: order.append(number) or number, owner.take)
    qtbot.waitUntil(lambda: len(owner.got) == 20)
    assert order == list(range(20))
    assert [value for value, _ in owner.got] == list(range(20))


def test_results_for_an_owner_that_is_gone_are_dropped(qtbot, tasks):
    gate, kept = threading.Event(), Owner()
    owner, widget = Owner(), QObject()
    calls = []
    tasks.run(owner, gate.wait, owner.take)
    tasks.run(widget, gate.wait, calls.append)
    widget.deleteLater()
    del owner, widget
    gc.collect()
    gate.set()
    tasks.run(kept, lambda: 1, kept.take)
    qtbot.waitUntil(lambda: bool(kept.got))
    qtbot.wait(50)
    assert calls == []


def test_a_failure_reaches_its_owner_or_else_the_user(qtbot):
    notify, notes, owner = Notify(), [], Owner()
    notify.posted.connect(notes.append)
    notify.listen()
    tasks = Tasks(notify)
    tasks.run(owner, lambda: 1 / 0, owner.take, owner.take)
    tasks.run(owner, lambda: 1 / 0, owner.take)
    qtbot.waitUntil(lambda: bool(owner.got) and bool(notes))
    tasks.close()
    assert isinstance(owner.got[0][0], ZeroDivisionError)
    assert "ZeroDivisionError" in notes[0].details


def test_closing_finishes_the_writes_that_wait(qtbot):
    tasks, written, owner = Tasks(Notify()), [], Owner()
    gate = threading.Event()
    tasks.query(owner, gate.wait)
    tasks.query(owner, lambda: written.append(1))
    threading.Timer(0.05, gate.set).start()
    tasks.close()
    assert written == [1]
    tasks.run(owner, lambda: written.append(2))
    assert written == [1]


# sentences


def test_notices_wait_until_somebody_listens_and_while_one_rates(qtbot):
    notify, seen = Notify(), []
    notify.info("first")
    notify.posted.connect(lambda notice: seen.append(notice.text))
    assert seen == []
    notify.listen()
    notify.hold(True)
    notify.warn("second")
    assert seen == ["first"]
    notify.hold(False)
    assert seen == ["first", "second"]


def test_the_bar_shows_one_notice_with_one_action(qtbot):
    bar, done = NoticeBar(), []
    qtbot.addWidget(bar)
    bar.post(Notice("disk full", "error", "Open folder", lambda: done.append(1)))
    bar.post(Notice("disk full", "error"))
    bar.post(Notice("later", "info"))
    assert bar._text.text() == "disk full"
    assert bar._word.text() == "Error"
    bar._act.click()
    assert done == [1]
    assert bar._text.text() == "later"
    bar.dismiss()
    assert bar.isHidden()


def test_a_notice_is_never_taken_for_markup(qtbot, ugly):
    bar = NoticeBar()
    qtbot.addWidget(bar)
    bar.post(Notice(ugly + ".", "warn"))
    assert bar._text.textFormat() == Qt.TextFormat.PlainText
    assert bar._text.text() == ugly.lstrip("\ufeff") + "."


def test_expected_failures_speak_for_themselves_and_bugs_say_so():
    assert sentence(EvidenceError("a/b.dcm", "truncated", "ends too early")) == (
        "b.dcm: ends too early"
    )
    assert "disk is full" in sentence(OSError(errno.ENOSPC, "No space left"))
    assert "fault of the program" in sentence(ValueError("x"))


def test_the_last_door_keeps_the_window_up(qtbot):
    notify, notes = Notify(), []
    notify.posted.connect(notes.append)
    notify.listen()
    door, before = LastDoor(notify), sys.excepthook
    door.install()
    try:
        error = ValueError("boom")
        sys.excepthook(ValueError, error, None)
    finally:
        door.remove()
    assert sys.excepthook is before
    assert "boom" in notes[0].text
    assert notes[0].details


def test_changes_reach_who_asked_and_forget_who_is_gone(qtbot):
    class Page:
        def __init__(self):
            self.seen = []

        def refresh(self, change):
            self.seen.append(change.origin)

    changes, page, other = Changes(), Page(), Page()
    changes.watch("run", "study", call=page.refresh)
    changes.watch("run", call=other.refresh)
    del other
    gc.collect()
    changes.tell("run", origin="worker")
    changes.tell("settings", origin="me")
    assert page.seen == ["worker"]


@pytest.mark.parametrize(
    ("seconds", "said"),
    [(0.2, "1 s"), (59, "59 s"), (90, "2 min"), (3600, "1 h"), (9580, "2 h 40 min"),
     (4 * 3600 - 60, "4 h")],
)  # fmt: skip
def test_times_are_said_as_people_say_them(seconds, said):
    assert words.duration(seconds) == said


@pytest.mark.parametrize(("count", "said"), [(12, "12 bytes"), (34e6, "34 MB"), (1.1e9, "1.1 GB")])
def test_sizes_are_said_as_people_say_them(count, said):
    assert words.size(count) == said


# the window


def running(window, **more):
    """Make the window believe that a job runs."""
    jobs = window._jobs
    state = JobState("j", "bench", "Benchmark", state="running", **more)
    jobs._states["j"], jobs._current = state, "j"
    return jobs


def test_a_page_may_ask_once_before_the_window_closes(qtbot, program, monkeypatch):
    window = program().window
    window.go("review")
    window.go("library")
    answers = [True, False]
    presenter = window.presenter("review")
    monkeypatch.setattr(presenter, "keeps_open", lambda: answers.pop(0))
    assert not window.close()
    assert window.isVisible()
    assert window.page_id == "review", "the page that asks is on show"
    assert window.close(), "asked again, it closes: nothing waits for an answer"
    assert answers == []


def test_closing_while_a_job_runs_asks_once_and_stops_it(qtbot, program, site):
    made = program()
    window, jobs = made.window, made.services.jobs
    job = jobs.start("slow", {"steps": 5000, "pause": 0.01}, title="Benchmark")
    qtbot.waitUntil(lambda: jobs.state(job).done > 0, timeout=30_000)
    assert not window.close()
    assert window.isVisible()
    assert "Benchmark is running" in window.notices.current.text
    assert window.notices.current.action == "Stop and close"
    window.notices.current.act()
    qtbot.waitUntil(lambda: not window.isVisible(), timeout=30_000)
    assert jobs.state(job).state == "cancelled"
    assert not jobs._worker.running


def test_the_window_fits_its_screen(qtbot, program, monkeypatch):
    assert room_on(QSize(1280, 800)) == QSize(1264, 760)
    assert room_on(QSize(2560, 1440)) == QSize(*FIRST_SIZE)
    assert room_on(QSize(800, 600)).width() < 800
    made = program().window
    free = made.screen().availableGeometry().size()
    fresh = MainWindow(made._jobs, made._notify, made._state)
    qtbot.addWidget(fresh)
    assert fresh.width() <= free.width()
    assert fresh.height() <= free.height()


def test_the_size_of_last_time_comes_back_as_far_as_there_is_room(qtbot, home, program):
    first = program().window
    first.setMinimumSize(100, 100)
    first.resize(500, 400)
    first._save()
    second = MainWindow(first._jobs, first._notify, home.state)
    qtbot.addWidget(second)
    second._restore()
    assert (second.width(), second.height()) != FIRST_SIZE
    assert second._restored
    first.resize(5000, 4000)
    first._save()
    third = MainWindow(first._jobs, first._notify, home.state)
    qtbot.addWidget(third)
    third._restore()
    assert third.height() <= room_on(third.screen().availableGeometry().size()).height()


def test_an_old_error_does_not_follow_to_another_page(qtbot, monkeypatch):
    bar = NoticeBar()
    qtbot.addWidget(bar)
    bar.post(Notice("It failed.", "error"))
    bar.leave_page()
    assert bar.current is not None  # nobody had time to read it
    monkeypatch.setattr(notice, "READ_MS", 0)
    bar.leave_page()
    assert bar.current is None
    bar.post(Notice("Closing stops it.", "warn", "Stop", lambda: None))
    bar.leave_page()
    assert bar.current is not None


def test_a_sentence_that_only_leads_to_a_page_ends_there(qtbot):
    bar = NoticeBar()
    qtbot.addWidget(bar)
    unblinded = Notice("It is open.", "good", "See", lambda: None, leads="statistics")
    bar.post(unblinded)
    bar.leave_page("library")
    assert bar.current is unblinded, "elsewhere it is still an offer"
    bar.leave_page("statistics")
    assert bar.current is None
    bar.post(Notice("It failed.", "error"))
    bar.post(unblinded)
    bar.leave_page("statistics")
    bar.dismiss()
    assert bar.current is None, "nor does it come up there after the one before it"


def test_the_same_thing_done_well_takes_its_error_back(qtbot, program, site):
    made = program()
    jobs, bar = made.services.jobs, made.window.notices
    with qtbot.waitSignal(jobs.finished, timeout=30_000):
        jobs.start("bug", {}, title="Bug")
    qtbot.waitUntil(lambda: bar.current is not None and bar.current.kind == "error")
    state = next(one for one in jobs.states() if one.kind == "bug")
    jobs._answer(dataclasses.replace(state, state="done", sentence="Now it went well."))
    assert bar.current is None or bar.current.kind != "error"


def test_opening_counts_on_every_page_but_a_rating(qtbot, program, monkeypatch):
    window = program().window
    asked = []
    window.go("library")
    window.activateWindow()
    qtbot.waitUntil(window.isActiveWindow)
    monkeypatch.setattr(QFileDialog, "getExistingDirectory", lambda *_a, **_k: asked.append(1))
    qtbot.keyClick(window, Qt.Key.Key_O, Qt.KeyboardModifier.ControlModifier)
    qtbot.waitUntil(lambda: asked == [1])
    assert window.page_id == "viewer"
    qtbot.keyClick(window._views["viewer"], Qt.Key.Key_O, Qt.KeyboardModifier.ControlModifier)
    qtbot.waitUntil(lambda: asked == [1, 1])
    window.go("review")
    qtbot.keyClick(window, Qt.Key.Key_O, Qt.KeyboardModifier.ControlModifier)
    assert asked == [1, 1]


def test_a_damaged_state_file_is_no_reason_to_fail(qtbot, home, program):
    home.state.write_text("{ broken", encoding="utf-8")
    made = program()
    made.window.go("viewer")
    made.window.close()
    assert '"page": "viewer"' in home.state.read_text(encoding="utf-8")


def test_keys_show_pages(qtbot, program):
    window = program().window
    window.go("viewer")
    window.activateWindow()
    qtbot.waitUntil(window.isActiveWindow)
    qtbot.keyClick(window, Qt.Key.Key_7, Qt.KeyboardModifier.ControlModifier)
    qtbot.waitUntil(lambda: window.page_id == "review")
    assert window.rail._buttons["review"].isChecked()
    window.rail._buttons["library"].setFocus()
    qtbot.keyClick(window, Qt.Key.Key_6, Qt.KeyboardModifier.ControlModifier)
    qtbot.waitUntil(lambda: window.page_id == "study")
    assert not window.rail._buttons["library"].hasFocus()  # Space would lead back there


def test_quiet_hides_all_but_the_page_and_holds_notices(qtbot, program):
    made = program()
    window = made.window
    window.go("viewer")
    running(window, done=1, total=2)
    window.quiet(True)
    made.services.notify.warn("medemb-nano is done")
    assert not window.rail.isVisible()
    assert not window.tray.isVisible()
    assert not window.notices.isVisible()
    assert window.tray._title.text() == ""
    window.quiet(False)
    assert window.rail.isVisible()
    assert window.notices.isVisible()
    window._jobs._current = None


def test_the_text_size_follows_the_settings(qtbot, program, qapp):
    made = program()
    keeper = made.services.settings
    keeper.save(dataclasses.replace(keeper.current, text_scale=150))
    assert theme.px("body") == 20
    assert "font-size: 20px" in qapp.styleSheet()
    keeper.save(dataclasses.replace(keeper.current, text_scale=100))
    assert theme.px("body") == 13


@pytest.mark.parametrize("damage", ["not a database", "newer"])
def test_a_home_that_cannot_be_used_is_one_sentence(home, damage, capsys, qapp):
    if damage == "newer":
        connection = sqlite3.connect(home.database)
        connection.execute("PRAGMA journal_mode = WAL")
        connection.execute("CREATE TABLE alembic_version (version_num TEXT)")
        connection.execute("INSERT INTO alembic_version VALUES ('from-the-future')")
        connection.commit()
        connection.close()
    else:
        home.database.write_bytes(b"this is not a database at all" * 100)
    before = home.database.read_bytes()
    assert app.main.run(home, smoke=True) == 1
    said = capsys.readouterr().err.strip()
    assert said.count("\n") == 0
    assert home.database.name in said or str(home.root) in said
    assert home.database.read_bytes() == before


@pytest.fixture
def cleared(qapp):
    """The window that ``run`` leaves to the end of the program goes now.

    Each later change of the look would style it once more, which took minutes of a whole run.
    """
    yield
    for window in qapp.topLevelWidgets():
        if isinstance(window, MainWindow):
            window.deleteLater()


@pytest.mark.usefixtures("cleared")
def test_the_smoke_walk_visits_every_page(home, qapp, monkeypatch):
    monkeypatch.setattr(app.main, "SMOKE_MS", 30)
    shown = []
    original = MainWindow.go

    def go(self, page, argument=None):
        shown.append(page)
        original(self, page, argument)

    monkeypatch.setattr(MainWindow, "go", go)
    assert app.main.run(home, smoke=True) == 0
    assert [page.id for page in actions.PAGES] == shown[-len(actions.PAGES) :]


@pytest.mark.usefixtures("cleared")
def test_paths_of_the_command_line_open_in_the_viewer(home, qapp, monkeypatch, tmp_path):
    monkeypatch.setattr(app.main, "SMOKE_MS", 1)
    went, go = [], MainWindow.go
    monkeypatch.setattr(
        MainWindow, "go", lambda self, *given: (went.append(given), go(self, *given))[1]
    )
    assert app.main.run(home, smoke=True, open_paths=(tmp_path,)) == 0
    assert went[1] == ("viewer", (tmp_path,))
