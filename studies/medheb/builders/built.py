"""What is known about the tasks of a data root that this program made.

Owns ``triptych_build.json`` at the root: for each task its pool, source, settings, counts and what
was left out, and the hash of the index file that all of this is about.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from studies.errors import BadTaskFile
from studies.medheb.builders.alone import alone
from studies.medheb.lines import write_lines

BUILD = "triptych_build.json"
KEEP_FAULTS = 100


@dataclass(frozen=True)
class Built:
    """What is known about one task that this program made.

    Attributes:
        source: id of the card.
        pool: the recorded name of its pool.
        settings: every setting of the build.
        rows: of the index file.
        faults: (place, sentence) of the first records that could not be placed.
        faulty: how many there were.
        notes: sentences about choices and what was left out.
        index: SHA-256 of the index file; another file at its place is not this build's.
    """

    source: str
    pool: str
    settings: Mapping[str, Any]
    rows: int
    faults: tuple[tuple[str, str], ...] = ()
    faulty: int = 0
    notes: tuple[str, ...] = ()
    index: str = ""


def write_built(root: Path, built: Mapping[str, Built]) -> None:
    """Lay what was decided over what is known about other tasks."""
    with alone(root):
        known = {task: _as_json(one) for task, one in read_built(root).items()}
        known |= {task: _as_json(one) for task, one in built.items()}
        text = json.dumps(known, indent=1, sort_keys=True, ensure_ascii=False, default=str)
        write_lines(root / BUILD, text.splitlines())


def _as_json(one: Built) -> dict[str, Any]:
    return {name: getattr(one, name) for name in Built.__dataclass_fields__}


def read_built(root: Path) -> dict[str, Built]:
    """What is known about the tasks of a data root that this program made; empty for others.

    Raises:
        BadTaskFile: the file is damaged.
    """
    path = root / BUILD
    if not path.is_file():
        return {}
    try:
        document = json.loads(path.read_text(encoding="utf-8"))
        return {str(task): _built(one) for task, one in document.items()}
    except (OSError, ValueError, TypeError, KeyError, AttributeError) as error:
        raise BadTaskFile(f"{path}: damaged ({error}); build the tasks again.") from error


def _built(one: Mapping[str, Any]) -> Built:
    faults: Sequence[Sequence[str]] = one["faults"]
    return Built(
        source=str(one["source"]),
        pool=str(one["pool"]),
        settings=dict(one["settings"]),
        rows=int(one["rows"]),
        faults=tuple((str(where), str(reason)) for where, reason in faults),
        faulty=int(one["faulty"]),
        notes=tuple(str(note) for note in one["notes"]),
        index=str(one["index"]),
    )
