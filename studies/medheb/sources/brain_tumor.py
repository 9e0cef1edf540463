"""Brain Tumor MRI (Kaggle, Nickparvar): slices in one folder per class, in Training and Testing.

Both versions are read and told apart by their counts. A test slice that stands in Training too is
not tested. Refuses the older SARTAJ set, which has the same two folders. No patient is named, so
slices of one patient can stand on both sides: this cannot be helped.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from studies.medheb.builders.card import Choice, SourceCard, TaskPlan
from studies.medheb.builders.record import Fault, Record
from studies.medheb.sources.copies import same_bytes
from studies.medheb.sources.folders import class_folders, find_inside, pictures_in

CODES = {
    "glioma": "glioma", "meningioma": "meningioma", "notumor": "no tumor",
    "pituitary": "pituitary",
}  # fmt: skip
PARTS = {"Training": "train", "Testing": "test"}
VERSIONS = {7023: "version 1", 7200: "the current version"}


def read(folder: Path, settings: Mapping[str, Any]) -> Iterator[Record | Fault]:
    """The slices of both parts; Testing is tested."""
    base = _base(folder)
    if (base / "Testing" / "no_tumor").is_dir():
        yield Fault("Testing/no_tumor", "this is the older SARTAJ set, another data set")
        return
    codes = {code: code for code in CODES} if settings["wording"] == "folder" else CODES
    records: list[Record] = []
    for part, split in PARTS.items():
        if split == "train" and not (base / part).is_dir():
            continue
        below = "" if split == "test" else f"{part}/"  # the image root is the test folder
        for found in class_folders(base / part, codes, split=split, below=below):
            if isinstance(found, Fault):
                yield Fault(f"{part}/{found.where}", found.reason)
            else:
                records.append(found)
    yield from _with_copies(records, drop=settings["train_copies"] == "drop")


def _base(folder: Path) -> Path:
    found = find_inside(folder, "Testing")
    return folder if found is None else found.parent


def _with_copies(records: list[Record], *, drop: bool) -> Iterator[Record | Fault]:
    files = {record.key: record.pictures[0].file for record in records}
    names = same_bytes(path for path in files.values() if path is not None)
    group = {key: names.get(path) for key, path in files.items() if path is not None}
    trained = {group[record.key] for record in records if record.split == "train"} - {None}
    for record in records:
        same = group[record.key]
        if drop and record.split == "test" and same in trained:
            yield Fault(f"Testing/{record.key}", "the same slice stands in Training: not tested")
        else:
            yield replace(record, group=same or record.key)


def found(folder: Path, settings: Mapping[str, Any]) -> tuple[str, ...]:
    """The version, by count."""
    base = _base(folder)
    counts = {
        part: sum(
            len(pictures_in(base / part / code)) for code in CODES if (base / part / code).is_dir()
        )
        for part in PARTS
    }
    version = VERSIONS.get(sum(counts.values()), "neither of the known versions, by count")
    return (f"{counts['Training']} Training and {counts['Testing']} Testing slices: {version}.",)


CARDS = (
    SourceCard(
        id="brain_tumor_mri",
        title="Brain Tumor MRI Dataset",
        form="2d",
        modality="brain MRI slices",
        anatomy="neuro_head_neck",
        access="registration",
        licence="CC0 or CC BY 4.0, as its page says on the day of the download",
        url="https://www.kaggle.com/datasets/masoudnickparvar/brain-tumor-mri-dataset",
        obtain="kaggle datasets download -d masoudnickparvar/brain-tumor-mri-dataset (an account "
        "is needed), or version 1 from Zenodo (doi 10.5281/zenodo.12735702); unpack it.",
        expects=("Testing", "*/Testing", "*/*/Testing"),
        read=read,
        plans=(
            TaskPlan("brain_tumor_mri/i2l", "label"),
            TaskPlan("brain_tumor_mri/i2i", "exemplars"),
            TaskPlan("brain_tumor_mri/t2i", "text-exemplars"),
        ),
        labels=tuple(CODES.values()),
        settings=(
            Choice(
                "wording", "words", ("words", "folder"),
                "the healthy class as no tumor, or as its folder notumor; the authors' is unknown",
            ),
            Choice(
                "train_copies", "drop", ("drop", "keep"),
                "test slices that stand, byte for byte, in Training too",
            ),
        ),
        found=found,
    ),
)  # fmt: skip
