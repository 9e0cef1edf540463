"""Chest ImaGenome: boxes of anatomical regions on chest X-rays of MIMIC-CXR.

Owns the gold boxes (read by people, 1,000 pictures, all of them tested) and, where they are asked
for, the silver boxes of the test subjects less ``images_to_avoid``; that list names the pictures of
the gold patients, so it bears on silver alone. Boxes are those in pixels of the original picture;
the corners ``x1`` to ``y2`` are in a padded 224 frame and are refused. Left and right are the
patient's.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from engine.errors import EvidenceError
from studies.medheb.builders import choose, regions
from studies.medheb.builders.card import Choice, SourceCard, TaskPlan
from studies.medheb.builders.record import Fault, Picture, Record, Region
from studies.medheb.sources.boxed import four, size_of
from studies.medheb.sources.folders import find_inside
from studies.medheb.sources.mimic_files import PICTURES, MimicFiles, mimic_files
from studies.medheb.sources.packed import Packed
from studies.medheb.sources.tables import read_table

GOLD = "gold_bbox_coordinate_annotations_1000images.csv"
SPLITS = "silver_dataset/splits"
LISTS = ("utils/cxr-record-list_view.csv", f"{SPLITS}/test.csv", f"{SPLITS}/train.csv",
         f"{SPLITS}/valid.csv", f"{SPLITS}/images_to_avoid.csv")  # fmt: skip
# pictures that others who work with this set leave out: no chest, or nothing to be seen
_BAD = """
    0518c887-b80608ca-830de2d5-89acf0e2-bd3ec900 03b2e67c-70631ff8-685825fb-6c989456-621ca64d
    786d69d0-08d16a2c-dd260165-682e66e9-acf7e942 1d0bafd0-72c92e4c-addb1c57-40008638-b9ec8584
    f55a5fe2-395fc452-4e6b63d9-3341534a-ebb882d5 14a5423b-9989fc33-123ce6f1-4cc7ca9a-9a3d2179
    9c42d877-dfa63a03-a1f2eb8c-127c60c3-b20b7e01 996fb121-fab58dd2-7521fd7e-f9f3133c-bc202556
    56b8afd3-5f6d4419-8699d79e-6913a2bd-35a08557 93020995-6b84ca33-2e41e00d-5d6e3bee-87cfe5c6
    f57b4a53-5fecd631-2fe14e8a-f4780ee0-b8471007 d496943d-153ec9a5-c6dfe4c0-4fb9e57f-675596eb
    422689b1-40e06ae8-d6151ff3-2780c186-6bd67271 8385a8ad-ad5e02a8-8e1fa7f3-d822c648-2a41a205
    e180a7b6-684946d6-fe1782de-45ed1033-1a6f8a51 f5f82c2f-e99a7a06-6ecc9991-072adb2f-497dae52
    6d54a492-7aade003-a238dc5c-019ccdd2-05661649 2b5edbbf-116df0e3-d0fea755-fabd7b85-cbb19d84
    db9511e3-ee0359ab-489c3556-4a9b2277-c0bf0369 87495016-a6efd89e-a3697ec7-89a81d53-627a2e13
    810a8e3b-2cf85e71-7ed0b3d3-531b6b68-24a5ca89 a9f0620b-6e256cbd-a7f66357-2fe78c8a-49caac26
    46b02f13-69fb7e49-321880e4-80584065-c1f57b50
"""
KNOWN_BAD = frozenset(_BAD.split())
CORNERS = ("original_x1", "original_y1", "original_x2", "original_y2")
# where (for faults), the region's name, its four corners as written
Boxes = list[tuple[str, str, tuple[str, ...]]]


def read(folder: Path, settings: Mapping[str, Any]) -> Iterator[Record | Fault]:
    """One record a picture, with its regions."""
    base = _base(folder)
    try:
        if base is None:
            raise EvidenceError(folder, "missing", f"there is no {GOLD} and no {SPLITS} in it")
        places = _places(base)
        boxed = (
            _gold(base) if settings["boxes"] == "gold" else _silver(base, settings)
        )  # fmt: skip
        files = mimic_files(folder)
        for image, boxes in boxed:
            if image in KNOWN_BAD and settings["known_bad"] == "drop":
                yield Fault(image, "is known as a picture of no use: not used")
            elif isinstance(boxes, str):
                yield Fault(image, boxes)
            else:
                yield from _record(image, boxes, places, files)
    except EvidenceError as error:
        yield Fault(error.path.name, error.reason)


def _base(folder: Path) -> Path | None:
    for name in (f"gold_dataset/{GOLD}", SPLITS):
        found = find_inside(folder, name)
        if found is not None:
            return found.parent.parent
    return None


def _places(base: Path) -> dict[str, tuple[str, str]]:
    """Picture to patient and path, from every list that is there."""
    found: dict[str, tuple[str, str]] = {}
    for name in LISTS:
        if (base / name).is_file():
            for _, row in read_table(base / name, ("subject_id", "dicom_id", "path")):
                found.setdefault(row["dicom_id"], (row["subject_id"], row["path"]))
    if not found:
        raise EvidenceError(base / LISTS[0], "missing", "no list says where the pictures lie")
    return found


def _gold(base: Path) -> Iterator[tuple[str, Boxes | str]]:
    path = base / "gold_dataset" / GOLD
    found: dict[str, Boxes] = {}
    for line, row in read_table(path, ("image_id", "bbox_name", *CORNERS)):
        image = row["image_id"].removesuffix(".dcm")
        corners = tuple(row[name] for name in CORNERS)
        found.setdefault(image, []).append((f"{GOLD}, line {line}", row["bbox_name"], corners))
    yield from found.items()


def _silver(base: Path, settings: Mapping[str, Any]) -> Iterator[tuple[str, Boxes | str]]:
    """As many pictures of the silver test part as there can be rows, drawn by the seed."""
    avoid = base / SPLITS / "images_to_avoid.csv"
    avoided = {row["dicom_id"] for _, row in read_table(avoid, ("dicom_id",))}
    rows = read_table(base / SPLITS / "test.csv", ("dicom_id",))
    images = {row["dicom_id"] for _, row in rows} - avoided
    silver = base / "silver_dataset"
    archive = silver / "scene_graph.zip"
    packed = Packed(archive) if archive.is_file() else None
    drawn = choose.order_by_seed(images, int(settings["seed"]), str, salt="silver")
    for image in drawn[: int(settings["cap"])]:
        yield image, _graph(silver, packed, image)


def _graph(silver: Path, packed: Packed | None, image: str) -> Boxes | str:
    """The boxes of one scene graph, unpacked or inside its archive; or what is wrong with it."""
    name = f"scene_graph/{image}_SceneGraph.json"
    try:
        if (silver / name).is_file():
            content = (silver / name).read_bytes()
        elif packed is not None and name in packed:
            content = packed.read(name)
        else:
            return "it has no scene graph"
        objects = json.loads(content.decode("utf-8-sig"))["objects"]
        return [
            (name, str(one["bbox_name"]), tuple(str(one[corner]) for corner in CORNERS))
            for one in objects
            if all(one.get(corner) is not None for corner in CORNERS)
        ]
    except EvidenceError as error:
        return error.reason
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        return f"its scene graph cannot be read ({error})"


def _record(
    image: str, boxes: Boxes, places: Mapping[str, tuple[str, str]], files: MimicFiles
) -> Iterator[Record | Fault]:
    subject, listed = places.get(image, ("", ""))
    path = files.find(listed, PICTURES) if listed else None
    if path is None:
        yield Fault(image, f"its picture ({listed or 'in no list'}) is not there")
        return
    try:
        height, width = size_of(path)
    except EvidenceError as error:
        yield Fault(image, error.reason)
        return
    found: dict[str, Region] = {}
    for where, name, corners in boxes:
        region = _region(name, corners, height, width)
        if isinstance(region, str):
            yield Fault(where, f"{name}: {region}")
        else:
            found.setdefault(name, region)
    name = listed.removesuffix(".dcm") + (".png" if path.suffix == ".dcm" else path.suffix)
    if found:
        yield Record(
            image, subject, "test", pictures=(Picture(name, path),), regions=tuple(found.values())
        )  # fmt: skip


def _region(name: str, corners: Iterable[str], height: int, width: int) -> Region | str:
    try:
        box = regions.clip(four(corners), height, width)
    except ValueError:
        return "its corners are no numbers"
    if not name or box is None:
        return f"its box has no area inside the picture of {width} x {height}"
    return Region(name, (regions.widen(box, height, width),))


def found(folder: Path, settings: Mapping[str, Any]) -> tuple[str, ...]:
    """Whose boxes they are."""
    if settings["boxes"] == "gold":
        return ("Gold boxes, on all pictures that have them.",)
    return ("Silver boxes of the test subjects, without the pictures to avoid.",)


CARDS = (
    SourceCard(
        id="chest_imagenome",
        title="Chest ImaGenome 1.0.0",
        form="2d",
        modality="chest X-ray",
        anatomy="chest_thorax",
        access="credentialed",
        licence="PhysioNet Credentialed Health Data License 1.5.0",
        url="https://physionet.org/content/chest-imagenome/1.0.0/",
        obtain="Apply at PhysioNet for Chest ImaGenome and MIMIC-CXR-JPG; put the files folder "
        "of MIMIC-CXR-JPG (at least the gold pictures) beside or into the unpacked data set.",
        expects=tuple(
            f"{way}{name}"
            for way in ("", "*/", "*/*/", "*/*/*/")
            for name in (f"gold_dataset/{GOLD}", SPLITS)
        ),
        read=read,
        plans=(TaskPlan("chest_imagenome/t2r", "region"),),
        settings=(
            Choice(
                "boxes", "gold", ("gold", "silver"),
                "the boxes that people drew, as the authors' builder, or found ones of the test "
                "subjects",
            ),
            Choice(
                "known_bad", "drop", ("drop", "keep"),
                "23 pictures that others leave out; the authors' builder does not mention them",
            ),
        ),
        found=found,
    ),
)  # fmt: skip
