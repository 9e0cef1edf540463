"""Ultrasound Nerve Segmentation in miniature, with the arrays of the kidneys that its task holds.

Owns the layout and its oddities: masks beside the pictures and as run lengths down the columns,
frames without a nerve, and twins of which one has a mask and one has none.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np

from studies.medheb.mini.files import write_picture, write_table
from studies.medheb.mini.medsegbench import write_arrays
from studies.medheb.mini.shared import Pixels, generator, paint, plain

SUBJECTS, FRAMES, UNSEEN = 8, 4, 3
FULL = 2  # this subject has more than nine frames
HIGH, WIDE = 84, 116


def write(folder: Path, *, seed: int) -> None:
    """``train/<subject>_<image>{,_mask}.tif``, ``train_masks.csv``, ``test`` and the arrays."""
    rows = []
    for subject in range(1, SUBJECTS + 1):
        for frame in range(1, (11 if subject == FULL else FRAMES) + 1):
            image, mask = _frame(seed, subject, frame)
            stem = folder / "train" / f"{subject}_{frame}"
            write_picture(stem.with_suffix(".tif"), image)
            write_picture(stem.with_name(f"{stem.name}_mask.tif"), mask)
            rows.append({"subject": subject, "img": frame, "pixels": _runs(mask)})
    write_table(folder / "train_masks.csv", rows, ["subject", "img", "pixels"])
    unseen = [{"img": place, "pixels": "1 1"} for place in range(1, UNSEEN + 1)]
    write_table(folder / "sample_submission.csv", unseen, ["img", "pixels"])
    for place in range(1, UNSEEN + 1):
        image = plain(seed, "nerve unseen", place, size=HIGH, width=WIDE, grey=True)
        write_picture(folder / "test" / f"{place}.tif", image)
    write_arrays(folder, "usforkidney", seed=seed, kind=9, grey=True)


def _frame(seed: int, subject: int, frame: int) -> tuple[Pixels, Pixels]:
    """The fourth frame shows what the first does, and its mask is empty."""
    shown = 1 if frame == FRAMES else frame
    rng = generator("nerve", seed, subject, shown)
    left, top = int(rng.integers(4, 60)), int(rng.integers(4, 40))
    box = (left, top, left + int(rng.integers(30, 50)), top + int(rng.integers(29, 40)))
    image = plain(seed, "nerve", subject, shown, size=HIGH, width=WIDE, grey=True)
    mask = np.zeros_like(image)
    if shown != 2:
        paint(image, box, 3, seed, subject, shown)
    if shown != 2 and frame != FRAMES:
        mask[box[1] : box[3], box[0] : box[2]] = 255
    return image, mask


def _runs(mask: Pixels) -> str:
    """Start (from 1, down the columns) and length of each run; empty where there is no nerve."""
    flat = np.concatenate([[0], (mask > 0).T.ravel().astype(np.int8), [0]])
    edges = np.flatnonzero(np.diff(flat)) + 1
    starts, ends = edges[::2], edges[1::2]
    return " ".join(f"{start} {end - start}" for start, end in zip(starts, ends, strict=True))
