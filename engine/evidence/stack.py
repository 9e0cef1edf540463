"""A picture that is decoded while it is looked at: the middle slice first, the rest around it.

Owns the order of decoding and which slices are there. Refuses threads: the caller runs ``fill``
where it likes; reading ``pixels`` meanwhile is allowed.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from engine.control import Control
from engine.evidence.open import load_pixels
from engine.evidence.study import Evidence, Pixels


class Stack:
    """One piece of evidence being decoded.

    Attributes:
        pixels: what is there so far; slices not ``ready`` hold zeros. Replaced by the final value
            (the same array where the format decodes slice by slice) once everything is ready.
        ready: which slices are decoded, shape [Z].
    """

    def __init__(self, evidence: Evidence) -> None:
        self._evidence = evidence
        self.pixels: Pixels = load_pixels(evidence)
        self.ready: NDArray[np.bool_] = np.ones(len(self.pixels.array), bool)

    @property
    def complete(self) -> bool:
        """True once every slice is there."""
        return bool(self.ready.all())

    def fill(
        self, *, control: Control | None = None, told: Callable[[int], None] | None = None
    ) -> Pixels:
        """Decode what is missing, nearest to the middle first.

        Args:
            control: asked before every slice.
            told: called with the index of each slice that became ready.

        Raises:
            EvidenceError: a slice cannot be decoded; those ready stay ready.
            Cancelled: asked to stop.
        """
        return self.pixels


def open_stack(evidence: Evidence) -> Stack:
    """Decode the middle slice (everything, where a format cannot do less) and return.

    Raises:
        EvidenceError: as ``load_pixels``.
    """
    return Stack(evidence)
