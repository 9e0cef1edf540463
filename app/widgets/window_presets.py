"""Windows and preset keys: which (center, width) is in force for a picture in a state.

Owns the presets and their names. Refuses to turn values into grey: that is ``Picture.render``.
"""

from __future__ import annotations

import weakref
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from app.widgets.content import Picture, ViewState

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
PLAIN_WINDOWS = {
    "1": (0.0, 1.0), "2": (-0.25, 0.5), "3": (0.25, 0.5), "4": (0.0, 0.6), "5": (0.0, 1.6),
}  # fmt: skip
PLAIN_NAMES = {
    "1": "as given", "2": "dark parts", "3": "bright parts", "4": "more contrast",
    "5": "less contrast",
}  # fmt: skip
GIVEN, FULL = "9", "8"


def given_window(picture: Picture, number: int) -> tuple[float, float]:
    """The header's window of that number; the first is the one the file asks for."""
    windows = picture.windows
    if len(windows) < 2 or number % len(windows) == 0:
        return picture.window
    return windows[number % len(windows)]


def next_given(picture: Picture, state: ViewState) -> int:
    """The header window that preset 9 goes to: the first, or the next if it is shown already."""
    count = max(1, len(picture.windows))
    shown = state.preset == GIVEN and state.shift == 0.0 and state.factor == 1.0
    return (state.given + 1) % count if shown else 0


def starting_window(picture: Picture, preset: str, given: int = 0) -> tuple[float, float]:
    """(center, width) of a preset for this picture."""
    if preset == FULL:
        low, high = _range(picture)
        if picture.array.dtype.kind == "f" and picture.window[1] < 1.0 and high > low:
            return (low + high) / 2, high - low
        return (low + high + 1) / 2, max(1.0, high - low + 1)
    if picture.hounsfield and preset in CT_WINDOWS:
        return CT_WINDOWS[preset]
    center, width = given_window(picture, given)
    shift, factor = PLAIN_WINDOWS.get(preset, (0.0, 1.0))
    return center + shift * width, width * factor


_RANGES: weakref.WeakKeyDictionary[Picture, tuple[float, float]] = weakref.WeakKeyDictionary()


def _range(picture: Picture) -> tuple[float, float]:
    """Least and greatest value; found once, since a large volume takes a moment."""
    if picture in _RANGES:
        return _RANGES[picture]
    complete = picture.ready is None or bool(picture.ready.all())
    array = picture.array if complete else picture.array[picture.ready]
    if array.dtype.kind == "f":
        with np.errstate(invalid="ignore"):
            array = array[np.isfinite(array)]
    found = (float(array.min()), float(array.max())) if array.size else (0.0, 0.0)
    if complete:
        _RANGES[picture] = found
    return found


def window_of(picture: Picture, state: ViewState) -> tuple[float, float] | None:
    """(center, width) in force, or None while the picture is shown as its file asks."""
    as_given = state.preset == GIVEN or (state.preset == "1" and not picture.hounsfield)
    first = len(picture.windows) < 2 or state.given % len(picture.windows) == 0
    if as_given and first and state.shift == 0.0 and state.factor == 1.0:
        return None
    center, width = starting_window(picture, state.preset, state.given)
    if picture.array.dtype.kind == "f" and width < 1.0:  # LINEAR_EXACT spans all of its width
        return center + state.shift * width, width * state.factor
    if picture.array.dtype.kind == "f":  # LINEAR spans width - 1, which matters for small values
        span = max(width - 1.0, 1e-6)
        return center + state.shift * span, 1.0 + span * state.factor
    return center + state.shift * width, max(1.0, width * state.factor)


def preset_name(picture: Picture, preset: str, given: int = 0) -> str:
    """What a preset key does to this picture, in words."""
    if preset == FULL:
        return "full range"
    if preset == GIVEN and len(picture.windows) > 1:
        return f"header {given % len(picture.windows) + 1} of {len(picture.windows)}"
    return (CT_NAMES if picture.hounsfield else PLAIN_NAMES).get(preset, "as given")
