"""Results of tasks whose files have changed since, by a look at where the data lay.

Owns comparing what was scored with what lies there now, and the command that scores it again.
Only tasks with a score of ours are read; data that are gone, in whole or one task's file, give no
remark. Opens no picture, changes nothing.
"""

from __future__ import annotations

import shlex
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from db.home import Home, find_home
from studies.errors import BadTaskFile
from studies.medheb.release import find_index, read_task
from studies.results_groups import root_of

if TYPE_CHECKING:
    from studies.results import Results, TaskLine


@dataclass(frozen=True)
class Stale:
    """What was found.

    Attributes:
        tasks: task id to the models that were scored on other files than lie there now.
        command: scores them again.
    """

    tasks: dict[str, tuple[str, ...]]
    command: str

    @property
    def sentence(self) -> str:
        """The remark; empty where every score is of the files as they are."""
        if not self.tasks:
            return ""
        return (
            f"{len(self.tasks)} tasks were computed on other files than lie there now (changed or "
            f"written anew since): {', '.join(self.tasks)}; run them again: {self.command}"
        )

    def document(self) -> list[dict[str, object]]:
        """The same for JSON."""
        return [{"task": task, "models": list(models)} for task, models in self.tasks.items()]


def checked(home: Home, results: Results) -> Results:
    """The results with what is stale among them.

    Args:
        home: where they are stored, for the command.
        results: of one data root.
    """
    root = root_of(results)
    found: dict[str, tuple[str, ...]] = {}
    for line in results.tasks if root is not None else ():
        if models := _stale(line, Path(results.root)):
            found[line.task.id] = models
    return replace(results, stale=Stale(found, _command(home, results.root, found)))


def _stale(line: TaskLine, root: Path) -> tuple[str, ...]:
    """Models whose score is of another content; imported ones cannot be computed again."""
    known = {m: cell.task_digest for m, cell in line.scores.items() if not cell.imported}
    if not known or find_index(line.task, root) is None:
        return ()
    try:
        now = read_task(line.task, root).digest
    except BadTaskFile:
        now = ""
    return tuple(model for model, digest in known.items() if digest and digest != now)


def _command(home: Home, root: str, found: dict[str, tuple[str, ...]]) -> str:
    models = dict.fromkeys(model for models in found.values() for model in models)
    words = ["triptych"] + (["--home", str(home.root)] if home.root != find_home(None).root else [])
    words += ["bench", "run", "--data", root, "--models", ",".join(models)]
    return shlex.join([*words, "--tasks", ",".join(found)]) if found else ""
