"""Counts bytes and tells them at most ten times a second. Owns no phase: the caller begins one."""

from __future__ import annotations

import time

from engine.control import Control

REPORT = 0.1  # seconds between two reports


class Meter:
    """Counts bytes and reports them at most ten times a second.

    Args:
        control: is told, and asked whether to stop.
        silent: it is only asked.
    """

    def __init__(self, control: Control, *, silent: bool = False) -> None:
        self.control = control
        self._silent = silent
        self.fetched = 0
        self._held = 0
        self._last = 0.0

    def add(self, count: int, *, fetched: bool = True) -> None:
        """Count bytes; asks whether to stop.

        Args:
            count: how many, negative where bytes are taken back.
            fetched: they came over the network.
        """
        self.control.check()
        self.fetched += count if fetched else 0
        self._held += count
        if time.monotonic() - self._last >= REPORT:
            self.flush()

    def flush(self) -> None:
        """Report what was counted."""
        self._last = time.monotonic()
        if self._held and not self._silent:
            self.control.step(self._held)
        self._held = 0
