"""Reads a task's index file in the layout of the MedHEB release, unchanged.

Owns finding the file (both ``_test`` and ``_new`` names), reading it whole, the failures of its
rows and the digests that say "the same data". Refuses to stop at a broken row: it becomes a
named failure and the rest goes on. Opens no picture.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from studies.errors import BadTaskFile
from studies.medheb.builders.built import Built, read_built
from studies.medheb.rows import (
    Candidate,
    Query,
    Reading,
    ReleaseSettings,
    RowBroken,
    read_row,
)
from studies.medheb.tasks import Task

__all__ = [
    "Candidate",
    "Query",
    "ReleaseSettings",
    "TaskData",
    "data_digest",
    "find_index",
    "read_task",
]

DIGEST_LENGTH = 16
_HASHES: dict[tuple[str, int, int], str] = {}


@dataclass(frozen=True, eq=False)
class TaskData:
    """A task as read from its files.

    Attributes:
        task: its registry row.
        path: the index file that was read.
        rows: number of rows in the file (after the row limit).
        queries: the rows that could be read.
        failures: (row, sentence) of those that could not; rows count from 0.
        marks_stripped: picture marks taken out of texts.
        notes: sentences about what was found and taken in stride.
        digest: changes when the index, the registry row, a setting, or a picture's size or time
            of writing does.
        labels: candidate's name to its class, where the rows tell it.
        groups: candidate's name to the token of its patient or group, likewise.
        built: what this program decided when it made the file; None for a file from elsewhere.
    """

    task: Task
    path: Path
    rows: int
    queries: tuple[Query, ...]
    failures: tuple[tuple[int, str], ...]
    marks_stripped: int
    notes: tuple[str, ...]
    digest: str
    labels: Mapping[str, str] = field(default_factory=dict)
    groups: Mapping[str, str] = field(default_factory=dict)
    built: Built | None = None


def find_index(task: Task, root: Path) -> Path | None:
    """The task's index file, under the name of the registry or its ``_test``/``_new`` twin."""
    named = root / task.data_path
    for path in (named, *_twins(named)):
        if path.is_file():
            return path
    return None


def _twins(named: Path) -> list[Path]:
    """Pools were rebuilt once under another suffix; both kinds of name are about."""
    pairs = (("_test", "_new"), ("_new", "_test"))
    return [
        named.with_name(new.join(named.name.rsplit(old, 1)))
        for old, new in pairs
        if old in named.name
    ]


def read_task(task: Task, root: Path, *, settings: ReleaseSettings = ReleaseSettings()) -> TaskData:
    """Read one task.

    Args:
        task: a row of the registry.
        root: the data root.
        settings: ways of the release to keep.

    Raises:
        BadTaskFile: the index file is missing, is no JSON array, or none of its rows can be read.
    """
    path = find_index(task, root)
    if path is None:
        raise BadTaskFile(missing_sentence(task, root))
    rows = _load(path)[: task.row_limit]
    reading = Reading(root / task.image_root, settings)
    queries, failures = _read_rows(task, rows, path, reading)
    if not queries:
        raise BadTaskFile(
            f"{path}: none of its {len(rows)} rows can be read by {task.parser}; the first says: "
            f"{failures[0][1] if failures else 'the file is empty'}"
        )
    return TaskData(
        task=task,
        path=path,
        rows=len(rows),
        queries=queries,
        failures=failures,
        marks_stripped=reading.marks,
        notes=_notes(task, root, path, reading),
        digest=_task_digest(task, path, reading),
        labels=dict(reading.labels),
        groups=dict(reading.groups),
        built=_built(task, root, path),
    )


def _built(task: Task, root: Path, path: Path) -> Built | None:
    """What was decided about exactly this file, if this program made it."""
    built = read_built(root).get(task.id)
    return built if built is not None and built.index == _file_hash(path) else None


def missing_sentence(task: Task, root: Path) -> str:
    """What to say when a task has no index file."""
    return (
        f"{task.id}: there is no {task.data_path} in {root} (nor under its _test or _new name). "
        "Put the release's file there, or build it from the source."
    )


def _read_rows(
    task: Task, rows: list[Any], path: Path, reading: Reading
) -> tuple[tuple[Query, ...], tuple[tuple[int, str], ...]]:
    queries: list[Query] = []
    failures: list[tuple[int, str]] = []
    for number, row in enumerate(rows):
        try:
            queries.append(read_row(task.parser, number, row, reading))
        except RowBroken as error:
            failures.append((number, f"{path.name}, row {number} (from 0): {error}"))
    return tuple(queries), tuple(failures)


def _load(path: Path) -> list[Any]:
    try:
        document = json.loads(path.read_bytes().decode("utf-8-sig"))
    except OSError as error:
        raise BadTaskFile(f"{path}: cannot be read ({error.strerror}).") from error
    except (ValueError, RecursionError) as error:
        raise BadTaskFile(
            f"{path}: is damaged or is no JSON ({error}); fetch or build it again."
        ) from error
    if not isinstance(document, list):
        raise BadTaskFile(f"{path}: must be a JSON array of rows, not {type(document).__name__}.")
    return document


def _notes(task: Task, root: Path, path: Path, reading: Reading) -> tuple[str, ...]:
    notes = []
    if path != root / task.data_path:
        notes.append(f"read {path.name} in place of {Path(task.data_path).name}")
    if reading.marks:
        notes.append(f"{reading.marks} picture marks stripped from texts")
    if reading.clashes:
        notes.append(
            f"{reading.clashes} candidates share a name with another and are taken for it, "
            "as the release does"
        )
    return tuple(notes)


def _task_digest(task: Task, path: Path, reading: Reading) -> str:
    """Names, sizes and times stand for the pictures here; their bytes are hashed when embedded.

    A file written anew with the same bytes counts as another: ranking again is cheap then, since
    vectors are kept by content.
    """
    digest = hashlib.sha256()
    for part in (_file_hash(path), _row_text(task), repr(reading.settings)):
        digest.update(part.encode() + b"\0")
    for name in sorted(reading.sizes):
        stamp = f"{name}\0{reading.sizes[name]}\0{reading.times.get(name)}\0"
        digest.update(stamp.encode("utf-8", "surrogatepass"))
    return digest.hexdigest()[:DIGEST_LENGTH]


def _row_text(task: Task) -> str:
    """What of a registry row decides scores; the wording for builders does not."""
    row: Mapping[str, Any] = asdict(task)
    names = ("id", "family", "form", "split", "parser", "eval_type", "image_root", "row_limit")
    return json.dumps({name: row[name] for name in names}, sort_keys=True)


def data_digest(root: Path, tasks: Iterable[Task]) -> str:
    """Name a data root by content: its registry and the bytes of the index files it holds.

    Returns:
        16 hex digits, equal on every machine that holds the same files.

    Raises:
        BadTaskFile: the root is no folder, or an index file cannot be read.
    """
    if not root.is_dir():
        raise BadTaskFile(f"{root}: there is no such folder; give the data root with --data.")
    digest = hashlib.sha256()
    for task in sorted(tasks, key=lambda task: task.id):
        path = find_index(task, root)
        content = "-" if path is None else _file_hash(path)
        digest.update(f"{_row_text(task)}\0{content}\0".encode())
    return digest.hexdigest()[:DIGEST_LENGTH]


def _file_hash(path: Path) -> str:
    """SHA-256 of a file's bytes, remembered while size and time stay."""
    try:
        stat = path.stat()
        key = (str(path), stat.st_size, stat.st_mtime_ns)
        if key not in _HASHES:
            with path.open("rb") as stream:
                _HASHES[key] = hashlib.file_digest(stream, "sha256").hexdigest()
    except OSError as error:
        raise BadTaskFile(f"{path}: cannot be read ({error.strerror}).") from error
    return _HASHES[key]
