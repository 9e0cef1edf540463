"""Plain pixels read straight into their place, without parsing the file a second time.

Owns what must be remembered of a header for that, and the check that the file is still the same.
Refuses compressed pixels, colour, tables and overlays: those are decoded by ``decode``, by
whose functions bits are cut and values rescaled here too. Holds no patient attribute.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from pydicom.dataset import Dataset

from engine.evidence.dicom import facts
from engine.evidence.dicom.decode import rescale
from engine.evidence.dicom.lean import BIG, IMPLICIT, Scanned
from engine.evidence.dicom.read import Header
from engine.evidence.dicom.values import only_stored
from engine.evidence.failures import of_system, truncated

SYNTAXES = {IMPLICIT: "<", "1.2.840.10008.1.2.1": "<", BIG: ">"}
TABLES = ("ModalityLUTSequence", "VOILUTSequence", "PresentationLUTSequence")


@dataclass(frozen=True)
class Stored:
    """How the pixels of the files of a series are stored.

    Attributes:
        rows, columns: size.
        mark: ``<`` or ``>``, the byte order.
        width: bytes of a value.
        high, bits: the highest stored bit and how many are stored.
        signed: True for two's complement.
        slope, intercept: the modality rescale.
        padding: (low, high) values that are no picture, after the rescale.
    """

    rows: int
    columns: int
    mark: str
    width: int
    high: int
    bits: int
    signed: bool
    slope: float
    intercept: float
    padding: tuple[float, float] | None


@dataclass(frozen=True)
class Native:
    """Where one file's pixels lie, as long as the file has this size and time."""

    stored: Stored
    at: int
    size: int
    mtime_ns: int


def natives_of(
    stored: Stored, header: Header, frames: int, stamp: tuple[int, int]
) -> tuple[Native, ...]:
    """Where each frame of a file lies; ``stamp`` is the file's size and time."""
    size = stored.rows * stored.columns * stored.width
    return tuple(Native(stored, header.pixel_at + size * frame, *stamp) for frame in range(frames))


def stored_of(dataset: Dataset, header: Header) -> Stored | None:
    """What is needed to read plain grey frames; None if they need more than that."""
    mark, tags = SYNTAXES.get(str(header.syntax)), list(map(int, dataset.keys()))
    plain = isinstance(dataset, Scanned) and header.pixel_length and header.pixel_tag == 0x7FE00010
    if mark is None or not plain or any(tag >> 24 == 0x60 for tag in tags):
        return None
    grey = facts.word(dataset, "PhotometricInterpretation") in ("MONOCHROME1", "MONOCHROME2", "")
    single = facts.integer(dataset, "SamplesPerPixel", 1) == 1
    allocated = facts.integer(dataset, "BitsAllocated", 16)
    bits = facts.integer(dataset, "BitsStored", allocated)
    high = facts.integer(dataset, "HighBit", bits - 1)
    fits = allocated in (8, 16) and 1 <= bits <= allocated and bits - 1 <= high < allocated
    if not (grey and single and fits) or any(name in dataset for name in TABLES):
        return None
    frames = max(1, facts.integer(dataset, "NumberOfFrames", 1))
    pairs = {facts.rescale_of(dataset, frame) for frame in range(frames)}
    tabled = frames > 1 and facts.voi_lut_of(dataset, frames // 2) is not None
    if len(pairs) > 1 or tabled or (mark == ">" and allocated == 8):
        return None
    signed = facts.integer(dataset, "PixelRepresentation") == 1
    slope, intercept = pairs.pop()
    return Stored(
        facts.integer(dataset, "Rows"), facts.integer(dataset, "Columns"), mark, allocated // 8,
        high, bits, signed, slope, intercept, _padding(dataset, signed, slope, intercept),
    )  # fmt: skip


def _padding(
    dataset: Dataset, signed: bool, slope: float, intercept: float
) -> tuple[float, float] | None:
    """Padding after the rescale, low end first."""
    found = facts.padding_of(dataset, signed=signed)
    if found is None:
        return None
    low, high = (end * slope + intercept for end in found)
    return min(low, high), max(low, high)


def read_native(
    path: Path, native: Native, into: NDArray[np.generic] | None
) -> NDArray[np.generic] | None:
    """Read one picture.

    Args:
        path: the file.
        native: what was remembered of it.
        into: [Y, X] memory that the values may be read into, or None.

    Returns:
        [Y, X] values after the rescale, in ``into`` if they fit there; None if the file has
        changed and must be looked at again.

    Raises:
        EvidenceError: the file ends early or cannot be read.
    """
    stored = native.stored
    shape = (stored.rows, stored.columns)
    kind = np.dtype(f"u{stored.width}")
    fits = into is not None and into.shape == shape and into.itemsize == kind.itemsize
    raw: NDArray[Any] = into.view(kind) if into is not None and fits else np.empty(shape, kind)
    try:
        with path.open("rb", buffering=0) as stream:
            facts_now = os.fstat(stream.fileno())
            if (facts_now.st_size, facts_now.st_mtime_ns) != (native.size, native.mtime_ns):
                return None
            stream.seek(native.at)
            if not _filled(stream, raw.data.cast("B")):
                raise truncated(path)
    except OSError as failure:
        raise of_system(path, failure) from failure
    if stored.mark == ">":
        raw.byteswap(inplace=True)
    values = only_stored(raw, stored.high, stored.bits, signed=stored.signed)
    return rescale(values, stored.slope, stored.intercept, owned=True)


def _filled(stream: Any, target: memoryview) -> bool:
    """Read until the memory is full; False if the file ends first."""
    done = 0
    while done < len(target):
        count = stream.readinto(target[done:])
        if not count:
            return False
        done += count
    return True
