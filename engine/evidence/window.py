"""From values to grey: the window formulas of DICOM PS3.3 C.11.2.1.2 and .3, and a derived window.

Owns the arithmetic only. Refuses to know files: it takes arrays and gives 8-bit arrays.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from engine.evidence.study import Pixels, VoiLut

SAMPLE = 1_000_000
CHUNK = 1 << 15
LOW_PERCENT, HIGH_PERCENT = 0.5, 99.5
FUNCTIONS = ("linear", "linear_exact", "sigmoid")
NARROW = 1e-6  # ranges below this get lost beside the 1 that LINEAR adds to a width
WIDEST = float(np.finfo(np.float64).max)
SINGLE = (1e-30, 1e30)  # between these single precision neither runs over nor loses digits


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
        uint8 array of the same shape; values that are no number become black.

    Raises:
        ValueError: the width is not allowed or the function unknown.

    Source: DICOM PS3.3 C.11.2.1.2.1, C.11.2.1.3.1, C.11.2.1.3.2.
    """
    _check(width, function)
    if _has_table(array):
        table = lookup_table(
            array.dtype, center=center, width=width, inverted=inverted, function=function
        )
        return look_up(table, array)
    return _grey(array, center=center, width=width, inverted=inverted, function=function)


def _grey(
    array: NDArray[np.generic], *, center: float, width: float, inverted: bool, function: str
) -> NDArray[np.uint8]:
    """The formula value by value."""
    if _in_single(array.dtype, center, width, function):
        return _grey_of_floats(array, center, width, inverted, half=function == "linear")
    share = _share(array, center=center, width=width, function=function)
    grey: NDArray[np.uint8] = np.rint(share * 255.0).astype(np.uint8)
    if not inverted:
        return grey
    turned = 255 - grey
    if array.dtype.kind == "f":
        turned[np.isnan(array)] = 0
    return turned


def _grey_of_floats(
    array: NDArray[np.generic], center: float, width: float, inverted: bool, *, half: bool
) -> NDArray[np.uint8]:
    """The linear formulas in single precision: ten times faster, true to a thousandth of a step."""
    if half:
        center, width = center - 0.5, width - 1.0
    with np.errstate(over="ignore", invalid="ignore"):
        share = np.subtract(array, np.float32(center - width / 2.0), dtype=np.float32)
        share *= np.float32(255.0 / width)
    np.fmax(share, 0.0, out=share)  # what is no number becomes 0 here
    np.fmin(share, 255.0, out=share)
    np.rint(share, out=share)
    grey: NDArray[np.uint8] = share.astype(np.uint8)
    if inverted:
        np.subtract(255, grey, out=grey)
        grey[np.isnan(array)] = 0
    return grey


def _in_single(dtype: np.dtype[np.generic], center: float, width: float, function: str) -> bool:
    """True where single precision is enough for the linear formulas."""
    if dtype != np.float32 or function == "sigmoid" or width <= (function == "linear"):
        return False
    return SINGLE[0] < width < SINGLE[1] and abs(center) < SINGLE[1]


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
        value = array.astype(np.float64)
    if array.dtype.kind == "f":
        value = np.nan_to_num(value, nan=-np.inf, posinf=np.inf, neginf=-np.inf)
    if function == "sigmoid":
        with np.errstate(over="ignore"):
            return 1.0 / (1.0 + np.exp(-4.0 * (value - center) / width))
    if function == "linear":
        center, width = center - 0.5, width - 1.0
    if width == 0.0:
        return (value > center).astype(np.float64)
    with np.errstate(over="ignore"):  # what is beyond all numbers is black or white
        return np.clip((value - center) / width + 0.5, 0.0, 1.0)


def _has_table(array: NDArray[np.generic]) -> bool:
    """True where a table of every value is smaller than the picture."""
    kind = array.dtype
    return kind.kind in "ui" and kind.itemsize <= 2 and array.size > 1 << 8 * kind.itemsize


def lookup_table(
    dtype: np.dtype[np.generic] | type[np.generic],
    *,
    center: float,
    width: float,
    inverted: bool = False,
    function: str = "linear",
) -> NDArray[np.uint8]:
    """What ``to_display`` makes of every value of an 8 or 16-bit number format.

    Args:
        dtype: (u)int8 or (u)int16.
        center: window centre.
        width: window width.
        inverted: True shows low values white.
        function: ``linear``, ``linear_exact`` or ``sigmoid``.

    Returns:
        [256] or [65536], in the order of the unsigned number of the same bits: signed values are
        looked up by ``table.take(values.view(unsigned type))``, as ``look_up`` does.

    Raises:
        ValueError: as ``to_display``; another number format.
    """
    _check(width, function)
    info = _limits(dtype)
    table = np.zeros(info.max - info.min + 1, np.uint8)
    reach = width / 2.0 + 1.0 if function != "sigmoid" else width * 2.0 + 1.0
    low = int(np.clip(np.floor(center - reach), info.min, info.max + 1))
    high = int(np.clip(np.ceil(center + reach) + 1.0, low, info.max + 1))
    table[high - info.min :] = 255  # sigmoid: 255 / (1 + exp(8)) is less than half a step
    share = _share(
        np.arange(low, high, dtype=np.float64), center=center, width=width, function=function
    )
    table[low - info.min : high - info.min] = np.rint(share * 255.0)
    return _wrapped(255 - table if inverted else table, info.min)


def _limits(dtype: np.dtype[np.generic] | type[np.generic]) -> np.iinfo[Any]:
    """Least and greatest value of a number format that a table can hold."""
    kind: np.dtype[Any] = np.dtype(dtype)
    if kind.kind not in "ui" or kind.itemsize > 2:
        raise ValueError(f"no table for {kind} values; use to_display")
    return np.iinfo(kind)


def _wrapped(table: NDArray[np.uint8], least: int) -> NDArray[np.uint8]:
    """A table from the least value upwards, in the order of unsigned numbers."""
    return np.concatenate([table[-least:], table[:-least]]) if least < 0 else table


def look_up(table: NDArray[np.uint8], array: NDArray[np.generic]) -> NDArray[np.uint8]:
    """Values of any shape through a table of ``lookup_table`` for their number format."""
    index = np.ascontiguousarray(array).view(f"u{array.dtype.itemsize}").reshape(-1)
    found = np.empty(index.shape, np.uint8)
    for at in range(0, len(index), CHUNK):  # numpy widens indices to 64 bits: keep them in cache
        table.take(index[at : at + CHUNK], out=found[at : at + CHUNK], mode="clip")
    return found.reshape(array.shape)


def apply_lut(
    array: NDArray[np.generic], lut: VoiLut, *, inverted: bool = False
) -> NDArray[np.uint8]:
    """Map values to 0..255 through a value-of-interest table (PS3.3 C.11.2.1.1)."""
    if _has_table(array):
        info = _limits(array.dtype)
        every = np.arange(info.min, info.max + 1)
        return look_up(_wrapped(apply_lut(every, lut, inverted=inverted), info.min), array)
    index = np.nan_to_num(array.astype(np.float64)) - lut.first
    grey = lut.table[np.clip(np.rint(index), 0, len(lut.table) - 1).astype(np.intp)]
    return 255 - grey if inverted else grey


def derive_window(
    array: NDArray[np.generic], *, padding: tuple[float, float] | float | None = None
) -> tuple[float, float]:
    """A window for values whose file names none.

    8-bit values are shown as they are, masks of 0 and 1 in black and white. Others run from
    percentile 0.5 to 99.5 of the finite values that are not padding (at most a million of them,
    evenly taken); where the two are equal, from the least to the greatest.

    Args:
        array: values after the modality transform.
        padding: the value, or (low, high) both included, that stands for no picture.

    Returns:
        (center, width) for ``function_of``: the ends of the range become 0 and 255 exactly, save
        for ranges wider than the greatest number, whose ends are cut.
    """
    if array.dtype == np.bool_ or (array.dtype == np.uint8 and array.size and array.max() == 1):
        return spanning(0.0, 1.0)
    if array.dtype == np.uint8:
        return 128.0, 256.0
    with np.errstate(invalid="ignore"):
        value = array.reshape(-1)[:: max(1, array.size // SAMPLE)].astype(np.float64)
    keep = np.isfinite(value)
    if padding is not None:
        low, high = padding if isinstance(padding, tuple) else (padding, padding)
        keep &= ~((value >= low) & (value <= high))
    value = np.clip(value[keep], -WIDEST / 2.0, WIDEST / 2.0)  # so that a width is a number
    if value.size == 0:
        return spanning(0.0, 0.0)
    bottom, top = np.percentile(value, [LOW_PERCENT, HIGH_PERCENT])
    if bottom == top:
        bottom, top = value.min(), value.max()
    return spanning(float(bottom), float(top))


def function_of(window: tuple[float, float]) -> str:
    """The function of a derived window: LINEAR, which allows no width below 1, or LINEAR_EXACT."""
    return "linear" if window[1] >= 1.0 else "linear_exact"


def spanning(low: float, high: float) -> tuple[float, float]:
    """The window of ``function_of`` whose ends are exactly ``low`` and ``high``."""
    if 0.0 < high - low < NARROW:
        return low / 2.0 + high / 2.0, high - low
    if high - low > 1.0 / np.finfo(np.float64).eps:  # 1 is nothing beside it
        return low / 2.0 + high / 2.0, high - low
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
    own = window is None or window == pixels.window or window in pixels.windows
    function = pixels.window_function if own else function_of((center, width))
    width = min(width, WIDEST)
    return to_display(values, center=center, width=width, inverted=inverted, function=function)
