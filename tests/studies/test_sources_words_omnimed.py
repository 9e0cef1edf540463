"""OmniMedVQA: one JSON a set, options and answers, a level sample over the sets."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

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
)


def question(name: str, number: int, answer: Any, **others: Any) -> dict[str, Any]:
    picture = others.pop("image_path", f"Images/{name}/part/{number:03d}.png")
    return {
        "dataset": name, "question_id": f"{name}_{number:04d}",
        "question_type": "Disease Diagnosis",
        "question": f"What is in {number} of {name}?", "gt_answer": answer, "image_path": picture,
        "option_A": "No", "option_B": "Glaucoma", "modality_type": "Fundus Photography", **others,
    }  # fmt: skip


@pytest.fixture
def official(tmp_path: Path) -> Path:
    root = tmp_path / "set" / "OmniMedVQA" / "OmniMedVQA"  # as the archive may unpack
    information = root / "QA_information"
    acrima = [question("ACRIMA", n, a) for n, a in enumerate(["Glaucoma", "glaucoma.", " No"])]
    chest = [question("Chest CT Scan", n, a) for n, a in enumerate(["X_ray", "X-Ray.", "x ray"])]
    chest[1]["modality"] = chest[1].pop("modality_type")
    large = [question("RadImageNet", n, f"Finding {n % 4}") for n in range(30)]
    write_json(information / "Open-access" / "ACRIMA.json", acrima)
    write_json(information / "Open-access" / "Chest CT Scan.json", chest)
    write_json(information / "Open-access" / "RadImageNet.json", large)
    write_json(information / "Open-access" / "Modality_CT.json", chest)
    for one in (*acrima, *chest, *large):
        path = root / one["image_path"]
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(png(len(one["dataset"]), int(path.stem)))
    hidden = [question("AIDA", 0, "No"), question("AIDA", 1, "No")]
    write_json(information / "Restricted-access" / "AIDA.json", hidden)
    return tmp_path / "set"


def test_answers_of_one_meaning_are_one_candidate(official: Path):
    records, faults = records_of("omnimedvqa", official)
    answers = [words[1] for words in texts(records)]
    assert answers[:6] == ["glaucoma", "glaucoma", "no", "x-ray", "x-ray", "x-ray"]
    assert len(records) == 36
    assert [fault.where for fault in faults] == ["Modality_CT.json"]
    written, _ = records_of("omnimedvqa", official, answers="written")
    assert [words[1] for words in texts(written)][:4] == ["Glaucoma", "glaucoma.", "No", "X_ray"]


def test_the_sample_is_level_over_the_sets(official: Path, tmp_path: Path):
    read, pools = built_task("omnimedvqa", official, tmp_path / "data", "omnimedvqa/vqa", cap=9)
    sets = Counter(
        row["qry_img_path"].split("/")[0] for row in rows_of("omnimedvqa/vqa", tmp_path / "data")
    )
    assert sets == {"ACRIMA": 3, "Chest CT Scan": 3, "RadImageNet": 3}
    names = {one.name for one in pools.candidates}
    assert {"glaucoma", "no", "x-ray"} < names
    assert not names & {"Glaucoma", "option_a"}
    assert read.task.split == "held-out"


def test_an_option_in_place_of_its_text_and_rows_that_cannot_be_used(official: Path):
    path = official / "OmniMedVQA" / "OmniMedVQA" / "QA_information" / "Open-access" / "ACRIMA.json"
    write_json(
        path,
        [
            question("ACRIMA", 0, "B"),
            question("ACRIMA", 1, "option_A"),
            question("ACRIMA", 1, "No"),
            question("ACRIMA", 2, None),
            question("ACRIMA", 3, "No", image_path="Images/../../secret.png"),
            question("ACRIMA", 4, "No", image_path="Images/ACRIMA/none.png"),
            question("ACRIMA", 5, "C", image_path="Images/ACRIMA/part/002.png"),
            question("ACRIMA", 6, "B", image_path="Images/ACRIMA/part/002.png", option_A="B"),
            "no object",
        ],
    )
    records, faults = records_of("omnimedvqa", official, sets="ACRIMA")
    assert [words[1] for words in texts(records)] == ["glaucoma", "no", "c", "b"]
    assert [fault.reason for fault in faults if "regrouping" not in fault.reason] == [
        "has no question_id, or that of another question",
        "there is no answer",
        "names no picture inside the set",
        "its picture is not in OmniMedVQA",
        "is no object with fields",
    ]


def test_sets_are_chosen_by_name_and_the_restricted_part_asked_for(official: Path):
    records, faults = records_of("omnimedvqa", official, sets="ACRIMA, Nothing", access="all")
    assert {record.stratum for record in records} == {"ACRIMA"}
    assert any(fault.where == "Nothing" for fault in faults)
    _, faults = records_of("omnimedvqa", official, access="all")
    assert sum("its picture is not" in fault.reason for fault in faults) == 2


def test_a_share_keeps_pictures_whole_and_sets_level(official: Path):
    records, _ = records_of("omnimedvqa", official, part="share")
    tested = side_of_test(records)
    assert Counter(record.stratum for record in tested) == {
        "ACRIMA": 1, "Chest CT Scan": 1, "RadImageNet": 9
    }  # fmt: skip


def test_a_damaged_set_is_told_and_the_others_are_read(official: Path):
    folder = official / "OmniMedVQA" / "OmniMedVQA" / "QA_information" / "Open-access"
    (folder / "ACRIMA.json").write_text("[{", "utf-8")
    records, faults = records_of("omnimedvqa", official)
    assert len(records) == 33
    assert any(fault.where == "ACRIMA.json" and "no JSON" in fault.reason for fault in faults)
    for path in folder.glob("*.json"):
        path.unlink()
    with pytest.raises(StudyError, match="holds nothing of OmniMedVQA"):
        records_of("omnimedvqa", official)
