"""What a frame or a canvas shows, as plain frozen values, and the state of looking at it.

Owns ``Picture``, ``Content`` and ``ViewState`` and their arithmetic. No widget, no file: the
arrays are decoded elsewhere. Windows and their presets are ``app.widgets.window_presets``.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from app.widgets.window_presets import GIVEN, preset_name, starting_window, window_of
from engine.evidence.geometry import Geometry
from engine.evidence.study import Overlay

__all__ = [
    "GIVEN", "Content", "Picture", "ViewState", "crop", "eight_bit", "preset_name", "slice_index",
    "starting_window", "window_of",
]  # fmt: skip

Index = tuple[int, int, int]
Render = Callable[[NDArray[Any], tuple[float, float] | None], NDArray[np.uint8]]

LEAST_ZOOM, MOST_ZOOM = 0.05, 100.0


@dataclass(frozen=True, eq=False)
class Picture:
    """One picture or volume, decoded.

    Attributes:
        array: [Z, Y, X], or [Z, Y, X, 3] for colour; Z = 1 for a plain picture.
        window: (center, width) it is first shown with.
        render: turns values and a window (None: as the file asks) into 8 bits, value by value:
            the grey of one value never depends on its neighbours.
        aspect: height of a pixel over its width.
        orientation: patient sides to which columns, rows and slices run, or None.
        hounsfield: True if the values are Hounsfield units, so that CT presets apply.
        source: the whole picture that this one was cut from, [Y, X] or [Y, X, 3], or None.
        box: where it was cut: left, top, right, bottom in pixels of ``source``.
        geometry: where each slice of ``array`` lies in the patient, or None.
        overlays: graphics drawn over it, never burned into the values.
        windows: every (center, width) of the header, the first one included.
        marks: indices of the slices that the model saw.
        ready: which slices are decoded, [Z]; the others are drawn as loading. None: all.
        frame_ms: milliseconds of one frame of a cine, None if unknown.
        spacing_mm: (row, column) distances where ``geometry`` does not say them, or None.
        spacing_source: where the distances were found, in the header's word.
        unit: of the values, for example ``HU``.
        times: [T, Z, Y, X] of a 4D file, whose first time point ``array`` is, or None.
        token: opaque, equal for one series; nothing is told from it but equality.
        kind: ``image``, ``volume``, ``cine`` or empty.
        notes: sentences about how it was made, for example resampled rows.
        anchor: where a picture narrower than its frame stands: -1 at the left edge, 0 in the
            middle, 1 at the right edge (two breasts meet at their chest walls).
        calibrated: (left, top, right, bottom) in pixels of ``array``, right and bottom excluded,
            outside which distances in mm do not hold (ultrasound regions); None: everywhere.
        padding: (low, high) values that are no picture, both included, or None.
        stored: from (moment, slice, row, column) of ``array`` to (slice, row, column) as the file
            holds them, which ``triptych show --probe`` takes; it gives None for a place that was
            interpolated. None: the values are not those of a file.
        absent: [Y, X], True where a cut runs through no slice: drawn as a gap, never measured.
    """

    array: NDArray[Any]
    window: tuple[float, float]
    render: Render
    aspect: float = 1.0
    orientation: str | None = None
    hounsfield: bool = False
    source: NDArray[np.uint8] | None = None
    box: tuple[int, int, int, int] | None = None
    geometry: Geometry | None = None
    overlays: tuple[Overlay, ...] = ()
    windows: tuple[tuple[float, float], ...] = ()
    marks: tuple[int, ...] = ()
    ready: NDArray[np.bool_] | None = None
    frame_ms: float | None = None
    spacing_mm: tuple[float, float] | None = None
    spacing_source: str | None = None
    unit: str = ""
    times: NDArray[Any] | None = None
    token: str | None = None
    kind: str = ""
    notes: tuple[str, ...] = ()
    anchor: float = 0.0
    calibrated: tuple[int, int, int, int] | None = None
    padding: tuple[float, float] | None = None
    stored: Callable[[int, int, int, int], Index | None] | None = None
    absent: NDArray[np.bool_] | None = None

    @property
    def slices(self) -> int:
        """How many slices or frames."""
        return int(self.array.shape[0])

    @property
    def moments(self) -> int:
        """How many time points."""
        return 1 if self.times is None else int(self.times.shape[0])

    @property
    def color(self) -> bool:
        """True if the values are RGB."""
        return self.array.ndim == 4

    @property
    def spacing(self) -> tuple[float, float] | None:
        """(row, column) distances in mm, None where no file said them."""
        if self.spacing_mm is not None and min(self.spacing_mm) > 0:
            return self.spacing_mm
        if self.geometry is None:
            return None
        row = float(np.linalg.norm(self.geometry.row_step))
        column = float(np.linalg.norm(self.geometry.column_step))
        return (row, column) if min(row, column) > 0 else None

    def is_ready(self, index: int) -> bool:
        """True if the slice is decoded."""
        return self.ready is None or bool(self.ready[index])

    def values(self, index: int, moment: int = 0) -> NDArray[Any]:
        """One slice at one time point, [Y, X] or [Y, X, 3]."""
        if self.times is not None:
            return self.times[moment, index]
        return self.array[index]


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
        flip_h, flip_v: columns, rows of the stored picture run the other way.
        turns: quarter turns to the right, after the flips.
        given: which of the header's windows preset 9 means.
        moment: 0 the first time point, 1 the last.
    """

    depth: float = 0.5
    preset: str = GIVEN
    shift: float = 0.0
    factor: float = 1.0
    zoom: float = 1.0
    pan_x: float = 0.0
    pan_y: float = 0.0
    inverted: bool = False
    flip_h: bool = False
    flip_v: bool = False
    turns: int = 0
    given: int = 0
    moment: float = 0.0

    @property
    def mirrored(self) -> bool:
        """True if the picture is seen as in a mirror."""
        return self.flip_h != self.flip_v

    @property
    def degrees(self) -> int:
        """How far it is turned to the right, 0 to 270; two flips are half a turn."""
        return (self.turns + (2 if self.flip_v else 0)) % 4 * 90

    def scrolled(self, steps: int, slices: int) -> ViewState:
        """``steps`` slices further in a stack of ``slices``."""
        if slices < 2:
            return self
        index = min(slices - 1, max(0, slice_index(self.depth, slices) + steps))
        return replace(self, depth=index / (slices - 1))

    def at_moment(self, steps: int, moments: int) -> ViewState:
        """``steps`` time points further; after the last comes the first."""
        if moments < 2:
            return self
        index = (slice_index(self.moment, moments) + steps) % moments
        return replace(self, moment=index / (moments - 1))

    def zoomed(self, by: float, at: tuple[float, float] = (0.0, 0.0)) -> ViewState:
        """Magnified ``by`` times around ``at``, in shares of the frame from its middle."""
        zoom = min(MOST_ZOOM, max(LEAST_ZOOM, self.zoom * by))
        by = zoom / self.zoom
        x = at[0] + (self.pan_x - at[0]) * by
        y = at[1] + (self.pan_y - at[1]) * by
        return replace(self, zoom=zoom).panned(x - self.pan_x, y - self.pan_y)

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

    def with_preset(self, key: str, *, given: int = 0) -> ViewState:
        """The window of a preset key; for preset 9 the header's window number ``given``."""
        return replace(self, preset=key, shift=0.0, factor=1.0, given=given)

    def flipped(self, *, across: bool) -> ViewState:
        """Left and right (``across``) or top and bottom of what is seen exchanged."""
        pan = (-self.pan_x, self.pan_y) if across else (self.pan_x, -self.pan_y)
        if across == (self.turns % 2 == 0):
            flipped = replace(self, flip_h=not self.flip_h)
        else:
            flipped = replace(self, flip_v=not self.flip_v)
        return replace(flipped, pan_x=pan[0], pan_y=pan[1])

    def turned(self, quarters: int, *, ratio: float = 1.0) -> ViewState:
        """Turned to the right around the middle of a frame ``ratio`` times as wide as high."""
        x, y = self.pan_x * ratio, self.pan_y
        for _ in range(quarters % 4):
            x, y = -y, x
        turned = replace(self, turns=(self.turns + quarters) % 4, pan_x=0.0, pan_y=0.0)
        return turned.panned(x / ratio, y)

    def fitted(self) -> ViewState:
        """The whole picture in the frame."""
        return replace(self, zoom=1.0, pan_x=0.0, pan_y=0.0)

    def fresh(self) -> ViewState:
        """Fit, upright and the given window; slice and time point stay."""
        return ViewState(depth=self.depth, moment=self.moment)


def slice_index(depth: float, slices: int) -> int:
    """The slice at a relative depth."""
    return min(slices - 1, max(0, round(depth * (slices - 1))))


def crop(picture: Picture, box: tuple[int, int, int, int]) -> Picture:
    """The region of a picture, with the whole one kept for the inset."""
    left, top, right, bottom = box
    whole = picture.render(picture.array[0], None)
    cut = picture.array[:, top:bottom, left:right]
    placed = picture.geometry
    if placed is not None:
        corner = top * placed.row_step + left * placed.column_step
        placed = replace(placed, origin_Z3=placed.origin_Z3 + corner)
    return replace(
        picture,
        array=np.ascontiguousarray(cut),
        times=None if picture.times is None else picture.times[:, :, top:bottom, left:right],
        source=whole,
        box=box,
        geometry=placed,
        overlays=tuple(
            replace(one, top=one.top - top, left=one.left - left) for one in picture.overlays
        ),
        **_cut_facts(picture, left, top),
        absent=None if picture.absent is None else picture.absent[top:bottom, left:right],
    )


def _cut_facts(picture: Picture, left: int, top: int) -> dict[str, Any]:
    """What is told in pixels of the whole picture, told in those of a region."""
    facts: dict[str, Any] = {}
    if picture.calibrated is not None:
        x0, y0, x1, y1 = picture.calibrated
        facts["calibrated"] = (x0 - left, y0 - top, x1 - left, y1 - top)
    stored = picture.stored
    if stored is not None:
        facts["stored"] = lambda moment, z, y, x: stored(moment, z, y + top, x + left)
    return facts


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
