"""What a run knew about its data, kept beside the results so that they can be read without it.

One small JSON file per data digest: the root, the registry in force, which tasks were missing
and why, and the chance level of each task read. Owns its reading and writing.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from studies.errors import NoRun
from studies.medheb.lines import write_lines
from studies.medheb.tasks import Task, tasks_from_rows

NAME = "data.json"


@dataclass(frozen=True)
class Manifest:
    """A data root as a run saw it.

    Attributes:
        root: where it lay.
        digest: names its content.
        tasks: the registry in force.
        missing: task id to why it could not be read.
    """

    root: str
    digest: str
    tasks: tuple[Task, ...]
    missing: Mapping[str, str]


def write_manifest(runs: Path, manifest: Manifest) -> None:
    """Keep a manifest beside its results."""
    document = {**asdict(manifest), "missing": dict(manifest.missing)}
    text = json.dumps(document, ensure_ascii=True, indent=1)
    write_lines(runs / manifest.digest / NAME, [text])


def read_manifest(runs: Path, digest: str) -> Manifest:
    """Read one back.

    Raises:
        NoRun: there is none, or it is damaged.
    """
    path = runs / digest / NAME
    try:
        document: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
        return Manifest(
            root=str(document["root"]),
            digest=digest,
            tasks=tasks_from_rows(document["tasks"]),
            missing=dict(document["missing"]),
        )
    except FileNotFoundError as error:
        raise NoRun(f"{path} is gone; start the run again, nothing is computed twice.") from error
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise NoRun(f"{path} is damaged ({error}); delete it and start the run again.") from error
