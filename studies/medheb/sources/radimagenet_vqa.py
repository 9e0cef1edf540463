"""RadImageNet-VQA: questions on CT and MRI slices, the test part of its benchmark configuration.

Owns what the answer of a question is: the right option's text, never its letter, where there are
options. Takes the metadata as an object or as JSON text. Pictures are named by content, for nine
questions stand on each.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from engine.errors import EvidenceError
from studies.medheb.builders.card import Choice, SourceCard, TaskPlan
from studies.medheb.builders.record import Fault
from studies.medheb.sources.parquet import WAYS, Pictured, patterns, pictured_rows, split_files
from studies.medheb.sources.words import Found, asked, telling, text_of, with_answers

KINDS = ("open", "closed", "multiple_choice")
FOLDER = "benchmark/"
_FIRST_OPTION = re.compile(r"(?m)\s*(?:options|choices)?\s*:?\s*[(\[]?A[).:\]]\s", re.IGNORECASE)


@telling
def read(root: Path, settings: Mapping[str, Any]) -> Iterator[Found]:
    """The questions of the wanted kinds."""
    files = split_files(root, "test", inside=FOLDER) or split_files(root, "test")
    if not files:
        raise EvidenceError(root / f"{FOLDER}test-*.parquet", "missing", "it is not there")
    found = _rows(files, settings)
    spaced = settings["underscores"] == "blank"
    yield from with_answers(found, lambda text: text.replace("_", " ")) if spaced else found


def _rows(files: Sequence[Path], settings: Mapping[str, Any]) -> Iterator[Found]:
    for row in pictured_rows(files):
        if isinstance(row, Fault):
            yield row
            continue
        kind = str(row.cells.get("question_type") or "").strip().lower().replace("-", "_")
        if kind not in KINDS:
            yield Fault(row.where, f"the question type {kind!r} is none of {', '.join(KINDS)}")
        elif settings["questions"] in ("all", kind):
            yield _asked(row, kind, settings)


def _asked(row: Pictured, kind: str, settings: Mapping[str, Any]) -> Found:
    try:
        known = _metadata(row.cells.get("metadata"))
        answer = _answer(row.cells, known, kind, letters=settings["answers"] == "letter")
        question = text_of(row.cells["question"])
    except ValueError as error:
        return Fault(row.where, str(error))
    if settings["options"] == "strip":
        question = _without_options(question, _choices(row.cells))
    return asked(
        row.where, f"test/{row.number:06d}", question, answer, group=row.picture.name,
        pictures=(row.picture,), stratum=kind,
    )  # fmt: skip


def _metadata(cell: Any) -> Mapping[str, Any]:
    if isinstance(cell, str):
        try:
            cell = json.loads(cell)
        except ValueError as error:
            raise ValueError(f"its metadata is no JSON ({error})") from error
    return cell if isinstance(cell, Mapping) else {}


def _answer(cells: Mapping[str, Any], known: Mapping[str, Any], kind: str, *, letters: bool) -> str:
    written, right = text_of(cells["answer"]), text_of(known.get("correct_text"))
    if kind != "multiple_choice":
        return written or right
    if letters or right:
        return written if letters else right
    choices, place = _choices(cells), ord(written.upper()[:1] or "?") - ord("A")
    if len(written) != 1 or not 0 <= place < len(choices):
        raise ValueError(f"the answer {written!r} names none of its options")
    return text_of(choices[place])


def _choices(cells: Mapping[str, Any]) -> Sequence[Any]:
    choices = cells.get("choices")
    return choices if isinstance(choices, list | tuple) else ()


def _without_options(question: str, choices: Sequence[Any]) -> str:
    """The question up to its first option, if all options really follow it."""
    found = _FIRST_OPTION.search(question)
    if found is None or not choices:
        return question
    tail = question[found.start() :]
    listed = all(str(choice) in tail for choice in choices)
    return question[: found.start()].strip() if listed else question


CARDS = (
    SourceCard(
        id="radimagenet_vqa",
        title="RadImageNet-VQA (benchmark)",
        form="2d",
        modality="CT and MRI slices",
        anatomy="multi_region",
        access="registration",
        licence="A research use agreement, accepted on the hub",
        url="https://huggingface.co/datasets/raidium/RadImageNet-VQA",
        obtain="Accept the agreement on its page with an account of the hub, then download the "
        "folder benchmark.",
        expects=(*patterns("test", folders=[f"{way}{FOLDER}" for way in WAYS]), *patterns("test")),
        read=read,
        plans=(TaskPlan("radimagenet_vqa/vqa", "text", {"query": "question", "target": "answer"}),),
        settings=(
            Choice(
                "questions", "all", ("all", *KINDS),
                "which kinds of questions; those the authors kept are not stated",
            ),
            Choice(
                "answers", "text", ("text", "letter"),
                "answers of questions with options: the option's text, or its letter",
            ),
            Choice(
                "options", "keep", ("keep", "strip"),
                "options inside the question's own text: kept as the set has them, or cut off",
            ),
            Choice(
                "underscores", "keep", ("keep", "blank"),
                "underscores in names of pathologies: as written, or as blanks",
            ),
        ),
    ),
)  # fmt: skip
