"""MedMCQA: options counted from 0 or 1, answers that point at others, explanations."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from studies.errors import StudyError
from tests.studies.sources_words_checks import (
    built_task,
    records_of,
    rows_of,
    texts,
    write_lines,
    write_parquet,
)


def row(name: str, question: str, options: tuple[str, ...], right: int, exp: str | None = None):
    return {
        "id": name, "question": question, "exp": exp, "cop": right, "choice_type": "multi",
        "opa": options[0], "opb": options[1], "opc": options[2], "opd": options[3],
        "subject_name": "Anatomy", "topic_name": None,
    }  # fmt: skip


FOUR = ("Femur", "Tibia", "Fibula", "All of the above")


def rows(start: int) -> list[dict[str, Any]]:
    return [
        row("a", "Longest bone?", FOUR, start, "Ans. is 'a' i.e., Femur. It is long."),
        row("b", "Shin bone is\u2028which?", FOUR, start + 1, None),
        row("c", "Which of the following is a bone?", FOUR, start + 3),
        row("d", "The thigh holds the?", ("femur ", "x", "y", "z"), start, "Ans: (A) femur"),
        row("e", "All are bones except?", ("Skin.", "None", "y", "z"), start),
        row("f", "Which one?", ("x", "None", "y", "z"), start + 1),
        row("g", "And the thigh bone?", ("x", "Femur.", "y", "z"), start + 1),
        row("h", "", FOUR, start),
        row("i", "Empty?", (" ", "x", "y", "z"), start),
        row("a", "Again?", FOUR, start),
    ]


def lines(root: Path, made: list[dict[str, Any]]) -> Path:
    write_lines(root / "data" / "dev.json", made)
    write_lines(root / "data" / "train.json", [row("t", "Not read?", FOUR, 2)])
    write_lines(root / "data" / "test.json", [{"id": "u", "question": "No answer?"}])
    return root


def hub(root: Path, made: list[dict[str, Any]]) -> Path:
    write_parquet(root / "data" / "validation-00000-of-00001.parquet", made)
    write_parquet(root / "data" / "test-00000-of-00001.parquet", [row("u", "?", FOUR, -1)])
    return root


@pytest.mark.parametrize(("write", "start"), [(lines, 1), (hub, 0), (lines, 0)])
def test_the_right_option_is_found_however_it_is_counted(tmp_path: Path, write: Any, start: int):
    records, faults = records_of("medmcqa", write(tmp_path, rows(start)))
    assert texts(records) == [
        ("Longest bone?", "Femur"),
        ("Shin bone is\u2028which?", "Tibia"),
        ("The thigh holds the?", "Femur"),
        ("All are bones except?", "Skin."),
        ("And the thigh bone?", "Femur"),
    ]
    reasons = [fault.reason for fault in faults]
    assert reasons.count("its answer only points at the other options: left out") == 2
    assert reasons[-3:] == [
        "there is no question", "there is no answer", "has no id, or that of another question"
    ]  # fmt: skip


def test_the_task_reads_back_and_options_stand_in_no_query(tmp_path: Path):
    read, pools = built_task(
        "medmcqa", lines(tmp_path / "set", rows(1)), tmp_path / "data", "medmcqa/t2t"
    )
    assert len(read.queries) == 5
    assert {one.name for one in pools.candidates} == {"Femur", "Tibia", "Skin."}
    for one in rows_of("medmcqa/t2t", tmp_path / "data"):
        assert one["qry_inst"] == "Find the answer of the given question:"
        assert not any(option in one["qry_text"] for option in FOUR)


def test_explanations_lose_the_letter_in_front(tmp_path: Path):
    folder = lines(tmp_path, rows(1))
    explained, faults = records_of("medmcqa", folder, answer="explanation")
    assert texts(explained) == [
        ("Longest bone?", "Femur. It is long."), ("The thigh holds the?", "femur")
    ]  # fmt: skip
    assert any(fault.reason == "there is no answer" for fault in faults)
    both, _ = records_of("medmcqa", folder, answer="both", answers="written")
    assert texts(both)[0][1] == "Femur. Femur. It is long."
    assert texts(both)[1][1] == "Tibia"


def test_pointing_answers_spellings_and_questions_are_settings(tmp_path: Path):
    folder = lines(tmp_path, rows(1))
    kept, _ = records_of("medmcqa", folder, pointing="keep", answers="written")
    assert [words[1] for words in texts(kept)] == [
        "Femur", "Tibia", "All of the above", "femur", "Skin.", "None", "Femur."
    ]  # fmt: skip
    alone, _ = records_of("medmcqa", folder, needing_options="drop")
    assert "All are bones except?" not in {words[0] for words in texts(alone)}


def test_the_part_without_answers_and_mixed_counting_are_refused(tmp_path: Path):
    write_lines(tmp_path / "test.json", [{"id": "u", "question": "No answer?"}])
    with pytest.raises(StudyError, match="does not look like MedMCQA"):
        records_of("medmcqa", tmp_path)
    write_lines(tmp_path / "dev.json", [row("a", "?", FOUR, 0), row("b", "?", FOUR, 4)])
    with pytest.raises(StudyError, match="mixes two editions"):
        records_of("medmcqa", tmp_path)
    write_lines(tmp_path / "dev.json", [row("a", "What?", FOUR, 4), row("b", "x", FOUR, -1)])
    with (tmp_path / "dev.json").open("a", encoding="utf-8") as stream:
        stream.write("{broken\n")
    records, faults = records_of("medmcqa", tmp_path, pointing="keep")
    assert len(records) == 1
    assert [fault.reason[:26] for fault in faults] == [
        "is no JSON (Expecting prop", "its right option -1 is non"
    ]  # fmt: skip


@pytest.mark.parametrize("right", ["All", "none of these", "Both", "All of the above."])
def test_what_points_at_other_options(tmp_path: Path, right: str):
    answers = (right, "Vitamin A", "None of the nerves", "Both kidneys")
    made = [row(str(n), f"Question {n}?", answers, n + 1) for n in range(4)]
    records, _ = records_of("medmcqa", lines(tmp_path, made))
    assert {words[1] for words in texts(records)} == set(answers[1:])
