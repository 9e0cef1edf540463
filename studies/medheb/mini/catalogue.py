"""Every source that has a miniature: its id and the module of this package that writes it.

Owns the list and the way from an id to its writer. A module holds ``write(folder, *, seed)``, which
lays down the official layout of its source (of all its sources, where several share one module:
they then share the folder). Refuses an id it does not know with the ids it knows.
"""

from __future__ import annotations

import importlib
from collections.abc import Mapping
from pathlib import Path
from typing import Protocol

from studies.errors import StudyError


class Writer(Protocol):
    """Lays the small data of a source below ``folder``, which it makes."""

    def __call__(self, folder: Path, *, seed: int) -> None:
        """Write everything; the same seed writes the same bytes."""


_PACKAGE = __name__.rpartition(".")[0]

WRITERS: Mapping[str, str] = {
    # pictures
    "kvasir": "kvasir",
    "lc25000": "lc25000",
    "rfmid": "rfmid",
    "aptos2019": "aptos",
    "mimic_cxr_lt": "mimic_cxr_lt",
    "isic2019": "isic2019",
    "brain_tumor_mri": "brain_tumor",
    "pannuke": "pannuke",
    "bloodmnist": "medmnist",
    "chestmnist": "medmnist",
    "dermamnist": "medmnist",
    "octmnist": "medmnist",
    "organamnist": "medmnist",
    "organcmnist": "medmnist",
    "organsmnist": "medmnist",
    "pathmnist": "medmnist",
    "tissuemnist": "medmnist",
    # regions
    "chest_imagenome": "chest_imagenome",
    "vindr_cxr": "vindr_cxr",
    "kvasir_seg": "kvasir_seg",
    "isic2018": "isic2018",
    "ultrasound_nerve": "ultrasound_nerve",
    "vindr_mammo": "vindr_mammo",
    # reports
    "mimic_cxr": "mimic_cxr",
    "chexpert_plus": "chexpert_plus",
    "usdata": "usdata",
    # questions
    "mimic_cxr_vqa": "mimic_cxr_vqa",
    "medpix": "medpix",
    "omnimedvqa": "omnimedvqa",
    "pmc_vqa": "pmc_vqa",
    "path_vqa": "path_vqa",
    "roco_vqa": "roco_vqa",
    "radimagenet_vqa": "radimagenet_vqa",
    "vqa_rad": "vqa_rad",
    # texts
    "medmcqa": "medmcqa",
    "pubmedqa": "pubmedqa",
    "medical_qa": "medical_qa",
    "public_health_qa": "public_health_qa",
    # volumes
    "cirrmri600_plus": "cirrmri600",
    "mrnet": "mrnet",
    "organmnist3d": "medmnist3d",
    "nodulemnist3d": "medmnist3d",
    "synapsemnist3d": "medmnist3d",
    "brats": "brats",
    "brats_men_reports": "brats_men",
    "han_seg": "han_seg",
    "synthrad2023_brain": "synthrad",
    "synthrad2023_pelvis": "synthrad",
    "ct_rate": "ct_rate",
    "radgenome_chest_ct": "radgenome",
    "m3d_cap": "m3d",
    "m3d_vqa": "m3d",
    "mmdental": "mmdental",
}


def writer(source: str) -> Writer:
    """The writer of a source.

    Raises:
        StudyError: it has no miniature.
    """
    if source not in WRITERS:
        raise StudyError(f"{source} has no miniature; known are {', '.join(sorted(WRITERS))}.")
    found: Writer = importlib.import_module(f"{_PACKAGE}.{WRITERS[source]}").write
    return found
