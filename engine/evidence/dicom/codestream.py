"""What a compressed frame says of itself: size, precision, sign, colours, and if it is all there.

Owns the reading of markers (JPEG: ITU-T T.81 B.1; JPEG-LS: T.87 C; JPEG 2000: T.800 A; JPEG XL:
ISO/IEC 18181-1). Refuses to decode.
"""

from __future__ import annotations

from dataclasses import dataclass

from engine.evidence.dicom import jpeg_scans

TAIL = 64
END, FILL = b"\xff\xd9", b"\0\xff "
FRAMES = frozenset(range(0xC0, 0xD0)) - {0xC4, 0xC8, 0xCC} | {0xF7}
ALONE = frozenset({0x01, *range(0xD0, 0xDA)})
LOSSLESS, PROGRESSIVE, JPEG_LS = frozenset({0xC3, 0xC7, 0xCB, 0xCF}), frozenset({0xC2, 0xCA}), 0xF7
SYCC = b"colr\1\0\0\0\0\0\x12"
JP2 = b"\x00\x00\x00\x0cjP  "


@dataclass(frozen=True)
class Stream:
    """The facts of one codestream.

    Attributes:
        rows, columns, components: sizes.
        precision: bits of a value.
        signed: True if its values are signed (JPEG 2000 only).
        space: ``rgb`` or ``ybr`` where markers say what the decoded components are, else None.
        most: how many values one byte of this process can hold at the very most.
        process: the start-of-frame marker of JPEG, 0 for others.
        tiles: tiles of JPEG 2000.
        start: where the JPEG 2000 codestream begins, after the boxes of a JP2 file.
    """

    rows: int
    columns: int
    components: int
    precision: int
    signed: bool = False
    space: str | None = None
    most: float = 50_000.0
    process: int = 0
    tiles: int = 1
    start: int = 0


def read_stream(src: bytes) -> Stream | None:
    """The facts of a JPEG, JPEG-LS, JPEG 2000 or JPEG XL frame; None if it is none of them.

    Args:
        src: the frame; its first kilobytes are enough.
    """
    try:
        if src[:2] == b"\xff\xd8":
            return _jpeg(src)
        if src[:4] == b"\xff\x4f\xff\x51" or src[: len(JP2)] == JP2:
            return _jpeg_2000(src)
        if src[:2] == b"\xff\x0a" or src[4:8] == b"JXL ":
            return _jpeg_xl(src)
    except IndexError:
        return None
    return None


def _short(src: bytes, at: int) -> int:
    """A big-endian 16-bit number."""
    return src[at] << 8 | src[at + 1]


def _long(src: bytes, at: int) -> int:
    """A big-endian 32-bit number."""
    return _short(src, at) << 16 | _short(src, at + 2)


def _jpeg(src: bytes) -> Stream:
    """Walk the segments to the start of frame."""
    at, jfif, adobe = 2, False, None
    while True:
        while src[at] != 0xFF or src[at + 1] in (0xFF, 0x00):
            at += 1
        marker = src[at + 1]
        if marker in ALONE:
            at += 2
            continue
        body, size = at + 4, _short(src, at + 2)
        if marker == 0xE0 and src[body : body + 4] == b"JFIF":
            jfif = True
        elif marker == 0xEE and src[body : body + 5] == b"Adobe" and size >= 14:
            adobe = src[body + 11]
        elif marker in FRAMES:
            return _start_of_frame(src, body, marker, jfif=jfif, adobe=adobe)
        at += 2 + size


def _start_of_frame(src: bytes, body: int, marker: int, *, jfif: bool, adobe: int | None) -> Stream:
    """Sizes, and the colour space as the codec's own rules give it."""
    count = src[body + 5]
    names = [src[body + 6 + 3 * one] for one in range(count)]
    sampling = {src[body + 7 + 3 * one] for one in range(count)}
    if marker in LOSSLESS:
        most = 8.0  # at least one bit for each value
    elif marker == JPEG_LS or marker in PROGRESSIVE:
        most = 50_000.0
    else:
        most = 256.0  # at least two bits for a block of 64
    return Stream(
        rows=_short(src, body + 1),
        columns=_short(src, body + 3),
        components=count,
        precision=src[body],
        space=None if count != 3 else _jpeg_space(names, sampling, marker, jfif, adobe),
        most=most,
        process=marker,
    )


def _jpeg_space(
    names: list[int], sampling: set[int], marker: int, jfif: bool, adobe: int | None
) -> str | None:
    """Colours by marker, in the order of the reference decoder; None where nothing tells."""
    if bytes(names) in (b"RGB", b"rgb"):
        return "rgb"
    if marker in LOSSLESS or marker == JPEG_LS:
        return None  # a JFIF marker stands in lossless files of every colour space
    if jfif:
        return "ybr"
    if adobe is not None:
        return "ybr" if adobe == 1 else "rgb"
    return "ybr" if len(sampling) > 1 else None


def _jpeg_2000(src: bytes) -> Stream | None:
    """SIZ and COD of the main header."""
    start = 0
    if src.startswith(JP2):
        found = src.find(b"jp2c\xff\x4f\xff\x51")
        if found < 0:
            return None
        start = found + 4
    siz = start + 6
    across, down = (_long(src, siz + at) - _long(src, siz + 8 + at) for at in (2, 6))
    wide, high = _long(src, siz + 18), _long(src, siz + 22)
    if not wide or not high:
        return None
    tiles = -(-(_long(src, siz + 2) - _long(src, siz + 26)) // wide)
    tiles *= -(-(_long(src, siz + 6) - _long(src, siz + 30)) // high)
    depth = src[siz + 36]
    cod = _coding_style(src, start)
    return Stream(
        rows=down,
        columns=across,
        components=_short(src, siz + 34),
        precision=(depth & 0x7F) + 1,
        signed=bool(depth & 0x80),
        # the codec undoes the component transform, and the sYCC that a JP2 box may name
        space="rgb" if cod[8:9] == b"\1" or SYCC in src[:start] else None,
        tiles=tiles,
        start=start,
    )


def _coding_style(src: bytes, start: int) -> bytes:
    """The main header's COD segment from its marker on; empty if there is none."""
    at = start + 2
    while src[at] == 0xFF and src[at + 1] != 0x90:
        if src[at + 1] == 0x52:
            return src[at : at + 9]
        at += 2 + _short(src, at + 2)
    return b""


def _jpeg_xl(src: bytes) -> Stream | None:
    """The size header; what is decoded is RGB or grey, whatever is stored (18181-1 D.3)."""
    start = src.find(b"\xff\x0a") if src[:2] != b"\xff\x0a" else 0
    if start < 0:
        return None
    bits = _Bits(src, start + 2)
    small = bits.take(1)
    rows = 8 * (bits.take(5) + 1) if small else bits.size()
    ratio = bits.take(3)
    if ratio:
        over, under = ((1, 1), (12, 10), (4, 3), (3, 2), (16, 9), (5, 4), (2, 1))[ratio - 1]
        columns = rows * over // under
    else:
        columns = 8 * (bits.take(5) + 1) if small else bits.size()
    return Stream(rows, columns, 0, 0, space="rgb")


class _Bits:
    """Bits of a byte string, lowest first."""

    def __init__(self, src: bytes, at: int) -> None:
        self._value, self._left = int.from_bytes(src[at : at + 16], "little"), 128

    def take(self, count: int) -> int:
        """The next bits as a number."""
        found = self._value & ((1 << count) - 1)
        self._value >>= count
        return found

    def size(self) -> int:
        """A size of 9, 13, 18 or 30 bits."""
        return self.take((9, 13, 18, 30)[self.take(2)]) + 1


def is_whole(src: bytes, stream: Stream) -> bool:
    """False if the frame ends before its codestream does.

    Every tile part of JPEG 2000 says how long it is; JPEG ends with a marker, and its restart
    intervals, components and progressive bits can be counted. JPEG XL is left to its decoder,
    which tells by itself.
    """
    if stream.process:
        return jpeg_scans.whole_part(src) is not None
    if stream.components == 0:
        return True
    return _has_every_tile(src, stream)


def _has_every_tile(src: bytes, stream: Stream) -> bool:
    """Walk the tile parts; where their lengths are wrong the end marker decides."""
    at, seen = src.find(b"\xff\x90\x00\x0a", stream.start), set()
    while at >= 0 and src[at : at + 4] == b"\xff\x90\x00\x0a" and at + 12 <= len(src):
        seen.add(_short(src, at + 4))
        length = _long(src, at + 6)
        if length == 0 or at + length > len(src):
            return length == 0 and _ends_marked(src)
        at += length
    if src[at : at + 2] == END or at >= len(src):
        return len(seen) >= stream.tiles
    return _ends_marked(src)


def _ends_marked(src: bytes) -> bool:
    """True if an end marker stands last, before whatever fills the rest."""
    return END in src[-TAIL:] or END in src.rstrip(FILL)[-TAIL:]
