"""VinDr-CXR in miniature: DICOM pictures named by 32 characters, boxes and labels as tables.

Owns the layout and its oddities: training boxes of three readers, pictures stored inverted, several
boxes of one class in one picture, boxes smaller than a patch, findings without a box, and a label
column that is spelled differently in the test table.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from studies.medheb.mini.files import write_dicom, write_table
from studies.medheb.mini.shared import Box, generator, hexadecimal, paint, plain

LOCAL = (
    "Aortic enlargement", "Atelectasis", "Calcification", "Cardiomegaly", "Clavicle fracture",
    "Consolidation", "Edema", "Emphysema", "Enlarged PA", "ILD", "Infiltration", "Lung Opacity",
    "Lung cavity", "Lung cyst", "Mediastinal shift", "Nodule/Mass", "Pleural effusion",
    "Pleural thickening", "Pneumothorax", "Pulmonary fibrosis", "Rib fracture", "Other lesion",
)  # fmt: skip
GLOBAL = ("COPD", "Lung tumor", "Pneumonia", "Tuberculosis")
READERS = ("R8", "R9", "R10")
TRAIN, TEST, HEALTHY = 3, 24, 2
HIGH, WIDE = 144, 120
CORNERS = ("x_min", "y_min", "x_max", "y_max")
Finding = tuple[str, Box]


def write(folder: Path, *, seed: int) -> None:
    """``vindr-cxr/1.0.0/{train,test}/<image_id>.dicom`` and ``annotations/*.csv``."""
    base = folder / "vindr-cxr" / "1.0.0"
    for part, count in (("train", TRAIN), ("test", TEST)):
        boxes: list[dict[str, Any]] = []
        labels: list[dict[str, Any]] = []
        for place in range(count):
            name = hexadecimal(32, seed, "vindr-cxr", part, place)
            found = [] if place >= count - HEALTHY else _findings(place, seed, part)
            _write_picture(base / part / f"{name}.dicom", found, place, name)
            for reader in READERS if part == "train" else ("",):
                told = {"image_id": name, **({"rad_id": reader} if reader else {})}
                boxes += [told | row for row in _rows(found)]
                labels.append(told | _marks(found, part))
        ids = ["image_id", "rad_id"] if part == "train" else ["image_id"]
        tables = base / "annotations"
        columns = [*ids, "class_name", *CORNERS]
        write_table(tables / f"annotations_{part}.csv", boxes, columns)
        columns = [*ids, *_columns(part)]
        write_table(tables / f"image_labels_{part}.csv", labels, columns)


def _columns(part: str) -> tuple[str, ...]:
    other = "Other disease" if part == "test" else "Other diseases"
    return (*LOCAL, *GLOBAL, other, "No finding")


def _findings(place: int, seed: int, part: str) -> list[Finding]:
    """A class by turns and the next one: the first twice apart or nearly on itself, one small."""
    first, second = LOCAL[place % len(LOCAL)], LOCAL[(place + 7) % len(LOCAL)]
    shift = int(generator("vindr", seed, part, place).integers(0, 6))
    found = [(first, (8 + shift, 10, 52 + shift, 50)), (second, (70, 80, 112, 130 + shift))]
    if place % 3 == 0:
        found.append((first, (10 + shift, 12, 54 + shift, 52)))  # the same finding once more
    if place % 4 == 1:
        found.append((first, (8, 90, 44, 130)))  # another of the same class
    if place % 5 == 2:
        found.append((LOCAL[-1], (80, 20, 92, 30)))  # smaller than a patch
    return found


def _write_picture(path: Path, found: Sequence[Finding], place: int, name: str) -> None:
    """Twelve bits; each fourth is stored inverted and says so."""
    pixels = plain(name, size=HIGH, width=WIDE, grey=True)
    for finding, box in found:
        paint(pixels, box, LOCAL.index(finding), name)
    stored = pixels.astype(np.uint16) * 16
    inverted = place % 4 == 0
    kind = "MONOCHROME1" if inverted else "MONOCHROME2"
    shown = 4095 - stored if inverted else stored
    write_dicom(path, shown, name, PhotometricInterpretation=kind)


def _rows(found: Sequence[Finding]) -> list[dict[str, Any]]:
    if not found:
        return [{"class_name": "No finding"}]
    return [
        {"class_name": name, **dict(zip(CORNERS, map(float, box), strict=True))}
        for name, box in found
    ]


def _marks(found: Sequence[Finding], part: str) -> dict[str, int]:
    names = {name for name, _ in found} or {"No finding"}
    return {column: int(column in names) for column in _columns(part)}
