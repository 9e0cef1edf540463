"""HL7 version 2 results as reports: separators, escapes, repetitions, several orders, no person."""

from __future__ import annotations

import base64
from pathlib import Path

import pytest

from engine.errors import EvidenceError
from engine.evidence.identity.tokens import pseudonym_of
from engine.evidence.open import find_evidence, read_file
from engine.evidence.words.sections import sections
from tests.engine.report_files import pdf

HEAD = "MSH|^~\\&|RIS|HOSP|X|Y|202001011200||ORU^R01|123|P|2.5||||||{charset}"
PERSON = [
    "PID|1||PID12345^^^HOSP^MR||Mustermann^Erika^^^Frau||19610504|F|||Hauptstr 1^^Berlin",
    "NTE|1||a note about the patient Geheimnis",
    "PV1|1|O|||||777^Zuweiser^Ref", "NK1|1|Verwandt^Karl", "ORC|RE|ACC99999|||||||||^Besteller",
]  # fmt: skip
FIRST = [
    "OBR|1|PLAC7777|FILL8888|71020^CHEST XRAY 2V^L|||20200101||||||||777^Zuweiser",
    "OBX|1|TX|71020&GDT^Findings||Lungs are clear. T\\S\\2 \\T\\ heart\\.br\\normal"
    "~second \\H\\bold\\N\\ a\\F\\b\\R\\c\\E\\d||||||F",
    "OBX|2|TX|71020&GDT^Findings||more||||||F",
    "OBX|3|FT|71020&IMP||Größe normal||||||F",
    "OBX|4|NM|18868-0^Nodule size^LN||12|mm^millimeter^UCUM||||F",
    "OBX|5|CE|X^Laterality^L||L^Left^L|||||F", "OBX|6|SN|X^Volume^L||<^5|ml||||F",
    "OBX|7|DT|X^Exam date||20200101||||||F", "OBX|8|XCN|X^Reader||99^Geheim^Doc||||||F",
    "OBX|9|TX|X^IGNORED||deleted text||||||D", "OBX|10|TX|X^Patient Name||Geheim||||||F",
    "OBX|11|TX|71020&GDT^Findings||Frau MUSTERMANN (PID12345, FILL8888) geb. 04.05.1961||||||F",
    "NTE|1||A note of the lab",
]  # fmt: skip
SECOND = ["OBR|2|PL78|FIL89|70450^CT HEAD^L", "OBX|1|FT|&GDT||No bleeding.||||||F"]
WANTED = [
    "CHEST XRAY 2V", "Findings:", "Lungs are clear. T^2 & heart", "normal", "second bold a|b~c\\d",
    "more", "Impression:", "Größe normal", "Nodule size: 12 mm", "Laterality: Left",
    "Volume: <5 ml", "Findings:", "Frau [removed] ([removed], [removed]) geb. [removed]",
    "A note of the lab",
]  # fmt: skip
CODINGS = [("", "utf-8"), ("UNICODE UTF-8", "utf-8"), ("8859/1", "cp1252"), ("", "cp1252"),
           ("8859/15", "iso8859_15"), ("UNICODE UTF-8", "cp1252")]  # fmt: skip


def message(*lines: str, charset: str = "") -> list[str]:
    return [HEAD.format(charset=charset), *PERSON, *lines]


def text_of(path: Path, raw: bytes) -> str:
    path.write_bytes(raw)
    found = read_file(path)
    assert (found.kind, found.form) == ("report", "text")
    return found.text or ""


@pytest.mark.parametrize("end", ["\r", "\n", "\r\n"])
@pytest.mark.parametrize(("charset", "encoding"), CODINGS)
def test_words_of_one_order(tmp_path: Path, charset: str, encoding: str, end: str) -> None:
    raw = end.join(message(*FIRST, charset=charset)).encode(encoding)
    text = text_of(tmp_path / "a.hl7", raw)
    assert text.split("\n") == WANTED
    assert [one.name for one in sections(text)][:3] == ["other", "findings", "impression"]


def test_frames_and_batches(tmp_path: Path) -> None:
    body = "\r".join(message(*FIRST)).encode()
    assert text_of(tmp_path / "a.hl7", b"\x0b" + body + b"\r\x1c\r").split("\n") == WANTED
    batch = b"FHS|^~\\&|\rBHS|^~\\&|\r" + body + b"\rBTS|1\rFTS|1\r"
    assert text_of(tmp_path / "b.hl7", batch).split("\n") == WANTED
    two = b"\x0b" + body + b"\r\x1c\r\x0b" + "\r".join(message(*SECOND)).encode() + b"\r\x1c\r"
    (tmp_path / "c.dat").write_bytes(two)
    found = list(find_evidence([tmp_path / "c.dat"]))
    assert [one.path.name for one in found] == ["report-0001", "report-0002"]
    assert found[1].text == "CT HEAD\nFindings:\nNo bleeding."


@pytest.mark.parametrize("name", ["a.hl7", "a.txt", "a.oru", "a.msg"])
def test_several_orders_are_several_reports(tmp_path: Path, name: str) -> None:
    path = tmp_path / name
    path.write_bytes("\r".join(message(*FIRST, *SECOND)).encode())
    found = list(find_evidence([path], salt=b"s"))
    assert [one.path for one in found] == [path / "report-0001", path / "report-0002"]
    for one in found:
        again = read_file(one.path, salt=b"s")
        assert (again.text, again.subject) == (one.text, one.subject)
        assert one.subject == pseudonym_of("PID12345", "", b"s")
    with pytest.raises(EvidenceError, match="no such report"):
        read_file(path / "report-0003")
    with pytest.raises(EvidenceError, match="several"):
        read_file(path)


def test_no_person_leaves(tmp_path: Path) -> None:
    path = tmp_path / "a.hl7"
    path.write_bytes("\r".join(message(*FIRST, *SECOND)).encode())
    shown = repr(list(find_evidence([path], salt=b"s")))
    for word in ("uster", "Erika", "12345", "1961", "Haupt", "Geheim", "Zuweiser", "Verwandt",
                 "Besteller", "ACC99999", "PLAC7777", "FILL8888", "20200101"):  # fmt: skip
        assert word not in shown.replace(str(path), "")


def test_separators_and_hexadecimal_escapes_of_the_message(tmp_path: Path) -> None:
    lines = ["MSH#$%!&#A", "OBR#1##2#X$CT", "OBX#1#TX#X$Note##a|b !F! !S! !R! !T! !E! !X41420D43!"]
    text = text_of(tmp_path / "a.hl7", "\r".join(lines).encode())
    assert text.split("\n") == ["CT", "Note:", "a|b # $ % & ! AB", "C"]


def test_enclosed_files(tmp_path: Path) -> None:
    def enclosed(kind: str, raw: bytes) -> str:
        packed = base64.b64encode(raw).decode()
        return f"OBX|1|ED|P^Report||RIS^application^{kind}^Base64^{packed}||||||F"

    lines = [
        "OBR|1||2|X^CT", enclosed("pdf", pdf([["FINDINGS: from a PDF, clear"]])),
        enclosed("rtf", rb"{\rtf1\ansi from rich text}"), enclosed("txt", "aus Text: ö".encode()),
        "OBX|4|ED|P^Report||RIS^application^pdf^Base64^!!!||||||F",
        enclosed("pdf", b"%PDF-1.4 broken"),
    ]  # fmt: skip
    path = tmp_path / "a.hl7"
    text = text_of(path, "\r".join(message(*lines)).encode())
    assert text.split("\n") == [
        "CT",
        "FINDINGS: from a PDF, clear",
        "from rich text",
        "aus Text: ö",
    ]
    notes = read_file(path).notes
    assert any("damaged" in note for note in notes)
    assert any("cannot be read" in note for note in notes)


def test_a_message_without_words_is_named(tmp_path: Path) -> None:
    path = tmp_path / "a.hl7"
    path.write_bytes("\r".join(message("OBR|1||2|X^CT")).encode())
    found = read_file(path)
    assert (found.kind, found.text) == ("other", None)
    assert "without a report" in found.notes[0]


@pytest.mark.parametrize("raw", [b"MSH|", b"MSH|^~\\&", b"FHS|^~\\&|\r", b"MSH|^~\\&|" * 2000])
def test_cut_messages_do_no_harm(tmp_path: Path, raw: bytes) -> None:
    path = tmp_path / "a.hl7"
    path.write_bytes(raw)
    (found,) = find_evidence([path])
    assert found.kind in ("other", "error")


def test_rich_text_in_place_of_words(tmp_path: Path) -> None:
    body = r"{\E\rtf1\E\ansi Befund:\E\par frei\E\par}"
    lines = ["OBR|1||2|X^CT", f"OBX|1|FT|X^Text||{body}||||||F"]
    text = text_of(tmp_path / "a.hl7", "\r".join(message(*lines)).encode())
    assert text.split("\n") == ["CT", "Text:", "Befund:", "frei"]


@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16", "utf-16-le", "utf-16-be"])
def test_marks_and_wide_letters_before_a_message(tmp_path: Path, encoding: str) -> None:
    path = tmp_path / "a.hl7"
    message = "MSH|^~\\&|A|B|C|D|2020||ORU^R01|1|P|2.5\rOBR|1\rOBX|1|TX|F||Größe fine\r"
    path.write_bytes(message.encode(encoding))
    assert (read_file(path).text or "").endswith("Größe fine")
