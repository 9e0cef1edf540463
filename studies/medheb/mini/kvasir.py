"""Kvasir v2 in miniature: one folder of frames per finding, as its zip unpacks.

Owns the layout. Frames have different sizes; nothing names a patient.
"""

from __future__ import annotations

from pathlib import Path

from studies.medheb.mini.files import write_picture
from studies.medheb.mini.shared import look, uuid

CLASSES = (
    "dyed-lifted-polyps", "dyed-resection-margins", "esophagitis", "normal-cecum",
    "normal-pylorus", "normal-z-line", "polyps", "ulcerative-colitis",
)  # fmt: skip
FRAMES = 7  # 7:3 leaves two on the test side


def write(folder: Path, *, seed: int) -> None:
    """``kvasir-dataset-v2/<class>/<uuid>.jpg``."""
    for kind, name in enumerate(CLASSES):
        for place in range(FRAMES):
            pixels = look(kind, seed, "kvasir", place, size=48 + 4 * (place % 3), width=64)
            path = folder / "kvasir-dataset-v2" / name / f"{uuid(seed, name, place)}.jpg"
            write_picture(path, pixels, quality=90)
