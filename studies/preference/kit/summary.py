"""Every number of an analysis as JSON, and as one flat list of names and values.

Owns the names by which a number is found again by the scripts of the kit: members of lists
stand by what they are (a pair by its letters, a block by its group), never by place alone.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

from studies.preference.analysis.schema import Analysis

# Not computed: what the study was told, and what says which data the numbers are of.
TOLD = ("facts", "rater")


def document_of(analysis: Analysis) -> dict[str, Any]:
    """Plain JSON values: every number, the hash of the study."""
    document: dict[str, Any] = json.loads(json.dumps(asdict(analysis), default=list))
    return document


def json_text(analysis: Analysis) -> str:
    """``summary.json``."""
    return _dumped(document_of(analysis))


def numbers_of(analysis: Analysis) -> dict[str, float | None]:
    """Name to number, in the order of the schema; None where a number is not defined."""
    document = document_of(analysis)
    found: dict[str, float | None] = {}
    for name, value in document.items():
        if name not in TOLD:
            _collect(found, name, value)
    return found


def _collect(found: dict[str, float | None], name: str, value: Any) -> None:
    if isinstance(value, Mapping):
        for key, inner in value.items():
            _collect(found, f"{name}/{key}", inner)
    elif isinstance(value, list):
        for place, inner in enumerate(value, 1):
            _collect(found, f"{name}/{_label(inner, place)}", inner)
    elif isinstance(value, bool):
        found[name] = int(value)
    elif value is None or isinstance(value, int | float):
        found[name] = value


def _label(value: Any, place: int) -> str:
    """What a member of a list is called: by what it is where it says so, else by place."""
    if isinstance(value, Mapping):
        if "first_title" in value:
            return f"{value['first']}-{value['second']}"
        if "blocks" in value:
            return str(value["group"])
        for key in ("name", "rater"):
            if isinstance(value.get(key), str):
                return str(value[key])
    return str(place)


def _dumped(document: Any) -> str:
    text = json.dumps(document, indent=2, sort_keys=True, ensure_ascii=False, allow_nan=False)
    return text + "\n"
