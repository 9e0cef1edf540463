"""Bytes unpacked while they are read: seekable streams over deflate, bzip2, gzip and stored data.

Owns the limits on what may come out: never more than claimed, never more than a plausible multiple
of what went in. Refuses to hold a large stream in memory (it goes to a temporary file) and to hand
out the last bytes before their checksum is found right.

Sources: RFC 1951, RFC 1952, PKWARE APPNOTE 6.3 (4.4.5 compression methods).
"""

from __future__ import annotations

import bz2
import io
import tempfile
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO, Protocol, cast

from engine.errors import EvidenceError
from engine.evidence.failures import bomb, damaged, truncated

CHUNK = 1 << 18
IN_MEMORY = 32 << 20  # a stream keeps at most this much in memory
FREE_BYTES = 512 << 20  # up to this size no ratio is asked for: empty masks shrink 1000 times
RATIO = 200
XZ_MEMORY = 192 << 20
LIMIT_BYTES = 16 << 30  # of one unpacked file


class _Decompressor(Protocol):
    """What zlib's and bz2's objects have in common."""

    @property
    def eof(self) -> bool:
        """True once the data ended by itself."""

    def decompress(self, data: bytes, max_length: int, /) -> bytes:
        """At most ``max_length`` bytes more."""


def allowed(packed: int, *, free: int | None = None) -> int:
    """How many bytes may come out of ``packed`` bytes before it counts as a bomb.

    Args:
        packed: the size on disk.
        free: bytes that may come out of anything, ``FREE_BYTES`` if None.
    """
    return min(LIMIT_BYTES, max(FREE_BYTES if free is None else free, RATIO * packed))


def stored(path: Path, source: BinaryIO, packed: int) -> Iterator[bytes]:
    """Pieces of data that is not compressed."""
    left = packed
    while left > 0:
        piece = source.read(min(CHUNK, left))
        if not piece:
            raise truncated(path)
        left -= len(piece)
        yield piece


def deflated(path: Path, source: BinaryIO, packed: int) -> Iterator[bytes]:
    """Pieces of raw deflate data (method 8 of zip)."""
    engine = zlib.decompressobj(-zlib.MAX_WBITS)
    pending, left = b"", packed
    while not engine.eof:
        if not pending:
            pending = source.read(min(CHUNK, left))
            left -= len(pending)
        piece = _inflate(path, engine, pending)
        if not piece and not pending and not engine.eof:
            raise truncated(path)
        pending = engine.unconsumed_tail
        if piece:
            yield piece


def bunzipped(path: Path, source: BinaryIO, packed: int = LIMIT_BYTES) -> Iterator[bytes]:
    """Pieces of bzip2 data of at most ``packed`` bytes (method 12 of zip), all its streams."""
    left = packed

    def more() -> bytes:
        nonlocal left
        fresh = source.read(min(CHUNK, left))
        left -= len(fresh)
        return fresh

    pending = more()
    while True:
        engine = bz2.BZ2Decompressor()
        while not engine.eof:
            if engine.needs_input and not pending:
                pending = more()
                if not pending:
                    raise truncated(path)
            piece = _inflate(path, engine, pending)
            pending = b""
            if piece:
                yield piece
        pending = engine.unused_data or more()
        if not pending.startswith(b"BZh"):
            return


def gunzipped(path: Path, source: BinaryIO, *, claimed: int = 0) -> Iterator[bytes]:
    """Pieces of a gzip file, all its members; what follows the last one is left, as gzip does.

    Args:
        path: the file, for errors.
        source: stands at its start.
        claimed: bytes that a header inside says are there, and that the reader has accepted.
    """
    pending, made, eaten = source.read(CHUNK), 0, 0
    eaten += len(pending)
    while pending[:2] == b"\x1f\x8b":
        engine = zlib.decompressobj(zlib.MAX_WBITS + 16)
        while not engine.eof:
            piece = _inflate(path, engine, pending)
            pending = engine.unused_data if engine.eof else engine.unconsumed_tail
            made += len(piece)
            if made > max(allowed(eaten), claimed + CHUNK):
                raise bomb(path)
            if piece:
                yield piece
            if not pending and not engine.eof:
                pending = source.read(CHUNK)
                eaten += len(pending)
                if not pending and not piece:
                    raise truncated(path)
        if len(pending) < 2:
            fresh = source.read(CHUNK)
            eaten += len(fresh)
            pending += fresh


def unzlibbed(path: Path, source: BinaryIO) -> Iterator[bytes]:
    """Pieces of one zlib or gzip stream; the caller stops at what it has accepted."""
    engine, pending = zlib.decompressobj(zlib.MAX_WBITS + 32), b""
    while not engine.eof:
        fresh = pending or source.read(CHUNK)
        piece = _inflate(path, engine, fresh)
        if not piece and not fresh and not engine.eof:
            raise truncated(path)
        pending = engine.unconsumed_tail
        if piece:
            yield piece


def unxzed(path: Path, source: BinaryIO) -> Iterator[bytes]:
    """Pieces of one xz stream."""
    import lzma  # some Pythons are built without it

    engine = lzma.LZMADecompressor(lzma.FORMAT_XZ, memlimit=XZ_MEMORY)
    while not engine.eof:
        fresh = source.read(CHUNK) if engine.needs_input else b""
        if engine.needs_input and not fresh:
            raise truncated(path)
        try:
            piece = engine.decompress(fresh, CHUNK)
        except lzma.LZMAError as failure:
            raise damaged(path) from failure
        if piece:
            yield piece


def limited(path: Path, pieces: Iterator[bytes], packed: int) -> Iterator[bytes]:
    """Pieces, as long as all of them are not more than ``packed`` bytes may become."""
    made = 0
    for piece in pieces:
        made += len(piece)
        if made > allowed(packed):
            raise bomb(path)
        yield piece


def _inflate(path: Path, engine: _Decompressor, data: bytes) -> bytes:
    """One bounded step."""
    try:
        return engine.decompress(data, CHUNK)
    except (zlib.error, OSError, ValueError, EOFError) as failure:
        raise damaged(path) from failure


def checked(path: Path, pieces: Iterator[bytes], *, size: int, crc: int | None) -> Iterator[bytes]:
    """Pieces that must add up to a claimed size and checksum; the last one waits for the check."""
    made, found, held = 0, 0, b""
    for piece in pieces:
        if held:
            yield held
        held = piece
        made += len(piece)
        found = zlib.crc32(piece, found)
        if made > size:
            raise EvidenceError(path, "damaged", "it unpacks to more than it claims; copy it again")
    if made < size:
        raise truncated(path)
    if crc is not None and found != crc:
        raise damaged(path)
    if held:
        yield held


def ahead(pieces: Iterator[bytes]) -> Iterator[bytes]:
    """Pieces, each handed out when the next is there: an error at the end comes before the end."""
    held = b""
    for piece in pieces:
        if held:
            yield held
        held = piece
    if held:
        yield held


class _Placed(io.RawIOBase):
    """A stream that keeps its own place; those below say where it ends and what is read."""

    name = ""  # libraries ask a buffered reader for one; it has none on disk
    _at = 0

    def readable(self) -> bool:
        """True."""
        return True

    def seekable(self) -> bool:
        """True."""
        return True

    def tell(self) -> int:
        """The place of the next byte read."""
        return self._at

    def _length(self) -> int:
        """The place behind the last byte."""
        raise NotImplementedError

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        """Move; costs nothing until something is read, or its length must be known."""
        if whence == io.SEEK_CUR:
            offset += self._at
        elif whence == io.SEEK_END:
            offset += self._length()
        if offset < 0:
            raise ValueError("a stream has no place before its start")
        self._at = offset
        return offset


class Inflated(_Placed):
    """A seekable stream over pieces that come in order; unpacks no further than it is read.

    Args:
        pieces: bounded pieces of bytes; may raise ``EvidenceError``.
        source: closed together with this stream.
        size: the length if it is known, so that seeking from the end unpacks nothing.
    """

    def __init__(self, pieces: Iterator[bytes], source: BinaryIO, *, size: int | None) -> None:
        super().__init__()
        self._pieces, self._source, self._size = pieces, source, size
        self._store = tempfile.SpooledTemporaryFile(max_size=IN_MEMORY)  # noqa: SIM115 (close())
        self._made, self._at, self._ended = 0, 0, False

    def _length(self) -> int:
        """The length told, else found by unpacking everything."""
        if self._size is None:
            self._fill(LIMIT_BYTES)
            self._size = self._made
        return self._size

    def readinto(self, buffer: bytearray | memoryview) -> int:  # type: ignore[override]
        """Unpack as far as needed and copy."""
        view = memoryview(buffer).cast("B")
        self._fill(self._at + len(view))
        count = max(0, min(len(view), self._made - self._at))
        if count:
            self._store.seek(self._at)
            view[:count] = self._store.read(count)
        self._at += count
        return count

    def _fill(self, wanted: int) -> None:
        """Unpack until ``wanted`` bytes are there or nothing is left."""
        if self._ended or self._made >= wanted:
            return
        self._store.seek(self._made)
        for piece in self._pieces:
            self._store.write(piece)
            self._made += len(piece)
            if self._made >= wanted:
                return
        self._ended = True

    def close(self) -> None:
        """Give the memory or the temporary file back."""
        if not self.closed:
            self._store.close()
            self._source.close()
        super().close()


class Window(_Placed):
    """A part of a file as a stream of its own: large stored members are read where they lie."""

    def __init__(self, source: BinaryIO, start: int, size: int) -> None:
        super().__init__()
        self._source, self._start, self._size, self._at = source, start, size, 0

    def _length(self) -> int:
        """The length of the part."""
        return self._size

    def readinto(self, buffer: bytearray | memoryview) -> int:  # type: ignore[override]
        """Read on, to the end of the window at most."""
        view = memoryview(buffer).cast("B")
        count = max(0, min(len(view), self._size - self._at))
        self._source.seek(self._start + self._at)
        got = cast(io.BufferedReader, self._source).readinto(view[:count])
        self._at += got
        return got

    def close(self) -> None:
        """Close the file too."""
        if not self.closed:
            self._source.close()
        super().close()
