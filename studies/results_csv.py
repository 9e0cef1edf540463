"""Every number of a run as one CSV in long form: one line per number, with its interval and count.

Owns the columns. Task lines come first, then families and splits, then the printed numbers.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from studies.medheb.anatomy import Group
from studies.medheb.paper import COLUMNS
from studies.medheb.pools import METRICS
from studies.results_groups import groups_of

if TYPE_CHECKING:
    from studies.results import ModelLine, Results, TaskLine

HEAD = (
    "level", "name", "family", "form", "split", "anatomy", "target", "model", "metric", "value",
    "low", "high", "chance", "queries", "failed", "ties", "tasks", "of", "pool", "origin",
)  # fmt: skip


def to_csv(results: Results, *, compare_paper: bool = False) -> str:
    """The whole run; percent, intervals of 95 %, an empty cell where there is nothing to say."""
    stream = io.StringIO()
    writer = csv.DictWriter(stream, HEAD, restval="", lineterminator="\n")
    writer.writeheader()
    groups = groups_of(results)
    for line in results.tasks:
        writer.writerows(_task(line, groups[line.task.id]))
    for model in (results.chance, *results.models):
        writer.writerows(_columns(results, model))
        writer.writerows(_habits(model))
    if compare_paper:
        writer.writerows(_printed(results))
    return stream.getvalue()


def _task(line: TaskLine, group: Group) -> Iterable[dict[str, Any]]:
    task = line.task
    own = {
        "level": "task", "name": task.id, "family": task.family, "form": task.form,
        "split": task.split, "anatomy": group.anatomy, "target": group.target, "pool": line.pool,
    }  # fmt: skip
    if line.missing is not None:
        yield {**own, "origin": f"missing: {line.missing}"}
    for model, cell in line.scores.items():
        for metric in METRICS:
            low, high = cell.score.interval[metric]
            yield {
                **own,
                "model": model,
                "metric": metric,
                "value": _number(cell.score.values[metric]),
                "low": _number(low),
                "high": _number(high),
                "chance": _number(cell.chance[metric]),
                "queries": cell.n,
                "failed": cell.failed,
                "ties": cell.ties,
                "origin": "imported" if cell.imported else "computed",
            }


def _columns(results: Results, line: ModelLine) -> Iterable[dict[str, Any]]:
    for column in COLUMNS:
        score = line.columns.get(column)
        if score is None:
            continue
        for metric in METRICS:
            low, high = score.interval[metric]
            yield {
                "level": "mean", "name": column, "model": line.model, "metric": metric,
                "value": _number(score.values[metric]), "low": _number(low),
                "high": _number(high), "tasks": score.tasks, "of": results.of.get(column, 0),
                "origin": "exact" if line.model == "chance" else "computed",
            }  # fmt: skip


def _habits(line: ModelLine) -> Iterable[dict[str, Any]]:
    """How even a model is over the families, and how far it falls on those few had looked at."""
    for name, value in (("CV", line.cv), ("established minus underexplored", line.drop)):
        if value is not None:
            yield {
                "level": "model",
                "name": name,
                "model": line.model,
                "metric": "hit@1",
                "value": _number(value),
                "origin": "exact" if line.model == "chance" else "computed",
            }


def _printed(results: Results) -> Iterable[dict[str, Any]]:
    for model, row in results.paper().rows.items():
        for column, numbers in row.items():
            for metric, value in numbers.items():
                yield {
                    "level": "mean", "name": column, "model": model, "metric": metric,
                    "value": _number(value), "origin": "paper",
                }  # fmt: skip


def _number(value: float) -> str:
    return f"{value:.4f}"
