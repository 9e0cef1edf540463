"""Time while rating: how long an item took without idling, and an honest guess of what is left.

Owns the arithmetic only; the clock is given. Idle is what lies beyond 60 seconds without input.
"""

from __future__ import annotations

from collections.abc import Callable
from statistics import median

IDLE_SECONDS = 60.0
LEAST_ANSWERS = 3
WINDOW = 25


class ItemClock:
    """Times one item.

    Args:
        now: seconds that only grow.
    """

    def __init__(self, now: Callable[[], float]) -> None:
        self._now = now
        self._shown = self._last = now()
        self._idle = 0.0
        self._first: float | None = None
        self._stopped: float | None = None

    def touch(self) -> None:
        """There was input."""
        if self._stopped is not None:
            return
        now = self._now()
        self._idle += max(0.0, now - self._last - IDLE_SECONDS)
        self._last = now

    def act(self) -> None:
        """The reader did something to the item or chose an answer."""
        self.touch()
        if self._first is None:
            self._first = self._last - self._shown

    def stop(self) -> None:
        """A pause begins; its time does not count."""
        self.touch()
        self._stopped = self._now()

    def go_on(self) -> None:
        """The pause ends."""
        if self._stopped is not None:
            away = self._now() - self._stopped
            self._idle += away
            self._last = self._now()
            self._stopped = None

    @property
    def since_shown(self) -> float:
        """Seconds since the item was shown, pauses and idling included."""
        return self._now() - self._shown

    def milliseconds(self) -> tuple[int | None, int, int]:
        """(to the first action, to now without idling, idle), in ms."""
        self.touch()
        first = None if self._first is None else round(1000 * self._first)
        spent = self._now() - self._shown - self._idle
        return first, round(1000 * spent), round(1000 * self._idle)


class Pace:
    """The pace of this session."""

    def __init__(self) -> None:
        self._spent: list[float] = []
        self._rested = 0

    def add(self, seconds: float) -> None:
        """One more item took this long."""
        self._spent.append(seconds)

    @property
    def total(self) -> float:
        """Seconds of reading since the session began or a rest was proposed."""
        return sum(self._spent[self._rested :])

    def rest(self) -> None:
        """A rest was proposed; count the next stretch afresh."""
        self._rested = len(self._spent)

    def seconds_left(self, items: int) -> float | None:
        """Median of the last items times what is left; None before three are done."""
        if len(self._spent) < LEAST_ANSWERS:
            return None
        return median(self._spent[-WINDOW:]) * items
