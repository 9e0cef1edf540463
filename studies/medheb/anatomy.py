"""Which region of the body and which kind of target each task is about.

Owns reading ``task_groups.csv`` (a data root's own file wins over the one that ships). A task that
no file names has no region, and its target's kind follows from its family. Refuses kinds it does
not know; averages nothing.
"""

from __future__ import annotations

import csv
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from studies.errors import BadTaskFile
from studies.medheb.tasks import Task
from studies.places import resources

GROUPS = "task_groups.csv"
# The regions of the paper's Figure 5, in its words.
ANATOMY: Mapping[str, str] = {
    "ophthalmology": "Ophthalmology",
    "dermatology": "Dermatology",
    "abdomen_pelvis": "Abdomen and pelvis",
    "pathology": "Tissue microscopy",
    "chest_thorax": "Thorax and heart",
    "musculoskeletal": "Musculoskeletal",
    "neuro_head_neck": "Neuro, head and neck",
    "multi_region": "Several organs",
}
UNKNOWN = "not assigned"
SHORT, ANSWER, LONG, PICTURE = "short label", "VQA answer", "long text", "picture"
TARGETS = (SHORT, ANSWER, LONG, PICTURE)
TEXTS = TARGETS[:3]
_BY_FAMILY = {"I-Lab": SHORT, "VQA": ANSWER, "I-Rep": LONG, "T-T": LONG}


@dataclass(frozen=True)
class Group:
    """What a task is about.

    Attributes:
        anatomy: a key of ``ANATOMY``, or ``UNKNOWN``.
        target: one of ``TARGETS``.
    """

    anatomy: str
    target: str


def load_groups(tasks: Iterable[Task], root: Path | None = None) -> dict[str, Group]:
    """The groups of tasks, by task id.

    Args:
        tasks: any tasks; one without a line gets no region.
        root: a data root that may hold a file of its own.

    Raises:
        BadTaskFile: a file cannot be read, or names a kind that there is not.
    """
    known = _read(resources() / GROUPS)
    if root is not None and (root / GROUPS).is_file():
        known |= _read(root / GROUPS)
    return {task.id: known.get(task.id) or _guessed(task) for task in tasks}


def _guessed(task: Task) -> Group:
    return Group(UNKNOWN, _BY_FAMILY.get(task.family, PICTURE))


def _read(path: Path) -> dict[str, Group]:
    try:
        with path.open(encoding="utf-8-sig", newline="") as stream:
            rows = [(row["id"], row["anatomy"], row["target"]) for row in csv.DictReader(stream)]
    except (OSError, UnicodeDecodeError, csv.Error, KeyError) as error:
        raise BadTaskFile(f"{path}: the table of groups cannot be read ({error}).") from error
    for task, anatomy, target in rows:
        if anatomy not in ANATOMY or target not in TARGETS:
            raise BadTaskFile(
                f"{path}: {task} is {anatomy!r}, {target!r}; anatomy must be one of "
                f"{', '.join(ANATOMY)}, target one of {', '.join(TARGETS)}."
            )
    return {task: Group(anatomy, target) for task, anatomy, target in rows}
