"""What stands written over a picture: letters, slice, place, window, badges, scale, in words.

Owns the sentences; no painter. Letters and the stated convention follow flips and turns.
"""

from __future__ import annotations

import math
import re
import weakref

import numpy as np
from numpy.typing import NDArray

from app.widgets.content import Picture, ViewState, slice_index
from app.widgets.placement import screen_axes
from app.widgets.window_presets import GIVEN, given_window, preset_name, window_of

OPPOSITE = {"L": "R", "R": "L", "A": "P", "P": "A", "S": "I", "I": "S", "H": "F", "F": "H"}
LETTER = {"S": "H", "I": "F"}  # the standard says head and feet
SECOND = math.tan(math.radians(22.5))  # from here on a direction needs two letters
AXES = (("R", "L"), ("A", "P"), ("I", "S"))  # towards smaller, larger coordinates (LPS)
SMALL_WINDOW = 3.0
BAR_SHARE = 0.25
MM_STEPS = (1, 2, 5, 10, 20, 50, 100, 200)
AT_DETECTOR = "ImagerPixelSpacing"
SOURCES = {
    "PixelMeasuresSequence": "Pixel Spacing",
    "SequenceOfUltrasoundRegions (cm to mm)": "ultrasound region",
    "header": "file header",
}


def _vector(letter: str) -> NDArray[np.float64]:
    """A unit vector of patient space towards a side."""
    letter = {"H": "S", "F": "I"}.get(letter, letter)
    made = np.zeros(3)
    for axis, (low, high) in enumerate(AXES):
        made[axis] = (letter == high) - (letter == low)
    return made


def letters_of(direction: NDArray[np.float64]) -> str:
    """Sides of the patient to which a direction points, the main one first (PS3.3 C.7.6.1.1.1)."""
    size = np.abs(direction)
    most = float(size.max())
    if most == 0.0:
        return ""
    order = sorted(range(3), key=lambda axis: -size[axis])
    said = [AXES[axis][int(direction[axis] > 0)] for axis in order if size[axis] > SECOND * most]
    return "".join(LETTER.get(letter, letter) for letter in said)


def axes(picture: Picture) -> tuple[NDArray[np.float64], NDArray[np.float64]] | None:
    """Patient directions of columns and rows, None where they are unknown."""
    if picture.geometry is not None:
        return picture.geometry.column_step, picture.geometry.row_step
    known = picture.orientation
    if not known or len(known) < 2 or not set(known[:2].upper()) <= set(OPPOSITE):
        return None
    return _vector(known[0].upper()), _vector(known[1].upper())


def edge_letters(picture: Picture, state: ViewState) -> dict[str, str]:
    """Patient sides at the four edges of what is seen: left, right, top, bottom."""
    turned = (state.flip_h, state.flip_v, state.turns)
    kept = _LETTERS.setdefault(picture, {})
    if turned not in kept:
        kept[turned] = _edge_letters(picture, state)
    return kept[turned]


_LETTERS: weakref.WeakKeyDictionary[Picture, dict[tuple[bool, bool, int], dict[str, str]]] = (
    weakref.WeakKeyDictionary()
)


def _edge_letters(picture: Picture, state: ViewState) -> dict[str, str]:
    known = axes(picture)
    if known is None:
        return {}
    right, down = screen_axes(*known, state)
    return {
        "right": letters_of(right),
        "left": letters_of(-right),
        "bottom": letters_of(down),
        "top": letters_of(-down),
    }


def badges(state: ViewState) -> list[str]:
    """What was done to the picture and must not be forgotten: lasts until reset."""
    said = ["flipped"] if state.mirrored else []
    degrees = state.degrees
    return [*said, f"turned {degrees}\N{DEGREE SIGN}"] if degrees else said


def convention(picture: Picture, state: ViewState) -> tuple[str, bool]:
    """Which way the patient looks at the reader, and whether that is a warning."""
    if picture.color:
        return "", False
    known = edge_letters(picture, state)
    if not known:
        return "sides unknown", True
    if known["right"].startswith("L"):
        return "patient left on the right of the picture", False
    if known["right"].startswith("R"):
        return "patient left on the left of the picture", True
    return "", False


def slice_words(picture: Picture, state: ViewState) -> str:
    """``12 / 300``, with the time point of a 4D file."""
    said = []
    if picture.slices > 1:
        said.append(f"{slice_index(state.depth, picture.slices) + 1} / {picture.slices}")
    if picture.moments > 1:
        said.append(f"time {slice_index(state.moment, picture.moments) + 1} / {picture.moments}")
    return "   ".join(said)


def position_words(picture: Picture, state: ViewState) -> str:
    """``S 123.4 mm``: the slice's place along its normal, named by the side it lies towards."""
    if picture.geometry is None:
        return ""
    normal = picture.geometry.normal
    main = int(np.argmax(np.abs(normal)))
    normal = normal if normal[main] > 0 else -normal
    index = slice_index(state.depth, picture.slices)
    place = float(picture.geometry.origin_Z3[index] @ normal)
    return f"{AXES[main][int(place >= 0)]} {abs(place):.1f} mm"


def window_words(picture: Picture, state: ViewState, *, brief: bool = False) -> str:
    """Width and level in force, before them the preset's name unless ``brief``."""
    if picture.color:
        return "inverted" if state.inverted else ""
    center, width = window_of(picture, state) or given_window(picture, state.given)
    touched = state.shift != 0.0 or state.factor != 1.0
    plain = state.preset == GIVEN and len(picture.windows) < 2
    name = "" if plain or touched or brief else preset_name(picture, state.preset, state.given)
    words = f"W {_amount(width)}  L {_amount(center)}"
    if width < 1.0:
        words = f"W {width:.3g}  L {center:.3g}"
    elif width < SMALL_WINDOW and picture.array.dtype.kind == "f":
        # LINEAR spans width - 1 (PS3.3 C.11.2.1.2): all that counts where values are small.
        words = f"W {width - 1.0:.3g}  L {center - 0.5:.3g}"
    if name:
        words = f"{name}  {words}"
    return words + ("  inverted" if state.inverted else "")


def _amount(value: float) -> str:
    return f"{value:.0f}" if abs(value) >= 20 or value == int(value) else f"{value:.2f}"


def zoom_words(state: ViewState) -> str:
    """The magnification against the fitted picture."""
    return f"{state.zoom:.1f}x" if abs(state.zoom - 1.0) > 0.005 else ""


def source_words(source: str | None) -> str:
    """A header's word for a reader: ``Imager Pixel Spacing``, also of several."""
    words = [
        SOURCES.get(one) or re.sub(r"(?<=[a-z])(?=[A-Z])", " ", one)
        for one in (source or "").split(" and ")
    ]
    return " and ".join(words)


def at_detector(picture: Picture) -> bool:
    """True if millimetres are those of the detector, larger than in the patient."""
    return bool(picture.spacing_source and AT_DETECTOR in picture.spacing_source)


def scale_bar(picture: Picture, mm_per_unit: float, room: float) -> tuple[float, str] | None:
    """Length of a scale bar in units of the canvas and its words; None without a spacing.

    Args:
        picture: whose spacing is known or not.
        mm_per_unit: millimetres of one unit of the canvas across.
        room: width of the canvas.
    """
    if picture.spacing is None or mm_per_unit <= 0:
        return None
    fitting = [mm for mm in MM_STEPS if mm / mm_per_unit <= room * BAR_SHARE]
    if not fitting:
        return None
    mm = fitting[-1]
    said = f"{mm} mm" if mm < 10 else f"{mm // 10} cm"
    return mm / mm_per_unit, said + (" at the detector" if at_detector(picture) else "")
