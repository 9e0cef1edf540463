"""Record SigLIP's golden with MTEB's wrapper.

    python -m tests.peers.tiny_siglip TINY 384           (the project's environment)
    python -m tests.peers.golden.make_siglip TINY GOLDEN.json                  (the scratch one)

The scratch environment has mteb 2.26.24 and transformers 4.51.3, whose picture processor is
Pillow's. MTEB leaves its vectors raw and adds those of text and picture.
"""

from __future__ import annotations

import json
import sys
from importlib.metadata import version
from pathlib import Path

import torch
from mteb.models.model_implementations.siglip_models import SiglipModelWrapper
from PIL import Image

from tests.peers.siglip_cases import FUSED, PICTURES, TEXTS
from tests.peers.weights import digest_of


def main(tiny: Path, target: Path) -> None:
    """Write the golden."""
    wrapper = SiglipModelWrapper(str(tiny), revision="main", device="cpu")
    texts = wrapper.get_text_embeddings([{"text": list(TEXTS.values())}])
    pictures = [Image.fromarray(one) for one in PICTURES.values()]
    images = wrapper.get_image_embeddings([{"image": pictures}])
    cases = dict(zip((*TEXTS, *PICTURES), torch.cat([texts, images]), strict=True))
    cases["fused"] = cases[FUSED[0]] + cases[FUSED[1]]
    content = {
        "code": f"mteb {version('mteb')}, siglip_models.SiglipModelWrapper",
        "environment": [f"transformers {version('transformers')}", f"torch {torch.__version__}"],
        "checkpoint": digest_of(tiny, also=("spiece.model",)),
        "cases": {
            name: [round(value, 8) for value in (row / row.norm()).tolist()]
            for name, row in cases.items()
        },
    }
    target.write_text(json.dumps(content) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main(*map(Path, sys.argv[1:3]))
