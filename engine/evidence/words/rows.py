"""Where the rows of a table lie in its bytes: lines with quotes, JSON lines, JSON lists.

Owns the cutting of bytes into records and of records into cells. Refuses to hold more of a table
in memory than its rows' places, and rows longer than a report can be.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, BinaryIO

LIMIT_ROW = 8_000_000
DELIMITERS = (",", ";", "\t", "|")
JSON_TOKEN = re.compile(rb'"(?:[^"\\]|\\.)*"|[{}\[\]]', re.DOTALL)
PERSON = re.compile(r"name|patient|mrn|accession|birth|dob|physician|phone|address|email|ssn")
# inside a record: whose value it is, what it is, and names that say both
WHOSE = re.compile(r"patient|subject|person|demographic|contact|guardian|mother|father")
WHAT = re.compile(r"name|given|family|first|last|\bid$|ident|mrn|number|birth|phone|addr|mail|ssn")
BOTH = re.compile(r"mrn|accession|birth|dob$|ssn|patient.?(name|id)")
DEEPEST, MOST_INSIDE = 5, 20
MOST_OPEN = 20  # each costs another way through the rest of the table
NONE = "\0"  # the delimiter of a table with one column: no text holds it

Span = tuple[int, int]


class BrokenRow(ValueError):
    """A row that does not end: a quote or a bracket is never closed."""


def csv_spans(stream: BinaryIO, delimiter: str) -> Iterator[Span]:
    """First and last byte of each record; a record runs on over lines while a quote is open.

    Where a quote is never closed, its line is a record by itself, and those below it follow.

    Raises:
        BrokenRow: a record does not end, or quotes stay open time and again.
    """
    mark, start, at, inside, open_ones = delimiter.encode("ascii"), 0, 0, False, 0
    while True:
        line = stream.readline(LIMIT_ROW + 1)
        if not line and inside and open_ones < MOST_OPEN:
            stream.seek(start)
            line, at, inside = stream.readline(LIMIT_ROW + 1), start, False
            open_ones, at = open_ones + 1, at + len(line)
            yield start, at
            continue
        if not line:
            break
        if not inside:
            start = at
        at += len(line)
        if inside or b'"' in line:
            inside = _open_after(line, mark, inside)
        if at - start > LIMIT_ROW:
            raise BrokenRow("a row does not end")
        if not inside and line.strip(b"\r\n\x00 "):
            yield start, at
    if inside:
        raise BrokenRow("a quote is opened and never closed")


def check_closed(record: str, delimiter: str) -> None:
    """Refuse a record whose quote is opened and never closed.

    Raises:
        ValueError: it is one.
    """
    if '"' in record and _open_after(record.encode(), delimiter.encode(), False):
        raise ValueError("a quote is opened and never closed")


def _open_after(line: bytes, mark: bytes, inside: bool) -> bool:  # state, not an option
    """True if a quoted cell is open behind a line; a quote opens only where a cell begins."""
    at = line.find(b'"')
    while at >= 0:
        if not inside:
            inside = at == 0 or line[at - 1 : at] == mark or line[:at] == b"\xef\xbb\xbf"
        elif line[at + 1 : at + 2] == b'"':
            at += 1
        else:
            inside = False
        at = line.find(b'"', at + 1)
    return inside


def cells(record: str, delimiter: str) -> list[str]:
    """The cells of one record, quotes resolved."""
    record = record.lstrip("\ufeff").rstrip("\r\n")
    if '"' not in record:
        return record.split(delimiter)
    found, at = [], 0
    while True:
        cell, at = _cell(record, at, delimiter)
        found.append(cell)
        if at >= len(record):
            return found
        at += 1
        if at == len(record):
            return [*found, ""]


def _cell(record: str, at: int, delimiter: str) -> tuple[str, int]:
    """The cell that begins at a place, and the place behind it."""
    if record[at : at + 1] != '"':
        end = record.find(delimiter, at)
        end = len(record) if end < 0 else end
        return record[at:end], end
    parts: list[str] = []
    at += 1
    while True:
        end = record.find('"', at)
        if end < 0:
            return "".join([*parts, record[at:]]), len(record)
        parts.append(record[at:end])
        if record[end + 1 : end + 2] != '"':
            break
        parts.append('"')
        at = end + 2
    after = record.find(delimiter, end + 1)
    after = len(record) if after < 0 else after
    return "".join(parts) + record[end + 1 : after], after


def sniff(sample: str, *, tabs: bool) -> str:
    """The delimiter that cuts most lines into equally many cells; ``NONE`` for one column."""
    first = sample.lstrip("\ufeff")[:6].lower()
    if first.startswith("sep=") and len(first) > 4:
        return first[4]
    best, delimiter = 0.0, NONE
    for one in ("\t", *DELIMITERS) if tabs else DELIMITERS:
        counts = Counter(len(cells(record, one)) for record in _records(sample, one))
        if not counts:
            continue
        wide, often = max(counts.items(), key=lambda pair: (pair[1], pair[0]))
        share = often / sum(counts.values())
        if wide > 1 and share > best + 0.05:
            best, delimiter = share, one
    return delimiter if best >= 0.6 else NONE


def _records(sample: str, delimiter: str) -> list[str]:
    """The whole records of a sample, at most 50."""
    found: list[str] = []
    held, inside = "", False
    for line in sample.splitlines(keepends=True):
        held += line
        inside = _open_after(line.encode(), delimiter.encode(), inside)
        if not inside:
            if held.strip():
                found.append(held)
            held = ""
        if len(found) == 50:
            break
    return found


def line_spans(stream: BinaryIO) -> Iterator[Span]:
    """First and last byte of each line that is not empty.

    Raises:
        BrokenRow: a line is too long.
    """
    at = 0
    while line := stream.readline(LIMIT_ROW + 1):
        if len(line) > LIMIT_ROW:
            raise BrokenRow("a line does not end")
        if line.strip():
            yield at, at + len(line)
        at += len(line)


def json_spans(raw: bytes) -> Iterator[Span]:
    """Objects of a JSON list, of an object keyed by record, or of lists inside an object.

    Raises:
        BrokenRow: the file ends before its brackets are closed.
    """
    stack: list[bytes] = []
    start, held = -1, 0
    for token in JSON_TOKEN.finditer(raw):
        sign = token[0][:1]
        if sign == b'"':
            continue
        if sign in b"{[":
            lists = stack in ([b"["], [b"{"], [b"{", b"["])
            if sign == b"{" and start < 0 and lists:
                start, held = token.start(), len(stack)
            stack.append(sign)
        elif stack:
            stack.pop()
            if start >= 0 and len(stack) == held:
                yield start, token.end()
                start = -1
    if stack:
        raise BrokenRow("a bracket is never closed")


def record_of(text: str) -> dict[str, str] | None:
    """A JSON object as names and texts, lists of texts joined; None if it is no object.

    Raises:
        ValueError: the text is no JSON.
    """
    try:
        found = json.loads(text.lstrip("\ufeff"))
    except RecursionError as failure:
        raise ValueError("nested too deep") from failure
    if not isinstance(found, dict):
        return None
    labels = next((found[one] for one in ("LABELS", "labels") if one in found), None)
    record = {str(name): _flat(value, labels) for name, value in found.items()}
    for name, value in found.items():
        if isinstance(value, (Mapping, list)):
            record.update(_persons(str(name), value, 0))
    return record


def _persons(name: str, value: Any, depth: int) -> Iterator[tuple[str, str]]:
    """What lies deeper inside a record and names a person, under joined names."""
    inside: Iterable[tuple[Any, Any]] = ()
    if isinstance(value, Mapping):
        inside = value.items()
    elif isinstance(value, list):
        inside = enumerate(value[:MOST_INSIDE])
    for key, one in inside if depth < DEEPEST else ():
        whole = f"{name}.{key}"
        if isinstance(one, (Mapping, list)):
            yield from _persons(whole, one, depth + 1)
        elif isinstance(one, (str, int)) and _of_person(whole.casefold()):
            yield (whole if PERSON.search(whole.casefold()) else f"patient.{whole}"), str(one)


def _of_person(name: str) -> bool:
    """True if a joined name says that a value is a person's name or number."""
    last = re.sub(r"(\.\d+)+$", "", name).rpartition(".")[2]
    whose = WHOSE.search(name.removesuffix(last)) is not None and WHAT.search(last) is not None
    return whose or BOTH.search(last) is not None


def _flat(value: Any, labels: Any) -> str:
    """Words of a value: texts as they are, lists line by line, with labels where they match."""
    if isinstance(value, str):
        return value
    if isinstance(value, list) and value and all(isinstance(one, str) for one in value):
        if isinstance(labels, list) and len(labels) == len(value) and labels != value:
            return "\n".join(f"{label}: {one}" for label, one in zip(labels, value, strict=True))
        return "\n".join(value)
    return "" if value is None or isinstance(value, (list, Mapping)) else str(value)


def names_of(records: Iterable[Mapping[str, str]]) -> list[str]:
    """All names, in the order in which they are first met."""
    return list(dict.fromkeys(name for record in records for name in record))


def cells_of(record: Mapping[str, str], names: Sequence[str]) -> list[str]:
    """The values of a record in the order of names."""
    return [record.get(name, "") for name in names]
