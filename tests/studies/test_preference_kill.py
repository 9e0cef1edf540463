"""Kill -9 in the middle of a session, forty times at random instants, and raters side by side.

The thousand of the acceptance: ``python -m tests.studies.killing --kills 1000``.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from db import ratings
from db.session import open_study_store
from studies.preference.study import open_study
from studies.preference.verify import verify
from tests.studies.killing import ROOT, Seen, check_sense, in_words, kill_many
from tests.studies.plain_study import on_server, plain_study


def test_no_act_is_lost_and_none_doubled_in_a_file(tmp_path):
    seen = Seen()
    kill_many(plain_study(tmp_path), 40, 4, seen)
    assert seen.kills == 40
    assert set(seen.acts) == {"answer", "undo", "guess", "pause", "resume"}, seen.sentence()


def test_no_act_is_lost_and_none_doubled_on_a_server(tmp_path, server):
    seen = Seen()
    kill_many(on_server(plain_study(tmp_path), server.study()), 8, 9, seen)
    assert seen.kills == 8
    assert seen.said > 8


def read_at_once(place: Path | str, names: list[str]) -> list[list[str]]:
    """One process for each name, all at the same time; what each of them confirmed."""
    module = [sys.executable, "-m", "tests.studies.rating_loop", str(place)]
    running = [
        subprocess.Popen([*module, name, str(seed), "all"], cwd=ROOT, text=True,
                         stdout=subprocess.PIPE)
        for seed, name in enumerate(names)
    ]  # fmt: skip
    said = []
    for process in running:
        out, _ = process.communicate(timeout=120)
        assert process.returncode == 0
        said.append(out.split("\n")[:-1])
    return said


@pytest.fixture(params=["file", "server"])
def path(request, tmp_path):
    made = plain_study(tmp_path)
    if request.param == "file":
        return made
    return on_server(made, request.getfixturevalue("server").study())


def test_raters_in_several_processes_rate_one_study_at_once(path):
    names = ["Ann", "Bob", "Eve"]
    for name, said in zip(names, read_at_once(path, names), strict=True):
        assert in_words(path, name) == said
    with open_study(path) as study:
        total = study.session("Ann").total
        assert study.info().raters == tuple((name, total) for name in names)
    with open_study_store(path) as store:
        whose = [row.rater for row in ratings.entries(store)]
    assert whose != sorted(whose, key=str), "they did not read at the same time"
    assert verify(path) == ()


def test_one_rater_in_two_windows_answers_each_item_once(path):
    one, other = read_at_once(path, ["Ann", "Ann"])
    kept = in_words(path, "Ann")
    assert sorted(kept) == sorted(one + other)
    check_sense(kept)
    with open_study(path) as study:
        assert study.session("Ann").answered == len(kept) == study.session("Ann").total
    assert verify(path) == ()
