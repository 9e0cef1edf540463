"""One compressed frame of a DICOM file to numbers, by imagecodecs.

Owns the table of transfer syntaxes and codecs, and the proof that a frame is whole: sizes are
compared and streams walked before a codec may allocate anything. Refuses colour conversion and
signs: it hands out what the codestream holds. pydicom's own decoders are not used: they know
neither JPEG XL nor deflated frames nor packed bits, and hand out cut JPEG frames as whole.
"""

from __future__ import annotations

import os
import zlib
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import imagecodecs
import numpy as np
from numpy.typing import NDArray

from engine.evidence.dicom.codestream import END, LOSSLESS, Stream, is_whole, read_stream
from engine.evidence.dicom.color import space_of
from engine.evidence.dicom.frames import Cut
from engine.evidence.dicom.jpeg_scans import whole_part
from engine.evidence.dicom.layout import Layout

Array = NDArray[Any]
Codec = Callable[[bytes, Layout], Array]

ROOT = "1.2.840.10008.1.2."
RUN_LENGTH = ROOT + "5"
ENCAPSULATED_NATIVE = ROOT + "1.98"
LARGE, THREADS = 1 << 20, min(4, os.cpu_count() or 1)
SAMPLES_PER_RUN = 64  # two bytes of PackBits hold at most 128
MORE = "the compressed picture has more rows than the header says; the rest is not shown"
# Bytes that a decoder of a whole JPEG never reads: whoever reads them was short of data.
PROBE = b"\xfe\xa5\x3c\x5a" * 48  # begins with ones: decoders without data read zeros


class Unfit(ValueError):
    """The codestream is another picture than the header announces."""


def decode_frame(
    src: bytes, syntax: str, layout: Layout, told: set[str] | None = None
) -> tuple[Array, Stream | None]:
    """Decode one frame.

    Args:
        src: its encoded bytes.
        syntax: UID of the transfer syntax.
        layout: what the header says of it.
        told: takes sentences on what is odd and no error.

    Returns:
        [Y, X] or [Y, X, S] as the codestream holds it, and the facts of the codestream (None for
        RLE and deflated frames). Lossy JPEG is turned to RGB on the way, and its facts say so.

    Raises:
        Cut: the frame ends before its codestream does.
        NotImplementedError: there is no codec for this transfer syntax.
        ValueError: the codestream is damaged or another picture than the header says.
    """
    stream = read_stream(src)
    if stream is None and syntax == RUN_LENGTH:
        return _run_length(src, layout, set() if told is None else told), None
    if stream is None and syntax in CODECS:
        return CODECS[syntax](src, layout), None
    if stream is None and syntax not in STREAMED:
        raise NotImplementedError("no codec for this transfer syntax")
    if stream is None and len(src) - len(src) % 2 == even_length(layout):
        return _native(src, layout), None  # a syntax that is named and was never applied
    if stream is None:
        raise Cut if len(src) < 16 else Unfit("no codestream of any kind")
    src = _checked(src, stream, layout)
    lossy = stream.process not in (0, 0xF7) and stream.process not in LOSSLESS
    if lossy and layout.samples == 3 and space_of(layout.photometric, stream) == "ybr":
        values, stream = _jpeg(src, stream, colors="RGB"), replace(stream, space="rgb")
    else:
        values = _decoded(src, stream)
    if values.shape != layout.shape:
        raise Unfit("the codestream decodes to another shape")
    return values, stream


def _checked(src: bytes, stream: Stream, layout: Layout) -> bytes:
    """The stream without what fills its rest; sizes agree and it is whole before it is decoded."""
    count = stream.components or layout.samples
    if (stream.rows, stream.columns, count) != (layout.rows, layout.columns, layout.samples):
        raise Unfit("the codestream holds another picture size than the header says")
    if layout.values > stream.most * len(src):
        raise Cut
    if not stream.process:
        if not is_whole(src, stream):
            raise Cut
        return src
    found = whole_part(src)
    if found is None:
        raise Cut
    return found


def _decoded(src: bytes, stream: Stream) -> Array:
    """Let the codec work that the first bytes name."""
    if stream.process == 0xF7:
        return np.asarray(imagecodecs.jpegls_decode(src))
    if stream.process:
        return _jpeg(src, stream)
    if stream.components == 0:
        return np.asarray(imagecodecs.jpegxl_decode(src))
    # a large picture stands alone; slices of a volume are decoded side by side by the caller
    large = stream.rows * stream.columns > LARGE
    return np.asarray(imagecodecs.jpeg2k_decode(src, numthreads=THREADS if large else 1))


def _jpeg(src: bytes, stream: Stream, *, colors: str = "YCBCR") -> Array:
    """JPEG, without any colour transform if not asked; a frame with lost bytes is found by trial.

    A decoder that runs out of data fills the rest with its last value and says nothing. The frame
    is decoded again with bytes put before its end marker: a whole frame never reaches them. Grey
    lossless frames, which are slow to decode, only if they end as a decoder makes up an end.
    """
    values = _plain_jpeg(src, stream, colors)
    trusted = stream.process in LOSSLESS and stream.components == 1
    if not trusted or _goes_on(values[-2:, -6:].astype(np.int64)):
        head = src[: src.rfind(END)].rstrip(b"\xff")
        again = _plain_jpeg(head + PROBE + END, stream, colors)
        if not np.array_equal(values, again):
            raise Cut
    return values


def _plain_jpeg(src: bytes, stream: Stream, colors: str) -> Array:
    """One pass of the decoder."""
    if stream.components == 1:
        return np.asarray(imagecodecs.jpeg8_decode(src))
    return np.asarray(imagecodecs.jpeg8_decode(src, colorspace="YCBCR", outcolorspace=colors))


def _goes_on(last: Array) -> bool:
    """True if the last values differ from their prediction by one step (T.81 H.1.2.1).

    A decoder without data reads zeros: the same difference for ever.
    """
    if min(last.shape) < 2:
        return True
    left, above, corner = last[1, :-1], last[0, 1:], last[0, :-1]
    predicted = (
        left, above, corner, left + above - corner, left + ((above - corner) >> 1),
        above + ((left - corner) >> 1), (left + above) >> 1,
    )  # fmt: skip
    steps = [(last[1, 1:] - one) % 65536 for one in predicted]
    return any(bool((step == step[0]).all()) for step in steps)


def _run_length(src: bytes, layout: Layout, told: set[str]) -> Array:
    """RLE Lossless (PS3.5 G): one segment for each byte of each sample, high bytes first."""
    bits = layout.allocated
    count = layout.values if bits % 8 == 0 else -(-layout.values * bits // 8)
    width = max(1, bits // 8)
    segments = int.from_bytes(src[:4], "little")
    planes = width * layout.samples if bits % 8 == 0 else 1
    if segments != planes or len(src) < 64:
        raise Cut if len(src) < 64 else Unfit("another number of segments than the header says")
    each = count // layout.samples if bits % 8 == 0 else count
    if each * planes > SAMPLES_PER_RUN * len(src):
        raise Cut
    starts = [int.from_bytes(src[at : at + 4], "little") for at in range(4, 4 + 4 * planes, 4)]
    ends = [*starts[1:], len(src)]
    found = np.empty((planes, each), np.uint8)
    for plane, (start, end) in enumerate(zip(starts, ends, strict=True)):
        raw = _segment(src[start:end], each)
        found[plane] = raw[:each]
        if len(raw) >= each + layout.columns:
            told.add(MORE)
    return _from_planes(found, layout, width)


def _segment(src: bytes, count: int) -> NDArray[np.uint8]:
    """A PackBits segment of so many bytes at least; pads at its end may look like a run."""
    for pad in (0, 1):
        try:
            raw = imagecodecs.packbits_decode(src[: len(src) - pad])
        except RuntimeError:  # what imagecodecs raises has no public name
            continue
        if len(raw) >= count:
            return np.frombuffer(raw, np.uint8)
    raise Cut


def _from_planes(planes: NDArray[np.uint8], layout: Layout, width: int) -> Array:
    """Byte planes, high bytes first, to [Y, X] or [Y, X, S] of unsigned numbers."""
    if layout.allocated % 8:
        return packed(planes.tobytes(), layout, 0)
    samples = planes.reshape(layout.samples, width, layout.rows, layout.columns)
    turned = np.moveaxis(samples, (1, 0), (3, 2)) if layout.samples > 1 else None
    little = samples[0, ::-1].transpose(1, 2, 0) if turned is None else turned[..., ::-1]
    values = np.ascontiguousarray(little).view(f"<u{width}")
    return values[..., 0]


def _deflated(src: bytes, layout: Layout) -> Array:
    """Deflated Image Frame Compression (PS3.5 A.4.14): one native frame, deflated."""
    wanted = -(-layout.bits // 8)
    unpacker = zlib.decompressobj(-zlib.MAX_WBITS)
    if wanted > 1100 * len(src) + 1100:
        raise Cut
    raw = unpacker.decompress(src, wanted + 1)
    if len(raw) < wanted:
        raise Cut
    return packed(raw, layout, 0)


def _native(src: bytes, layout: Layout) -> Array:
    """Encapsulated Uncompressed: one native frame as a fragment."""
    if 8 * len(src) < layout.bits:
        raise Cut
    return packed(src, layout, 0)


def even_length(layout: Layout) -> int:
    """Bytes of one native frame, without an odd last one."""
    length = -(-layout.bits // 8)
    return length - length % 2


def packed(raw: bytes, layout: Layout, first_bit: int) -> Array:
    """A native little endian frame as [Y, X] or [Y, X, S] of unsigned numbers (or floats).

    Args:
        raw: bytes that hold it.
        layout: its form; planes are turned to colour by pixel, halved colours doubled.
        first_bit: where it begins in ``raw``.
    """
    bits, count = layout.allocated, layout.bits // layout.allocated
    if bits in (8, 16, 32, 64):
        kind = f"<f{bits // 8}" if layout.floating else f"<u{bits // 8}"
        flat: Array = np.frombuffer(raw, kind, count, first_bit // 8)
    else:
        flat = _unpacked(raw, bits, count, first_bit)
    if layout.samples == 1:
        return flat.reshape(layout.rows, layout.columns)
    if count != layout.values:
        return _doubled(flat).reshape(layout.shape)
    if layout.planar:
        planes = flat.reshape(layout.samples, layout.rows, layout.columns)
        return planes.transpose(1, 2, 0)
    return flat.reshape(layout.shape)


def _unpacked(raw: bytes, bits: int, count: int, first_bit: int) -> Array:
    """Numbers of any width, packed from the lowest bit up (PS3.5 D)."""
    first = first_bit // 8
    held = np.frombuffer(raw, np.uint8, -(-(first_bit + count * bits) // 8) - first, first)
    ones = np.unpackbits(held, bitorder="little")[first_bit % 8 :][: count * bits]
    if bits == 1:
        return ones
    width = next(size for size in (8, 16, 32, 64) if bits <= size)
    wide = np.zeros((count, width), np.uint8)
    wide[:, :bits] = ones.reshape(count, bits)
    return np.packbits(wide, axis=1, bitorder="little").reshape(-1).view(f"<u{width // 8}")


def _doubled(flat: Array) -> Array:
    """Y Y B R of two pixels to Y B R Y B R (PS3.3 C.7.6.3.1.2)."""
    pairs = flat.reshape(-1, 4)
    return pairs[:, [0, 2, 3, 1, 2, 3]].reshape(-1)


CODECS: dict[str, Codec] = {
    # native syntaxes whose pixels lie in fragments all the same
    **dict.fromkeys((ROOT[:-1], ROOT + "1", ROOT + "1.99", ENCAPSULATED_NATIVE), _native),
    ROOT + "8.1": _deflated,
}
# JPEG processes (retired ones too), JPEG-LS, JPEG 2000, JPEG XL, HTJ2K. What a frame is is read
# from its own first bytes: some writers name the wrong one of these.
STREAMED = frozenset(
    ROOT + f"4.{number}"
    for number in (*range(50, 71), 80, 81, 90, 91, 92, 93, 110, 111, 112, 201, 202, 203)
)
