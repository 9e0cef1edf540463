"""Writes a task's index file and its place in the release's YAML.

Every file appears whole or not at all; entries of other tasks stay as they are.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import yaml

from studies.errors import BadTaskFile
from studies.medheb.builders.alone import alone
from studies.medheb.builders.rows import Made
from studies.medheb.lines import write_lines
from studies.medheb.tasks import Task

CONFIG = {"2d": "2D_Task.yaml", "3d": "3D_Task.yaml", "text": "Text_Task.yaml"}


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
    with alone(root):
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
