"""OmniMedVQA in miniature: one JSON of questions per source, and the pictures of the open part.

Owns the layout and its oddities: the archive unpacked into itself, options that are absent, a
misspelled key, one meaning in several spellings, and a restricted part without pictures.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from studies.medheb.mini.files import write_json, write_picture
from studies.medheb.mini.questions import Asked, ask
from studies.medheb.mini.shared import look, number

KINDS = {
    "organ": "Anatomy Identification", "finding": "Disease Diagnosis",
    "place": "Other Biological Attributes", "presence": "Lesion Grading",
}  # fmt: skip
OPEN = (
    ("ACRIMA", "Fundus Photography"), ("Chest CT Scan", "CT(Computed Tomography)"),
    ("ISIC2019", "Dermoscopy"), ("RadImageNet", "MR (Mag-netic Resonance Imaging)"),
    ("Blood Cell", "Microscopy Images"),
)  # fmt: skip
RESTRICTED = ("AIDA", "Endoscopy")
ITEMS = {"RadImageNet": 9}  # far more than the others
FEW = 4
Row = dict[str, Any]


def write(folder: Path, *, seed: int) -> None:
    """``OmniMedVQA/OmniMedVQA/{Images,QA_information}``."""
    base = folder / "OmniMedVQA" / "OmniMedVQA"
    for start, (name, modality) in enumerate(OPEN):
        rows = [_row(seed, name, modality, start, item) for item in range(ITEMS.get(name, FEW))]
        for item, row in enumerate(rows):
            write_picture(base / row["image_path"], look(start + item, seed, name, item))
        if name == "Chest CT Scan":
            rows[1]["modality"] = rows[1].pop("modality_type")
        write_json(base / "QA_information" / "Open-access" / f"{name}.json", rows)
    rows = [_row(seed, *RESTRICTED, 3, item) for item in range(2)]
    write_json(base / "QA_information" / "Restricted-access" / f"{RESTRICTED[0]}.json", rows)


def _row(seed: int, name: str, modality: str, start: int, item: int) -> Row:
    asked = ask(start + item, item)
    answer, options = _worded(asked, item)
    digits = number(6, seed, "omni", name, item)
    row: Row = {
        "dataset": name,
        "question_id": f"{name}_{item:04d}",
        "question_type": KINDS[asked.kind],
        "question": asked.question,
        "gt_answer": answer,
        "image_path": f"Images/{name}/test/Im{digits}_{name.replace(' ', '_')}.png",
    }
    for letter, option in zip("ABCD", options, strict=False):
        row[f"option_{letter}"] = option
    return row | {"modality_type": modality}


def _worded(asked: Asked, item: int) -> tuple[str, list[str]]:
    """The answer as this item spells it, among two or four options."""
    answer = (asked.answer, f"{asked.answer.capitalize()}.", f" {asked.answer.title()}")[item % 3]
    options = [*asked.wrong]
    options.insert(item % (len(options) + 1), answer)
    return answer, options
