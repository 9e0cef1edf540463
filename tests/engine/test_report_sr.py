"""Structured reports as readable text: headings, units, references; nobody's name."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from pydicom import dcmread
from pydicom.dataset import Dataset, FileMetaDataset
from pydicom.sequence import Sequence
from pydicom.uid import ExplicitVRLittleEndian

from engine.evidence.open import find_evidence, read_file
from engine.evidence.quiet import quiet
from engine.evidence.words.sections import sections
from engine.evidence.words.sr import report_text
from tests.engine.report_files import SR_CLASS, code, node, number, pdf, structured

FINDING, REPORT = code("121071", "Finding"), code("121060", "History")
MM = code("mm", "millimeter", "UCUM")


def written(path: Path, dataset: Dataset) -> Path:
    dataset.file_meta = FileMetaDataset()
    dataset.file_meta.TransferSyntaxUID = ExplicitVRLittleEndian
    dataset.SOPInstanceUID = "1.2.3"
    with quiet():
        dataset.save_as(path, enforce_file_format=True)
    return path


def test_containers_are_headings_and_numbers_have_units() -> None:
    reference = Dataset()
    reference.ReferencedFrameNumber = [3, 5]
    image = node("IMAGE", code("121112", "Source of Measurement"), relation="INFERRED FROM",
                 ReferencedSOPSequence=Sequence([reference]))  # fmt: skip
    side = node("CODE", code("272741003", "Laterality", "SCT"), relation="HAS CONCEPT MOD",
                ConceptCodeSequence=Sequence([code("7771000", "Left", "SCT")]))  # fmt: skip
    dataset = structured(
        "Radiology Report",
        node("CONTAINER", code("121070", "Findings"),
             node("TEXT", FINDING, TextValue="A mass.\r\nSecond line."),
             number(code("410668003", "Length", "SCT"), "12.5", MM, side, image),
             number(code("1", "Ratio"), "0.5", code("1", "no units", "UCUM")),
             number(code("2", "Score"), "3", code("{score}", "score", "UCUM")),
             ContinuityOfContent="SEPARATE"),
        node("CONTAINER", code("121076", "Conclusions"),
             node("CODE", FINDING, ConceptCodeSequence=Sequence([code("4147007", "Mass")])),
             node("SCOORD", code("111030", "Image Region"), GraphicType="POLYLINE")),
    )  # fmt: skip
    assert report_text(dataset).split("\n") == [
        "Radiology Report", "Findings", "  Finding: A mass.", "  Second line.",
        "  Length: 12.5 mm (Laterality: Left)",
        "    inferred from Source of Measurement: image reference, frames 3, 5",
        "  Ratio: 0.5", "  Score: 3 score", "Conclusions", "  Finding: Mass",
        "  Image Region: line drawn on an image",
    ]  # fmt: skip


def test_sections_are_found_in_structured_reports() -> None:
    dataset = structured(
        "Report",
        node("CONTAINER", code("121070", "Findings"), node("TEXT", None, TextValue="Clear lungs")),
        node("CONTAINER", code("121072", "Impressions"), node("TEXT", None, TextValue="Normal")),
    )
    named = [(one.name, one.text) for one in sections(report_text(dataset))]
    assert named == [("other", "Report"), ("findings", "Clear lungs"), ("impression", "Normal")]


def test_continuous_text_runs_on() -> None:
    dataset = structured(
        "Report",
        node("CONTAINER", None,
             node("TEXT", FINDING, TextValue="A mass of"),
             number(code("1", "Diameter"), "3", code("cm", "centimeter", "UCUM")),
             node("TEXT", FINDING, TextValue="was detected."), ContinuityOfContent="CONTINUOUS"),
    )  # fmt: skip
    assert report_text(dataset) == "Report\nA mass of 3 cm was detected."


def test_measurement_groups_marked_continuous_stay_a_list() -> None:
    group = node(
        "CONTAINER", code("125007", "Measurement Group"),
        node("TEXT", code("112039", "Tracking Identifier"), TextValue="Lesion 1",
             relation="HAS OBS CONTEXT"),
        node("CODE", FINDING, ConceptCodeSequence=Sequence([code("108369006", "Neoplasm")])),
        number(code("410668003", "Length"), "12", MM), ContinuityOfContent="CONTINUOUS",
    )  # fmt: skip
    assert report_text(structured("Report", group)).split("\n")[1:] == [
        "Measurement Group", "  Tracking Identifier: Lesion 1", "  Finding: Neoplasm",
        "  Length: 12 mm",
    ]  # fmt: skip


@pytest.mark.parametrize(
    "item",
    [
        node("PNAME", code("121008", "Person Observer Name"), PersonName="Geheim^Anna"),
        node("TEXT", code("121008", "Person Observer Name"), TextValue="Geheim"),
        node("TEXT", code("121029", "Subject Name"), TextValue="Geheim"),
        node("TEXT", code("121030", "Subject ID"), TextValue="Geheim"),
        node("TEXT", code("121022", "Accession Number"), TextValue="Geheim"),
        node("TEXT", code("X", "Patient's Name", "99X"), TextValue="Geheim"),
        node("TEXT", code("X", "Referring Physician Name", "99X"), TextValue="Geheim"),
        node("DATE", code("121031", "Subject Birth Date"), Date="19610504"),
        node("DATETIME", code("111060", "Study Date"), DateTime="20200101120000"),
        node("UIDREF", code("121012", "Device Observer UID"), UID="1.2.3.4.5"),
        node("TEXT", FINDING, TextValue="ANNA Geheim, PAT4711, was seen; born 04.05.1961."),
        node("TEXT", FINDING, TextValue="Name: Geheim; on 2020-01-01 and 1/1/2020"),
    ],
)
def test_persons_numbers_and_dates_do_not_leave(item: Dataset) -> None:
    dataset = structured(
        "Report", item, node("TEXT", FINDING, TextValue="Clear lungs"),
        PatientName="Geheim^Anna", PatientID="PAT4711", PatientBirthDate="19610504",
        StudyDate="20200101",
    )  # fmt: skip
    text = report_text(dataset)
    for word in ("Geheim", "ANNA", "PAT4711", "1961", "2020", "1.2.3.4.5"):
        assert word not in text
    assert text.endswith("Finding: Clear lungs")


def test_words_that_only_contain_a_short_name_stay() -> None:
    dataset = structured(
        "Report", node("TEXT", FINDING, TextValue="The line; Li seen. A mass, left."),
        PatientName="Li^A", PatientID="12",
    )  # fmt: skip
    assert report_text(dataset) == "Report\nFinding: The line; [removed] seen. A mass, left."


CHARSETS: list[tuple[Any, str]] = [
    ("ISO_IR 100", "Größe der Läsion"), ("ISO_IR 192", "所見：異常なし"),
    ("GB18030", "影像所见：未见异常"), ("ISO_IR 144", "Заключение"), ("ISO_IR 126", "Συμπέρασμα"),
    (["", "ISO 2022 IR 87"], "所見 異常なし Befund"), (["", "ISO 2022 IR 149"], "소견 정상"),
    (["ISO 2022 IR 13", "ISO 2022 IR 87"], "ｼｮｹﾝ 所見"), ("GBK", "未见异常"),
    (["ISO 2022 IR 100", "ISO 2022 IR 144"], "Größe"), ("ISO_IR 166", "ปอดปกติ"),
]  # fmt: skip


@pytest.mark.parametrize(("charset", "text"), CHARSETS, ids=[str(one) for one, _ in CHARSETS])
def test_character_sets(charset: Any, text: str, tmp_path: Path) -> None:
    dataset = structured("Report", node("TEXT", FINDING, TextValue=text))
    dataset.SpecificCharacterSet = charset
    found = read_file(written(tmp_path / "a.dcm", dataset))
    assert found.text == f"Report\nFinding: {text}"


@pytest.mark.parametrize(("encoding", "text"), [("utf-8", "Größe"), ("gb18030", "影像所见异常")])
def test_text_without_a_named_character_set(encoding: str, text: str, tmp_path: Path) -> None:
    raw = text.encode(encoding) + b" " * (len(text.encode(encoding)) % 2)
    dataset = structured("Report", node("TEXT", FINDING, TextValue="#" * len(raw)))
    path = written(tmp_path / "a.dcm", dataset)
    path.write_bytes(path.read_bytes().replace(b"#" * len(raw), raw))
    assert (read_file(path).text or "").strip() == f"Report\nFinding: {text}"


def test_chinese_escapes_leave_no_trace_and_names_are_known(tmp_path: Path) -> None:
    escape = b"\x1b$)A"  # PS3.5 annex K: anew in every line and every part of a name
    name = b"^".join(escape + part.encode("gb2312") for part in ("欧阳", "小东"))
    lines = [escape + line.encode("gb2312") for line in ("双肺清晰.", "欧阳小东无异常, end")]
    text = b"\r\n".join(lines)
    text += b" " * (len(text) % 2)
    marks = {b"N" * (len(name) + len(name) % 2): name + b" " * (len(name) % 2)}
    marks[b"T" * len(text)] = text
    holders = [mark.decode() for mark in marks]
    item = node("TEXT", FINDING, TextValue=holders[1])
    dataset = structured("Report", item, PatientName=holders[0])
    dataset.SpecificCharacterSet = ["", "ISO 2022 IR 58"]
    path = written(tmp_path / "a.dcm", dataset)
    raw = path.read_bytes()
    for mark, meant in marks.items():
        raw = raw.replace(mark, meant)
    path.write_bytes(raw)
    found = (read_file(path).text or "").replace("[removed][removed]", "[removed]")
    assert found.rstrip() == "Report\nFinding: 双肺清晰.\n[removed]无异常, end"


def test_deep_nesting_is_cut_and_does_not_fail(tmp_path: Path) -> None:
    item = node("TEXT", FINDING, TextValue="deep")
    for _ in range(60):
        item = node("CONTAINER", code("1", "Level"), item)
    found = read_file(written(tmp_path / "a.dcm", structured("Report", item)))
    assert found.kind == "report"
    assert "deep" not in (found.text or "")


def test_a_report_without_modality_is_a_report(tmp_path: Path) -> None:
    dataset = structured("Report", node("TEXT", FINDING, TextValue="x"))
    del dataset.Modality
    assert dataset.SOPClassUID == SR_CLASS
    assert read_file(written(tmp_path / "a.dcm", dataset)).kind == "report"


def test_enclosed_pdf_has_its_words_without_the_patients_name(tmp_path: Path) -> None:
    dataset = Dataset()
    dataset.SOPClassUID = "1.2.840.10008.5.1.4.1.1.104.1"
    dataset.Modality, dataset.PatientName, dataset.PatientID = "DOC", "Geheim^Anna", "PAT4711"
    dataset.MIMETypeOfEncapsulatedDocument = "application/pdf"
    raw = pdf([["Patient: Anna Geheim (PAT4711)", "FINDINGS: Clear lungs"]])
    dataset.EncapsulatedDocument = raw + b"\0" * (len(raw) % 2)
    (found,) = find_evidence([written(tmp_path / "a.dcm", dataset)])
    assert (found.kind, found.form) == ("document", "text")
    assert "FINDINGS: Clear lungs" in (found.text or "")
    assert "Geheim" not in (found.text or "")
    assert any("letterhead" in note for note in found.notes)
    assert dcmread(tmp_path / "a.dcm").PatientName == "Geheim^Anna"
