"""PanNuke: H&E patches of 19 tissues in three folds, with the nuclei of five classes.

Owns the official arrays (pictures and masks are mapped, a fold is never loaded), tissue classes and
the regions of PanNuke-VG: all nuclei of one class in one patch are one candidate. The folds are
pooled and cut by patch; no slide and no patient is named. Refuses the background channel as a
class, and folds whose arrays differ in length.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from engine.errors import EvidenceError
from studies.medheb.builders import regions
from studies.medheb.builders.card import Choice, SourceCard, TaskPlan
from studies.medheb.builders.record import Box, Fault, Picture, Pixels, Record, Region
from studies.medheb.sources.arrays import Array, map_npy
from studies.medheb.sources.folders import find_inside

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
FOLDS = (1, 2, 3)


@dataclass(frozen=True)
class Fold:
    """One fold's arrays.

    Attributes:
        number: 1 to 3.
        images: [N, H, W, 3], numbers 0..255.
        types: tissue of each patch.
        masks: [N, H, W, 6], instance ids; None where they are not there.
    """

    number: int
    images: Array
    types: Array
    masks: Array | None


def read(folder: Path, settings: Mapping[str, Any]) -> Iterator[Record | Fault]:
    """The patches of all folds that are there."""
    for number in FOLDS:
        try:
            fold = _open(folder, number)
        except EvidenceError as error:
            yield Fault(f"Fold {number}: {error.path.name}", error.reason)
            continue
        if fold.masks is None:
            yield Fault(f"Fold {number}: masks.npy", "it is not there: no regions of this fold")
        for row in range(len(fold.images)):
            yield _record(fold, row, settings)


def _open(folder: Path, number: int) -> Fold:
    images = find_inside(folder, f"images/fold{number}/images.npy", depth=4)
    if images is None:
        raise EvidenceError("images.npy", "missing", "this fold is not there")
    masks = find_inside(folder, f"masks/fold{number}/masks.npy", depth=4)
    fold = Fold(
        number,
        map_npy(images),
        map_npy(images.with_name("types.npy")),
        None if masks is None else map_npy(masks),
    )
    count = len(fold.images)
    if fold.images.ndim != 4 or fold.images.shape[3] != 3 or len(fold.types) != count:
        raise EvidenceError(
            images, "unsupported", f"pictures {fold.images.shape}, tissues {fold.types.shape}"
        )
    if fold.masks is not None and fold.masks.shape != (*fold.images.shape[:3], 6):
        raise EvidenceError(
            images, "unsupported", f"pictures {fold.images.shape}, masks {fold.masks.shape}"
        )
    return fold


def _record(fold: Fold, row: int, settings: Mapping[str, Any]) -> Record | Fault:
    key, tissue = f"fold{fold.number}_{row:04d}", str(fold.types[row]).strip()
    if tissue not in TISSUES:
        return Fault(key, f"the tissue {tissue!r} is none of the {len(TISSUES)}")
    label = TISSUES[tissue] if settings["wording"] == "mirror" else tissue
    found = () if fold.masks is None else _regions(np.asarray(fold.masks[row]), settings)
    picture = Picture(f"{key}.png", pixels=partial(_pixels, fold.images, row))
    return Record(key, key, "", (label,), (picture,), regions=found)


def _pixels(images: Array, row: int) -> Pixels:
    return np.clip(np.rint(images[row]), 0, 255).astype(np.uint8)


def _regions(mask: Array, settings: Mapping[str, Any]) -> tuple[Region, ...]:
    """One region per nucleus class that is there, as the settings want it."""
    found = []
    for channel, (code, words) in enumerate(NUCLEI.items()):
        boxes = _chosen(_instances(mask[..., channel]), str(settings["candidates"]))
        wide = [regions.widen(box, *mask.shape[:2]) for box in boxes]
        if not boxes or (wide != boxes and settings["small"] == "leave out"):
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


def _instances(ids: NDArray[np.generic]) -> list[Box]:
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


def found(folder: Path, settings: Mapping[str, Any]) -> tuple[str, ...]:
    """How many patches lie there, since two counts are about."""
    counts = {}
    for number in FOLDS:
        path = find_inside(folder, f"images/fold{number}/images.npy", depth=4)
        if path is not None:
            counts[number] = len(map_npy(path))
    told = ", ".join(f"fold {number}: {count}" for number, count in counts.items())
    return (f"{sum(counts.values())} patches ({told}), pooled and cut by patch.",)


CARDS = (
    SourceCard(
        id="pannuke",
        title="PanNuke",
        form="2d",
        modality="histopathology (H&E patches)",
        anatomy="pathology",
        access="open",
        licence="CC BY-NC-SA 4.0",
        url="https://warwick.ac.uk/fac/cross_fac/tia/data/pannuke",
        obtain="Download fold_1.zip, fold_2.zip and fold_3.zip from its page and unpack them into "
        "one folder; no account is needed. Copies in Parquet have other columns and are not read.",
        expects=tuple(
            f"{way}images/fold[123]/images.npy" for way in ("", "*/", "*/*/", "*/*/*/", "*/*/*/*/")
        ),
        read=read,
        plans=(
            TaskPlan("pannuke/i2i", "exemplars"),
            TaskPlan("pannuke/t2i", "text-exemplars"),
            TaskPlan("pannuke_vg/t2r", "region"),
        ),
        labels=tuple(TISSUES.values()),
        settings=(
            Choice(
                "wording", "mirror", ("mirror", "official"),
                "tissues and nuclei worded as in the mirror that the authors used, or as in the "
                "official arrays and readme",
            ),
            Choice(
                "candidates", "all", ("all", "single", "union"),
                "a region is all nuclei of a class as several crops, as in the release, or a lone "
                "nucleus, or one box round all",
            ),
            Choice(
                "small", "leave out", ("leave out", "widen"),
                "regions with a nucleus under 28 x 28 pixels are left out, as in the release's "
                "test part, or its crop is widened",
            ),
        ),
        aliases=("pannuke_vg",),
        found=found,
    ),
)  # fmt: skip
