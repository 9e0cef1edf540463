"""ISIC 2018 tasks 1 and 2 in miniature, with the arrays of the second skin set of its task.

Owns the layout and its oddities: notes among the pictures, attribute masks that are mostly empty,
and a ``_v3`` on the training attributes only.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np

from studies.medheb.mini.files import write_picture, write_text
from studies.medheb.mini.medsegbench import write_arrays
from studies.medheb.mini.shared import Box, Pixels, generator, number, paint, plain

ATTRIBUTES = ("globules", "milia_like_cyst", "negative_network", "pigment_network", "streaks")
PARTS = (("Training", 2, "_v3"), ("Validation", 1, ""), ("Test", 8, ""))
HIGH, WIDE = 96, 128


def write(folder: Path, *, seed: int) -> None:
    """Nine folders of pictures and masks, and ``uwaterlooskincancer_512.npz``."""
    for part, count, version in PARTS:
        pictures = folder / f"ISIC2018_Task1-2_{part}_Input"
        masks = folder / f"ISIC2018_Task1_{part}_GroundTruth"
        attributes = folder / f"ISIC2018_Task2_{part}_GroundTruth{version}"
        for place in range(count):
            name = f"ISIC_{number(7, seed, 'isic2018', part, place)}"
            image, lesion = _lesion(seed, part, place)
            write_picture(pictures / f"{name}.jpg", image, quality=90)
            write_picture(masks / f"{name}_segmentation.png", _mask(lesion))
            for kind, attribute in enumerate(ATTRIBUTES):
                inner = _inside(lesion) if (place + kind) % 3 == 0 else None
                write_picture(attributes / f"{name}_attribute_{attribute}.png", _mask(inner))
        for place_of in (pictures, masks, attributes):
            write_text(place_of / "ATTRIBUTION.txt", "Made by a generator.\n")
            write_text(place_of / "LICENSE.txt", "CC BY-NC 4.0\n")
    write_arrays(folder, "uwaterlooskincancer", seed=seed, kind=7)


def _lesion(seed: int, part: str, place: int) -> tuple[Pixels, Box]:
    rng = generator("isic2018", seed, part, place)
    left, top = int(rng.integers(2, 30)), int(rng.integers(2, 20))
    box = (left, top, left + int(rng.integers(40, 90)), top + int(rng.integers(40, 70)))
    image = plain(seed, part, place, size=HIGH, width=WIDE)
    paint(image, box, place % 6, seed, part, place)
    return image, box


def _inside(box: Box) -> Box:
    left, top, right, bottom = box
    return left + 4, top + 4, right - 4, bottom - 4


def _mask(box: Box | None) -> Pixels:
    mask = np.zeros((HIGH, WIDE), np.uint8)
    if box is not None:
        mask[box[1] : box[3], box[0] : box[2]] = 255
    return mask
