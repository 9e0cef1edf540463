"""The header of one DICOM file, read whole and no further, and whether the file ends early.

Owns the tolerance of missing preambles and the search for truncation. Refuses to decode pixels.
"""

from __future__ import annotations

import re
import struct
import sys
import zlib
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

from pydicom import charset
from pydicom.dataset import FileDataset
from pydicom.errors import BytesLengthException, InvalidDicomError
from pydicom.filereader import read_partial
from pydicom.tag import BaseTag
from pydicom.uid import (
    UID,
    DeflatedExplicitVRLittleEndian,
    ExplicitVRBigEndian,
    ExplicitVRLittleEndian,
    ImplicitVRLittleEndian,
)

from engine.errors import EvidenceError
from engine.evidence.bounded import bounded
from engine.evidence.dicom.deflate import plain
from engine.evidence.dicom.lean import FIRST, scan
from engine.evidence.dicom.start import by_chance, from_start, mark_of, renamed
from engine.evidence.failures import of_system, truncated
from engine.evidence.files import open_file
from engine.evidence.quiet import quiet

PIXEL_TAGS = {0x7FE00008: "FloatPixelData", 0x7FE00009: "DoubleFloatPixelData", 0x7FE00010: ""}
UNDEFINED = 0xFFFFFFFF
CODESTREAM = 1 << 14  # markers that say what a frame holds stand in its first kilobytes
STARTS = (b"\xff\xd8\xff", b"\xff\x4f\xff\x51", b"\xff\x0a", b"\x00\x00\x00\x0c")
START_BYTES, FIRST_SEGMENT = 8, b"\x40\0\0\0"  # segments of RLE follow its header of 64 bytes
ITEM, DELIMITER = b"\xfe\xff\x00\xe0", b"\xfe\xff\xdd\xe0"
PARSE_ERRORS = (
    InvalidDicomError, EOFError, ValueError, TypeError, KeyError, AttributeError, IndexError,
    NotImplementedError, RecursionError, zlib.error, OverflowError, struct.error,
    BytesLengthException, ArithmeticError, MemoryError,
)  # fmt: skip
# pydicom counts IR 58 among the sets whose escapes Python's codec takes out; it does not, and
# they would stay in the words, ESC $ ) A before each name (PS3.3 C.12.1.1.2, table C.12-4)
charset.handled_encodings = tuple(set(charset.handled_encodings) - {"iso_ir_58"})


@dataclass(frozen=True, eq=False)
class Header:
    """A parsed header.

    Attributes:
        dataset: every element before the pixel data.
        syntax: the transfer syntax, found by trial where the file names none.
        pixel_tag: which element holds the pixels, None if there is none.
        pixel_length: its length in bytes, None if encapsulated or deflated.
        pixel_at: where its value begins in the file, 0 where it is not known.
        codestream: the first bytes of the first compressed frame, empty if there is none.
        begun: how many compressed frames begin in it, by their first bytes.
    """

    dataset: FileDataset
    syntax: UID
    pixel_tag: int | None
    pixel_length: int | None
    pixel_at: int = 0
    codestream: bytes = b""
    begun: int = 0


class _Watch:
    """Sees every top-level element as it is met; stops at the pixels."""

    def __init__(self, stream: BinaryIO, size: int) -> None:
        self.stream, self.size = stream, size
        self.deflated = False
        self.last: BaseTag | None = None
        self.cut = False
        self.pixel_tag: int | None = None
        self.pixel_length = 0
        self.pixel_at = 0

    def __call__(self, tag: BaseTag, vr: str | None, length: int) -> bool:
        self.last = tag
        if int(tag) in PIXEL_TAGS:
            self.pixel_tag, self.pixel_length = int(tag), length
            self.pixel_at = self.stream.tell()
            return True
        at = self.stream.tell()
        # a deflated data set is read from memory: the stream then stands at its end
        if length != UNDEFINED and at < self.size and at + length > self.size:
            self.cut = True
        return self.cut  # reading on would ask for as many bytes as the length claims


def read_header(path: Path) -> Header:
    """Read a DICOM header.

    Raises:
        EvidenceError: with code empty, not_dicom, truncated, damaged, missing or denied.
    """
    try:
        with open_file(path) as stream:
            data = stream.read(FIRST)
            return header_of(path, data, stream, stream.seek(0, 2))
    except OSError as failure:
        raise of_system(path, failure) from failure


def header_of(path: Path, data: bytes, stream: BinaryIO, size: int) -> Header:
    """Read the header of an open file.

    Args:
        path: for errors.
        data: its first bytes.
        stream: the open file.
        size: its length.

    Raises:
        EvidenceError: as ``read_header``.
        OSError: reading failed.
    """
    if size == 0:
        raise EvidenceError(path, "empty", "the file has no content; copy it again")
    found = scan(data, stream, size)
    if found is not None:
        whole = found.pixel_length != UNDEFINED
        begun = 0 if whole else _delimited(stream, found.pixel_at, size)
        if begun is None:
            raise truncated(path)
        return Header(
            dataset=found.dataset,
            syntax=found.syntax,
            pixel_tag=found.pixel_tag,
            pixel_length=found.pixel_length if whole else None,
            pixel_at=found.pixel_at,
            codestream=b"" if whole else _codestream(stream, found.pixel_at),
            begun=begun,
        )
    part10 = data[128:132] == b"DICM"
    if mark_of(data) is not None or by_chance(data) or renamed(data) is not None:
        shifted = from_start(stream)
        size, _ = shifted.seek(0, 2), shifted.seek(0)
        return header_of(path, shifted.read(FIRST), shifted, size)
    stream.seek(0)
    try:
        with quiet():
            return _parse(path, stream, size, part10=part10)
    except PARSE_ERRORS as failure:
        raise _bad(path, part10=part10) from failure


def _parse(path: Path, stream: BinaryIO, size: int, *, part10: bool) -> Header:
    """Parse the header and judge whether it is DICOM and whole."""
    inflated = plain(stream)
    deflated = inflated is not stream
    watch = _Watch(inflated, sys.maxsize if deflated else size)
    dataset = read_partial(bounded(inflated), stop_when=watch, force=True)
    if not part10 and not _plausible(dataset):
        raise _bad(path, part10=False)
    if part10 and watch.last is None:
        raise truncated(path)  # nothing follows the file meta group, or not all of it is there
    if watch.cut or (watch.pixel_tag is None and _last_lost(dataset, watch)):
        raise truncated(path)
    if deflated:
        return Header(dataset, DeflatedExplicitVRLittleEndian, watch.pixel_tag, None)
    syntax = _syntax(path, dataset, watch)
    if watch.pixel_tag is None:
        return Header(dataset, syntax, None, None)
    if watch.pixel_length == UNDEFINED:
        begun = _delimited(stream, watch.pixel_at, size)
        if begun is None:
            raise truncated(path)
        head = _codestream(stream, watch.pixel_at)
        return Header(dataset, syntax, watch.pixel_tag, None, codestream=head, begun=begun)
    if watch.pixel_at + watch.pixel_length > size:
        raise truncated(path)
    return Header(dataset, syntax, watch.pixel_tag, watch.pixel_length, watch.pixel_at)


def _plausible(dataset: FileDataset) -> bool:
    """A file without preamble is DICOM only if it names its object or its picture's size."""
    named = str(dataset.get("SOPClassUID", "")).startswith("1.2.840.10008.")
    return named or ("Rows" in dataset and "Columns" in dataset)


def _last_lost(dataset: FileDataset, watch: _Watch) -> bool:
    """True if the last element was begun and never finished."""
    return watch.last is not None and watch.last not in dataset and watch.last.element != 0


def _syntax(path: Path, dataset: FileDataset, watch: _Watch) -> UID:
    """The transfer syntax; compressed pixels whose file names none cannot be read."""
    if not _named(dataset) and watch.pixel_length == UNDEFINED and watch.pixel_tag is not None:
        reason = "compressed pixels without a transfer syntax; ask for the file again"
        raise EvidenceError(path, "no_transfer_syntax", reason)
    return syntax_of(dataset)


def _named(dataset: FileDataset) -> str:
    """The transfer syntax that a data set names, if it is a UID: damage puts anything there."""
    named = str(getattr(dataset, "file_meta", {}).get("TransferSyntaxUID") or "").strip("\0 ")
    return named if re.fullmatch(r"[0-9.]{1,64}", named) else ""


def syntax_of(dataset: FileDataset) -> UID:
    """The transfer syntax that a data set names, or the native one it was read by."""
    named = _named(dataset)
    if named:
        return UID(named)
    implicit, little = dataset.original_encoding
    if implicit:
        return ImplicitVRLittleEndian
    return ExplicitVRLittleEndian if little else ExplicitVRBigEndian


def starts_frame(first: bytes) -> bool:
    """True for the first bytes of a fragment that starts a frame."""
    run_length = first[1:4] == bytes(3) and first[4:8] == FIRST_SEGMENT
    return run_length or first.startswith(STARTS)


def _delimited(stream: BinaryIO, at: int, size: int) -> int | None:
    """Walk the fragments: frames that begin; None if the sequence is not closed."""
    begun = 0
    while at + 8 <= size:
        stream.seek(at)
        head = stream.read(9 + START_BYTES)
        if head[:4] not in (ITEM, DELIMITER) and head[1:5] in (ITEM, DELIMITER):
            at, head = at + 1, head[1:]  # an odd length, padded all the same
        if head[:4] == DELIMITER:
            return begun
        length = int.from_bytes(head[4:8], "little")
        if head[:4] != ITEM or length == UNDEFINED:
            return None
        begun += length >= START_BYTES and starts_frame(head[8 : 8 + START_BYTES])
        at += 8 + length
    return None


def _codestream(stream: BinaryIO, at: int) -> bytes:
    """The first bytes of the first fragment, which follows the offset table."""
    stream.seek(at)
    table = int.from_bytes(stream.read(8)[4:], "little")
    stream.seek(at + 8 + table)
    length = int.from_bytes(stream.read(8)[4:], "little")
    return stream.read(min(length, CODESTREAM))


def _bad(path: Path, *, part10: bool) -> EvidenceError:
    """The error of a file that cannot be parsed."""
    if part10:
        return EvidenceError(path, "damaged", "the DICOM header cannot be read; copy it again")
    reason = "this is no DICOM file, whatever its name says; look at what made it"
    return EvidenceError(path, "not_dicom", reason)
