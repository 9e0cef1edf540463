"""SynthRAD2023 in miniature, brain and pelvis of Task 1: MR, CT and mask of a case on one grid.

Owns the layout and its oddities: a folder of overviews among the cases, the centre as a letter of
the case's name, other spacing in the pelvis, T2 in one of its centres.
"""

from __future__ import annotations

from pathlib import Path

from studies.medheb.mini.contrasts import mask, resonance, tomography
from studies.medheb.mini.files import write_picture, write_volume
from studies.medheb.mini.shared import look

# region: letter, cases of each centre, spacing in mm
REGIONS = {
    "brain": ("B", {"A": 5, "B": 5, "C": 5}, (1.0, 1.0, 1.0)),
    "pelvis": ("P", {"A": 10, "C": 6}, (1.0, 1.0, 2.5)),
}


def write(folder: Path, *, seed: int) -> None:
    """``Task1/{brain,pelvis}/1BA001/{mr,ct,mask}.nii.gz`` and ``overview``."""
    for region, (letter, centres, spacing) in REGIONS.items():
        base = folder / "Task1" / region
        for centre, count in centres.items():
            for place in range(1, count + 1):
                case = f"1{letter}{centre}{place:03d}"
                _write_case(base / case, seed, spacing)
                shown = look(place, seed, case, size=32, grey=True)
                write_picture(base / "overview" / f"{case}_train.png", shown)


def _write_case(base: Path, seed: int, spacing: tuple[float, float, float]) -> None:
    case = base.name
    kind, shape = int(case[3:]) % 5, (22 + int(case[3:]) % 4, 32, 30)
    names = (seed, "synthrad", case)
    weighting = "t2" if case.startswith("1PC") else "t1"
    mr = resonance(kind, *names, weighting=weighting, shape=shape)
    write_volume(base / "mr.nii.gz", mr, spacing=spacing)
    write_volume(base / "ct.nii.gz", tomography(kind, *names, shape=shape), spacing=spacing)
    write_volume(base / "mask.nii.gz", mask(kind, *names, shape=shape), spacing=spacing)
