"""Small files that claim or unpack to gigabytes: an end in words, in bounded memory and time.

All traps are read by one process that has little address space left; it must come to its end, so
each trap also shows that the batch goes on.
"""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.fuzz.makers import png
from tests.fuzz.traps import TRAPS

ROOT = Path(__file__).resolve().parents[2]
GROWTH = 400 << 20
SECONDS = 30.0  # of computing; a trap that works takes minutes
# may be shown: what they hold is whole, only more follows it or lies beside it
HARMLESS = {
    "gzip_bomb.txt.gz", "jsonl_deep.jsonl", "jsonl_long_line.zip", "nrrd_gzip_bomb.nrrd",
    "pdf_bomb.pdf", "pdf_loop.pdf", "tiff_loop.tif",
}  # fmt: skip
GOOD = "whole.png"


@pytest.fixture(scope="module")
def told(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    folder = tmp_path_factory.mktemp("traps")
    for name, make in TRAPS.items():
        (folder / name).write_bytes(make())
    (folder / GOOD).write_bytes(png()["a.png"])
    command = [sys.executable, "-m", "tests.fuzz.bounded", str(folder)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    rows = [json.loads(line) for line in done.stdout.splitlines()]
    assert done.returncode == 0, done.stderr[-2000:]
    return {row["name"]: row for row in rows}


@pytest.mark.parametrize("name", TRAPS)
def test_a_trap_ends_in_words_and_within_bounds(told: dict[str, Any], name: str) -> None:
    row = told[name]
    assert row["findings"] == []
    assert row["grown"] < GROWTH
    assert row["seconds"] < SECONDS
    assert row["ends"], "nothing is said of the file"
    if name not in HARMLESS:
        pictures = {"image", "volume", "cine", "report", "document"} & set(row["ends"])
        assert not pictures


def test_the_batch_goes_on(told: dict[str, Any]) -> None:
    assert told[GOOD]["ends"] == ["image"]
    assert len(told) == len(TRAPS) + 1
