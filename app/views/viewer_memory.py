"""How each series was looked at and measured, kept while the evidence stays open.

Owns what is kept and for which rendering of which series; draws nothing.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from app.widgets.content import ViewState
from app.widgets.image_canvas import ImageCanvas
from app.widgets.measure import Measure


@dataclass(frozen=True)
class Look:
    """One series as it was left."""

    state: ViewState
    measures: tuple[Measure, ...]
    shape: tuple[int, ...]


class Looks:
    """What was left, by key of a rendering; which key each frame shows now."""

    def __init__(self) -> None:
        self._left: dict[str, Look] = {}
        self._keys: dict[int, str] = {}

    def clear(self) -> None:
        """Other evidence."""
        self._left.clear()
        self._keys.clear()

    def leave(self, frame: int, canvases: Sequence[ImageCanvas]) -> None:
        """Keep what a frame shows, which is about to show something else."""
        key = self._keys.pop(frame, "")
        picture = canvases[0].picture if canvases else None
        if not key or picture is None:
            return
        hand = canvases[0].hand
        hand.stop()
        self._left[key] = Look(canvases[0].state, tuple(hand.measures), picture.array.shape)

    def enter(self, frame: int, key: str, canvases: Sequence[ImageCanvas]) -> Look | None:
        """Name what a frame shows from now on; how it was left, None if that is on show still."""
        if self._keys.get(frame) == key:
            return None
        self.leave(frame, canvases)
        if key:
            self._keys[frame] = key
        return self._left.get(key)


def give_back(look: Look, canvases: Sequence[ImageCanvas]) -> None:
    """Draw the measures again; not on a picture of another shape."""
    picture = canvases[0].picture if canvases else None
    if picture is not None and picture.array.shape == look.shape:
        canvases[0].hand.measures[:] = look.measures
        canvases[0].update()
