"""Kvasir-SEG in miniature, with the arrays of PolypGen that its task holds too.

Owns the layout and its oddities: ``kavsir_bboxes.json``, masks that are JPEG files, frames of
different sizes, some with two polyps, a box one pixel off and one with corners in the wrong order.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from studies.medheb.mini.files import write_json, write_picture
from studies.medheb.mini.medsegbench import write_arrays
from studies.medheb.mini.shared import Box, generator, hexadecimal, paint, plain

FRAMES = 14
OFF, SWAPPED = 3, 4  # which frame's box is wrong, and how


def write(folder: Path, *, seed: int) -> None:
    """``Kvasir-SEG/{images,masks}/<cju...>.jpg``, its boxes, and ``polypgen_512.npz``."""
    boxes: dict[str, Any] = {}
    for place in range(FRAMES):
        stem = "cju" + hexadecimal(22, seed, "kvasir-seg", place)
        boxes[stem] = _write_frame(folder / "Kvasir-SEG", stem, place, seed)
    write_json(folder / "Kvasir-SEG" / "kavsir_bboxes.json", boxes)
    write_arrays(folder, "polypgen", seed=seed, kind=6)


def _write_frame(base: Path, stem: str, place: int, seed: int) -> dict[str, Any]:
    rng = generator("kvasir-seg", seed, place)
    high, wide = 96 + 8 * (place % 3), 128
    left, top = int(rng.integers(4, 40)), int(rng.integers(4, 30))
    first = (left, top, left + int(rng.integers(30, 50)), top + int(rng.integers(30, 50)))
    polyps: list[Box] = [first, (104, 6, 120, 22)] if place % 4 == 0 else [first]
    image, mask = plain(seed, stem, size=high, width=wide), np.zeros((high, wide, 3), np.uint8)
    for number, box in enumerate(polyps):
        paint(image, box, place % 5, seed, stem, number)
        mask[box[1] : box[3], box[0] : box[2]] = 255
    write_picture(base / "images" / f"{stem}.jpg", image, quality=90)
    write_picture(base / "masks" / f"{stem}.jpg", mask, quality=75)
    return {"height": high, "width": wide, "bbox": [_corners(box, place) for box in polyps]}


def _corners(box: Box, place: int) -> dict[str, Any]:
    left, top, right, bottom = (value + (place == OFF) for value in box)
    if place == SWAPPED:
        left, right = right, left
    return {"label": "polyp", "xmin": left, "ymin": top, "xmax": right, "ymax": bottom}
