"""Benchmark results: one row per data set, task and model, with one row per query below it.

Refuses to compute a score or to average; it keeps what it is given.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from sqlalchemy import delete, insert, select

from db.clock import now_utc
from db.schema import query_result, task_result
from db.session import Store


@dataclass(frozen=True)
class QueryRow:
    """How one query was ranked.

    Attributes:
        row: position of the query in the task's file, from 0.
        rank: rank of the positive, from 1, ties against it.
        pool: how many candidates were ranked.
        gold: name of the positive.
        ordered: names of the best candidates, best first (ten or more where the pool has them).
    """

    row: int
    rank: int
    pool: int
    gold: str
    ordered: tuple[str, ...]


@dataclass(frozen=True)
class TaskResult:
    """What one model did on one task.

    Attributes:
        data_digest: digest of the data set (the folder of tasks).
        task_digest: digest of this task's rows.
        fingerprint: the encoder's fingerprint.
        n: queries scored.
        chance: score name to its exact expectation under random ranking.
        scores: score name to value.
        details: failures, notes, software, device; JSON values only.
        seconds: wall time of the task.
    """

    data_digest: str
    task_digest: str
    task_id: str
    model_id: str
    fingerprint: str
    family: str
    form: str
    split: str
    n: int
    chance: Mapping[str, float]
    scores: Mapping[str, float]
    details: Mapping[str, Any] = field(default_factory=dict)
    seconds: float = 0.0


@dataclass(frozen=True)
class TaskResultRow(TaskResult):
    """A stored result."""

    id: int = 0
    created_utc: str = ""


_PLAIN = (
    "data_digest",
    "task_digest",
    "task_id",
    "model_id",
    "fingerprint",
    "family",
    "form",
    "split",
    "n",
    "seconds",
)


def save_task_result(store: Store, result: TaskResult, queries: Sequence[QueryRow]) -> int:
    """Keep a result and its queries in one transaction; an older one of the same cell goes.

    Returns:
        The id of the row.

    Raises:
        StoreError: what SQLite refused; then the older result is still there.
    """
    with store.session() as connection:
        connection.execute(
            delete(task_result).where(
                task_result.c.data_digest == result.data_digest,
                task_result.c.task_id == result.task_id,
                task_result.c.model_id == result.model_id,
            )
        )
        made = connection.execute(
            insert(task_result).values(
                **{name: getattr(result, name) for name in _PLAIN},
                chance=dict(result.chance),
                scores=dict(result.scores),
                details=dict(result.details),
                created_utc=now_utc(),
            )
        )
        assert made.inserted_primary_key is not None
        new_id = int(made.inserted_primary_key[0])
        if queries:
            connection.execute(insert(query_result), [_query_values(new_id, q) for q in queries])
    return new_id


def _query_values(result_id: int, query: QueryRow) -> dict[str, Any]:
    return {
        "task_result_id": result_id,
        "row": query.row,
        "rank": query.rank,
        "pool": query.pool,
        "gold": query.gold,
        "ordered": list(query.ordered),
    }


def task_results(
    store: Store,
    data_digest: str | None = None,
    *,
    model_id: str | None = None,
    task_id: str | None = None,
) -> tuple[TaskResultRow, ...]:
    """Stored results, by task and model; None means any."""
    query = select(task_result).order_by(task_result.c.task_id, task_result.c.model_id)
    wanted = {"data_digest": data_digest, "model_id": model_id, "task_id": task_id}
    for name, value in wanted.items():
        if value is not None:
            query = query.where(task_result.c[name] == value)
    with store.reading() as connection:
        found = connection.execute(query).all()
    return tuple(
        TaskResultRow(
            **{name: getattr(row, name) for name in _PLAIN},
            chance=row.chance,
            scores=row.scores,
            details=row.details,
            id=row.id,
            created_utc=row.created_utc,
        )
        for row in found
    )


def query_results(store: Store, result_id: int) -> tuple[QueryRow, ...]:
    """The queries of one stored result, by row."""
    query = (
        select(query_result)
        .where(query_result.c.task_result_id == result_id)
        .order_by(query_result.c.row)
    )
    with store.reading() as connection:
        found = connection.execute(query).all()
    return tuple(QueryRow(r.row, r.rank, r.pool, r.gold, tuple(r.ordered)) for r in found)


def data_digests(store: Store) -> tuple[tuple[str, str], ...]:
    """Data sets that have results: (digest, time of the newest), newest first."""
    query = select(task_result.c.data_digest, task_result.c.created_utc)
    with store.reading() as connection:
        newest: dict[str, str] = {}
        for digest, created in connection.execute(query):
            newest[digest] = max(created, newest.get(digest, ""))
    return tuple(sorted(newest.items(), key=lambda pair: pair[1], reverse=True))


def query_ranks(store: Store, result_id: int) -> tuple[tuple[int, int, str], ...]:
    """(row, rank, name of the positive) of every query of one stored result, by row."""
    query = (
        select(query_result.c.row, query_result.c.rank, query_result.c.gold)
        .where(query_result.c.task_result_id == result_id)
        .order_by(query_result.c.row)
    )
    with store.reading() as connection:
        return tuple((r.row, r.rank, r.gold) for r in connection.execute(query))
