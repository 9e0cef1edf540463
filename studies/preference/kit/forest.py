"""The forest plot of a study: the first model among the decided, by group, with intervals.

Owns the drawing: all items on top, then strata, difficulty, families and forms, each with n; a line
at one half. A group without decided ratings is named and not drawn.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from studies.preference.analysis.schema import Block, Pair
from studies.preference.kit.ink import (
    BLUE,
    DARK,
    INK,
    LINE,
    QUIET,
    SMALL,
    axes_of,
    figure_of,
    interval_words,
    p_told,
    shortened,
)

GROUPS = ("stratum", "difficulty", "family", "form", "split", "rater")
EACH, LEFT, WIDE = 0.24, 2.2, 3.2


@dataclass(frozen=True)
class Line:
    """One line of the plot: a heading without a block, or a group."""

    title: str
    block: Block | None = None


def forest(pair: Pair, *, study_hash: str) -> Figure:
    """Draw the share of the first model among the decided for each group.

    Args:
        pair: of an analysis.
        study_hash: printed in the corner.
    """
    lines = lines_of(pair)
    figure = figure_of(8.4, 1.35 + EACH * len(lines), study_hash)
    axes = axes_of(figure, LEFT, 0.75, WIDE, EACH * len(lines))
    top = len(lines) - 1
    axes.set_xlim(0, 100)
    axes.set_ylim(-0.6, top + 0.6)
    axes.axvline(50, color=LINE, linewidth=0.8, zorder=0)
    for place, line in enumerate(lines):
        _line(axes, top - place, line)
    _dress(axes, pair, top)
    return figure


def lines_of(pair: Pair) -> tuple[Line, ...]:
    """All ratings, then every way to group that has more than nothing to say."""
    whole = pair.overall
    found = [Line("All ratings" if whole.n > whole.items else "All items", whole)]
    for table in pair.tables:
        if table.group in GROUPS and not (table.group == "rater" and len(table.blocks) < 2):
            found.append(Line(table.title))
            found += [Line(one.title, one) for one in table.blocks]
    return tuple(found)


def _line(axes: Axes, y: int, line: Line) -> None:
    one = line.block
    across = axes.get_yaxis_transform()
    if one is None:
        axes.text(-0.66, y, line.title, transform=across, va="center", color=QUIET, fontsize=8)
        return
    name = f"{shortened(line.title, 30)}, n = {one.n}"
    axes.text(-0.62, y, name, transform=across, va="center", color=INK, fontsize=8)
    share = one.first_decided
    if share.share is not None and share.low is not None and share.high is not None:
        ends = (100 * share.low, 100 * share.high)
        axes.plot(ends, (y, y), color=BLUE, linewidth=1.3, solid_capstyle="butt")
        size = 3.0 + 3.5 * min(1.0, share.n / 300)
        axes.plot(
            *((100 * share.share,), (y,)), marker="s", markersize=size, color=BLUE, clip_on=False
        )
    said = interval_words(share)
    if share.n:
        said += f", {p_told(one.sign)}"
    axes.text(1.04, y, said, transform=across, va="center", color=INK, fontsize=SMALL - 1)


def _dress(axes: Axes, pair: Pair, top: int) -> None:
    axes.set_yticks([])
    axes.set_xticks([0, 25, 50, 75, 100])
    told = "Preferred among the decided, %, with Wilson 95 % intervals.\n"
    which = " of the ratings" if pair.overall.n > pair.overall.items else ""
    told += f"p: exact sign test{which}, Holm within each group of lines"
    axes.set_xlabel(told, color=QUIET, fontsize=SMALL)
    for x, words, colour, side in (
        (0, f"{pair.second} better", DARK, "left"),
        (100, f"{pair.first} better", BLUE, "right"),
    ):
        axes.text(x, top + 0.75, words, color=colour, weight="bold", ha=side, va="bottom")
    _titles(axes, pair, top)


def _titles(axes: Axes, pair: Pair, top: int) -> None:
    across = axes.get_yaxis_transform()
    names: Sequence[tuple[str, str]] = (
        (f"{pair.first}: {pair.first_title}", BLUE),
        (f"{pair.second}: {pair.second_title}", DARK),
    )
    for place, (name, colour) in enumerate(names):
        axes.text(
            1.04,
            top + 1.75 - place,
            shortened(name, 48),
            transform=across,
            color=colour,
            va="bottom",
            fontsize=8,
        )
