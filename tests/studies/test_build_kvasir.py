"""A source from its official folder to tasks that run, on one whose classes are folders."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from engine.control import Control
from engine.errors import Cancelled
from studies.errors import StudyError
from studies.medheb.builders.built import read_built
from studies.medheb.builders.job import build_job
from studies.medheb.release import read_task
from studies.medheb.sources.kvasir import CODES
from studies.medheb.tasks import load_tasks


@pytest.fixture(scope="module")
def official(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("kvasir") / "kvasir-dataset-v2"
    for number, code in enumerate(CODES):
        (folder / code).mkdir(parents=True)
        for place in range(6):
            pixels = np.random.default_rng([number, place]).integers(0, 256, (30, 40, 3), np.uint8)
            Image.fromarray(pixels).save(folder / code / f"{place}-{number}.jpg")
    (folder / "polyps" / ".DS_Store").write_bytes(b"x")
    return folder


def build(folder: Path, data: Path, control: Control | None = None, **arguments):
    given = {"source": "kvasir", "folder": str(folder), "data": str(data), **arguments}
    return build_job(None, given, control or Control())  # type: ignore[arg-type]


def tasks_of(data: Path) -> dict:
    return {task.id: read_task(task, data) for task in load_tasks(data) if task.source == "kvasir"}


@pytest.mark.parametrize("nested", [False, True])
def test_three_tasks_come_out_and_read_back(official: Path, tmp_path: Path, nested: bool):
    document = build(official.parent if nested else official, tmp_path)
    assert {name: one["rows"] for name, one in document["tasks"].items()} == {
        "kvasir/i2l": 16, "kvasir/i2i": 16, "kvasir/t2i": 16,
    }  # fmt: skip
    for data in tasks_of(tmp_path).values():
        assert not data.failures
        assert {len(query.candidates) for query in data.queries} == {8}
    labels = tasks_of(tmp_path)["kvasir/i2l"]
    assert labels.queries[0].item.text == labels.task.qry_text
    assert labels.queries[0].gold in CODES.values()


def test_no_query_stands_in_its_own_pool_and_classes_are_single(official: Path, tmp_path: Path):
    build(official, tmp_path)
    (index,) = (tmp_path / "2D_Task" / "Kvasir").glob("*i2i*")
    for row in json.loads(index.read_text("utf-8")):
        assert row["qry_img_path"] not in row["tgt_img_path"]
        assert row["tgt_label"][0] == row["qry_label"]
        assert row["tgt_label"].count(row["qry_label"]) == 1


def test_what_was_decided_is_kept_and_a_second_build_is_the_same(official: Path, tmp_path: Path):
    build(official, tmp_path)
    built = read_built(tmp_path)
    assert built["kvasir/i2i"].pool == "exemplars"
    assert built["kvasir/i2l"].pool == "labels:source"
    assert built["kvasir/i2l"].settings["wording"] == "words"
    files = {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()}
    build(official, tmp_path)
    assert {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()} == files


def test_pools_of_labels(official: Path, tmp_path: Path):
    build(official, tmp_path, settings={"label_pool": "fixed", "fixed_labels": 3})
    assert {len(q.candidates) for q in tasks_of(tmp_path)["kvasir/i2l"].queries} <= {3}
    build(official, tmp_path, settings={"wording": "folder"}, tasks="kvasir/i2l")
    names = {c.name for q in tasks_of(tmp_path)["kvasir/i2l"].queries for c in q.candidates}
    assert names == set(CODES)


def test_a_missing_class_and_a_broken_picture_are_faults_and_the_rest_goes_on(
    official: Path, tmp_path: Path
):
    import shutil

    copy = tmp_path / "copy"
    shutil.copytree(official, copy)
    shutil.rmtree(copy / "polyps")
    document = build(copy, tmp_path / "data")
    assert document["faults"] == [
        {"where": "polyps", "reason": f"there is no folder polyps in {copy}; this class is empty"}
    ]
    assert document["tasks"]["kvasir/i2i"]["rows"] == 14


def test_a_folder_that_is_not_the_source_is_refused(tmp_path: Path):
    (tmp_path / "polyps").mkdir()
    with pytest.raises(StudyError, match="does not look like Kvasir"):
        build(tmp_path, tmp_path / "data")
    with pytest.raises(StudyError, match="no such folder"):
        build(tmp_path / "nothing", tmp_path / "data")


def test_a_build_can_be_stopped(official: Path, tmp_path: Path):
    class Stops(Control):
        def check(self) -> None:
            if self._done > 5:
                raise Cancelled

    with pytest.raises(Cancelled):
        build(official, tmp_path, Stops())
