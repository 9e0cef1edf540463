"""All layers of one paint in their order, and the way from the pointer to the patient.

Owns the order: slice, graphics, lines, crosshair, measures, words. Decides nothing.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from PySide6.QtCore import QPointF, QRectF
from PySide6.QtGui import QPainter

from app.widgets import canvas_paint as draw
from app.widgets import measure_paint
from app.widgets.content import Picture, ViewState
from app.widgets.measure import NAMES, named_value, probe_words
from app.widgets.measure_hand import MeasureHand
from app.widgets.measure_paint import Line
from app.widgets.placement import Placement
from app.widgets.slice_images import SliceImages

TOOL_WORDS = {**NAMES, "roi": "region: ellipse", "roi-box": "region: rectangle", "window": ""}


@dataclass(frozen=True)
class Looks:
    """Everything that one paint needs.

    Attributes:
        picture, state, placed, view: what is shown, how and where.
        shown: names of what is written over it.
        hand: measures, or None where there are none.
        index, moment: of the slice in force.
        tool: in hand.
        rate: frames a second while a cine runs.
        pointer: under which a pixel is read, or None.
        cross: patient coordinates of the crosshair, or None.
        cross_colors: of its upright and its level line.
        lines: reference lines in pixels of the slice.
    """

    picture: Picture
    state: ViewState
    placed: Placement
    view: QRectF
    shown: frozenset[str]
    hand: MeasureHand | None
    index: int
    moment: int
    tool: str
    rate: float | None
    pointer: QPointF | None
    cross: NDArray[np.float64] | None
    cross_colors: tuple[str, str]
    lines: tuple[Line, ...]


def paint_picture(painter: QPainter, images: SliceImages, looks: Looks) -> None:
    """The slice and what the file draws over it."""
    picture, state, placed, view = looks.picture, looks.state, looks.placed, looks.view
    draw.draw_slice(painter, images, picture, state, placed, view)
    if "graphics" in looks.shown and picture.overlays:
        draw.draw_graphics(painter, images, picture, state, placed, view)
    draw.draw_inset(painter, picture, state, view)


def paint_marks(painter: QPainter, looks: Looks) -> None:
    """Reference lines, crosshair and measures."""
    placed = looks.placed
    measure_paint.draw_lines(painter, looks.lines, placed)
    if looks.cross is not None:
        at = cross_place(looks.picture, looks.cross, placed)
        if at is not None:
            upright, level = looks.cross_colors
            colors = (level, upright) if looks.state.turns % 2 else (upright, level)
            measure_paint.draw_cross(painter, at, looks.view, colors)
    hand = looks.hand
    if hand is not None:
        found = hand.of(looks.index, looks.moment)
        chosen = next((one for number, one in found if number == hand.chosen), None)
        measure_paint.draw_measures(
            painter, looks.picture, [one for _, one in found], placed, looks.view, chosen=chosen
        )


def paint_words(painter: QPainter, looks: Looks) -> None:
    """Letters, badges, facts, scale and slice bar."""
    picture, state, view, shown = looks.picture, looks.state, looks.view, looks.shown
    if "bar" in shown:
        draw.draw_slice_bar(painter, picture, state, view)
    if "letters" in shown:
        draw.draw_letters(painter, picture, state, view)
    tool = TOOL_WORDS.get(looks.tool, "")
    if looks.rate is not None:
        tool = f"playing, {looks.rate:.0f} a second"
    draw.draw_badges(painter, picture, state, view, shown, tool)
    if "scale" in shown:
        draw.draw_scale(painter, picture, looks.placed, view)
    draw.draw_facts(painter, picture, state, view, shown, _probed(looks))


def _probed(looks: Looks) -> tuple[str, ...]:
    """The value under the pointer; with the probe in hand also its places."""
    if looks.pointer is None or "probe" not in looks.shown:
        return ()
    at = looks.placed.to_picture(looks.pointer)
    said = probe_words(looks.picture, looks.index, looks.moment, at)
    said = (named_value(looks.picture, said[0]), *said[1:]) if said else ()
    return said if looks.tool == "probe" else said[:1]


def paint(painter: QPainter, images: SliceImages, looks: Looks) -> None:
    """Everything."""
    paint_picture(painter, images, looks)
    paint_marks(painter, looks)
    paint_words(painter, looks)


def cross_place(
    picture: Picture | None, point: NDArray[np.float64], placed: Placement
) -> QPointF | None:
    """Where patient coordinates lie on the canvas, None without a geometry."""
    if picture is None or picture.geometry is None:
        return None
    _z, y, x = picture.geometry.index(point)
    return placed.to_screen(x, y)


def patient_point(
    picture: Picture | None, index: int, placed: Placement, at: QPointF
) -> NDArray[np.float64] | None:
    """Patient coordinates of the pixel under a place; None outside or without a geometry."""
    if picture is None or picture.geometry is None:
        return None
    x, y = placed.to_picture(at)
    rows, columns = picture.array.shape[1:3]
    x, y = min(columns - 1, max(0, round(x))), min(rows - 1, max(0, round(y)))
    return picture.geometry.point((index, y, x))
