"""How a board is looked at, as plain values and back: to go on where reading stopped.

Owns the two directions. Refuses what is no such view: it is left out, and the item is shown
afresh.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, fields
from typing import TYPE_CHECKING, Any

from app.widgets.content import ViewState

if TYPE_CHECKING:
    from app.widgets.evidence_frame import EvidenceFrame
    from app.widgets.triptych import TriptychBoard


def looking(board: TriptychBoard) -> dict[str, Any]:
    """States of all pictures, places of all texts, what is chosen, enlarged and linked."""
    frames = {}
    for frame in board.frames:
        source = board.large if board.name_of(frame) == board.enlarged_name else frame
        frames[board.name_of(frame)] = {
            "states": [asdict(canvas.state) for canvas in source.shown_canvases],
            "text": source.text.verticalScrollBar().value(),
        }
    return {
        "frames": frames,
        "prompt": board.prompt.text.verticalScrollBar().value(),
        "selected": board.selected_name,
        "enlarged": board.enlarged_name,
        "linked": board.link.on,
    }


def look_as(board: TriptychBoard, view: Mapping[str, Any]) -> None:
    """Put the states back; what does not fit the item is left as it is."""
    frames = view.get("frames")
    for name, kept in frames.items() if isinstance(frames, Mapping) else ():
        frame = board.frame_of(str(name))
        if frame is not None and isinstance(kept, Mapping):
            _look_at(frame, kept)
    chosen = board.frame_of(str(view.get("selected", "")))
    if chosen is not None:
        board.select(chosen)


def _look_at(frame: EvidenceFrame, kept: Mapping[str, Any]) -> None:
    states = kept.get("states")
    given = states if isinstance(states, list) else []
    for canvas, values in zip(frame.shown_canvases, given, strict=False):
        if (state := state_from(values)) is not None:
            canvas.set_state(state)
    if isinstance(kept.get("text"), int):
        frame.text.verticalScrollBar().setValue(kept["text"])


def state_from(values: object) -> ViewState | None:
    """A view state from plain values; None for what is none."""
    if not isinstance(values, Mapping):
        return None
    made: dict[str, Any] = {}
    for field in fields(ViewState):
        value = values.get(field.name, field.default)
        if isinstance(field.default, bool) != isinstance(value, bool):
            return None
        kind = (int, float) if isinstance(field.default, float) else type(field.default)
        if not isinstance(value, kind) or value != value:
            return None
        made[field.name] = value
    state = ViewState(**made)
    whole = 0 <= state.depth <= 1 and 0 <= state.moment <= 1 and 0.05 <= state.zoom <= 100
    return state if whole and 0 <= state.turns <= 3 and abs(state.pan_x) <= 100 else None
