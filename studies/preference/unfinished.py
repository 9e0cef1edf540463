"""Folders beside the studies in which a study or a pack is being made, and what kills left of them.

Owns their name and their end. Refuses to touch one that may still be at work.
"""

from __future__ import annotations

import contextlib
import shutil
import time
from pathlib import Path

UNFINISHED = ".building-"
KEEP_UNFINISHED_S = 24 * 3600


def clear_unfinished(studies: Path) -> None:
    """Remove what was left by a kill; one of today may still be at work.

    Args:
        studies: the folder that holds a home's studies; need not be there.
    """
    for folder in studies.glob(f"{UNFINISHED}*"):
        with contextlib.suppress(OSError):
            newest = max(part.stat().st_mtime for part in (folder, *folder.iterdir()))
            if time.time() - newest > KEEP_UNFINISHED_S:
                shutil.rmtree(folder, ignore_errors=True)
