"""MRNet from its official layout: tables without a header, labels that are a hierarchy."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from engine.control import Control
from studies.medheb.builders.card import settle
from studies.medheb.builders.catalogue import source_card
from studies.medheb.builders.job import read_records
from tests.studies.volume_files import build, no_query_in_its_pool, shown, slices_of, tasks_of

# exam: abnormal, acl, meniscus
VALID = {
    1130: (0, 0, 0), 1131: (0, 0, 0), 1132: (1, 1, 0), 1133: (1, 1, 0), 1134: (1, 0, 1),
    1135: (1, 0, 1), 1136: (1, 0, 0), 1137: (1, 0, 0), 1138: (1, 1, 1), 1139: (0, 1, 0),
}  # fmt: skip
TRAIN = {0: (0, 0, 0), 7: (1, 0, 0)}


@pytest.fixture(scope="module")
def official(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("mrnet") / "MRNet-v1.0"
    for part, exams in (("train", TRAIN), ("valid", VALID)):
        for number in exams:
            for place, plane in enumerate(("axial", "coronal", "sagittal")):
                (root / part / plane).mkdir(parents=True, exist_ok=True)
                rng = np.random.default_rng([number, place])
                series = rng.integers(0, 100 + 50 * place, (17 + place, 24, 24)).astype(np.uint8)
                series[:, 0, 0] = np.arange(17 + place)
                np.save(root / part / plane / f"{number:04d}.npy", series)
        for place, kind in enumerate(("abnormal", "acl", "meniscus")):
            lines = [f"{number:04d},{labels[place]}" for number, labels in exams.items()]
            (root / f"{part}-{kind}.csv").write_text("\n".join(lines) + "\n")
    (root / "valid" / "sagittal" / "1137.npy").unlink()
    return root


@pytest.fixture(scope="module")
def built(official: Path, tmp_path_factory: pytest.TempPathFactory) -> tuple[dict, dict]:
    data = tmp_path_factory.mktemp("data")
    return build("mrnet", official.parent, data), tasks_of("mrnet", data)


def test_four_exclusive_classes_come_of_three_labels(official: Path, built: tuple[dict, dict]):
    card = source_card("mrnet")
    records, _ = read_records(card, official, settle(card, {}), Control())
    labels = {record.key: record.labels for record in records}
    assert labels["valid/1130"] == ("healthy",)
    assert labels["valid/1132"] == ("ACL tear",)
    assert labels["valid/1134"] == ("meniscal tear",)
    assert labels["valid/1136"] == ("other diseases",)
    assert labels["valid/1138"] == ("ACL tear", "meniscal tear")
    assert {r.key for r in records if r.split == "train"} == {"train/0000", "train/0007"}
    tasks = built[1]
    assert len(tasks["mrnet/i2l"].queries) == 7  # the double positive is no sample
    assert {len(q.candidates) for q in tasks["mrnet/i2l"].queries} == {4}


def test_what_contradicts_itself_or_lacks_a_plane_is_a_fault(built: tuple[dict, dict]):
    faults = {fault["where"]: fault["reason"] for fault in built[0]["faults"]}
    assert faults.keys() == {"valid 1137", "valid 1139"}
    assert "sagittal" in faults["valid 1137"]
    assert "healthy" in faults["valid 1139"]


def test_exemplars_are_of_other_exams_and_one_a_class(built: tuple[dict, dict]):
    for name in ("mrnet/i2i", "mrnet/t2i"):
        no_query_in_its_pool(built[1][name])
        assert {len(query.candidates) for query in built[1][name].queries} == {4}
    # a class with one exam left has no positive
    assert {query.label for query in built[1]["mrnet/i2i"].queries} == {
        "healthy", "ACL tear", "meniscal tear",
    }  # fmt: skip
    note = next(n for n in built[0]["tasks"]["mrnet/i2i"]["notes"] if "no positive" in n)
    assert "other diseases" in note


def test_an_exam_is_ten_slices_of_each_plane_in_order(official: Path, built: tuple[dict, dict]):
    query = built[1]["mrnet/i2l"].queries[0]
    pictures = shown(query.item)
    assert pictures.shape == (30, 24, 24)
    exam = Path(slices_of(query.item)[0]).parent.name
    for place, plane in enumerate(("axial", "coronal", "sagittal")):
        series = np.load(official / "valid" / plane / f"{exam}.npy")
        low, high = np.percentile(series[series > 0], (0.5, 99.5))
        chosen = np.linspace(0, len(series) - 1, 10).astype(int)
        wanted = np.clip((series[chosen] - low) / (high - low), 0, 1) * 255
        got = pictures[10 * place : 10 * place + 10].astype(int)
        assert np.abs(got - wanted).max() <= 1


def test_one_plane_and_stored_grey_as_variants(official: Path, tmp_path: Path):
    build("mrnet", official, tmp_path, tasks="mrnet/i2l", settings={
        "planes": "coronal", "grey": "stored", "slices": "middle", "wording": "full",
    })  # fmt: skip
    data = tasks_of("mrnet", tmp_path)["mrnet/i2l"]
    assert shown(data.queries[0].item)[:, 0, 0].min() >= 4
    assert len(slices_of(data.queries[0].item)) == 10
    assert "meniscus tear" in {c.name for q in data.queries for c in q.candidates}
