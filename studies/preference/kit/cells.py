"""Reads CSV files as people and spreadsheets write them, and says where a cell is wrong.

Owns encodings, separators, names of columns and the sentence that names file, row and column.
Refuses to guess a value.
"""

from __future__ import annotations

import csv
import io
import json
import math
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NoReturn

from db.failures import translated
from studies.errors import BadStudy

SEPARATORS = ",;\t|"
LONGEST = 10_000_000
LARGEST = 10**15
NOTHING = ("NA", "N/A", "#N/A", "NAN", "NULL")  # how other programs write an empty cell
# 12,000 is twelve in one country and twelve thousand in another
_THOUSANDS = re.compile(r"[+-]?[1-9]\d{0,2}(?:[.,]\d{3})+")
# What others call the same.
ALIASES: dict[str, str] = {
    "item": "item_id",
    "case": "item_id",
    "case_id": "item_id",
    "itemid": "item_id",
    "reader": "rater",
    "rater_id": "rater",
    "reader_id": "rater",
    "raterid": "rater",
    "choice": "answer",
    "left": "left_model",
    "model_left": "left_model",
    "preference": "preferred",
    "task": "task_id",
    "order": "position",
    "shared": "shared_candidates",
}


@dataclass(frozen=True)
class Row:
    """One row of a file.

    Attributes:
        file: its name.
        line: its line in the file, from 1.
        cells: column to text without blanks around it; only what is not empty.
    """

    file: str
    line: int
    cells: Mapping[str, str]

    def text(self, column: str, default: str = "") -> str:
        """The text of a cell."""
        return self.cells.get(column, default)

    def named(self, column: str) -> str:
        """The text of a cell that names one of a few things; "" where it says that it is empty."""
        found = self.text(column)
        return "" if found.upper() in NOTHING else found

    def needed(self, column: str) -> str:
        """The text of a cell that must not be empty."""
        found = self.cells.get(column)
        if found is None:
            self.wrong(column, "is empty; it must hold a value")
        return found

    def word(self, column: str, allowed: Sequence[str], default: str = "") -> str:
        """One of the allowed words, whatever its capitals; underscores may be blanks."""
        found = self.named(column)
        if not found:
            return default
        said = "_".join(found.lower().replace("-", "_").split())
        if said not in allowed:
            self.wrong(
                column, f"holds {shortened(found)}; known are {', '.join(filter(None, allowed))}"
            )
        return said

    def number(self, column: str, *, low: int, high: int = LARGEST) -> int | None:
        """A whole number between two bounds, None where the cell is empty."""
        value = self._value(column, loose=".,")
        if value is None:
            return None
        found = self.text(column)
        if not math.isfinite(value) or not low <= value <= high:
            self.wrong(column, f"holds {shortened(found)}; it must lie between {low} and {high}")
        if value != int(value):
            self.wrong(column, f"holds {shortened(found)}, which is no whole number")
        return int(value)

    def amount(self, column: str) -> float | None:
        """A number from 0, None where the cell is empty; halves are allowed."""
        value = self._value(column, loose=",")
        if value is None:
            return None
        if not 0 <= value <= LARGEST:
            held = shortened(self.text(column))
            self.wrong(column, f"holds {held}; it must lie between 0 and {LARGEST}")
        return value

    def _value(self, column: str, *, loose: str) -> float | None:
        """The number of a cell, with ``.`` or ``,`` before its decimals; None where it is empty.

        Args:
            column: of the cell.
            loose: signs that may stand for a thousand; what could be read in two ways is refused.
        """
        found = self.named(column)
        if not found:
            return None
        if _THOUSANDS.fullmatch(found) and any(sign in found for sign in loose):
            self.wrong(
                column,
                f"holds {shortened(found)}, which can be read in two ways; write it without a "
                "sign for thousands",
            )
        try:
            return float(found.replace(",", "."))
        except ValueError:
            self.wrong(column, f"holds {shortened(found)}, which is no number")

    def wrong(self, column: str, why: str) -> NoReturn:
        """Say which cell is wrong.

        Raises:
            BadStudy: always.
        """
        raise BadStudy(f"{self.file}, row {self.line}, column {column} {why}.")


@dataclass(frozen=True)
class Sheet:
    """A file: its columns and rows."""

    file: str
    columns: tuple[str, ...]
    rows: tuple[Row, ...]

    def needs(self, *columns: str) -> None:
        """Refuse a file in which a column is missing.

        Raises:
            BadStudy: names the file, the column and what is there.
        """
        for column in columns:
            if column not in self.columns:
                there = shortened(", ".join(self.columns))
                raise BadStudy(f"{self.file} has no column {column}; its columns are {there}.")


def read_sheet(path: Path) -> Sheet:
    """Read one CSV file: UTF-8, UTF-16 or Latin-1, any usual separator.

    Raises:
        BadStudy: it is not a table, or too large; the sentence names file and row.
        StoreError: it cannot be read.
    """
    with translated(path):
        size = path.stat().st_size
        content = path.read_bytes() if size <= 50 * LONGEST else b""
    if size > 50 * LONGEST:
        raise BadStudy(f"{path.name} is larger than a table of ratings can be.")
    text = _decoded(content)
    lines = _lines(path.name, text)
    header = next(lines, None)
    if header is None:
        raise BadStudy(f"{path.name} is empty; it must begin with the names of its columns.")
    columns = _columns(path.name, header[1])
    return Sheet(path.name, columns, tuple(_rows(path.name, columns, lines)))


def _decoded(content: bytes) -> str:
    if content.startswith((b"\xff\xfe", b"\xfe\xff")):
        return content.decode("utf-16", "replace")
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError:
        return content.decode("cp1252", "replace")


def _lines(file: str, text: str) -> Iterator[tuple[int, list[str]]]:
    """Line number and cells of every line that is not blank, the separator found out."""
    skipped = 0
    first, _, rest = text.partition("\n")
    stated = first.strip().strip('"').lower()
    if stated.startswith("sep=") and len(stated) == 5:  # Excel's own hint
        separator, text, skipped = stated[4], rest, 1
    else:
        heading = next((line for line in text.splitlines() if line.strip()), "")
        separator = max(SEPARATORS, key=heading.count)
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=separator, skipinitialspace=True)
    try:
        for cells in reader:
            if any(cell.strip() for cell in cells):
                yield reader.line_num + skipped, cells
    except csv.Error as error:
        line = reader.line_num + skipped
        raise BadStudy(f"{file}, row {line} cannot be read as a table ({error}).") from error


def _columns(file: str, cells: Sequence[str]) -> tuple[str, ...]:
    names = ["_".join(cell.strip().lower().replace("-", "_").split()) for cell in cells]
    names = [ALIASES.get(name, name) for name in names]
    for name in names:
        if name and names.count(name) > 1:
            raise BadStudy(f"{file} has the column {shortened(name)} more than once.")
    return tuple(names)


def _rows(
    file: str, columns: Sequence[str], lines: Iterator[tuple[int, list[str]]]
) -> Iterator[Row]:
    for line, cells in lines:
        if any(cell.strip() for cell in cells[len(columns) :]):
            raise BadStudy(
                f"{file}, row {line} has {len(cells)} cells; the file has {len(columns)} columns."
            )
        pairs = zip(columns, cells, strict=False)
        yield Row(file, line, {name: cell.strip() for name, cell in pairs if cell.strip()})


def json_value(row: Row, column: str) -> object:
    """A cell that holds JSON.

    Raises:
        BadStudy: it does not.
    """
    try:
        return json.loads(row.text(column))
    except (ValueError, RecursionError) as error:
        raise BadStudy(f"{row.file}, row {row.line}, column {column} is no JSON.") from error


def shortened(text: str) -> str:
    """A cell as a sentence can hold it: printable, in quotes, at most 60 letters."""
    clean = "".join(letter if letter.isprintable() else " " for letter in text)
    return f"'{clean}'" if len(clean) <= 60 else f"'{clean[:57]}...'"
