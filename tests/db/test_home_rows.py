"""The salt, runs and jobs: what goes in comes out, frozen, and survives reopening."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from pathlib import Path

import pytest

from db import collections, jobs, runs
from db.home import Home
from db.session import Store, open_store


@pytest.fixture
def home(tmp_path: Path) -> Home:
    return Home(tmp_path / "home with % and ä")


@pytest.fixture
def store(home: Home) -> Iterator[Store]:
    with open_store(home) as opened:
        yield opened


def test_salt_is_made_once(home: Home) -> None:
    with open_store(home) as first:
        made = collections.salt(first)
    with open_store(home) as second:
        assert collections.salt(second) == made
    assert len(made) == 32


def result(model: str, **changes: object) -> runs.TaskResult:
    plain = runs.TaskResult(
        data_digest="d1",
        task_digest="t1",
        task_id="demo/i2i",
        model_id=model,
        fingerprint="f",
        family="I-I",
        form="2d",
        split="id",
        n=2,
        chance={"hit@1": 0.25},
        scores={"hit@1": 0.5},
        details={"failures": []},
        seconds=1.5,
    )
    return dataclasses.replace(plain, **changes)


def test_task_results_replace_their_cell_and_keep_queries(store: Store) -> None:
    queries = [runs.QueryRow(0, 1, 4, "g", ("g", "b")), runs.QueryRow(1, 3, 4, "h", ("b", "c"))]
    runs.save_task_result(store, result("a"), queries[:1])
    new = runs.save_task_result(store, result("a", scores={"hit@1": 0.75}), queries)
    runs.save_task_result(store, result("b", data_digest="d2"), [])
    (row,) = runs.task_results(store, "d1")
    assert row.id == new
    assert row.scores == {"hit@1": 0.75}
    assert dataclasses.replace(result("a"), scores=row.scores) == runs.TaskResult(
        **{f.name: getattr(row, f.name) for f in dataclasses.fields(runs.TaskResult)}
    )
    assert runs.query_results(store, new) == tuple(queries)
    assert len(runs.task_results(store)) == 2
    assert {digest for digest, _ in runs.data_digests(store)} == {"d1", "d2"}


def test_jobs_move_through_their_states(store: Store) -> None:
    made = jobs.add_job(
        store,
        "j1",
        kind="study-build",
        title="Build",
        arguments={"total": 4, "passphrase": "open sesame"},
    )
    assert made.state == "queued"
    assert made.arguments == {"total": 4}
    jobs.set_state(store, "j1", "running")
    jobs.progress(store, "j1", done=2, total=4, unit="items", phase="copy")
    (row,) = jobs.jobs(store, states=["running"])
    assert (row.done, row.total, row.unit, row.phase) == (2, 4, "items", "copy")
    assert row.started_utc is not None
    jobs.set_state(store, "j1", "done", result={"items": 4})
    (row,) = jobs.jobs(store)
    assert (row.state, row.result, row.ended_utc is None) == ("done", {"items": 4}, False)
    with pytest.raises(ValueError, match="unknown job state"):
        jobs.set_state(store, "j1", "asleep")


def test_what_an_earlier_window_left_is_lost(store: Store) -> None:
    for name, state in (("a", "running"), ("b", "done"), ("c", "queued")):
        jobs.add_job(store, name, kind="bench", title=name, arguments={})
        jobs.set_state(store, name, state)
    assert jobs.lose_unfinished(store) == 2
    states = {row.id: row.state for row in jobs.jobs(store)}
    assert states == {"a": "lost", "b": "done", "c": "lost"}
    assert all("Start it again" in r.sentence for r in jobs.jobs(store, states=["lost"]))
