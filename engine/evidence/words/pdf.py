"""The words of PDF files, by themselves or enclosed in DICOM and HL7, within bounds.

Owns the limits of pages, size, time and unpacking, and the sentences for scans, for encrypted and
for damaged files. Refuses metadata (it names authors and patients), pictures of pages and anything
that a file would like to have carried out.
"""

from __future__ import annotations

import io
import logging
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pydicom.dataset import Dataset

from engine.errors import EvidenceError
from engine.evidence.quiet import quiet
from engine.evidence.study import Evidence
from engine.evidence.words import letterhead
from engine.evidence.words.report import read_bytes
from engine.evidence.words.sr import scrubber_of

logging.getLogger("pypdf").setLevel(logging.CRITICAL + 1)

LIMIT_BYTES, LIMIT_PAGES, LIMIT_LETTERS, LIMIT_SECONDS = 64_000_000, 300, 4_000_000, 20.0
LIMIT_UNPACKED, LIMIT_PARSED = 16_000_000, 300_000
FEW_LETTERS = 12  # page numbers and stamps of scanners are no text of a report
NAMES_NOTE = "text of a PDF: its letterhead may name the patient"
SCAN = "a scan without text: its pages are pictures"
ENCRYPTED = "the PDF is encrypted; save it without a password and import it again"
DAMAGED = "the PDF cannot be read; ask for it again"
FAILURES = (
    ValueError, TypeError, KeyError, IndexError, AttributeError, AssertionError, RecursionError,
    EOFError, OSError, ArithmeticError, NotImplementedError, LookupError, RuntimeError, MemoryError,
)  # fmt: skip


@dataclass(frozen=True)
class PdfText:
    """What a PDF says.

    Attributes:
        text: the words of all pages, or None if there are none.
        sentence: why there are none, or what to know about them.
        pages: how many pages were read.
    """

    text: str | None
    sentence: str
    pages: int = 0


def text_of(raw: bytes) -> PdfText:
    """The words of a PDF; never raises for what is wrong with the file."""
    from pypdf import apply_configuration
    from pypdf.errors import DependencyError, FileNotDecryptedError, PyPdfError

    if len(raw) > LIMIT_BYTES:
        return PdfText(None, f"the PDF is longer than {LIMIT_BYTES // 1_000_000} MB")
    limits: dict[str, Any] = {
        f"{name}_maximum_output_length": LIMIT_UNPACKED
        for name in ("zlib", "lzw", "run_length", "array_based_stream", "brotli")
    }
    try:
        with quiet(), apply_configuration(
            stream_parsing_work_maximum_count=LIMIT_PARSED, jbig2dec_binary=None, **limits
        ):  # fmt: skip
            return _read(raw)
    except (FileNotDecryptedError, DependencyError):
        return PdfText(None, ENCRYPTED)
    except (PyPdfError, *FAILURES):
        return PdfText(None, DAMAGED)


def _read(raw: bytes) -> PdfText:
    """All pages within the limits of number, length and time."""
    from pypdf import PdfReader

    # tolerant only of what stands before the mark: mail gateways put lines there
    reader = PdfReader(io.BytesIO(raw[max(0, raw.find(b"%PDF-")) :]), strict=False)
    if reader.is_encrypted and not reader.decrypt(""):
        return PdfText(None, ENCRYPTED)
    words, notes, pages, letters = [], [NAMES_NOTE], 0, 0
    for text in _pages(reader, notes):
        pages += 1
        letters += len(text)
        words.append(text)
        if letters > LIMIT_LETTERS:
            notes.append("the text is longer than is read; the rest is left out")
            break
    whole = "\n\n".join(one for one in words if one)
    if sum(one.isalnum() for one in whole) < FEW_LETTERS:
        return PdfText(None, SCAN if pages and len(notes) == 1 else DAMAGED, pages)
    return PdfText(whole, "; ".join(notes), pages)


def _pages(reader: Any, notes: list[str]) -> Iterator[str]:
    """The words of each page; a page that cannot be read is left out and said."""
    from pypdf.errors import PyPdfError

    end = time.monotonic() + LIMIT_SECONDS
    for number, page in enumerate(reader.pages):
        if number >= LIMIT_PAGES or time.monotonic() > end:
            notes.append(f"only the first {number} pages were read")
            return
        try:
            text = str(page.extract_text() or "")
        except (PyPdfError, *FAILURES):
            notes.append(f"page {number + 1} cannot be read and is left out")
            text = ""
        plain = text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
        yield plain.replace("\0", "").replace("\r\n", "\n").strip()


def read_pdf(path: Path) -> Evidence:
    """Describe a PDF file: a report if it has words, else a document.

    Raises:
        EvidenceError: missing, unreadable, damaged or too long.
    """
    found = text_of(read_bytes(path, LIMIT_BYTES))
    if found.sentence == DAMAGED:
        raise EvidenceError(path, "damaged", DAMAGED)
    source = {"object": "PDF document", "format": "PDF"}
    kind, form = ("document", None) if found.text is None else ("report", "text")
    text, named = (None, False) if found.text is None else letterhead.taken_out(found.text)
    notes = (found.sentence, letterhead.NOTE) if named else (found.sentence,)
    return Evidence(
        path=path, members=(path,), kind=kind, form=form, text=text, source=source, notes=notes,
    )  # fmt: skip


def enclosed_text(dataset: Dataset) -> PdfText:
    """The words of a PDF inside a DICOM object (PS3.3 A.45.1), the patient's own names taken out.

    Returns:
        No text where the object encloses another kind of file.
    """
    raw = dataset.get("EncapsulatedDocument")
    if not isinstance(raw, (bytes, bytearray)) or b"%PDF-" not in raw[:1024]:
        return PdfText(None, "")
    found = text_of(bytes(raw))
    text = None if found.text is None else scrubber_of(dataset).clean(found.text)
    return PdfText(text, found.sentence, found.pages)
