"""Which column of a person's table is what: recognised by its words, shown, and overridable.

Owns the words for each role. Refuses a column that is named and not there; guesses nothing from
what stands in the cells.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from studies.errors import BadRequest

# The first word that a column has wins; of two columns for one role the earlier word's.
ROLES: Mapping[str, tuple[str, ...]] = {
    "image": (
        "image", "picture", "image path", "img path", "image file", "img file", "image filename",
        "image name", "image index", "image id", "picture path", "picture file", "path", "file",
        "filename", "file name", "file path", "filepath", "img", "dicom", "png",
    ),
    "volume": (
        "volume", "scan", "volume path", "volume file", "volume name", "series path", "nifti",
        "folder",
    ),
    "label": (
        "label", "labels", "class", "diagnosis", "category", "class name", "finding label",
        "finding labels", "target", "dx",
    ),
    "report": ("report", "report text", "radiology report", "full report", "caption", "text"),
    "findings": ("findings", "finding"),
    "impression": ("impression", "impressions", "conclusion", "summary"),
    "patient": (
        "patient", "patient id", "subject", "subject id", "patientid", "pat id", "patid", "ptid",
        "patient number", "patient no", "participant id", "participant", "case", "case id",
        "patient name", "mrn",
    ),
    "study": ("study", "study id", "exam", "exam id", "accession", "accession number"),
    "modality": ("modality", "sequence", "contrast"),
    "split": ("split", "part", "subset", "set", "partition"),
    "question": ("question", "query", "prompt"),
    "answer": ("answer", "long answer", "response", "reply"),
    "region": ("region", "phrase", "object", "lesion", "structure", "description"),
    "box": ("box", "bbox", "boxes", "bounding box", "bounding boxes"),
    "x1": ("x1", "xmin", "x min", "left", "x0", "x"),
    "y1": ("y1", "ymin", "y min", "top", "y0", "y"),
    "x2": ("x2", "xmax", "x max", "right"),
    "y2": ("y2", "ymax", "y max", "bottom"),
    "width": ("width", "w", "box width"),
    "height": ("height", "h", "box height"),
}  # fmt: skip
NOTHING = ("", "none", "-")


def recognise(columns: Sequence[str], given: Mapping[str, str]) -> dict[str, str]:
    """Role to column.

    Args:
        columns: of the table, as it writes them.
        given: role to column by the user; ``none`` leaves a role out.

    Raises:
        BadRequest: a column is named and not there.
    """
    by_words = {_words(column): column for column in reversed(columns)}
    found: dict[str, str] = {}
    for role, names in ROLES.items():
        if role in given:
            continue
        column = next((by_words[name] for name in names if name in by_words), None)
        if column is not None and column not in found.values():
            found[role] = column
    for role, column in given.items():
        if column.strip().lower() in NOTHING:
            continue
        if column not in columns:
            raise BadRequest(
                f"There is no column {column!r} for {role}; the columns are {', '.join(columns)}."
            )
        found = {name: one for name, one in found.items() if one != column} | {role: column}
    return found


def _words(column: str) -> str:
    """``Patient_ID`` and ``patientId`` as ``patient id``."""
    split = re.sub(r"(?<=[a-z])(?=[A-Z])", " ", column)
    return " ".join(re.sub(r"[^0-9a-z]+", " ", split.lower()).split())


def shown(found: Mapping[str, str], columns: Sequence[str]) -> str:
    """What was recognised, for a person."""
    told = ", ".join(f"{role} = {column!r}" for role, column in found.items())
    unused = [column for column in columns if column not in found.values()]
    rest = f"; not used: {', '.join(unused)}" if unused else ""
    return f"Columns: {told or 'none recognised'}{rest}. Another reading: --set ROLE=COLUMN."
