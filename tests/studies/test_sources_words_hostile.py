"""One bad cell costs its own row alone, whatever it holds."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from studies.medheb.builders.record import Fault
from tests.studies.sources_words_checks import (
    jpeg,
    png,
    records_of,
    write_json,
    write_lines,
    write_parquet,
)

BAD = (
    None, "", " ", [], {}, ["x"], {"x": 1}, True, float("nan"), -1, 10**30, "half \ud800",
    "../../x", "/etc/passwd", "x\0y", "a" * 5000, "C:\\x",
)  # fmt: skip
Row = dict[str, Any]
Writer = Callable[[Path, Sequence[Row]], None]


def picture(root: Path, name: str) -> None:
    (root / name).parent.mkdir(parents=True, exist_ok=True)
    (root / name).write_bytes(jpeg(1))


def vqa_rad(root: Path, rows: Sequence[Row]) -> None:
    write_ascii(root / "VQA_RAD Dataset Public.json", rows)
    picture(root, "VQA_RAD Image Folder/a.jpg")


def path_vqa(root: Path, rows: Sequence[Row]) -> None:
    write_ascii(root / "qas" / "test" / "test_qa.json", rows)
    picture(root, "images/test/a.jpg")


def omnimed(root: Path, rows: Sequence[Row]) -> None:
    write_ascii(root / "QA_information" / "Open-access" / "A.json", rows)
    picture(root, "Images/a.jpg")


def medmcqa(root: Path, rows: Sequence[Row]) -> None:
    write_ascii(root / "dev.json", rows)


def medpix(root: Path, rows: Sequence[Row]) -> None:
    write_ascii(root / "Descriptions.json", rows)
    write_ascii(root / "Case_topic.json", [*rows, {"U_id": "M1", "Case": {"Case Diagnosis": "d"}}])
    (root / "images").mkdir()
    (root / "images" / "a.png").write_bytes(png(1))


def pubmedqa(root: Path, rows: Sequence[Row]) -> None:
    write_ascii(root / "ori_pqal.json", {str(place): row for place, row in enumerate(rows)})
    write_json(root / "test_ground_truth.json", {str(place): "yes" for place in range(len(rows))})


def medical_qa(root: Path, rows: Sequence[Row]) -> None:
    write_lines(root / "corpus.jsonl", [{"_id": "d", "title": "", "text": "t"}, {"_id": []}, {}])
    write_lines(root / "queries.jsonl", [{"_id": "q", "text": "t?"}, {"_id": None, "text": []}])
    write_ascii(root / "default.jsonl", rows)


def health(root: Path, rows: Sequence[Row]) -> None:
    write_ascii(root / "english.jsonl", rows)


def write_ascii(path: Path, document: Any) -> None:
    """JSON that keeps halves of characters, escaped."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(document), "utf-8")


GOOD: Mapping[str, tuple[Writer, Row]] = {
    "vqa_rad": (
        vqa_rad,
        {"qid": 1, "phrase_type": "test_para", "image_name": "a.jpg", "question": "q",
         "answer": "a"},
    ),
    "path_vqa": (path_vqa, {"image": "a", "question": "q", "answer": "a"}),
    "omnimedvqa": (
        omnimed,
        {"question_id": "1", "question": "q", "gt_answer": "A", "image_path": "Images/a.jpg",
         "option_A": "x", "option_B": "y"},
    ),
    "medmcqa": (
        medmcqa,
        {"id": "1", "question": "q", "cop": 1, "opa": "a", "opb": "b", "opc": "c", "opd": "d",
         "exp": "e"},
    ),
    "medpix": (
        medpix,
        {"U_id": "M1", "image": "a", "Description": {"Plane": "Axial"}, "Location": "l",
         "Location Category": "c"},
    ),
    "pubmedqa": (pubmedqa, {"QUESTION": "q", "CONTEXTS": ["c"], "LONG_ANSWER": "a"}),
    "medical_qa": (medical_qa, {"query-id": "q", "corpus-id": "d", "score": 1}),
    "public_health_qa": (health, {"question": "q", "answer": "a"}),
}  # fmt: skip


@pytest.mark.parametrize("source", GOOD)
def test_bad_cells_of_json_cost_their_rows_alone(tmp_path: Path, source: str):
    write, good = GOOD[source]
    bad = [{**good, name: value} for name in good for value in BAD]
    write(tmp_path, [*bad[: len(bad) // 2], good, *bad[len(bad) // 2 :], {}])
    records, faults = records_of(source, tmp_path)
    assert records
    assert all(isinstance(fault, Fault) and fault.reason for fault in faults)
    assert len(faults) > len(good)
    for record in records:
        for text in record.texts.values():
            assert text.strip() == text != ""
            text.encode()


@pytest.mark.parametrize("cell", ["text", "[1]", "{", None])
def test_bad_cells_of_parquet_cost_their_rows_alone(tmp_path: Path, cell: str | None):
    good = {"image": png(1), "question": "q", "choices": ["x", "y"], "answer": "B",
            "question_type": "multiple_choice", "metadata": '{"correct_text": "y"}'}  # fmt: skip
    rows = [
        {**good, "metadata": cell}, good, {**good, "question_type": cell},
        {**good, "answer": cell, "metadata": None}, {**good, "choices": None, "metadata": None},
    ]  # fmt: skip
    write_parquet(tmp_path / "benchmark" / "test-00000-of-00001.parquet", rows)
    records, faults = records_of("radimagenet_vqa", tmp_path)
    assert len(records) + len(faults) == 5
    assert {record.texts["answer"] for record in records} == {"y"}
    assert len(faults) == 3 + (cell in ("text", "{"))
