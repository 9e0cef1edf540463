"""A sheet that figures are drawn on: dark for the screen, white for files; points that can be hit.

Owns colours, the marks of what was drawn, and which files are written; how is in ``files``.
Touches nothing global but under the lock that stands there.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

from studies.figures.files import METADATA, save_figure, styled

FORMATS = ("svg", "pdf", "png")


@dataclass(frozen=True)
class Theme:
    """Colours of a sheet; ``series`` is the Okabe-Ito set where it reads on the ground."""

    ground: str
    ink: str
    quiet: str
    line: str
    series: tuple[str, ...]


# The order is that of the window's other plots. Yellow is left out on white, dark blue on dark.
DARK = Theme(
    "#161616", "#d8d8d8", "#9c9c9c", "#303030",
    ("#56B4E9", "#E69F00", "#009E73", "#CC79A7", "#F0E442", "#D55E00", "#B0B0B0"),
)  # fmt: skip
WHITE = Theme(
    "#ffffff", "#1a1a1a", "#555555", "#d5d5d5",
    ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#A87400", "#56B4E9", "#555555"),
)  # fmt: skip
SHAPES = ("o", "s", "^", "D", "v", "P", "X")


@dataclass(frozen=True)
class Mark:
    """A drawn point.

    Attributes:
        x, y: from the upper left corner, in pixels.
        words: what it says when it is pointed at.
        task: id of the task behind it; empty where there is none.
        model: id of the model behind it; empty where there is none.
    """

    x: float
    y: float
    words: str
    task: str = ""
    model: str = ""


@dataclass(frozen=True, eq=False)
class Drawn:
    """A figure as pixels.

    Attributes:
        width, height: in pixels.
        rgba: rows from the top, four bytes each pixel.
        marks: what can be pointed at.
        spoken: the figure in words.
    """

    width: int
    height: int
    rgba: bytes
    marks: tuple[Mark, ...]
    spoken: str


class Sheet:
    """A figure under way.

    Args:
        theme: colours.
        inches: width and height.
        dpi: pixels per inch.
    """

    def __init__(self, theme: Theme, inches: tuple[float, float], dpi: float = 100) -> None:
        self.theme = theme
        self.inches = inches
        self.dpi = dpi
        self.figure = Figure(figsize=inches, dpi=dpi, facecolor=theme.ground)
        self._canvas = FigureCanvasAgg(self.figure)
        self._marks: list[tuple[Axes, float, float, str, str, str]] = []

    def room_for_names(self, slot: float) -> bool:
        """Whether names that stand upright can be read in slots of so many inches."""
        return slot >= (0.09 if self.theme is WHITE else 0.13)

    def axes(self, left: float, top: float, wide: float, high: float) -> Axes:
        """Bare axes at a place in inches from the upper left corner."""
        across, down = self.inches
        box = (left / across, 1 - (top + high) / down, wide / across, high / down)
        made = self.figure.add_axes(box, facecolor=self.theme.ground)
        for side in ("top", "right"):
            made.spines[side].set_visible(False)
        for side in ("left", "bottom"):
            made.spines[side].set_color(self.theme.line)
        made.tick_params(length=0, colors=self.theme.quiet)
        return made

    def words(self, left: float, top: float, text: str, **look: Any) -> None:
        """Text at a place in inches from the upper left corner."""
        across, down = self.inches
        wanted = {"color": self.theme.ink, "va": "top", "ha": "left", **look}
        self.figure.text(left / across, 1 - top / down, text, **wanted)

    def colour(self, place: int) -> str:
        """The colour of the n-th model."""
        return self.theme.series[place % len(self.theme.series)]

    def dot(
        self,
        axes: Axes,
        x: float,
        y: float,
        shape: str,
        colour: str,
        *,
        size: float = 4.5,
        hollow: bool = False,
    ) -> None:
        """A point that is whole also on the border of its axes."""
        axes.plot(
            x, y, shape, color=colour, markersize=size, clip_on=False, zorder=3,
            markerfacecolor=self.theme.ground if hollow else colour,
        )  # fmt: skip

    def mark(
        self, axes: Axes, x: float, y: float, words: str, *, task: str = "", model: str = ""
    ) -> None:
        """Remember a point in the axes' own units."""
        self._marks.append((axes, x, y, words, task, model))

    def drawn(self) -> Drawn:
        """The pixels, and the points in them."""
        self._canvas.draw()
        width, height = self._canvas.get_width_height()
        marks = []
        for axes, x, y, words, task, model in self._marks:
            across, up = axes.transData.transform((x, y))
            marks.append(Mark(float(across), height - float(up), words, task, model))
        rgba = bytes(self._canvas.buffer_rgba())
        return Drawn(width, height, rgba, tuple(marks), ". ".join(m.words for m in marks))


Draw = Callable[[Sheet], None]


def on_screen(draw: Draw, width: int, height: int, *, ratio: float = 1.0) -> Drawn:
    """Draw for the window.

    Args:
        draw: fills the sheet.
        width: in the window's pixels.
        height: the same.
        ratio: device pixels in one of them; also the text's scale.
    """
    with styled():
        sheet = Sheet(DARK, (width / 100, height / 100), 100 * ratio)
        draw(sheet)
        return sheet.drawn()


def into_files(
    draw: Draw, inches: tuple[float, float], stem: Path, formats: Sequence[str]
) -> tuple[Path, ...]:
    """Write a figure on white, one file per format beside ``stem``.

    Raises:
        StoreError: the folder cannot be written or is full.
    """
    with styled():
        sheet = Sheet(WHITE, inches)
        draw(sheet)
        return tuple(
            save_figure(sheet.figure, stem.with_name(f"{stem.name}.{form}"))
            for form in formats
            if form in METADATA
        )


@dataclass(frozen=True)
class Label:
    """A word beside a point; ``wide`` in the unit of x."""

    x: float
    y: float
    wide: float


def dodged(labels: Sequence[Label], gap: float) -> list[float]:
    """Heights of labels, each as near its point as the ones before it allow.

    Args:
        labels: where each would like to begin.
        gap: the least distance between two that share a stretch of x.
    """
    # the points of the others are in the way too
    placed = [(Label(one.x, one.y, 0.0), one.y) for one in labels]
    found = [0.0] * len(labels)
    steps = [0.0] + [sign * gap * n / 2 for n in range(1, 25) for sign in (1, -1)]
    for place in sorted(range(len(labels)), key=lambda one: labels[one].x):
        one = labels[place]
        near = [
            y for other, y in placed
            if other.x < one.x + one.wide and one.x < other.x + other.wide
        ]  # fmt: skip
        free = (one.y + step for step in steps)
        found[place] = next((y for y in free if all(abs(y - o) >= gap for o in near)), one.y)
        placed.append((one, found[place]))
    return found
