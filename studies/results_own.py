"""Tasks of a person's own data as a table of their own, outside the benchmark's columns.

Owns the layout and the mean over the tasks of one set, with how many of them each model has.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from studies.medheb.pools import METRICS, UNKNOWN_POOL
from studies.medheb.scores import macro_score
from studies.results_sections import Section

if TYPE_CHECKING:
    from studies.results import Results, TaskLine

NOTE = (
    "These tasks are no part of the benchmark: no column above, no regime and no comparison with "
    "the paper holds them."
)


def own_section(results: Results) -> Section | None:
    """Every own task under every model, and the mean of each set; None where there is none."""
    models = [line.model for line in results.models]
    sets: dict[str, list[TaskLine]] = {}
    for line in results.own:
        sets.setdefault(line.task.source, []).append(line)
    if not sets:
        return None
    rows: list[tuple[str, ...]] = []
    for name, lines in sets.items():
        for metric in METRICS:
            rows += [_row(line, metric, models) for line in lines if line.missing is None]
            rows.append(_mean(name, lines, metric, models))
    missing = [f"{line.task.id}: {line.missing}" for line in results.own if line.missing]
    return Section(
        name="own",
        title="Own data (%)",
        head=("task", "metric", "family", "n", "pool", "chance", *models),
        rows=tuple(rows),
        notes=(NOTE, *missing),
        document={name: [line.task.id for line in lines] for name, lines in sets.items()},
    )


def _row(line: TaskLine, metric: str, models: list[str]) -> tuple[str, ...]:
    cells = [
        f"{line.scores[m].score.values[metric]:.1f}" if m in line.scores else "" for m in models
    ]
    chance = "" if line.pool == UNKNOWN_POOL else f"{line.chance[metric]:.1f}"
    return (line.task.id, metric, line.task.family, str(line.n), line.pool, chance, *cells)


def _mean(name: str, lines: list[TaskLine], metric: str, models: list[str]) -> tuple[str, ...]:
    """The mean over the tasks that a model has, with how many of how many where some lack."""
    cells = []
    for model in models:
        ranks = {line.task.id: line.scores[model].ranks for line in lines if model in line.scores}
        if not ranks:
            cells.append("")
            continue
        value = f"{macro_score(ranks).values[metric]:.1f}"
        cells.append(value if len(ranks) == len(lines) else f"{value} {len(ranks)}/{len(lines)}")
    have = sum(line.missing is None for line in lines)
    count = str(len(lines)) if have == len(lines) else f"{have}/{len(lines)}"
    return (f"mean of {name}", metric, "", f"{count} tasks", "", "", *cells)
