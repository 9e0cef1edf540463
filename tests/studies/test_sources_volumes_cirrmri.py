"""CirrMRI600+ from its official layout: prefixes, tables with marks, splits of two sequences."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from engine.control import Control
from studies.medheb.builders import volumes
from studies.medheb.builders.card import settle
from studies.medheb.builders.catalogue import source_card
from studies.medheb.builders.job import read_records
from tests.studies.volume_files import (
    ball,
    build,
    nii,
    no_query_in_its_pool,
    shown,
    slices_of,
    tasks_of,
    texts_of,
)

SOURCE = "cirrmri600_plus"
SEVERE = "Radiological Evaluation (1: mild)"  # matched by its beginning
# patient: (T1 part, T2 part, grade)
PATIENTS = {
    1: ("test", "test", 1), 2: ("test", "test", 1), 3: ("test", "test", 2), 4: ("test", "test", 2),
    5: ("test", "train", 3), 6: ("test", "test", 3), 7: ("train", "test", 1), 12: ("train", "", 2),
}  # fmt: skip


@pytest.fixture(scope="module")
def official(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("cirr")
    for number, (first, second, _) in PATIENTS.items():
        for sequence, part in (("T1", first), ("T2", second)):
            if part:
                base = root / f"Cirrhosis_{sequence}_3D"
                values = ball(number + 50 * (sequence == "T2"))
                nii(base / f"{part}_images" / f"{number}.nii.gz", values)
                nii(base / f"{part}_masks" / f"{number}.nii.gz", (values > 0).astype(np.uint8))
    for number in range(1, 8):  # collide with patients
        for sequence in ("T1", "T2"):
            base = root / "Healthy_subjects" / f"{sequence}_W_Healthy"
            nii(base / f"{sequence}_images" / f"{number}.nii.gz", ball(200 + number))
            nii(base / f"{sequence}_masks" / f"{number}.nii.gz", ball(200 + number))
    rows = [f" Patient ID,Age,Gender , {SEVERE}"]
    rows += [f"{number},60,1,{grade}" for number, (*_, grade) in PATIENTS.items()]
    (root / "T1&T2_Paired_age_gender_evaluation.csv").write_text("\n".join(rows), "utf-8-sig")
    (root / "Metadata").mkdir()
    (root / "Metadata" / "Healthy_demographics.csv").write_text("ID,Age,Gender\n1,40,2\n")
    return root


@pytest.fixture(scope="module")
def built(official: Path, tmp_path_factory: pytest.TempPathFactory) -> tuple[dict, dict]:
    data = tmp_path_factory.mktemp("data")
    return build(SOURCE, official, data), tasks_of(SOURCE, data)


def test_five_tasks_come_out_with_their_pools(built: tuple[dict, dict]):
    document, tasks = built
    assert len(tasks) == 5
    labels = tasks["cirrmri600/i2l"]
    # six patients of the T1 test part and two of seven healthy subjects
    assert len(labels.queries) == 8
    assert {c.name for q in labels.queries for c in q.candidates} == {
        "mild", "moderate", "severe", "No liver cirrhosis",
    }  # fmt: skip
    for name in ("cirrmri600/i2i", "cirrmri600/t2i"):
        assert {len(query.candidates) for query in tasks[name].queries} == {4}
        assert tasks[name].task.eval_type == "local"
        no_query_in_its_pool(tasks[name])
    pairs = tasks["cirrmri600/t1-t2"]
    assert pairs.task.eval_type == "global"
    assert len(pairs.queries) == 7  # patients 1 2 3 4 6 and two healthy ones
    assert {f["where"] for f in document["faults"]} == {"pair 5", "pair 7"}


def test_healthy_numbers_do_not_run_into_patients_and_keep_one_side(official: Path):
    card = source_card("cirrmri600")
    records, _ = read_records(card, official, settle(card, {}), Control())
    sides = {}
    for record in records:
        assert record.group.startswith("healthy_") == (
            record.labels == ("No liver cirrhosis",)
        ) or record.key.startswith("pair/")
        if record.group.startswith("healthy_"):
            assert sides.setdefault(record.group, record.split) == record.split
    assert sorted(sides.values()).count("test") == 2
    # a test volume of one sequence is in no pair that anyone trains on
    pairs = {record.key: record.split for record in records if record.key.startswith("pair/")}
    assert (pairs["pair/5"], pairs["pair/7"], pairs["pair/1"]) == ("mixed", "mixed", "test")
    assert len({record.key for record in records}) == len(records)


def test_healthy_pairs_can_be_left_out(official: Path, tmp_path: Path):
    given = {"healthy_pairs": False, "pair_part": "t1"}
    build(SOURCE, official, tmp_path, settings=given, tasks="cirrmri600/t2-t1")
    (data,) = tasks_of(SOURCE, tmp_path).values()
    found = {Path(slices_of(query.item)[0]).parent.name for query in data.queries}
    assert found == {"1", "2", "3", "4", "5", "6"}


def test_pairs_are_of_one_patient_and_slices_lie_between_filled_ones(built: tuple[dict, dict]):
    data = built[1]["cirrmri600/t1-t2"]
    for query in data.queries:
        (first,) = {Path(path).parent for path in slices_of(query.item)}
        (second,) = {Path(path).parent for path in slices_of(query.candidates[0].item)}
        assert first.name == second.name
        assert (first.parent.name, second.parent.name) == ("T1", "T2")
    query = next(q for q in data.queries if Path(slices_of(q.item)[0]).parent.name == "1")
    values = ball(1)
    wanted = volumes.stacked(
        volumes.stretched(values, 1, 99.5), volumes.between_filled(values, 0.01)
    )
    assert shown(query.item).shape == (64, 20, 24)
    assert np.array_equal(shown(query.item), wanted)


def test_no_number_of_a_patient_stands_in_a_text(built: tuple[dict, dict]):
    for data in built[1].values():
        assert not any(letter.isdigit() for letter in texts_of(data).replace("T1", "").replace(
            "T2", ""
        ))  # fmt: skip


def test_another_wording_a_missing_grade_and_a_broken_volume(official: Path, tmp_path: Path):
    import shutil

    copy = tmp_path / "copy"
    shutil.copytree(official, copy)
    table = copy / "T1&T2_Paired_age_gender_evaluation.csv"
    lines = table.read_text("utf-8-sig").splitlines()
    table.write_text("\n".join(line for line in lines if not line.startswith("3,")), "utf-8-sig")
    (copy / "Cirrhosis_T1_3D" / "test_images" / "4.nii.gz").write_bytes(b"no volume")
    document = build(
        SOURCE, copy, tmp_path / "data", settings={"wording": "full"}, tasks="cirrmri600/i2l"
    )
    assert "T1 3" in {fault["where"] for fault in document["faults"]}
    told = document["tasks"]["cirrmri600/i2l"]
    assert told["faulty"] == 1
    assert told["faults"][0]["where"] == "t1/4"
    labels = tasks_of(SOURCE, tmp_path / "data")["cirrmri600/i2l"]
    assert "mild liver cirrhosis" in {q.gold for q in labels.queries}
    index = json.loads(labels.path.read_text("utf-8"))
    assert all("moderate" not in row["qry_label"] for row in index)
