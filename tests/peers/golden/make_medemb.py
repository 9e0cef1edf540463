"""Makes ``medemb.json``: tiny adapters merged by peft, embedded by the authors' code of the base.

Runs where peft is (transformers 5, qwen-vl-utils 0.0.14). From the root of this project::

    python -m tests.peers.tiny_qwen3 CHECKPOINTS
    OTHER_PYTHON -m tests.peers.golden.make_medemb REFERENCE_CHECKOUT CHECKPOINTS

Cases without video, which both versions of transformers read alike, and one with it, whose outer
markers are those of transformers 5. Never run on real weights.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
from importlib.metadata import version
from pathlib import Path
from typing import Any

import torch
from peft import PeftModel

from tests.peers.golden.make_qwen3_vl import FILES, authors_class, given, rows
from tests.peers.medemb_adapters import CASES, write_adapter
from tests.peers.qwen3_cases import CASES as ALL
from tests.peers.weights import digest_of

LIBRARIES = ("peft", "transformers", "qwen-vl-utils", "torch")


def merged_rows(kind: Any, base: Path, *, dora: bool) -> dict[str, list[float]]:
    """The cases under one adapter, merged by peft."""
    embedder = kind(str(base), dtype=torch.float32)
    with tempfile.TemporaryDirectory() as place:
        adapter = write_adapter(Path(place) / "adapter", layout="bare model", dora=dora)
        whole = PeftModel.from_pretrained(embedder.model.model, adapter)
        embedder.model.model = whole.merge_and_unload().eval()
    return {name: rows(embedder, [given(ALL[name])])[0] for name in CASES}


def main() -> None:
    """Write the file."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("reference", type=Path)
    parser.add_argument("checkpoints", type=Path)
    places = parser.parse_args()
    torch.set_num_threads(1)
    kind, base = authors_class(places.reference), places.checkpoints / "ends"
    commit = subprocess.run(
        ["git", "-C", str(places.reference), "rev-parse", "HEAD"],
        check=True, capture_output=True, text=True,
    ).stdout.strip()  # fmt: skip
    found: dict[str, Any] = {
        "code": f"QwenLM/Qwen3-VL-Embedding@{commit}",
        "environment": [f"{name} {version(name)}" for name in LIBRARIES],
        "checkpoint": digest_of(base, also=FILES),
        "lora": merged_rows(kind, base, dora=False),
        "dora": merged_rows(kind, base, dora=True),
    }
    output = Path(__file__).with_name("medemb.json")
    output.write_text(json.dumps(found, separators=(",", ":")) + "\n", encoding="utf-8")
    sys.stdout.write(f"{output.name}: {len(CASES)} cases twice\n")


if __name__ == "__main__":
    main()
