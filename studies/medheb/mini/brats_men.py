"""BraTS-MEN with its reports in miniature: volumes of the challenge, texts of RadGenome-Brain MRI.

Owns the layout and its oddities: the split lists pictures and not cases, cases without a text, a
text without a case, texts of other challenges beside it, texts that speak of a lesion above or give
somebody away.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from studies.medheb.mini.brats import SEQUENCES, write_case
from studies.medheb.mini.files import write_json
from studies.medheb.mini.planted import remark
from studies.medheb.mini.questions import place as place_of
from studies.medheb.mini.questions import sentence

ARCHIVE = "ASNR-MICCAI-BraTS2023-MEN-Challenge-TrainingData"
PARTS = (("train", 3), ("val", 1), ("test", 8))
UNTOLD = 2  # cases without a text
LOST = "BraTS-MEN-01999-000"  # a text of the test part without a volume


def write(folder: Path, *, seed: int) -> None:
    """``ASNR-MICCAI-BraTS2023-MEN-Challenge-TrainingData`` and ``RadGenome-Brain_MRI``."""
    split: dict[str, list[str]] = {}
    cases: list[str] = []
    for part, count in PARTS:
        of = [
            write_case(folder / ARCHIVE, "MEN", len(cases) + place, 0, seed=seed, masked=True)
            for place in range(count)
        ]
        of += [LOST] if part == "test" else []
        split[part] = [f"{case}-{sequence}" for case in of for sequence in SEQUENCES]
        split[part].append("BraTS-GLI-00005-000-t1n")
        cases += of
    for extra in range(UNTOLD):
        write_case(folder / ARCHIVE, "MEN", 500 + extra, 0, seed=seed, masked=True)
    base = folder / "RadGenome-Brain_MRI"
    write_json(base / "train_val_test_split.json", split)
    _write_texts(base / "BraTS_MEN", cases, seed)
    _write_texts(base / "BraTS_GLI", ["BraTS-GLI-00005-000"], seed)


def _write_texts(base: Path, cases: list[str], seed: int) -> None:
    findings = {case: sentence(kind, seed, case) for kind, case in enumerate(cases)}
    write_json(base / "global_finding.json", findings)
    by_sequence = {
        f"{case}-{sequence}": f"The aforementioned lesion is bright: {text}"
        for case, text in findings.items()
        for sequence in SEQUENCES
    }
    write_json(base / "modal_wise_finding.json", by_sequence)
    told: dict[str, Any] = {
        case: {"impression": _impression(kind, seed, case), "disease": ["meningioma"]}
        for kind, case in enumerate(cases)
    }
    write_json(base / "impression.json", told)


def _impression(kind: int, seed: int, case: str) -> str:
    told = f"Meningioma, {place_of(kind)}. {sentence(kind, seed, 'impression', case)}"
    return f"{told} {remark(seed, case)}" if kind % 4 == 0 else told
