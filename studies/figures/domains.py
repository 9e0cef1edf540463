"""Figure 5: Hit@1 by anatomical domain and evidence form, one panel per form.

A row is a domain, a point the mean over its tasks under one model, with its interval and the
numbers of tasks and queries. Draws only; which task belongs where is given.
"""

from __future__ import annotations

from collections.abc import Sequence

from matplotlib.axes import Axes

from studies.figures.numbers import Asked, over_tasks
from studies.figures.sheet import SHAPES, Sheet
from studies.results import TaskLine

FORMS = (("2d", "2D"), ("3d", "3D"), ("text", "Text"))
TOP = 0.95


def draw(sheet: Sheet, asked: Asked) -> None:
    """Fill a sheet: a panel per form that has tasks, a row per domain."""
    lines = [line for line in asked.results.tasks if line.missing is None]
    domains = _domains(asked, lines)
    forms = [(key, word) for key, word in FORMS if any(x.task.form == key for x in lines)]
    if not domains or not asked.models:
        sheet.words(0.15, 0.12, "No task with a result names its anatomy", weight="bold")
        return
    queries = sum(line.n for line in lines if line.task.id in asked.anatomy)
    told = f"Hit@1 by anatomical domain and form, {len(lines)} tasks, n = {queries:,} queries"
    sheet.words(0.15, 0.12, told, weight="bold")
    name_models(sheet, asked, 0.42)
    across, down = sheet.inches
    left = min(2.0, 0.3 + 0.085 * max(len(name) for name in domains))
    wide = (across - left - 0.2) / len(forms)
    for place, (key, word) in enumerate(forms):
        axes = sheet.axes(left + place * wide, TOP, wide - 1.15, down - TOP - 0.5)
        chosen = [line for line in lines if line.task.form == key]
        _panel(sheet, axes, asked, domains, chosen, f"{word}")
        axes.set_yticks(range(len(domains)), domains[::-1] if place == 0 else [])
        if place:
            axes.set_yticks([])


def name_models(sheet: Sheet, asked: Asked, top: float) -> None:
    """The chosen models in their colours, on one line, or on two where they are long."""
    left, across = 0.15, sheet.inches[0]
    for place, model in enumerate(asked.models):
        title = f"{MARKS[place % len(MARKS)]} {asked.title(model)}"
        wide = 0.092 * len(title) + 0.25
        if left + wide > across and left > 0.2:
            left, top = 0.15, top + 0.2
        sheet.words(left, top, title, color=sheet.colour(place), fontsize=9)
        left += wide


MARKS = ("●", "■", "▲", "◆", "▼", "✚", "✖")


def _domains(asked: Asked, lines: Sequence[TaskLine]) -> list[str]:
    """Domains with a result, the easiest for the first model on top."""
    names = {asked.anatomy[x.task.id] for x in lines if x.task.id in asked.anatomy}

    def ease(name: str) -> tuple[float, str]:
        inside = [x for x in lines if asked.anatomy.get(x.task.id) == name]
        found = over_tasks(inside, asked.models[0]) if asked.models else None
        return (-found.value if found else 1.0, name)

    return sorted(names, key=ease)


def _panel(
    sheet: Sheet,
    axes: Axes,
    asked: Asked,
    domains: Sequence[str],
    lines: Sequence[TaskLine],
    word: str,
) -> None:
    step = 0.62 / max(1, len(asked.models))
    for place, domain in enumerate(reversed(domains)):
        inside = [x for x in lines if asked.anatomy.get(x.task.id) == domain]
        axes.axhline(place + 0.5, color=sheet.theme.line, linewidth=0.5)
        for which, model in enumerate(asked.models):
            found = over_tasks(inside, model)
            y = place + 0.31 - step * (which + 0.5)
            if found is not None:
                colour = sheet.colour(which)
                axes.plot((found.low, found.high), (y, y), color=colour, linewidth=1.1)
                sheet.dot(axes, found.value, y, SHAPES[which % 7], colour)
                words = f"{domain}, {word}, {asked.title(model)}: {found.words}"
                sheet.mark(axes, found.value, y, words, model=model)
        _count(sheet, axes, place, inside)
    axes.set_xlim(0, 100)
    axes.set_ylim(-0.5, len(domains) - 0.5)
    axes.set_xticks([0, 50, 100])
    axes.set_title(word, color=sheet.theme.ink, loc="left", fontsize=9, weight="bold")
    axes.set_xlabel("Hit@1, %", color=sheet.theme.quiet, fontsize=8)
    axes.tick_params(axis="y", colors=sheet.theme.ink)


def _count(sheet: Sheet, axes: Axes, y: float, lines: Sequence[TaskLine]) -> None:
    """How much stands behind a row."""
    if not lines:
        told = "no task"
    else:
        plural = "s" if len(lines) > 1 else ""
        told = f"{len(lines)} task{plural}\nn = {sum(x.n for x in lines):,}"
    axes.annotate(
        told, (100, y), xytext=(6, 0), textcoords="offset points", va="center", fontsize=7.5,
        color=sheet.theme.quiet, annotation_clip=False,
    )  # fmt: skip
