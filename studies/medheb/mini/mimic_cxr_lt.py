"""MIMIC-CXR-LT in miniature: its four label tables over pictures in the tree of MIMIC-CXR-JPG.

Owns the layout: one-hot columns in the order of the header, a long tail, and patients who come back
under the same class.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from studies.medheb.mini.files import write_table
from studies.medheb.mini.mimic import LABELS, Shot, make_shot, write_shot, write_tables
from studies.medheb.mini.shared import look

CLASSES = (
    *LABELS,
    "Pneumoperitoneum", "Pneumomediastinum", "Subcutaneous Emphysema", "Tortuous Aorta",
    "Calcification of the Aorta",
)  # fmt: skip
PARTS = ("train", "test", "balanced-val", "balanced-test")
OFFICIAL = {"train": "train", "test": "test", "balanced-val": "validate", "balanced-test": "test"}
MOST, LEAST = 5, 2  # patients of a class in the long-tailed test table


def write(folder: Path, *, seed: int) -> None:
    """``labels/mimic-cxr-lt_single-label_<part>.csv``, ``files/...`` and the official split."""
    split: dict[Shot, str] = {}
    labels: dict[str, tuple[str, ...]] = {}
    for part in PARTS:
        shots = [one for kind in range(len(CLASSES)) for one in _shots(seed, part, kind)]
        rows = [_row(shot, kind) for shot, kind in shots]
        columns = ["subject_id", "study_id", "dicom_id", "path", *CLASSES]
        write_table(folder / "labels" / f"mimic-cxr-lt_single-label_{part}.csv", rows, columns)
        for place, (shot, kind) in enumerate(shots):
            write_shot(folder, shot, look(kind, seed, "mimic-lt", part, place, grey=True))
        split |= {shot: OFFICIAL[part] for shot, _ in shots}
        labels |= {shot.study: (LABELS[kind],) for shot, kind in shots if kind < len(LABELS)}
    write_tables(folder, split, labels)


def _shots(seed: int, part: str, kind: int) -> Sequence[tuple[Shot, int]]:
    """The pictures of a class; in the test table the first patient has two studies of it."""
    patients = {"test": max(LEAST, MOST - kind // 4), "balanced-test": LEAST}.get(part, 1)
    found = [make_shot(seed, part, kind, subject=one) for one in range(patients)]
    if part == "test":
        found.append(make_shot(seed, part, kind, subject=0, study=1))
    return [(shot, kind) for shot in found]


def _row(shot: Shot, kind: int) -> dict[str, Any]:
    hot = {name: int(place == kind) for place, name in enumerate(CLASSES)}
    return {**shot.ids, "path": shot.path, **hot}
