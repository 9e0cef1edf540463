"""Kvasir-SEG with PolypGen: polyps in endoscopy, one crop a frame (the task Gastrointestinal).

Kvasir-SEG brings boxes in ``kavsir_bboxes.json`` (its own spelling), of which the largest counts,
held against the mask; PolypGen comes as MedSegBench's arrays. The authors' split of Kvasir-SEG is
not public, so it is cut by the seed. No patient is named: frames of one procedure can stand on both
sides, and a green inset in a corner can tell the procedure. This cannot be helped.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from engine.errors import EvidenceError
from studies.medheb.builders import choose, regions
from studies.medheb.builders.card import Choice, SourceCard, TaskPlan
from studies.medheb.builders.record import Box, Fault, Picture, Record
from studies.medheb.sources.boxed import is_name, shown, size_of
from studies.medheb.sources.folders import find_inside
from studies.medheb.sources.masks import (
    ARRAYS,
    Found,
    both_records,
    copies_told,
    mask_choices,
    reads_arrays,
    region_record,
)
from studies.medheb.sources.words import read_json, telling

BOXES = ("kavsir_bboxes.json", "kvasir_bboxes.json")
CORNERS = ("xmin", "ymin", "xmax", "ymax")
FIRST, SECOND = "kvasir", "polypgen"
WHITE = 128  # masks are JPEG files, so their edges ring


@telling
def read(folder: Path, settings: Mapping[str, Any]) -> Iterator[Found]:
    """The polyps of both data sets."""
    official = None if _reads_arrays(folder, settings) else _official(folder, settings)
    texts = (settings["text"], settings["text"])
    yield from both_records(folder, (FIRST, SECOND), texts, settings, official=official)


def _box_file(folder: Path) -> Path | None:
    return next((path for name in BOXES if (path := find_inside(folder, name))), None)


def _reads_arrays(folder: Path, settings: Mapping[str, Any]) -> bool:
    official = _box_file(folder) is not None
    return reads_arrays(folder, FIRST, settings, official_first=official)


def _official(folder: Path, settings: Mapping[str, Any]) -> Iterator[Found]:
    path = _box_file(folder)
    if path is None:
        yield Fault(BOXES[0], f"it is not in {folder}; the task lacks Kvasir-SEG")
        return
    boxed = read_json(path)
    if not isinstance(boxed, dict):
        yield Fault(path.name, "is no object of pictures")
        return
    records: list[Record] = []
    for stem, entry in sorted(boxed.items()):
        one = _record(path.parent, stem, entry, settings["text"])
        if isinstance(one, Fault):
            yield one
        else:
            records.append(one)
    share = float(settings["test_share"])
    tested = choose.side_of_test(records, seed=int(settings["seed"]), share=share)
    sides = {record.key: "test" for record in tested}
    yield from (replace(one, split=sides.get(one.key, "train")) for one in records)


def _record(base: Path, stem: str, entry: Any, text: str) -> Found:
    path = base / "images" / f"{stem}.jpg"
    key = f"kvasir-seg/{stem}"
    if not is_name(stem):
        return Fault(key, "names no picture")
    try:
        height, width = size_of(path)
        box = _largest(entry["bbox"], height, width)
        if not isinstance(box, str) and not _in_mask(base / "masks" / path.name, box):
            box = "its box holds nothing of its mask"
    except EvidenceError as error:
        return Fault(key, error.reason)
    except (KeyError, TypeError, ValueError) as error:
        return Fault(key, f"its boxes cannot be read ({error})")
    return region_record(key, Picture(f"{key}.jpg", path), box, text, split="")


def _largest(boxes: Sequence[Mapping[str, Any]], height: int, width: int) -> Box | str:
    """The largest box inside the picture; corners may stand in the wrong order."""
    inside = []
    for one in boxes:
        left, top, right, bottom = (float(one[name]) for name in CORNERS)
        ordered = (min(left, right), min(top, bottom), max(left, right), max(top, bottom))
        box = regions.clip(ordered, height, width)
        inside += [box] if box is not None else []
    return max(inside, key=regions.area) if inside else "it has no box with area inside it"


def _in_mask(path: Path, box: Box) -> bool:
    """Whether the mask, where there is one, says something inside the box."""
    if not path.is_file():
        return True
    left, top, right, bottom = box
    mask = shown(path)
    return bool((mask[top:bottom, left:right] >= WHITE).any())


def found(folder: Path, settings: Mapping[str, Any]) -> tuple[str, ...]:
    """Which copies were read."""
    arrays = _reads_arrays(folder, settings)
    first = "MedSegBench's arrays" if arrays else "the official box file, cut by the seed"
    return copies_told(folder, ("Kvasir-SEG", "PolypGen"), first, SECOND, settings)


CARDS = (
    SourceCard(
        id="kvasir_seg",
        title="Kvasir-SEG",
        form="2d",
        modality="endoscopy",
        anatomy="abdomen_pelvis",
        access="open",
        licence="Research and education; other use needs written permission of Simula",
        url="https://datasets.simula.no/kvasir-seg/",
        obtain="Download kvasir-seg.zip from its page and unpack it; no account is needed. "
        + ARRAYS.format(flags="polypgen"),
        expects=tuple(
            f"{way}{name}"
            for way in ("", "*/", "*/*/")
            for name in (*BOXES, f"{FIRST}_*.npz")
        ),
        read=read,
        plans=(TaskPlan("kvasir_seg/t2r", "region"),),
        settings=(
            Choice("text", "polyp", (), "what every query says; the authors' wording is unknown"),
            *mask_choices("keep"),
        ),
        found=found,
    ),
)  # fmt: skip
