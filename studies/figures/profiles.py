"""Figure 6: what a model can do, family by family; two models task by task; accuracy and balance.

A draws family means of chosen models as points on lines (no radar: areas of a radar grow with the
order of its axes). B sets two models against each other per task, C the mean over families against
its coefficient of variation. Draws only.
"""

from __future__ import annotations

from matplotlib.axes import Axes

from studies.figures.domains import name_models
from studies.figures.numbers import METRIC, Asked, Spread, of_task, over_families, queries_of
from studies.figures.sheet import SHAPES, Label, Sheet, dodged
from studies.medheb.tasks import FAMILIES
from studies.results import ModelLine, TaskLine

SPLITS = (("id", "ID", "o"), ("held-out", "Held-out", "s"))


def draw(sheet: Sheet, asked: Asked) -> None:
    """Fill a sheet: A above, B and C side by side below."""
    across, down = sheet.inches
    upper = 0.46 * down
    _profile(sheet, asked, upper)
    side = down - upper - 1.05
    _against(sheet, asked, 0.6, upper + 0.55, min(side, across * 0.42), side)
    left = 0.6 + min(side, across * 0.42) + 0.95
    _balance(sheet, asked, left, upper + 0.55, across - left - 0.2, side)


def _profile(sheet: Sheet, asked: Asked, high: float) -> None:
    across, _ = sheet.inches
    lines = {line.model: line for line in asked.results.models}
    families = [f for f in FAMILIES if asked.results.of.get(f)]
    sheet.words(0.15, 0.12, "A   Hit@1 by family", weight="bold")
    name_models(sheet, asked, 0.38)
    axes = sheet.axes(0.6, 0.75, across - 0.8, high - 1.35)
    step = 0.4 / max(1, len(asked.models))
    for place, model in enumerate(asked.models):
        shift = step * (place - (len(asked.models) - 1) / 2)
        _line(sheet, axes, asked, lines[model], families, place, shift)
    axes.set_ylim(0, 100)
    axes.set_xlim(-0.5, len(families) - 0.5)
    axes.set_yticks([0, 25, 50, 75, 100])
    axes.set_ylabel("Hit@1, %", color=sheet.theme.quiet)
    axes.set_xticks(range(len(families)), [_head(asked, family) for family in families])
    axes.tick_params(axis="x", colors=sheet.theme.ink, labelsize=8)


def _head(asked: Asked, family: str) -> str:
    lines = [t for t in asked.results.tasks if t.task.family == family and t.missing is None]
    of = asked.results.of[family]
    count = f"{len(lines)}" if len(lines) == of else f"{len(lines)} of {of}"
    return f"{family}\n{count} tasks\nn = {sum(line.n for line in lines):,}"


def _line(
    sheet: Sheet,
    axes: Axes,
    asked: Asked,
    line: ModelLine,
    families: list[str],
    place: int,
    shift: float,
) -> None:
    colour = sheet.colour(place)
    points = [(x, line.columns[f]) for x, f in enumerate(families) if f in line.columns]
    axes.plot(
        [x + shift for x, _ in points], [score.values[METRIC] for _, score in points],
        color=colour, linewidth=1.0, alpha=0.55,
    )  # fmt: skip
    for x, score in points:
        value, ends = score.values[METRIC], score.interval[METRIC]
        axes.plot((x + shift, x + shift), ends, color=colour, linewidth=1.3)
        sheet.dot(axes, x + shift, value, SHAPES[place % 7], colour, size=5)
        ids = [t.task.id for t in asked.results.tasks if t.task.family == families[x]]
        found = Spread(value, *ends, score.tasks, queries_of(asked.results, line.model, ids))
        words = f"{families[x]}, {asked.title(line.model)}: {found.words}"
        sheet.mark(axes, x + shift, value, words, model=line.model)


def _against(sheet: Sheet, asked: Asked, left: float, top: float, wide: float, high: float) -> None:
    if len(asked.models) < 2:
        sheet.words(left - 0.45, top - 0.35, "B   Choose two models", weight="bold")
        return
    first, second = asked.models[:2]
    pairs = [(line, of_task(line, first), of_task(line, second)) for line in asked.results.tasks]
    both = [(line, a, b) for line, a, b in pairs if a is not None and b is not None]
    count = sum(a.queries for _, a, _ in both)
    told = f"B   Per task, {len(both)} tasks, n = {count:,}"
    sheet.words(left - 0.45, top - 0.35, told, weight="bold")
    axes = sheet.axes(left, top, wide, high)
    axes.plot((0, 100), (0, 100), color=sheet.theme.line, linewidth=1)
    for split, word, shape in SPLITS:
        inside = [(line, a, b) for line, a, b in both if line.task.split == split]
        for line, a, b in inside:
            _cross(sheet, axes, asked, line, (a, b), (word, shape))
        above = sum(b.value > a.value for _, a, b in inside)
        mark = "●" if shape == "o" else "□"
        axes.text(
            2, 97 if shape == "o" else 90,
            f"{mark} {word}: above the line {above} of {len(inside)}",
            color=sheet.colour(0 if shape == "o" else 1), fontsize=8, va="top",
        )  # fmt: skip
    axes.set_xlim(0, 100)
    axes.set_ylim(0, 100)
    axes.set_xticks([0, 50, 100])
    axes.set_yticks([0, 50, 100])
    axes.set_xlabel(f"{asked.title(first)}, Hit@1, %", color=sheet.theme.quiet, fontsize=8)
    axes.set_ylabel(f"{asked.title(second)}, Hit@1, %", color=sheet.theme.quiet, fontsize=8)


def _cross(
    sheet: Sheet,
    axes: Axes,
    asked: Asked,
    line: TaskLine,
    two: tuple[Spread, Spread],
    look: tuple[str, str],
) -> None:
    a, b = two
    word, shape = look
    colour = sheet.colour(0 if shape == "o" else 1)
    axes.plot((a.low, a.high), (b.value, b.value), color=colour, linewidth=0.5, alpha=0.45)
    axes.plot((a.value, a.value), (b.low, b.high), color=colour, linewidth=0.5, alpha=0.45)
    sheet.dot(axes, a.value, b.value, shape, colour, hollow=shape != "o")
    first, second = (asked.title(model) for model in asked.models[:2])
    words = f"{line.task.id}, {word}. {first}: {a.words}. {second}: {b.words}"
    sheet.mark(axes, a.value, b.value, words, task=line.task.id, model=asked.models[1])


def _balance(sheet: Sheet, asked: Asked, left: float, top: float, wide: float, high: float) -> None:
    told = "C   Mean family Hit@1 against its variation (CV; lower is more even)"
    sheet.words(left - 0.45, top - 0.35, told, weight="bold")
    models = [(m, over_families(asked.results, m, FAMILIES)) for m in asked.results.models]
    there = [(m, found, m.cv) for m, found in models if found is not None and m.cv is not None]
    if not there:
        sheet.words(left, top + 0.1, "Needs all eight families.", color=sheet.theme.quiet)
        return
    axes = sheet.axes(left, top, wide, high)
    most = max(cv for _, _, cv in there) * 1.15 + 0.05
    right = min(100.0, max(found.high for _, found, _ in there) * 1.45)
    unit = right / wide
    labels = dodged(
        [
            Label(found.high + 0.06 * unit, cv, 0.085 * len(asked.title(model.model)) * unit)
            for model, found, cv in there
        ],
        most * 0.16 / high,
    )
    for (model, found, cv), y in zip(there, labels, strict=True):
        place = asked.models.index(model.model) if model.model in asked.models else -1
        colour = sheet.colour(place) if place >= 0 else sheet.theme.quiet
        axes.plot((found.low, found.high), (cv, cv), color=colour, linewidth=1.1)
        sheet.dot(axes, found.value, cv, SHAPES[max(place, 0) % 7], colour, size=6)
        at = (found.high + 0.08 * unit, y)
        axes.plot((found.value, at[0]), (cv, y), color=colour, linewidth=0.5, alpha=0.6)
        axes.text(*at, asked.title(model.model), color=colour, fontsize=8, va="center")
        words = f"{asked.title(model.model)}: mean {found.words}; CV {cv:.3f}"
        sheet.mark(axes, found.value, cv, words, model=model.model)
    axes.set_xlim(0, right)
    axes.set_ylim(0, most)
    queries = max(found.queries for _, found, _ in there)
    axes.set_xlabel(
        f"Mean over eight families of Hit@1, %; n up to {queries:,}", color=sheet.theme.quiet,
        fontsize=8,
    )  # fmt: skip
    axes.set_ylabel("CV", color=sheet.theme.quiet, fontsize=8)
