"""APTOS 2019: fundus photographs with a grade of diabetic retinopathy, from ``train.csv``.

The public test part has no grades, so the labelled part is cut 7:3. Copies of one photograph are
one group; copies with different grades are refused. Third-party cuts of this set are other sets.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from engine.errors import EvidenceError
from studies.medheb.builders.card import Choice, SourceCard, TaskPlan
from studies.medheb.builders.record import Fault, Picture, Record
from studies.medheb.sources.copies import same_bytes
from studies.medheb.sources.folders import find_inside
from studies.medheb.sources.tables import read_table

TABLE, FOLDER = "train.csv", "train_images"
WORDINGS = {
    "kaggle": ("No DR", "Mild", "Moderate", "Severe", "Proliferative DR"),
    "full": (
        "no diabetic retinopathy", "mild diabetic retinopathy", "moderate diabetic retinopathy",
        "severe diabetic retinopathy", "proliferative diabetic retinopathy",
    ),
}  # fmt: skip
Graded = tuple[str, Path, int]


def read(folder: Path, settings: Mapping[str, Any]) -> Iterator[Record | Fault]:
    """The labelled photographs."""
    table, pictures = find_inside(folder, TABLE), find_inside(folder, FOLDER)
    if table is None or pictures is None:
        yield Fault(str(folder), f"there is no {TABLE} with a folder {FOLDER} in it")
        return
    if (pictures / FOLDER).is_dir():
        pictures = pictures / FOLDER
    graded: list[Graded] = []
    for one in _rows(table, pictures):
        if isinstance(one, Fault):
            yield one
        else:
            graded.append(one)
    yield from _records(graded, settings)


def _rows(table: Path, pictures: Path) -> Iterator[Graded | Fault]:
    try:
        rows = read_table(table, ("id_code", "diagnosis"))
    except EvidenceError as error:
        yield Fault(table.name, error.reason)
        return
    seen: set[str] = set()
    for line, row in rows:
        where, code, grade = f"{table.name}, line {line}", row["id_code"], row["diagnosis"]
        path = pictures / f"{code}.png"
        if grade not in ("0", "1", "2", "3", "4"):
            yield Fault(where, f"the grade {grade!r} is not 0 to 4")
        elif code in seen:
            yield Fault(where, f"{code} has a row already")
        elif not path.is_file():
            yield Fault(where, f"there is no {path.name} in {pictures.name}")
        else:
            seen.add(code)
            yield code, path, int(grade)


def _records(graded: list[Graded], settings: Mapping[str, Any]) -> Iterator[Record | Fault]:
    labels, rule = WORDINGS[settings["wording"]], settings["duplicates"]
    names = {} if rule == "keep" else same_bytes(path for _, path, _ in graded)
    grades: dict[str, set[int]] = defaultdict(set)
    for _, path, grade in graded:
        grades[names.get(path, "")].add(grade)
    done: set[str] = set()
    for code, path, grade in graded:
        same = names.get(path)
        if same is not None and len(grades[same]) > 1:
            yield Fault(path.name, "copies of this photograph carry different grades: not used")
        elif same is None or rule == "group" or same not in done:
            done.update([same] if same else [])
            yield Record(
                code, same or code, "", (labels[grade],), (Picture(path.name, path),)
            )  # fmt: skip


CARDS = (
    SourceCard(
        id="aptos2019",
        title="APTOS 2019 Blindness Detection",
        form="2d",
        modality="colour fundus photography",
        anatomy="ophthalmology",
        access="challenge",
        licence="Kaggle competition rules; not an open licence",
        url="https://www.kaggle.com/competitions/aptos2019-blindness-detection",
        obtain="Accept the competition's rules, then: kaggle competitions download -c "
        "aptos2019-blindness-detection (about 9.5 GB), and unpack it.",
        expects=(TABLE, f"*/{TABLE}", f"*/*/{TABLE}"),
        read=read,
        plans=(
            TaskPlan("aptos2019/i2l", "label"),
            TaskPlan("aptos2019/i2i", "exemplars"),
            TaskPlan("aptos2019/t2i", "text-exemplars"),
        ),
        labels=WORDINGS["kaggle"],
        settings=(
            Choice(
                "wording", "kaggle", tuple(WORDINGS),
                "grades as on the competition's page, or in full; no file names them",
            ),
            Choice(
                "duplicates", "group", ("group", "first", "keep"),
                "copies, byte for byte: all of them as one group, one of each, or as if they were "
                "different; what the authors did is unknown",
            ),
        ),
    ),
)  # fmt: skip
