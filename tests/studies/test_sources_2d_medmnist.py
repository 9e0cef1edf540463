"""The nine flat sets of MedMNIST, from files in their own layout and from a real one."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from engine.errors import EvidenceError
from studies.errors import StudyError
from studies.medheb.builders.built import read_built
from studies.medheb.builders.card import SourceCard, TaskPlan, settle
from studies.medheb.builders.catalogue import source_card
from studies.medheb.builders.job import build
from studies.medheb.builders.media import pixels_of
from studies.medheb.release import read_task
from studies.medheb.sources import arrays
from studies.medheb.sources.medmnist import SETS, read_edition
from studies.medheb.tasks import load_tasks
from tests.shared import shared_path
from tests.studies.sources_2d_checks import build as build_source
from tests.studies.sources_2d_checks import checked, noise, records_of, rows_of

COLOUR = {"bloodmnist", "dermamnist", "pathmnist"}


def write_set(
    path: Path, codes: np.ndarray, *, side: int = 28, colour: bool = False, **instead: Any
) -> Path:
    """An edition as the archive has it: uint8 pictures, labels with a second axis."""
    shape = (side, side, 3) if colour else (side, side)
    parts: dict[str, Any] = {}
    for number, part in enumerate(("train", "val", "test")):
        pictures = [noise(number, side, row, shape=shape) for row in range(len(codes))]
        parts |= {f"{part}_images": np.stack(pictures), f"{part}_labels": codes.astype(np.uint8)}
    path.parent.mkdir(parents=True, exist_ok=True)
    np.savez_compressed(path, **(parts | instead))
    return path


def column(classes: int, each: int = 3) -> np.ndarray:
    return np.arange(classes * each)[:, None] % classes


@pytest.mark.parametrize("one", SETS, ids=lambda one: one.flag)
def test_every_set_becomes_three_tasks(one, tmp_path: Path):
    codes, classes = column(len(one.labels)), len(one.labels)
    if one.flag == "chestmnist":
        codes = np.eye(classes, dtype=np.uint8)[codes.ravel()]
    write_set(tmp_path / "in" / f"{one.flag}.npz", codes, colour=one.flag in COLOUR)
    document = build_source(one.flag, tmp_path / "in", tmp_path / "data")
    assert document["faults"] == []
    records, _ = records_of(one.flag, tmp_path / "in")
    tasks = checked(one.flag, tmp_path / "data", records, classes=classes)
    assert {len(data.queries) for data in tasks.values()} == {3 * classes}
    labels = tasks[f"{one.flag}/i2l"]
    assert [query.gold for query in labels.queries[:classes]] == list(one.labels)


def test_rows_with_none_or_several_findings_are_left_out(tmp_path: Path):
    codes = np.zeros((20, 14), np.uint8)
    codes[np.arange(12), np.arange(12) // 4] = 1
    codes[12:14] = 1
    write_set(tmp_path / "chestmnist.npz", codes)
    records, faults = records_of("chestmnist", tmp_path)
    assert (len(records), faults) == (20, [])
    assert Counter(len(record.labels) for record in records) == {1: 12, 14: 2, 0: 6}
    build_source("chestmnist", tmp_path, tmp_path / "data")
    rows = rows_of("chestmnist/i2l", tmp_path / "data")
    assert len(rows) == 12
    assert {len(row["tgt_text"]) for row in rows} == {14}
    assert Counter(row["qry_label"] for row in rows) == {
        "atelectasis": 4, "cardiomegaly": 4, "effusion": 4,
    }  # fmt: skip


def test_the_largest_edition_is_taken_or_the_one_asked_for_and_the_task_says_which(tmp_path: Path):
    for side, name in ((28, "octmnist"), (64, "octmnist_64")):
        write_set(tmp_path / "sets" / ".medmnist" / f"{name}.npz", column(4), side=side)
    build_source("octmnist", tmp_path / "sets", tmp_path / "data")
    (picture,) = {row["qry_img_path"] for row in rows_of("octmnist/i2l", tmp_path / "data")[:1]}
    assert picture == "64/000000.png"
    built = read_built(tmp_path / "data")["octmnist/i2l"]
    assert built.notes == ("Edition octmnist_64.npz: 12 test pictures of 64 x 64 pixels.",)
    small, _ = records_of("octmnist", tmp_path / "sets", size="28")
    assert pixels_of(small[0].pictures[0]).shape == (28, 28)
    with pytest.raises(StudyError, match="no octmnist of 128 pixels"):
        records_of("octmnist", tmp_path / "sets", size="128")


def test_version_1_called_the_organs_otherwise(tmp_path: Path):
    write_set(tmp_path / "organmnist_coronal.npz", column(11))
    assert len(records_of("organcmnist", tmp_path)[0]) == 33
    with pytest.raises(StudyError, match="does not look like OrganAMNIST"):
        records_of("organamnist", tmp_path)


def test_equal_pictures_are_one_group_and_copies_of_the_training_part_are_not_tested(
    tmp_path: Path,
):
    codes = column(7, 4)
    train = np.stack([noise(9, row) for row in range(28)])
    tested = np.stack([noise(8, row) for row in range(28)])
    tested[7] = tested[0]  # one lesion twice, same class
    tested[3] = train[5]
    write_set(tmp_path / "dermamnist.npz", codes, train_images=train, test_images=tested)
    records, faults = records_of("dermamnist", tmp_path)
    assert (len(records), len({record.group for record in records})) == (27, 26)
    assert [(fault.where, "training part" in fault.reason) for fault in faults] == [
        ("dermamnist.npz, test row 3", True)
    ]
    build_source("dermamnist", tmp_path, tmp_path / "data")
    checked("dermamnist", tmp_path / "data", records, classes=7)
    assert len(records_of("dermamnist", tmp_path, train_copies="keep")[0]) == 28


def test_a_comma_in_a_label_is_part_of_it(tmp_path: Path):
    write_set(tmp_path / "tissuemnist.npz", column(8))
    build_source("tissuemnist", tmp_path, tmp_path / "data")
    assert {len(row["tgt_text"]) for row in rows_of("tissuemnist/i2l", tmp_path / "data")} == {8}
    first = rows_of("tissuemnist/t2i", tmp_path / "data")[0]
    assert first["qry_text"] == "Collecting Duct, Connecting Tubule"


def test_what_is_wrong_is_said_and_the_rest_goes_on(tmp_path: Path):
    codes = column(4)
    codes[5] = 200
    path = write_set(tmp_path / "octmnist.npz", codes)
    records, faults = records_of("octmnist", tmp_path)
    assert len(records) == 11
    assert faults[0].where == "octmnist.npz, test row 5"
    content = path.read_bytes()
    for told, wrong in (
        ("cannot be read", content[: len(content) // 2]),
        ("Git LFS pointer", b"version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 3\n"),
    ):
        path.write_bytes(wrong)
        with pytest.raises(StudyError, match=told):
            records_of("octmnist", tmp_path)
    write_set(path, codes, test_images=np.array([{"a": 1}], dtype=object))
    with pytest.raises(StudyError, match="holds objects"):
        records_of("octmnist", tmp_path)
    write_set(path, codes, test_images=np.zeros((12, 28, 28), np.float32))
    with pytest.raises(StudyError, match="not pictures"):
        records_of("octmnist", tmp_path)
    write_set(path, codes[:3], test_images=np.zeros((4, 28, 28), np.uint8))
    with pytest.raises(StudyError, match="for 4 pictures"):
        records_of("octmnist", tmp_path)


def test_large_parts_are_mapped_and_equal_to_those_in_memory(tmp_path: Path, monkeypatch):
    path = write_set(tmp_path / "octmnist.npz", column(4), test_images=np.asfortranarray(
        np.stack([noise(1, row, shape=(28, 28)) for row in range(12)])
    ))  # fmt: skip
    whole = arrays.npz_part(path, "test_images")
    monkeypatch.setattr(arrays, "IN_MEMORY", 100)
    mapped = arrays.npz_part(path, "test_images")
    assert isinstance(mapped, np.memmap)
    assert np.array_equal(mapped, whole)
    assert arrays.part_shape(path, "test_images") == (12, 28, 28)
    with pytest.raises(EvidenceError, match="no array nothing"):
        arrays.npz_part(path, "nothing")


def test_a_real_file_of_the_archive(tmp_path: Path):
    path = shared_path("data/sets/medmnist/pneumoniamnist.npz")
    labels = ("normal", "pneumonia")
    found = list(read_edition(path, labels, drop=False))
    assert Counter(record.labels for record in found) == {("normal",): 234, ("pneumonia",): 390}
    assert pixels_of(found[0].pictures[0]).shape == (28, 28)
    plans = (TaskPlan("octmnist/i2l", "label"), TaskPlan("octmnist/i2i", "exemplars"))
    like = source_card("octmnist")
    card = SourceCard(**{**vars(like), "labels": labels, "plans": plans})
    built = build(card, found, tmp_path, settle(card, {"cap": 60}))
    assert {name: one.rows for name, one in built.items()} == {
        "octmnist/i2l": 60, "octmnist/i2i": 60,
    }  # fmt: skip
    groups = {record.pictures[0].name: record.group for record in found}
    for row in rows_of("octmnist/i2i", tmp_path):
        assert groups[row["qry_img_path"]] not in [groups[name] for name in row["tgt_img_path"]]
    tasks = {task.id: task for task in load_tasks(tmp_path)}
    read = read_task(tasks["octmnist/i2l"], tmp_path)
    assert not read.failures
    assert Counter(query.gold for query in read.queries) == {"normal": 30, "pneumonia": 30}
