"""The worker seen from the window: done, failed, cancelled, killed, lost, queued, remembered."""

from __future__ import annotations

import sys

import pytest

from app.changes import Changes
from app.job_rows import JobRows
from app.jobs import Jobs, JobState
from app.notify import Notify
from app.presenters.job_tray import JobTrayPresenter
from app.tables.jobs import JobList, line
from app.tasks import Tasks
from app.widgets.job_tray import JobTray
from app.worker_process import WorkerProcess
from db import jobs as rows
from db.session import open_store


@pytest.fixture
def notes():
    return []


@pytest.fixture
def made(qtbot, home, site, notes):
    """Jobs on a real worker process with a short ladder."""
    notify, changes = Notify(), Changes()
    notify.posted.connect(notes.append)
    notify.listen()
    worker = WorkerProcess(home.root, ask_ms=400)
    jobs = Jobs(worker, changes, notify)
    jobs.changes = changes
    yield jobs
    jobs.kill()


def finish(qtbot, jobs, job):
    qtbot.waitUntil(lambda: jobs.state(job).ended, timeout=30_000)
    return jobs.state(job)


def test_a_job_ends_well_and_says_what_changed(qtbot, made):
    told, got = [], []
    made.changes.changed.connect(lambda change: told.append(set(change.kinds)))
    job = made.start("echo", {"x": 3}, title="Echo", done=got.append)
    assert made.state(job).state == "starting"
    state = finish(qtbot, made, job)
    assert (state.state, state.result) == ("done", {"x": 3})
    assert told == [{"run"}]
    assert [one.result["x"] for one in got] == [3]


def test_jobs_wait_for_each_other_and_share_one_worker(qtbot, made, notes):
    first = made.start("slow", {"steps": 4, "pause": 0.05}, title="First")
    second = made.start("noisy", {}, title="Second")
    assert made.waiting == 1
    assert finish(qtbot, made, second).result == {"ok": True}
    assert made.state(first).state == "done"
    assert [note.text for note in notes] == ["First: done.", "Second: done."]


def test_a_bug_is_named_with_details_and_can_be_started_again(qtbot, made, notes):
    job = made.start("bug", {}, title="Bug")
    state = finish(qtbot, made, job)
    assert state.state == "failed"
    assert "ZeroDivisionError" in state.details
    assert (notes[0].kind, notes[0].action) == ("error", "Start again")
    notes[0].act()
    assert made.states()[-1].title == "Bug"
    finish(qtbot, made, made.states()[-1].id)


def test_a_running_job_stops_after_the_batch_in_hand(qtbot, made):
    job = made.start("slow", {"steps": 1000, "pause": 0.02}, title="Slow")
    qtbot.waitUntil(lambda: made.state(job).done > 0, timeout=30_000)
    made.cancel(job)
    assert made.state(job).state == "stopping"
    assert finish(qtbot, made, job).state == "cancelled"
    # The same worker goes on with the next one.
    assert finish(qtbot, made, made.start("echo", {}, title="Next")).state == "done"


def test_a_job_that_does_not_listen_is_ended_by_force(qtbot, made):
    job = made.start("stuck", {}, title="Stuck")
    qtbot.waitUntil(lambda: made.state(job).state == "running", timeout=30_000)
    made.cancel(job)
    assert finish(qtbot, made, job).state == "cancelled"
    assert finish(qtbot, made, made.start("echo", {}, title="Next")).state == "done"


def test_a_dead_worker_is_a_state_with_exit_code_and_last_lines(qtbot, made, notes):
    job = made.start("die", {}, title="Die")
    state = finish(qtbot, made, job)
    assert (state.state, state.exit_code) == ("lost", 7)
    assert "last words" in state.details
    assert "exit code 7" in state.sentence
    assert notes[0].kind == "error"
    assert finish(qtbot, made, made.start("echo", {}, title="Next")).state == "done"


def test_a_worker_that_cannot_start_is_lost_not_silent(qtbot, home, notes):
    worker = WorkerProcess(home.root, command=("no-such-program-here",))
    jobs = Jobs(worker, Changes(), Notify())
    job = jobs.start("echo", {}, title="Echo")
    state = finish(qtbot, jobs, job)
    assert state.state == "lost"
    assert "could not be started" in state.sentence


def test_a_waiting_job_is_cancelled_at_once(qtbot, made):
    made.start("slow", {"steps": 50, "pause": 0.02}, title="First")
    second = made.start("echo", {}, title="Second")
    made.cancel(second)
    assert made.state(second).state == "cancelled"


def test_closing_ends_the_worker(qtbot, made):
    made.start("slow", {"steps": 1000, "pause": 0.02}, title="Slow")
    waiting = made.start("echo", {}, title="Next")
    with qtbot.waitSignal(made.idle, timeout=30_000):
        made.close()
    assert not made._worker.running
    assert {state.state for state in made.states()} == {"cancelled"}
    assert made.state(waiting).state == "cancelled"


def test_rows_survive_a_restart_without_secrets(qtbot, home):
    store, tasks = open_store(home), Tasks(Notify())
    keeper = JobRows(store, tasks)
    running = JobState("a", "study-build", "Build", state="queued")
    keeper.remember(running, {"title": "Chest", "passphrase": "open sesame"})
    keeper.remember(JobState("a", "study-build", "Build", state="running"), {})
    tasks.close()
    assert dict(rows.jobs(store)[0].arguments) == {"title": "Chest"}

    again, jobs = Tasks(Notify()), Jobs(WorkerProcess(home.root), Changes(), Notify())
    keeper = JobRows(store, again)
    keeper.earlier(jobs.adopt)
    qtbot.waitUntil(lambda: bool(jobs.states()), timeout=5000)
    assert jobs.states()[0].state == "lost"
    assert not jobs.can_again("a")
    again.close()
    store.close()


def test_the_tray_shows_progress_cancel_and_the_list(qtbot, made):
    tray = JobTray()
    qtbot.addWidget(tray)
    presenter = JobTrayPresenter(tray, made)
    tray.show()
    assert "No job runs" in tray._text.text()
    job = made.start("slow", {"steps": 1000, "pause": 0.01}, title="Slow 'one'")
    qtbot.waitUntil(lambda: made.state(job).done > 2, timeout=30_000)
    assert "of 1,000 steps" in tray._text.text()
    assert tray._cancel.isVisible()
    presenter.blank(True)
    assert (tray._title.text(), tray._text.text()) == ("", "")
    presenter.blank(False)
    tray._cancel.click()
    finish(qtbot, made, job)
    table = JobList(made)
    assert table.rowCount() == 1
    assert "Cancelled" in table.index(0).data()


@pytest.mark.parametrize(
    ("done", "total", "spent", "words"),
    [(10, 100, 10.0, "about 2 min left"), (1, 100, 10.0, ""), (50, 100, 1.0, "")],
)
def test_time_left_is_honest(done, total, spent, words):
    state = JobState("j", "k", "T", state="running", done=done, total=total, unit="items")
    assert (words or "left") in line(state, spent) or words == ""
    assert ("left" in line(state, spent)) == bool(words)


def test_chatter_on_standard_output_is_kept_for_the_lost_state(qtbot, home):
    code = "import sys; print('not a message'); sys.exit(3)"
    worker = WorkerProcess(home.root, command=(sys.executable, "-c", code))
    with qtbot.waitSignal(worker.lost, timeout=30_000) as lost:
        worker.start()
    assert lost.args[0].exit_code == 3
    assert "not a message" in lost.args[0].last_lines
