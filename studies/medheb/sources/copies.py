"""What several sources share: which files are copies of each other, byte for byte.

Reads only files whose size occurs twice. Owns no decision on what becomes of copies. The same
picture saved twice by different programs is not found.
"""

from __future__ import annotations

import hashlib
from collections import defaultdict
from collections.abc import Iterable
from pathlib import Path

from engine.evidence.files import open_file


def same_bytes(paths: Iterable[Path]) -> dict[Path, str]:
    """A name made of the content for every file that has a copy among the others.

    Returns:
        Path to name; files without a copy, and files that cannot be read, are not in it.
    """
    sizes: dict[int, list[Path]] = defaultdict(list)
    for path in paths:
        if path.is_file():
            sizes[path.stat().st_size].append(path)
    contents: dict[str, list[Path]] = defaultdict(list)
    for alike in sizes.values():
        for path in alike if len(alike) > 1 else ():
            contents[_digest(path)].append(path)
    contents.pop("", None)
    return {path: name for name, same in contents.items() if len(same) > 1 for path in same}


def _digest(path: Path) -> str:
    try:
        with open_file(path) as stream:
            return hashlib.sha256(stream.read()).hexdigest()[:32]
    except OSError:
        return ""
