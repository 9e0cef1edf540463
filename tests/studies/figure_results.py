"""Invented results of any size, put together as stored ones are: for tests of figures."""

from __future__ import annotations

import zlib
from collections.abc import Sequence

import numpy as np

from db.runs import TaskResultRow
from studies.medheb.manifest import Manifest
from studies.medheb.scores import histogram, hit_at_k, mrr_at_k
from studies.medheb.tasks import Task, load_tasks
from studies.results import Results, put_together

MODELS = ("siglip-so400m-384", "medsiglip-448", "qwen3-vl-embedding-2b", "medemb-2b", "random")
CHANCE = {"hit@1": 5.0, "hit@5": 25.0, "mrr@5": 11.4}
SHARES = (0.05, 0.05, 0.05, 0.05, 0.05, 0.75)


def invented(
    models: Sequence[str] = MODELS,
    *,
    queries: int = 40,
    skip: Sequence[str] = (),
    root: str = "nowhere",
) -> Results:
    """All 107 tasks under some models; a task whose id is in ``skip`` has no result."""
    tasks = load_tasks()
    rows = [
        _row(task, model, place, queries + which % 7, which)
        for which, task in enumerate(tasks)
        for place, model in enumerate(models)
        if task.id not in skip
    ]
    missing = {name: f"{name}: its index file is missing." for name in skip}
    return put_together(Manifest(root, "d" * 64, tasks, missing), rows)


def _row(task: Task, model: str, place: int, queries: int, which: int) -> TaskResultRow:
    seed = zlib.crc32(f"{task.id} {model}".encode())
    random = np.random.default_rng(seed)
    ease = 0.0 if model == "random" else (zlib.crc32(task.id.encode()) % 100) / 110
    hit = random.random(queries) < ease * (0.5 + 0.12 * place)
    ranks = np.where(hit, 1, random.integers(1, 21, queries))
    scores = {"hit@1": 100 * hit_at_k(ranks, 1), "hit@5": 100 * hit_at_k(ranks, 5),
              "mrr@5": 100 * mrr_at_k(ranks, 5)}  # fmt: skip
    details = {"pool": "split", "chance_ranks": SHARES, "ranks": histogram(ranks), "failed": 0,
               "failures": [], "ties": 0}  # fmt: skip
    return TaskResultRow(
        "d" * 64, "t", task.id, model, "f", task.family, task.form, task.split, queries,
        CHANCE, scores, details, 1.0, id=1000 * place + which,
    )  # fmt: skip
