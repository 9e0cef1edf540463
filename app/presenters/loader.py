"""Decodes series off the window thread: the first slice at once, the rest behind it, some ahead.

Owns which series are decoded when, what is kept in memory, and cancelling what nobody looks at.
Refuses to know frames and widgets. All calls come from the window thread.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from app.presenters.viewer_picture import picture_of, pictured
from app.widgets.content import Picture
from engine.control import Control
from engine.errors import Cancelled
from engine.evidence.stack import Stack, open_stack
from engine.evidence.study import Evidence

AHEAD_SHARE = 0.5  # of the memory: a series larger than that is not decoded ahead


@dataclass(eq=False)
class Entry:
    """One series in memory: what is decoded of it so far; ``shown`` once somebody looked."""

    evidence: Evidence
    stack: Stack
    picture: Picture
    shown: bool = False

    @property
    def complete(self) -> bool:
        """True once every slice is there."""
        return self.stack.complete

    @property
    def progress(self) -> tuple[int, int]:
        """Slices decoded, slices in all."""
        return int(self.stack.ready_TZ.sum()), int(self.stack.ready_TZ.size)

    @property
    def weight(self) -> int:
        """Bytes of its values."""
        pixels = self.stack.pixels
        return int(pixels.array.nbytes if pixels.times is None else pixels.times.nbytes)

    def renew(self) -> bool:
        """Take over values that moved or a window that became known; True if it did."""
        before, now = self.picture, self.stack.pixels
        if self.complete and before.ready is not None:
            self.picture = picture_of(self.evidence, now)
            return True
        if now.array.shape == before.array.shape and now.array.dtype == before.array.dtype:
            return False
        self.picture = _partial(self.evidence, self.stack)
        return True


class Loader:
    """Keeps decoded series, bounded by bytes; least recently used ones go first.

    Args:
        tasks: the pool.
        limit: how many bytes may be kept beside what is on show.
        told: called with a row whose first slice is there, or that is complete.
        failed: called with a row and why it cannot be decoded.
    """

    def __init__(
        self,
        tasks: Any,
        *,
        limit: Callable[[], int],
        told: Callable[[int], None],
        failed: Callable[[int, Exception], None],
    ) -> None:
        self._tasks, self._limit, self._told, self._failed = tasks, limit, told, failed
        self._found: tuple[Evidence, ...] = ()
        self._search = 0
        self._entries: OrderedDict[int, Entry] = OrderedDict()
        self._opening: set[int] = set()
        self._wanted: tuple[int, ...] = ()
        self._ahead: int | None = None
        self._filling: int | None = None

    def give(self, found: Sequence[Evidence]) -> None:
        """Other evidence: everything decoded before is forgotten, everything running stops."""
        self._search += 1
        self._found = tuple(found)
        self._entries.clear()
        self._opening.clear()
        self._wanted, self._ahead, self._filling = (), None, None

    def want(self, rows: Sequence[int], *, ahead: int | None = None) -> None:
        """What is on show now, the most urgent first, and what may come next.

        Rows that are no longer wanted stop decoding; what they have stays as long as there is
        room, and goes on from there.
        """
        self._wanted, self._ahead = tuple(dict.fromkeys(rows)), ahead
        for row in self._wanted:
            if row in self._entries:
                self._entries.move_to_end(row)
            else:
                self._open(row)
        self._go_on()

    def entry(self, row: int) -> Entry | None:
        """What is decoded of a row, None if nothing is."""
        return self._entries.get(row)

    @property
    def kept(self) -> tuple[int, ...]:
        """Rows in memory, least recently used first."""
        return tuple(self._entries)

    @property
    def busy(self) -> bool:
        """True while something on show is not complete."""
        return any(
            row in self._opening or (row in self._entries and not self._entries[row].complete)
            for row in self._wanted
        )

    def _open(self, row: int) -> None:
        if row in self._opening:
            return
        self._opening.add(row)
        evidence, search = self._found[row], self._search

        def work() -> tuple[int, Entry]:
            stack = open_stack(evidence)
            return search, Entry(evidence, stack, _partial(evidence, stack))

        self._tasks.run(
            self,
            work,
            lambda result: self._opened(row, *result),
            lambda error: self._refused(row, search, error),
        )

    def _opened(self, row: int, search: int, entry: Entry) -> None:
        if search != self._search:
            return
        self._opening.discard(row)
        self._entries[row] = entry
        self._evict()
        self._told(row)
        self._go_on()

    def _refused(self, row: int, search: int, error: Exception) -> None:
        if search != self._search:
            return
        self._opening.discard(row)
        if row in self._wanted:
            self._failed(row, error)
        elif row == self._ahead:
            self._ahead = None
        self._go_on()

    def _go_on(self) -> None:
        """Fill one series after the other, so that a click always finds a free thread."""
        if self._filling is not None:
            return
        for row in self._wanted:
            entry = self._entries.get(row)
            if entry is not None and not entry.complete:
                self._fill(row, entry)
                return
        if not self._opening:
            self._go_ahead()

    def _go_ahead(self) -> None:
        row = self._ahead
        if row is None or not self._fits(row):
            return
        entry = self._entries.get(row)
        if entry is None:
            self._open(row)
        elif not entry.complete:
            self._fill(row, entry)

    def _fill(self, row: int, entry: Entry) -> None:
        self._filling = row
        search = self._search
        wanted = Control(cancelled=lambda: search != self._search or not self._worth(row))
        self._tasks.run(
            self,
            lambda: entry.stack.fill(control=wanted),
            lambda _pixels: self._filled(row, search),
            lambda error: self._stopped(row, search, error),
        )

    def _worth(self, row: int) -> bool:
        """True if filling a row goes on: it is on show, or next while nothing is urgent."""
        return row in self._wanted or (row == self._ahead and not self.busy)

    def _filled(self, row: int, search: int) -> None:
        if search != self._search:
            return
        self._filling = None
        entry = self._entries.get(row)
        if entry is not None:
            entry.renew()
            self._told(row)
        self._evict()
        self._go_on()

    def _stopped(self, row: int, search: int, error: Exception) -> None:
        if search != self._search:
            return
        self._filling = None
        if not isinstance(error, Cancelled):
            # No half picture is shown as whole: what cannot be decoded to its end goes.
            self._entries.pop(row, None)
            if row == self._ahead:
                self._ahead = None
            if row in self._wanted:
                self._wanted = tuple(one for one in self._wanted if one != row)
                self._failed(row, error)
        self._go_on()

    def _evict(self) -> None:
        """Let go of what was not looked at for longest, never of what is on show."""
        limit = self._limit()
        for row in list(self._entries):
            if sum(entry.weight for entry in self._entries.values()) <= limit:
                return
            if row not in self._wanted:
                del self._entries[row]
                if row == self._ahead:
                    self._ahead = None

    def _fits(self, row: int) -> bool:
        """True if decoding a row ahead leaves room for what is on show."""
        evidence = self._found[row]
        if not pictured(evidence) or evidence.shape is None:
            return False
        size = 4 if evidence.dtype is None else int(evidence.dtype.lstrip("uintfloa") or 32) // 8
        weight = evidence.times * size
        for side in evidence.shape:
            weight *= side
        return weight <= AHEAD_SHARE * self._limit()


def _partial(evidence: Evidence, stack: Stack) -> Picture:
    """The picture so far. Grids that are turned are decoded whole, so no flag needs turning."""
    return picture_of(evidence, stack.pixels, ready=None if stack.complete else stack.ready)
