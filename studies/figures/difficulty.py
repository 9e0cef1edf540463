"""Figure 4: how hard the tasks are for the baselines, and what a model loses on new relations.

A draws every task at the mean Hit@1 of the baselines with the deviation between them, in four
regimes. B draws established against underexplored families of each model. Draws only.
"""

from __future__ import annotations

from matplotlib.axes import Axes

from studies.figures.numbers import Asked, Hardness, Spread, by_regime, hardness, two_groups
from studies.figures.sheet import Sheet

RANGES = {
    "Collapse": "below 3 %",
    "Weak": "3–10 %",
    "Medium": "10–30 %",
    "Tractable": "30 % and more",
}
LEAST = "Needs every family of both groups"


def draw(sheet: Sheet, asked: Asked) -> None:
    """Fill a sheet with both panels."""
    across, down = sheet.inches
    tasks = hardness(asked.results)
    models = [model for model in asked.results.models if model.model != "chance"]
    lower = 0.95 + 0.26 * max(1, len(models))
    lower = min(lower, 0.45 * down)
    _tasks(sheet, tasks, high=down - lower - 0.1)
    _drop(sheet, asked, top=down - lower, high=lower - 0.6, wide=across)


def _tasks(sheet: Sheet, tasks: list[Hardness], high: float) -> None:
    across, _ = sheet.inches
    if not tasks:
        sheet.words(0.15, 0.12, "A   No baseline has a result", weight="bold")
        return
    most = max(one.models for one in tasks)
    queries = sum(one.line.n for one in tasks)
    told = (
        f"A   {len(tasks)} tasks by mean Hit@1 of {most} baseline{'s' if most > 1 else ''}, "
        f"n = {queries:,} queries"
    )
    sheet.words(0.15, 0.12, told, weight="bold")
    sheet.words(
        across - 0.15, 0.13, "whisker: ± 1 deviation between models; dash: chance", ha="right",
        color=sheet.theme.quiet, fontsize=8,
    )  # fmt: skip
    wide = across - 0.75
    slot = wide / len(tasks)
    size = min(8.0, 72 * slot * 0.8)
    longest = max(len(one.line.task.id) for one in tasks)
    names = longest * size * 0.61 / 72 if sheet.room_for_names(slot) else 0.0
    axes = sheet.axes(0.6, 0.85, wide, high - 1.05 - names)
    _points(sheet, axes, tasks)
    _regimes(sheet, axes, tasks, wide)
    axes.set_xlim(-0.6, len(tasks) - 0.4)
    axes.set_ylim(-2, 102)
    axes.set_yticks([0, 25, 50, 75, 100])
    axes.set_ylabel("Hit@1, %", color=sheet.theme.quiet)
    axes.set_xticks([])
    if sheet.room_for_names(slot):
        axes.set_xticks(range(len(tasks)), [one.line.task.id for one in tasks])
        axes.tick_params(axis="x", labelrotation=90, labelsize=size, pad=2)


def _points(sheet: Sheet, axes: Axes, tasks: list[Hardness]) -> None:
    names = [name for name, _ in by_regime(tasks)]
    for place, one in enumerate(tasks):
        colour = sheet.colour(names.index(one.regime))
        ends = (max(0.0, one.mean - one.deviation), min(100.0, one.mean + one.deviation))
        axes.plot((place, place), ends, color=colour, linewidth=1.3, solid_capstyle="butt")
        sheet.dot(axes, place, one.mean, "o", colour)
        chance = one.line.chance.get("hit@1")
        if chance is not None:
            ends = (place - 0.3, place + 0.3)
            axes.plot(ends, (chance, chance), color=sheet.theme.quiet, linewidth=0.9)
        between = f"deviation {one.deviation:.1f} between {one.models} models"
        words = (
            f"{one.line.task.id}: {one.mean:.1f} %, {between if one.models > 1 else 'one model'}, "
            f"chance {chance or 0:.1f} %, n = {one.line.n:,}"
        )
        sheet.mark(axes, place, one.mean, words, task=one.line.task.id)


def _regimes(sheet: Sheet, axes: Axes, tasks: list[Hardness], wide: float) -> None:
    """Part the regimes by lines and name them above, each in its colour and its own column."""
    start = 0
    groups = by_regime(tasks)
    for place, (name, members) in enumerate(groups):
        if start:
            axes.axvline(start - 0.5, color=sheet.theme.line, linewidth=0.8)
        spread = sum(one.deviation for one in members) / len(members)
        plural = "s" if len(members) > 1 else ""
        several = any(one.models > 1 for one in members)
        words = f"mean deviation {spread:.1f}" if several else "one model, no deviation"
        told = f"{name}, {RANGES[name]}\n{len(members)} task{plural}, {words}"
        left = 0.6 + wide * place / len(groups)
        sheet.words(left, 0.4, told, color=sheet.colour(place), fontsize=8.5, linespacing=1.35)
        start += len(members)


def _drop(sheet: Sheet, asked: Asked, top: float, high: float, wide: float) -> None:
    sheet.words(
        0.15, top + 0.02, "B   Established against underexplored families, Hit@1 by model",
        weight="bold",
    )  # fmt: skip
    models = asked.results.models
    left, right = min(2.6, wide * 0.25), min(2.7, wide * 0.26)
    axes = sheet.axes(left, top + 0.38, wide - left - right, high - 0.2)
    for place, model in enumerate(models):
        y = len(models) - 1 - place
        found = two_groups(asked.results, model)
        title = asked.title(model.model)
        if found is None:
            axes.text(1, y, LEAST, color=sheet.theme.quiet, va="center", fontsize=8)
            continue
        _pair(sheet, axes, y, found, title, model.model)
    axes.set_xlim(0, 100)
    axes.set_ylim(-0.6, len(models) - 0.4)
    axes.set_yticks(range(len(models)), [asked.title(m.model) for m in reversed(models)])
    axes.tick_params(axis="y", colors=sheet.theme.ink)
    axes.set_xticks([0, 25, 50, 75, 100])
    axes.set_xlabel(
        "Hit@1, %.  ● established (I-I, I-Lab, I-Rep, T-I, T-T)   □ underexplored (MB-VR, VG)",
        color=sheet.theme.quiet, fontsize=8,
    )  # fmt: skip


def _pair(
    sheet: Sheet, axes: Axes, y: float, found: tuple[Spread, Spread], title: str, model: str
) -> None:
    colours = (sheet.colour(0), sheet.colour(1))
    known, new = found
    axes.plot((known.value, new.value), (y, y), color=sheet.theme.line, linewidth=2.5, zorder=1)
    for one, colour, lift, shape in zip(found, colours, (0.14, -0.14), ("o", "s"), strict=True):
        axes.plot((one.low, one.high), (y + lift, y + lift), color=colour, linewidth=1.2)
        sheet.dot(axes, one.value, y, shape, colour, size=6, hollow=shape != "o")
    for name, one in (("established", known), ("underexplored", new)):
        sheet.mark(axes, one.value, y, f"{title}, {name}: {one.words}", model=model)
    gap = round(known.value - new.value, 1) + 0.0  # no minus before nothing
    told = f"drop {gap:.1f}   n = {known.queries:,} / {new.queries:,}"
    axes.annotate(
        told, (100, y), xytext=(8, 0), textcoords="offset points", va="center", fontsize=8,
        color=sheet.theme.ink, annotation_clip=False,
    )  # fmt: skip
