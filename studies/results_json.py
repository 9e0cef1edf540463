"""The document of a run: every number with its interval, chance, and what is missing.

Owns the shape of ``bench show --json``. Computes nothing but where random rankings fall.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from studies import results_record
from studies.medheb.scores import chance_score
from studies.medheb.tasks import FAMILIES
from studies.results_sections import Section

if TYPE_CHECKING:
    from studies.results import ModelLine, Results, TaskLine, TaskScore


def to_json(
    results: Results, *, compare_paper: bool = False, sections: Sequence[Section] = ()
) -> dict[str, Any]:
    """The document: ``tasks`` and ``models``, beside them chance, what is missing, further tables.

    Every score is in percent; ``interval`` holds the 95 % bootstrap ends of each metric.
    """
    document: dict[str, Any] = {
        "data": {"digest": results.digest, "root": results.root},
        "tasks": [_task_document(line) for line in results.tasks if line.missing is None],
        "models": [_model_document(line) for line in results.models],
        "chance": _model_document(results.chance),
        "missing": [{"task": m.task.id, "reason": m.missing} for m in results.missing],
        **({} if results.stale is None else {"stale": results.stale.document()}),
        "of": dict(results.of),
        "regimes": results.regimes(),
        "regime_summary": {
            name: {"tasks": count, "std": round(std, 4)}
            for name, (count, std) in results.regime_summary().items()
        },
        "encoders": results_record.document(results_record.loaded(results)),
        **{section.name: section.document for section in sections if section.document},
    }
    if compare_paper:
        paper = results.paper()
        document["paper"] = {
            "models": {name: dict(row) for name, row in paper.rows.items()},
            "same_as": dict(paper.same_as),
            "marks": dict(paper.marks),
        }
    return document


def _task_document(line: TaskLine) -> dict[str, Any]:
    return {
        "task": line.task.id,
        "family": line.task.family,
        "form": line.task.form,
        "split": line.task.split,
        "n": line.n,
        "pool": line.pool,
        "chance": {name: round(value, 4) for name, value in line.chance.items()},
        "chance_interval": {
            name: [round(end, 4) for end in span] for name, span in span_of(line).items()
        },
        "scores": {model: _cell_document(cell) for model, cell in line.scores.items()},
    }


def span_of(line: TaskLine) -> Mapping[str, tuple[float, float]]:
    """Where 95 % of random rankings of this task fall, by metric, in percent."""
    return chance_score({line.task.id: line.chance_ranks}, {line.task.id: line.n}).interval


def _cell_document(cell: TaskScore) -> dict[str, Any]:
    document = cell.score.document()
    document.pop("tasks")
    extra = {"n": cell.n, "failed": cell.failed, "ties": cell.ties, "seconds": cell.seconds}
    return {**document, **extra, **({"imported": dict(cell.imported)} if cell.imported else {})}


def _model_document(line: ModelLine) -> dict[str, Any]:
    """None stands where a model has no task of a split or family."""
    columns = {name: s.document() for name, s in line.columns.items()}
    return {
        "model": line.model,
        "all": columns.get("All"),
        "id": columns.get("ID"),
        "held_out": columns.get("Held-out"),
        "families": {family: columns[family] for family in FAMILIES if family in columns},
        "cv": None if line.cv is None else round(line.cv, 4),
        "drop": None if line.drop is None else round(line.drop, 4),
        "missing": list(line.missing),
    }
