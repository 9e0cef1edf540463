"""De-identified copies on import: nothing of the patient in copies, store or answer; once each."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pydicom
import pytest
from typer.testing import CliRunner

from db.collections import items, related
from db.home import Home
from db.session import open_store
from engine.control import Control
from engine.errors import Cancelled, EvidenceError
from studies.cli import app
from studies.collection import import_job
from studies.errors import BadRequest
from tests.engine.evidence_files import dicom, ramp

SECRETS = ("Doe", "JANE", "MRN-4711", "20260131", "St. Elsewhere", "1.2.3.77", "1.2.3.7")


@pytest.fixture
def home(tmp_path: Path) -> Home:
    return Home(tmp_path / "home").make()


@pytest.fixture
def scans(tmp_path: Path) -> Path:
    folder = tmp_path / "scans"
    for series in (1, 2):
        place = folder / f"series{series}"
        place.mkdir(parents=True)
        for number in range(3):
            dicom(place / f"im{number}.dcm", np.full((4, 5), number, np.int16),
                  PatientName="Doe^JANE", PatientID="MRN-4711", StudyDate="20260131",
                  InstitutionName="St. Elsewhere", PatientSex="F", BodyPartExamined="HEAD",
                  StudyInstanceUID="1.2.3.7", SeriesInstanceUID=f"1.2.3.77{series}",
                  ImagePositionPatient=[0.0, 0.0, float(number)],
                  ImageOrientationPatient=[1, 0, 0, 0, 1, 0], PixelSpacing=[1.0, 1.0])  # fmt: skip
    (folder / "notes.txt").write_text("Doe, JANE", encoding="utf-8")
    return folder


def run(home: Home, scans: Path, target: Path, **more: Any) -> dict[str, Any]:
    wish = {"paths": [str(scans)], "collection": "c", "deidentify_to": str(target), **more}
    return import_job(home, wish, Control())


def test_copies_name_nobody_and_are_what_is_indexed(
    home: Home, scans: Path, tmp_path: Path
) -> None:
    target = tmp_path / "clean"
    answer = run(home, scans, target, options=["retain-patient"])
    assert answer["added"] == 2
    assert answer["deidentified"]["written"] == 6
    assert answer["deidentified"]["options"] == ["retain-patient"]
    assert "not claimed clean" in answer["deidentified"]["sentence"]
    assert [row["warning"] for row in answer["deidentified"]["warnings"]] == ["head"]
    assert [Path(row["path"]).name for row in answer["left_out"]] == ["notes.txt"]
    assert (answer["left_out_count"], answer["deidentified"]["not_copied"]) == (1, 1)
    files = sorted(target.rglob("*.dcm"))
    assert len(files) == 6
    copied = pydicom.dcmread(files[0])
    assert (copied.PatientIdentityRemoved, copied.PatientSex) == ("YES", "F")
    everything = b"".join(path.read_bytes() + str(path).encode() for path in target.rglob("*")
                          if path.is_file())  # fmt: skip
    for secret in SECRETS:
        assert secret.encode() not in everything, secret
    with open_store(home) as store:
        first, second = items(store, "c")
        assert all(target in file.path.parents for file in first.files)
        assert [row.id for row in related(store, first.id)] == [second.id], "still one patient"
        assert first.series != second.series


def test_asked_again_nothing_is_copied_twice(home: Home, scans: Path, tmp_path: Path) -> None:
    target = tmp_path / "clean"
    run(home, scans, target)
    new = scans / "series1" / "im9.dcm"
    dicom(new, ramp().astype(np.int16), PatientID="MRN-4711", SeriesInstanceUID="1.2.3.90")
    again = run(home, scans, target)
    assert (again["deidentified"]["written"], again["deidentified"]["known"]) == (1, 6)
    assert (again["added"], again["unchanged"]) == (1, 6)
    assert len(list(target.rglob("*.dcm"))) == 7
    assert "MRN" not in (target / ".copied").read_text("utf-8")


def test_a_stopped_copying_goes_on(home: Home, scans: Path, tmp_path: Path) -> None:
    target, asked = tmp_path / "clean", iter(range(100))
    wish = {"paths": [str(scans)], "collection": "c", "deidentify_to": str(target)}
    with pytest.raises(Cancelled):
        import_job(home, wish, Control(cancelled=lambda: next(asked) > 6))
    made = len(list(target.rglob("*.dcm")))
    assert 0 < made < 6
    answer = run(home, scans, target)
    assert answer["deidentified"]["known"] == made
    assert len(list(target.rglob("*.dcm"))) == 6
    assert answer["added"] == 2


def test_a_copy_whose_note_was_lost_is_known_again(home: Home, scans: Path, tmp_path: Path) -> None:
    """As after a kill between a copy and its line in the list."""
    target = tmp_path / "clean"
    run(home, scans, target)
    before = {path: path.stat().st_mtime_ns for path in target.rglob("*.dcm")}
    (target / ".copied").write_text("", encoding="utf-8")
    answer = run(home, scans, target)
    assert {path: path.stat().st_mtime_ns for path in target.rglob("*.dcm")} == before
    assert (answer["deidentified"]["written"], answer["deidentified"]["known"]) == (0, 6)
    assert not list(target.rglob("*.part"))
    other = run(home, scans, target, options=["retain-patient"])
    assert other["deidentified"]["written"] == 6, "another wish makes other copies"
    assert len(list(target.rglob("*-2.dcm"))) == 6


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["retain-all"], "retain-all is no option"),
        (["retain-full-dates", "retain-modified-dates"], "not both"),
        (["clean-pixel-data"], "look at the pictures"),
    ],
)
def test_options_that_cannot_be_are_refused_before_anything_is_written(
    home: Home, scans: Path, tmp_path: Path, options: list[str], words: str
) -> None:
    with pytest.raises(BadRequest, match=words):
        run(home, scans, tmp_path / "clean", options=options)
    assert not (tmp_path / "clean").exists()


def test_copies_do_not_lie_among_their_sources(home: Home, scans: Path) -> None:
    with pytest.raises(EvidenceError, match="inside the source"):
        run(home, scans, scans / "clean")
    assert not (scans / "clean").exists()


def test_the_command_says_it_and_refuses_an_option_without_a_folder(
    home: Home, scans: Path, tmp_path: Path
) -> None:
    start = ["--home", str(home.root), "import", str(scans), "--collection", "c"]
    refused = CliRunner().invoke(app, [*start, "--option", "retain-uids"])
    assert refused.exit_code == 2
    assert "--deidentify-to" in refused.output
    copied = [*start, "--deidentify-to", str(tmp_path / "clean")]
    refused = CliRunner().invoke(app, [*copied, "--option", "retain-all"])
    assert refused.exit_code == 2
    assert "retain-patient" in refused.output, "the known ones are listed"
    helped = CliRunner().invoke(app, ["import", "--help"]).output
    assert "retain-modified-dates" in helped
    assert "PS3.15" in helped


def spoken(command: list[str]) -> str:
    """What a command prints; its complaints when it fails."""
    done = subprocess.run(command, capture_output=True, text=True, encoding="utf-8", check=False)
    assert done.returncode == 0, f"{done.returncode}\n{done.stdout}\n{done.stderr}"
    return done.stdout


def test_the_command_answers_in_words_and_in_json(home: Home, scans: Path, tmp_path: Path) -> None:
    command = [sys.executable, "-m", "studies.cli", "--home", str(home.root), "import", str(scans),
               "--collection", "c", "--deidentify-to", str(tmp_path / "clean")]  # fmt: skip
    words = spoken(command)
    assert "6 written" in words
    assert "! 6 x a head may be in it" in words
    assert json.loads(spoken([*command, "--json"]))["deidentified"]["known"] == 6
