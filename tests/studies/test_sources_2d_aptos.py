"""APTOS 2019 from the competition's own files."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from studies.errors import StudyError
from tests.studies.sources_2d_checks import build, checked, noise, records_of, rows_of, save

ROWS = {f"{grade}{place:02d}abc": grade for grade in range(5) for place in range(8)}


@pytest.fixture
def official(tmp_path: Path) -> Path:
    folder = tmp_path / "aptos2019-blindness-detection"
    for code, grade in ROWS.items():
        save(folder / "train_images" / f"{code}.png", noise(grade, int(code[1:3])))
    lines = [f"{code},{grade}" for code, grade in ROWS.items()]
    (folder / "train.csv").write_bytes(
        "\ufeff id_code , diagnosis\r\n".encode() + "\r\n".join(lines).encode()
    )
    (folder / "test.csv").write_text("id_code\n0ffffff\n")
    save(folder / "test_images" / "0ffffff.png", noise(99))
    (folder / "sample_submission.csv").write_text("id_code,diagnosis\n0ffffff,0\n")
    return folder


@pytest.mark.parametrize("nested", [False, True])
def test_three_tasks_of_the_labelled_part(official: Path, tmp_path: Path, nested: bool):
    document = build("aptos2019", official.parent if nested else official, tmp_path / "data")
    assert document["faults"] == []
    assert document["records"] == 40
    records, _ = records_of("aptos2019", official)
    tasks = checked("aptos2019", tmp_path / "data", records, classes=5)
    assert {len(one.queries) for one in tasks.values()} == {10}  # 2 of 8 per grade
    row = rows_of("aptos2019/i2l", tmp_path / "data")[0]
    names = ["No DR", "Mild", "Moderate", "Severe", "Proliferative DR"]
    assert row["qry_label"] == names[int(row["qry_img_path"][0])]
    assert [name for name in row["tgt_text"] if name != row["qry_label"]] == [
        name for name in names if name != row["qry_label"]
    ]


def copied(folder: Path, one: str, other: str) -> None:
    shutil.copy(folder / "train_images" / f"{one}.png", folder / "train_images" / f"{other}.png")


def test_copies_are_one_group_and_contradictions_are_refused(official: Path, tmp_path: Path):
    copied(official, "000abc", "001abc")
    copied(official, "000abc", "002abc")
    copied(official, "100abc", "200abc")
    records, faults = records_of("aptos2019", official)
    groups = {record.key: record.group for record in records}
    assert groups["000abc"] == groups["001abc"] == groups["002abc"]
    assert len(set(groups.values())) == 36
    assert {fault.where for fault in faults} == {"100abc.png", "200abc.png"}
    assert all("different grades" in fault.reason for fault in faults)
    build("aptos2019", official, tmp_path / "data")
    checked("aptos2019", tmp_path / "data", records, classes=5)
    assert len(records_of("aptos2019", official, duplicates="first")[0]) == 36
    assert len(records_of("aptos2019", official, duplicates="keep")[0]) == 40


def test_bad_rows_are_faults(official: Path):
    with (official / "train.csv").open("a") as table:
        table.write("\r\nnopicture,3\r\n000abc,0\r\n003abc,7\r\n004abc,\r\n")
    records, faults = records_of("aptos2019", official)
    assert len(records) == 40
    assert [fault.where for fault in faults] == [f"train.csv, line {n}" for n in (42, 43, 44, 45)]
    assert "no nopicture.png" in faults[0].reason
    assert "row already" in faults[1].reason


def test_other_cuts_of_this_set_and_pointers_are_refused(official: Path, tmp_path: Path):
    (official / "train.csv").rename(official / "train_1.csv")
    with pytest.raises(StudyError, match="does not look like APTOS"):
        records_of("aptos2019", official)
    (official / "train.csv").write_text("version https://git-lfs.github.com/spec/v1\noid x\n")
    with pytest.raises(StudyError, match="Git LFS pointer"):
        records_of("aptos2019", official)
    (official / "train.csv").write_text("id,level\n1,2\n")
    with pytest.raises(StudyError, match="no column id_code, diagnosis"):
        records_of("aptos2019", official)
