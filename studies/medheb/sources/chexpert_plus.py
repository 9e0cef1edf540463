"""CheXpert-Plus: chest X-rays with sectioned reports and CheXbert's labels; kept out of training.

Owns the way from the table (one row a picture, its report repeated) to one record a study, with its
first frontal picture of the PNG edition. Labels are JSON lines, joined by ``path_to_image``; a
study with an uncertain label has no class. Of the reports only findings and impression become
texts, and pass ``scrubbed``: patient and accession numbers, days, telephone numbers and names
behind "Dr." are taken out. Refuses the older small release, which has no reports.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from engine.errors import EvidenceError
from studies.medheb.builders import choose
from studies.medheb.builders.card import Choice, SourceCard, TaskPlan
from studies.medheb.builders.record import Fault, Picture, Record
from studies.medheb.sources.folders import find_inside
from studies.medheb.sources.fourteen import FINDINGS, StudyLabels, stated
from studies.medheb.sources.scrubbed import scrubbed
from studies.medheb.sources.tables import each_row
from studies.medheb.sources.words import Found, read_objects, telling

TABLE = "df_chexpert_plus_240401.csv"
NEEDS = ("path_to_image", "frontal_lateral", "section_findings", "section_impression", "split")
LABEL_FOLDERS = ("chexbert_labels", "CheXpert_Labels", "chexpert_labels")
LABEL_FILES = ("impression_fixed", "findings_fixed", "report_fixed")
PARTS = {"train": ("train",), "valid": ("valid",), "all": ("train", "valid")}
_PATH = re.compile(r"(?P<study>(?:train|valid)/(?P<patient>patient\d+)/study\d+)/view(\d+)_\w+")
_EMPTY = ("", "nan", "none", "null")
DEEP = 5
Marks = tuple[frozenset[str], frozenset[str]]


@dataclass(frozen=True)
class Study:
    """One study of the table.

    Attributes:
        key: its folder, for example ``train/patient00001/study1``.
        patient: name of the patient's folder.
        image: path of its first frontal picture without the ending.
        view: number of that picture's view.
        findings: as the table writes them; empty for most studies.
        impression: as the table writes it.
        own: what must not be read.
    """

    key: str
    patient: str
    image: str
    view: int
    findings: str
    impression: str
    own: tuple[str, ...]


@telling
def read(folder: Path, settings: Mapping[str, Any]) -> Iterator[Found]:
    """One record a study that has a frontal picture."""
    studies: dict[str, Study] = {}
    yield from _collect(folder, settings, studies)
    if settings["studies"] == "one":
        studies = _one_each(studies, int(settings["seed"]))
    marks: dict[str, Marks] = {}
    try:
        yield from _marks(folder, settings, {one.image for one in studies.values()}, marks)
    except EvidenceError as error:
        yield Fault(error.path.name, f"{error.reason}: no study has a class")
    bases = _bases(folder)
    for study in studies.values():
        picture = _picture(bases, study)
        if picture is None:
            yield Fault(study.key, "its frontal picture is not there; its words alone are used")
        positive, uncertain = marks.get(study.image, (frozenset(), frozenset()))
        labels = () if uncertain else tuple(name for name in FINDINGS if name in positive)
        pictures = (picture,) if picture is not None else ()
        yield Record(
            study.key, study.patient, "test", labels, pictures, texts=_texts(study, settings)
        )  # fmt: skip


def _collect(
    folder: Path, settings: Mapping[str, Any], studies: dict[str, Study]
) -> Iterator[Fault]:
    """Fill in the studies of the chosen part, each with its first frontal view."""
    path = find_inside(folder, TABLE)
    if path is None:
        raise EvidenceError(folder / TABLE, "missing", f"it is not in {folder}")
    parts = PARTS[settings["part"]]
    for line, row in each_row(path, NEEDS):
        if row["split"] not in parts or row["frontal_lateral"].lower() != "frontal":
            continue
        found = _PATH.match(row["path_to_image"].removeprefix("/"))
        if found is None:
            yield Fault(f"{TABLE}, line {line}", f"{row['path_to_image']!r} names no picture")
            continue
        study = _study(found, row)
        known = studies.get(study.key)
        if known is None or study.view < known.view:
            studies[study.key] = study


def _study(found: re.Match[str], row: Mapping[str, str]) -> Study:
    own = (found["patient"], found["patient"].removeprefix("patient"))
    more = (row.get(name, "") for name in ("deid_patient_id", "section_accession_number"))
    return Study(
        found["study"], found["patient"], found[0], int(found[3]),
        _said(row["section_findings"]), _said(row["section_impression"]), (*own, *more),
    )  # fmt: skip


def _said(text: str) -> str:
    return "" if text.strip().lower() in _EMPTY else text


def _one_each(studies: Mapping[str, Study], seed: int) -> dict[str, Study]:
    """One study of every patient, by the seed."""
    patients: dict[str, list[Study]] = defaultdict(list)
    for study in studies.values():
        patients[study.patient].append(study)
    drawn = [
        choose.order_by_seed(of, seed, lambda one: one.key, salt="study")[0]
        for of in patients.values()
    ]
    return {study.key: study for study in drawn}


def _marks(
    folder: Path, settings: Mapping[str, Any], wanted: set[str], marks: dict[str, Marks]
) -> Iterator[Fault]:
    """Fill in what the label file states of the wanted pictures."""
    name = f"{settings['label_file']}.json"
    places = (find_inside(folder, f"{one}/{name}") for one in LABEL_FOLDERS)
    path = next((place for place in places if place is not None), None) or find_inside(folder, name)
    if path is None:
        raise EvidenceError(folder / name, "missing", f"it is not in {folder}")
    for entry in read_objects(path):
        if isinstance(entry, Fault):
            yield entry
            continue
        where, row = entry
        image = str(row.get("path_to_image", "")).rpartition(".")[0]
        if image not in wanted:
            continue
        try:
            marks[image] = stated(row)
        except ValueError as error:
            yield Fault(where, str(error))
    if len(marks) < len(wanted):
        yield Fault(path.name, f"{len(wanted) - len(marks)} studies have no labels in it")


def _bases(folder: Path) -> tuple[Path, ...]:
    """Every folder that holds ``train`` or ``valid`` with patients in it; chunks are several."""
    bases: list[Path] = []
    level = [folder]
    for _ in range(DEEP):
        inner: list[Path] = []
        for place in level:
            below = [path for path in sorted(place.iterdir()) if path.is_dir()]
            held = [path for path in below if path.name in ("train", "valid")]
            if any(next(path.glob("patient*"), None) is not None for path in held):
                bases.append(place)
            inner += [path for path in below if path not in held]
        level = inner
    return tuple(bases)


def _picture(bases: tuple[Path, ...], study: Study) -> Picture | None:
    name = f"{study.image}.png"
    path = next((base / name for base in bases if (base / name).is_file()), None)
    return Picture(name, path) if path is not None else None


def _texts(study: Study, settings: Mapping[str, Any]) -> dict[str, str]:
    findings = scrubbed(study.findings, study.own)
    impression = scrubbed(study.impression, study.own)
    target = {
        "findings_else_impression": findings or impression,
        "findings": findings,
        "impression": impression,
        "both": " ".join(filter(None, (findings, impression))),
    }[settings["report"]]
    pair = {"findings": findings, "impression": impression} if findings != impression else {}
    return {"report": target, **pair}


def study_labels(root: Path, settings: Mapping[str, Any]) -> Iterator[StudyLabels | Fault]:
    """The findings of every study of the chosen part that has a frontal picture and labels.

    Args:
        root: the folder that ``read`` takes.
        settings: of the card; ``label_file`` names the file, ``part`` and ``studies`` the studies.

    Yields:
        One entry a study, keyed as its record, uncertain findings told apart; a fault for what
        cannot be read.

    Raises:
        EvidenceError: the table or the label file is missing or damaged.
    """
    studies: dict[str, Study] = {}
    yield from _collect(root, settings, studies)
    if settings["studies"] == "one":
        studies = _one_each(studies, int(settings["seed"]))
    marks: dict[str, Marks] = {}
    yield from _marks(root, settings, {one.image for one in studies.values()}, marks)
    bases = _bases(root)
    for study in studies.values():
        picture = _picture(bases, study)
        if picture is not None and study.image in marks:
            yield StudyLabels(study.key, study.patient, picture, *marks[study.image])


def has_picture(record: Record) -> bool:
    """Whether a record can be seen."""
    return bool(record.pictures)


CARDS = (
    SourceCard(
        id="chexpert_plus",
        title="CheXpert Plus",
        form="2d",
        modality="chest X-ray with reports",
        anatomy="chest_thorax",
        access="registration",
        licence="Stanford University Dataset Research Use Agreement: no commerce, no passing on",
        url="https://aimi.stanford.edu/datasets/chexpert-plus",
        obtain=f"Sign the agreement at Stanford AIMI; fetch {TABLE}, the folder chexbert_labels "
        "and PNG chunks, and unpack them into one folder. DICOM files are not needed.",
        expects=tuple(f"{way}{TABLE}" for way in ("", "*/", "*/*/")),
        read=read,
        plans=(
            TaskPlan("chexpert_plus/i2l", "label", {}, has_picture),
            TaskPlan("chexpert_plus/t2i", "text-exemplars", {}, has_picture),
            TaskPlan("chexpert_plus/i2r", "text", {"target": "report"}, has_picture),
            TaskPlan("chexpert_plus/t2t", "text", {"query": "findings", "target": "impression"}),
        ),
        labels=FINDINGS,
        settings=(
            Choice(
                "part", "train", tuple(PARTS),
                "which official part is tested: the whole source is kept out of training and its "
                "valid part is tiny; the authors' sample is unknown",
            ),
            Choice(
                "studies", "all", ("all", "one"),
                "all studies of a patient, or one by the seed; the authors' sample is unknown",
            ),
            Choice(
                "label_file", "impression_fixed", LABEL_FILES,
                "which of the three label files, which disagree; the authors' is unknown",
            ),
            Choice(
                "report", "findings_else_impression",
                ("findings_else_impression", "findings", "impression", "both"),
                "which sections are the report; the authors' are unknown",
            ),
        ),
        held_out=True,
    ),
)  # fmt: skip
