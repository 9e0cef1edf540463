"""The tiny RzenEmbed: Qwen2-VL as the repository holds it, flat configuration and untied head.

``python -m tests.peers.rzen_tiny FOLDER`` writes it for the recorded golden.
"""

from __future__ import annotations

import sys
from pathlib import Path

from tests.peers.tiny_qwen2 import as_published

SEED = 8
FILES = ("vocab.json", "merges.txt")  # the rest of the tokenizer is the same by construction


def make_rzen(folder: Path) -> Path:
    """Write the checkpoint."""
    return as_published(folder, seed=SEED, head=True)


if __name__ == "__main__":
    make_rzen(Path(sys.argv[1]))
