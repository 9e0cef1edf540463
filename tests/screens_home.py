"""Makes the demo home behind the screenshots: ``python -m tests.screens_home DIR``.

Uses the demo job where the small models are there; else the same jobs with the random encoder
under two names. Beside the open demo study it makes one that is read and unblinded.
"""

from __future__ import annotations

import json
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np

from db.home import Home
from db.settings import load_settings, save_settings
from engine.control import Control
from engine.errors import ModelError
from studies.demo_run import COLLECTION, PASSPHRASE, STUDY_MODELS, STUDY_TITLE
from studies.errors import NoRun
from studies.jobs import load_job
from studies.preference.study import list_studies, open_study
from studies.preference.unblind import unblind

READ_TITLE = "Finished reading"
RATER = "AB"
OTHER = {"id": "random-b", "title": "Random, other seed", "family": "random",
         "settings": {"seed": 7}}  # fmt: skip


def make(home: Home) -> Home:
    """Fill a home; what is there already is not made again."""
    home.make()
    save_settings(home.settings, replace(load_settings(home.settings), rater_name=RATER))
    try:
        load_job("demo")(home, {}, Control())
        models = STUDY_MODELS
    except (ModelError, NoRun):
        models = _without_models(home)
    titles = {info.title: info for info in list_studies(home)}
    if STUDY_TITLE not in titles:
        _build(home, STUDY_TITLE, models, total=40)
    if READ_TITLE not in titles:
        _build(home, READ_TITLE, models, total=60)
    _rate(home, STUDY_TITLE, share=0.3)
    _rate(home, READ_TITLE, share=1.0)
    for info in list_studies(home):
        if info.title == READ_TITLE and not info.unblinded:
            unblind(info.path, PASSPHRASE, "All readers have finished.")
    return home


def _without_models(home: Home) -> tuple[str, str]:
    (home.cards / "random-b.json").write_text(json.dumps(OTHER), encoding="utf-8")
    evidence = {"paths": [str(home.demo / "Evidence")], "collection": COLLECTION}
    load_job("demo-evidence")(home, {"out": str(home.demo)}, Control())
    load_job("import")(home, evidence, Control())
    names = ["random", "random-b"]
    load_job("bench")(home, {"data": str(home.demo), "models": names}, Control())
    return names[0], names[1]


def _build(home: Home, title: str, models: tuple[str, str], *, total: int) -> None:
    wish = {"data": str(home.demo), "models": list(models), "total": total,
            "seed": 5, "title": title, "passphrase": PASSPHRASE}  # fmt: skip
    load_job("study-build")(home, wish, Control())


def _rate(home: Home, title: str, *, share: float) -> None:
    """Answer part of a study; the same seed gives the same answers."""
    random = np.random.default_rng(11)
    info = next(info for info in list_studies(home) if info.title == title)
    if info.unblinded:
        return
    with open_study(info.path) as study:
        session = study.session(RATER)
        while session.answered < share * session.total and session.current() is not None:
            session.answer(
                str(random.choice(["left", "right", "both", "neither"], p=[0.36, 0.34, 0.2, 0.1])),
                answer_ms=9000,
            )


if __name__ == "__main__":
    make(Home(Path(sys.argv[1]).resolve()))
