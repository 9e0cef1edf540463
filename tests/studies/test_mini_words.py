"""The miniatures of questions and texts: official layouts, and what their oddities come to."""

from __future__ import annotations

import csv
import json
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest

from studies.medheb.mini import medmcqa, omnimedvqa, pubmedqa
from tests.studies.mini_checks import Mini, check, make_mini, same_bytes

# source to: records left out on purpose, and names that the official layout holds
SOURCES = {
    "mimic_cxr_vqa": (
        0,
        [
            "medical-cxr-vqa-questions.csv",
            "mimic-cxr-jpg/2.1.0/files/p1?/p1???????/s5???????/*-*-*-*-*.jpg",
        ],
    ),
    "medpix": (
        0,
        [
            "MedPix-2-0/images/MPX????_synpic?????.png",
            "MedPix-2-0/Case_topic.json",
            "MedPix-2-0/Descriptions.json",
            "MedPix-2-0/images_overview.csv",
            "MedPix-2-0/splitted_dataset/descriptions_dev.jsonl",
            "MEDPIX-ClinQA/data/Test-00000-of-00001.parquet",
        ],
    ),
    "omnimedvqa": (
        0,
        [
            "OmniMedVQA/OmniMedVQA/Images/ACRIMA/test/*.png",
            "OmniMedVQA/OmniMedVQA/QA_information/Open-access/Chest CT Scan.json",
            "OmniMedVQA/OmniMedVQA/QA_information/Restricted-access/AIDA.json",
        ],
    ),
    # the answer that no choice names
    "pmc_vqa": (
        1,
        ["train.csv", "test.csv", "test_clean.csv", "test_2.csv", "images/PMC*.jpg", "figures/*"],
    ),
    # the triplet that stands there twice
    "path_vqa": (1, ["data/validation-00000-of-00001.parquet"]),
    "roco_vqa": (
        0,
        ["ROCO-QA/data/Vaild-00001-of-00002.parquet", "ROCO-QA-Train/data/Train-*.parquet"],
    ),
    "radimagenet_vqa": (0, ["benchmark/test-*.parquet", "instruct/val-*.parquet"]),
    "vqa_rad": (0, ["VQA_RAD Dataset Public.json", "VQA_RAD Image Folder/synpic?????.jpg"]),
    # answers that only point at the other options
    "medmcqa": (3, ["train.json", "dev.json", "test.json"]),
    "pubmedqa": (0, ["data/ori_pqal.json", "data/test_ground_truth.json"]),
    # questions that stood there already
    "medical_qa": (3, ["corpus.jsonl", "queries.jsonl", "default.jsonl"]),
    "public_health_qa": (0, ["data/arabic.csv", "data/vietnamese.csv"]),
}
Get = Callable[..., Mini]


@pytest.fixture(scope="module")
def mini(tmp_path_factory: pytest.TempPathFactory) -> Get:
    made: dict[tuple, Mini] = {}

    def get(source: str, **settings: object) -> Mini:
        key = (source, *sorted(settings.items()))
        if key not in made:
            made[key] = make_mini(source, tmp_path_factory.mktemp(source), **settings)
        return made[key]

    return get


def pairs(made: Mini, task: str) -> list[tuple[str, str]]:
    """Question and answer of each query."""
    return [(query.item.text or "", query.gold) for query in made.tasks[task].queries]


@pytest.mark.parametrize("source", SOURCES)
def test_a_source_goes_through_its_builder(source: str, mini: Get):
    faulty, names = SOURCES[source]
    made = mini(source)
    check(made, faulty=faulty)
    for name in names:
        assert any(made.official.glob(name)), name


@pytest.mark.parametrize("source", SOURCES)
def test_the_seed_alone_decides_the_bytes(source: str, tmp_path: Path):
    same_bytes(source, tmp_path)


def test_lists_of_findings_are_one_answer_in_any_order(mini: Get):
    made = mini("mimic_cxr_vqa")
    with (made.official / "medical-cxr-vqa-questions.csv").open(encoding="utf-8") as stream:
        rows = [row for row in csv.DictReader(stream) if row["split"] == "test"]
    assert len(made.tasks["mimic_cxr_vqa/vqa"].queries) == len(rows) == 45
    assert {row["question_type"] for row in rows} == {
        "abnormality", "presence", "location", "level", "type", "view",
    }  # fmt: skip
    answers = {answer for _, answer in pairs(made, "mimic_cxr_vqa/vqa")}
    assert answers == {answer.strip().lower() for answer in answers}
    folded = [",".join(sorted(part.strip() for part in one.split(","))) for one in answers]
    assert len(set(folded)) == len(folded)
    written = {row["answer"] for row in rows if row["question_type"] == "abnormality"}
    assert len({tuple(sorted(one.split(", "))) for one in written}) < len(written)


def test_medpix_asks_its_copy_or_its_cases(mini: Get):
    copy = mini("medpix")
    assert len(pairs(copy, "medpix/vqa")) == 12  # two pictures of each of six test cases
    cases = mini("medpix", route="cases")
    check(cases)
    asked = pairs(cases, "medpix/vqa")
    assert {"Axial", "Coronal"} <= {answer for _, answer in asked}
    assert not any("TAC" in text for pair in asked for text in pair)


def test_one_meaning_is_one_answer_and_the_largest_set_is_no_more_than_level(mini: Get):
    made = mini("omnimedvqa")
    asked = pairs(made, "omnimedvqa/vqa")
    opened = omnimedvqa.FEW * (len(omnimedvqa.OPEN) - 1) + omnimedvqa.ITEMS["RadImageNet"]
    assert len(asked) == opened, "the restricted part has no pictures here"
    answers = {answer for _, answer in asked}
    assert len({answer.strip(" .").casefold() for answer in answers}) == len(answers)
    few = mini("omnimedvqa", cap=10)
    shown = [query.item.images[0].path for query in few.tasks["omnimedvqa/vqa"].queries]
    counts = Counter(path.parts[path.parts.index("test") + 1] for path in shown)
    assert counts == {name: 2 for name, _ in omnimedvqa.OPEN}


@pytest.mark.parametrize(("version", "count"), [("1", 11), ("2", 6), ("1-clean", 3)])
def test_choices_lose_their_letters_in_either_version(mini: Get, version: str, count: int):
    asked = pairs(mini("pmc_vqa", version=version), "pmc_vqa/vqa")
    assert len(asked) == count, "an answer that no choice names is left out"
    for question, answer in asked:
        assert question == question.strip()
        assert len(answer) > 1, "no letter stands for an answer"
        assert answer == answer.strip()
        assert answer[1] != ":"


def test_an_answer_that_no_choice_names_can_be_kept(mini: Get):
    asked = pairs(mini("pmc_vqa", unmatched="keep"), "pmc_vqa/vqa")
    assert len(asked) == 12
    assert "a change that no choice names" in {answer for _, answer in asked}


def test_pathology_answers_are_lower_and_half_are_yes_or_no(mini: Get):
    asked = pairs(mini("path_vqa"), "path_vqa/vqa")
    assert len(asked) == 16
    answers = [answer for _, answer in asked]
    assert all(answer == answer.lower() for answer in answers)
    assert {"yes", "no"} & set(answers)


def test_roco_asks_the_test_part_alone(mini: Get):
    made = mini("roco_vqa")
    assert len(pairs(made, "roco_vqa/vqa")) == 10
    assert all("ROCO_" not in text for pair in pairs(made, "roco_vqa/vqa") for text in pair)


def test_choices_are_answered_by_their_text(mini: Get):
    asked = pairs(mini("radimagenet_vqa"), "radimagenet_vqa/vqa")
    assert len(asked) == 18
    assert not {"A", "B", "C", "D"} & {answer for _, answer in asked}
    assert "yes" in {answer for _, answer in asked}
    opened = pairs(mini("radimagenet_vqa", questions="open"), "radimagenet_vqa/vqa")
    assert len(opened) == 6
    assert "yes" not in {answer for _, answer in opened}


def test_numbers_are_answers_and_test_phrases_the_test_part(mini: Get):
    asked = pairs(mini("vqa_rad"), "vqa_rad/vqa")
    assert len(asked) == 16  # two of four phrases of each of eight pictures
    assert ("How many masses are there?", "2") in asked
    assert all(answer == answer.strip().lower() for _, answer in asked)


def test_the_right_option_answers_counted_from_one(mini: Get):
    asked = pairs(mini("medmcqa"), "medmcqa/t2t")
    assert len(asked) == dict(medmcqa.PARTS)["dev"] - 3
    assert all(", grade " in answer for _, answer in asked), "the mark of the right option"


def test_contexts_ask_for_the_conclusion_without_names_of_sections(mini: Get):
    made = mini("pubmedqa")
    asked = pairs(made, "pubmedqa/t2t")
    document = json.loads((made.official / "data" / "ori_pqal.json").read_text("utf-8"))
    listed = json.loads((made.official / "data" / "test_ground_truth.json").read_text("utf-8"))
    assert len(listed) == pubmedqa.ITEMS // 2
    expected = {(" ".join(document[p]["CONTEXTS"]), document[p]["LONG_ANSWER"]) for p in listed}
    assert set(asked) == expected
    assert not any("BACKGROUND" in question for question, _ in asked)


def test_a_question_that_repeats_asks_once(mini: Get):
    asked = pairs(mini("medical_qa"), "medical_qa/t2t")
    questions = [question for question, _ in asked]
    assert len(set(questions)) == len(questions) == 21
    assert max(len(answer) for _, answer in asked) > 1500


def test_public_health_asks_in_english_or_in_all_languages(mini: Get):
    asked = pairs(mini("public_health_qa"), "public_health_qa/t2t")
    assert len(asked) == 18
    every = pairs(mini("public_health_qa", language="all"), "public_health_qa/t2t")
    # seven languages of four rows, less one empty cell, and the pair of two languages once or twice
    assert len(every) in (18 + 7 * 4 - 1 + 1, 18 + 7 * 4 - 1 + 2)
    assert len({answer for _, answer in every}) == 18 + 7 * 4 - 1 + 1
    assert any("질문" in question for question, _ in every)
