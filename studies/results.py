"""What was computed, put together: tasks, models, families, splits. Never reaches torch.

Owns loading and averaging stored results, and says what is missing instead of leaving it out.
The documents and tables made of it are in ``studies.results_json`` and ``studies.results_text``.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from db.home import Home
from db.runs import TaskResultRow, data_digests, task_results
from db.session import open_store
from engine.catalog import CARDS
from studies.errors import NoRun
from studies.medheb.manifest import Manifest, read_manifest
from studies.medheb.paper import MINIATURE, Comparison, column_tasks, compare
from studies.medheb.pools import UNKNOWN_POOL
from studies.medheb.release import data_digest
from studies.medheb.scores import (
    REGIMES,
    Score,
    chance_score,
    coefficient_of_variation,
    drop,
    macro_score,
    regime,
    task_score,
)
from studies.medheb.tasks import FAMILIES, OWN, Task, load_tasks
from studies.results_json import span_of, to_json
from studies.results_text import to_markdown, to_text

if TYPE_CHECKING:
    from studies.results_stale import Stale

__all__ = [
    "ModelLine",
    "Results",
    "TaskLine",
    "TaskScore",
    "load_results",
    "span_of",
    "to_json",
    "to_markdown",
    "to_text",
]


# Not baselines: the paper's own models, and the floor.
NO_BASELINE = ("medemb", "random")


@dataclass(frozen=True)
class TaskScore:
    """One cell: a model on a task.

    Attributes:
        score: Hit@1, Hit@5, MRR@5 in percent with intervals.
        n: queries scored.
        failed: rows not scored.
        failures: (row, sentence) of the first of them.
        ties: queries whose positive ties with another candidate.
        chance: exact chance level of the pools as this model saw them.
        seconds: wall time.
        ranks: how many positives at rank 1 to 5 and beyond.
        result_id: of the stored row, to open its queries.
        record: how the model was loaded, every setting with who states it; empty for older rows.
        shortened: distinct items whose text was cut to the model's length; None for older rows.
        imported: where the numbers come from if this program did not compute them; else empty.
        task_digest: of the task's files as they were scored; empty where nobody knows.
    """

    score: Score
    n: int
    failed: int
    failures: tuple[tuple[int, str], ...]
    ties: int
    chance: Mapping[str, float]
    seconds: float
    ranks: tuple[int, ...]
    result_id: int
    record: Mapping[str, Any] = field(default_factory=dict)
    shortened: int | None = None
    imported: Mapping[str, Any] = field(default_factory=dict)
    task_digest: str = ""


@dataclass(frozen=True)
class TaskLine:
    """One task under every model.

    Attributes:
        task: its registry row.
        n: queries scored, the most over models; 0 if no model ran it.
        pool: name of its pool.
        chance: exact chance level in percent.
        chance_ranks: shares of a random ranking's positives at rank 1 to 5 and beyond.
        scores: by model id.
        missing: why no model has a score, None if one has.
    """

    task: Task
    n: int
    pool: str
    chance: Mapping[str, float]
    chance_ranks: tuple[float, ...]
    scores: Mapping[str, TaskScore]
    missing: str | None


@dataclass(frozen=True)
class ModelLine:
    """One model over all tasks; also the line of chance.

    Attributes:
        model: its id, ``chance`` for the line of chance.
        columns: the eight families, ``ID``, ``Held-out``, ``All``; absent where it has no task.
        cv: population standard deviation over mean of the eight families' Hit@1; None unless all
            eight are there.
        missing: ids of tasks that another model has or that were never run.
    """

    model: str
    columns: Mapping[str, Score]
    cv: float | None
    missing: tuple[str, ...]

    @property
    def drop(self) -> float | None:
        """Established minus underexplored families in points of Hit@1."""
        return drop({name: score.values["hit@1"] for name, score in self.columns.items()})


@dataclass(frozen=True)
class Results:
    """Everything stored about one data root.

    Attributes:
        digest: of the data.
        root: where it lay when it was run.
        tasks: every task of its registry, scored or not.
        models: by All Hit@1, best first; own data alone last.
        chance: the line of chance over the tasks that were scored.
        of: column to the number of tasks the registry has there.
        stale: tasks whose files have changed since; None where nobody looked.
    """

    digest: str
    root: str
    tasks: tuple[TaskLine, ...]
    models: tuple[ModelLine, ...]
    chance: ModelLine
    of: Mapping[str, int]
    stale: Stale | None = None

    @property
    def missing(self) -> tuple[TaskLine, ...]:
        """Tasks without any score."""
        return tuple(line for line in self.tasks if line.missing is not None)

    @property
    def benchmark(self) -> Results:
        """The same without tasks of own data, which no table of the benchmark averages over."""
        if all(line.task.split != OWN for line in self.tasks):
            return self
        tasks = tuple(line for line in self.tasks if line.task.split != OWN)
        return replace(self, tasks=tasks)

    @property
    def own(self) -> tuple[TaskLine, ...]:
        """The tasks of own data."""
        return tuple(line for line in self.tasks if line.task.split == OWN)

    @property
    def scored(self) -> dict[str, int]:
        """Column to the number of tasks with a score by any model."""
        tasks = column_tasks([line.task for line in self.tasks if line.missing is None])
        return {name: len(ids) for name, ids in tasks.items()}

    def fewer(self, line: ModelLine) -> dict[str, tuple[int, int]]:
        """Columns where a line has fewer tasks than were scored by any: (its own, theirs)."""
        every = self.scored
        return {
            name: (score.tasks, every[name])
            for name, score in line.columns.items()
            if score.tasks < every[name]
        }

    @property
    def generated(self) -> bool:
        """Whether the data are the miniature, as far as its folder is still there to tell."""
        return bool(self.root) and (Path(self.root) / MINIATURE).is_file()

    def paper(self) -> Comparison:
        """The published numbers, with a mark where the tasks differ."""
        scored = [line for line in self.benchmark.tasks if line.missing is None]
        pools = {line.task.id: line.pool for line in scored}
        models = [line.model for line in self.models]
        tasks = [line.task for line in scored]
        lost = {t.task.id: max(cell.failed for cell in t.scores.values()) for t in scored}
        return compare(tasks, models, pools=pools, lost=lost, generated=self.generated)

    def regimes(self) -> dict[str, str]:
        """Task id to its difficulty regime, by mean Hit@1 of the baselines that ran it."""
        hits = {line.task.id: _hits(line, NO_BASELINE) for line in self.benchmark.tasks}
        return {task: regime(float(np.mean(found))) for task, found in hits.items() if found}

    def regime_summary(self) -> dict[str, tuple[int, float]]:
        """Regime to its number of tasks and the mean over them of the standard deviation of
        Hit@1 between models (population, the random floor left out).
        """
        regimes = self.regimes()
        spread = {
            line.task.id: float(np.std(_hits(line, ("random",))))
            for line in self.tasks
            if line.task.id in regimes
        }
        found = {}
        for name, _ in REGIMES:
            tasks = [task for task, regime_name in regimes.items() if regime_name == name]
            if tasks:
                found[name] = (len(tasks), float(np.mean([spread[task] for task in tasks])))
        return found


def load_results(home: Home, data: Path | None = None) -> Results:
    """Put together what is stored.

    Args:
        home: where it is stored.
        data: a data root; None for the one whose results are newest.

    Raises:
        NoRun: nothing was computed for it.
        BadTaskFile: the data root cannot be read.
    """
    with open_store(home) as store:
        if data is not None:
            digest = data_digest(data, load_tasks(data))
        else:
            digest = next((name for name, _ in data_digests(store)), "")
        rows = task_results(store, digest)
    if not rows:
        raise NoRun(_nothing(home, data))
    manifest = read_manifest(home.runs, digest)
    # equal files may lie in several folders; who names one is shown that one
    return put_together(manifest if data is None else replace(manifest, root=str(data)), rows)


def _nothing(home: Home, data: Path | None) -> str:
    if data is None:
        return f"No benchmark results in {home.root} yet; start with: triptych bench run"
    return (
        f"No results for {data} as it is now; start (or, if its files changed, repeat) with: "
        f"triptych bench run --data {data} --models ..."
    )


def put_together(manifest: Manifest, rows: Sequence[TaskResultRow]) -> Results:
    """Average stored rows of one data root."""
    by_task: dict[str, dict[str, TaskResultRow]] = {}
    for row in rows:
        by_task.setdefault(row.task_id, {})[row.model_id] = row
    lines = tuple(_task_line(t, by_task.get(t.id, {}), manifest) for t in manifest.tasks)
    models = [_model_line(model, lines) for model in sorted({row.model_id for row in rows})]
    models.sort(key=lambda line: -_overall(line))
    of = {name: len(ids) for name, ids in column_tasks(manifest.tasks).items()}
    return Results(manifest.digest, manifest.root, lines, tuple(models), _chance_line(lines), of)


def _overall(line: ModelLine) -> float:
    """All Hit@1; below every score for a model that ran own data alone."""
    score = line.columns.get("All")
    return score.values["hit@1"] if score is not None else -1.0


def _task_line(task: Task, rows: Mapping[str, TaskResultRow], manifest: Manifest) -> TaskLine:
    if not rows:
        why = manifest.missing.get(task.id, f"{task.id}: not run yet")
        return TaskLine(task, 0, "", {}, (), {}, why)
    fullest = max(rows.values(), key=lambda row: ("imported" not in row.details, row.n))
    return TaskLine(
        task=task,
        n=fullest.n,
        pool=str(fullest.details["pool"]),
        chance=dict(fullest.chance),
        chance_ranks=tuple(fullest.details["chance_ranks"]),
        scores={model: _cell(row) for model, row in sorted(rows.items())},
        missing=None,
    )


def _cell(row: TaskResultRow) -> TaskScore:
    details: Mapping[str, Any] = row.details
    return TaskScore(
        score=task_score(details["ranks"], row.task_id),
        n=row.n,
        failed=int(details["failed"]),
        failures=tuple((int(number), str(why)) for number, why in details["failures"]),
        ties=int(details["ties"]),
        chance=dict(row.chance),
        seconds=row.seconds,
        ranks=tuple(details["ranks"]),
        result_id=row.id,
        record=details.get("record", {}),
        shortened=details.get("shortened"),
        imported=details.get("imported", {}),
        task_digest=row.task_digest,
    )


def _model_line(model: str, lines: Iterable[TaskLine]) -> ModelLine:
    lines = tuple(lines)
    have = {line.task.id: line for line in lines if model in line.scores}
    columns = {}
    for name, ids in column_tasks([line.task for line in have.values()]).items():
        if ids:
            ordered = [task_id for task_id in have if task_id in ids]
            columns[name] = macro_score({i: have[i].scores[model].ranks for i in ordered})
    missing = tuple(line.task.id for line in lines if line.task.id not in have)
    return ModelLine(model, columns, _cv(columns), missing)


def _cv(columns: Mapping[str, Score]) -> float | None:
    if not all(family in columns for family in FAMILIES):
        return None
    return coefficient_of_variation([columns[f].values["hit@1"] for f in FAMILIES])


def _chance_line(lines: Iterable[TaskLine]) -> ModelLine:
    """Chance of each column, exact; its interval is where a random ranking falls.

    Tasks whose lists nobody knows, of imported scores, have no part in it.
    """
    known = (line for line in lines if line.missing is None and line.pool != UNKNOWN_POOL)
    have = {line.task.id: line for line in known}
    columns = {}
    for name, ids in column_tasks([line.task for line in have.values()]).items():
        if ids:
            shares = {i: line.chance_ranks for i, line in have.items() if i in ids}
            columns[name] = chance_score(shares, {i: have[i].n for i in shares})
    return ModelLine("chance", columns, _cv(columns), ())


def _hits(line: TaskLine, without: tuple[str, ...]) -> list[float]:
    """Hit@1 of the models of a task, leaving some model families out."""
    return [
        cell.score.values["hit@1"]
        for model, cell in line.scores.items()
        if _family(model) not in without
    ]


def _family(model_id: str) -> str:
    plain = model_id.split("@")[0]
    return next((card.family for card in CARDS if card.id == plain), plain.split("-")[0].lower())
