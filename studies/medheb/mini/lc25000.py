"""LC25000 in miniature: five folders of tiles, most of them turned or mirrored copies of another.

Owns the layout and its oddity: the files of ``colon_aca`` start with ``colonca``. No id tells which
tiles come from one original.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np

from studies.medheb.mini.files import write_picture
from studies.medheb.mini.shared import Pixels, generator, look

# folder, and how its files start
CLASSES = (
    ("colon_image_sets/colon_aca", "colonca"),
    ("colon_image_sets/colon_n", "colonn"),
    ("lung_image_sets/lung_aca", "lungaca"),
    ("lung_image_sets/lung_n", "lungn"),
    ("lung_image_sets/lung_scc", "lungscc"),
)
ORIGINALS = 7  # 7:3 of the originals leaves two on the test side


def write(folder: Path, *, seed: int) -> None:
    """``lung_colon_image_set/<organ>/<class>/<stem><number from 1>.jpeg``, all square."""
    for kind, (place, stem) in enumerate(CLASSES):
        tiles = [
            tile
            for original in range(ORIGINALS)
            for tile in _copies(_tile(kind, seed, original), original)
        ]
        for number, tile in enumerate(tiles, start=1):
            path = folder / "lung_colon_image_set" / place / f"{stem}{number}.jpeg"
            write_picture(path, tile, quality=92)


def _tile(kind: int, seed: int, original: int) -> Pixels:
    """A tile of the class with large stains of its own, so that only its copies look like it."""
    stains = generator("lc25000", seed, kind, original).uniform(0.35, 1.0, (4, 4, 3))
    wide = np.kron(stains, np.ones((16, 16, 1)))
    return (look(kind, seed, "lc25000", original) * wide).astype(np.uint8)


def _copies(tile: Pixels, original: int) -> list[Pixels]:
    """The tile, and it turned or mirrored."""
    changed = np.rot90(tile, 1 + original % 3) if original % 2 else tile[:, ::-1]
    return [tile, np.ascontiguousarray(changed)]
