"""Numbers read from a file straight into one array, scaled on the way if the file asks for it.

Owns the comparison of what a header claims with the bytes that are there, before anything is
allocated, and scaling without a second copy. Refuses to know formats.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol, cast

import numpy as np
from numpy.typing import NDArray

from engine.evidence import files
from engine.evidence.archives import containers, inflate
from engine.evidence.failures import bomb, of_system, too_large, truncated

BLOCK = 1 << 18  # values scaled at a time
MOST_DEFLATE = 1032  # no deflate stream grows more (RFC 1951: 258 bytes from 2 bits)
FREE_BYTES = 4 << 30  # a claim up to here is believed at any ratio: masks are mostly zeros
WHOLE = (np.int16, np.uint16, np.int32)


class Forward(Protocol):
    """A stream that is read once, from front to back."""

    def readinto(self, view: memoryview, /) -> int | None:
        """Fill the view or as much as there is."""


class Pieces:
    """Bytes that come in pieces, as a stream read once; holds one piece only."""

    def __init__(self, pieces: Iterator[bytes]) -> None:
        self._pieces, self._left = pieces, memoryview(b"")

    def readinto(self, view: memoryview) -> int:
        """Fill the view or as much as there is."""
        filled = 0
        while filled < len(view):
            if not self._left:
                self._left = memoryview(next(self._pieces, b""))
                if not self._left:
                    break
            count = min(len(self._left), len(view) - filled)
            view[filled : filled + count] = self._left[:count]
            self._left = self._left[count:]
            filled += count
        return filled

    def skip(self, count: int) -> None:
        """Leave out bytes."""
        scratch = memoryview(bytearray(min(count, 1 << 20)))
        while count > 0:
            got = self.readinto(scratch[: min(count, len(scratch))])
            if not got:
                return
            count -= got

    def finish(self) -> None:
        """Take one piece more: where the data end here, their checksum is looked at."""
        if not self._left:
            self._left = memoryview(next(self._pieces, b""))


@dataclass(frozen=True)
class Block:
    """Where numbers lie.

    Attributes:
        offset: of the first byte in the (unzipped) file.
        count: how many numbers.
        kind: their format, with its byte order.
    """

    offset: int
    count: int
    kind: np.dtype[Any]

    @property
    def nbytes(self) -> int:
        """Their size in bytes."""
        return self.count * self.kind.itemsize


def read_numbers(
    path: Path, block: Block, *, slope: float = 1.0, intercept: float = 0.0
) -> NDArray[np.generic]:
    """Numbers of a plain or gzip file, [count], in this machine's byte order.

    Whole numbers stay whole under a whole slope and intercept; others become float32, or float64
    where float32 would round what is stored.

    Raises:
        EvidenceError: ``truncated``, ``damaged``, ``bomb``, ``too_large``, ``missing`` ...
    """
    try:
        with _forward(path, block) as stream:
            return read_from(stream, path, block, slope=slope, intercept=intercept)
    except OSError as failure:
        raise of_system(path, failure) from failure


def read_from(
    stream: Forward, path: Path, block: Block, *, slope: float = 1.0, intercept: float = 0.0
) -> NDArray[np.generic]:
    """Numbers from a stream that stands at their first byte; see ``read_numbers``."""
    plain = slope == 1.0 and intercept == 0.0
    whole = block.kind.kind in "ui" and float(slope).is_integer() and float(intercept).is_integer()
    if not plain and not whole:
        values = _scaled(stream, path, block, slope, intercept)
    else:
        values = native(_fill(stream, path, block.count, block.kind))
        values = values if plain else _whole(values, int(slope), int(intercept))
    if isinstance(stream, Pieces):
        stream.finish()
    return values


@contextmanager
def _forward(path: Path, block: Block) -> Iterator[Forward]:
    """A stream that stands at the first byte; claims that cannot be true are refused here."""
    with files.open_raw(path) as raw:
        zipped = raw.read(2) == containers.GZIP
        size = raw.seek(0, 2)
        end = block.offset + block.nbytes
        if not zipped:
            if end > size:
                raise truncated(path)
            raw.seek(block.offset)
            yield cast(Forward, raw)
            return
        if end > size * MOST_DEFLATE + (1 << 16):
            raise truncated(path)
        if end > FREE_BYTES and end > size * inflate.RATIO:
            raise bomb(path)
        raw.seek(0)
        pieces = Pieces(inflate.gunzipped(path, raw, claimed=end))
        pieces.skip(block.offset)
        yield pieces


def empty(path: Path, count: int, kind: np.dtype[Any] | type) -> NDArray[Any]:
    """Room for values, or a sentence."""
    try:
        return np.empty(count, kind)
    except (MemoryError, ValueError) as failure:
        raise too_large(path, f"the header claims {count} values") from failure


def _fill(stream: Forward, path: Path, count: int, kind: np.dtype[Any]) -> NDArray[Any]:
    """Values as stored."""
    values = empty(path, count, kind)
    fill(stream, path, values)
    return values


def fill(stream: Forward, path: Path, values: NDArray[Any]) -> None:
    """Read bytes into a contiguous array until it is full.

    Raises:
        EvidenceError: ``truncated``.
    """
    view = values.reshape(-1).view(np.uint8).data
    done = 0
    while done < len(view):
        got = stream.readinto(view[done:])
        if not got:
            raise truncated(path)
        done += got


def native(values: NDArray[Any]) -> NDArray[Any]:
    """The same values in this machine's byte order, swapped in place."""
    if values.dtype.isnative:
        return values
    return values.byteswap(inplace=True).view(values.dtype.newbyteorder("="))


def _whole(values: NDArray[Any], slope: int, intercept: int) -> NDArray[np.generic]:
    """``values * slope + intercept`` as whole numbers of the smallest format that holds them."""
    ends = [int(end) * slope + intercept for end in (values.min(), values.max())]
    low, high = min(ends), max(ends)
    for kind in WHOLE:
        info = np.iinfo(kind)
        if info.min <= low and high <= info.max:
            return _placed(values, slope, intercept, np.dtype(kind))
    return _by_blocks(values, slope, intercept, np.dtype(np.float64))


def _placed(
    values: NDArray[Any], slope: int, intercept: int, kind: np.dtype[Any]
) -> NDArray[np.generic]:
    """The result in place where the format has the stored width: whole numbers wrap exactly."""
    if values.dtype.itemsize != kind.itemsize:
        return _by_blocks(values, slope, intercept, kind)
    turned = values.view(f"u{kind.itemsize}")
    span = 1 << (8 * kind.itemsize)
    turned *= turned.dtype.type(slope % span)
    turned += turned.dtype.type(intercept % span)
    return turned.view(kind)


def _by_blocks(
    values: NDArray[Any], slope: float, intercept: float, kind: np.dtype[Any]
) -> NDArray[np.generic]:
    """The result in a new array, through float64 one block at a time."""
    made = np.empty(values.shape, kind)
    for start in range(0, values.size, BLOCK):
        part = values[start : start + BLOCK].astype(np.float64)
        made[start : start + BLOCK] = part * slope + intercept
    return made


def _scaled(
    stream: Forward, path: Path, block: Block, slope: float, intercept: float
) -> NDArray[np.generic]:
    """Values scaled while they are read: only the result is ever whole in memory."""
    stored = block.kind
    exact = stored.itemsize > (4 if stored.kind == "f" else 2)
    made = empty(path, block.count, np.float64 if exact else np.float32)
    scratch = np.empty(min(BLOCK, block.count), stored)
    with np.errstate(over="ignore", invalid="ignore"):
        for start in range(0, block.count, BLOCK):
            part = scratch[: min(BLOCK, block.count - start)]
            fill(stream, path, part)
            made[start : start + len(part)] = part.astype(np.float64) * slope + intercept
    return made
