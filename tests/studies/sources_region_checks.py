"""What holds for every task of regions, whatever its source."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from PIL import Image

from studies.medheb.release import TaskData, read_task
from studies.medheb.tasks import load_tasks
from tests.studies.sources_2d_checks import rows_of

Box = tuple[int, int, int, int]


def region_task(task: str, data: Path) -> TaskData:
    """A region task read back; asserts its pool: one candidate a row, all of them listed once."""
    (found,) = [one for one in load_tasks(data) if one.id == task]
    read = read_task(found, data)
    assert not read.failures
    assert read.built is not None
    assert (read.built.pool, found.eval_type) == ("regions", "global")
    assert all(len(query.candidates) == 1 for query in read.queries)
    pairs = {(row["qry_img_path"], row["qry_text"]) for row in rows_of(task, data)}
    assert len(pairs) == len(read.queries)
    for query in read.queries:
        assert query.item.instruction == found.qry_inst
        assert query.item.text == query.label
        assert len(query.item.images) == 1
    return read


def crops_of(task: str, data: Path, **wanted: str) -> list[np.ndarray]:
    """The crops of the one row whose columns contain what is wanted."""
    (found,) = [one for one in load_tasks(data) if one.id == task]
    rows = [
        row
        for row in rows_of(task, data)
        if all(text in row[name] for name, text in wanted.items())
    ]
    assert len(rows) == 1, (wanted, rows)
    (group,) = rows[0]["tgt_img_path"]
    return [np.asarray(Image.open(data / found.image_root / name)) for name in group]


def cut(pixels: np.ndarray, box: Sequence[int]) -> np.ndarray:
    left, top, right, bottom = box
    return pixels[top:bottom, left:right]


def equal(found: np.ndarray, expected: np.ndarray) -> bool:
    """The same pixels, whether grey is written in one channel or three."""
    if found.ndim == 3 and expected.ndim == 2:
        expected = np.repeat(expected[..., None], 3, axis=2)
    return found.shape == expected.shape and bool((found == expected).all())


def table(path: Path, columns: str, rows: Sequence[Sequence[Any]], write: Callable | None = None):
    """Write a CSV file, and its folder."""
    path.parent.mkdir(parents=True, exist_ok=True)
    text = "\n".join([columns, *(",".join(map(str, row)) for row in rows)]) + "\n"
    path.write_text(text) if write is None else write(path, text)
    return path
