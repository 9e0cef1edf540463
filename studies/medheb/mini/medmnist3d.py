"""The volumes of MedMNIST v2 in miniature: three npz of 28 voxels a side.

Owns the layout: six arrays a file, labels of shape (N, 1). The smaller classes stay smaller.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from studies.medheb.mini.files import write_npz
from studies.medheb.mini.shared import volume

SIDE = 28
# volumes of each class on the test side
SETS = {"organmnist3d": (3,) * 11, "nodulemnist3d": (6, 4), "synapsemnist3d": (4, 6)}
PARTS = ("train", "val", "test")


def write(folder: Path, *, seed: int) -> None:
    """``organmnist3d.npz``, ``nodulemnist3d.npz``, ``synapsemnist3d.npz``."""
    for name, counts in SETS.items():
        arrays = {}
        for part in PARTS:
            labels = _labels(counts if part == "test" else (1,) * len(counts))
            shown = [
                volume(label, seed, name, part, place, shape=(SIDE,) * 3)
                for place, label in enumerate(labels)
            ]
            arrays[f"{part}_images"] = (np.stack(shown) * 255).astype(np.uint8)
            arrays[f"{part}_labels"] = np.array(labels, np.uint8)[:, None]
        write_npz(folder / f"{name}.npz", arrays)


def _labels(counts: Sequence[int]) -> list[int]:
    """Every class as often as told, by turns."""
    turns = range(max(counts))
    return [kind for turn in turns for kind, count in enumerate(counts) if turn < count]
