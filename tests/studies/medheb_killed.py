"""Run as a program: computes a benchmark with the random encoder and dies at the n-th batch.

Usage: ``python -m tests.studies.medheb_killed HOME DATA LOG N``; appends one line per item seen.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Any

import studies.run
from db.home import Home
from engine.control import Control
from engine.models.random_encoder import RandomEncoder


class Counting(RandomEncoder):
    """The random encoder, which writes down every item and may die at a batch."""

    def __init__(self, log: Path, dies_at: int, model_id: str = "random") -> None:
        super().__init__(model_id=model_id)
        self.log = log
        self.dies_at = dies_at
        self.batches = 0

    def encode(self, batch: Any) -> Any:
        self.batches += 1
        if self.batches == self.dies_at:
            os._exit(9)
        vectors = super().encode(batch)
        with self.log.open("a", encoding="utf-8") as stream:
            stream.writelines(f"{vector[:4].tolist()}\n" for vector in vectors)
        return vectors


def compute(home: Path, data: Path, log: Path, dies_at: int, **arguments: Any) -> dict[str, Any]:
    """One benchmark run with a counting encoder."""
    encoder = Counting(log, dies_at)
    studies.run.load_encoder = lambda *args, **options: encoder  # type: ignore[assignment]
    given = {"data": str(data), "models": ["random"], **arguments}
    return studies.run.bench_job(Home(home), given, Control())


if __name__ == "__main__":
    compute(*(Path(word) for word in sys.argv[1:4]), int(sys.argv[4]))
