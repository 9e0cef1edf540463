"""The small figure of checks: sides and texts, the session from first to last item, consistency.

Owns the drawing of three panels with intervals and n. What was not measured is said in words.
"""

from __future__ import annotations

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from studies.preference.analysis.schema import Analysis, Pair, Share
from studies.preference.kit.ink import (
    BLUE,
    GREEN,
    INK,
    LINE,
    QUIET,
    SMALL,
    axes_of,
    figure_of,
    shortened,
)
from studies.preference.kit.words import p_words

HIGH, WIDE = 3.6, 9.6


def checks(analysis: Analysis, pair: Pair) -> Figure:
    """Sides, texts and look-alikes on the left, ties along the session, repeats on the right.

    Args:
        analysis: the study's.
        pair: whose sides are shown.
    """
    figure = figure_of(WIDE, HIGH, analysis.hash)
    _sides(axes_of(figure, 1.35, 0.7, 1.6, 2.25), pair)
    _session(axes_of(figure, 3.75, 0.7, 2.3, 2.25), analysis)
    _repeats(axes_of(figure, 7.45, 0.7, 1.7, 2.25), analysis)
    return figure


def _sides(axes: Axes, pair: Pair) -> None:
    side, first = pair.side, pair.first
    more = (("longer texts", pair.length.longer), ("look-alike", pair.lookalike.preferred))
    rows = (
        ("left chosen", side.left),
        (f"{first}, {first} left", side.first_when_left),
        (f"{first}, {first} right", side.first_when_right),
        *(one for one in more if one[1].n),
    )
    _points(axes, rows, BLUE)
    said = "Sides, texts, % of decided" if len(rows) > 3 else "Sides, % of decided"
    told = f"\nleft: p {p_words(side.sign.p)}, n = {side.left.n}" if side.sign.p is not None else ""
    axes.set_title(said + told, fontsize=8, color=INK, loc="left")


def _session(axes: Axes, analysis: Analysis) -> None:
    found = analysis.fatigue
    axes.spines["left"].set_visible(True)
    axes.spines["left"].set_color(LINE)
    axes.set_ylim(0, 100)
    for place, one in enumerate(found.windows):
        if one.tie.share is None or one.tie.low is None or one.tie.high is None:
            continue
        ends = (100 * one.tie.low, 100 * one.tie.high)
        axes.plot((place, place), ends, color=GREEN, linewidth=1.2, solid_capstyle="butt")
        axes.plot((place,), (100 * one.tie.share,), "o", color=GREEN, markersize=3.5, clip_on=False)
    axes.set_xticks(range(len(found.windows)))
    names = [
        f"{one.start - found.practice}\u2013\n{one.end - found.practice}\n({one.n})"
        for one in found.windows
    ]
    axes.set_xticklabels(names, fontsize=6, color=QUIET)
    axes.tick_params(axis="y", labelsize=SMALL)
    axes.set_xlabel("items in the reading order (n)", fontsize=SMALL, color=QUIET)
    test = found.tie_test
    told = f"\ntrend p {p_words(test.p)}, n = {test.n}" if test.p is not None else ""
    axes.set_title("Ties along the session, %" + told, fontsize=8, color=INK, loc="left")
    if not found.windows:
        _nothing(axes, "no order was stored")


def _repeats(axes: Axes, analysis: Analysis) -> None:
    axes.set_title("Swapped repeats, % with the same\nanswer again", fontsize=8, loc="left")
    rows = tuple((shortened(one.rater, 14), one.same) for one in analysis.repeats)
    if not rows:
        axes.set_xticks([])
        _nothing(axes, "no repeats were read")
        return
    _points(axes, rows[:8], BLUE)


def _points(axes: Axes, rows: tuple[tuple[str, Share], ...], colour: str) -> None:
    """Shares as points with intervals, one below the other, n in the name."""
    top = len(rows) - 1
    axes.set_xlim(0, 100)
    axes.set_ylim(-0.6, top + 0.6)
    axes.axvline(50, color=LINE, linewidth=0.8, zorder=0)
    for place, (_, share) in enumerate(rows):
        y = top - place
        if share.share is None or share.low is None or share.high is None:
            continue
        ends = (100 * share.low, 100 * share.high)
        axes.plot(ends, (y, y), color=colour, linewidth=1.3, solid_capstyle="butt")
        axes.plot((100 * share.share,), (y,), "o", color=colour, markersize=4, clip_on=False)
        label = f"{100 * share.share:.0f} [{ends[0]:.0f}, {ends[1]:.0f}]"
        axes.text(100 * share.share, y + 0.12, label, ha="center", va="bottom", fontsize=6)
    axes.set_yticks([top - place for place in range(len(rows))])
    axes.set_yticklabels([f"{name}\nn = {share.n}" for name, share in rows], fontsize=7)
    axes.set_xticks([0, 50, 100])
    axes.tick_params(axis="x", labelsize=SMALL)


def _nothing(axes: Axes, why: str) -> None:
    axes.set_yticks([])
    axes.text(0.5, 0.5, why, transform=axes.transAxes, ha="center", va="center", color=QUIET)
