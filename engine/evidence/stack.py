"""A picture that is decoded while it is looked at: the middle slice first, the rest around it.

Owns the order of decoding and which slices are there. Refuses threads: the caller runs ``fill``
where it likes; reading ``pixels`` meanwhile is allowed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import closing

import numpy as np
from numpy.typing import NDArray

from engine.control import Control
from engine.evidence.dicom.volume import Volume
from engine.evidence.open import load_pixels
from engine.evidence.study import Evidence, Pixels


class Stack:
    """One piece of evidence being decoded.

    Attributes:
        pixels: what is there so far; slices not ``ready`` hold zeros. Replaced by the final value
            (the same array where the format decodes slice by slice) once everything is ready: a
            window that the file does not name comes from the middle slice until then.
        ready: which slices of ``pixels.array`` are decoded, shape [Z].
        ready_TZ: the same for every time point, shape [T, Z].
    """

    def __init__(self, evidence: Evidence) -> None:
        self._volume: Volume | None = None
        if _slice_by_slice(evidence):
            self._volume = Volume(evidence)
            self._volume.read(0, self._volume.middle)
            self.pixels: Pixels = self._volume.pixels()
            self.ready_TZ: NDArray[np.bool_] = self._volume.ready
        else:
            self.pixels = load_pixels(evidence)
            times = 1 if self.pixels.times is None else len(self.pixels.times)
            self.ready_TZ = np.ones((times, len(self.pixels.array)), bool)

    @property
    def ready(self) -> NDArray[np.bool_]:
        """Which slices of ``pixels.array`` are decoded, shape [Z]."""
        return self.ready_TZ[0]

    @property
    def complete(self) -> bool:
        """True once every slice of every time point is there."""
        return bool(self.ready_TZ.all())

    def fill(
        self, *, control: Control | None = None, told: Callable[[int], None] | None = None
    ) -> Pixels:
        """Decode what is missing, nearest to the middle first, the first time point before others.

        Args:
            control: asked before every slice.
            told: called with the index of each slice that became ready.

        Raises:
            EvidenceError: a slice cannot be decoded; those ready stay ready.
            Cancelled: asked to stop.
        """
        volume = self._volume
        if volume is None:
            return self.pixels
        missing = [
            (time, place)
            for time in range(len(self.ready_TZ))
            for place in outwards(len(self.ready))
            if not self.ready_TZ[time, place]
        ]
        if control is not None:
            control.check()
        with closing(volume.several_at_once(missing)) as decoded:
            for _, place in decoded:
                if self.pixels.array.dtype != volume.dtype:
                    self.pixels = volume.pixels()
                if told is not None:
                    told(place)
                if control is not None:
                    control.check()
        self.pixels = volume.pixels()
        self._volume = None
        return self.pixels


def outwards(count: int) -> Iterator[int]:
    """0..count-1, from the middle to the ends by turns."""
    middle = count // 2
    yield from sorted(range(count), key=lambda place: (abs(place - middle), place))


def _slice_by_slice(evidence: Evidence) -> bool:
    """True for DICOM objects of several slices."""
    several = evidence.shape is not None and evidence.times * evidence.shape[0] > 1
    return evidence.error is None and several and evidence.source.get("format") == "DICOM"


def open_stack(evidence: Evidence) -> Stack:
    """Decode the middle slice (everything, where a format cannot do less) and return.

    Raises:
        EvidenceError: as ``load_pixels``.
    """
    return Stack(evidence)
