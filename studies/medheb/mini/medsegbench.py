"""MedSegBench's arrays in miniature: what the three sources of masks take their second set from.

Owns the layout of ``<flag>_512.npz``: images and ``label`` in the singular, no names, no patients;
pictures are coarse so that files stay small. PolypGen's also hold parts by centre.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from studies.medheb.mini.files import write_npz
from studies.medheb.mini.shared import generator, paint, plain

Array = NDArray[np.uint8]
SIZE, COARSE = 512, 64
PARTS = (("train", 2), ("val", 1), ("test", 6))


def write_arrays(folder: Path, flag: str, *, seed: int, kind: int, grey: bool = False) -> None:
    """One set.

    Args:
        folder: holds the file.
        flag: MedSegBench's short name.
        seed: of everything.
        kind: of the look inside the masks.
        grey: [N, H, W] in place of [N, H, W, 3].
    """
    arrays: dict[str, Array] = {}
    for part, count in PARTS:
        made = [_sample(seed, flag, part, row, kind=kind, grey=grey) for row in range(count)]
        arrays[f"{part}_images"] = np.stack([image for image, _ in made])
        arrays[f"{part}_label"] = np.stack([mask for _, mask in made])
        if flag == "polypgen":
            arrays[f"{part}_images_C1"] = arrays[f"{part}_images"][:1]
            arrays[f"{part}_label_C1"] = arrays[f"{part}_label"][:1]
    write_npz(folder / f"{flag}_{SIZE}.npz", arrays)


def _sample(*names: object, kind: int, grey: bool) -> tuple[Array, Array]:
    """A picture with one region that is not quite a square, and its mask of 0 and 1."""
    rng = generator("medsegbench", *names)
    left, top = (int(value) for value in rng.integers(4, 28, 2))
    right, bottom = left + int(rng.integers(16, 32)), top + int(rng.integers(16, 32))
    image = plain(*names, size=COARSE, grey=grey)
    paint(image, (left, top, right, bottom), kind, *names)
    mask = np.zeros((COARSE, COARSE), np.uint8)
    mask[top:bottom, left:right] = 1
    mask[top, left] = 0  # a corner is missing, the box is the same
    return _larger(image), _larger(mask)


def _larger(array: Array) -> Array:
    times = SIZE // COARSE
    return array.repeat(times, axis=0).repeat(times, axis=1)
