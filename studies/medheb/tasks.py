"""The task registry: rows of a table, never classes. Owns reading and checking it.

``tasks.csv`` at a data root wins over the one that ships; the release's own YAML files at the
root win over both for where a task's files lie. Refuses rows it does not understand, with the
line; opens no index file and no picture.
"""

from __future__ import annotations

import csv
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, fields, replace
from fnmatch import fnmatchcase
from pathlib import Path, PurePosixPath, PureWindowsPath
from typing import Any

import yaml

from studies.errors import BadTaskFile, UnknownTask
from studies.places import resources

FAMILIES = ("I-I", "MB-VR", "I-Lab", "I-Rep", "T-I", "VQA", "VG", "T-T")
FORMS = ("2d", "3d", "text")
OWN = "own"  # a person's own data, outside every column of the benchmark
SPLITS = ("id", "held-out", OWN)
PARSERS = (
    "image_cls",
    "image_qa",
    "image_i2i",
    "image_i2i_vg",
    "image_t2i",
    "volume_i2t",
    "volume_t2i",
    "volume_i2i",
    "text_qa",
)
EVAL_TYPES = ("local", "global")
CONFIGS = ("2D_Task.yaml", "3D_Task.yaml", "Text_Task.yaml")
REGISTRY = "tasks.csv"
_FILE_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,120}")


@dataclass(frozen=True)
class Task:
    """One row of the registry.

    Attributes:
        id: ours, for example ``kvasir/i2i``.
        family: one of ``FAMILIES``.
        source: the dataset.
        form: ``2d``, ``3d`` or ``text``.
        split: ``id``, ``held-out``, or ``own`` for a person's own data.
        query: kind of query, in words.
        candidate: kind of candidate, in words.
        qry_inst: the instruction of the paper, for builders; a run uses the row's own.
        qry_text: the query text of the paper, for builders.
        release_name: the key in the release, which names all output files.
        parser: one of ``PARSERS``.
        eval_type: ``local`` (the row's list) or ``global`` (the union over rows).
        data_path: index file, relative to the data root, with forward slashes.
        image_root: folder of pictures, relative to the data root; empty for text.
        row_limit: keep the first rows only (the release's ``num_sample_per_subset``).
    """

    id: str
    family: str
    source: str
    form: str
    split: str
    query: str
    candidate: str
    qry_inst: str
    qry_text: str
    release_name: str
    parser: str
    eval_type: str
    data_path: str
    image_root: str
    row_limit: int | None = None


COLUMNS = tuple(field.name for field in fields(Task) if field.name != "row_limit")
_CLOSED = {
    "family": FAMILIES,
    "form": FORMS,
    "split": SPLITS,
    "parser": PARSERS,
    "eval_type": EVAL_TYPES,
}


def load_tasks(root: Path | None = None) -> tuple[Task, ...]:
    """Read the registry in force for a data root.

    Args:
        root: a data root in the release layout, or None for the tasks that ship (107 rows).

    Raises:
        BadTaskFile: the table or a YAML file cannot be read, or a row is not a task.
    """
    own = root / REGISTRY if root is not None else None
    path = own if own is not None and own.is_file() else resources() / REGISTRY
    tasks = read_registry(path)
    return tasks if root is None else _configured(tasks, root)


def read_registry(path: Path) -> tuple[Task, ...]:
    """Read one registry file.

    Raises:
        BadTaskFile: not readable, a column is missing, or a row breaks a check.
    """
    try:
        with path.open(encoding="utf-8-sig", newline="") as stream:
            reader = csv.DictReader(stream)
            lacking = [name for name in COLUMNS if name not in (reader.fieldnames or ())]
            rows = [] if lacking else [(reader.line_num, row) for row in reader]
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise BadTaskFile(f"{path}: the task table cannot be read ({error}).") from error
    if lacking:
        raise BadTaskFile(f"{path}: the columns {', '.join(lacking)} are missing; add them.")
    tasks = tuple(_task(row, f"{path}, line {line}") for line, row in rows)
    check_tasks(tasks, str(path))
    return tasks


def _task(row: dict[str, Any], where: str) -> Task:
    values: dict[str, Any] = {name: (row[name] or "").strip() for name in COLUMNS}
    values["image_root"] = "" if values["image_root"] == "-" else values["image_root"]
    for name, allowed in _CLOSED.items():
        if values[name] not in allowed:
            raise BadTaskFile(
                f"{where}: {name} is {values[name]!r}; it must be one of {', '.join(allowed)}."
            )
    for name in ("data_path", "image_root"):
        if not stays_inside(values[name]):
            raise BadTaskFile(
                f"{where}: {name} {values[name]!r} leaves the data root; write it relative to it."
            )
    if not _FILE_NAME.fullmatch(values["release_name"]):
        raise BadTaskFile(f"{where}: release_name {values['release_name']!r} names no file.")
    return Task(**values)


def check_tasks(tasks: Sequence[Task], where: str) -> None:
    """Hold a registry together: something in it, and no name twice.

    Raises:
        BadTaskFile: it is empty, or an id or a release name occurs twice.
    """
    if not tasks:
        raise BadTaskFile(f"{where}: the task table has no rows.")
    for name in ("id", "release_name"):
        values = [getattr(task, name).lower() for task in tasks]
        twice = sorted({value for value in values if values.count(value) > 1})
        if twice:
            raise BadTaskFile(f"{where}: {name} {twice[0]!r} occurs twice; keep one row.")


def stays_inside(name: str) -> bool:
    """True for a relative path that does not climb out of its folder, on any system."""
    windows, posix = PureWindowsPath(name), PurePosixPath(name)
    anchored = bool(windows.drive or windows.root or posix.root)
    return not anchored and ".." not in windows.parts


def match_tasks(tasks: Iterable[Task], pattern: str | None) -> tuple[Task, ...]:
    """The tasks whose id, release name or family fits; patterns may be joined by commas.

    Raises:
        UnknownTask: a pattern fits no task.
    """
    known = tuple(tasks)
    if not pattern:
        return known
    chosen: set[str] = set()
    for part in (part.strip() for part in pattern.split(",") if part.strip()):
        fits = {task.id for task in known if _fits(task, part)}
        if not fits:
            raise UnknownTask(
                f"No task fits {part!r}. Ids look like {known[0].id!r}; families are "
                f"{', '.join(FAMILIES)}."
            )
        chosen |= fits
    return tuple(task for task in known if task.id in chosen)


def _fits(task: Task, pattern: str) -> bool:
    return any(fnmatchcase(n, pattern) for n in (task.id, task.release_name, task.family))


def _configured(tasks: tuple[Task, ...], root: Path) -> tuple[Task, ...]:
    """Let the release's YAML files at the root say where a task lies and how it is ranked."""
    found: dict[str, dict[str, Any]] = {}
    for name in CONFIGS:
        path = root / name
        if path.is_file():
            found.update(_read_config(path))
    return tuple(_apply(task, found.get(task.release_name), root) for task in tasks)


def _read_config(path: Path) -> dict[str, dict[str, Any]]:
    try:
        document = yaml.safe_load(path.read_text(encoding="utf-8-sig"))
    except (OSError, UnicodeDecodeError, yaml.YAMLError, RecursionError) as error:
        reason = " ".join(str(error).split())
        raise BadTaskFile(f"{path}: not a YAML file of tasks ({reason}).") from error
    if not isinstance(document, dict) or not all(isinstance(v, dict) for v in document.values()):
        raise BadTaskFile(f"{path}: must map each task's name to its settings.")
    return {str(name): settings for name, settings in document.items()}


def _apply(task: Task, settings: dict[str, Any] | None, root: Path) -> Task:
    if settings is None:
        return task
    changed = replace(
        task,
        parser=str(settings.get("dataset_parser", task.parser)),
        # The release reads a missing value as global.
        eval_type=str(settings.get("eval_type") or "global"),
        data_path=str(settings.get("data_path", task.data_path)),
        image_root=str(settings.get("image_root") or ""),
        row_limit=_limit(settings.get("num_sample_per_subset")),
    )
    row = {name: getattr(changed, name) for name in COLUMNS}
    _task(row, f"{root}, task {task.release_name} of the YAML files")
    return changed


def _limit(value: object) -> int | None:
    return value if isinstance(value, int) and value > 0 else None


def tasks_from_rows(rows: Iterable[dict[str, Any]]) -> tuple[Task, ...]:
    """Rebuild tasks from what ``dataclasses.asdict`` made of them; unknown keys are ignored."""
    names = {field.name for field in fields(Task)}
    return tuple(Task(**{k: v for k, v in row.items() if k in names}) for row in rows)


def unlisted(root: Path, tasks: Sequence[Task]) -> tuple[str, ...]:
    """Names in the YAML files at a root that the registry does not know."""
    known = {task.release_name for task in tasks}
    names: list[str] = []
    for config in CONFIGS:
        if (root / config).is_file():
            names += [name for name in _read_config(root / config) if name not in known]
    return tuple(names)
