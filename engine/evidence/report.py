"""Reports as words: plain text files in any usual encoding, and DICOM structured reports.

Owns the guess of encodings and the walk through an SR tree. Refuses person names: SR items of
type PNAME, and text items that stand for one, never leave.
"""

from __future__ import annotations

from pathlib import Path

from pydicom.dataset import Dataset

from engine.errors import EvidenceError
from engine.evidence.failures import of_system
from engine.evidence.study import Evidence

SUFFIXES = frozenset({".txt", ".text", ".md"})
LIMIT_BYTES = 8_000_000
DEPTH = 40
# names and numbers of persons that some writers store as text (PS3.16 TID 1003, 1007)
PERSONS = frozenset({"121008", "121029", "121030", "121031", "121036"})


def decode_text(path: Path, raw: bytes) -> tuple[str, str]:
    """Words and the encoding they were in; line ends stay as they are.

    Tried in order: byte order marks of UTF-8, UTF-16 and UTF-32, strict UTF-8, Windows-1252,
    Latin-1.

    Raises:
        EvidenceError: the bytes are no text.
    """
    marks = (
        (b"\xef\xbb\xbf", "utf-8-sig"), (b"\xff\xfe\x00\x00", "utf-32"),
        (b"\x00\x00\xfe\xff", "utf-32"), (b"\xff\xfe", "utf-16"), (b"\xfe\xff", "utf-16"),
    )  # fmt: skip
    marked = [encoding for mark, encoding in marks if raw.startswith(mark)]
    if not marked and b"\0" in raw:
        raise EvidenceError(path, "not_text", "the file is not text; look at what made it")
    for encoding in marked or ["utf-8", "cp1252", "latin-1"]:
        try:
            return raw.decode(encoding), encoding
        except UnicodeDecodeError:
            continue
    raise EvidenceError(path, "not_text", "the text cannot be decoded; save it as UTF-8")


def read_text(path: Path) -> Evidence:
    """Describe a plain text report.

    Raises:
        EvidenceError: missing, unreadable, too long, or not text.
    """
    try:
        size = path.stat().st_size
        if size > LIMIT_BYTES:
            raise EvidenceError(path, "too_large", "the text is longer than 8 MB; split it")
        raw = path.read_bytes()
    except OSError as failure:
        raise of_system(path, failure) from failure
    if not raw:
        raise EvidenceError(path, "empty", "the file has no content; copy it again")
    text, encoding = decode_text(path, raw)
    return Evidence(
        path=path,
        members=(path,),
        kind="report",
        form="text",
        text=text,
        source={"object": "plain text", "format": "text", "encoding": encoding},
    )


def report_text(dataset: Dataset) -> str:
    """The words of a structured report, one content item a line, indented by depth."""
    lines: list[str] = []
    title = _meaning(dataset, "ConceptNameCodeSequence")
    if title:
        lines.append(title)
    for child in dataset.get("ContentSequence") or []:
        _walk(child, lines, 0)
    return "\n".join(lines)


def _walk(node: Dataset, lines: list[str], depth: int) -> None:
    """Add a content item and what hangs below it."""
    if depth > DEPTH:
        return
    name = _meaning(node, "ConceptNameCodeSequence")
    value = _value(node)
    kind = str(node.get("ValueType", ""))
    if value is not None:
        lines.append("  " * depth + (f"{name}: {value}" if name else value))
    elif kind == "CONTAINER" and name:
        lines.append("  " * depth + name)
    for child in node.get("ContentSequence") or []:
        _walk(child, lines, depth + 1)


def _value(node: Dataset) -> str | None:
    """The words of a text, code or number item; None for all other types."""
    kind = str(node.get("ValueType", ""))
    if _code(node, "ConceptNameCodeSequence") in PERSONS:
        return None
    if kind == "TEXT":
        return str(node.get("TextValue", "")).replace("\r\n", "\n").replace("\r", "\n").strip()
    if kind == "CODE":
        return _meaning(node, "ConceptCodeSequence") or None
    if kind == "NUM":
        measured = (node.get("MeasuredValueSequence") or [None])[0]
        if measured is None:
            return None
        unit = _code(measured, "MeasurementUnitsCodeSequence")
        number = str(measured.get("NumericValue", "")).strip()
        return number if unit in ("", "1") else f"{number} {unit}"
    return None


def _meaning(node: Dataset, keyword: str) -> str:
    """The meaning of the first code of a sequence."""
    found = (node.get(keyword) or [None])[0]
    return "" if found is None else str(found.get("CodeMeaning", "") or "").strip()


def _code(node: Dataset, keyword: str) -> str:
    """The value of the first code of a sequence."""
    found = (node.get(keyword) or [None])[0]
    return "" if found is None else str(found.get("CodeValue", "") or "").strip()
