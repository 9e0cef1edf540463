"""Words of PDF files within bounds; scans, encrypted and hostile files have their sentence."""

from __future__ import annotations

import io
import random
from pathlib import Path

import pytest
from pypdf import PdfWriter

from engine.errors import EvidenceError
from engine.evidence.open import find_evidence, read_file
from engine.evidence.words import pdf as reader
from tests.engine.report_files import pdf
from tests.shared import shared_path

LINES = ["FINDINGS: Größe normal (1 cm)", "IMPRESSION: ok"]


def encrypted(password: str, owner: str | None = None) -> bytes:
    writer = PdfWriter(clone_from=io.BytesIO(pdf([LINES])))
    writer.encrypt(password, owner_password=owner, algorithm="AES-256")
    stream = io.BytesIO()
    writer.write(stream)
    return stream.getvalue()


@pytest.mark.parametrize("packed", [True, False])
def test_a_pdf_with_words_is_a_report(tmp_path: Path, packed: bool) -> None:
    path = tmp_path / "a.pdf"
    path.write_bytes(pdf([LINES, ["Second page"]], packed=packed))
    (found,) = find_evidence([path])
    assert (found.kind, found.form) == ("report", "text")
    assert found.text == "\n".join(LINES) + "\n\nSecond page"
    assert found.source["object"] == "PDF document"
    assert "letterhead" in found.notes[0]


def test_a_pdf_after_mail_headers_is_read(tmp_path: Path) -> None:
    path = tmp_path / "a.pdf"
    path.write_bytes(b"Content-Type: application/pdf\r\n\r\n" + pdf([LINES]))
    assert read_file(path).text == "\n".join(LINES)


@pytest.mark.parametrize("lines", [[], ["- 1 -"], ["   "]])
def test_a_scan_is_a_document_without_text(tmp_path: Path, lines: list[str]) -> None:
    path = tmp_path / "a.pdf"
    path.write_bytes(pdf([lines]))
    found = read_file(path)
    assert (found.kind, found.form, found.text) == ("document", None, None)
    assert "scan without text" in found.notes[0]


def test_encrypted_files_say_so_and_empty_passwords_open() -> None:
    found = reader.text_of(encrypted("secret"))
    assert found.text is None
    assert "encrypted" in found.sentence
    assert reader.text_of(encrypted("", "owner")).text == "\n".join(LINES)


def test_damaged_files_are_errors(tmp_path: Path) -> None:
    path = tmp_path / "a.pdf"
    path.write_bytes(pdf([LINES])[:300])
    with pytest.raises(EvidenceError) as caught:
        read_file(path)
    assert caught.value.code == "damaged"


@pytest.mark.timeout(30)
def test_bombs_end_soon() -> None:
    space = pdf([["x"]], packed=True, content=b"BT (a) Tj ET" + b" " * 100_000_000)
    words = pdf([["x"]], packed=True, content=b"BT /F1 12 Tf " + b"(aaa) Tj " * 1_500_000 + b"ET")
    for raw in (space, words):
        found = reader.text_of(raw)
        assert found.text is None
        assert "cannot be read" in found.sentence


def test_many_pages_are_cut_and_said() -> None:
    found = reader.text_of(pdf([["a page with words"]] * (reader.LIMIT_PAGES + 5)))
    assert found.pages == reader.LIMIT_PAGES
    assert f"only the first {reader.LIMIT_PAGES} pages" in found.sentence


def test_mutants_never_escape() -> None:
    whole, draw = pdf([LINES], packed=True), random.Random(5)
    for _ in range(60):
        raw = bytearray(whole)
        for _ in range(6):
            raw[draw.randrange(len(raw))] = draw.randrange(256)
        assert isinstance(reader.text_of(bytes(raw)), reader.PdfText)


def test_metadata_stay_out() -> None:
    writer = PdfWriter(clone_from=io.BytesIO(pdf([LINES])))
    writer.add_metadata({"/Author": "Geheim", "/Title": "Geheim"})
    stream = io.BytesIO()
    writer.write(stream)
    assert "Geheim" not in (reader.text_of(stream.getvalue()).text or "")


def test_handed_scan_in_dicom_stays_a_document() -> None:
    found = read_file(shared_path("data/files/nonimage/encapsulated_pdf.dcm"))
    assert (found.kind, found.form, found.text) == ("document", None, None)
    assert any("holds no picture" in note for note in found.notes)
    assert any("scan without text" in note for note in found.notes)
