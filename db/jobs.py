"""The jobs of the worker as the tray shows them; they survive a restart of the window.

Refuses to keep secrets: arguments named in ``SECRET`` (and ``SECRET_OF`` a kind) are never stored.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, fields
from typing import Any

from sqlalchemy import insert, select, update

from db.clock import now_utc
from db.schema import job
from db.session import Store

STATES = ("queued", "starting", "running", "done", "failed", "cancelled", "lost")
UNFINISHED = ("queued", "starting", "running")
SECRET = ("passphrase",)
# a study's models too, and sentences that name them (what is missing, why it was not built):
# whoever rates on this machine could look them up beside its id
SECRET_OF = {"study-build": ("models", "missing", "notes")}
SECRET_END = "How it ended was told in the window; what it says of models is not kept."


@dataclass(frozen=True)
class JobRow:
    """One job.

    Attributes:
        state: one of ``STATES``.
        done: steps done of ``total``, counted in ``unit``, in ``phase``.
        sentence: what to tell a person about the state (a failure's sentence).
        details: traceback or last lines of the worker.
        exit_code: of a worker that died.
    """

    id: str
    kind: str
    title: str
    arguments: Mapping[str, Any]
    state: str
    done: int
    total: int
    unit: str
    phase: str
    sentence: str
    details: str
    result: Mapping[str, Any] | None
    exit_code: int | None
    created_utc: str
    started_utc: str | None
    ended_utc: str | None


def add_job(
    store: Store, job_id: str, *, kind: str, title: str, arguments: Mapping[str, Any]
) -> JobRow:
    """Queue a job."""
    secret = (*SECRET, *SECRET_OF.get(kind, ()))
    kept = {name: value for name, value in arguments.items() if name not in secret}
    with store.session() as connection:
        connection.execute(
            insert(job).values(
                id=job_id,
                kind=kind,
                title=title,
                arguments=kept,
                state="queued",
                done=0,
                total=0,
                unit="",
                phase="",
                sentence="",
                details="",
                created_utc=now_utc(),
            )
        )
    return next(row for row in jobs(store) if row.id == job_id)


def progress(store: Store, job_id: str, *, done: int, total: int, unit: str, phase: str) -> None:
    """Keep how far a job is."""
    _change(store, job_id, {"done": done, "total": total, "unit": unit, "phase": phase})


def set_state(
    store: Store,
    job_id: str,
    state: str,
    *,
    sentence: str = "",
    details: str = "",
    result: Mapping[str, Any] | None = None,
    exit_code: int | None = None,
) -> None:
    """Move a job to another state; the times of start and end follow."""
    if state not in STATES:
        raise ValueError(f"unknown job state {state!r}")
    values: dict[str, Any] = {"state": state, "sentence": sentence, "details": details}
    if state == "running":
        values["started_utc"] = now_utc()
    elif state not in UNFINISHED:
        values["ended_utc"] = now_utc()
        values["exit_code"] = exit_code
        values["result"] = None if result is None else dict(result)
    with store.session() as connection:
        kind = connection.execute(select(job.c.kind).where(job.c.id == job_id)).scalar()
        values = _without_secrets(str(kind), values)
        connection.execute(update(job).where(job.c.id == job_id).values(**values))


def _without_secrets(kind: str, values: dict[str, Any]) -> dict[str, Any]:
    """What of a state is kept."""
    secret = SECRET_OF.get(kind, ())
    if not secret:
        return values
    if values.get("result"):
        kept = {name: value for name, value in values["result"].items() if name not in secret}
        values["result"] = kept
    told = values["state"] in ("failed", "lost") and (values["sentence"] or values["details"])
    return {**values, "sentence": SECRET_END if told else values["sentence"], "details": ""}


def lose_unfinished(store: Store) -> int:
    """Mark as lost what an earlier window left unfinished; call once at start.

    Returns:
        How many there were.
    """
    sentence = "The program ended while this job ran. Start it again; it goes on where it stopped."
    with store.session() as connection:
        changed = connection.execute(
            update(job)
            .where(job.c.state.in_(UNFINISHED))
            .values(state="lost", sentence=sentence, ended_utc=now_utc())
        )
        return int(changed.rowcount)


def jobs(
    store: Store, *, states: Collection[str] | None = None, limit: int = 100
) -> tuple[JobRow, ...]:
    """The newest jobs, newest first; ``states`` None means any."""
    query = select(job).order_by(job.c.created_utc.desc(), job.c.id.desc()).limit(limit)
    if states is not None:
        query = query.where(job.c.state.in_(list(states)))
    names = [field.name for field in fields(JobRow)]
    with store.reading() as connection:
        found = connection.execute(query).all()
    return tuple(JobRow(**{name: getattr(row, name) for name in names}) for row in found)


def _change(store: Store, job_id: str, values: dict[str, Any]) -> None:
    with store.session() as connection:
        connection.execute(update(job).where(job.c.id == job_id).values(**values))
