"""BraTS-MEN: native T1 of meningioma cases, with the reports of RadGenome-Brain MRI.

The split file lists pictures, in a form nobody confirmed: any nesting of part names and picture
names is read, and a case follows from a picture's name. One text a case: its impression, or what
the settings say, never mixed. Refuses a case that stands in two parts, and one without picture.
Reports pass ``scrubbed``.
"""

from __future__ import annotations

import json
import re
from collections import defaultdict
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from engine.errors import EvidenceError
from engine.evidence.files import open_file
from studies.medheb.builders.card import Choice, SourceCard, TaskPlan
from studies.medheb.builders.record import Fault, Record
from studies.medheb.sources.brats import native_slices
from studies.medheb.sources.folders import find_inside
from studies.medheb.sources.scrubbed import scrubbed

SPLIT = "train_val_test_split.json"
CASE = re.compile(r"BraTS-MEN-(\d{5})-(\d{3})")
PICTURE = re.compile(r"(BraTS-MEN-\d{5}-\d{3})-t1n\.nii(?:\.gz)?")
PARTS = {
    "train": "train", "training": "train", "val": "valid", "valid": "valid",
    "validation": "valid", "test": "test", "testing": "test",
}  # fmt: skip
REPORTS = {"impression": "impression", "findings": "global_finding", "t1n": "modal_wise_finding"}


def read(root: Path, settings: Mapping[str, Any]) -> Iterator[Record | Fault]:
    """One record a case that has a report."""
    try:
        texts = _texts(root, str(settings["report"]))
        parts = _parts(root) if settings["part"] == "test" else {}
    except EvidenceError as error:
        yield Fault(error.path.name, error.reason)
        return
    pictures: dict[str, Path] = {}
    for path in sorted(root.glob("**/*-t1n.nii*")):
        match = PICTURE.fullmatch(path.name)
        if match is not None:
            pictures.setdefault(match[1], path)
    sides: dict[str, set[str]] = defaultdict(set)
    for case, of in parts.items():
        sides[case[:-4]] |= of  # all days of a patient
    for case in sorted(texts):
        told = sides[case[:-4]]
        if len(told) > 1:
            yield Fault(case, f"stands in the parts {', '.join(sorted(told))}: not tested")
        elif case not in pictures:
            yield Fault(case, "has a report and no native T1 in the folder")
        else:
            yield _record(case, pictures[case], texts[case], parts, settings)


def _record(
    case: str, path: Path, text: str, parts: Mapping[str, set[str]], settings: Mapping[str, Any]
) -> Record:
    """Without the split file every case is tested; with it, those of its test part."""
    split = "test" if settings["part"] == "all" else next(iter(parts.get(case, {"train"})))
    shown, words = native_slices(path, "t1", case), scrubbed(text, (case, case[:-4]))
    return Record(case, case[:-4], split, volumes={"t1": shown}, texts={"report": words})


def _texts(root: Path, kind: str) -> dict[str, str]:
    """The text of each case."""
    name = REPORTS[kind]
    path = find_inside(root, f"BraTS_MEN/{name}.json", depth=4)
    if path is None:
        raise EvidenceError(name + ".json", "missing", f"there is no BraTS_MEN/{name}.json")
    found: dict[str, str] = {}
    for key, value in _json(path, dict).items():
        match = CASE.search(key)
        if match is None or (kind == "t1n" and not key.endswith("-t1n")):
            continue
        text = value.get("impression") if isinstance(value, dict) else value
        if isinstance(text, str) and text.strip():
            found[match[0]] = " ".join(text.split())
    return found


def _parts(root: Path) -> dict[str, set[str]]:
    """The parts that each case stands in."""
    path = find_inside(root, SPLIT, depth=4)
    if path is None:
        raise EvidenceError(
            SPLIT, "missing", "there is no such file, so the test part is unknown; with the "
            "setting part=all every case with a report is tested",
        )  # fmt: skip
    found: dict[str, set[str]] = defaultdict(set)
    for case, part in _entries(_json(path, (dict, list)), ""):
        found[case].add(part)
    return dict(found)


def _entries(node: Any, part: str) -> Iterator[tuple[str, str]]:
    """(case, part) of every picture named anywhere below a part's name or beside it."""
    if isinstance(node, dict):
        told = next((PARTS[v.lower()] for v in node.values()
                     if isinstance(v, str) and v.lower() in PARTS), part)  # fmt: skip
        for key, value in node.items():
            yield from _entries(value, PARTS.get(key.lower(), told))
            beside = PARTS.get(value.lower(), told) if isinstance(value, str) else told
            yield from _entries(key, beside)
    elif isinstance(node, list):
        for value in node:
            yield from _entries(value, part)
    elif isinstance(node, str) and part:
        match = CASE.search(node)
        if match is not None:
            yield match[0], part


def _json(path: Path, kind: type | tuple[type, ...]) -> Any:
    try:
        with open_file(path) as stream:
            document = json.loads(stream.read().decode("utf-8-sig"))
    except (OSError, ValueError, RecursionError) as error:
        raise EvidenceError(path, "damaged", f"is no JSON file ({error})") from error
    if not isinstance(document, kind):
        raise EvidenceError(path, "damaged", f"holds {type(document).__name__}, not an object")
    return document


CARDS = (
    SourceCard(
        id="brats_men_reports",
        title="BraTS-MEN with the reports of RadGenome-Brain MRI",
        form="3d",
        modality="brain MRI, native T1, with written impressions",
        anatomy="neuro_head_neck",
        access="challenge",
        licence="Reports MIT by their card; pictures under the challenge's terms on Synapse",
        url="https://huggingface.co/datasets/JiayuLei/RadGenome-Brain_MRI",
        obtain="Download the JSON files of RadGenome-Brain_MRI, join the challenge on Synapse for "
        "the meningioma archives of 2023, and put both into one folder.",
        expects=tuple(
            f"{way}BraTS_MEN/*.json" for way in ("", "*/", "*/*/", "*/*/*/")
        ),
        read=read,
        stable=True,
        plans=(TaskPlan("brats_men/i2r", "text", {"target": "report", "volume": "t1"}),),
        settings=(
            Choice(
                "report", "impression", tuple(REPORTS),
                "the impression of a case, as the release, its findings over all sequences, or "
                "those of native T1 alone",
            ),
            Choice(
                "part", "test", ("test", "all"),
                "the test part of the split file (46 cases by its counts), or all with a report",
            ),
        ),
        held_out=True,
        aliases=("brats_men",),
    ),
)  # fmt: skip
