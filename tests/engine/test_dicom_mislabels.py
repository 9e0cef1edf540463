"""DICOM files that are not what they say, and what is refused by its right name."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from pydicom.uid import UID

from engine.errors import EvidenceError
from engine.evidence.dicom.layout import is_video
from engine.evidence.open import find_evidence, load_pixels, read_file
from engine.evidence.show import describe
from tests.engine.dicom_files import BIG, EXPLICIT, even, native, packed, smooth

GREY = smooth()
VIDEOS = [f"1.2.840.10008.1.2.4.{number}" for number in (*range(100, 109), "100.1", "106.1")]


def error_of(path: Path) -> str:
    (evidence,) = find_evidence([path])
    shown = describe(evidence)
    assert shown["error"] is not None
    return str(shown["error"]["code"])


@pytest.mark.parametrize(("true", "named"), [(EXPLICIT, BIG), (BIG, EXPLICIT)])
def test_a_byte_order_that_is_named_wrong(tmp_path: Path, true: str, named: str) -> None:
    order = ">" if true == BIG else "<"
    path = native(
        tmp_path / "a.dcm", GREY.astype(f"{order}u2").tobytes(), GREY.shape, syntax=true,
        WindowCenter=50, WindowWidth=90, PatientName="A^B",
    )  # fmt: skip
    raw = path.read_bytes()
    assert raw.count(true.encode() + b"\0") == 1
    path.write_bytes(raw.replace(true.encode() + b"\0", named.encode() + b"\0"))
    evidence = read_file(path)
    assert evidence.window == (50, 90)
    assert evidence.source["transfer_syntax"] == true
    assert (load_pixels(evidence).array[0] == GREY).all()


@pytest.mark.parametrize("suffix", [".dcm", ""])
def test_a_file_cut_within_its_meta_group_is_truncated(tmp_path: Path, suffix: str) -> None:
    whole = native(tmp_path / "whole", GREY.tobytes(), GREY.shape).read_bytes()
    end = 144 + int.from_bytes(whole[140:144], "little")
    for length in (133, 140, 150, 160, end - 5, end, end + 3):
        path = tmp_path / f"a{suffix}"
        path.write_bytes(whole[:length])
        assert error_of(path) in ("truncated",), length


def test_quartered_colours_are_unsupported(tmp_path: Path) -> None:
    raw = np.arange(4 * 6 * 3 // 2, dtype=np.uint8)
    path = native(
        tmp_path / "a.dcm", raw.tobytes(), (4, 6, 3), bits=8,
        PhotometricInterpretation="YBR_PARTIAL_420",
    )  # fmt: skip
    assert error_of(path) == "unsupported"


@pytest.mark.parametrize("syntax", VIDEOS)
@pytest.mark.parametrize("frames", [1, 30])
def test_films_are_named(tmp_path: Path, syntax: str, frames: int) -> None:
    path = packed(
        tmp_path / "a.dcm", [even(b"\0\0\1\xb3" + b"x" * 400)], (8, 8, 3), syntax=syntax, bits=8,
        PhotometricInterpretation="YBR_PARTIAL_420", NumberOfFrames=frames,
    )  # fmt: skip
    (evidence,) = find_evidence([path])
    assert (evidence.kind, evidence.form) == ("cine", "2d")
    assert UID(syntax).name in " ".join(evidence.notes)
    shown = describe(evidence)
    assert shown["error"]["code"] == "unsupported"
    assert "video" in shown["error"]["message"]
    with pytest.raises(EvidenceError, match="not played"):
        load_pixels(evidence)


def test_pictures_are_no_films() -> None:
    assert not is_video("1.2.840.10008.1.2.4.109")
    assert not is_video("1.2.840.10008.1.2.4.10")
    assert not is_video("1.2.840.10008.1.2.4.90")
