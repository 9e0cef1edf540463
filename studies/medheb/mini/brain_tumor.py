"""Brain Tumor MRI in miniature: slices in one folder per class below Training and Testing.

Owns the layout; ``notumor`` is one word here.
"""

from __future__ import annotations

from pathlib import Path

from studies.medheb.mini.files import write_picture
from studies.medheb.mini.shared import look

CLASSES = (("glioma", "gl"), ("meningioma", "me"), ("notumor", "no"), ("pituitary", "pi"))


def write(folder: Path, *, seed: int) -> None:
    """``Testing/<class>/Te-<two letters>_<4 digits>.jpg``, ``Training`` with ``Tr-``."""
    for part, short, count in (("Training", "Tr", 2), ("Testing", "Te", 4)):
        for kind, (name, letters) in enumerate(CLASSES):
            for place in range(count):
                pixels = look(kind, seed, "brain", part, place)  # grey tones are stored as colour
                pixels = pixels[..., :1].repeat(3, axis=2)
                path = folder / part / name / f"{short}-{letters}_{10 + place:04d}.jpg"
                write_picture(path, pixels, quality=90)
