"""Makes ``qwen3_vl.json``: the vectors of Qwen3-VL-Embedding's authors' code on tiny checkpoints.

The authors ask for transformers 4.57.3 or later and qwen-vl-utils 0.0.14, so their file runs in an
environment of its own. From the root of this project::

    python -m tests.peers.tiny_qwen3 CHECKPOINTS
    OTHER_PYTHON -m tests.peers.golden.make_qwen3_vl REFERENCE_CHECKOUT CHECKPOINTS qwen3_vl.json
    python -m tests.peers.golden.make_qwen3_vl REFERENCE_CHECKOUT CHECKPOINTS qwen3_vl_5.json

The last line repeats it under transformers 5, which keeps the outer vision markers of a video.
Nothing is changed but the number format (float32) and where they say CUDA. Never run on real
weights.
"""

from __future__ import annotations

import argparse
import json
import logging
import subprocess
import sys
from importlib.metadata import version
from pathlib import Path
from typing import Any

import torch
from PIL import Image

from tests.peers.qwen3_cases import (
    BATCH,
    CASES,
    KEPT,
    LIMIT,
    MODES,
    OPEN,
    WRONG,
    Case,
    as_pillow,
)
from tests.peers.weights import digest_of

LIBRARIES = ("transformers", "qwen-vl-utils", "torch", "torchvision", "tokenizers", "pillow")
FILES = ("vocab.json", "merges.txt")


class Loud(logging.Handler):
    """Their code logs a picture it cannot take and embeds ``NULL`` instead; here that ends it."""

    def emit(self, record: logging.LogRecord) -> None:
        """Raise what was logged."""
        raise RuntimeError(record.getMessage())


def authors_class(checkout: Path) -> Any:
    """Their embedder, imported from where it lies."""
    sys.path.insert(0, str(checkout / "src" / "models"))
    from qwen3_vl_embedding import Qwen3VLEmbedder

    logging.getLogger("qwen3_vl_embedding").addHandler(Loud())
    return Qwen3VLEmbedder


def given(case: Case) -> dict[str, Any]:
    """Their dictionary of one item."""
    made: dict[str, Any] = {"instruction": case.instruction}
    if case.texts:
        made["text"] = list(case.texts)
    if case.images:
        made["image"] = [Image.fromarray(pixels) for pixels in case.images]
    if case.volumes:
        made["video"] = [[Image.fromarray(one) for one in volume] for volume in case.volumes]
    return made


def rows(embedder: Any, items: list[dict[str, Any]]) -> list[list[float]]:
    """Their call on a batch, eight digits."""
    made = embedder.process(items)
    return [[float(f"{number:.8g}") for number in row] for row in made.tolist()]


def kept_rows(embedder: Any, case: Case) -> list[float]:
    """Their steps with their own helper for long rows put where it would be called."""
    made = embedder._preprocess_inputs([embedder.format_model_input(**given(case))])
    kept = embedder._truncate_tokens(made["input_ids"][0].tolist(), LIMIT)
    made["input_ids"] = torch.tensor([kept])
    made["attention_mask"] = torch.ones_like(made["input_ids"])
    made.pop("mm_token_type_ids", None)
    found = embedder.forward(made)
    pooled = embedder._pooling_last(found["last_hidden_state"], found["attention_mask"])
    row = torch.nn.functional.normalize(pooled, p=2, dim=-1)[0]
    return [float(f"{number:.8g}") for number in row.tolist()]


def main() -> None:
    """Write the file."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("reference", type=Path)
    parser.add_argument("checkpoints", type=Path)
    parser.add_argument("name")
    places = parser.parse_args()
    torch.set_num_threads(1)
    kind = authors_class(places.reference)
    whole, opened = (
        kind(str(places.checkpoints / name), dtype=torch.float32) for name in ("ends", "open")
    )
    short = kind(str(places.checkpoints / "ends"), dtype=torch.float32, max_length=LIMIT)
    commit = subprocess.run(
        ["git", "-C", str(places.reference), "rev-parse", "HEAD"],
        check=True, capture_output=True, text=True,
    ).stdout.strip()  # fmt: skip
    found: dict[str, Any] = {
        "code": f"QwenLM/Qwen3-VL-Embedding@{commit}",
        "environment": [f"{name} {version(name)}" for name in LIBRARIES],
        "checkpoint": digest_of(places.checkpoints / "ends", also=FILES),
        "cases": {name: rows(whole, [given(case)])[0] for name, case in CASES.items()},
        "pictures": {
            name: rows(whole, [{"image": as_pillow(mode)}])[0] for name, mode in MODES.items()
        },
        "open": {name: rows(opened, [given(CASES[name])])[0] for name in OPEN},
        "batch": rows(whole, [given(CASES[name]) for name in BATCH]),
        "kept": {name: kept_rows(whole, case) for name, case in KEPT.items()}
        if version("transformers").startswith("4.")
        else {},
        "wrong": {name: rows(short, [given(case)])[0] for name, case in WRONG.items()},
    }
    output = Path(__file__).with_name(places.name)
    output.write_text(json.dumps(found, separators=(",", ":")) + "\n", encoding="utf-8")
    sys.stdout.write(f"{output.name}: {len(found['cases'])} cases\n")


if __name__ == "__main__":
    main()
