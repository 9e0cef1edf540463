"""What a file holds beyond its header is said, and what the header announces is shown."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from engine.evidence.open import load_pixels, read_file
from engine.evidence.show import describe
from tests.engine.dicom_files import J2K, RLE, even, native, packed, smooth
from tests.engine.test_dicom_syntaxes import j2k, rle

GREY = smooth()
FRAMES = "the file holds 3 frames, its header announces 2"
ROWS = "the compressed picture has more rows than the header says; the rest is not shown"
REST = "the pixels are more than the header announces; the rest is not shown"


def frames(syntax: str) -> list[bytes]:
    code = rle if syntax == RLE else j2k
    return [even(code(GREY + number)) for number in range(3)]


@pytest.mark.parametrize("syntax", [RLE, J2K])
@pytest.mark.parametrize("parts", [1, 2])
def test_more_frames_than_announced(tmp_path: Path, syntax: str, parts: int) -> None:
    fragments = []
    for frame in frames(syntax):
        half = len(frame) // 4 * 2
        fragments += [frame] if parts == 1 else [frame[:half], frame[half:]]
    path = packed(tmp_path / "a.dcm", fragments, GREY.shape, syntax=syntax, NumberOfFrames=2)
    evidence = read_file(path)
    assert FRAMES in evidence.notes
    assert (load_pixels(evidence).array == np.stack([GREY, GREY + 1])).all()
    path = packed(tmp_path / "b.dcm", fragments, GREY.shape, syntax=syntax, NumberOfFrames=3)
    assert FRAMES not in read_file(path).notes
    assert len(load_pixels(read_file(path)).array) == 3


def test_more_plain_pixels_than_announced(tmp_path: Path) -> None:
    raw = GREY.tobytes() * 3
    path = native(tmp_path / "a.dcm", raw, GREY.shape, NumberOfFrames=2)
    assert FRAMES in read_file(path).notes
    path = native(tmp_path / "b.dcm", raw[: len(raw) // 2], GREY.shape)
    assert REST in read_file(path).notes
    path = native(tmp_path / "c.dcm", GREY.tobytes() + bytes(8), GREY.shape)
    assert read_file(path).notes == read_file(native(path, GREY.tobytes(), GREY.shape)).notes


def test_more_rows_of_run_length_than_announced(tmp_path: Path) -> None:
    path = packed(tmp_path / "a.dcm", [even(rle(GREY))], (16, 30), syntax=RLE)
    evidence = read_file(path)
    pixels = load_pixels(evidence)
    assert (pixels.array[0] == GREY[:16]).all()
    assert ROWS in describe(evidence)["notes"]
    path = packed(tmp_path / "b.dcm", [even(rle(GREY))], GREY.shape, syntax=RLE)
    assert ROWS not in describe(read_file(path))["notes"]
