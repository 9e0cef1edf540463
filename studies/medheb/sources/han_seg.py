"""HaN-Seg: planning CT and T1 MR of one patient's head and neck, not registered to each other.

Owns the exact names of the two pictures of a case; organ masks (``.seg.nrrd``) stay out. Cases are
cut 7:3. Refuses a case that lacks one of the two.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import Any

from engine.remote import Remote
from studies.medheb.builders.card import SourceCard, TaskPlan
from studies.medheb.builders.record import Fault, Record, Volume
from studies.medheb.sources.stacks import ct_slices, mr_slices

IMAGE = re.compile(r"case_(?P<case>\d+)_IMG_(?P<kind>CT|MR_T1)\.(?:nrrd|nii|nii\.gz)")
ROLES = {"CT": "ct", "MR_T1": "mri"}


def read(root: Path, settings: Mapping[str, Any]) -> Iterator[Record | Fault]:
    """One record a case, with both pictures."""
    cases: dict[str, dict[str, Path]] = {}
    for path in sorted(root.glob("**/case_*_IMG_*")):
        match = IMAGE.fullmatch(path.name)
        if match is not None:
            cases.setdefault(match["case"], {}).setdefault(ROLES[match["kind"]], path)
    for case, of in cases.items():
        if of.keys() != {"ct", "mri"}:
            lacking = "MR_T1" if "ct" in of else "CT"
            yield Fault(f"case_{case}", f"there is no case_{case}_IMG_{lacking} of this case")
            continue
        ct = partial(ct_slices, of["ct"], level=50, width=350)
        mri = partial(mr_slices, of["mri"], share=0.015, low=0.5, high=99.5)
        shown = {"ct": Volume(f"ct/{case}", ct), "mri": Volume(f"mri/{case}", mri)}
        yield Record(case, case, volumes=shown)


CARDS = (
    SourceCard(
        id="han_seg",
        title="HaN-Seg",
        form="3d",
        modality="planning CT and T1-weighted MR of head and neck",
        anatomy="neuro_head_neck",
        access="open",
        licence="CC BY-NC-ND 4.0 (as recalled; look at the record)",
        url="https://zenodo.org/records/7442914",
        obtain="Download HaN-Seg.zip of Zenodo record 7442914 (it was on request once) and unpack "
        "it.",
        files=(Remote("zenodo", "7442914", ("HaN-Seg.zip",)),),
        expects=tuple(f"{way}case_*/case_*_IMG_CT.*" for way in ("", "*/", "*/*/", "*/*/*/")),
        read=read,
        stable=True,
        plans=(TaskPlan("han_seg/mri-ct", "pairs", {"query": "mri", "target": "ct"}),),
    ),
)
