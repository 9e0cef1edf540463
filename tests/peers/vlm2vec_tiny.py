"""The tiny VLM2Vec: a DoRA adapter beside its base, both as the repositories hold them.

``python -m tests.peers.vlm2vec_tiny FOLDER`` writes them, and adapters of the other kinds that
the merge knows, for the recorded golden.
"""

from __future__ import annotations

import shutil
import sys
from pathlib import Path
from typing import Any

from tests.peers.tiny_qwen2 import as_published, make_adapter
from tests.peers.vlm2vec_cases import ADAPTER, BASE, KINDS

BESIDE = (  # files of the base that the adapter's repository holds too
    "config.json", "tokenizer.json", "tokenizer_config.json", "vocab.json", "merges.txt",
    "preprocessor_config.json",
)  # fmt: skip


def make_vlm2vec(folder: Path) -> Path:
    """Write base and adapter; the adapter's path."""
    as_published(folder / BASE)
    return _adapter(folder, ADAPTER)


def make_kinds(folder: Path) -> dict[str, Path]:
    """Write one adapter of each further kind on the base that is there."""
    return {kind: _adapter(folder, kind, **values) for kind, values in KINDS.items()}


def _adapter(folder: Path, name: str, **values: Any) -> Path:
    adapter = make_adapter(folder / name, folder / BASE, **values)
    for beside in BESIDE:
        shutil.copy(folder / BASE / beside, adapter / beside)
    return adapter


if __name__ == "__main__":
    make_vlm2vec(Path(sys.argv[1]))
    make_kinds(Path(sys.argv[1]))
