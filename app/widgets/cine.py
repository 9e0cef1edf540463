"""Plays slices, frames or time points: a clock that says which one is due.

Owns rate and time. A frame that is late is left out, so that the rate stays true; nothing is
queued. Refuses to know what is played.
"""

from __future__ import annotations

import time
from collections.abc import Callable

from PySide6.QtCore import QObject, Qt, QTimer, Signal

FALLBACK_RATE = 10.0
LEAST_RATE, MOST_RATE = 1.0, 60.0
FASTER = 1.25


def rate_of(frame_ms: float | None) -> float:
    """Frames a second: the file's, within bounds, or ten."""
    if frame_ms is None or not 0 < frame_ms < 1e6:
        return FALLBACK_RATE
    return min(MOST_RATE, max(LEAST_RATE, 1000.0 / frame_ms))


def due(start: int, seconds: float, rate: float, count: int) -> int:
    """The frame due after ``seconds``; after the last comes the first."""
    return (start + int(seconds * rate + 1e-9)) % max(1, count)


class Cine(QObject):
    """One canvas's player.

    Signals:
        turn: the number of the frame that is due; never the same twice in a row.

    Args:
        clock: seconds, for tests.
    """

    turn = Signal(int)

    def __init__(
        self, parent: QObject | None = None, *, clock: Callable[[], float] = time.monotonic
    ) -> None:
        super().__init__(parent)
        self._clock = clock
        self._timer = QTimer(self)
        self._timer.setTimerType(Qt.TimerType.PreciseTimer)
        self._timer.timeout.connect(self.tick)
        self._start, self._since, self._count, self._last = 0, 0.0, 0, -1
        self.rate = FALLBACK_RATE

    @property
    def playing(self) -> bool:
        """True while it runs."""
        return self._timer.isActive()

    def play(self, *, start: int, count: int, rate: float) -> None:
        """Begin at a frame of ``count``."""
        if count < 2:
            return
        self._count, self.rate = count, rate
        self._begin(start)

    def stop(self) -> None:
        """Stay where it is."""
        self._timer.stop()

    def speed(self, by: float) -> None:
        """Faster or slower from the frame that is shown."""
        self.rate = min(MOST_RATE, max(LEAST_RATE, self.rate * by))
        self._begin(max(0, self._last))

    def tick(self) -> None:
        """Say which frame is due, if it is another one."""
        now = due(self._start, self._clock() - self._since, self.rate, self._count)
        if now != self._last:
            self._last = now
            self.turn.emit(now)

    def _begin(self, start: int) -> None:
        self._start, self._since, self._last = start, self._clock(), start
        self._timer.start(max(4, round(1000 / self.rate / 2)))
