"""Other renderings of one series: exactly what a model sees, and a tilted stack straightened.

Made off the window thread when asked for; the last few are kept. Owns no decision about frames.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from app.presenters.loader import Entry
from app.presenters.viewer_picture import model_picture, picture_of
from app.widgets.content import Picture
from engine.evidence.geometry import STRAIGHT_MM
from engine.evidence.open import load_pixels
from engine.evidence.pixels import as_model_sees
from engine.evidence.study import Evidence
from engine.evidence.tilt import straighten

KEPT = 3
STRAIGHTENED = (
    "straightened on request: the slices of a tilted stack are shifted within their planes and "
    "values are interpolated; measure on the stored slices where it matters"
)


@dataclass(frozen=True, eq=False)
class Rendering:
    """A picture with what is said of it: a few words for the title, a sentence below."""

    picture: Picture
    words: str
    sentence: str


class Renderings:
    """Makes and keeps renderings.

    Args:
        tasks: the pool.
        done: called with row and mode once it is there.
        failed: called with row and error.
    """

    def __init__(
        self,
        tasks: Any,
        *,
        done: Callable[[int, str], None],
        failed: Callable[[int, Exception], None],
    ) -> None:
        self._tasks, self._done, self._failed = tasks, done, failed
        self._found: tuple[Evidence, ...] = ()
        self._search = 0
        self._made: OrderedDict[tuple[int, str], Rendering] = OrderedDict()
        self._asked: set[tuple[int, str]] = set()

    def give(self, found: Sequence[Evidence]) -> None:
        """Other evidence: everything made before is forgotten."""
        self._search += 1
        self._found = tuple(found)
        self._made.clear()
        self._asked.clear()

    def tilted(self, row: int) -> bool:
        """True if a series can be straightened."""
        geometry = self._found[row].geometry
        if geometry is None or len(geometry.origin_Z3) < 2:
            return False
        aside = geometry.slice_step - geometry.normal * float(geometry.slice_step @ geometry.normal)
        return float(np.linalg.norm(aside)) > STRAIGHT_MM

    def kept(self, row: int, mode: str) -> Rendering | None:
        """What was made already."""
        return self._made.get((row, mode))

    def get(self, row: int, mode: str, entry: Entry | None) -> Rendering | None:
        """A rendering, or None while it is being made; ``done`` is called then."""
        key = (row, mode)
        if key in self._made:
            self._made.move_to_end(key)
            return self._made[key]
        if key not in self._asked:
            self._asked.add(key)
            self._make(key, entry)
        return self._made.get(key)

    def _make(self, key: tuple[int, str], entry: Entry | None) -> None:
        row, mode = key
        evidence, search = self._found[row], self._search
        picture = None if entry is None else entry.picture
        make = _MAKERS[mode]
        self._tasks.run(
            self,
            lambda: make(evidence, picture),
            lambda made: self._take(key, search, made),
            lambda error: self._refuse(key, search, error),
        )

    def _take(self, key: tuple[int, str], search: int, made: Rendering) -> None:
        if search != self._search:
            return
        self._asked.discard(key)
        self._made[key] = made
        while len(self._made) > KEPT:
            self._made.popitem(last=False)
        self._done(*key)

    def _refuse(self, key: tuple[int, str], search: int, error: Exception) -> None:
        if search == self._search:
            self._asked.discard(key)
            self._failed(key[0], error)


def _model(evidence: Evidence, picture: Picture | None) -> Rendering:
    seen = as_model_sees(evidence)
    count = len(seen.indices)
    words = f"AS THE MODEL SAW IT, {count} slices" if count > 1 else "AS THE MODEL SAW IT"
    return Rendering(model_picture(seen, picture), words, f"as the model saw it: {seen.sentence}")


def _straight(evidence: Evidence, picture: Picture | None) -> Rendering:
    pixels = straighten(load_pixels(evidence))
    shown = replace(picture_of(evidence, pixels), stored=None)  # interpolated: no stored values
    return Rendering(shown, "STRAIGHTENED", STRAIGHTENED)


_MAKERS: dict[str, Callable[[Evidence, Picture | None], Rendering]] = {
    "model": _model,
    "straight": _straight,
}
