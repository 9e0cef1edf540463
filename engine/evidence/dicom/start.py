"""DICOM files that do not begin as they should: the mark is looked for in the first kilobytes.

Owns the stream that shows such a file from its true start, or with the byte order that it has
instead of the one that it names. Refuses to search further than the first kilobytes, and data
without any mark.
"""

from __future__ import annotations

import io
from typing import BinaryIO, cast

MARK = b"DICM\x02\x00"  # and the first element of the file meta group
REACH = 4096
PREAMBLE = 128
SYNTAX = b"\x02\x00\x10\x00UI\x14\x00"  # the transfer syntax, of 20 bytes
LITTLE, BIG = b"1.2.840.10008.1.2.1\0", b"1.2.840.10008.1.2.2\0"
# the first element of a data set in each byte order: group 8, and a kind of value
FIRST_ELEMENTS = {LITTLE: b"\x08\x00", BIG: b"\x00\x08"}


class Shifted(io.RawIOBase):
    """A seekable stream that shows a head of its own and then a file from some place on."""

    name = ""  # pydicom asks every stream for one

    def __init__(self, stream: BinaryIO, mark: int, head: bytes = bytes(PREAMBLE)) -> None:
        self._stream, self._mark, self._head, self._at = stream, mark, head, 0

    def readable(self) -> bool:
        """Always."""
        return True

    def seekable(self) -> bool:
        """Always."""
        return True

    def readinto(self, buffer: bytearray | memoryview) -> int:  # type: ignore[override]
        """Read as many bytes as the buffer holds, fewer at the end."""
        wanted = len(buffer)
        found = self._head[self._at : self._at + wanted]
        if len(found) < wanted:
            self._stream.seek(self._mark + max(0, self._at - len(self._head)))
            found += self._stream.read(wanted - len(found))
        buffer[: len(found)] = found
        self._at += len(found)
        return len(found)

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        """Move."""
        if whence == io.SEEK_END:
            base = self._stream.seek(0, io.SEEK_END) - self._mark + len(self._head)
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


def by_chance(data: bytes) -> bool:
    """True if a value of a file without preamble happens to hold the mark where it is expected."""
    end = PREAMBLE + 4
    marked = data[PREAMBLE:end] == MARK[:4] and data[end : end + 2] != MARK[4:6]
    return marked and data[:2] == b"\x08\x00"


def renamed(data: bytes) -> bytes | None:
    """A file's first bytes with the byte order that its data set has; None if it is right.

    Little endian data that are called big endian are met, and the other way round.
    """
    end = PREAMBLE + 4
    at = data.find(SYNTAX, end, REACH)
    named = data[at + len(SYNTAX) : at + len(SYNTAX) + len(LITTLE)]
    if data[PREAMBLE:end] != MARK[:4] or at < 0 or named not in FIRST_ELEMENTS:
        return None
    start = end + 12 + int.from_bytes(data[end + 8 : end + 12], "little")  # after the meta group
    true = BIG if named == LITTLE else LITTLE
    first = data[start : start + 6]
    if data[end : end + 8] != MARK[4:] + b"\0\0UL\x04\0" or first[:2] != FIRST_ELEMENTS[true]:
        return None
    if not first[4:].isalpha() or not first[4:].isupper() or start > REACH:
        return None
    return data[: at + len(SYNTAX)] + true + data[at + len(SYNTAX) + len(true) : start]


def from_start(stream: BinaryIO) -> BinaryIO:
    """The stream itself, or one that shows the file from its true start."""
    stream.seek(0)
    data = stream.read(REACH)
    mark = mark_of(data)
    stream.seek(0)
    if by_chance(data):
        return cast(BinaryIO, Shifted(stream, 0, bytes(PREAMBLE) + MARK[:4]))
    head = renamed(data) if mark is None else None
    if head is not None:
        return cast(BinaryIO, Shifted(stream, len(head), head))
    return stream if mark is None else cast(BinaryIO, Shifted(stream, mark))
