"""No half picture is shown as whole, and no claim of a header costs memory."""

from __future__ import annotations

import struct
import tracemalloc
import zlib
from pathlib import Path

import imagecodecs
import numpy as np
import pytest
from numpy.typing import NDArray

from engine.errors import EvidenceError
from engine.evidence.dicom.decode import decode_file, decode_frame_of
from engine.evidence.open import find_evidence
from tests.engine.dicom_files import (
    BIG,
    DEFLATED,
    DEFLATED_FRAMES,
    EXPLICIT,
    HTJ2K,
    J2K,
    JPEG,
    JPEG_12,
    JPEG_LS,
    JXL_LOSSLESS,
    LOSSLESS_57,
    LOSSLESS_70,
    RLE,
    even,
    header,
    native,
    packed,
    save,
    smooth,
    values,
)  # fmt: skip
from tests.engine.test_dicom_syntaxes import j2k, lossless, rle

MEGABYTE = 1 << 20


def dark_cornered() -> NDArray[np.uint16]:
    """A disc on black with some noise: the last corner is flat, as in most pictures."""
    y, x = np.mgrid[:96, :112]
    noise = np.random.default_rng(5).normal(0, 60, y.shape)
    disc = (y - 48) ** 2 + (x - 56) ** 2 < 40**2
    return np.clip(disc * (1800 + 300 * np.sin(x / 9) + noise), 0, 4095).astype(np.uint16)


DISC = dark_cornered()
SMALL = (DISC // 16).astype(np.uint8)
COLOR = np.stack([SMALL, SMALL // 2, 255 - SMALL], axis=-1).astype(np.uint8)
CODED = {
    "jpeg": (JPEG, imagecodecs.jpeg8_encode(SMALL, 90), SMALL.shape, 8),
    "jpeg colour": (JPEG, imagecodecs.jpeg8_encode(COLOR, 90), COLOR.shape, 8),
    "jpeg 12": (JPEG_12, imagecodecs.jpeg8_encode(DISC, 95, bitspersample=12), DISC.shape, 16),
    "lossless 57": (LOSSLESS_57, lossless(DISC, predictor=5), DISC.shape, 16),
    "lossless 70": (LOSSLESS_70, lossless(DISC), DISC.shape, 16),
    "jpeg-ls": (JPEG_LS, imagecodecs.jpegls_encode(DISC), DISC.shape, 16),
    "j2k": (J2K, j2k(DISC), DISC.shape, 16),
    "htj2k": (HTJ2K, imagecodecs.htj2k_encode(DISC, reversible=True), DISC.shape, 16),
    "jxl": (JXL_LOSSLESS, imagecodecs.jpegxl_encode(DISC, lossless=True), DISC.shape, 16),
    "rle": (RLE, rle(DISC), DISC.shape, 16),
    "deflated frame": (DEFLATED_FRAMES, zlib.compress(DISC.tobytes(), wbits=-15), DISC.shape, 16),
}


def refused(path: Path) -> str:
    """The code with which a file is refused."""
    with pytest.raises(EvidenceError) as caught:
        decode_file(path)
    return caught.value.code


def outcome(path: Path) -> str | NDArray[np.generic]:
    """The code with which a file is refused, or its values."""
    try:
        return values(path)
    except EvidenceError as error:
        return error.code


@pytest.mark.parametrize("name", CODED)
@pytest.mark.parametrize("end", ["open", "closed"])
def test_frames_cut_anywhere_are_refused(tmp_path: Path, name: str, end: str) -> None:
    """Cut in the middle and near the end, with and without an end marker put behind the cut."""
    syntax, frame, shape, bits = CODED[name]
    path = tmp_path / "a.dcm"
    extra = {"PhotometricInterpretation": "YBR_FULL_422"} if len(shape) > 2 else {}
    packed(path, [even(frame)], shape, syntax=syntax, bits=bits, **extra)
    whole = values(path)
    for share in (0.999, 0.99, 0.9, 0.6, 0.3, 0.1):
        cut = min(int(len(frame) * share), len(frame) - 6)
        part = frame[:cut] + (b"\xff\xd9" if end == "closed" else b"")
        packed(path, [even(part)], shape, syntax=syntax, bits=bits, **extra)
        found = outcome(path)
        if isinstance(found, str):
            assert found in ("truncated", "undecodable")
        else:
            assert np.array_equal(found, whole), f"{name} cut at {share} is shown as whole"


@pytest.mark.parametrize("name", ["jpeg", "lossless 70", "j2k", "jpeg-ls"])
def test_the_code_of_a_cut_stream_is_truncated(tmp_path: Path, name: str) -> None:
    syntax, frame, shape, bits = CODED[name]
    cut = even(frame[: len(frame) // 2])
    path = packed(tmp_path / "a.dcm", [cut], shape, syntax=syntax, bits=bits)
    assert refused(path) == "truncated"


@pytest.mark.parametrize("syntax", [J2K, RLE, DEFLATED_FRAMES])
def test_fewer_fragments_than_frames_are_truncated(tmp_path: Path, syntax: str) -> None:
    frame = {J2K: j2k(DISC), RLE: rle(DISC)}.get(syntax, zlib.compress(DISC.tobytes(), wbits=-15))
    frames = [even(frame)] * 3
    path = packed(tmp_path / "a.dcm", frames, DISC.shape, syntax=syntax, NumberOfFrames=4)
    assert refused(path) == "truncated"
    with pytest.raises(EvidenceError, match="ends before"):
        decode_frame_of(path, 0)


@pytest.mark.parametrize("cut", [1, 4, 8, 20])
def test_a_pixel_sequence_that_is_not_closed_is_truncated(tmp_path: Path, cut: int) -> None:
    path = packed(tmp_path / "a.dcm", [even(j2k(DISC))], DISC.shape, syntax=J2K)
    path.write_bytes(path.read_bytes()[:-cut])
    assert refused(path) == "truncated"
    (evidence,) = find_evidence([path])
    assert evidence.error is not None
    assert evidence.error.code == "truncated"


@pytest.mark.parametrize("syntax", [EXPLICIT, BIG, DEFLATED])
def test_plain_pixels_that_are_too_few_are_truncated(tmp_path: Path, syntax: str) -> None:
    path = native(tmp_path / "a.dcm", bytes(2 * 19 * 30), (20, 30), syntax=syntax)
    assert refused(path) == "truncated"
    (evidence,) = find_evidence([path])
    if syntax != DEFLATED:  # its length is known only after inflating
        assert evidence.error is not None
        assert evidence.error.code == "truncated"


@pytest.mark.parametrize("bits", [1, 12])
def test_packed_bits_that_are_too_few_are_truncated(tmp_path: Path, bits: int) -> None:
    short = bytes(3 * 7 * 5 * bits // 8 - 1)
    path = native(tmp_path / "a.dcm", short, (7, 5), vr="OB", bits=bits, NumberOfFrames=3)
    assert refused(path) == "truncated"


def test_a_cut_deflated_file_is_refused(tmp_path: Path) -> None:
    noise = np.random.default_rng(2).integers(0, 65536, (64, 64)).astype(np.uint16)
    path = native(tmp_path / "a.dcm", noise.tobytes(), noise.shape, syntax=DEFLATED)
    whole = path.read_bytes()
    for share in (0.5, 0.9, 0.99):
        path.write_bytes(whole[: int(len(whole) * share)])
        assert refused(path) in ("truncated", "undecodable")
        (evidence,) = find_evidence([path])
        assert evidence.error is None or evidence.error.code in ("truncated", "damaged")


@pytest.mark.parametrize(
    ("name", "codes"),
    [
        ("jpeg", {"truncated", "undecodable"}),
        ("lossless 70", {"truncated", "undecodable"}),
        ("jpeg-ls", {"truncated", "undecodable"}),
        ("j2k", {"truncated", "undecodable"}),
        ("htj2k", {"truncated", "undecodable"}),
        ("jxl", {"truncated", "undecodable"}),
        ("rle", {"truncated"}),
        ("deflated frame", {"truncated"}),
    ],
)
def test_a_small_frame_of_a_huge_picture_costs_no_memory(
    tmp_path: Path, name: str, codes: set[str]
) -> None:
    syntax, frame, _, bits = CODED[name]
    path = packed(tmp_path / "a.dcm", [even(frame)], (60_000, 60_000), syntax=syntax, bits=bits)
    tracemalloc.start()
    try:
        assert refused(path) in codes
        assert tracemalloc.get_traced_memory()[1] < 16 * MEGABYTE
    finally:
        tracemalloc.stop()


def resized(frame: bytes, name: str, size: int) -> bytes:
    """A frame whose own header claims another size as well."""
    edited = bytearray(frame)
    if name == "j2k":
        at = frame.index(b"\xff\x51") + 6
        for field in (0, 4, 16, 20):  # picture and tile
            edited[at + field : at + field + 4] = size.to_bytes(4, "big")
    else:
        mark = {"jpeg": b"\xff\xc0", "lossless 70": b"\xff\xc3", "jpeg-ls": b"\xff\xf7"}[name]
        at = frame.index(mark) + 5
        edited[at : at + 4] = struct.pack(">HH", size, size)
    return bytes(edited)


@pytest.mark.parametrize("name", ["jpeg", "lossless 70", "jpeg-ls", "j2k"])
def test_a_stream_that_claims_a_huge_picture_costs_no_memory(tmp_path: Path, name: str) -> None:
    syntax, frame, _, bits = CODED[name]
    huge = resized(frame[:1000] + frame[-2:], name, 60_000)
    path = packed(tmp_path / "a.dcm", [even(huge)], (60_000, 60_000), syntax=syntax, bits=bits)
    tracemalloc.start()
    try:
        assert refused(path) in ("truncated", "undecodable")
        assert tracemalloc.get_traced_memory()[1] < 16 * MEGABYTE
    finally:
        tracemalloc.stop()


def test_a_stream_of_another_size_than_the_header_is_refused(tmp_path: Path) -> None:
    for name, (syntax, frame, shape, bits) in CODED.items():
        if name in ("rle", "deflated frame"):
            continue
        path = tmp_path / f"{name}.dcm"
        packed(path, [even(frame)], (shape[0], shape[1] + 1, *shape[2:]), syntax=syntax, bits=bits)
        assert refused(path) == "undecodable"


def test_absurd_sizes_are_too_large(tmp_path: Path) -> None:
    path = native(tmp_path / "a.dcm", bytes(64), (65_535, 65_535), NumberOfFrames=1000)
    assert refused(path) == "too_large"
    (evidence,) = find_evidence([path])
    assert evidence.error is not None
    assert evidence.error.code == "too_large"


def test_a_deflated_bomb_is_inflated_only_as_far_as_read(tmp_path: Path) -> None:
    """64 MB of zeros behind a picture of 1 kB."""
    dataset = header((20, 30))
    dataset.PixelData = bytes(64 * MEGABYTE)
    path = save(tmp_path / "a.dcm", dataset, DEFLATED)
    assert path.stat().st_size < MEGABYTE
    tracemalloc.start()
    try:
        (evidence,) = find_evidence([path])
        assert evidence.error is None
        assert decode_file(path).values.shape == (1, 20, 30)
        assert tracemalloc.get_traced_memory()[1] < 8 * MEGABYTE
    finally:
        tracemalloc.stop()


def test_rubbish_between_fragments_is_refused(tmp_path: Path) -> None:
    raw = packed(tmp_path / "a.dcm", [even(j2k(DISC))], DISC.shape, syntax=J2K).read_bytes()
    at = raw.index(b"\xfe\xff\x00\xe0") + 8
    broken = tmp_path / "b.dcm"
    broken.write_bytes(raw[:at] + b"rubbish!" + raw[at + 8 :])
    assert refused(broken) in ("truncated", "undecodable")
    assert refused(packed(tmp_path / "c.dcm", [], DISC.shape, syntax=J2K)) == "truncated"
    empty = packed(tmp_path / "d.dcm", [b""], DISC.shape, syntax=J2K)
    assert refused(empty) == "truncated"


def test_frames_that_are_not_there_are_said(tmp_path: Path) -> None:
    grey = smooth()
    path = native(tmp_path / "a.dcm", grey.tobytes(), grey.shape)
    for frame in (-1, 1):
        with pytest.raises(EvidenceError) as caught:
            decode_frame_of(path, frame)
        assert caught.value.code == "no_frame"
