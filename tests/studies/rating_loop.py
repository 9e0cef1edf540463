"""Raters who act as fast as the disk allows and say so after each commit. They get killed.

Run as ``python -m tests.studies.rating_loop STUDY RATER``: says ``ready``, then for each seed on
its input starts a rater in a process of its own (forked where the system can, so that the imports
are paid once), says ``pid N``, passes on what the rater says, and ``ended`` once it is dead.
With a seed and a number of acts besides, that one rater acts and ends by itself.
"""

from __future__ import annotations

import os
import random
import subprocess
import sys

from db.errors import AnsweredAlready
from studies.preference.session import Session
from studies.preference.study import ANSWERS, Study, open_study

GUESSES = ("left", "right", "unsure")


def say(words: str) -> None:
    """One line in one write, so that lines of two processes never mix."""
    os.write(1, f"{words}\n".encode())


def act(session: Session, chance: random.Random) -> str:
    """One act by lot; what it was, in the words of ``killing.in_words``."""
    now = session.current()
    lot = chance.random()
    if lot < 0.08:
        kind = chance.choice(("pause", "resume"))
        session.note_pause(kind)
        return kind
    waiting = session.guesses()
    if now is None and waiting and (session.settled or lot < 0.2):
        shown, guess = waiting[0], chance.choice(GUESSES)
        session.guess(shown.item_id, guess)
        return f"guess {shown.position} {guess}"
    if session.settled:
        session.note_pause("pause")
        return "pause"
    if now is None or (lot < 0.38 and session.answered):
        before = session.undo()
        assert before is not None
        return f"undo {before.position}"
    answer = chance.choice(ANSWERS)
    reason = "too dark" if answer == "cannot" else None
    session.answer(answer, item_id=now.item_id, answer_ms=now.position, reason=reason)
    return f"answer {now.position} {answer}"


def rate(study: Study, rater: str, seed: int, acts: int) -> None:
    chance = random.Random(seed)
    session = study.session(rater)
    for _ in range(acts):
        say(act(session, chance))


def finish(study: Study, rater: str, seed: int) -> None:
    """Answer whatever is left, as a rater does who has others beside."""
    chance = random.Random(seed)
    session = study.session(rater)
    while (now := session.current()) is not None:
        answer = chance.choice(ANSWERS)
        reason = "too dark" if answer == "cannot" else None
        try:
            session.answer(answer, item_id=now.item_id, reason=reason)
        except AnsweredAlready:
            continue  # the same rater in another window was quicker
        say(f"answer {now.position} {answer}")


def serve(place: str, rater: str) -> None:
    say("ready")
    for line in sys.stdin:
        seed, name = (*line.split(), rater)[:2]
        if hasattr(os, "fork"):
            pid = os.fork()
            if pid == 0:
                with open_study(place) as study:
                    rate(study, name, int(seed), 10**9)
                os._exit(0)
            say(f"pid {pid}")
            os.waitpid(pid, 0)
        else:
            module = [sys.executable, "-m", "tests.studies.rating_loop"]
            with subprocess.Popen([*module, place, name, seed, str(10**9)]) as process:
                say(f"pid {process.pid}")
        say("ended")


if __name__ == "__main__":
    if len(sys.argv) == 3:
        serve(sys.argv[1], sys.argv[2])
    else:
        with open_study(sys.argv[1]) as opened:
            if sys.argv[4] == "all":
                finish(opened, sys.argv[2], int(sys.argv[3]))
            else:
                rate(opened, sys.argv[2], int(sys.argv[3]), int(sys.argv[4]))
