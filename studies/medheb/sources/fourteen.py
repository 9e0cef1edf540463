"""The fourteen findings of CheXpert, which label MIMIC-CXR and CheXpert-Plus alike.

Owns their names and how a cell says yes, no, perhaps or nothing. Columns are found by name, since
their order differs between the two sources. Refuses values other than 1, 0, -1 and empty.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from studies.medheb.builders.record import Picture

FINDINGS = (
    "Enlarged Cardiomediastinum", "Cardiomegaly", "Lung Opacity", "Lung Lesion", "Edema",
    "Consolidation", "Pneumonia", "Atelectasis", "Pneumothorax", "Pleural Effusion",
    "Pleural Other", "Fracture", "Support Devices", "No Finding",
)  # fmt: skip
OTHER_NAMES = {"Lung Opacity": ("Airspace Opacity",)}  # of MIMIC-CXR's hand-labelled studies
EMPTY = ("", "nan", "none", "null")


@dataclass(frozen=True)
class StudyLabels:
    """What a study shows, by its source's labels.

    Attributes:
        key: of the record that the source's reader makes of the study.
        group: the patient.
        picture: one frontal picture of the study.
        positive: findings that are there (1); what is 0 or not mentioned is in neither set.
        uncertain: findings that may be there (-1).
    """

    key: str
    group: str
    picture: Picture
    positive: frozenset[str]
    uncertain: frozenset[str]


def stated(row: Mapping[str, Any]) -> tuple[frozenset[str], frozenset[str]]:
    """The positive and the uncertain findings of a row.

    Raises:
        ValueError: a finding has no column, or a value is none of 1, 0, -1 and empty.
    """
    values = dict(_values(row))
    return (
        frozenset(name for name, value in values.items() if value == 1),
        frozenset(name for name, value in values.items() if value == -1),
    )


def _values(row: Mapping[str, Any]) -> Iterator[tuple[str, float]]:
    for name in FINDINGS:
        column = next((one for one in (name, *OTHER_NAMES.get(name, ())) if one in row), None)
        if column is None:
            raise ValueError(f"it says nothing of {name}")
        text = "" if row[column] is None else str(row[column]).strip()
        value = 0.0 if text.lower() in EMPTY else float(text)
        if value not in (1, 0, -1):
            raise ValueError(f"{name} is {text}, not 1, 0 or -1")
        yield name, value
