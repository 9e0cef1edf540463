"""PathVQA: questions on pathology figures, from the hub's parquet copy or a JSON of the archive.

The archive keeps its questions as pickles, which run code when they are read: they are refused. The
same lists as JSON beside them (``test_qa.json``) are taken. Triplets that stand there twice are
left out, as the hub's copy does.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from engine.errors import EvidenceError
from engine.remote import Remote
from studies.medheb.builders.card import Choice, SourceCard, TaskPlan
from studies.medheb.builders.record import Fault, Picture
from studies.medheb.sources.folders import PICTURES, find_inside
from studies.medheb.sources.parquet import patterns, pictured_rows, split_files
from studies.medheb.sources.words import (
    Found,
    asked,
    lowered,
    once,
    picture_at,
    read_objects,
    telling,
    with_answers,
)

PICKLE, JSON, FOLDER = "qas/test/test_qa.pkl", "qas/test/test_qa.json", "images/test"


@telling
def read(root: Path, settings: Mapping[str, Any]) -> Iterator[Found]:
    """The questions of the test part."""
    files = split_files(root, "test")
    rows = _from_hub(files) if files else _from_archive(root)
    found = once(rows) if settings["duplicates"] == "drop" else rows
    yield from with_answers(found, lowered) if settings["answers"] == "lower" else found


def _from_hub(files: list[Path]) -> Iterator[Found]:
    for row in pictured_rows(files):
        if isinstance(row, Fault):
            yield row
            continue
        yield asked(
            row.where, f"test/{row.number:05d}", row.cells["question"], row.cells["answer"],
            group=row.picture.name, pictures=(row.picture,),
        )  # fmt: skip


def _from_archive(root: Path) -> Iterator[Found]:
    table, folder = find_inside(root, JSON), find_inside(root, FOLDER)
    if table is None:
        says = "there is neither the hub's parquet copy nor a test_qa.json"
        if find_inside(root, PICKLE) is not None:
            says = (
                "this is a pickle, which runs code when it is read, and is refused; download the "
                "parquet files of flaviagiammarino/path-vqa, or put the same list as test_qa.json "
                "beside it"
            )
        raise EvidenceError(root / PICKLE, "unsupported", says)
    if folder is None:
        raise EvidenceError(root / FOLDER, "missing", "the folder of pictures is not there")
    for place, one in enumerate(read_objects(table)):
        if isinstance(one, Fault):
            yield one
            continue
        where, row = one
        picture = _picture(folder, row.get("image"), where)
        if isinstance(picture, Fault):
            yield picture
            continue
        yield asked(
            where, f"test/{place:05d}", row.get("question"), row.get("answer"),
            group=picture.name, pictures=(picture,),
        )  # fmt: skip


def _picture(folder: Path, image: object, where: str) -> Picture | Fault:
    """The archive names pictures without their ending."""
    found: Picture | Fault = Fault(where, "names no picture inside the set")
    for ending in ("", *PICTURES) if isinstance(image, str) and image.strip() else ():
        found = picture_at(folder, f"{image}{ending}", where)
        if isinstance(found, Picture):
            break
    return found


def found(root: Path, settings: Mapping[str, Any]) -> tuple[str, ...]:
    """Which copy was read."""
    try:
        files = split_files(root, "test")
    except EvidenceError:
        return ()
    return (f"Read from {'the parquet copy of the hub' if files else 'the archive, as JSON'}.",)


CARDS = (
    SourceCard(
        id="path_vqa",
        title="PathVQA",
        form="2d",
        modality="pathology figures",
        anatomy="pathology",
        access="open",
        licence="MIT for the packaging; pictures and captions stay with their publishers and PEIR",
        url="https://github.com/UCSD-AI4H/PathVQA",
        obtain="Download the parquet files of flaviagiammarino/path-vqa from the hub; no account "
        "is needed.",
        files=(Remote("hub", "flaviagiammarino/path-vqa", ("*test-*.parquet",)),),
        expects=(
            *patterns("test"),
            *(f"{way}qas/test/test_qa.*" for way in ("", "*/", "*/*/")),
        ),
        read=read,
        plans=(TaskPlan("path_vqa/vqa", "text", {"query": "question", "target": "answer"}),),
        settings=(
            Choice(
                "answers", "lower", ("lower", "written"),
                "answers in lower case, so that equal ones are one candidate, or as written",
            ),
            Choice(
                "duplicates", "drop", ("drop", "keep"),
                "the same picture, question and answer once more: left out as in the hub's copy",
            ),
        ),
        found=found,
    ),
)  # fmt: skip
