"""MIMIC-CXR-LT: single-label, long-tailed findings of chest X-rays, over MIMIC-CXR-JPG.

Owns the label tables (natural or balanced test) and where they meet the pictures. Classes are found
by the names of their columns, never by place. Refuses tables that are only pointers. All pictures
of a patient are one group.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from pathlib import Path, PurePosixPath
from typing import Any

from engine.errors import EvidenceError
from studies.medheb.builders.card import Choice, SourceCard, TaskPlan
from studies.medheb.builders.record import Fault, Picture, Record
from studies.medheb.sources.folders import find_inside
from studies.medheb.sources.tables import Line, is_one, read_table
from studies.medheb.tasks import stays_inside

LABELS = (
    "Atelectasis", "Cardiomegaly", "Consolidation", "Edema", "Enlarged Cardiomediastinum",
    "Fracture", "Lung Lesion", "Lung Opacity", "No Finding", "Pleural Effusion", "Pleural Other",
    "Pneumonia", "Pneumothorax", "Support Devices", "Pneumoperitoneum", "Pneumomediastinum",
    "Subcutaneous Emphysema", "Tortuous Aorta", "Calcification of the Aorta",
)  # fmt: skip
# the second name is the one the authors' own loader asks for
TABLES = {
    part: (f"mimic-cxr-lt_single-label_{part}.csv", f"mimic-lt_single-label_{part}.csv")
    for part in ("test", "balanced-test")
}
METADATA = ("mimic-cxr-2.0.0-metadata.csv.gz", "mimic-cxr-2.0.0-metadata.csv")
FRONTAL = ("PA", "AP")
DEEP = 5
PATIENTS = re.compile(r"p\d{2}")


def read(folder: Path, settings: Mapping[str, Any]) -> Iterator[Record | Fault]:
    """The pictures of the chosen test table."""
    part = str(settings["test_file"])
    table = _first(folder, (*(f"labels/{name}" for name in TABLES[part]), *TABLES[part]))
    if table is None:
        yield Fault(str(folder), f"there is no {TABLES[part][0]} in it")
        return
    try:
        rows = read_table(table, ("subject_id", "dicom_id", "path", *LABELS))
        views = _views(folder) if settings["views"] == "frontal" else None
    except EvidenceError as error:
        yield Fault(error.path.name, error.reason)
        return
    base = _base(folder, rows)
    if base is None:
        yield Fault(table.name, f"none of its pictures (files/p10/...) is in {folder}")
        return
    seen: set[str] = set()
    for line, row in rows:
        if views is None or views.get(row["dicom_id"]) in FRONTAL:
            yield _record(f"{table.name}, line {line}", row, base, seen)


def _first(folder: Path, names: tuple[str, ...]) -> Path | None:
    found = (find_inside(folder, name, depth=2) for name in names)
    return next((path for path in found if path is not None), None)


def _base(folder: Path, rows: list[Line]) -> Path | None:
    """The root of MIMIC-CXR-JPG: where the first folders of the table's paths are."""
    starts = sorted({"/".join(row["path"].split("/")[:2]) for _, row in rows} - {""})
    level = [folder]
    for _ in range(DEEP):
        for place in level:
            if any((place / start).exists() for start in starts):
                return place
        # the 65,000 folders of patients lie below p10 to p19
        level = [
            inner
            for place in level
            for inner in sorted(place.iterdir())
            if inner.is_dir() and not PATIENTS.fullmatch(inner.name)
        ]
    return None


def _views(folder: Path) -> dict[str, str]:
    path = _first(folder, METADATA)
    if path is None:
        raise EvidenceError(
            folder / METADATA[0], "missing", "it is needed to tell frontal views, and is not there"
        )
    rows = read_table(path, ("dicom_id", "ViewPosition"))
    return {row["dicom_id"]: row["ViewPosition"] for _, row in rows}


def _record(where: str, row: Mapping[str, str], base: Path, seen: set[str]) -> Record | Fault:
    try:
        labels = tuple(label for label in LABELS if is_one(row[label]))
    except ValueError as error:
        return Fault(where, str(error))
    name = str(PurePosixPath(row["path"]))
    if not row["subject_id"] or not stays_inside(name) or name in seen:
        return Fault(where, "has no patient, no path inside the set, or the path of another row")
    if not (base / name).is_file():
        return Fault(where, "its picture is not there")
    seen.add(name)
    return Record(name, row["subject_id"], "test", labels, (Picture(name, base / name),))


def found(folder: Path, settings: Mapping[str, Any]) -> tuple[str, ...]:
    """Which of the two test tables was read."""
    part = "long-tailed" if settings["test_file"] == "test" else "balanced"
    return (f"Rows of the {part} test table ({TABLES[settings['test_file']][0]}).",)


CARDS = (
    SourceCard(
        id="mimic_cxr_lt",
        title="MIMIC-CXR-LT",
        form="2d",
        modality="chest X-ray",
        anatomy="chest_thorax",
        access="credentialed",
        licence="Pictures: PhysioNet Credentialed Health Data License 1.5.0; tables: none stated",
        url="https://github.com/VITA-Group/LongTailCXR",
        obtain="Put the folder labels of the repository (with git lfs pull) beside the files "
        "folder of MIMIC-CXR-JPG, for which PhysioNet wants an application and a course.",
        expects=tuple(
            f"{way}mimic*-lt_single-label_*.csv"
            for way in ("", "labels/", "*/labels/", "*/", "*/*/")
        ),
        read=read,
        plans=(
            TaskPlan("mimic_cxr_lt/i2l", "label"),
            TaskPlan("mimic_cxr_lt/i2i", "exemplars"),
            TaskPlan("mimic_cxr_lt/t2i", "text-exemplars"),
        ),
        labels=LABELS,
        settings=(
            Choice(
                "test_file", "test", tuple(TABLES),
                "the long-tailed test table, as the authors' builder, or the balanced one",
            ),
            Choice(
                "views", "all", ("all", "frontal"),
                "all rows, or PA and AP views by the metadata of MIMIC-CXR-JPG; whether lateral "
                "views appear is not stated",
            ),
        ),
        found=found,
    ),
)  # fmt: skip
