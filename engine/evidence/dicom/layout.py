"""How the pixels of a DICOM object are stored: sizes, bits, sign, order of colours.

Owns the reading of the Image Pixel module (PS3.3 C.7.6.3) with its usual faults mended. Refuses
to touch pixel bytes.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from pydicom.dataset import Dataset

from engine.evidence.dicom import facts

FLOATING = {0x7FE00008: 32, 0x7FE00009: 64}
PHOTOMETRIC = frozenset(
    {"MONOCHROME1", "MONOCHROME2", "PALETTE COLOR", "RGB", "HSV", "ARGB", "CMYK", "YBR_FULL",
     "YBR_FULL_422", "YBR_PARTIAL_422", "YBR_PARTIAL_420", "YBR_ICT", "YBR_RCT", "XYB"}
)  # fmt: skip
QUARTERED = "YBR_PARTIAL_420"  # native only in theory; retired
# MPEG-2, MPEG-4 and HEVC, whose whole pixel element is one stream of all frames
VIDEO = re.compile(r"1\.2\.840\.10008\.1\.2\.4\.10[0-8](\.1)?")
HALVED = frozenset({"YBR_FULL_422", "YBR_PARTIAL_422"})


@dataclass(frozen=True)
class Layout:
    """The form of stored pixels.

    Attributes:
        rows, columns, samples, frames: sizes; all at least 1.
        allocated: bits of one sample in a native stream.
        stored: bits of it that are the value.
        high: the highest of them, counted from 0.
        signed: True for two's complement.
        planar: True if colours stand in planes.
        photometric: Photometric Interpretation, always a defined term.
        floating: 32 or 64 for Float and Double Float Pixel Data, else 0.
    """

    rows: int
    columns: int
    samples: int
    frames: int
    allocated: int
    stored: int
    high: int
    signed: bool
    planar: bool
    photometric: str
    floating: int = 0

    @property
    def values(self) -> int:
        """Values of one decoded frame."""
        return self.rows * self.columns * self.samples

    @property
    def shape(self) -> tuple[int, ...]:
        """[rows, columns], or [rows, columns, samples] for colour."""
        size = (self.rows, self.columns)
        return size if self.samples == 1 else (*size, self.samples)

    @property
    def color(self) -> bool:
        """True for what is shown in colour: three samples, or a palette."""
        return self.samples == 3 or self.photometric == "PALETTE COLOR"

    @property
    def bits(self) -> int:
        """Bits of one native frame; frames of packed bits follow each other without a gap."""
        samples = 2 if self.photometric in HALVED and self.samples == 3 else self.samples
        return self.rows * self.columns * samples * self.allocated

    @property
    def dtype(self) -> np.dtype[Any]:
        """The numpy type that holds one stored value."""
        if self.floating:
            return np.dtype(f"f{self.floating // 8}")
        width = next(size for size in (8, 16, 32, 64) if self.allocated <= size)
        return np.dtype(f"{'i' if self.signed else 'u'}{width // 8}")


def photometric_of(dataset: Dataset) -> str:
    """Photometric Interpretation as a defined term (PS3.3 C.7.6.3.1.2); never another word.

    Anything else is taken as RGB for three samples, as MONOCHROME2 for others.
    """
    word = facts.word(dataset, "PhotometricInterpretation").upper()
    for spelled in (word, word.replace(" ", "_")):
        if spelled in PHOTOMETRIC:
            return spelled
    return "RGB" if facts.integer(dataset, "SamplesPerPixel", 1) == 3 else "MONOCHROME2"


def is_video(syntax: str) -> bool:
    """True for transfer syntaxes of films."""
    return VIDEO.fullmatch(syntax) is not None


def as_long_as(layout: Layout, length: int | None) -> Layout:
    """The same, its colours not halved if the pixels are so many that they cannot be.

    Args:
        layout: by the header.
        length: bytes of a native pixel element, None if encapsulated.
    """
    whole = replace(layout, photometric=layout.photometric.removesuffix("_422"))
    if length is None or layout.bits == whole.bits or 8 * length < whole.bits * layout.frames:
        return layout
    return whole


def layout_of(dataset: Dataset, *, floating: int = 0) -> Layout:
    """The form of a data set's pixels.

    Args:
        dataset: a parsed header.
        floating: 32 or 64 if the pixels stand in Float or Double Float Pixel Data.

    Raises:
        ValueError: sizes or bits that no picture can have.
    """
    allocated = floating or facts.integer(dataset, "BitsAllocated", 16)
    if not 1 <= allocated <= 64:
        raise ValueError("bits allocated out of range")
    stored = facts.integer(dataset, "BitsStored", allocated)
    stored = stored if 1 <= stored <= allocated else allocated
    high = facts.integer(dataset, "HighBit", stored - 1)
    found = Layout(
        rows=facts.integer(dataset, "Rows"),
        columns=facts.integer(dataset, "Columns"),
        samples=max(1, facts.integer(dataset, "SamplesPerPixel", 1)),
        frames=max(1, facts.integer(dataset, "NumberOfFrames", 1)),
        allocated=allocated,
        stored=stored,
        high=high if stored - 1 <= high < allocated else stored - 1,
        signed=facts.integer(dataset, "PixelRepresentation") == 1,
        planar=facts.integer(dataset, "PlanarConfiguration") == 1,
        photometric=photometric_of(dataset),
        floating=floating,
    )
    if found.rows < 1 or found.columns < 1:
        raise ValueError("no picture size")
    return found
