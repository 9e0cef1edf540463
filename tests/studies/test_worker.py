"""The real process: noise, failure, cancel, kill, end of input."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from db.home import Home
from engine.errors import Cancelled
from studies import jobs
from studies.errors import BadMessage, StudyError, WorkerLost
from studies.messages import KINDS, Progress, Ready, Run, Saved, from_line, to_line
from studies.worker_client import JobFault, WorkerClient

PROBE = Path(__file__).with_name("probe_jobs.py")


@pytest.fixture
def client(tmp_path, monkeypatch):
    """A worker whose list of jobs holds the probe jobs."""
    monkeypatch.delenv("OMP_WAIT_POLICY", raising=False)
    site = tmp_path / "site"
    site.mkdir()
    (site / "sitecustomize.py").write_text(
        "import sys\n"
        f"sys.path.insert(0, {str(PROBE.parent)!r})\n"
        "from studies.jobs import JOBS\n"
        "for name in ('echo', 'noisy', 'slow', 'stuck', 'bug', 'die', 'policy'):\n"
        "    JOBS[name] = f'probe_jobs:{name}'\n",
        encoding="utf-8",
    )
    root = str(Path(jobs.__file__).resolve().parents[1])
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join([str(site), root]))
    with WorkerClient(Home(tmp_path / "home")) as client:
        yield client


def test_every_message_survives_the_wire():
    samples = [
        Run("j", "bench", {"a": [1]}),
        Progress("j", 1, 2, "items", "embedding"),
        Saved("j", ("run", "study")),
        Ready(pid=3),
    ]
    assert [from_line(to_line(message)) for message in samples] == samples
    assert len(KINDS) == 10


@pytest.mark.parametrize("line", ["", "[]", "{}", '{"type":"nope"}', '{"type":"run","x":1}', "3"])
def test_a_bad_line_is_named(line):
    with pytest.raises(BadMessage, match="Not a message"):
        from_line(line)


def test_a_job_answers_and_says_what_it_saved(client):
    heard = []
    assert client.run("echo", {"word": "x"}, listen=heard.append) == {"word": "x"}
    assert Saved("echo-1", ("run",)) in heard


def test_chatter_on_stdout_does_not_break_the_wire(client):
    assert client.run("noisy", {}) == {"ok": True}


def test_a_failure_is_a_sentence_and_the_worker_goes_on(client):
    with pytest.raises(StudyError, match="There is no job"):
        client.run("nothing", {})
    with pytest.raises(JobFault, match="fault of the program") as caught:
        client.run("bug", {})
    assert "ZeroDivisionError" in caught.value.details
    assert client.run("echo", {"word": 1}) == {"word": 1}


def test_progress_is_at_most_ten_a_second(client):
    heard = []
    client.run("slow", {"steps": 60, "pause": 0.01}, listen=heard.append)
    sent = [message for message in heard if isinstance(message, Progress)]
    assert sent[-1].done == 60
    assert len(sent) < 40


def test_ctrl_c_stops_between_steps(client):
    """A KeyboardInterrupt in the listener is what Ctrl+C is."""

    def interrupt(message):
        if isinstance(message, Progress) and message.done > 2:
            raise KeyboardInterrupt

    with pytest.raises(Cancelled):
        client.run("slow", {"steps": 10_000, "pause": 0.05}, listen=interrupt)


def test_a_stuck_job_is_terminated_after_the_wait(client, monkeypatch):
    """Asked, it does not answer; then it is ended by force and no process is left."""
    monkeypatch.setattr("studies.worker_client.ASK_SECONDS", 0.5)

    def interrupt(message):
        raise KeyboardInterrupt

    with pytest.raises(Cancelled):
        client.run("stuck", {}, listen=interrupt)
    with pytest.raises(WorkerLost):
        client.run("echo", {})


def test_a_killed_worker_is_lost_with_its_last_lines(client):
    threading.Timer(1.0, os.kill, args=(client.pid, signal.SIGTERM)).start()
    with pytest.raises(WorkerLost) as caught:
        client.run("slow", {"steps": 10_000, "pause": 0.05})
    assert caught.value.exit_code != 0


def test_a_crash_keeps_the_last_words(client):
    with pytest.raises(WorkerLost, match="last words"):
        client.run("die", {})


def test_computing_threads_sleep_while_they_wait(client):
    """Spinning threads made the demo several times slower on a busy machine."""
    assert client.run("policy", {}) == {"policy": "PASSIVE"}


def test_the_end_of_input_ends_the_worker(tmp_path):
    process = subprocess.Popen(
        [sys.executable, "-m", "studies.worker", "--home", str(tmp_path)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        encoding="utf-8",
    )
    assert isinstance(from_line(process.stdout.readline()), Ready)
    process.stdin.close()
    deadline = time.monotonic() + 60
    while process.poll() is None and time.monotonic() < deadline:
        time.sleep(0.05)
    process.stdout.close()
    assert process.poll() == 0


def test_a_folder_named_like_ours_does_not_shadow_ours(client, tmp_path, monkeypatch):
    """Someone stands in a project with its own ``db`` and ``studies``."""
    trap = tmp_path / "trap"
    for name in ("db", "studies"):
        (trap / name).mkdir(parents=True)
        (trap / name / "__init__.py").write_text("raise SystemExit(9)", encoding="utf-8")
    monkeypatch.chdir(trap)
    with WorkerClient(Home(tmp_path / "other")) as other:
        assert other.run("echo", {"word": "x"}) == {"word": "x"}
