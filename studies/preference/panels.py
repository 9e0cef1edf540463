"""One frame of the Review page: what it shows, as plain values that a study file keeps.

Refuses to carry anything about where its content came from.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Panel:
    """What one frame shows.

    Attributes:
        kind: ``image``, ``volume``, ``text``, or ``mixed`` (pictures and text, or several kinds).
        media_ids: pictures and volumes in order.
        text: the text, "" if none.
        box: crop on the source picture as (left, top, right, bottom), None if not a crop.
    """

    kind: str
    media_ids: tuple[str, ...]
    text: str
    box: tuple[int, int, int, int] | None = None

    def to_json(self) -> dict[str, Any]:
        """As stored in the study file."""
        return {
            "kind": self.kind,
            "media_ids": list(self.media_ids),
            "text": self.text,
            "box": None if self.box is None else list(self.box),
        }


def panel_from_json(document: Mapping[str, Any]) -> Panel:
    """As read from the study file."""
    box = document.get("box")
    return Panel(
        kind=document["kind"],
        media_ids=tuple(document["media_ids"]),
        text=document["text"],
        box=None if box is None else (box[0], box[1], box[2], box[3]),
    )
