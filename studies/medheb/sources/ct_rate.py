"""CT-RATE: chest CTs with labels, reports, questions, and radiographs projected from the CTs.

``valid`` plays the test, and of every scan the first reconstruction alone: the others repeat its
report and labels. Files say ``valid`` or ``validation`` for the same part. Volumes listed as no
chest are left out. Refuses to invent what a cell does not give (``Not given.``).
Reports pass ``scrubbed``.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from itertools import pairwise
from pathlib import Path
from typing import Any

from engine.errors import EvidenceError
from studies.errors import StudyError
from studies.medheb.builders.card import Choice, SourceCard, TaskPlan
from studies.medheb.builders.record import Fault, Record
from studies.medheb.sources import chest_ct
from studies.medheb.sources.chest_ct import Scale, plain, scan_of
from studies.medheb.sources.folders import find_inside
from studies.medheb.sources.scrubbed import scrubbed
from studies.medheb.sources.stacks import variant
from studies.medheb.sources.tables import is_one, read_table
from studies.medheb.sources.words import asked, merged, read_json, read_text

LABELS = (
    "Medical material", "Arterial wall calcification", "Cardiomegaly", "Pericardial effusion",
    "Coronary artery wall calcification", "Hiatal hernia", "Lymphadenopathy", "Emphysema",
    "Atelectasis", "Lung nodule", "Lung opacity", "Pulmonary fibrotic sequela", "Pleural effusion",
    "Mosaic attenuation pattern", "Peribronchial thickening", "Consolidation", "Bronchiectasis",
    "Interlobular septal thickening",
)  # fmt: skip
NO_FINDING = "No finding"
EDITIONS = {"fixed": ("valid_fixed",), "first": ("valid",), "newest": ("valid_fixed", "valid")}
SECTIONS = {
    "findings": ("Findings_EN",),
    "findings and impression": ("Findings_EN", "Impressions_EN"),
    "impression": ("Impressions_EN",),
}
KINDS = ("short_answer", "long_answer", "multiple_choice", "report_generation")
MARKS = re.compile(r"^(?:\s*<[a-z_]+>)+\s*|\s*(?:<[a-z_]+>\s*)+$")
USUAL = {"edition": "fixed", "hu": "auto"}
SLICED = "valid_fixed_sliced"  # where the sister tasks' root lies below the pair task's


@dataclass
class Files:
    """What lies in the folder, by volume.

    Attributes:
        there: the first reconstructions that are chests.
        dropped: volumes listed as no chest.
        labels: cells of the 18 columns.
        reports: columns of the reports.
        scales: slope, intercept and distances.
        faults: tables that could not be read.
    """

    there: dict[str, Path] = field(default_factory=dict)
    dropped: set[str] = field(default_factory=set)
    labels: dict[str, dict[str, str]] = field(default_factory=dict)
    reports: dict[str, dict[str, str]] = field(default_factory=dict)
    scales: dict[str, Scale] = field(default_factory=dict)
    faults: list[Fault] = field(default_factory=list)


def read(root: Path, settings: Mapping[str, Any]) -> Iterator[Record | Fault]:
    """Scans with labels and reports, radiographs with their CTs, questions.

    Raises:
        StudyError: a renderer was asked for that is not built in.
    """
    if settings["radiograph"] != "parallel":
        raise StudyError(
            "DeepDRR is not built in: it needs an NVIDIA card and its own libraries. Leave "
            "radiograph at parallel, which is what the authors' release does."
        )
    # the edition that lies there, not the one asked for, says whether pictures are the same
    lies = "first" if _edition(root, settings) == "valid" else "fixed"
    settings = {**settings, "edition": lies}
    files = _files(root, settings)
    yield from files.faults
    patients: set[str] = set()
    for name, path in files.there.items():
        yield from _scan(name, path, files, settings)
        patient = _patient(name)
        if settings["xray_scans"] == "scan" or patient not in patients:
            yield _bridge(name, path, files.scales.get(name), settings)
        patients.add(patient)
    named = files.labels.keys() | files.reports.keys()
    yield from chest_ct.not_there(named - files.dropped, files.there)
    yield from _questions(root, files, settings)


def _edition(root: Path, settings: Mapping[str, Any]) -> str:
    """The folder of the edition that is read; none where none of those wanted is there."""
    names = (name for name in EDITIONS[str(settings["edition"])] if find_inside(root, name))
    return next(names, "none")


def _files(root: Path, settings: Mapping[str, Any]) -> Files:
    files = Files()
    places = (find_inside(root, name) for name in EDITIONS[str(settings["edition"])])
    base = next((place for place in places if place is not None), None)
    found = {} if base is None else chest_ct.first_reconstructions(base)
    if not found:
        files.faults.append(Fault(str(root), "there are no volumes of the valid part in it"))
    files.dropped = _no_chest(root, files)
    files.there = {name: path for name, path in found.items() if name not in files.dropped}
    files.labels = _table(root, "multi_abnormality_labels", "predicted_labels", LABELS, files)
    columns = SECTIONS[str(settings["report"])]
    files.reports = _table(root, "radiology_text_reports", "reports", columns, files)
    try:
        files.scales = chest_ct.scales(_find(root, "metadata", "metadata"))
    except EvidenceError as error:
        files.faults.append(Fault(error.path.name, error.reason))
    return files


def _find(root: Path, folder: str, stem: str) -> Path | None:
    """A table of the part, whichever word it has for it."""
    for part in ("valid", "validation"):
        found = find_inside(root, f"{folder}/{part}_{stem}.csv")
        if found is not None:
            return found
    return None


def _table(
    root: Path, folder: str, stem: str, needs: tuple[str, ...], files: Files
) -> dict[str, dict[str, str]]:
    path = _find(root, folder, stem)
    if path is None:
        files.faults.append(Fault(f"{folder}/valid_{stem}.csv", "there is no such table"))
        return {}
    try:
        rows = read_table(path, needs=("VolumeName", *needs))
    except EvidenceError as error:
        files.faults.append(Fault(path.name, error.reason))
        return {}
    return {plain(row["VolumeName"]): row for _, row in rows}


def _no_chest(root: Path, files: Files) -> set[str]:
    """Volumes that are heads; the lines may be paths."""
    path = find_inside(root, "metadata/no_chest_valid.txt")
    if path is None:
        reason = "there is no such list, so scans of the head cannot be left out"
        files.faults.append(Fault("metadata/no_chest_valid.txt", reason))
        return set()
    try:
        return {plain(line) for line in read_text(path).splitlines() if line.strip()}
    except EvidenceError as error:
        files.faults.append(Fault(path.name, error.reason))
        return set()


def _patient(name: str) -> str:
    found = scan_of(name)
    return name if found is None else found[0]


def _below(name: str, settings: Mapping[str, Any]) -> str:
    """Where a volume's pictures go: those made otherwise than usual lie apart."""
    return variant(settings, USUAL) + name


def _scan(
    name: str, path: Path, files: Files, settings: Mapping[str, Any]
) -> Iterator[Record | Fault]:
    labels: tuple[str, ...] = ()
    try:
        labels = _positive(files.labels[name], settings)
    except (KeyError, ValueError) as error:
        reason = "no row of labels" if isinstance(error, KeyError) else str(error)
        if files.labels:
            yield Fault(name, f"{reason}: no sample of the label task")
    report = _report(files.reports.get(name, {}), SECTIONS[str(settings["report"])])
    below = _below(name, settings)
    shown = chest_ct.lung_volume(below, path, files.scales.get(name), str(settings["hu"]))
    yield Record(
        f"scan/{name}", _patient(name), "test", labels, volumes={"ct": shown},
        texts={"report": report},
    )  # fmt: skip


def _positive(row: Mapping[str, str], settings: Mapping[str, Any]) -> tuple[str, ...]:
    labels = tuple(label for label in LABELS if is_one(row[label]))
    return labels or ((NO_FINDING,) if settings["no_finding"] else ())


def _report(row: Mapping[str, str], columns: tuple[str, ...]) -> str:
    """The sections that are given, the first of which must be."""
    parts = [" ".join(row.get(column, "").split()) for column in columns]
    given = [part if part.casefold() not in ("not given.", "not given") else "" for part in parts]
    own = (plain(row.get("VolumeName", "")),)
    return scrubbed(" ".join(part for part in given if part), own) if given[0] else ""


def _bridge(name: str, path: Path, scale: Scale | None, settings: Mapping[str, Any]) -> Record:
    how, below = str(settings["hu"]), _below(name, settings)
    shown = chest_ct.lung_volume(f"{SLICED}/{below}", path, scale, how)
    picture = chest_ct.film_picture(f"xray/{below}.png", path, scale, how)
    return Record(f"xray/{name}", _patient(name), "test", (), (picture,), {"ct": shown})


def _questions(root: Path, files: Files, settings: Mapping[str, Any]) -> Iterator[Record | Fault]:
    path = find_inside(root, "vqa/valid_vqa.json")
    if path is None:
        yield Fault("vqa/valid_vqa.json", "there is no such file, so there are no questions")
        return
    try:
        document = read_json(path)
    except EvidenceError as error:
        yield Fault(path.name, error.reason)
        return
    if not isinstance(document, list):
        yield Fault(path.name, f"holds {type(document).__name__}, not a list")
        return
    missing: set[str] = set()
    yield from merged(_turns(document, path.name, files, settings, missing))
    named = files.labels.keys() | files.reports.keys()  # told of already
    yield from chest_ct.not_there(missing - named - files.dropped, files.there)


def _turns(
    document: list[Any], where: str, files: Files, settings: Mapping[str, Any],
    missing: set[str],
) -> Iterator[Record | Fault]:  # fmt: skip
    """Every question with its answer that is of the wanted kind and about a volume that is there.

    Args:
        document: the file's entries; one may hold several questions.
        where: the file's name.
        files: what lies in the folder.
        settings: of the build.
        missing: takes the names of volumes that are not there.
    """
    wanted = str(settings["vqa_kind"])
    for place, entry in enumerate(document):
        if not isinstance(entry, dict):
            yield Fault(f"{where}, entry {place}", "is no object with fields")
            continue
        name = plain(str(entry.get("image", "")))
        if name not in files.there:
            missing.add(name)
            continue
        scale, how = files.scales.get(name), str(settings["hu"])
        below = _below(name, settings)
        shown = {"ct": chest_ct.lung_volume(below, files.there[name], scale, how)}
        for turn, (kind, question, answer) in enumerate(_pairs(entry)):
            if wanted not in ("all", kind):
                continue
            key = f"vqa/{place}/{turn}"
            told = f"{where}, entry {place}, question {turn}"
            words = scrubbed(question, (name,)), scrubbed(answer, (name,))
            made = asked(told, key, *words, group=_patient(name), stratum=kind)
            yield replace(made, volumes=shown) if isinstance(made, Record) else made


def _pairs(entry: Mapping[str, Any]) -> Iterator[tuple[str, str, str]]:
    """(kind, question, answer) of each human turn and the reply behind it, without marks."""
    turns = entry.get("conversations")
    turns = [turn for turn in turns if isinstance(turn, dict)] if isinstance(turns, list) else []
    for one, reply in pairwise(turns):
        if one.get("from") != "human" or reply.get("from") == "human":
            continue
        question = str(one.get("value") or "")
        signs = (str(one.get("type") or ""), question, str(entry.get("id") or ""))
        kind = next((kind for sign in signs for kind in KINDS if kind in sign), "other")
        yield kind, MARKS.sub("", question), MARKS.sub("", str(reply.get("value") or ""))


def found(root: Path, settings: Mapping[str, Any]) -> tuple[str, ...]:
    """Which edition was read, and what a reader of the scores should know."""
    return (
        f"Edition: {_edition(root, settings)}, first reconstructions.",
        "Labels are a report classifier's predictions; reports are translated by machine.",
        "Short answers were drawn from RadGenome-Chest CT: both question tasks overlap.",
    )


def _is_scan(record: Record) -> bool:
    return record.key.startswith("scan/")


def _is_bridge(record: Record) -> bool:
    return record.key.startswith("xray/")


def _is_question(record: Record) -> bool:
    return record.key.startswith("vqa/")


CHOICES = (
    Choice(
        "edition", "newest", tuple(EDITIONS),
        "the corrected volumes (valid_fixed) where they are there, else the first release",
    ),
    Choice(
        "hu", "auto", ("auto", "header", "metadata"),
        "whether the table's slope and intercept are still to be laid on: told by where air lies, "
        "or fixed",
    ),
    Choice(
        "no_finding", False, (),
        "whether scans without any of the 18 findings are a nineteenth class",
    ),
    Choice(
        "report", "findings", tuple(SECTIONS),
        "which text asks for a volume; the instruction speaks of a report",
    ),
    Choice(
        "xray_scans", "scan", ("scan", "patient"),
        "one radiograph a scan, as the release, or of the first scan of each patient",
    ),
    Choice(
        "radiograph", "parallel", ("parallel", "deepdrr"),
        "the release's own projection; the paper names DeepDRR, which is not built in",
    ),
    Choice(
        "vqa_kind", "short_answer", (*KINDS, "all"),
        "which questions the authors took is unknown; short answers are closed and repeat",
    ),
)  # fmt: skip
CARDS = (
    SourceCard(
        id="ct_rate",
        title="CT-RATE",
        form="3d",
        modality="chest CT with reports, and radiographs projected from it",
        anatomy="chest_thorax",
        access="registration",
        licence="CC BY-NC-SA 4.0 and gated terms: research, no passing on",
        url="https://huggingface.co/datasets/ibrahimhamamci/CT-RATE",
        obtain="Log in, accept the terms on the data set's page, and download the valid part with "
        "the tables and lists (dataset/valid_fixed, radiology_text_reports, "
        "multi_abnormality_labels, metadata, vqa); all of it is many terabytes.",
        expects=tuple(
            f"{way}{name}"
            for way in ("", "*/", "*/*/")
            for name in ("valid_fixed", "valid/valid_*")
        ),
        read=read,
        stable=True,
        plans=(
            TaskPlan("ct_rate/i2l", "label", serves=_is_scan),
            TaskPlan("ct_rate/t2i", "text-to-volume", {"query": "report"}, _is_scan),
            TaskPlan("ct_rate/xray-ct", "pairs", {"query": "picture", "target": "ct"}, _is_bridge),
            TaskPlan(
                "ct_rate_vqa/vqa", "text",
                {"query": "question", "target": "answer", "volume": "ct"}, _is_question,
            ),
        ),
        labels=LABELS,
        settings=CHOICES,
        aliases=("ct_rate_vqa",),
        found=found,
    ),
)  # fmt: skip
