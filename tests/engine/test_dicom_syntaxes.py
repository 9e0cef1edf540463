"""Every transfer syntax gives the values that were put in; fragments and tables in every order."""

from __future__ import annotations

import struct
import zlib
from pathlib import Path

import imagecodecs
import numpy as np
import pytest
import SimpleITK as sitk
from numpy.typing import NDArray

from engine.errors import EvidenceError
from engine.evidence.dicom.decode import decode_file, decode_frame_of
from engine.evidence.open import load_pixels, read_file
from tests.engine.dicom_files import (
    BIG,
    DEFLATED,
    DEFLATED_FRAMES,
    EXPLICIT,
    HTJ2K,
    HTJ2K_LOSSY,
    IMPLICIT,
    J2K,
    J2K_LOSSY,
    JPEG,
    JPEG_12,
    JPEG_LS,
    JPEG_LS_NEAR,
    JXL,
    JXL_JPEG,
    JXL_LOSSLESS,
    LOSSLESS_57,
    LOSSLESS_70,
    RLE,
    ROOT,
    even,
    items,
    native,
    packed,
    rainbow,
    smooth,
    values,
)  # fmt: skip

GREY = smooth()


def j2k(array: NDArray[np.generic], **options: object) -> bytes:
    return imagecodecs.jpeg2k_encode(array, codecformat="j2k", reversible=True, level=0, **options)


def lossless(array: NDArray[np.generic], predictor: int = 1, bits: int = 16) -> bytes:
    return imagecodecs.jpeg8_encode(array, lossless=True, predictor=predictor, bitspersample=bits)


def rle(array: NDArray[np.generic]) -> bytes:
    """PS3.5 annex G by hand: the bytes of each sample, the highest first, each run-length coded."""
    planes = np.moveaxis(array, -1, 0) if array.ndim == 3 else array[None]
    width = array.dtype.itemsize
    segments = []
    for plane in planes:
        raw = np.ascontiguousarray(plane).view(np.uint8).reshape(-1, width)
        for byte in reversed(range(width)):
            segments.append(even(imagecodecs.packbits_encode(raw[:, byte].tobytes())))
    starts = 64 + np.cumsum([0, *map(len, segments)])[: len(segments)]
    head = struct.pack("<16I", len(segments), *starts.tolist(), *[0] * (15 - len(segments)))
    return head + b"".join(segments)


EXACT = {
    RLE: rle,
    LOSSLESS_57: lambda array: lossless(array, predictor=6),
    LOSSLESS_70: lossless,
    JPEG_LS: imagecodecs.jpegls_encode,
    J2K: j2k,
    HTJ2K: lambda array: imagecodecs.htj2k_encode(array, reversible=True),
    JXL_LOSSLESS: lambda array: imagecodecs.jpegxl_encode(array, lossless=True),
    DEFLATED_FRAMES: lambda array: zlib.compress(array.tobytes(), wbits=-15),
}


@pytest.mark.parametrize("syntax", [IMPLICIT, EXPLICIT, BIG, DEFLATED])
def test_plain_syntaxes_are_exact(tmp_path: Path, syntax: str) -> None:
    order = ">" if syntax == BIG else "<"
    path = native(
        tmp_path / "a.dcm", GREY.astype(f"{order}u2").tobytes(), GREY.shape, syntax=syntax
    )
    assert np.array_equal(values(path)[0], GREY)
    assert read_file(path).source["transfer_syntax"] == syntax
    assert np.array_equal(sitk.GetArrayFromImage(sitk.ReadImage(str(path)))[0], GREY)


@pytest.mark.parametrize("syntax", EXACT)
@pytest.mark.parametrize("bits", [8, 16])
def test_lossless_syntaxes_are_exact(tmp_path: Path, syntax: str, bits: int) -> None:
    array = GREY if bits == 16 else (GREY // 16).astype(np.uint8)
    if bits == 8 and syntax in (LOSSLESS_57, LOSSLESS_70):
        frame = lossless(array, bits=8)
    else:
        frame = EXACT[syntax](array)
    path = packed(tmp_path / "a.dcm", [even(frame)], array.shape, syntax=syntax, bits=bits)
    found = values(path)[0]
    assert found.dtype == array.dtype
    assert np.array_equal(found, array)
    if syntax in (RLE, LOSSLESS_57, LOSSLESS_70, JPEG_LS, J2K):
        assert np.array_equal(sitk.GetArrayFromImage(sitk.ReadImage(str(path)))[0], array)


@pytest.mark.parametrize(
    ("syntax", "frame", "bits", "tolerance"),
    [
        (JPEG, imagecodecs.jpeg8_encode((GREY // 16).astype(np.uint8), 95), 8, 6),
        (JPEG_12, imagecodecs.jpeg8_encode(GREY, 98, bitspersample=12), 16, 40),
        (JPEG_LS_NEAR, imagecodecs.jpegls_encode(GREY, 3), 16, 3),
        (J2K_LOSSY, imagecodecs.jpeg2k_encode(GREY, 90, codecformat="j2k"), 16, 60),
        (HTJ2K_LOSSY, imagecodecs.htj2k_encode(GREY, 0.001, reversible=False), 16, 60),
        (JXL, imagecodecs.jpegxl_encode((GREY // 16).astype(np.uint8), 95), 8, 12),
    ],
    ids=["jpeg", "jpeg12", "jpegls", "j2k", "htj2k", "jxl"],
)
def test_lossy_syntaxes_are_near(
    tmp_path: Path, syntax: str, frame: bytes, bits: int, tolerance: int
) -> None:
    wanted = GREY if bits == 16 else GREY // 16
    stored = 12 if syntax == JPEG_12 else bits
    path = packed(
        tmp_path / "a.dcm", [even(frame)], GREY.shape, syntax=syntax, bits=bits, BitsStored=stored
    )
    assert np.abs(values(path)[0].astype(int) - wanted).max() <= tolerance


def test_jpeg_put_into_jpeg_xl_comes_out_as_the_jpeg(tmp_path: Path) -> None:
    jpeg = imagecodecs.jpeg8_encode(rainbow(), 92)
    frame = imagecodecs.jpegxl_encode_jpeg(jpeg)
    path = packed(tmp_path / "a.dcm", [even(frame)], (20, 30, 3), syntax=JXL_JPEG, bits=8,
                  PhotometricInterpretation="YBR_FULL_422")  # fmt: skip
    wanted = imagecodecs.jpeg8_decode(jpeg).astype(int)
    assert np.abs(values(path)[0] - wanted).max() <= 6


@pytest.mark.parametrize("syntax", [ROOT + "4.100", ROOT + "4.102", ROOT + "4.94", ROOT + "7.1"])
def test_video_and_links_are_unsupported_and_named(tmp_path: Path, syntax: str) -> None:
    path = packed(tmp_path / "a.dcm", [b"\0" * 64], (4, 4), syntax=syntax)
    with pytest.raises(EvidenceError) as caught:
        decode_file(path)
    assert caught.value.code == "unsupported"


FRAMES = [GREY, GREY[::-1], GREY // 2]


def bot(fragments: list[bytes], starts: list[int]) -> bytes:
    """A basic offset table that points at some fragments."""
    places = np.cumsum([0, *(8 + len(one) for one in fragments)])
    return struct.pack(f"<{len(starts)}I", *(int(places[start]) for start in starts))


def split(frame: bytes, size: int = 64) -> list[bytes]:
    return [frame[at : at + size] for at in range(0, len(frame), size)]


def check_frames(path: Path) -> None:
    found = values(path)
    assert found.shape == (3, *GREY.shape)
    for number, wanted in enumerate(FRAMES):
        assert np.array_equal(found[number], wanted)
        assert np.array_equal(decode_frame_of(path, number).values[0], wanted)


@pytest.mark.parametrize("table", ["none", "right", "wrong", "short", "shifted"])
@pytest.mark.parametrize("pieces", ["whole", "split"])
def test_frames_are_found_whatever_the_table_says(tmp_path: Path, table: str, pieces: str) -> None:
    encoded = [even(j2k(frame)) for frame in FRAMES]
    parts = [[one] if pieces == "whole" else split(one) for one in encoded]
    fragments = [fragment for frame in parts for fragment in frame]
    starts = [0, len(parts[0]), len(parts[0]) + len(parts[1])]
    tables = {
        "none": b"",
        "right": bot(fragments, starts),
        "wrong": struct.pack("<3I", 0, 10, 20),
        "short": bot(fragments, starts[:2]),
        "shifted": bot(fragments, [1, 2, 3] if pieces == "split" else [0, 0, 0]),
    }
    path = packed(tmp_path / "a.dcm", fragments, GREY.shape, syntax=J2K, table=tables[table],
                  NumberOfFrames=3)  # fmt: skip
    check_frames(path)


def test_the_extended_offset_table_is_followed(tmp_path: Path) -> None:
    fragments = [even(j2k(frame)) for frame in FRAMES]
    places = [0, 8 + len(fragments[0]), 16 + len(fragments[0]) + len(fragments[1])]
    path = packed(
        tmp_path / "a.dcm", fragments, GREY.shape, syntax=J2K, NumberOfFrames=3,
        ExtendedOffsetTable=struct.pack("<3Q", *places),
        ExtendedOffsetTableLengths=struct.pack("<3Q", *map(len, fragments)),
    )  # fmt: skip
    check_frames(path)


def test_more_fragments_than_frames_leave_the_rest(tmp_path: Path) -> None:
    fragments = [even(j2k(frame)) for frame in (*FRAMES, GREY // 3)]
    path = packed(tmp_path / "a.dcm", fragments, GREY.shape, syntax=J2K, NumberOfFrames=3)
    check_frames(path)


@pytest.mark.parametrize("padded", [False, True])
def test_odd_lengths_are_read(tmp_path: Path, padded: bool) -> None:
    frame = j2k(GREY)
    odd = frame if len(frame) % 2 else frame + b"\0"
    sequence = items([odd])
    if padded:  # a pad byte that the length does not count
        sequence = sequence[:-8] + b"\0" + sequence[-8:]
    path = packed(tmp_path / "a.dcm", [], GREY.shape, syntax=J2K, tail=sequence)
    assert read_file(path).error is None
    assert np.array_equal(values(path)[0], GREY)


def test_bytes_behind_the_end_of_a_frame_do_no_harm(tmp_path: Path) -> None:
    frames = [
        (JPEG_LS, imagecodecs.jpegls_encode(GREY)),
        (LOSSLESS_70, lossless(GREY)),
        (J2K, j2k(GREY)),
        (RLE, rle(GREY)),
    ]
    for number, (syntax, frame) in enumerate(frames):
        path = tmp_path / f"{number}.dcm"
        packed(path, [even(frame) + bytes(6)], GREY.shape, syntax=syntax)
        assert np.array_equal(values(path)[0], GREY)


def test_the_frame_itself_says_what_it_is(tmp_path: Path) -> None:
    """Writers name the wrong one of the JPEG family, or a native syntax."""
    for number, syntax in enumerate((JPEG_LS, LOSSLESS_57, HTJ2K, EXPLICIT)):
        path = packed(tmp_path / f"{number}.dcm", [even(j2k(GREY))], GREY.shape, syntax=syntax)
        assert np.array_equal(values(path)[0], GREY)


def test_a_syntax_that_was_named_and_never_applied(tmp_path: Path) -> None:
    path = packed(tmp_path / "a.dcm", [GREY.tobytes()], GREY.shape, syntax=JPEG_LS)
    assert np.array_equal(values(path)[0], GREY)


def test_the_private_syntax_with_big_endian_pixels(tmp_path: Path) -> None:
    path = native(tmp_path / "a.dcm", GREY.astype(">u2").tobytes(), GREY.shape, syntax=IMPLICIT)
    raw = path.read_bytes()
    at = raw.index(b"\x02\x00\x10\x00UI")
    uid = b"1.2.840.113619.5.2"
    size = int.from_bytes(raw[at + 6 : at + 8], "little")
    group = int.from_bytes(raw[140:144], "little") + len(uid) - size
    meta = raw[:140] + group.to_bytes(4, "little") + raw[144 : at + 6]
    path.write_bytes(meta + len(uid).to_bytes(2, "little") + uid + raw[at + 8 + size :])
    assert read_file(path).error is None
    assert np.array_equal(values(path)[0], GREY)


def test_the_mark_in_a_value_of_a_file_without_preamble(tmp_path: Path) -> None:
    """A manufacturer of 200 letters, of which those at byte 128 happen to be DICM."""
    whole = native(tmp_path / "a.dcm", GREY.tobytes(), GREY.shape).read_bytes()
    plain = whole[whole.index(b"\x08\x00\x16\x00") :]
    at = plain.index(b"\x08\x00\x60\x00")
    value = b"x" * (128 - at - 8) + b"DICM" + b"x" * 96
    element = b"\x08\x00\x51\x00LO" + struct.pack("<H", len(value)) + value
    path = tmp_path / "b.dcm"
    path.write_bytes(plain[:at] + element + plain[at:])
    assert path.read_bytes()[128:132] == b"DICM"
    evidence = read_file(path)
    assert evidence.error is None
    assert np.array_equal(values(path)[0], GREY)
    assert np.array_equal(load_pixels(evidence).array[0], GREY)


def test_planes_of_rle_colour_and_of_wide_values(tmp_path: Path) -> None:
    color = rainbow()
    path = packed(tmp_path / "a.dcm", [rle(color)], color.shape, syntax=RLE, bits=8)
    assert np.array_equal(values(path)[0], color)
    wide = GREY.astype(np.uint32) * 70_000
    path = packed(tmp_path / "b.dcm", [rle(wide)], wide.shape, syntax=RLE, bits=32)
    assert np.array_equal(values(path)[0], wide)


@pytest.mark.parametrize("syntax", [RLE, DEFLATED_FRAMES, J2K, EXPLICIT])
def test_single_bits_in_every_syntax(tmp_path: Path, syntax: str) -> None:
    """Frames of 7 x 5 bits: native ones run into each other, compressed ones end on bytes."""
    chance = np.random.default_rng(3)
    frames = chance.integers(0, 2, (4, 7, 5)).astype(np.uint8)
    path = tmp_path / "a.dcm"
    elements = {"bits": 1, "NumberOfFrames": 4}
    if syntax == EXPLICIT:
        raw = np.packbits(frames.reshape(-1), bitorder="little").tobytes()
        native(path, raw, (7, 5), syntax=syntax, vr="OB", **elements)
    else:
        rows = [np.packbits(one.reshape(-1), bitorder="little").tobytes() for one in frames]
        encode = {
            RLE: lambda raw, _: (
                struct.pack("<16I", 1, 64, *[0] * 14) + imagecodecs.packbits_encode(raw)
            ),
            DEFLATED_FRAMES: lambda raw, _: zlib.compress(raw, wbits=-15),
            J2K: lambda _, one: j2k(one, bitspersample=1),
        }[syntax]
        encoded = [even(encode(raw, one)) for raw, one in zip(rows, frames, strict=True)]
        packed(path, encoded, (7, 5), syntax=syntax, **elements)
    assert np.array_equal(values(path), frames)
    assert np.array_equal(decode_frame_of(path, 2).values[0], frames[2])
