"""BraTS: native T1 and T2 of one brain and one day, from the children's set of 2023 by default.

Finds cases by their file names, so inner folders that repeat an archive's name do no harm.
``ValidationData`` plays the test where it is there, else all patients are cut. Time points of a
patient stay on one side, and only the same day is the pair. Refuses the meningioma set, which is
held out elsewhere, and takes neither contrast T1 nor FLAIR for their native kin.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import Any

from studies.medheb.builders.card import Choice, SourceCard, TaskPlan
from studies.medheb.builders.record import Fault, Record, Volume
from studies.medheb.sources.stacks import mr_slices

CASE = re.compile(
    r"(?:BraTS-(?P<kind>[A-Z]+)-(?P<patient>\d{5})-(?P<day>\d{3})-(?P<new>t1n|t2w)"
    r"|BraTS2021_(?P<old_patient>\d{5})_(?P<old>t1|t2))\.nii(?:\.gz)?",
    re.IGNORECASE,
)
ROLES = {"t1n": "t1", "t2w": "t2", "t1": "t1", "t2": "t2"}
SUBSETS = ("PED", "GLI", "2021")
FILLED = 0.015  # of a slice above 0


def native_slices(path: Path, role: str, name: str) -> Volume:
    """A volume of one sequence, by the release's rule for brains."""
    make = partial(mr_slices, path, share=FILLED, low=0.5, high=99.5)
    return Volume(f"{role}/{name}", make)


def read(root: Path, settings: Mapping[str, Any]) -> Iterator[Record | Fault]:
    """One record a case and time point, with both native sequences."""
    cases: dict[str, dict[str, Path]] = {}
    for path in sorted(root.glob("**/*.nii*")):
        match = CASE.fullmatch(path.name)
        subset = "" if match is None else (match["kind"] or "2021").upper()
        if match is None or subset != settings["subset"] or not path.is_file():
            continue
        role = ROLES[(match["new"] or match["old"]).lower()]
        name = f"{match['patient'] or match['old_patient']}-{match['day'] or '000'}"
        known = cases.setdefault(name, {}).setdefault(role, path)
        if known != path:
            yield Fault(str(path.relative_to(root)), f"is there twice; {known.parent} is taken")
    parts = {name: _part(next(iter(of.values())), root) for name, of in cases.items()}
    official = "test" in parts.values() and settings["test_part"] == "validation"
    trained = {name.split("-")[0] for name, part in parts.items() if part == "train"}
    for name, of in cases.items():
        if of.keys() != {"t1", "t2"}:
            lacking = "T2" if "t1" in of else "T1"
            yield Fault(
                f"{settings['subset']} {name}", f"there is no native {lacking} of this case"
            )
            continue
        patient, split = name.split("-")[0], parts[name] if official else ""
        if split == "test" and patient in trained:
            yield Fault(
                f"{settings['subset']} {name}", "this patient is trained on too: not tested"
            )
            continue
        below = f"{settings['subset']}-{name}"  # sets number their patients alike
        shown = {role: native_slices(of[role], role, below) for role in ("t1", "t2")}
        yield Record(name, patient, split, volumes=shown)


def _part(path: Path, root: Path) -> str:
    """The part that the folders' names tell; training where they tell nothing."""
    folders = (root.name, *path.relative_to(root).parts[:-1])
    return "test" if any("validation" in name.lower() for name in folders) else "train"


def found(root: Path, settings: Mapping[str, Any]) -> tuple[str, ...]:
    """What a reader of the scores should know."""
    return (
        f"Set {settings['subset']}. The sequences of a case are registered and stripped of the "
        "skull alike, so the outline alone tells part of the answer.",
    )


CARDS = (
    SourceCard(
        id="brats",
        title="BraTS (children's set of 2023)",
        form="3d",
        modality="brain MRI, native T1 and T2",
        anatomy="neuro_head_neck",
        access="challenge",
        licence="The challenge's terms on Synapse",
        url="https://www.synapse.org/brats",
        obtain="Join the challenge on Synapse (2023: syn51156910), accept its terms, and unpack "
        "the TrainingData and ValidationData archives of the PED set into one folder.",
        expects=tuple(
            f"{way}{name}" for way in ("", "*/", "*/*/", "*/*/*/")
            for name in ("BraTS-*-t1n.nii*", "BraTS2021_*_t1.nii*")
        ),
        read=read,
        stable=True,
        plans=(
            TaskPlan("brats/t1-t2", "pairs", {"query": "t1", "target": "t2"}),
            TaskPlan("brats/t2-t1", "pairs", {"query": "t2", "target": "t1"}),
        ),
        settings=(
            Choice(
                "subset", "PED", SUBSETS,
                "the paper says BraTS and cites the children's set of 2023, which the release "
                "uses; GLI of 2023 or the set of 2021 as variants",
            ),
            Choice(
                "test_part", "validation", ("validation", "cut"),
                "that ValidationData alone is tested follows from the release's folders; or a cut "
                "of all patients",
            ),
        ),
        found=found,
    ),
)  # fmt: skip
