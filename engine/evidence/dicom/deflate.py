"""Deflated DICOM files (PS3.5 A.5), inflated as far as they are read and no further.

Owns the step from a deflated file to the same file in plain explicit little endian. Refuses to
inflate what nobody asks for: a bomb costs only what a reader wants of it.
"""

from __future__ import annotations

import io
import zlib
from typing import BinaryIO

from pydicom.uid import DeflatedExplicitVRLittleEndian, ExplicitVRLittleEndian

from engine.evidence.dicom.start import from_start

LONG = frozenset({b"OB", b"OW", b"OF", b"OD", b"OL", b"OV", b"SQ", b"UC", b"UR", b"UT", b"UN"})
CHUNK = 1 << 18
META_LIMIT = 1 << 16
LIMIT = 1 << 31


class Inflating(io.RawIOBase):
    """A seekable stream over what a deflated file says, inflated as it is read."""

    name = ""  # pydicom asks every stream for one

    def __init__(self, head: bytes, packed: BinaryIO) -> None:
        self._have = bytearray(head)
        self._packed = packed
        self._at = 0
        self._zip = zlib.decompressobj(-zlib.MAX_WBITS)
        self._ended = False

    def readable(self) -> bool:
        """Always."""
        return True

    def seekable(self) -> bool:
        """Always; a seek beyond what is inflated costs the way there."""
        return True

    def _fill(self, wanted: int) -> None:
        """Inflate until ``wanted`` bytes are there or the data end."""
        if wanted > LIMIT:
            raise MemoryError("more than a deflated file may hold")
        while len(self._have) < wanted and not self._ended:
            more = self._zip.unconsumed_tail or self._packed.read(CHUNK)
            self._have += self._zip.decompress(more, CHUNK)
            self._ended = self._zip.eof or not more

    def readinto(self, buffer: bytearray | memoryview) -> int:  # type: ignore[override]
        """Read as many bytes as the buffer holds, fewer at the end."""
        self._fill(self._at + len(buffer))
        part = self._have[self._at : self._at + len(buffer)]
        buffer[: len(part)] = part
        self._at += len(part)
        return len(part)

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        """Move; the end is known only after everything is inflated."""
        if whence == io.SEEK_END:
            raise io.UnsupportedOperation("the end of a deflated file is not known")
        self._at = max(0, offset + (self._at if whence == io.SEEK_CUR else 0))
        return self._at

    def tell(self) -> int:
        """Where the next byte is read."""
        return self._at


def plain(stream: BinaryIO) -> BinaryIO:
    """The stream itself, or one that shows a deflated file as explicit little endian.

    Args:
        stream: a DICOM file from its start.

    Raises:
        zlib.error: while reading, if the data are damaged.
    """
    stream = from_start(stream)
    head = stream.read(132)
    if head[128:] == b"DICM":
        meta, at = _meta(stream)
        if meta is not None:
            stream.seek(at)
            return io.BufferedReader(Inflating(head + meta, stream))
    stream.seek(0)
    return stream


def _meta(stream: BinaryIO) -> tuple[bytes | None, int]:
    """The file meta rewritten as plain and where it ends; None if the file is not deflated."""
    raw, at, kept, deflated = stream.read(META_LIMIT), 0, bytearray(), False
    while raw[at : at + 2] == b"\x02\x00":
        wide = raw[at + 4 : at + 6] in LONG
        start = at + (12 if wide else 8)
        size = int.from_bytes(raw[at + 8 : start] if wide else raw[at + 6 : at + 8], "little")
        element = raw[at : start + size]
        if element[2:4] == b"\x10\x00":
            named = element[8:].rstrip(b"\0 ").decode("ascii", "replace")
            deflated = named == DeflatedExplicitVRLittleEndian
            element = element[:6] + b"\x14\x00" + ExplicitVRLittleEndian.encode("ascii") + b"\0"
        if element[2:4] != b"\x00\x00":  # the group length no longer holds
            kept += element
        at = start + size
    return (bytes(kept) if deflated else None), 132 + at
