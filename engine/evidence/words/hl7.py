"""HL7 version 2 result messages (ORU) as reports: one for each order (OBR) with words.

Owns separators, escapes, repetitions, batches, MLLP frames and the choice of what is told.
Refuses all segments that name a person (PID, PV1, NK1, ORC and their kin): only observations,
their names and their notes leave, and the patient's own names are taken out of these too.
"""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from engine.errors import EvidenceError
from engine.evidence.identity.scrub import Scrubber
from engine.evidence.identity.tokens import pseudonym_of
from engine.evidence.study import Evidence
from engine.evidence.words import charset, pdf, report, rtf

SUFFIXES = frozenset({".hl7", ".oru", ".msg", ".er7"})
FRAME = b"\x0b\x1c"
START = re.compile(rb"(?:^|[\r\n\x0b])[ \t]*MSH(?=[^\w\s])")
LIMIT_BYTES, LIMIT_REPORTS = 64_000_000, 100_000
# MSH-18, HL7 table 0211
ENCODINGS = {
    "ASCII": "ascii", "UNICODE UTF-8": "utf-8", "UTF-8": "utf-8", "UNICODE UTF-16": "utf-16",
    "UNICODE UTF-32": "utf-32", "UNICODE": "utf-8", "8859/1": "cp1252", "8859/2": "iso8859_2",
    "8859/3": "iso8859_3", "8859/4": "iso8859_4", "8859/5": "iso8859_5", "8859/6": "iso8859_6",
    "8859/7": "iso8859_7", "8859/8": "iso8859_8", "8859/9": "iso8859_9",
    "8859/15": "iso8859_15", "ISO IR87": "iso2022_jp", "ISO IR159": "iso2022_jp_2",
    "ISO IR14": "shift_jis", "GB 18030-2000": "gb18030", "KS X 1001": "euc_kr",
    "CNS 11643-1992": "big5", "BIG-5": "big5",
}  # fmt: skip
WORDS = frozenset({"TX", "FT", "ST", "GTS", "SRT", ""})
CODED = frozenset({"CE", "CWE", "CNE", "CF", "IS", "ID"})
NAMES = {
    "GDT": "Findings", "IMP": "Impression", "REC": "Recommendation", "ADT": "Addendum",
    "HIS": "History", "ANT": "Anatomy", "MED": "Medication", "DEV": "Device", "PAT": "Pathology",
    "18782-3": "Findings", "59776-5": "Findings", "19005-8": "Impression", "11329-0": "History",
    "18785-6": "Reason for study", "55115-0": "Requested study", "18783-1": "Recommendation",
    "55111-9": "Technique", "18834-2": "Comparison", "55107-7": "Addendum",
}  # fmt: skip
PERSON_CODES = re.compile(
    r"\b(patient|physician|doctor|radiologist|operator|technologist)('s)?[ _]?(name|id)\b|\bmrn\b"
    r"|accession|birth|address|phone|dictated by|signed by|transcri",
    re.IGNORECASE,
)


@dataclass(frozen=True)
class _Message:
    """A message as segments of fields, with its separators and its encoding."""

    segments: list[list[str]]
    separator: str
    component: str
    repeat: str
    escape: str
    sub: str
    encoding: str


@dataclass
class _Order:
    """What belongs to one OBR."""

    title: str = ""
    lines: list[str] = field(default_factory=list)
    heading: str = ""
    notes: list[str] = field(default_factory=list)


def is_hl7(head: bytes) -> bool:
    """True for the first bytes of a message, a batch or a file of them."""
    if head[:2] in (b"\xff\xfe", b"\xfe\xff") or b"\0" in head[:8]:
        head = _narrow(head[: len(head) // 2 * 2])
    plain = head.lstrip(FRAME + b" \r\n\t\xef\xbb\xbf")
    return re.match(rb"(MSH|FHS|BHS)[^\w\s]", plain) is not None


def find(path: Path, salt: bytes) -> Evidence | Iterator[Evidence]:
    """All reports of a file: the one there is, or parts ``report-0001`` and so on.

    Raises:
        EvidenceError: unreadable, too long, or without any message.
    """
    many = _reports(path, salt)
    if not many:
        note = "an HL7 message without a report"
        source = {"object": "HL7 message", "format": "HL7"}
        return Evidence(path=path, members=(path,), kind="other", notes=(note,), source=source)
    return many[0] if len(many) == 1 else iter(many)


def read_part(path: Path, salt: bytes) -> Evidence:
    """One report of a file with several.

    Raises:
        EvidenceError: there is no such part.
    """
    for one in _reports(path.parent, salt):
        if one.path == path:
            return one
    raise EvidenceError(path, "missing", "the file holds no such report; import it again")


def _reports(path: Path, salt: bytes) -> list[Evidence]:
    """Every order with words, of every message."""
    raw = report.read_bytes(path, LIMIT_BYTES)
    found: list[tuple[_Message, str, _Order]] = []
    for message in _messages(path, raw):
        subject = _subject(message, salt)
        found.extend((message, subject or "", order) for order in _orders(message))
        if len(found) > LIMIT_REPORTS:
            raise EvidenceError(path, "too_large", "the file holds too many reports; split it")
    names = [path] if len(found) == 1 else [
        path / f"report-{number:04}" for number in range(1, len(found) + 1)
    ]  # fmt: skip
    return [
        report.text_evidence(
            name, "\n".join(filter(None, [order.title, *order.lines])), object_name="HL7 report",
            kind_of="HL7", encoding=message.encoding, subject=subject or None,
            notes=tuple(dict.fromkeys(order.notes)),
        )
        for name, (message, subject, order) in zip(names, found, strict=True)
    ]  # fmt: skip


def _messages(path: Path, raw: bytes) -> Iterator[_Message]:
    """The messages of a file; frames and batch segments fall away."""
    plain = _narrow(raw).removeprefix(b"\xef\xbb\xbf").translate(None, FRAME)
    starts = [found.end() - 3 for found in START.finditer(plain)]
    if not starts:
        raise EvidenceError(path, "damaged", "the HL7 file holds no message; copy it again")
    for start, end in zip(starts, [*starts[1:], len(plain)], strict=True):
        message = _parsed(plain[start:end])
        if message is not None:
            yield message


def _narrow(raw: bytes) -> bytes:
    """UTF-16, with or without its mark, as UTF-8; other bytes as they are."""
    if raw[:2] in (b"\xff\xfe", b"\xfe\xff"):
        encoding = "utf-16"
    elif b"\0" in raw[:8]:
        encoding = "utf-16-be" if raw[:1] == b"\0" else "utf-16-le"
    else:
        return raw
    return raw.decode(encoding, "replace").encode("utf-8")


def _parsed(raw: bytes) -> _Message | None:
    """One message in words; None if its header is cut."""
    lines = [line for line in re.split(rb"[\r\n]+", raw) if line.strip()]
    separator = lines[0][3:4]
    header = lines[0].split(separator)
    if len(header) < 2 or len(header[1]) < 1:
        return None
    named = header[17].decode("ascii", "replace") if len(header) > 17 else ""
    text, encoding = _decoded(raw, re.split(r"[~\\^]", named)[0].strip().upper())
    signs = (header[1].decode("latin-1") + "^~\\&"[len(header[1]) :])[:4]
    mark = separator.decode("latin-1")
    fields = [line.split(mark) for line in re.split(r"[\r\n]+", text)]
    kept = [one for one in fields if one[0].strip()]
    return _Message(kept, mark, signs[0], signs[1], signs[2], signs[3], encoding)


def _decoded(raw: bytes, named: str) -> tuple[str, str]:
    """Words by the encoding the header names, else by what the bytes look like."""
    wide = named in ("UNICODE UTF-16", "UNICODE UTF-32")  # made narrow before it was cut
    for encoding in filter(None, ("utf-8" if wide else ENCODINGS.get(named),)):
        try:
            return raw.decode(encoding), encoding
        except UnicodeDecodeError:
            break
    return charset.decode(raw) or (raw.decode("latin-1"), "latin-1")


def _subject(message: _Message, salt: bytes) -> str | None:
    """The patient's pseudonym, equal to that of the DICOM files with the same number."""
    for segment in message.segments:
        if segment[0].strip() == "PID":
            number = _part(message, _field(segment, 3).split(message.repeat)[0], 0)
            return pseudonym_of(number, "", salt)
    return None


def _scrubber(message: _Message) -> Scrubber:
    """What PID calls the patient (names, numbers, day of birth) and the order its number."""
    names: list[str] = []
    numbers: list[str] = []
    dates: list[str] = []
    for segment in message.segments:
        if segment[0].strip() == "PID":
            signs = str.maketrans({message.component: " ", message.repeat: " ", message.sub: " "})
            names += [_field(segment, at).translate(signs) for at in (5, 6, 9)]
            numbers += [
                _part(message, one, 0)
                for at in (2, 3, 4, 18, 19, 20) for one in _field(segment, at).split(message.repeat)
            ]  # fmt: skip
            dates.append(_field(segment, 7))
        elif segment[0].strip() == "OBR":
            numbers += [_part(message, _field(segment, at), 0) for at in (2, 3, 18, 19, 20)]
    return Scrubber(names=names, numbers=numbers, dates=dates)


def _orders(message: _Message) -> Iterator[_Order]:
    """Orders with at least one line of words."""
    order, last, scrubber = _Order(), "", _scrubber(message)
    done: list[_Order] = [order]
    for segment in message.segments:
        name = segment[0].strip()
        if name == "OBR":
            order = _Order(title=_name(message, _field(segment, 4)))
            done.append(order)
        elif name == "OBX" and _field(segment, 11) not in ("D", "X", "W"):
            _observe(message, segment, order)
        elif name == "NTE" and last in ("OBR", "OBX"):
            order.lines.extend(_words(message, _field(segment, 3)))
        last = name if name != "NTE" else last
    for one in done:
        if any(line.strip() for line in one.lines):
            one.lines = [scrubber.clean(line) for line in one.lines]
            one.title = scrubber.clean(one.title)
            yield one


def _observe(message: _Message, segment: list[str], order: _Order) -> None:
    """Add one OBX: a heading where the observation changes, then its words."""
    kind, label = _field(segment, 2).strip(), _label(message, _field(segment, 3))
    if PERSON_CODES.search(label):
        return
    if kind == "ED":
        order.lines.extend(_document(message, segment, order))
        return
    values = [one for part in _field(segment, 5).split(message.repeat)
              for one in _value(message, kind, part, _field(segment, 6))]  # fmt: skip
    if not any(one.strip() for one in values) and kind not in WORDS:
        return
    if kind in WORDS and values and values[0].lstrip().startswith("{\\rtf"):
        values = rtf.rtf_text("\n".join(values).encode("cp1252", "replace")).split("\n")
    if kind in WORDS or len(values) > 1:
        if label and label not in (order.heading, order.title):
            order.lines.append(f"{label}:")
        order.heading = label
        order.lines.extend(values)
    else:
        order.lines.append(f"{label}: {values[0]}" if label else values[0])


def _value(message: _Message, kind: str, part: str, units: str) -> list[str]:
    """The lines of one repetition of OBX-5; empty for persons, addresses, dates and files."""
    if kind in WORDS:
        return _words(message, part)
    if kind in CODED:
        return [_name(message, part)]
    if kind in ("NM", "SN"):
        unit = _part(message, units, 0) or _name(message, units)
        number = "".join(one.strip() for one in part.split(message.component))
        return [f"{number} {unit}".strip()]
    return []


def _label(message: _Message, value: str) -> str:
    """The name of an observation: its suffix or known code, else its own words."""
    first = _part(message, value, 0)
    suffix = first.split(message.sub)[-1].strip()
    return NAMES.get(suffix.upper(), "") or _name(message, value)


def _name(message: _Message, value: str) -> str:
    """The words of a coded field: the first of its texts, else its code."""
    parts = [" ".join(_words(message, one)) for one in value.split(message.component)]
    texts = [parts[at] for at in (1, 4, 8) if len(parts) > at and parts[at].strip()]
    return (texts or parts or [""])[0].strip()


def _words(message: _Message, value: str) -> list[str]:
    """A field as lines, escapes resolved."""
    sign = re.escape(message.escape)
    pattern = rf"{sign}([^{sign}\r\n]{{0,60}}){sign}"
    return re.sub(pattern, lambda found: _escape(message, found[1]), value).split("\n")


def _escape(message: _Message, code: str) -> str:
    """What one escape sequence stands for (HL7 v2.5.1 chapter 2.7)."""
    plain = {
        "F": message.separator, "S": message.component, "T": message.sub, "R": message.repeat,
        "E": message.escape,
    }  # fmt: skip
    if code in plain:
        return plain[code]
    if code.startswith((".br", ".sp", ".ce")):
        count = int(code[3:]) if code[3:].strip("+").isdigit() else 1
        return "\n" * min(max(1, count), 20)
    if code[:1] == "X" and re.fullmatch(r"(?:[0-9A-Fa-f]{2})+", code[1:]):
        raw = bytes.fromhex(code[1:])
        text = raw.decode(message.encoding, "replace")
        return text.replace("\r\n", "\n").replace("\r", "\n").replace("\0", "")
    known = code in ("H", "N") or code.startswith(
        (".in", ".ti", ".fi", ".nf", ".sk", "C", "M", "Z")
    )
    return "" if known else f"{message.escape}{code}{message.escape}"


def _document(message: _Message, segment: list[str], order: _Order) -> list[str]:
    """The words of an enclosed file: source, type, subtype, encoding, data."""
    parts = [*_field(segment, 5).split(message.component), "", "", "", "", ""]
    try:
        squeezed = re.sub(r"\\\.br\\|\s", "", parts[4])
        raw = base64.b64decode(squeezed, validate=True) if parts[3].lower() == "base64" else None
    except (binascii.Error, ValueError):
        order.notes.append("a file inside the message is damaged")
        return []
    if raw is None:
        return _words(message, parts[4])
    return _enclosed(raw, order)


def _enclosed(raw: bytes, order: _Order) -> list[str]:
    """The words of a PDF, rich text or plain text that was enclosed."""
    if raw.startswith(b"%PDF-"):
        found = pdf.text_of(raw)
        if found.text is None:
            order.notes.append(found.sentence)
        return (found.text or "").split("\n")
    if rtf.is_rtf(raw[:64]):
        return rtf.rtf_text(raw).split("\n")
    words = charset.decode(raw)
    if words is None:
        order.notes.append("a file inside the message is of a kind that is not read")
    return [] if words is None else re.split(r"\r\n|\r|\n", words[0])


def _field(segment: list[str], at: int) -> str:
    return segment[at] if len(segment) > at else ""


def _part(message: _Message, value: str, at: int) -> str:
    """One component of a field; empty if there is none."""
    parts = value.split(message.component)
    return parts[at].strip() if len(parts) > at else ""
