"""What several sources share: rows of parquet tables of the hub, and the pictures inside them.

Finds the files of one split and refuses an incomplete set of parts; rows come a few at a time, and
a picture's bytes are read again when it is written, never all kept. pyarrow is asked for only here.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from engine.device import INSTALL
from engine.errors import EvidenceError
from studies.medheb.builders.pictures import POINTER
from studies.medheb.builders.record import Fault, Picture

BATCH = 32  # rows at a time; a row may hold a picture of some megabytes
PART = re.compile(r"-(\d{5})-of-(\d{5})")
WAYS = ("", "*/", "*/*/")
KINDS = (
    (b"\x89PNG", ".png"), (b"\xff\xd8\xff", ".jpg"), (b"GIF8", ".gif"), (b"BM", ".bmp"),
    (b"II*\x00", ".tif"), (b"MM\x00*", ".tif"),
)  # fmt: skip


def patterns(*splits: str, folders: Sequence[str] = WAYS) -> tuple[str, ...]:
    """How the files of a split may be named, for a card's ``expects``."""
    return tuple(
        f"{way}{name}"
        for split in splits
        for way in folders
        for name in (f"{split}-*.parquet", f"{split}.parquet", f"{split}/*.parquet")
    )


def split_files(root: Path, *splits: str, inside: str = "") -> list[Path]:
    """The parts of one split, in order; empty where there is none.

    Args:
        root: folder of the source.
        splits: names of the split, the wanted first (``Test``, ``test``).
        inside: folder that must hold them, for sets of several configurations.

    Raises:
        EvidenceError: parts are missing, or two sets of parts lie side by side.
    """
    for pattern in patterns(*splits, folders=[f"{way}{inside}" for way in WAYS]):
        found = sorted(root.glob(pattern))
        if found:
            return _whole([path for path in found if path.parent == found[0].parent])
    return []


def _whole(parts: list[Path]) -> list[Path]:
    numbers = [PART.search(path.name) for path in parts]
    totals = {int(one[2]) for one in numbers if one}
    have = {int(one[1]) for one in numbers if one}
    if len(totals) > 1:
        raise EvidenceError(
            parts[0], "unsupported", "parts of two editions lie side by side; keep one edition"
        )
    for total in totals:
        lacking = sorted(set(range(total)) - have)
        if lacking:
            told = ", ".join(f"{place:05d}" for place in lacking)
            raise EvidenceError(
                parts[0], "missing", f"of {total} parts number {told} is not there; download it too"
            )
    return parts


def open_parquet(path: Path) -> Any:
    """The table as pyarrow's ``ParquetFile``.

    Raises:
        EvidenceError: pyarrow is not installed, or the file is a pointer, missing or damaged.
    """
    try:
        import pyarrow.parquet as pq
    except ImportError as error:
        says = f"reading parquet tables needs pyarrow, which is not installed here. Run: {INSTALL}"
        raise EvidenceError(path, "unsupported", says) from error
    try:
        with path.open("rb") as stream:
            if stream.read(len(POINTER)) == POINTER:
                says = "this is a Git LFS pointer, not the file; download the file itself"
                raise EvidenceError(path, "missing", says)
        return pq.ParquetFile(path)
    except (OSError, ValueError) as error:
        raise _damaged(path, error) from error


def _damaged(path: Path, error: Exception) -> EvidenceError:
    return EvidenceError(path, "damaged", f"is no readable parquet table ({error})")


def count_rows(path: Path) -> int:
    """Rows of a table, from its header.

    Raises:
        EvidenceError: as ``open_parquet``.
    """
    with open_parquet(path) as table:
        return int(table.metadata.num_rows)


def read_parquet(path: Path, needs: Sequence[str] = ()) -> Iterator[tuple[int, dict[str, Any]]]:
    """The rows of a table with their numbers, from 0.

    Args:
        path: of the file.
        needs: columns that must be there.

    Raises:
        EvidenceError: as ``open_parquet``, or a column is missing.
    """
    with open_parquet(path) as table:
        lacking = [name for name in needs if name not in table.schema_arrow.names]
        if lacking:
            raise EvidenceError(path, "unsupported", f"there is no column {', '.join(lacking)}")
        try:
            yield from enumerate(_each(table))
        except (OSError, ValueError) as error:
            raise _damaged(path, error) from error


def _each(table: Any) -> Iterator[dict[str, Any]]:
    """All rows; one row group after the other, or pyarrow keeps what it has read."""
    for group in range(table.metadata.num_row_groups):
        for batch in table.iter_batches(BATCH, row_groups=[group]):
            yield from batch.to_pylist()


@dataclass(frozen=True)
class Pictured:
    """A row with its picture.

    Attributes:
        where: file and row, for faults.
        number: of the row over all parts of the split, from 0.
        cells: by column.
        picture: named by its content.
    """

    where: str
    number: int
    cells: Mapping[str, Any]
    picture: Picture


def pictured_rows(
    files: Sequence[Path], column: str = "image", needs: Sequence[str] = ("question", "answer")
) -> Iterator[Pictured | Fault]:
    """The rows of a split whose pictures lie inside; a fault for a row without one.

    Args:
        files: the parts of the split.
        column: that holds the pictures.
        needs: other columns that must be there.

    Raises:
        EvidenceError: as ``read_parquet``.
    """
    number = 0
    for path in files:
        pictures = Pictures(path, column)
        for row, cells in read_parquet(path, (column, *needs)):
            where = f"{path.name}, row {row}"
            try:
                yield Pictured(where, number, cells, pictures.picture(row, cells[column]))
            except EvidenceError as error:
                yield Fault(where, error.reason)
            number += 1


class Pictures:
    """The pictures of one column of one table, read again when they are asked for.

    Going forward is cheap; going back starts the row group anew.

    Args:
        path: of the table.
        column: that holds them: bytes, or the hub's pairs of bytes and path.
    """

    def __init__(self, path: Path, column: str) -> None:
        self.path, self.column = path, column
        self._group, self._next = -1, 0
        self._rows: Iterator[Any] = iter(())

    def picture(self, row: int, cell: Any) -> Picture:
        """The picture of a cell just read, named by its content: equal pictures are one file.

        Raises:
            EvidenceError: the cell holds no picture.
        """
        content = _bytes(cell)
        suffix = _suffix(content)
        if suffix is None:
            says = f"column {self.column} holds no picture"
            raise EvidenceError(self.path, "unsupported", says)
        name = hashlib.blake2b(content, digest_size=16).hexdigest()
        return Picture(f"{name}{suffix}", content=partial(self.content, row))

    def content(self, row: int) -> bytes:
        """The bytes of the picture in a row.

        Raises:
            EvidenceError: the table can no longer be read.
        """
        try:
            return self._content(row)
        except (OSError, ValueError) as error:
            raise _damaged(self.path, error) from error

    def _content(self, row: int) -> bytes:
        with open_parquet(self.path) as table:
            group, first = _group_of(table.metadata, row)
        if group != self._group or row < self._next:
            self._group, self._next, self._rows = group, first, self._cells(group)
        for cell in self._rows:
            self._next += 1
            if self._next > row:
                return _bytes(cell)
        raise ValueError(f"row {row} is gone")

    def _cells(self, group: int) -> Iterator[Any]:
        with open_parquet(self.path) as table:
            for batch in table.iter_batches(BATCH, row_groups=[group], columns=[self.column]):
                for row in batch.to_pylist():
                    yield row[self.column]


def _group_of(metadata: Any, row: int) -> tuple[int, int]:
    """The row group of a row, and the number of its first row."""
    first = 0
    for group in range(metadata.num_row_groups):
        count = metadata.row_group(group).num_rows
        if row < first + count:
            return group, first
        first += count
    raise ValueError(f"there is no row {row}")


def _bytes(cell: Any) -> bytes:
    inside = cell.get("bytes") if isinstance(cell, dict) else cell
    return inside if isinstance(inside, bytes) else b""


def _suffix(content: bytes) -> str | None:
    """The ending that fits a file's first bytes; None where it is no picture."""
    if content[:4] == b"RIFF" and content[8:12] == b"WEBP":
        return ".webp"
    return next((suffix for mark, suffix in KINDS if content.startswith(mark)), None)
