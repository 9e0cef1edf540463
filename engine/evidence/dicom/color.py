"""Colour of DICOM pictures as 8-bit RGB: the YBR spaces and palettes.

Owns the arithmetic of PS3.3 C.7.6.3.1.2 (photometric interpretations) and C.7.9 (palettes, plain
and segmented), and the judgement where a codestream contradicts its header. Refuses colour
management: an ICC profile is noted elsewhere and not applied.
"""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray
from pydicom.dataset import Dataset

from engine.evidence.dicom import facts
from engine.evidence.dicom.codestream import Stream

CONTRADICTION = "the colours in the codestream are {0}, the header says {1}; {0} is shown"
COLORS = ("Red", "Green", "Blue")
# Black level, then what Y, Cr (red), Cr (green), Cb (green) and Cb (blue) count (ITU-R BT.601).
MATRICES = {
    "ybr": (0.0, 1.0, 1.402, -0.714136286, -0.344136286, 1.772),
    "partial": (16.0, 1.164383562, 1.596026786, -0.812967647, -0.391762290, 2.017232143),
}


def space_of(photometric: str, stream: Stream | None) -> str:
    """What the decoded components are: ``rgb``, ``ybr`` or ``partial``.

    Markers in the codestream come first: they were written together with the pixels, the header
    by whoever passed the file on. Where they are silent the header decides. JPEG 2000 with its
    component transform and JPEG XL are decoded to RGB whatever they store.
    """
    if stream is not None and stream.space is not None:
        return stream.space
    if photometric.startswith("YBR_PARTIAL"):
        return "partial"
    return "ybr" if photometric.startswith("YBR_FULL") else "rgb"


def contradiction(photometric: str, stream: Stream | None, samples: int) -> str | None:
    """A sentence if header and codestream disagree on the colours, None if they do not."""
    if stream is None or stream.space is None or samples != 3 or stream.components == 0:
        return None
    said = "rgb" if photometric == "RGB" else "ybr"
    if photometric in ("YBR_ICT", "YBR_RCT") or said == stream.space:
        return None
    if stream.process == 0 and photometric == "RGB":
        return None
    return CONTRADICTION.format(stream.space.upper(), said.upper())


def to_rgb(values: NDArray[Any], space: str, *, bits: int) -> NDArray[np.uint8]:
    """Decoded components [..., 3] as 8-bit RGB.

    Args:
        values: unsigned components.
        space: ``rgb``, ``ybr`` or ``partial``.
        bits: bits of a value; those above the first 8 are dropped.
    """
    if values.dtype != np.uint8:
        values = (values >> max(0, bits - 8)).astype(np.uint8)
    if space == "rgb":
        return values
    luma, red, green_red, green_blue, blue = _tables(space)
    y, cb, cr = (values[..., channel] for channel in range(3))
    found = np.empty(values.shape, np.uint8)
    level = luma.take(y)
    found[..., 0] = _clipped(level + red.take(cr))
    found[..., 1] = _clipped(level + green_red.take(cr) + green_blue.take(cb))
    found[..., 2] = _clipped(level + blue.take(cb))
    return found


def deep_rgb(values: NDArray[Any], space: str, *, bits: int) -> NDArray[Any]:
    """Decoded components [..., 3] as RGB of their own depth, for numbers rather than display.

    Args:
        values: unsigned components, nothing above their stored bits.
        space: ``rgb``, ``ybr`` or ``partial``.
        bits: bits of a value.
    """
    if space == "rgb":
        return values
    dark, luma, red, green_red, green_blue, blue = MATRICES[space]
    scale, middle = 2.0 ** (bits - 8), 2.0 ** (bits - 1)
    y, cb, cr = (values[..., channel].astype(np.float64) for channel in range(3))
    level, cb, cr = (y - dark * scale) * luma, cb - middle, cr - middle
    found = [level + cr * red, level + cr * green_red + cb * green_blue, level + cb * blue]
    whole = np.clip(np.rint(np.stack(found, axis=-1)), 0, 2**bits - 1)
    return whole.astype(values.dtype)


@cache
def _tables(space: str) -> tuple[NDArray[np.int32], ...]:
    """What each of 256 values adds to a colour, in 65536ths; half a step for rounding."""
    dark, luma, red, green_red, green_blue, blue = MATRICES[space]
    every = np.arange(256)
    steps = (
        (every - dark) * luma, (every - 128) * red, (every - 128) * green_red,
        (every - 128) * green_blue, (every - 128) * blue,
    )  # fmt: skip
    tables = [np.rint(step * 65536.0).astype(np.int32) for step in steps]
    tables[0] += 32768
    return tuple(tables)


def _clipped(sums: NDArray[np.int32]) -> NDArray[np.uint8]:
    """Sums in 65536ths as 8-bit values."""
    np.right_shift(sums, 16, out=sums)
    return np.clip(sums, 0, 255, out=sums).astype(np.uint8)


class Palette:
    """The palette of a picture as one table of 8-bit RGB.

    Attributes:
        first: the value of the first entry; those below take it, those beyond the end the last.
        table: shape [N, 3].
    """

    def __init__(self, dataset: Dataset, *, big_endian: bool = False) -> None:
        """Read it.

        Raises:
            ValueError: the header holds no usable palette.
        """
        descriptors = [
            facts.numbers(dataset.get(f"{color}PaletteColorLookupTableDescriptor"))
            for color in COLORS
        ]
        if any(len(one) < 3 for one in descriptors):
            raise ValueError("no palette")
        order = ">" if big_endian else "<"
        pairs = zip(COLORS, descriptors, strict=True)
        tables = [_channel(dataset, color, one, order) for color, one in pairs]
        signed = facts.integer(dataset, "PixelRepresentation") == 1
        self.first = facts.signed_first(signed, descriptors[0][1])
        length = max(len(one) for one in tables)
        wide = np.stack([np.pad(one, (0, length - len(one)), mode="edge") for one in tables], 1)
        # entries that never pass 255 are 8-bit ones, whatever the descriptor says of their cells
        self.table = ((wide + 128) // 257 if wide.max() > 255 else wide).astype(np.uint8)

    def apply(self, index: NDArray[Any]) -> NDArray[np.uint8]:
        """Indices of any shape to [..., 3]."""
        at = np.clip(index.astype(np.int64) - int(self.first), 0, len(self.table) - 1)
        return self.table[at]


def _channel(
    dataset: Dataset, color: str, descriptor: list[float], order: str
) -> NDArray[np.uint32]:
    """The entries of one colour, plain or segmented."""
    count, bits = int(descriptor[0]) & 0xFFFF or 65536, int(descriptor[2])
    raw = dataset.get(f"{color}PaletteColorLookupTableData")
    if raw:
        entries = facts.entries(raw, count, order)
    else:
        packed = dataset.get(f"Segmented{color}PaletteColorLookupTableData")
        if not packed:
            raise ValueError("no palette")
        wide = bits > 8
        entries = _expanded(np.frombuffer(packed, f"{order}u2" if wide else "u1").tolist(), wide)
    if not len(entries):
        raise ValueError("an empty palette")
    return entries[:count].astype(np.uint32)


def _expanded(data: list[int], wide: bool) -> NDArray[np.uint32]:
    """A segmented table (PS3.3 C.7.9.2): discrete, linear and indirect segments."""
    found: list[int] = []
    starts: list[int] = []
    at = 0
    while at + 1 < len(data) and len(found) <= 65536:
        starts.append(at)
        if data[at] != 2:
            at = _segment(data, at, found)
            continue
        parts, bits = (2, 16) if wide else (4, 8)
        offset = sum(one << bits * n for n, one in enumerate(data[at + 2 : at + 2 + parts]))
        # the standard counts bytes; writers that count words are met
        offset = offset // 2 if wide and offset // 2 in starts else offset
        _copied(data, starts, offset, data[at + 1], found)
        at += 2 + parts
    return np.array(found, np.uint32)


def _segment(data: list[int], at: int, found: list[int]) -> int:
    """Append one discrete or linear segment; returns where the next one begins."""
    kind, length = data[at], data[at + 1]
    if kind == 0:
        found.extend(data[at + 2 : at + 2 + length])
        return at + 2 + length
    if kind != 1 or not found or at + 2 >= len(data):
        raise ValueError("a palette segment of unknown kind")
    begin, end = found[-1], data[at + 2]
    found.extend(round(begin + (end - begin) * step / length) for step in range(1, length + 1))
    return at + 3


def _copied(data: list[int], starts: list[int], offset: int, count: int, found: list[int]) -> None:
    """An indirect segment: ``count`` earlier segments again."""
    if offset not in starts:
        raise ValueError("a palette segment that is not there")
    at = offset
    for _ in range(count):
        if at >= len(data) or data[at] == 2:
            raise ValueError("a palette segment that points at another")
        at = _segment(data, at, found)
