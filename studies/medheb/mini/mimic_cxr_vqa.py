"""Medical-CXR-VQA in miniature: one table of questions over the pictures of MIMIC-CXR-JPG.

Owns the layout and its oddities: answers that list findings in any order, a frontal and a lateral
picture that repeat a question, letters of either case.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from studies.medheb.mini.files import write_table
from studies.medheb.mini.mimic import LABELS, Shot, make_shot, write_shot, write_tables
from studies.medheb.mini.shared import look

PARTS = (("train", 3), ("val", 2), ("test", 12))
COLUMNS = (
    "subject_id", "study_id", "dicom_id", "question_type", "question", "answer", "split",
)  # fmt: skip


def write(folder: Path, *, seed: int) -> None:
    """``medical-cxr-vqa-questions.csv`` and ``mimic-cxr-jpg/2.1.0/files/...``."""
    jpg = folder / "mimic-cxr-jpg" / "2.1.0"
    shots: dict[Shot, str] = {}
    rows: list[dict[str, Any]] = []
    for part, count in PARTS:
        for place in range(count):
            for shot in _shots(seed, part, place):
                write_shot(jpg, shot, look(place % 14, shot.dicom, grey=True))
                shots[shot] = "validate" if part == "val" else part
                rows += [{**shot.ids, **row, "split": part} for row in _rows(place, shot.view)]
    write_tables(jpg, shots, {shot.study: () for shot in shots})
    write_table(folder / "medical-cxr-vqa-questions.csv", rows, COLUMNS)


def _shots(seed: int, part: str, place: int) -> list[Shot]:
    """Two studies of every third patient; a lateral view of every fourth study."""
    subject, study = place - (place % 3 == 1), int(place % 3 == 1)
    views = ("PA", "LATERAL") if place % 4 == 3 else ("AP",)
    names = (seed, "mimic-cxr-vqa", part)
    return [make_shot(*names, subject=subject, study=study, view=view) for view in views]


def _rows(place: int, view: str) -> Iterator[dict[str, str]]:
    """Three of the six types for each picture; lists in an order that varies."""
    first, second = (LABELS[(place * 2 + step) % 14].lower() for step in (0, 1))
    both = [LABELS[(place // 4 * 2 + step) % 14].lower() for step in (0, 1)]
    listed = ", ".join(both if place // 2 % 2 else reversed(both))
    told = {
        "abnormality": ("what abnormalities are seen in this image?", listed),
        "presence": (f"is there evidence of {first} in this image?", ("yes", "No")[place % 2]),
        "location": (
            f"where is the {first} located?",
            ("left lower lobe", "Right apex")[place % 2],
        ),
        "level": (f"what level is the {first}?", ("mild", "moderate", "severe ")[place % 3]),
        "type": (f"what type is the {second}?", ("bibasilar", "interstitial")[place % 2]),
        "view": ("which view is this image taken?", f"{view} view"),
    }
    for turn in range(3):
        kind = list(told)[(place + 2 * turn) % len(told)]
        question, answer = told[kind]
        yield {"question_type": kind, "question": question, "answer": answer}
