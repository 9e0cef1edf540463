"""A person's table as entries: CSV, TSV, JSON, JSONL or a NumPy file of a MedMNIST set.

Owns the formats and what a cell means (paths below the table's folder, labels parted by ``|``,
boxes in pixels). Refuses no row in silence: a bad one is a fault with its line.
"""

from __future__ import annotations

import csv
import io
import json
import math
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from engine.control import Control
from engine.errors import EvidenceError
from engine.evidence import files
from engine.evidence.item import ImageRef, Item, VolumeRef, item_of
from engine.evidence.open import find_evidence
from engine.evidence.pixels import digest
from engine.evidence.study import Evidence
from studies.errors import BadRequest
from studies.medheb.builders.record import Box, Fault
from studies.medheb.own_columns import recognise
from studies.medheb.own_entries import Entry

TABLES = (".csv", ".tsv", ".tab", ".json", ".jsonl", ".ndjson")
ARRAYS = ".npz"
PLAIN = (".png", ".jpg", ".jpeg", ".bmp", ".tif", ".tiff")  # one picture, no need to look
TEXTS = ("report", "findings", "impression", "question", "answer")
EDGES = ("x1", "y1", "x2", "y2")
_NUMBER = re.compile(r"-?\d+(?:\.\d+)?(?:[eE][-+]?\d+)?")
Row = Mapping[str, Any]


@dataclass(frozen=True)
class Reading:
    """How a table is to be read.

    Attributes:
        folder: relative paths lie below it.
        columns: role to column, by the user.
        words: a cell of the label column to the class in words.
        box_as: ``corners`` (left, top, right, bottom) or ``size`` (left, top, width, height).
    """

    folder: Path
    columns: Mapping[str, str]
    words: Mapping[str, str]
    box_as: str = "corners"


@dataclass(frozen=True)
class Read:
    """What a table holds.

    Attributes:
        entries: its rows, by line.
        faults: rows that could not be read.
        found: role to column.
        columns: all there are.
    """

    entries: tuple[Entry, ...]
    faults: tuple[Fault, ...]
    found: Mapping[str, str]
    columns: tuple[str, ...]


def read_own(path: Path, reading: Reading, control: Control) -> Read:
    """Read a table, or a NumPy file in the layout of MedMNIST.

    Raises:
        BadRequest: not a table, or a column that is named is not there.
    """
    if path.suffix.lower() == ARRAYS:
        return _read_arrays(path, reading, control)
    rows = _rows(path)
    columns = tuple(dict.fromkeys(name for _, row in rows for name in row))
    found = recognise(columns, reading.columns)
    entries: list[Entry] = []
    faults: list[Fault] = []
    looks: dict[Path, tuple[Item, str]] = {}
    control.begin(len(rows), unit="rows", phase=f"Reading {path.name}")
    for line, row in rows:
        control.check()
        try:
            entries.append(_entry(line, row, found, reading, looks))
        except (EvidenceError, ValueError) as error:
            faults.append(Fault(f"{path.name}, {line}", str(error)))
        control.step()
    return Read(tuple(entries), tuple(faults), found, columns)


def _rows(path: Path) -> list[tuple[str, Row]]:
    """Place and row.

    Raises:
        BadRequest: it cannot be read as a table.
    """
    suffix = path.suffix.lower()
    try:
        text = path.read_bytes().decode("utf-8-sig")
        if suffix in (".jsonl", ".ndjson"):
            lines = enumerate(text.splitlines(), 1)
            rows = [(f"line {n}", json.loads(line)) for n, line in lines if line.strip()]
        elif suffix == ".json":
            rows = _json_rows(json.loads(text))
        elif suffix in TABLES:
            rows = _csv_rows(text, tab=suffix != ".csv")
        else:
            raise ValueError(f"the ending must be one of {', '.join((*TABLES, ARRAYS))}")
    except OSError as error:
        raise BadRequest(f"{path}: cannot be read ({error.strerror}).") from error
    except (ValueError, csv.Error, RecursionError) as error:
        raise BadRequest(f"{path}: is no table that can be read ({error}).") from error
    if not rows or not all(isinstance(row, Mapping) for _, row in rows):
        raise BadRequest(f"{path}: holds no rows with named columns.")
    return rows


def _json_rows(document: Any) -> list[tuple[str, Any]]:
    if isinstance(document, Mapping):
        return [(f"entry {key}", row) for key, row in document.items()]
    if not isinstance(document, list):
        raise ValueError("a list of objects, or an object of objects, is wanted")
    return [(f"entry {place}", row) for place, row in enumerate(document)]


def _csv_rows(text: str, *, tab: bool) -> list[tuple[str, Any]]:
    head = text.partition("\n")[0]
    semicolons = head.count(";") > head.count(",")
    delimiter = "\t" if tab else ";" if semicolons else ","
    reader = csv.DictReader(io.StringIO(text, newline=""), delimiter=delimiter, restval="")
    reader.fieldnames = [name.strip() for name in reader.fieldnames or ()]
    return [(f"line {reader.line_num}", row) for row in _whole(reader)]


def _whole(rows: Iterable[Mapping[str | None, Any]]) -> Iterator[dict[str, Any]]:
    for row in rows:
        yield {name: value for name, value in row.items() if name}


def _entry(
    line: str,
    row: Row,
    found: Mapping[str, str],
    reading: Reading,
    looks: dict[Path, tuple[Item, str]],
) -> Entry:
    cells = {role: row.get(column) for role, column in found.items()}
    words = {role: _text(value) for role, value in cells.items()}
    named = words.get("image") or words.get("volume") or ""
    shown, content = _look(reading.folder / named, named, looks) if named else (None, "")
    boxes = _boxes(cells, reading)
    label = [reading.words.get(one, one) for one in _labels(cells.get("label"))]
    region = words.get("region") or (label[0] if label else "")
    texts = {role: words[role] for role in TEXTS if words.get(role)}
    own = (words.get("patient", ""), words.get("study", ""), Path(named).stem)
    return Entry(
        key=line,
        shown=shown,
        content=content,
        patient=words.get("patient") or words.get("study") or "",
        part=words.get("split", ""),
        labels=() if boxes else tuple(label),
        texts=texts,
        region=region,
        boxes=boxes,
        modality=words.get("modality", "").lower(),
        own=tuple(filter(None, own)),
    )


def _text(value: Any) -> str:
    """A cell in words; a list of passages is one text, an empty cell of any kind is none."""
    if value is None or (isinstance(value, float) and value != value):
        return ""
    if isinstance(value, list):
        return " ".join(filter(None, map(_text, value)))
    text = str(value).strip()
    try:
        text.encode()
    except UnicodeEncodeError:
        raise ValueError("a cell holds half a character; write the table as UTF-8") from None
    return text


def _labels(value: Any) -> list[str]:
    parts = value if isinstance(value, list) else _text(value).split("|")
    return [word for word in map(_text, parts) if word]


def _boxes(cells: Mapping[str, Any], reading: Reading) -> tuple[Box, ...]:
    """The boxes of a row.

    Raises:
        ValueError: numbers that make no box.
    """
    value = cells.get("box")
    text = json.dumps(value) if isinstance(value, list) else _text(value)
    numbers = [float(one) for one in _NUMBER.findall(text)]
    sized = reading.box_as == "size"
    if not numbers and _text(cells.get("x1")):
        sized = "x2" not in cells
        ends = ("width", "height") if sized else ("x2", "y2")
        try:
            numbers = [float(_text(cells.get(name)) or "nan") for name in ("x1", "y1", *ends)]
        except ValueError as error:
            raise ValueError(f"the box is no four numbers ({error})") from error
    if len(numbers) % 4 or not all(map(math.isfinite, numbers)):
        raise ValueError(f"a box is four numbers, not {len(numbers)}")
    return tuple(_box(numbers[at : at + 4], sized) for at in range(0, len(numbers), 4))


def _box(numbers: Sequence[float], sized: bool) -> Box:
    left, top, right, bottom = numbers
    if sized:
        right, bottom = left + right, top + bottom
    box = (int(left), int(top), -int(-right // 1), -int(-bottom // 1))
    if box[0] < 0 or box[1] < 0 or box[0] >= box[2] or box[1] >= box[3]:
        raise ValueError(f"the box {list(numbers)} has no area or lies outside")
    return box


def _look(path: Path, named: str, looks: dict[Path, tuple[Item, str]]) -> tuple[Item, str]:
    """What a path shows and the name of its content; each path is looked at once.

    Raises:
        EvidenceError: it is missing, or shows neither a picture nor a volume.
    """
    if path not in looks:
        if not path.is_dir() and not files.exists(path):
            raise EvidenceError(named, "missing", f"there is no such file in {path.parent}")
        item = _shown(path)
        looks[path] = (item, digest(item)[:20])
    return looks[path]


def _shown(path: Path) -> Item:
    if path.suffix.lower() in PLAIN and path.is_file():
        return Item(images=(ImageRef(path),))
    if path.is_dir():
        slices = sorted(one for one in path.iterdir() if one.suffix.lower() in PLAIN)
        if slices:
            return Item(volumes=(VolumeRef(tuple(slices)),))
    found = [one for one in find_evidence([path]) if one.kind in ("image", "volume", "cine")]
    if not found:
        raise EvidenceError(path.name, "no_picture", "shows neither a picture nor a volume")
    if len(found) > 1:
        raise EvidenceError(path.name, "several", f"holds {len(found)} pictures; name one of them")
    return item_of(found[0])


def _read_arrays(path: Path, reading: Reading, control: Control) -> Read:
    """The items of a MedMNIST set, with its codes worded."""
    entries: list[Entry] = []
    faults: list[Fault] = []
    for one in find_evidence([path], control=control):
        try:
            entries.append(_of_array(one, reading))
        except EvidenceError as error:
            faults.append(Fault(one.path.as_posix(), str(error)))
    if not entries:
        first = f" {faults[0].reason}" if faults else ""
        raise BadRequest(f"{path}: holds no pictures in the layout of MedMNIST.{first}")
    return Read(tuple(entries), tuple(faults), {"image": "images", "label": "labels"}, ())


def _of_array(one: Evidence, reading: Reading) -> Entry:
    item = item_of(one)
    codes = str(one.source.get("label", "")).split()
    labels = codes if len(codes) == 1 else [str(n) for n, bit in enumerate(codes) if bit == "1"]
    place = "/".join(one.path.parts[-2:])
    return Entry(
        key=place,
        shown=item,
        content=digest(item)[:20],
        part=str(one.source.get("split", "")),
        labels=tuple(reading.words.get(label, label) for label in labels),
    )
