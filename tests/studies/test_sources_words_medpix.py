"""MedPix: ClinQA cut by case, ShortQA by its parts, and fixed questions over the official files."""

from __future__ import annotations

from pathlib import Path

import pytest

from studies.errors import StudyError
from studies.medheb.builders.choose import side_of_test
from tests.studies.sources_words_checks import (
    built_task,
    png,
    records_of,
    rows_of,
    texts,
    write_json,
    write_lines,
    write_parquet,
)


@pytest.fixture(scope="module")
def clinqa(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("clinqa")
    rows = [
        {
            "image_id": png(place // 2),
            "mode": "CT",
            "case_id": f"MPX{1000 + place // 4}",
            "question": f"Question {place % 4}?",
            "answer": f"Answer {place % 5}",
        }
        for place in range(40)
    ]
    write_parquet(root / "data" / "train-00000-of-00001-dc629ba2113e40bf.parquet", rows)
    return root


def test_clinqa_has_one_part_and_is_cut_by_case(clinqa: Path, tmp_path: Path):
    records, _ = records_of("medpix", clinqa)
    assert len(records) == 40
    assert len({record.group for record in records}) == 10
    tested = side_of_test(records)
    groups = {record.group for record in tested}
    assert len(groups) == 3
    assert all((record in tested) == (record.group in groups) for record in records)
    read, pools = built_task("medpix", clinqa, tmp_path, "medpix/vqa")
    assert len(read.queries) == len(tested) == 12
    assert len(pools.candidates) == len({record.texts["answer"] for record in tested})
    assert read.built is not None
    assert "The hub's copy has no test part; its cases were cut." in read.built.notes
    assert len({row["qry_img_path"] for row in rows_of("medpix/vqa", tmp_path)}) == 6


def test_the_whole_copy_can_be_tested(clinqa: Path, tmp_path: Path):
    read, _ = built_task("medpix", clinqa, tmp_path, "medpix/vqa", part="train")
    assert len(read.queries) == 40


def test_shortqa_is_tested_by_its_own_part(tmp_path: Path):
    row = {"case_id": "MPX1", "ans_len": 3, "mode": "MR", "split": "x"}
    for part, count in (("Test", 2), ("Valid", 3), ("Train", 5)):
        rows = [
            {**row, "image_id": png(count, place), "question": f"{part}?", "answer": f"{place}"}
            for place in range(count)
        ]
        write_parquet(tmp_path / "set" / "data" / f"{part}-00000-of-00001-7170.parquet", rows)
    records, _ = records_of("medpix", tmp_path / "set")
    assert {words[0] for words in texts(records)} == {"Test?"}
    assert {record.split for record in records} == {"test"}
    valid, _ = records_of("medpix", tmp_path / "set", part="valid")
    assert len(valid) == 3


def official(root: Path, *, cut: bool) -> Path:
    base = root / "MedPix-2-0"
    (base / "images").mkdir(parents=True)
    described, cases = [], []
    for number in range(1, 4):
        name = f"MPX100{number}_synpic{number}000"
        (base / "images" / f"{name}.png").write_bytes(png(number))
        described.append(
            {
                "Type": "CT", "U_id": f"MPX100{number}", "image": name,
                "Description": {"Modality": "CT w/contrast (IV)", "Plane": "Axial", "Age": "45"},
                "Location": "Brain", "Location Category": "Head",
            }
        )  # fmt: skip
        cases.append(
            {
                "U_id": f"MPX100{number}", "TAC": [name], "MRI": [],
                "Case": {"Title": "t", "Case Diagnosis": f"Diagnosis {number}"}, "Topic": {},
            }
        )  # fmt: skip
    del described[1]["Description"]["Plane"]
    described[2]["location"] = described[2].pop("Location")
    del cases[1]["Case"]["Case Diagnosis"]
    described.append({"U_id": "MPX9", "image": "MPX9_synpic1", "Description": {}})
    if cut:
        write_lines(base / "splitted_dataset" / "descriptions_test.jsonl", described)
        write_lines(base / "splitted_dataset" / "data_test.jsonl", cases)
    write_json(base / "Descriptions.json", described)
    write_json(base / "Case_topic.json", cases)
    return root


def test_fixed_questions_are_asked_of_what_the_official_files_say(tmp_path: Path):
    folder = official(tmp_path / "set", cut=True)
    records, faults = records_of("medpix", folder)
    assert [fault.reason for fault in faults] == ["its picture is not in images"]
    by_picture = {name: [] for name in ("1000", "2000", "3000")}
    for record in records:
        by_picture[record.pictures[0].name[-8:-4]].append(record.texts["answer"])
    assert by_picture == {
        "1000": ["Diagnosis 1", "CT w/contrast (IV)", "Axial", "Brain", "Head"],
        "2000": ["CT w/contrast (IV)", "Brain", "Head"],
        "3000": ["Diagnosis 3", "CT w/contrast (IV)", "Axial", "Brain", "Head"],
    }
    read, pools = built_task("medpix", folder, tmp_path / "data", "medpix/vqa")
    assert len(read.queries) == 13
    assert len(pools.candidates) == 6


def test_without_the_official_cut_the_cases_are_cut_and_the_copy_comes_first(
    clinqa: Path, tmp_path: Path
):
    folder = official(tmp_path, cut=False)
    records, _ = records_of("medpix", folder)
    assert {record.split for record in records} == {""}
    assert {record.group for record in records} == {"MPX1001", "MPX1002", "MPX1003"}
    with pytest.raises(StudyError, match="it is not there"):
        records_of("medpix", folder, route="hub")
    source = next((clinqa / "data").glob("*.parquet"))
    (folder / source.name).write_bytes(source.read_bytes())
    assert len(records_of("medpix", folder)[0]) == 40
    assert len(records_of("medpix", folder, route="cases")[0]) == 13
