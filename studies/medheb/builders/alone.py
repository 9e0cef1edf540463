"""One build at a time where two would overwrite each other's words: a lock on a data root.

Owns the lock file beside the root's own files; the system takes the lock back from a process that
dies. Refuses nothing: a disk that knows no locks is written as if nobody else were there.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

NAME = ".triptych.lock"


@contextmanager
def alone(root: Path) -> Iterator[None]:
    """Wait until no other process changes the shared files of a data root.

    Args:
        root: the data root, made if it is not there; where no lock can be made, writing tells why.
    """
    try:
        root.mkdir(parents=True, exist_ok=True)
        stream = (root / NAME).open("ab")
    except OSError:
        yield
        return
    with stream:
        _lock(stream)
        yield  # closing the file gives the lock back


def _lock(stream: BinaryIO) -> None:
    try:
        if sys.platform == "win32":
            import msvcrt

            stream.seek(0)
            msvcrt.locking(stream.fileno(), msvcrt.LK_LOCK, 1)
        else:
            import fcntl

            fcntl.flock(stream, fcntl.LOCK_EX)
    except OSError:
        return
