"""MedMNIST's volumes from their official files: two editions, an order of classes of their own."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from engine.control import Control
from studies.medheb.builders.card import settle
from studies.medheb.builders.catalogue import source_card
from studies.medheb.builders.job import read_records
from studies.medheb.sources.medmnist3d import SETS
from tests.studies.volume_files import build, no_query_in_its_pool, shown, tasks_of

# from the set's own table of classes
ORGANS = {
    0: "liver", 1: "kidney-right", 2: "kidney-left", 3: "femur-right", 4: "femur-left",
    5: "bladder", 6: "heart", 7: "lung-right", 8: "lung-left", 9: "spleen", 10: "pancreas",
}  # fmt: skip


def npz(path: Path, classes: int, side: int = 28, each: int = 2) -> Path:
    rng = np.random.default_rng(classes)
    arrays = {}
    for part, count in (("train", 2), ("val", 2), ("test", each * classes)):
        images = rng.integers(0, 256, (count, side, side, side)).astype(np.uint8)
        arrays[f"{part}_images"] = images
        arrays[f"{part}_labels"] = (np.arange(count) % classes).astype(np.uint8)[:, None]
    if each > 1:  # a copy, of the same class
        arrays["test_images"][classes] = arrays["test_images"][0]
    np.savez_compressed(path, **arrays)
    return path


@pytest.fixture(scope="module")
def official(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("medmnist")
    npz(root / "organmnist3d.npz", 11)
    npz(root / "nodulemnist3d.npz", 2)
    npz(root / "synapsemnist3d.npz", 2, 28)
    npz(root / "synapsemnist3d_64.npz", 2, 64, 1)
    return root


def test_organs_are_named_in_the_order_of_this_set(official: Path, tmp_path: Path):
    document = build("organmnist3d", official, tmp_path)
    tasks = tasks_of("organmnist3d", tmp_path)
    assert len(tasks) == 3
    golds = [query.gold for query in tasks["organmnist3d/i2l"].queries]
    assert golds == [ORGANS[row % 11] for row in range(22)]
    assert {len(q.candidates) for q in tasks["organmnist3d/i2l"].queries} == {11}
    assert any("22 test volumes of 28 voxels" in n for n in document["tasks"]["organmnist3d/i2l"]
               ["notes"])  # fmt: skip
    for name in ("organmnist3d/i2i", "organmnist3d/t2i"):
        no_query_in_its_pool(tasks[name])
    # the two livers are one volume: no positive, so no query
    assert "liver" not in {q.label for q in tasks["organmnist3d/i2i"].queries}
    assert {len(q.candidates) for q in tasks["organmnist3d/t2i"].queries} == {11}


def test_slices_lie_along_the_third_axis_and_are_neither_turned_nor_mirrored(
    official: Path, tmp_path: Path
):
    stored = np.load(official / "nodulemnist3d.npz")["test_images"]
    for axis in ("2", "0"):
        build("nodulemnist3d", official, tmp_path, settings={"axis": axis})
        data = tasks_of("nodulemnist3d", tmp_path)["nodulemnist3d/i2l"]
        wanted = np.moveaxis(stored[3], int(axis), 0)
        assert np.array_equal(shown(data.queries[3].item), wanted)
    assert [query.gold for query in data.queries[:2]] == ["benign", "malignant"]


def test_the_larger_edition_is_taken_and_editions_do_not_mix(official: Path, tmp_path: Path):
    for size, slices, rows in (("28", 28, 4), ("largest", 64, 2)):
        build("synapsemnist3d", official, tmp_path, settings={"size": size})
        data = tasks_of("synapsemnist3d", tmp_path)["synapsemnist3d/i2l"]
        assert len(data.queries) == rows
        assert shown(data.queries[0].item).shape == (slices, slices, slices)
    assert [query.gold for query in data.queries] == ["inhibitory synapse", "excitatory synapse"]


def test_wrong_arrays_and_classes_are_faults(tmp_path: Path):
    images = np.zeros((3, 4, 4, 4), np.uint8)
    np.savez(tmp_path / "nodulemnist3d.npz", test_images=images, test_labels=[[0], [1], [7]])
    card = source_card("nodulemnist3d")
    settings = settle(card, {"wording": "nouns"})
    records, faults = read_records(card, tmp_path, settings, Control())
    assert [record.labels for record in records] == [("benign nodule",), ("malignant nodule",)]
    assert "class 7" in faults[0].reason
    np.savez(tmp_path / "nodulemnist3d.npz", test_images=images[0], test_labels=[[0]])
    (fault,) = card.read(tmp_path, settings)
    assert "not volumes" in fault.reason
    assert {len(one.labels) for one in SETS} == {11, 2}
