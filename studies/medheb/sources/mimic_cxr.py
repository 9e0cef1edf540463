"""MIMIC-CXR: one frontal chest X-ray and the report of every study of the official test part.

Owns the way from the split table to pictures (of MIMIC-CXR-JPG), reports (unpacked or in their
archive) and labels. Texts are the findings and the impression alone, never the head of a report,
and pass ``scrubbed``: patient, study and picture numbers, days, telephone numbers and names behind
"Dr." are taken out; the ``___`` of the source's own de-identification stays unless a setting takes
it out. Studies of other parts are not read.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from engine.errors import EvidenceError
from studies.medheb.builders.card import Choice, SourceCard, TaskPlan
from studies.medheb.builders.record import Fault, Picture, Record
from studies.medheb.sources.folders import find_inside
from studies.medheb.sources.fourteen import StudyLabels, stated
from studies.medheb.sources.mimic_files import PICTURES, MimicFiles, mimic_files, study_path
from studies.medheb.sources.mimic_sections import BY_HAND, FINDINGS, IMPRESSION, sections
from studies.medheb.sources.scrubbed import BLANK, scrubbed
from studies.medheb.sources.tables import each_row
from studies.medheb.sources.words import Found, telling

SPLIT, METADATA = "mimic-cxr-2.0.0-split.csv", "mimic-cxr-2.0.0-metadata.csv"
LABELS = {
    "chexpert": "mimic-cxr-2.0.0-chexpert.csv",
    "negbio": "mimic-cxr-2.0.0-negbio.csv",
    "hand": "mimic-cxr-2.1.0-test-set-labeled.csv",
}
FRONTAL = ("PA", "AP")  # in this order
_BLANKS = re.compile(rf"\s*{BLANK}+\s*")


@dataclass(frozen=True)
class Study:
    """One study of the test part.

    Attributes:
        subject: the patient's number.
        number: of the study, without its letter.
        views: its frontal pictures, the preferred one first.
    """

    subject: str
    number: str
    views: tuple[str, ...]

    @property
    def key(self) -> str:
        """Of its record."""
        return f"s{self.number}"

    @property
    def path(self) -> str:
        """Its folder."""
        return study_path(self.subject, self.number)


@telling
def read(folder: Path, settings: Mapping[str, Any]) -> Iterator[Found]:
    """One record a study that has a report."""
    files, studies = mimic_files(folder), _studies(folder)
    if _table(folder, METADATA) is None:
        yield Fault(f"{METADATA}.gz", "it is not there, so no view is known to be frontal")
    for study in studies:
        if study.number in BY_HAND:
            yield Fault(study.key, "its sections are sorted by hand where it is published")
            continue
        try:
            report = files.report(f"{study.path}.txt")
        except EvidenceError as error:
            yield Fault(study.key, error.reason)
            continue
        if report is None:
            yield Fault(study.key, "its report is not there")
            continue
        texts = _texts(report, study, settings)
        picture = _picture(files, study)
        if study.views and picture is None:
            yield Fault(study.key, "its frontal picture is not there; its words alone are used")
        pictures = (picture,) if picture is not None else ()
        yield Record(study.key, study.subject, "test", pictures=pictures, texts=texts)


def _table(folder: Path, name: str) -> Path | None:
    """A table, packed or not."""
    found = (find_inside(folder, f"{name}{ending}", depth=2) for ending in (".gz", ""))
    return next((path for path in found if path is not None), None)


def _needed(folder: Path, name: str) -> Path:
    path = _table(folder, name)
    if path is None:
        raise EvidenceError(folder / f"{name}.gz", "missing", f"it is not in {folder}")
    return path


def _studies(folder: Path) -> list[Study]:
    """The studies of the test part, by number."""
    pictures: dict[tuple[str, str], list[str]] = defaultdict(list)
    needs = ("dicom_id", "study_id", "subject_id", "split")
    for _, row in each_row(_needed(folder, SPLIT), needs):
        if row["split"] == "test":
            pictures[row["study_id"], row["subject_id"]].append(row["dicom_id"])
    wanted = {one for of in pictures.values() for one in of}
    views: dict[str, str] = {}
    metadata = _table(folder, METADATA)
    for _, row in each_row(metadata, ("dicom_id", "ViewPosition")) if metadata else ():
        if row["dicom_id"] in wanted:
            views[row["dicom_id"]] = row["ViewPosition"].upper()
    return [
        Study(subject, number, _frontal(of, views))
        for (number, subject), of in sorted(pictures.items())
    ]


def _frontal(pictures: list[str], views: Mapping[str, str]) -> tuple[str, ...]:
    """PA before AP, then by name; laterals never."""
    kept = [one for one in pictures if views.get(one) in FRONTAL]
    return tuple(sorted(kept, key=lambda one: (FRONTAL.index(views[one]), one)))


def _picture(files: MimicFiles, study: Study) -> Picture | None:
    for view in study.views:
        path = files.find(f"{study.path}/{view}.dcm", PICTURES)
        if path is not None:
            ending = ".png" if path.suffix == ".dcm" else path.suffix
            plain = study.path.removeprefix("files/")
            return Picture(f"{plain}/{view}{ending}", path)
    return None


def _texts(text: str, study: Study, settings: Mapping[str, Any]) -> dict[str, str]:
    """The target of the report task, and the pair of the text task where both are told apart."""
    own = (study.subject, study.number, f"p{study.subject}", study.key, *study.views)
    cut = {name: _shown(words, own, settings) for name, words in sections(text).items()}
    findings, impression = cut.get(FINDINGS, ""), cut.get(IMPRESSION, "")
    target = {
        "findings": findings,
        "impression": impression,
        "findings_else_impression": findings or impression,
        "both": " ".join(filter(None, (findings, impression))),
    }[settings["report"]]
    pair = {FINDINGS: findings, IMPRESSION: impression} if findings != impression else {}
    return {"report": target, **pair}


def _shown(words: str, own: tuple[str, ...], settings: Mapping[str, Any]) -> str:
    clean = scrubbed(words, own)
    return _BLANKS.sub(" ", clean).strip() if settings["blanks"] == "remove" else clean


def study_labels(root: Path, settings: Mapping[str, Any]) -> Iterator[StudyLabels | Fault]:
    """The findings of every test study that has a frontal picture and a row of labels.

    Args:
        root: the folder that ``read`` takes.
        settings: of the card; ``labels_file`` names the table.

    Yields:
        One entry a study, keyed as its record; a fault for a row that cannot be read.

    Raises:
        EvidenceError: the split table or the table of labels is missing or damaged.
    """
    path, files = _needed(root, LABELS[settings["labels_file"]]), mimic_files(root)
    studies = {study.number: study for study in _studies(root)}
    for line, row in each_row(path, ("study_id",)):
        study = studies.get(row["study_id"].removesuffix(".0"))
        picture = _picture(files, study) if study is not None else None
        if study is None or picture is None:
            continue
        try:
            yield StudyLabels(study.key, study.subject, picture, *stated(row))
        except ValueError as error:
            yield Fault(f"{path.name}, line {line}", str(error))


def has_picture(record: Record) -> bool:
    """Whether a record can ask with a picture."""
    return bool(record.pictures)


CARDS = (
    SourceCard(
        id="mimic_cxr",
        title="MIMIC-CXR",
        form="2d",
        modality="chest X-ray with reports",
        anatomy="chest_thorax",
        access="credentialed",
        licence="PhysioNet Credentialed Health Data License 1.5.0; reports stay on this machine",
        url="https://physionet.org/content/mimic-cxr-jpg/",
        obtain="Apply at PhysioNet for MIMIC-CXR and MIMIC-CXR-JPG; put mimic-cxr-reports.zip "
        "(or its files), the tables and the files folder of MIMIC-CXR-JPG below one folder; the "
        "test studies are enough.",
        expects=tuple(f"{way}{SPLIT}*" for way in ("", "*/", "*/*/")),
        read=read,
        plans=(
            TaskPlan("mimic_cxr/i2r", "text", {"target": "report"}, has_picture),
            TaskPlan("mimic_cxr/t2t", "text", {"query": FINDINGS, "target": IMPRESSION}),
        ),
        settings=(
            Choice(
                "report", "findings",
                ("findings", "findings_else_impression", "impression", "both"),
                "which sections are the report; not stated, and the authors' count of rows is that "
                "of studies with findings",
            ),
            Choice(
                "blanks", "keep", ("keep", "remove"),
                "the marks ___ of the source's de-identification; the authors' cleaning removes "
                "them from the text task",
            ),
            Choice(
                "labels_file", "chexpert", tuple(LABELS),
                "whose labels retrieval across sources takes: CheXpert's, NegBio's, or those made "
                "by hand for 687 test studies (2.1.0)",
            ),
        ),
    ),
)  # fmt: skip
