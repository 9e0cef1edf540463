"""Writes a task's index file, its place in the release's YAML and what the build decided.

Owns ``triptych_build.json`` at a data root: for each task its pool, source, settings, counts and
what was left out. Every file appears whole or not at all; entries of other tasks stay.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from studies.errors import BadTaskFile
from studies.medheb.builders.rows import Made
from studies.medheb.tasks import Task
from studies.medheb.writer import write_lines

BUILD = "triptych_build.json"
CONFIG = {"2d": "2D_Task.yaml", "3d": "3D_Task.yaml", "text": "Text_Task.yaml"}
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


def write_index(root: Path, task: Task, made: Made) -> Path:
    """Write the index file of a task and its entry in the YAML of its form.

    Raises:
        NotWritable: the root cannot be written.
        BadTaskFile: the YAML that is there cannot be read.
    """
    path = root / task.data_path
    rows = [json.dumps(row, ensure_ascii=False) for row in made.rows]
    ends = [","] * (len(rows) - 1) + [""]
    lines = [row + end for row, end in zip(rows, ends, strict=True)]
    write_lines(path, ["[", *lines, "]"])
    _write_config(root, task, made)
    return path


def _write_config(root: Path, task: Task, made: Made) -> None:
    path = root / CONFIG[task.form]
    document = _read_yaml(path)
    entry = {
        "dataset_parser": task.parser,
        "dataset_name": task.release_name,
        "dataset_split": "test",
        "image_root": task.image_root,
        "data_path": task.data_path,
        "eval_type": made.eval_type,
    }
    document[task.release_name] = {name: value for name, value in entry.items() if value}
    text = yaml.safe_dump(document, sort_keys=True, allow_unicode=True, width=1000)
    write_lines(path, text.splitlines())


def _read_yaml(path: Path) -> dict[str, Any]:
    if not path.is_file():
        return {}
    try:
        document = yaml.safe_load(path.read_text(encoding="utf-8-sig"))
    except (OSError, UnicodeDecodeError, yaml.YAMLError) as error:
        raise BadTaskFile(f"{path}: not a YAML file of tasks; mend or remove it.") from error
    if not isinstance(document, dict):
        raise BadTaskFile(f"{path}: must map each task's name to its settings.")
    return document


def write_built(root: Path, built: Mapping[str, Built]) -> None:
    """Lay what was decided over what is known about other tasks."""
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
