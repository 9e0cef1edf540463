"""Keeps results that another program computed, so that they stand beside ours as a model.

Owns which data set they join, what of them is kept and how they are marked. Refuses names that
could be taken for a model of this program's: every imported one ends in ``@imported``.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from db.home import Home
from db.runs import QueryRow, TaskResult, data_digests, save_task_result, task_results
from db.session import Store, open_store
from studies.errors import BadRequest, BadTaskFile, NoRun
from studies.medheb.imported import Imported, find_results, read_imported, stated_means
from studies.medheb.manifest import Manifest, read_manifest, write_manifest
from studies.medheb.outcome import Outcome, Ranked
from studies.medheb.paper import column_tasks
from studies.medheb.pools import METRICS, UNKNOWN_POOL, build_pools, chance_level, chance_shares
from studies.medheb.release import TaskData, data_digest, read_task
from studies.medheb.scores import task_score
from studies.medheb.tasks import Task, load_tasks
from studies.medheb.writer import result_folder, write_rankings

MARK = "@imported"
ALONE = "imported"  # the data set of results that join none of ours
KEEP_ORDERED = 10


@dataclass(frozen=True)
class Joined:
    """The data set that results join.

    Attributes:
        manifest: its registry and place.
        root: where its data lie, None if they are not there.
    """

    manifest: Manifest
    root: Path | None


def import_results(
    home: Home, folder: Path, name: str, *, data: Path | None = None
) -> dict[str, Any]:
    """Import the result files of one model.

    Args:
        home: where they are kept.
        folder: holds ``<task>_score.json`` and, best, ``<task>_pred.jsonl``, at any depth.
        name: what the model is called in every table, before ``@imported``.
        data: the data root whose results they stand beside; None for that of the newest run, or a
            set of their own under the paper's registry where nothing was run.

    Returns:
        ``model``, ``data``, ``tasks`` (id to counts and notes), tasks that stay from an import
        ``before`` under that name, ``unknown`` file names, ``refused`` files with reasons, and the
        ``stated`` averages beside ours.

    Raises:
        BadRequest: no usable name.
        BadTaskFile: no result file, files of several models, or none that can be read.
    """
    if not name.strip() or "@" in name:
        raise BadRequest("--name is what the tables call the model; it holds no @.")
    model = f"{name.strip()}{MARK}"
    with open_store(home) as store:
        joined = _join(home, store, data)
        found, unknown = find_results(folder, joined.manifest.tasks)
        tasks, refused = _read_all(found, folder)
        if not tasks:
            raise BadTaskFile(_nothing(folder, unknown, refused))
        write_manifest(home.runs, joined.manifest)
        old = task_results(store, joined.manifest.digest, model_id=model)
        kept = {one.task.id: _keep(home, store, joined, model, one, folder) for one in tasks}
    return {
        "model": model,
        "data": {"digest": joined.manifest.digest, "root": joined.manifest.root},
        "tasks": kept,
        "before": sorted({row.task_id for row in old} - kept.keys()),
        "unknown": unknown,
        "refused": refused,
        "stated": _stated(folder, tasks, joined.manifest.tasks),
    }


def _join(home: Home, store: Store, data: Path | None) -> Joined:
    if data is not None:
        tasks = load_tasks(data)
        digest = data_digest(data, tasks)
        try:
            return Joined(read_manifest(home.runs, digest), data)
        except NoRun:
            return Joined(Manifest(str(data), digest, tasks, {}), data)
    for digest, _ in data_digests(store):
        try:
            manifest = read_manifest(home.runs, digest)
        except NoRun:
            continue
        return Joined(manifest, _there(manifest))
    return Joined(Manifest("", ALONE, load_tasks(), {}), None)


def _there(manifest: Manifest) -> Path | None:
    """The root, if it still holds the data that were run."""
    root = Path(manifest.root)
    if not manifest.root or not root.is_dir():
        return None
    return root if data_digest(root, load_tasks(root)) == manifest.digest else None


def _read_all(
    found: Mapping[Task, Sequence[Path]], folder: Path
) -> tuple[list[Imported], list[dict[str, str]]]:
    tasks, refused = [], []
    for task, paths in found.items():
        try:
            tasks.append(read_imported(task, paths, folder))
        except BadTaskFile as error:
            refused.append({"task": task.id, "reason": str(error)})
    return tasks, refused


def _nothing(folder: Path, unknown: Sequence[str], refused: Sequence[Mapping[str, str]]) -> str:
    if refused:
        return f"Nothing in {folder} can be read. The first says: {refused[0]['reason']}"
    return (
        f"None of the files in {folder} is of a task of this data set ({unknown[0]} is not); name "
        "the data root with --data."
    )


def _keep(
    home: Home, store: Store, joined: Joined, model: str, one: Imported, folder: Path
) -> dict[str, Any]:
    """Store one task: row, queries, and the rankings as files of ours."""
    data = _data(one.task, joined.root)
    same = data is not None and _same_queries(one, data)
    notes = [*one.notes]
    if data is not None and one.ranked and not same:
        notes.append("its queries or positives are not those of the data here")
    result = replace(
        _result(model, one, *_pool(one, data)),
        data_digest=joined.manifest.digest,
        task_digest=data.digest if data is not None and same else "",
        fingerprint=_fingerprint(folder, one.files),
    )
    marked = {**result.details["imported"], "folder": str(folder), "same_queries": same}
    result = replace(result, details={**result.details, "imported": marked, "notes": notes})
    save_task_result(store, result, [_query(ranked) for ranked in one.ranked])
    target = result_folder(home.runs, joined.manifest.digest, model, one.task)
    write_rankings(target, one.task, Outcome(one.ranked, result.chance, (), 0), one.counts)
    values = {name: round(value, 4) for name, value in result.scores.items()}
    return {**values, "queries": result.n, "per_query": bool(one.ranked), "notes": notes}


def _pool(one: Imported, data: TaskData | None) -> tuple[str, list[int]]:
    """Name and sizes of the lists: those of the rankings, else of the data; else nobody knows."""
    sizes = [ranked.pool for ranked in one.ranked]
    if data is not None:
        pools = build_pools(data)
        return pools.name, sizes or [int(size) for size in pools.sizes]
    return ("rows" if sizes else UNKNOWN_POOL), sizes


def _result(model: str, one: Imported, pool: str, sizes: Sequence[int]) -> TaskResult:
    """The row of a task, but for where it belongs."""
    score = task_score(one.counts, one.task.id)
    details = {
        "pool": pool,
        "rows": sum(one.counts),
        "ranks": list(one.counts),
        "chance_ranks": list(chance_shares(sizes)),
        "interval": {name: list(score.interval[name]) for name in METRICS},
        "ties": sum(ranked.tied for ranked in one.ranked),
        "lost": 0,
        "failures": [],
        "failed": 0,
        "imported": {
            "files": list(one.files),
            "per_query": bool(one.ranked),
            "exact": one.exact,
        },
    }
    return TaskResult(
        data_digest="",
        task_digest="",
        task_id=one.task.id,
        model_id=model,
        fingerprint="",
        family=one.task.family,
        form=one.task.form,
        split=one.task.split,
        n=sum(one.counts),
        chance=chance_level(sizes),
        scores=dict(score.values),
        details=details,
    )


def _query(one: Ranked) -> QueryRow:
    return QueryRow(one.row, one.rank, one.pool, one.gold, one.names[:KEEP_ORDERED])


def _data(task: Task, root: Path | None) -> TaskData | None:
    if root is None:
        return None
    try:
        return read_task(task, root)
    except BadTaskFile:
        return None


def _same_queries(one: Imported, data: TaskData) -> bool:
    """Whether rankings are of the queries and candidates that lie here."""
    golds = {query.row: query.gold for query in data.queries}
    known = {candidate.name for query in data.queries for candidate in query.candidates}
    return bool(one.ranked) and all(
        golds.get(ranked.row) == ranked.gold and known.issuperset(ranked.names)
        for ranked in one.ranked
    )


def _fingerprint(folder: Path, files: Iterable[str]) -> str:
    digest = hashlib.sha256()
    for name in files:
        digest.update((folder / name).read_bytes())
    return f"imported-{digest.hexdigest()[:16]}"


def _stated(
    folder: Path, tasks: Sequence[Imported], registry: Sequence[Task]
) -> dict[str, dict[str, Any]]:
    """Averages that the folder's own summaries state, beside those over its files."""
    own = {one.task.id: 100 * one.counts[0] / sum(one.counts) for one in tasks}
    columns = column_tasks(registry)
    found = {}
    for name, value in stated_means(folder).items():
        have = [own[task] for task in columns[name] if task in own]
        found[name] = {
            "stated": value,
            "from_files": round(sum(have) / len(have), 4) if have else None,
            "tasks": len(have),
            "of": len(columns[name]),
        }
    return found
