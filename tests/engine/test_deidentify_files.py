"""De-identified copies on disk: valid files, equal pixels, series that still belong together."""

from __future__ import annotations

import tomllib
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from pydicom import dcmread
from pydicom.dataset import Dataset
from pydicom.sequence import Sequence

from engine.control import Control
from engine.errors import Cancelled, EvidenceError
from engine.evidence.identity.deidentify_files import deidentify_file, deidentify_folder
from engine.evidence.open import find_evidence, load_pixels
from engine.evidence.quiet import quiet
from tests.engine.evidence_files import dicom, slices
from tests.shared import SHARED, shared_path

NONE: frozenset[str] = frozenset()
NAMES = (
    ("ISO_IR 192", "Zverev^Łucja=山田^太郎"), ("GB18030", "王^小东"), ("ISO_IR 144", "Люкceмбypг"),
    (["", "ISO 2022 IR 149"], "Hong^Gildong=洪^吉洞=홍^길동"), ("ISO_IR 100", "Müllerström^Jörg"),
    (["", "ISO 2022 IR 87"], "Yamada^Tarou=山田^太郎=やまだ^たろう"),
)  # fmt: skip


def manifest() -> list[dict[str, Any]]:
    path = SHARED / "data/files/MANIFEST.toml"
    return tomllib.loads(path.read_text(encoding="utf-8"))["file"] if path.exists() else []


def test_a_series_still_groups_and_has_the_same_pixels(tmp_path: Path) -> None:
    source, target = tmp_path / "source", tmp_path / "target"
    source.mkdir()
    slices(
        source, [0.0, 2.5, 5.0, 7.5], PatientID="P-123", PatientName="Muster^Max",
        StudyInstanceUID="1.2.8", FrameOfReferenceUID="1.2.7", BodyPartExamined="HEAD",
    )  # fmt: skip
    report = deidentify_folder([source], target, options=NONE, salt=b"secret")
    assert len(report.copies) == 4
    assert report.left_out == []
    (before,) = find_evidence([source], salt=b"x")
    (after,) = find_evidence([target], salt=b"x")
    assert (after.kind, after.shape, after.spacing_mm) == (
        before.kind, before.shape, before.spacing_mm,
    )  # fmt: skip
    np.testing.assert_array_equal(load_pixels(after).array, load_pixels(before).array)
    assert after.subject is not None
    for path in target.rglob("*.dcm"):
        raw = path.read_bytes()
        assert b"Muster" not in raw
        assert b"P-123" not in raw
        assert b"1.2.9\0" not in raw
        assert not any(word in str(path.relative_to(target)) for word in ("Muster", "P-123"))
    assert report.copies[0].warnings == ("head",)
    told = "\n".join(report.lines())
    assert "pixels are not claimed clean" in told
    assert "4 files: a head may be in it" in told


def test_more_files_of_a_patient_join_the_first_ones(tmp_path: Path) -> None:
    for name, study in (("a", "1.2.1"), ("b", "1.2.2")):
        (tmp_path / name).mkdir()
        dicom(tmp_path / name / "x.dcm", np.zeros((2, 2), np.uint8), PatientID="P-123",
              StudyInstanceUID=study, StudyDate="20200101")  # fmt: skip
        deidentify_folder([tmp_path / name], tmp_path / "out", options=NONE, salt=b"secret")
    (patient,) = (tmp_path / "out").iterdir()
    assert len(list(patient.iterdir())) == 2
    ids = {dcmread(path).PatientID for path in patient.rglob("*.dcm")}
    assert len(ids) == 1


@pytest.mark.parametrize(("charset", "name"), NAMES, ids=[str(one[0]) for one in NAMES])
def test_no_bytes_of_a_name_in_any_character_set(
    tmp_path: Path, charset: Any, name: str
) -> None:  # fmt: skip
    source, target = tmp_path / "source.dcm", tmp_path / "target.dcm"
    item = Dataset()
    item.PatientName, item.PatientComments = name, f"seen: {name}"
    values = {
        "SpecificCharacterSet": charset, "PatientName": name, "ReferringPhysicianName": name,
        "OtherPatientNames": name, "ReferencedPatientSequence": Sequence([item]),
        "SharedFunctionalGroupsSequence": Sequence([item]), "ScanOptions": "FAST",
    }  # fmt: skip
    with quiet():
        dicom(source, np.arange(6, dtype=np.uint16).reshape(2, 3), **values)
        wanted = dcmread(source).PatientName.original_string
        assert bytes(wanted) in source.read_bytes()
        deidentify_file(source, target, options=NONE, salt=b"secret")
    raw = target.read_bytes()
    for part in str(name).replace("=", "^").split("^"):
        for encoding in ("utf-8", "utf-16-le", "utf-16-be", "gb18030", "euc_kr", "shift_jis",
                         "iso2022_jp", "cp1251", "iso8859_5", "latin-1"):  # fmt: skip
            try:
                planted = part.encode(encoding)
            except UnicodeEncodeError:
                continue
            assert len(planted) < 3 or planted not in raw
    assert dcmread(target).pixel_array.tolist() == [[0, 1, 2], [3, 4, 5]]


def test_bad_and_foreign_files_are_left_out_with_their_reason(tmp_path: Path) -> None:
    source = tmp_path / "source"
    source.mkdir()
    good = dicom(source / "good.dcm", np.zeros((4, 4), np.uint16), PatientID="P")
    (source / "cut.dcm").write_bytes(good.read_bytes()[:-8])
    (source / "note.txt").write_text("Muster", encoding="utf-8")
    index = Dataset()
    index.DirectoryRecordSequence = Sequence([])
    dicom(source / "DICOMDIR", None, SOPClassUID="1.2.840.10008.1.3.10")
    report = deidentify_folder([source], tmp_path / "out", options=NONE, salt=b"secret")
    assert [copy.source.name for copy in report.copies] == ["good.dcm"]
    reasons = {path.name: reason for path, reason in report.left_out}
    assert set(reasons) == {"cut.dcm", "note.txt", "DICOMDIR"}
    assert "ends before" in reasons["cut.dcm"]
    assert "other formats" in reasons["note.txt"]
    assert "index" in reasons["DICOMDIR"]
    assert not list((tmp_path / "out").rglob("*.part"))


def test_members_of_an_archive_are_copied_too(tmp_path: Path) -> None:
    one = dicom(tmp_path / "one.dcm", np.zeros((2, 2), np.uint8), PatientName="Muster^Max")
    with zipfile.ZipFile(tmp_path / "disc.zip", "w") as packed:
        packed.write(one, "IMAGES/I10")
    report = deidentify_folder(
        [tmp_path / "disc.zip"], tmp_path / "out", options=NONE, salt=b"secret"
    )
    assert len(report.copies) == 1
    assert b"Muster" not in report.copies[0].target.read_bytes()


def test_nothing_is_written_over_and_nothing_among_the_sources(tmp_path: Path) -> None:
    source = dicom(tmp_path / "a.dcm", np.zeros((2, 2), np.uint8))
    target = tmp_path / "b.dcm"
    target.write_bytes(b"mine")
    with pytest.raises(EvidenceError, match="choose another"):
        deidentify_file(source, target, options=NONE, salt=b"secret")
    assert target.read_bytes() == b"mine"
    with pytest.raises(EvidenceError, match="inside the source"):
        deidentify_folder([tmp_path], tmp_path / "out", options=NONE, salt=b"secret")


def test_values_that_cannot_be_read_leave_a_file_out(tmp_path: Path) -> None:
    source = tmp_path / "source"
    source.mkdir()
    good = dicom(source / "good.dcm", np.zeros((4, 4), np.uint16), PatientName="Muster^Max")
    raw = good.read_bytes()
    name = raw.index(b"\x10\x00\x10\x00PN")
    (source / "bad.dcm").write_bytes(raw[: name + 4] + b"\x50\x87" + raw[name + 6 :])
    report = deidentify_folder([source], tmp_path / "out", options=NONE, salt=b"secret")
    assert [copy.source.name for copy in report.copies] == ["good.dcm"]
    ((path, reason),) = report.left_out
    assert path.name == "bad.dcm"
    assert "cannot be read" in reason


def test_a_folder_job_can_be_stopped(tmp_path: Path) -> None:
    source = dicom(tmp_path / "a.dcm", np.zeros((2, 2), np.uint8))
    control = Control(cancelled=lambda: True)
    with pytest.raises(Cancelled):
        deidentify_folder([source], tmp_path / "out", options=NONE, salt=b"s", control=control)


def test_equal_instances_get_different_names(tmp_path: Path) -> None:
    for name in ("a", "b"):
        dicom(tmp_path / f"{name}.dcm", np.zeros((2, 2), np.uint8), SOPInstanceUID="1.2.3.4")
    sources = [tmp_path / "a.dcm", tmp_path / "b.dcm"]
    report = deidentify_folder(sources, tmp_path / "out", options=NONE, salt=b"s")
    assert len({copy.target for copy in report.copies}) == 2
    again = deidentify_folder(sources, tmp_path / "out", options=NONE, salt=b"s")
    assert [copy.known for copy in again.copies] == [True, True], "each has its copy already"
    assert {copy.target for copy in again.copies} == {copy.target for copy in report.copies}
    assert len(list((tmp_path / "out").rglob("*.dcm"))) == 2


def handed() -> list[str]:
    """Folders of the handed files with DICOM in them."""
    return ["dicom", "series", "report", "charset", "nonimage"]


@pytest.mark.parametrize("folder", handed())
def test_handed_files_run_through_and_still_open(folder: str, tmp_path: Path) -> None:
    root = shared_path("data/files") / folder
    report = deidentify_folder([root], tmp_path / "out", options=NONE, salt=b"secret")
    foreign = [path for path, reason in report.left_out if "other formats" not in reason]
    assert {path.name for path in foreign} <= {"DICOMDIR"}
    assert report.copies
    for copy in report.copies:
        with quiet():
            before, after = dcmread(copy.source, force=True), dcmread(copy.target)
            assert after.file_meta.MediaStorageSOPInstanceUID == after.SOPInstanceUID
            check_pixels(before, after)
            check_names(before, copy.target.read_bytes())
        (evidence,) = find_evidence([copy.target], salt=b"x")
        (original,) = find_evidence([copy.source], salt=b"x")
        assert (evidence.kind, evidence.shape) == (original.kind, original.shape)
        assert (evidence.error is None) == (original.error is None)


def check_pixels(before: Dataset, after: Dataset) -> None:
    """The element with the pixels is the same, bit by bit."""
    for keyword in ("PixelData", "FloatPixelData", "DoubleFloatPixelData", "WaveformSequence"):
        assert (keyword in before) == (keyword in after)
        if keyword in before and keyword != "WaveformSequence":
            was, now = before[keyword].value, after[keyword].value
            # one handed file has an odd number of bytes, which no valid file may have
            assert now == was + b"\0" * (len(was) % 2)


def check_names(before: Dataset, raw: bytes) -> None:
    """No part of a person's name, and no identifier, is left in the bytes."""
    names = [element.value for element in before.iterall() if element.VR == "PN" and element.value]
    parts = {part for name in names for part in str(name).replace("=", "^").split("^")}
    for part in parts:
        if len(part) > 5 and part.isascii() and part not in ("REMOVED", "[removed]"):
            assert part.encode() not in raw
    for keyword in ("StudyInstanceUID", "SeriesInstanceUID", "SOPInstanceUID", "PatientID"):
        value = str(before.get(keyword, "") or "")
        equal = value == str(before.get("SeriesNumber", ""))  # a number that is no one's
        assert len(value) < 6 or equal or value.encode() not in raw


@pytest.mark.parametrize("option", ["clean-structured-content", "retain-modified-dates"])
def test_handed_reports_keep_codes_and_numbers(option: str, tmp_path: Path) -> None:
    source = shared_path("data/files/report/sr_tid1500.dcm")
    copy = deidentify_file(source, tmp_path / "a.dcm", options=frozenset({option}), salt=b"s")
    (evidence,) = find_evidence([copy.target])
    text = evidence.text or ""
    assert ("1.7 cm2" in text) == (option == "clean-structured-content")
    assert "Foo" not in copy.target.read_bytes().decode("latin-1")


def test_handed_names_are_not_in_the_copies(tmp_path: Path) -> None:
    shared_path("data/files/MANIFEST.toml")
    for case in manifest():
        name = case.get("truth", {}).get("patient_name")
        if name is None or case["kind"] != "report":
            continue
        source = shared_path(f"data/files/{case['file']}")
        copy = deidentify_file(source, tmp_path / source.name, options=NONE, salt=b"s")
        raw = copy.target.read_bytes()
        for part in name.replace("^", " ").split():
            assert len(part) < 5 or part.encode() not in raw
