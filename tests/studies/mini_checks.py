"""What the tests of the miniature sources share: one source written, built and read back."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from engine.control import Control
from studies.medheb.builders.catalogue import source_card, source_cards
from studies.medheb.builders.job import build_job
from studies.medheb.mini.catalogue import WRITERS, writer
from studies.medheb.release import TaskData, read_task
from studies.medheb.tasks import load_tasks

SEED = 42
LEAST = 4  # queries of a task


@dataclass(frozen=True)
class Mini:
    """One source in miniature.

    Attributes:
        official: its official layout.
        data: the data root.
        document: what the builder said.
        tasks: read back, by id.
    """

    official: Path
    data: Path
    document: Mapping[str, Any]
    tasks: Mapping[str, TaskData]


def needs_reader(source: str) -> None:
    """Skip, with the reason, where the source's reader is not written yet."""
    names = {name for card in source_cards() for name in (card.id, *card.aliases)}
    if source not in names:
        pytest.skip(f"{source} has no reader yet")


def make_mini(source: str, folder: Path, **settings: Any) -> Mini:
    """Write, build and read back a source; sources of one module in a folder are written once."""
    needs_reader(source)
    official, data = folder / f"official-{WRITERS[source]}", folder / f"data-{source}"
    if not official.exists():
        writer(source)(official, seed=SEED)
    card = source_card(source)
    given = {"source": card.id, "folder": str(official), "data": str(data), "settings": settings}
    document = build_job(None, given, Control())  # type: ignore[arg-type]
    tasks = {task.id: task for task in load_tasks(data)}
    read = {plan.task: read_task(tasks[plan.task], data) for plan in card.plans}
    return Mini(official, data, document, read)


def check(mini: Mini, *, faulty: int = 0) -> None:
    """Every task of the source is there, whole, with enough queries and each in its own pool."""
    assert mini.document["faulty"] == faulty, mini.document["faults"]
    assert mini.tasks
    for name, task in mini.tasks.items():
        told = mini.document["tasks"][name]
        assert not told["faulty"], told["faults"]
        assert not task.failures, task.failures
        assert task.built is not None
        assert len(task.queries) == task.rows == told["rows"] >= LEAST, name
        pool = {candidate.name for query in task.queries for candidate in query.candidates}
        assert len(pool) > 1, name
        for query in task.queries:
            assert query.gold in pool
            if told["pool"] in ("exemplars", "labels:source"):
                assert len({candidate.name for candidate in query.candidates}) > 1


def same_bytes(source: str, folder: Path) -> None:
    """The same seed writes the same bytes, another seed other ones."""
    for name, seed in (("one", 1), ("again", 1), ("other", 2)):
        writer(source)(folder / name, seed=seed)
    one, again, other = (_contents(folder / name) for name in ("one", "again", "other"))
    assert one == again
    assert set(one.values()) != set(other.values())


def _contents(folder: Path) -> dict[str, str]:
    return {
        path.relative_to(folder).as_posix(): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in folder.rglob("*")
        if path.is_file()
    }


def size_of(folder: Path) -> int:
    """Bytes of all files below a folder."""
    return sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())


__all__ = ["LEAST", "SEED", "WRITERS", "Mini", "check", "make_mini", "needs_reader", "same_bytes"]
