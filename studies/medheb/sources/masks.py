"""What the sources of masks share: one box round a mask, and MedSegBench's arrays of both.

MedSegBench hands out 35 sets as ``<flag>_<size>.npz`` with ``test_images`` and ``test_label`` (and
their like for ``train`` and ``val``), squares without names or patients. Refuses arrays of another
shape and empty masks. Small regions are left out, widened or kept, as a setting says.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import ndimage

from engine.errors import EvidenceError
from studies.medheb.builders import regions
from studies.medheb.builders.card import Choice
from studies.medheb.builders.record import Box, Fault, Picture, Pixels, Record, Region
from studies.medheb.sources.arrays import Array, npz_part
from studies.medheb.sources.folders import find_inside

Found = Record | Fault
SIZES = ("512", "256", "128")
PARTS = {"test": ("test",), "all": ("test", "val", "train")}
ARRAYS = "Arrays: download {flags} (512) from Zenodo records 13358372 and 13359660; no account."


def mask_choices(small: str) -> tuple[Choice, ...]:
    """The settings of every source of masks; ``small`` is the default for small regions."""
    return (
        Choice(
            "sources", "both", ("both", "first"),
            "both data sets of the release's task, or the one that names the task alone",
        ),
        Choice(
            "copy", "found", ("found", "official", "medsegbench"),
            "which copy of the first data set: the one the authors used where it is there, else "
            "the other; or one of them by name",
        ),
        Choice(
            "small", small, ("drop", "widen", "keep"),
            "regions with a side below 28 pixels: left out, widened round their centre, or kept",
        ),
        Choice(
            "components", "whole", ("whole", "largest"),
            "the box round the whole mask, as the authors, or round its largest connected part",
        ),
        Choice(
            "edge", "kept", ("kept", "lost"),
            "the last row and column of a mask's box; the authors' cut loses them",
        ),
        Choice(
            "size", "largest", ("largest", *SIZES),
            "pixels a side of the arrays; the authors' is 512 where it is known",
        ),
        Choice(
            "array_parts", "test", tuple(PARTS),
            "which parts of the arrays are tested; not stated",
        ),
    )  # fmt: skip


def box_of(mask_HW: NDArray[np.bool_], settings: Mapping[str, Any]) -> Box | str:
    """The box round a mask, or what is wrong with it, in words.

    Args:
        mask_HW: true where the region is.
        settings: of the build.
    """
    if settings["components"] == "largest":
        mask_HW = _largest(mask_HW)
    box = regions.of_mask(mask_HW)
    if box is None:
        return "its mask is empty"
    if settings["edge"] == "lost":
        box = box[0], box[1], box[2] - 1, box[3] - 1
    width, height = box[2] - box[0], box[3] - box[1]
    if min(width, height) < 1:
        return "its region has no area"
    if min(width, height) >= regions.SMALLEST or settings["small"] == "keep":
        return box
    if settings["small"] == "drop":
        return f"its region of {width} x {height} pixels is smaller than a patch: not used"
    return regions.widen(box, mask_HW.shape[0], mask_HW.shape[1])


def _largest(mask_HW: NDArray[np.bool_]) -> NDArray[np.bool_]:
    parts, count = ndimage.label(mask_HW, np.ones((3, 3)))
    if count < 2:
        return mask_HW
    sizes = np.bincount(parts.ravel())
    sizes[0] = 0
    return np.asarray(parts == sizes.argmax())


def region_record(
    key: str, picture: Picture, box: Box | str, text: str, *, group: str = "", split: str = "test"
) -> Found:
    """A record of one region, or the fault that there is none."""
    if isinstance(box, str):
        return Fault(key, box)
    return Record(key, group or key, split, pictures=(picture,), regions=(Region(text, (box,)),))


def array_file(folder: Path, flag: str, settings: Mapping[str, Any]) -> Path | None:
    """The file of one set of MedSegBench in the size asked for, or the largest there is."""
    sizes = SIZES if settings["size"] == "largest" else (settings["size"],)
    found = (find_inside(folder, f"{flag}_{size}.npz", depth=2) for size in sizes)
    return next((path for path in found if path is not None), None)


def reads_arrays(
    folder: Path, flag: str, settings: Mapping[str, Any], *, official_first: bool = False
) -> bool:
    """Whether a source's first set is read from MedSegBench's arrays.

    Args:
        folder: in which its file is looked for.
        flag: its short name there.
        settings: of the build; ``copy`` may name one of the two.
        official_first: the official files are there and are what the authors used.
    """
    if settings["copy"] != "found":
        return bool(settings["copy"] == "medsegbench")
    return not official_first and array_file(folder, flag, settings) is not None


def both_records(
    folder: Path,
    flags: tuple[str, str],
    texts: tuple[str, str],
    settings: Mapping[str, Any],
    *,
    official: Iterable[Found] | None,
) -> Iterator[Found]:
    """A task's regions out of its two data sets.

    Args:
        folder: holds both.
        flags: of the two sets in MedSegBench.
        texts: what a query says of each.
        settings: of the build.
        official: the first set's official records; None where its arrays are read.
    """
    first = array_records(folder, flags[0], texts[0], settings)
    yield from first if official is None else official
    if settings["sources"] == "both":
        yield from array_records(folder, flags[1], texts[1], settings)


def copies_told(
    folder: Path, names: tuple[str, str], first: str, second: str, settings: Mapping[str, Any]
) -> tuple[str, ...]:
    """Which copies were read, in a sentence.

    Args:
        folder: holds both sets.
        names: of the two sets, for people.
        first: where the first was read from.
        second: short name of the second in MedSegBench.
        settings: of the build.
    """
    there = settings["sources"] == "both" and array_file(folder, second, settings) is not None
    return (f"{names[0]} from {first}; {'with' if there else 'without'} {names[1]}.",)


def array_records(
    folder: Path, flag: str, text: str, settings: Mapping[str, Any]
) -> Iterator[Found]:
    """The regions of one set of MedSegBench.

    Args:
        folder: in which its file is looked for.
        flag: its short name there.
        text: what a query says.
        settings: of the build.
    """
    path = array_file(folder, flag, settings)
    if path is None:
        yield Fault(f"{flag}_512.npz", f"it is not in {folder}; the task lacks it")
        return
    for part in PARTS[settings["array_parts"]]:
        try:
            images, masks = npz_part(path, f"{part}_images"), npz_part(path, f"{part}_label")
            _fits(path, images, masks)
        except EvidenceError as error:
            yield Fault(path.name, error.reason)
            continue
        for row in range(len(images)):
            mask = np.asarray(masks[row]).reshape(images.shape[1:3]) > 0
            name = f"{flag}/{images.shape[1]}/{part}/{row:06d}"
            picture = Picture(f"{name}.png", pixels=partial(_pixels, images, row))
            yield region_record(name, picture, box_of(mask, settings), text)


def _fits(path: Path, images: Array, masks: Array) -> None:
    flat = images.ndim == 3 or (images.ndim == 4 and images.shape[3] in (1, 3))
    if not flat or images.dtype != np.uint8:
        says = f"its images are {images.dtype} {images.shape}, not pictures"
        raise EvidenceError(path, "unsupported", says)
    if masks.shape not in (images.shape[:3], (*images.shape[:3], 1)):
        says = f"its labels are {masks.shape} for images of {images.shape}"
        raise EvidenceError(path, "unsupported", says)


def _pixels(images: Array, row: int) -> Pixels:
    pixels = np.array(images[row])
    return pixels[..., 0] if pixels.ndim == 3 and pixels.shape[2] == 1 else pixels
