"""Writes a small file whole: afterwards it is the old one or the new one, never half of either."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

from db.failures import translated


def write_whole(path: Path, content: bytes) -> None:
    """Put ``content`` in place of the file in one step, and on the disk.

    Raises:
        NotWritable: the folder cannot be written.
        DiskFull: no room.
    """
    with translated(path):
        handle, name = tempfile.mkstemp(dir=path.parent, prefix=path.name, suffix=".part")
        part = Path(name)
        try:
            with os.fdopen(handle, "wb") as file:
                file.write(content)
                file.flush()
                os.fsync(file.fileno())
            part.replace(path)
            _sync_folder(path.parent)
        except BaseException:
            part.unlink(missing_ok=True)
            raise


def _sync_folder(folder: Path) -> None:
    """Put the new name on the disk too, where a folder can be opened for that."""
    if hasattr(os, "O_DIRECTORY"):
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)
