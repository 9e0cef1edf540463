"""What both editions of PanNuke share: its tissues, its nucleus classes, and the rule of regions.

Owns wording, boxes of instances and which of them make a candidate. Knows no file. Refuses the
background channel as a class by not listing it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from studies.medheb.builders import regions
from studies.medheb.builders.record import Box, Region

# as the arrays write them: as the mirror that the authors used does
TISSUES = {
    "Adrenal_gland": "Adrenal Gland", "Bile-duct": "Bile Duct", "Bladder": "Bladder",
    "Breast": "Breast", "Cervix": "Cervix", "Colon": "Colon", "Esophagus": "Esophagus",
    "HeadNeck": "Head and Neck", "Kidney": "Kidney", "Liver": "Liver", "Lung": "Lung",
    "Ovarian": "Ovarian", "Pancreatic": "Pancreatic", "Prostate": "Prostate", "Skin": "Skin",
    "Stomach": "Stomach", "Testis": "Testis", "Thyroid": "Thyroid", "Uterus": "Uterus",
}  # fmt: skip
# in the order of the channels; the sixth, background, is everything that is no nucleus
NUCLEI = {
    "Neoplastic cells": "Neoplastic", "Inflammatory": "Inflammatory",
    "Connective/Soft tissue cells": "Connective", "Dead Cells": "Dead", "Epithelial": "Epithelial",
}  # fmt: skip


def tissue_label(code: str, settings: Mapping[str, Any]) -> str:
    """The tissue in the wording that was chosen."""
    return TISSUES[code] if settings["wording"] == "mirror" else code


def regions_of(
    boxes: Mapping[str, Sequence[Box]], height: int, width: int, settings: Mapping[str, Any]
) -> tuple[Region, ...]:
    """One region per nucleus class that is there, as the settings want it.

    Args:
        boxes: of all instances, by the class's name in the official readme.
        height: of the patch in pixels.
        width: of the patch in pixels.
        settings: ``candidates``, ``small`` and ``wording`` of the source.
    """
    found = []
    for code, words in NUCLEI.items():
        chosen = _chosen(list(boxes.get(code, ())), str(settings["candidates"]))
        wide = [regions.widen(box, height, width) for box in chosen]
        if not chosen or (wide != chosen and settings["small"] == "leave out"):
            continue
        text = words if settings["wording"] == "mirror" else code
        found.append(Region(text, tuple(dict.fromkeys(wide))))
    return tuple(found)


def _chosen(boxes: list[Box], rule: str) -> list[Box]:
    if rule == "single":
        return boxes if len(boxes) == 1 else []
    if rule == "union" and boxes:
        left, top, right, bottom = zip(*boxes, strict=True)
        return [(min(left), min(top), max(right), max(bottom))]
    return boxes


def instances(ids: NDArray[np.generic]) -> list[Box]:
    """The tight box of every instance of [H, W], by id; ids need not follow one another."""
    rows, columns = np.nonzero(ids)
    if not rows.size:
        return []
    _, place = np.unique(ids[rows, columns], return_inverse=True)
    count = int(place.max()) + 1
    low = np.full((count, 2), np.iinfo(np.int64).max)
    high = np.full((count, 2), -1)
    for axis, where in enumerate((columns, rows)):
        np.minimum.at(low[:, axis], place, where)
        np.maximum.at(high[:, axis], place, where)
    return [
        (int(left), int(top), int(right) + 1, int(bottom) + 1)
        for (left, top), (right, bottom) in zip(low, high, strict=True)
    ]
