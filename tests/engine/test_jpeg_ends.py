"""Where a JPEG picture ends: lost intervals, scans and last bytes are found, fill is no loss."""

from __future__ import annotations

import io
import re
from pathlib import Path

import imagecodecs
import numpy as np
import pytest
from PIL import Image

from engine.errors import EvidenceError
from engine.evidence.dicom import jpeg_scans
from engine.evidence.open import load_pixels, read_file
from tests.engine.dicom_files import J2K, JPEG, JPEG_LS, LOSSLESS_70, even, packed, smooth
from tests.engine.test_dicom_syntaxes import lossless

END = b"\xff\xd9"
PROGRESSIVE = "1.2.840.10008.1.2.4.55"
GREY = (smooth(90, 100, most=255) + np.random.default_rng(2).integers(0, 9, (90, 100))) % 256
GREY = GREY.astype(np.uint8)
COLOR = np.stack([GREY, GREY[::-1], 255 - GREY], axis=-1)


def jpeg(values: np.ndarray, **options: object) -> bytes:
    out = io.BytesIO()
    Image.fromarray(values).save(out, "JPEG", quality=90, **options)
    return out.getvalue()


def shown(folder: Path, stream: bytes, values: np.ndarray, *, plain: bool) -> np.ndarray | str:
    """The picture, or the code of its error."""
    if plain:
        path = folder / "a.jpg"
        path.write_bytes(stream)
    else:
        path = folder / "a.dcm"
        space = "YBR_FULL_422" if values.ndim == 3 else "MONOCHROME2"
        packed(path, [even(stream)], values.shape, syntax=JPEG, bits=8,
               PhotometricInterpretation=space)  # fmt: skip
    try:
        return load_pixels(read_file(path)).array[0]
    except EvidenceError as error:
        return error.code


def refused(folder: Path, stream: bytes, values: np.ndarray, *, plain: bool) -> str:
    """The code of the error of a picture that must have one."""
    found = shown(folder, stream, values, plain=plain)
    assert isinstance(found, str)
    return found


@pytest.mark.parametrize("plain", [True, False], ids=["jpg", "dicom"])
@pytest.mark.parametrize("values", [GREY, COLOR], ids=["grey", "colour"])
@pytest.mark.parametrize("rows", [1, 2])
def test_lost_restart_intervals_are_missed(
    tmp_path: Path, values: np.ndarray, rows: int, plain: bool
) -> None:
    whole = jpeg(values, restart_marker_rows=rows)
    assert isinstance(shown(tmp_path, whole, values, plain=plain), np.ndarray)
    marks = [one.start() for one in re.finditer(rb"\xff[\xd0-\xd7]", whole)]
    assert len(marks) >= 2
    for at in marks:
        for cut in (at, at + 2):
            code = refused(tmp_path, whole[:cut] + END, values, plain=plain)
            assert code in ("truncated", "damaged")
    lost = whole[: marks[0]] + whole[marks[1] :]  # an interval from the middle
    code = refused(tmp_path, lost, values, plain=plain)
    assert code in ("truncated", "damaged")


@pytest.mark.parametrize("plain", [True, False], ids=["jpg", "dicom"])
@pytest.mark.parametrize("values", [GREY, COLOR], ids=["grey", "colour"])
def test_a_progressive_picture_without_its_last_scans_is_cut(
    tmp_path: Path, values: np.ndarray, plain: bool
) -> None:
    whole = jpeg(values, progressive=True)
    assert isinstance(shown(tmp_path, whole, values, plain=plain), np.ndarray)
    scans = [one.start() for one in re.finditer(rb"\xff\xda", whole)]
    assert len(scans) > 3
    for at in scans[1:]:
        table = whole.rfind(b"\xff\xc4", 0, at)  # tables of the scan that is left out may stay
        for cut in (at, table):
            code = refused(tmp_path, whole[:cut] + END, values, plain=plain)
            assert code in ("truncated", "damaged")


@pytest.mark.parametrize("plain", [True, False], ids=["jpg", "dicom"])
@pytest.mark.parametrize("options", [{}, {"progressive": True}, {"restart_marker_rows": 1}])
@pytest.mark.parametrize("values", [GREY, COLOR], ids=["grey", "colour"])
def test_lost_last_bytes_are_missed(
    tmp_path: Path, values: np.ndarray, options: dict[str, object], plain: bool
) -> None:
    whole = jpeg(values, **options)
    picture = shown(tmp_path, whole, values, plain=plain)
    for lost in range(1, 24):
        found = shown(tmp_path, whole[: -2 - lost] + END, values, plain=plain)
        assert isinstance(found, str) or np.array_equal(found, picture), lost


@pytest.mark.parametrize("fill", [b"\0", b"\xff", b" ", b"GARBAGE!", END])
@pytest.mark.parametrize("length", [64, 700])
def test_fill_behind_the_end_is_no_loss(tmp_path: Path, fill: bytes, length: int) -> None:
    deep = smooth(40, 48)
    streams = {
        JPEG: (jpeg(GREY), GREY, 8),
        PROGRESSIVE: (jpeg(GREY, progressive=True), GREY, 8),
        LOSSLESS_70: (lossless(deep, predictor=1), deep, 16),
        JPEG_LS: (bytes(imagecodecs.jpegls_encode(deep)), deep, 16),
        J2K: (imagecodecs.jpeg2k_encode(deep, level=0, reversible=True, codecformat="j2k"), deep,
              16),
    }  # fmt: skip
    tail = (fill * length)[:length]
    for syntax, (stream, values, bits) in streams.items():
        for name, frags in {
            "plain": [stream],
            "one": [stream + tail],
            "two": [stream, tail],
        }.items():
            path = packed(tmp_path / f"{name}.dcm", [even(bytes(one)) for one in frags],
                          values.shape,
                          syntax=syntax, bits=bits)  # fmt: skip
            found = load_pixels(read_file(path)).array[0]
            if name == "plain":
                whole = found
            assert np.array_equal(found, whole), (syntax, name)


def test_a_picture_within_a_segment_is_not_the_end() -> None:
    inner = jpeg(GREY[:8, :8])
    outer = jpeg(GREY)
    segment = b"\xff\xe1" + (len(inner) + 2).to_bytes(2, "big") + inner
    stream = outer[:2] + segment + outer[2:]
    assert jpeg_scans.end_of(stream + b"more") == len(stream)
    assert jpeg_scans.end_of(stream[:-2]) is None
