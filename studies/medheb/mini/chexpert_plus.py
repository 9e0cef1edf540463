"""CheXpert Plus in miniature: a wide table of reports, labels as JSON lines, the doubled PNG tree.

Owns the layout and its oddities: paths that end in ``.jpg`` for files that are PNG, a row per view
with the report repeated, sections that are mostly empty, labels that are unsure, label files that
disagree, conclusions that are numbered and repeat.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from studies.medheb.mini.files import write_json_lines, write_picture, write_table
from studies.medheb.mini.planted import remark
from studies.medheb.mini.reports import COMMON, findings, impression
from studies.medheb.mini.shared import look

LABELS = (
    "Enlarged Cardiomediastinum", "Cardiomegaly", "Lung Opacity", "Lung Lesion", "Edema",
    "Consolidation", "Pneumonia", "Atelectasis", "Pneumothorax", "Pleural Effusion",
    "Pleural Other", "Fracture", "Support Devices", "No Finding",
)  # fmt: skip
COLUMNS = (
    "path_to_image", "path_to_dcm", "frontal_lateral", "ap_pa", "deid_patient_id",
    "patient_report_date_order", "report", "section_narrative", "section_clinical_history",
    "section_history", "section_comparison", "section_technique", "section_procedure_comments",
    "section_findings", "section_impression", "section_end_of_impression", "section_summary",
    "section_accession_number", "age", "sex", "race", "ethnicity", "interpreter_needed",
    "insurance_type", "recent_bmi", "deceased", "split",
)  # fmt: skip
PATIENTS = 7  # of each label: two on the test side of 7:3
VALID, MIXED = 5, 4  # patients of the valid part, and with two labels or an unsure one
Row = dict[str, Any]


def write(folder: Path, *, seed: int) -> None:
    """``df_chexpert_plus_240401.csv``, ``chexbert_labels/*.json``, ``PNG/PNG/<part>/...``."""
    rows: list[Row] = []
    labelled: list[Row] = []
    plan = [("train", kind) for kind in range(len(LABELS)) for _ in range(PATIENTS)]
    plan += [("valid", kind) for kind in range(VALID)]
    plan += [("train", -1 - place) for place in range(MIXED)]
    for number, (split, kind) in enumerate(plan, start=1):
        views = ("frontal", "lateral") if number % 4 == 0 else ("frontal",)
        for place, view in enumerate(views, start=1):
            row = _row(number, split, kind, view=view, place=place, seed=seed)
            rows.append({"": len(rows), **row})
            labelled.append({"path_to_image": row["path_to_image"], **_labels(kind)})
            path = Path(row["path_to_image"]).with_suffix(".png")
            pixels = look(kind % len(LABELS), seed, "chexpert", number, view, size=48, grey=True)
            write_picture(folder / "PNG" / "PNG" / path, pixels)
    write_table(folder / "df_chexpert_plus_240401.csv", rows, ["", *COLUMNS])
    _write_labels(folder / "chexbert_labels", labelled)


def _row(number: int, split: str, kind: int, *, view: str, place: int, seed: int) -> Row:
    """One view; every third study has findings, every tenth the conclusion that all have."""
    label, patient = LABELS[kind % len(LABELS)], f"patient{number:05d}"
    stem = f"{split}/{patient}/study1/view{place}_{view}"
    found = findings(label, seed, number).replace(". ", ".\n") if number % 3 == 0 else ""
    told = COMMON if number % 10 == 5 else impression(label, seed, number)
    told = f"1. {told}\n2. No other change."
    told += f"\n3. {remark(seed, number)}" if number % 6 == 0 else ""
    narrative = f"NARRATIVE: Chest, one or two views.\n\n{'FINDINGS: ' + found if found else ''}"
    return {
        "path_to_image": f"{stem}.jpg", "path_to_dcm": f"{stem}.dcm",
        "frontal_lateral": view.capitalize(), "ap_pa": "AP" if view == "frontal" else "",
        "deid_patient_id": patient, "patient_report_date_order": 1,
        "report": f"{narrative}\n\nIMPRESSION:\n\n{told}\n\n[ACCESSION NUMBER]",
        "section_narrative": "Chest, one or two views.",
        "section_findings": found if found else (" " if number % 2 else ""),
        "section_impression": told, "age": 40 + number % 50, "sex": ("Male", "Female")[number % 2],
        "deceased": "No", "split": split,
    }  # fmt: skip


def _labels(kind: int) -> Row:
    """One label; for a negative kind two of them, or one and an unsure one."""
    marks: Row = dict.fromkeys(LABELS)
    if kind >= 0:
        marks[LABELS[kind]] = 1.0
        marks[LABELS[(kind + 3) % len(LABELS)]] = 0.0
        return marks
    marks[LABELS[kind % len(LABELS)]] = 1.0
    marks[LABELS[(kind + 5) % len(LABELS)]] = 1.0 if kind % 2 else -1.0
    return marks


def _write_labels(base: Path, labelled: list[Row]) -> None:
    """The labels of the impressions; those of the findings say nearly nothing."""
    empty = dict.fromkeys(LABELS)
    write_json_lines(base / "impression_fixed.json", labelled)
    unsure = [row | ({} if place % 3 else {"Edema": -1.0}) for place, row in enumerate(labelled)]
    write_json_lines(base / "report_fixed.json", unsure)
    write_json_lines(base / "findings_fixed.json", [row | empty for row in labelled])
