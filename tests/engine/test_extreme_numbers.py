"""Headers with numbers at the ends of what a float holds: an end in words, never a warning."""

from __future__ import annotations

import io
import struct
from pathlib import Path
from typing import Any

import pydicom
import pytest

from tests.fuzz import makers, makers_dicom
from tests.fuzz.check import examine

REALS = ("1e200", "1e308", "-1e308", "1e-200", "1e-320", "1e30", "nan", "inf")
NIFTI = (76, 80, 84, 88, 108, 112, 116, 124, 128, 256, 268, 280, 284, 292, 296, 324)
DICOM: list[tuple[str, Any]] = [
    ("PixelSpacing", ["1e300", "1e300"]), ("PixelSpacing", ["1e-300", "1e-300"]),
    ("ImagePositionPatient", ["1e300", "0", "-1e300"]), ("SliceThickness", "1e300"),
    ("ImageOrientationPatient", ["1e200", "0", "0", "0", "1e200", "0"]),
    ("RescaleSlope", "1e300"), ("RescaleIntercept", "1e308"), ("RescaleSlope", "1e-320"),
    ("WindowCenter", "1e308"), ("WindowWidth", "1e308"), ("WindowWidth", "1e-300"),
    ("SpacingBetweenSlices", "1e300"), ("PixelAspectRatio", ["1", "99999999"]),
]  # fmt: skip


def examined(folder: Path, files: dict[str, bytes]) -> None:
    folder.mkdir()
    for name, raw in files.items():
        (folder / name).write_bytes(raw)
    report = examine(folder)
    assert report.findings == ()
    assert report.ends


@pytest.mark.parametrize("value", REALS)
def test_grids(tmp_path: Path, value: str) -> None:
    nrrd, mha = makers.nrrd_bzip2()["a.nrrd"], makers.mha()["a.mha"]
    word, turn = value.encode(), b" 3\nTransformMatrix = 1 0 0 0 1 0 0 0 1"
    grids = (
        ("a.nrrd", nrrd.replace(b"(0,2,0)", b"(0," + word + b",0)")),
        ("a.nrrd", nrrd.replace(b"(1,2,3)", b"(" + word + b",2,3)")),
        ("a.mha", mha.replace(b"= 1 2 3", b"= 1 " + word + turn)),
        ("a.mha", mha.replace(b"ElementSpacing", b"TransformMatrix = " + word
                              + b" 0 0 0 1 0 0 0 1\nElementSpacing")),
        ("a.mha", mha.replace(b"ElementSpacing", b"Offset = " + word + b" 0 0\nElementSpacing")),
    )  # fmt: skip
    for number, (name, raw) in enumerate(grids):
        assert word in raw
        examined(tmp_path / str(number), {name: raw})


@pytest.mark.parametrize("value", REALS)
def test_nifti(tmp_path: Path, value: str) -> None:
    number = float(value)
    fits = number if abs(number) < 3e38 or number != number else float("inf")
    for offset in NIFTI:
        for forms in (b"\0\0\1\0", b"\1\0\0\0"):  # sform, qform
            raw = bytearray(makers.nifti_4d()["a.nii"])
            struct.pack_into("<f", raw, offset, fits if abs(fits) != float("inf") else 3e38)
            raw[252:256] = forms
            examined(tmp_path / f"{offset}{forms[0]}", {"a.nii": bytes(raw)})


@pytest.mark.parametrize(("keyword", "value"), DICOM)
def test_dicom(tmp_path: Path, keyword: str, value: Any) -> None:
    files = {}
    for number in range(3):
        dataset = pydicom.dcmread(io.BytesIO(makers_dicom.ct(number)))
        setattr(dataset, keyword, value)
        if keyword == "PixelAspectRatio":
            del dataset.PixelSpacing
        files[f"I{number}"] = makers_dicom.saved(dataset)
    examined(tmp_path / "series", files)
