"""Brain Tumor MRI from its two folders, in both versions."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from studies.errors import StudyError
from studies.medheb.builders.built import read_built
from studies.medheb.sources.brain_tumor import VERSIONS
from tests.studies.sources_2d_checks import build, checked, noise, records_of, rows_of, save

CODES = {"glioma": "gl", "meningioma": "me", "notumor": "no", "pituitary": "pi"}


@pytest.fixture
def official(tmp_path: Path) -> Path:
    folder = tmp_path / "archive"
    for part, short in (("Training", "Tr"), ("Testing", "Te")):
        for number, (code, stem) in enumerate(CODES.items()):
            for place in range(5):
                name = f"{short}-{stem}_{place + 10:04d}.jpg"
                save(folder / part / code / name, noise(len(part), number, place))
    return folder


@pytest.mark.parametrize("nested", [False, True])
def test_the_testing_folder_is_tested(official: Path, tmp_path: Path, nested: bool):
    document = build("brain_tumor_mri", official.parent if nested else official, tmp_path / "data")
    assert document["faults"] == []
    records, _ = records_of("brain_tumor_mri", official)
    tasks = checked("brain_tumor_mri", tmp_path / "data", records, classes=4)
    assert {len(one.queries) for one in tasks.values()} == {20}
    rows = rows_of("brain_tumor_mri/i2i", tmp_path / "data")
    assert all(name.split("/")[1].startswith("Te-") for row in rows for name in row["tgt_img_path"])
    assert {row["qry_text"] for row in rows_of("brain_tumor_mri/t2i", tmp_path / "data")} == {
        "glioma", "meningioma", "no tumor", "pituitary",
    }  # fmt: skip


def test_the_version_is_told_by_count(official: Path, tmp_path: Path, monkeypatch):
    build("brain_tumor_mri", official, tmp_path / "data")
    notes = read_built(tmp_path / "data")["brain_tumor_mri/i2l"].notes
    assert notes == ("20 Training and 20 Testing slices: neither of the known versions, by count.",)
    assert set(VERSIONS) == {5712 + 1311, 5600 + 1600}
    monkeypatch.setitem(VERSIONS, 40, "version 1")
    build("brain_tumor_mri", official, tmp_path / "data")
    notes = read_built(tmp_path / "data")["brain_tumor_mri/i2l"].notes
    assert notes == ("20 Training and 20 Testing slices: version 1.",)


def test_slices_of_training_are_not_tested_and_copies_are_one_group(official: Path, tmp_path: Path):
    testing = official / "Testing" / "glioma"
    shutil.copy(official / "Training" / "glioma" / "Tr-gl_0010.jpg", testing / "Te-gl_0010.jpg")
    shutil.copy(testing / "Te-gl_0011.jpg", testing / "Te-gl_0012.jpg")
    records, faults = records_of("brain_tumor_mri", official)
    assert [(fault.where, "Training" in fault.reason) for fault in faults] == [
        ("Testing/glioma/Te-gl_0010.jpg", True)
    ]
    groups = {record.key: record.group for record in records}
    assert groups["glioma/Te-gl_0011.jpg"] == groups["glioma/Te-gl_0012.jpg"]
    sides = {split: {r.group for r in records if r.split == split} for split in ("train", "test")}
    assert not sides["train"] & sides["test"]
    build("brain_tumor_mri", official, tmp_path / "data")
    checked("brain_tumor_mri", tmp_path / "data", records, classes=4)
    kept, faults = records_of("brain_tumor_mri", official, train_copies="keep")
    assert (len(kept), faults) == (40, [])


def test_the_older_set_with_the_same_folders_is_refused(official: Path):
    for part in ("Training", "Testing"):
        for code in CODES:
            name = "no_tumor" if code == "notumor" else f"{code}_tumor"
            (official / part / code).rename(official / part / name)
    with pytest.raises(StudyError, match="SARTAJ"):
        records_of("brain_tumor_mri", official)


def test_a_missing_class_names_and_the_folder_wording(official: Path, tmp_path: Path):
    shutil.rmtree(official / "Testing" / "pituitary")
    shutil.rmtree(official / "Training")
    (official / "Testing" / "glioma" / "Te-gl_0010.jpg").rename(
        official / "Testing" / "glioma" / "10.jpg"  # names without the prefix are taken too
    )
    records, faults = records_of("brain_tumor_mri", official, wording="folder")
    assert [fault.where for fault in faults] == ["Testing/pituitary"]
    assert {record.labels[0] for record in records} == {"glioma", "meningioma", "notumor"}
    assert "glioma/10.jpg" in {record.key for record in records}
