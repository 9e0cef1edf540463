"""ISIC 2018 with the Waterloo skin cancer set: skin lesions by their masks (the task SkinLesion).

Both come as MedSegBench's arrays, as the authors used them; ISIC 2018 is read from the challenge's
own folders too, one mask a picture (Task 1). Other files in those folders are passed over. Refuses
masks of another size than their picture. Neither copy names a patient or lesion.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from engine.errors import EvidenceError
from studies.medheb.builders.card import Choice, SourceCard, TaskPlan
from studies.medheb.builders.record import Box, Fault, Picture
from studies.medheb.sources.boxed import shown, size_of
from studies.medheb.sources.folders import find_inside
from studies.medheb.sources.masks import (
    ARRAYS,
    Found,
    both_records,
    box_of,
    copies_told,
    mask_choices,
    reads_arrays,
    region_record,
)

FIRST, SECOND = "isic2018", "uwaterlooskincancer"
PARTS = {"test": "Test", "validation": "Validation", "training": "Training"}
INPUT, TRUTH = "ISIC2018_Task1-2_{}_Input", "ISIC2018_Task1_{}_GroundTruth"
ENDING = "_segmentation.png"


def read(folder: Path, settings: Mapping[str, Any]) -> Iterator[Found]:
    """The lesions of both data sets."""
    official = None if reads_arrays(folder, FIRST, settings) else _official(folder, settings)
    texts = (settings["text"], settings["text"])
    yield from both_records(folder, (FIRST, SECOND), texts, settings, official=official)


def _place(folder: Path, name: str) -> Path | None:
    """A folder of that name; mirrors lay each into another of its own name."""
    found = find_inside(folder, name)
    return found / name if found is not None and (found / name).is_dir() else found


def _official(folder: Path, settings: Mapping[str, Any]) -> Iterator[Found]:
    part = PARTS[settings["part"]]
    pictures, masks = _place(folder, INPUT.format(part)), _place(folder, TRUTH.format(part))
    for place, name in ((pictures, INPUT), (masks, TRUTH)):
        if place is None:
            yield Fault(name.format(part), f"it is not in {folder}; the task lacks ISIC 2018")
    if pictures is None or masks is None:
        return
    for mask in sorted(masks.glob(f"ISIC_*{ENDING}")):
        stem = mask.name.removesuffix(ENDING)
        path = pictures / f"{stem}.jpg"
        try:
            box = _box(path, mask, settings)
        except EvidenceError as error:
            box = error.reason
        picture = Picture(f"isic2018/{path.name}", path)
        yield region_record(f"isic2018/{stem}", picture, box, settings["text"])


def _box(path: Path, mask: Path, settings: Mapping[str, Any]) -> Box | str:
    size, pixels = size_of(path), shown(mask)
    if pixels.shape != size:
        return f"its mask is {pixels.shape[1]} x {pixels.shape[0]}, not {size[1]} x {size[0]}"
    return box_of(pixels > 0, settings)


def found(folder: Path, settings: Mapping[str, Any]) -> tuple[str, ...]:
    """Which copies were read."""
    arrays = reads_arrays(folder, FIRST, settings)
    first = "MedSegBench's arrays" if arrays else f"the challenge's {settings['part']} folders"
    return copies_told(folder, ("ISIC 2018", "the Waterloo set"), first, SECOND, settings)


CARDS = (
    SourceCard(
        id="isic2018",
        title="ISIC 2018 Challenge Task 1",
        form="2d",
        modality="dermoscopy",
        anatomy="dermatology",
        access="open",
        licence="CC BY-NC 4.0",
        url="https://challenge.isic-archive.com/data/#2018",
        obtain=ARRAYS.format(flags="isic2018 and uwaterlooskincancer")
        + " Or fetch the test input and the Task 1 test ground truth from the challenge's page.",
        expects=tuple(
            f"{way}{name}"
            for way in ("", "*/", "*/*/")
            for name in (TRUTH.format("*"), f"{FIRST}_*.npz")
        ),
        read=read,
        plans=(TaskPlan("isic2018/t2r", "region"),),
        settings=(
            Choice(
                "text", "skin lesion", (), "what every query says; the authors' wording is unknown"
            ),
            Choice(
                "part", "test", tuple(PARTS),
                "which of the challenge's folders; the authors' test part is not stated",
            ),
            *mask_choices("drop"),
        ),
        found=found,
    ),
)  # fmt: skip
