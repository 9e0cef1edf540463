"""Distance, angle, region and pixel value on one slice: the mathematics and the words.

Owns ``Measure`` and its numbers. Places are (column, row) of the stored slice with whole numbers
at pixel centres, so that flips, turns and zoom of the view change nothing. Refuses to guess
millimetres: without a spacing lengths are pixels and say so.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from app.widgets.canvas_words import AXES, at_detector, source_words
from app.widgets.content import Picture

POINTS = {"distance": 2, "angle": 3, "ellipse": 2, "rectangle": 2, "probe": 1}
NAMES = {
    "distance": "distance", "angle": "angle", "ellipse": "ellipse", "rectangle": "rectangle",
    "probe": "pixel value",
}  # fmt: skip
Point = tuple[float, float]
PADDING, NO_SLICE = "padding", "no slice here"
UNCALIBRATED = "outside the calibrated region"


@dataclass(frozen=True)
class Measure:
    """One measure.

    Attributes:
        kind: a key of ``POINTS``.
        index, moment: the slice and time point it belongs to.
        points: (column, row) places; of a region two opposite corners of its box; the middle
            point of an angle is its vertex.
    """

    kind: str
    index: int
    moment: int
    points: tuple[Point, ...]

    @property
    def complete(self) -> bool:
        """True once all its points are set."""
        return len(self.points) == POINTS[self.kind]

    def moved(self, number: int, to: Point) -> Measure:
        """With one point elsewhere."""
        points = list(self.points)
        points[number] = to
        return replace(self, points=tuple(points))

    def shifted(self, dx: float, dy: float) -> Measure:
        """The whole moved by columns and rows."""
        return replace(self, points=tuple((x + dx, y + dy) for x, y in self.points))


@dataclass(frozen=True)
class RegionFacts:
    """Statistics of the pixels of the picture whose centres lie inside a region.

    Attributes:
        n: how many pixels, each counted once in colour as well. What is padding, no number or
            lies where no slice is does not count.
        mean, deviation, least, greatest: of their values; the deviation is that of all the
            pixels (divided by n).
        area: of these ``n`` pixels, ``n`` times that of one, in mm2, or in pixel widths squared
            without a spacing: a shape that runs over the picture's edge counts inside it only.
        left_out: names of what was left out of all these.
    """

    n: int
    mean: float
    deviation: float
    least: float
    greatest: float
    area: float
    left_out: tuple[str, ...] = ()


def step_vectors(picture: Picture) -> tuple[NDArray[np.float64], NDArray[np.float64]] | None:
    """Vectors in mm of one column and one row in a common space; None without a spacing."""
    spacing = picture.spacing
    if spacing is None:
        return None
    if picture.geometry is not None and picture.spacing_mm is None:
        return picture.geometry.column_step, picture.geometry.row_step
    return np.array([spacing[1], 0.0, 0.0]), np.array([0.0, spacing[0], 0.0])


def calibrated(picture: Picture, points: tuple[Point, ...]) -> bool:
    """True if distances in mm hold at all of these places, as far as a spacing is known."""
    if picture.calibrated is None:
        return True
    left, top, right, bottom = picture.calibrated
    return all(left <= x + 0.5 <= right and top <= y + 0.5 <= bottom for x, y in points)


def _steps(
    picture: Picture, points: tuple[Point, ...]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """As ``step_vectors``; where no mm hold in widths of a pixel, as it is drawn."""
    steps = step_vectors(picture) if calibrated(picture, points) else None
    return steps or (np.array([1.0, 0.0, 0.0]), np.array([0.0, picture.aspect, 0.0]))


def distance(picture: Picture, start: Point, end: Point) -> float:
    """Length in mm; in pixel widths without a spacing or outside the calibrated region."""
    column, row = _steps(picture, (start, end))
    return float(np.linalg.norm((end[0] - start[0]) * column + (end[1] - start[1]) * row))


def angle(picture: Picture, points: tuple[Point, Point, Point]) -> float:
    """Degrees at the middle point, 0 to 180, true where pixels are not square."""
    column, row = _steps(picture, points)
    vertex = points[1]
    first, second = (
        (x - vertex[0]) * column + (y - vertex[1]) * row for x, y in (points[0], points[2])
    )
    size = float(np.linalg.norm(first) * np.linalg.norm(second))
    if size == 0.0:
        return 0.0
    across = float(np.linalg.norm(np.cross(first, second)))
    return math.degrees(math.atan2(across, float(first @ second)))


def _box(points: tuple[Point, ...]) -> tuple[float, float, float, float]:
    (x0, y0), (x1, y1) = points
    return min(x0, x1), min(y0, y1), max(x0, x1), max(y0, y1)


def region_mask(
    kind: str, points: tuple[Point, ...], shape: tuple[int, int]
) -> tuple[NDArray[np.bool_], int, int]:
    """Pixels whose centres lie inside a region, edges included.

    Returns:
        Mask of the smallest part of the slice that holds it, and its first row and column.
    """
    left, top, right, bottom = _box(points)
    x0, x1 = max(0, math.ceil(left)), min(shape[1] - 1, math.floor(right))
    y0, y1 = max(0, math.ceil(top)), min(shape[0] - 1, math.floor(bottom))
    if x1 < x0 or y1 < y0:
        return np.zeros((0, 0), bool), 0, 0
    mask = np.ones((y1 - y0 + 1, x1 - x0 + 1), bool)
    if kind == "ellipse":
        a, b = max((right - left) / 2, 1e-9), max((bottom - top) / 2, 1e-9)
        x = (np.arange(x0, x1 + 1) - (left + right) / 2) / a
        y = (np.arange(y0, y1 + 1) - (top + bottom) / 2) / b
        mask = x[None, :] ** 2 + y[:, None] ** 2 <= 1.0 + 1e-12
    return mask, y0, x0


def region_facts(picture: Picture, measure: Measure) -> RegionFacts:
    """Statistics of an ellipse or a rectangle over stored values; of colour n and area alone."""
    values = picture.values(measure.index, measure.moment)
    mask, top, left = region_mask(measure.kind, measure.points, values.shape[:2])
    box = slice(top, top + mask.shape[0]), slice(left, left + mask.shape[1])
    mask, left_out = _without(picture, values[box], mask, box)
    column, row = _steps(picture, measure.points)
    area = int(mask.sum()) * float(np.linalg.norm(np.cross(column, row)))
    inside = values[box][mask].astype(np.float64)
    n = len(inside)
    if n == 0 or picture.color:
        return RegionFacts(n, math.nan, math.nan, math.nan, math.nan, area, left_out)
    return RegionFacts(
        n=n,
        mean=float(inside.mean()),
        deviation=float(inside.std()),
        least=float(inside.min()),
        greatest=float(inside.max()),
        area=area,
        left_out=left_out,
    )


def _without(
    picture: Picture, values: NDArray[Any], mask: NDArray[np.bool_], box: tuple[slice, slice]
) -> tuple[NDArray[np.bool_], tuple[str, ...]]:
    """The mask without what is no value of the picture, and what that was."""
    said = []
    if picture.absent is not None:
        gap = picture.absent[box]
        said += ["gap left out"] if (mask & gap).any() else []
        mask = mask & ~gap
    if picture.color:
        return mask, tuple(said)
    padded = _padded(picture, values)
    said += ["padding left out"] if (mask & padded).any() else []
    mask = mask & ~padded
    if values.dtype.kind == "f":
        mask = mask & np.isfinite(values)
    return mask, tuple(said)


def _padded(picture: Picture, values: NDArray[Any]) -> NDArray[np.bool_]:
    """Where values are padding."""
    if picture.padding is None or picture.color:
        return np.zeros(values.shape[:2], bool)
    low, high = picture.padding
    return np.asarray((values >= low) & (values <= high))


def unit_of(picture: Picture) -> str:
    """Unit of the values: HU for CT."""
    return picture.unit or ("HU" if picture.hounsfield else "")


def length_words(picture: Picture, start: Point, end: Point) -> str:
    """``12.3 mm (Pixel Spacing)``, ``... mm at the detector (...)``, or ``... px``."""
    length = distance(picture, start, end)
    if picture.spacing is None:
        return f"{length:.1f} px"
    if not calibrated(picture, (start, end)):
        return f"{length:.1f} px, {UNCALIBRATED}"
    source = source_words(picture.spacing_source)
    where = " at the detector" if at_detector(picture) else ""
    return f"{length:.1f} mm{where}" + (f" ({source})" if source else "")


def _number(value: float) -> str:
    if not math.isfinite(value):
        return "-"
    return f"{value:.1f}" if abs(value) >= 10 or value == int(value) else f"{value:.3g}"


def value_words(picture: Picture, index: int, moment: int, x: int, y: int) -> str:
    """A pixel's value with its unit; three numbers for colour; words where there is no value."""
    if picture.absent is not None and picture.absent[y, x]:
        return NO_SLICE
    value = picture.values(index, moment)[y, x]
    if picture.color:
        return "RGB " + " ".join(str(int(part)) for part in value)
    if picture.padding is not None and picture.padding[0] <= value <= picture.padding[1]:
        return PADDING
    said = f"{int(value)}" if picture.array.dtype.kind in "iub" else f"{float(value):.5g}"
    return f"{said} {unit_of(picture)}".strip()


def named_value(picture: Picture, said: str) -> str:
    """A value where it stands for itself: without a unit it says that it is one."""
    speaks = picture.color or unit_of(picture) or said in (PADDING, NO_SLICE)
    return said if speaks else f"value {said}"


def index_words(picture: Picture, index: int, moment: int, x: int, y: int) -> str:
    """``index z 4, y 12, x 7`` as the file holds it, all from 0, as ``show --probe`` takes it.

    Where the values are not those of a file: the place in what is shown, all from 1.
    """
    if picture.stored is None:
        place = f"slice {index + 1}, " if picture.slices > 1 else ""
        return f"{place}row {y + 1}, column {x + 1} as shown"
    found = picture.stored(moment, index, y, x)
    if found is None:
        return "interpolated between stored slices"
    return "index z {}, y {}, x {}".format(*found)


def probe_words(picture: Picture, index: int, moment: int, point: Point) -> tuple[str, ...]:
    """Value, index and patient coordinates of the pixel at a place; empty outside."""
    x, y = round(point[0]), round(point[1])
    rows, columns = picture.array.shape[1:3]
    if not (0 <= x < columns and 0 <= y < rows and picture.is_ready(index)):
        return ()
    said = [value_words(picture, index, moment, x, y)]
    if said[0] != NO_SLICE:
        said.append(index_words(picture, index, moment, x, y))
    if picture.geometry is not None:
        place = picture.geometry.point((index, y, x))
        said.append(place_words(place))
    return tuple(said)


def place_words(point: NDArray[np.float64]) -> str:
    """Patient coordinates with their sides: ``L 12.0  P 40.5  S 3.0 mm``."""
    said = [
        f"{AXES[axis][int(mm >= 0)]} {abs(mm):.1f}" for axis, mm in enumerate(np.round(point, 1))
    ]
    return "  ".join(said) + " mm"


def words(picture: Picture, measure: Measure) -> tuple[str, ...]:
    """What is written beside a measure."""
    if not measure.complete:
        return ()
    if measure.kind == "distance":
        return (length_words(picture, *measure.points),)
    if measure.kind == "angle":
        degrees = angle(picture, measure.points)  # type: ignore[arg-type]
        said = f"{degrees:.1f}\N{DEGREE SIGN}"
        held = calibrated(picture, measure.points)
        return (said,) if held else (f"{said}, {UNCALIBRATED}",)
    if measure.kind == "probe":
        return probe_words(picture, measure.index, measure.moment, measure.points[0])[:1]
    return _region_words(picture, measure)


def _region_words(picture: Picture, measure: Measure) -> tuple[str, ...]:
    facts = region_facts(picture, measure)
    unit = f" {unit_of(picture)}" if unit_of(picture) else ""
    held = calibrated(picture, measure.points)
    metric = picture.spacing is not None and held
    square = "mm\N{SUPERSCRIPT TWO}" if metric else "px\N{SUPERSCRIPT TWO}"
    where = " at the detector" if metric and at_detector(picture) else ""
    said = [f"area {facts.area:.1f} {square}{where}   n {facts.n}"]
    said += [] if held else [UNCALIBRATED]
    said += [", ".join(facts.left_out)] if facts.left_out else []
    if picture.color:
        return tuple(said)
    return (
        f"mean {_number(facts.mean)}{unit}   SD {_number(facts.deviation)}",
        f"min {_number(facts.least)}   max {_number(facts.greatest)}",
        *said,
    )
