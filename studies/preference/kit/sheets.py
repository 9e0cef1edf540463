"""The tables as a spreadsheet: one sheet each, numbers as numbers.

Owns the split of a cell into value, interval and n. Equal numbers give equal bytes: the file
holds no time but a fixed one. Texts are never formulas.
"""

from __future__ import annotations

import io
import re
import zipfile
from datetime import datetime
from typing import Any

from studies.preference.analysis.schema import Analysis, Estimate, Share
from studies.preference.kit.grid import Cell, Grid, Points, PValue, Seconds
from studies.preference.kit.layout import grids_of
from studies.preference.kit.report import opening

EPOCH = datetime(2000, 1, 1)
STAMP = (2000, 1, 1, 0, 0, 0)
Value = str | int | float | None
REFUSED = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\ud800-\udfff\ufffe\uffff]")
PERCENT, NUMBER, TINY = "0.0%", "0.000", "0.0E+00"


def to_xlsx(analysis: Analysis) -> bytes:
    """The workbook as bytes."""
    from openpyxl import Workbook

    book = Workbook()
    book.properties.creator = book.properties.lastModifiedBy = ""
    book.properties.created = book.properties.modified = EPOCH
    book.properties.title = f"study hash {analysis.hash}"
    about = book.active
    about.title = "study"
    for line in opening(analysis):
        about.append([_printable(line)])
        _as_text(about.cell(about.max_row, 1))
    taken = {"study"}
    for grid in grids_of(analysis, tasks="include"):
        _write(book.create_sheet(_title(grid.name, taken)), grid, analysis.hash)
    held = io.BytesIO()
    book.save(held)
    return _timeless(held.getvalue())


def _title(name: str, taken: set[str]) -> str:
    """A name a sheet may have, not yet taken."""
    plain = re.sub(r"[\[\]:*?/\\']", "-", name)[:28] or "table"
    found, place = plain, 1
    while found.lower() in taken:
        place += 1
        found = f"{plain}-{place}"
    taken.add(found.lower())
    return found


def _write(sheet: Any, grid: Grid, study_hash: str) -> None:
    from openpyxl.styles import Alignment, Font

    bold = Font(bold=True)
    sheet.append([_printable(grid.title)])
    sheet.cell(1, 1).font = bold
    _as_text(sheet.cell(1, 1))
    spans = [_heads(head, [row[place] for row in grid.rows])
             for place, head in enumerate(grid.heads)]  # fmt: skip
    sheet.append([_printable(name) for heads in spans for name in heads])
    for cell in sheet[2]:
        _as_text(cell)
        cell.font = bold
        cell.alignment = Alignment(wrap_text=True, vertical="top")
    for row in grid.rows:
        values: list[tuple[Value, str]] = []
        for heads, cell in zip(spans, row, strict=True):
            found = _values(cell)
            values += found + [(None, "")] * (len(heads) - len(found))
        _append(sheet, values)
    for note in (*grid.notes, f"Study hash {study_hash}."):
        sheet.append([_printable(note)])
        _as_text(sheet.cell(sheet.max_row, 1))
    sheet.freeze_panes = "B3"
    sheet.column_dimensions["A"].width = 34


def _append(sheet: Any, values: list[tuple[Value, str]]) -> None:
    sheet.append([_printable(value) for value, _ in values])
    for place, (value, form) in enumerate(values, 1):
        cell = sheet.cell(sheet.max_row, place)
        if form:
            cell.number_format = form
        if isinstance(value, str):
            _as_text(cell)


def _printable(value: Value) -> Value:
    """Without the signs that a spreadsheet refuses."""
    return REFUSED.sub(" ", value) if isinstance(value, str) else value


def _as_text(cell: Any) -> None:
    """A text that begins like a formula stays a text."""
    cell.data_type = "s"


def _heads(head: str, cells: list[Cell]) -> list[str]:
    """The columns that one column of the layout becomes."""
    widest = max((_kind(cell) for cell in cells), default=0)
    share = any(isinstance(cell, Share) for cell in cells)
    if widest == 5:
        unit = "%" if share or any(isinstance(cell, Points) for cell in cells) else "value"
        return [f"{head}: {part}" for part in ("count" if share else "note", unit, "low", "high",
                                               "n")]  # fmt: skip
    return [f"{head} (s)" if any(isinstance(cell, Seconds) for cell in cells) else head]


def _kind(cell: Cell) -> int:
    return 5 if isinstance(cell, Share | Points | Estimate) else 1


def _values(cell: Cell) -> list[tuple[Value, str]]:
    """A cell of the layout as cells of a sheet with their number formats."""
    if isinstance(cell, Share):
        return [(cell.count, ""), (cell.share, PERCENT), (cell.low, PERCENT),
                (cell.high, PERCENT), (cell.n, "")]  # fmt: skip
    if isinstance(cell, Points):
        return _estimate(cell.estimate, PERCENT)
    if isinstance(cell, Estimate):
        return _estimate(cell, NUMBER)
    if isinstance(cell, PValue):
        value = cell.value
        return [(value, NUMBER if value is None or value >= 0.001 else TINY)]
    if isinstance(cell, Seconds):
        return [(None if cell.ms is None else cell.ms / 1000, "0.0")]
    return [(cell, "")]


def _estimate(found: Estimate, form: str) -> list[tuple[Value, str]]:
    bounds = (found.value, found.low, found.high)
    return [(found.note or None, ""), *((value, form) for value in bounds), (found.n, "")]


def _timeless(content: bytes) -> bytes:
    """The same archive with one time in every entry, so that equal tables are equal files."""
    held = io.BytesIO()
    with (
        zipfile.ZipFile(io.BytesIO(content)) as source,
        zipfile.ZipFile(held, "w", zipfile.ZIP_DEFLATED) as target,
    ):
        for name in source.namelist():
            data = source.read(name)
            if name == "docProps/core.xml":
                data = re.sub(
                    rb"(<dcterms:modified[^>]*>)[^<]*", rb"\g<1>2000-01-01T00:00:00Z", data
                )
            entry = zipfile.ZipInfo(name, STAMP)
            entry.compress_type = zipfile.ZIP_DEFLATED
            target.writestr(entry, data)
    return held.getvalue()
