"""A data set that holds every attribute of the table, with a mark planted in each, nested too."""

from __future__ import annotations

import io
from typing import Any

import pytest
from pydicom import dcmread
from pydicom.datadict import dictionary_VR, keyword_for_tag
from pydicom.dataset import Dataset
from pydicom.filewriter import dcmwrite
from pydicom.sequence import Sequence
from pydicom.tag import Tag
from pydicom.uid import ExplicitVRLittleEndian, ImplicitVRLittleEndian

from engine.evidence.identity import profile
from engine.evidence.identity.deidentify import deidentify
from engine.evidence.quiet import quiet

MARK = "ZZMARKZZ"
UID = "1.2.3.77777.8"
PLANTED: dict[str, Any] = {
    "AE": MARK, "AS": "077Y", "CS": MARK, "DA": "19770707", "DS": "7777.5", "IS": "77777",
    "DT": "19770707070707", "LO": MARK, "LT": MARK, "PN": f"{MARK}^Anna", "SH": MARK, "ST": MARK,
    "TM": "070707", "UC": MARK, "UT": MARK, "UR": f"http://{MARK}", "UI": UID, "US": 7777,
    "UL": 77777, "FD": 7777.5, "FL": 7777.5, "OB": MARK.encode(), "UN": MARK.encode(),
    "OW": MARK.encode(), "SS": 7777,
}  # fmt: skip
TRACES = (MARK.encode(), MARK.encode("utf-16-le"), MARK.encode("utf-16-be"), UID.encode(),
          b"19770707", b"070707", b"077Y", b"7777.5", b"77777")  # fmt: skip
ONCE = {"00041130"}  # these may stand in a directory only
META = 0x0002


def tags() -> list[int]:
    rows = [tag for tag in profile.rules() if "x" not in tag]
    return [int(tag, 16) for tag in rows if int(tag[:4], 16) not in (0x0000, META)]


def planted() -> Dataset:
    """Every attribute of the table; sequences hold an item with a few of them."""
    dataset = Dataset()
    for tag in tags():
        vr = dictionary_VR(tag)
        if vr == "SQ":
            dataset.add_new(tag, vr, Sequence([plain()]))
        else:
            dataset.add_new(tag, vr.split(" or ")[0], PLANTED[vr.split(" or ")[0]])
    for group in (0x5000, 0x501E, 0x6000, 0x6002):
        dataset.add_new(Tag(group, 0x3000), "OB", MARK.encode())
        dataset.add_new(Tag(group, 0x4000 if group >= 0x6000 else 0x0022), "LT", MARK)
    block = dataset.private_block(0x0029, f"{MARK} CREATOR", create=True)
    block.add_new(0x01, "LO", MARK)
    block.add_new(0x02, "SQ", Sequence([plain()]))
    return dataset


def plain() -> Dataset:
    item = Dataset()
    item.PatientName, item.StudyDescription, item.SOPInstanceUID = f"{MARK}^B", MARK, UID
    return item


def whole(**elements: Any) -> Dataset:
    """The planted attributes, on top and below sequences that the table does not name."""
    dataset = planted()
    frames, group = Dataset(), Dataset()
    group.FrameAnatomySequence = Sequence([planted()])
    frames.FrameContentSequence = Sequence([planted()])
    dataset.SharedFunctionalGroupsSequence = Sequence([group])
    dataset.PerFrameFunctionalGroupsSequence = Sequence([frames])
    dataset.SOPClassUID, dataset.Rows, dataset.Modality = "1.2.840.10008.5.1.4.1.1.2", 7, "CT"
    for keyword, value in elements.items():
        setattr(dataset, keyword, value)
    return dataset


def read_back(dataset: Dataset, syntax: str = ExplicitVRLittleEndian) -> tuple[Dataset, bytes]:
    """Written as a file and read again."""
    dataset.ensure_file_meta()
    dataset.file_meta.TransferSyntaxUID = syntax
    stream = io.BytesIO()
    with quiet():
        dcmwrite(stream, dataset, enforce_file_format=True)
        return dcmread(io.BytesIO(stream.getvalue())), stream.getvalue()


def done(*options: str, syntax: str = ExplicitVRLittleEndian) -> tuple[Dataset, bytes]:
    with quiet():
        source, raw = read_back(whole(), syntax)
        assert all(trace in raw for trace in TRACES if b"\0" not in trace)
        out = deidentify(source, options=frozenset(options), salt=b"secret")
    return read_back(out, syntax)


@pytest.mark.parametrize("syntax", [ExplicitVRLittleEndian, ImplicitVRLittleEndian])
def test_basic_profile_leaves_no_trace(syntax: str) -> None:
    out, raw = done(syntax=syntax)
    for trace in TRACES:
        assert trace not in raw, trace
    assert not any(element.tag.is_private for element in out.iterall())
    assert not any(element.tag.group >> 8 in (0x50, 0x60) for element in out.iterall())
    assert raw[:128] == b"\0" * 128
    assert (out.Rows, out.Modality) == (7, "CT")


def test_every_attribute_has_the_action_of_its_row() -> None:
    source = whole()
    with quiet():
        out = deidentify(source, options=frozenset(), salt=b"secret")
    for tag in tags():
        name = f"{tag:08X}"
        action = profile.SAFE.get(profile.rules()[name]["basic"], profile.rules()[name]["basic"])
        if action == "X":
            assert tag not in out, name
            continue
        value, planted_value = out[tag].value, source[tag].value
        if name in ("00100010", "00100020"):
            assert str(value) not in ("", MARK)  # a token, which action Z allows
        elif action == "Z":
            assert not value, name
        elif action == "U" and out[tag].VR == "UI":
            assert str(value).startswith("2.25."), name
            assert value != planted_value
        else:
            assert value, name
            assert value != planted_value, name


def test_the_source_is_not_changed() -> None:
    source = whole()
    before = source.to_json()
    with quiet():
        deidentify(source, options=frozenset(), salt=b"secret")
        assert source.to_json() == before


@pytest.mark.parametrize("option", profile.OPTIONS, ids=lambda option: option.name)
def test_an_option_keeps_what_it_allows_and_nothing_else(option: profile.Option) -> None:
    source = whole()
    with quiet():
        basic = deidentify(source, options=frozenset(), salt=b"secret")
        out = deidentify(source, options=frozenset({option.name}), salt=b"secret")
    for tag in tags():
        code = profile.rules()[f"{tag:08X}"][option.column]
        name = keyword_for_tag(tag)
        if code == "K" and source[tag].VR != "SQ":
            assert out[tag].value == source[tag].value, name
        elif code == "K":
            assert len(out[tag].value) == len(source[tag].value), name
        elif code == "" and tag not in (0x00120064, 0x00280303) and source[tag].VR != "SQ":
            assert (tag in out) == (tag in basic), name
            assert tag not in out or out[tag].value == basic[tag].value, name
    if option.name.startswith("clean") or option.name == "retain-modified-dates":
        _, raw = read_back(out)
        assert not any(trace in raw for trace in TRACES if trace not in (b"070707",))


def test_statement_names_what_was_done() -> None:
    out, _ = done("retain-patient", "retain-modified-dates")
    assert out.PatientIdentityRemoved == "YES"
    codes = [item.CodeValue for item in out.DeidentificationMethodCodeSequence]
    assert codes == ["113100", "113108", "113107"]
    assert {item.CodingSchemeDesignator for item in out.DeidentificationMethodCodeSequence} == {
        "DCM"
    }
    assert out.LongitudinalTemporalInformationModified == "MODIFIED"
    assert "pixels not treated" in out.DeidentificationMethod
    assert done()[0].LongitudinalTemporalInformationModified == "REMOVED"
    assert done("retain-full-dates")[0].LongitudinalTemporalInformationModified == "UNMODIFIED"


def test_dates_move_by_one_distance_for_a_patient() -> None:
    def dates(patient: str, day: str, salt: bytes = b"secret") -> str:
        dataset = Dataset()
        dataset.PatientID, dataset.StudyDate, dataset.StudyTime = patient, day, "101112"
        dataset.AcquisitionDateTime = f"{day}101112.5"
        out = deidentify(dataset, options=frozenset({"retain-modified-dates"}), salt=salt)
        assert out.StudyTime == "101112"
        assert out.AcquisitionDateTime == f"{out.StudyDate}101112.5"
        return str(out.StudyDate)

    first, second = dates("P1", "20200101"), dates("P1", "20200131")
    assert first != "20200101"
    assert int(second) > int(first)
    import datetime

    distance = datetime.date.fromisoformat(second) - datetime.date.fromisoformat(first)
    assert distance.days == 30
    assert dates("P2", "20200101") != first
    assert dates("P1", "20200101", b"other") != first


def test_burned_in_annotation_is_left_and_earlier_work_on_pixels_is_kept() -> None:
    dataset = whole(BurnedInAnnotation="YES")
    item = Dataset()
    item.CodeValue, item.CodingSchemeDesignator = "113101", "DCM"
    item.CodeMeaning = "Clean Pixel Data Option"
    dataset.DeidentificationMethodCodeSequence = Sequence([item])
    with quiet():
        out = deidentify(dataset, options=frozenset(), salt=b"secret")
    assert out.BurnedInAnnotation == "YES"
    codes = [one.CodeValue for one in out.DeidentificationMethodCodeSequence]
    assert codes == ["113100", "113101"]


def test_identifiers_are_equal_where_they_were_equal() -> None:
    dataset = Dataset()
    dataset.SOPClassUID = "1.2.840.10008.5.1.4.1.1.2"
    dataset.StudyInstanceUID = dataset.FrameOfReferenceUID = UID
    reference = Dataset()
    reference.ReferencedSOPInstanceUID, reference.ReferencedSOPClassUID = UID, dataset.SOPClassUID
    dataset.SourceImageSequence = Sequence([reference])
    out = deidentify(dataset, options=frozenset(), salt=b"secret")
    assert out.StudyInstanceUID == out.FrameOfReferenceUID
    assert out.SourceImageSequence[0].ReferencedSOPInstanceUID == out.StudyInstanceUID
    assert out.SourceImageSequence[0].ReferencedSOPClassUID == dataset.SOPClassUID
    assert out.SOPClassUID == dataset.SOPClassUID
    assert len(out.StudyInstanceUID) <= 64
    other = deidentify(dataset, options=frozenset(), salt=b"other")
    assert other.StudyInstanceUID != out.StudyInstanceUID


def test_descriptions_keep_terms_and_lose_everything_else() -> None:
    dataset = Dataset()
    dataset.SeriesDescription = "AX T2 FLAIR Mustermann 3.0mm 123456 brain"
    dataset.StudyDescription = "Mustermann"
    out = deidentify(dataset, options=frozenset({"clean-descriptors"}), salt=b"s")
    assert out.SeriesDescription == "AX T2 FLAIR 3.0 mm brain"
    assert "StudyDescription" not in out


def test_a_patient_called_like_a_term_is_not_kept_as_one() -> None:
    dataset = Dataset()
    dataset.PatientName = "Sharp^Post"
    dataset.SeriesDescription = "AX post SHARP kernel, Sharp"
    out = deidentify(dataset, options=frozenset({"clean-descriptors"}), salt=b"s")
    assert out.SeriesDescription == "AX kernel"


def test_an_instance_below_the_standards_root_is_replaced() -> None:
    dataset = Dataset()
    dataset.SOPInstanceUID = "1.2.840.10008.77.7.7"
    dataset.FrameOfReferenceUID = "1.2.840.10008.1.4.1.1"  # Talairach Brain Atlas, registered
    out = deidentify(dataset, options=frozenset(), salt=b"s")
    assert out.SOPInstanceUID.startswith("2.25.")
    assert out.FrameOfReferenceUID == "1.2.840.10008.1.4.1.1"


def test_safe_private_elements_stay_with_their_block() -> None:
    dataset = Dataset()
    block = dataset.private_block(0x0019, "SIEMENS MR HEADER", create=True)
    block.add_new(0x0C, "IS", "1000")
    block.add_new(0x7F, "LO", MARK)
    other = dataset.private_block(0x0019, "Somebody", create=True)
    other.add_new(0x0C, "LO", MARK)
    out = deidentify(dataset, options=frozenset({"retain-safe-private"}), salt=b"s")
    assert out.private_block(0x0019, "SIEMENS MR HEADER")[0x0C].value == 1000
    assert len(out.group_dataset(0x0019)) == 2
    assert len(deidentify(dataset, options=frozenset(), salt=b"s").group_dataset(0x0019)) == 0


def test_attributes_outside_the_table_lose_the_patients_name() -> None:
    dataset = Dataset()
    dataset.PatientName, dataset.PatientID = "Grünwald^Anneliese", "PAT-4711"
    dataset.SpecificCharacterSet = "ISO_IR 192"
    dataset.ImageType = ["ORIGINAL", "PRIMARY"]
    dataset.ScanOptions = "FAST"
    dataset.add_new(0x00181160, "SH", "NONE")
    dataset.add_new(0x00081250, "SQ", Sequence([]))
    dataset.ModalitiesInStudy = "CT"
    dataset.SequenceName = "GRÜNWALD tse"
    dataset.add_new(0x00FF0010, "LO", "no private number")
    dataset.add_new(0x00990001, "LO", MARK)
    dataset.add_new(0x00980001, "LO", MARK)  # even, but in no dictionary
    out = deidentify(dataset, options=frozenset(), salt=b"s")
    assert "GRÜNWALD" not in str(out)
    assert out.SequenceName == "[removed] tse"
    assert 0x00980001 not in out
    assert out.ImageType == ["ORIGINAL", "PRIMARY"]


def test_no_salt_no_copy() -> None:
    with pytest.raises(ValueError, match="secret key"):
        deidentify(Dataset(), options=frozenset(), salt=b"")


@pytest.mark.parametrize(
    ("said", "left"),
    [
        ("DETECTOR VENDOR X SN=MB30801 rev 2", "DETECTOR VENDOR X SN=[removed] rev 2"),
        ("flat panel S/N: 4711-0815", "flat panel S/N: [removed]"),
        ("Serial Number 0815A", "Serial Number [removed]"),
        ("Seriennummer: K-9921", "Seriennummer: [removed]"),
        ("tube K77120 of 2019", "tube [removed] of 2019"),
        ("series 12, SNR 25, version 2.1", "series 12, SNR 25, version 2.1"),
        ("serial 3 of 4", "serial 3 of 4"),
    ],
)
def test_numbers_of_devices_do_not_stay_in_words(said: str, left: str) -> None:
    dataset = Dataset()
    dataset.DetectorDescription, dataset.DetectorID = said, "K77120"
    gone = deidentify(dataset, options=frozenset(), salt=b"s")
    assert gone.DetectorDescription == left
    kept = deidentify(dataset, options=frozenset({"retain-device"}), salt=b"s")
    assert kept.DetectorDescription == said


@pytest.mark.parametrize("options", [(), ("clean-structured-content",), ("clean-descriptors",)])
def test_what_is_taken_out_of_words_has_one_mark(options: tuple[str, ...]) -> None:
    words, person = Dataset(), Dataset()
    words.ValueType, words.TextValue = "TEXT", "Seen with Doe today"
    person.ValueType, person.PersonName = "PNAME", "Doe^Jane"
    report = Dataset()
    report.SOPClassUID, report.Modality = "1.2.840.10008.5.1.4.1.1.88.11", "SR"
    report.PatientName, report.ValueType = "Doe^Jane", "CONTAINER"
    report.VerifyingObserverSequence = Sequence([Dataset()])
    report.VerifyingObserverSequence[0].VerifyingOrganization = "St. Elsewhere"
    report.ContentSequence = Sequence([words, person])
    out = deidentify(report, options=frozenset(options), salt=b"s")
    told = [str(one.value) for one in out.iterall() if one.VR not in ("CS", "AE", "SQ")]
    assert any("[removed]" in value for value in told)
    assert not any("REMOVED" in value or "Doe" in value for value in told)
