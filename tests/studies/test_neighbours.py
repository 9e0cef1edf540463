"""Neighbours and whose they are: same patient and same study by token, or left out."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from db.collections import items
from db.home import Home
from db.session import open_store
from engine.control import Control
from studies.collection import import_job
from studies.neighbours import neighbours_job
from tests.engine.evidence_files import dicom

WHO = (("A", "1"), ("A", "1"), ("A", "2"), ("B", "3"), ("B", "3"), ("", "4"))


@pytest.fixture
def home(tmp_path: Path) -> Home:
    folder = tmp_path / "scans"
    folder.mkdir()
    random = np.random.default_rng(0)
    for number, (patient, study) in enumerate(WHO):
        dicom(folder / f"{number}.dcm", random.integers(0, 4000, (8, 8)).astype(np.int16),
              PatientID=patient, StudyInstanceUID=f"1.2.{study}",
              SeriesInstanceUID=f"1.2.3.{number}")  # fmt: skip
    made = Home(tmp_path / "home").make()
    import_job(made, {"paths": [str(folder)], "collection": "c"}, Control())
    return made


def ask(home: Home, place: int, **more: Any) -> list[dict[str, Any]]:
    with open_store(home) as store:
        row = next(row for row in items(store, "c") if row.path.stem == str(place))
    wish = {"id": row.id, "collection": "c", "model": "random", "k": 10, **more}
    hits: list[dict[str, Any]] = neighbours_job(home, wish, Control())["neighbours"]
    return sorted(hits, key=lambda hit: Path(hit["path"]).stem)


def test_same_patient_and_same_study_are_said(home: Home) -> None:
    hits = ask(home, 0)
    assert [Path(hit["path"]).stem for hit in hits] == ["1", "2", "3", "4", "5"]
    assert [hit["same_patient"] for hit in hits] == [True, True, False, False, False]
    assert [hit["same_study"] for hit in hits] == [True, False, False, False, False]


def test_the_same_patient_can_be_left_out_and_k_is_filled_with_others(home: Home) -> None:
    hits = ask(home, 0, other_patients=True, k=3)
    assert [Path(hit["path"]).stem for hit in hits] == ["3", "4", "5"]
    assert len(ask(home, 5, other_patients=True)) == 5, "without a name everybody is another"
