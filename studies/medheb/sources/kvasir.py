"""Kvasir: frames of gastrointestinal endoscopy in one folder per finding.

Refuses nothing. Versions 1 (500 frames a class) and 2 (1,000) differ by count alone. No patient is
named, so frames of one procedure can stand on both sides of the split: this cannot be helped.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from studies.medheb.builders.card import Choice, SourceCard, TaskPlan
from studies.medheb.builders.record import Fault, Record
from studies.medheb.sources.folders import class_folders, find_inside, pictures_in

CODES = {
    code: code.replace("-", " ").replace("z line", "z-line")
    for code in (
        "dyed-lifted-polyps", "dyed-resection-margins", "esophagitis", "normal-cecum",
        "normal-pylorus", "normal-z-line", "polyps", "ulcerative-colitis",
    )
}  # fmt: skip
VERSIONS = {4000: "version 1", 8000: "version 2"}


def read(root: Path, settings: Mapping[str, Any]) -> Iterator[Record | Fault]:
    """The frames, labelled by their folder."""
    found = find_inside(root, next(iter(CODES)))
    base = root if found is None else found.parent
    codes = {code: code for code in CODES} if settings["wording"] == "folder" else CODES
    yield from class_folders(base, codes)


def found(root: Path, settings: Mapping[str, Any]) -> tuple[str, ...]:
    """The version, by count."""
    first = find_inside(root, next(iter(CODES)))
    base = root if first is None else first.parent
    count = sum(len(pictures_in(base / code)) for code in CODES if (base / code).is_dir())
    return (f"{count} frames: {VERSIONS.get(count, 'neither version 1 nor 2, by count')}.",)


CARDS = (
    SourceCard(
        id="kvasir",
        title="Kvasir",
        form="2d",
        modality="endoscopy",
        anatomy="abdomen_pelvis",
        access="open",
        licence="Research and education; other use needs written permission of Simula",
        url="https://datasets.simula.no/kvasir/",
        obtain="Download kvasir-dataset-v2.zip from its page and unpack it; no account is needed.",
        expects=("dyed-lifted-polyps", "*/dyed-lifted-polyps", "*/*/dyed-lifted-polyps"),
        read=read,
        plans=(
            TaskPlan("kvasir/i2l", "label"),
            TaskPlan("kvasir/i2i", "exemplars"),
            TaskPlan("kvasir/t2i", "text-exemplars"),
        ),
        labels=tuple(CODES.values()),
        settings=(
            Choice(
                "wording", "words", ("words", "folder"),
                "labels as words or as the folder names with hyphens; the authors' are unknown",
            ),
        ),
        found=found,
    ),
)  # fmt: skip
