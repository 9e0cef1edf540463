"""The bench of speed runs, says what it cannot measure, and names no family twice."""

from __future__ import annotations

from pathlib import Path

import pytest

from engine.catalog import LOADERS, RANDOM
from tests.bench import encode


def test_a_family_is_measured_and_agrees_with_its_peer() -> None:
    head, line = encode.lines(["siglip"], "cpu", 8)
    assert head.startswith("family")
    *_, items, ours, theirs, ratio, apart = line.split()
    assert (items, float(apart) < 1e-5) == ("8", True)
    assert float(ratio) == pytest.approx(float(ours) / float(theirs), rel=0.05)


def test_what_is_absent_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    absent = encode.Family("later", "tests.peers.no_such:make", "", encode.ourselves)
    monkeypatch.setattr(encode, "FAMILIES", (absent,))
    _, line = encode.lines([], "cpu", 4)
    assert line == f"{'later':20} skipped: No module named 'tests.peers.no_such'\n"


def test_every_family_of_the_catalogue_has_a_line() -> None:
    measured = {family.name for family in encode.FAMILIES}
    measured |= {family.family for family in encode.FAMILIES if family.family}
    assert set(LOADERS) - {RANDOM} <= measured


def test_the_work_is_of_every_kind(tmp_path: Path) -> None:
    files = encode.work(tmp_path / "files", 8)
    assert {kind: len(items) for kind, items in files.items()} == dict.fromkeys(encode.KINDS, 2)
