"""One chest patient in words and numbers: finding, side, lobe, size, severity, heart, device.

Owns what is true of a patient; pictures and reports both follow from it. Draws nothing.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from studies.demo.shapes import generator

LABELS = (
    "No finding",
    "Lung nodule",
    "Lung mass",
    "Pleural effusion",
    "Pneumothorax",
    "Consolidation",
    "Cardiomegaly",
    "Emphysema",
)
DEVICES = ("none", "pacemaker", "port", "wires", "valve")
GRADES = ("small", "moderate", "large")
LEVELS = ("mild", "moderate", "severe")
LOBES = {
    "right": ("right upper lobe", "right middle lobe", "right lower lobe"),
    "left": ("left upper lobe", "left lower lobe"),
}
# Centre of each lobe in mm (x to the left, y to the back, z to the head).
PLACES = {
    "right upper lobe": (-78.0, -5.0, 68.0),
    "right middle lobe": (-82.0, -42.0, -8.0),
    "right lower lobe": (-84.0, 38.0, -38.0),
    "left upper lobe": (80.0, -8.0, 62.0),
    "left lower lobe": (92.0, 40.0, -34.0),
}
SIZES = {"Lung nodule": (18, 30), "Lung mass": (38, 66), "Consolidation": (60, 95)}
DEPTHS = {
    "Pleural effusion": {"small": (20, 34), "moderate": (42, 62), "large": (72, 95)},
    "Pneumothorax": {"small": (15, 22), "moderate": (28, 38), "large": (46, 60)},
}


@dataclass(frozen=True)
class ChestCase:
    """What is true of one patient.

    Attributes:
        patient: pseudonymous id.
        key: what every random draw of this patient depends on.
        source: ``chest`` or the held-out ``chest_b``.
        label: one of ``LABELS``.
        side: ``right``, ``left``, or empty when the finding has no side.
        lobe: name of the lobe or empty.
        size_mm: diameter, depth or width of the finding; 0 when it has none.
        grade: severity word or empty.
        heart_ratio: width of the heart over width of the thorax.
        device: one of ``DEVICES``.
        device_side: ``right`` or ``left`` for pacemaker and port.
        female: breasts are drawn.
        habitus: scale of the soft tissue, about 1.
    """

    patient: str
    key: tuple[object, ...]
    source: str
    label: str
    side: str
    lobe: str
    size_mm: int
    grade: str
    heart_ratio: float
    device: str
    device_side: str
    female: bool
    habitus: float


def draw_chest(seed: int, split: str, index: int, *, source: str = "chest") -> ChestCase:
    """The patient number ``index`` of a split; labels go round so that classes are balanced."""
    rng = generator(seed, split, source, index)
    label = LABELS[index % len(LABELS)]
    side = str(rng.choice(("right", "left")))
    lobe = str(rng.choice(LOBES[side]))
    grade, size = _grade_and_size(label, index // len(LABELS), rng)
    sided = label not in ("No finding", "Cardiomegaly", "Emphysema")
    large = label == "Cardiomegaly"
    ratio = rng.uniform(0.59, 0.70) if large else rng.uniform(0.41, 0.49)
    return ChestCase(
        patient=f"{source.replace('_', '').upper()}-{split[:2].upper()}{index:04d}",
        key=(seed, split, source, index),
        source=source,
        label=label,
        side=side if sided else "",
        lobe=lobe if label in SIZES else "",
        size_mm=size,
        grade=grade,
        heart_ratio=round(float(ratio), 2),
        device=str(rng.choice(DEVICES, p=(0.28, 0.18, 0.18, 0.18, 0.18))),
        device_side=str(rng.choice(("right", "left"))),
        female=bool(rng.random() < 0.5),
        habitus=float(rng.uniform(0.86, 1.14)),
    )


def _grade_and_size(label: str, turn: int, rng: np.random.Generator) -> tuple[str, int]:
    """Severity word and size in mm; grades go round with ``turn``."""
    if label in SIZES:
        low, high = SIZES[label]
        return "", int(rng.integers(low, high + 1))
    if label in DEPTHS:
        grade = GRADES[(turn + int(rng.integers(3))) % 3]
        low, high = DEPTHS[label][grade]
        return grade, int(rng.integers(low, high + 1))
    if label == "Emphysema":
        return LEVELS[(turn + int(rng.integers(3))) % 3], 0
    return "", 0
