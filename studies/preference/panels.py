"""One frame of the Review page: what it shows, as plain values that a study file keeps.

Refuses to carry anything about where its content came from.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

Box = tuple[int, int, int, int]


@dataclass(frozen=True)
class Panel:
    """What one frame shows.

    Attributes:
        kind: ``image``, ``volume``, ``text``, or ``mixed`` (pictures and text, or several kinds).
        media_ids: pictures and volumes in order.
        text: the text, "" if none.
        box: of one crop, on its source picture, which is the panel's only medium: (left, top,
            right, bottom) in its pixels, right and bottom excluded; None if not a crop.
        boxes: for each medium the box of the crop in it, None where all of it is meant; empty
            where nothing is a crop. A medium stands there once for each of its crops.
    """

    kind: str
    media_ids: tuple[str, ...]
    text: str
    box: Box | None = None
    boxes: tuple[Box | None, ...] = ()

    def to_json(self) -> dict[str, Any]:
        """As stored in the study file."""
        return {
            "kind": self.kind,
            "media_ids": list(self.media_ids),
            "text": self.text,
            "box": None if self.box is None else list(self.box),
            "boxes": [None if box is None else list(box) for box in self.boxes],
        }


def panel_from_json(document: Mapping[str, Any]) -> Panel:
    """As read from the study file."""
    return Panel(
        kind=document["kind"],
        media_ids=tuple(document["media_ids"]),
        text=document["text"],
        box=_box(document.get("box")),
        boxes=tuple(_box(box) for box in document.get("boxes", ())),
    )


def _box(sides: Sequence[int] | None) -> Box | None:
    return None if sides is None else (sides[0], sides[1], sides[2], sides[3])
