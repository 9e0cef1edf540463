"""The values of one DICOM file: decoded, in RGB or after the modality transform.

Owns the chain of PS3.3 C.11.1 (Modality LUT or rescale), number formats and signs, for all frames
or for one. Refuses half pictures: too few bytes or frames are an error, never zeros.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from threading import Lock
from typing import Any, BinaryIO

import numpy as np
from numpy.typing import NDArray
from pydicom.dataset import Dataset
from pydicom.uid import UID

from engine.errors import EvidenceError
from engine.evidence.bounded import LIMIT_VALUES
from engine.evidence.dicom import facts
from engine.evidence.dicom.frames import Cut, Source, Video, find_source
from engine.evidence.dicom.overlay import at_frame, embedded_of, has_embedded
from engine.evidence.dicom.presentation import table_of
from engine.evidence.dicom.read import PARSE_ERRORS
from engine.evidence.dicom.values import Samples, colored, grey, raw_words
from engine.evidence.failures import of_system, truncated
from engine.evidence.files import FileFacts, facts_of, open_file
from engine.evidence.quiet import quiet
from engine.evidence.study import Overlay, VoiLut

DECODE_ERRORS = (*PARSE_ERRORS, RuntimeError, MemoryError, ImportError)
KEPT_HEADERS = 4


@dataclass(frozen=True, eq=False)
class Decoded:
    """Values of one file: [F, Y, X] after the modality transform or [F, Y, X, 3] RGB uint8.

    Attributes:
        values: the frames.
        padding: (low, high) values that are no picture after the modality transform, or None.
        lut: the table that shows the values instead of a window, or None.
        overlays: graphics over the frames.
        told: sentences on what was odd in the frames.
    """

    values: NDArray[np.generic]
    padding: tuple[float, float] | None = None
    lut: VoiLut | None = None
    overlays: tuple[Overlay, ...] = ()
    told: tuple[str, ...] = ()


def decode_file(path: Path, *, deep: bool = False) -> Decoded:
    """Decode every frame of a DICOM file.

    Args:
        path: the file.
        deep: True for colours of the stored depth instead of 8 bits.

    Raises:
        EvidenceError: ``truncated``, ``undecodable``, ``unsupported``, ``too_large``.
    """
    with FrameReader(path) as reader:
        return reader.decode_all(deep=deep)


def decode_frame_of(path: Path, frame: int) -> Decoded:
    """Decode one frame of a DICOM file without the others; see ``FrameReader`` for several.

    Args:
        path: the file.
        frame: which frame, from 0 as stored.

    Returns:
        As ``decode_file``, with F = 1; overlays are those of this frame.

    Raises:
        EvidenceError: as ``decode_file``; ``no_frame`` if there is none of this number.
    """
    with FrameReader(path) as reader:
        return reader.decode(frame)


class FrameReader:
    """One DICOM file, kept open while its frames are decoded in any order by any thread.

    The headers of the files used last are kept, so that a file opened again is parsed once. The
    file is opened with the first frame and closed with ``close`` or with the object.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._file: BinaryIO | None = None
        self._stream: BinaryIO | None = None
        self._source: Source | None = None
        self._lock = Lock()

    def __enter__(self) -> FrameReader:
        return self

    def __exit__(self, *raised: object) -> None:
        self.close()

    def __del__(self) -> None:
        self.close()

    def close(self) -> None:
        """Let go of the file; the next frame opens it again."""
        with self._lock:
            file, self._file, self._stream = self._file, None, None
            if file is not None:
                file.close()

    def decode(self, frame: int) -> Decoded:
        """Decode one frame, from 0 as stored; see ``decode_frame_of``."""
        with self._told():
            stream, source = self._opened()
            if not 0 <= frame < source.layout.frames:
                reason = f"there is no frame {frame + 1} in this file; ask for an earlier one"
                raise EvidenceError(self._path, "no_frame", reason)
            return _decoded(stream, source, range(frame, frame + 1))

    def decode_all(self, *, deep: bool = False) -> Decoded:
        """Decode every frame; see ``decode_file``."""
        with self._told():
            stream, source = self._opened()
            return _decoded(stream, source, range(source.layout.frames), deep=deep)

    def _opened(self) -> tuple[BinaryIO, Source]:
        """The open file and where its pixels are."""
        with self._lock:
            if self._stream is None or self._source is None:
                self._file = self._file or open_file(self._path)
                self._source = _headers.source(self._path, self._file)
                self._stream = self._source.opened(self._file)
            layout = self._source.layout
            if layout.values * layout.frames > LIMIT_VALUES:
                raise MemoryError
            return self._stream, self._source

    @contextmanager
    def _told(self) -> Iterator[None]:
        """Failures inside become ``EvidenceError``."""
        try:
            with quiet():
                yield
        except OSError as failure:
            raise of_system(self._path, failure) from failure
        except DECODE_ERRORS as failure:
            syntax = UID("") if self._source is None else self._source.syntax
            raise _failure(self._path, failure, syntax) from failure


class _Headers:
    """The parsed headers of the files used last, forgotten when a file changes."""

    def __init__(self) -> None:
        self._kept: dict[tuple[Path, FileFacts], Source] = {}
        self._lock = Lock()

    def source(self, path: Path, stream: BinaryIO) -> Source:
        """The pixels of an open file."""
        key = path, facts_of(path)
        with self._lock:
            known = self._kept.pop(key, None)
            if known is not None:
                self._kept[key] = known
                return known
        found = find_source(stream)
        with self._lock:
            self._kept[key] = found
            while len(self._kept) > KEPT_HEADERS:
                del self._kept[next(iter(self._kept))]
        return found


_headers = _Headers()


def _failure(path: Path, failure: Exception, syntax: UID) -> EvidenceError:
    """The sentence for a decoder's failure; its own words may quote the file and are not used."""
    if isinstance(failure, EOFError):
        return truncated(path)
    if isinstance(failure, Video):
        reason = f"the video ({failure}) is not played; convert it to single frames"
        return EvidenceError(path, "unsupported", reason)
    name = syntax.name or "an unnamed transfer syntax"
    if isinstance(failure, Samples):
        reason = "pictures of two, four or more values in a pixel are not read; convert them"
        return EvidenceError(path, "unsupported", reason)
    if isinstance(failure, (NotImplementedError, ImportError)):
        return EvidenceError(path, "unsupported", f"pixels in {name} are not read; convert them")
    if isinstance(failure, MemoryError):
        return EvidenceError(path, "too_large", "the picture does not fit into memory; reduce it")
    reason = f"the pixels ({name}) cannot be decoded; the file is damaged, ask for it again"
    return EvidenceError(path, "undecodable", reason)


def _decoded(stream: BinaryIO, source: Source, frames: range, *, deep: bool = False) -> Decoded:
    """Decode some frames and carry them through the modality transform."""
    dataset, layout = source.dataset, source.layout
    if source.length is not None and 8 * source.length < layout.bits * layout.frames:
        raise Cut
    overlays = _overlays(stream, source, frames)
    show = colored(source, deep=deep)
    if show is not None:
        values = _gathered(frames, lambda frame: show(stream, frame))
        return Decoded(values, overlays=overlays, told=tuple(source.told))
    stored = _gathered(frames, lambda frame: grey(stream, source, frame))
    found = _modality(stored, dataset, frames)
    middle = frames[len(frames) // 2]
    lut = table_of(dataset, found.values, frame=middle, padding=found.padding)
    return replace(found, lut=lut, overlays=overlays, told=tuple(source.told))


def _gathered(frames: range, decode: Any) -> NDArray[Any]:
    """Frames in one array of the number format of the first; wider if a later one needs it."""
    first = decode(frames[0])
    if len(frames) == 1:
        return first[None]
    found = np.empty((len(frames), *first.shape), first.dtype)
    found[0] = first
    for place, frame in enumerate(frames[1:], start=1):
        values = decode(frame)
        kind = np.result_type(found, values)
        if kind != found.dtype:
            found = found.astype(kind)
        found[place] = values
    return found


def _overlays(stream: BinaryIO, source: Source, frames: range) -> tuple[Overlay, ...]:
    """Overlays of all frames of the file, or of one of several."""
    dataset, count = source.dataset, source.layout.frames
    found = source.overlays
    if len(frames) < count:
        found = at_frame(found, frames[0])
    if has_embedded(dataset) and source.layout.samples == 1:
        found += embedded_of(
            dataset, len(frames), lambda frame: raw_words(stream, source, frames[frame])
        )
    return found


def _modality(stored: NDArray[Any], dataset: Dataset, frames: range) -> Decoded:
    """Apply the Modality LUT or the rescale of each frame."""
    padding = facts.padding_of(dataset, signed=stored.dtype.kind == "i")
    lut = facts.item(dataset, "ModalityLUTSequence")
    table = np.zeros(0) if lut is None else facts.table_values(lut, order=facts.order_of(dataset))
    if lut is not None and table.size and stored.dtype.kind in "ui":
        return _by_lut(stored, table, facts.numbers(lut.get("LUTDescriptor")), padding)
    pairs = [facts.rescale_of(dataset, frame) for frame in frames]
    shifted = {None if padding is None else _shift(padding, *pair) for pair in pairs}
    kept = shifted.pop() if len(shifted) == 1 else None
    if len(set(pairs)) == 1:
        return Decoded(rescale(stored, *pairs[0], owned=stored.flags.writeable), kept)
    layers = [rescale(layer, *pair) for layer, pair in zip(stored, pairs, strict=True)]
    return Decoded(np.stack(layers), kept)


def _shift(padding: tuple[float, float], slope: float, intercept: float) -> tuple[float, float]:
    """Padding limits after the rescale, low end first."""
    ends = padding[0] * slope + intercept, padding[1] * slope + intercept
    return min(ends), max(ends)


def _by_lut(
    stored: NDArray[Any],
    table: NDArray[np.float64],
    descriptor: list[float],
    padding: tuple[float, float] | None,
) -> Decoded:
    """Values through the Modality LUT; ends are held beyond the table (PS3.3 C.11.1.1)."""
    first = int(facts.signed_first(stored.dtype.kind == "i", descriptor[1]))
    whole = table.max() <= 65535 and table.min() >= 0
    entries = table.astype(np.uint16 if whole else np.float64)
    index = np.clip(stored.astype(np.int64) - first, 0, len(table) - 1)
    if padding is not None:
        ends = entries[np.clip(np.array(padding, np.int64) - first, 0, len(table) - 1)]
        padding = float(ends.min()), float(ends.max())
    return Decoded(entries[index], padding)


def rescale(
    stored: NDArray[Any], slope: float, intercept: float, *, owned: bool = False
) -> NDArray[np.generic]:
    """``stored * slope + intercept`` in the smallest format that holds it without rounding.

    Whole slopes and intercepts stay whole; 16-bit data with fractions becomes float32, whose
    error of one part in ten million is below any display step; wider data becomes float64.

    Args:
        stored: values as decoded.
        slope: factor.
        intercept: added after it.
        owned: True if ``stored`` may be overwritten.
    """
    if slope == 1.0 and intercept == 0.0:
        return stored
    if stored.dtype.kind in "ui" and slope.is_integer() and intercept.is_integer() and stored.size:
        ends = [float(end) * slope + intercept for end in (stored.min(), stored.max())]
        low, high = min(ends), max(ends)
        for kind in (np.int16, np.uint16, np.int32):
            if np.iinfo(kind).min <= low and high <= np.iinfo(kind).max:
                return _whole(stored, int(slope), int(intercept), np.dtype(kind), owned=owned)
    exact = stored.dtype.itemsize > 2
    kind_of = np.float64 if exact else np.float32
    found = np.empty(stored.shape, kind_of)
    with np.errstate(over="ignore", invalid="ignore"):
        for at in np.ndindex(stored.shape[:1] if stored.ndim > 2 else ()):
            found[at] = stored[at].astype(np.float64) * slope + intercept
    return found


def _whole(
    stored: NDArray[Any], slope: int, intercept: int, kind: np.dtype[Any], *, owned: bool
) -> NDArray[np.generic]:
    """The same in whole numbers; sums that overflow on the way come right at the end."""
    same = stored.dtype.itemsize == kind.itemsize
    values = stored.view(kind) if same else stored.astype(kind)
    out = values if owned or not same else np.empty(values.shape, kind)
    modulus = 1 << 8 * kind.itemsize
    factor, shift = (
        np.array(number % modulus, f"u{kind.itemsize}").astype(kind)
        for number in (slope, intercept)
    )
    with np.errstate(over="ignore"):
        if slope != 1:
            values = np.multiply(values, factor, out=out)
        return np.add(values, shift, out=out)
