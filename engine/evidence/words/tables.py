"""Tables of reports: CSV, TSV, JSON lines and JSON lists, one report a row, read row by row.

Owns the choice of rows and the memory of where rows lie, so that one row is loaded without reading
the others again. Parts are named ``reports.csv/row-000017``, counted from 1, the header left out.
Refuses every column that is not the report.
"""

from __future__ import annotations

import io
import re
import threading
from array import array
from collections import OrderedDict
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import BinaryIO

from engine.errors import EvidenceError
from engine.evidence.failures import of_system
from engine.evidence.files import facts_of, open_file
from engine.evidence.identity.tokens import pseudonym_of
from engine.evidence.study import Evidence
from engine.evidence.words import charset, columns, rows
from engine.evidence.words.report import encoding_notes

SUFFIXES = frozenset({".csv", ".tsv", ".tab", ".jsonl", ".ndjson", ".json"})
NAME = re.compile(r"row-(\d{1,9})")
SAMPLE_BYTES, SAMPLE_ROWS, LIMIT_WHOLE, KEPT = 262_144, 100, 200_000_000, 8
KINDS = {".jsonl": "JSON lines", ".ndjson": "JSON lines", ".json": "JSON", ".tsv": "TSV",
         ".tab": "TSV"}  # fmt: skip
WIDE = ("utf-16", "utf-32")


@dataclass(eq=False)
class _Table:
    """One table: how it is cut, which columns are text, and where its rows lie so far.

    ``whole`` holds the bytes, as UTF-8, of a table that cannot be cut at line ends where it lies;
    ``written`` is the encoding on disk.
    """

    path: Path
    kind: str
    encoding: str
    whole: bytes | None
    written: str
    delimiter: str = ","
    names: list[str] | None = None
    choice: columns.Choice | None = None
    skip: int = 0
    places: array[int] = field(default_factory=lambda: array("q"))
    lock: threading.Lock = field(default_factory=threading.Lock)

    def open(self) -> BinaryIO:
        return open_file(self.path) if self.whole is None else io.BytesIO(self.whole)

    def spans(self, stream: BinaryIO) -> Iterator[rows.Span]:
        """Places of all records, the header included."""
        if self.kind == "JSON record":
            return iter([(0, len(stream.read()))])
        if self.kind == "JSON":
            return rows.json_spans(stream.read())
        if self.kind == "JSON lines":
            return rows.line_spans(stream)
        return rows.csv_spans(stream, self.delimiter)

    def words(self, raw: bytes) -> str:
        """A record's words; in the table's encoding, or in its own if that cannot be."""
        try:
            return raw.decode(self.encoding)
        except UnicodeDecodeError:
            found = charset.decode(raw)
            return raw.decode("latin-1") if found is None else found[0]

    def cut(self, raw: bytes) -> list[str]:
        """A record's cells, in the order of ``names``."""
        if not self.kind.startswith("JSON"):
            return rows.cells(self.words(raw), self.delimiter)
        record = rows.record_of(self.words(raw)) or {}
        return rows.cells_of(record, self.names or [])

    def note(self, number: int, span: rows.Span) -> None:
        """Remember where row ``number`` (from 0) lies."""
        with self.lock:
            if len(self.places) == 2 * number:
                self.places.extend(span)


_tables: OrderedDict[tuple[str, int, int], _Table] = OrderedDict()
_lock = threading.Lock()


def suffix_of(path: Path) -> str:
    """The suffix that names the kind of table, also before ``.gz``."""
    suffix = path.suffix.lower()
    return Path(path.stem).suffix.lower() if suffix == ".gz" else suffix


def find(path: Path, salt: bytes) -> Evidence | Iterator[Evidence]:
    """The rows of a table that hold reports; the file itself as ``other`` if none is named so.

    Raises:
        EvidenceError: unreadable, too long, or no table at all.
    """
    table = _table(path)
    if table.choice is None:
        kind = "JSON file" if table.kind.startswith("JSON") else "table"
        note, source = f"a {kind} without a column of text", {"object": kind, "format": table.kind}
        return Evidence(path=path, members=(path,), kind="other", notes=(note,), source=source)
    return _rows(table, salt)


def read_part(path: Path, salt: bytes) -> Evidence:
    """One row of a table.

    Raises:
        EvidenceError: the table cannot be read, or has no such row.
    """
    match = NAME.fullmatch(path.name)
    table = _table(path.parent)
    if match is None or int(match[1]) < 1 or table.choice is None:
        raise EvidenceError(path, "missing", "the table has no such row; import it again")
    span = _span(table, int(match[1]) - 1)
    if span is None:
        raise EvidenceError(path, "missing", "the table has no such row; import it again")
    try:
        with table.open() as stream:
            stream.seek(span[0])
            raw = stream.read(span[1] - span[0])
    except OSError as failure:
        raise of_system(path, failure) from failure
    return _evidence(table, int(match[1]), raw, salt)


def _rows(table: _Table, salt: bytes) -> Iterator[Evidence]:
    """All rows in one pass; places are remembered on the way."""
    number = 0
    try:
        with table.open() as stream, table.open() as reader:
            for number, span in enumerate(_data(table, stream), start=1):
                table.note(number - 1, span)
                reader.seek(span[0])
                yield _evidence(table, number, reader.read(span[1] - span[0]), salt)
    except rows.BrokenRow as failure:
        yield _broken(table.path / f"row-{number + 1:06}", str(failure))
    except OSError as failure:
        raise of_system(table.path, failure) from failure


def _data(table: _Table, stream: BinaryIO) -> Iterator[rows.Span]:
    """Places of the data rows."""
    for number, span in enumerate(table.spans(stream)):
        if number >= table.skip:
            yield span


def _span(table: _Table, number: int) -> rows.Span | None:
    """Where a data row lies; the table is read as far as that row, once."""
    if len(table.places) <= 2 * number:
        try:
            with table.open() as stream:
                for at, span in enumerate(_data(table, stream)):
                    table.note(at, span)
                    if at == number:
                        break
        except rows.BrokenRow:
            return None
        except OSError as failure:
            raise of_system(table.path, failure) from failure
    if len(table.places) <= 2 * number:
        return None
    return table.places[2 * number], table.places[2 * number + 1]


def _evidence(table: _Table, number: int, raw: bytes, salt: bytes) -> Evidence:
    """One row as a report."""
    path, choice = table.path / f"row-{number:06}", table.choice
    if choice is None:
        raise EvidenceError(path, "missing", "the table has no such row; import it again")
    try:
        if not table.kind.startswith("JSON"):
            rows.check_closed(table.words(raw), table.delimiter)
        cells = table.cut(raw)
    except ValueError:
        return _broken(path, "the row cannot be read")
    source = {
        "object": "row of a table", "format": table.kind, "encoding": table.written,
        "column": choice.named,
    }  # fmt: skip
    text = choice.text(cells)
    subject = pseudonym_of(choice.patient_of(cells), "", salt)
    if not text.strip():
        note = ("a row without text",)
        return Evidence(path=path, members=(path,), kind="other", notes=note, source=source)
    return Evidence(
        path=path, members=(path,), kind="report", form="text", text=text, source=source,
        subject=subject, notes=encoding_notes(table.written, text),
    )  # fmt: skip


def _broken(path: Path, reason: str) -> Evidence:
    """The row at which a table cannot be read on."""
    error = EvidenceError(path, "damaged", f"{reason}; look at the table, then import it again")
    return Evidence(path=path, members=(path,), kind="error", error=error)


def _table(path: Path) -> _Table:
    """A table from memory, or looked at anew if the file has changed."""
    try:
        facts = facts_of(path)
        key = (str(path), facts.size, facts.mtime_ns)
        with _lock:
            if key in _tables:
                _tables.move_to_end(key)
                return _tables[key]
        table = _looked_at(path)
    except OSError as failure:
        raise of_system(path, failure) from failure
    with _lock:
        _tables[key] = table
        while len(_tables) > KEPT:
            _tables.popitem(last=False)
    return table


def _looked_at(path: Path) -> _Table:
    """How a table is written and which of its columns are text, from its first rows."""
    with open_file(path) as stream:
        head = stream.read(SAMPLE_BYTES)
    if not head.strip():
        raise EvidenceError(path, "empty", "the file has no content; copy it again")
    table = _kind(path, head)
    if table.kind == "JSON":
        table.kind = _json_kind(table)
    if not table.kind.startswith("JSON"):
        with table.open() as stream:
            words = table.words(_to_line(stream.read(SAMPLE_BYTES)))
        table.delimiter = rows.sniff(words, tabs=table.kind == "TSV")
        if table.delimiter == rows.NONE:  # ragged rows: a known header says more
            table.delimiter = columns.delimiter_of(words.partition("\n")[0]) or rows.NONE
    _choose(table)
    if table.kind == "JSON" and table.choice is None:
        table.kind = "JSON record"
        _choose(table)
    return table


def _kind(path: Path, head: bytes) -> _Table:
    """The encoding; files whose bytes cannot be cut at line ends are turned into UTF-8."""
    found = charset.decode(_to_line(head) if len(head) == SAMPLE_BYTES else head)
    if found is None:
        raise EvidenceError(path, "not_text", "the table is not text; look at what made it")
    kind = KINDS.get(suffix_of(path), "CSV")
    wide = found[1].startswith(WIDE)
    macintosh = b"\r" in head and b"\n" not in head
    if not wide and not macintosh:
        return _Table(path, kind, found[1].removesuffix("-sig"), None, found[1])
    with open_file(path) as stream:
        whole = stream.read(LIMIT_WHOLE + 1)
    if len(whole) > LIMIT_WHOLE:
        reason = "the table is too long for its way of writing; save it as UTF-8 lines"
        raise EvidenceError(path, "too_large", reason)
    if wide:
        whole = whole.decode(found[1], "replace").encode("utf-8", "replace")
    if macintosh or (wide and b"\r" in whole and b"\n" not in whole):
        whole = whole.replace(b"\r", b"\n")
    encoding = "utf-8" if wide else found[1].removesuffix("-sig")
    return _Table(path, kind, encoding, whole, found[1])


def _json_kind(table: _Table) -> str:
    """JSON, or JSON lines for a file of several objects without a list around them."""
    with table.open() as stream:
        if facts_of(table.path).size > LIMIT_WHOLE:
            raise EvidenceError(table.path, "too_large", "save the table as JSON lines")
        plain = stream.read(SAMPLE_BYTES).lstrip(b"\xef\xbb\xbf \t\r\n")
    if plain[:1] not in (b"{", b"["):
        reason = "the file is no JSON; look at what made it"
        raise EvidenceError(table.path, "damaged", reason)
    first, _, rest = plain.partition(b"\n")
    lines = first.rstrip().endswith(b"}") and rest.lstrip()[:1] == b"{"
    return "JSON lines" if plain[:1] == b"{" and lines else "JSON"


def _to_line(raw: bytes) -> bytes:
    """A sample cut at its last line end, so that no letter is cut."""
    if raw[:2] in (b"\xff\xfe", b"\xfe\xff") or b"\0" in raw[:400]:
        return raw[: len(raw) // 4 * 4]
    return raw[: raw.rfind(b"\n") + 1] or raw


def _choose(table: _Table) -> None:
    """Find the header and the columns of text from the first rows."""
    first: list[bytes] = []
    try:
        with table.open() as stream, table.open() as reader:
            for span in table.spans(stream):
                reader.seek(span[0])
                first.append(reader.read(span[1] - span[0]))
                if len(first) > SAMPLE_ROWS:
                    break
    except rows.BrokenRow as failure:
        if not first:
            reason = f"{failure}; look at the table, then import it again"
            raise EvidenceError(table.path, "damaged", reason) from failure
    if table.kind.startswith("JSON"):
        _choose_keys(table, first)
        return
    if first and table.words(first[0]).lstrip("\ufeff").lower().startswith("sep="):
        table.skip, first = 1, first[1:]
    cut = [table.cut(one) for one in first]
    if cut and columns.is_header(cut[0]):
        table.names, table.skip, cut = cut[0], table.skip + 1, cut[1:]
    table.choice = columns.choose(table.names, cut)


def _choose_keys(table: _Table, first: list[bytes]) -> None:
    """The same for JSON objects, whose keys are the columns."""
    records = []
    for one in first:
        try:
            records.append(rows.record_of(table.words(one)) or {})
        except ValueError:
            continue
    table.names = rows.names_of(records)
    cut = [rows.cells_of(record, table.names) for record in records]
    # one object, or objects unlike each other, may be settings or the side file of a picture
    shared = sum(record.keys() == records[0].keys() for record in records) if records else 0
    alike = len(records) > 1 and shared >= 0.5 * len(records)
    table.choice = columns.choose(table.names, cut, by_length="allowed" if alike else "refused")
    if table.kind == "JSON record" and table.choice and table.choice.named in columns.OTHERS:
        table.choice = None
