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
