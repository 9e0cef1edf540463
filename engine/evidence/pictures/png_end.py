"""If a PNG picture holds all of its rows: decoders fill what is missing with zeros and say nothing.

Owns the count of the bytes that its data unpack to. Refuses to count where the last row shows
that it was there.

Source: PNG specification (W3C, third edition), 7.2, 8.2 and 10.
"""

from __future__ import annotations

import zlib
from collections.abc import Iterator
from typing import Any, BinaryIO

import numpy as np
from numpy.typing import NDArray

SAMPLES = {0: 1, 2: 3, 3: 1, 4: 2, 6: 4}  # by colour type
# first row and column, and the steps between them, of Adam7's seven pictures
PASSES = ((0, 0, 8, 8), (0, 4, 8, 8), (4, 0, 8, 4), (0, 2, 4, 4), (2, 0, 4, 2), (0, 1, 2, 2),
          (1, 0, 2, 1))  # fmt: skip
PIECE = 1 << 20


def is_cut(stream: BinaryIO, decoded: NDArray[Any]) -> bool:
    """True if the data unpack to fewer rows than the picture has.

    Args:
        stream: the file.
        decoded: its values as the decoder gave them, [H, W] or [H, W, C], not turned.
    """
    stream.seek(8)
    head = stream.read(25)
    if len(head) < 25 or head[17] not in SAMPLES:
        return False  # the decoder itself complains
    width, height = (int.from_bytes(head[at : at + 4], "big") for at in (8, 12))
    laced = head[20] == 1
    if not laced and np.any(decoded[-1]):
        return False
    return _unpacked(stream, _expected(width, height, head[16] * SAMPLES[head[17]], laced=laced))


def _expected(width: int, height: int, bits: int, *, laced: bool) -> int:
    """Bytes of all rows, each with its filter byte."""
    total = 0
    for top, left, down, across in PASSES if laced else ((0, 0, 1, 1),):
        rows, columns = -(-(height - top) // down), -(-(width - left) // across)
        if rows > 0 and columns > 0:
            total += rows * (1 + -(-columns * bits // 8))
    return total


def _unpacked(stream: BinaryIO, expected: int) -> bool:
    """True if the data end before so many bytes."""
    engine, left = zlib.decompressobj(), expected
    try:
        for part in _data(stream):
            while part and left > 0 and not engine.eof:
                left -= len(engine.decompress(part, PIECE))
                part = engine.unconsumed_tail
            if left <= 0 or engine.eof:
                break
        return left - len(engine.flush()) > 0
    except zlib.error:
        return True


def _data(stream: BinaryIO) -> Iterator[bytes]:
    """The contents of the IDAT chunks; the stream stands behind IHDR."""
    while len(head := stream.read(8)) == 8:
        length = int.from_bytes(head[:4], "big")
        if head[4:] == b"IEND":
            return
        if head[4:] != b"IDAT":
            stream.seek(length + 4, 1)
            continue
        while length > 0 and (part := stream.read(min(length, PIECE))):
            length -= len(part)
            yield part
        stream.seek(4, 1)
