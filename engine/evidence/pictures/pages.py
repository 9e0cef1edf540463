"""Pages of pictures, whatever decoded them: upright, 8-bit for models, alpha on white.

Owns ``Page`` and ``PictureFacts``, turning by an EXIF orientation, and the step from deep values to
8-bit colour. Refuses to open a file.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from engine.evidence.window import derive_window, function_of, to_display

LIMIT_PIXELS = 400_000_000
FREE_BYTES = 192_000_000  # a picture may unpack to this much whatever the size of its file
NARROW_BITS = 12  # deep colour whose values stay below 2**12 is 12-bit data in 16-bit words


@dataclass(frozen=True, eq=False)
class Page:
    """One page, upright: values [H, W] or [H, W, 3], alpha [H, W] or None."""

    values: NDArray[np.generic]
    alpha: NDArray[np.uint8] | None


@dataclass(frozen=True)
class PictureFacts:
    """What a picture file is, from its header.

    Attributes:
        format: TIFF, PNG, ...
        pages: how many are shown, all of one size.
        height, width: upright.
        color: True if values are RGB.
        dtype: number format as stored.
        moving: True if the pages are frames in time.
        stack: True if the pages are slices rather than sheets.
        frame_ms: how long the first frame of a moving picture stands, None if it does not say.
        notes: sentences about what was found.
    """

    format: str
    pages: int
    height: int
    width: int
    color: bool
    dtype: str
    moving: bool = False
    stack: bool = False
    notes: tuple[str, ...] = ()
    frame_ms: float | None = None


def turned(values: NDArray[Any], tag: int) -> NDArray[Any]:
    """Rows and columns as the EXIF or TIFF orientation (1 to 8) asks; other numbers change none.

    Source: TIFF 6.0, tag 274; EXIF 2.3, 4.6.4.
    """
    if tag in (5, 6, 7, 8):
        values = values.swapaxes(0, 1)
    if tag in (2, 3, 6, 7):
        values = values[:, ::-1]
    if tag in (3, 4, 7, 8):
        values = values[::-1]
    return values


def page_rgb(page: Page) -> NDArray[np.uint8]:
    """A page as 8-bit RGB [H, W, 3]: deep values windowed, alpha laid on white."""
    values = page.values
    if values.dtype != np.uint8:
        center, width = window = derive_window(values)
        values = to_display(values, center=center, width=width, function=function_of(window))
    if page.alpha is not None:
        values = on_white(values, page.alpha)
    if values.ndim == 2:
        values = np.repeat(values[..., None], 3, axis=2)
    return values.astype(np.uint8, copy=False)


def on_white(values: NDArray[np.generic], alpha: NDArray[np.uint8]) -> NDArray[np.generic]:
    """Lay grey or RGB values on white by their alpha.

    White is 255 for 8 bits and the greatest value that is there for deeper ones.
    """
    share = alpha.astype(np.uint32)
    if values.ndim == 3:
        share = share[..., None]
    if values.dtype == np.uint8:
        mixed = values.astype(np.uint32) * share + 255 * (255 - share)
        return ((mixed + 127) // 255).astype(np.uint8)
    white = float(values.max()) if values.size else 0.0
    deep = values.astype(np.float64) * (share / 255.0) + white * (1.0 - share / 255.0)
    return (np.rint(deep) if values.dtype.kind in "ui" else deep).astype(values.dtype)


def unmixed(values: NDArray[Any], alpha_at: int) -> NDArray[Any]:
    """Samples [H, W, S] whose colours were multiplied by alpha, as they were before."""
    whole = values.dtype.kind in "ui"
    top = float(np.iinfo(values.dtype).max) if whole else 1.0
    alpha = values[..., alpha_at : alpha_at + 1].astype(np.float64)
    real = np.divide(values * top, alpha, out=np.zeros(values.shape), where=alpha > 0)
    real = np.clip(np.rint(real), 0, top) if whole else real
    made = real.astype(values.dtype)
    made[..., alpha_at] = values[..., alpha_at]
    return made


def eight_bits(values: NDArray[Any]) -> NDArray[np.uint8]:
    """Deep colour as 8 bits: the upper bits of whole numbers, 0..1 or the range of others."""
    if values.dtype == np.uint8:
        return values
    if values.dtype.kind == "u":
        top = int(values.max()) if values.size else 0
        bits = 8 * values.dtype.itemsize
        narrow = bits == 16 and 0 < top < 1 << NARROW_BITS
        return (values >> ((NARROW_BITS if narrow else bits) - 8)).astype(np.uint8)
    real = np.nan_to_num(values.astype(np.float32))
    low, high = min(0.0, float(real.min())), max(1.0, float(real.max()))
    return np.rint((real - low) * (255.0 / (high - low))).astype(np.uint8)
