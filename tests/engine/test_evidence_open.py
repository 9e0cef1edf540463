"""Finding evidence: series, bad input that stops nothing, and the silence about persons."""

from __future__ import annotations

import gzip
import hashlib
import hmac
import logging
import os
import struct
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pypdf
import pytest
from PIL import Image
from pydicom.dataset import Dataset
from pydicom.sequence import Sequence

from engine.control import Control
from engine.errors import Cancelled, EvidenceError
from engine.evidence.item import ImageRef, Item, VolumeRef
from engine.evidence.open import find_evidence, load_pixels, read_file, read_series
from engine.evidence.pixels import digest, prepare, thumbnail
from engine.evidence.show import describe
from engine.evidence.study import Evidence
from tests.engine.evidence_files import dicom, picture, ramp, slices

SURNAME, GIVEN, IDENTITY, BORN = "Wintergreen", "Ottoline", "ZQ-774411-K", "19610704"


def found(*paths: Path, **options: Any) -> list[Evidence]:
    return list(find_evidence(list(paths), **options))


# --- series ---------------------------------------------------------------------------------


def test_a_series_is_sorted_by_position_not_by_name_or_number(tmp_path: Path) -> None:
    slices(tmp_path, [5.0, -5.0, 0.0, 10.0])
    (evidence,) = found(tmp_path)
    assert (evidence.kind, evidence.form, evidence.path) == ("volume", "3d", tmp_path)
    assert (evidence.shape, evidence.orientation) == ((4, 4, 5), "LPS")
    assert evidence.spacing_mm == (5.0, 2.0, 3.0)
    assert load_pixels(evidence).array[:, 0, 0].tolist() == [1, 2, 0, 3]
    assert evidence.notes == ()


def test_gaps_and_uneven_steps_are_said(tmp_path: Path) -> None:
    slices(tmp_path, [0.0, 2.0, 4.0, 10.0, 12.0])
    (evidence,) = found(tmp_path)
    assert evidence.notes == ("uneven spacing: 2.00 to 6.00 mm", "gap of 2 slices after 3")


def test_rounding_in_the_cosines_does_not_split_a_series(tmp_path: Path) -> None:
    for number, tilt in enumerate((0.0049999, 0.0050001, 0.005)):
        slices(
            tmp_path,
            [float(number)],
            ImageOrientationPatient=[1, tilt, 0, -tilt, 1, 0],
            SOPInstanceUID=f"1.2.3.{number}",
        )
        (tmp_path / "file_001.dcm").rename(tmp_path / f"{number}.dcm")
    (evidence,) = found(tmp_path)
    assert len(evidence.members) == 3


def test_series_differ_by_size_and_by_uid(tmp_path: Path) -> None:
    (tmp_path / "a").mkdir()
    slices(tmp_path, [0.0, 1.0])
    place = {"ImageOrientationPatient": [1, 0, 0, 0, 1, 0], "ImagePositionPatient": [0, 0, 9.0]}
    dicom(tmp_path / "large.dcm", np.zeros((9, 9), np.int16), **place)
    dicom(tmp_path / "other.dcm", np.zeros((4, 5), np.int16), SeriesInstanceUID="1.2.10", **place)
    assert sorted(len(one.members) for one in found(tmp_path)) == [1, 1, 2]


def test_read_series_takes_files_in_any_order(tmp_path: Path) -> None:
    paths = slices(tmp_path, [3.0, 1.0, 2.0])
    assert read_series(paths).members == read_series(paths[::-1]).members


def test_rescale_keeps_whole_numbers_whole(tmp_path: Path) -> None:
    path = dicom(
        tmp_path / "a.dcm", np.array([[0, 4095]], np.uint16), RescaleSlope=1,
        RescaleIntercept=-1024,
    )  # fmt: skip
    array = load_pixels(read_file(path)).array
    assert array.dtype == np.int16
    assert array.tolist() == [[[-1024, 3071]]]
    path = dicom(
        tmp_path / "b.dcm", np.array([[0, 3]], np.uint16), RescaleSlope=0.25, RescaleIntercept=0
    )
    assert load_pixels(read_file(path)).array.tolist() == [[[0.0, 0.75]]]


def test_padding_stays_out_of_the_derived_window(tmp_path: Path) -> None:
    values = np.full((10, 10), -2000, np.int16)
    values[4:6] = np.arange(20).reshape(2, 10) * 10
    path = dicom(
        tmp_path / "a.dcm", values, PixelPaddingValue=-2000, RescaleSlope=1, RescaleIntercept=-100
    )
    pixels = load_pixels(read_file(path))
    assert pixels.padding == (-2100.0, -2100.0)
    center, width = pixels.window
    assert center - width / 2 > -101
    assert pixels.array.min() == -2100


def test_monochrome1_is_inverted_once(tmp_path: Path) -> None:
    values = np.array([[0, 255]], np.uint8)
    path = dicom(
        tmp_path / "a.dcm", values, PhotometricInterpretation="MONOCHROME1", WindowCenter=128,
        WindowWidth=256,
    )  # fmt: skip
    (seen,) = prepare(Item(images=(ImageRef(path),))).images
    assert seen[0, :, 0].tolist() == [255, 0]
    assert load_pixels(read_file(path)).array.tolist() == [[[0, 255]]]


def test_named_files_of_one_series_are_grouped(tmp_path: Path) -> None:
    paths = slices(tmp_path, [2.0, 1.0])
    (evidence,) = found(*paths)
    assert [path.name for path in evidence.members] == ["file_001.dcm", "file_002.dcm"]


# --- bad input ------------------------------------------------------------------------------


def good(folder: Path) -> Path:
    return picture(folder / "good.png", ramp())


def cut_png(folder: Path) -> Path:
    noise = np.random.default_rng(0).integers(0, 255, (64, 64), np.uint8)
    path = picture(folder / "cut.png", noise)
    path.write_bytes(path.read_bytes()[:1500])
    return path


def cut_dicom(folder: Path) -> Path:
    path = dicom(folder / "cut.dcm", np.zeros((64, 64), np.int16))
    path.write_bytes(path.read_bytes()[:-100])
    return path


def cut_header(folder: Path) -> Path:
    path = dicom(folder / "head.dcm", np.zeros((64, 64), np.int16), ImageComments="x" * 900)
    path.write_bytes(path.read_bytes()[:700])
    return path


def cut_nifti(folder: Path) -> Path:
    path = nifti(folder / "cut.nii", size=(4, 4, 4))
    path.write_bytes(path.read_bytes()[:-5])
    return path


def cut_gzip(folder: Path) -> Path:
    noise = np.random.default_rng(0).integers(0, 255, 4000, np.uint8).tobytes()
    path = folder / "cut.nii.gz"
    path.write_bytes(gzip.compress(nifti(folder / "x.nii", size=(4, 4, 4)).read_bytes() + noise))
    (folder / "x.nii").unlink()
    path.write_bytes(path.read_bytes()[:200])
    return path


def empty(folder: Path) -> Path:
    path = folder / "empty.png"
    path.touch()
    return path


def huge_nifti(folder: Path) -> Path:
    return nifti(folder / "huge.nii", size=(30000, 30000, 30000), data=b"")


def huge_dicom(folder: Path) -> Path:
    values = np.zeros((4, 4), np.int16)
    return dicom(folder / "huge.dcm", values, Rows=65000, Columns=65000, NumberOfFrames=9000)


def huge_png(folder: Path) -> Path:
    path = folder / "huge.png"
    head = struct.pack(">IIBBBBB", 200_000, 200_000, 8, 0, 0, 0, 0)
    chunk = b"IHDR" + head
    crc = struct.pack(">I", zlib.crc32(chunk))
    path.write_bytes(
        b"\x89PNG\r\n\x1a\n" + struct.pack(">I", len(head)) + chunk + crc + b"\0\0\0\0IDAT"
    )
    return path


def lonely_header(folder: Path) -> Path:
    path = folder / "lonely.mhd"
    path.write_text(
        "ObjectType = Image\nNDims = 3\nDimSize = 2 2 2\nElementType = MET_SHORT\n"
        "ElementDataFile = gone.raw\n",
        encoding="utf-8",
    )
    return path


def binary_text(folder: Path) -> Path:
    path = folder / "binary.txt"
    path.write_bytes(bytes(range(256)) * 4)
    return path


def nifti(path: Path, *, size: tuple[int, int, int], data: bytes | None = None) -> Path:
    """A minimal NIfTI-1 of int16 with no orientation."""
    head = bytearray(352)
    struct.pack_into("<i", head, 0, 348)
    struct.pack_into("<8h", head, 40, 3, *size, 1, 1, 1, 1)
    struct.pack_into("<2h", head, 70, 4, 16)
    struct.pack_into("<8f", head, 76, 1, 1, 1, 1, 0, 0, 0, 0)
    struct.pack_into("<f", head, 108, 352.0)
    head[344:348] = b"n+1\0"
    body = np.arange(np.prod(size), dtype="<i2").tobytes() if data is None else data
    path.write_bytes(bytes(head) + body)
    return path


BAD: list[tuple[Callable[[Path], Path], str]] = [
    (cut_png, "truncated"),
    (cut_dicom, "truncated"),
    (cut_header, "truncated"),
    (cut_nifti, "truncated"),
    (cut_gzip, "truncated"),
    (empty, "empty"),
    (huge_nifti, "too_large"),
    (huge_dicom, "too_large"),
    (huge_png, "too_large"),
    (lonely_header, "missing"),
    (binary_text, "not_text"),
]


@pytest.mark.parametrize(("make", "code"), BAD, ids=[make.__name__ for make, _ in BAD])
def test_one_bad_file_says_why_and_the_rest_goes_on(
    tmp_path: Path, make: Callable[[Path], Path], code: str
) -> None:
    bad, fine = make(tmp_path), good(tmp_path)
    shown = [describe(one) for one in found(tmp_path)]
    assert {one["path"] for one in shown} == {str(bad), str(fine)}
    errors = {one["path"]: one["error"] for one in shown}
    assert errors[str(fine)] is None
    assert errors[str(bad)]["code"] == code
    assert ";" in errors[str(bad)]["message"] or "," in errors[str(bad)]["message"]
    with pytest.raises(EvidenceError):
        prepare(Item(volumes=(VolumeRef((bad,), kind="file"),)))


def test_a_cut_slice_leaves_a_gap_not_a_black_slice(tmp_path: Path) -> None:
    paths = slices(tmp_path, [0.0, 1.0, 2.0, 3.0, 4.0])
    paths[2].write_bytes(paths[2].read_bytes()[:-4])
    series, bad = sorted(found(tmp_path), key=lambda one: one.kind == "error")
    assert bad.error is not None
    assert bad.error.code == "truncated"
    assert len(series.members) == 4
    assert "gap of 1 slice after 2" in series.notes
    with pytest.raises(EvidenceError, match="ends before"):
        read_series(paths)


def test_a_folder_that_may_not_be_opened_is_one_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "locked").mkdir()
    good(tmp_path)
    real = os.scandir

    def scandir(folder: Path) -> Any:
        if Path(folder).name == "locked":
            raise PermissionError(13, "denied")
        return real(folder)

    monkeypatch.setattr(os, "scandir", scandir)
    kinds = {one.path.name: one.error.code if one.error else None for one in found(tmp_path)}
    assert kinds == {"good.png": None, "locked": "denied"}


def test_paths_that_are_not_there_are_named(tmp_path: Path) -> None:
    (evidence,) = found(tmp_path / "nothing.dcm")
    assert evidence.error is not None
    assert evidence.error.code == "missing"
    with pytest.raises(EvidenceError):
        load_pixels(evidence)


def test_what_is_no_evidence_is_said_and_hidden_files_are_left(tmp_path: Path) -> None:
    (tmp_path / "notes.xyz").write_text("{}", encoding="utf-8")
    (tmp_path / ".hidden.png").write_bytes(b"x")
    (tmp_path / "Thumbs.db").write_bytes(b"x")
    (evidence,) = found(tmp_path)
    assert (evidence.path.name, evidence.kind, evidence.error) == ("notes.xyz", "other", None)
    assert evidence.notes == ("not a kind of file that is read as evidence",)


def test_content_counts_not_the_name(tmp_path: Path) -> None:
    good(tmp_path).rename(tmp_path / "picture")
    dicom(tmp_path / "slice.txt", np.zeros((3, 3), np.int16))
    nifti(tmp_path / "brain", size=(3, 4, 5))
    document = pypdf.PdfWriter()
    document.add_blank_page(72, 72)
    document.write(tmp_path / "doc.bin")
    kinds = {one.path.name: one.kind for one in found(tmp_path)}
    assert kinds == {
        "picture": "image", "slice.txt": "image", "brain": "volume", "doc.bin": "document",
    }  # fmt: skip


def test_an_odd_header_value_is_an_error_not_a_crash(tmp_path: Path) -> None:
    path = dicom(tmp_path / "a.dcm", np.zeros((4, 4), np.int16))
    raw = path.read_bytes()
    at = raw.index(b"\x28\x00\x10\x00US")
    path.write_bytes(raw[: at + 4] + b"XX" + raw[at + 6 :])
    (evidence,) = found(tmp_path)
    assert evidence.error is not None
    assert evidence.error.code in {"damaged", "truncated", "no_pixels"}


def test_a_file_without_orientation_says_so(tmp_path: Path) -> None:
    evidence = read_file(nifti(tmp_path / "a.nii", size=(3, 4, 5)))
    assert evidence.orientation is None
    assert any("no orientation" in note for note in evidence.notes)
    assert load_pixels(evidence).array[1, 2, 1] == 1 * 12 + 2 * 3 + 1


def test_probes_outside_and_several_time_points(tmp_path: Path) -> None:
    path = nifti(tmp_path / "a.nii", size=(2, 2, 2), data=np.arange(24, dtype="<i2").tobytes())
    raw = bytearray(path.read_bytes())
    struct.pack_into("<8h", raw, 40, 4, 2, 2, 2, 3, 1, 1, 1)
    path.write_bytes(bytes(raw))
    shown = describe(read_file(path), probes=[(0, 1, 1), (9, 0, 0), (0, 0, -1)])
    assert shown["shape"] == [2, 2, 2]
    assert shown["probes"][0]["value"] == [3.0, 11.0, 19.0]
    assert [one["value"] for one in shown["probes"][1:]] == [None, None]
    assert (shown["min"], shown["max"], shown["mean"]) == (0.0, 23.0, 11.5)
    assert shown["notes"][0] == "3 time points; the first is shown"


def test_values_that_are_no_number_do_not_spoil_the_facts(tmp_path: Path) -> None:
    values = np.array([[1.0, np.nan], [3.0, np.inf]], np.float32)
    picture(tmp_path / "a.tif", values)
    shown = describe(read_file(tmp_path / "a.tif"), probes=[(0, 0, 1)])
    assert (shown["min"], shown["max"], shown["mean"]) == (1.0, 3.0, 2.0)
    assert shown["probes"][0]["value"] is None


def test_work_stops_when_asked_and_tells_how_far_it_is(tmp_path: Path) -> None:
    for number in range(4):
        picture(tmp_path / f"{number}.png", ramp())
    told: list[tuple[int, int, str]] = []
    watching = Control(report=lambda done, total, unit, _: told.append((done, total, unit)))
    assert len(found(tmp_path, control=watching)) == 4
    assert told[0] == (0, 4, "files")
    assert told[-1] == (4, 4, "files")
    with pytest.raises(Cancelled):
        found(tmp_path, control=Control(cancelled=lambda: True))


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "cp1252", "utf-16"])
def test_texts_of_many_encodings(tmp_path: Path, encoding: str) -> None:
    words = "Größe 3 mm, unverändert.\r\nKein Erguß."
    (tmp_path / "a.txt").write_bytes(words.encode(encoding))
    evidence = read_file(tmp_path / "a.txt")
    assert (evidence.kind, evidence.form, evidence.text) == ("report", "text", words)
    assert describe(evidence)["characters"] == len(words)
    assert "text" not in describe(evidence)


# --- persons --------------------------------------------------------------------------------


def person() -> dict[str, Any]:
    """Every usual place of a person's data, planted."""
    name = f"{SURNAME}^{GIVEN}"
    other = Dataset()
    other.PatientID = IDENTITY
    return {
        "PatientName": name,
        "PatientID": IDENTITY,
        "IssuerOfPatientID": "Clinic",
        "PatientBirthDate": BORN,
        "PatientComments": f"{SURNAME} {GIVEN}",
        "OtherPatientIDsSequence": Sequence([other]),
        "StudyDescription": SURNAME,
        "SeriesDescription": SURNAME,
        "ImageComments": SURNAME,
        "AccessionNumber": IDENTITY,
        "InstitutionName": SURNAME,
        "ReferringPhysicianName": name,
        "ProtocolName": SURNAME,
    }


def says_nothing(words: str) -> None:
    lower = words.lower()
    for secret in (SURNAME, GIVEN, IDENTITY, BORN):
        assert secret.lower() not in lower


def everything(evidence: Evidence) -> str:
    """All that an Evidence, its description, item, pixels and errors could show."""
    words = [repr(evidence), repr(vars(evidence)), repr(describe(evidence, with_text=True))]
    if evidence.error is None and evidence.shape is not None:
        words.append(repr(vars(load_pixels(evidence))))
    return " ".join(words)


def test_no_person_s_data_leaves_a_reader(
    tmp_path: Path, capfd: pytest.CaptureFixture[str], caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    slices(tmp_path, [0.0, 1.0, 5.0], **person())
    dicom(tmp_path / "single.dcm", ramp(), SeriesInstanceUID="1.2.77", **person())
    dicom(tmp_path / "plan.dcm", None, SOPClassUID="1.2.840.10008.5.1.4.1.1.481.5", **person())
    odd = dicom(
        tmp_path / "odd.dcm", ramp(), SeriesInstanceUID="1.2.78", **{**person(), "Rows": 999}
    )
    cut = dicom(tmp_path / "cut.dcm", ramp(), SeriesInstanceUID="1.2.79", **person())
    cut.write_bytes(cut.read_bytes()[:-9])
    bad = dicom(tmp_path / "bad.dcm", ramp(), SeriesInstanceUID="1.2.80", **person())
    bad.write_bytes(bad.read_bytes().replace(BORN.encode(), SURNAME[:8].encode()))
    evidence = found(tmp_path, salt=b"pepper")
    assert len(evidence) == 6
    for one in evidence:
        says_nothing(everything(one))
    errors = {one.path.name for one in evidence if one.error is not None}
    assert errors == {odd.name, cut.name}
    for path in (odd, cut):
        with pytest.raises(EvidenceError) as caught:
            thumbnail(ImageRef(path), 8)
        says_nothing(repr(caught.value) + str(caught.value))
    out, err = capfd.readouterr()
    says_nothing(out + err + caplog.text)


def test_a_report_s_persons_stay_inside(tmp_path: Path) -> None:
    def concept(code: str, meaning: str) -> Dataset:
        found = Dataset()
        found.CodeValue, found.CodingSchemeDesignator, found.CodeMeaning = code, "DCM", meaning
        return found

    def content(kind: str, code: str, meaning: str, keyword: str, value: str) -> Dataset:
        node = Dataset()
        node.ValueType = kind
        node.ConceptNameCodeSequence = Sequence([concept(code, meaning)])
        setattr(node, keyword, value)
        return node

    nodes = [
        content("PNAME", "121008", "Person Observer Name", "PersonName", f"{SURNAME}^{GIVEN}"),
        content("TEXT", "121029", "Subject Name", "TextValue", SURNAME),
        content("TEXT", "121071", "Finding", "TextValue", "Small effusion on the left."),
    ]
    path = dicom(
        tmp_path / "sr.dcm", None, SOPClassUID="1.2.840.10008.5.1.4.1.1.88.11",
        ContentSequence=Sequence(nodes), ConceptNameCodeSequence=Sequence(
            [concept("126000", "Imaging Report")]), **{**person(), "Modality": "SR"},
    )  # fmt: skip
    evidence = read_file(path, salt=b"pepper")
    assert evidence.text == "Imaging Report\nFinding: Small effusion on the left."
    says_nothing(everything(evidence))


def test_the_pseudonym_is_a_salted_hash_of_id_and_issuer(tmp_path: Path) -> None:
    path = dicom(tmp_path / "a.dcm", ramp(), **person())
    wanted = hmac.new(b"salt", f"{IDENTITY}\0Clinic".encode(), hashlib.sha256).hexdigest()
    assert read_file(path, salt=b"salt").subject == wanted
    assert read_file(path, salt=b"other").subject not in (None, wanted)
    assert read_file(path).subject is None
    nobody = dicom(tmp_path / "b.dcm", ramp())
    assert read_file(nobody, salt=b"salt").subject is None


def test_free_text_of_picture_files_is_not_read(tmp_path: Path) -> None:
    exif = Image.Exif()
    exif[0x010E] = f"{SURNAME} {IDENTITY}"
    Image.fromarray(ramp()).save(tmp_path / "a.jpg", exif=exif)
    path = nifti(tmp_path / "b.nii", size=(2, 2, 2))
    raw = bytearray(path.read_bytes())
    raw[148 : 148 + len(SURNAME)] = SURNAME.encode()
    path.write_bytes(bytes(raw))
    for one in found(tmp_path):
        assert one.error is None
        says_nothing(everything(one))


def test_files_of_one_folder_are_read_only(tmp_path: Path) -> None:
    slices(tmp_path, [0.0, 1.0])
    good(tmp_path)
    before = {path: (path.stat().st_mtime_ns, path.read_bytes()) for path in tmp_path.iterdir()}
    for one in found(tmp_path):
        describe(one)
        digest(Item(images=(ImageRef(one.members[0]),)))
    after = {path: (path.stat().st_mtime_ns, path.read_bytes()) for path in tmp_path.iterdir()}
    assert before == after
