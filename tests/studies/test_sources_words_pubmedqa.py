"""PubMedQA: the real labelled part, and small copies in both layouts."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from db.home import Home
from engine.control import Control
from studies.errors import StudyError
from studies.results import load_results, to_json
from studies.run import bench_job
from tests.shared import shared_path
from tests.studies.sources_words_checks import (
    build,
    built_task,
    records_of,
    rows_of,
    texts,
    write_json,
    write_parquet,
)


def item(number: int, **others: Any) -> dict[str, Any]:
    return {
        "QUESTION": f"Is it {number}?", "CONTEXTS": [f"Aim {number}. ", f"Result {number}."],
        "LABELS": ["AIMS", "RESULTS"], "MESHES": ["Humans"], "YEAR": "2011",
        "reasoning_required_pred": "yes", "reasoning_free_pred": "yes", "final_decision": "yes",
        "LONG_ANSWER": f"It is {number // 2}.", **others,
    }  # fmt: skip


@pytest.fixture
def own(tmp_path: Path) -> Path:
    root = tmp_path / "set"
    items = {str(100 + number): item(number) for number in range(8)}
    write_json(root / "data" / "ori_pqal.json", items)
    truth = {str(100 + number): "yes" for number in range(4)}
    write_json(root / "data" / "test_ground_truth.json", truth)
    return root


def test_the_real_part_becomes_500_rows_over_their_conclusions(tmp_path: Path):
    folder = shared_path("data/sets/pubmedqa")
    official = json.loads((folder / "ori_pqal.json").read_text("utf-8"))
    truth = json.loads((folder / "test_ground_truth.json").read_text("utf-8"))
    records, faults = records_of("pubmedqa", folder)
    assert not faults
    assert {record.key for record in records} == set(truth)
    for record in records:
        assert record.texts["context"] == " ".join(official[record.key]["CONTEXTS"])
        assert record.texts["conclusion"] == official[record.key]["LONG_ANSWER"]
        assert record.texts["conclusion"] not in record.texts["context"]
    read, pools = built_task("pubmedqa", folder, tmp_path, "pubmedqa/t2t")
    assert len(read.queries) == len(pools.candidates) == 500
    assert pools.chance["hit@1"] == pytest.approx(0.2)
    assert pools.name == "split"
    assert read.built is not None
    assert read.built.settings["subset"] == "test"
    for row in rows_of("pubmedqa/t2t", tmp_path):
        assert row["qry_inst"] == "Summarize the content of the given context:"
        assert not any(pmid in row["qry_text"] for pmid in truth)


def test_the_real_part_is_scored_and_a_random_model_lies_at_chance(tmp_path: Path):
    build("pubmedqa", shared_path("data/sets/pubmedqa"), tmp_path / "data")
    home = Home(tmp_path / "home").make()
    given = {"data": str(tmp_path / "data"), "models": ["random"], "tasks": "pubmedqa/t2t"}
    bench_job(home, given, Control())
    (task,) = to_json(load_results(home, tmp_path / "data"))["tasks"]
    assert task["n"] == 500
    assert task["chance"]["hit@5"] == pytest.approx(1.0, abs=0.01)
    assert task["scores"]["random"]["hit@5"] < 4


def test_all_of_the_real_part(tmp_path: Path):
    folder = shared_path("data/sets/pubmedqa")
    read, pools = built_task("pubmedqa", folder, tmp_path, "pubmedqa/t2t", subset="labeled")
    assert len(read.queries) == len(pools.candidates) == 1000
    read, _ = built_task("pubmedqa", folder, tmp_path, "pubmedqa/t2t", cap=60)
    assert len(read.queries) == 60


def test_passages_are_joined_and_section_names_left_out(own: Path, tmp_path: Path):
    records, _ = records_of("pubmedqa", own)
    assert texts(records)[0] == ("Aim 0. Result 0.", "It is 0.")
    asked, _ = records_of("pubmedqa", own, query="question+context")
    assert texts(asked)[0] == ("Is it 0? Aim 0. Result 0.", "It is 0.")
    read, pools = built_task("pubmedqa", own, tmp_path / "data", "pubmedqa/t2t")
    assert len(read.queries) == 4
    assert len(pools.candidates) == 2


def test_items_that_cannot_be_used_are_named(own: Path):
    items = {
        "100": item(0, CONTEXTS=[]), "101": item(1, LONG_ANSWER=" "), "102": item(2),
        "104": "no object",
    }  # fmt: skip
    write_json(own / "data" / "ori_pqal.json", items)
    records, faults = records_of("pubmedqa", own)
    assert [record.key for record in records] == ["102"]
    assert {fault.where: fault.reason for fault in faults} == {
        "100": "there is no context",
        "101": "there is no conclusion",
        "103": "is named by test_ground_truth.json and not there",
    }
    _, faults = records_of("pubmedqa", own, subset="labeled")
    assert "104" in {fault.where for fault in faults}


def test_the_hubs_copy_is_cut_by_the_file_of_identifiers(own: Path, tmp_path: Path):
    root = tmp_path / "hub"
    rows = [
        {
            "pubid": 100 + number,
            "question": f"Is it {number}?",
            "context": {
                "contexts": [f"Aim {number}.", f"Result {number}."],
                "labels": ["AIMS", "RESULTS"],
            },
            "long_answer": f"It is {number}.",
            "final_decision": "no",
        }
        for number in range(8)
    ]
    write_parquet(root / "pqa_labeled" / "train-00000-of-00001.parquet", rows)
    with pytest.raises(StudyError, match="set subset to labeled"):
        records_of("pubmedqa", root)
    assert len(records_of("pubmedqa", root, subset="labeled")[0]) == 8
    source = own / "data" / "test_ground_truth.json"
    (root / source.name).write_bytes(source.read_bytes())
    records, faults = records_of("pubmedqa", root)
    assert not faults
    assert texts(records)[3] == ("Aim 3. Result 3.", "It is 3.")
    assert len(records) == 4
    with pytest.raises(StudyError, match="neither it nor the hub's folder pqa_artificial"):
        records_of("pubmedqa", root, subset="artificial")
