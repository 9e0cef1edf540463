"""Picture files of every kind, made on the spot and compared with tifffile and Pillow."""

from __future__ import annotations

import struct
from pathlib import Path
from typing import Any

import imagecodecs
import numpy as np
import pytest
import tifffile
from numpy.typing import NDArray
from PIL import Image, ImageOps

from engine.errors import EvidenceError
from engine.evidence.item import ImageRef, Item
from engine.evidence.open import find_evidence, load_pixels, read_file
from engine.evidence.pictures.pages import turned
from engine.evidence.pictures.raster import load_picture, picture_rgb
from engine.evidence.pixels import item_of, prepare, thumbnail
from engine.evidence.study import Evidence
from tests.engine.test_formats_nifti import values

KINDS = ("u1", "i1", "u2", "i2", "u4", "i4", "f2", "f4", "f8")


def checked(path: Path) -> tuple[Evidence, NDArray[Any]]:
    """A description and values that agree with each other, without millimetres."""
    evidence = read_file(path)
    pixels = load_pixels(evidence)
    assert evidence.error is None
    assert evidence.shape == pixels.array.shape
    assert (evidence.spacing_mm, evidence.geometry) == (None, None)
    assert pixels.array.dtype.isnative
    assert thumbnail(evidence, 16).shape[-1] == 3
    seen = picture_rgb(path)
    assert seen.dtype == np.uint8
    assert seen.shape == (*pixels.array.shape[1:3], 3)
    return evidence, pixels.array


# --- TIFF -----------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("options", [
    {}, {"byteorder": ">"}, {"tile": (16, 16)}, {"bigtiff": True, "byteorder": ">"},
    {"compression": "zlib", "predictor": True}, {"compression": "lzw"}, {"compression": "zstd"},
    {"rowsperstrip": 3, "compression": "packbits"},
], ids=str)  # fmt: skip
def test_grey_tiff(tmp_path: Path, kind: str, options: dict[str, Any]) -> None:
    if kind == "f2" and "predictor" in options:
        options = {"compression": "zlib"}
    array = values(kind, (40, 33))
    path = tmp_path / "a.tif"
    tifffile.imwrite(path, array, photometric="minisblack", resolution=(300, 300), **options)
    evidence, got = checked(path)
    np.testing.assert_array_equal(got[0], array)
    assert evidence.dtype == np.dtype(kind).name
    assert (evidence.kind, evidence.color) == ("image", False)


@pytest.mark.parametrize("compression", ["lerc", "jpeg", "jpeg2000", "webp", "png", "lzma"])
def test_tiff_with_other_compressions(tmp_path: Path, compression: str) -> None:
    array = values("u1", (64, 48, 3)) // 8 + 100
    for number, shown in enumerate((array, array[..., 0])):
        if compression == "webp" and shown.ndim == 2:
            continue
        path = tmp_path / f"{number}.tif"
        photometric = "rgb" if shown.ndim == 3 else "minisblack"
        tifffile.imwrite(path, shown, photometric=photometric, compression=compression,
                         tile=(32, 32))  # fmt: skip
        _, got = checked(path)
        wanted = tifffile.imread(path)
        np.testing.assert_allclose(got[0].astype(int), wanted.astype(int), atol=2)


@pytest.mark.parametrize("kind", ["u1", "u2", "f4"])
def test_equal_grey_pages_are_a_volume(tmp_path: Path, kind: str) -> None:
    array = values(kind, (5, 20, 30))
    path = tmp_path / "a.tif"
    tifffile.imwrite(path, array, photometric="minisblack", metadata=None)
    evidence, got = checked(path)
    np.testing.assert_array_equal(got, array)
    assert (evidence.kind, evidence.form, evidence.notes) == ("volume", "3d", ("5 pages",))
    assert prepare(item_of(evidence)).volumes[0].shape == (5, 20, 30, 3)
    (third,) = prepare(Item(images=(ImageRef(path, frame=2),))).images
    assert third.shape == (20, 30, 3)


def test_coloured_pages_are_sheets(tmp_path: Path) -> None:
    array = values("u1", (4, 20, 30, 3))
    tifffile.imwrite(tmp_path / "a.tif", array, photometric="rgb", metadata=None)
    evidence, got = checked(tmp_path / "a.tif")
    np.testing.assert_array_equal(got, array)
    assert (evidence.kind, evidence.notes) == ("image", ("4 pages",))


def test_an_imagej_stack_of_one_page_is_whole(tmp_path: Path) -> None:
    array = values("u2", (6, 20, 30))
    tifffile.imwrite(tmp_path / "a.tif", array, imagej=True, metadata={"axes": "ZYX"})
    _, got = checked(tmp_path / "a.tif")
    np.testing.assert_array_equal(got, array)


@pytest.mark.parametrize("planar", ["contig", "separate"])
@pytest.mark.parametrize("samples", [3, 4])
@pytest.mark.parametrize("kind", ["u1", "u2"])
def test_colour_keeps_its_upper_bits(
    tmp_path: Path, planar: str, samples: int, kind: str
) -> None:  # fmt: skip
    top = 255 if kind == "u1" else 65535
    array = np.random.default_rng(1).integers(0, top, (20, 30, samples)).astype(kind)
    stored = array if planar == "contig" else np.moveaxis(array, -1, 0)
    path = tmp_path / "a.tif"
    extra = {"extrasamples": ["unassalpha"]} if samples == 4 else {}
    tifffile.imwrite(path, stored, photometric="rgb", planarconfig=planar, **extra)
    evidence, _ = checked(path)
    got = load_picture(path, white=False).array[0]
    np.testing.assert_array_equal(got, array[..., :3] >> (0 if kind == "u1" else 8))
    assert evidence.dtype == np.dtype(kind).name
    assert any("transparency" in note for note in evidence.notes) == (samples == 4)
    assert any("8 bits" in note for note in evidence.notes) == (kind == "u2")


def test_colours_already_multiplied_by_alpha(tmp_path: Path) -> None:
    color = np.random.default_rng(1).integers(0, 65535, (20, 30, 3))
    alpha = np.random.default_rng(2).integers(20_000, 65535, (20, 30, 1))
    array = np.concatenate([np.rint(color * (alpha / 65535)), alpha], axis=2).astype("u2")
    path = tmp_path / "a.tif"
    tifffile.imwrite(path, array, photometric="rgb", extrasamples=["assocalpha"])
    checked(path)
    got = load_picture(path, white=False).array[0]
    np.testing.assert_allclose(got.astype(int), color >> 8, atol=1)
    white = load_picture(path).array[0]
    wanted = (array[..., :3] + (65535.0 - alpha)) / 257
    np.testing.assert_allclose(white, wanted, atol=3)


def test_twelve_bit_colour_in_sixteen_is_not_black(tmp_path: Path) -> None:
    array = np.random.default_rng(1).integers(0, 4095, (20, 30, 3)).astype("u2")
    array[0, 0] = 4095
    tifffile.imwrite(tmp_path / "a.tif", array, photometric="rgb")
    _, got = checked(tmp_path / "a.tif")
    np.testing.assert_array_equal(got[0], array >> 4)


def test_float_colour_and_extra_channels(tmp_path: Path) -> None:
    array = np.random.default_rng(1).random((20, 30, 3)).astype("f4")
    tifffile.imwrite(tmp_path / "a.tif", array, photometric="rgb")
    _, got = checked(tmp_path / "a.tif")
    np.testing.assert_allclose(got[0], array * 255, atol=0.51)
    many = values("u2", (20, 30, 7))
    tifffile.imwrite(tmp_path / "b.tif", many, photometric="minisblack", planarconfig="contig")
    evidence, got = checked(tmp_path / "b.tif")
    np.testing.assert_array_equal(got[0], many[..., 0])
    assert any("7 values in each pixel" in note for note in evidence.notes)


@pytest.mark.parametrize("kind", ["u1", "u2"])
def test_white_is_zero(tmp_path: Path, kind: str) -> None:
    array = values(kind, (20, 30))
    tifffile.imwrite(tmp_path / "a.tif", array, photometric="miniswhite")
    _, got = checked(tmp_path / "a.tif")
    np.testing.assert_array_equal(got[0], np.iinfo(array.dtype).max - array)


@pytest.mark.parametrize("tag", range(1, 9))
@pytest.mark.parametrize("kind", ["u1", "u2", "rgb16"])
def test_turned_tiff(tmp_path: Path, tag: int, kind: str) -> None:
    shape = (20, 30, 3) if kind == "rgb16" else (20, 30)
    array = values("u2" if kind == "rgb16" else kind, shape)
    path = tmp_path / "a.tif"
    tifffile.imwrite(path, array, photometric="rgb" if len(shape) == 3 else "minisblack",
                     extratags=[(274, 3, 1, tag, True)])  # fmt: skip
    evidence, got = checked(path)
    upright = turned(array, tag)
    if kind == "u1":
        peer = Image.fromarray(array)
        peer.getexif()[274] = tag
        np.testing.assert_array_equal(upright, np.asarray(ImageOps.exif_transpose(peer)))
    upright = upright >> 4 if kind == "rgb16" else upright
    np.testing.assert_array_equal(got[0], upright)
    assert any("upright" in note for note in evidence.notes) == (tag > 1)


def test_pyramids_open_at_a_level_within_bounds(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    full = np.tile(np.arange(256, dtype=np.uint8), (512, 2))[..., None].repeat(3, axis=2)
    below, paged = tmp_path / "below.tif", tmp_path / "paged.svs"
    with tifffile.TiffWriter(below) as made:
        made.write(full, subifds=2, tile=(64, 64), photometric="rgb")
        made.write(full[::2, ::2], subfiletype=1, tile=(64, 64), photometric="rgb")
        made.write(full[::4, ::4], subfiletype=1, tile=(64, 64), photometric="rgb")
    with tifffile.TiffWriter(paged) as made:
        options = {"photometric": "rgb", "metadata": None, "tile": (64, 64)}
        made.write(full, description="Aperio Image Library v10\n512x512", **options)
        made.write(full[::8, ::8], photometric="rgb", metadata=None)
        made.write(full[::4, ::4], **options)
        made.write(full[:100, :300], photometric="rgb", metadata=None)  # a label with a name
    monkeypatch.setattr("engine.evidence.pictures.tiff.LEVEL_PIXELS", 70_000)
    evidence, got = checked(below)
    np.testing.assert_array_equal(got[0], full[::2, ::2])
    assert "512 x 512 in full; the level of 256 x 256 is shown" in evidence.notes[0]
    evidence, got = checked(paged)
    np.testing.assert_array_equal(got[0], full[::4, ::4])
    assert evidence.shape == (1, 128, 128, 3)


@pytest.mark.parametrize("bits", [1, 2, 4])
def test_few_bits(tmp_path: Path, bits: int) -> None:
    """Packed by hand: rows of whole bytes, most significant bits first."""
    array = np.random.default_rng(bits).integers(0, 1 << bits, (9, 16)).astype(np.uint8)
    each = np.unpackbits(array[..., None], axis=-1)[..., -bits:].reshape(9, -1)
    body = np.packbits(each, axis=1).tobytes()
    path = tmp_path / "a.tif"
    path.write_bytes(tiff_of(16, 9, bits, body))
    _, got = checked(path)
    with Image.open(path) as opened:
        peer = np.asarray(opened)
    np.testing.assert_array_equal(got[0], peer)
    np.testing.assert_array_equal(peer.astype(int), array * (255 // ((1 << bits) - 1) if bits > 1
                                                             else 1))  # fmt: skip


def tiff_of(width: int, height: int, bits: int, body: bytes) -> bytes:
    """A little endian grey TIFF of one strip."""
    fields = {256: width, 257: height, 258: bits, 259: 1, 262: 1, 273: 8, 277: 1, 278: height,
              279: len(body)}  # fmt: skip
    rows = [struct.pack("<HHLL", tag, 4, 1, value) for tag, value in sorted(fields.items())]
    head = struct.pack("<2sHL", b"II", 42, 8 + len(body))
    return head + body + struct.pack("<H", len(fields)) + b"".join(rows) + bytes(4)


def test_palette_and_cmyk_tiff(tmp_path: Path) -> None:
    rgb = Image.fromarray(values("u1", (20, 30, 3)))
    for mode in ("P", "CMYK"):
        path = tmp_path / f"{mode}.tif"
        rgb.convert(mode).save(path)
        _, got = checked(path)
        with Image.open(path) as peer:
            np.testing.assert_array_equal(got[0], np.asarray(peer.convert("RGB")))


# --- others ---------------------------------------------------------------------------------


def test_cmyk_jpeg_with_and_without_adobe_s_mark(tmp_path: Path) -> None:
    ink = np.zeros((16, 16, 4), np.uint8)
    ink[..., 0] = 200  # cyan
    with_mark, without = tmp_path / "adobe.jpg", tmp_path / "plain.jpg"
    Image.fromarray(ink, "CMYK").save(with_mark, quality=95)
    raw = with_mark.read_bytes()
    at = raw.index(b"\xff\xee")
    mark = raw[at : at + 2 + int.from_bytes(raw[at + 2 : at + 4], "big")]
    assert mark[4:9] == b"Adobe"
    # without the mark the stored numbers are ink, not its absence
    plain = Image.fromarray(255 - ink, "CMYK")
    plain.save(without, quality=95)
    body = without.read_bytes()
    without.write_bytes(body.replace(mark, b""))
    for path in (with_mark, without):
        _, got = checked(path)
        np.testing.assert_allclose(got[0].mean(axis=(0, 1)), (55, 255, 255), atol=3)


@pytest.mark.parametrize("tag", range(1, 9))
@pytest.mark.parametrize("suffix", [".jpg", ".png", ".webp"])
def test_turned_by_exif(tmp_path: Path, tag: int, suffix: str) -> None:
    smooth = np.add.outer(np.arange(24) * 6, np.arange(40) * 2).astype(np.uint8)
    exif = Image.Exif()
    exif[0x0112] = tag
    path = tmp_path / f"a{suffix}"
    options = {"lossless": True} if suffix == ".webp" else {}
    Image.fromarray(smooth).convert("RGB").save(path, exif=exif, **options)
    _, got = checked(path)
    np.testing.assert_allclose(got[0, ..., 0].astype(int), turned(smooth, tag).astype(int), atol=3)


@pytest.mark.parametrize("samples", [1, 2, 3, 4])
def test_png_of_sixteen_bits(tmp_path: Path, samples: int) -> None:
    array = np.random.default_rng(3).integers(0, 65535, (20, 30, samples)).astype(np.uint16)
    path = tmp_path / "a.png"
    path.write_bytes(imagecodecs.png_encode(array[..., 0] if samples == 1 else array))
    evidence, _ = checked(path)
    got = load_picture(path, white=False).array[0]
    wanted = array[..., 0] if samples < 3 else array[..., :3] >> 8
    np.testing.assert_array_equal(got, wanted)
    assert evidence.dtype == "uint16"
    assert any("transparency" in note for note in evidence.notes) == (samples in (2, 4))


def test_transparency_lies_on_white(tmp_path: Path) -> None:
    array = np.zeros((4, 4, 4), np.uint8)
    array[:2, :, 3] = 255
    Image.fromarray(array).save(tmp_path / "a.png")
    _, got = checked(tmp_path / "a.png")
    assert got[0, :, 0, 0].tolist() == [0, 0, 255, 255]
    flat = Image.fromarray(np.arange(16, dtype=np.uint8).reshape(4, 4)).convert("P")
    flat.save(tmp_path / "b.png", transparency=3)
    evidence, _ = checked(tmp_path / "b.png")
    assert "transparency" in evidence.notes[0]
    deep = np.arange(16, dtype=np.uint16).reshape(4, 4) * 100
    Image.fromarray(deep).save(tmp_path / "c.png", transparency=300)
    _, got = checked(tmp_path / "c.png")
    assert got[0, 0].tolist() == [0, 100, 200, 1500]  # white is the greatest value there is


def test_odd_pages_of_tiff(tmp_path: Path) -> None:
    block = values("u2", (16, 64, 64))
    tifffile.imwrite(tmp_path / "a.tif", block, volumetric=True, tile=(16, 64, 64))
    with pytest.raises(EvidenceError, match="several slices in one page"):
        read_file(tmp_path / "a.tif")
    many = values("u1", (3, 20, 30))
    tifffile.imwrite(tmp_path / "b.tif", many, photometric="minisblack", planarconfig="separate")
    _, got = checked(tmp_path / "b.tif")
    np.testing.assert_array_equal(got[0], many[0])


@pytest.mark.parametrize("kind", ["u1", "u2", "i2", "rgb", "rgb16", "12"])
@pytest.mark.parametrize("form", ["jp2", "j2k"])
def test_jpeg_2000(tmp_path: Path, kind: str, form: str) -> None:
    shape = (40, 33, 3) if kind.startswith("rgb") else (40, 33)
    depth = {"rgb": "u1", "rgb16": "u2", "12": "u2"}.get(kind, kind)
    top = {"u1": 255, "u2": 65535, "i2": 30000}[depth] if kind != "12" else 4095
    low = -30000 if depth == "i2" else 0
    array = np.random.default_rng(5).integers(low, top, shape).astype(depth)
    options = {"bitspersample": 12} if kind == "12" else {}
    path = tmp_path / f"a.{form}"
    path.write_bytes(
        imagecodecs.jpeg2k_encode(array, level=0, reversible=True, codecformat=form, **options)
    )
    evidence, got = checked(path)
    np.testing.assert_array_equal(got[0], array >> 8 if kind == "rgb16" else array)
    assert evidence.dtype == np.dtype(depth).name
    path.rename(tmp_path / "nameless")
    assert [one.error for one in find_evidence([tmp_path])] == [None]


@pytest.mark.parametrize("suffix", [".bmp", ".webp", ".gif", ".pgm", ".ppm", ".png", ".avif"])
def test_what_pillow_writes(tmp_path: Path, suffix: str) -> None:
    grey = values("u1", (20, 30))
    source = Image.fromarray(grey if suffix == ".pgm" else np.dstack([grey] * 3))
    path = tmp_path / f"a{suffix}"
    options: dict[str, Any] = {".webp": {"lossless": True}}.get(suffix, {})
    source.save(path, **options)
    _, got = checked(path)
    with Image.open(path) as peer:
        np.testing.assert_array_equal(got[0], np.asarray(peer.convert(source.mode)))


def test_deep_pgm(tmp_path: Path) -> None:
    array = values("u2", (20, 30))
    (tmp_path / "a.pgm").write_bytes(b"P5\n30 20\n65535\n" + array.astype(">u2").tobytes())
    evidence, got = checked(tmp_path / "a.pgm")
    np.testing.assert_array_equal(got[0], array)
    assert evidence.dtype in ("uint16", "int32")


@pytest.mark.parametrize("suffix", [".gif", ".png", ".webp"])
def test_moving_pictures_are_a_cine(tmp_path: Path, suffix: str) -> None:
    frames = [Image.fromarray(np.full((16, 20, 3), 60 * n, np.uint8)) for n in range(4)]
    path = tmp_path / f"a{suffix}"
    options: dict[str, Any] = {".webp": {"lossless": True}}.get(suffix, {})
    frames[0].save(path, save_all=True, append_images=frames[1:], duration=40, **options)
    evidence, got = checked(path)
    assert (evidence.kind, evidence.form, evidence.shape) == ("cine", "3d", (4, 16, 20, 3))
    np.testing.assert_allclose(got[:, 0, 0, 0], [0, 60, 120, 180], atol=1)
    assert evidence.frame_ms == 40
    assert prepare(item_of(evidence)).volumes[0].shape == (4, 16, 20, 3)


def test_a_camera_s_second_picture_is_no_page(tmp_path: Path) -> None:
    first, second = (Image.fromarray(values("u1", (20, 30, 3), seed=n)) for n in range(2))
    first.save(tmp_path / "a.jpg", format="MPO", save_all=True, append_images=[second])
    evidence, _ = checked(tmp_path / "a.jpg")
    assert (evidence.shape, evidence.notes) == ((1, 20, 30, 3), ())
    assert evidence.source["format"] == "JPEG"


def test_jpeg_of_twelve_bits(tmp_path: Path) -> None:
    smooth = np.add.outer(np.arange(40) * 60, np.arange(48) * 30).astype(np.uint16)
    path = tmp_path / "a.jpg"
    path.write_bytes(imagecodecs.jpeg_encode(smooth, level=98, bitspersample=12))
    evidence, got = checked(path)
    np.testing.assert_allclose(got[0].astype(int), smooth.astype(int), atol=24)
    assert evidence.dtype == "uint16"


@pytest.mark.parametrize("kind", ["u1", "u2"])
@pytest.mark.parametrize("encode", [imagecodecs.ljpeg_encode, imagecodecs.jpegls_encode])
def test_lossless_jpeg(tmp_path: Path, kind: str, encode: Any) -> None:
    array = np.random.default_rng(1).integers(0, 250, (40, 48)).astype(kind)
    path = tmp_path / "a.jpg"
    path.write_bytes(encode(array))
    evidence, got = checked(path)
    np.testing.assert_array_equal(got[0], array)
    assert evidence.dtype == np.dtype(kind).name
