"""PanNuke from its official folds: tissues as classes, nuclei as regions."""

from __future__ import annotations

import io
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image

from studies.errors import StudyError
from studies.medheb.builders import choose
from studies.medheb.builders.built import read_built
from studies.medheb.builders.media import pixels_of
from studies.medheb.release import read_task
from studies.medheb.sources import arrays
from studies.medheb.tasks import load_tasks
from tests.studies.sources_2d_checks import build, checked, noise, records_of, rows_of

TISSUES = (
    "Adrenal_gland", "Bile-duct", "Bladder", "Breast", "Cervix", "Colon", "Esophagus", "HeadNeck",
    "Kidney", "Liver", "Lung", "Ovarian", "Pancreatic", "Prostate", "Skin", "Stomach", "Testis",
    "Thyroid", "Uterus",
)  # fmt: skip
SIDE = 96
ANSWER = "Neoplastic", "Inflammatory", "Connective", "Dead", "Epithelial"


def masks_of(row: int) -> np.ndarray:
    """[H, W, 6]: two large nuclei of one class, a lone large one, small ones, and background."""
    mask = np.zeros((SIDE, SIDE, 6))
    first, second = row % 3, 3
    mask[0:30, 0:40, first] = 7  # ids are neither dense nor unique over channels
    mask[50:80, 10:40, first] = 1034
    mask[60:92, 60:90, second] = 7
    if row % 2:
        mask[84:90, 44:52, 4] = 3
        mask[5:40, 50:85, 4] = 9
    mask[..., 5] = (mask[..., :5] == 0).all(axis=2)
    return mask


def write(folder: Path, rows: int = 19 * 3, folds: tuple[int, ...] = (1, 2, 3)) -> Path:
    for fold in folds:
        images = folder / f"Fold {fold}" / "images" / f"fold{fold}"
        masks = folder / f"Fold {fold}" / "masks" / f"fold{fold}"
        images.mkdir(parents=True)
        masks.mkdir(parents=True)
        pictures = [noise(fold, row, shape=(SIDE, SIDE, 3)) for row in range(rows)]
        np.save(images / "images.npy", np.stack(pictures).astype(np.float64))
        np.save(images / "types.npy", np.array([TISSUES[row % 19] for row in range(rows)]))
        np.save(masks / "masks.npy", np.stack([masks_of(row) for row in range(rows)]))
        (folder / f"Fold {fold}" / "README.md").write_text("PanNuke")
        (masks / "by-nc-sa.md").write_text("licence")
    return folder


@pytest.fixture(scope="module")
def official(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write(tmp_path_factory.mktemp("pannuke") / "pannuke")


@pytest.fixture(scope="module")
def built(official: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    data = tmp_path_factory.mktemp("data")
    document = build("pannuke_vg", official, data)
    assert document["faults"] == []
    assert document["source"] == "pannuke"
    return data


def test_tissues_pool_the_folds_and_are_cut_by_patch(official: Path, built: Path):
    records, _ = records_of("pannuke", official)
    assert len(records) == 3 * 57
    tasks = checked("pannuke", built, records, classes=19)
    assert {len(one.queries) for one in tasks.values()} == {3 * 19}  # 3 of 9 a tissue
    names = {row["qry_img_path"][:5] for row in rows_of("pannuke/i2i", built)}
    assert names == {"fold1", "fold2", "fold3"}
    assert {"Adrenal Gland", "Head and Neck", "Ovarian"} <= {
        row["qry_text"] for row in rows_of("pannuke/t2i", built)
    }
    note = read_built(built)["pannuke/i2i"].notes[0]
    assert note.startswith("171 patches (fold 1: 57, fold 2: 57, fold 3: 57)")


def test_a_region_is_all_nuclei_of_one_class_in_one_test_patch(official: Path, built: Path):
    rows, tasks = rows_of("pannuke_vg/t2r", built), {task.id: task for task in load_tasks(built)}
    read = read_task(tasks["pannuke_vg/t2r"], built)
    assert not read.failures
    assert read.built is not None
    assert read.built.pool == "regions"
    records, _ = records_of("pannuke", official)
    tested = {record.pictures[0].name for record in choose.side_of_test(records)}
    assert {row["qry_img_path"] for row in rows} == tested  # the same patches as the other tasks
    for row in rows:
        number = int(row["qry_img_path"][6:10])
        crops = row["tgt_img_path"][0]
        if row["qry_text"] == "Dead":
            assert [name.split("_")[-4:] for name in crops] == [["60", "60", "90", "92.png"]]
        else:
            assert row["qry_text"] == ANSWER[number % 3]
            assert len(crops) == 2
        assert row["qry_img_path"] not in crops
    assert Counter(len(query.candidates[0].item.images) for query in read.queries) == {1: 57, 2: 57}
    pool = {candidate.name for query in read.queries for candidate in query.candidates}
    assert len(pool) == len(read.queries) == len({query.gold for query in read.queries})


def test_crops_are_the_pixels_of_the_boxes(official: Path, built: Path):
    row = next(row for row in rows_of("pannuke_vg/t2r", built) if row["qry_text"] == "Dead")
    root = built / "2D_Images" / "PanNuke_VG"
    whole = np.asarray(Image.open(root / row["qry_img_path"]))
    crop = np.asarray(Image.open(root / row["tgt_img_path"][0][0]))
    assert np.array_equal(crop, whole[60:92, 60:90])
    fold, number = int(row["qry_img_path"][4]), int(row["qry_img_path"][6:10])
    assert np.array_equal(whole, noise(fold, number, shape=(SIDE, SIDE, 3)))


def test_small_nuclei_lone_nuclei_and_one_box_round_all(official: Path):
    def of(**settings: str) -> dict[str, tuple]:
        records, _ = records_of("pannuke", official, **settings)
        (record,) = [one for one in records if one.key == "fold1_0001"]
        return {region.text: region.boxes for region in record.regions}

    two = ((0, 0, 40, 30), (10, 50, 40, 80))
    dead = ((60, 60, 90, 92),)
    assert of() == {"Inflammatory": two, "Dead": dead}  # a nucleus of 8 x 6 hides Epithelial
    assert of(small="widen")["Epithelial"] == ((34, 68, 62, 96), (50, 5, 85, 40))
    assert of(candidates="single") == {"Dead": dead}
    assert of(candidates="union")["Epithelial"] == ((44, 5, 85, 90),)
    assert of(wording="official") == {"Inflammatory": two, "Dead Cells": dead}
    assert "Background" not in of(wording="official", small="widen")


def test_folds_are_mapped_and_pixels_made_when_asked_for(official: Path):
    path = official / "Fold 1" / "images" / "fold1" / "images.npy"
    assert isinstance(arrays.map_npy(path), np.memmap)
    records, _ = records_of("pannuke", official, wording="official")
    pixels = pixels_of(records[0].pictures[0])
    assert (pixels.dtype, pixels.shape) == (np.uint8, (SIDE, SIDE, 3))
    assert {record.labels[0] for record in records} == set(TISSUES)


def test_an_outer_folder_a_missing_fold_and_no_masks(tmp_path: Path):
    write(tmp_path / "mirror" / "pannuke", rows=19, folds=(1, 3))
    (tmp_path / "mirror" / "pannuke" / "Fold 3" / "masks" / "fold3" / "masks.npy").unlink()
    records, faults = records_of("pannuke", tmp_path)
    assert [fault.where for fault in faults] == ["Fold 2: images.npy", "Fold 3: masks.npy"]
    assert len(records) == 38
    assert not any(record.regions for record in records if record.key.startswith("fold3"))
    told = build("pannuke", tmp_path, tmp_path / "data", test_share=0.9)["tasks"]["pannuke_vg/t2r"]
    tested = {record.key for record in choose.side_of_test(records, share=0.9)}
    bare = sum(key.startswith("fold3") for key in tested)
    assert told["notes"][-1] == f"{bare} of {len(tested)} test pictures have no region to ask for."


def png(pixels: np.ndarray) -> dict[str, Any]:
    stream = io.BytesIO()
    Image.fromarray(pixels).save(stream, "PNG")
    return {"bytes": stream.getvalue(), "path": None}


def write_mirror(folder: Path, fold: int, rows: int, **instead: Any) -> Path:
    """As the hub's copy: a patch a row, one mask a nucleus, classes and tissue as numbers."""
    pa, pq = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    table: dict[str, list[Any]] = {"image": [], "instances": [], "categories": [], "tissue": []}
    for row in range(rows):
        mask = masks_of(row)
        ids = [(code, one) for code in range(5) for one in np.unique(mask[..., code]) if one]
        table["image"].append(png(noise(fold, row, shape=(SIDE, SIDE, 3))))
        table["instances"].append([png(mask[..., code] == one) for code, one in ids])
        table["categories"].append([code for code, _ in ids])
        table["tissue"].append(row % 19)
    path = folder / "data" / f"fold{fold}-00000-of-00001.parquet"
    path.parent.mkdir(parents=True, exist_ok=True)
    pq.write_table(pa.table(table | instead), path)
    return path


def test_the_hubs_copy_gives_the_same_records(official: Path, tmp_path: Path):
    folder = tmp_path / "PanNuke"
    for fold in (1, 2, 3):
        write_mirror(folder, fold, 57)
    ours, faults = records_of("pannuke", folder, small="widen")
    theirs, _ = records_of("pannuke", official, small="widen")
    assert faults == []

    def told(record: Any) -> tuple:
        regions = {one.text: set(one.boxes) for one in record.regions}
        return record.key, record.group, record.labels, record.pictures[0].name, regions

    assert list(map(told, ours)) == list(map(told, theirs))
    assert all(
        np.array_equal(pixels_of(one.pictures[0]), pixels_of(other.pictures[0]))
        for one, other in zip(ours[:5], theirs[:5], strict=True)
    )
    build("pannuke", folder, tmp_path / "data", cap=20)
    checked("pannuke", tmp_path / "data", ours, classes=19)
    assert len(rows_of("pannuke_vg/t2r", tmp_path / "data")) == 20
    note = read_built(tmp_path / "data")["pannuke/i2i"].notes[0]
    assert note.startswith("171 patches (fold 1: 57")


def test_rows_of_the_copy_that_do_not_fit_are_named(tmp_path: Path):
    tissues = [row % 19 for row in range(19)]
    write_mirror(tmp_path, 1, 19, tissue=[19, *tissues[1:]])
    write_mirror(tmp_path, 2, 19, categories=[[0]] * 19)
    records, faults = records_of("pannuke", tmp_path)
    assert [fault.where for fault in faults[:2]] == [
        "fold1-00000-of-00001.parquet, row 0", "fold2-00000-of-00001.parquet, row 0",
    ]  # fmt: skip
    assert faults[-1].where == "Fold 3: images.npy"
    assert len(records) == 18


def test_a_damaged_fold_is_a_fault_and_the_rest_is_built(tmp_path: Path):
    folder = write(tmp_path / "in")
    (folder / "Fold 2" / "images" / "fold2" / "images.npy").write_bytes(b"\x93NUMPY cut")
    document = build("pannuke", folder, tmp_path / "data")
    assert [fault["where"] for fault in document["faults"]] == ["Fold 2: images.npy"]
    assert document["tasks"]["pannuke/i2i"]["rows"] == 38
    assert "cannot be told" in document["tasks"]["pannuke/i2i"]["notes"][0]


def test_arrays_that_do_not_fit_and_unknown_tissues_are_named(tmp_path: Path):
    folder = write(tmp_path / "in", rows=19, folds=(1, 2))
    place = folder / "Fold 1" / "images" / "fold1" / "types.npy"
    types = np.load(place)
    types[4] = "Brain"
    np.save(place, types)
    np.save(folder / "Fold 2" / "masks" / "fold2" / "masks.npy", np.zeros((3, SIDE, SIDE, 6)))
    records, faults = records_of("pannuke", folder)
    assert [fault.where for fault in faults] == [
        "fold1_0004", "Fold 2: images.npy", "Fold 3: images.npy",
    ]  # fmt: skip
    assert len(records) == 18
    np.save(place, np.array([{"a": 1}] * 19, dtype=object))
    with pytest.raises(StudyError, match="no array of numbers"):
        records_of("pannuke", folder)
