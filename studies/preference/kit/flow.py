"""The flow of items as a diagram: sampled, set aside, shown, answered, analysed.

Owns the drawing. Steps that only leave something out stand to the side of the line.
"""

from __future__ import annotations

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import FancyBboxPatch

from studies.preference.analysis.schema import Analysis
from studies.preference.kit.ink import BLUE, INK, QUIET, axes_of, figure_of, shortened
from studies.preference.kit.words import flow_words

STEP, WIDE = 0.66, 6.4
ASIDE = ("auto_ties", "not_answered", "flagged", "repeats")  # beside the line


def flow_diagram(analysis: Analysis) -> Figure:
    """Boxes with counts, the main line on the left, what was set aside on the right.

    Args:
        analysis: the study's.
    """
    steps = steps_of(analysis)
    high = 0.75 + STEP * max(1, len(steps))
    figure = figure_of(WIDE, high, analysis.hash)
    axes = axes_of(figure, 0.1, 0.3, WIDE - 0.2, high - 0.7)
    axes.set_axis_off()
    axes.set_xlim(0, WIDE - 0.2)
    axes.set_ylim(-len(steps) + 0.4, 0.6)
    figure.text(0.1 / WIDE, 1 - 0.1 / high, shortened(analysis.title, 80), va="top", color=INK)
    before: int | None = None
    for place, (word, count) in enumerate(steps):
        aside = word in ASIDE
        _box(axes, -place, word, count, aside=aside)
        if word == "repeats":  # beside the study, not a part that left it
            axes.plot((0.1, 6.1), (-place + 0.42,) * 2, color=QUIET, linewidth=0.7, linestyle=":")
            axes.text(0.1, -place, "Read besides, in none\nof the numbers above", va="center",
                      color=QUIET, fontsize=7.5)  # fmt: skip
            continue
        if aside:
            axes.annotate("", (3.3, -place), (1.6, -place), arrowprops=_arrow())
        elif before is not None:
            axes.annotate("", (1.6, -place + 0.32), (1.6, before - 0.32), arrowprops=_arrow())
        before = before if aside else -place
    return figure


def steps_of(analysis: Analysis) -> list[tuple[str, int]]:
    """The steps with what was planned and not answered between them."""
    steps = []
    for word, count in analysis.flow.items():
        if word == "answered":
            steps.append(("not_answered", analysis.flow.get("shown", count) - count))
        steps.append((word, count))
    return steps


def _arrow() -> dict[str, object]:
    return {"arrowstyle": "-|>", "color": QUIET, "linewidth": 0.9, "shrinkA": 0, "shrinkB": 0}


def _box(axes: Axes, y: float, word: str, count: int, *, aside: bool) -> None:
    left, wide = (3.3, 2.8) if aside else (0.1, 3.0)
    box = FancyBboxPatch(
        (left, y - 0.3),
        wide,
        0.6,
        boxstyle="square,pad=0",
        facecolor="white",
        edgecolor=QUIET if aside else BLUE,
        linewidth=0.9,
    )
    axes.add_patch(box)
    said = flow_words(word)
    lines = f"{said[:1].upper()}{said[1:]}\n(n = {count})"
    axes.text(left + 0.12, y, lines, va="center", color=INK, fontsize=7.5)
