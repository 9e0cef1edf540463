"""Kill -9 in the middle of rating, fifty times at random instants: nothing lost, nothing twice."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

from db import ratings
from db.home import Home
from db.session import open_study_store
from engine.evidence.item import Item
from studies.preference.build import build_from
from studies.preference.lists import Comparison, Listed
from studies.preference.verify import verify
from studies.preference.wish import Material
from tests.studies.preference_material import material, wish

ROOT = Path(__file__).resolve().parents[2]
KILLS = 50
ITEMS = 500
KILL = getattr(signal, "SIGKILL", signal.SIGTERM)


def long_study(tmp_path: Path) -> Path:
    """A study of many short texts."""
    listed = [Listed(f"n{i}", Item(text=f"text {i}")) for i in range(6)]
    lists = (tuple(listed[:3]), tuple(listed[3:]))
    made = tuple(
        Comparison("t", "T-T", "text", "id", row, Item(text=f"query {row}"), "n0", *lists)
        for row in range(ITEMS)
    )
    arms = material(tmp_path / "evidence", per_task=2).arms
    home = Home(tmp_path / "home").make()
    return build_from(home, Material(arms, {"task/one": made}), wish(total=ITEMS)).path


def rate_until_killed(
    server: subprocess.Popen[str], seed: int, *, answers: int, then_s: float
) -> list[str]:
    """Start a rater, kill it that long after so many acknowledgements, return all of them."""
    assert server.stdin is not None
    assert server.stdout is not None
    server.stdin.write(f"{seed}\n")
    server.stdin.flush()
    said: list[str] = []
    pid = 0
    killed = False
    while True:
        if pid and len(said) >= answers and not killed:
            time.sleep(then_s)
            os.kill(pid, KILL)
            killed = True
        line = server.stdout.readline().strip()
        if line == "ended":
            assert killed, "the rater ended before it was killed"
            return said
        if line.startswith("pid "):
            pid = int(line.split()[1])
        else:
            assert line, "the server of raters died"
            said.append(line)


def logged(path: Path) -> list[str]:
    """The log in the words of the acknowledgements."""
    with open_study_store(path) as store:
        rows = ratings.ratings(store, "Ann")
        assert ratings.check_chain(store) == ()
    return [
        f"answer {row.position} {row.answer}" if row.action == "answer" else f"undo {row.position}"
        for row in rows
    ]


def test_no_answer_is_lost_and_none_doubled(tmp_path):
    path = long_study(tmp_path)
    chance = random.Random(4)
    kept: list[str] = []
    command = [sys.executable, "-m", "tests.studies.rating_loop", str(path)]
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
    with subprocess.Popen(command, cwd=ROOT, text=True, **pipes) as server:
        assert server.stdout is not None
        assert server.stdout.readline() == "ready\n"
        for seed in range(KILLS):
            # a few at once, while the file is being opened; the others between two answers
            answers = 0 if seed % 6 == 0 else chance.randint(1, 20)
            said = rate_until_killed(server, seed, answers=answers, then_s=chance.uniform(0, 0.02))
            now = logged(path)
            new = now[len(kept) :]
            assert now[: len(kept)] == kept, "something stored before was changed"
            assert new[: len(said)] == said, "an acknowledged answer was lost"
            assert len(new) <= len(said) + 1, "more was stored than one unacknowledged answer"
            assert len(said) >= answers
            kept = now
    answered: set[str] = set()
    for line in kept:
        word, place, *_ = line.split()
        assert (place in answered) == (word == "undo"), f"{line} does not follow from before"
        answered ^= {place}
    assert len(kept) > KILLS
    assert verify(path) == ()
