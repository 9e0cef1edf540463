"""MedMNIST in miniature: nine sets of pictures, each as the npz of 28 and of 64 pixels.

Owns the layout: six arrays per file, labels as columns of one number, ChestMNIST's as 14 marks of
which many rows have none or several. The two sizes hold the same samples in the same order.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from studies.medheb.mini.files import write_npz
from studies.medheb.mini.shared import look

# name: classes, grey
SETS = {
    "bloodmnist": (8, False),
    "chestmnist": (14, True),
    "dermamnist": (7, False),
    "octmnist": (4, True),
    "organamnist": (11, True),
    "organcmnist": (11, True),
    "organsmnist": (11, True),
    "pathmnist": (9, False),
    "tissuemnist": (8, True),
}
PARTS = (("train", 1), ("val", 1), ("test", 4))  # samples per class
SIZES = (28, 64)


def write(folder: Path, *, seed: int) -> None:
    """``<name>.npz`` and ``<name>_64.npz`` for each set."""
    for name in SETS:
        parts = {part: _samples(name, part, count, seed) for part, count in PARTS}
        for size in SIZES:
            arrays: dict[str, NDArray[np.uint8]] = {}
            for part, (labels, pictures) in parts.items():
                arrays[f"{part}_images"] = np.stack([_sized(one, size) for one in pictures])
                arrays[f"{part}_labels"] = labels
            write_npz(folder / (f"{name}.npz" if size == 28 else f"{name}_{size}.npz"), arrays)


def _samples(
    name: str, part: str, count: int, seed: int
) -> tuple[NDArray[np.uint8], list[NDArray[np.uint8]]]:
    """Labels and pictures of one part, ``count`` of each class."""
    classes, grey = SETS[name]
    kinds = np.tile(np.arange(classes), count)
    pictures = [
        look(int(kind), seed, name, part, place, grey=grey) for place, kind in enumerate(kinds)
    ]
    if name == "chestmnist":
        return _marks(kinds, pictures, classes)
    return kinds[:, None].astype(np.uint8), pictures


def _sized(pixels: NDArray[np.uint8], size: int) -> NDArray[np.uint8]:
    """The picture with fewer pixels, by taking some."""
    taken = np.arange(size) * len(pixels) // size
    return pixels[taken][:, taken]


def _marks(
    kinds: NDArray[np.int64], pictures: list[NDArray[np.uint8]], classes: int
) -> tuple[NDArray[np.uint8], list[NDArray[np.uint8]]]:
    """One-hot rows, then as many without a finding and a few with two."""
    hot = np.eye(classes, dtype=np.uint8)[kinds]
    both = hot[: len(hot) // 4] | np.roll(hot[: len(hot) // 4], 1, axis=1)
    labels = np.concatenate([hot, np.zeros_like(hot), both])
    return labels, [*pictures, *(255 - one for one in pictures), *(one // 2 for one in pictures)][
        : len(labels)
    ]
