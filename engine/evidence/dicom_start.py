"""DICOM files that do not begin where they should: the mark is looked for in the first kilobytes.

Owns the stream that shows such a file from its true start. Refuses to search further than the
first kilobytes, and data without any mark.
"""

from __future__ import annotations

import io
from typing import BinaryIO, cast

MARK = b"DICM\x02\x00"  # and the first element of the file meta group
REACH = 4096
PREAMBLE = 128


class Shifted(io.RawIOBase):
    """A seekable stream that shows an empty preamble and then a file from its mark on."""

    name = ""  # pydicom asks every stream for one

    def __init__(self, stream: BinaryIO, mark: int) -> None:
        self._stream, self._mark, self._at = stream, mark, 0

    def readable(self) -> bool:
        """Always."""
        return True

    def seekable(self) -> bool:
        """Always."""
        return True

    def readinto(self, buffer: bytearray | memoryview) -> int:  # type: ignore[override]
        """Read as many bytes as the buffer holds, fewer at the end."""
        wanted = len(buffer)
        found = bytes(PREAMBLE)[self._at : self._at + wanted]
        if len(found) < wanted:
            self._stream.seek(self._mark + max(0, self._at - PREAMBLE))
            found += self._stream.read(wanted - len(found))
        buffer[: len(found)] = found
        self._at += len(found)
        return len(found)

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        """Move."""
        if whence == io.SEEK_END:
            base = self._stream.seek(0, io.SEEK_END) - self._mark + PREAMBLE
        else:
            base = self._at if whence == io.SEEK_CUR else 0
        self._at = max(0, base + offset)
        return self._at

    def tell(self) -> int:
        """Where the next byte is read."""
        return self._at


def mark_of(data: bytes) -> int | None:
    """Where the mark stands in a file's first bytes if not in its place; None if nowhere."""
    if data[PREAMBLE : PREAMBLE + 4] == MARK[:4]:
        return None
    found = data.find(MARK, 0, REACH)
    return None if found < 0 else found


def from_start(stream: BinaryIO) -> BinaryIO:
    """The stream itself, or one that shows the file from its true start."""
    stream.seek(0)
    mark = mark_of(stream.read(REACH))
    stream.seek(0)
    return stream if mark is None else cast(BinaryIO, Shifted(stream, mark))
