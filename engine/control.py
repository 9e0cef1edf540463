"""How a long computation listens and reports. Owns nothing of threads, processes or windows.

The engine takes a ``Control``; the worker passes one wired to its pipe, tests pass a plain one.
"""

from __future__ import annotations

from collections.abc import Callable

from engine.errors import Cancelled


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

    def check(self) -> None:
        """Raise ``Cancelled`` if the user asked to stop; call between batches."""
        if self._cancelled():
            raise Cancelled

    def begin(self, total: int, *, unit: str, phase: str) -> None:
        """Start a phase of ``total`` steps counted in ``unit`` (plural noun)."""
        self._done, self._total, self._unit, self._phase = 0, total, unit, phase
        self._report(0, total, unit, phase)

    def step(self, count: int = 1) -> None:
        """Say that ``count`` more steps are done."""
        self._done += count
        self._report(self._done, self._total, self._unit, self._phase)

    def say(self, sentence: str) -> None:
        """Pass one sentence to whoever watches."""
        self._log(sentence)
