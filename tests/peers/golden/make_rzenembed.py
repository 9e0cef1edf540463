"""Makes ``rzenembed.json``: the vectors of RzenEmbed's authors' code on the tiny checkpoint.

The authors' file reads ``base.model.embed_tokens`` and ``base.visual``, which transformers has up
to 4.51, so it runs in an environment of its own (transformers 4.51.3, torch, Pillow, requests,
tqdm, accelerate). From the root of this project::

    python -m tests.peers.rzen_tiny CHECKPOINT
    OTHER_PYTHON -m tests.peers.golden.make_rzenembed REFERENCE_CHECKOUT CHECKPOINT

Two things are not theirs: weights stay float32 where they say bfloat16, and attention is ``sdpa``
where they say flash attention. transformers 4.46.3 gives the same within 1.5e-7. A list of 64
frames at their default of 2000 tokens ends in an error of shapes. Never run on real weights.
"""

from __future__ import annotations

import argparse
import importlib.util
import json
import subprocess
import sys
from importlib.metadata import version
from pathlib import Path
from types import ModuleType
from typing import Any

import torch
from PIL import Image

from tests.peers.rzen_cases import BATCH, BATCH_IMAGES, CASES, SMALL_LIST, Case
from tests.peers.weights import digest_of

LIBRARIES = ("transformers", "torch", "tokenizers", "pillow", "numpy")
OUTPUT = Path(__file__).with_name("rzenembed.json")


def authors_module(checkout: Path) -> ModuleType:
    """Their one file, imported from where it lies."""
    spec = importlib.util.spec_from_file_location("authors", checkout / "rzen_embed_inference.py")
    assert spec
    assert spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def authors_model(authors: ModuleType, checkpoint: Path, **options: Any) -> Any:
    """Their class with float32 weights."""
    model = authors.RzenEmbed(str(checkpoint), device="cpu", attn_implementation="sdpa", **options)
    kind = authors.Qwen2VLForConditionalGeneration
    model.base = kind.from_pretrained(
        str(checkpoint), config=model.base.config, torch_dtype=torch.float32
    ).eval()
    return model


def media(case: Case) -> Any:
    """Their ``images`` entry: a picture, a list of pictures, or None."""
    if case.frames:
        return [Image.fromarray(pixels) for pixels in case.frames]
    return None if case.image is None else Image.fromarray(case.image)


def rows(model: Any, cases: tuple[Case, ...], instruction: str | None = None) -> list[list[float]]:
    """Their call on a batch, eight digits."""
    texts: list[str | None] | None = [case.text for case in cases]
    images: list[Any] | None = [media(case) for case in cases]
    made = model.get_fused_embeddings(
        texts=None if all(text is None for text in texts or ()) else texts,
        images=None if all(one is None for one in images or ()) else images,
        instruction=instruction,
    )
    return [[float(f"{number:.8g}") for number in row] for row in made.tolist()]


def main() -> None:
    """Write the file."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("reference", type=Path)
    parser.add_argument("checkpoint", type=Path)
    places = parser.parse_args()
    authors = authors_module(places.reference)
    model = authors_model(authors, places.checkpoint)
    small = authors_model(
        authors,
        places.checkpoint,
        min_video_tokens=SMALL_LIST[0],
        max_video_tokens=SMALL_LIST[1],
    )
    commit = subprocess.run(
        ["git", "-C", str(places.reference), "rev-parse", "HEAD"],
        check=True, capture_output=True, text=True,
    ).stdout.strip()  # fmt: skip
    found: dict[str, Any] = {
        "code": f"360CVGroup/RzenEmbed@{commit}",
        "environment": [f"{name} {version(name)}" for name in LIBRARIES],
        "checkpoint": digest_of(places.checkpoint, also=("vocab.json", "merges.txt")),
        "cases": {
            name: rows(small if case.small else model, (case,), case.instruction)[0]
            for name, case in CASES.items()
        },
        "batches": {
            "with a list": rows(model, BATCH),
            "without a list": rows(model, BATCH_IMAGES),
        },
    }
    OUTPUT.write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")
    sys.stdout.write(f"{OUTPUT.name}: {len(found['cases'])} cases\n")


if __name__ == "__main__":
    main()
