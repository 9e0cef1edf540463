"""The whole miniature, built once a session: all sources' official layouts and all tasks."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import pytest

from engine.control import Control
from studies.medheb.builders.catalogue import source_card
from studies.medheb.mini.catalogue import WRITERS
from studies.medheb.mini.job import mini_job
from studies.medheb.pools import Pools, build_pools
from studies.medheb.release import TaskData, read_task
from studies.medheb.tasks import load_tasks
from tests.studies.mini_checks import Mini


@dataclass(frozen=True)
class MiniRoot:
    """The miniature; tests only read it.

    Attributes:
        data: the data root.
        official: one folder for each module of ``studies.medheb.mini``.
        document: what the job said.
    """

    data: Path
    official: Path
    document: Mapping[str, Any]

    @cached_property
    def tasks(self) -> dict[str, TaskData]:
        """All tasks that are ready, read back, by id."""
        missing = self.document["missing"]
        return {
            task.id: read_task(task, self.data)
            for task in load_tasks(self.data)
            if task.id not in missing
        }

    @cached_property
    def pools(self) -> dict[str, Pools]:
        """The pools of the tasks, by id."""
        return {name: build_pools(task) for name, task in self.tasks.items()}

    def of(self, source: str) -> Mini:
        """One source of it."""
        card = source_card(source)
        module = next(WRITERS[name] for name in (card.id, *card.aliases) if name in WRITERS)
        tasks = {plan.task: self.tasks[plan.task] for plan in card.plans}
        return Mini(self.official / module, self.data, self.document["built"][card.id], tasks)


@pytest.fixture(scope="session")
def mini_root(tmp_path_factory: pytest.TempPathFactory) -> MiniRoot:
    folder = tmp_path_factory.mktemp("whole")
    given = {"data": str(folder / "mini"), "keep_official": True}
    document = mini_job(None, given, Control())  # type: ignore[arg-type]
    return MiniRoot(folder / "mini", Path(document["official"]), document)


@pytest.fixture(scope="session")
def mini(mini_root: MiniRoot) -> Callable[[str], Mini]:
    """One source of the miniature by its id."""
    return mini_root.of
