"""MMDental in miniature: cone-beam CT of teeth and a table of visits.

Owns the layout and its oddities: a table in a Chinese encoding, HTML entities, several visits of a
patient with less and less in them, records without a volume, plans that many share, texts that
give somebody away.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from studies.medheb.mini.contrasts import tomography
from studies.medheb.mini.files import write_table, write_volume
from studies.medheb.mini.planted import remark
from studies.medheb.mini.questions import finding
from studies.medheb.mini.shared import number

PATIENTS, WITHOUT = 30, 3  # every third patient has no volume
COLUMNS = (
    "Filename", "Sex", "Age", "Main appeal", "Subsequent", "Present medical history",
    "Past medical history", "Oral Check", "Diagnosis", "Treatment plan", "Handle", "Doctor advices",
)  # fmt: skip
COMMON = "Scaling of all teeth and instruction."
Row = dict[str, Any]


def write(folder: Path, *, seed: int) -> None:
    """``MMDental/medical_records.csv`` and ``MMDental/<id>/<id>.nii.gz``."""
    base = folder / "MMDental"
    rows: list[Row] = []
    taken: set[str] = set()
    for place in range(PATIENTS):
        patient = number(3, seed, "mmdental", place)
        while patient in taken:
            patient = str(int(patient) + 1)
        taken.add(patient)
        rows += _visits(patient, place)
        if place % WITHOUT:
            voxels = tomography(place % 6, seed, "mmdental", place, shape=(22, 30, 28))
            write_volume(base / patient / f"{patient}.nii.gz", voxels, spacing=(0.3, 0.3, 0.5))
    write_table(base / "medical_records.csv", rows, COLUMNS, encoding="gb18030")


def _visits(patient: str, place: int) -> list[Row]:
    """The visit of the diagnosis, and one after it for every second patient."""
    tooth = 11 + place
    plan = COMMON if place % 5 == 0 else f"1. {tooth} filling &amp; crown no {place}."
    said = f" {remark(patient)}" if place % 4 == 1 else ""
    first: Row = {
        "Filename": patient, "Sex": ("F", "M")[place % 2], "Age": 20 + place,
        "Main appeal": "Pain for a week.", "Subsequent": "no",
        "Present medical history": f"Tooth {tooth} hurts &gt; 3 days.",
        "Past medical history": "denied", "Oral Check": f"{tooth}: {finding(place)} (＋).",
        "Diagnosis": f"{tooth} {finding(place)}, K{place:02d}.{place % 10}{said}",
        "Treatment plan": plan,
        "Handle": "Rinsed.", "Doctor advices": "Come back in a week.",
    }  # fmt: skip
    first["Treatment plan"] += said
    if place % 2 == 0:
        return [first]
    second = first | {"Subsequent": "yes", "Diagnosis": "", "Treatment plan": f"Suture {place}."}
    return [first, second]
