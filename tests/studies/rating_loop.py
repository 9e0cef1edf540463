"""Raters who answer as fast as the disk allows and say so after each commit. They get killed.

Run as ``python -m tests.studies.rating_loop STUDY``: says ``ready``, then for each seed on its
input starts a rater in a process of its own (forked where the system can, so that the imports
are paid once), says ``pid N``, passes on what the rater says, and ``ended`` once it is dead.
"""

from __future__ import annotations

import os
import random
import subprocess
import sys
from pathlib import Path

from studies.preference.study import ANSWERS, open_study


def say(words: str) -> None:
    """One line in one write, so that lines of two processes never mix."""
    os.write(1, f"{words}\n".encode())


def rate(path: Path, seed: int) -> None:
    chance = random.Random(seed)
    with open_study(path) as study:
        session = study.session("Ann")
        now = session.current()
        while now is not None:
            if chance.random() < 0.4 and now.position > 1:
                now = session.undo()
                say(f"undo {now.position}")
            else:
                answer, place = chance.choice(ANSWERS), now.position
                now = session.answer(answer, item_id=now.item_id, answer_ms=place)
                say(f"answer {place} {answer}")


def serve(path: Path) -> None:
    say("ready")
    for line in sys.stdin:
        if hasattr(os, "fork"):
            pid = os.fork()
            if pid == 0:
                rate(path, int(line))
                os._exit(0)
            say(f"pid {pid}")
            os.waitpid(pid, 0)
        else:
            command = [sys.executable, "-m", "tests.studies.rating_loop", str(path), line.strip()]
            with subprocess.Popen(command) as process:
                say(f"pid {process.pid}")
        say("ended")


if __name__ == "__main__":
    if len(sys.argv) == 3:
        rate(Path(sys.argv[1]), int(sys.argv[2]))
    else:
        serve(Path(sys.argv[1]))
