"""Boxes round masks: Kvasir-SEG, ISIC 2018, ultrasound, and MedSegBench's arrays."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from studies.errors import StudyError
from studies.medheb.builders.built import read_built
from studies.medheb.builders.card import settle
from studies.medheb.builders.catalogue import source_card
from studies.medheb.sources.masks import box_of
from studies.medheb.tasks import load_tasks
from tests.studies.sources_2d_checks import build, noise, records_of, rows_of, save
from tests.studies.sources_region_checks import crops_of, cut, equal, region_task

POLYPS, LESIONS, NERVES = "kvasir_seg/t2r", "isic2018/t2r", "ultrasound_nerve/t2r"


def masked(shape: tuple[int, int], *boxes: tuple[int, int, int, int], value: int = 255):
    mask = np.zeros(shape, np.uint8)
    for left, top, right, bottom in boxes:
        mask[top:bottom, left:right] = value
    return mask


def arrays(path: Path, *, colour: bool, boxes: list, trailing: bool = False, value: int = 1):
    """A file of MedSegBench: the test part as told, one picture in each other part."""
    path.parent.mkdir(parents=True, exist_ok=True)
    side, parts = 64, {}
    for number, (part, of) in enumerate(
        {"train": [(1, 1, 60, 60)], "val": [(2, 2, 60, 60)], "test": boxes}.items()
    ):
        shape = (len(of), side, side, 3) if colour else (len(of), side, side)
        parts[f"{part}_images"] = noise(number, len(path.name), shape=shape)
        label = np.stack([masked((side, side), box, value=value) for box in of])
        parts[f"{part}_label"] = label[..., None] if trailing else label
    np.savez(path, **parts)
    return parts["test_images"]


def settings(source: str, **given) -> dict:
    return settle(source_card(source), given)


def test_a_box_of_a_mask_by_every_setting():
    two = masked((64, 64), (2, 2, 34, 40), (50, 50, 60, 62)) > 0
    assert box_of(two, settings("isic2018")) == (2, 2, 60, 62)
    assert box_of(two, settings("isic2018", components="largest")) == (2, 2, 34, 40)
    assert box_of(two, settings("isic2018", edge="lost")) == (2, 2, 59, 61)
    small = masked((64, 64), (10, 20, 15, 50)) > 0
    assert "smaller than a patch" in str(box_of(small, settings("isic2018")))
    assert box_of(small, settings("kvasir_seg")) == (10, 20, 15, 50)
    assert box_of(small, settings("isic2018", small="widen")) == (0, 20, 28, 50)
    assert box_of(small & False, settings("isic2018")) == "its mask is empty"
    line = masked((64, 64), (10, 20, 11, 60)) > 0
    assert box_of(line, settings("kvasir_seg", edge="lost")) == "its region has no area"


# ---------------------------------------------------------------------------------- Kvasir-SEG
SHAPE = (90, 120)


def bbox(left: int, top: int, right: int, bottom: int) -> dict:
    return {"label": "polyp", "xmin": left, "ymin": top, "xmax": right, "ymax": bottom}


@pytest.fixture
def kvasir(tmp_path: Path) -> Path:
    base = tmp_path / "sets" / "Kvasir-SEG"
    boxes = {}
    for number in range(10):
        stem = f"cju{number}"
        save(base / "images" / f"{stem}.jpg", noise(number, shape=(*SHAPE, 3)))
        ringing = masked(SHAPE, (20, 10, 70, 60), (90, 70, 110, 85))
        ringing[:5] = 20  # below the threshold
        save(base / "masks" / f"{stem}.jpg", ringing)
        found = [bbox(90, 70, 110, 85), bbox(20, 10, 70, 60)]
        boxes[stem] = {"height": SHAPE[0], "width": SHAPE[1], "bbox": found}
    boxes["cju1"]["bbox"] = [bbox(70, 60, 20, 10)]  # swapped
    boxes["cju2"]["bbox"] = [bbox(20, 10, 121, 91)]  # one pixel outside
    boxes["cju3"]["bbox"] = [bbox(0, 0, 15, 5)]  # where the mask only rings
    boxes["cju4"]["bbox"] = []
    boxes["cju9"] = {"bbox": [bbox(20, 10, 24, 13)]}  # tiny; no other keys
    boxes["gone"] = boxes["../images/cju0"] = boxes["cju0"]
    (base / "kavsir_bboxes.json").write_text(json.dumps(boxes))
    return tmp_path / "sets"


def test_the_largest_box_of_the_official_file_is_held_against_the_mask(kvasir: Path):
    records, faults = records_of("kvasir_seg", kvasir, sources="first")
    boxes = {record.key.split("/")[1]: record.regions[0].boxes for record in records}
    assert boxes["cju0"] == boxes["cju1"] == ((20, 10, 70, 60),)
    assert boxes["cju2"] == ((20, 10, 120, 90),)
    assert boxes["cju9"] == ((20, 10, 24, 13),)  # neither padded nor dropped
    told = {fault.where.split("/")[-1]: fault.reason for fault in faults}
    assert set(told) == {"cju3", "cju4", "gone", "cju0"}
    assert told["cju0"] == "names no picture"
    assert "nothing of its mask" in told["cju3"]
    sides = [record.split for record in records]
    assert (len(sides), sides.count("test")) == (8, 2)
    other, _ = records_of("kvasir_seg", kvasir, sources="first", seed=7, test_share=0.5)
    assert sum(record.split == "test" for record in other) == 4


def test_polyps_of_both_sets_and_of_the_first_alone(kvasir: Path, tmp_path: Path):
    polyps = arrays(
        kvasir / "polypgen_512.npz", colour=True, boxes=[(5, 5, 50, 40), (8, 30, 20, 60)]
    )
    document = build("kvasir_seg", kvasir, tmp_path / "data")
    read = region_task(POLYPS, tmp_path / "data")
    assert len(read.queries) == len({query.gold for query in read.queries}) == 4
    assert {query.item.text for query in read.queries} == {"polyp"}
    (crop,) = crops_of(POLYPS, tmp_path / "data", qry_img_path="polypgen/64/test/000001")
    assert equal(crop, cut(polyps[1], (8, 30, 20, 60)))
    rows = rows_of(POLYPS, tmp_path / "data")
    name = next(row["qry_img_path"] for row in rows if "kvasir-seg" in row["qry_img_path"])
    (crop,) = crops_of(POLYPS, tmp_path / "data", qry_img_path=name)
    whole = np.asarray(Image.open(kvasir / "Kvasir-SEG" / "images" / Path(name).name))
    (record,) = [r for r in records_of("kvasir_seg", kvasir)[0] if r.pictures[0].name == name]
    assert equal(crop, cut(whole, record.regions[0].boxes[0]))
    assert "with PolypGen" in read_built(tmp_path / "data")[POLYPS].notes[0]
    document = build("kvasir_seg", kvasir, tmp_path / "data", sources="first")
    assert document["tasks"][POLYPS]["rows"] == 2
    assert "without PolypGen" in document["tasks"][POLYPS]["notes"][0]


def test_a_missing_second_set_is_said(kvasir: Path, tmp_path: Path):
    document = build("kvasir_seg", kvasir, tmp_path / "data")
    assert document["tasks"][POLYPS]["rows"] == 2
    assert document["faults"][-1]["where"] == "polypgen_512.npz"


# ------------------------------------------------------------------------------------ ISIC 2018
def challenge(folder: Path, *, nested: bool) -> dict[str, np.ndarray]:
    inputs, truth = "ISIC2018_Task1-2_Test_Input", "ISIC2018_Task1_Test_GroundTruth"
    places = {one: folder / one / one if nested else folder / one for one in (inputs, truth)}
    boxes = {12: (10, 20, 80, 70), 13: (5, 5, 20, 60), 14: (0, 0, 0, 0), 15: (30, 30, 70, 90)}
    for number, box in boxes.items():
        stem = f"ISIC_{number:07d}"
        save(places[inputs] / f"{stem}.jpg", noise(number, shape=(100, 110, 3)))
        shape = (100, 110) if number < 15 else (50, 55)
        save(places[truth] / f"{stem}_segmentation.png", masked(shape, box))
    for place in places.values():
        (place / "ATTRIBUTION.txt").write_text("words")
        (place / "LICENSE.txt").write_text("words")
    return {path.stem: np.asarray(Image.open(path)) for path in places[inputs].glob("ISIC_*.jpg")}


@pytest.mark.parametrize("nested", [False, True])
def test_lesions_of_the_challenge_folders(tmp_path: Path, nested: bool):
    pictures = challenge(tmp_path / "isic", nested=nested)
    document = build("isic2018", tmp_path / "isic", tmp_path / "data", sources="first")
    read = region_task(LESIONS, tmp_path / "data")
    assert [query.item.text for query in read.queries] == ["skin lesion"]
    (crop,) = crops_of(LESIONS, tmp_path / "data", qry_img_path="ISIC_0000012")
    assert equal(crop, cut(pictures["ISIC_0000012"], (10, 20, 80, 70)))
    told = {fault["where"].split("/")[-1]: fault["reason"] for fault in document["faults"]}
    assert "smaller than a patch" in told["ISIC_0000013"]
    assert told["ISIC_0000014"] == "its mask is empty"
    assert "its mask is 55 x 50, not 110 x 100" in told["ISIC_0000015"]
    wide, _ = records_of("isic2018", tmp_path / "isic", sources="first", small="widen")
    assert wide[1].regions[0].boxes == ((0, 5, 28, 60),)


def test_lesions_of_the_arrays_come_first(tmp_path: Path):
    challenge(tmp_path / "isic", nested=False)
    first = arrays(tmp_path / "isic" / "isic2018_512.npz", colour=True, boxes=[(5, 5, 50, 40)])
    arrays(
        tmp_path / "isic" / "more" / "uwaterlooskincancer_512.npz",
        colour=True, boxes=[(3, 3, 33, 33), (3, 3, 20, 20)], trailing=True, value=255,
    )  # fmt: skip
    build("isic2018", tmp_path / "isic", tmp_path / "data", text="lesion")
    read = region_task(LESIONS, tmp_path / "data")
    assert {query.item.text for query in read.queries} == {"lesion"}
    assert len(read.queries) == 2
    (crop,) = crops_of(LESIONS, tmp_path / "data", qry_img_path="isic2018/64/test")
    assert equal(crop, cut(first[0], (5, 5, 50, 40)))
    every, _ = records_of("isic2018", tmp_path / "isic", array_parts="all")
    assert len(every) == 6
    official, _ = records_of("isic2018", tmp_path / "isic", copy="official", sources="first")
    assert official[0].key == "isic2018/ISIC_0000012"


def test_arrays_of_another_shape_are_refused(tmp_path: Path):
    folder = tmp_path / "isic"
    folder.mkdir()
    images = noise(1, shape=(2, 32, 32, 3))
    np.savez(folder / "isic2018_256.npz", test_images=images, test_labels=images[..., 0])
    with pytest.raises(StudyError, match="no array test_label"):
        records_of("isic2018", folder, sources="first")
    np.savez(folder / "isic2018_256.npz", test_images=images, test_label=images[:, :9, :9, 0])
    with pytest.raises(StudyError, match="its labels are"):
        records_of("isic2018", folder, sources="first")


# ----------------------------------------------------------------------------------- ultrasound
US = (84, 116)


@pytest.fixture
def nerves(tmp_path: Path) -> Path:
    """Five subjects of the competition with three frames; 1_10 would sort before 1_2 as text."""
    train = tmp_path / "ultrasound" / "train"
    for subject in range(1, 6):
        for place in (1, 2, 10):
            save(train / f"{subject}_{place}.tif", noise(subject, place, shape=US))
            box = (20, 10, 60, 50) if place != 2 else (0, 0, 0, 0)
            save(train / f"{subject}_{place}_mask.tif", masked(US, box))
    save(tmp_path / "ultrasound" / "test" / "1.tif", noise(9, shape=US))
    (tmp_path / "ultrasound" / "train_masks.csv").write_text("subject,img,pixels\n1,1,\n")
    return tmp_path / "ultrasound"


def test_nerves_are_cut_by_subject_and_frames_without_one_make_no_record(
    nerves: Path, tmp_path: Path
):
    records, faults = records_of("ultrasound_nerve", nerves, sources="first")
    assert faults == []
    assert [record.key for record in records[:2]] == ["nerve/1_1", "nerve/1_10"]
    assert len(records) == 10
    sides = {side: {r.group for r in records if r.split == side} for side in ("train", "test")}
    assert not sides["train"] & sides["test"]
    assert len(sides["test"]) == 2
    build("ultrasound_nerve", nerves, tmp_path / "data", sources="first")
    read = region_task(NERVES, tmp_path / "data")
    assert len(read.queries) == 4
    row = rows_of(NERVES, tmp_path / "data")[0]
    (crop,) = crops_of(NERVES, tmp_path / "data", qry_img_path=row["qry_img_path"])
    whole = np.asarray(Image.open(nerves / "train" / Path(row["qry_img_path"]).name))
    assert equal(crop, cut(whole, (20, 10, 60, 50)))
    (task,) = [one for one in load_tasks(tmp_path / "data") if one.id == NERVES]
    assert (tmp_path / "data" / task.image_root / row["qry_img_path"]).suffix == ".tif"


def test_nearly_equal_frames_and_contradictions_among_them(nerves: Path):
    frame = np.asarray(Image.open(nerves / "train" / "1_1.tif")).astype(int)
    frame[:20] += 1
    save(nerves / "train" / "1_10.tif", np.clip(frame, 0, 255).astype(np.uint8))
    frame = np.asarray(Image.open(nerves / "train" / "2_2.tif"))
    save(nerves / "train" / "2_1.tif", frame)  # the same frame without a nerve
    records, faults = records_of("ultrasound_nerve", nerves, sources="first")
    told = {fault.where: fault.reason for fault in faults}
    assert set(told) == {"nerve/1_10", "nerve/2_1"}
    assert "nearly the same as 1_1" in told["nerve/1_10"]
    assert "2_2 has no nerve" in told["nerve/2_1"]
    assert len(records) == 8
    kept, _ = records_of("ultrasound_nerve", nerves, sources="first", near_copies="keep")
    assert len(kept) == 10


def test_kidneys_stand_beside_nerves(tmp_path: Path):
    folder = tmp_path / "medsegbench"
    arrays(folder / "ultrasoundnerve_512.npz", colour=False, boxes=[(5, 5, 50, 40)] * 2)
    kidneys = arrays(folder / "usforkidney_512.npz", colour=False, boxes=[(9, 9, 60, 40)])
    build("ultrasound_nerve", folder, tmp_path / "data")
    read = region_task(NERVES, tmp_path / "data")
    assert sorted(query.item.text or "" for query in read.queries) == [
        "brachial plexus nerve", "brachial plexus nerve", "kidney",
    ]  # fmt: skip
    (crop,) = crops_of(NERVES, tmp_path / "data", qry_text="kidney")
    assert equal(crop, cut(kidneys[0], (9, 9, 60, 40)))
    with pytest.raises(StudyError, match="does not look like"):
        records_of("ultrasound_nerve", tmp_path / "data")
