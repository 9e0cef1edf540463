"""M3D-Cap and M3D-VQA in miniature: cases as slices and as arrays, and questions about them.

Owns the layout and its oddities: several series of a case share one text, slices sort by number and
differ in size, tables name the arrays of the authors' preparation, a column holds the report, test
parts that hold each other, texts that give somebody away.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from studies.medheb.mini.files import write_json, write_npy, write_picture, write_table, write_text
from studies.medheb.mini.planted import remark
from studies.medheb.mini.questions import PLANES, ask, sentence
from studies.medheb.mini.shared import Pixels, look, volume

SERIES = ("Coronal_bone_window", "Axial_non_contrast", "Axial_C__portal_venous_phase")
PARTS = (
    ("train", 2, "ct_case"), ("validation", 1, "ct_case"), ("test100", 8, "ct_quizze"),
    ("test500", 1, "ct_quizze"),
)  # fmt: skip
SLICES, SIDE = 12, 48
PREPARED = (1, 32, 32, 32)
PHASES = ("Non-contrast", "Portal venous phase.", "arterial phase")
CHOICES = [f"Choice {letter}" for letter in "ABCD"]
COLUMNS = ["Image Path", "Text", "Question Type", "Question", *CHOICES, "Answer", "Answer Choice"]
Row = dict[str, Any]


def write(folder: Path, *, seed: int) -> None:
    """``M3D_Cap``, ``M3D_Cap_npy`` and ``M3D_VQA_*.csv``."""
    listed: dict[str, list[Row]] = {}
    questions: dict[str, list[Row]] = {}
    start = 1
    for part, count, shelf in PARTS:
        for case in range(start, start + count):
            rows = _write_case(folder, shelf, case, seed)
            listed.setdefault(part, []).extend(rows)
            questions.setdefault(part, []).extend(_questions(rows[0], case, seed))
        start += count
    listed["test500"] += listed["test100"][:4]
    write_json(folder / "M3D_Cap" / "M3D_Cap.json", listed)
    test = questions["test100"]
    tables = {"train": "train", "val": "validation"}
    for name, part in tables.items():
        write_table(folder / f"M3D_VQA_{name}.csv", questions[part], COLUMNS)
    write_table(folder / "M3D_VQA_test.csv", test, COLUMNS)
    write_table(folder / "M3D_VQA_test5k.csv", test[: len(test) * 3 // 4], COLUMNS)
    write_table(folder / "M3D_VQA_yn_train.csv", questions["train"][:1], COLUMNS)


def _write_case(folder: Path, shelf: str, case: int, seed: int) -> list[Row]:
    """Its series as slices, as arrays, and its text; the rows of the list."""
    raw = folder / "M3D_Cap" / shelf / f"{case:06d}"
    prepared = folder / "M3D_Cap_npy" / shelf / f"{case:06d}"
    told = sentence(case, seed, "m3d", case)
    told += f" {remark(seed, case)}" if case % 3 == 0 else ""
    findings, more = ("" if case % 4 == 3 else told), f"{told} Seen often."
    sections = f"study_findings: {findings}\n" if findings else ""
    write_text(raw / "text.txt", f"{sections}discussion: {more}\n")
    write_text(prepared / "text.txt", findings or more)
    rows = []
    for series in SERIES[: 1 + case % 3] if case % 5 else SERIES[1:2]:
        for place in range(SLICES):
            shown = _slice(case, series, place, seed)
            write_picture(raw / series / f"{place}.{'png' if case % 2 else 'jpeg'}", shown)
        body = volume(case % 6, seed, "m3d", case, series, shape=PREPARED[1:])
        write_npy(prepared / f"{series}.npy", body[None].astype(np.float32))
        path = prepared.relative_to(folder).as_posix()
        rows.append({"image": f"{path}/{series}.npy", "text": f"{path}/text.txt"})
    return rows


def _slice(case: int, series: str, place: int, seed: int) -> Pixels:
    size = SIDE // 2 if case == 4 and place == SLICES - 1 else SIDE
    return look(case % 6, seed, "m3d", case, series, place, size=size, grey=True)


def _questions(row: Row, case: int, seed: int) -> list[Row]:
    """One of each of the five types about a case's first series."""
    series = Path(row["image"]).stem
    plane = series.split("_")[0].lower()
    others = tuple(name for name in PLANES if name != plane)
    told = [
        (1, "Which plane is this?", plane.capitalize(), (*others, "oblique")),
        (2, "Which phase is this?", PHASES[case % 3], ("delayed", "early", "late")),
    ]
    for kind, turn in ((3, 0), (4, 1), (5, 2)):
        asked = ask(case, turn)
        told.append((kind, asked.question, asked.answer, asked.wrong))
    rows = []
    for kind, question, answer, wrong in told:
        options = [answer, *wrong]
        made: Row = {"Image Path": row["image"], "Question Type": kind, "Question": question}
        made |= dict(zip(CHOICES, options, strict=True)) | {"Answer": answer, "Answer Choice": "A"}
        rows.append(made | {"Text": sentence(case, seed, "m3d", case)})
    return rows
