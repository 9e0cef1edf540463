"""VinDr-Mammo in miniature: four DICOM views a study, boxed findings, densities, metadata.

Owns the layout and its oddities: categories as the text of a Python list, some rows with two, empty
corners for pictures without a finding, boxes that reach out of the picture, inverted pixels.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from studies.medheb.mini.files import write_dicom, write_table
from studies.medheb.mini.shared import Box, Pixels, generator, hexadecimal, paint, plain

CATEGORIES = (
    "Mass", "Suspicious Calcification", "Asymmetry", "Focal Asymmetry", "Global Asymmetry",
    "Architectural Distortion", "Skin Thickening", "Skin Retraction", "Nipple Retraction",
    "Suspicious Lymph Node",
)  # fmt: skip
VIEWS = (("L", "CC"), ("L", "MLO"), ("R", "CC"), ("R", "MLO"))
STUDIES = (("training", 3), ("test", 6))
HIGH, WIDE = 128, 88
CORNERS = ("xmin", "ymin", "xmax", "ymax")
SHARED = (
    "study_id", "series_id", "image_id", "laterality", "view_position", "height", "width",
    "breast_birads", "breast_density",
)  # fmt: skip
Row = dict[str, Any]


def write(folder: Path, *, seed: int) -> None:
    """``vindr-mammo/1.0.0/images/<study>/<image>.dicom`` and three tables beside ``images``."""
    base = folder / "vindr-mammo" / "1.0.0"
    breasts: list[Row] = []
    findings: list[Row] = []
    tags: list[Row] = []
    for split, count in STUDIES:
        for study in range(count):
            for view in range(len(VIEWS)):
                row = _breast(seed, split, study, view)
                found = _findings(row, 4 * study + view)
                _write_view(base, row, found)
                breasts.append(row)
                findings += found
                tags.append({"SOP Instance UID": row["image_id"], "Manufacturer": "Generated"})
    write_table(base / "breast-level_annotations.csv", breasts, [*SHARED, "split"])
    finding = ("finding_categories", "finding_birads", *CORNERS, "split")
    names = ["image_id", "study_id", "series_id", *SHARED[3:], *finding]
    write_table(base / "finding_annotations.csv", findings, names)
    columns = ["SOP Instance UID", "Patient's Age", "Manufacturer", "Manufacturer's Model Name"]
    write_table(base / "metadata.csv", tags, columns)


def _breast(seed: int, split: str, study: int, view: int) -> Row:
    side, position = VIEWS[view]
    return {
        "study_id": hexadecimal(32, seed, "mammo study", split, study),
        "series_id": hexadecimal(32, seed, "mammo series", split, study),
        "image_id": hexadecimal(32, seed, "mammo image", split, study, view),
        "laterality": side, "view_position": position, "height": HIGH, "width": WIDE,
        "breast_birads": f"BI-RADS {1 + view}", "breast_density": "DENSITY C", "split": split,
    }  # fmt: skip


def _findings(row: Row, place: int) -> list[Row]:
    """None in every fourth view; else one by turns, sometimes with a second category or box."""
    if place % 4 == 3:
        return [row | {"finding_categories": "['No Finding']"}]
    shift = int(generator("mammo", row["image_id"]).integers(0, 8))
    kind = CATEGORIES[place % len(CATEGORIES)]
    named = [kind, "Skin Thickening"] if place % 8 == 2 and kind != "Skin Thickening" else [kind]
    found = [_boxed(row, named, (10.5 + shift, 12.25, 50.75 + shift, 52.0))]
    if place % 5 == 0:  # it reaches out of the picture
        other = CATEGORIES[(place + 3) % len(CATEGORIES)]
        found.append(_boxed(row, [other], (48.0, 80.0, WIDE + 6.5, HIGH + 3.0)))
    return found


def _boxed(row: Row, named: list[str], box: tuple[float, float, float, float]) -> Row:
    corners = dict(zip(CORNERS, box, strict=True))
    return row | {"finding_categories": str(named), "finding_birads": "BI-RADS 4", **corners}


def _write_view(base: Path, row: Row, found: list[Row]) -> None:
    pixels = plain(row["image_id"], size=HIGH, width=WIDE, grey=True)
    for one in found:
        if "xmin" in one:
            _paint(pixels, one, row["image_id"])
    inverted = row["view_position"] == "MLO"
    kind = "MONOCHROME1" if inverted else "MONOCHROME2"
    stored = pixels.astype(np.uint16) * 16
    write_dicom(
        base / "images" / row["study_id"] / f"{row['image_id']}.dicom",
        4095 - stored if inverted else stored,
        row["image_id"],
        modality="MG",
        PhotometricInterpretation=kind,
    )


def _paint(pixels: Pixels, one: Row, name: str) -> None:
    first = next(k for k, c in enumerate(CATEGORIES) if f"'{c}'" in one["finding_categories"])
    left, top, right, bottom = (int(one[corner]) for corner in CORNERS)
    box: Box = (left, top, min(right, WIDE), min(bottom, HIGH))
    paint(pixels, box, first, name)
