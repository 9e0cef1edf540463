"""ROCO as questions: the hub's ROCO-QA copy, or captions of ROCO under one fixed question.

ROCO itself has captions and no questions. The copy's pictures are named by split and a running
number, either within the test part or as the authors counted, over five files in their order. The
versions of ROCO are never mixed. Pictures that could not be fetched are faults, and counted.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path, PurePosixPath
from typing import Any

from engine.errors import EvidenceError
from engine.remote import Remote
from studies.medheb.builders.card import Choice, SourceCard, TaskPlan
from studies.medheb.builders.record import Fault
from studies.medheb.sources.folders import find_inside
from studies.medheb.sources.parquet import (
    WAYS,
    count_rows,
    patterns,
    pictured_rows,
    split_files,
)
from studies.medheb.sources.tables import each_row
from studies.medheb.sources.words import (
    Found,
    asked,
    picture_at,
    read_text,
    telling,
    unpacked,
)

# the split's name is misspelt in the copy itself; these come before the test part
BEFORE = ("Vaild-*.parquet", "Train-*.parquet", "Valid-00001-of-*.parquet")
FIRST, SECOND = "test/radiology/captions.txt", "test_captions.csv"


@telling
def read(root: Path, settings: Mapping[str, Any]) -> Iterator[Found]:
    """The test part by the chosen route."""
    route = _route(root, settings)
    if route == "qa":
        yield from _from_hub(root, str(settings["numbering"]))
    elif route == "captions-1":
        yield from _captions_1(root, str(settings["question"]))
    else:
        yield from _captions_2(root, str(settings["question"]))


def _route(root: Path, settings: Mapping[str, Any]) -> str:
    if settings["route"] != "auto":
        return str(settings["route"])
    if split_files(root, "Test", "test"):
        return "qa"
    return "captions-1" if find_inside(root, FIRST) is not None else "captions-2"


def _from_hub(root: Path, numbering: str) -> Iterator[Found]:
    files = split_files(root, "Test", "test")
    if not files:
        raise EvidenceError(root / "Test-*.parquet", "missing", "the test part is not there")
    start = _rows_before(root) if numbering == "release" else 0
    for row in pictured_rows(files):
        if isinstance(row, Fault):
            yield row
            continue
        name = f"Test_{start + row.number:06d}{PurePosixPath(row.picture.name).suffix}"
        yield asked(
            row.where, f"Test/{row.number:06d}", row.cells["question"], row.cells["answer"],
            group=row.picture.name, pictures=(replace(row.picture, name=name),),
        )  # fmt: skip


def _rows_before(root: Path) -> int:
    """Rows of the files that the authors counted before the test part."""
    total = 0
    for pattern in BEFORE:
        listed = (sorted(root.glob(f"{way}{pattern}")) for way in WAYS)
        files = next((found for found in listed if found), [])
        if not files:
            says = "it is needed to count as the authors did, and is not there"
            raise EvidenceError(root / pattern, "missing", says)
        total += sum(count_rows(path) for path in files)
    return total


def _captions_1(root: Path, question: str) -> Iterator[Found]:
    table = find_inside(root, FIRST)
    if table is None:
        raise EvidenceError(root / FIRST, "missing", "the captions of ROCO 1 are not there")
    for number, line in enumerate(read_text(table).split("\n"), 1):
        name, _, caption = line.strip().partition("\t")
        if line.strip():
            where = f"{table.name}, line {number}"
            yield _captioned(where, name.strip(), caption, table.parent / "images", question)


def _captions_2(root: Path, question: str) -> Iterator[Found]:
    table = find_inside(root, SECOND)
    if table is None:
        raise EvidenceError(root / SECOND, "missing", "the captions of ROCO 2 are not there")
    folder = unpacked(table.parent, "test", "test_images.zip")
    if folder is None:
        says = "there is neither a folder test nor test_images.zip beside it"
        raise EvidenceError(table, "missing", says)
    for line, row in each_row(table, ("ID", "Caption")):
        yield _captioned(f"{table.name}, line {line}", row["ID"], row["Caption"], folder, question)


def _captioned(where: str, name: str, caption: str, folder: Path, question: str) -> Found:
    picture = picture_at(folder, f"{name}.jpg" if name else "", where)
    if isinstance(picture, Fault):
        return picture
    words = " ".join(caption.split())
    return asked(where, name, question, words, pictures=(picture,))


def found(root: Path, settings: Mapping[str, Any]) -> tuple[str, ...]:
    """Which route was taken."""
    try:
        route = _route(root, settings)
    except EvidenceError:
        return ()
    names = {
        "qa": "Questions of the ROCO-QA copy.",
        "captions-1": "Captions of ROCO 1 as answers to one fixed question.",
        "captions-2": "Captions of ROCO 2 as answers to one fixed question.",
    }
    return (names[route],)


CARDS = (
    SourceCard(
        id="roco_vqa",
        title="ROCO (as ROCO-QA)",
        form="2d",
        modality="radiology figures of biomedical papers",
        anatomy="multi_region",
        access="open",
        licence="Figures: licences of their articles; ROCO-QA: Apache-2.0; ROCO 2: CC BY-NC-SA 4.0",
        url="https://github.com/razorx89/roco-dataset",
        obtain="Download the Test parquet files of adishourya/ROCO-QA from the hub; or fetch ROCO "
        "1 or 2 for its captions. No account is needed; some pictures of ROCO 1 are gone.",
        files=(Remote("hub", "adishourya/ROCO-QA", ("*Test*.parquet",)),),
        expects=(
            *patterns("Test", "test"),
            *(f"{way}{name}" for name in (FIRST, SECOND) for way in WAYS),
        ),
        read=read,
        plans=(TaskPlan("roco_vqa/vqa", "text", {"query": "question", "target": "answer"}),),
        settings=(
            Choice(
                "route", "auto", ("auto", "qa", "captions-1", "captions-2"),
                "the questions of ROCO-QA, as the authors, or captions under a fixed question; "
                "auto takes the first that lies there",
            ),
            Choice(
                "numbering", "part", ("part", "release"),
                "pictures counted within the test part, or over the five files in the authors' "
                "order, which must all be there",
            ),
            Choice(
                "question", "What does the image show?", (),
                "asked of every picture where captions are the answers; ROCO has no questions",
            ),
        ),
        found=found,
    ),
)  # fmt: skip
