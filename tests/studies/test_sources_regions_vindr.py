"""VinDr-CXR and VinDr-Mammo: DICOM with low values white, boxes of a class joined."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from studies.errors import StudyError
from studies.medheb.tasks import load_tasks
from tests.engine.dicom_files import native
from tests.studies.sources_2d_checks import build, records_of, rows_of
from tests.studies.sources_region_checks import crops_of, cut, equal, region_task, table

HEIGHT, WIDTH = 150, 120
CENTER, SPAN = 2048, 4096
IMAGES = [f"{n:032x}" for n in range(10, 16)]
CXR, MAMMO = "vindr_cxr/t2r", "vindr_mammo/t2r"


def values(number: int, shape: tuple[int, int] = (HEIGHT, WIDTH)) -> np.ndarray:
    return np.random.default_rng(number).integers(0, 4096, shape, np.uint16)


def dicom(path: Path, number: int, shape: tuple[int, int] = (HEIGHT, WIDTH)) -> np.ndarray:
    """Write a mammogram or X-ray whose low values are white; its grey values by the standard."""
    path.parent.mkdir(parents=True, exist_ok=True)
    raw = values(number, shape)
    native(
        path, raw.tobytes(), shape, BitsStored=12, PhotometricInterpretation="MONOCHROME1",
        WindowCenter=CENTER, WindowWidth=SPAN, SOPInstanceUID=f"1.2.{number}",
    )  # fmt: skip
    share = (raw - (CENTER - 0.5)) / (SPAN - 1) + 0.5
    return (255 - np.rint(np.clip(share, 0, 1) * 255)).astype(np.uint8)


ROWS = [
    # two boxes that overlap enough, one apart: one candidate of two pictures
    [IMAGES[0], "Nodule/Mass", 10, 10, 50, 60],
    [IMAGES[0], "Nodule/Mass", 14, 10, 54, 60],
    [IMAGES[0], "Nodule/Mass", 70, 90, 115, 140],
    [IMAGES[0], "Cardiomegaly", 20.5, 30.2, 100.1, 120.9],
    [IMAGES[1], "Nodule/Mass", 60, 60, 64, 70],  # smaller than a patch
    [IMAGES[1], "Other lesion", 100, 100, 160, 170],  # over the edge
    [IMAGES[2], "No finding", "", "", "", ""],
    [IMAGES[3], "ILD", 0, 0, 0, 40],  # no width
    [IMAGES[3], "Cardiomegaly", 5, 5, 90, 90],
    [IMAGES[4], "Cardiomegaly", 5, 5, "", 90],
    [IMAGES[5], "Cardiomegaly", 5, 5, 60, 90],  # without a file
    [f"../train/{IMAGES[0]}", "Cardiomegaly", 5, 5, 60, 90],
]


@pytest.fixture
def cxr(tmp_path: Path) -> tuple[Path, dict[str, np.ndarray]]:
    base = tmp_path / "vindr-cxr" / "1.0.0"
    grey = {one: dicom(base / "test" / f"{one}.dicom", n) for n, one in enumerate(IMAGES[:5])}
    columns = "image_id,class_name,x_min,y_min,x_max,y_max"
    table(base / "annotations" / "annotations_test.csv", columns, ROWS)
    table(base / "annotations" / "image_labels_test.csv", "image_id,Other disease", [])
    dicom(base / "train" / f"{IMAGES[0]}.dicom", 77)  # the same name is another picture there
    return tmp_path / "vindr-cxr", grey


def test_all_boxes_of_a_class_in_a_picture_are_one_candidate(cxr, tmp_path: Path):
    folder, grey = cxr
    build("vindr_cxr", folder, tmp_path / "data")
    read = region_task(CXR, tmp_path / "data")
    assert len(read.queries) == len({query.gold for query in read.queries}) == 5
    assert {query.item.text for query in read.queries} == {
        "Nodule/Mass", "Cardiomegaly", "Other lesion",
    }  # fmt: skip
    crops = crops_of(CXR, tmp_path / "data", qry_img_path=IMAGES[0], qry_text="Nodule/Mass")
    assert len(crops) == 2
    assert equal(crops[0], cut(grey[IMAGES[0]], (10, 10, 54, 60)))
    assert equal(crops[1], cut(grey[IMAGES[0]], (70, 90, 115, 140)))
    (query,) = [q for q in read.queries if "+" in q.gold]
    assert len(query.candidates[0].item.images) == 2


def test_crops_are_whole_pixels_wide_enough_and_inside(cxr, tmp_path: Path):
    folder, grey = cxr
    build("vindr_cxr", folder, tmp_path / "data")
    for image, name, box in (
        (IMAGES[0], "Cardiomegaly", (20, 30, 101, 121)),
        (IMAGES[1], "Nodule/Mass", (48, 51, 76, 79)),
        (IMAGES[1], "Other lesion", (92, 100, 120, 150)),
    ):
        (crop,) = crops_of(CXR, tmp_path / "data", qry_img_path=image, qry_text=name)
        assert equal(crop, cut(grey[image], box)), name


def test_low_values_are_never_shown_white(cxr, tmp_path: Path):
    folder, grey = cxr
    build("vindr_cxr", folder, tmp_path / "data")
    (found,) = [task for task in load_tasks(tmp_path / "data") if task.id == CXR]
    names = {row["qry_img_path"] for row in rows_of(CXR, tmp_path / "data")}
    assert len(names) == 3
    for name in names:
        image = np.asarray(Image.open(tmp_path / "data" / found.image_root / name))
        assert equal(image, grey[Path(name).stem])


def test_faults_of_rows_and_pictures(cxr):
    folder, _ = cxr
    records, faults = records_of("vindr_cxr", folder)
    assert [record.key for record in records] == [IMAGES[0], IMAGES[1], IMAGES[3]]
    told = [(fault.where, fault.reason) for fault in faults]
    assert [where for where, _ in told] == [
        "annotations_test.csv, line 11", "annotations_test.csv, line 13", IMAGES[3], IMAGES[5],
    ]  # fmt: skip
    assert "names no picture" in told[1][1]
    assert "no box of ILD has area" in told[2][1]
    assert "there is no" in told[3][1]


def test_tables_beside_the_pictures_and_a_smaller_copy(cxr, tmp_path: Path):
    folder, grey = cxr
    base = folder / "1.0.0"
    for path in (base / "annotations").iterdir():
        path.rename(base / "test" / path.name)
    (base / "annotations").rmdir()
    build("vindr_cxr", folder, tmp_path / "data", longest_side=75)
    region_task(CXR, tmp_path / "data")
    (crop,) = crops_of(CXR, tmp_path / "data", qry_img_path=IMAGES[0], qry_text="Cardiomegaly")
    half = Image.fromarray(grey[IMAGES[0]]).resize((60, 75), Image.Resampling.BILINEAR)
    expected = cut(np.asarray(half), (10, 15, 51, 61)).astype(int)
    assert np.abs(crop.astype(int) - expected).max() <= 1
    crops = crops_of(CXR, tmp_path / "data", qry_img_path=IMAGES[0], qry_text="Nodule")
    assert {crop.shape for crop in crops} == {(28, 28)}


def test_pngs_of_unknown_scale_and_the_competition_are_refused(cxr, tmp_path: Path):
    folder, grey = cxr
    columns = "image_id,class_name,x_min,y_min,x_max,y_max"
    table(folder / "1.0.0" / "annotations" / "annotations_test.csv", columns, ROWS[:4])
    for path in (folder / "1.0.0" / "test").iterdir():
        Image.fromarray(grey[path.stem]).save(path.with_suffix(".png"))
        path.unlink()
    with pytest.raises(StudyError, match=r"there is no \w+\.dicom"):
        records_of("vindr_cxr", folder)
    kaggle = tmp_path / "vinbigdata"
    table(kaggle / "train.csv", "image_id,class_name,class_id,rad_id,x_min,y_min,x_max,y_max", [])
    with pytest.raises(StudyError, match="does not look like VinDr-CXR"):
        records_of("vindr_cxr", kaggle)


TALL = (160, 100)
HEADER = (
    "study_id,image_id,series_id,view_position,laterality,width,height,breast_birads,"
    "breast_density,finding_birads,finding_categories,xmax,ymax,xmin,ymin,split"
)


def finding(study: str, image: str, names: str, box: tuple, part: str = "test") -> list:
    left, top, right, bottom = box or ("", "", "", "")
    return [
        study, image, "s1", "CC", "L", TALL[1], TALL[0], "BI-RADS 4", "DENSITY C",
        "BI-RADS 4" if box else "", f'"{names}"', right, bottom, left, top, part,
    ]  # fmt: skip


FINDINGS = [
    finding("e1", "m1", "['Mass']", (10, 10, 50, 60)),
    finding("e1", "m1", "['Mass']", (12, 12, 52, 62)),
    finding("e1", "m1", "['Skin Retraction']", (60, 100, 120, 170)),  # over the edge
    finding("e1", "m2", "['Mass', 'Skin Retraction']", (5, 5, 45, 45)),
    finding("e2", "m3", "['Mass']", (70.5, 20.5, 99.9, 60)),
    finding("e2", "m4", "['No Finding']", ()),
    finding("e3", "m5", "['Asymmetry']", (5, 5, 45, 45), "training"),
    finding("e2", "m6", "__import__('os').getcwd()", (5, 5, 45, 45)),
    finding("e1", "../e3/m5", "['Mass']", (5, 5, 45, 45)),
]


@pytest.fixture
def mammo(tmp_path: Path) -> tuple[Path, dict[str, np.ndarray]]:
    base = tmp_path / "vindr-mammo" / "1.0.0"
    grey = {
        image: dicom(base / "images" / study / f"{image}.dicom", 50 + n, TALL)
        for n, (study, image) in enumerate(
            [("e1", "m1"), ("e1", "m2"), ("e2", "m3"), ("e2", "m4"), ("e3", "m5"), ("e2", "m6")]
        )
    }
    table(base / "finding_annotations.csv", HEADER, FINDINGS)
    return base.parent, grey


def test_mammograms_follow_the_official_split(mammo, tmp_path: Path):
    folder, grey = mammo
    document = build("vindr_mammo", folder, tmp_path / "data")
    read = region_task(MAMMO, tmp_path / "data")
    assert sorted(query.item.text or "" for query in read.queries) == [
        "Mass", "Mass", "Skin Retraction",
    ]  # fmt: skip
    for image, name, box in (
        ("m1", "Mass", (10, 10, 52, 62)),
        ("m1", "Skin", (60, 100, 100, 160)),
        ("m3", "Mass", (70, 20, 100, 60)),
    ):
        (crop,) = crops_of(MAMMO, tmp_path / "data", qry_img_path=image, qry_text=name)
        assert equal(crop, cut(grey[image], box))
    assert [fault["where"] for fault in document["faults"]] == [
        "finding_annotations.csv, line 9", "finding_annotations.csv, line 10",
    ]  # fmt: skip
    assert "cannot be read" in document["faults"][0]["reason"]
    assert "name no picture" in document["faults"][1]["reason"]


def test_what_is_open_about_mammograms_can_be_chosen(mammo, tmp_path: Path):
    folder, _ = mammo

    def texts(**settings: str) -> list[tuple[str, str]]:
        records, _ = records_of("vindr_mammo", folder, **settings)
        return [(record.key, region.text) for record in records for region in record.regions]

    assert texts(boxes="single") == [("m1", "Skin Retraction"), ("m3", "Mass")]
    assert ("m5", "Asymmetry") in texts(part="both")
    assert ("m2", "Skin Retraction") in texts(several_categories="each")
    assert texts(wording="full")[0] == ("m1", "Mass, left breast, CC view, BI-RADS 4")
    assert ("m5", "Asymmetry") not in texts()


def test_a_resized_copy_gets_its_boxes_rescaled(mammo, tmp_path: Path):
    folder, grey = mammo
    for path in (folder / "1.0.0" / "images").rglob("*.dicom"):
        small = Image.fromarray(grey[path.stem]).resize((TALL[1] // 2, TALL[0] // 2))
        small.save(path.with_suffix(".png"))
        path.unlink()
    Image.fromarray(grey["m3"][:90]).save(folder / "1.0.0" / "images" / "e2" / "m3.png")
    document = build("vindr_mammo", folder, tmp_path / "data")
    region_task(MAMMO, tmp_path / "data")
    image = np.asarray(Image.open(folder / "1.0.0" / "images" / "e1" / "m1.png"))
    (crop,) = crops_of(MAMMO, tmp_path / "data", qry_img_path="m1", qry_text="Skin")
    assert equal(crop, cut(image, (22, 50, 50, 80)))
    assert [fault["where"] for fault in document["faults"]][2:] == ["m3.png"]
    assert "no copy at scale" in document["faults"][2]["reason"]
