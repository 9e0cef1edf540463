"""RadImageNet-VQA: three kinds of questions, metadata in two forms, options in the question."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from studies.errors import StudyError
from tests.studies.sources_words_checks import (
    built_task,
    png,
    records_of,
    rows_of,
    texts,
    write_parquet,
)

LISTED = "Which organ is shown?\nA) brain\nB) knee"


def row(picture: int, question: str, answer: str, kind: str, right: str | None, choices=None):
    known = {
        "content_type": "anatomy", "correct_text": right, "is_abnormal": True,
        "location": "knee", "modality": "MR", "pathology": "bone_inflammation",
        "question_id": f"q{picture}",
    }  # fmt: skip
    return {
        "image": png(picture), "question": question, "choices": choices, "answer": answer,
        "question_type": kind, "metadata": known,
    }  # fmt: skip


def rows() -> list[dict[str, Any]]:
    options = ["brain", "knee"]
    return [
        row(1, LISTED, "B", "multiple_choice", "knee", options),
        row(1, LISTED, "A", "multiple-choice", None, options),
        row(1, "Is it normal?", "yes", "closed", None),
        row(2, "Is it normal?", "no", "closed", None),
        row(2, "What is the pathology?", "bone_inflammation", "open", None),
        row(2, "What is the pathology?", "", "open", "bone_inflammation"),
        row(2, LISTED, "E", "multiple_choice", None, options),
        row(2, "Which is it?", "yes", "essay", None),
    ]


def in_folder(root: Path, name: str = "benchmark", *, as_text: bool = False) -> Path:
    made = rows()
    if as_text:
        for one in made:
            one["metadata"] = json.dumps(one["metadata"])
    write_parquet(root / name / "test-00000-of-00001.parquet", made)
    write_parquet(root / "instruct" / "train-00000-of-00001.parquet", [{"question": "not read"}])
    return root


@pytest.mark.parametrize("as_text", [False, True])
def test_answers_are_texts_in_every_kind(tmp_path: Path, as_text: bool):
    records, faults = records_of("radimagenet_vqa", in_folder(tmp_path, as_text=as_text))
    assert [words[1] for words in texts(records)] == [
        "knee", "brain", "yes", "no", "bone_inflammation", "bone_inflammation"
    ]  # fmt: skip
    assert [fault.reason for fault in faults] == [
        "the answer 'E' names none of its options",
        "the question type 'essay' is none of open, closed, multiple_choice",
    ]
    assert len({record.group for record in records}) == 2


def test_the_task_reads_back_with_one_file_a_picture(tmp_path: Path):
    folder = in_folder(tmp_path / "set")
    read, pools = built_task("radimagenet_vqa", folder, tmp_path / "data", "radimagenet_vqa/vqa")
    assert len(read.queries) == 6
    assert {one.name for one in pools.candidates} == {
        "knee", "brain", "yes", "no", "bone_inflammation"
    }  # fmt: skip
    rows = rows_of("radimagenet_vqa/vqa", tmp_path / "data")
    assert len({row["qry_img_path"] for row in rows}) == 2


def test_kinds_letters_options_and_underscores_are_settings(tmp_path: Path):
    folder = in_folder(tmp_path, "data")  # as a mirror without configurations has it
    alone, _ = records_of("radimagenet_vqa", folder, questions="open", underscores="blank")
    assert [words[1] for words in texts(alone)] == ["bone inflammation"] * 2
    letters, _ = records_of("radimagenet_vqa", folder, answers="letter", options="strip")
    assert texts(letters)[0] == ("Which organ is shown?", "B")
    assert texts(letters)[2] == ("Is it normal?", "yes")
    kept, _ = records_of("radimagenet_vqa", folder)
    assert texts(kept)[0][0] == LISTED


def test_options_are_cut_off_only_where_all_of_them_follow(tmp_path: Path):
    made = row(1, "Is vitamin A: low?", "A", "multiple_choice", "low", ["low", "high"])
    write_parquet(tmp_path / "benchmark" / "test-00000-of-00001.parquet", [made])
    records, _ = records_of("radimagenet_vqa", tmp_path, options="strip")
    assert texts(records)[0][0] == "Is vitamin A: low?"


def test_a_folder_without_the_test_part_is_refused(tmp_path: Path):
    write_parquet(tmp_path / "instruct" / "train-00000-of-00001.parquet", [{"question": "x"}])
    with pytest.raises(StudyError, match="does not look like RadImageNet-VQA"):
        records_of("radimagenet_vqa", tmp_path)
