"""Kill -9 in the middle of a session, forty times at random instants, and raters side by side.

The thousand of the acceptance: ``python -m tests.studies.killing --kills 1000``.
"""

from __future__ import annotations

import subprocess
import sys

import pytest

from db import ratings
from db.session import open_study_store
from studies.preference.study import open_study
from studies.preference.verify import verify
from tests.studies.killing import ROOT, Seen, in_words, kill_many
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


@pytest.mark.parametrize("where", ["file", "server"])
def test_raters_in_several_processes_rate_one_study_at_once(tmp_path, where, request):
    path = plain_study(tmp_path)
    place = path if where == "file" else on_server(path, request.getfixturevalue("server").study())
    names = ["Ann", "Bob", "Eve"]
    module = [sys.executable, "-m", "tests.studies.rating_loop", str(place)]
    running = [
        subprocess.Popen([*module, name, str(seed), "all"], cwd=ROOT, text=True,
                         stdout=subprocess.PIPE)
        for seed, name in enumerate(names)
    ]  # fmt: skip
    said = {}
    for name, process in zip(names, running, strict=True):
        out, _ = process.communicate(timeout=120)
        assert process.returncode == 0, name
        said[name] = out.split("\n")[:-1]
    for name in names:
        assert in_words(place, name) == said[name]
    with open_study(place) as study:
        total = study.session("Ann").total
        assert study.info().raters == tuple((name, total) for name in names)
    with open_study_store(place) as store:
        whose = [row.rater for row in ratings.entries(store)]
    assert whose != sorted(whose, key=str), "they did not read at the same time"
    assert verify(place) == ()
