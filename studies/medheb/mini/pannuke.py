"""PanNuke in miniature: three folds of patches, tissue names and nuclei by channel, as npy.

Owns the layout: folders with a blank, floating-point pixels, instance ids that are unique within a
channel only and have gaps, a background channel that is the rest. Patches are 64 pixels wide in
place of 256.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from studies.medheb.mini.files import write_npy, write_text
from studies.medheb.mini.shared import generator, look, paint

TISSUES = (
    "Adrenal_gland", "Bile-duct", "Bladder", "Breast", "Cervix", "Colon", "Esophagus", "HeadNeck",
    "Kidney", "Liver", "Lung", "Ovarian", "Pancreatic", "Prostate", "Skin", "Stomach", "Testis",
    "Thyroid", "Uterus",
)  # fmt: skip
SIZE, FOLDS, PATCHES = 64, 3, 2  # patches of a tissue in each fold
NUCLEI, BACKGROUND = 5, 5
CORNERS = ((2, 2), (33, 2), (2, 33), (34, 34))
LARGE = (28, 31)  # pixels of a nucleus that need not be widened to a patch


def write(folder: Path, *, seed: int) -> None:
    """``Fold 1/images/fold1/{images,types}.npy``, ``Fold 1/masks/fold1/masks.npy`` and so on."""
    for fold in range(1, FOLDS + 1):
        kinds = [kind for kind in range(len(TISSUES)) for _ in range(PATCHES)]
        patches = [_patch(kind, seed, fold, place) for place, kind in enumerate(kinds)]
        base, inner = folder / f"Fold {fold}", f"fold{fold}"
        write_text(base / "README.md", "Images and tissue types of one fold.\n")
        images = np.stack([image for image, _ in patches]).astype(np.float32)
        write_npy(base / "images" / inner / "images.npy", images)
        names = np.array([TISSUES[kind] for kind in kinds])
        write_npy(base / "images" / inner / "types.npy", names)
        masks = np.stack([mask for _, mask in patches])
        write_npy(base / "masks" / inner / "masks.npy", masks)
        write_text(base / "masks" / "README.md", "Six channels of instance ids.\n")
        write_text(base / "masks" / "by-nc-sa.md", "CC BY-NC-SA 4.0\n")


def _patch(
    kind: int, seed: int, fold: int, place: int
) -> tuple[NDArray[np.uint8], NDArray[np.uint16]]:
    """A patch and its mask: two to four nuclei, the first two of one kind, the others of another.

    In two of three patches the first two are large; nuclei are small in life.
    """
    rng = generator("pannuke", seed, fold, place)
    image = look(kind, seed, "pannuke", fold, place, size=SIZE)
    mask = np.zeros((SIZE, SIZE, NUCLEI + 1), np.uint16)
    count = int(rng.integers(2, 5))
    for number, (left, top) in enumerate(CORNERS[:count]):
        channel = (place + fold + number // 2) % NUCLEI
        size = LARGE if number < 2 and place % 3 else (10, 22)
        wide, high = int(rng.integers(*size)), int(rng.integers(*size))
        box = (left, top, left + wide, top + high)
        paint(image, box, 20 + channel, seed, fold, place, number)
        # ids have gaps, and the same id may name a nucleus of another channel
        mask[top : top + high, left : left + wide, channel] = 3 + 2 * number
    mask[..., BACKGROUND] = ~mask[..., :NUCLEI].any(axis=2)
    return image, mask
