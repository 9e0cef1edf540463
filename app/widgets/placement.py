"""Where a picture lies on a canvas, and the way between its pixels and the screen.

Owns fit, zoom, pan, flips, quarter turns and device pixels. A pixel's centre has whole numbers:
column x, row y of the stored picture.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from PySide6.QtCore import QPointF, QRectF

from app.widgets.content import Picture, ViewState
from app.widgets.view_commands import Room, fit_scale, shown_size

EXACT = 1e-9


@dataclass(frozen=True)
class Placement:
    """One picture on one canvas.

    Attributes:
        rect: where the picture as turned lies, in the canvas's units, on whole device pixels.
        rows, columns: of the stored picture.
        flip_h, flip_v, turns: as in ``ViewState``.
        ratio: device pixels of one unit.
    """

    rect: QRectF
    rows: int
    columns: int
    flip_h: bool = False
    flip_v: bool = False
    turns: int = 0
    ratio: float = 1.0

    def to_screen(self, x: float, y: float) -> QPointF:
        """The place of (column, row) on the canvas."""
        u, v = (x + 0.5) / self.columns, (y + 0.5) / self.rows
        u, v = 1 - u if self.flip_h else u, 1 - v if self.flip_v else v
        for _ in range(self.turns):
            u, v = 1 - v, u
        return QPointF(
            self.rect.x() + u * self.rect.width(), self.rect.y() + v * self.rect.height()
        )

    def to_picture(self, point: QPointF) -> tuple[float, float]:
        """(column, row) under a place of the canvas; may lie outside the picture."""
        u = (point.x() - self.rect.x()) / self.rect.width()
        v = (point.y() - self.rect.y()) / self.rect.height()
        for _ in range(self.turns):
            u, v = v, 1 - u
        u, v = 1 - u if self.flip_h else u, 1 - v if self.flip_v else v
        return u * self.columns - 0.5, v * self.rows - 0.5

    def region(self, left: float, top: float, right: float, bottom: float) -> QRectF:
        """The rectangle that pixels left..right-1, top..bottom-1 cover on the canvas."""
        first = self.to_screen(left - 0.5, top - 0.5)
        return QRectF(first, self.to_screen(right - 0.5, bottom - 0.5)).normalized()

    def visible(self, view: QRectF) -> tuple[int, int, int, int]:
        """Left, top, right, bottom of the pixels that lie in ``view``, the last two beyond."""
        seen = self.rect.intersected(view)
        if seen.isEmpty():
            return 0, 0, 0, 0
        corners = [self.to_picture(seen.topLeft()), self.to_picture(seen.bottomRight())]
        x = sorted(corner[0] for corner in corners)
        y = sorted(corner[1] for corner in corners)
        return (
            max(0, int(np.floor(x[0] + 0.5))),
            max(0, int(np.floor(y[0] + 0.5))),
            min(self.columns, int(np.ceil(x[1] + 0.5))),
            min(self.rows, int(np.ceil(y[1] + 0.5))),
        )

    def pixel_size(self) -> tuple[float, float]:
        """Device pixels of one stored column and of one stored row."""
        width, height = self.rect.width() * self.ratio, self.rect.height() * self.ratio
        if self.turns % 2:
            width, height = height, width
        return width / self.columns, height / self.rows


def place(picture: Picture, state: ViewState, view: QRectF, ratio: float = 1.0) -> Placement:
    """Fitted, then zoomed and panned, on whole device pixels."""
    rows, columns = picture.array.shape[1:3]
    room = Room(view.width() * ratio, view.height() * ratio)
    scale = fit_scale(picture, state, room) * state.zoom
    width, height = shown_size(picture, state)
    across, down = max(1, round(width * scale)), max(1, round(height * scale))
    if abs(scale - 1.0) > EXACT:  # at actual size each pixel is drawn as it is
        across, down = _snap(across, room.width), _snap(down, room.height)
    aside = picture.anchor * max(0.0, room.width - across) / 2
    left = round(room.width * (0.5 + state.pan_x) - across / 2 + aside)
    top = round(room.height * (0.5 + state.pan_y) - down / 2)
    rect = QRectF(left / ratio, top / ratio, across / ratio, down / ratio)
    rect.translate(view.topLeft())
    return Placement(rect, rows, columns, state.flip_h, state.flip_v, state.turns, ratio)


def _snap(length: int, room: float) -> int:
    """With an equal rest on both sides, so that the two wings are mirror images."""
    return length - 1 if length > 1 and (round(room) - length) % 2 else length


def oriented(values: NDArray[Any], state: ViewState) -> NDArray[Any]:
    """[Y, X, ...] as flipped and turned; a view, nothing is copied."""
    if state.flip_h:
        values = values[:, ::-1]
    if state.flip_v:
        values = values[::-1]
    return np.rot90(values, -state.turns) if state.turns % 4 else values


def screen_axes(
    right: NDArray[np.float64], down: NDArray[np.float64], state: ViewState
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Directions to the right and down of the screen, from those of columns and rows."""
    right = -right if state.flip_h else right
    down = -down if state.flip_v else down
    for _ in range(state.turns % 4):
        right, down = -down, right
    return right, down
