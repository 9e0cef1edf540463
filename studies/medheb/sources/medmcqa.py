"""MedMCQA: questions of entrance examinations and the text of the right option.

The published test part has no answers, so the development part is tested. Options are counted from
0 in the hub's copy and from 1 in the project's files: the numbers themselves say which. Options
never stand in a query. Answers that only point at other options are left out.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from engine.errors import EvidenceError
from engine.remote import Remote
from studies.medheb.builders.card import Choice, SourceCard, TaskPlan
from studies.medheb.builders.record import Fault
from studies.medheb.sources.folders import find_inside
from studies.medheb.sources.parquet import WAYS, patterns, read_parquet, split_files
from studies.medheb.sources.words import Found, asked, merged, read_objects, telling, text_of

FILE, SPLITS = "dev.json", ("validation", "dev")
OPTIONS = ("opa", "opb", "opc", "opd")
_POINTS = re.compile(
    r"(all|none|both|any)((\s+of)?(\s+the)?\s+(above|these|those|them|options?))?", re.IGNORECASE
)
_NEEDS = re.compile(
    r"\b(except|which of the following|of the following|all are true|which is (not )?true"
    r"|(not )?true (about|regarding)|false (about|regarding))\b",
    re.IGNORECASE,
)
_LETTER = re.compile(
    r"""^\s*ans(wer)?\b[\s.:;-]*(is\b)?[\s.:;-]*[('"`‘“]*[a-d]\b[)'"`’”]*[\s.:,;-]*"""
    r"(i\s*\.?\s*e\b\s*[.,:;-]*\s*)*",
    re.IGNORECASE,
)
Row = tuple[str, Mapping[str, Any]]


@telling
def read(root: Path, settings: Mapping[str, Any]) -> Iterator[Found]:
    """The questions of the development part."""
    rows: list[Row] = []
    for one in _rows(root):
        if isinstance(one, Fault):
            yield one
        else:
            rows.append(one)
    start = _counted_from(root, rows)
    found = _questions(rows, start, settings)
    yield from merged(found) if settings["answers"] == "merged" else found


def _rows(root: Path) -> Iterator[Row | Fault]:
    path = find_inside(root, FILE)
    if path is not None:
        yield from read_objects(path)
        return
    files = split_files(root, *SPLITS)
    if not files:
        says = "neither it nor a parquet table of the validation part is there"
        raise EvidenceError(root / FILE, "missing", says)
    for part in files:
        for number, row in read_parquet(part, ("question", "cop", *OPTIONS)):
            yield f"{part.name}, row {number}", row


def _number(cell: object) -> int | None:
    """The number of the right option as the file has it; None where it has none."""
    try:
        return int(str(cell).removesuffix(".0"))
    except ValueError:
        return None


def _counted_from(root: Path, rows: Iterable[Row]) -> int:
    numbers = {_number(row.get("cop")) for _, row in rows}
    if {0, 4} <= numbers:
        says = "its right options are counted from 0 and from 1; the file mixes two editions"
        raise EvidenceError(root / FILE, "unsupported", says)
    if numbers & {0, 4}:
        return 0 if 0 in numbers else 1
    return 1 if find_inside(root, FILE) is not None else 0


def _questions(rows: Iterable[Row], start: int, settings: Mapping[str, Any]) -> Iterator[Found]:
    seen: set[str] = set()
    for where, row in rows:
        key = str(row.get("id") or "").strip()
        if not key or key in seen:
            yield Fault(where, "has no id, or that of another question")
            continue
        seen.add(key)
        yield _question(where, key, row, start, settings)


def _question(
    where: str, key: str, row: Mapping[str, Any], start: int, settings: Mapping[str, Any]
) -> Found:
    place = _number(row.get("cop"))
    if place is None or not 0 <= place - start < len(OPTIONS):
        return Fault(where, f"its right option {row.get('cop')!r} is none of four")
    try:
        question, option = text_of(row.get("question")), text_of(row.get(OPTIONS[place - start]))
        explained = _LETTER.sub("", text_of(row.get("exp"))).strip()
    except ValueError as error:
        return Fault(where, str(error))
    if settings["pointing"] == "drop" and _POINTS.fullmatch(option.rstrip(" .")):
        return Fault(where, "its answer only points at the other options: left out")
    if settings["needing_options"] == "drop" and _NEEDS.search(question):
        return Fault(where, "its question makes sense with its options alone: left out")
    answers = {"option": option, "explanation": explained, "both": f"{option}. {explained}"}
    answer = answers[str(settings["answer"])] if explained else answers["option"]
    if settings["answer"] == "explanation" and not explained:
        answer = ""
    return asked(where, key, question, answer, stratum=str(row.get("subject_name") or ""))


CARDS = (
    SourceCard(
        id="medmcqa",
        title="MedMCQA",
        form="text",
        modality="text",
        anatomy="multi_region",
        access="open",
        licence="Apache-2.0 on the set's card; the project's repository: MIT",
        url="https://medmcqa.github.io/",
        obtain="Download the archive linked from the project's page and unpack it, or the parquet "
        "files of openlifescienceai/medmcqa; no account is needed.",
        files=(Remote("hub", "openlifescienceai/medmcqa", ("*validation*.parquet",)),),
        expects=(*(f"{way}{FILE}" for way in WAYS), *patterns(*SPLITS)),
        read=read,
        plans=(TaskPlan("medmcqa/t2t", "text", {"query": "question", "target": "answer"}),),
        settings=(
            Choice(
                "answer", "option", ("option", "explanation", "both"),
                "what the answer is: the right option, its explanation (without the letter in "
                "front), or both; not stated",
            ),
            Choice(
                "answers", "merged", ("merged", "written"),
                "one spelling for answers that differ in case, blanks or a final full stop (the "
                "most frequent), or as written",
            ),
            Choice(
                "pointing", "drop", ("drop", "keep"),
                "answers such as all of the above, which name nothing without their options",
            ),
            Choice(
                "needing_options", "keep", ("keep", "drop"),
                "questions that only make sense with their options (except, which of the "
                "following)",
            ),
        ),
    ),
)  # fmt: skip
