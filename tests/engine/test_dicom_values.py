"""Stored bits to values: widths, signs, packing, rescale, modality tables, padding."""

from __future__ import annotations

import struct
import zipfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import imagecodecs
import numpy as np
import pytest
import SimpleITK as sitk
from pydicom.dataelem import DataElement
from pydicom.dataset import Dataset
from pydicom.sequence import Sequence

from engine.errors import EvidenceError
from engine.evidence.dicom.decode import FrameReader, decode_file, decode_frame_of, rescale
from engine.evidence.open import load_pixels, read_file
from engine.evidence.window import show_slice
from tests.engine.dicom_files import (
    BIG,
    EXPLICIT,
    IMPLICIT,
    J2K,
    JPEG_12,
    JPEG_LS,
    LOSSLESS_70,
    decoded,
    even,
    header,
    native,
    packed,
    save,
    smooth,
    values,
)  # fmt: skip
from tests.engine.test_dicom_syntaxes import lossless


def words(*numbers: int, order: str = "<", kind: str = "H") -> bytes:
    return struct.pack(f"{order}{len(numbers)}{kind}", *numbers)


@pytest.mark.parametrize(
    ("word", "high", "stored", "signed", "wanted"),
    [
        (0x0FFF, 11, 12, 0, 4095),
        (0xFFFF, 11, 12, 0, 4095),  # overlay bits above the value are cut off
        (0x0FFF, 11, 12, 1, -1),
        (0xF7FF, 11, 12, 1, 2047),  # the sign is bit 11, whatever stands above it
        (0x0800, 11, 12, 1, -2048),
        (0xFFF0, 15, 12, 0, 4095),  # the value stands in the high bits
        (0xFFFA, 15, 12, 1, -1),
        (0x7FF0, 15, 12, 1, 2047),
        (0x3FC0, 13, 8, 0, 255),
        (0xFFFF, 15, 16, 1, -1),
        (0xFFFF, 15, 16, 0, 65535),
    ],
)
@pytest.mark.parametrize("syntax", [EXPLICIT, IMPLICIT, BIG])
def test_stored_bits_are_cut_out_of_words(
    tmp_path: Path, word: int, high: int, stored: int, signed: int, wanted: int, syntax: str
) -> None:
    raw = words(word, 0, 0, word, order=">" if syntax == BIG else "<")
    path = native(tmp_path / "a.dcm", raw, (2, 2), syntax=syntax, BitsStored=stored, HighBit=high,
                  PixelRepresentation=signed)  # fmt: skip
    assert values(path).reshape(-1).tolist() == [wanted, 0, 0, wanted]


@pytest.mark.parametrize(
    ("bits", "kind", "signed"), [(8, "b", 1), (16, "h", 1), (32, "i", 1), (32, "I", 0)]
)
def test_whole_words_keep_their_sign(tmp_path: Path, bits: int, kind: str, signed: int) -> None:
    low = -(2 ** (bits - 1)) if signed else 0
    numbers = [low, 0, 1, low + 2**bits - 1]
    for number, syntax in enumerate((EXPLICIT, BIG)):
        raw = words(*numbers, order=">" if syntax == BIG else "<", kind=kind)
        vr = "OB" if bits == 8 else "OW"
        path = native(tmp_path / f"{number}.dcm", raw, (2, 2), syntax=syntax, vr=vr, bits=bits,
                      PixelRepresentation=signed)  # fmt: skip
        assert values(path).reshape(-1).tolist() == numbers
        assert read_file(path).dtype == f"{'int' if signed else 'uint'}{bits}"


@pytest.mark.parametrize("shape", [(2, 2), (3, 3)])
def test_bytes_in_big_endian_words(tmp_path: Path, shape: tuple[int, int]) -> None:
    """OW of 8-bit values stands in swapped pairs, OB does not; odd frames share a pair."""
    count = shape[0] * shape[1]
    frames = np.arange(2 * count, dtype=np.uint8)
    plain = frames.tobytes() + bytes(len(frames) % 2)
    swapped = np.frombuffer(plain, ">u2").astype("<u2").tobytes()
    for vr, raw in (("OB", plain), ("OW", swapped)):
        path = native(tmp_path / f"{vr}.dcm", raw, shape, syntax=BIG, vr=vr, bits=8,
                      NumberOfFrames=2)  # fmt: skip
        assert values(path).reshape(-1).tolist() == frames.tolist()
        assert decode_frame_of(path, 1).values.reshape(-1).tolist() == frames[count:].tolist()


@pytest.mark.parametrize("syntax", [EXPLICIT, BIG])
def test_twelve_bits_packed(tmp_path: Path, syntax: str) -> None:
    """ACR-NEMA packing: the first value in bits 0 to 11 of the first word, the next from 12 on."""
    numbers = [0x123, 0xABC, 0xFFF, 0x001, 0x800, 0x7FF, 0x456, 0x00F, 0xF00]
    stream = sum(number << 12 * place for place, number in enumerate(numbers))
    raw = stream.to_bytes(14, "little")
    if syntax == BIG:
        raw = np.frombuffer(raw, "<u2").astype(">u2").tobytes()
    elements = {"bits": 12, "vr": "OW", "syntax": syntax}
    path = native(tmp_path / "a.dcm", raw, (3, 3), **elements)
    assert values(path).reshape(-1).tolist() == numbers
    assert read_file(path).dtype == "uint16"
    path = native(tmp_path / "b.dcm", raw, (3, 3), PixelRepresentation=1, **elements)
    wanted = [number - 4096 if number > 2047 else number for number in numbers]
    assert values(path).reshape(-1).tolist() == wanted
    path = native(tmp_path / "c.dcm", raw, (3, 1), NumberOfFrames=3, **elements)
    for frame in range(3):  # 36 bits each: the second begins in the middle of a byte
        found = decode_frame_of(path, frame).values.reshape(-1).tolist()
        assert found == numbers[3 * frame : 3 * frame + 3]


@pytest.mark.parametrize(("syntax", "vr"), [(EXPLICIT, "OB"), (EXPLICIT, "OW"), (BIG, "OW")])
def test_single_bits_packed(tmp_path: Path, syntax: str, vr: str) -> None:
    bits = np.random.default_rng(1).integers(0, 2, (3, 3, 3)).astype(np.uint8)
    raw = np.packbits(bits.reshape(-1), bitorder="little").tobytes()
    if syntax == BIG:
        raw = np.frombuffer(raw, "<u2").astype(">u2").tobytes()
    path = native(tmp_path / "a.dcm", raw, (3, 3), syntax=syntax, vr=vr, bits=1, NumberOfFrames=3)
    assert np.array_equal(values(path), bits)
    assert read_file(path).dtype == "uint8"


@pytest.mark.parametrize(
    ("keyword", "kind"), [("FloatPixelData", "f"), ("DoubleFloatPixelData", "d")]
)
@pytest.mark.parametrize("syntax", [EXPLICIT, BIG])
def test_floating_pixels(tmp_path: Path, keyword: str, kind: str, syntax: str) -> None:
    numbers = [0.5, -1e30, float("nan"), 3.25]
    dataset = header((2, 2), bits=32 if kind == "f" else 64, RescaleSlope="2", RescaleIntercept="1")
    del dataset.BitsStored, dataset.HighBit, dataset.PixelRepresentation
    setattr(dataset, keyword, words(*numbers, order=">" if syntax == BIG else "<", kind=kind))
    path = save(tmp_path / "a.dcm", dataset, syntax)
    found = values(path).reshape(-1)
    np.testing.assert_allclose(found, [2.0, -2e30, np.nan, 7.5], rtol=1e-6)
    evidence = read_file(path)
    assert evidence.dtype == ("float32" if kind == "f" else "float64")
    shown = show_slice(load_pixels(evidence), 0)
    assert shown[1, 0] == 0  # what is no number is black


SIGNED = (smooth().astype(np.int32) - 2000).astype(np.int16)


@pytest.mark.parametrize("window", [None, (0, 3000)])
@pytest.mark.parametrize("header_signed", [0, 1])
@pytest.mark.parametrize("stream_signed", [False, True])
@pytest.mark.parametrize("bits", [13, 16])
def test_the_sign_of_jpeg_2000(
    tmp_path: Path, window: Any, header_signed: int, stream_signed: bool, bits: int
) -> None:
    """Four pairs of header and codestream: only both unsigned leaves values below zero unread."""
    stored = SIGNED if stream_signed else (SIGNED.astype(np.int32) % (1 << bits)).astype(np.uint16)
    frame = imagecodecs.jpeg2k_encode(
        stored, codecformat="j2k", reversible=True, level=0, bitspersample=bits
    )
    extra = {} if window is None else {"WindowCenter": window[0], "WindowWidth": window[1]}
    path = packed(tmp_path / "a.dcm", [even(frame)], SIGNED.shape, syntax=J2K, BitsStored=bits,
                  PixelRepresentation=header_signed, **extra)  # fmt: skip
    unread = not stream_signed and not header_signed
    wanted = SIGNED.astype(np.int32) % (1 << bits) if unread else SIGNED
    assert np.array_equal(values(path)[0], wanted)
    said = any("the header says otherwise" in note for note in read_file(path).notes)
    assert said == (stream_signed != bool(header_signed))


def test_high_unsigned_values_stay_unsigned_under_a_signed_stream(tmp_path: Path) -> None:
    """An encoder took unsigned words for signed ones: the header is right, its window says so."""
    high = (smooth().astype(np.int64) * 4 + 34_000).astype(np.uint16)
    frame = imagecodecs.jpeg2k_encode(
        high.view(np.int16), codecformat="j2k", reversible=True, level=0
    )
    path = packed(tmp_path / "a.dcm", [even(frame)], high.shape, syntax=J2K, WindowCenter=42_000,
                  WindowWidth=20_000)  # fmt: skip
    assert np.array_equal(values(path)[0], high)


@pytest.mark.parametrize("syntax", [LOSSLESS_70, JPEG_LS])
def test_signed_values_in_streams_that_know_no_sign(tmp_path: Path, syntax: str) -> None:
    raw = SIGNED.view(np.uint16) & 0x1FFF
    frame = lossless(raw) if syntax == LOSSLESS_70 else imagecodecs.jpegls_encode(raw)
    path = packed(tmp_path / "a.dcm", [even(frame)], SIGNED.shape, syntax=LOSSLESS_70,
                  BitsStored=13, PixelRepresentation=1)  # fmt: skip
    if syntax == LOSSLESS_70:
        assert np.array_equal(values(path)[0], SIGNED)
    whole = SIGNED.view(np.uint16)
    frame = lossless(whole) if syntax == LOSSLESS_70 else imagecodecs.jpegls_encode(whole)
    packed(path, [even(frame)], SIGNED.shape, syntax=syntax, PixelRepresentation=1)
    assert np.array_equal(values(path)[0], SIGNED)


def lut(
    entries: list[int], first: int, *, bits: int = 16, vr: str = "US", raw: Any = None
) -> Dataset:
    """An item with LUT Descriptor and LUT Data."""
    found = Dataset()
    descriptor = [len(entries) % 65536, first, bits]
    found["LUTDescriptor"] = DataElement(0x00283002, "SS" if first < 0 else "US", descriptor)
    found.ModalityLUTType = "US"
    found["LUTData"] = DataElement(0x00283006, vr, entries if raw is None else raw)
    return found


def test_modality_table_holds_its_ends_and_takes_precedence(tmp_path: Path) -> None:
    table = lut([100, 300, 700], 10)
    path = native(
        tmp_path / "a.dcm",
        words(0, 10, 11, 99),
        (2, 2),
        ModalityLUTSequence=Sequence([table]),
        RescaleSlope="5",
        RescaleIntercept="1",
    )
    assert values(path).reshape(-1).tolist() == [100, 100, 300, 700]
    assert sitk.ReadImage(str(path)).GetSize()[:2] == (2, 2)


@pytest.mark.parametrize("syntax", [EXPLICIT, IMPLICIT, BIG])
@pytest.mark.parametrize("vr", ["US", "OW"])
def test_modality_table_of_signed_pixels(tmp_path: Path, syntax: str, vr: str) -> None:
    entries = list(range(1000, 1008))
    order = ">" if syntax == BIG else "<"
    table = lut(entries, -4, vr=vr, raw=words(*entries, order=order) if vr == "OW" else None)
    path = native(
        tmp_path / "a.dcm",
        words(-9, -4, 0, 3, order=order, kind="h"),
        (2, 2),
        syntax=syntax,
        PixelRepresentation=1,
        ModalityLUTSequence=Sequence([table]),
    )
    assert values(path).reshape(-1).tolist() == [1000, 1000, 1004, 1007]


def test_modality_table_of_bytes_and_of_full_length(tmp_path: Path) -> None:
    bytes_in_words = lut([0] * 256, 0, bits=8, vr="OW", raw=bytes(range(255, -1, -1)))
    path = native(tmp_path / "a.dcm", words(0, 1, 255, 999), (2, 2),
                  ModalityLUTSequence=Sequence([bytes_in_words]))  # fmt: skip
    assert values(path).reshape(-1).tolist() == [255, 254, 0, 0]
    every = lut([0] * 65536, 0, vr="OW", raw=np.arange(65535, -1, -1).astype("<u2").tobytes())
    path = native(tmp_path / "b.dcm", words(0, 1, 40_000, 65_535), (2, 2),
                  ModalityLUTSequence=Sequence([every]))  # fmt: skip
    assert values(path).reshape(-1).tolist() == [65535, 65534, 25535, 0]


def test_an_empty_modality_table_leaves_the_rescale(tmp_path: Path) -> None:
    path = native(tmp_path / "a.dcm", words(1, 2, 3, 4), (2, 2), RescaleSlope="2",
                  RescaleIntercept="-1", ModalityLUTSequence=Sequence([Dataset()]))  # fmt: skip
    assert values(path).reshape(-1).tolist() == [1, 3, 5, 7]


def rescaled_frame(slope: float, intercept: float) -> Dataset:
    transformation, group = Dataset(), Dataset()
    transformation.RescaleSlope, transformation.RescaleIntercept = slope, intercept
    transformation.RescaleType = "US"
    group.PixelValueTransformationSequence = Sequence([transformation])
    return group


def test_each_frame_has_its_own_rescale(tmp_path: Path) -> None:
    groups = [rescaled_frame(slope, 10.0 * frame) for frame, slope in enumerate((1.0, 2.0, 0.5))]
    path = native(tmp_path / "a.dcm", words(*range(12)), (2, 2), NumberOfFrames=3,
                  PerFrameFunctionalGroupsSequence=Sequence(groups))  # fmt: skip
    wanted = [0, 1, 2, 3, 18, 20, 22, 24, 24, 24.5, 25, 25.5]
    assert values(path).reshape(-1).tolist() == wanted
    assert decode_frame_of(path, 2).values.reshape(-1).tolist() == wanted[8:]


def test_a_shared_rescale_counts_for_all_frames(tmp_path: Path) -> None:
    path = native(tmp_path / "a.dcm", words(*range(8)), (2, 2), NumberOfFrames=2,
                  SharedFunctionalGroupsSequence=Sequence([rescaled_frame(3.0, -2.0)]))  # fmt: skip
    assert values(path).reshape(-1).tolist() == [3 * value - 2 for value in range(8)]


@pytest.mark.parametrize("dtype", ["uint8", "int8", "uint16", "int16", "int32"])
@pytest.mark.parametrize(
    ("slope", "intercept"),
    [(1, -1024), (1, 40_000), (-1, 0), (2, -3), (300, 1), (0.5, 0), (1, 0.001)],
)
@pytest.mark.parametrize("owned", [False, True])
def test_rescale_is_the_formula(dtype: str, slope: float, intercept: float, owned: bool) -> None:
    info = np.iinfo(dtype)
    top = min(info.max, 30_000)
    stored = np.linspace(max(info.min, -30_000), top, 60).astype(dtype).reshape(3, 4, 5)
    before = stored.copy()
    found = rescale(stored, float(slope), float(intercept), owned=owned)
    wanted = before.astype(np.float64) * slope + intercept
    np.testing.assert_allclose(found, wanted, rtol=1e-6)
    if float(slope).is_integer() and float(intercept).is_integer():
        assert np.array_equal(found, wanted)
        assert found.dtype.kind in "ui"
    if not owned:
        assert np.array_equal(stored, before)


@pytest.mark.parametrize("syntax", [EXPLICIT, IMPLICIT])
@pytest.mark.parametrize("signed", [0, 1])
def test_padding_has_the_sign_of_the_pixels(tmp_path: Path, syntax: str, signed: int) -> None:
    """-2000 may stand as SS or as 63536 in US, and the other way round."""
    dataset = header((2, 2), PixelRepresentation=signed, RescaleSlope="1", RescaleIntercept="-24")
    vr, value = ("US", 63_536) if signed else ("SS", -2000)
    dataset["PixelPaddingValue"] = DataElement(0x00280120, vr, value)
    dataset["PixelData"] = DataElement(0x7FE00010, "OW", words(63_536, 0, 1, 2))
    path = save(tmp_path / "a.dcm", dataset, syntax)
    wanted = -2024.0 if signed else 63_512.0
    assert decoded(path).padding == (wanted, wanted)
    assert decoded(path).values.reshape(-1).tolist()[0] == wanted


def padded_picture(tmp_path: Path, photometric: str, padding: int, **elements: Any) -> Path:
    grey = smooth(40, 40, most=2000) + 1000
    grey[:10] = padding
    return native(
        tmp_path / f"{photometric}.dcm",
        grey.astype("<u2").tobytes(),
        grey.shape,
        PhotometricInterpretation=photometric,
        PixelPaddingValue=padding,
        **elements,
    )


@pytest.mark.parametrize("window", [None, (2000, 500)])
@pytest.mark.parametrize(("photometric", "padding"), [("MONOCHROME2", 0), ("MONOCHROME1", 65_535)])
def test_padding_is_black_and_out_of_the_window(
    tmp_path: Path, photometric: str, padding: int, window: Any
) -> None:
    extra = {} if window is None else {"WindowCenter": window[0], "WindowWidth": window[1]}
    path = padded_picture(tmp_path, photometric, padding, **extra)
    pixels = load_pixels(read_file(path))
    assert pixels.padding == (padding, padding)
    assert (show_slice(pixels, 0)[:10] == 0).all()
    if window is None:
        center, width = pixels.window
        assert center - width / 2 > 900
        assert center + width / 2 < 3200


def test_a_range_of_padding(tmp_path: Path) -> None:
    path = padded_picture(tmp_path, "MONOCHROME2", 3, PixelPaddingRangeLimit=900)
    assert decoded(path).padding == (3.0, 900.0)


def test_padding_of_floating_pixels(tmp_path: Path) -> None:
    dataset = header((2, 2), bits=32, FloatPixelPaddingValue=-1e9)
    dataset.FloatPixelData = words(-1e9, 1.0, 2.0, 3.0, kind="f")
    path = save(tmp_path / "a.dcm", dataset, EXPLICIT)
    assert decoded(path).padding == (-1e9, -1e9)
    center, width = load_pixels(read_file(path)).window
    assert center - width / 2 > 0


def test_a_lossy_stream_that_overshoots_does_not_wrap(tmp_path: Path) -> None:
    """10 bits stored, 12 in the codestream: 1030 stays white and does not become 6."""
    bright = np.full((16, 16), 1030, np.uint16)
    frame = imagecodecs.jpeg8_encode(bright, 100, bitspersample=12)
    path = packed(tmp_path / "a.dcm", [even(frame)], bright.shape, syntax=JPEG_12, BitsStored=10)
    assert np.abs(values(path)[0].astype(int) - 1030).max() <= 4


def test_a_header_that_names_too_few_bits_cuts_nothing(tmp_path: Path) -> None:
    grey = smooth()
    path = packed(
        tmp_path / "a.dcm", [even(lossless(grey))], grey.shape, syntax=LOSSLESS_70, bits=8
    )
    assert np.array_equal(values(path)[0], grey)


@pytest.mark.parametrize("samples", [2, 4])
def test_other_numbers_of_samples_are_unsupported(tmp_path: Path, samples: int) -> None:
    path = native(
        tmp_path / "a.dcm",
        bytes(4 * samples),
        (2, 2, samples),
        bits=8,
        PhotometricInterpretation="ARGB" if samples == 4 else "MONOCHROME2",
    )
    with pytest.raises(EvidenceError, match="values in a pixel") as caught:
        values(path)
    assert caught.value.code == "unsupported"


def test_real_world_values_are_told(tmp_path: Path) -> None:
    mapping = Dataset()
    mapping.RealWorldValueSlope, mapping.RealWorldValueIntercept = 0.25, -3.0
    path = native(
        tmp_path / "a.dcm",
        words(1, 2, 3, 4),
        (2, 2),
        RealWorldValueMappingSequence=Sequence([mapping]),
    )
    assert "real world value: stored value x 0.25 - 3, not applied" in read_file(path).notes
    assert values(path).reshape(-1).tolist() == [1, 2, 3, 4]
    path = native(
        tmp_path / "b.dcm",
        words(1, 2, 3, 4),
        (2, 2),
        RealWorldValueMappingSequence=Sequence([mapping]),
        RescaleSlope="0.25",
        RescaleIntercept="-3",
    )
    assert not any("real world" in note for note in read_file(path).notes)


def test_masks_are_black_and_white(tmp_path: Path) -> None:
    path = native(tmp_path / "a.dcm", bytes([0b01010101]), (2, 4), vr="OB", bits=1)
    shown = show_slice(load_pixels(read_file(path)), 0)
    assert sorted(set(shown.reshape(-1).tolist())) == [0, 255]


def test_a_file_is_read_by_several_threads_at_once(tmp_path: Path) -> None:
    frames = np.arange(40 * 20 * 30, dtype=np.uint16).reshape(40, 20, 30)
    path = native(tmp_path / "a.dcm", frames.tobytes(), (20, 30), NumberOfFrames=40)
    archive = tmp_path / "a.zip"
    with zipfile.ZipFile(archive, "w", zipfile.ZIP_DEFLATED) as file:
        file.write(path, "a.dcm")
    for place in (path, archive / "a.dcm"):
        reader = FrameReader(place)
        with ThreadPoolExecutor(4) as pool:
            found = list(pool.map(reader.decode, range(40)))
        assert all(np.array_equal(one.values[0], frames[n]) for n, one in enumerate(found))
        reader.close()
        assert np.array_equal(reader.decode(3).values[0], frames[3])  # opened again
    del reader
    path.unlink()  # nothing holds it


def test_one_file_gives_its_frames_one_by_one(tmp_path: Path) -> None:
    frames = np.arange(5 * 20 * 30, dtype=np.uint16).reshape(5, 20, 30)
    path = native(tmp_path / "a.dcm", frames.tobytes(), (20, 30), NumberOfFrames=5)
    for frame in (4, 0, 2):
        assert np.array_equal(decode_frame_of(path, frame).values, frames[frame : frame + 1])
    frames += 1  # the file changes: what was remembered of it is forgotten
    native(path, frames.tobytes() + bytes(2), (20, 30), NumberOfFrames=5)
    assert np.array_equal(decode_file(path).values, frames)
