"""How much the demo holds and what its pictures are called.

Owns the sizes, the file names below each source's picture folder, and which regions are asked
for; so that rows name exactly what ``layout`` writes.
"""

from __future__ import annotations

from dataclasses import dataclass

from studies.demo import pathology
from studies.demo.bank import MOST_CROPS, Bank, nucleus_kinds
from studies.demo.words import REGIONS


@dataclass(frozen=True)
class Sizes:
    """How much is built; the defaults are the demo.

    Attributes:
        chest: patients with film, CT and report.
        held_out: patients of the held-out chest source.
        brain: patients with T1 and T2.
        pathology: patches.
        skin: lesions.
        series: chest patients (and a third as many held-out ones) written as DICOM.
        nifti: brain patients written as NIfTI.
        shape: voxels (z, y, x) of every volume.
    """

    chest: int = 24
    held_out: int = 24
    brain: int = 24
    pathology: int = 24
    skin: int = 24
    series: int = 6
    nifti: int = 6
    shape: tuple[int, int, int] = (64, 96, 96)


def film_name(bank: Bank, index: int, *, source: str = "chest") -> str:
    """A film below its source's picture folder."""
    return f"films/{bank.chest_case(index, source=source).patient}.png"


def region_name(bank: Bank, index: int, region: str) -> str:
    """A crop of a film."""
    return f"regions/{bank.chest_case(index).patient}_{region.replace(' ', '_')}.png"


def lesion_name(bank: Bank, index: int) -> str:
    """A skin picture."""
    return f"pictures/{bank.lesion(index).patient}.png"


def patch_name(bank: Bank, index: int) -> str:
    """A pathology patch."""
    return f"patches/{bank.patch(index).patient}.png"


def nucleus_names(bank: Bank, index: int, kind: str) -> list[str]:
    """The crops of one class of nucleus in a patch."""
    patch = bank.patch(index)
    count = min(MOST_CROPS, len(patch.nuclei[kind]))
    return [f"nuclei/{patch.patient}_{kind}_{number}.png" for number in range(count)]


def slice_names(folder: str, count: int) -> list[str]:
    """Names of a volume's slice pictures, in order."""
    return [f"{folder}/slice_{index:03d}.png" for index in range(count)]


def asked_regions(sizes: Sizes) -> list[tuple[int, str]]:
    """Two regions of every second chest patient."""
    names = tuple(REGIONS)
    picks = []
    for turn, index in enumerate(range(0, sizes.chest, 2)):
        picks += [(index, names[turn % 6]), (index, names[(turn + 2 + turn // 6) % 6])]
    return picks


def asked_nuclei(bank: Bank, sizes: Sizes) -> list[tuple[int, str]]:
    """Two classes of nucleus of about every second patch, over all tissues."""
    order = sorted(range(sizes.pathology), key=lambda i: (i + i // len(pathology.LABELS)) % 2)
    pairs = [(index, kind) for index in order for kind in nucleus_kinds(bank.patch(index))[:2]]
    return pairs[: sizes.pathology]
