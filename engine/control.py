"""How a long computation listens and reports. Owns nothing of threads, processes or windows.

The engine takes a ``Control``; the worker passes one wired to its pipe, tests pass a plain one.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from engine.errors import Cancelled


@dataclass
class Part:
    """What of a phase is done just now, counted within the phase.

    Attributes:
        name: of it, empty where a phase is one piece.
        done: its own steps.
        total: its own steps in all.
    """

    name: str = ""
    done: int = 0
    total: int = 0


class Control:
    """Asks for cancellation and reports progress.

    Args:
        cancelled: returns True once the user asked to stop.
        report: called as ``report(done, total, unit, phase)`` after each step.
        log: receives one plain sentence.
    """

    def __init__(
        self,
        *,
        cancelled: Callable[[], bool] = lambda: False,
        report: Callable[[int, int, str, str], None] = lambda done, total, unit, phase: None,
        log: Callable[[str], None] = lambda sentence: None,
    ) -> None:
        self._cancelled = cancelled
        self._report = report
        self._log = log
        self._done = 0
        self._total = 0
        self._unit = ""
        self._phase = ""
        self.part = Part()

    def check(self) -> None:
        """Raise ``Cancelled`` if the user asked to stop; call between batches."""
        if self._cancelled():
            raise Cancelled

    def begin(self, total: int, *, unit: str, phase: str) -> None:
        """Start a phase of ``total`` steps counted in ``unit`` (plural noun)."""
        self._done, self._total, self._unit, self._phase = 0, total, unit, phase
        self.part = Part()
        self._report(0, total, unit, phase)

    def begin_part(self, name: str, total: int) -> None:
        """Start a piece of the phase of ``total`` of its steps."""
        self.part = Part(name, 0, total)
        self._report(self._done, self._total, self._unit, self._phase)

    def step(self, count: int = 1) -> None:
        """Say that ``count`` more steps are done."""
        self._done += count
        self.part.done += count
        self._report(self._done, self._total, self._unit, self._phase)

    def say(self, sentence: str) -> None:
        """Pass one sentence to whoever watches."""
        self._log(sentence)
