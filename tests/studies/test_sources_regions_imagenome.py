"""Chest ImaGenome: gold boxes in pixels of the original, silver ones by scene graph."""

from __future__ import annotations

import json
import zipfile
from pathlib import Path

import numpy as np
import pytest

from studies.errors import StudyError
from studies.medheb.builders.built import read_built
from studies.medheb.sources import chest_imagenome
from tests.engine.dicom_files import native
from tests.studies.sources_2d_checks import build, noise, records_of, rows_of, save
from tests.studies.sources_region_checks import crops_of, cut, equal, region_task, table

GOLD = "gold_dataset/gold_bbox_coordinate_annotations_1000images.csv"
COLUMNS = (
    "image_id,x1,y1,x2,y2,width,height,bbox_name,annot_id,original_x1,original_x2,original_y1,"
    "original_y2,original_width,original_height,annotator,coord224,coord_original"
)
TASK = "chest_imagenome/t2r"
PICTURES = {  # dicom id: subject, study, gold
    "aaaa-1": ("10000032", "50414267", True),
    "bbbb-2": ("11000011", "51000000", True),
    "cccc-3": ("12000000", "52000000", False),
    "dddd-4": ("13000000", "53000000", False),
}
BOXES = {
    "right lung": (20, 10, 80, 120),
    "left lung": (100, 10, 160, 120),
    "carina": (88, 30, 94, 36),  # smaller than a patch
    "trachea": (-5, -7, 40, 50),  # over the edge
}


def place(dicom: str, ending: str = ".dcm") -> str:
    subject, study, _ = PICTURES[dicom]
    return f"files/p{subject[:2]}/p{subject}/s{study}/{dicom}{ending}"


def pixels(dicom: str) -> np.ndarray:
    return noise(ord(dicom[0]), shape=(200, 240))


def gold_row(dicom: str, name: str, box: tuple[int, ...], number: int) -> list:
    left, top, right, bottom = box
    small = [1, 1, 50, 50, 49, 49]  # of the padded 224 frame: wrong on the original
    size = [right - left, bottom - top]
    return [f"{dicom}.dcm", *small, name, number, left, right, top, bottom, *size, "a1", '""', '""']


@pytest.fixture
def official(tmp_path: Path) -> Path:
    folder = tmp_path / "sets"
    base = folder / "chest-imagenome-dataset-1.0.0"
    rows = []
    for dicom, (_, _, gold) in PICTURES.items():
        # MIMIC-CXR-JPG beside it; a PNG's bytes under the true name keep the pixels exact
        (folder / "mimic-cxr-jpg" / place(dicom)).parent.mkdir(parents=True)
        save(folder / "x.png", pixels(dicom)).rename(
            folder / "mimic-cxr-jpg" / place(dicom, ".jpg")
        )
        if gold:
            rows += [gold_row(dicom, name, box, n) for n, (name, box) in enumerate(BOXES.items())]
    rows.append(gold_row("aaaa-1", "spine", (50, 60, 50, 90), 9))  # no width
    rows.append(gold_row("aaaa-1", "abdomen", (500, 20, 600, 90), 10))  # outside
    rows.append(gold_row("aaaa-1", "carina", (1, 1, 60, 60), 11))  # a second box of one region
    rows.append(gold_row("eeee-5", "carina", BOXES["carina"], 12))  # in no list
    table(base / GOLD, COLUMNS, rows)
    listed = [[*PICTURES[dicom][:2], dicom, place(dicom), "PA"] for dicom in PICTURES]
    columns = "subject_id,study_id,dicom_id,path,ViewPosition"
    table(base / "utils/cxr-record-list_view.csv", columns, listed)
    table(base / "silver_dataset/splits/images_to_avoid.csv", columns, listed[:2])
    test = [[n, *row] for n, row in enumerate([listed[0], *listed[2:]])]
    table(base / "silver_dataset/splits/test.csv", f",{columns}", test)
    graphs(base)
    return folder


def graphs(base: Path) -> None:
    """The archive of scene graphs, as it is handed out."""
    with zipfile.ZipFile(base / "silver_dataset" / "scene_graph.zip", "w") as archive:
        for dicom in PICTURES:
            objects = [
                {
                    "object_id": f"{dicom}_{name}", "bbox_name": name,
                    "x1": 1, "y1": 1, "x2": 40, "y2": 40,
                    "original_x1": box[0], "original_y1": box[1],
                    "original_x2": box[2], "original_y2": box[3],
                }
                for name, box in BOXES.items()
            ]  # fmt: skip
            objects[0] |= {"original_x1": None}  # boxes can be missing
            objects[1] |= {"original_x2": objects[1]["original_x1"]}
            document = {"image_id": dicom, "objects": objects, "attributes": []}
            archive.writestr(f"scene_graph/{dicom}_SceneGraph.json", json.dumps(document))


def test_gold_boxes_are_cut_from_the_original(official: Path, tmp_path: Path):
    document = build("chest_imagenome", official, tmp_path / "data")
    read = region_task(TASK, tmp_path / "data")
    assert document["records"] == 2
    assert len(read.queries) == len({q.gold for q in read.queries}) == 8
    for dicom in ("aaaa-1", "bbbb-2"):
        for name, box in {**BOXES, "carina": (77, 19, 105, 47), "trachea": (0, 0, 40, 50)}.items():
            (crop,) = crops_of(TASK, tmp_path / "data", qry_img_path=dicom, qry_text=name)
            assert equal(crop, cut(pixels(dicom), box)), name
    assert {query.item.text for query in read.queries} == set(BOXES)


def test_what_has_no_area_inside_or_no_picture_is_a_fault(official: Path, tmp_path: Path):
    (official / "mimic-cxr-jpg" / place("bbbb-2", ".jpg")).unlink()
    records, faults = records_of("chest_imagenome", official)
    assert [record.key for record in records] == ["aaaa-1"]
    told = {fault.where.split(",")[0]: fault.reason for fault in faults}
    assert "not there" in told["bbbb-2"]
    assert "in no list" in told["eeee-5"]
    assert [fault.reason.split(":")[0] for fault in faults if "line" in fault.where] == [
        "spine", "abdomen",
    ]  # fmt: skip


def test_the_second_box_of_a_region_is_not_a_second_candidate(official: Path):
    records, _ = records_of("chest_imagenome", official)
    boxes = {region.text: region.boxes for region in records[0].regions}
    assert boxes["carina"] == ((77, 19, 105, 47),)
    assert records[0].group == "10000032"


def test_silver_leaves_out_what_is_to_be_avoided(official: Path, tmp_path: Path):
    build("chest_imagenome", official, tmp_path / "data", boxes="silver")
    read = region_task(TASK, tmp_path / "data")
    rows = rows_of(TASK, tmp_path / "data")
    assert {Path(row["qry_img_path"]).stem for row in rows} == {"cccc-3", "dddd-4"}
    assert {row["qry_text"] for row in rows} == {"carina", "trachea"}
    (crop,) = crops_of(TASK, tmp_path / "data", qry_img_path="dddd-4", qry_text="carina")
    assert equal(crop, cut(pixels("dddd-4"), (77, 19, 105, 47)))
    assert read.built is not None
    assert read.built.settings["boxes"] == "silver"
    assert any("Silver" in note for note in read_built(tmp_path / "data")[TASK].notes)


@pytest.mark.parametrize("arrangement", ["inside", "no files folder"])
def test_pictures_are_found_where_mirrors_put_them(official: Path, arrangement: str):
    jpg = official / "mimic-cxr-jpg"
    if arrangement == "inside":
        jpg.rename(official / "chest-imagenome-dataset-1.0.0" / "images")
    else:
        for patients in (jpg / "files").iterdir():
            patients.rename(official / patients.name)
    records, faults = records_of("chest_imagenome", official)
    assert len(records) == 2
    assert not [fault for fault in faults if "picture (files" in fault.reason]


def test_another_folder_is_refused_and_a_missing_list_is_said(official: Path, tmp_path: Path):
    with pytest.raises(StudyError, match="does not look like Chest ImaGenome"):
        records_of("chest_imagenome", tmp_path / "sets" / "mimic-cxr-jpg")
    base = official / "chest-imagenome-dataset-1.0.0"
    (base / "utils/cxr-record-list_view.csv").unlink()
    records, _ = records_of("chest_imagenome", official)
    assert len(records) == 2  # the lists of splits say it too
    for path in (base / "silver_dataset" / "splits").iterdir():
        path.unlink()
    with pytest.raises(StudyError, match="no list says where the pictures lie"):
        records_of("chest_imagenome", official)


def test_pictures_of_no_use_and_dicom_pictures(official: Path, tmp_path: Path, monkeypatch):
    monkeypatch.setattr(chest_imagenome, "KNOWN_BAD", frozenset({"bbbb-2"}))
    shape = (200, 240)
    raw = np.random.default_rng(5).integers(0, 256, shape, np.uint8)
    (official / "mimic-cxr-jpg" / place("aaaa-1", ".jpg")).unlink()
    native(
        official / "mimic-cxr-jpg" / place("aaaa-1"), raw.tobytes(), shape, bits=8,
        PhotometricInterpretation="MONOCHROME1", WindowCenter=128, WindowWidth=256,
    )  # fmt: skip
    document = build("chest_imagenome", official, tmp_path / "data")
    told = {fault["where"]: fault["reason"] for fault in document["faults"]}
    assert "no use" in told["bbbb-2"]
    assert len(region_task(TASK, tmp_path / "data").queries) == 4
    (crop,) = crops_of(TASK, tmp_path / "data", qry_img_path="aaaa-1.png", qry_text="left lung")
    assert equal(crop, cut(255 - raw, BOXES["left lung"]))
    assert len(records_of("chest_imagenome", official, known_bad="keep")[0]) == 2
