"""Medical-CXR-VQA: questions on chest X-rays of MIMIC-CXR, from the table of 780,000 rows.

The benchmark calls it MIMIC-CXR-VQA; other sets of that or a like name are not it and are refused.
The pictures lie in the tree of MIMIC-CXR. Lists of findings are brought into one order, for theirs
varies. Groups are patients.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from engine.errors import EvidenceError
from studies.medheb.builders.card import Choice, SourceCard, TaskPlan
from studies.medheb.builders.record import Fault, Picture
from studies.medheb.sources.folders import find_inside
from studies.medheb.sources.mimic_files import PICTURES, MimicFiles, mimic_files, study_path
from studies.medheb.sources.tables import each_row
from studies.medheb.sources.words import Found, asked, lowered, name_of, telling

TABLES = ("medical-cxr-vqa-questions.csv", "medical-cxr-vqa-questions.csv.gz")
NEEDS = ("subject_id", "study_id", "dicom_id", "question", "answer")
LISTS = "abnormality"  # the type of question whose answers are lists


@telling
def read(root: Path, settings: Mapping[str, Any]) -> Iterator[Found]:
    """The questions of the test part; of all rows where the table names no parts."""
    table = next((path for name in TABLES if (path := find_inside(root, name))), None)
    if table is None:
        raise EvidenceError(root / TABLES[0], "missing", "it is not there")
    places = mimic_files(root)
    if not places.bases:
        raise EvidenceError(root / "files", "missing", "no tree p10 to p19 of MIMIC-CXR is there")
    seen: set[str] = set()
    tested = 0
    for line, row in each_row(table, NEEDS):
        split, kind = row.get("split", "").lower(), row.get("question_type", "").lower()
        if split not in ("", "test") or (settings["types"] == "short" and kind == LISTS):
            continue
        tested += 1
        yield _asked(f"{table.name}, line {line}", row, split, kind, places, settings, seen)
    if not tested:
        yield Fault(table.name, "no row of it is of the part test")


def _asked(
    where: str,
    row: Mapping[str, str],
    split: str,
    kind: str,
    places: MimicFiles,
    settings: Mapping[str, Any],
    seen: set[str],
) -> Found:
    subject, study = (_number(row[name]) for name in ("subject_id", "study_id"))
    dicom, question = row["dicom_id"], name_of(row["question"])
    if not (subject and study and dicom):
        return Fault(where, "names no patient, study or picture")
    per_study = settings["repeats"] == "first"
    key = f"{study if per_study else dicom}/{question}"
    if key in seen:
        same = "study" if per_study else "picture"
        return Fault(where, f"the same question on the same {same} stood there already: left out")
    path = f"{study_path(subject, study)}/{dicom}"
    file = places.find(f"{path}.jpg", PICTURES)
    if file is None:
        return Fault(where, "its picture is not in the tree of MIMIC-CXR")
    seen.add(key)
    ending = ".png" if file.suffix.lower() == ".dcm" else file.suffix.lower()
    picture = Picture(f"{path.removeprefix('files/')}{ending}", file)
    answer = row["answer"] if settings["answers"] == "written" else _ordered(row["answer"], kind)
    return asked(
        where, f"{dicom}/{question}", row["question"], answer, group=subject, split=split,
        pictures=(picture,), stratum=kind,
    )  # fmt: skip


def _number(text: str) -> str:
    """A number without the letter or the fraction that some tables write."""
    plain = text.strip().lstrip("ps").removesuffix(".0")
    return plain if plain.isdigit() else ""


def _ordered(answer: str, kind: str) -> str:
    """In lower case; the findings of a list in alphabetical order."""
    text = lowered(answer)
    if kind != LISTS or "," not in text:
        return text
    return ", ".join(sorted(part.strip() for part in text.split(",") if part.strip()))


CARDS = (
    SourceCard(
        id="mimic_cxr_vqa",
        title="Medical-CXR-VQA 1.0.0",
        form="2d",
        modality="chest X-ray",
        anatomy="chest_thorax",
        access="credentialed",
        licence="PhysioNet Credentialed Health Data License 1.5.0",
        url="https://physionet.org/content/medical-cxr-vqa-dataset/1.0.0/",
        obtain="PhysioNet wants an application, a course and a signed agreement; put the table of "
        "questions beside the files folder of MIMIC-CXR-JPG (or of MIMIC-CXR).",
        expects=tuple(f"{way}{name}" for way in ("", "*/", "*/*/") for name in TABLES),
        read=read,
        plans=(TaskPlan("mimic_cxr_vqa/vqa", "text", {"query": "question", "target": "answer"}),),
        settings=(
            Choice(
                "answers", "ordered", ("ordered", "written"),
                "answers in lower case and lists of findings in one order, or as written",
            ),
            Choice(
                "types", "all", ("all", "short"),
                "all types of questions, or without those whose answers are lists of findings",
            ),
            Choice(
                "sampling", "random", ("random", "level"),
                "a capped sample at random, or level over the types of questions; whether the "
                "authors balanced them is not stated",
            ),
            Choice(
                "repeats", "keep", ("keep", "first"),
                "a question on several pictures of one study: asked of each, or of the first",
            ),
        ),
    ),
)  # fmt: skip
