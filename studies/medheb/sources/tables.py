"""What several sources share: rows of a CSV file, by column name.

Takes byte marks, blanks round names and gzip in stride. Refuses a file that only points at the real
one (Git LFS), one that is no text, and one that lacks a column, each with its sentence.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import BinaryIO

from engine.errors import EvidenceError
from engine.evidence.files import open_file
from studies.medheb.builders.pictures import POINTER

Line = tuple[int, dict[str, str]]


def read_table(path: Path, needs: Sequence[str] = ()) -> list[Line]:
    """All rows of a CSV file (also ``.csv.gz``), each with its line number in the file.

    Args:
        path: of the file.
        needs: columns that must be there.

    Returns:
        Line number, and the row by column name; names and values without blanks round them.

    Raises:
        EvidenceError: it is missing, a pointer, no table, or lacks a column.
    """
    return list(each_row(path, needs))


def each_row(path: Path, needs: Sequence[str] = ()) -> Iterator[Line]:
    """As ``read_table``, one row at a time; no more than a row of the file is held."""
    try:
        with open_file(path) as stream:
            _is_there(path, stream)
            text = io.TextIOWrapper(stream, encoding="utf-8-sig", newline="")
            reader = csv.DictReader(text, restkey="", restval="", strict=True)
            reader.fieldnames = [name.strip() for name in reader.fieldnames or ()]
            lacking = [name for name in needs if name not in reader.fieldnames]
            if lacking:
                raise EvidenceError(path, "unsupported", f"there is no column {', '.join(lacking)}")
            for row in reader:
                yield reader.line_num, _stripped(row)
    except OSError as error:
        raise EvidenceError(path, "missing", f"cannot be read ({error.strerror})") from error
    except UnicodeDecodeError as error:
        raise EvidenceError(path, "damaged", "is no text in UTF-8") from error
    except csv.Error as error:
        says = f"no table of comma-separated values ({error})"
        raise EvidenceError(path, "damaged", says) from error


def _is_there(path: Path, stream: BinaryIO) -> None:
    """Refuse a file that only points at the real one; the stream stands at its start again."""
    pointer = stream.read(len(POINTER)) == POINTER
    stream.seek(0)
    if pointer:
        raise EvidenceError(
            path, "missing",
            "this is a Git LFS pointer, not the file; fetch it with git lfs pull, or download it",
        )  # fmt: skip


def _stripped(row: dict[str, str]) -> dict[str, str]:
    return {name: value.strip() for name, value in row.items() if name and value is not None}


def is_one(value: str) -> bool:
    """Whether a cell says 1, however it is written (``1``, ``1.0``).

    Raises:
        ValueError: it is neither 0, 1 nor empty.
    """
    number = float(value or 0)
    if number not in (0, 1):
        raise ValueError(f"{value!r} is neither 0 nor 1")
    return number == 1
