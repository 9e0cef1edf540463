"""What holds for every task made from a source of questions, answers and other pairs of texts."""

from __future__ import annotations

import io
import json
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from PIL import Image

from studies.medheb.pools import Pools, build_pools
from studies.medheb.release import TaskData, read_task
from studies.medheb.tasks import load_tasks
from tests.studies.sources_2d_checks import build, noise, records_of, rows_of

__all__ = [
    "build", "built_task", "jpeg", "noise", "png", "records_of", "rows_of", "texts", "write_json",
    "write_lines", "write_parquet",
]  # fmt: skip


def encoded(pixels: np.ndarray, kind: str, mode: str | None = None) -> bytes:
    stream = io.BytesIO()
    picture = Image.fromarray(pixels)
    (picture.convert(mode) if mode else picture).save(stream, kind)
    return stream.getvalue()


def png(*seed: int) -> bytes:
    """The file of a picture that no other seed gives."""
    return encoded(noise(*seed), "PNG")


def jpeg(*seed: int, mode: str | None = None) -> bytes:
    """As ``png``, as JPEG, in another mode if asked."""
    return encoded(noise(*seed), "JPEG", mode)


def hub_picture(content: bytes | None, path: str | None = None) -> dict[str, Any]:
    """A picture as the hub keeps it in a cell."""
    return {"bytes": content, "path": path}


def write_parquet(
    path: Path, rows: Sequence[Mapping[str, Any]], *, group: int = 3, schema: Any = None
) -> Path:
    """A parquet table with small row groups; bytes are wrapped as the hub wraps pictures."""
    wrapped = [
        {name: hub_picture(v) if isinstance(v, bytes) else v for name, v in row.items()}
        for row in rows
    ]
    path.parent.mkdir(parents=True, exist_ok=True)
    pq.write_table(pa.Table.from_pylist(wrapped, schema=schema), path, row_group_size=group)
    return path


def write_json(path: Path, document: Any) -> Path:
    """A JSON document."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(document, ensure_ascii=False), "utf-8")
    return path


def write_lines(path: Path, rows: Iterable[Mapping[str, Any]]) -> Path:
    """JSON lines."""
    path.parent.mkdir(parents=True, exist_ok=True)
    lines = [json.dumps(row, ensure_ascii=False) for row in rows]
    path.write_text("\n".join(lines) + "\n", "utf-8")
    return path


def built_task(
    source: str, folder: Path, data: Path, task: str, **settings: Any
) -> tuple[TaskData, Pools]:
    """Build a source and read one of its tasks back.

    Asserts that every row is read, that the pool is the unique targets of all rows and that every
    query meets all of it, its own positive first.
    """
    build(source, folder, data, **settings)
    (found,) = [one for one in load_tasks(data) if one.id == task]
    read = read_task(found, data)
    assert not read.failures
    assert read.built is not None
    assert len(read.queries) == read.rows == read.built.rows
    pools = build_pools(read)
    rows = rows_of(task, data)
    targets = {text for row in rows for text in row["tgt_text"]}
    assert {candidate.name for candidate in pools.candidates} == targets
    assert len(pools.candidates) == len(targets)
    assert not pools.local
    for query, members, row in zip(read.queries, pools.members, rows, strict=True):
        assert len(members) == len(targets)
        assert pools.candidates[members[0]].name == query.gold == row["tgt_text"][0]
        assert query.item.instruction == found.qry_inst
        for image in query.item.images:
            assert image.path.is_file()
    return read, pools


def texts(records: Iterable[Any]) -> list[tuple[str, ...]]:
    """The texts of the records, in order."""
    return [tuple(record.texts.values()) for record in records]
