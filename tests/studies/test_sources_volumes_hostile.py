"""Damaged tables, lists and archives of the sources of volumes: faults, sentences, never bugs."""

from __future__ import annotations

import importlib
import json
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from engine.control import Control
from studies.errors import StudyError
from studies.medheb.builders.card import settle
from studies.medheb.builders.catalogue import source_card
from studies.medheb.builders.job import read_records
from studies.medheb.mini.catalogue import WRITERS

SOURCES = (
    "cirrmri600_plus", "mrnet", "nodulemnist3d", "brats_men_reports", "ct_rate",
    "radgenome_chest_ct", "m3d_cap", "m3d_vqa", "mmdental",
)  # fmt: skip
POINTER = b"version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 3\n"
DOCUMENTS = (
    [], [1, None], {"a": 1}, {"test": [None, 3]}, [{"id": 1, "image": 5, "conversations": [
        1, {"from": "human", "value": 5}, {"from": "gpt", "value": {"a": 1}}]}],
)  # fmt: skip


def damages(path: Path) -> Iterator[bytes]:
    whole = path.read_bytes()
    yield from (whole[: len(whole) // 2], b"", np.random.default_rng(0).bytes(400), POINTER)
    if path.suffix == ".json":
        yield from (json.dumps(document).encode() for document in DOCUMENTS)
    if path.suffix == ".csv":
        first, *rest = whole.splitlines(keepends=True)
        yield first
        yield first + b"".join(line.split(b",")[0] + b"\n" for line in rest)
        yield whole.replace(b"\n", b"\n\x00", 2) + b'"unclosed'


@pytest.mark.parametrize("source", SOURCES)
def test_a_damaged_table_is_told_and_nothing_is_a_bug(source: str, tmp_path: Path):
    module = importlib.import_module(f"studies.medheb.mini.{WRITERS[source]}")
    module.write(tmp_path / "official", seed=3)
    card = source_card(source)
    settings = settle(card, {})
    files = {p.name: p for p in sorted((tmp_path / "official").rglob("*")) if p.suffix in (
        ".csv", ".json", ".txt", ".npz")}  # fmt: skip
    told = 0
    for path in files.values():
        kept = path.read_bytes()
        for damage in damages(path):
            path.write_bytes(damage)
            try:
                _, faults = read_records(card, tmp_path / "official", settings, Control())
            except StudyError:
                told += 1
            else:
                told += bool(faults)
        path.write_bytes(kept)
    assert told
