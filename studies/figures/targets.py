"""Figure 8: what the length of a target does: short labels, answers, long texts.

Tasks are ordered by the measured mean length of their targets within their kind; below stand the
Hit@1 trajectories of chosen models. Draws only; kinds and lengths are given.
"""

from __future__ import annotations

from collections.abc import Sequence

from matplotlib.axes import Axes

from studies.figures.domains import name_models
from studies.figures.numbers import Asked, of_task, over_tasks
from studies.figures.sheet import SHAPES, Sheet
from studies.medheb.anatomy import ANSWER, LONG, SHORT
from studies.results import TaskLine

KINDS = ((SHORT, "Short labels"), (ANSWER, "VQA answers"), (LONG, "Long texts"))
HEAD, TOP = 0.72, 1.15  # inches from above: the names of the kinds, the first panel
UPPER = 0.26  # of the height that both panels share
Groups = list[tuple[str, list[TaskLine]]]


def groups_of(asked: Asked) -> Groups:
    """Kinds with their tasks, the shortest targets first; unmeasured tasks come last."""
    lines = [line for line in asked.results.tasks if line.missing is None]
    found = []
    for kind, word in KINDS:
        inside = [line for line in lines if asked.kinds.get(line.task.id) == kind]
        inside.sort(key=lambda line: asked.lengths.get(line.task.id, float("inf")))
        if inside:
            found.append((word, inside))
    return found


def draw(sheet: Sheet, asked: Asked) -> None:
    """Fill a sheet: lengths above, scores below, on one axis of tasks."""
    groups = groups_of(asked)
    ordered = [line for _, inside in groups for line in inside]
    if not ordered or not asked.models:
        sheet.words(0.15, 0.12, "No task with a text target has a result", weight="bold")
        return
    told = (
        f"{len(ordered)} tasks by the measured length of their targets, "
        f"n = {sum(line.n for line in ordered):,} queries"
    )
    sheet.words(0.15, 0.12, told, weight="bold")
    name_models(sheet, asked, 0.38)
    across, down = sheet.inches
    slot = (across - 0.85) / len(ordered)
    size = min(8.0, 72 * slot * 0.8)
    longest = max(len(line.task.id) for line in ordered)
    names = longest * size * 0.61 / 72 if sheet.room_for_names(slot) else 0.0
    high = down - TOP - 0.22 - names - 0.12
    upper = sheet.axes(0.7, TOP, across - 0.85, high * UPPER)
    lower = sheet.axes(0.7, TOP + high * UPPER + 0.22, across - 0.85, high * (1 - UPPER))
    _lengths(sheet, upper, asked, ordered)
    _heads(sheet, groups, (upper, lower), asked)
    _scores(sheet, lower, asked, groups)
    if sheet.room_for_names(slot):
        lower.set_xticks(range(len(ordered)), [line.task.id for line in ordered])
        lower.tick_params(axis="x", labelrotation=90, labelsize=size, pad=2)


def _lengths(sheet: Sheet, axes: Axes, asked: Asked, lines: Sequence[TaskLine]) -> None:
    for place, line in enumerate(lines):
        words = asked.lengths.get(line.task.id)
        if words:
            axes.plot((place, place), (0.8, words), color=sheet.theme.line, linewidth=2.5)
            sheet.dot(axes, place, words, "_", sheet.theme.ink, size=6)
            told = f"{line.task.id}: {words:.1f} words on average, n = {line.n:,}"
            sheet.mark(axes, place, words, told, task=line.task.id)
    axes.set_yscale("log")
    axes.set_ylim(0.8, max([10.0, *asked.lengths.values()]) * 1.4)
    axes.set_yticks([1, 10, 100], ["1", "10", "100"])
    axes.minorticks_off()
    axes.set_xlim(-0.6, len(lines) - 0.4)
    axes.set_xticks([])
    axes.set_ylabel("words", color=sheet.theme.quiet)


def _heads(sheet: Sheet, groups: Groups, panels: tuple[Axes, Axes], asked: Asked) -> None:
    """Part and name the kinds; each name has a column of its own, so that none is cut."""
    start, wide = 0, sheet.inches[0] - 0.85
    total = sum(len(inside) for _, inside in groups)
    floor = 0.0
    for word, inside in groups:
        if start:
            for axes in panels:
                axes.axvline(start - 0.5, color=sheet.theme.line, linewidth=0.8)
        plural = "s" if len(inside) > 1 else ""
        queries = sum(line.n for line in inside)
        told = f"{word}\n{len(inside)} task{plural}, n = {queries:,}"
        left = max(0.7 + wide * start / total, floor)
        sheet.words(left, HEAD, told, fontsize=8.5, linespacing=1.3)
        floor = left + 1.7
        start += len(inside)


def _scores(sheet: Sheet, axes: Axes, asked: Asked, groups: Groups) -> None:
    start = 0
    step = 0.4 / max(1, len(asked.models))
    for word, inside in groups:
        for place, model in enumerate(asked.models):
            shift = step * (place - (len(asked.models) - 1) / 2)
            _trajectory(sheet, axes, asked, inside, (place, model), start + shift)
            if (mean := over_tasks(inside, model)) is not None:
                ends = (start - 0.4, start + len(inside) - 0.6)
                axes.plot(
                    ends, (mean.value, mean.value), color=sheet.colour(place), linewidth=0.8,
                    linestyle=(0, (4, 3)),
                )  # fmt: skip
                told = f"{word}, {asked.title(model)}: mean {mean.words}"
                sheet.mark(axes, ends[1], mean.value, told, model=model)
        start += len(inside)
    axes.set_xlim(-0.6, start - 0.4)
    axes.set_ylim(0, 100)
    axes.set_xticks([])
    axes.set_yticks([0, 25, 50, 75, 100])
    axes.set_ylabel("Hit@1, %", color=sheet.theme.quiet)


def _trajectory(
    sheet: Sheet,
    axes: Axes,
    asked: Asked,
    lines: Sequence[TaskLine],
    which: tuple[int, str],
    start: float,
) -> None:
    place, model = which
    colour = sheet.colour(place)
    there = [(start + x, line, of_task(line, model)) for x, line in enumerate(lines)]
    points = [(x, line, found) for x, line, found in there if found is not None]
    axes.plot(
        [x for x, _, _ in points], [found.value for _, _, found in points],
        color=colour, linewidth=1.0, alpha=0.5,
    )  # fmt: skip
    for x, line, found in points:
        axes.plot((x, x), (found.low, found.high), color=colour, linewidth=1.0)
        sheet.dot(axes, x, found.value, SHAPES[place % 7], colour)
        words = asked.lengths.get(line.task.id)
        length = f", {words:.1f} words" if words else ""
        told = f"{line.task.id}{length}, {asked.title(model)}: {found.words}"
        sheet.mark(axes, x, found.value, told, task=line.task.id, model=model)
