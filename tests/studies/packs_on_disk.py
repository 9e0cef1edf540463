"""A small study handed out, for the tests of packs and merging."""

from __future__ import annotations

import shutil
from pathlib import Path

from db.home import Home
from studies.preference.packs import make_pack, open_pack, return_answers
from studies.preference.protocol import Protocol
from studies.preference.study import open_study
from tests.studies.preference_material import small_study

PROTOCOL = Protocol(warmup=1, repeat_share=0.2, repeat_gap=3, guess_items=2)
TURNS = ("left", "right", "both", "neither")


def built(tmp_path: Path) -> Path:
    """A coordinator's study with warm-up, repeats and guesses."""
    return small_study(tmp_path, per_task=6, total=9, protocol=PROTOCOL).path


def copied(path: Path, target: Path) -> Path:
    """The same study elsewhere, to be changed by one test."""
    shutil.copytree(path, target / "coordinator" / "studies" / path.name)
    return target / "coordinator" / "studies" / path.name


def pack_of(path: Path, folder: Path, rater: str = "Ann Lee") -> Path:
    """A pack made into a folder."""
    folder.mkdir(parents=True, exist_ok=True)
    return make_pack(path, folder, rater=rater, specialty="chest", years=3)


def laptop(folder: Path) -> Home:
    """A rater's home."""
    return Home(folder / "laptop")


def read(path: Path | str, count: int, rater: str = "Ann Lee") -> int:
    """Answer so many items; the number that is answered then."""
    with open_study(path) as study:
        session = study.session(rater)
        for _ in range(count):
            if session.current() is None:
                break
            session.answer(TURNS[session.answered % 4], answer_ms=1200, viewer_state={"slice": 3})
        return session.answered


def returned(path: Path, folder: Path, count: int = 4, rater: str = "Ann Lee") -> Path:
    """Pack, read on a laptop, answers back: the file."""
    opened = open_pack(laptop(folder / rater), pack_of(path, folder / rater, rater))
    read(opened, count, rater)
    return return_answers(opened, folder)
