"""Ultrasound nerve segmentation with USforKidney: regions by masks (the task UltrasoundNerve).

Both come as MedSegBench's arrays, as the authors used them; the nerve set is read from its
competition's own files too: there it is cut by subject, frames without a nerve make no record, and
of nearly equal frames one is kept, none where they contradict each other. The arrays name no
subject, so frames of one subject stand in several of their parts.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from engine.errors import EvidenceError
from studies.medheb.builders import choose
from studies.medheb.builders.card import Choice, SourceCard, TaskPlan
from studies.medheb.builders.record import Box, Fault, Picture, Record
from studies.medheb.sources.boxed import shown
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

FIRST, SECOND = "ultrasoundnerve", "usforkidney"
_NAME = re.compile(r"(\d+)_(\d+)_mask\.tif")
SMALL = (29, 21)  # width and height of the reduced frame: blocks of 20 pixels
NEAR = 1.0  # grey levels on average, below which two frames are nearly equal


@dataclass(frozen=True, eq=False)
class _Frame:
    """One frame of the competition: its file, its box or why it has none, and its reduced self."""

    key: str
    path: Path
    empty: bool
    box: Box | str
    small: NDArray[np.float32]


def read(folder: Path, settings: Mapping[str, Any]) -> Iterator[Found]:
    """The regions of both data sets."""
    official = None if reads_arrays(folder, FIRST, settings) else _official(folder, settings)
    texts = (settings["nerve_text"], settings["kidney_text"])
    yield from both_records(folder, (FIRST, SECOND), texts, settings, official=official)


def _official(folder: Path, settings: Mapping[str, Any]) -> Iterator[Found]:
    place = find_inside(folder, "train")
    subjects: dict[str, list[tuple[int, Path]]] = defaultdict(list)
    for mask in place.iterdir() if place is not None else ():
        name = _NAME.fullmatch(mask.name)
        if name is not None:
            subjects[name[1]].append((int(name[2]), mask))
    if not subjects:
        yield Fault("train", f"there are no masks in {folder}; the task lacks the nerve set")
        return
    records: list[Record] = []
    for subject in sorted(subjects, key=int):
        masks = [mask for _, mask in sorted(subjects[subject])]
        for one in _of_subject(subject, masks, settings):
            if isinstance(one, Fault):
                yield one
            else:
                records.append(one)
    share = float(settings["test_share"])
    tested = choose.side_of_test(records, seed=int(settings["seed"]), share=share)
    sides = {record.key: "test" for record in tested}
    yield from (replace(one, split=sides.get(one.key, "train")) for one in records)


def _of_subject(
    subject: str, masks: Sequence[Path], settings: Mapping[str, Any]
) -> Iterator[Found]:
    frames: list[_Frame] = []
    for mask in masks:
        try:
            frames.append(_frame(mask, settings))
        except EvidenceError as error:
            yield Fault(f"nerve/{mask.stem.removesuffix('_mask')}", error.reason)
    kept: list[_Frame] = []
    for frame in frames:
        if frame.empty:
            continue
        told = _told(frame, frames, kept) if settings["near_copies"] == "drop" else ""
        if not told:
            kept.append(frame)
        picture = Picture(f"{frame.key}.tif", frame.path)
        text, box = settings["nerve_text"], told or frame.box
        yield region_record(frame.key, picture, box, text, group=f"subject {subject}", split="")


def _frame(mask: Path, settings: Mapping[str, Any]) -> _Frame:
    stem = mask.stem.removesuffix("_mask")
    path = mask.with_name(f"{stem}.tif")
    if not path.is_file():
        raise EvidenceError(path, "missing", "its frame is not there")
    pixels, area = shown(path), shown(mask) > 0
    if pixels.shape[:2] != area.shape:
        raise EvidenceError(path, "unsupported", "its mask is of another size")
    small = Image.fromarray(pixels).convert("L").resize(SMALL, Image.Resampling.BOX)
    box = box_of(area, settings)
    return _Frame(f"nerve/{stem}", path, not area.any(), box, np.asarray(small, np.float32))


def _told(frame: _Frame, frames: Sequence[_Frame], kept: Sequence[_Frame]) -> str:
    """Why a frame is not used: another one is nearly the same."""
    for other in frames:
        if other.empty and _near(frame, other):
            return f"nearly the same frame {other.path.stem} has no nerve: not used"
    for other in kept:
        if _near(frame, other):
            return f"nearly the same as {other.path.stem}: not used"
    return ""


def _near(one: _Frame, other: _Frame) -> bool:
    return bool(np.abs(one.small - other.small).mean() < NEAR)


def found(folder: Path, settings: Mapping[str, Any]) -> tuple[str, ...]:
    """Which copies were read."""
    arrays = reads_arrays(folder, FIRST, settings)
    first = "MedSegBench's arrays" if arrays else "the competition's files, cut by subject"
    return copies_told(folder, ("Nerves", "USforKidney"), first, SECOND, settings)


CARDS = (
    SourceCard(
        id="ultrasound_nerve",
        title="Ultrasound Nerve Segmentation",
        form="2d",
        modality="ultrasound",
        anatomy="neuro_head_neck",
        access="challenge",
        licence="Kaggle competition rules; MedSegBench states no copyright",
        url="https://www.kaggle.com/competitions/ultrasound-nerve-segmentation",
        obtain=ARRAYS.format(flags="ultrasoundnerve and usforkidney")
        + " Or accept the competition's rules and fetch its train folder.",
        expects=tuple(
            f"{way}{name}"
            for way in ("", "*/", "*/*/")
            for name in ("train/*_mask.tif", f"{FIRST}_*.npz")
        ),
        read=read,
        plans=(TaskPlan("ultrasound_nerve/t2r", "region"),),
        settings=(
            Choice(
                "nerve_text", "brachial plexus nerve", (),
                "what a query for a nerve says; the authors' wording is unknown",
            ),
            Choice(
                "kidney_text", "kidney", (),
                "what a query for a kidney says; the authors' wording is unknown",
            ),
            Choice(
                "near_copies", "drop", ("drop", "keep"),
                "nearly equal frames of one subject in the competition's files: one is kept, none "
                "where one of them has no nerve",
            ),
            *mask_choices("drop"),
        ),
        found=found,
    ),
)  # fmt: skip
