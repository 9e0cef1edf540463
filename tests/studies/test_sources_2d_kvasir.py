"""Kvasir says which of its versions lies there, by count."""

from __future__ import annotations

from pathlib import Path

import pytest

from studies.medheb.sources import kvasir
from tests.studies.sources_2d_checks import build, checked, noise, records_of, save


@pytest.fixture
def official(tmp_path: Path) -> Path:
    folder = tmp_path / "kvasir-dataset" / "kvasir-dataset"
    for number, code in enumerate(kvasir.CODES):
        for place in range(7):
            save(folder / code / f"{number}{place}-a.jpg", noise(number, place))
    return folder.parent.parent


def test_the_version_is_told_by_count(official: Path, tmp_path: Path, monkeypatch):
    assert kvasir.found(official, {}) == ("56 frames: neither version 1 nor 2, by count.",)
    assert kvasir.VERSIONS == {8 * 500: "version 1", 8 * 1000: "version 2"}
    monkeypatch.setitem(kvasir.VERSIONS, 56, "version 1")
    document = build("kvasir", official, tmp_path / "data")
    assert document["tasks"]["kvasir/i2l"]["notes"] == ["56 frames: version 1."]
    checked("kvasir", tmp_path / "data", records_of("kvasir", official)[0], classes=8)


def test_labels_keep_the_hyphen_that_belongs_to_the_word():
    assert kvasir.CODES["normal-z-line"] == "normal z-line"
    assert kvasir.CODES["dyed-resection-margins"] == "dyed resection margins"
    assert sum("-" in label for label in kvasir.CODES.values()) == 1
