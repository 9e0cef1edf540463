"""Graded relevance of a run beside the paper's Table 5.

Owns finding the tasks that are graded, their classes at the data root and their stored rankings,
and laying the result out. A task that cannot be graded is named with its reason, and so is a model
whose rankings are gone or damaged.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from db.home import Home
from studies.errors import BadTaskFile, NoRun
from studies.medheb.graded import RELATIONS, Scale, load_scales
from studies.medheb.graded_scores import (
    ALL,
    Graded,
    GradedScore,
    GradedTask,
    graded_task,
    put_together,
)
from studies.medheb.paper import GENERATED, printed
from studies.medheb.release import read_task
from studies.medheb.writer import Prediction, read_predictions, result_folder
from studies.results_groups import root_of
from studies.results_sections import Section

if TYPE_CHECKING:
    from studies.results import Results, TaskLine

COLUMNS = (*RELATIONS, ALL)
RULES = (
    "The paper's grading rules are not published: gains and the choice of sources are ours "
    "(resources/graded.toml, or graded.toml at the data root)."
)


def load_graded(home: Home, results: Results) -> Graded:
    """Graded relevance over the stored rankings of a run.

    Raises:
        BadTaskFile: the table of gains cannot be read.
    """
    root = root_of(results)
    lines = {line.task.id: line for line in results.tasks}
    found = []
    for scale in load_scales(root):
        for task in scale.tasks:
            line = lines.get(task)
            if line is not None:
                found.append(_task(home, results, scale, line, root))
    return put_together(found)


def _task(
    home: Home, results: Results, scale: Scale, line: TaskLine, root: Path | None
) -> GradedTask:
    task = line.task
    if line.missing is not None:
        return GradedTask(task.id, scale.relation, {}, missing=line.missing)
    if root is None:
        why = f"{task.id}: its classes lie with the data, and {results.root} is not there"
        return GradedTask(task.id, scale.relation, {}, missing=why)
    try:
        data = read_task(task, root)
    except BadTaskFile as error:
        return GradedTask(task.id, scale.relation, {}, missing=str(error))
    ranked = predictions_of(home, results.digest, line)
    if ranked.lost and not ranked.found:
        why = f"{task.id}: none of its rankings can be read"
        return GradedTask(task.id, scale.relation, {}, missing=why, lost=ranked.lost)
    return replace(graded_task(scale, data, ranked.found), lost=ranked.lost)


@dataclass(frozen=True)
class Rankings:
    """The stored rankings of a task.

    Attributes:
        found: by model.
        lost: sentences about models whose file is gone, damaged or cut.
    """

    found: Mapping[str, tuple[Prediction, ...]]
    lost: tuple[str, ...]


def predictions_of(
    home: Home, digest: str, line: TaskLine, models: Collection[str] | None = None
) -> Rankings:
    """Read the rankings of a task; models imported as scores alone have none to lose.

    Args:
        home: where they lie.
        digest: of the data.
        line: the task.
        models: ids; all that have a score when None.
    """
    found, lost = {}, []
    for model, cell in line.scores.items():
        bare = bool(cell.imported) and not cell.imported.get("per_query")
        if bare or (models is not None and model not in models):
            continue
        try:
            folder = result_folder(home.runs, digest, model, line.task)
            ranked = read_predictions(folder, line.task)
        except NoRun as error:
            lost.append(f"{line.task.id}, {model}: {error}")
            continue
        if len(ranked) < cell.n and not cell.imported:
            why = f"{len(ranked)} of {cell.n} rankings are left; run the task again."
            lost.append(f"{line.task.id}, {model}: {why}")
        else:
            found[model] = ranked
    return Rankings(found, tuple(lost))


def graded_section(graded: Graded, *, paper: bool, generated: bool = False) -> Section | None:
    """The table by kind of relevance; None where the registry has no graded task with a score."""
    if not graded.chance and not any(task.lost for task in graded.tasks):
        return None
    rows = [
        ("tasks", *(_count(graded, name) for name in COLUMNS)),
        ("chance", *(_number(graded.chance.get(name)) for name in COLUMNS)),
        ("worst order", *(_number(graded.floor.get(name)) for name in COLUMNS)),
    ]
    rows += [
        (model, *(_cell(graded, scores, name) for name in COLUMNS))
        for model, scores in graded.models.items()
    ]
    theirs = printed("table5", "ndcg@5") if paper else {}
    rows += [
        (f"{model} (paper)", *(_number(row.get(name)) for name in COLUMNS))
        for model, row in theirs.items()
    ]
    return Section(
        name="graded",
        title="NDCG@5 (%) with graded relevance",
        head=("model", *COLUMNS),
        rows=tuple(rows),
        notes=(
            RULES,
            *_notes(graded, theirs),
            *([f"Caution: {GENERATED}."] if generated and paper else ()),
        ),
        document=_document(graded, theirs),
    )


def _count(graded: Graded, name: str) -> str:
    have = sum(t.missing is None and name in (t.relation, ALL) for t in graded.tasks)
    return str(have) if have == graded.of[name] else f"{have}/{graded.of[name]}"


def _number(value: float | None) -> str:
    return "" if value is None else f"{value:.1f}"


def _cell(graded: Graded, scores: Mapping[str, GradedScore], name: str) -> str:
    if name not in scores:
        return ""
    score = scores[name]
    have = sum(t.missing is None and name in (t.relation, ALL) for t in graded.tasks)
    return f"{score.value:.1f}" + ("" if score.tasks == have else f" {score.tasks}/{have}")


def _notes(graded: Graded, theirs: Mapping[str, Mapping[str, float]]) -> list[str]:
    notes = [f"Not graded: {t.missing}" for t in graded.tasks if t.missing is not None]
    notes += [f"Left out: {why}" for task in graded.tasks for why in task.lost]
    for name, floor in graded.floor.items():
        below = [model for model, row in theirs.items() if row.get(name, floor) < floor]
        if below:
            notes.append(
                f"{name}: under our gains even the worst order scores {floor:.1f}, and the paper "
                f"prints less for {', '.join(below)}; its gains differ, so the column is not "
                "comparable."
            )
    return notes


def _document(graded: Graded, theirs: Mapping[str, Mapping[str, float]]) -> dict[str, object]:
    return {
        "models": {
            model: {name: _score(score) for name, score in scores.items()}
            for model, scores in graded.models.items()
        },
        "chance": {name: round(value, 4) for name, value in graded.chance.items()},
        "floor": {name: round(value, 4) for name, value in graded.floor.items()},
        "of": dict(graded.of),
        "tasks": [
            {
                "task": task.task,
                "relation": task.relation,
                "queries": task.queries,
                "left_out": task.left_out,
                "chance": round(100 * task.chance, 4),
                "missing": task.missing,
                "lost": list(task.lost),
                "models": {
                    model: round(100 * sum(values) / len(values), 4)
                    for model, values in task.values.items()
                },
            }
            for task in graded.tasks
        ],
        **({"paper": {model: dict(row) for model, row in theirs.items()}} if theirs else {}),
    }


def _score(score: GradedScore) -> dict[str, object]:
    return {
        "ndcg@5": round(score.value, 4),
        "interval": [round(end, 4) for end in score.interval],
        "tasks": score.tasks,
    }
