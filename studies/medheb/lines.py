"""Text files that appear whole or not at all. Knows nothing of what is in them."""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path

from db.errors import NotWritable


def write_lines(path: Path, lines: Iterable[str]) -> None:
    """Write a text file whole or not at all.

    Raises:
        NotWritable: the folder cannot be written.
        OSError: anything else, a full disk for one.
    """
    part = path.with_name(f"{path.name}.{os.getpid()}.part")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with part.open("w", encoding="utf-8", newline="\n") as stream:
            stream.writelines(line + "\n" for line in lines)
            stream.flush()
            os.fsync(stream.fileno())
        part.replace(path)
    except PermissionError as error:
        raise NotWritable(
            f"{path.parent} cannot be written ({error.strerror}). Choose another place with --home."
        ) from error
    finally:
        part.unlink(missing_ok=True)
