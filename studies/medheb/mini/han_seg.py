"""HaN-Seg in miniature: planning CT and T1 MR of a head, with organs at risk beside them.

Owns the layout and its oddities: the two have other fields of view, spacing and slice counts, and
masks end in ``.seg.nrrd``.
"""

from __future__ import annotations

from pathlib import Path

from studies.medheb.mini.contrasts import mask, resonance, tomography
from studies.medheb.mini.files import write_volume

CASES = 18  # 7:3 leaves five on the test side
ORGANS = ("BrainStem", "Bone_Mandible", "Parotid_L")
CT, MR = (26, 36, 36), (20, 28, 32)


def write(folder: Path, *, seed: int) -> None:
    """``HaN-Seg/set_1/case_01/case_01_IMG_CT.nrrd`` and so on."""
    for number in range(1, CASES + 1):
        case = f"case_{number:02d}"
        base, names = folder / "HaN-Seg" / "set_1" / case, (seed, "han", number)
        kind = number % 5
        ct, mr = tomography(kind, *names, shape=CT), resonance(kind, *names, shape=MR)
        write_volume(base / f"{case}_IMG_CT.nrrd", ct, spacing=(1.0, 1.0, 2.0))
        write_volume(base / f"{case}_IMG_MR_T1.nrrd", mr, spacing=(1.1, 1.1, 3.0))
        organ = mask(kind, *names, shape=CT)
        name = f"{case}_OAR_{ORGANS[number % len(ORGANS)]}.seg.nrrd"
        write_volume(base / name, organ, spacing=(1.0, 1.0, 2.0))
