"""The quiet in which readers work: what libraries say about a file may quote a patient's data.

Owns the warning filters while a reader is inside, and the logs of pydicom and tifffile. Refuses
to hide errors: those become ``EvidenceError`` with words of our own.
"""

from __future__ import annotations

import logging
import threading
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

for name in ("pydicom", "tifffile"):
    logging.getLogger(name).setLevel(logging.CRITICAL + 1)


class _Quiet:
    """Counts who is inside, so that several threads share one change of the warning filters."""

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.inside = 0
        self.held: warnings.catch_warnings[Any] | None = None

    def enter(self) -> None:
        with self.lock:
            if self.inside == 0:
                self.held = warnings.catch_warnings()
                self.held.__enter__()
                warnings.simplefilter("ignore")
            self.inside += 1

    def leave(self) -> None:
        with self.lock:
            self.inside -= 1
            if self.inside == 0 and self.held is not None:
                self.held.__exit__(None, None, None)
                self.held = None


_quiet = _Quiet()


@contextmanager
def quiet() -> Iterator[None]:
    """Silence pydicom's warnings while inside; they may quote a patient's data."""
    _quiet.enter()
    try:
        yield
    finally:
        _quiet.leave()
