"""Links canvases: what is done to one is done to all, so that no picture gets better display.

Owns what linked canvases share. By relative depth all states are equal after any action, which
is what a fair comparison needs; by position those that lie in one frame of reference go to the
nearest slice of the same patient point instead, seen at the same scale. Tools, hidden words and
the crosshair are everyone's, linked or not.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray
from PySide6.QtCore import QObject, QRectF, Signal

from app.widgets.content import ViewState
from app.widgets.image_canvas import ImageCanvas
from app.widgets.link_geometry import (
    View,
    alike,
    matched,
    middle_point,
    nearest_slice,
    parallel,
    reference_line,
    same_space,
)


class ViewLink(QObject):
    """Keeps the states of its canvases together while it is on.

    Signals:
        moved: the canvas that the user acted on.

    Args:
        by_position: scroll by patient position where frames of reference agree. Without it all
            states are equal after any action.
    """

    moved = Signal(object)

    def __init__(self, parent: QObject | None = None, *, by_position: bool = False) -> None:
        super().__init__(parent)
        self._canvases: list[ImageCanvas] = []
        self._on = True
        self._by_position = by_position
        self._lines = False
        self._active: ImageCanvas | None = None
        self._tool = "window"
        self._hidden = False
        # Whose picture a canvas shows; two known ones that differ share nothing.
        self.group_of: Callable[[ImageCanvas], str | None] = _nobody

    @property
    def on(self) -> bool:
        """True while actions are shared."""
        return self._on

    @property
    def lines(self) -> bool:
        """True while reference lines are drawn."""
        return self._lines

    def set_on(self, on: bool) -> None:
        """Share actions or not; switching on does not move anything by itself."""
        self._on = on

    def set_lines(self, *, on: bool) -> None:
        """Draw the active viewer's plane on the others of its frame of reference, or not."""
        self._lines = on
        self.draw_lines()

    def join(self, canvases: Sequence[ImageCanvas]) -> None:
        """Add canvases for good."""
        for canvas in canvases:
            self._canvases.append(canvas)
            canvas.acted.connect(lambda acting=canvas: self._pass_on(acting))
            canvas.chosen.connect(lambda chosen=canvas: self._activate(chosen))
            canvas.pointed.connect(lambda point, source=canvas: self._point(source, point))
            canvas.tool_chosen.connect(self._take_tool)
            canvas.words_hidden.connect(self._hide_words)
            if self._tool != "window":
                canvas.set_tool(self._tool)
            canvas.hide_words(hidden=self._hidden)

    def draw_lines(self) -> None:
        """Draw the reference lines anew; for a page that put another picture somewhere."""
        active = self._active
        for canvas in self._canvases:
            line = None
            shown = canvas.picture
            if self._lines and active is not None and active is not canvas and shown is not None:
                cut = active.picture
                if cut is not None and active.isVisible() and not self._apart(canvas, active):
                    here, there = canvas.slice_and_moment[0], active.slice_and_moment[0]
                    line = reference_line(shown, here, cut, there)
            canvas.set_lines((line,) if line is not None else ())

    def _pass_on(self, acting: ImageCanvas) -> None:
        if self._on:
            for canvas in self._canvases:
                if canvas is not acting and not self._apart(canvas, acting):
                    canvas.set_state(self._following(canvas, acting))
        self._active = acting
        if self._lines:
            self.draw_lines()
        if not acting.playing:  # a cine is nobody's hand
            self.moved.emit(acting)

    def _apart(self, one: ImageCanvas, other: ImageCanvas) -> bool:
        groups = self.group_of(one), self.group_of(other)
        return None not in groups and groups[0] != groups[1]

    def _following(self, canvas: ImageCanvas, acting: ImageCanvas) -> ViewState:
        """The state that a canvas takes after another one was acted on."""
        if not self._by_position or canvas.picture is None or acting.picture is None:
            return acting.state
        own, other = canvas.picture, acting.picture
        depth, moment = canvas.state.depth, canvas.state.moment
        if acting.state.moment != acting.before.moment:
            moment = acting.state.moment
        if acting.state.depth != acting.before.depth:
            if not same_space(own, other):
                depth = acting.state.depth
            elif parallel(own, other):
                point = middle_point(other, acting.slice_and_moment[0])
                depth = nearest_slice(own, point) / max(1, own.slices - 1)
        # Each keeps its own mirror and turn (two breasts hang back to back) until one is changed.
        now, then, own_turn = acting.state, acting.before, canvas.state
        if (now.flip_h, now.flip_v, now.turns) != (then.flip_h, then.flip_v, then.turns):
            own_turn = now
        state = replace(
            now, depth=depth, moment=moment,
            flip_h=own_turn.flip_h, flip_v=own_turn.flip_v, turns=own_turn.turns,
        )  # fmt: skip
        if state.mirrored != now.mirrored:
            state = replace(state, pan_x=-now.pan_x)  # hung back to back, moved back to back
        return self._seen_alike(state, canvas, acting)

    def _seen_alike(self, state: ViewState, canvas: ImageCanvas, acting: ImageCanvas) -> ViewState:
        """Zoom and pan: of parallel planes of one space to the same place at the same scale."""
        own, other = canvas.picture, acting.picture
        if own is None or other is None or not same_space(own, other) or not alike(own, other):
            return state
        now, before = acting.state, acting.before
        places = [
            (one.zoom, one.pan_x, one.pan_y, one.flip_h, one.flip_v, one.turns)
            for one in (now, before)
        ]
        if places[0] == places[1]:
            kept = canvas.state
            return replace(state, zoom=kept.zoom, pan_x=kept.pan_x, pan_y=kept.pan_y)
        if now == now.fitted():
            return state
        seen = View(acting.placed, QRectF(acting.rect()), acting.slice_and_moment[0])
        return matched(state, own, QRectF(canvas.rect()), other, seen)

    def _activate(self, canvas: ImageCanvas) -> None:
        if canvas is not self._active:
            self._active = canvas
            if self._lines:
                self.draw_lines()

    def _point(self, source: ImageCanvas, point: NDArray[np.float64] | None) -> None:
        """Show the same patient point in every canvas of the same space, if positions count."""
        if not self._by_position:
            return
        for canvas in self._canvases:
            if canvas is source or not same_space(canvas.picture, source.picture):
                continue
            if self._apart(canvas, source):
                continue
            canvas.set_cross(point)
            if point is not None and canvas.picture is not None:
                last = max(1, canvas.picture.slices - 1)
                depth = nearest_slice(canvas.picture, point) / last
                canvas.set_state(replace(canvas.state, depth=depth))

    def _take_tool(self, tool: str) -> None:
        self._tool = tool
        for canvas in self._canvases:
            if canvas.tool != tool:
                canvas.set_tool(tool)

    def _hide_words(self, hidden: bool) -> None:
        self._hidden = hidden
        for canvas in self._canvases:
            canvas.hide_words(hidden=hidden)


def _nobody(_canvas: ImageCanvas) -> str | None:
    """Pages that know no patients."""
    return None
