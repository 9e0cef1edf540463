"""RadGenome-Chest CT in miniature: resampled volumes, sentences by region, slots of questions.

Owns the layout and its oddities: a folder that drops an underscore, a column spelled with a small
n, findings repeated along every level of a region's path, cells that list, templates with slots,
sentences that give somebody away.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from studies.medheb.mini.contrasts import chest
from studies.medheb.mini.files import write_json, write_table, write_volume
from studies.medheb.mini.planted import remark
from studies.medheb.mini.questions import FINDINGS, sentence

PATHS = (
    "lung/lung/right lung/right lung upper lobe", "lung/lung/left lung/left lung lower lobe",
    "heart/heart", "mediastinum/mediastinum/lymph node", "bone/bone/rib",
)  # fmt: skip
PARTS = (("train", 2), ("valid", 9))
TEMPLATES = {
    "abnormality": ["What is abnormal in the {region}?", "Which abnormality has the {region}?"],
    "location": ["Where is the {abnormality}?", "In which part does one find {abnormality}?"],
    "presence": [
        "Is there {abnormality} in the {region}?",
        "Does the {region} show {abnormality}?",
    ],
    "size": ["How large is the {abnormality} in the {region}?", "What size is the {abnormality}?"],
    "disorders": ["Which disorders does this scan show?", "What is the matter here?"],
}
Row = dict[str, Any]


def write(folder: Path, *, seed: int) -> None:
    """``dataset/{train,valid}_preprocessed``, ``radgenome_files`` and ``qa_templates``."""
    base = folder / "dataset"
    for part, count in PARTS:
        names = []
        for patient in range(1, count + 1):
            name = f"{part}_{patient}_a_1.nii.gz"
            of = base / f"{part}_preprocessed" / f"{part}_{patient}" / f"{part}_{patient}a"
            write_volume(of / name, chest(patient, seed, name), spacing=(1.0, 1.0, 3.0))
            names.append(name)
        _write_tables(base / "radgenome_files", part, names, seed)
    for kind, questions in TEMPLATES.items():
        write_json(base / "qa_templates" / f"{kind}_template.json", questions)


def _write_tables(base: Path, part: str, names: list[str], seed: int) -> None:
    long = "validation" if part == "valid" else part
    tables: dict[str, list[Row]] = {name: [] for name in _COLUMNS}
    for kind, name in enumerate(names):
        for table, rows in _rows(kind, name, seed).items():
            tables[table] += [{"Volumename": name, **row} for row in rows]
    for table, columns in _COLUMNS.items():
        write_table(base / f"{long}_{table}.csv", tables[table], ["Volumename", *columns])


_COLUMNS = {
    "region_report": ("Anatomy", "Sentence"),
    "vqa_abnormality": ("Anatomy", "Abnormality"),
    "vqa_location": ("Anatomy", "Abnormality"),
    "vqa_presence": ("Anatomy", "Finding", "Presence"),
    "vqa_size": ("Anatomy", "Abnormality", "Size"),
    "case_disorders": ("Disorders",),
}


def _rows(kind: int, name: str, seed: int) -> dict[str, list[Row]]:
    """What each table says about a volume."""
    path, other = PATHS[kind % 5], PATHS[(kind + 2) % 5]
    found, second = FINDINGS[kind % 8], FINDINGS[(kind + 3) % 8]
    levels = ["/".join(path.split("/")[: end + 1]) for end in range(1, path.count("/") + 1)]
    told, more = sentence(kind, seed, name), sentence(kind + 1, seed, name, "more")
    along = [{"Anatomy": level, "Abnormality": f"{found}, {second}"} for level in levels]
    return {
        "region_report": [
            *({"Anatomy": level, "Sentence": told} for level in levels),
            {"Anatomy": other, "Sentence": more},
            {"Anatomy": "", "Sentence": f"Otherwise as before, {kind}. {remark(name)}"},
        ],
        "vqa_abnormality": [*along, {"Anatomy": other, "Abnormality": second}],
        "vqa_location": [{"Anatomy": path, "Abnormality": found}],
        "vqa_presence": [
            {"Anatomy": path, "Finding": found, "Presence": "Yes."},
            {"Anatomy": "", "Finding": "tumour", "Presence": "No."},
        ],
        "vqa_size": [{"Anatomy": path, "Abnormality": found, "Size": f"{3 + kind} mm"}],
        "case_disorders": [{"Disorders": f"{found}, {second}"}],
    }
