"""PubMedQA in miniature, as its own repository keeps it: abstracts by PMID, and the test list.

Owns the layout and its oddities: one object keyed by number, contexts in parts with the names of
their sections aside, half of them in the test list.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from studies.medheb.mini.files import write_json
from studies.medheb.mini.questions import finding, organ, sentence
from studies.medheb.mini.shared import number

ITEMS = 20
DECISIONS = ("yes", "no", "maybe")


def write(folder: Path, *, seed: int) -> None:
    """``data/ori_pqal.json`` and ``data/test_ground_truth.json``."""
    rows = {number(8, seed, "pmid", place): _item(seed, place) for place in range(ITEMS)}
    write_json(folder / "data" / "ori_pqal.json", rows)
    test = {pmid: row["final_decision"] for pmid, row in list(rows.items())[::2]}
    write_json(folder / "data" / "test_ground_truth.json", test)


def _item(seed: int, place: int) -> dict[str, Any]:
    told = DECISIONS[place % 3]
    names = ("BACKGROUND", "METHODS", "RESULTS")[: 2 + place % 2]
    return {
        "QUESTION": f"Does the {finding(place)} of the {organ(place)} matter?",
        "CONTEXTS": [sentence(place, seed, "context", place, name) for name in names],
        "LABELS": list(names),
        "MESHES": ["Humans", finding(place).capitalize()],
        "YEAR": str(2000 + place),
        "reasoning_required_pred": told,
        "reasoning_free_pred": told,
        "final_decision": told,
        "LONG_ANSWER": f"It does ({told}). {sentence(place, seed, 'long', place)}",
    }
