"""MedPix: questions of the hub's copies (ClinQA, ShortQA), or asked of MedPix 2.0 by fixed rules.

MedPix 2.0 itself has cases and descriptions, no questions. ClinQA comes in one part without a test:
it is cut 7:3 by case. Pictures lie in a column that may be called ``image_id``. What a case or
description does not say is not asked.
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
from studies.medheb.sources.parquet import open_parquet, patterns, pictured_rows, split_files
from studies.medheb.sources.words import (
    Found,
    asked,
    picture_at,
    read_objects,
    telling,
    text_of,
)

PARTS = {
    "test": ("Test", "test"),
    "valid": ("Valid", "valid", "validation"),
    "train": ("Train", "train"),
}
CASES, DESCRIPTIONS = "Case_topic.json", "Descriptions.json"
CUT = "splitted_dataset"
# what is asked of a description or its case, and under which names the files have it
ASKED = {
    "diagnosis": ("What is the diagnosis?", ("Case Diagnosis",)),
    "modality": ("Which imaging modality is this?", ("Modality",)),
    "plane": ("In which plane is the image?", ("Plane",)),
    "location": ("Which location does the image show?", ("Location", "location")),
    "category": (
        "Which region of the body does the image show?",
        ("Location Category", "location category"),
    ),
}


@telling
def read(root: Path, settings: Mapping[str, Any]) -> Iterator[Found]:
    """Questions by the chosen route."""
    if _route(root, settings) == "hub":
        yield from _from_hub(root, str(settings["part"]))
    else:
        yield from _from_cases(root)


def _route(root: Path, settings: Mapping[str, Any]) -> str:
    if settings["route"] != "auto":
        return str(settings["route"])
    return "hub" if any(split_files(root, *names) for names in PARTS.values()) else "cases"


def _from_hub(root: Path, wanted: str) -> Iterator[Found]:
    part = wanted
    if wanted == "auto":
        part = "test" if split_files(root, *PARTS["test"]) else "train"
    files = split_files(root, *PARTS[part])
    if not files:
        raise EvidenceError(root / f"{part}-*.parquet", "missing", "it is not there")
    split = "" if wanted == "auto" and part == "train" else "test"
    for row in pictured_rows(files, _column(files[0])):
        if isinstance(row, Fault):
            yield row
            continue
        case = str(row.cells.get("case_id") or "").strip()
        yield asked(
            row.where, f"{part}/{row.number:06d}", row.cells["question"], row.cells["answer"],
            group=case or row.picture.name, split=split, pictures=(row.picture,),
        )  # fmt: skip


def _column(path: Path) -> str:
    with open_parquet(path) as table:
        return "image" if "image" in table.schema_arrow.names else "image_id"


def _from_cases(root: Path) -> Iterator[Found]:
    base = find_inside(root, "images")
    if base is None:
        raise EvidenceError(root / "images", "missing", "the folder of pictures is not there")
    cut = find_inside(root, f"{CUT}/descriptions_test.jsonl")
    described = cut or find_inside(root, DESCRIPTIONS)
    told = find_inside(root, f"{CUT}/data_test.jsonl" if cut else CASES)
    if described is None or told is None:
        says = f"it or {CASES} is not there, nor are both in {CUT}"
        raise EvidenceError(root / DESCRIPTIONS, "missing", says)
    cases: dict[str, Mapping[str, Any]] = {}
    for case in read_objects(told):
        if isinstance(case, Fault):
            yield case
        else:
            cases[str(case[1].get("U_id"))] = _inner(case[1], "Case")
    seen: set[str] = set()
    for one in read_objects(described):
        if isinstance(one, Fault):
            yield one
        else:
            yield from _described(one, base, cases, "test" if cut else "", seen)


def _inner(row: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    inner = row.get(name)
    return inner if isinstance(inner, Mapping) else {}


def _described(
    one: tuple[str, Mapping[str, Any]],
    base: Path,
    cases: Mapping[str, Mapping[str, Any]],
    split: str,
    seen: set[str],
) -> Iterator[Found]:
    where, row = one
    name, case = str(row.get("image") or "").strip(), str(row.get("U_id") or "").strip()
    picture = picture_at(base, f"{name}.png" if name else "", where)
    if isinstance(picture, Fault) or name in seen or not case:
        told = picture if isinstance(picture, Fault) else Fault(where, "no case, or told before")
        yield told
        return
    seen.add(name)
    facts = {**row, **_inner(row, "Description"), **cases.get(case, {})}
    for kind, (question, keys) in ASKED.items():
        answer = next((facts[key] for key in keys if facts.get(key)), None)
        if answer is not None and (not isinstance(answer, str) or text_of(answer)):
            yield asked(
                where, f"{name}/{kind}", question, answer, group=case, split=split,
                pictures=(picture,), stratum=kind,
            )  # fmt: skip


def found(root: Path, settings: Mapping[str, Any]) -> tuple[str, ...]:
    """Which route was taken, and what is tested."""
    try:
        if _route(root, settings) == "cases":
            return (f"Asked of MedPix 2.0's own files by {len(ASKED)} fixed questions.",)
        if settings["part"] == "auto" and not split_files(root, *PARTS["test"]):
            return ("The hub's copy has no test part; its cases were cut.",)
    except EvidenceError:
        return ()
    return ("The hub's copy, by its own parts.",)


CARDS = (
    SourceCard(
        id="medpix",
        aliases=("medpix2",),
        title="MedPix 2.0 (as ClinQA)",
        form="2d",
        modality="CT and MRI teaching images with case text",
        anatomy="multi_region",
        access="open",
        licence="Terms of MedPix (US National Library of Medicine); ClinQA declares Apache-2.0",
        url="https://github.com/CHILab1/MedPix-2.0",
        obtain="Download the parquet files of adishourya/MEDPIX-ClinQA from the hub, or clone "
        "MedPix 2.0 with its pictures; no account is needed.",
        files=(Remote("hub", "adishourya/MEDPIX-ClinQA", ("*.parquet",)),),
        expects=(
            *patterns(*(name for names in PARTS.values() for name in names)),
            *(f"{way}{DESCRIPTIONS}" for way in ("", "*/", "*/*/")),
            *(f"{way}{CUT}" for way in ("", "*/", "*/*/")),
        ),
        read=read,
        plans=(TaskPlan("medpix/vqa", "text", {"query": "question", "target": "answer"}),),
        settings=(
            Choice(
                "route", "auto", ("auto", "hub", "cases"),
                "questions of the hub's copy, as the authors, or fixed questions over the cases; "
                "the copy where both lie there",
            ),
            Choice(
                "part", "auto", ("auto", *PARTS),
                "which part of the hub's copy is tested; auto takes its test part, and cuts a "
                "copy that has none (ClinQA) by case; the authors' part is not stated",
            ),
        ),
        found=found,
    ),
)  # fmt: skip
