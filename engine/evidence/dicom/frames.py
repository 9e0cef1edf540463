"""The bytes of each frame of a DICOM file: where they lie, and reading one without the others.

Owns opening, the pixel element, fragments and offset tables (PS3.5 A.4). Refuses to decode, and
to trust offset tables that point anywhere but at fragments.
"""

from __future__ import annotations

import struct
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import pairwise
from threading import Lock
from typing import Any, BinaryIO

from pydicom.dataset import Dataset
from pydicom.filereader import read_partial
from pydicom.tag import BaseTag
from pydicom.uid import UID, ExplicitVRBigEndian, register_transfer_syntax

from engine.evidence.bounded import bounded
from engine.evidence.dicom.color import Palette
from engine.evidence.dicom.deflate import plain
from engine.evidence.dicom.layout import FLOATING, Layout, as_long_as, is_video, layout_of
from engine.evidence.dicom.lean import FIRST, scan
from engine.evidence.dicom.overlay import overlays_of
from engine.evidence.dicom.read import START_BYTES, starts_frame, syntax_of
from engine.evidence.study import Overlay

PIXELS = {**FLOATING, 0x7FE00010: 0}
UNDEFINED = 0xFFFFFFFF
ITEM, DELIMITER = b"\xfe\xff\x00\xe0", b"\xfe\xff\xdd\xe0"
# a private syntax: implicit little endian with big endian pixels
GE_BIG = register_transfer_syntax("1.2.840.113619.5.2", implicit_vr=True, little_endian=True)


class Video(NotImplementedError):
    """A film: one stream of all frames."""


class Cut(EOFError):
    """The file holds fewer bytes than its pixels need."""


@dataclass(frozen=True, eq=False)
class Source:
    """The pixels of one file, found and not yet read.

    Attributes:
        dataset: the header.
        syntax: how the pixels are encoded.
        layout: their form.
        at: where the pixel element's value begins in the plain stream.
        length: its bytes; None if encapsulated.
        frames: (place, length) of the fragments of each frame; empty if native.
        words: True if 8-bit and packed values stand in 16-bit words of the file's byte order.
        big: True for big endian.
        deflated: True if the file must be made plain before it is read.
        told: sentences on what was odd in the frames that were decoded so far.
        lock: held while frames are read from a stream that several threads share.
    """

    dataset: Any  # a pydicom data set, or one that answers as it does
    syntax: UID
    layout: Layout
    at: int
    length: int | None
    frames: tuple[tuple[tuple[int, int], ...], ...]
    words: bool
    big: bool
    deflated: bool = False
    lock: Lock = field(default_factory=Lock)
    told: set[str] = field(default_factory=set)

    @cached_property
    def overlays(self) -> tuple[Overlay, ...]:
        """Overlay planes with data of their own, over all frames."""
        return overlays_of(self.dataset, self.layout.frames)

    @cached_property
    def palette(self) -> Palette | None:
        """The palette of a picture that has one."""
        named = self.layout.samples == 1 and self.layout.photometric == "PALETTE COLOR"
        return Palette(self.dataset, big_endian=self.big) if named else None

    def opened(self, stream: BinaryIO) -> BinaryIO:
        """The file's stream as frames are read from it."""
        return plain(stream) if self.deflated else stream


class _Watch:
    """Stops the parser at the pixels and remembers where they are."""

    def __init__(self, stream: BinaryIO) -> None:
        self.stream = stream
        self.tag, self.vr, self.length, self.at = 0, "", 0, 0

    def __call__(self, tag: BaseTag, vr: str | None, length: int) -> bool:
        if int(tag) not in PIXELS:
            return False
        self.tag, self.vr, self.length, self.at = int(tag), vr or "", length, self.stream.tell()
        return True


def find_source(stream: BinaryIO) -> Source:
    """Parse a header and find the frames.

    Args:
        stream: the file from its start.

    Raises:
        Cut: there are fewer fragments than frames, or the file ends among them.
        Video: the frames are one film.
        ValueError: it holds no pixels, or what stands there are no fragments.
    """
    whole, stream = stream, plain(stream)
    pixels = (_lean(stream) if stream is whole else None) or _parsed(stream)
    dataset = pixels.dataset
    implicit, little = dataset.original_encoding
    syntax = syntax_of(dataset)
    layout = layout_of(dataset, floating=PIXELS[pixels.tag])
    encapsulated = pixels.length == UNDEFINED
    layout = layout if encapsulated else as_long_as(layout, pixels.length)
    if encapsulated and is_video(syntax):
        raise Video(syntax.name)
    frames = _frames(stream, pixels.at, dataset, layout.frames) if encapsulated else ()
    return Source(
        dataset=dataset,
        syntax=syntax,
        layout=layout,
        at=pixels.at,
        length=None if encapsulated else pixels.length,
        frames=frames,
        words=bool(implicit) or pixels.vr == "OW",
        big=little is False or syntax == GE_BIG,
        deflated=stream is not whole,
    )


@dataclass(frozen=True, eq=False)
class _Pixels:
    """The pixel element and the header before it."""

    dataset: Any
    tag: int
    vr: str
    at: int
    length: int


def _lean(stream: BinaryIO) -> _Pixels | None:
    """The header read leanly; None where pydicom must look, or the kind of words matters."""
    stream.seek(0)
    data = stream.read(FIRST)
    found = scan(data, stream, stream.seek(0, 2))
    if found is None or found.syntax == ExplicitVRBigEndian:
        return None
    return _Pixels(found.dataset, found.pixel_tag, "", found.pixel_at, found.pixel_length)


def _parsed(stream: BinaryIO) -> _Pixels:
    """The header parsed by pydicom."""
    stream.seek(0)
    watch = _Watch(stream)
    dataset = read_partial(bounded(stream), stop_when=watch, force=True)
    if not watch.tag:
        raise ValueError("no pixel data")
    return _Pixels(dataset, watch.tag, watch.vr, watch.at, watch.length)


def _fragments(stream: BinaryIO, at: int) -> list[tuple[int, int]]:
    """(place, length) of every item of the pixel sequence, the offset table first."""
    found: list[tuple[int, int]] = []
    while True:
        stream.seek(at)
        head = stream.read(9)
        if head[:4] not in (ITEM, DELIMITER) and head[1:5] in (ITEM, DELIMITER):
            at, head = at + 1, head[1:]  # the last item had an odd length and a pad
        if len(head) < 8:
            raise Cut
        if head[:4] == DELIMITER:
            break
        length = int.from_bytes(head[4:8], "little")
        if head[:4] != ITEM or length == UNDEFINED:
            raise ValueError("what stands between fragments is no item")
        found.append((at + 8, length))
        at += 8 + length
    if not found:
        raise ValueError("no offset table")
    return found


def _frames(
    stream: BinaryIO, at: int, dataset: Dataset, count: int
) -> tuple[tuple[tuple[int, int], ...], ...]:
    """Which fragments make up each frame."""
    table, *fragments = _fragments(stream, at)
    if len(fragments) < count:
        raise Cut
    starts = _offsets(stream, table, dataset, fragments, count)
    if starts is None and len(fragments) == count:
        return tuple((one,) for one in fragments)
    if starts is None and count > 1:
        starts = [n for n, one in enumerate(fragments) if _begins(stream, one)]
    starts = starts or [0]
    if len(starts) < count:
        raise Cut
    ends = [*starts[1:], len(fragments)]
    found = [tuple(fragments[a:b]) for a, b in zip(starts, ends, strict=True)]
    return tuple(found[:count])


def _begins(stream: BinaryIO, fragment: tuple[int, int]) -> bool:
    """True if a fragment starts a frame."""
    stream.seek(fragment[0])
    return starts_frame(stream.read(START_BYTES))


def _offsets(
    stream: BinaryIO,
    table: tuple[int, int],
    dataset: Dataset,
    fragments: Sequence[tuple[int, int]],
    count: int,
) -> list[int] | None:
    """The first fragment of each frame by the tables; None if none of them fits the fragments."""
    stream.seek(table[0])
    basic = stream.read(table[1] - table[1] % 4)
    named = "ExtendedOffsetTable"
    extended = dataset.get(named) or b"" if named in dataset else b""
    base = table[0] + table[1]
    number = {one[0] - 8 - base: n for n, one in enumerate(fragments)}
    for raw, kind in ((extended, "Q"), (basic, "I")):
        size = len(raw) // struct.calcsize(kind)
        places = struct.unpack(f"<{size}{kind}", raw[: size * struct.calcsize(kind)])
        starts = [number.get(place, -1) for place in places]
        rising = all(one < other for one, other in pairwise(starts))
        if size == count and starts[0] == 0 and rising:
            return starts
    return None


def read_frame(stream: BinaryIO, source: Source, index: int) -> bytes:
    """The encoded bytes of one frame; a native one comes from ``read_native``.

    Raises:
        Cut: the file ends before the frame does.
    """
    parts = []
    for at, length in source.frames[index]:
        stream.seek(at)
        parts.append(stream.read(length))
        if len(parts[-1]) < length:
            raise Cut
    return parts[0] if len(parts) == 1 else b"".join(parts)


def read_native(stream: BinaryIO, source: Source, index: int) -> tuple[bytes, int]:
    """Bytes around a native frame, in 16-bit steps from the element's start.

    Returns:
        The bytes and the bit in them at which the frame begins.

    Raises:
        Cut: the file ends before the frame does.
    """
    bits = source.layout.bits
    begin, end = index * bits, (index + 1) * bits
    first, last = begin // 16 * 2, -(-end // 16) * 2
    stream.seek(source.at + first)
    found = stream.read(min(last, source.length or last) - first)
    if len(found) < -(-end // 8) - first:
        raise Cut
    return found, begin - 8 * first
