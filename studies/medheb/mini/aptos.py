"""APTOS 2019 in miniature: two tables, labelled and unlabelled pictures of the retina.

Owns the layout and its oddities: some pictures occur twice, one of them under two grades.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from studies.medheb.mini.files import write_picture, write_table
from studies.medheb.mini.shared import hexadecimal, look

GRADES, EYES, UNSEEN = 5, 8, 3


def write(folder: Path, *, seed: int) -> None:
    """``train.csv``, ``test.csv``, ``sample_submission.csv`` and both picture folders."""
    rows: list[dict[str, Any]] = []
    for grade in range(GRADES):
        for eye in range(EYES):
            # the last eye of each grade is a copy of its first, under the next grade for grade 3
            same = eye == EYES - 1
            told = 4 if same and grade == 3 else grade
            code = hexadecimal(12, seed, "aptos", grade, eye)
            pixels = look(grade, seed, "aptos", 0 if same else eye, size=48, width=64)
            write_picture(folder / "train_images" / f"{code}.png", pixels)
            rows.append({"id_code": code, "diagnosis": told})
    write_table(folder / "train.csv", rows, ["id_code", "diagnosis"])
    unseen = [
        {"id_code": hexadecimal(12, seed, "unseen", n), "diagnosis": 0} for n in range(UNSEEN)
    ]
    write_table(folder / "test.csv", unseen, ["id_code"])
    write_table(folder / "sample_submission.csv", unseen, ["id_code", "diagnosis"])
    for number, row in enumerate(unseen):
        pixels = look(number, seed, "aptos unseen", size=48, width=64)
        write_picture(folder / "test_images" / f"{row['id_code']}.png", pixels)
