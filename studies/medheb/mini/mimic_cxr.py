"""MIMIC-CXR in miniature: the archive of reports, and the pictures and tables of the JPG edition.

Owns the layout and its oddities: headings that vary, combined or missing sections, conclusions that
repeat, remarks that give somebody away, several views of a study, studies without a frontal view,
and the relabelled test studies.
"""

from __future__ import annotations

import io
import zipfile
from pathlib import Path

from studies.medheb.mini.files import write_bytes, write_table
from studies.medheb.mini.mimic import LABELS, Shot, make_shot, write_shot, write_tables
from studies.medheb.mini.planted import remark
from studies.medheb.mini.reports import COMMON, findings, impression
from studies.medheb.mini.shared import look

PARTS = (("train", 3), ("validate", 2), ("test", 16))
LATERAL_ONLY, BARE = 14, 15  # test studies without a frontal view, and without any heading
SAME = (3, 7)  # test studies with the conclusion that everybody has


def write(folder: Path, *, seed: int) -> None:
    """``mimic-cxr-reports.zip``, record lists, ``mimic-cxr-jpg/2.1.0/...``."""
    jpg = folder / "mimic-cxr-jpg" / "2.1.0"
    shots: dict[Shot, str] = {}
    labels: dict[str, tuple[str, ...]] = {}
    reports: dict[str, str] = {}
    for part, count in PARTS:
        for place in range(count):
            for shot in _shots(seed, part, place):
                write_shot(jpg, shot, look(place % 14, shot.dicom, grey=True))
                shots[shot] = part
                labels[shot.study] = (LABELS[place % 14],)
                reports[f"{shot.folder}.txt"] = _report(part, place, seed)
    write_tables(jpg, shots, labels)
    _write_test_labels(jpg, [shot for shot, part in shots.items() if part == "test"], labels)
    _write_archive(folder / "mimic-cxr-reports.zip", reports)
    _write_lists(folder, list(shots))


def _shots(seed: int, part: str, place: int) -> list[Shot]:
    """Mostly a frontal and a lateral view; two studies of every fourth patient."""
    subject, study = place - (place % 4 == 1), place % 4 == 1
    views = ("AP",) if place % 5 == 2 else ("PA", "LATERAL")
    if part == "test" and place == LATERAL_ONLY:
        views = ("LATERAL",)
    names = (seed, "mimic-cxr", part)
    return [make_shot(*names, subject=subject, study=int(study), view=view) for view in views]


def _report(part: str, place: int, seed: int) -> str:
    """A free text with headings in one of the ways they come."""
    label = LABELS[place % 14]
    found = findings(label, seed, part, place).replace(". ", ".\n ")
    found += f"\n {remark(seed, part, place)}" if place % 4 == 0 else ""
    told = COMMON if part == "test" and place in SAME else impression(label, seed, part, place)
    start = "                                 FINAL REPORT\n EXAMINATION:  CHEST (PA AND LAT)\n\n"
    start += " INDICATION:  ___ year old with cough.\n\n"
    if part == "test" and place == BARE:
        return f"{start} {told}\n"
    if place % 7 == 6:
        return f"{start} FINDINGS AND IMPRESSION:\n\n {found}\n {told}\n"
    if place % 7 == 5:
        return f"{start} COMPARISON:  None.\n\n {found}\n\n IMPRESSION:\n\n {told}\n"
    heading = ("FINDINGS:", "Findings:", "FINDINGS: ")[place % 3]
    second = ("IMPRESSION:", "IMPRESSION: ", "CONCLUSION:")[place % 3]
    return f"{start} {heading}\n\n {found}\n\n {second}\n\n {told}\n"


def _write_archive(path: Path, reports: dict[str, str]) -> None:
    held = io.BytesIO()
    with zipfile.ZipFile(held, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, text in reports.items():
            archive.writestr(zipfile.ZipInfo(name), text)
    write_bytes(path, held.getvalue())


def _write_lists(folder: Path, shots: list[Shot]) -> None:
    rows = [shot.ids | {"path": shot.path.removesuffix(".jpg") + ".dcm"} for shot in shots]
    columns = ["subject_id", "study_id", "dicom_id", "path"]
    write_table(folder / "cxr-record-list.csv.gz", rows, columns)
    studies = {shot.study: shot for shot in shots}.values()
    rows = [shot.ids | {"path": f"{shot.folder}.txt"} for shot in studies]
    write_table(folder / "cxr-study-list.csv.gz", rows, ["subject_id", "study_id", "path"])


def _write_test_labels(jpg: Path, shots: list[Shot], labels: dict[str, tuple[str, ...]]) -> None:
    """Keyed by the study alone; one label has another name here."""
    named = {name: "Airspace Opacity" if name == "Lung Opacity" else name for name in LABELS}
    rows = [
        {"study_id": study} | {named[name]: float(name in labels[study]) for name in LABELS}
        for study in dict.fromkeys(shot.study for shot in shots)
    ]
    columns = ["study_id", *named.values()]
    write_table(jpg / "mimic-cxr-2.1.0-test-set-labeled.csv", rows, columns)
