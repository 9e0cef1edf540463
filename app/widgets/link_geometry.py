"""Where two viewers of one frame of reference meet: lines, nearest slices, equal views.

Owns the geometry between pictures of one frame of reference; nothing is drawn or linked here.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray
from PySide6.QtCore import QRectF

from app.widgets.content import LEAST_ZOOM, MOST_ZOOM, Picture, ViewState
from app.widgets.placement import Placement, place
from app.widgets.view_commands import Room, fit_scale
from engine.evidence.geometry import Geometry

PARALLEL = 0.7  # cosine: planes within 45 degrees scroll together
Line = tuple[tuple[float, float], tuple[float, float]]


@dataclass(frozen=True)
class View:
    """How a picture is seen: where it lies on its canvas, and which slice."""

    placed: Placement
    view: QRectF
    index: int


def same_space(one: Picture | None, other: Picture | None) -> bool:
    """True if both pictures lie in one frame of reference."""
    if one is None or other is None or one.geometry is None or other.geometry is None:
        return False
    return one.geometry.frame is not None and one.geometry.frame == other.geometry.frame


def middle_point(picture: Picture, index: int) -> NDArray[np.float64]:
    """Patient coordinates of the middle of a slice."""
    assert picture.geometry is not None
    rows, columns = picture.array.shape[1:3]
    return picture.geometry.point((index, (rows - 1) / 2, (columns - 1) / 2))


def nearest_slice(picture: Picture, point: NDArray[np.float64]) -> int:
    """The slice nearest to a patient point, along the normal."""
    assert picture.geometry is not None
    geometry = picture.geometry
    return int(np.argmin(np.abs(geometry.distance() - float(point @ geometry.normal))))


def parallel(one: Picture, other: Picture) -> bool:
    """True if scrolling one plane moves through the other's stack as well."""
    assert one.geometry is not None
    assert other.geometry is not None
    return abs(float(one.geometry.normal @ other.geometry.normal)) > PARALLEL


def alike(one: Picture, other: Picture) -> bool:
    """True if columns and rows run the same way, so that one view can match the other."""
    assert one.geometry is not None
    assert other.geometry is not None
    pairs = (
        (one.geometry.column_step, other.geometry.column_step),
        (one.geometry.row_step, other.geometry.row_step),
    )
    return all(
        float(a @ b) > PARALLEL * float(np.linalg.norm(a) * np.linalg.norm(b)) for a, b in pairs
    )


def matched(
    state: ViewState, own: Picture, view: QRectF, other: Picture, other_view: View
) -> ViewState:
    """A state in which the same patient point lies in the middle, a millimetre as long.

    Args:
        state: flips, turns and the rest, to be kept.
        own: the picture that follows.
        view: its canvas.
        other: the picture that was acted on.
        other_view: how that one is seen.
    """
    assert own.geometry is not None
    assert other.geometry is not None
    if own.spacing is None or other.spacing is None:
        return state
    x, y = other_view.placed.to_picture(other_view.view.center())
    point = other.geometry.point((other_view.index, y, x))
    ratio = other_view.placed.ratio
    wanted = other_view.placed.pixel_size()[0] / other.spacing[1]
    fitting = fit_scale(own, state, Room(view.width() * ratio, view.height() * ratio))
    zoom = min(MOST_ZOOM, max(LEAST_ZOOM, wanted * own.spacing[1] / fitting))
    straight = replace(state, zoom=zoom, pan_x=0.0, pan_y=0.0)
    _z, row, column = own.geometry.index(point)
    gap = view.center() - place(own, straight, view, ratio).to_screen(column, row)
    return straight.panned(gap.x() / view.width(), gap.y() / view.height())


def reference_line(
    picture: Picture, index: int, other_picture: Picture, other_index: int
) -> Line | None:
    """Where another picture's slice cuts the shown one.

    Args:
        picture: the one that is drawn on.
        index: its slice.
        other_picture: the one whose plane is drawn.
        other_index: its slice.

    Returns:
        Two ends as (column, row) of the shown slice, as far as the other slice reaches; None if
        the planes do not share a frame of reference, are parallel or do not meet.
    """
    shown, other = picture.geometry, other_picture.geometry
    if shown is None or other is None or not same_space(picture, other_picture):
        return None
    if abs(float(shown.normal @ other.normal)) > 0.999:
        return None
    corners = _corners(other_picture, other_index)
    base = shown.origin_Z3[index]
    heights = [float((corner - base) @ shown.normal) for corner in corners]
    ends = []
    for here, there in ((0, 1), (1, 2), (2, 3), (3, 0)):
        a, b = heights[here], heights[there]
        if (a < 0) != (b < 0):
            ends.append(corners[here] + (corners[there] - corners[here]) * (a / (a - b)))
    if len(ends) < 2:
        return None
    first, last = (_in_slice(shown, index, end) for end in ends[:2])
    rows, columns = picture.array.shape[1:3]
    return _clipped(first, last, (rows, columns))


def _corners(picture: Picture, index: int) -> list[NDArray[np.float64]]:
    """Patient coordinates of a slice's four corners, around."""
    assert picture.geometry is not None
    rows, columns = picture.array.shape[1:3]
    low, right, bottom = -0.5, columns - 0.5, rows - 0.5
    around = ((low, low), (low, right), (bottom, right), (bottom, low))
    return [picture.geometry.point((index, y, x)) for y, x in around]


def _in_slice(geometry: Geometry, index: int, point: NDArray[np.float64]) -> tuple[float, float]:
    """(column, row) of a patient point that lies in a slice's plane."""
    plane = np.stack([geometry.column_step, geometry.row_step], axis=1)
    x, y = np.linalg.lstsq(plane, point - geometry.origin_Z3[index], rcond=None)[0]
    return float(x), float(y)


def _clipped(
    first: tuple[float, float], last: tuple[float, float], shape: tuple[int, int]
) -> Line | None:
    """The part of a line inside a picture (Liang-Barsky), None if there is none."""
    low, high = 0.0, 1.0
    for start, end, limit in zip(first, last, (shape[1], shape[0]), strict=True):
        way = end - start
        for edge, sign in ((-0.5, -1.0), (limit - 0.5, 1.0)):
            gap = sign * (edge - start)
            if way * sign == 0:
                if gap < 0:
                    return None
            elif way * sign > 0:
                high = min(high, gap / (way * sign))
            else:
                low = max(low, gap / (way * sign))
    if low >= high:
        return None
    dx, dy = last[0] - first[0], last[1] - first[1]
    return (
        (first[0] + low * dx, first[1] + low * dy),
        (first[0] + high * dx, first[1] + high * dy),
    )
