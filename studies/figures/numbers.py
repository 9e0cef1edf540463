"""The numbers behind the figures, from stored results alone. No drawing, no files.

Owns which models are baselines, means over tasks with their between-model deviation, and means
over families with intervals. Refuses to fill what was not computed: absent is absent.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from engine.catalog import CARDS
from studies.medheb.scores import (
    ESTABLISHED,
    REGIMES,
    UNDEREXPLORED,
    Score,
    macro_score,
    regime,
)
from studies.results import NO_BASELINE, ModelLine, Results, TaskLine

METRIC = "hit@1"
MOST_MODELS = 4


@dataclass(frozen=True)
class Asked:
    """What is to be drawn.

    Attributes:
        results: of one data root.
        models: ids of the chosen models, in the order of their colours.
        titles: model id to what it is called.
        lengths: task id to the mean length of its targets in words, where they are measured.
        anatomy: task id to the domain of the body.
        kinds: task id to the kind of its targets: short labels, answers, long texts.
    """

    results: Results
    models: tuple[str, ...]
    titles: Mapping[str, str] = field(default_factory=dict)
    lengths: Mapping[str, float] = field(default_factory=dict)
    anatomy: Mapping[str, str] = field(default_factory=dict)
    kinds: Mapping[str, str] = field(default_factory=dict)

    def title(self, model: str) -> str:
        """What a model is called."""
        return self.titles.get(model, model)


@dataclass(frozen=True)
class Spread:
    """A value with its 95 % interval, in percent, over so many tasks and queries."""

    value: float
    low: float
    high: float
    tasks: int
    queries: int

    @property
    def words(self) -> str:
        """``41.2 % (38.0–44.5), 7 tasks, n = 700``."""
        tasks = f"{self.tasks} task{'s' if self.tasks != 1 else ''}, " if self.tasks else ""
        span = f"{self.value:.1f} % ({self.low:.1f}–{self.high:.1f})"
        return f"{span}, {tasks}n = {self.queries:,}"


@dataclass(frozen=True)
class Hardness:
    """A task under the baselines: mean Hit@1, deviation between them (population), regime."""

    line: TaskLine
    mean: float
    deviation: float
    models: int
    regime: str


def over_tasks(tasks: Iterable[TaskLine], model: str) -> Spread | None:
    """Mean over tasks of a model's Hit@1; None where it ran none of them."""
    there = {t.task.id: t.scores[model] for t in tasks if model in t.scores}
    if not there:
        return None
    score = macro_score({task: cell.ranks for task, cell in there.items()})
    low, high = score.interval[METRIC]
    queries = sum(cell.n for cell in there.values())
    return Spread(score.values[METRIC], low, high, len(there), queries)


def of_task(line: TaskLine, model: str) -> Spread | None:
    """A model's Hit@1 on one task; None where it did not run it."""
    cell = line.scores.get(model)
    if cell is None:
        return None
    return Spread(cell.score.values[METRIC], *cell.score.interval[METRIC], 0, cell.n)


def family_of(model: str) -> str:
    """The family of a model id, of other settings too."""
    plain = model.split("@")[0]
    return next((card.family for card in CARDS if card.id == plain), plain.split("-")[0])


def baselines(results: Results) -> list[str]:
    """The models that are neither the paper's own nor the random floor."""
    return [m.model for m in results.models if family_of(m.model) not in NO_BASELINE]


def first_models(results: Results, most: int = MOST_MODELS) -> tuple[str, ...]:
    """The best models, without the random floor unless it is alone."""
    names = [m.model for m in results.models]
    real = [name for name in names if family_of(name) != "random"]
    return tuple((real or names)[:most])


def hardness(results: Results) -> list[Hardness]:
    """Every task that a baseline ran, the hardest first."""
    wanted = baselines(results)
    found = []
    for line in results.tasks:
        hits = [line.scores[m].score.values[METRIC] for m in wanted if m in line.scores]
        if hits:
            mean = float(np.mean(hits))
            found.append(Hardness(line, mean, float(np.std(hits)), len(hits), regime(mean)))
    return sorted(found, key=lambda one: (one.mean, one.line.task.id))


def by_regime(tasks: Iterable[Hardness]) -> list[tuple[str, list[Hardness]]]:
    """The regimes that have tasks, the hardest first."""
    known = list(tasks)
    groups = [(name, [one for one in known if one.regime == name]) for name, _ in REGIMES]
    return [(name, members) for name, members in groups if members]


def queries_of(results: Results, model: str, tasks: Iterable[str]) -> int:
    """How many queries of these tasks a model was scored on."""
    wanted = set(tasks)
    return sum(
        line.scores[model].n
        for line in results.tasks
        if line.task.id in wanted and model in line.scores
    )


def over_families(
    results: Results, model: ModelLine, families: Sequence[str], metric: str = METRIC
) -> Spread | None:
    """Mean over families of a model's score; None unless it has all of them.

    The families share no task and are resampled apart, so the ends of their intervals add up in
    squares (each side on its own).
    """
    scores = [model.columns.get(family) for family in families]
    there = [score for score in scores if score is not None]
    if len(there) < len(families) or not there:
        return None
    value = float(np.mean([score.values[metric] for score in there]))
    low, high = (_arm(there, metric, side) / len(there) for side in (0, 1))
    ids = [t.task.id for t in results.tasks if t.task.family in families]
    return Spread(
        value,
        max(0.0, value - low),
        min(100.0, value + high),
        sum(score.tasks for score in there),
        queries_of(results, model.model, ids),
    )


def _arm(scores: Sequence[Score], metric: str, side: int) -> float:
    return math.sqrt(sum((s.values[metric] - s.interval[metric][side]) ** 2 for s in scores))


def two_groups(results: Results, model: ModelLine) -> tuple[Spread, Spread] | None:
    """Established and underexplored families of a model; None unless it has them all."""
    known = over_families(results, model, ESTABLISHED)
    new = over_families(results, model, UNDEREXPLORED)
    return None if known is None or new is None else (known, new)
