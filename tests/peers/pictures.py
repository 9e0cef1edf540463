"""Generated pictures and volumes of the peer tests; needs numpy alone, so that any scratch
environment can make the same ones."""

from __future__ import annotations

import numpy as np


def picture(height: int, width: int, seed: int = 0) -> np.ndarray:
    """A picture with structure at every scale, [H, W, 3], uint8."""
    rng = np.random.default_rng([seed, height, width])
    rows, columns = np.mgrid[0:height, 0:width]
    wave = 90 * np.sin(rows / (3 + seed % 5)) * np.cos(columns / (5 + seed % 7))
    noise = rng.integers(-35, 36, (height, width, 3))
    return np.clip(128 + wave[..., None] + noise, 0, 255).astype(np.uint8)


def volume(count: int, height: int, width: int, seed: int = 0) -> np.ndarray:
    """Slices that change along the stack, [S, H, W, 3], uint8."""
    return np.stack([picture(height, width, seed + index) for index in range(count)])
