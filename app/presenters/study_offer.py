"""What a new study can be drawn from: data with results, collections, and the tasks of a choice.

Reads stored results and manifests only; opens no evidence. Called on the database lane.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase

from app.presenters.data_sets import data_sets
from app.presenters.machine import Machine
from app.presenters.model_facts import models_shown
from app.shown_study import SourceOffered, TaskOffered
from db.collections import collections
from db.home import Home
from db.runs import task_results
from db.session import Store
from studies.medheb.manifest import read_manifest
from studies.medheb.tasks import Task

DATA, COLLECTION = "data", "collection"
NOBODY = (
    "Two models need results on the same data. Compute them in Benchmark first, or import a "
    "collection in the library."
)


@dataclass(frozen=True)
class Source:
    """Something a study can be drawn from, with what its tasks hold.

    Attributes:
        offered: as the wizard lists it.
        tasks: the registry of its last run.
        missing: task to why it could not be read.
        counts: task to model to queries answered.
        items: items of a collection.
    """

    offered: SourceOffered
    tasks: tuple[Task, ...] = ()
    missing: Mapping[str, str] | None = None
    counts: Mapping[str, Mapping[str, int]] | None = None
    items: int = 0


def sources(home: Home, store: Store, machine: Machine, device: str) -> tuple[Source, ...]:
    """Everything with two models or more, newest data first, then collections by name."""
    found = [_data(home, store, one.digest, one.root, one.words, one.models)
             for one in data_sets(home, store) if len(one.models) > 1]  # fmt: skip
    usable = tuple(
        (model.key, model.title)
        for model in models_shown(home, device, machine=machine)
        if model.usable
    )
    if len(usable) > 1:
        for row in collections(store):
            words = f"{row.name}, a collection without right answers"
            offered = SourceOffered(row.name, words, COLLECTION, usable)
            found.append(Source(offered, items=row.count))
    return tuple(found)


def _data(
    home: Home,
    store: Store,
    digest: str,
    root: str,
    words: str,
    models: tuple[tuple[str, str], ...],
) -> Source:
    manifest = read_manifest(home.runs, digest)
    counts: dict[str, dict[str, int]] = {}
    for row in task_results(store, digest):
        counts.setdefault(row.task_id, {})[row.model_id] = row.n
    return Source(
        SourceOffered(root, words, DATA, models), manifest.tasks, manifest.missing, counts
    )


def tasks_of(source: Source, models: Sequence[str]) -> tuple[TaskOffered, ...]:
    """Every task under the chosen models; one that a model has not answered says which."""
    titles = dict(source.offered.models)
    return tuple(_task(source, task, models, titles) for task in source.tasks)


def _task(
    source: Source, task: Task, models: Sequence[str], titles: Mapping[str, str]
) -> TaskOffered:
    there = (source.counts or {}).get(task.id, {})
    lacking = [titles.get(model, model) for model in models if not there.get(model)]
    if models and not lacking:
        least = min(there[model] for model in models)
        return TaskOffered(task.id, task.family, task.form, least)
    reason = (source.missing or {}).get(task.id, "")
    if not reason:
        reason = f"no results of {', '.join(lacking)}" if lacking else "no model is chosen"
    return TaskOffered(task.id, task.family, task.form, None, reason)


def matching(tasks: Sequence[TaskOffered], pattern: str) -> list[str]:
    """Tasks with queries whose id fits a pattern or whose family is named; all for no pattern."""
    wanted = [part.strip().casefold() for part in pattern.split(",") if part.strip()]
    there = [task for task in tasks if task.count]
    return [
        task.key
        for task in there
        if not wanted
        or any(
            fnmatchcase(task.key.casefold(), one) or task.family.casefold() == one for one in wanted
        )
    ]


def count_words(tasks: Sequence[TaskOffered], chosen: Sequence[str]) -> tuple[str, str]:
    """What is chosen, and which tasks are missing, named while they are few."""
    picked = [task for task in tasks if task.key in chosen]
    queries = sum(task.count or 0 for task in picked)
    gone = [task for task in tasks if not task.count]
    told = f"{len(picked)} of {len(tasks)} tasks chosen, {queries:,} queries." if tasks else ""
    if not gone:
        return told, ""
    some = ", ".join(task.key for task in gone[:3]) + (", …" if len(gone) > 3 else "")
    verb = "is" if len(gone) == 1 else "are"
    return told, f"{len(gone)} of {len(tasks)} tasks {verb} missing: {some}. The list says why."


def forms_of(tasks: Sequence[TaskOffered], chosen: Sequence[str]) -> dict[str, float]:
    """Form to its share of an equal draw over the chosen tasks; empty if nothing is chosen."""
    picked = [task.form for task in tasks if task.key in chosen]
    return {form: picked.count(form) / len(picked) for form in sorted(set(picked))}
