"""SynthRAD2023, Task 1: MR and planning CT of one patient on one grid, brain and pelvis.

Cases are folders named by task, region, centre and number; the folder of overviews is none. Centres
differ in scanner and contrast, so the cut is level over them. Refuses Task 2 (its CT has cone-beam
partners) and a case without a CT.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from engine.remote import Remote
from studies.medheb.builders.card import Choice, SourceCard, TaskPlan
from studies.medheb.builders.record import Fault, Record, Volume
from studies.medheb.sources.stacks import ct_slices, mr_slices


@dataclass(frozen=True)
class Region:
    """One region of the body, with the release's rules.

    Attributes:
        name: of its folder.
        letter: in the names of its cases.
        anatomy: one of the benchmark's regions.
        level: centre of the CT window.
        width: of the CT window.
        share: of an MR slice that must lie above 0.
        low: percentile of the MR that becomes black.
    """

    name: str
    letter: str
    anatomy: str
    level: float
    width: float
    share: float
    low: float


REGIONS = (
    Region("brain", "B", "neuro_head_neck", 40, 80, 0.015, 0.5),
    Region("pelvis", "P", "abdomen_pelvis", 35, 350, 0.02, 1),
)


def read(region: Region, root: Path, settings: Mapping[str, Any]) -> Iterator[Record | Fault]:
    """One record a case, with both pictures, from the part that ships with CTs."""
    cases: dict[str, Path] = {}
    for folder in sorted(root.glob(f"**/1{region.letter}*")):
        if re.fullmatch(rf"1{region.letter}[A-Z]\d+", folder.name) and folder.is_dir():
            cases.setdefault(folder.name, folder)
    validation = settings["test_part"] == "validation"
    for name, folder in sorted(cases.items()):
        part = _part(folder.relative_to(root))
        if part == "test" and not validation:
            continue
        yield _case(region, name, folder, part if validation else "")


def _part(folder: Path) -> str:
    return "test" if any("val" in name.lower() for name in folder.parts) else "train"


def _case(region: Region, name: str, folder: Path, split: str) -> Record | Fault:
    ct_file, mr_file = _file(folder, "ct"), _file(folder, "mr")
    if ct_file is None or mr_file is None:
        lacking = "CT" if ct_file is None else "MR"
        return Fault(name, f"there is no {lacking} of this case")
    ct = partial(ct_slices, ct_file, level=region.level, width=region.width)
    mri = partial(mr_slices, mr_file, share=region.share, low=region.low, high=99.5)
    shown = {"ct": Volume(f"ct/{name}", ct), "mri": Volume(f"mri/{name}", mri)}
    return Record(name, name, split, volumes=shown, stratum=name[2])


def _file(folder: Path, stem: str) -> Path | None:
    there = [folder / f"{stem}{ending}" for ending in (".nii.gz", ".nii")]
    return next((path for path in there if path.is_file()), None)


def found(root: Path, settings: Mapping[str, Any]) -> tuple[str, ...]:
    """What a reader of the scores should know."""
    return (
        "MR and CT of a case share one grid, outline and defacing, and centres differ in contrast: "
        "both tell part of the answer.",
    )


def _card(region: Region) -> SourceCard:
    name = f"synthrad2023_{region.name}"
    return SourceCard(
        id=name,
        title=f"SynthRAD2023, Task 1, {region.name}",
        form="3d",
        modality=f"MR and planning CT of the {region.name}",
        anatomy=region.anatomy,
        access="open",
        licence="CC BY-NC 4.0",
        url="https://synthrad2023.grand-challenge.org/",
        obtain="Download Task1.zip of Zenodo record 7260705 and unpack it; no account is needed.",
        files=(Remote("zenodo", "7260705", ("Task1.zip",)),),
        expects=tuple(
            f"{way}{region.name}/1{region.letter}*" for way in ("", "*/", "*/*/", "*/*/*/")
        ),
        read=partial(read, region),
        stable=True,
        plans=(
            TaskPlan(f"{name}/mri-ct", "pairs", {"query": "mri", "target": "ct"}),
            TaskPlan(f"{name}/ct-mri", "pairs", {"query": "ct", "target": "mri"}),
        ),
        settings=(
            Choice(
                "test_part", "cut", ("cut", "validation"),
                "a cut of the training record by centre, as only that always ships with CTs and "
                "the authors' own list is unknown, or the validation cases (a folder with val in "
                "its name), whose CTs came later",
            ),
        ),
        found=found,
    )  # fmt: skip


CARDS = tuple(_card(region) for region in REGIONS)
