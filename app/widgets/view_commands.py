"""What each command of a picture does to the state of looking at it: data, no widget.

Owns the commands that only change ``ViewState``; tools, cine and measures are the canvas's.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from types import MappingProxyType

from app.widgets.content import Picture, ViewState
from app.widgets.window_presets import FULL, GIVEN, next_given

FAR = 1_000_000
LARGER, SMALLER = 1.25, 0.8
GREY_STEP, PAN_STEP = 0.05, 0.05  # of the window's width, of the frame


@dataclass(frozen=True)
class Room:
    """A frame in device pixels."""

    width: float
    height: float

    @property
    def ratio(self) -> float:
        """Width over height."""
        return max(1.0, self.width) / max(1.0, self.height)


Change = Callable[[ViewState, Picture, Room], ViewState]


def _steps(count: int) -> Change:
    return lambda state, picture, _room: state.scrolled(count, picture.slices)


def _preset(key: str) -> Change:
    return lambda state, _picture, _room: state.with_preset(key)


def _moment(steps: int) -> Change:
    return lambda state, picture, _room: state.at_moment(steps, picture.moments)


def _greys(wider: float, brighter: float) -> Change:
    """Colours have no window."""
    return lambda state, picture, _room: state if picture.color else state.windowed(wider, brighter)


def _pan(dx: float, dy: float) -> Change:
    return lambda state, _picture, _room: state.panned(dx, dy)


def shown_size(picture: Picture, state: ViewState) -> tuple[float, float]:
    """Width and height of the picture as turned, in widths of one stored pixel."""
    rows, columns = picture.array.shape[1:3]
    width, height = float(columns), rows * picture.aspect
    return (height, width) if state.turns % 2 else (width, height)


def fit_scale(picture: Picture, state: ViewState, room: Room) -> float:
    """Device pixels of one stored column where the whole picture fills the room."""
    width, height = shown_size(picture, state)
    return min(max(1.0, room.width) / width, max(1.0, room.height) / height)


def actual_size(state: ViewState, picture: Picture, room: Room) -> ViewState:
    """One stored column on one device pixel."""
    return state.zoomed(1.0 / (fit_scale(picture, state, room) * state.zoom))


STATE_COMMANDS: MappingProxyType[str, Change] = MappingProxyType(
    {
        "slice-up": _steps(-1),
        "slice-down": _steps(1),
        "slice-up-10": _steps(-10),
        "slice-down-10": _steps(10),
        "slice-first": _steps(-FAR),
        "slice-last": _steps(FAR),
        **{f"preset-{key}": _preset(key) for key in "12345"},
        "window-full": _preset(FULL),
        "window-given": lambda state, picture, _room: state.with_preset(
            GIVEN, given=next_given(picture, state)
        ),
        "invert": lambda state, _picture, _room: replace(state, inverted=not state.inverted),
        "flip-h": lambda state, _picture, _room: state.flipped(across=True),
        "flip-v": lambda state, _picture, _room: state.flipped(across=False),
        "rotate-right": lambda state, _picture, room: state.turned(1, ratio=room.ratio),
        "rotate-left": lambda state, _picture, room: state.turned(3, ratio=room.ratio),
        # Down the screen is darker for the mouse: a higher centre darkens.
        "grey-wider": _greys(GREY_STEP, 0.0),
        "grey-narrower": _greys(-GREY_STEP, 0.0),
        "grey-brighter": _greys(0.0, -GREY_STEP),
        "grey-darker": _greys(0.0, GREY_STEP),
        "pan-left": _pan(-PAN_STEP, 0.0),
        "pan-right": _pan(PAN_STEP, 0.0),
        "pan-up": _pan(0.0, -PAN_STEP),
        "pan-down": _pan(0.0, PAN_STEP),
        "zoom-in": lambda state, _picture, _room: state.zoomed(LARGER),
        "zoom-out": lambda state, _picture, _room: state.zoomed(SMALLER),
        "fit": lambda state, _picture, _room: state.fitted(),
        "actual-size": actual_size,
        "reset": lambda state, _picture, _room: state.fresh(),
        "next-time": _moment(1),
        "previous-time": _moment(-1),
    }
)
