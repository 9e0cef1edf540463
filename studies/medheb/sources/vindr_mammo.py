"""VinDr-Mammo: boxes of findings on mammograms, by the official split.

Columns are read by name, since their order differs between copies. Categories come as the text of
a list and are parsed as one, nothing is run. DICOM files and resized copies are read; boxes are in
pixels of the DICOM file and are brought to the copy's size by the table's height and width.
"""

from __future__ import annotations

import ast
from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
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
    "Mass", "Suspicious Calcification", "Asymmetry", "Focal Asymmetry", "Global Asymmetry",
    "Architectural Distortion", "Skin Thickening", "Skin Retraction", "Nipple Retraction",
    "Suspicious Lymph Node",
)  # fmt: skip
TABLE, NOTHING = "finding_annotations.csv", "No Finding"
CORNERS = ("xmin", "ymin", "xmax", "ymax")
NEEDS = ("image_id", "study_id", "finding_categories", "height", "width", "split", *CORNERS)
ENDINGS = (".dicom", ".dcm", ".png", ".jpg")
PARTS = {"test": ("test",), "both": ("test", "training"), "training": ("training",)}
SIDES = {"L": "left", "R": "right"}


@dataclass
class _Image:
    """What the table says of one picture."""

    study: str
    size: tuple[int, int]  # height, width of the DICOM file
    boxes: dict[str, list[Corners]] = field(default_factory=lambda: defaultdict(list))


def read(folder: Path, settings: Mapping[str, Any]) -> Iterator[Record | Fault]:
    """One record a picture that has a box."""
    table = find_inside(folder, TABLE)
    if table is None:
        yield Fault(str(folder), f"there is no {TABLE} in it")
        return
    images: dict[str, _Image] = {}
    try:
        for line, row in read_table(table, NEEDS):
            if row["split"] not in PARTS[settings["part"]]:
                continue
            told = _take(row, images, settings)
            if told:
                yield Fault(f"{TABLE}, line {line}", told)
    except EvidenceError as error:
        yield Fault(TABLE, error.reason)
        return
    pictures = find_inside(table.parent, "images") or table.parent
    for image, found in images.items():
        yield from _record(image, found, pictures, settings)


def _take(row: Mapping[str, str], images: dict[str, _Image], settings: Mapping[str, Any]) -> str:
    """Put a row's box to its picture; what is wrong with it, or nothing."""
    if not (is_name(row["image_id"]) and is_name(row["study_id"])):
        return f"{row['study_id']!r}, {row['image_id']!r} name no picture"
    try:
        categories = ast.literal_eval(row["finding_categories"])
        names = [str(one) for one in categories if one != NOTHING]
        if not names or (len(names) > 1 and settings["several_categories"] == "drop"):
            return ""
        box = four(row[name] for name in CORNERS)
        size = int(float(row["height"])), int(float(row["width"]))
    except (ValueError, SyntaxError, TypeError, MemoryError, RecursionError):
        return "its categories, size or corners cannot be read"
    image = images.setdefault(row["image_id"], _Image(row["study_id"], size))
    for name in names:
        image.boxes[_text(name, row) if settings["wording"] == "full" else name].append(box)
    return ""


def _text(name: str, row: Mapping[str, str]) -> str:
    side, view = SIDES.get(row.get("laterality", ""), ""), row.get("view_position", "")
    parts = [name, f"{side} breast" if side else "", f"{view} view" if view else ""]
    return ", ".join(filter(None, [*parts, row.get("finding_birads", "")]))


def _record(
    image: str, found: _Image, pictures: Path, settings: Mapping[str, Any]
) -> Iterator[Record | Fault]:
    places = (
        place / f"{image}{ending}"
        for ending in ENDINGS
        for place in (pictures / found.study, pictures)
    )
    path = next((path for path in places if path.is_file()), None)
    if path is None:
        yield Fault(image, f"there is no {found.study}/{image}.dicom in {pictures.name}")
        return
    side = int(settings["longest_side"])
    try:
        written = scaled_size(*size_of(path), side)
    except EvidenceError as error:
        yield Fault(path.name, error.reason)
        return
    if (
        min(found.size) < 1
        or abs(written[0] * found.size[1] / (written[1] * found.size[0]) - 1) > 0.02
    ):
        yield Fault(
            path.name, f"is no copy at scale of a picture of {found.size[1]} x {found.size[0]}"
        )
        return
    regions = []
    for name, boxes in found.boxes.items():
        joined = candidate(scaled(boxes, found.size, written), *written)
        if joined and (len(boxes) == 1 or settings["boxes"] == "merged"):
            regions.append(Region(name, joined))
        elif not joined:
            yield Fault(image, f"no box of {name} has area inside its picture")
    picture = Picture(f"{found.study}/{image}.png", pixels=partial(shown, path, side))
    if regions:
        yield Record(image, found.study, "test", pictures=(picture,), regions=tuple(regions))


CARDS = (
    SourceCard(
        id="vindr_mammo",
        title="VinDr-Mammo 1.0.0",
        form="2d",
        modality="mammography",
        anatomy="chest_thorax",
        access="registration",
        licence="PhysioNet Restricted Health Data License 1.5.0",
        url="https://physionet.org/content/vindr-mammo/1.0.0/",
        obtain="Sign its agreement at PhysioNet with an account, then fetch the tables and the "
        "folder images (the test studies are enough).",
        expects=tuple(f"{way}{TABLE}" for way in ("", "*/", "*/*/", "*/*/*/")),
        read=read,
        plans=(TaskPlan("vindr_mammo/t2r", "region"),),
        settings=(
            Choice(
                "part", "test", tuple(PARTS),
                "the official test part, or the training part as well for a larger pool: the test "
                "part has a few hundred boxes",
            ),
            Choice(
                "boxes", "merged", ("merged", "single"),
                "all boxes of a category in a picture as one candidate, as in VinDr-CXR, or only "
                "pictures with one box of it; the authors' script is not public",
            ),
            Choice(
                "several_categories", "drop", ("drop", "each"),
                "boxes of several categories: left out, or one of each",
            ),
            Choice(
                "wording", "category", ("category", "full"),
                "the category alone, or with side, view and BI-RADS; the authors' is unknown",
            ),
            Choice(
                "longest_side", 0, (),
                "pixels to which pictures and boxes are shrunk, 0 for the size as stored; the "
                "authors' is unknown",
            ),
        ),
    ),
)  # fmt: skip
