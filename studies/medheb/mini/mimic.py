"""What the miniatures over MIMIC-CXR share: invented ids in its format, and its picture tree.

Owns the names: subjects of eight digits below p10 to p19, studies that start with 5, pictures named
by five groups of hexadecimal characters.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from studies.medheb.mini.files import write_picture, write_table
from studies.medheb.mini.shared import Pixels, hexadecimal, number

LABELS = (
    "Atelectasis", "Cardiomegaly", "Consolidation", "Edema", "Enlarged Cardiomediastinum",
    "Fracture", "Lung Lesion", "Lung Opacity", "No Finding", "Pleural Effusion", "Pleural Other",
    "Pneumonia", "Pneumothorax", "Support Devices",
)  # fmt: skip


@dataclass(frozen=True)
class Shot:
    """One picture of a study.

    Attributes:
        subject: eight digits, no prefix.
        study: eight digits, no prefix.
        dicom: id of the picture.
        view: ``PA``, ``AP`` or ``LATERAL``.
    """

    subject: str
    study: str
    dicom: str
    view: str = "PA"

    @property
    def folder(self) -> str:
        """``files/pNN/pNNNNNNNN/sNNNNNNNN``."""
        return f"files/p{self.subject[:2]}/p{self.subject}/s{self.study}"

    @property
    def path(self) -> str:
        """Of the JPEG below the root of MIMIC-CXR-JPG."""
        return f"{self.folder}/{self.dicom}.jpg"

    @property
    def ids(self) -> dict[str, str]:
        """The three columns of its tables."""
        return {"subject_id": self.subject, "study_id": self.study, "dicom_id": self.dicom}


def make_shot(*names: object, subject: object, study: object = 0, view: str = "PA") -> Shot:
    """A picture of the ``study``-th study of a subject; ``names`` keep sources apart."""
    text = hexadecimal(40, "dicom", *names, subject, study, view)
    return Shot(
        subject=f"1{number(7, 'subject', *names, subject)}",
        study=f"5{number(7, 'study', *names, subject, study)}",
        dicom="-".join(text[start : start + 8] for start in range(0, 40, 8)),
        view=view,
    )


def write_shot(root: Path, shot: Shot, pixels: Pixels) -> None:
    """The JPEG in the tree of MIMIC-CXR-JPG."""
    write_picture(root / shot.path, pixels, quality=90)


def write_tables(
    root: Path,
    shots: Mapping[Shot, str],
    labels: Mapping[str, Sequence[str]],
    *,
    size: tuple[int, int] = (64, 64),
) -> None:
    """The four tables of MIMIC-CXR-JPG.

    Args:
        root: that holds ``files``.
        shots: each picture with its part (``train``, ``validate``, ``test``).
        labels: study (digits alone) to its positive findings; what is not named stays blank.
        size: rows and columns of the pictures.
    """
    split = [shot.ids | {"split": part} for shot, part in shots.items()]
    names = ["dicom_id", "study_id", "subject_id"]
    write_table(root / "mimic-cxr-2.0.0-split.csv.gz", split, [*names, "split"])
    views = [
        shot.ids
        | {"ViewPosition": shot.view, "Rows": size[0], "Columns": size[1], "StudyDate": "21800102"}
        for shot in shots
    ]
    columns = ["dicom_id", "subject_id", "study_id", "ViewPosition", "Rows", "Columns", "StudyDate"]
    write_table(root / "mimic-cxr-2.0.0-metadata.csv.gz", views, columns)
    studies = {shot.study: shot.subject for shot in shots}
    told = [_told(study, subject, labels.get(study, ())) for study, subject in studies.items()]
    for labeler in ("chexpert", "negbio"):
        columns = ["subject_id", "study_id", *LABELS]
        write_table(root / f"mimic-cxr-2.0.0-{labeler}.csv.gz", told, columns)


def _told(study: str, subject: str, positive: Sequence[str]) -> dict[str, Any]:
    """1.0 for what is there, 0.0 for the label before it, blank for the rest."""
    row: dict[str, Any] = {"subject_id": subject, "study_id": study}
    for name in positive:
        place = LABELS.index(name)
        row.setdefault(LABELS[place - 1], 0.0)
        row[name] = 1.0
    return row
