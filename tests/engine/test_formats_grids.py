"""NRRD and MetaImage of every kind, made on the spot, compared with SimpleITK and pynrrd."""

from __future__ import annotations

import bz2
import gzip
import tracemalloc
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import nrrd
import numpy as np
import pytest
import SimpleITK as sitk
from numpy.typing import NDArray

from engine.errors import EvidenceError
from engine.evidence.digest import companions, file_digest
from engine.evidence.grids import grid_data, grid_header
from engine.evidence.open import find_evidence, load_pixels, read_file
from engine.evidence.study import Evidence
from tests.engine.test_formats_nifti import rotation, values

KINDS = ("u1", "i1", "i2", "u2", "i4", "u4", "i8", "u8", "f4", "f8")
WORDS = {
    "u1": "uchar", "i1": "signed char", "i2": "short", "u2": "unsigned short", "i4": "int",
    "u4": "uint", "i8": "long long int", "u8": "uint64_t", "f4": "float", "f8": "double",
}  # fmt: skip
MET = {
    "u1": "UCHAR", "i1": "CHAR", "i2": "SHORT", "u2": "USHORT", "i4": "INT", "u4": "UINT",
    "i8": "LONG_LONG", "u8": "ULONG_LONG", "f4": "FLOAT", "f8": "DOUBLE",
}  # fmt: skip


def image(seed: int, kind: str = "i2") -> sitk.Image:
    """A turned, anisotropic volume of 5 x 6 x 7 voxels."""
    made = sitk.GetImageFromArray(values(kind, (7, 6, 5)))
    made.SetSpacing((0.7, 1.3, 2.9))
    made.SetOrigin((-31.5, 12.25, 90.0))
    made.SetDirection(rotation(seed=seed).ravel().tolist())
    return made


def check_against_itk(path: Path) -> Evidence:
    """Values, places, spacing and letters as SimpleITK has them."""
    peer = sitk.ReadImage(str(path))
    evidence = read_file(path)
    pixels = load_pixels(evidence)
    np.testing.assert_array_equal(pixels.array, sitk.GetArrayFromImage(peer))
    assert pixels.array.dtype.isnative
    np.testing.assert_allclose(evidence.spacing_mm or (), peer.GetSpacing()[::-1], rtol=1e-9)
    for geometry in (evidence.geometry, pixels.geometry):
        assert geometry is not None
        for x, y, z in ((0, 0, 0), (4, 5, 6), (2, 0, 3)):
            there = peer.TransformIndexToPhysicalPoint((x, y, z))
            np.testing.assert_allclose(geometry.point((z, y, x)), there, atol=1e-6)
    matrix = np.array(peer.GetDirection()).reshape(3, 3)
    axis = np.abs(matrix).argmax(axis=0)
    if len(set(axis)) == 3:
        sides = ["LPS"[a] if matrix[a, c] > 0 else "RAI"[a] for c, a in enumerate(axis)]
        assert evidence.orientation == "".join(sides)
    return evidence


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("suffix", [".nrrd", ".nhdr", ".mha", ".mhd"])
@pytest.mark.parametrize("compress", [False, True])
def test_what_itk_writes(tmp_path: Path, kind: str, suffix: str, *, compress: bool) -> None:
    path = tmp_path / f"a{suffix}"
    sitk.WriteImage(image(KINDS.index(kind), kind), str(path), compress)
    evidence = check_against_itk(path)
    assert evidence.dtype == np.dtype(kind).name
    (found,) = find_evidence([tmp_path])
    assert len(found.members) == (2 if suffix in (".nhdr", ".mhd") else 1)


def header_of(array: NDArray[Any], **fields: str) -> str:
    """An NRRD header for an array [z, y, x, ...] in little endian."""
    known = {
        "type": WORDS[array.dtype.str[1:]], "dimension": str(array.ndim),
        "sizes": " ".join(map(str, array.shape[::-1])), "endian": "little", "encoding": "raw",
        **{name.replace("_", " "): value for name, value in fields.items()},
    }  # fmt: skip
    lines = [f"{name}: {value}" for name, value in known.items() if value]
    return "\n".join(["NRRD0005", "# by Jane Doe", *lines, "patient:=Jane Doe"]) + "\n"


def write(path: Path, array: NDArray[Any], body: bytes | None = None, **fields: str) -> Path:
    """An attached NRRD file."""
    head = header_of(array, **fields) + "\n"
    path.write_bytes(head.encode() + (array.tobytes() if body is None else body))
    return path


def pack(raw: bytes, encoding: str) -> bytes:
    if encoding == "hex":
        return b"\n".join(raw.hex().encode()[at : at + 60] for at in range(0, 2 * len(raw), 60))
    return {"raw": bytes, "gzip": gzip.compress, "bz2": bz2.compress}[encoding](raw)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("encoding", ["raw", "gzip", "bz2", "hex", "ascii"])
def test_every_encoding_and_number_format(tmp_path: Path, kind: str, encoding: str) -> None:
    array = values(kind, (3, 4, 5))
    text = " ".join(repr(one.item()) for one in array.ravel()).replace(" ", "\n", 7).encode()
    body = text if encoding == "ascii" else pack(array.tobytes(), encoding)
    path = write(tmp_path / "a.nrrd", array, body, encoding=encoding)
    got = load_pixels(read_file(path)).array
    np.testing.assert_array_equal(got, array)
    if encoding != "hex":  # pynrrd reads no hex
        np.testing.assert_array_equal(nrrd.read(str(path), index_order="C")[0], got)


@pytest.mark.parametrize(("encoding", "compress"), [("gzip", gzip.compress), ("bz2", bz2.compress)])
def test_packed_data_in_several_streams(
    tmp_path: Path, encoding: str, compress: Callable[[bytes], bytes]
) -> None:
    array = values("i2", (30, 40, 50))
    raw = array.tobytes()
    body = b"".join(compress(raw[at : at + 50_000]) for at in range(0, len(raw), 50_000))
    path = write(tmp_path / "a.nrrd", array, body, encoding=encoding)
    np.testing.assert_array_equal(load_pixels(read_file(path)).array, array)


@pytest.mark.parametrize("kind", KINDS[2:])
def test_big_endian(tmp_path: Path, kind: str) -> None:
    array = values(kind, (3, 4, 5))
    body = array.astype(array.dtype.newbyteorder(">")).tobytes()
    path = write(tmp_path / "a.nrrd", array, body, endian="big")
    np.testing.assert_array_equal(load_pixels(read_file(path)).array, array)
    head = (
        f"ObjectType = Image\nNDims = 3\nBinaryDataByteOrderMSB = True\nDimSize = 5 4 3\n"
        f"ElementSpacing = 1 1 1\nElementType = MET_{MET[kind]}\nElementDataFile = LOCAL\n"
    )
    path = tmp_path / "b.mha"
    path.write_bytes(head.encode() + body)
    np.testing.assert_array_equal(load_pixels(read_file(path)).array, array)
    np.testing.assert_array_equal(sitk.GetArrayFromImage(sitk.ReadImage(str(path))), array)


@pytest.mark.parametrize("space", [
    "left-posterior-superior", "LPS", "right-anterior-superior", "RAS", "left-anterior-superior",
    "LAS",
])  # fmt: skip
def test_spaces_become_one(tmp_path: Path, space: str) -> None:
    array = values("i2", (7, 6, 5))
    turn = rotation(seed=4) * np.array([0.7, 1.3, 2.9])
    vectors = " ".join(f"({x},{y},{z})" for x, y, z in turn.T)
    path = write(
        tmp_path / "a.nrrd", array, space=space, space_directions=vectors,
        space_origin="(1.5,-2.5,30)", kinds="domain domain domain",
    )  # fmt: skip
    check_against_itk(path)


@pytest.mark.parametrize("space", ["", "scanner-xyz", "3D-right-handed"])
def test_other_spaces_have_no_sides(tmp_path: Path, space: str) -> None:
    array = values("i2", (3, 4, 5))
    path = write(tmp_path / "a.nrrd", array, space=space, spacings="0.5 0.75 -4")
    evidence = read_file(path)
    assert (evidence.orientation, evidence.geometry) == (None, None)
    assert evidence.spacing_mm == (4.0, 0.75, 0.5)
    assert any("sides are unknown" in note for note in evidence.notes)
    vectors = "(2,0,0) (0,3,0) (0,0,4)"
    path = write(tmp_path / "b.nrrd", array, space=space, space_directions=vectors)
    assert read_file(path).spacing_mm == (4.0, 3.0, 2.0)


def test_a_flat_picture_has_two_distances(tmp_path: Path) -> None:
    array = values("u1", (4, 5))
    evidence = read_file(write(tmp_path / "a.nrrd", array, spacings="0.5 0.75"))
    assert (evidence.kind, evidence.shape, evidence.orientation) == ("image", (1, 4, 5), None)
    assert evidence.spacing_mm == (0.0, 0.75, 0.5)
    assert evidence.aspect == 1.5
    sitk.WriteImage(sitk.GetImageFromArray(array), str(tmp_path / "b.mha"))
    assert read_file(tmp_path / "b.mha").shape == (1, 4, 5)


LPS = "left-posterior-superior"
STEPS = "(2,0,0) (0,3,0) (0,0,4)"


@pytest.mark.parametrize(("place", "kind"), [
    (0, "list"), (0, "vector"), (3, "list"), (0, "none"), (3, "time"), (1, "list"),
])  # fmt: skip
def test_four_axes_with_the_list_anywhere(tmp_path: Path, place: int, kind: str) -> None:
    """Axes fastest first; the fourth axis of six directions stands at ``place``."""
    whole = values("i2", (6, 3, 4, 5))  # [t, z, y, x]
    stored = np.ascontiguousarray(np.moveaxis(whole, 0, 3 - place))
    kinds, vectors = ["domain"] * 3, STEPS.split(" ")
    kinds.insert(place, kind)
    vectors.insert(place, "none")
    path = write(
        tmp_path / "a.nrrd", stored, space=LPS, space_directions=" ".join(vectors),
        kinds=" ".join(kinds), space_origin="(1,2,3)",
    )  # fmt: skip
    evidence = read_file(path)
    pixels = load_pixels(evidence)
    assert pixels.times is not None
    np.testing.assert_array_equal(pixels.times, whole)
    np.testing.assert_array_equal(pixels.array, whole[0])
    assert (evidence.times, evidence.shape, evidence.orientation) == (6, (3, 4, 5), "LPS")
    assert evidence.spacing_mm == (4.0, 3.0, 2.0)
    words = "6 time points" if kind == "time" else "6 values in each voxel"
    assert evidence.notes == (f"{words}; the first is shown",)
    assert evidence.geometry is not None
    np.testing.assert_allclose(evidence.geometry.point((1, 1, 1)), (3, 5, 7))
    peer, _ = nrrd.read(str(path), index_order="C")
    np.testing.assert_array_equal(np.moveaxis(peer, 3 - place, 0), pixels.times)


def test_a_fourth_axis_without_words_is_time(tmp_path: Path) -> None:
    evidence = read_file(write(tmp_path / "a.nrrd", values("i2", (6, 3, 4, 5))))
    assert (evidence.times, evidence.shape) == (6, (3, 4, 5))
    many = sitk.JoinSeries([image(1), image(1)])
    sitk.WriteImage(many, str(tmp_path / "b.mha"))
    evidence = read_file(tmp_path / "b.mha")
    pixels = load_pixels(evidence)
    assert evidence.times == 2
    np.testing.assert_array_equal(pixels.times, sitk.GetArrayFromImage(many))
    assert evidence.geometry is not None
    wanted = image(1).TransformIndexToPhysicalPoint((2, 3, 4))
    np.testing.assert_allclose(evidence.geometry.point((4, 3, 2)), wanted, atol=1e-9)


@pytest.mark.parametrize("samples", [2, 3, 4])
@pytest.mark.parametrize("kind", ["u1", "f4"])
def test_colour_and_vectors(tmp_path: Path, samples: int, kind: str) -> None:
    array = values(kind, (3, 4, 5, samples))
    made = sitk.GetImageFromArray(array, isVector=True)
    for suffix in (".mha", ".nrrd", ".mhd", ".nhdr"):
        path = tmp_path / f"{samples}{kind}{suffix}"
        sitk.WriteImage(made, str(path))
        evidence = read_file(path)
        pixels = load_pixels(evidence)
        color = samples > 2 and kind == "u1"  # ITK writes colour as ``vector`` into an NRRD
        assert evidence.color == color
        if color:
            np.testing.assert_array_equal(pixels.array, array[..., :3])
            assert any("transparency" in note for note in evidence.notes) == (samples == 4)
        else:
            np.testing.assert_array_equal(pixels.times, np.moveaxis(array, -1, 0))
            assert evidence.notes == (f"{samples} values in each voxel; the first is shown",)


@pytest.mark.parametrize(("kind", "samples"), [
    ("RGB-color", 3), ("3-color", 3), ("RGBA-color", 4), ("4-color", 4), ("vector", 3),
    ("list", 3), ("list", 4), ("covariant-vector", 3), ("point", 3), ("none", 4), ("HSV-color", 3),
])  # fmt: skip
def test_bytes_are_colour_where_their_kind_says_so(tmp_path: Path, kind: str, samples: int) -> None:
    array = values("u1", (3, 4, 5, samples))
    path = write(
        tmp_path / "a.nrrd", array, kinds=f"{kind} domain domain domain", space=LPS,
        space_directions=f"none {STEPS}",
    )  # fmt: skip
    evidence = read_file(path)
    pixels = load_pixels(evidence)
    if kind.startswith(("RGB", "3-", "4-", "vector")):
        assert (evidence.color, pixels.times) == (True, None)
        np.testing.assert_array_equal(pixels.array, array[..., :3])
    else:
        assert not evidence.color
        assert evidence.notes == (f"{samples} values in each voxel; the first is shown",)
        np.testing.assert_array_equal(pixels.times, np.moveaxis(array, -1, 0))


def test_complex_kind_shows_its_magnitude(tmp_path: Path) -> None:
    array = values("f4", (3, 4, 5, 2))
    path = write(tmp_path / "a.nrrd", array, kinds="complex domain domain domain")
    evidence = read_file(path)
    assert evidence.shape == (3, 4, 5)
    got = load_pixels(evidence).array
    np.testing.assert_allclose(got, np.hypot(array[..., 0], array[..., 1]), rtol=1e-6)


# --- detached data --------------------------------------------------------------------------


def detached(folder: Path, array: NDArray[Any], names: str, **fields: str) -> Path:
    path = folder / "a.nhdr"
    path.write_text(header_of(array, **fields) + f"data file: {names}\n", encoding="utf-8")
    return path


@pytest.mark.parametrize("encoding", ["raw", "gzip", "bz2"])
@pytest.mark.parametrize(
    "form",
    [
        "LIST\nb.dat\na.dat\nc.dat",
        "part%02d.dat 10 14 2",
        "part%02d.dat 14 10 -2 2",
        "LIST 2\nb.dat\na.dat\nc.dat",
    ],
)
def test_data_in_several_files(tmp_path: Path, encoding: str, form: str) -> None:
    array = values("i2", (3, 4, 5))
    listed = form.startswith("LIST")
    names = ["b.dat", "a.dat", "c.dat"] if listed else [f"part{n}.dat" for n in (10, 12, 14)]
    names = names[::-1] if "-2" in form else names
    for name, layer in zip(names, array, strict=True):
        (tmp_path / name).write_bytes(pack(layer.tobytes(), encoding))
    path = detached(tmp_path, array, form, encoding=encoding)
    (evidence,) = find_evidence([tmp_path])
    assert [one.name for one in evidence.members] == ["a.nhdr", *names]
    assert [one.name for one in companions(path)] == names
    np.testing.assert_array_equal(load_pixels(evidence).array, array)


@pytest.mark.parametrize("skip", [0, 7, -1])
@pytest.mark.parametrize("lines", [0, 2])
def test_lines_and_bytes_left_out(tmp_path: Path, skip: int, lines: int) -> None:
    array = values("i2", (3, 4, 5))
    before = b"a line\nanother\n" if lines else b""
    junk = bytes(range(max(0, skip))) if skip >= 0 else b"unknown length"
    (tmp_path / "a.raw").write_bytes(before + junk + array.tobytes())
    fields = {"byte_skip": str(skip)} | ({"line_skip": str(lines)} if lines else {})
    path = detached(tmp_path, array, "a.raw", **fields)
    np.testing.assert_array_equal(load_pixels(read_file(path)).array, array)
    peer, _ = nrrd.read(str(path), index_order="C")
    np.testing.assert_array_equal(peer, array)


def test_bytes_left_out_of_packed_data_count_unpacked(tmp_path: Path) -> None:
    array = values("i2", (3, 4, 5))
    (tmp_path / "a.raw").write_bytes(b"line\n" + gzip.compress(b"junk" + array.tobytes()))
    path = detached(tmp_path, array, "./a.raw", encoding="gzip", byte_skip="4", line_skip="1")
    np.testing.assert_array_equal(load_pixels(read_file(path)).array, array)


@pytest.mark.parametrize(("encoding", "compress"), [("gzip", gzip.compress), ("bz2", bz2.compress)])
def test_packed_data_counted_from_the_end(
    tmp_path: Path, encoding: str, compress: Callable[[bytes], bytes]
) -> None:
    """As for the values of a .nii.gz behind its header."""
    array = values("i2", (30, 40, 50))
    (tmp_path / "a.raw").write_bytes(compress(bytes(352) + array.tobytes()))
    path = detached(tmp_path, array, "a.raw", encoding=encoding, byte_skip="-1")
    np.testing.assert_array_equal(load_pixels(read_file(path)).array, array)
    peer, _ = nrrd.read(str(path), index_order="C")
    np.testing.assert_array_equal(peer, array)
    (tmp_path / "a.raw").write_bytes(compress(array.tobytes()[:-8]))
    with pytest.raises(EvidenceError) as caught:
        load_pixels(read_file(path))
    assert caught.value.code == "truncated"


@pytest.mark.parametrize("name", [
    "../outside.raw", "/etc/passwd", "C:\\disk\\x.raw", "sub/../../outside.raw", "..\\outside.raw",
])  # fmt: skip
@pytest.mark.parametrize("suffix", [".nhdr", ".mhd"])
def test_data_files_stay_in_the_header_s_folder(tmp_path: Path, name: str, suffix: str) -> None:
    array = values("u1", (3, 4, 5))
    folder = tmp_path / "in"
    folder.mkdir()
    (tmp_path / "outside.raw").write_bytes(array.tobytes())
    path = detached(folder, array, name)
    if suffix == ".mhd":
        path = folder / "a.mhd"
        path.write_text(meta(array, ElementDataFile=name), encoding="utf-8")
    with pytest.raises(EvidenceError, match="beside") as caught:
        read_file(path)
    assert caught.value.code == "missing"
    # files that were moved together are found by their last name
    (folder / name.replace("\\", "/").rsplit("/", 1)[1]).write_bytes(array.tobytes())
    np.testing.assert_array_equal(load_pixels(read_file(path)).array, array)


def test_the_digest_holds_header_and_data(tmp_path: Path) -> None:
    array = values("u1", (3, 4, 5))
    (tmp_path / "a.raw").write_bytes(array.tobytes())
    path = detached(tmp_path, array, "a.raw")
    first = file_digest(path)
    (tmp_path / "a.raw").write_bytes(array[::-1].tobytes())
    assert file_digest(path) != first


# --- MetaImage ------------------------------------------------------------------------------


def meta(array: NDArray[Any], **fields: str) -> str:
    """A MetaImage header."""
    known = {
        "ObjectType": "Image", "NDims": str(array.ndim), "Comment": "Jane Doe",
        "DimSize": " ".join(map(str, array.shape[::-1])),
        "ElementType": f"MET_{MET[array.dtype.str[1:]]}",
    }  # fmt: skip
    file = fields.pop("ElementDataFile", "LOCAL")
    lines = [f"{name} = {value}" for name, value in (known | fields).items()]
    return "\n".join([*lines, f"ElementDataFile = {file}"]) + "\n"


def test_spacing_goes_before_size_and_letters_stand_in_for_a_matrix(tmp_path: Path) -> None:
    array = values("i2", (3, 4, 5))
    path = tmp_path / "a.mha"

    def shown(**fields: str) -> Evidence:
        path.write_bytes(meta(array, **fields).encode() + array.tobytes())
        evidence = read_file(path)
        np.testing.assert_array_equal(load_pixels(evidence).array, array)
        return evidence

    assert shown(ElementSize="9 9 9", ElementSpacing="1 2 3").spacing_mm == (3.0, 2.0, 1.0)
    assert shown(ElementSize="7 8 9").spacing_mm == (9.0, 8.0, 7.0)
    assert shown().orientation is None
    assert shown(AnatomicalOrientation="RAI").orientation == "LPS"
    assert shown(AnatomicalOrientation="ASL").orientation == "PIR"
    assert shown(AnatomicalOrientation="???").geometry is None
    both = shown(AnatomicalOrientation="RAI", TransformMatrix="0 1 0 1 0 0 0 0 -1")
    assert both.orientation == "PLI"
    assert any("letters do not fit" in note for note in both.notes)
    flat = shown(TransformMatrix="0 0 0 0 0 0 0 0 0")
    assert (flat.orientation, flat.geometry) == (None, None)
    assert shown(Modality="MET_MOD_CT").modality == "CT"
    assert shown(DistanceUnits="cm", ElementSpacing="1 2 3").spacing_mm == (30.0, 20.0, 10.0)


def test_metaimage_data_in_lists_patterns_and_text(tmp_path: Path) -> None:
    array = values("i2", (3, 4, 5))
    for number, layer in enumerate(array):
        (tmp_path / f"s{number}.raw").write_bytes(b"head" + layer.tobytes())
    listed = "LIST\ns0.raw\ns1.raw\ns2.raw"
    for number, names in enumerate((listed, "s%d.raw 0 2 1")):
        path = tmp_path / f"{number}.mhd"
        path.write_text(
            meta(array, HeaderSize="-1", ElementDataFile=names), encoding="utf-8"
        )  # fmt: skip
        np.testing.assert_array_equal(load_pixels(read_file(path)).array, array)
        peer = sitk.GetArrayFromImage(sitk.ReadImage(str(path)))
        np.testing.assert_array_equal(peer, array)
    path = tmp_path / "t.mha"
    words = " ".join(map(str, array.ravel()))
    path.write_text(meta(array, BinaryData="False") + words, encoding="utf-8")
    np.testing.assert_array_equal(load_pixels(read_file(path)).array, array)


def test_no_free_words_leave_the_header(tmp_path: Path) -> None:
    array = values("u1", (3, 4, 5))
    write(tmp_path / "a.nrrd", array, content="Jane Doe")
    (tmp_path / "b.mha").write_bytes(meta(array, Name="Jane Doe").encode() + array.tobytes())
    for one in find_evidence([tmp_path]):
        assert one.error is None
        assert "Jane" not in repr(one) + repr(vars(one)) + repr(vars(load_pixels(one)))


# --- damage ---------------------------------------------------------------------------------


def code_of(path: Path) -> str:
    tracemalloc.start()
    try:
        with pytest.raises(EvidenceError) as caught:
            load_pixels(read_file(path))
        assert tracemalloc.get_traced_memory()[1] < 12 << 20
    finally:
        tracemalloc.stop()
    return caught.value.code


@pytest.mark.parametrize("encoding", ["raw", "gzip", "hex", "ascii"])
def test_claims_that_the_bytes_cannot_hold(tmp_path: Path, encoding: str) -> None:
    array = values("i2", (3, 4, 5))
    body = b"1 2 3" if encoding == "ascii" else pack(array.tobytes(), encoding)
    for sizes, code in (("900 900 900", "truncated"), ("5 4 4", "truncated"),
                        ("99999 99999 99999", "too_large"), ("5 0 4", "damaged"),
                        ("5 4", "damaged"), ("5 x 3", "damaged")):  # fmt: skip
        path = write(tmp_path / "a.nrrd", array, body, encoding=encoding, sizes=sizes)
        assert code_of(path) == code


def test_packed_data_that_grow_beyond_measure(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    array = np.zeros((100, 200, 200), np.uint8)
    monkeypatch.setattr(grid_data, "FREE_BYTES", 1 << 20)
    for encoding in ("gzip", "bz2"):
        path = write(tmp_path / "a.nrrd", array, pack(array.tobytes(), encoding), encoding=encoding)
        assert code_of(path) == "bomb"
    head = meta(array, CompressedData="True", ElementDataFile="LOCAL").encode()
    (tmp_path / "b.mha").write_bytes(head + zlib.compress(array.tobytes()))
    assert code_of(tmp_path / "b.mha") == "bomb"


@pytest.mark.parametrize("encoding", ["raw", "gzip", "bz2", "hex", "ascii"])
def test_data_that_end_early_or_are_changed(tmp_path: Path, encoding: str) -> None:
    array = values("i2", (3, 40, 50))
    text = " ".join(map(str, array.ravel())).encode()
    body = text if encoding == "ascii" else pack(array.tobytes(), encoding)
    for cut in (9, 500):
        path = write(tmp_path / "a.nrrd", array, body[:-cut], encoding=encoding)
        assert code_of(path) == "truncated"
    if encoding != "raw":
        changed = bytearray(body)
        changed[len(body) // 2] = ord("z") if changed[len(body) // 2] != ord("z") else 0
        path = write(tmp_path / "a.nrrd", array, bytes(changed), encoding=encoding)
        assert code_of(path) in {"damaged", "truncated"}


def test_headers_that_cannot_be_followed(tmp_path: Path) -> None:
    array = values("u1", (3, 4, 5))
    for fields, code in (({"type": "block"}, "unsupported"), ({"encoding": "zrl"}, "unsupported"),
                         ({"dimension": "4"}, "damaged"), ({"byte_skip": "-3"}, "damaged"),
                         ({"space_directions": "(1,0,0)"}, "damaged")):  # fmt: skip
        assert code_of(write(tmp_path / "a.nrrd", array, **fields)) == code
    (tmp_path / "b.nrrd").write_text("NRRD0004\ntype: uchar\n", encoding="utf-8")
    assert code_of(tmp_path / "b.nrrd") == "damaged"
    (tmp_path / "c.nrrd").write_bytes(b"something else")
    assert code_of(tmp_path / "c.nrrd") == "damaged"
    (tmp_path / "d.mha").write_bytes(b"ObjectType = Image\nNDims = 3\n")
    assert code_of(tmp_path / "d.mha") == "damaged"
    path = detached(tmp_path, array, "x%09999d.raw 0 99999999 1")
    assert code_of(path) in {"damaged", "missing"}
    assert grid_header.LIMIT_FILES < 99_999
