"""VQA-RAD: questions on teaching radiographs, CT and MRI, from the hub's copy or from OSF's files.

The test part is told by the phrase type of the OSF file, or is the hub's own. Numbers among the
answers become their digits. The pictures of test and training part are the same ones by design:
only the questions differ.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from engine.errors import EvidenceError
from engine.remote import Remote
from studies.medheb.builders.card import Choice, SourceCard, TaskPlan
from studies.medheb.builders.record import Fault
from studies.medheb.sources.folders import find_inside
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

TABLE, FOLDER = "VQA_RAD Dataset Public.json", "VQA_RAD Image Folder"


@telling
def read(root: Path, settings: Mapping[str, Any]) -> Iterator[Found]:
    """The questions of the test part; those of the training part too where the pool is of all."""
    parts = ("test", "train") if settings["pool"] == "all" else ("test",)
    rows = _from_hub(root, parts) if _copy(root, settings) == "hub" else _from_osf(root, parts)
    found = once(rows)
    yield from with_answers(found, lowered) if settings["answers"] == "lower" else found


def _copy(root: Path, settings: Mapping[str, Any]) -> str:
    if settings["copy"] != "auto":
        return str(settings["copy"])
    return "hub" if split_files(root, "test") else "osf"


def _from_hub(root: Path, parts: tuple[str, ...]) -> Iterator[Found]:
    for part in parts:
        files = split_files(root, part)
        if not files:
            yield Fault(str(root), f"there is no parquet table of the part {part} in it")
        for row in pictured_rows(files):
            if isinstance(row, Fault):
                yield row
                continue
            yield asked(
                row.where, f"{part}/{row.number:05d}", row.cells["question"], row.cells["answer"],
                group=row.picture.name, split=part, pictures=(row.picture,),
            )  # fmt: skip


def _from_osf(root: Path, parts: tuple[str, ...]) -> Iterator[Found]:
    table, folder = find_inside(root, TABLE), find_inside(root, FOLDER)
    if table is None or folder is None:
        raise EvidenceError(root / TABLE, "missing", f"it or the folder {FOLDER} is not there")
    seen: set[str] = set()
    for one in read_objects(table):
        if isinstance(one, Fault):
            yield one
            continue
        where, row = one
        made = _row(where, row, folder, parts, seen)
        if made is not None:
            yield made


def _row(
    where: str, row: Mapping[str, Any], folder: Path, parts: tuple[str, ...], seen: set[str]
) -> Found | None:
    phrase = str(row.get("phrase_type") or "").strip().lower()
    if not phrase:
        return Fault(where, "has no phrase_type, so its part is unknown")
    part = "test" if phrase.startswith("test") else "train"
    if part not in parts:
        return None
    key = f"{part}/{str(row.get('qid', '')).strip()}"
    if key in seen or key.endswith("/"):
        return Fault(where, "has no qid, or that of another row")
    picture = picture_at(folder, row.get("image_name"), where)
    if isinstance(picture, Fault):
        return picture
    seen.add(key)
    return asked(
        where, key, row.get("question"), row.get("answer"), group=picture.name, split=part,
        pictures=(picture,),
    )  # fmt: skip


def found(root: Path, settings: Mapping[str, Any]) -> tuple[str, ...]:
    """Which copy was read."""
    try:
        copy = _copy(root, settings)
    except EvidenceError:
        return ()
    names = {"hub": "the hub's parquet copy", "osf": f"OSF's {TABLE}"}
    return (
        f"Read from {names[copy]}.",
        "Pictures of the test part stand in the training part too; their questions differ.",
    )


CARDS = (
    SourceCard(
        id="vqa_rad",
        title="VQA-RAD",
        form="2d",
        modality="radiology (X-ray, CT, MRI) from MedPix",
        anatomy="multi_region",
        access="open",
        licence="CC0 1.0",
        url="https://osf.io/89kps/",
        obtain="Download the parquet files of flaviagiammarino/vqa-rad from the hub, or the "
        "project's files from OSF, and unpack them; no account is needed.",
        files=(Remote("hub", "flaviagiammarino/vqa-rad", ("*.parquet",)),),
        expects=(*patterns("test"), TABLE, f"*/{TABLE}", f"*/*/{TABLE}"),
        read=read,
        plans=(TaskPlan("vqa_rad/vqa", "text", {"query": "question", "target": "answer"}),),
        settings=(
            Choice(
                "copy", "auto", ("auto", "hub", "osf"),
                "the hub's copy, as the authors, or OSF's files; the hub's where both lie there",
            ),
            Choice(
                "answers", "lower", ("lower", "written"),
                "answers in lower case, so that equal ones are one candidate, or as written",
            ),
            Choice(
                "pool", "test", ("test", "all"),
                "answers of the evaluated questions, or of all questions; which is not stated",
            ),
        ),
        found=found,
    ),
)  # fmt: skip
