"""Bounds of what is read: a most of values, and a stream that may be read so many times.

Owns the counts: parsers that would never end are ended. Refuses to buffer: a stream's bytes are
passed on as they come.
"""

from __future__ import annotations

import io
from typing import BinaryIO, cast

LIMIT_VALUES = 6_000_000_000  # of one picture or volume, whatever its format
MOST_READS = 1_500_000  # a header of half a million elements
MOST_ZEROS = 1_000  # one after the other; as heads of elements they lead nowhere
HEAD = bytes(8)


class _Bounded:
    """The part of a file's interface that a parser needs."""

    name = ""  # pydicom asks every stream for one

    def __init__(self, stream: BinaryIO, reads: int) -> None:
        self._stream, self._left, self._zeros = stream, reads, 0
        self.tell = stream.tell

    def read(self, size: int = -1) -> bytes:
        """Read on, if reads are left."""
        self._left -= 1
        if self._left < 0 or self._zeros > MOST_ZEROS:
            raise OverflowError("more elements than any header holds")
        found = self._stream.read(size)
        self._zeros = self._zeros + 1 if found == HEAD else 0
        return found

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        """Move."""
        return self._stream.seek(offset, whence)


def bounded(stream: BinaryIO, *, reads: int = MOST_READS) -> BinaryIO:
    """The same stream, which raises OverflowError after so many reads.

    Zeros, for example, read as elements of no length without end.
    """
    return cast(BinaryIO, _Bounded(stream, reads))
