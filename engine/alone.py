"""One program at a time at a model's folder. The lock ends with the process that holds it."""

from __future__ import annotations

import importlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from engine.device import INSTALL
from engine.errors import EngineMissing, WeightsMissing


@contextmanager
def alone(folder: Path, title: str) -> Iterator[None]:
    """Keep two downloads or removals of one model apart, also of two programs.

    Args:
        folder: of the model; a hidden file beside it is the lock.
        title: of the model, for the words.

    Raises:
        WeightsMissing: another one is at it.
        EngineMissing: ``filelock``, which comes with the hub's library, is not installed.
    """
    try:
        filelock = importlib.import_module("filelock")
    except ImportError as error:
        raise EngineMissing(f"A download needs filelock. Run: {INSTALL}") from error
    folder.parent.mkdir(parents=True, exist_ok=True)
    lock = filelock.FileLock(folder.with_name(f".{folder.name}.lock"), timeout=0)
    try:
        lock.acquire()
    except filelock.Timeout as error:
        raise WeightsMissing(
            f"Another window or command is at the weights of {title} just now; wait for it."
        ) from error
    try:
        yield
    finally:
        lock.release()
