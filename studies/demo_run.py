"""The job behind ``triptych demo``: evidence, collection, benchmark, blinded study, in one home.

Everything is done by the same jobs that work on a user's own files; this only calls them in order.
Run again, it finds what is stored and does the rest.
"""

from __future__ import annotations

import time
from typing import Any

from db.home import Home
from engine.control import Control
from studies.jobs import load_job
from studies.preference.study import list_studies
from studies.results import load_results, to_json

COLLECTION = "Demo"
MODELS = ("medemb-nano", "qwen3-vl-embedding-nano", "siglip-nano", "random")
STUDY_MODELS = ("medemb-nano", "qwen3-vl-embedding-nano")
STUDY_TITLE = "Demo study"
STUDY_ITEMS = 40
PASSPHRASE = "demo"
SEED = 20261130


def demo_run_job(home: Home, arguments: dict[str, Any], control: Control) -> dict[str, Any]:
    """Fill the home with the demo; returns the benchmark document, the study and the seconds."""
    started = time.perf_counter()
    load_job("demo-evidence")(home, {"out": str(home.demo)}, control)
    load_job("import")(
        home, {"paths": [str(home.demo / "Evidence")], "collection": COLLECTION}, control
    )
    load_job("bench")(home, {"data": str(home.demo), "models": list(MODELS)}, control)
    study = _study(home, control)
    document = to_json(load_results(home, data=home.demo))
    return {
        "benchmark": {"tasks": document["tasks"], "models": document["models"]},
        "study": study,
        "seconds": round(time.perf_counter() - started, 1),
        "saved": ("collection", "run", "study"),
    }


def _study(home: Home, control: Control) -> dict[str, Any]:
    """Build the demo study unless the home holds one already."""
    for info in list_studies(home):
        if info.title == STUDY_TITLE and not info.unblinded:
            return {"items": info.items, "hash": info.hash, "path": str(info.path)}
    built = load_job("study-build")(
        home,
        {
            "data": str(home.demo),
            "models": list(STUDY_MODELS),
            "total": STUDY_ITEMS,
            "seed": SEED,
            "title": STUDY_TITLE,
            "passphrase": PASSPHRASE,
        },
        control,
    )
    return {"items": built["items"], "hash": built["hash"], "path": built["path"]}
