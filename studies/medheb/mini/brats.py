"""BraTS 2023 of children in miniature: the training and the validation archive.

Owns the layout and its oddities: an archive's name repeated as an inner folder, several time points
of one patient, masks in training only.
"""

from __future__ import annotations

from pathlib import Path

from studies.medheb.mini.contrasts import mask, resonance
from studies.medheb.mini.files import write_volume

SEQUENCES = {"t1n": "t1", "t1c": "t1c", "t2w": "t2", "t2f": "flair"}
ARCHIVE = "ASNR-MICCAI-BraTS2023-PED-Challenge-{}Data"
# (patient, time point)
TRAINING = ((2, 0), (3, 0), (3, 1))
VALIDATION = ((101, 0), (102, 0), (102, 1), (103, 0), (104, 0), (105, 0))
SHAPE = (24, 32, 32)


def write(folder: Path, *, seed: int) -> None:
    """``ASNR-MICCAI-BraTS2023-PED-Challenge-{Training,Validation}Data/BraTS-PED-...``."""
    outer = ARCHIVE.format("Training")
    for patient, point in TRAINING:
        write_case(folder / outer / outer, "PED", patient, point, seed=seed, masked=True)
    for patient, point in VALIDATION:
        base = folder / ARCHIVE.format("Validation")
        write_case(base, "PED", patient, point, seed=seed, masked=False)


def write_case(
    base: Path, challenge: str, patient: int, point: int, *, seed: int, masked: bool
) -> str:
    """One case with its four sequences.

    Returns:
        Its name.
    """
    case = f"BraTS-{challenge}-{patient:05d}-{point:03d}"
    names = (seed, challenge, patient, point)
    for ending, weighting in SEQUENCES.items():
        voxels = resonance(patient % 7, *names, weighting=weighting, shape=SHAPE)
        write_volume(base / case / f"{case}-{ending}.nii.gz", voxels)
    if masked:
        write_volume(base / case / f"{case}-seg.nii.gz", mask(0, *names, shape=SHAPE))
    return case
