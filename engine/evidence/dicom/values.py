"""One frame of a DICOM file as numbers that mean something: signed grey, or 8-bit RGB.

Owns the cutting of unused bits, the sign, and the choice between header and codestream where
they disagree. Refuses the modality transform: ``decode`` does it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, BinaryIO

import numpy as np
from numpy.typing import NDArray

from engine.evidence.dicom import facts
from engine.evidence.dicom.codecs import decode_frame, packed
from engine.evidence.dicom.codestream import JPEG_LS, LOSSLESS, Stream
from engine.evidence.dicom.color import deep_rgb, space_of, to_rgb
from engine.evidence.dicom.frames import Source, read_frame, read_native
from engine.evidence.dicom.overlay import has_embedded

Array = NDArray[Any]
WORDS = (16, 32, 64)


class Samples(NotImplementedError):
    """Neither grey nor three colours."""


def _decode(stream: BinaryIO, source: Source, frame: int) -> tuple[Array, Stream | None]:
    """A frame as stored: unsigned or floating numbers, or what its codestream holds."""
    if source.length is None:
        with source.lock:
            coded = read_frame(stream, source, frame)
        return decode_frame(coded, source.syntax, source.layout, source.told)
    with source.lock:
        raw, first_bit = read_native(stream, source, frame)
    if source.big:
        raw = _little(raw, source)
    return packed(raw, source.layout, first_bit), None


def _little(raw: bytes, source: Source) -> bytes:
    """Big endian bytes in little endian order; bytes in 16-bit words (OW) count as words."""
    bits = source.layout.allocated
    if bits not in WORDS and not source.words:
        return raw
    width = bits // 8 if bits in WORDS else 2
    whole = raw + bytes(-len(raw) % width)
    return np.frombuffer(whole, f">u{width}").astype(f"<u{width}").tobytes()


def raw_words(stream: BinaryIO, source: Source, frame: int) -> Array:
    """A frame's words with all their bits, [Y, X]."""
    return _decode(stream, source, frame)[0]


def grey(stream: BinaryIO, source: Source, frame: int) -> Array:
    """A frame of grey values as stored, [Y, X], with its sign, before the modality transform."""
    values, found = _decode(stream, source, frame)
    layout = source.layout
    if layout.floating:
        return values
    if found is None:
        return only_stored(values, layout.high, layout.stored, signed=layout.signed)
    bits = found.precision or layout.stored
    if layout.stored < bits <= layout.allocated and _keeps_words(source, found):
        return only_stored(values, layout.high, layout.stored, signed=layout.signed)
    if found.process == 0 and found.components:
        return _jpeg_2000(values, found, source)
    return only_stored(values, bits - 1, bits, signed=layout.signed)


def _keeps_words(source: Source, found: Stream) -> bool:
    """True if a stream of more bits than are stored holds words with rubbish in the others.

    Lossless JPEG is given whole words by its usual writers, overlays and all; other streams only
    where the header has such overlays. Lossy ones may overshoot and would wrap.
    """
    return found.process in LOSSLESS or (
        found.process in (0, JPEG_LS) and has_embedded(source.dataset)
    )


def colored(source: Source, *, deep: bool = False) -> Callable[[BinaryIO, int], Array] | None:
    """How a frame becomes RGB, [Y, X, 3]; None if the picture is grey.

    Args:
        source: the pixels of a file.
        deep: True for values of the stored depth instead of 8 bits; palettes have 8.

    Raises:
        Samples: two, four or more samples.
        ValueError: the header holds no usable palette.
    """
    layout, palette = source.layout, source.palette
    if palette is not None:
        return lambda stream, frame: palette.apply(grey(stream, source, frame))
    if layout.samples == 1:
        return None
    if layout.samples != 3 or layout.floating:
        raise Samples

    turn = deep_rgb if deep else to_rgb

    def show(stream: BinaryIO, frame: int) -> Array:
        values, found = _decode(stream, source, frame)
        if found is None:
            values = only_stored(values, layout.high, layout.stored, signed=False)
        bits = found.precision if found is not None and found.precision else layout.stored
        if found is not None and found.signed:
            values = _centred(values, found.precision)
        return turn(values, space_of(layout.photometric, found), bits=bits)

    return show


def _centred(values: Array, bits: int) -> Array:
    """Signed colour components as unsigned ones around the middle."""
    return (values.astype(np.int64) + (1 << bits - 1)).astype(f"u{values.dtype.itemsize}")


def only_stored(values: Array, high: int, stored: int, *, signed: bool) -> Array:
    """The stored bits of each word and nothing else (PS3.5 8.1.1), with their sign.

    Args:
        values: unsigned words; what lies outside the stored bits may be overlays or rubbish.
        high: the highest stored bit, from 0.
        stored: how many bits are stored.
        signed: True to read them as two's complement.
    """
    width = 8 * values.dtype.itemsize
    if stored >= width:
        return values.view(f"i{width // 8}") if signed else values
    if not signed and high == stored - 1:
        return values & values.dtype.type((1 << stored) - 1) if _beyond(values, stored) else values
    lifted = values << values.dtype.type(width - 1 - high)
    kind = f"{'i' if signed else 'u'}{width // 8}"
    return lifted.view(kind) >> np.dtype(kind).type(width - stored)


def _beyond(values: Array, stored: int) -> bool:
    """True if a word has a bit above the stored ones."""
    return bool(values.size) and int(values.max()) >> stored > 0


def _jpeg_2000(values: Array, found: Stream, source: Source) -> Array:
    """JPEG 2000 values with the sign that makes sense.

    A JPEG 2000 stream says itself whether its values are signed. Where it agrees with the header
    nothing is to be decided. Where it does not, one of the two was written by a faulty encoder,
    and both kinds are met: two's complement values passed off as unsigned (then the header is
    right), and signed values under an unsigned header (then the stream is right). The reading is
    taken whose values lie in the header's window; if the window does not tell, the smoother
    one: read with the wrong sign, a picture jumps by the whole range wherever it crosses zero.
    """
    layout, bits = source.layout, found.precision
    unsigned = values.view(f"u{values.dtype.itemsize}")
    if found.signed == layout.signed:
        return values
    plain = only_stored(unsigned, bits - 1, bits, signed=False)
    signed = only_stored(unsigned, bits - 1, bits, signed=True)
    return signed if _makes_sense(signed, plain, source) else plain


def _makes_sense(signed: Array, plain: Array, source: Source) -> bool:
    """True if the signed reading is at least as good as the unsigned one."""
    window = facts.window_of(source.dataset)
    if window is not None:
        slope, intercept = facts.rescale_of(source.dataset)
        (center, width), _ = window
        inside = [
            float((abs(one * slope + intercept - center) <= width / 2).mean())
            for one in (signed.astype(np.float32), plain.astype(np.float32))
        ]
        if abs(inside[0] - inside[1]) > 0.01:
            return inside[0] > inside[1]
    return _roughness(signed) <= _roughness(plain)


def _roughness(values: Array) -> float:
    """The mean step from a value to its neighbour in the row."""
    return float(np.abs(np.diff(values.astype(np.float32), axis=1)).mean())
