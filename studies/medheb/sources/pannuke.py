"""PanNuke: H&E patches of 19 tissues in three folds, with the nuclei of five classes.

Owns the official arrays (pictures and masks are mapped, a fold is never loaded); the regions of
PanNuke-VG are all nuclei of one class in one patch. The folds are pooled and cut by patch; no slide
and no patient is named. Refuses folds whose arrays differ in length.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from engine.errors import EvidenceError
from engine.remote import Remote
from studies.medheb.builders.card import Choice, SourceCard, TaskPlan
from studies.medheb.builders.record import Fault, Picture, Pixels, Record, Region
from studies.medheb.sources.arrays import Array, map_npy
from studies.medheb.sources.folders import find_inside
from studies.medheb.sources.nuclei import NUCLEI, TISSUES, instances, regions_of, tissue_label
from studies.medheb.sources.pannuke_mirror import mirror_files, read_mirror
from studies.medheb.sources.parquet import count_rows, patterns

FOLDS = (1, 2, 3)
WAYS = ("", "*/", "*/*/", "*/*/*/", "*/*/*/*/")


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
    """The patches of all folds that are there, from the official arrays or the mirror."""
    for number in FOLDS:
        try:
            if _arrays(folder, number) is None and mirror_files(folder, number):
                yield from read_mirror(folder, number, settings)
                continue
            fold = _open(folder, number)
        except EvidenceError as error:
            yield Fault(f"Fold {number}: {error.path.name}", error.reason)
            continue
        if fold.masks is None:
            yield Fault(f"Fold {number}: masks.npy", "it is not there: no regions of this fold")
        for row in range(len(fold.images)):
            yield _record(fold, row, settings)


def _arrays(folder: Path, number: int) -> Path | None:
    return find_inside(folder, f"images/fold{number}/images.npy", depth=4)


def _open(folder: Path, number: int) -> Fold:
    images = _arrays(folder, number)
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
    found = () if fold.masks is None else _regions(np.asarray(fold.masks[row]), settings)
    picture = Picture(f"{key}.png", pixels=partial(_pixels, fold.images, row))
    return Record(
        key, key, "", (tissue_label(tissue, settings),), (picture,), regions=found
    )  # fmt: skip


def _pixels(images: Array, row: int) -> Pixels:
    return np.clip(np.rint(images[row]), 0, 255).astype(np.uint8)


def _regions(mask: Array, settings: Mapping[str, Any]) -> tuple[Region, ...]:
    boxes = {code: instances(mask[..., channel]) for channel, code in enumerate(NUCLEI)}
    return regions_of(boxes, mask.shape[0], mask.shape[1], settings)


def found(folder: Path, settings: Mapping[str, Any]) -> tuple[str, ...]:
    """How many patches lie there, since two counts are about."""
    counts = {}
    for number in FOLDS:
        path = _arrays(folder, number)
        files = mirror_files(folder, number) if path is None else []
        if path is not None or files:
            rows = len(map_npy(path)) if path is not None else sum(map(count_rows, files))
            counts[number] = rows
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
        "one folder; no account is needed. The smaller copy RationAI/PanNuke on the hub (Parquet), "
        "which the authors of the benchmark used, is read too.",
        files=(Remote("hub", "RationAI/PanNuke", ("*.parquet",)),),
        expects=(
            *(f"{way}images/fold[123]/images.npy" for way in WAYS),
            *patterns("fold1", "fold2", "fold3"),
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
