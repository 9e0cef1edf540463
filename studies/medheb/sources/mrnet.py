"""MRNet: knee MRI in three planes, with three labels of which one is the parent of the others.

Four exclusive classes come out: healthy, one per tear alone, and abnormal without a tear; an exam
with both tears has two and is no sample. ``valid`` plays the test, since the test part was never
released. An exam is shown as ten slices of each plane, axial, coronal, sagittal. Refuses an exam
that lacks a plane, and labels that contradict each other.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from engine.errors import EvidenceError
from engine.evidence.files import open_file
from studies.medheb.builders import volumes
from studies.medheb.builders.card import Choice, SourceCard, TaskPlan
from studies.medheb.builders.record import Fault, Pixels, Record, Volume
from studies.medheb.sources.arrays import map_npy
from studies.medheb.sources.folders import find_inside
from studies.medheb.sources.stacks import variant

PLANES = ("axial", "coronal", "sagittal")
PER_PLANE = 10
KINDS = ("abnormal", "acl", "meniscus")
WORDINGS = {
    "words": ("healthy", "ACL tear", "meniscal tear", "other diseases"),
    "full": ("healthy", "anterior cruciate ligament tear", "meniscus tear", "other diseases"),
}
USUAL = {"planes": "all", "slices": "whole", "grey": "percentiles"}


def read(root: Path, settings: Mapping[str, Any]) -> Iterator[Record | Fault]:
    """The exams of both released parts."""
    found = find_inside(root, "valid")
    base = root if found is None else found.parent
    for part, split in (("train", "train"), ("valid", "test")):
        if (base / part).is_dir():
            yield from _part(base, part, split, settings)


def _part(
    base: Path, part: str, split: str, settings: Mapping[str, Any]
) -> Iterator[Record | Fault]:
    tables: dict[str, dict[str, str]] = {}
    for kind in KINDS:
        try:
            tables[kind] = _table(base / f"{part}-{kind}.csv")
        except EvidenceError as error:
            yield Fault(f"{part}-{kind}.csv", error.reason)
    if len(tables) < len(KINDS):
        return
    words = WORDINGS[str(settings["wording"])]
    for exam in sorted(tables["abnormal"]):
        try:
            labels = _classes([tables[kind].get(exam, "") for kind in KINDS], words)
            yield _exam(base / part, exam, split, labels, settings)
        except (EvidenceError, ValueError) as error:
            yield Fault(f"{part} {exam}", str(error))


def _table(path: Path) -> dict[str, str]:
    """Exam to label; the file has no header, and its numbers keep their zeros."""
    try:
        with open_file(path) as stream:
            text = stream.read().decode("utf-8-sig")
        rows = [row for row in csv.reader(io.StringIO(text)) if row]
        return {exam.strip().zfill(4): label.strip() for exam, label in rows}
    except (OSError, ValueError) as error:
        raise EvidenceError(path, "damaged", f"is no list of exams and labels ({error})") from error


def _classes(cells: list[str], words: tuple[str, ...]) -> tuple[str, ...]:
    """The positive classes of (abnormal, ACL tear, meniscal tear)."""
    if not set(cells) <= {"0", "1"}:
        raise ValueError("a label is missing or neither 0 nor 1")
    healthy, acl, meniscus, other = words
    if cells[0] == "0" and "1" in cells:
        raise ValueError("is said to be healthy and to have a tear")
    if cells[0] == "0":
        return (healthy,)
    tears = [word for word, cell in zip((acl, meniscus), cells[1:], strict=True) if cell == "1"]
    return tuple(tears) or (other,)


def _exam(
    folder: Path, exam: str, split: str, labels: tuple[str, ...], settings: Mapping[str, Any]
) -> Record:
    planes = PLANES if settings["planes"] == "all" else (str(settings["planes"]),)
    files = [folder / plane / f"{exam}.npy" for plane in planes]
    for path in files:
        if not path.is_file():
            raise EvidenceError(path, "missing", f"there is no {path.parent.name} series")
    make = partial(_shown, files, str(settings["slices"]), str(settings["grey"]))
    volume = Volume(f"{variant(settings, USUAL)}{exam}", make)
    return Record(f"{folder.name}/{exam}", exam, split, labels, volumes={"mri": volume})


def _shown(files: list[Path], slices: str, grey: str) -> Pixels:
    """Ten slices of each plane, one plane after the other: [S, H, W]."""
    return np.concatenate([_plane(path, slices, grey) for path in files])


def _plane(path: Path, slices: str, grey: str) -> Pixels:
    series = map_npy(path)
    if series.ndim != 3 or not len(series):
        raise EvidenceError(path, "unsupported", f"is no series of slices but {series.shape}")
    start, end = (0.0, 1.0) if slices == "whole" else (0.25, 0.75)
    last = len(series) - 1
    chosen = [int(place) for place in np.linspace(start * last, end * last, PER_PLANE)]
    if grey == "stored":
        return np.clip(series[chosen], 0, 255).astype(np.uint8)
    basis = series[series > 0] if (series > 0).any() else series
    bottom, top = np.percentile(basis, (0.5, 99.5))
    return volumes.between(series[chosen], float(bottom), float(top))


CARDS = (
    SourceCard(
        id="mrnet",
        title="MRNet",
        form="3d",
        modality="knee MRI in three planes",
        anatomy="musculoskeletal",
        access="registration",
        licence="Stanford research use agreement: no commerce, no passing on",
        url="https://stanfordmlgroup.github.io/competitions/mrnet/",
        obtain="An account on the competition's page and consent to its agreement give "
        "MRNet-v1.0.zip; unpack it.",
        expects=("valid/axial", "*/valid/axial", "*/*/valid/axial"),
        read=read,
        stable=True,
        plans=(
            TaskPlan("mrnet/i2l", "label"),
            TaskPlan("mrnet/i2i", "exemplars"),
            TaskPlan("mrnet/t2i", "text-exemplars"),
        ),
        labels=WORDINGS["words"],
        settings=(
            Choice(
                "wording", "words", tuple(WORDINGS),
                "the authors' words for the two tears are unknown",
            ),
            Choice(
                "planes", "all", ("all", *PLANES),
                "all three planes one after the other, as the release, or one as a variant",
            ),
            Choice(
                "slices", "whole", ("whole", "middle"),
                "how ten slices of a plane are chosen is unknown: evenly over all of it or over "
                "its middle half",
            ),
            Choice(
                "grey", "percentiles", ("percentiles", "stored"),
                "how they are scaled is unknown: 0.5 to 99.5 % of what is above 0 in each series, "
                "or as stored",
            ),
        ),
    ),
)  # fmt: skip
