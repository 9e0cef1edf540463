"""The stacked bars of a study, overall and by stratum (the paper's Figure 7), with intervals.

Owns the drawing: the first model from the left, the second from the right, both kinds of ties
between them, intervals below each bar, n beside it. Labels stand on the bars.
"""

from __future__ import annotations

from collections.abc import Sequence

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from studies.preference.analysis.schema import Block, Pair
from studies.preference.kit.ink import (
    BLUE,
    DARK,
    GREY,
    INK,
    ORANGE,
    PALE,
    QUIET,
    SMALL,
    axes_of,
    figure_of,
    interval_words,
    p_told,
    shortened,
    whisker,
)

EACH, LEFT, WIDE = 0.66, 1.75, 4.0


def stacked_bars(pair: Pair, *, study_hash: str) -> Figure:
    """Shares of the first model, ties and the second, for all items and each stratum.

    Args:
        pair: of an analysis.
        study_hash: printed in the corner.
    """
    rows = rows_of(pair)
    high = 1.45 + EACH * len(rows)
    figure = figure_of(8.4, high, study_hash)
    axes = axes_of(figure, LEFT, 0.75, WIDE, EACH * len(rows))
    top = len(rows) - 1
    axes.set_xlim(0, 100)
    axes.set_ylim(-0.55, top + 0.45)
    for place, one in enumerate(rows):
        _bar(axes, top - place, one, (pair.first, pair.second))
    _dress(axes, pair, rows)
    return figure


def rows_of(pair: Pair) -> list[Block]:
    """The bars: all items, all with automatic ties where there are any, then the strata."""
    rows = [pair.overall]
    if pair.with_auto_ties.n != pair.overall.n:
        rows.append(pair.with_auto_ties)
    strata = next((one.blocks for one in pair.tables if one.group == "stratum"), ())
    return rows + list(strata)


def _bar(axes: Axes, y: int, one: Block, letters: tuple[str, str]) -> None:
    if one.n == 0:
        axes.text(50, y, "no ratings", ha="center", va="center", color=QUIET)
        return
    counts = (one.first, one.both, one.neither, one.auto_tie, one.second)
    words = (letters[0], "both", "neither", "identical", letters[1])
    looks = ((BLUE, "white"), (GREY, INK), (PALE, INK), ("white", INK), (ORANGE, INK))
    start = 0.0
    for share, word, (colour, ink) in zip(counts, words, looks, strict=True):
        width = 100 * share.count / one.n
        edge = "white" if colour != "white" else QUIET
        if width:
            axes.barh(y, width, left=start, height=0.5, color=colour, edgecolor=edge, linewidth=0.8)
        _label(axes, start + width / 2, y, word, width, ink)
        start += width
    for place, (share, colour) in enumerate(((one.first, BLUE), (one.second, DARK))):
        if share.low is not None and share.high is not None:
            low, high = 100 * share.low, 100 * share.high
            ends = (100 - high, 100 - low) if place else (low, high)
            whisker(axes, y - 0.33 - 0.09 * place, *ends, colour, tall=0.035)


def _label(axes: Axes, x: float, y: float, word: str, width: float, ink: str) -> None:
    """The share on its piece: on one line, on two, the number alone, or nothing for a sliver."""
    value = f"{width:.1f} %"
    if width >= 1.45 * len(f"{word} {value}"):
        text = f"{word} {value}"
    elif width >= 1.45 * max(len(word), len(value)):
        text = f"{word}\n{value}"
    else:
        text = f"{width:.0f}" if width >= 4 else ""
    if text:
        axes.text(x, y, text, ha="center", va="center", color=ink, fontsize=SMALL, linespacing=1.0)


def _dress(axes: Axes, pair: Pair, rows: Sequence[Block]) -> None:
    """Names, counts and scales around the bars."""
    top = len(rows) - 1
    axes.set_yticks([top - place for place in range(len(rows))])
    axes.set_yticklabels(
        [f"{shortened(one.title, 28)}\nn = {one.n}" for one in rows], color=INK, fontsize=8
    )
    axes.set_xticks([0, 25, 50, 75, 100])
    told = "Share of ratings, %. Ties: both useful dark, neither useful light grey"
    if any(one.auto_tie.count for one in rows):
        told += ", identical lists white"
    told += f".\nLines: Wilson 95 % intervals, of {pair.first} from the left, of {pair.second} "
    told += "from the right"
    axes.set_xlabel(told, color=QUIET, fontsize=SMALL)
    above = top + 0.42
    first = shortened(f"{pair.first}: {pair.first_title}", 60)
    second = shortened(f"{pair.second}: {pair.second_title}", 60)
    axes.text(0, above + 0.25, first, color=BLUE, weight="bold", va="bottom")
    axes.text(100, above, second, color=DARK, weight="bold", ha="right", va="bottom")
    axes.text(104, above, f"{pair.first} among decided", color=QUIET, va="bottom", fontsize=8)
    for place, one in enumerate(rows):
        said = _broken(interval_words(one.first_decided))
        if one.first_decided.n:
            said += f", {p_told(one.sign)}"
        axes.text(104, top - place + 0.06, said, color=INK, va="center", fontsize=SMALL)
        if one.n:
            ties = f"ties {interval_words(one.tie)}"
            axes.text(104, top - place - 0.3, ties, color=QUIET, va="center", fontsize=6.5)


def _broken(said: str) -> str:
    """Value and interval on one line, counts on the next."""
    head, bracket, tail = said.partition("], ")
    return f"{head}]\n{tail}" if bracket else said
