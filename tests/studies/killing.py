"""Kill -9 at random instants of a scripted session: nothing may be lost, nothing kept twice.

``python -m tests.studies.killing --kills 1000`` does it a thousand times and says what it saw;
``--server`` on a PostgreSQL server made for it. The tests do a small share of that.
"""

from __future__ import annotations

import argparse
import contextlib
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from db import ratings
from db.session import open_study_store
from studies.preference.verify import verify
from tests.studies.plain_study import on_server, plain_study

ROOT = Path(__file__).resolve().parents[2]
KILL = getattr(signal, "SIGKILL", signal.SIGTERM)
EACH = 100  # kills in one study; then a new one, so that its log stays short


def in_words(place: Path | str, rater: str) -> list[str]:
    """The log of one rater in the words of the acknowledgements."""
    with open_study_store(place) as store:
        with store.session():
            pass  # a server may still be at the last commit of one who was killed
        rows = [row for row in ratings.entries(store) if row.rater == rater]
        assert ratings.check_chain(store) == ()
    told = {"answer": "answer {0.position} {0.answer}", "guess": "guess {0.position} {0.answer}"}
    told["undo"] = "undo {0.position}"
    return [told.get(row.action, row.action).format(row) for row in rows if row.action != "order"]


@contextlib.contextmanager
def raters_at(place: Path | str) -> Iterator[subprocess.Popen[str]]:
    """The process that starts raters on request."""
    command = [sys.executable, "-m", "tests.studies.rating_loop", str(place), "Ann"]
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
    with subprocess.Popen(command, cwd=ROOT, text=True, **pipes) as server:
        assert server.stdout is not None
        assert server.stdout.readline() == "ready\n"
        yield server


def rate_until_killed(
    server: subprocess.Popen[str], seed: int, rater: str, *, acts: int, then_s: float
) -> list[str]:
    """Start a rater, kill it that long after so many acknowledgements, return all of them."""
    assert server.stdin is not None
    assert server.stdout is not None
    server.stdin.write(f"{seed} {rater}\n")
    server.stdin.flush()
    said: list[str] = []
    pid = 0
    killed = False
    while True:
        if pid and len(said) >= acts and not killed:
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


@dataclass
class Seen:
    """What was seen while killing.

    Attributes:
        kept_unsaid: acts that were kept though the rater was killed before saying so.
        acts: how many of each kind were kept.
    """

    kills: int = 0
    said: int = 0
    kept_unsaid: int = 0
    acts: Counter[str] = field(default_factory=Counter)

    def sentence(self) -> str:
        """In one line."""
        kinds = ", ".join(f"{number} {kind}" for kind, number in sorted(self.acts.items()))
        return (
            f"{self.kills} kills, {self.said} acts confirmed, {self.kept_unsaid} kept before "
            f"they could be confirmed, none lost, none twice; {kinds}"
        )


def kill_many(place: Path | str, kills: int, seed: int, seen: Seen) -> None:
    """Kill raters of one study and hold its log to what they confirmed."""
    chance = random.Random(seed)
    kept: dict[str, list[str]] = {}
    with raters_at(place) as server:
        for number in range(kills):
            rater = f"Ann{number // 20}"
            # some at once, while the file is being opened or the rater seated
            acts = 0 if number % 6 == 0 else chance.randint(1, 20)
            then_s = chance.uniform(0, 0.05 if acts == 0 else 0.02)
            said = rate_until_killed(server, seed + number, rater, acts=acts, then_s=then_s)
            before, now = kept.get(rater, []), in_words(place, rater)
            new = now[len(before) :]
            assert now[: len(before)] == before, "something stored before was changed"
            assert new[: len(said)] == said, "an act that was confirmed was lost"
            assert len(new) <= len(said) + 1, "more was kept than one act not yet confirmed"
            kept[rater] = now
            seen.kills += 1
            seen.said += len(said)
            seen.kept_unsaid += len(new) - len(said)
    for log in kept.values():
        check_sense(log)
        seen.acts.update(line.split()[0] for line in log)
    assert verify(place) == ()


def check_sense(log: list[str]) -> None:
    """No place is answered twice without a step back, none is guessed twice."""
    answered: set[str] = set()
    guessed: set[str] = set()
    for line in log:
        word, *place = line.split()
        if word == "guess":
            assert place[0] not in guessed, f"{line} was kept twice"
            guessed.add(place[0])
        elif word in ("answer", "undo"):
            assert not guessed, f"{line} comes after a guess"
            assert (place[0] in answered) == (word == "undo"), f"{line} does not follow"
            answered ^= {place[0]}


def main() -> None:
    """Kill as often as asked for, and say what was seen."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--kills", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=4)
    parser.add_argument("--url", default="", help="a PostgreSQL database; a file without")
    asked = parser.parse_args()
    seen = Seen()
    for start in range(0, asked.kills, EACH):
        with tempfile.TemporaryDirectory() as folder:
            place: Path | str = plain_study(Path(folder))
            if asked.url:
                place = on_server(Path(place), f"{asked.url}&schema=study_{os.getpid()}_{start}")
            kill_many(place, min(EACH, asked.kills - start), asked.seed + start, seen)
        sys.stdout.write(f"{seen.sentence()}\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main()
