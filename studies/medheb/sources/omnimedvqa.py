"""OmniMedVQA: questions on pictures of many sets, one JSON a set; held out from training.

Owns the wording of answers that mean the same, and the level sample over the sets, without which
one set would be most of it. Regroupings that users made of these files are not read. Pictures come
from other sets, some of them in this benchmark too: it is held out by its name only.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from engine.errors import EvidenceError
from engine.remote import Remote
from studies.medheb.builders.card import Choice, SourceCard, TaskPlan
from studies.medheb.builders.record import Fault, Picture
from studies.medheb.sources.folders import find_inside
from studies.medheb.sources.words import (
    Found,
    asked,
    folded,
    picture_at,
    read_objects,
    telling,
    with_answers,
)

FOLDER, OPEN, RESTRICTED = "QA_information", "Open-access", "Restricted-access"
OPTIONS = ("A", "B", "C", "D")
_X_RAY = re.compile(r"\bx[\s_-]*ray(s?)\b")


@telling
def read(root: Path, settings: Mapping[str, Any]) -> Iterator[Found]:
    """The questions of the chosen sets."""
    information = find_inside(root, FOLDER)
    if information is None:
        raise EvidenceError(root / FOLDER, "missing", "it is not there; unpack OmniMedVQA.zip")
    found = _sets(information, settings)
    yield from with_answers(found, _meaning) if settings["answers"] == "meaning" else found


def _sets(information: Path, settings: Mapping[str, Any]) -> Iterator[Found]:
    folders = (OPEN, RESTRICTED) if settings["access"] == "all" else (OPEN,)
    wanted = {name.strip() for name in str(settings["sets"]).split(",") if name.strip()}
    split = "test" if settings["part"] == "all" else ""
    seen: set[str] = set()
    for path in [path for name in folders for path in sorted((information / name).glob("*.json"))]:
        if path.stem.lower().startswith("modality_"):
            yield Fault(path.name, "a regrouping of the sets by users: not read")
        elif not wanted or path.stem in wanted:
            seen.add(path.stem)
            yield from _one_set(path, information.parent, split)
    for name in sorted(wanted - seen):
        yield Fault(name, f"there is no {name}.json among the sets")


def _one_set(path: Path, base: Path, split: str) -> Iterator[Found]:
    seen: set[str] = set()
    try:
        for one in read_objects(path):
            if isinstance(one, Fault):
                yield one
                continue
            where, row = one
            name = str(row.get("question_id") or "").strip()
            if not name or name in seen:
                yield Fault(where, "has no question_id, or that of another question")
                continue
            seen.add(name)
            yield _question(where, f"{path.stem}/{name}", row, base, split, path.stem)
    except EvidenceError as error:
        yield Fault(path.name, error.reason)


def _question(
    where: str, key: str, row: Mapping[str, Any], base: Path, split: str, stratum: str
) -> Found:
    picture = picture_at(base, row.get("image_path"), where)
    if isinstance(picture, Fault):
        return picture
    name = picture.name.removeprefix("Images/")
    return asked(
        where, key, row.get("question"), _answer(row), group=name, split=split,
        pictures=(Picture(name, picture.file),), stratum=stratum,
    )  # fmt: skip


def _answer(row: Mapping[str, Any]) -> Any:
    """The right answer's text, also where a file names its option alone."""
    written = row.get("gt_answer")
    if isinstance(written, str) and written not in [row.get(f"option_{one}") for one in OPTIONS]:
        letter = written.strip().removeprefix("option_")
        if letter in OPTIONS and row.get(f"option_{letter}"):
            return row[f"option_{letter}"]
    return written


def _meaning(answer: str) -> str:
    """One wording for answers that differ in case, a final full stop or the writing of X-ray."""
    return _X_RAY.sub(r"x-ray\1", folded(answer))


CARDS = (
    SourceCard(
        id="omnimedvqa",
        title="OmniMedVQA",
        form="2d",
        modality="twelve modalities, from CT to microscopy",
        anatomy="multi_region",
        access="open",
        licence="None declared for the whole; each of its sets keeps its own, some non-commercial",
        url="https://huggingface.co/datasets/foreverbeliever/OmniMedVQA",
        obtain="Download OmniMedVQA.zip (10.7 GB) from the hub and unpack it; no account is "
        "needed. Pictures of the restricted part come from their owners.",
        files=(Remote("hub", "foreverbeliever/OmniMedVQA", ("OmniMedVQA.zip",)),),
        expects=tuple(f"{way}{FOLDER}" for way in ("", "*/", "*/*/")),
        read=read,
        plans=(TaskPlan("omnimedvqa/vqa", "text", {"query": "question", "target": "answer"}),),
        held_out=True,
        settings=(
            Choice(
                "access", "open", ("open", "all"),
                "the open part, or the restricted one too; the authors' is not stated",
            ),
            Choice(
                "sets", "", (),
                "names of sets, joined by commas; empty for all. An old folder name of the "
                "authors' suggests 26 that nobody names",
            ),
            Choice(
                "part", "all", ("all", "share"),
                "every question may be tested, since nothing is trained on, or a share by picture",
            ),
            Choice(
                "sampling", "level", ("level", "random"),
                "a capped sample level over the sets, or at random, where RadImageNet is most",
            ),
            Choice(
                "answers", "meaning", ("meaning", "written"),
                "one wording for answers that differ in case, full stop or the writing of X-ray, "
                "or as written",
            ),
        ),
    ),
)  # fmt: skip
