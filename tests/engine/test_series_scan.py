"""The lean header reader answers as pydicom does, and hands over what is unusual."""

from __future__ import annotations

import io
from dataclasses import fields, replace
from pathlib import Path
from typing import Any

import numpy as np
import pydicom
import pytest
from numpy.random import default_rng
from pydicom.dataset import Dataset
from pydicom.filereader import read_partial
from pydicom.multival import MultiValue
from pydicom.uid import (
    DeflatedExplicitVRLittleEndian,
    ExplicitVRBigEndian,
    ExplicitVRLittleEndian,
    ImplicitVRLittleEndian,
)

from engine.errors import EvidenceError
from engine.evidence.dicom import read as dicom_read
from engine.evidence.dicom.instance import read_dicom
from engine.evidence.dicom.lean import FIRST, Scanned, scan
from engine.evidence.dicom.recall import Recall
from engine.evidence.quiet import quiet
from engine.evidence.study import Evidence
from tests.engine.evidence_files import dicom, slices
from tests.shared import SHARED, shared_path

PIXELS = {0x7FE00008, 0x7FE00009, 0x7FE00010}


def lean(raw: bytes) -> Any:
    return scan(raw[:FIRST], io.BytesIO(raw), len(raw))


def same(ours: Any, theirs: Any) -> bool:
    if isinstance(theirs, (MultiValue, list)):
        return (
            isinstance(ours, type(theirs))
            and len(ours) == len(theirs)
            and all(map(same, ours, theirs))
        )
    if isinstance(theirs, float):
        return float(ours) == float(theirs)
    return ours == theirs or (ours in (None, "") and theirs in (None, ""))


def check_answers(ours: Scanned, theirs: Dataset) -> None:
    """Every question of one data set, and of the items of its sequences."""
    assert sorted(ours.keys()) == sorted(map(int, theirs.keys()))
    for element in theirs:
        if not element.keyword:
            continue
        assert element.keyword in ours
        answer = ours.get(element.keyword)
        if element.VR == "SQ":
            assert len(answer) == len(element.value)
            for item, other in zip(answer, element.value, strict=True):
                check_answers(item, other)
        else:
            assert same(answer, element.value), (element.keyword, answer, element.value)
    assert "EscapeTriplet" not in ours
    assert ours.get("EscapeTriplet", 7) == 7


def handed() -> list[Path]:
    root = SHARED / "data/files"
    return sorted(path for path in root.rglob("*") if path.is_file()) if root.exists() else []


def test_every_handed_file_is_answered_as_by_pydicom() -> None:
    shared_path("data/files")
    lean_ones = 0
    for path in handed():
        raw = path.read_bytes()
        found = lean(raw)
        if found is None:
            continue
        lean_ones += 1
        with quiet():
            theirs = read_partial(
                io.BytesIO(raw), stop_when=lambda tag, vr, length: int(tag) in PIXELS
            )
            check_answers(found.dataset, theirs)
            whole = pydicom.dcmread(io.BytesIO(raw))
        assert found.syntax == whole.file_meta.TransferSyntaxUID
        if found.pixel_length != 0xFFFFFFFF:
            stored = raw[found.pixel_at : found.pixel_at + found.pixel_length]
            assert stored == whole[found.pixel_tag].value
    assert lean_ones > 100


def described(path: Path) -> tuple[Evidence | None, str]:
    try:
        return read_dicom(path, salt=b"s").evidence, ""
    except EvidenceError as error:
        return None, error.code


def check_equal(one: Evidence | None, other: Evidence | None) -> None:
    assert (one is None) == (other is None)
    if one is None or other is None:
        return
    for field in fields(Evidence):
        mine, theirs = getattr(one, field.name), getattr(other, field.name)
        if field.name == "geometry":
            assert (mine is None) == (theirs is None)
            if mine is not None:
                assert mine.frame == theirs.frame
                np.testing.assert_array_equal(mine.origin_Z3, theirs.origin_Z3)
                np.testing.assert_array_equal(mine.row_step, theirs.row_step)
        elif field.name not in ("native", "error"):
            assert mine == theirs, field.name


def test_every_handed_file_is_judged_alike_by_both_ways(monkeypatch: pytest.MonkeyPatch) -> None:
    shared_path("data/files")
    paths = [path for path in handed() if path.read_bytes()[128:132] == b"DICM"]
    ours = [described(path) for path in paths]
    monkeypatch.setattr(dicom_read, "scan", lambda data, stream, size: None)
    for path, (evidence, code) in zip(paths, ours, strict=True):
        other, other_code = described(path)
        check_equal(evidence, other)
        assert code == other_code


# --- hostile variants -----------------------------------------------------------------------


def rich(path: Path, syntax: str = ExplicitVRLittleEndian) -> bytes:
    """A header with sequences of both kinds, private blocks, and awkward values."""
    dicom(
        path, np.arange(20, dtype=np.int16).reshape(4, 5), ImagePositionPatient=[0, 0, 1.5],
        ImageOrientationPatient=[1, 0, 0, 0, 1, 0], PixelSpacing=[1, 1], WindowCenter=[40, 600],
        WindowWidth=[400, 1600], InstanceNumber=7, PatientID="4711", PixelPaddingValue=-2000,
    )  # fmt: skip
    dataset = pydicom.dcmread(path)
    inner = Dataset()
    inner.CodeValue, inner.CodeMeaning = "T-D1100", "Head"
    outer = Dataset()
    outer.AnatomicRegionSequence = [inner, inner]
    dataset.AnatomicRegionSequence = [inner]
    dataset.RequestAttributesSequence = [outer]
    dataset["RequestAttributesSequence"].is_undefined_length = True
    dataset.private_block(0x0029, "MAKER", create=True).add_new(0x10, "OB", bytes(300))
    _as(dataset, path, syntax)
    return path.read_bytes()


def _as(dataset: pydicom.FileDataset, path: Path, syntax: str) -> None:
    if syntax == ExplicitVRBigEndian:
        dataset.PixelData = np.frombuffer(dataset.PixelData, "<i2").astype(">i2").tobytes()
    dataset.file_meta.TransferSyntaxUID = syntax
    pydicom.dcmwrite(path, dataset, implicit_vr=syntax == ImplicitVRLittleEndian,
                     little_endian=syntax != ExplicitVRBigEndian)  # fmt: skip


@pytest.mark.parametrize(
    "syntax", [ExplicitVRLittleEndian, ImplicitVRLittleEndian, ExplicitVRBigEndian]
)
def test_the_three_plain_forms_are_read_leanly(tmp_path: Path, syntax: str) -> None:
    raw = rich(tmp_path / "a.dcm", syntax)
    found = lean(raw)
    assert found is not None
    with quiet():
        check_answers(found.dataset, pydicom.dcmread(io.BytesIO(raw), stop_before_pixels=True))
    evidence, code = described(tmp_path / "a.dcm")
    assert code == ""
    assert evidence is not None
    assert evidence.windows == ((40.0, 400.0), (600.0, 1600.0))


def test_deflated_files_and_files_without_pixels_go_to_pydicom(tmp_path: Path) -> None:
    rich(tmp_path / "a.dcm")
    dataset = pydicom.dcmread(tmp_path / "a.dcm")
    _as(dataset, tmp_path / "b.dcm", DeflatedExplicitVRLittleEndian)
    assert lean((tmp_path / "b.dcm").read_bytes()) is None
    del dataset.PixelData
    _as(dataset, tmp_path / "c.dcm", ExplicitVRLittleEndian)
    assert lean((tmp_path / "c.dcm").read_bytes()) is None


def test_long_headers_are_read_on(tmp_path: Path) -> None:
    path = tmp_path / "a.dcm"
    dicom(path, np.ones((3, 3), np.int16), ICCProfile=bytes(200_000))
    found = lean(path.read_bytes())
    assert found is not None
    assert found.dataset.get("Rows") == 3


@pytest.mark.parametrize("syntax", [ExplicitVRLittleEndian, ImplicitVRLittleEndian])
def test_mutants_are_judged_alike_by_both_ways(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, syntax: str
) -> None:
    raw = rich(tmp_path / "a.dcm", syntax)
    random = default_rng(11)
    mutants = []
    for _ in range(250):
        changed = bytearray(raw)
        for at in random.integers(132, len(raw), random.integers(1, 4)):
            changed[at] = random.choice([0, 1, 0x20, 0x5C, 0x7F, 0xFF, random.integers(256)])
        cut = random.integers(140, len(raw)) if random.random() < 0.2 else len(raw)
        mutants.append(bytes(changed[:cut]))
    mine = []
    path = tmp_path / "m.dcm"
    for mutant in mutants:
        path.write_bytes(mutant)
        mine.append(described(path))
    monkeypatch.setattr(dicom_read, "scan", lambda data, stream, size: None)
    for mutant, (evidence, code) in zip(mutants, mine, strict=True):
        path.write_bytes(mutant)
        other, other_code = described(path)
        assert code == other_code
        check_equal(evidence, other)


# --- what is remembered from file to file -----------------------------------------------------


def test_a_walk_judges_each_file_as_if_it_were_alone(tmp_path: Path) -> None:
    paths = slices(tmp_path, [0.0, 1.0, 2.0], PatientID="1", WindowCenter=1, WindowWidth=2)
    dataset = pydicom.dcmread(paths[1])
    dataset.WindowCenter, dataset.BurnedInAnnotation, dataset.PatientID = 9, "YES", "2"
    dataset.save_as(paths[1])
    recall = Recall()
    for path in [*paths, *paths]:
        together = read_dicom(path, salt=b"s", recall=recall)
        check_equal(together.evidence, read_dicom(path, salt=b"s").evidence)
    middle = read_dicom(paths[1], salt=b"s", recall=recall).evidence
    assert middle.window == (9.0, 2.0)
    assert middle.subject != read_dicom(paths[0], salt=b"s", recall=recall).evidence.subject
    assert "burned-in text possible" in middle.notes


def test_memory_and_instances_hold_nobody(tmp_path: Path) -> None:
    words = ("WINTERGREEN", "ZQ774411", "19610704")
    paths = slices(
        tmp_path, [0.0, 1.0], PatientID=words[1], PatientName=words[0], PatientBirthDate=words[2],
        StudyDate="20200203", PatientComments=words[0],
    )  # fmt: skip
    recall = Recall()
    found = [read_dicom(path, salt=b"s", recall=recall) for path in paths]
    seen = repr(found) + repr(vars(recall)) + repr([vars(one) for one in found])
    assert not [word for word in (*words, "20200203") if word in seen]
    assert found[0].evidence.subject is not None
    assert replace(found[0].evidence).day is not None
