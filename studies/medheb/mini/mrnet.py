"""MRNet in miniature: three planes of knees as plain arrays, and label tables without a header.

Owns the layout and its oddities: ids padded with zeros, other numbers of slices in each plane, a
label that is the parent of the two others, exams with both tears.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np

from studies.medheb.mini.files import write_npy, write_text
from studies.medheb.mini.shared import generator, look

PLANES = ("axial", "coronal", "sagittal")
# (abnormal, acl, meniscus) of each class; the last is both tears at once
CLASSES = ((0, 0, 0), (1, 1, 0), (1, 0, 1), (1, 0, 0), (1, 1, 1))
PARTS = (("train", 0, 6), ("valid", 1130, 14))
SIZE = 40


def write(folder: Path, *, seed: int) -> None:
    """``MRNet-v1.0/{train,valid}/<plane>/<id>.npy`` and six tables."""
    base = folder / "MRNet-v1.0"
    for part, first, count in PARTS:
        lines: dict[str, list[str]] = {"abnormal": [], "acl": [], "meniscus": []}
        for place in range(count):
            exam, kind = f"{first + place:04d}", place % len(CLASSES)
            for plane, name in enumerate(PLANES):
                write_npy(base / part / name / f"{exam}.npy", _slices(kind, plane, seed, exam))
            for name, value in zip(lines, CLASSES[kind], strict=True):
                lines[name].append(f"{exam},{value}\n")
        for name, rows in lines.items():
            write_text(base / f"{part}-{name}.csv", "".join(rows))


def _slices(kind: int, plane: int, seed: int, exam: str) -> np.ndarray:
    """[S, H, W] of one plane; the brightness varies from exam to exam."""
    rng = generator("mrnet", seed, exam, plane)
    count, bright = int(rng.integers(11, 15)), 0.5 + 0.5 * rng.random()
    shown = [look(kind, seed, exam, plane, place, size=SIZE, grey=True) for place in range(count)]
    return (np.stack(shown) * bright).astype(np.uint8)
