"""A task's queries with what each model put first, to be opened, compared and rated.

Joins the task's own files (the evidence) with the stored predictions (the order). Never reaches
torch. Refuses results that are not of the task as it is now.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from db.home import Home
from db.runs import TaskResultRow, task_results
from db.session import open_store
from engine.evidence.item import Item
from studies.errors import NoRun, UnknownTask
from studies.medheb.release import Candidate, TaskData, data_digest, read_task
from studies.medheb.tasks import Task, load_tasks
from studies.medheb.writer import Prediction, read_predictions, result_folder


@dataclass(frozen=True)
class RankedCandidate:
    """One candidate in a model's list.

    Attributes:
        place: from 1.
        name: as the release names it.
        item: what it shows.
        score: its cosine with the query; None beyond those that were kept.
        is_gold: True for the positive.
        group: token of its patient or group, "" if the task's file does not tell.
    """

    place: int
    name: str
    item: Item
    score: float | None
    is_gold: bool
    group: str = ""


@dataclass(frozen=True)
class ModelRanking:
    """What one model made of one query.

    Attributes:
        rank: of the positive, ties against it.
        top: the best candidates, best first.
    """

    rank: int
    top: tuple[RankedCandidate, ...]


@dataclass(frozen=True)
class RankedQuery:
    """One query under several models.

    Attributes:
        task: its task.
        row: position in the task's file, from 0.
        item: the query itself.
        gold: the positive.
        pool: number of candidates ranked.
        rankings: by model id; only models that scored the query.
        group: token of the query's patient or group, "" if the task's file does not tell.
    """

    task: Task
    row: int
    item: Item
    gold: Candidate
    pool: int
    rankings: Mapping[str, ModelRanking]
    group: str = ""


def task_queries(
    home: Home, data: Path, task_id: str, models: Sequence[str], k: int = 10
) -> tuple[RankedQuery, ...]:
    """The queries of a task that every named model scored, by row.

    Args:
        home: where results are stored.
        data: the data root.
        task_id: an id of its registry.
        models: model ids, at least one.
        k: how many of each list.

    Raises:
        UnknownTask: no such task at this root.
        NoRun: a model has no result for the task as it is now.
        BadTaskFile: the task's files cannot be read.
    """
    registry = load_tasks(data)
    task = next((task for task in registry if task.id == task_id), None)
    if task is None:
        raise UnknownTask(f"There is no task {task_id!r} at {data}.")
    read = read_task(task, data)
    digest = data_digest(data, registry)
    with open_store(home) as store:
        rows = {row.model_id: row for row in task_results(store, digest, task_id=task_id)}
    predictions = {}
    for model in models:
        _check(rows.get(model), read, model)
        folder = result_folder(home.runs, digest, model, task)
        predictions[model] = {line.row: line for line in read_predictions(folder, task)}
    return _joined(read, predictions, k)


def _check(row: TaskResultRow | None, read: TaskData, model: str) -> None:
    if row is None or row.task_digest != read.digest:
        raise NoRun(
            f"{model} has no result for {read.task.id} as it is now; start with: "
            f"triptych bench run --models {model} --tasks {read.task.id}"
        )


def _joined(
    read: TaskData, predictions: Mapping[str, Mapping[int, Prediction]], k: int
) -> tuple[RankedQuery, ...]:
    known: dict[str, Candidate] = {}
    for query in read.queries:
        for candidate in query.candidates:
            known.setdefault(candidate.name, candidate)
    found = []
    for query in read.queries:
        lines = {model: rows[query.row] for model, rows in predictions.items() if query.row in rows}
        if len(lines) < len(predictions):
            continue
        found.append(
            RankedQuery(
                task=read.task,
                row=query.row,
                item=query.item,
                gold=known[query.gold],
                pool=max((line.pool for line in lines.values()), default=0),
                rankings={
                    model: _ranking(line, known, k, read.groups) for model, line in lines.items()
                },
                group=query.group,
            )
        )
    return tuple(found)


def _ranking(
    line: Prediction, known: Mapping[str, Candidate], k: int, groups: Mapping[str, str]
) -> ModelRanking:
    top = tuple(
        RankedCandidate(
            place=place + 1,
            name=name,
            item=known[name].item,
            score=line.scores[place] if place < len(line.scores) else None,
            is_gold=name == line.gold,
            group=groups.get(name, ""),
        )
        for place, name in enumerate(line.names[:k])
    )
    return ModelRanking(line.rank, top)
