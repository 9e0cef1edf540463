"""What a frame or a canvas shows, as plain frozen values, and the state of looking at it.

Owns ``Picture``, ``Content`` and ``ViewState`` and their arithmetic. No widget, no file: the
arrays are decoded elsewhere.
"""

from __future__ import annotations

import weakref
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

Render = Callable[[NDArray[Any], tuple[float, float] | None], NDArray[np.uint8]]

# Width and centre in Hounsfield units; peers.md, section 1b.
CT_WINDOWS = {
    "1": (40.0, 400.0),
    "2": (-600.0, 1500.0),
    "3": (480.0, 2500.0),
    "4": (40.0, 80.0),
    "5": (90.0, 150.0),
}
CT_NAMES = {"1": "soft tissue", "2": "lung", "3": "bone", "4": "brain", "5": "liver"}
# Where values carry no unit the keys mean shares of the given window: (shift, factor).
PLAIN_WINDOWS = {"1": (0.0, 1.0), "2": (-0.25, 0.5), "3": (0.25, 0.5), "4": (0.0, 0.6)}
PLAIN_NAMES = {"1": "as given", "2": "dark parts", "3": "bright parts", "4": "more contrast"}
GIVEN, FULL = "9", "8"
LEAST_ZOOM, MOST_ZOOM = 0.2, 20.0


@dataclass(frozen=True, eq=False)
class Picture:
    """One picture or volume, decoded.

    Attributes:
        array: [Z, Y, X], or [Z, Y, X, 3] for colour; Z = 1 for a plain picture.
        window: (center, width) it is first shown with.
        render: turns values and a window (None: as the file asks) into 8 bits.
        aspect: height of a pixel over its width.
        orientation: patient sides to which columns, rows and slices run, or None.
        hounsfield: True if the values are Hounsfield units, so that CT presets apply.
        source: the whole picture that this one was cut from, [Y, X] or [Y, X, 3], or None.
        box: where it was cut: left, top, right, bottom in pixels of ``source``.
    """

    array: NDArray[Any]
    window: tuple[float, float]
    render: Render
    aspect: float = 1.0
    orientation: str | None = None
    hounsfield: bool = False
    source: NDArray[np.uint8] | None = None
    box: tuple[int, int, int, int] | None = None

    @property
    def slices(self) -> int:
        """How many slices or frames."""
        return int(self.array.shape[0])

    @property
    def color(self) -> bool:
        """True if the values are RGB."""
        return self.array.ndim == 4


@dataclass(frozen=True, eq=False)
class Content:
    """What one frame shows: pictures, text, or both."""

    pictures: tuple[Picture, ...] = ()
    text: str | None = None


@dataclass(frozen=True)
class ViewState:
    """How a picture is looked at, relative to the picture, so that it can be shared.

    Attributes:
        depth: 0 the first slice, 1 the last.
        preset: key of the window from which ``shift`` and ``factor`` start.
        shift: of the window's centre, in widths of the starting window.
        factor: of the window's width.
        zoom: 1 fits the frame.
        pan_x, pan_y: of the picture's middle, in shares of the frame.
        inverted: black and white exchanged.
    """

    depth: float = 0.5
    preset: str = GIVEN
    shift: float = 0.0
    factor: float = 1.0
    zoom: float = 1.0
    pan_x: float = 0.0
    pan_y: float = 0.0
    inverted: bool = False

    def scrolled(self, steps: int, slices: int) -> ViewState:
        """``steps`` slices further in a stack of ``slices``."""
        if slices < 2:
            return self
        index = min(slices - 1, max(0, slice_index(self.depth, slices) + steps))
        return replace(self, depth=index / (slices - 1))

    def zoomed(self, by: float) -> ViewState:
        """Magnified ``by`` times."""
        return replace(self, zoom=min(MOST_ZOOM, max(LEAST_ZOOM, self.zoom * by)))

    def panned(self, dx: float, dy: float) -> ViewState:
        """Moved by shares of the frame; the middle stays within reach."""
        room = max(1.0, self.zoom)
        x = min(room, max(-room, self.pan_x + dx))
        y = min(room, max(-room, self.pan_y + dy))
        return replace(self, pan_x=x, pan_y=y)

    def windowed(self, wider: float, brighter: float) -> ViewState:
        """Window changed: width times ``1 + wider``, centre by ``brighter`` widths."""
        factor = min(20.0, max(0.01, self.factor * (1.0 + wider)))
        shift = min(10.0, max(-10.0, self.shift + brighter))
        return replace(self, factor=factor, shift=shift)

    def with_preset(self, key: str) -> ViewState:
        """The window of a preset key."""
        return replace(self, preset=key, shift=0.0, factor=1.0)

    def fitted(self) -> ViewState:
        """The whole picture in the frame."""
        return replace(self, zoom=1.0, pan_x=0.0, pan_y=0.0)

    def fresh(self) -> ViewState:
        """Fit and the given window; the slice stays."""
        return ViewState(depth=self.depth)


def slice_index(depth: float, slices: int) -> int:
    """The slice at a relative depth."""
    return min(slices - 1, max(0, round(depth * (slices - 1))))


def starting_window(picture: Picture, preset: str) -> tuple[float, float]:
    """(center, width) of a preset for this picture."""
    center, width = picture.window
    if preset == FULL:
        low, high = _range(picture)
        return (low + high + 1) / 2, max(1.0, high - low + 1)
    if picture.hounsfield and preset in CT_WINDOWS:
        return CT_WINDOWS[preset]
    shift, factor = PLAIN_WINDOWS.get(preset, (0.0, 1.0))
    return center + shift * width, width * factor


_RANGES: weakref.WeakKeyDictionary[Picture, tuple[float, float]] = weakref.WeakKeyDictionary()


def _range(picture: Picture) -> tuple[float, float]:
    """Least and greatest value; found once, since a large volume takes a moment."""
    if picture not in _RANGES:
        _RANGES[picture] = (float(picture.array.min()), float(picture.array.max()))
    return _RANGES[picture]


def window_of(picture: Picture, state: ViewState) -> tuple[float, float] | None:
    """(center, width) in force, or None while the picture is shown as its file asks."""
    as_given = state.preset == GIVEN or (state.preset == "1" and not picture.hounsfield)
    if as_given and state.shift == 0.0 and state.factor == 1.0:
        return None
    center, width = starting_window(picture, state.preset)
    return center + state.shift * width, max(1.0, width * state.factor)


def preset_name(picture: Picture, preset: str) -> str:
    """What a preset key does to this picture, in words."""
    if preset == FULL:
        return "full range"
    return (CT_NAMES if picture.hounsfield else PLAIN_NAMES).get(preset, "as given")


def crop(picture: Picture, box: tuple[int, int, int, int]) -> Picture:
    """The region of a picture, with the whole one kept for the inset."""
    left, top, right, bottom = box
    whole = picture.render(picture.array[0], None)
    cut = picture.array[:, top:bottom, left:right]
    return replace(picture, array=np.ascontiguousarray(cut), source=whole, box=box)


def eight_bit(array: NDArray[np.uint8], *, orientation: str | None = None) -> Picture:
    """A picture from 8-bit values as studies keep them.

    Args:
        array: [Y, X], [Y, X, 3], [S, Y, X] or [S, Y, X, 3], uint8. Equal channels become grey.
        orientation: patient sides to which columns, rows and slices run, or None.
    """
    stack = array
    if array.ndim == 2 or (array.ndim == 3 and array.shape[-1] == 3):
        stack = array[None]
    if stack.ndim == 4 and _is_grey(stack):
        stack = np.ascontiguousarray(stack[..., 0])
    return Picture(stack, (128.0, 256.0), _render_eight_bit, orientation=orientation)


def _is_grey(stack: NDArray[np.uint8]) -> bool:
    red = stack[..., 0]
    return bool((red == stack[..., 1]).all() and (red == stack[..., 2]).all())


def _render_eight_bit(
    values: NDArray[Any], window: tuple[float, float] | None
) -> NDArray[np.uint8]:
    """The LINEAR window of PS3.3 C.11.2.1.2 over 8-bit values, by table."""
    if window is None or values.ndim == 3:
        return np.ascontiguousarray(values, dtype=np.uint8)
    center, width = window
    every = np.arange(256, dtype=np.float64)
    share = np.clip((every - (center - 0.5)) / max(width - 1.0, 1e-6) + 0.5, 0.0, 1.0)
    table = np.rint(share * 255.0).astype(np.uint8)
    return table.take(values, mode="clip")  # several times faster than table[values]
