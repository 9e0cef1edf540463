"""RFMiD 1.0 in miniature: three parts, each with its pictures and its table of 45 diseases.

Owns the layout of the DataPort download and its oddities: numbers restart in every part, some eyes
have two diseases, some diseases are missing from a part, a column name ends in a blank.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from studies.medheb.mini.files import write_picture, write_table
from studies.medheb.mini.shared import look

CODES = (
    "DR", "ARMD", "MH", "DN", "MYA", "BRVO", "TSLN", "ERM", "LS", "MS", "CSR", "ODC", "CRVO", "TV",
    "AH", "ODP", "ODE", "ST", "AION", "PT", "RT", "RS", "CRS", "EDN", "RPEC", "MHL", "RP", "CWS",
    "CB", "ODPM", "PRH", "MNF", "HR", "CRAO", "TD", "CME", "PTCR", "CF", "VH", "MCA", "VS", "BRAO",
    "PLQ", "HPED", "CL",
)  # fmt: skip
PARTS = (
    ("Training_Set/Training", "RFMiD_Training_Labels.csv"),
    ("Evaluation_Set/Validation", "RFMiD_Validation_Labels.csv"),
    ("Test_Set/Test", "RFMiD_Testing_Labels.csv"),
)
MISSING, ALONE = 2, 2  # of the last diseases in the test part: no picture, and one picture
BLANK = "ODE"  # some copies hold "ODE " in their header


def write(folder: Path, *, seed: int) -> None:
    """``Test_Set/Test/<ID>.png`` with ``Test_Set/RFMiD_Testing_Labels.csv``; so the others."""
    for place, table in PARTS:
        eyes = _test_eyes() if place.startswith("Test") else [(kind,) for kind in range(6)] + [()]
        rows = [_row(number, eye) for number, eye in enumerate(eyes, start=1)]
        columns = ["ID", "Disease_Risk", *(f"{c} " if c == BLANK else c for c in CODES)]
        write_table((folder / place).parent / table, rows, columns)
        for number, eye in enumerate(eyes, start=1):
            kind = eye[0] if eye else len(CODES)
            pixels = look(kind, seed, place, number, size=48)
            write_picture(folder / place / f"{number}.png", pixels, compress_level=6)


def _test_eyes() -> list[tuple[int, ...]]:
    """The diseases of each eye: mostly one and two eyes each, then healthy and mixed ones."""
    count = len(CODES) - MISSING
    twice = [(kind,) for kind in range(count - ALONE)]
    once = [(kind,) for kind in range(count - ALONE, count)]
    return [*twice, *once, (), (), (), (0, 1), (2, 5, 9), *twice]


def _row(number: int, eye: tuple[int, ...]) -> dict[str, Any]:
    named = {f"{c} " if c == BLANK else c: int(k in eye) for k, c in enumerate(CODES)}
    return {"ID": number, "Disease_Risk": int(bool(eye)), **named}
