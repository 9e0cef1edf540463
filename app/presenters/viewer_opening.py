"""Opening in the pool: looking through files, and thumbnails one after the other."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from app.presenters.hanging import Hung, hang
from app.presenters.viewer_picture import pictured, row_of
from app.widgets.series_strip import SIDE, SeriesRow
from engine.control import Control
from engine.errors import Cancelled
from engine.evidence.open import find_evidence
from engine.evidence.pixels import thumbnail
from engine.evidence.study import Evidence


@dataclass(frozen=True, eq=False)
class Opened:
    """What was found, how it hangs, and the rows of the strip."""

    found: tuple[Evidence, ...] = ()
    hung: Hung | None = None
    rows: tuple[SeriesRow, ...] = ()


def search(paths: Sequence[Path], salt: bytes, control: Control) -> Opened:
    """Everything found; what was found before a stop is kept."""
    found: list[Evidence] = []
    try:
        for evidence in find_evidence(paths, salt=salt, control=control):
            found.append(evidence)
    except Cancelled:
        pass
    return Opened(tuple(found), hang(found), tuple(row_of(evidence) for evidence in found))


class Thumbnails:
    """Small pictures, one at a time, so that a click never waits behind a hundred of them.

    Args:
        tasks: the pool.
        show: called with row and values [H, W, 3].
    """

    def __init__(self, tasks: Any, show: Callable[[int, Any], None]) -> None:
        self._tasks, self._show = tasks, show
        self._found: tuple[Evidence, ...] = ()
        self._search = 0

    def give(self, found: Sequence[Evidence]) -> None:
        """Begin with other evidence; what was asked before is dropped."""
        self._search += 1
        self._found = tuple(found)
        self._next(0, self._search)

    def _next(self, row: int, search: int) -> None:
        while row < len(self._found) and not pictured(self._found[row]):
            row += 1
        if row == len(self._found):
            return
        evidence = self._found[row]
        self._tasks.run(
            self,
            lambda: thumbnail(evidence, SIDE),
            lambda values: self._made(row, search, values),
            lambda _error: self._made(row, search, None),
        )

    def _made(self, row: int, search: int, values: Any) -> None:
        if search != self._search:
            return
        if values is not None:
            self._show(row, values)
        self._next(row + 1, search)
