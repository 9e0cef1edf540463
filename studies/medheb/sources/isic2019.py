"""ISIC 2019: dermoscopy with one diagnosis a picture, from the challenge's own tables.

The official test part is tested; where only the training part is there it is cut 7:3 by lesion.
Columns are read by name. Refuses values other than 0 and 1. The test tables name no lesion.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from engine.errors import EvidenceError
from studies.medheb.builders.card import Choice, SourceCard, TaskPlan
from studies.medheb.builders.record import Fault, Picture, Record
from studies.medheb.sources.folders import find_inside
from studies.medheb.sources.tables import Line, is_one, read_table

CODES = {
    "MEL": "melanoma", "NV": "melanocytic nevus", "BCC": "basal cell carcinoma",
    "AK": "actinic keratosis", "BKL": "benign keratosis", "DF": "dermatofibroma",
    "VASC": "vascular lesion", "SCC": "squamous cell carcinoma",
}  # fmt: skip
UNKNOWN, OTHER = "UNK", "none of the others"
PARTS = {"test": "ISIC_2019_Test", "train": "ISIC_2019_Training"}


def read(folder: Path, settings: Mapping[str, Any]) -> Iterator[Record | Fault]:
    """The pictures of the chosen part."""
    stem = PARTS[settings["part"]]
    pictures = find_inside(folder, f"{stem}_Input")
    try:
        rows = _table(folder, stem)
        lesions = _lesions(folder, stem)
    except EvidenceError as error:
        yield Fault(error.path.name, error.reason)
        return
    if pictures is None:
        yield Fault(str(folder), f"there is no folder {stem}_Input in it")
        return
    if (pictures / pictures.name).is_dir():
        pictures = pictures / pictures.name
    for line, row in rows:
        one = _record(f"{stem}_GroundTruth.csv, line {line}", row, pictures, settings)
        if isinstance(one, Record):
            one = replace(one, group=lesions.get(row["image"]) or one.key)
        if one is not None:
            yield one


def _table(folder: Path, stem: str) -> list[Line]:
    path = find_inside(folder, f"{stem}_GroundTruth.csv")
    if path is None:
        raise EvidenceError(
            folder / f"{stem}_GroundTruth.csv", "missing",
            "it is not there; it is published on the challenge's data page",
        )  # fmt: skip
    return read_table(path, ("image", *CODES))


def _lesions(folder: Path, stem: str) -> dict[str, str]:
    path = find_inside(folder, f"{stem}_Metadata.csv")
    rows = read_table(path) if path is not None else []
    return {row.get("image", ""): row.get("lesion_id", "") for _, row in rows}


def _record(
    where: str, row: Mapping[str, str], pictures: Path, settings: Mapping[str, Any]
) -> Record | Fault | None:
    words = settings["wording"] == "words"
    names = CODES | ({UNKNOWN: OTHER} if UNKNOWN in row else {})
    try:
        positive = [code for code in names if is_one(row[code])]
    except ValueError as error:
        return Fault(where, str(error))
    if positive == [UNKNOWN] and settings["unknown"] == "drop":
        return None
    path = _picture(pictures, row["image"])
    if path is None:
        return Fault(where, f"there is no {row['image']}.jpg in {pictures.name}")
    labels = tuple(names[code] if words else code for code in positive)
    split = "test" if settings["part"] == "test" else ""
    return Record(row["image"], row["image"], split, labels, (Picture(path.name, path),))


def _picture(pictures: Path, image: str) -> Path | None:
    """Its file; some copies of the set took the ending of smaller pictures off, or put it on."""
    plain = image.removesuffix("_downsampled")
    for stem in dict.fromkeys((image, plain, f"{plain}_downsampled")):
        if (pictures / f"{stem}.jpg").is_file():
            return pictures / f"{stem}.jpg"
    return None


def found(folder: Path, settings: Mapping[str, Any]) -> tuple[str, ...]:
    """How many pictures are of none of the eight diagnoses."""
    try:
        rows = _table(folder, PARTS[settings["part"]])
    except EvidenceError:
        return ()
    others = sum(row.get(UNKNOWN, "") not in ("", "0", "0.0") for _, row in rows)
    done = "left out" if settings["unknown"] == "drop" else "kept as a class of its own"
    return (f"{others} of {len(rows)} pictures are of {OTHER}: {done}.",)


CARDS = (
    SourceCard(
        id="isic2019",
        title="ISIC 2019 Challenge",
        form="2d",
        modality="dermoscopy",
        anatomy="dermatology",
        access="open",
        licence="CC BY-NC 4.0",
        url="https://challenge.isic-archive.com/data/#2019",
        obtain="Download the test input, test metadata and test ground truth of 2019 from the "
        "challenge's data page and unpack them into one folder; no account is needed.",
        expects=tuple(f"{way}ISIC_2019_*_GroundTruth.csv" for way in ("", "*/", "*/*/")),
        read=read,
        plans=(
            TaskPlan("isic2019/i2l", "label"),
            TaskPlan("isic2019/i2i", "exemplars"),
            TaskPlan("isic2019/t2i", "text-exemplars"),
        ),
        labels=tuple(CODES.values()),
        settings=(
            Choice(
                "part", "test", tuple(PARTS),
                "the official test part with its later labels, as the authors, or 7:3 by lesion "
                "of the training part",
            ),
            Choice(
                "unknown", "drop", ("drop", "keep"),
                "pictures of none of the eight diagnoses, which the training part never shows",
            ),
            Choice(
                "wording", "words", ("words", "codes"),
                "diagnoses in words or as the columns' names; the authors' are unknown",
            ),
        ),
        found=found,
    ),
)  # fmt: skip
