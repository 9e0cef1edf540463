"""RadGenome-Chest CT from its official layout: sentences, levels of anatomy, templates."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import numpy as np
import pytest

from studies.medheb.builders import volumes
from tests.studies.volume_files import build, chest, nii, shown, tasks_of, texts_of

SOURCE = "radgenome_chest_ct"
LOBE = "lung/lung/right lung/right lung upper lobe"
NAMES = [f"valid_{n}_a_1.nii.gz" for n in (1, 2, 3)]


def table(path: Path, columns: str, rows: list[list[str]]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("w", newline="", encoding="utf-8") as stream:
        csv.writer(stream).writerows([columns.split(","), *rows])


@pytest.fixture
def official(tmp_path: Path) -> Path:
    base = tmp_path / "official" / "dataset"
    for place, name in enumerate(NAMES[:2]):
        patient = name[:7]
        for number in (1, 2):
            path = base / "valid_preprocessed" / patient / f"{patient}a" / name.replace(
                "_1.nii", f"_{number}.nii"
            )  # fmt: skip
            nii(path, chest(place, (24, 22, 10)))
    files = base / "radgenome_files"
    first, second, third = NAMES
    table(files / "validation_region_report.csv", "Volumename,Anatomy,Sentence", [
        [first, "lung", "There is a nodule."], [first, LOBE, "There is a nodule."],
        [first, "heart", "The heart is large."], [first, "", "No effusion."],
        [second, "", "Nothing of note."], [third, "", "No volume on disk."],
        ["valid_1_a_2.nii.gz", "", "Another reconstruction."],
    ])  # fmt: skip
    levels = ["", "lung", "lung/lung", "lung/lung/right lung", LOBE]
    table(
        files / "validation_vqa_abnormality.csv",
        "Volumename,Anatomy,Abnormality,Non-Abnormality",
        [[first, level, "nodule, opacity", ""] for level in levels]
        + [[first, "heart", "nodule, opacity", ""], [second, "", "calcification", ""]],
    )
    table(
        files / "validation_vqa_location.csv",
        "Volumename,Anatomy,Abnormality",
        [[first, level, "nodule"] for level in levels[1:]] + [[second, "", "calcification"]],
    )
    table(files / "validation_vqa_size.csv", "Volumename,Anatomy,Abnormality,Size",
          [[first, LOBE, "nodule", "5 mm"], [first, LOBE, "nodule", "5 mm"],
           [first, "heart", "", "2 cm"]])  # fmt: skip
    table(
        files / "validation_vqa_presence.csv",
        "Volumename,Anatomy,Finding,Presence",
        [[first, LOBE, "nodule", "Yes."], [second, "", "effusion", "No."]],
    )
    table(
        files / "validation_case_disorders.csv",
        "Volumename,Disorders",
        [[first, "lung cancer, emphysema"], [third, "x"]],
    )
    words = {"abnormality": ["Anything in the {region}?", "What about the {region}?"],
             "location": ["Where does the {abnormality} lie?"],
             "size": ["How large is the {abnormality} in the {region}?"]}  # fmt: skip
    for kind, texts in words.items():
        path = base / "qa_templates" / f"{kind}_template.json"
        path.parent.mkdir(exist_ok=True)
        path.write_text(json.dumps({kind: texts}))
    return base


def asked(data) -> set[tuple[str, str]]:
    return {(query.item.text, query.gold) for query in data.queries}


def test_reports_are_sentences_joined_and_questions_filled(official: Path, tmp_path: Path):
    document = build(SOURCE, official, tmp_path / "data")
    tasks = tasks_of(SOURCE, tmp_path / "data")
    assert [query.gold for query in tasks["radgenome_chestct/i2r"].queries] == [
        "There is a nodule. The heart is large. No effusion.", "Nothing of note.",
    ]  # fmt: skip
    assert asked(tasks["radgenome_chestct_vqa/vqa"]) == {
        ("Anything in the right lung upper lobe?", "nodule, opacity"),  # the deepest of its branch
        ("Anything in the heart?", "nodule, opacity"),  # another branch
        ("Anything in the whole scan?", "calcification"),  # no place is the whole scan
        ("Where does the nodule lie?", LOBE),
        ("Where does the calcification lie?", "whole scan"),
        ("How large is the nodule in the right lung upper lobe?", "5 mm"),
        ("Which disorders does the scan show?", "lung cancer, emphysema"),
    }  # fmt: skip
    reasons = {fault["where"]: fault["reason"] for fault in document["faults"]}
    assert "no abnormality" in reasons["validation_vqa_size.csv, line 4"]
    assert "no such volume" in reasons["valid_3_a_1"]
    built = tasks["radgenome_chestct_vqa/vqa"].built
    assert built is not None
    assert built.pool == "answers"
    assert any("templates of the source" in note for note in built.notes)


def test_no_template_gives_its_own_answer_away(official: Path, tmp_path: Path):
    leaking = {
        "abnormality": ["Is {abnormality} in the {region}?"],
        "location": ["Is the {abnormality} in the {region}?", "Where is this {abnormality}?"],
    }
    for kind, texts in leaking.items():
        path = next(official.rglob(f"{kind}_template.json"))
        path.write_text(json.dumps(texts))
    build(SOURCE, official, tmp_path / "data")
    data = tasks_of(SOURCE, tmp_path / "data")["radgenome_chestct_vqa/vqa"]
    questions = {query.item.text for query in data.queries}
    assert "What is abnormal in the heart?" in questions  # ours, as none of theirs serves
    assert "Where is this nodule?" in questions
    assert not [one for one in questions if one.startswith("Is ")]


def test_volumes_are_first_reconstructions_in_the_lung_window(official: Path, tmp_path: Path):
    build(SOURCE, official, tmp_path / "data", tasks="radgenome_chestct/i2r")
    (data,) = tasks_of(SOURCE, tmp_path / "data").values()
    window = volumes.windowed(chest(0, (24, 22, 10)), level=-600, width=1500)
    assert np.array_equal(shown(data.queries[0].item), volumes.stacked(window, list(range(10))))
    assert "valid_" not in texts_of(data)


def test_values_that_are_no_hounsfield_units_are_refused_unless_told(
    official: Path, tmp_path: Path
):
    path = official / "valid_preprocessed" / "valid_2" / "valid_2a" / NAMES[1]
    nii(path, (chest(1, (24, 22, 10)) / 1000).astype(np.float32))
    for how, rows in (("auto", 1), ("header", 2)):
        document = build(
            SOURCE, official, tmp_path / how, settings={"hu": how}, tasks="radgenome_chestct/i2r"
        )
        assert document["tasks"]["radgenome_chestct/i2r"]["rows"] == rows


def test_choices_change_what_is_asked_and_ct_rate_can_lend_volumes(official: Path, tmp_path: Path):
    (official / "valid_preprocessed").rename(official / "valid_fixed")
    table(
        official / "radiology_text_reports" / "validation_reports.csv",
        "VolumeName,Findings_EN",
        [[NAMES[0], "Findings of it."], [NAMES[1], "Not given."]],
    )
    given = {"questions": "all", "levels": "all", "template": "hash", "location_answer": "name",
             "report": "ct_rate"}  # fmt: skip
    build(SOURCE, official, tmp_path / "data", settings=given)
    tasks = tasks_of(SOURCE, tmp_path / "data")
    assert [q.gold for q in tasks["radgenome_chestct/i2r"].queries] == ["Findings of it."]
    found = asked(tasks["radgenome_chestct_vqa/vqa"])
    assert ("Where does the nodule lie?", "right lung upper lobe") in found
    assert ("Is there nodule in the right lung upper lobe?", "Yes.") in found
    assert {question.split()[0] for question, _ in found} >= {"Anything", "What", "Is"}


def test_a_missing_table_is_a_fault_and_the_rest_goes_on(official: Path, tmp_path: Path):
    (official / "radgenome_files" / "validation_vqa_size.csv").unlink()
    table(official / "radgenome_files" / "validation_vqa_location.csv", "Volumename,Place",
          [[NAMES[0], "lung"]])  # fmt: skip
    document = build(SOURCE, official, tmp_path / "data")
    reasons = {fault["where"]: fault["reason"] for fault in document["faults"]}
    assert reasons["validation_vqa_size.csv"] == "there is no such table"
    assert reasons["validation_vqa_location.csv"] == "there is no column abnormality, anatomy"
    assert len(tasks_of(SOURCE, tmp_path / "data")) == 2
