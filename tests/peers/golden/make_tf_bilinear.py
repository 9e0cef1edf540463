"""Record what TensorFlow's resize makes of the pictures, as Google's quick-start notebook calls it.

python -m tests.peers.golden.make_tf_bilinear GOLDEN.json      (a scratch one with tensorflow)
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

import numpy as np
import tensorflow

from tests.peers.siglip_cases import PICTURES

SIDE = 14


def resized(picture: np.ndarray) -> np.ndarray:
    """Bilinear without antialias, cut to 8 bit."""
    made = tensorflow.image.resize(picture, (SIDE, SIDE), method="bilinear", antialias=False)
    return made.numpy().astype(np.uint8)


def main(target: Path) -> None:
    """Write the golden."""
    content = {
        "code": "tensorflow.image.resize, method bilinear, antialias off, cut to uint8",
        "environment": [f"tensorflow {tensorflow.__version__}"],
        "side": SIDE,
        "cases": {name: resized(one).flatten().tolist() for name, one in PICTURES.items()},
    }
    target.write_text(json.dumps(content) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
