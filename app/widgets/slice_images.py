"""From stored values to the image on the screen, fast: only what is seen, each step kept.

Owns the table through which values become grey and the averaging of large pictures; finished
images lie in the store.

A picture shown smaller is averaged in blocks before the window, once for a slice and block, and
what is left is interpolated. For a linear window that equals averaging after it, except where
values lie beyond the window's ends: there it is the truer of the two, as a detector with larger
pixels would have seen it.
"""

from __future__ import annotations

import threading
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from PySide6.QtCore import QPointF, QRectF
from PySide6.QtGui import QColor, QImage, QPainter

from app.widgets import averaging
from app.widgets.content import Picture, ViewState, slice_index
from app.widgets.image_store import STORE, ImageStore
from app.widgets.placement import Placement, oriented
from app.widgets.window_presets import window_of

WHOLE_PIXELS = 1_500_000  # more than this are rendered only where they are seen
STEP = 256  # a seen region grows to multiples of it, so that a small pan finds it again

_GREYS = (np.arange(256, dtype=np.int64) * 0x010101 | 0xFF000000).astype(np.uint32)


class _Scratch(threading.local):
    """Tables that are written over and over; one set for each thread that draws."""

    def __init__(self) -> None:
        self.tables = {8: np.zeros(1 << 8, np.uint32), 16: np.zeros(1 << 16, np.uint32)}


_SCRATCH = _Scratch()


@dataclass(frozen=True)
class Drawn:
    """An image and where it belongs.

    Attributes:
        image: RGB32, or ARGB32 for graphics.
        rect: on the canvas; the image fills it.
    """

    image: QImage
    rect: QRectF


def draw_part(painter: QPainter, drawn: Drawn, seen: QRectF) -> None:
    """Draw what lies in ``seen``, whose edges are whole device pixels: others cost twice."""
    across = drawn.image.width() / drawn.rect.width()
    down = drawn.image.height() / drawn.rect.height()
    part = QRectF(
        (seen.x() - drawn.rect.x()) * across,
        (seen.y() - drawn.rect.y()) * down,
        seen.width() * across,
        seen.height() * down,
    )
    painter.setRenderHint(QPainter.RenderHint.SmoothPixmapTransform, True)
    painter.drawImage(seen, drawn.image, part)


def _flat_key(drawn: Drawn, seen: QRectF, placed: Placement) -> tuple[Any, ...]:
    return drawn.image.cacheKey(), drawn.rect.getRect(), seen.getRect(), placed.ratio


def _flattened(drawn: Drawn, seen: QRectF, ratio: float) -> QImage:
    """What ``draw_part`` draws, in device pixels."""
    width, height = round(seen.width() * ratio), round(seen.height() * ratio)
    flat = QImage(max(1, width), max(1, height), QImage.Format.Format_RGB32)
    flat.setDevicePixelRatio(ratio)
    painter = QPainter(flat)
    moved = Drawn(drawn.image, drawn.rect.translated(-seen.topLeft()))
    draw_part(painter, moved, QRectF(QPointF(), seen.size()))
    painter.end()
    return flat


@dataclass(frozen=True)
class _Region:
    """Blocks of ``across`` x ``down`` stored pixels, from block ``left``, ``top`` on."""

    left: int
    top: int
    right: int
    bottom: int
    across: float
    down: float


class SliceImages:
    """The images of one canvas."""

    def __init__(self, store: ImageStore | None = None) -> None:
        self._store = STORE if store is None else store
        self._owner = object()
        self._amounts: bool | None = None
        self._flat_key: tuple[Any, ...] = ()
        self._flat: QImage | None = None

    def clear(self) -> None:
        """Forget; the picture changed."""
        self._store.drop(self._owner)
        self._owner = object()
        self._amounts = None
        self._flat_key, self._flat = (), None

    def draw_ahead(
        self, picture: Picture, state: ViewState, placed: Placement, view: QRectF
    ) -> None:
        """Draw the slice in force for a first paint to come, on any thread."""
        drawn = self.slice(picture, state, placed, view)
        if drawn is not None:
            seen = placed.rect.intersected(view)
            self._flat_key = _flat_key(drawn, seen, placed)
            self._flat = _flattened(drawn, seen, placed.ratio)

    def adopt(self, other: SliceImages) -> None:
        """Take over what others drew of the same picture; where it does not fit it is not used."""
        for key, thing, size in other._store.of(other._owner):
            self._store.put((self._owner, *key[1:]), thing, size)
        self._amounts, self._flat_key, self._flat = other._amounts, other._flat_key, other._flat

    def paint(
        self, painter: QPainter, picture: Picture, state: ViewState, placed: Placement, view: QRectF
    ) -> bool:
        """Draw the slice in force; False where there is nothing to draw.

        The second paint of the same keeps what it drew, so that a measure being drawn or a
        pointer that reads values costs one copy.
        """
        drawn = self.slice(picture, state, placed, view)
        if drawn is None:
            return False
        seen = placed.rect.intersected(view)
        key = _flat_key(drawn, seen, placed)
        if key != self._flat_key:
            self._flat_key, self._flat = key, None
            draw_part(painter, drawn, seen)
            return True
        if self._flat is None:
            self._flat = _flattened(drawn, seen, placed.ratio)
        painter.drawImage(seen.topLeft(), self._flat)
        return True

    def slice(
        self, picture: Picture, state: ViewState, placed: Placement, view: QRectF
    ) -> Drawn | None:
        """The slice in force; None where nothing of it is in view or it is not decoded yet."""
        index = slice_index(state.depth, picture.slices)
        moment = slice_index(state.moment, picture.moments)
        if not picture.is_ready(index):
            return None
        window = window_of(picture, state)
        if self._amounts is None:
            self._amounts = _amounts(picture)
        region = _region(placed, view, averages=self._amounts)
        if region is None:
            return None
        rect = _rect(placed, region)
        turned = (state.flip_h, state.flip_v, state.turns)
        key, look = (self._owner, index, moment, turned, region), (window, state.inverted)
        kept = self._store.get(key)
        if kept is not None and kept[0] == look:
            return Drawn(kept[1], rect)
        values = self._averaged(picture, index, moment, region)
        image = _image(picture, oriented(values, state), window, inverted=state.inverted)
        # One window at a time: another one takes its place, and its memory.
        self._store.put(key, (look, image), image.sizeInBytes())
        return Drawn(image, rect)

    def graphics(
        self, picture: Picture, state: ViewState, placed: Placement, color: QColor
    ) -> Drawn | None:
        """What the file draws over the slice (PS3.3 C.9.2), None without any."""
        index = slice_index(state.depth, picture.slices)
        across, down = (max(1, int(1 / max(one, 1e-6))) for one in placed.pixel_size())
        turned = (state.flip_h, state.flip_v, state.turns)
        key = (self._owner, "graphics", index, turned, across, down, color.rgb())
        image = self._store.get(key)
        if image is None:
            mask = graphics_mask(picture, index)
            if mask is None:
                return None
            inks = np.where(_block_any(mask, down, across), np.uint32(color.rgba()), np.uint32(0))
            image = _wrapped(oriented(inks, state), form=QImage.Format.Format_ARGB32)
            self._store.put(key, image, image.sizeInBytes())
        rows, columns = picture.array.shape[1:3]
        right, bottom = -(-columns // across) * across, -(-rows // down) * down
        return Drawn(image, placed.region(0, 0, right, bottom))

    def _averaged(self, picture: Picture, index: int, moment: int, region: _Region) -> NDArray[Any]:
        """The region's values, averaged in blocks where it is shown smaller."""
        values = picture.values(index, moment)
        across, down = region.across, region.down
        scattered = abs(values.strides[1]) > values.itemsize * 4  # a plane across the stored ones
        if across > 1 or down > 1 or scattered:
            key = (self._owner, index, moment, across, down)
            kept = self._store.get(key)
            if kept is None:
                kept = averaging.averaged(np.ascontiguousarray(values), down, across)
                self._store.put(key, kept, kept.nbytes)
            values = kept
        return values[region.top : region.bottom, region.left : region.right]

    def warm(self, picture: Picture, state: ViewState, placed: Placement) -> None:
        """Average a large picture for the next zooms as well, while nothing else happens."""
        if not self._amounts or placed.rows * placed.columns <= WHOLE_PIXELS:
            return
        index = slice_index(state.depth, picture.slices)
        moment = slice_index(state.moment, picture.moments)
        across, down = (averaging.block_for(scale) for scale in placed.pixel_size())
        for step in (-1, 1):
            wide, high = averaging.neighbour(across, step), averaging.neighbour(down, step)
            self._averaged(picture, index, moment, _Region(0, 0, 1, 1, wide, high))


def _region(placed: Placement, view: QRectF, *, averages: bool) -> _Region | None:
    """Which blocks to render: all, or of a large picture those in view."""
    across, down = (averaging.block_for(scale) for scale in placed.pixel_size())
    if not averages:
        across = down = 1.0
    columns = averaging.blocks_in(placed.columns, across)
    rows = averaging.blocks_in(placed.rows, down)
    left, top, right, bottom = placed.visible(view)
    if right <= left or bottom <= top:
        return None
    if columns * rows <= WHOLE_PIXELS:
        return _Region(0, 0, columns, rows, across, down)
    return _Region(
        max(0, int(left / across - 1) // STEP * STEP),
        max(0, int(top / down - 1) // STEP * STEP),
        min(columns, -(-int(right / across + 2) // STEP) * STEP),
        min(rows, -(-int(bottom / down + 2) // STEP) * STEP),
        across,
        down,
    )


def _amounts(picture: Picture) -> bool:
    """False for values that are names rather than amounts: they become colours."""
    if picture.color or picture.array.dtype.kind == "f":
        return True
    if picture.array.dtype.kind == "b":
        return False
    probe = picture.array[:1, :1, :1].reshape(1, 1)
    return picture.render(probe, None).ndim == 2


def _rect(placed: Placement, region: _Region) -> QRectF:
    return placed.region(
        region.left * region.across,
        region.top * region.down,
        region.right * region.across,
        region.bottom * region.down,
    )


def _image(
    picture: Picture,
    values: NDArray[Any],
    window: tuple[float, float] | None,
    *,
    inverted: bool,
) -> QImage:
    """Values through their window as an RGB32 image."""
    if picture.color:
        return color_image(picture.render(values, window), inverted=inverted)
    if values.dtype.kind in "ui" and values.dtype.itemsize <= 2:
        greys = _by_table(picture, values, window, inverted=inverted)
        if greys is not None:
            return _wrapped(greys)
    shown = picture.render(values, window)
    if shown.ndim == 3:
        return color_image(shown, inverted=inverted)
    return _wrapped(_inks(inverted).take(shown, mode="clip"))


def _inks(inverted: bool) -> NDArray[np.uint32]:
    return _GREYS[::-1] if inverted else _GREYS


def _by_table(
    picture: Picture,
    values: NDArray[Any],
    window: tuple[float, float] | None,
    *,
    inverted: bool,
) -> NDArray[np.uint32] | None:
    """0xffRRGGBB of each value by a table of the values that occur; None for colours."""
    values = values.astype(values.dtype.newbyteorder("="), copy=False)
    bits = values.dtype.itemsize * 8
    low, high = int(values.min()), int(values.max())
    every = np.arange(low, high + 1).astype(values.dtype)
    greys = picture.render(every[None], window)
    if greys.ndim == 3:
        return None
    inks = _inks(inverted).take(greys[0], mode="clip")
    table = _SCRATCH.tables[bits]
    below = max(0, -low) if low < 0 else 0
    below = min(below, len(inks))
    if below:
        start = (1 << bits) + low
        table[start : start + below] = inks[:below]
    first = max(0, low)
    table[first : first + len(inks) - below] = inks[below:]
    shown: NDArray[np.uint32] = table.take(values.view(f"u{values.dtype.itemsize}"), mode="clip")
    return shown


def graphics_mask(picture: Picture, index: int) -> NDArray[np.bool_] | None:
    """Where the file draws over a slice, [Y, X]; None if it does not."""
    found: NDArray[np.bool_] | None = None
    rows, columns = picture.array.shape[1:3]
    for one in picture.overlays:
        frame = 0 if len(one.mask) == 1 else index - one.first_frame
        if not 0 <= frame < len(one.mask):
            continue
        mask = one.mask[frame]
        top, left = max(0, one.top), max(0, one.left)
        part = mask[top - one.top : rows - one.top, left - one.left : columns - one.left]
        found = np.zeros((rows, columns), bool) if found is None else found
        found[top : top + part.shape[0], left : left + part.shape[1]] |= part
    return found


def _block_any(mask: NDArray[np.bool_], down: int, across: int) -> NDArray[np.bool_]:
    """True where a block holds any: thin lines survive when they are drawn smaller."""
    if down == across == 1:
        return mask
    rows, columns = mask.shape
    mask = np.pad(mask, ((0, -rows % down), (0, -columns % across)))
    blocks = mask.reshape(mask.shape[0] // down, down, mask.shape[1] // across, across)
    return np.asarray(blocks.any(axis=(1, 3)))


def _wrapped(
    inks: NDArray[np.uint32], *, form: QImage.Format = QImage.Format.Format_RGB32
) -> QImage:
    """An image over the array's own memory."""
    inks = np.ascontiguousarray(inks)
    height, width = inks.shape
    image = QImage(inks.data, width, height, width * 4, form)
    image.values = inks  # type: ignore[attr-defined]  # the memory lives as long as the image
    return image


def color_image(values: NDArray[np.uint8], *, inverted: bool = False) -> QImage:
    """An RGB32 image of its own from [Y, X, 3]."""
    shown = np.ascontiguousarray(255 - values if inverted else values)
    height, width = shown.shape[:2]
    image = QImage(shown.data, width, height, width * 3, QImage.Format.Format_RGB888)
    return image.convertToFormat(QImage.Format.Format_RGB32)
