"""CirrMRI600+ in miniature: two trees of T1 and T2 volumes, the healthy ones, and their tables.

Owns the layout and its oddities: healthy numbers that start again at 1, masks under the names of
their images, tables with a byte order mark and blanks in the header, a patient on different sides
in the two trees, patients with one sequence only.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from studies.medheb.mini.contrasts import mask, resonance
from studies.medheb.mini.files import write_table, write_text, write_volume
from studies.medheb.mini.shared import number

GRADES = 3
# cases of each grade by part; in the test part each grade has three
PARTS = (("train", 2), ("valid", 1), ("test", 3))
HEALTHY = 9  # 7:3 leaves three on the test side
ELSEWHERE, ALONE = 1, 4  # test cases of T1 whose T2 is on another side, or nowhere
EVALUATION = "Radiological Evaluation"


def write(folder: Path, *, seed: int) -> None:
    """``Cirrhosis_T{1,2}_3D``, ``Healthy_subjects`` and five tables."""
    rows: dict[str, list[dict[str, Any]]] = {"1": [], "2": []}
    for part, each in PARTS:
        for place in range(each * GRADES):
            patient, grade = number(3, seed, "cirrmri", part, place), place % GRADES
            for sequence in _sequences(part, place):
                side = "valid" if sequence == "2" and _moves(part, place) else part
                base = folder / f"Cirrhosis_T{sequence}_3D"
                _write(base, f"{side}_images", f"{side}_masks", patient, sequence, grade)
                rows[sequence].append(_row("Patient ID", patient, place) | {EVALUATION: grade + 1})
    for place in range(HEALTHY):
        for sequence in ("1", "2"):
            base = folder / "Healthy_subjects" / f"T{sequence}_W_Healthy"
            name = f"T{sequence}_images", f"T{sequence}_masks"
            _write(base, *name, str(place + 1), sequence, GRADES)
    _write_tables(folder, rows)


def _sequences(part: str, place: int) -> tuple[str, ...]:
    return ("1",) if part == "test" and place == ALONE else ("1", "2")


def _moves(part: str, place: int) -> bool:
    return part == "test" and place == ELSEWHERE


def _write(base: Path, images: str, masks: str, patient: str, sequence: str, kind: int) -> None:
    shape = (20 + 2 * (int(patient) % 3), 32, 32)
    names = ("cirrmri", kind, patient)
    voxels = resonance(kind, *names, weighting=f"t{sequence}", shape=shape)
    write_volume(base / images / f"{patient}.nii.gz", voxels, spacing=(1.2, 1.2, 5.0))
    write_volume(base / masks / f"{patient}.nii.gz", mask(kind, *names, shape=shape))


def _row(name: str, patient: str, place: int) -> dict[str, Any]:
    return {name: patient, "Age": 40 + place, "Gender": 1 + place % 2}


def _write_tables(folder: Path, rows: dict[str, list[dict[str, Any]]]) -> None:
    names = ["Patient ID", "Age", "Gender", EVALUATION]
    every = {row["Patient ID"]: row for row in rows["2"] + rows["1"]}
    both = {row["Patient ID"] for row in rows["2"]}
    paired = [row for patient, row in every.items() if patient in both]
    suffix = "age_gender_evaluation.csv"
    write_table(folder / f"CirrMRI600+_CompleteData_{suffix}", every.values(), names)
    write_table(folder / f"T1&T2_Paired_{suffix}", paired, names)
    write_table(folder / f"T2_{suffix}", rows["2"], names, encoding="utf-8-sig")
    padded = [{f"{k} " if k == EVALUATION else k: v for k, v in row.items()} for row in rows["1"]]
    padded_names = [*names[:3], f"{EVALUATION} "]
    write_table(folder / f"T1_{suffix}", padded, padded_names, encoding="utf-8-sig")
    healthy = [_row("ID", str(place + 1), place) for place in range(HEALTHY)]
    write_table(folder / "Healthy_demographics.csv", healthy, ["ID", "Age", "Gender"])
    write_text(folder / "labels.txt", "1 mild\n2 moderate\n3 severe\n")
    write_text(folder / "LICENSE.txt", "Generated; nobody is in it.\n")
