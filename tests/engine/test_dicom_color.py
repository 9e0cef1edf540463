"""Colour pictures as RGB: YBR spaces, planes, palettes, streams that contradict their header."""

from __future__ import annotations

import struct
from pathlib import Path
from typing import Any

import imagecodecs
import numpy as np
import pytest
from numpy.typing import NDArray
from pydicom.dataelem import DataElement
from pydicom.dataset import Dataset
from pydicom.sequence import Sequence

from engine.evidence.dicom.decode import decode_frame_of
from engine.evidence.dicom.layout import photometric_of
from engine.evidence.open import load_pixels, read_file
from tests.engine.dicom_files import (
    BIG,
    EXPLICIT,
    IMPLICIT,
    J2K,
    JPEG,
    JPEG_LS,
    LOSSLESS_70,
    RLE,
    decoded,
    even,
    header,
    native,
    packed,
    rainbow,
    save,
    values,
)  # fmt: skip
from tests.engine.test_dicom_syntaxes import j2k, rle

RGB = rainbow()
LEVELS = [
    (0, 128, 128),
    (255, 128, 128),
    (76, 85, 255),
    (150, 44, 21),
    (29, 255, 107),
    (200, 30, 90),
]


def ybr_to_rgb(y: float, cb: float, cr: float, *, partial: bool = False) -> tuple[int, ...]:
    """The inverse of PS3.3 C.7.6.3.1.2, written from its coefficients."""
    if partial:
        y, cb, cr = (y - 16) * 255 / 219, (cb - 128) * 255 / 224, (cr - 128) * 255 / 224
    else:
        cb, cr = cb - 128, cr - 128
    red, blue = y + 1.402 * cr, y + 1.772 * cb
    green = (y - 0.299 * red - 0.114 * blue) / 0.587
    return tuple(int(min(255, max(0, round(one)))) for one in (red, green, blue))


def rgb_to_ybr(rgb: NDArray[np.uint8]) -> NDArray[np.uint8]:
    """The forward transform, for pictures that are to be coded."""
    r, g, b = (rgb[..., channel].astype(float) for channel in range(3))
    y = 0.299 * r + 0.587 * g + 0.114 * b
    planes = [y, (b - y) / 1.772 + 128, (r - y) / 1.402 + 128]
    return np.rint(np.stack(planes, axis=-1)).clip(0, 255).astype(np.uint8)


def near(found: NDArray[Any], wanted: Any, most: int) -> None:
    assert np.abs(found.astype(int) - np.asarray(wanted, int)).max() <= most


@pytest.mark.parametrize("planar", [0, 1])
@pytest.mark.parametrize(
    ("bits", "syntax"), [(8, EXPLICIT), (16, EXPLICIT), (16, BIG), (32, IMPLICIT)]
)
def test_rgb_of_every_width_in_both_orders(
    tmp_path: Path, planar: int, bits: int, syntax: str
) -> None:
    order = ">" if syntax == BIG else "<"
    wide = (RGB.astype(np.uint64) * ((2**bits - 1) // 255)).astype(f"{order}u{bits // 8}")
    stored = np.moveaxis(wide, -1, 0) if planar else wide
    path = native(
        tmp_path / "a.dcm",
        stored.tobytes(),
        RGB.shape,
        syntax=syntax,
        bits=bits,
        PlanarConfiguration=planar,
    )
    assert np.array_equal(values(path)[0], RGB)
    assert read_file(path).color


def test_twelve_of_sixteen_bits_of_rgb(tmp_path: Path) -> None:
    path = native(tmp_path / "a.dcm", (RGB.astype("<u2") * 16).tobytes(), RGB.shape, BitsStored=12)
    assert np.array_equal(values(path)[0], RGB)


@pytest.mark.parametrize("planar", [0, 1])
def test_ybr_full(tmp_path: Path, planar: int) -> None:
    stored = np.array(LEVELS, np.uint8).reshape(2, 3, 3)
    raw = np.moveaxis(stored, -1, 0).tobytes() if planar else stored.tobytes()
    path = native(
        tmp_path / "a.dcm",
        raw,
        stored.shape,
        bits=8,
        PlanarConfiguration=planar,
        PhotometricInterpretation="YBR_FULL",
    )
    near(values(path).reshape(-1, 3), [ybr_to_rgb(*level) for level in LEVELS], 1)


@pytest.mark.parametrize("partial", [False, True])
def test_halved_colours(tmp_path: Path, partial: bool) -> None:
    """Y Y B R for each pair of pixels."""
    raw = bytes([30, 200, 90, 160, 120, 60, 200, 40])
    name = "YBR_PARTIAL_422" if partial else "YBR_FULL_422"
    path = native(tmp_path / "a.dcm", raw * 2, (2, 4, 3), bits=8, PhotometricInterpretation=name)
    evidence = read_file(path)
    assert evidence.error is None
    row = [(30, 90, 160), (200, 90, 160), (120, 200, 40), (60, 200, 40)]
    wanted = [ybr_to_rgb(*level, partial=partial) for level in row]
    near(values(path)[0], [wanted, wanted], 1)


def test_halved_colours_of_several_frames(tmp_path: Path) -> None:
    raw = bytes([30, 200, 90, 160]) + bytes([120, 60, 200, 40])
    path = native(
        tmp_path / "a.dcm",
        raw,
        (1, 2, 3),
        bits=8,
        NumberOfFrames=2,
        PhotometricInterpretation="YBR_FULL_422",
    )
    near(decode_frame_of(path, 1).values[0, 0, 1], ybr_to_rgb(60, 200, 40), 1)


def test_a_picture_that_only_says_it_is_halved(tmp_path: Path) -> None:
    """YBR_FULL_422 in the header, three samples for every pixel in the file."""
    stored = np.array(LEVELS, np.uint8).reshape(2, 3, 3)
    path = native(
        tmp_path / "a.dcm",
        stored.tobytes(),
        stored.shape,
        bits=8,
        PhotometricInterpretation="YBR_FULL_422",
    )
    near(values(path).reshape(-1, 3), [ybr_to_rgb(*level) for level in LEVELS], 1)


def jpeg(array: NDArray[np.uint8], space: str, *, subsampling: str = "444") -> bytes:
    """A JPEG whose components are stored as given; markers as the codec puts them."""
    return imagecodecs.jpeg8_encode(
        array, 98, colorspace=space, outcolorspace=space, subsampling=subsampling
    )


def unmarked(frame: bytes) -> bytes:
    """A JPEG without its application markers."""
    kept, at = bytearray(frame[:2]), 2
    while frame[at + 1] in (*range(0xE0, 0xF0), 0xFE):
        at += 2 + int.from_bytes(frame[at + 2 : at + 4], "big")
    return bytes(kept + frame[at:])


def renamed(frame: bytes, names: bytes) -> bytes:
    """A JPEG with other component names, in the frame and in the scan."""
    edited = bytearray(frame)
    sof, sos = frame.index(b"\xff\xc0"), frame.index(b"\xff\xda")
    for number, name in enumerate(names):
        edited[sof + 10 + 3 * number] = name
        edited[sos + 5 + 2 * number] = name
    return bytes(edited)


def adobe(frame: bytes, transform: int) -> bytes:
    """A JPEG with an Adobe marker and no other."""
    marker = b"\xff\xee" + struct.pack(">H5sHHHB", 14, b"Adobe", 100, 0, 0, transform)
    return frame[:2] + marker + unmarked(frame)[2:]


YBR = rgb_to_ybr(RGB)
AS_RGB, AS_YBR = jpeg(RGB, "RGB"), jpeg(YBR, "YCBCR")
CONTRADICTIONS = [
    ("ybr by JFIF", "RGB", AS_YBR, True),
    ("ybr by Adobe", "RGB", adobe(AS_YBR, 1), True),
    ("ybr by halved colours", "RGB", unmarked(jpeg(YBR, "YCBCR", subsampling="420")), True),
    ("rgb by Adobe", "YBR_FULL_422", adobe(renamed(AS_RGB, b"\x01\x02\x03"), 0), True),
    ("rgb by names", "YBR_FULL", renamed(unmarked(AS_RGB), b"RGB"), True),
    ("ybr agreed", "YBR_FULL_422", AS_YBR, False),
    ("ybr unmarked", "YBR_FULL", unmarked(AS_YBR), False),
    ("rgb unmarked", "RGB", renamed(unmarked(AS_RGB), b"\x01\x02\x03"), False),
    ("rgb agreed", "RGB", renamed(unmarked(AS_RGB), b"RGB"), False),
]  # fmt: skip


@pytest.mark.parametrize(
    ("photometric", "frame", "said"), [case[1:] for case in CONTRADICTIONS],
    ids=[case[0] for case in CONTRADICTIONS],
)  # fmt: skip
def test_markers_say_what_a_jpeg_is(
    tmp_path: Path, photometric: str, frame: bytes, said: bool
) -> None:
    path = packed(
        tmp_path / "a.dcm",
        [even(frame)],
        RGB.shape,
        syntax=JPEG,
        bits=8,
        PhotometricInterpretation=photometric,
    )
    near(values(path)[0], RGB, 24)
    assert any("codestream" in note for note in read_file(path).notes) == said


@pytest.mark.parametrize("syntax", [RLE, JPEG_LS, LOSSLESS_70])
@pytest.mark.parametrize("photometric", ["RGB", "YBR_FULL"])
def test_lossless_colour_follows_the_header(tmp_path: Path, syntax: str, photometric: str) -> None:
    stored = RGB if photometric == "RGB" else YBR
    if syntax == RLE:
        frame = rle(stored)
    elif syntax == JPEG_LS:
        frame = imagecodecs.jpegls_encode(stored)
    else:
        frame = imagecodecs.jpeg8_encode(
            stored, lossless=True, predictor=1, colorspace="RGB", outcolorspace="RGB"
        )
        frame = renamed_lossless(frame)
    path = packed(
        tmp_path / "a.dcm",
        [even(frame)],
        RGB.shape,
        syntax=syntax,
        bits=8,
        PhotometricInterpretation=photometric,
        PlanarConfiguration=1,
    )
    near(values(path)[0], RGB, 0 if photometric == "RGB" else 2)


def renamed_lossless(frame: bytes) -> bytes:
    """Component names that say nothing."""
    swapped = frame.replace(b"\xff\xc3", b"\xff\xc0", 1)
    return renamed(swapped, b"\x01\x02\x03").replace(b"\xff\xc0", b"\xff\xc3", 1)


@pytest.mark.parametrize(
    ("photometric", "transformed", "reversible"),
    [
        ("YBR_RCT", True, True),
        ("YBR_ICT", True, False),
        ("RGB", True, True),
        ("RGB", False, True),
        ("YBR_FULL", False, True),
        ("YBR_FULL", True, True),
    ],
)
def test_jpeg_2000_colour(
    tmp_path: Path, photometric: str, transformed: bool, reversible: bool
) -> None:
    ybr = photometric == "YBR_FULL" and not transformed
    stored = YBR if ybr else RGB
    if reversible:
        frame = j2k(stored, mct=transformed)
    else:
        frame = imagecodecs.jpeg2k_encode(stored, 60, codecformat="j2k", mct=transformed)
    path = packed(
        tmp_path / "a.dcm",
        [even(frame)],
        RGB.shape,
        syntax=J2K,
        bits=8,
        PhotometricInterpretation=photometric,
    )
    near(values(path)[0], RGB, 2 if ybr or not reversible else 0)
    said = any("codestream" in note for note in read_file(path).notes)
    assert said == (photometric == "YBR_FULL" and transformed)


def test_jpeg_2000_in_a_box_that_names_its_colours(tmp_path: Path) -> None:
    frame = imagecodecs.jpeg2k_encode(
        YBR, level=0, reversible=True, codecformat="jp2", colorspace="SYCC", mct=False
    )
    path = packed(
        tmp_path / "a.dcm",
        [even(frame)],
        RGB.shape,
        syntax=J2K,
        bits=8,
        PhotometricInterpretation="YBR_FULL",
    )
    near(values(path)[0], RGB, 3)


def palette(
    dataset: Dataset,
    tables: list[list[int]],
    first: int = 0,
    *,
    bits: int = 16,
    order: str = "<",
    wide: bool = True,
) -> Dataset:
    """Put a palette into a header."""
    dataset.PhotometricInterpretation = "PALETTE COLOR"
    for number, (color, table) in enumerate(zip(("Red", "Green", "Blue"), tables, strict=True)):
        descriptor = [len(table) % 65536, first, bits]
        vr = "SS" if first < 0 else "US"
        dataset[f"{color}PaletteColorLookupTableDescriptor"] = DataElement(
            0x00281101 + number, vr, descriptor
        )
        raw = struct.pack(f"{order}{len(table)}H", *table) if wide else even(bytes(table))
        if not wide and order == ">":
            raw = np.frombuffer(raw, "<u2").astype(">u2").tobytes()
        dataset[f"{color}PaletteColorLookupTableData"] = DataElement(0x00281201 + number, "OW", raw)
    return dataset


TABLES = [[10 * one, 255 - 10 * one, 128] for one in range(8)]


@pytest.mark.parametrize("syntax", [EXPLICIT, IMPLICIT, BIG])
@pytest.mark.parametrize(
    ("bits", "factor", "wide"), [(16, 257, True), (8, 1, False), (8, 1, True), (16, 1, True)],
    ids=["16", "8", "8 in words", "16 that are 8"],
)  # fmt: skip
def test_palettes_of_every_form(
    tmp_path: Path, syntax: str, bits: int, factor: int, wide: bool
) -> None:
    order = ">" if syntax == BIG else "<"
    channels = [[row[channel] * factor for row in TABLES] for channel in range(3)]
    dataset = header((2, 2), bits=8)
    palette(dataset, channels, first=3, bits=bits, order=order, wide=wide)
    raw = bytes([0, 3, 5, 200])
    if syntax == BIG:
        raw = np.frombuffer(raw, "<u2").astype(">u2").tobytes()
    dataset["PixelData"] = DataElement(0x7FE00010, "OW", raw)
    found = values(save(tmp_path / "a.dcm", dataset, syntax)).reshape(-1, 3)
    assert found.tolist() == [TABLES[0], TABLES[0], TABLES[2], TABLES[7]]


def test_a_palette_of_65536_entries(tmp_path: Path) -> None:
    ramp = np.arange(65536)
    dataset = header((2, 2))
    palette(dataset, [ramp.tolist(), (65535 - ramp).tolist(), [0] * 65536])
    index = np.array([0, 257, 32_896, 65_535], "<u2")
    dataset["PixelData"] = DataElement(0x7FE00010, "OW", index.tobytes())
    found = values(save(tmp_path / "a.dcm", dataset, EXPLICIT)).reshape(-1, 3)
    assert found.tolist() == [[0, 255, 0], [1, 254, 0], [128, 127, 0], [255, 0, 0]]


def test_a_palette_that_begins_below_zero(tmp_path: Path) -> None:
    dataset = header((2, 2), PixelRepresentation=1)
    channels = [[row[channel] for row in TABLES] for channel in range(3)]
    palette(dataset, channels, first=-4, bits=8, wide=False)
    dataset["PixelData"] = DataElement(0x7FE00010, "OW", struct.pack("<4h", -9, -4, 0, 3))
    found = values(save(tmp_path / "a.dcm", dataset, EXPLICIT)).reshape(-1, 3)
    assert found.tolist() == [TABLES[0], TABLES[0], TABLES[4], TABLES[7]]


@pytest.mark.parametrize("order", ["<", ">"])
def test_segmented_palettes(tmp_path: Path, order: str) -> None:
    """Discrete 3 values, linear 4 steps, and the linear segment once more (PS3.3 C.7.9.2)."""
    words = [0, 3, 0, 1000, 2000, 1, 4, 10_000, 0, 1, 30_000, 2, 1, 10, 0]
    wanted = [0, 1000, 2000, 4000, 6000, 8000, 10_000, 30_000, 25_000, 20_000, 15_000, 10_000]
    dataset = header((3, 4))
    palette(dataset, [[0] * 12] * 3)
    for number, color in enumerate(("Red", "Green", "Blue")):
        del dataset[f"{color}PaletteColorLookupTableData"]
        raw = struct.pack(f"{order}{len(words)}H", *words)
        dataset[f"Segmented{color}PaletteColorLookupTableData"] = DataElement(
            0x00281221 + number, "OW", raw
        )
    index = np.arange(12).astype(f"{order}u2")
    dataset["PixelData"] = DataElement(0x7FE00010, "OW", index.tobytes())
    path = save(tmp_path / "a.dcm", dataset, BIG if order == ">" else EXPLICIT)
    assert values(path)[0, ..., 0].reshape(-1).tolist() == [(one + 128) // 257 for one in wanted]


def test_a_supplemental_palette_is_shown_as_grey_and_said(tmp_path: Path) -> None:
    dataset = palette(header((2, 2), PixelPresentation="MIXED"), [[1, 2, 3]] * 3, first=3000)
    dataset.PhotometricInterpretation = "MONOCHROME2"
    dataset["PixelData"] = DataElement(0x7FE00010, "OW", struct.pack("<4H", 0, 1, 3000, 3002))
    path = save(tmp_path / "a.dcm", dataset, EXPLICIT)
    evidence = read_file(path)
    assert not evidence.color
    assert any("supplemental palette" in note for note in evidence.notes)
    assert values(path).reshape(-1).tolist() == [0, 1, 3000, 3002]


@pytest.mark.parametrize("where", ["picture", "path"])
def test_a_colour_profile_is_said(tmp_path: Path, where: str) -> None:
    dataset = header(RGB.shape, bits=8)
    path_item = Dataset()
    (dataset if where == "picture" else path_item).ICCProfile = b"profile!"
    if where == "path":
        dataset.OpticalPathSequence = Sequence([path_item])
    dataset["PixelData"] = DataElement(0x7FE00010, "OB", RGB.tobytes())
    evidence = read_file(save(tmp_path / "a.dcm", dataset, EXPLICIT))
    assert any("ICC" in note for note in evidence.notes)


def test_colour_of_several_frames_and_its_overlays_are_one_thing(tmp_path: Path) -> None:
    frames = np.stack([RGB, RGB[::-1], 255 - RGB])
    path = native(tmp_path / "a.dcm", frames.tobytes(), RGB.shape, bits=8, NumberOfFrames=3)
    assert np.array_equal(decoded(path).values, frames)
    assert load_pixels(read_file(path)).color


def test_grey_in_the_header_with_three_samples_is_colour(tmp_path: Path) -> None:
    path = native(
        tmp_path / "a.dcm",
        RGB.tobytes(),
        RGB.shape,
        bits=8,
        PhotometricInterpretation="MONOCHROME2",
    )
    evidence = read_file(path)
    assert evidence.color
    assert np.array_equal(load_pixels(evidence).array[0], RGB)


@pytest.mark.parametrize(
    ("word", "samples", "wanted"),
    [
        ("monochrome1 ", 1, "MONOCHROME1"),
        ("YBR FULL 422", 3, "YBR_FULL_422"),
        ("Palette Color", 1, "PALETTE COLOR"),
        ("Doe^Jane", 1, "MONOCHROME2"),
        ("Doe^Jane", 3, "RGB"),
        (None, 3, "RGB"),
        ("", 1, "MONOCHROME2"),
    ],
)
def test_only_defined_terms_leave_the_header(word: str | None, samples: int, wanted: str) -> None:
    dataset = Dataset()
    dataset.SamplesPerPixel = samples
    if word is not None:
        dataset["PhotometricInterpretation"] = DataElement(
            0x00280004, "CS", word, already_converted=True
        )
    assert photometric_of(dataset) == wanted
