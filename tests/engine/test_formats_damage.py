"""Pictures that are cut, changed or claim too much: an error or the whole, never half of it."""

from __future__ import annotations

import contextlib
import gzip
import random
import struct
import tracemalloc
import zlib
from collections.abc import Callable
from pathlib import Path

import imagecodecs
import numpy as np
import pytest
import tifffile
from PIL import Image
from PIL.PngImagePlugin import PngImageFile

from engine.errors import EvidenceError
from engine.evidence.open import find_evidence, load_pixels, read_file
from engine.evidence.pictures.raster import picture_rgb
from tests.engine.test_formats_nifti import values

GREY = np.random.default_rng(0).integers(0, 256, (96, 80)).astype(np.uint8)
COLOR = np.random.default_rng(1).integers(0, 256, (96, 80, 3)).astype(np.uint8)
DEEP = np.random.default_rng(2).integers(0, 65536, (96, 80)).astype(np.uint16)


def pillow(path: Path, array: np.ndarray, **options: object) -> None:
    Image.fromarray(array).save(path, **options)  # type: ignore[arg-type]


def tiff(path: Path, array: np.ndarray, **options: object) -> None:
    photometric = "rgb" if array.shape[-1] == 3 else "minisblack"
    tifffile.imwrite(path, array, photometric=photometric, **options)  # type: ignore[arg-type]


def coded(path: Path, encode: Callable[..., bytes], array: np.ndarray, **options: object) -> None:
    path.write_bytes(encode(array, **options))


MAKERS: dict[str, Callable[[Path], None]] = {
    "grey.png": lambda path: pillow(path, GREY),
    "color.png": lambda path: pillow(path, COLOR),
    "deep.png": lambda path: pillow(path, DEEP),
    "rgb16.png": lambda path: coded(path, imagecodecs.png_encode, np.dstack([DEEP] * 3)),
    "a.jpg": lambda path: pillow(path, COLOR),
    "progressive.jpg": lambda path: pillow(path, COLOR, progressive=True),
    "twelve.jpg": lambda path: coded(path, imagecodecs.jpeg_encode, DEEP >> 4, bitspersample=12),
    "a.gif": lambda path: pillow(path, GREY),
    "a.bmp": lambda path: pillow(path, COLOR),
    "a.webp": lambda path: pillow(path, COLOR, lossless=True),
    "a.pgm": lambda path: pillow(path, GREY),
    "a.jp2": lambda path: coded(path, imagecodecs.jpeg2k_encode, GREY, reversible=True),
    "deep.j2k": lambda path: coded(path, imagecodecs.jpeg2k_encode, DEEP, codecformat="j2k",
                                   reversible=True),
    "raw.tif": lambda path: tiff(path, GREY),
    "deep.tif": lambda path: tiff(path, DEEP),
    "zip.tif": lambda path: tiff(path, DEEP, compression="zlib"),
    "lzw.tif": lambda path: tiff(path, GREY, compression="lzw", rowsperstrip=8),
    "tiles.tif": lambda path: tiff(path, DEEP, tile=(16, 16), compression="zstd"),
    "jpeg.tif": lambda path: tiff(path, COLOR, compression="jpeg", tile=(32, 32)),
    "j2k.tif": lambda path: tiff(path, DEEP, compression="jpeg2000", tile=(32, 32)),
    "pages.tif": lambda path: tiff(path, values("u2", (4, 30, 20)), metadata=None),
}  # fmt: skip


@pytest.mark.parametrize("name", MAKERS)
def test_a_cut_picture_is_an_error_or_whole(tmp_path: Path, name: str) -> None:
    path = tmp_path / name
    MAKERS[name](path)
    raw, wanted = path.read_bytes(), load_pixels(read_file(path)).array
    codes = set()
    for share in (0.05, 0.3, 0.6, 0.8, 0.95, 0.99):
        path.write_bytes(raw[: int(len(raw) * share)])
        try:
            got = load_pixels(read_file(path)).array
        except EvidenceError as error:
            codes.add((share, error.code))
        else:
            np.testing.assert_array_equal(got, wanted)
    assert len(codes) >= 4
    assert {code for _, code in codes} <= {"truncated", "damaged", "unsupported", "not_dicom"}


@pytest.mark.parametrize("name", MAKERS)
def test_changed_bytes_end_in_sentences(tmp_path: Path, name: str) -> None:
    path = tmp_path / name
    MAKERS[name](path)
    raw, chance = path.read_bytes(), random.Random(len(name))
    for _ in range(25):
        changed = bytearray(raw)
        for _ in range(chance.choice((1, 4, 20))):
            at = chance.randrange(min(len(raw), chance.choice((60, 400, len(raw)))))
            changed[at] = chance.choice((0, 1, 255, chance.randrange(256)))
        path.write_bytes(bytes(changed))
        with contextlib.suppress(EvidenceError):
            load_pixels(read_file(path))
        with contextlib.suppress(EvidenceError):
            picture_rgb(path)


@pytest.mark.parametrize(
    "options", [{}, {"progressive": True}, {"subsampling": 0}, {"restart_marker_rows": 1}], ids=str
)
@pytest.mark.parametrize("array", [GREY, COLOR], ids=["grey", "colour"])
def test_a_cut_jpeg_with_an_end_put_on_is_told(
    tmp_path: Path, options: dict[str, object], array: np.ndarray
) -> None:
    path = tmp_path / "a.jpg"
    pillow(path, array, **options)
    raw = path.read_bytes()
    assert load_pixels(read_file(path)).array.shape[1:3] == (96, 80)
    for share in (0.4, 0.6, 0.9):
        path.write_bytes(raw[: int(len(raw) * share)] + b"\xff\xd9")
        with pytest.raises(EvidenceError) as caught:
            load_pixels(read_file(path))
        assert caught.value.code == "truncated"


def test_a_grey_corner_is_no_loss(tmp_path: Path) -> None:
    flat = np.full((64, 64), 128, np.uint8)
    for number, options in enumerate(({}, {"progressive": True})):
        pillow(tmp_path / f"{number}.jpg", flat, **options)  # type: ignore[arg-type]
        assert load_pixels(read_file(tmp_path / f"{number}.jpg")).array.max() == 128


def png_claim(path: Path) -> None:
    head = struct.pack(">IIBBBBB", 19_000, 19_000, 8, 2, 0, 0, 0)
    body = zlib.compress(bytes(1000))
    chunks = b""
    for kind, data in ((b"IHDR", head), (b"IDAT", body), (b"IEND", b"")):
        whole = kind + data
        chunks += struct.pack(">I", len(data)) + whole + struct.pack(">I", zlib.crc32(whole))
    path.write_bytes(b"\x89PNG\r\n\x1a\n" + chunks)


def png16_claim(path: Path) -> None:
    png_claim(path)
    raw = bytearray(path.read_bytes())
    raw[24] = 16
    raw[29:33] = struct.pack(">I", zlib.crc32(bytes(raw[12:29])))
    path.write_bytes(bytes(raw))


def replaced(path: Path, old: bytes, new: bytes) -> None:
    raw = path.read_bytes()
    assert old in raw
    path.write_bytes(raw.replace(old, new, 1))


def jpeg_claim(path: Path) -> None:
    pillow(path, GREY)
    replaced(path, struct.pack(">HH", 96, 80), struct.pack(">HH", 65_000, 65_000))


def j2k_claim(path: Path) -> None:
    coded(path, imagecodecs.jpeg2k_encode, DEEP, codecformat="j2k")
    raw = bytearray(path.read_bytes())
    struct.pack_into(">LL", raw, 8, 60_000, 60_000)
    path.write_bytes(bytes(raw))


def bmp_claim(path: Path) -> None:
    pillow(path, GREY)
    raw = bytearray(path.read_bytes())
    struct.pack_into("<ii", raw, 18, 60_000, 60_000)
    path.write_bytes(bytes(raw))


def tiff_claim(path: Path) -> None:
    tiff(path, DEEP, compression="zlib")
    with tifffile.TiffFile(path, mode="r+") as found:
        for tag in ("ImageWidth", "ImageLength", "RowsPerStrip"):
            found.pages[0].tags[tag].overwrite(60_000)


def tiff_sparse(path: Path) -> None:
    tiff(path, DEEP, compression="zlib", rowsperstrip=96)
    with tifffile.TiffFile(path, mode="r+") as found:
        found.pages[0].tags["StripByteCounts"].overwrite(0)


def tiff_few_tiles(path: Path) -> None:
    tiff(path, DEEP, compression="zlib", tile=(16, 16))
    with tifffile.TiffFile(path, mode="r+") as found:
        found.pages[0].tags["ImageWidth"].overwrite(9_000)


def tiff_wide_tile(path: Path) -> None:
    tiff(path, GREY, compression="jpeg", tile=(32, 32))
    with tifffile.TiffFile(path, mode="r+") as found:
        found.pages[0].tags["TileWidth"].overwrite(64_000)
        found.pages[0].tags["TileLength"].overwrite(64_000)


def tiff_beyond(path: Path) -> None:
    tiff(path, DEEP)
    with tifffile.TiffFile(path, mode="r+") as found:
        found.pages[0].tags["StripOffsets"].overwrite(1 << 30)


def tiff_circle(path: Path) -> None:
    tiff(path, values("u2", (2, 30, 20)), metadata=None)
    with tifffile.TiffFile(path) as found:
        first, second = (page.offset for page in found.pages)
        count = len(found.pages[1].tags)
    raw = bytearray(path.read_bytes())
    struct.pack_into("<L", raw, second + 2 + 12 * count, first)
    path.write_bytes(bytes(raw))


CLAIMS: list[tuple[str, Callable[[Path], None], set[str]]] = [
    ("a.png", png_claim, {"bomb"}),
    ("b.png", png16_claim, {"bomb"}),
    ("a.jpg", jpeg_claim, {"too_large"}),
    ("a.j2k", j2k_claim, {"too_large"}),
    ("a.bmp", bmp_claim, {"too_large"}),
    ("a.tif", tiff_claim, {"too_large", "damaged"}),
    ("b.tif", tiff_sparse, {"truncated"}),
    ("f.tif", tiff_few_tiles, {"truncated"}),
    ("g.tif", tiff_wide_tile, {"damaged"}),
    ("c.tif", tiff_beyond, {"truncated"}),
]


@pytest.mark.parametrize(("name", "make", "codes"), CLAIMS, ids=[one[1].__name__ for one in CLAIMS])
def test_claims_are_refused_before_memory_is_taken(
    tmp_path: Path, name: str, make: Callable[[Path], None], codes: set[str]
) -> None:
    path = tmp_path / name
    make(path)
    load_pixels(read_file(warm(tmp_path)))
    tracemalloc.start()
    code = ""
    try:
        load_pixels(read_file(path))
    except EvidenceError as error:
        code = error.code
    finally:
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
    assert code in codes
    assert peak < 8 << 20


def warm(folder: Path) -> Path:
    """A sound file, so that imports are not counted."""
    tiff(folder / "warm.tif", DEEP)
    return folder / "warm.tif"


def test_tiles_that_a_scanner_left_out_are_background(tmp_path: Path) -> None:
    path = tmp_path / "a.tif"
    tiff(path, DEEP, compression="zlib", tile=(16, 16))
    with tifffile.TiffFile(path, mode="r+") as found:
        tag = found.pages[0].tags["TileByteCounts"]
        tag.overwrite([0, *tag.value[1:]])
    got = load_pixels(read_file(path)).array[0]
    assert not got[:16, :16].any()
    np.testing.assert_array_equal(got[16:], DEEP[16:])


def test_pages_in_a_circle_are_read_once(tmp_path: Path) -> None:
    tiff_circle(tmp_path / "a.tif")
    pixels = load_pixels(read_file(tmp_path / "a.tif"))
    np.testing.assert_array_equal(pixels.array, values("u2", (2, 30, 20)))


def test_pages_that_differ_are_said(tmp_path: Path) -> None:
    path = tmp_path / "a.tif"
    with tifffile.TiffWriter(path) as made:
        made.write(DEEP, metadata=None)
        made.write(DEEP[:50], metadata=None)
        made.write(DEEP[::-1], metadata=None)
    evidence = read_file(path)
    array = load_pixels(evidence).array
    assert evidence.shape == array.shape == (2, 96, 80)
    np.testing.assert_array_equal(array[1], DEEP[::-1])
    assert evidence.notes == ("3 pages of different sizes; those of the first size are shown",)


def test_pages_of_several_kinds_are_said(tmp_path: Path) -> None:
    path = tmp_path / "a.tif"
    pages = [Image.fromarray(COLOR).convert("P"), Image.fromarray(GREY), Image.fromarray(COLOR)]
    pages[0].save(path, save_all=True, append_images=pages[1:])
    evidence = read_file(path)
    assert evidence.notes == ("3 pages of different kinds; those like the first are shown",)
    assert load_pixels(evidence).array.shape == evidence.shape == (2, 96, 80, 3)


def test_complex_pictures_are_refused(tmp_path: Path) -> None:
    tiff(tmp_path / "a.tif", (DEEP + 1j).astype(np.complex64))
    with pytest.raises(EvidenceError, match="complex") as caught:
        read_file(tmp_path / "a.tif")
    assert caught.value.code == "unsupported"


def test_a_page_that_is_not_there(tmp_path: Path) -> None:
    for name in ("a.jp2", "deep.tif", "grey.png"):
        MAKERS[name](tmp_path / name)
        with pytest.raises(EvidenceError) as caught:
            picture_rgb(tmp_path / name, frame=1)
        assert caught.value.code == "no_frame"


def test_words_are_no_bitmap(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("BMI 24 kg/m2, otherwise well.", encoding="utf-8")
    assert read_file(tmp_path / "a.txt").kind == "report"
    pillow(tmp_path / "b.bmp", GREY)
    (tmp_path / "b.bmp").rename(tmp_path / "nameless")
    assert read_file(tmp_path / "nameless").kind == "image"


def test_a_png_is_described_without_being_decoded(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    exif = Image.Exif()
    exif[0x0112] = 6
    path = tmp_path / "a.png"
    pillow(path, GREY, exif=exif)
    raw = path.read_bytes()
    at = raw.index(b"eXIf") - 4
    chunk = raw[at : at + 12 + int.from_bytes(raw[at : at + 4], "big")]
    end = raw.index(b"IEND") - 4
    # EXIF may stand behind the picture too
    path.write_bytes(raw.replace(chunk, b"")[: end - len(chunk)] + chunk + raw[end:])
    assert load_pixels(read_file(path)).array.shape == (1, 80, 96)

    def refuse(self: Image.Image) -> None:
        raise AssertionError("decoded")

    monkeypatch.setattr(PngImageFile, "load", refuse)
    assert read_file(path).shape == (1, 80, 96)
    path.write_bytes(raw[: len(raw) // 2])
    with pytest.raises(EvidenceError) as caught:
        read_file(path)
    assert caught.value.code == "truncated"


@pytest.mark.parametrize(
    "name",
    [
        "a.nii",
        "a.nii.gz",
        "a.hdr",
        "a.zip",
        "a.npz",
        "a.npy",
        "a.hl7",
        "a.gz",
        "a.tar",
        "a.tar.gz",
        "a.xml",
    ],
)
@pytest.mark.parametrize("content", [b"\0" * 3000, bytes(range(7, 200)) * 9, b"\x5c\x01" * 100])
def test_a_name_that_promises_a_format_is_held_to_it(
    tmp_path: Path, name: str, content: bytes
) -> None:
    (tmp_path / name).write_bytes(content)
    (found,) = find_evidence([tmp_path / name])
    assert found.kind == "error"
    assert found.error is not None
    assert found.error.code in ("damaged", "truncated")


def test_zeros_are_no_report(tmp_path: Path) -> None:
    for name in ("a.txt", "a.rtf"):
        (tmp_path / name).write_bytes(bytes(500))
        with pytest.raises(EvidenceError) as caught:
            read_file(tmp_path / name)
        assert caught.value.code == "not_text"


def test_anything_may_be_packed(tmp_path: Path) -> None:
    (tmp_path / "a.gz").write_bytes(gzip.compress(bytes(range(7, 200)) * 9))
    assert read_file(tmp_path / "a.gz").kind == "other"
