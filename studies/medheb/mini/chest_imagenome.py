"""Chest ImaGenome in miniature, gold boxes and silver scene graphs, over pictures of MIMIC-CXR-JPG.

Owns the layout and its oddities: two frames of coordinates (the padded one of 224 pixels and the
original), ids that end in ``.dcm``, scene graphs inside a zip with boxes that are missing, empty or
outside, and a list of pictures to avoid.
"""

from __future__ import annotations

import io
import json
import zipfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from studies.medheb.mini.files import write_bytes, write_json, write_table, write_text
from studies.medheb.mini.mimic import Shot, make_shot, write_shot, write_tables
from studies.medheb.mini.shared import Box, generator, paint, plain

REGIONS = (
    "right lung", "right apical zone", "right upper lung zone", "right mid lung zone",
    "right lower lung zone", "right hilar structures", "left lung", "left apical zone",
    "left upper lung zone", "left mid lung zone", "left lower lung zone", "left hilar structures",
    "right costophrenic angle", "left costophrenic angle", "mediastinum", "upper mediastinum",
    "cardiac silhouette", "trachea", "right hemidiaphragm", "left hemidiaphragm",
    "right clavicle", "left clavicle", "spine", "right atrium", "cavoatrial junction", "svc",
    "carina", "aortic arch", "abdomen", "descending aorta", "left cardiac silhouette",
    "right cardiac silhouette", "left cardiophrenic angle", "right cardiophrenic angle",
    "left upper abdomen", "right upper abdomen",
)  # fmt: skip
GOLD_NAMES = REGIONS[:26]
HIGH, WIDE, SQUARE = 240, 200, 224
GOLD, AVOIDED = 6, 1  # pictures
SILVER = (("train", 3), ("valid", 1), ("test", 4))
PATHS = ["subject_id", "study_id", "dicom_id", "path", "ViewPosition"]
RATIO = SQUARE / HIGH
LEFT = (SQUARE - WIDE * RATIO) / 2  # padding beside a picture that is higher than wide


def write(folder: Path, *, seed: int) -> None:
    """``chest-imagenome-dataset-1.0.0`` and ``mimic-cxr-jpg/2.0.0/files``, side by side."""
    base, jpg = folder / "chest-imagenome-dataset-1.0.0", folder / "mimic-cxr-jpg" / "2.0.0"
    gold = [make_shot(seed, "gold", subject=n // 2, study=n % 2) for n in range(GOLD)]
    silver = {
        part: [make_shot(seed, part, subject=n) for n in range(count)] for part, count in SILVER
    }
    _write_gold(base / "gold_dataset", gold)
    _write_silver(base / "silver_dataset", silver)
    every = [*gold, *(shot for shots in silver.values() for shot in shots)]
    write_table(base / "utils" / "cxr-record-list_view.csv", map(_path_row, every), PATHS)
    _write_words(base / "semantics")
    for shot in every:
        _write_picture(jpg, shot)
    parts = dict.fromkeys([*gold, *silver["test"]], "test")
    parts |= dict.fromkeys(silver["valid"], "validate")
    parts |= dict.fromkeys(silver["train"], "train")
    write_tables(jpg, parts, {}, size=(HIGH, WIDE))


def boxes_of(shot: Shot) -> dict[str, Box]:
    """Where each region is in the original picture: a grid of six columns, a little moved."""
    found: dict[str, Box] = {}
    for place, name in enumerate(REGIONS):
        rng = generator("imagenome", shot.dicom, name)
        left = 2 + 32 * (place % 6) + int(rng.integers(0, 4))
        top = 2 + 39 * (place // 6) + int(rng.integers(0, 4))
        # the smallest are below the 28 pixels of a patch
        found[name] = (left, top, left + int(rng.integers(24, 31)), top + int(rng.integers(26, 37)))
    return found


def _write_picture(jpg: Path, shot: Shot) -> None:
    pixels = plain(shot.dicom, size=HIGH, width=WIDE, grey=True)
    for kind, (name, box) in enumerate(boxes_of(shot).items()):
        paint(pixels, box, kind, shot.dicom, name)
    write_shot(jpg, shot, pixels)


def _path_row(shot: Shot) -> dict[str, Any]:
    path = shot.path.removesuffix(".jpg") + ".dcm"
    return {**shot.ids, "path": path, "ViewPosition": shot.view}


def _in_square(box: Box) -> tuple[int, int, int, int]:
    left, top, right, bottom = box
    return (
        round(left * RATIO + LEFT), round(top * RATIO), round(right * RATIO + LEFT),
        round(bottom * RATIO),
    )  # fmt: skip


def _write_gold(base: Path, shots: Sequence[Shot]) -> None:
    rows: list[dict[str, Any]] = []
    attributes: list[dict[str, Any]] = []
    scales: list[dict[str, Any]] = []
    for shot in shots:
        for name, box in boxes_of(shot).items():
            if name not in GOLD_NAMES:
                continue
            rows.append(_gold_row(shot, name, box, len(rows)))
            attributes.append(_attribute(shot, name, box))
        scales.append({
            "image_id": f"{shot.dicom}.dcm", "top": 0, "bottom": 0, "left": LEFT, "right": LEFT,
            "ratio": HIGH / SQUARE,
        })  # fmt: skip
    columns = [
        "image_id", "x1", "y1", "x2", "y2", "width", "height", "bbox_name", "annot_id",
        "original_x1", "original_x2", "original_y1", "original_y2", "original_width",
        "original_height", "annotator", "coord224", "coord_original",
    ]  # fmt: skip
    write_table(base / "gold_bbox_coordinate_annotations_1000images.csv", rows, columns)
    columns = ["image_id", "bbox", "categoryID", "context", "label_name"]
    name = "gold_object_attribute_with_coordinates.txt"
    write_table(base / name, attributes, columns, delimiter="\t")
    columns = ["image_id", "top", "bottom", "left", "right", "ratio"]
    write_table(base / "gold_bbox_scaling_factors_original_to_224x224.csv", scales, columns)


def _gold_row(shot: Shot, name: str, box: Box, number: int) -> dict[str, Any]:
    x1, y1, x2, y2 = _in_square(box)
    left, top, right, bottom = box
    return {
        "image_id": f"{shot.dicom}.dcm", "x1": x1, "y1": y1, "x2": x2, "y2": y2,
        "width": x2 - x1, "height": y2 - y1, "bbox_name": name, "annot_id": number,
        "original_x1": left, "original_x2": right, "original_y1": top, "original_y2": bottom,
        "original_width": right - left, "original_height": bottom - top, "annotator": "1",
        "coord224": str([x1, y1, x2, y2]), "coord_original": str(list(box)),
    }  # fmt: skip


def _attribute(shot: Shot, name: str, box: Box) -> dict[str, Any]:
    return {
        "image_id": f"{shot.dicom}.dcm", "bbox": name, "categoryID": "anatomicalfinding",
        "context": "no", "label_name": "lung opacity",
    }  # fmt: skip


def _write_silver(base: Path, parts: dict[str, list[Shot]]) -> None:
    held = io.BytesIO()
    tabular: list[dict[str, Any]] = []
    with zipfile.ZipFile(held, "w", zipfile.ZIP_DEFLATED) as archive:
        for shot in (one for shots in parts.values() for one in shots):
            objects = [_object(shot, name, box) for name, box in boxes_of(shot).items()]
            tabular += objects
            graph = {"image_id": shot.dicom, "objects": _spoilt(objects)}
            graph |= {"attributes": [], "relationships": []}
            entry = zipfile.ZipInfo(f"scene_graph/{shot.dicom}_SceneGraph.json")
            archive.writestr(entry, json.dumps(graph))
    write_bytes(base / "scene_graph.zip", held.getvalue())
    for part, shots in parts.items():
        rows = [{"": place, **_path_row(shot)} for place, shot in enumerate(shots)]
        write_table(base / "splits" / f"{part}.csv", rows, ["", *PATHS])
    avoid = [_path_row(shot) for shot in parts["test"][:AVOIDED]]
    write_table(base / "splits" / "images_to_avoid.csv", avoid, PATHS)
    columns = ["object_id", "bbox_name", "x1", "y1", "x2", "y2"]
    name = "bbox_objects_tabular.txt"
    write_table(base / "scene_tabular" / name, tabular, columns, delimiter="\t")


def _object(shot: Shot, name: str, box: Box) -> dict[str, Any]:
    square = dict(zip(("x1", "y1", "x2", "y2"), _in_square(box), strict=True))
    corners = ("original_x1", "original_y1", "original_x2", "original_y2")
    original = dict(zip(corners, box, strict=True))
    return {"object_id": f"{shot.dicom}_{name}", "bbox_name": name, **square, **original}


def _spoilt(objects: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """One object is not there, one has no area, one lies outside the picture."""
    made = [dict(one) for one in objects[:-1]]
    made[-1]["original_x2"] = made[-1]["original_x1"]
    made[-2] |= {"original_x1": WIDE + 5, "original_x2": WIDE + 40}
    return made


def _write_words(base: Path) -> None:
    write_text(base / "objects_detectable_by_bbox_pipeline_v1.txt", "\n".join(REGIONS) + "\n")
    write_text(base / "attribute_relations_v1.txt", "anatomicalfinding\tlung opacity\n")
    write_json(base / "label_to_UMLS_mapping.json", {name: [] for name in REGIONS})
