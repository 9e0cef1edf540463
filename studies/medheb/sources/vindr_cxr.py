"""VinDr-CXR: boxes of findings on chest X-rays, the test part read by five radiologists together.

All boxes of one class in one picture, joined where they overlap, are one candidate. Refuses
pictures of another kind than DICOM, since boxes are in pixels of the DICOM files and nothing tells
the scale of a copy, and the competition's copy of the set, whose test part has no boxes. The
training part is not read: its boxes come from three readers apart.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import Any

from engine.errors import EvidenceError
from studies.medheb.builders.card import Choice, SourceCard, TaskPlan
from studies.medheb.builders.record import Fault, Picture, Record, Region
from studies.medheb.sources.boxed import (
    Corners,
    candidate,
    four,
    is_name,
    scaled,
    scaled_size,
    shown,
    size_of,
)
from studies.medheb.sources.folders import find_inside
from studies.medheb.sources.tables import read_table

LABELS = (
    "Aortic enlargement", "Atelectasis", "Calcification", "Cardiomegaly", "Clavicle fracture",
    "Consolidation", "Edema", "Emphysema", "Enlarged PA", "ILD", "Infiltration", "Lung Opacity",
    "Lung cavity", "Lung cyst", "Mediastinal shift", "Nodule/Mass", "Pleural effusion",
    "Pleural thickening", "Pneumothorax", "Pulmonary fibrosis", "Rib fracture", "Other lesion",
)  # fmt: skip
TABLE, NOTHING = "annotations_test.csv", "No finding"
CORNERS = ("x_min", "y_min", "x_max", "y_max")
ENDINGS = (".dicom", ".dcm")
Boxes = dict[str, list[Corners]]


def read(folder: Path, settings: Mapping[str, Any]) -> Iterator[Record | Fault]:
    """One record a picture of the test part that has a box."""
    table = find_inside(folder, TABLE)
    if table is None:
        yield Fault(str(folder), f"there is no {TABLE} in it")
        return
    images: dict[str, Boxes] = {}
    try:
        for line, row in read_table(table, ("image_id", "class_name", *CORNERS)):
            told = _take(row, images)
            if told:
                yield Fault(f"{TABLE}, line {line}", told)
    except EvidenceError as error:
        yield Fault(TABLE, error.reason)
        return
    pictures = _pictures(folder, table)
    for image, boxes in images.items():
        yield from _record(image, boxes, pictures, int(settings["longest_side"]))


def _take(row: Mapping[str, str], images: dict[str, Boxes]) -> str:
    """Put a row's box to its picture and class; what is wrong with it, or nothing."""
    if row["class_name"] == NOTHING:
        return ""
    if not is_name(row["image_id"]):
        return f"{row['image_id']!r} names no picture"
    try:
        box = four(row[name] for name in CORNERS)
    except ValueError:
        return f"the corners of {row['class_name']} are no numbers"
    images.setdefault(row["image_id"], {}).setdefault(row["class_name"], []).append(box)
    return ""


def _pictures(folder: Path, table: Path) -> Path:
    """The folder ``test``; tables may lie in it, beside it, or in a folder beside it."""
    near = [table.parent, table.parent / "test", table.parent.parent / "test"]
    found = next((place for place in near if _has_any(place)), None)
    return found or find_inside(folder, "test") or table.parent


def _has_any(place: Path) -> bool:
    return any(next(place.glob(f"*{ending}"), None) for ending in ENDINGS)


def _record(image: str, boxes: Boxes, pictures: Path, side: int) -> Iterator[Record | Fault]:
    files = (pictures / f"{image}{ending}" for ending in ENDINGS)
    path = next((path for path in files if path.is_file()), None)
    if path is None:
        yield Fault(image, f"there is no {image}.dicom in {pictures.name}")
        return
    try:
        size = size_of(path)
    except EvidenceError as error:
        yield Fault(path.name, error.reason)
        return
    written = scaled_size(*size, side)
    regions = []
    for name, found in boxes.items():
        joined = candidate(scaled(found, size, written), *written)
        if joined:
            regions.append(Region(name, joined))
        else:
            yield Fault(
                image, f"no box of {name} has area inside the {size[1]} x {size[0]} picture"
            )
    picture = Picture(f"test/{image}.png", pixels=partial(shown, path, side))
    if regions:
        yield Record(image, image, "test", pictures=(picture,), regions=tuple(regions))


CARDS = (
    SourceCard(
        id="vindr_cxr",
        title="VinDr-CXR 1.0.0",
        form="2d",
        modality="chest X-ray",
        anatomy="chest_thorax",
        access="credentialed",
        licence="PhysioNet Credentialed Health Data License 1.5.0",
        url="https://physionet.org/content/vindr-cxr/1.0.0/",
        obtain="Apply at PhysioNet, then fetch the folders test and annotations (about 200 GB "
        "with the training part, which is not needed).",
        expects=tuple(f"{way}{TABLE}" for way in ("", "*/", "*/*/", "*/*/*/")),
        read=read,
        plans=(TaskPlan("vindr_cxr/t2r", "region"),),
        settings=(
            Choice(
                "longest_side", 0, (),
                "pixels to which pictures and boxes are shrunk, 0 for the DICOM size; the size of "
                "the authors' PNG copies is unknown",
            ),
        ),
    ),
)  # fmt: skip
