"""A DICOM object's slices, decoded one by one into one array: series of files and multi-frame.

Owns the array, its number format and which slices are there. Refuses to choose the order of
decoding (``stack`` does) and to know where slices lie.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from engine.errors import EvidenceError
from engine.evidence.dicom_pixels import Decoded, decode_file
from engine.evidence.study import Evidence, Pixels
from engine.evidence.window import derive_window


class Volume:
    """One DICOM object being decoded.

    Attributes:
        ready: which slices are decoded, shape [T, Z].
    """

    def __init__(self, evidence: Evidence) -> None:
        count = (evidence.shape or (1,))[0]
        self._evidence = evidence
        self._array: NDArray[np.generic] | None = None
        self._middle = Decoded(np.zeros(0))
        self._whole: Decoded | None = None
        self._final: tuple[float, float] | None = None
        self.ready: NDArray[np.bool_] = np.zeros((evidence.times, count), bool)

    @property
    def middle(self) -> int:
        """The slice that stands for all: its padding and table of values are taken."""
        return self.ready.shape[1] // 2

    @property
    def complete(self) -> bool:
        """True once every slice of every time point is there."""
        return bool(self.ready.all())

    def read(self, time: int, place: int) -> bool:
        """Decode one slice into its place; nothing happens if it is there.

        Returns:
            True if the array was replaced by one of a wider number format.

        Raises:
            EvidenceError: it is missing, damaged, or of another size than the header of the
                first said.
        """
        if self.ready[time, place]:
            return False
        before = self._array
        slot = time * self.ready.shape[1] + place
        order = self._evidence.order
        found, values = self._delivered(order[slot] if order else slot)
        if time == 0 and place == self.middle:
            self._middle = found
        self._put(time, place, values)
        self.ready[time, place] = True
        return before is not None and before is not self._array

    def _delivered(self, number: int) -> tuple[Decoded, NDArray[np.generic]]:
        """A slice by its number as delivered: the file of a series or the frame of a file."""
        members = self._evidence.members
        if len(members) > 1:
            found = decode_file(members[number])
            return found, found.values[0]
        if self._whole is None:
            self._whole = decode_file(members[0])
        return self._whole, self._whole.values[number]

    def _put(self, time: int, place: int, values: NDArray[np.generic]) -> None:
        """Keep a slice; the array becomes wider where a slice needs a wider number format."""
        array = self._array
        if array is None:
            array = np.zeros((*self.ready.shape, *values.shape), values.dtype)
        if values.shape != array.shape[2:]:
            path = self._path_of(place)
            reason = "this slice has another size than the rest of its series; leave it out"
            raise EvidenceError(path, "damaged", reason)
        kind = np.result_type(array, values)
        if kind != array.dtype:
            array = array.astype(kind)
        array[time, place] = values
        self._array = array

    def _path_of(self, place: int) -> Path:
        members = self._evidence.members
        return members[place] if place < len(members) else members[0]

    def pixels(self) -> Pixels:
        """What is there so far; slices not ready hold zeros.

        The window is the header's; else it is derived, from the middle slice until all are there.
        """
        evidence, array = self._evidence, self._array
        if array is None:
            raise ValueError("decode a slice first")
        if self.complete:
            self._whole = None
        return Pixels(
            array=array[0],
            times=array if len(array) > 1 else None,
            spacing_mm=evidence.spacing_mm,
            orientation=evidence.orientation,
            window=evidence.window or self._window(array),
            window_source=evidence.window_source or "derived",
            display_inverted=evidence.display_inverted,
            aspect=evidence.aspect,
            window_function=evidence.window_function,
            lut=self._middle.lut if evidence.window_source == "lut" else None,
            padding=self._middle.padding,
            windows=evidence.windows,
            geometry=evidence.geometry,
        )

    def _window(self, array: NDArray[np.generic]) -> tuple[float, float]:
        """A window from the values that are there."""
        values = array if self.complete else array[0, self.middle]
        return derive_window(values, padding=self._middle.padding)


def load(evidence: Evidence) -> Pixels:
    """Decode every slice of a DICOM object.

    Raises:
        EvidenceError: a slice cannot be read; none is handed out then.
    """
    volume = Volume(evidence)
    for time, place in np.ndindex(volume.ready.shape):
        volume.read(time, place)
    return volume.pixels()


def delivered_shape(evidence: Evidence, shape: tuple[int, ...]) -> tuple[int, ...]:
    """The shape of all files or frames one after the other, as they were delivered.

    A DICOM object of several time points counts each of its pictures; other formats and single
    time points keep the shape of one volume.
    """
    if evidence.times == 1 or evidence.source.get("format") != "DICOM":
        return shape
    return (evidence.times * shape[0], *shape[1:])


def delivered_slice(evidence: Evidence, pixels: Pixels, number: int) -> NDArray[np.generic] | None:
    """A slice by its number as delivered (file of a series, stored frame of a file).

    None where slices stand as delivered, so that ``pixels`` can be asked directly.
    """
    several = evidence.times > 1 and evidence.source.get("format") == "DICOM"
    if not several and not evidence.order:
        return None
    slot = evidence.order.index(number) if evidence.order else number
    if pixels.times is None:
        return pixels.array[slot]
    return pixels.times[divmod(slot, len(pixels.array))]
