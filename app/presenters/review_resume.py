"""Where a reader stopped: how the pictures of one item were looked at, by reading and item.

Owns one small file of the home. Refuses names, answers and comments: a view of an item at its
place in an order, nothing else. A damaged file is worth no sentence; the item is shown afresh.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

FILE = "reading.json"
MOST_STUDIES = 20


def reading_of(study: str, rater: str) -> str:
    """What one reader's reading of a study is called here: no two alike, nobody's name."""
    return hashlib.sha256(f"{study}\0{rater}".encode()).hexdigest()[:16]


class Places:
    """Views of items where reading stopped.

    Args:
        root: the home's folder.
    """

    def __init__(self, root: Path) -> None:
        self.path = root / FILE

    def keep(self, study: str, item: str, position: int, view: Mapping[str, Any]) -> None:
        """Remember the view of one item, in place of the study's earlier one.

        What cannot be written is not missed: only the view would be lost.
        """
        kept = self._read()
        kept.pop(study, None)
        kept[study] = {"item": item, "position": position, "view": dict(view)}
        latest = dict(list(kept.items())[-MOST_STUDIES:])
        with contextlib.suppress(OSError):
            part = self.path.with_suffix(".part")
            part.write_text(json.dumps(latest), encoding="utf-8")
            part.replace(self.path)

    def find(self, study: str, item: str, position: int) -> dict[str, Any]:
        """The view of that item if reading stopped at it; empty otherwise."""
        found = self._read().get(study)
        if not isinstance(found, dict) or (found.get("item"), found.get("position")) != (
            item,
            position,
        ):
            return {}
        view = found.get("view")
        return view if isinstance(view, dict) else {}

    def _read(self) -> dict[str, Any]:
        with contextlib.suppress(OSError, ValueError, RecursionError):
            kept = json.loads(self.path.read_text(encoding="utf-8"))
            if isinstance(kept, dict):
                return kept
        return {}
