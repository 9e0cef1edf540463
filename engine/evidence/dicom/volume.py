"""A DICOM object's slices, decoded one by one into one array: series of files and multi-frame.

Owns the array, its number format and which slices are there. Refuses to choose the order of
decoding (``stack`` does) and to know where slices lie.
"""

from __future__ import annotations

import os
from collections.abc import Generator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from engine.errors import EvidenceError
from engine.evidence.dicom.decode import Decoded, FrameReader, decode_file
from engine.evidence.dicom.native import read_native
from engine.evidence.dicom.overlay import stacked
from engine.evidence.study import Evidence, Overlay, Pixels
from engine.evidence.window import derive_window, function_of

THREADS = min(4, os.cpu_count() or 1)
AHEAD = 2  # decoded slices that may wait for each thread


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
        self._frames = FrameReader(self.path(0))  # of one file that holds all slices
        self._overlays: list[tuple[int, tuple[Overlay, ...]]] = []
        self.ready: NDArray[np.bool_] = np.zeros((evidence.times, count), bool)

    @property
    def middle(self) -> int:
        """The slice that stands for all: its padding and table of values are taken."""
        return self.ready.shape[1] // 2

    @property
    def complete(self) -> bool:
        """True once every slice of every time point is there."""
        return bool(self.ready.all())

    @property
    def dtype(self) -> np.dtype[Any] | None:
        """The number format so far; another one means another array."""
        return None if self._array is None else self._array.dtype

    def read(self, time: int, place: int) -> None:
        """Decode one slice into its place; nothing happens if it is there.

        Raises:
            EvidenceError: it is missing, damaged, or of another size than the rest.
        """
        if self.ready[time, place]:
            return
        number = self.number(time, place)
        into = None if self._array is None else self._array[time, place]
        found = self.read_plain(number, into)
        self.put(time, place, self.decode(number) if found is None else found)

    def number(self, time: int, place: int) -> int:
        """Which file of the series, or stored frame of the file, a slice is."""
        slot = time * self.ready.shape[1] + place
        order = self._evidence.order
        return order[slot] if order else slot

    def path(self, number: int) -> Path:
        """The file that holds a slice."""
        members = self._evidence.members
        return members[number] if len(members) > 1 else members[0]

    def read_plain(self, number: int, into: NDArray[np.generic] | None) -> Decoded | None:
        """A slice read straight from its file, into its place if it fits; None if it cannot be."""
        native = self._evidence.native
        known = native[number] if number < len(native) else None
        if known is None:
            return None
        try:
            values = read_native(self.path(number), known, into)
        except EvidenceError:
            if into is not None:
                into[...] = 0  # no half picture
            raise
        if values is None:
            return None
        return Decoded(values[None], padding=known.stored.padding)

    def decode(self, number: int) -> Decoded:
        """A slice through all steps; may be called from several threads."""
        if len(self._evidence.members) > 1 or (self.ready.size == 1 and not self._evidence.order):
            return decode_file(self.path(number))
        return self._frames.decode(number)

    def put(self, time: int, place: int, found: Decoded) -> None:
        """Keep a slice; the array becomes wider where a slice needs a wider number format."""
        values, array = found.values[0], self._array
        if array is None:
            array = np.zeros((*self.ready.shape, *values.shape), values.dtype)
        if values.shape != array.shape[2:] or len(found.values) > 1:
            reason = "this slice has another size than the rest of its series; leave it out"
            raise EvidenceError(self.path(self.number(time, place)), "damaged", reason)
        kind = np.result_type(array, values)
        if kind != array.dtype:
            array = array.astype(kind)
        if not np.may_share_memory(array[time, place], values):
            array[time, place] = values
        self._array = array
        self._keep(time, place, found)

    def _keep(self, time: int, place: int, found: Decoded) -> None:
        """What a slice brings besides its values."""
        if time == 0 and place == self.middle:
            self._middle = found
        if found.overlays and time == 0:
            self._overlays.append((place, found.overlays))
        self.ready[time, place] = True
        if self.complete:
            self._frames.close()

    def pixels(self) -> Pixels:
        """What is there so far; slices not ready hold zeros.

        The window is the header's; else it is derived, from the middle slice until all are there.
        """
        evidence, array = self._evidence, self._array
        if array is None:
            raise ValueError("decode a slice first")
        window = evidence.window or self._window(array)
        told = evidence.window is not None
        return Pixels(
            array=array[0],
            times=array if len(array) > 1 else None,
            spacing_mm=evidence.spacing_mm,
            orientation=evidence.orientation,
            window=window,
            window_source=evidence.window_source or "derived",
            display_inverted=evidence.display_inverted,
            aspect=evidence.aspect,
            window_function=evidence.window_function if told else function_of(window),
            lut=self._middle.lut,
            padding=self._middle.padding,
            windows=evidence.windows,
            geometry=evidence.geometry,
            overlays=self._drawn(),
            calibrated=evidence.calibrated,
            notes=self._middle.told,
        )

    def _drawn(self) -> tuple[Overlay, ...]:
        """The overlays of all slices of the first time point."""
        count = self.ready.shape[1]
        if count == 1:
            return self._overlays[0][1] if self._overlays else ()
        return stacked(sorted(self._overlays, key=lambda part: part[0]), count)

    def _window(self, array: NDArray[np.generic]) -> tuple[float, float]:
        """A window from the values that are there."""
        values = array if self.complete else array[0, self.middle]
        return derive_window(values, padding=self._middle.padding)

    def several_at_once(
        self, places: Sequence[tuple[int, int]]
    ) -> Generator[tuple[int, int], None, None]:
        """Decode the named slices, by a few threads where that pays.

        Plain pixels are copied faster than threads are told to; codecs work outside the
        interpreter's lock. No thread runs far ahead, so that memory stays at a few slices.

        Yields:
            (time, place) of each slice once it is there, in the order given.
        """
        if any(self._evidence.native) or len(places) < 2 or THREADS < 2:
            for at in places:
                self.read(*at)
                yield at
            return
        waiting: list[tuple[tuple[int, int], Future[Decoded]]] = []
        with ThreadPoolExecutor(THREADS, thread_name_prefix="decode") as pool:
            try:
                for at in places:
                    waiting.append((at, pool.submit(self.decode, self.number(*at))))
                    if len(waiting) >= AHEAD * THREADS:
                        yield self._taken(waiting)
                while waiting:
                    yield self._taken(waiting)
            finally:
                pool.shutdown(wait=True, cancel_futures=True)

    def _taken(self, waiting: list[tuple[tuple[int, int], Future[Decoded]]]) -> tuple[int, int]:
        """Put the slice that was asked for first into its place."""
        at, future = waiting.pop(0)
        self.put(*at, future.result())
        return at


def load(evidence: Evidence) -> Pixels:
    """Decode every slice of a DICOM object.

    Raises:
        EvidenceError: a slice cannot be read; none is handed out then.
    """
    volume = Volume(evidence)
    every = [(int(time), int(place)) for time, place in np.ndindex(volume.ready.shape)]
    for _ in volume.several_at_once(every):
        pass
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
