"""What the figures of the kit share: colours, grounds, whiskers, words beside bars.

Okabe-Ito colours on white; what is thin or small stands in the darker shade. Refuses numbers
without n.
"""

from __future__ import annotations

from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

from studies.preference.analysis.schema import Share, Test
from studies.preference.kit.words import p_words

BLUE, ORANGE, GREY = "#0072B2", "#E69F00", "#C8C8C8"
PALE = "#E3E3E3"
GREEN = "#009E73"
DARK = "#a86f00"  # the orange where it is a thin line or letters on white
INK, QUIET, LINE = "#1a1a1a", "#555555", "#999999"
SMALL = 7.5


def figure_of(wide: float, high: float, study_hash: str) -> Figure:
    """A white figure with a canvas of its own and the hash in its corner."""
    figure = Figure(figsize=(wide, high), facecolor="white")
    FigureCanvasAgg(figure)
    told = f"study hash {study_hash or '-'}"
    figure.text(1 - 0.1 / wide, 0.05 / high, told, ha="right", va="bottom", color=QUIET, fontsize=5)
    return figure


def axes_of(figure: Figure, left: float, bottom: float, wide: float, high: float) -> Axes:
    """Axes at a place in inches from the lower left corner, only the lower line drawn."""
    across, up = figure.get_size_inches()
    made = figure.add_axes((left / across, bottom / up, wide / across, high / up))
    for side in ("top", "right", "left"):
        made.spines[side].set_visible(False)
    made.spines["bottom"].set_color(LINE)
    made.tick_params(length=0, colors=INK)
    return made


def whisker(axes: Axes, y: float, low: float, high: float, colour: str, *, tall: float) -> None:
    """An interval with ends, in the units of the axes."""
    axes.plot((low, high), (y, y), color=colour, linewidth=1.4, solid_capstyle="butt")
    for end in (low, high):
        axes.plot((end, end), (y - tall, y + tall), color=colour, linewidth=1.4)


def interval_words(share: Share) -> str:
    """``68.1 % [63.2, 72.5], 260 of 382``; says so where there is nothing."""
    if share.share is None or share.low is None or share.high is None:
        return "none decided" if share.n == 0 else "-"
    interval = f"[{100 * share.low:.1f}, {100 * share.high:.1f}]"
    return f"{100 * share.share:.1f} % {interval}, {share.count} of {share.n}"


def p_told(test: Test) -> str:
    """``p 0.036``, with Holm's where there is one; why there is none."""
    if test.p is None:
        return "p not given, n < 10" if test.n < 10 else "p not given"
    if test.p_holm is None:
        return f"p {p_words(test.p)}"
    return f"p {p_words(test.p)}, Holm {p_words(test.p_holm)}"


def shortened(text: str, most: int) -> str:
    """A name that does not run out of its room."""
    return text if len(text) <= most else text[: most - 1].rstrip() + "\u2026"
