"""CT-RATE in miniature: volumes of the corrected release, reports, labels, metadata, questions.

Owns the layout and its oddities: several reconstructions of a scan with one report, several scans
of a patient, ``valid`` here and ``validation`` there, scans that show no chest, cells that say "Not
given.", a file that cannot be read, turns of talk with marks, reports that give somebody away.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from studies.medheb.mini.contrasts import chest
from studies.medheb.mini.files import write_bytes, write_json, write_table, write_text, write_volume
from studies.medheb.mini.planted import remark
from studies.medheb.mini.questions import ask, sentence

LABELS = (
    "Medical material", "Arterial wall calcification", "Cardiomegaly", "Pericardial effusion",
    "Coronary artery wall calcification", "Hiatal hernia", "Lymphadenopathy", "Emphysema",
    "Atelectasis", "Lung nodule", "Lung opacity", "Pulmonary fibrotic sequela", "Pleural effusion",
    "Mosaic attenuation pattern", "Peribronchial thickening", "Consolidation", "Bronchiectasis",
    "Interlobular septal thickening",
)  # fmt: skip
PARTS = (("train", 3), ("valid", 20))
MANY, NONE, HEAD, BROKEN, UNTOLD = 4, 5, 6, 7, 8  # patients of the valid part
SPACING = (0.75, 0.75, 1.5)
SHAPE = (28, 36, 36)
REPORT = ("ClinicalInformation_EN", "Technique_EN", "Findings_EN", "Impressions_EN")
Row = dict[str, Any]


@dataclass(frozen=True)
class Scan:
    """One scan.

    Attributes:
        part: ``train`` or ``valid``.
        patient: number, from 1.
        letter: of the scan.
        kind: of its look.
        files: number of reconstructions.
    """

    part: str
    patient: int
    letter: str
    kind: int
    files: int

    @property
    def name(self) -> str:
        """As the folder is called."""
        return f"{self.part}_{self.patient}_{self.letter}"

    @property
    def volumes(self) -> list[str]:
        """The names of its files."""
        return [f"{self.name}_{place}.nii.gz" for place in range(1, self.files + 1)]


def scans(part: str, patients: int) -> list[Scan]:
    """Two reconstructions of every third patient, two scans of every fifth."""
    found = []
    for patient in range(1, patients + 1):
        for letter in "ab"[: 1 + (patient % 5 == 0)]:
            kind = (patient + (letter == "b")) % len(LABELS)
            found.append(Scan(part, patient, letter, kind, 1 + (patient % 3 == 0)))
    return found


def write(folder: Path, *, seed: int) -> None:
    """``dataset/{train,valid}_fixed`` and its five folders of tables."""
    base = folder / "dataset"
    for part, patients in PARTS:
        every = scans(part, patients)
        for scan in every:
            _write_scan(base / f"{part}_fixed", scan, seed)
        _write_tables(base, part, every, seed)
    talks = [talk for scan in scans(*PARTS[1]) for talk in _talks(scan, seed)]
    write_json(base / "vqa" / "valid_vqa.json", talks)
    write_json(base / "vqa" / "train_vqa.json", _talks(scans(*PARTS[0])[0], seed))


def _write_scan(base: Path, scan: Scan, seed: int) -> None:
    for name in scan.volumes:
        path = base / f"{scan.part}_{scan.patient}" / scan.name / name
        if scan.part == "valid" and scan.patient == BROKEN:
            write_bytes(path.with_suffix(""), b"no volume")
            path.with_suffix("").rename(path)
            continue
        write_volume(path, chest(scan.kind, seed, scan.name, shape=SHAPE), spacing=SPACING)


def _write_tables(base: Path, part: str, every: list[Scan], seed: int) -> None:
    """One row per file in each of them."""
    long = "validation" if part == "valid" else part
    reports = [{"VolumeName": n, **_report(s, seed)} for s in every for n in s.volumes]
    path = base / "radiology_text_reports" / f"{long}_reports.csv"
    write_table(path, reports, ["VolumeName", *REPORT])
    labels = [{"VolumeName": n, **_labels(s)} for s in every for n in s.volumes]
    path = base / "multi_abnormality_labels" / f"{part}_predicted_labels.csv"
    write_table(path, labels, ["VolumeName", *LABELS])
    told = [{"VolumeName": n, **_metadata()} for s in every for n in s.volumes]
    path = base / "metadata" / f"{long}_metadata.csv"
    write_table(path, told, list(told[0]))
    head = [s for s in every if s.part == "valid" and s.patient == HEAD]
    lines = [
        f"/data/{part}_fixed/{s.part}_{s.patient}/{s.name}/{n}" for s in head for n in s.volumes
    ]
    write_text(base / "metadata" / f"no_chest_{part}.txt", "".join(f"{line}\n" for line in lines))


def _report(scan: Scan, seed: int) -> Row:
    told = {
        "ClinicalInformation_EN": "Cough.",
        "Technique_EN": "Non-contrast images were taken in the axial plane.",
        "Findings_EN": f"{LABELS[scan.kind]}. {sentence(scan.kind, seed, scan.name)}",
        "Impressions_EN": f"{LABELS[scan.kind]}, ({scan.kind}).",
    }
    if scan.patient % 3 == 1:
        told["Findings_EN"] += f" {remark(seed, scan.name)}"
    if scan.part == "valid" and scan.patient == UNTOLD:
        told |= {"Findings_EN": "Not given.", "Impressions_EN": "Not given."}
    return told | ({"ClinicalInformation_EN": ""} if scan.patient % 2 else {})


def _labels(scan: Scan) -> Row:
    positive = {LABELS[scan.kind]}
    if scan.part == "valid":
        positive |= {LABELS[0], LABELS[9]} if scan.patient == MANY else set()
        positive = set() if scan.patient == NONE else positive
    return {label: int(label in positive) for label in LABELS}


def _metadata() -> Row:
    return {
        "Manufacturer": "Generated", "PatientSex": "F", "PatientAge": "060Y",
        "StudyDate": "20180101", "RescaleSlope": 1, "RescaleIntercept": -1024,
        "XYSpacing": f"[{SPACING[0]}, {SPACING[1]}]", "ZSpacing": SPACING[2],
        "NumberofSlices": SHAPE[0], "ImageOrientationPatient": "[1, 0, 0, 0, 1, 0]",
        "SliceLocation": 0,
    }  # fmt: skip


def _talks(scan: Scan, seed: int) -> list[Row]:
    """What people ask about a scan's first file: short, long, with choices, for a report."""
    name, kind = scan.volumes[0], scan.kind
    short = [turn for place in (0, 1) for turn in _turn(ask(kind, place), "short_answer")]
    short[2]["value"] = short[2]["value"].removeprefix("<image>\n")
    asked = ask(kind, 2)
    options = " ".join(
        f"({c}) {o}" for c, o in zip("abcd", (asked.answer, *asked.wrong), strict=True)
    )
    choice = [
        {"from": "human", "value": f"<image>\n{asked.question} {options}<multiple_choice>"},
        {"from": "gpt", "value": f"(a) {asked.answer}"},
    ]
    told = sentence(kind, seed, scan.name)
    long = [
        {"from": "human", "value": "<image>\nDescribe it.<long_answer>", "type": "long_answer"},
        {"from": "gpt", "value": told},
    ]
    report = [
        {"from": "human", "value": "<image>\nWrite the report.<report_generation>"},
        {"from": "gpt", "value": f"Findings: {told}"},
    ]
    groups = {
        "short_answer": short, "multiple_choice": choice, "long_answer": long,
        "report_generation": report,
    }  # fmt: skip
    return [
        {"id": f"{prefix}_{name.removesuffix('.nii.gz')}", "image": name, "conversations": turns}
        for prefix, turns in groups.items()
    ]


def _turn(asked: Any, kind: str) -> list[Row]:
    answer = asked.answer.capitalize()
    return [
        {"from": "human", "value": f"<image>\n{asked.question}<{kind}>", "type": kind},
        {"from": "gpt", "value": f"{answer}."},
    ]
