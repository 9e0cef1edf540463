"""How a made-up body looks to a scanner: magnetic resonance of two weightings, and CT.

Owns the grey values. Refuses physics: the same body gives the same outline and lesion in every
contrast, which is all that a pair of modalities needs here.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from studies.medheb.mini.shared import volume

Shape = tuple[int, int, int]
SHAPE: Shape = (24, 32, 32)
AIR = -1000
WEIGHTS = {
    "t1": (900.0, 0.0),
    "t1c": (1200.0, 0.0),
    "t2": (-800.0, 1000.0),
    "flair": (500.0, 300.0),
}


def resonance(
    kind: int, *names: object, weighting: str = "t1", shape: Shape = SHAPE
) -> NDArray[np.int16]:
    """A body as magnetic resonance sees it: 0 outside of it, more inside.

    Args:
        kind: number of the class.
        names: of the patient; the same names give the same body in other weightings.
        weighting: a key of ``WEIGHTS``.
        shape: (z, y, x) voxels.

    Returns:
        [Z, Y, X].
    """
    body = volume(kind, *names, shape=shape)
    slope, start = WEIGHTS[weighting]
    return np.where(body > 0, np.maximum(body * slope + start, 5), 0).astype(np.int16)


def tomography(kind: int, *names: object, shape: Shape = SHAPE) -> NDArray[np.int16]:
    """A body as CT sees it, in Hounsfield units: air around it, soft tissue, a dense lesion.

    Returns:
        [Z, Y, X].
    """
    body = volume(kind, *names, shape=shape)
    return np.where(body > 0, body * 900 - 300, AIR).astype(np.int16)


def chest(kind: int, *names: object, shape: Shape = SHAPE) -> NDArray[np.int16]:
    """As ``tomography``, but the inside is lung: the lesion stands out in its window.

    Returns:
        [Z, Y, X].
    """
    body = volume(kind, *names, shape=shape)
    lung = np.where(body > 0.55, body * 700 - 500, body * 900 - 1050)
    wall = (body > 0) & (body < 0.34)
    return np.where(body > 0, np.where(wall, 40, lung), AIR).astype(np.int16)


def mask(kind: int, *names: object, shape: Shape = SHAPE) -> NDArray[np.uint8]:
    """Where the body is: 1 inside.

    Returns:
        [Z, Y, X].
    """
    return (volume(kind, *names, shape=shape) > 0).astype(np.uint8)
