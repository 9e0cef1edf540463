"""Writes a small file whole: afterwards it is the old one or the new one, never half of either."""

from __future__ import annotations

import os
import secrets
import tempfile
from pathlib import Path

from db.failures import translated


def write_whole(path: Path, content: bytes, *, access: str = "owner") -> None:
    """Put ``content`` in place of the file in one step, and on the disk.

    Args:
        path: of the file.
        content: all of it.
        access: who may read it: ``"owner"`` alone, or whoever the ``"umask"`` allows.

    Raises:
        NotWritable: the folder cannot be written.
        DiskFull: no room.
    """
    with translated(path):
        handle, part = _part_of(path, access)
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


def _part_of(path: Path, access: str) -> tuple[int, Path]:
    """A new file beside the other, open for writing."""
    if access == "owner":
        handle, name = tempfile.mkstemp(dir=path.parent, prefix=path.name, suffix=".part")
        return handle, Path(name)
    part = path.with_name(f"{path.name}{secrets.token_hex(6)}.part")
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0)
    return os.open(part, flags, 0o666), part


def _sync_folder(folder: Path) -> None:
    """Put the new name on the disk too, where a folder can be opened for that."""
    if hasattr(os, "O_DIRECTORY"):
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)
