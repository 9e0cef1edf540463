"""Reports as words: plain text files in any usual encoding, rich text, and clinical documents.

Owns the reading of text files and the sentences about them. Refuses to change the words of a
text, save for the lines above it that name somebody, and to take a clinical document (CDA) apart:
it is named, and no more.
"""

from __future__ import annotations

from pathlib import Path

from engine.errors import EvidenceError
from engine.evidence.failures import of_system
from engine.evidence.files import facts_of, open_file
from engine.evidence.study import Evidence
from engine.evidence.words import charset, letterhead, rtf

SUFFIXES = frozenset({".txt", ".text", ".md", ".markdown", ".log", ".rtf", ".asc"})
LIMIT_BYTES = 8_000_000
CERTAIN = frozenset({"utf-8", "utf-8-sig", "utf-16", "utf-32", "iso2022_jp", "iso2022_kr"})


def decode_text(path: Path, raw: bytes) -> tuple[str, str]:
    """Words and the encoding they were in; line ends stay as they are.

    Raises:
        EvidenceError: the bytes are no text.
    """
    found = charset.decode(raw)
    if found is None:
        raise EvidenceError(path, "not_text", "the file is not text; look at what made it")
    return found


def read_bytes(path: Path, limit: int = LIMIT_BYTES) -> bytes:
    """The whole of a file that is expected to be short.

    Raises:
        EvidenceError: missing, unreadable, empty, or longer than ``limit``.
    """
    reason = f"the text is longer than {limit // 1_000_000} MB; split it"
    try:
        if facts_of(path).size > limit:
            raise EvidenceError(path, "too_large", reason)
        with open_file(path) as stream:
            raw = stream.read(limit + 1)
    except OSError as failure:
        raise of_system(path, failure) from failure
    if len(raw) > limit:
        raise EvidenceError(path, "too_large", reason)
    if not raw:
        raise EvidenceError(path, "empty", "the file has no content; copy it again")
    return raw


def encoding_notes(encoding: str, text: str) -> tuple[str, ...]:
    """A sentence where an encoding was guessed and the guess matters, or letters were lost."""
    if "\ufffd" in text:
        return ("some letters are damaged in the file and are shown as marks",)
    if encoding in CERTAIN or text.isascii():
        return ()
    return (f"the encoding was guessed: {encoding}; look at the letters with accents",)


def read_text(path: Path) -> Evidence:
    """Describe a plain or rich text report.

    Raises:
        EvidenceError: missing, unreadable, too long, or not text.
    """
    raw = read_bytes(path)
    if rtf.is_rtf(raw[:64]):
        return text_evidence(path, rtf.rtf_text(raw), object_name="rich text", kind_of="RTF")
    text, encoding = decode_text(path, raw)
    return text_evidence(path, text, encoding=encoding, notes=encoding_notes(encoding, text))


def text_evidence(
    path: Path,
    text: str,
    *,
    object_name: str = "plain text",
    kind_of: str = "text",
    encoding: str | None = None,
    notes: tuple[str, ...] = (),
    subject: str | None = None,
) -> Evidence:
    """A report with words, whom it is about taken out of the lines above it."""
    text, named = letterhead.taken_out(text)
    notes = (*notes, letterhead.NOTE) if named else notes
    source = {"object": object_name, "format": kind_of}
    if encoding is not None:
        source["encoding"] = encoding
    return Evidence(
        path=path, members=(path,), kind="report", form="text", text=text, notes=notes,
        source=source, subject=subject,
    )  # fmt: skip


def name_document(path: Path) -> Evidence:
    """An XML file: a clinical document (HL7 CDA) by its root, else an unknown document."""
    raw = read_bytes(path, 64_000_000)[:65_536]
    head = raw.decode("utf-16" if raw[:2] in (b"\xff\xfe", b"\xfe\xff") else "latin-1", "replace")
    if not head.lstrip("\ufeffï»¿ \t\r\n").startswith("<"):
        raise EvidenceError(
            path, "damaged", "the content is not XML, as its name says; copy it again"
        )
    known = "ClinicalDocument" in head and "urn:hl7-org:v3" in head
    name = "clinical document (HL7 CDA)" if known else "XML document"
    note = f"{name}: named only, its text is not read"
    source = {"object": name, "format": "XML"}
    return Evidence(path=path, members=(path,), kind="document", notes=(note,), source=source)
