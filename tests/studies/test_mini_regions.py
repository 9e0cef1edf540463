"""The miniatures of region sources: official layouts, boxes where the look is, quirks left out."""

from __future__ import annotations

import csv
import json
import zipfile
from collections.abc import Callable, Mapping
from pathlib import Path

import numpy as np
import pydicom
import pytest
from PIL import Image

from studies.medheb.mini import chest_imagenome, kvasir_seg, vindr_cxr
from tests.studies.mini_checks import Mini, check, make_mini, same_bytes

HEX = "[0-9a-f]" * 32
# source to: quirks left out, and names that the official layout holds
SOURCES = {
    "chest_imagenome": (
        0,
        [
            "chest-imagenome-dataset-1.0.0/silver_dataset/scene_graph.zip",
            "chest-imagenome-dataset-1.0.0/silver_dataset/splits/images_to_avoid.csv",
            "chest-imagenome-dataset-1.0.0/gold_dataset/"
            "gold_bbox_coordinate_annotations_1000images.csv",
            "chest-imagenome-dataset-1.0.0/utils/cxr-record-list_view.csv",
            "mimic-cxr-jpg/2.0.0/files/p1?/p1???????/s5???????/*.jpg",
        ],
    ),
    "vindr_cxr": (
        0,
        [
            f"vindr-cxr/1.0.0/test/{HEX}.dicom",
            f"vindr-cxr/1.0.0/train/{HEX}.dicom",
            "vindr-cxr/1.0.0/annotations/annotations_test.csv",
            "vindr-cxr/1.0.0/annotations/image_labels_train.csv",
        ],
    ),
    "kvasir_seg": (
        0,
        ["Kvasir-SEG/kavsir_bboxes.json", "Kvasir-SEG/masks/cju*.jpg", "polypgen_512.npz"],
    ),
    "isic2018": (
        0,
        [
            "ISIC2018_Task1-2_Test_Input/ISIC_???????.jpg",
            "ISIC2018_Task1_Test_GroundTruth/ISIC_???????_segmentation.png",
            "ISIC2018_Task2_Training_GroundTruth_v3/ISIC_???????_attribute_milia_like_cyst.png",
            "ISIC2018_Task2_Test_GroundTruth/LICENSE.txt",
            "uwaterlooskincancer_512.npz",
        ],
    ),
    # the first frame of each subject has a twin without a nerve
    "ultrasound_nerve": (
        8,
        [
            "train/2_10.tif",
            "train/2_10_mask.tif",
            "train_masks.csv",
            "test/1.tif",
            "sample_submission.csv",
            "usforkidney_512.npz",
        ],
    ),
    "vindr_mammo": (
        0,
        [
            f"vindr-mammo/1.0.0/images/{HEX}/{HEX}.dicom",
            "vindr-mammo/1.0.0/finding_annotations.csv",
            "vindr-mammo/1.0.0/breast-level_annotations.csv",
            "vindr-mammo/1.0.0/metadata.csv",
        ],
    ),
}


def rows(path: Path) -> list[Mapping[str, str]]:
    with path.open(newline="", encoding="utf-8") as stream:
        return list(csv.DictReader(stream))


@pytest.mark.parametrize("source", SOURCES)
def test_a_source_goes_through_its_builder(source: str, mini: Callable[[str], Mini]):
    faulty, names = SOURCES[source]
    made = mini(source)
    check(made, faulty=faulty)
    for name in names:
        assert any(made.official.glob(name)), name


@pytest.mark.parametrize("source", ["chest_imagenome", "kvasir_seg", "vindr_cxr"])
def test_the_seed_alone_decides_the_bytes(source: str, tmp_path: Path):
    same_bytes(source, tmp_path)


def test_imagenome_asks_for_the_gold_regions_alone(mini: Callable[[str], Mini]):
    made = mini("chest_imagenome")
    queries = made.tasks["chest_imagenome/t2r"].queries
    assert {query.label for query in queries} == set(chest_imagenome.GOLD_NAMES)
    assert len(queries) == chest_imagenome.GOLD * len(chest_imagenome.GOLD_NAMES)


def test_imagenome_crops_where_the_original_box_is(mini: Callable[[str], Mini]):
    made = mini("chest_imagenome")
    base = made.official / "chest-imagenome-dataset-1.0.0" / "gold_dataset"
    gold = rows(base / "gold_bbox_coordinate_annotations_1000images.csv")
    sizes = {
        (row["image_id"].removesuffix(".dcm"), row["bbox_name"]): (
            max(28, int(row["original_width"])),
            max(28, int(row["original_height"])),
        )
        for row in gold
    }
    assert any(int(row["original_width"]) < 28 for row in gold)
    corners = {
        (row["image_id"].removesuffix(".dcm"), row["bbox_name"]): (
            int(row["original_x1"]),
            int(row["original_y1"]),
        )
        for row in gold
    }
    for query in made.tasks["chest_imagenome/t2r"].queries:
        (crop,) = query.candidates[0].item.images
        asked = query.item.images[0].path
        with Image.open(crop.path) as picture, Image.open(asked) as whole:
            size = sizes[asked.stem, query.label]
            assert picture.size == size
            if min(size) > 28:  # not widened
                left, top = corners[asked.stem, query.label]
                part = whole.crop((left, top, left + size[0], top + size[1])).convert("RGB")
                np.testing.assert_array_equal(np.asarray(picture), np.asarray(part))


def test_imagenome_scene_graphs_hold_boxes_that_cannot_be_cut(mini: Callable[[str], Mini]):
    path = mini("chest_imagenome").official / "chest-imagenome-dataset-1.0.0" / "silver_dataset"
    with zipfile.ZipFile(path / "scene_graph.zip") as archive:
        graph = json.loads(archive.read(archive.namelist()[0]))
    assert len(graph["objects"]) == len(chest_imagenome.REGIONS) - 1
    flat = [one for one in graph["objects"] if one["original_x2"] <= one["original_x1"]]
    outside = [one for one in graph["objects"] if one["original_x1"] >= chest_imagenome.WIDE]
    assert (len(flat), len(outside)) == (1, 1)


def test_imagenome_silver_boxes_that_cannot_be_cut_are_faults(tmp_path: Path):
    made = make_mini("chest_imagenome", tmp_path, boxes="silver")
    # of four test pictures one is to be avoided; two boxes of each of the others cannot be cut
    check(made, faulty=2 * 3)
    assert made.document["records"] == 3
    regions = len(chest_imagenome.REGIONS) - 3
    assert len(made.tasks["chest_imagenome/t2r"].queries) == 3 * regions


def test_vindr_merges_boxes_of_one_class(mini: Callable[[str], Mini]):
    made = mini("vindr_cxr")
    table = made.official / "vindr-cxr" / "1.0.0" / "annotations" / "annotations_test.csv"
    boxes = rows(table)
    pairs = {(row["image_id"], row["class_name"]) for row in boxes if row["x_min"]}
    queries = made.tasks["vindr_cxr/t2r"].queries
    assert len(queries) == len(pairs) < len([row for row in boxes if row["x_min"]])
    assert {query.label for query in queries} == set(vindr_cxr.LOCAL)
    assert {len(query.candidates[0].item.images) for query in queries} == {1, 2}
    healthy = {row["image_id"] for row in boxes if row["class_name"] == "No finding"}
    assert len(healthy) == vindr_cxr.HEALTHY


def test_vindr_stores_every_fourth_picture_inverted(mini: Callable[[str], Mini]):
    made = mini("vindr_cxr")
    kinds = [
        pydicom.dcmread(path).PhotometricInterpretation
        for path in (made.official / "vindr-cxr" / "1.0.0" / "test").glob("*.dicom")
    ]
    assert kinds.count("MONOCHROME1") == len(kinds) // 4 == 6
    # the background is dim in both kinds once they are shown
    for query in made.tasks["vindr_cxr/t2r"].queries:
        with Image.open(query.item.images[0].path) as picture:
            assert np.median(np.asarray(picture.convert("L"))) < 128


def test_kvasir_seg_takes_the_largest_box_and_mends_two(mini: Callable[[str], Mini]):
    made = mini("kvasir_seg")
    boxes = json.loads((made.official / "Kvasir-SEG" / "kavsir_bboxes.json").read_text("utf-8"))
    assert sorted(len(one["bbox"]) for one in boxes.values())[-1] == 2
    assert any(one["bbox"][0]["xmin"] > one["bbox"][0]["xmax"] for one in boxes.values())
    assert made.document["records"] == kvasir_seg.FRAMES + 6
    for query in made.tasks["kvasir_seg/t2r"].queries:
        assert len(query.candidates) == 1
        with Image.open(query.candidates[0].item.images[0].path) as picture:
            assert min(picture.size) >= 28


def test_isic2018_keeps_to_the_lesion_masks_of_the_test_part(mini: Callable[[str], Mini]):
    made = mini("isic2018")
    assert len(made.tasks["isic2018/t2r"].queries) == 8 + 6
    assert len({query.label for query in made.tasks["isic2018/t2r"].queries}) <= 2


def test_nerve_masks_and_run_lengths_say_the_same(mini: Callable[[str], Mini]):
    made = mini("ultrasound_nerve")
    told = {(row["subject"], row["img"]): row["pixels"] for row in rows(made.official /
            "train_masks.csv")}  # fmt: skip
    assert "" in told.values()
    for (subject, frame), runs in told.items():
        with Image.open(made.official / "train" / f"{subject}_{frame}_mask.tif") as picture:
            mask = np.asarray(picture) > 0
        drawn = np.zeros(mask.size, bool)
        numbers = list(map(int, runs.split()))
        for start, length in zip(numbers[::2], numbers[1::2], strict=True):
            drawn[start - 1 : start - 1 + length] = True
        np.testing.assert_array_equal(drawn.reshape(mask.shape[::-1]).T, mask)


def test_mammo_keeps_single_categories_and_clips_boxes(mini: Callable[[str], Mini]):
    made = mini("vindr_mammo")
    table = rows(made.official / "vindr-mammo" / "1.0.0" / "finding_annotations.csv")
    tested = [row for row in table if row["split"] == "test" and row["xmin"]]
    assert any("', '" in row["finding_categories"] for row in tested)
    assert any(float(row["xmax"]) > float(row["width"]) for row in tested)
    single = [row for row in tested if "', '" not in row["finding_categories"]]
    queries = made.tasks["vindr_mammo/t2r"].queries
    assert len(queries) == len(single)
    for query in queries:
        with Image.open(query.item.images[0].path) as picture:
            assert picture.size == (88, 128)
