"""Time while rating: how long an item took without idling, what is left, when to rest.

Owns the arithmetic only; the clock is given. Idle is what lies beyond 60 seconds without input.
Refuses to know an answer: a rest is proposed from times alone.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from statistics import median

IDLE_SECONDS = 60.0
AWAY_SECONDS = 300.0  # without input: the curtain falls by itself
LEAST_ANSWERS = 3
WINDOW = 25
LATEST, BAND_ITEMS, BAND_WIDTH = 10, 20, 1.7  # one steady session of 20 is told to rest
LEAST_SPREAD = 0.15  # of the logarithm of seconds: nobody is steadier than that
REFRACTORY = 20
FORM_WORDS = {"2d": "2D", "3d": "3D", "text": "text"}


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
    def untouched(self) -> float:
        """Seconds since the last input."""
        return 0.0 if self._stopped is not None else self._now() - self._last

    def milliseconds(self) -> tuple[int | None, int, int]:
        """(to the first action, to now without idling, idle), in ms."""
        self.touch()
        first = None if self._first is None else round(1000 * self._first)
        spent = self._now() - self._shown - self._idle
        return first, round(1000 * spent), round(1000 * self._idle)


class Pace:
    """The pace of this session, by form: a volume takes longer than a picture."""

    def __init__(self) -> None:
        self._spent: dict[str, list[float]] = {}
        self._since_rest = 0.0
        self._quiet = 0

    def add(self, seconds: float, form: str = "", *, counted: bool = True) -> None:
        """One more item of a form took this long; practice tells nothing of the pace."""
        self._since_rest += seconds
        if counted:
            self._spent.setdefault(form, []).append(seconds)
            self._quiet = max(0, self._quiet - 1)

    def rested(self) -> None:
        """There was a rest, or one was proposed; the next stretch begins."""
        self._since_rest = 0.0
        self._quiet = REFRACTORY

    @property
    def since_rest(self) -> float:
        """Seconds of reading since the last rest."""
        return self._since_rest

    def seconds_left(self, left: Mapping[str, int]) -> float | None:
        """Medians of the last items of each form times what is left of it.

        None before three items of every form that is left are done: nothing is guessed.
        """
        total = 0.0
        for form, items in left.items():
            spent = self._spent.get(form, [])
            if items and len(spent) < LEAST_ANSWERS:
                return None
            total += median(spent[-WINDOW:]) * items if items else 0.0
        return total

    def drifts(self, form: str) -> bool:
        """Whether the last items took unlike the reader's own band of this form, or not at all.

        The band is the median of the logarithms of the earlier times and their median
        deviation; the median of the last ten lies beyond it, in either direction.
        """
        spent = self._spent.get(form, [])
        if self._quiet or len(spent) < BAND_ITEMS + LATEST:
            return False
        logs = [math.log(max(one, 0.05)) for one in spent]
        own, latest = logs[:-LATEST], logs[-LATEST:]
        middle = median(own)
        spread = max(LEAST_SPREAD, 1.4826 * median(abs(one - middle) for one in own))
        return abs(median(latest) - middle) > BAND_WIDTH * spread
