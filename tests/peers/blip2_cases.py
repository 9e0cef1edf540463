"""What BLIP-2 is shown in both worlds: texts and pictures, without any of today's libraries.

LAVIS needs transformers 4.33, where neither this project's engine nor its other test modules can
be imported; numpy and Pillow are enough here.
"""

from __future__ import annotations

import numpy as np

REPORT = "No acute cardiopulmonary process; heart size normal."
TEXTS = {
    "nothing": "",
    "1 word": "lung",
    "a report": REPORT,
    "capitals and marks": "Find the NODULE (3 mm), left upper-lobe!",
    "30 words": " ".join(["lung mass of the upper lobe"] * 5),
    "63 words": " ".join(["lung"] * 62 + ["mass"]),
    "64 words": " ".join(["lung"] * 63 + ["mass"]),
    "200 words": " ".join(["liver", "mass", "of", "5", "mm"] * 40),
}
SIZES = {"wide": (40, 90), "upright": (70, 50), "square": (64, 64), "tiny": (12, 20)}
PAIRS = {"wide with a report": ("wide", REPORT), "square with a word": ("square", "liver")}


def shown(name: str) -> np.ndarray:
    """A picture with structure at every scale, [H, W, 3], uint8; no mathematics library in it."""
    height, width = SIZES[name]
    rows, columns = np.mgrid[0:height, 0:width]
    blocks = ((rows // 7 + columns // 5) % 4) * 60
    slope = (rows * 3 + columns * 2) % 64
    noise = np.random.default_rng([height, width]).integers(0, 20, (height, width, 3))
    return np.clip((blocks + slope)[..., None] + noise, 0, 255).astype(np.uint8)
