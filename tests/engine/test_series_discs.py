"""Discs with an index, old files without marks, and objects without a picture."""

from __future__ import annotations

import shutil
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import pydicom
import pytest
from pydicom.dataset import Dataset, FileMetaDataset
from pydicom.fileset import FileSet
from pydicom.uid import (
    ExplicitVRBigEndian,
    ExplicitVRLittleEndian,
    ImplicitVRLittleEndian,
    generate_uid,
)

from engine.errors import EvidenceError
from engine.evidence.dicom.dicomdir import parts_of, read_disc
from engine.evidence.open import find_evidence, load_pixels
from engine.evidence.quiet import quiet
from engine.evidence.study import Evidence
from tests.engine.evidence_files import dicom, slices

AXIAL = [1, 0, 0, 0, 1, 0]


def disc(folder: Path, source: Path) -> Path:
    """A disc with two series of three slices, written by pydicom."""
    source.mkdir()
    files = FileSet()
    for series in ("1.2.50", "1.2.51"):
        for place in range(3):
            path = dicom(
                source / f"{series}.{place}", np.full((4, 5), place, np.int16),
                SeriesInstanceUID=series, StudyInstanceUID="1.2.40", PatientID="P", StudyID="1",
                SOPInstanceUID=f"{series}.{place}", PatientName="Wintergreen", StudyDate="20200101",
                StudyTime="1200", AccessionNumber="", SeriesNumber=1, InstanceNumber=place + 1,
                ImagePositionPatient=[0, 0, place], ImageOrientationPatient=AXIAL,
                PixelSpacing=[1, 1],
            )  # fmt: skip
            files.add(path)
    files.write(folder)
    files._stage["t"].cleanup()  # pydicom leaves that to the garbage collector, loudly
    return folder / "DICOMDIR"


def kinds(found: list[Evidence]) -> list[tuple[str, int]]:
    return sorted((one.kind, len(one.members)) for one in found)


def test_a_disc_gives_every_file_once_and_its_series_whole(tmp_path: Path) -> None:
    index = disc(tmp_path / "disc", tmp_path / "source")
    (tmp_path / "disc" / "extra").mkdir()
    slices(tmp_path / "disc" / "extra", [0.0, 1.0])
    found = list(find_evidence([tmp_path / "disc"]))
    assert kinds(found) == [("other", 1), ("volume", 2), ("volume", 3), ("volume", 3)]
    by_index = list(find_evidence([index]))
    assert kinds(by_index) == [("other", 1), ("volume", 3), ("volume", 3)]
    alone = list(find_evidence([index], follow=False))
    assert kinds(alone) == [("other", 1)]
    assert any("an index of 6 files" in note for note in alone[0].notes)
    assert "Wintergreen" not in repr(found) + repr(by_index)


@pytest.mark.parametrize("second", ["B", "A/INNER"])
def test_two_discs_below_one_folder_give_every_file_once(tmp_path: Path, second: str) -> None:
    disc(tmp_path / "all" / "A", tmp_path / "source")
    shutil.copytree(tmp_path / "all" / "A", tmp_path / "copy")
    shutil.move(tmp_path / "copy", tmp_path / "all" / second)
    found = list(find_evidence([tmp_path / "all"]))
    members = [member for one in found for member in one.members]
    assert len(members) == len(set(members)) == 14
    assert sum(one.kind == "other" for one in found) == 2


def test_series_that_an_index_spreads_over_folders_are_one(tmp_path: Path) -> None:
    disc(tmp_path / "disc", tmp_path / "source")
    files = sorted(path for path in (tmp_path / "disc").rglob("*") if path.is_file())
    assert len({path.parent for path in files}) == 3
    index = tmp_path / "disc" / "DICOMDIR"
    dataset = pydicom.dcmread(index)
    for number, record in enumerate(dataset.DirectoryRecordSequence):
        if "ReferencedFileID" in record:
            old = index.parent.joinpath(*record.ReferencedFileID)
            (index.parent / f"F{number}").mkdir()
            old.rename(index.parent / f"F{number}" / "I")
            record.ReferencedFileID = [f"F{number}", "I"]
    dataset.save_as(index)
    found = list(find_evidence([tmp_path / "disc"]))
    assert kinds(found) == [("other", 1), ("volume", 3), ("volume", 3)]


def test_names_are_found_in_any_case_and_missing_ones_counted(tmp_path: Path) -> None:
    index = disc(tmp_path / "disc", tmp_path / "source")
    for path in sorted((tmp_path / "disc").rglob("*"), reverse=True):
        if path != index:
            path.rename(path.with_name(path.name.lower()))
    gone = next(path for path in (tmp_path / "disc").rglob("*") if path.is_file() and path != index)
    gone.unlink()
    found = read_disc(index)
    assert (len(found.present), found.missing, found.refused) == (5, 1, 0)
    shown = next(one for one in find_evidence([index]) if one.kind == "other")
    assert any("1 of the files that the index names are not there" in n for n in shown.notes)


@pytest.mark.parametrize(
    ("words", "parts"),
    [
        (["IMAGES", "I1"], ("IMAGES", "I1")),
        (["IMAGES/I1"], ("IMAGES", "I1")),
        (["IMAGES\\I1"], ("IMAGES", "I1")),
        (["..", "I1"], None),
        (["A/../../I1"], None),
        (["", "etc", "passwd"], None),
        (["C:", "I1"], None),
        ([], None),
    ],
)
def test_file_names_of_an_index_stay_in_its_folder(words: list[str], parts: Any) -> None:
    assert parts_of(words) == parts


def test_an_index_cannot_lead_out(tmp_path: Path) -> None:
    index = disc(tmp_path / "disc", tmp_path / "source")
    secret = dicom(tmp_path / "secret", np.ones((3, 3), np.int16), SeriesInstanceUID="1.2.60")
    (tmp_path / "disc" / "LINK").symlink_to(secret)
    dataset = pydicom.dcmread(index)
    named = [one for one in dataset.DirectoryRecordSequence if "ReferencedFileID" in one]
    with quiet():
        named[0].ReferencedFileID = ["..", "secret"]
    named[1].ReferencedFileID = ["LINK"]
    dataset.save_as(index)
    found = read_disc(index)
    assert (len(found.present), found.missing, found.refused) == (4, 1, 1)
    assert secret not in {path.resolve() for path in found.present}


def test_a_disc_in_an_archive_gives_every_file_once(tmp_path: Path) -> None:
    disc(tmp_path / "disc", tmp_path / "source")
    with zipfile.ZipFile(tmp_path / "disc.zip", "w") as archive:
        for path in sorted((tmp_path / "disc").rglob("*")):
            archive.write(path, path.relative_to(tmp_path / "disc"))
    found = list(find_evidence([tmp_path / "disc.zip"]))
    assert kinds(found) == [("other", 1), ("volume", 3), ("volume", 3)]
    volume = next(one for one in found if one.kind == "volume")
    assert load_pixels(volume).array[:, 0, 0].tolist() == [0, 1, 2]
    assert any("an index of 6 files" in note for one in found for note in one.notes)


# --- files without marks ----------------------------------------------------------------------


def bare(path: Path, syntax: str) -> bytes:
    """A data set without preamble and meta."""
    values = np.arange(20, dtype=">i2" if syntax == ExplicitVRBigEndian else "<i2").reshape(4, 5)
    dicom(path, values.astype(np.int16), PixelSpacing=[1, 2], InstanceNumber=3)
    dataset = pydicom.dcmread(path)
    dataset.PixelData = values.tobytes()
    plain = Dataset()
    plain.update(dataset)
    pydicom.dcmwrite(
        path, plain, implicit_vr=syntax == ImplicitVRLittleEndian,
        little_endian=syntax != ExplicitVRBigEndian, force_encoding=True,
    )  # fmt: skip
    return path.read_bytes()


@pytest.mark.parametrize(
    "syntax", [ImplicitVRLittleEndian, ExplicitVRLittleEndian, ExplicitVRBigEndian]
)
def test_data_sets_without_preamble_are_read(tmp_path: Path, syntax: str) -> None:
    raw = bare(tmp_path / "noext", syntax)
    assert raw[128:132] != b"DICM"
    (evidence,) = find_evidence([tmp_path])
    assert (evidence.kind, evidence.error) == ("image", None)
    assert load_pixels(evidence).array[0].tolist() == np.arange(20).reshape(4, 5).tolist()


def test_a_preamble_of_private_bytes_is_passed_over(tmp_path: Path) -> None:
    path = dicom(tmp_path / "a", np.full((3, 3), 5, np.int16))
    raw = path.read_bytes()
    path.write_bytes(b"MAKER\0" + bytes(range(122)) + raw[128:])
    (evidence,) = find_evidence([path])
    assert load_pixels(evidence).array.max() == 5


def test_meta_without_preamble_is_read(tmp_path: Path) -> None:
    for start in (128, 132):
        path = dicom(tmp_path / f"a{start}", np.full((3, 3), 5, np.int16))
        path.write_bytes(path.read_bytes()[start:])
        (evidence,) = find_evidence([path])
        assert evidence.error is None, start
        assert load_pixels(evidence).array.max() == 5
        assert evidence.source["transfer_syntax"] == ExplicitVRLittleEndian


def acr_nema(path: Path, *, version: str, signed: bool = False) -> Path:
    """An ACR-NEMA file: implicit, group lengths, no identifiers of objects."""
    dataset = Dataset()
    dataset.add_new(0x00080001, "UL", 0)
    dataset.add_new(0x00080010, "SH", f"ACR-NEMA {version}")
    dataset.Modality = "CT"
    with quiet():
        dataset.StudyDate = "1991.02.03"
    dataset.PatientID = "4711"
    dataset.SamplesPerPixel = 1
    dataset.Rows, dataset.Columns = 4, 5
    dataset.BitsAllocated, dataset.BitsStored, dataset.HighBit = 16, 12, 11
    dataset.PixelRepresentation = int(signed)
    dataset.add_new(0x00280040, "SH", "RECT")
    dataset.PixelData = np.arange(20, dtype=np.uint16).tobytes()
    dataset["PixelData"].VR = "OW"
    with quiet():
        pydicom.dcmwrite(path, dataset, implicit_vr=True, little_endian=True, force_encoding=True)
    body = path.read_bytes()
    length = next(i for i in range(len(body)) if body[i : i + 2] != b"\x08\x00" and i % 2 == 0)
    head = b"\x08\x00\x00\x00\x04\x00\x00\x00" + (length or 0).to_bytes(4, "little")
    path.write_bytes(head + body)
    return path


@pytest.mark.parametrize("version", ["1.0", "2.0"])
def test_acr_nema_files_are_read(tmp_path: Path, version: str) -> None:
    path = acr_nema(tmp_path / "old", version=version)
    (evidence,) = find_evidence([path], salt=b"s")
    assert (evidence.kind, evidence.modality, evidence.shape) == ("image", "CT", (1, 4, 5))
    assert evidence.source["transfer_syntax"] == ImplicitVRLittleEndian
    assert load_pixels(evidence).array[0].tolist() == np.arange(20).reshape(4, 5).tolist()
    assert evidence.day is not None


def test_two_old_files_are_not_one_series(tmp_path: Path) -> None:
    acr_nema(tmp_path / "a", version="1.0")
    acr_nema(tmp_path / "b", version="2.0")
    assert [one.kind for one in find_evidence([tmp_path])] == ["image", "image"]


# --- objects without a picture ------------------------------------------------------------------


@pytest.mark.parametrize(
    ("uid", "modality", "words"),
    [
        ("1.2.840.10008.5.1.4.1.1.481.3", "RTSTRUCT", "outlines"),
        ("1.2.840.10008.5.1.4.1.1.481.5", "RTPLAN", "treatment"),
        ("1.2.840.10008.5.1.4.1.1.9.1.1", "ECG", "curves"),
        ("1.2.840.10008.5.1.4.1.1.11.1", "PR", "shown"),
        ("1.2.840.10008.5.1.4.1.1.88.59", "KO", "marked"),
        ("1.2.840.10008.5.1.4.1.1.4.2", "MR", "spectra"),
        ("1.2.840.10008.5.1.4.1.1.66", "OT", "raw"),
        ("1.2.840.10008.5.1.4.1.1.66.1", "REG", "registration"),
        ("1.2.840.10008.5.1.4.1.1.104.3", "M3D", "model"),
    ],
)
def test_objects_without_a_picture_say_what_they_are(
    tmp_path: Path, uid: str, modality: str, words: str
) -> None:
    path = dicom(tmp_path / "a", None, SOPClassUID=uid, Modality=modality)
    (evidence,) = find_evidence([path])
    assert evidence.kind == ("document" if modality == "M3D" else "other")
    assert evidence.source["object"] == pydicom.uid.UID(uid).name
    assert "holds no picture" in evidence.notes[0]
    assert words in " ".join(evidence.notes)
    with pytest.raises(EvidenceError, match="no picture"):
        load_pixels(evidence)


def test_a_file_of_nothing_but_meta_is_an_error(tmp_path: Path) -> None:
    meta = FileMetaDataset()
    meta.TransferSyntaxUID, meta.MediaStorageSOPClassUID = ExplicitVRLittleEndian, "1.2.3"
    meta.MediaStorageSOPInstanceUID = generate_uid()
    dataset = Dataset()
    dataset.file_meta = meta
    dataset.save_as(tmp_path / "a.dcm", enforce_file_format=True)
    (evidence,) = find_evidence([tmp_path / "a.dcm"])
    assert evidence.kind == "error"


@pytest.mark.parametrize("syntax", [ImplicitVRLittleEndian, ExplicitVRLittleEndian])
def test_a_preamble_without_meta_is_read(tmp_path: Path, syntax: str) -> None:
    path = tmp_path / "a"
    path.write_bytes(bytes(128) + b"DICM" + bare(path, syntax))
    (evidence,) = find_evidence([path])
    assert evidence.error is None
    assert evidence.source["transfer_syntax"] == syntax
    assert load_pixels(evidence).array[0].tolist() == np.arange(20).reshape(4, 5).tolist()


@pytest.mark.parametrize(
    "lead", [b"\x00" * 16, b"PREFIX: exported by a machine\r\n", b"\xff" * 700]
)
def test_bytes_before_the_preamble_are_passed_over(tmp_path: Path, lead: bytes) -> None:
    path = dicom(tmp_path / "a.dcm", np.full((3, 3), 5, np.int16), WindowCenter=1, WindowWidth=2)
    path.write_bytes(lead + path.read_bytes())
    (evidence,) = find_evidence([path])
    assert (evidence.error, evidence.window) == (None, (1.0, 2.0))
    assert load_pixels(evidence).array.max() == 5
    path.write_bytes(path.read_bytes()[:-3])
    (evidence,) = find_evidence([path])
    assert evidence.error is not None
    assert evidence.error.code == "truncated"
