"""The stacked bars of a study, overall and by stratum, as PNG, SVG and PDF.

Owns the drawing. White ground, Okabe-Ito colours, labels on the bars, intervals drawn, n beside
every bar. Files hold no date, no path and no program name, so equal numbers give equal files.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import matplotlib as mpl
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

from db.failures import translated
from studies.preference.report import p_words
from studies.preference.statistics import Block, Statistics

BLUE, ORANGE, GREY = "#0072B2", "#E69F00", "#C8C8C8"
DARK = "#a86f00"  # the orange where it is a thin line or letters on white
INK, QUIET = "#1a1a1a", "#555555"
FORMATS = ("png", "svg", "pdf")
STYLE: dict[str, Any] = {
    "font.family": "DejaVu Sans",
    "font.size": 9,
    "svg.hashsalt": "triptych",
    "svg.fonttype": "none",
    "pdf.fonttype": 42,
}
METADATA: dict[str, dict[str, Any]] = {
    "png": {"Software": None},
    "svg": {"Date": None, "Creator": None},
    "pdf": {"CreationDate": None, "Creator": None, "Producer": None},
}


def stacked_bars(statistics: Statistics) -> Figure:
    """Draw the shares of A, tie and B for the whole study and for each stratum.

    Args:
        statistics: from ``summary``.

    Returns:
        A figure with its own canvas; nothing global is touched.
    """
    rows = [statistics.overall, *statistics.strata]
    inches = 1.2 + 0.62 * len(rows)
    with mpl.rc_context(STYLE):
        figure = Figure(figsize=(8.0, inches), facecolor="white")
        FigureCanvasAgg(figure)
        axes = figure.add_axes((0.2, 0.65 / inches, 0.58, 0.62 * len(rows) / inches))
        for place, one in enumerate(rows):
            _bar(axes, len(rows) - 1 - place, one)
        _dress(axes, statistics, rows)
        told = f"study hash {statistics.hash}"
        figure.text(0.985, 0.05 / inches, told, ha="right", va="bottom", color=QUIET, fontsize=5)
    return figure


def save_figure(figure: Figure, path: Path) -> Path:
    """Write a figure; the suffix (``.png``, ``.svg``, ``.pdf``) decides the format.

    Raises:
        StoreError: the folder cannot be written or is full.
    """
    form = path.suffix[1:]
    with mpl.rc_context(STYLE), translated(path):
        figure.savefig(path, format=form, dpi=200, facecolor="white", metadata=METADATA[form])
    return path


def _bar(axes: Axes, y: int, one: Block) -> None:
    """One stacked bar: A from the left, B from the right, ties between them."""
    if one.n == 0:
        axes.text(50, y, "no ratings", ha="center", va="center", color=QUIET)
        return
    a, b, tie = (100 * share.count / one.n for share in (one.a, one.b, one.tie))
    pieces = (
        (0.0, a, BLUE, "white", "A"),
        (a, tie, GREY, INK, "tie"),
        (a + tie, b, ORANGE, INK, "B"),
    )
    for start, width, colour, ink, word in pieces:
        axes.barh(y, width, left=start, height=0.54, color=colour, edgecolor="white", linewidth=0.8)
        label = f"{word} {width:.1f} %" if width >= 13 else f"{width:.0f}" if width >= 4 else ""
        axes.text(start + width / 2, y + 0.01, label, ha="center", va="center", color=ink)
    _whisker(axes, y - 0.33, one.a.low, one.a.high, BLUE, mirrored=False)
    _whisker(axes, y - 0.41, one.b.low, one.b.high, DARK, mirrored=True)


def _whisker(
    axes: Axes, y: float, low: float | None, high: float | None, colour: str, *, mirrored: bool
) -> None:
    """The interval of a share, measured from the side its bar starts from, below the bar."""
    if low is None or high is None:
        return
    ends = (100 - 100 * high, 100 - 100 * low) if mirrored else (100 * low, 100 * high)
    axes.plot(ends, (y, y), color=colour, linewidth=1.4, solid_capstyle="butt")
    for end in ends:
        axes.plot((end, end), (y - 0.035, y + 0.035), color=colour, linewidth=1.4)


def _dress(axes: Axes, statistics: Statistics, rows: list[Block]) -> None:
    """Names, counts and scales around the bars."""
    top = len(rows) - 1
    axes.set_xlim(0, 100)
    axes.set_ylim(-0.5, top + 0.5)
    axes.set_yticks([top - place for place in range(len(rows))])
    axes.set_yticklabels([f"{one.title}\nn = {one.n}" for one in rows], color=INK)
    axes.set_xticks([0, 25, 50, 75, 100])
    told = "Share of ratings, %. Wilson 95 % intervals: of A from the left, of B from the right"
    axes.set_xlabel(told, color=QUIET)
    axes.tick_params(length=0, colors=INK)
    for side in ("top", "right", "left"):
        axes.spines[side].set_visible(False)
    axes.spines["bottom"].set_color("#999999")
    above = top + 0.42
    # two long names do not fit on one line
    lift = 0.26 if len(statistics.model_a) + len(statistics.model_b) > 56 else 0.0
    axes.text(0, above + lift, f"A: {statistics.model_a}", color=BLUE, weight="bold", va="bottom")
    axes.text(
        100, above, f"B: {statistics.model_b}", color=DARK, weight="bold", ha="right", va="bottom"
    )
    axes.text(104, above, "A among decided", color=QUIET, va="bottom")
    for place, one in enumerate(rows):
        axes.text(104, top - place, _decided(one), color=INK, va="center", fontsize=8)


def _decided(one: Block) -> str:
    found = one.a_decided
    if found.share is None or found.low is None or found.high is None:
        return "none decided"
    interval = f"[{100 * found.low:.1f}, {100 * found.high:.1f}]"
    return (
        f"{100 * found.share:.1f} % {interval}\n"
        f"{found.count} of {found.n}, p {p_words(one.p).replace('n <', 'not given, n <')}"
    )
