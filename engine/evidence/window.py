"""From values to grey: the window formulas of DICOM PS3.3 C.11.2.1.2 and .3, and a derived window.

Owns the arithmetic only. Refuses to know files: it takes arrays and gives 8-bit arrays.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from engine.evidence.study import Pixels, VoiLut

SAMPLE = 1_000_000
LOW_PERCENT, HIGH_PERCENT = 0.5, 99.5
FUNCTIONS = ("linear", "linear_exact", "sigmoid")


def to_display(
    array: NDArray[np.generic],
    *,
    center: float,
    width: float,
    inverted: bool = False,
    function: str = "linear",
) -> NDArray[np.uint8]:
    """Map values to 0..255 through a window.

    Args:
        array: values after the modality transform, any shape; RGB arrays are not windowed.
        center: window centre.
        width: window width; at least 1 for ``linear``, above 0 for the others.
        inverted: True shows low values white (MONOCHROME1); applied once, after the window.
        function: ``linear``, ``linear_exact`` or ``sigmoid``.

    Returns:
        uint8 array of the same shape; values that are no number become the darkest value.

    Raises:
        ValueError: the width is not allowed or the function unknown.

    Source: DICOM PS3.3 C.11.2.1.2.1, C.11.2.1.3.1, C.11.2.1.3.2.
    """
    _check(width, function)
    if array.dtype.kind in "ui" and array.dtype.itemsize <= 2 and array.size > 1 << 16:
        return _by_table(array, center=center, width=width, inverted=inverted, function=function)
    share = _share(array, center=center, width=width, function=function)
    grey = np.rint(share * 255.0).astype(np.uint8)
    return 255 - grey if inverted else grey


def _check(width: float, function: str) -> None:
    """Refuse a width that the function does not allow."""
    if function not in FUNCTIONS:
        raise ValueError(f"unknown window function {function!r}; use one of {', '.join(FUNCTIONS)}")
    if not np.isfinite(width) or width <= 0 or (function == "linear" and width < 1):
        raise ValueError(f"window width {width} is not allowed; use 1 or more")


def _share(
    array: NDArray[np.generic], *, center: float, width: float, function: str
) -> NDArray[np.floating]:
    """The share 0..1 of full white of each value."""
    with np.errstate(invalid="ignore"):  # odd bit patterns for "no number" in damaged files
        value = np.nan_to_num(array.astype(np.float64), nan=-np.inf, posinf=np.inf, neginf=-np.inf)
    if function == "sigmoid":
        with np.errstate(over="ignore"):
            return 1.0 / (1.0 + np.exp(-4.0 * (value - center) / width))
    if function == "linear":
        center, width = center - 0.5, width - 1.0
    if width == 0.0:
        return (value > center).astype(np.float64)
    return np.clip((value - center) / width + 0.5, 0.0, 1.0)


def _by_table(
    array: NDArray[np.generic], *, center: float, width: float, inverted: bool, function: str
) -> NDArray[np.uint8]:
    """The same through a table of all values of an 8 or 16-bit type: several times faster."""
    info = np.iinfo(np.dtype(array.dtype.str))
    every = np.arange(info.min, info.max + 1, dtype=np.float64)
    share = _share(every, center=center, width=width, function=function)
    grey = np.rint(share * 255.0).astype(np.uint8)
    table = 255 - grey if inverted else grey
    unsigned = array.view(f"u{array.dtype.itemsize}") if array.dtype.kind == "i" else array
    return np.roll(table, info.min)[unsigned] if array.dtype.kind == "i" else table[unsigned]


def apply_lut(
    array: NDArray[np.generic], lut: VoiLut, *, inverted: bool = False
) -> NDArray[np.uint8]:
    """Map values to 0..255 through a value-of-interest table (PS3.3 C.11.2.1.1)."""
    index = np.nan_to_num(array.astype(np.float64)) - lut.first
    grey = lut.table[np.clip(np.rint(index), 0, len(lut.table) - 1).astype(np.intp)]
    return 255 - grey if inverted else grey


def derive_window(
    array: NDArray[np.generic], *, padding: tuple[float, float] | float | None = None
) -> tuple[float, float]:
    """A window for values whose file names none.

    8-bit values are shown as they are. Others run from percentile 0.5 to 99.5 of the finite
    values that are not padding (at most a million of them, evenly taken); where the two are
    equal, from the least to the greatest.

    Args:
        array: values after the modality transform.
        padding: the value, or (low, high) both included, that stands for no picture.

    Returns:
        (center, width) for ``linear``: the ends of the range become 0 and 255 exactly.
    """
    if array.dtype == np.uint8:
        return 128.0, 256.0
    if array.dtype == np.bool_:
        return _spanning(0.0, 1.0)
    with np.errstate(invalid="ignore"):
        value = array.reshape(-1)[:: max(1, array.size // SAMPLE)].astype(np.float64)
    keep = np.isfinite(value)
    if padding is not None:
        low, high = padding if isinstance(padding, tuple) else (padding, padding)
        keep &= ~((value >= low) & (value <= high))
    value = value[keep]
    if value.size == 0:
        return _spanning(0.0, 0.0)
    bottom, top = np.percentile(value, [LOW_PERCENT, HIGH_PERCENT])
    if bottom == top:
        bottom, top = value.min(), value.max()
    return _spanning(float(bottom), float(top))


def _spanning(low: float, high: float) -> tuple[float, float]:
    """The LINEAR window whose ends are exactly ``low`` and ``high``."""
    return (low + high + 1.0) / 2.0, high - low + 1.0


def show_slice(
    pixels: Pixels, index: int, *, window: tuple[float, float] | None = None
) -> NDArray[np.uint8]:
    """One slice as 8 bits, as the file asks to be shown.

    Args:
        pixels: decoded values.
        index: slice or frame, from 0.
        window: (center, width) chosen by a reader; None takes the file's table or window.

    Returns:
        [Y, X], or [Y, X, 3] for colour.
    """
    return show_array(pixels, pixels.array[index], window=window)


def show_array(
    pixels: Pixels, values: NDArray[np.generic], *, window: tuple[float, float] | None = None
) -> NDArray[np.uint8]:
    """Any part of ``pixels.array`` (a slice, a cut plane) as 8 bits; see ``show_slice``."""
    if pixels.color:
        return values.astype(np.uint8, copy=False)
    inverted = pixels.display_inverted
    if window is None and pixels.lut is not None:
        return apply_lut(values, pixels.lut, inverted=inverted)
    center, width = window or pixels.window
    function = pixels.window_function if window is None else "linear"
    return to_display(values, center=center, width=width, inverted=inverted, function=function)
