"""The worker and the command line against garbage: nothing hangs, nothing is left behind."""

from __future__ import annotations

import errno
import os
import subprocess

import pytest
import typer

from db.home import Home
from engine.catalog import find_card
from engine.errors import UnknownModel
from studies import cli_common
from studies.cli_study_text import find_study
from studies.cli_text import described, probe
from studies.errors import BadMessage, NoRun
from studies.failures import explain
from studies.messages import Run, from_line, to_line
from studies.worker_client import WorkerClient, worker_command

GARBAGE = (
    b"\xff\xfe no text\n",
    b"[" * 100_000 + b"\n",
    b'{"type":"cancel","job":["x"]}\n',
    b'{"type":"cancel","job":"of nobody"}\n',
    b'{"type":"run","job":{},"kind":"import"}\n',
)


def test_the_worker_outlives_garbage_and_leaves_when_told(tmp_path):
    command = worker_command(Home(tmp_path / "home"))
    strict = {**os.environ, "PYTHONIOENCODING": "utf-8:strict"}
    told = b"".join(GARBAGE) + b'{"type":"run","job":"a","kind":"nope"}\n{"type":"shutdown"}\n'
    done = subprocess.run(
        command, input=told, capture_output=True, env=strict, timeout=60, check=False
    )
    assert done.returncode == 0
    assert done.stdout.count(b"Not a message") == len(GARBAGE) - 1
    assert b"There is no job 'nope'" in done.stdout
    assert b"Traceback" not in done.stderr


@pytest.mark.parametrize("line", ['{"type":"cancel","job":[]}', "[" * 100_000])
def test_an_odd_line_is_named(line):
    with pytest.raises(BadMessage, match="Not a message"):
        from_line(line)


def test_bytes_of_a_library_do_not_stop_the_terminal(tmp_path, monkeypatch):
    site = tmp_path / "site"
    site.mkdir()
    text = "import os\nos.write(2, b'\\xff\\xfe' * 200_000)\n"
    (site / "sitecustomize.py").write_text(text, encoding="utf-8")
    monkeypatch.setenv("PYTHONPATH", str(site))
    with WorkerClient(Home(tmp_path / "home")) as client, pytest.raises(Exception, match="no job"):
        client.run("nope", {})


def test_a_job_whose_owner_is_gone_is_stopped_not_shot(tmp_path):
    """So that a half-built study is cleared away: the control says stop once input ends."""
    site = tmp_path / "site"
    site.mkdir()
    (site / "orphan.py").write_text(
        "import pathlib, time\n"
        "def job(home, arguments, control):\n"
        "    try:\n"
        "        for _ in range(400):\n"
        "            control.check()\n"
        "            time.sleep(0.05)\n"
        "    finally:\n"
        "        (home.root / 'cleared').write_text('yes')\n",
        encoding="utf-8",
    )
    (site / "sitecustomize.py").write_text(
        "from studies.jobs import JOBS\nJOBS['orphan'] = 'orphan:job'\n", encoding="utf-8"
    )
    root = str(os.path.dirname(os.path.dirname(cli_common.__file__)))  # noqa: PTH120
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(site), root])}
    home = Home(tmp_path / "home")
    line = (to_line(Run("a", "orphan")) + "\n").encode()
    done = subprocess.run(
        worker_command(home), input=line, capture_output=True, env=environment, timeout=60,
        check=False,
    )  # fmt: skip
    assert (done.returncode, b'"stopped"' in done.stdout) == (0, True), done
    assert (home.root / "cleared").read_text() == "yes"


@pytest.mark.parametrize("name", ["~$report.txt", "~nobody.of.that.name/x"])
def test_a_tilde_of_nobody_is_a_plain_name(tmp_path, monkeypatch, name):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "~$report.txt").write_text("words", encoding="utf-8")
    assert cli_common.absolute(cli_common.Path(name)) == str(tmp_path / name)
    [document] = described([cli_common.Path(name)], probes=(), with_text=False)
    assert document["kind"] == ("report" if name.endswith("txt") else "error")
    with pytest.raises(UnknownModel):
        find_card(name)


def test_links_in_a_circle_and_endless_names_end_in_a_sentence(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "loop").symlink_to("loop")
    assert cli_common.absolute(cli_common.Path("loop")) == str(tmp_path / "loop")
    with pytest.raises(NoRun, match="no study"):
        find_study(Home(tmp_path / "home").make(), "x" * 5000)
    with pytest.raises(UnknownModel):
        find_card("x" * 5000)


def test_any_failure_of_the_disk_is_a_sentence():
    told = explain(OSError(errno.ENAMETOOLONG, "File name too long", "scan/x"))
    assert (told.expected, told.sentence.startswith("scan/x cannot be used")) == (True, True)


def test_orders_to_a_terminal_in_a_name_are_not_passed_on(capsys):
    cli_common.say("scan\x1b[2J\x07.png ü\tx\r\nli\rne\x9b\u00a0")
    cli_common.answer(cli_common.Options(Home(cli_common.Path()), json=False), {}, "a\x1b]0;x\x07")
    said = capsys.readouterr()
    assert (said.err, said.out) == ("scan?[2J?.png ü\tx\r\nli?ne?\u00a0\n", "a?]0;x?\n")


@pytest.mark.parametrize("words", ["1,2", "1,2,3,4", "", "a,b,c"])
def test_a_probe_is_three_numbers(words):
    with pytest.raises(typer.BadParameter, match="whole numbers"):
        probe(words)
