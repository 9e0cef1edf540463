"""What holds for every task made from a source of pictures with classes."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
from PIL import Image

from engine.control import Control
from studies.medheb.builders.card import settle
from studies.medheb.builders.catalogue import source_card
from studies.medheb.builders.job import build_job, read_records
from studies.medheb.builders.record import Fault, Record
from studies.medheb.release import TaskData, read_task
from studies.medheb.tasks import load_tasks


def noise(*seed: int, shape: tuple[int, ...] = (24, 24, 3)) -> np.ndarray:
    """A picture that no other seed gives."""
    return np.random.default_rng(list(seed)).integers(0, 256, shape, np.uint8)


def save(path: Path, pixels: np.ndarray) -> Path:
    """Write a picture, and its folder."""
    path.parent.mkdir(parents=True, exist_ok=True)
    Image.fromarray(pixels).save(path)
    return path


def records_of(source: str, folder: Path, **settings: Any) -> tuple[list[Record], list[Fault]]:
    """What the reader gives."""
    card = source_card(source)
    return read_records(card, folder, settle(card, settings), Control())


def build(source: str, folder: Path, data: Path, **settings: Any) -> dict[str, Any]:
    """Build all tasks of a source."""
    given = {"source": source, "folder": str(folder), "data": str(data), "settings": settings}
    return build_job(None, given, Control())  # type: ignore[arg-type]


def rows_of(task: str, data: Path) -> list[dict[str, Any]]:
    """The rows of a task's index file."""
    (found,) = [one for one in load_tasks() if one.id == task]
    return list(json.loads((data / found.data_path).read_text("utf-8")))


def checked(
    source: str, data: Path, records: Iterable[Record], *, classes: int
) -> Mapping[str, TaskData]:
    """The tasks of a source, read back; asserts the pool rules on every row of theirs.

    Args:
        source: id of the card.
        data: the data root.
        records: as the reader gave them.
        classes: on the test side, all with at least two groups.
    """
    card, tasks = source_card(source), {task.id: task for task in load_tasks(data)}
    groups = {picture.name: record.group for record in records for picture in record.pictures}
    read = {}
    for plan in card.plans:
        if plan.make == "region":
            continue
        read[plan.task] = one = read_task(tasks[plan.task], data)
        assert not one.failures
        assert one.built is not None
        for query in one.queries:
            names = [candidate.name for candidate in query.candidates]
            assert len(set(names)) == len(names) == classes, plan.task
        for row in rows_of(plan.task, data):
            _row_holds(plan.make, row, groups)
        root = data / tasks[plan.task].image_root
        assert all((root / name).is_file() for name in _pictures(rows_of(plan.task, data)))
    return read


def _row_holds(make: str, row: dict[str, Any], groups: Mapping[str, str]) -> None:
    if make == "label":
        assert row["tgt_text"][0] == row["qry_label"]
        return
    assert row["tgt_label"][0] == row["qry_label"]
    assert row["tgt_label"].count(row["qry_label"]) == 1
    assert len(set(row["tgt_label"])) == len(row["tgt_label"])
    if make == "exemplars":
        own = groups[row["qry_img_path"]]
        assert own not in [groups[name] for name in row["tgt_img_path"]]
    else:
        assert row["qry_text"] == row["qry_label"]
        own = groups[row["tgt_img_path"][0]]
        assert own not in [groups[name] for name in row["tgt_img_path"][1:]]


def _pictures(rows: Iterable[dict[str, Any]]) -> set[str]:
    return {
        name
        for row in rows
        for name in (*row.get("tgt_img_path", ()), row.get("qry_img_path"))
        if name
    }
