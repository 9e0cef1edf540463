"""The values of an NRRD or MetaImage file: unpacked straight into one array.

Owns encodings (raw, gzip, zlib, bzip2, text, hex), data spread over files, and the check of what a
header claims against the bytes that are there. Refuses to know axes.
"""

from __future__ import annotations

import binascii
from collections import deque
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, BinaryIO, cast

import numpy as np
from numpy.typing import NDArray

from engine.errors import EvidenceError
from engine.evidence import files
from engine.evidence.archives import containers, inflate
from engine.evidence.failures import bomb, damaged, too_large, truncated
from engine.evidence.grids.grid_header import Data, GridHeader, bad_header
from engine.evidence.grids.numbers import (
    FREE_BYTES,
    MOST_DEFLATE,
    Forward,
    Pieces,
    empty,
    fill,
    native,
)

LINE = 1 << 20
LIMIT_TEXT = 1 << 30
# bytes of values that one byte of a data file can stand for, at most
GROWTH = {"raw": 1, "gzip": MOST_DEFLATE, "zlib": MOST_DEFLATE, "hex": 1}


def read_values(path: Path, header: GridHeader) -> NDArray[np.generic]:
    """All values in the order of the file, [count].

    Raises:
        EvidenceError: ``truncated``, ``damaged``, ``bomb`` or ``too_large``.
        OSError: a file cannot be opened.
    """
    count = 1
    for axis in header.axes:
        count *= axis.length
    parts = header.data.files
    if count % len(parts):
        raise bad_header(path, "spreads its data over files unevenly")
    _believe(path, header.data, count, header.kind.itemsize)
    values = empty(path, count, header.kind)
    each = count // len(parts)
    for number, part in enumerate(parts):
        _read_part(part, header.data, values[number * each : (number + 1) * each])
    return native(values)


def _believe(path: Path, data: Data, count: int, width: int) -> None:
    """Refuse a claim that the bytes on disk cannot hold, before anything is allocated."""
    if data.inside:
        there = files.facts_of(path).size
    else:
        there = sum(files.stamp_of(part)[0] for part in data.files)
    claimed = count * width
    if data.encoding in ("text", "hex") and there > LIMIT_TEXT:
        raise too_large(path, "the file writes out more numbers")
    if data.encoding == "text":
        if 2 * count > there + 1:
            raise truncated(path)
        return
    if data.encoding in GROWTH and claimed > there * GROWTH[data.encoding] + (1 << 16):
        raise truncated(path)
    if claimed > FREE_BYTES and claimed > there * inflate.RATIO:
        raise bomb(path)


def _read_part(part: Path, data: Data, values: NDArray[Any]) -> None:
    """Fill an array from one data file."""
    # a data file may begin with the two bytes of gzip by chance: only headers are unzipped
    opened = files.open_file if data.inside else files.open_raw
    with opened(part) as stream:
        stream.seek(data.inside)
        for _ in range(data.lines):
            if not stream.readline(LINE):
                raise truncated(part)
        FILLERS[data.encoding](part, stream, data.skip, values)


def _raw(part: Path, stream: BinaryIO, skip: int, values: NDArray[Any]) -> None:
    """Plain bytes; -1 takes the last ones."""
    start = stream.tell()
    size = stream.seek(0, 2)
    begin = size - values.nbytes if skip < 0 else start + skip
    if begin < start or begin + values.nbytes > size:
        raise truncated(part)
    stream.seek(begin)
    fill(cast(Forward, stream), part, values)


def _packed(
    unpack: Callable[[Path, BinaryIO, int], Iterator[bytes]],
) -> Callable[[Path, BinaryIO, int, NDArray[Any]], None]:
    """A filler for compressed bytes."""

    def filler(part: Path, stream: BinaryIO, skip: int, values: NDArray[Any]) -> None:
        pieces = Pieces(unpack(part, stream, max(0, skip) + values.nbytes))
        if skip < 0:
            _last(part, pieces, values)
            return
        pieces.skip(skip)
        fill(pieces, part, values)
        pieces.finish()

    return filler


def _rest(stream: BinaryIO, skip: int) -> bytes:
    """What is left of a stream, without its first bytes."""
    start = stream.tell() + max(0, skip)
    size = stream.seek(0, 2)
    stream.seek(start)
    return stream.read(max(0, min(LIMIT_TEXT, size - start)))


def _last(part: Path, pieces: Pieces, values: NDArray[Any]) -> None:
    """Fill an array with the last bytes of packed data, whatever stands before them."""
    wanted, block = values.nbytes, bytearray(1 << 18)
    kept: deque[bytes] = deque()
    size = 0
    while got := pieces.readinto(memoryview(block)):
        kept.append(bytes(block[:got]))
        size += got
        while size - len(kept[0]) >= wanted:
            size -= len(kept.popleft())
    if size < wanted:
        raise truncated(part)
    kept[0] = kept[0][size - wanted :]
    place, target = 0, values.view(np.uint8)
    for piece in kept:
        target[place : place + len(piece)] = np.frombuffer(piece, np.uint8)
        place += len(piece)


def _deflated(part: Path, stream: BinaryIO, claimed: int) -> Iterator[bytes]:
    """Pieces of gzip (all its members) or zlib data, whichever the first bytes are."""
    start = stream.tell()
    zipped = stream.read(2) == containers.GZIP
    stream.seek(start)
    if zipped:
        return inflate.gunzipped(part, stream, claimed=claimed)
    return inflate.unzlibbed(part, stream)


def _text(part: Path, stream: BinaryIO, skip: int, values: NDArray[Any]) -> None:
    """Numbers as words."""
    words = _rest(stream, skip).replace(b",", b" ").split()
    if len(words) < values.size:
        raise truncated(part)
    try:
        with np.errstate(all="raise"):
            values[:] = np.array(words[: values.size]).astype(values.dtype.newbyteorder("="))
    except (ValueError, OverflowError, FloatingPointError) as failure:
        raise damaged_text(part) from failure


def damaged_text(part: Path) -> EvidenceError:
    """The error of words that should be numbers."""
    return EvidenceError(part, "damaged", "its data are no numbers; copy it again")


def _hex(part: Path, stream: BinaryIO, skip: int, values: NDArray[Any]) -> None:
    """Bytes as pairs of letters."""
    letters = b"".join(_rest(stream, skip).split())[: 2 * values.nbytes]
    if len(letters) < 2 * values.nbytes:
        raise truncated(part)
    try:
        values.view(np.uint8)[:] = np.frombuffer(binascii.unhexlify(letters), np.uint8)
    except (binascii.Error, ValueError) as failure:
        raise damaged(part) from failure


FILLERS: dict[str, Callable[[Path, BinaryIO, int, NDArray[Any]], None]] = {
    "raw": _raw,
    "gzip": _packed(_deflated),
    "zlib": _packed(_deflated),
    "bzip2": _packed(lambda part, stream, _: inflate.bunzipped(part, stream)),
    "text": _text,
    "hex": _hex,
}
