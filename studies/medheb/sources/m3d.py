"""M3D: CT series of teaching cases with texts (M3D-Cap) and questions about them (M3D-VQA).

A case has one text and often several series, so one series stands for it, axial first. The test
part is what ``M3D_Cap.json`` names; without it, all of ``ct_quizze``, the only part in the authors'
tree. Questions come from the test tables; their ``Text`` column is the report and is never read.
Access to the set has been closed at times: whoever has a copy can use it, nothing is fetched.
Reports pass ``scrubbed``.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

from engine.errors import EvidenceError
from studies.medheb.builders.card import Choice, SourceCard, TaskPlan
from studies.medheb.builders.record import Fault, Record
from studies.medheb.sources.folders import find_inside
from studies.medheb.sources.m3d_files import Cases, place_of
from studies.medheb.sources.scrubbed import scrubbed
from studies.medheb.sources.tables import read_table
from studies.medheb.sources.words import asked, merged, read_json, telling

TYPES = {"1": "plane", "2": "phase", "3": "organ", "4": "abnormality", "5": "location"}
ASKED = {
    "all": tuple(TYPES),
    "no plane or phase": ("3", "4", "5"),
    **{name: (code,) for code, name in TYPES.items()},
}
COLUMNS = ("Image Path", "Question Type", "Question", "Answer")


@telling
def read_cases(root: Path, settings: Mapping[str, Any]) -> Iterator[Record | Fault]:
    """One record a test case: its first series and its text."""
    cases = Cases(root)
    for part, case in _tested(root, cases, str(settings["part"])):
        series = cases.series(part, case)
        if not series:
            yield Fault(f"{part}/{case}", "there is no series of this case")
            continue
        try:
            text = scrubbed(cases.text(part, case))
        except EvidenceError as error:
            yield Fault(f"{part}/{case}", error.reason)
            continue
        if not text:
            yield Fault(f"{part}/{case}", "its text is empty")
            continue
        shown = series[0].volume(int(settings["frames"]))
        yield Record(f"{part}/{case}", case, "test", volumes={"ct": shown}, texts={"report": text})


def _tested(root: Path, cases: Cases, wanted: str) -> list[tuple[str, str]]:
    """Part and number of the cases of the test part.

    Raises:
        EvidenceError: the list is damaged or has no such part.
    """
    path = find_inside(root, "M3D_Cap.json")
    if path is None:
        return [("ct_quizze", case) for case in cases.listed("ct_quizze")]
    document = read_json(path)
    if not isinstance(document, dict):
        raise EvidenceError(path, "damaged", "is no object of parts")
    parts = [name for name in document if fnmatchcase(name, wanted)]
    if not parts:
        raise EvidenceError(
            path, "unsupported", f"has no part {wanted!r}; it has {', '.join(document)}"
        )
    entries = [entry for name in parts for entry in document[name] if isinstance(entry, dict)]
    places = [place_of(str(entry.get("image", ""))) for entry in entries]
    return sorted({place[:2] for place in places if place is not None})


@telling
def read_questions(root: Path, settings: Mapping[str, Any]) -> Iterator[Record | Fault]:
    """One record a question, answers in one spelling each."""
    yield from merged(_rows(root, settings))


def _rows(root: Path, settings: Mapping[str, Any]) -> Iterator[Record | Fault]:
    name = f"M3D_VQA_{settings['table']}.csv"
    path = find_inside(root, name)
    if path is None:
        raise EvidenceError(name, "missing", "there is no such table")
    cases, missing = Cases(root), set()
    for line, row in read_table(path, needs=COLUMNS):
        kind = row["Question Type"].removesuffix(".0")
        if kind not in ASKED[str(settings["questions"])]:
            continue
        where, words = f"{path.name}, line {line}", row["Image Path"]
        series = cases.named(words)
        if series is None:
            if words not in missing:
                yield Fault(words, "a table asks about this series, and it is not there")
            missing.add(words)
            continue
        made = asked(
            where, f"vqa/{line}", _question(row, settings), row["Answer"],
            group=series.case, stratum=TYPES[kind],
        )  # fmt: skip
        shown = {"ct": series.volume(int(settings["frames"]))}
        yield replace(made, volumes=shown) if isinstance(made, Record) else made


def _question(row: Mapping[str, str], settings: Mapping[str, Any]) -> str:
    if not settings["choices"]:
        return row["Question"]
    options = [f"{letter}. {row.get(f'Choice {letter}', '')}" for letter in "ABCD"]
    return f"{row['Question']} {' '.join(options)}"


FRAMES = Choice(
    "frames", 64, (),
    "slices written of a series; the release ships all (0) and cuts to 64 when a model reads them",
    least=0,
)  # fmt: skip
CLOSED = (
    "The hub page has been closed on a complaint at times, and the cases belong to Radiopaedia; "
    "a copy of your own is read"
)
CARDS = (
    SourceCard(
        id="m3d_cap",
        title="M3D-Cap",
        form="3d",
        modality="CT of many regions with texts",
        anatomy="abdomen_pelvis",
        access="open",
        licence="Card says Apache-2.0; the cases are Radiopaedia's, by its terms without commerce",
        url="https://huggingface.co/datasets/GoodBaiBai88/M3D-Cap",
        obtain=f"{CLOSED}: M3D_Cap/ct_quizze (or M3D_Cap_npy) and M3D_Cap.json.",
        expects=tuple(
            f"{way}{name}" for way in ("", "*/", "*/*/") for name in ("ct_quizze", "ct_case")
        ),
        read=read_cases,
        stable=True,
        plans=(
            TaskPlan("m3d_cap/i2r", "text", {"target": "report", "volume": "ct"}),
            TaskPlan("m3d_cap/t2i", "text-to-volume", {"query": "report", "volume": "ct"}),
        ),
        settings=(
            Choice(
                "part", "test*", (),
                "name or pattern of the list's test parts; test100 is seen in the authors' own "
                "benchmark, others are recalled",
            ),
            FRAMES,
        ),
    ),
    SourceCard(
        id="m3d_vqa",
        title="M3D-VQA",
        form="3d",
        modality="CT of many regions with questions",
        anatomy="abdomen_pelvis",
        access="open",
        licence="Card says Apache-2.0 for the tables; pictures as M3D-Cap",
        url="https://huggingface.co/datasets/GoodBaiBai88/M3D-VQA",
        obtain=f"Download the test tables and put M3D-Cap's volumes beside them. {CLOSED}.",
        expects=tuple(f"{way}M3D_VQA_test*.csv" for way in ("", "*/", "*/*/")),
        read=read_questions,
        stable=True,
        plans=(
            TaskPlan(
                "m3d_vqa/vqa", "text", {"query": "question", "target": "answer", "volume": "ct"}
            ),
        ),
        settings=(
            Choice(
                "table", "test5k", ("test5k", "test"),
                "which table the authors drew from is unknown; test5k is the source's benchmark",
            ),
            Choice(
                "questions", "all", tuple(ASKED),
                "kinds of question (their codes are recalled); plane and phase have few answers "
                "and dominate",
            ),
            Choice("choices", False, (), "whether the four choices are part of the question"),
            FRAMES,
        ),
    ),
)  # fmt: skip
