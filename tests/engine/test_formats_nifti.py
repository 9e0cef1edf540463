"""NIfTI and Analyze of every kind, made on the spot and compared with nibabel and SimpleITK."""

from __future__ import annotations

import gzip
import itertools
import struct
import tracemalloc
from pathlib import Path
from typing import Any

import nibabel as nib
import numpy as np
import pytest
import SimpleITK as sitk
from numpy.typing import NDArray

from engine.errors import EvidenceError
from engine.evidence.grids import numbers
from engine.evidence.open import find_evidence, load_pixels, read_file
from engine.evidence.orient import upright
from engine.evidence.study import Evidence

KINDS = ("u1", "i1", "i2", "u2", "i4", "u4", "i8", "u8", "f4", "f8")
FLIP = np.diag([-1.0, -1.0, 1.0])


def rotation(*, seed: int) -> NDArray[np.float64]:
    """A turn about a random axis, exact in quaternions."""
    a, b, c, d = (q := np.random.default_rng(seed).normal(size=4)) / np.linalg.norm(q)
    return nib.quaternions.quat2mat([a, b, c, d])


def affine(seed: int, *, mirrored: bool = False) -> NDArray[np.float64]:
    """Turned, anisotropic, and off the origin."""
    made = np.eye(4)
    made[:3, :3] = rotation(seed=seed) * np.array([0.7, 1.3, 2.9 * (-1 if mirrored else 1)])
    made[:3, 3] = (-31.5, 12.25, 90.0)
    return made


def values(kind: str, shape: tuple[int, ...] = (7, 6, 5), seed: int = 0) -> NDArray[Any]:
    chance = np.random.default_rng(seed)
    if kind[0] == "f":
        return chance.normal(0, 1000, shape).astype(kind)
    info = np.iinfo(np.dtype(kind))
    return chance.integers(max(info.min, -3000), min(info.max, 3000), shape).astype(kind)


def write(path: Path, array: NDArray[Any], matrix: NDArray[Any] | None = None, *,
          version: int = 1, big: bool = False, codes: tuple[int, int] = (0, 1),
          slope: tuple[float, float] | None = None) -> Path:  # fmt: skip
    """Save through nibabel; codes are those of qform and sform."""
    header = (nib.Nifti1Header if version == 1 else nib.Nifti2Header)(endianness="><"[not big])
    header.set_data_dtype(array.dtype)
    make = nib.Nifti1Image if version == 1 else nib.Nifti2Image
    place = np.eye(4) if matrix is None else matrix
    image = make(array, None, header)
    sizes = (*np.linalg.norm(place[:3, :3], axis=0), 1.0, 1.0)
    image.header.set_zooms(sizes[: array.ndim])
    image.set_sform(place if codes[1] else None, codes[1])
    image.set_qform(place if codes[0] else None, codes[0])
    nib.save(image, path)
    if slope is not None:
        patch(path, 112 if version == 1 else 176, f"{'><'[not big]}2{'fd'[version - 1]}", *slope)
    return path


def patch(path: Path, at: int, kinds: str, *fields: Any) -> Path:
    """Overwrite fields of an unzipped header."""
    raw = bytearray(path.read_bytes())
    struct.pack_into(kinds, raw, at, *fields)
    path.write_bytes(bytes(raw))
    return path


def check_against_nibabel(path: Path, *, tolerance: float = 1e-6) -> Evidence:
    """Values, places and letters of a file with an affine."""
    peer = nib.load(path)
    evidence = read_file(path)
    pixels = load_pixels(evidence)
    wanted = np.asarray(peer.dataobj)
    wanted = wanted.reshape(*wanted.shape, *([1] * (3 - wanted.ndim)))
    got = pixels.times if pixels.times is not None else pixels.array[None]
    flat = wanted.reshape(*wanted.shape[:3], -1, order="F")
    np.testing.assert_allclose(got.T, flat, rtol=tolerance, atol=tolerance)
    assert pixels.array.dtype.isnative
    assert evidence.shape == pixels.array.shape
    check_places(evidence, peer.affine)
    return evidence


def check_places(evidence: Evidence, matrix: NDArray[Any]) -> None:
    """Every corner lies where the affine puts it; letters as nibabel's."""
    pixels = load_pixels(evidence)
    assert evidence.orientation == "".join(nib.aff2axcodes(matrix))
    depth, rows, columns = evidence.shape[:3] if evidence.shape else (0, 0, 0)
    for geometry in (evidence.geometry, pixels.geometry):
        assert geometry is not None
        assert len(geometry.origin_Z3) == depth
        for index in ((0, 0, 0), (depth - 1, 0, 2), (depth - 1, rows - 1, columns - 1)):
            z, y, x = index
            wanted = FLIP @ (matrix @ [x, y, z, 1])[:3]
            np.testing.assert_allclose(geometry.point(index), wanted, atol=1e-3)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("version", [1, 2])
@pytest.mark.parametrize("big", [False, True])
def test_every_number_format(tmp_path: Path, kind: str, version: int, *, big: bool) -> None:
    array = values(kind)
    path = write(tmp_path / "a.nii", array, affine(1), version=version, big=big)
    evidence = check_against_nibabel(path)
    assert evidence.dtype == np.dtype(kind).name
    assert load_pixels(evidence).array.dtype == np.dtype(kind)
    assert evidence.source["object"] == f"NIfTI-{version}"


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("mirrored", [False, True])
@pytest.mark.parametrize("codes", [(0, 1), (1, 0), (1, 2)])
def test_places_and_letters(
    tmp_path: Path, seed: int, codes: tuple[int, int], *, mirrored: bool
) -> None:
    path = write(tmp_path / "a.nii.gz", values("i2"), affine(seed, mirrored=mirrored), codes=codes)
    evidence = check_against_nibabel(path)
    assert evidence.spacing_source == ("sform" if codes[1] else "qform")
    np.testing.assert_allclose(evidence.spacing_mm or (), (2.9, 1.3, 0.7), rtol=1e-5)
    image = sitk.ReadImage(str(path))
    assert evidence.geometry is not None
    for x, y, z in ((0, 0, 0), (6, 5, 4), (3, 0, 2)):
        there = image.TransformIndexToPhysicalPoint((x, y, z))
        np.testing.assert_allclose(evidence.geometry.point((z, y, x)), there, atol=1e-3)


def test_a_sheared_sform_is_kept_as_it_is(tmp_path: Path) -> None:
    matrix = affine(3)
    matrix[:3, 2] += 0.4 * matrix[:3, 0]
    evidence = check_against_nibabel(write(tmp_path / "a.nii", values("u1"), matrix))
    assert evidence.geometry is not None
    assert not evidence.geometry.straight


def test_without_codes_sides_are_unknown(tmp_path: Path) -> None:
    path = write(tmp_path / "a.nii", values("i2"), affine(2), codes=(0, 0))
    patch(path, 76, "<8f", 1, -0.5, 0.75, 4, 0, 0, 0, 0)
    evidence = read_file(path)
    assert (evidence.orientation, evidence.geometry) == (None, None)
    assert evidence.spacing_mm == (4.0, 0.75, 0.5)
    assert evidence.spacing_source == "pixdim"
    assert any("sides are unknown" in note for note in evidence.notes)


def test_a_qform_that_differs_is_said_and_the_sform_taken(tmp_path: Path) -> None:
    path = write(tmp_path / "a.nii", values("i2"), affine(2), codes=(1, 2))
    raw = nib.load(path)
    raw.set_qform(affine(5), 1)
    nib.save(raw, tmp_path / "b.nii")
    assert read_file(path).notes == ()
    evidence = check_against_nibabel(tmp_path / "b.nii")
    assert "differ by up to" in evidence.notes[0]
    broken = patch(path, 280, "<12f", *([0.0] * 12))
    assert read_file(broken).spacing_source == "qform"
    assert "left out" in read_file(broken).notes[0]


@pytest.mark.parametrize(("unit", "scale"), [(0, 1.0), (1, 1000.0), (2, 1.0), (3, 0.001)])
def test_units_become_millimetres(tmp_path: Path, unit: int, scale: float) -> None:
    for codes in ((0, 1), (1, 0), (0, 0)):
        path = write(tmp_path / f"{codes[1]}{codes[0]}.nii", values("i2"), affine(2), codes=codes)
        patch(path, 123, "B", unit | 8)
        spacing = np.array(read_file(path).spacing_mm)
        np.testing.assert_allclose(spacing, np.array([2.9, 1.3, 0.7]) * scale, rtol=1e-5)


@pytest.mark.parametrize("slope", [
    (float("nan"), 5.0), (0.0, 5.0), (2.0, float("nan")), (1.0, -1024.0), (-1.0, 0.0),
    (0.125, 3.5), (3.0, 7.0), (float("inf"), 1.0),
])  # fmt: skip
@pytest.mark.parametrize("kind", ["u1", "i1", "i2", "u2", "i4", "f4", "f8"])
def test_scaling(tmp_path: Path, kind: str, slope: tuple[float, float]) -> None:
    array = values(kind)
    path = write(tmp_path / "a.nii", array, affine(1), slope=slope)
    factor, offset = slope
    plain = not np.isfinite(factor) or factor == 0
    wanted = array.astype(np.float64)
    if not plain:
        wanted = wanted * factor + (offset if np.isfinite(offset) else 0.0)
    pixels = load_pixels(read_file(path))
    np.testing.assert_allclose(pixels.array.T, wanted, rtol=2e-7, atol=1e-4)
    if plain:
        assert pixels.array.dtype == np.dtype(kind)
    elif kind[0] in "ui" and float(factor).is_integer():
        assert pixels.array.dtype.kind in "ui"
    else:
        assert pixels.array.dtype.itemsize == (8 if kind in ("i4", "f8") else 4)


def test_scaling_needs_no_second_copy(tmp_path: Path) -> None:
    array = values("i2", (128, 128, 200))
    path = write(tmp_path / "a.nii", array, affine(1), slope=(0.5, 0.25))
    plain = write(tmp_path / "b.nii", array, affine(1), big=True)
    zipped = tmp_path / "c.nii.gz"
    zipped.write_bytes(gzip.compress(plain.read_bytes(), 1))
    for made, kind, slope in ((path, "<i2", 0.5), (plain, ">i2", 1.0), (zipped, ">i2", 1.0)):
        block = numbers.Block(352, array.size, np.dtype(kind))
        tracemalloc.start()
        try:
            got = numbers.read_numbers(made, block, slope=slope, intercept=slope // 2)
            peak = tracemalloc.get_traced_memory()[1]
        finally:
            tracemalloc.stop()
        np.testing.assert_allclose(got, array.ravel(order="F") * slope)
        assert peak < got.nbytes + (6 << 20)  # blocks and pieces


def test_four_and_five_axes(tmp_path: Path) -> None:
    path = write(tmp_path / "a.nii", values("i2", (4, 5, 6, 3)), affine(1))
    evidence = check_against_nibabel(path)
    assert (evidence.times, evidence.notes[0]) == (3, "3 time points; the first is shown")
    path = write(tmp_path / "b.nii", values("f4", (4, 5, 6, 1, 3)), affine(1))
    evidence = check_against_nibabel(path)
    assert (evidence.times, evidence.notes) == (3, ("3 values in each voxel; the first is shown",))
    path = write(tmp_path / "c.nii", values("f4", (4, 5, 6, 2, 3)), affine(1))
    evidence = check_against_nibabel(path)
    assert evidence.times == 6
    assert evidence.notes[0].startswith("2 time points")


def test_flat_and_single_slices(tmp_path: Path) -> None:
    for shape in ((7, 6), (7, 6, 1), (7, 1, 6), (1, 7, 6)):
        path = write(tmp_path / f"{len(shape)}{shape[0]}{shape[1]}.nii", values("i2", shape),
                     affine(1))  # fmt: skip
        evidence = read_file(path)
        z = (*shape, 1)[2]
        assert evidence.kind == ("volume" if z > 1 else "image")
        check_against_nibabel(path)


@pytest.mark.parametrize("kind", ["RGB", "RGBA"])
def test_colour(tmp_path: Path, kind: str) -> None:
    depth = len(kind)
    parts = np.random.default_rng(0).integers(0, 255, (4, 5, 6, depth)).astype(np.uint8)
    record = np.dtype([(name, "u1") for name in kind])
    array = np.ascontiguousarray(parts).view(record)[..., 0]
    evidence = read_file(write(tmp_path / "a.nii", array, affine(1)))
    assert (evidence.color, evidence.shape, evidence.window_source) == (True, (6, 5, 4, 3), None)
    got = load_pixels(evidence).array
    np.testing.assert_array_equal(got, parts[..., :3].transpose(2, 1, 0, 3))
    assert any("transparency" in note for note in evidence.notes) == (depth == 4)


def test_colour_as_a_vector(tmp_path: Path) -> None:
    parts = np.random.default_rng(0).integers(0, 255, (4, 5, 6, 1, 3)).astype(np.uint8)
    path = patch(write(tmp_path / "a.nii", parts, affine(1)), 68, "<h", 2003)
    evidence = read_file(path)
    assert (evidence.color, evidence.times) == (True, 1)
    got = load_pixels(evidence).array
    np.testing.assert_array_equal(got, parts[:, :, :, 0].transpose(2, 1, 0, 3))


@pytest.mark.parametrize("kind", ["c8", "c16"])
def test_complex_numbers_show_their_magnitude(tmp_path: Path, kind: str) -> None:
    array = (values("f4") + 1j * values("f4", seed=1)).astype(kind)
    evidence = read_file(write(tmp_path / "a.nii", array, affine(1)))
    got = load_pixels(evidence).array
    np.testing.assert_allclose(got.T, np.abs(array), rtol=1e-5)
    assert any("magnitude" in note for note in evidence.notes)


@pytest.mark.parametrize("code", [0, 1, 1536, 2048, 77])
def test_numbers_that_are_not_read_say_so(tmp_path: Path, code: int) -> None:
    path = patch(write(tmp_path / "a.nii", values("i2"), affine(1)), 70, "<h", code)
    with pytest.raises(EvidenceError, match="convert") as caught:
        read_file(path)
    assert caught.value.code == "unsupported"


@pytest.mark.parametrize("offset", [0, 353, 4000])
def test_offsets_and_extensions(tmp_path: Path, offset: int) -> None:
    array = values("i2")
    path = write(tmp_path / "a.nii", array, affine(1))
    raw = path.read_bytes()
    head, body = bytearray(raw[:352]), raw[352:]
    struct.pack_into("<f", head, 108, offset)
    path.write_bytes(bytes(head) + bytes(max(0, offset - 352)) + body)
    np.testing.assert_array_equal(load_pixels(read_file(path)).array.T, array)
    image = nib.load(write(tmp_path / "b.nii", array, affine(1)))
    image.header.extensions.append(nib.nifti1.Nifti1Extension("comment", b"Jane Doe" * 50))
    nib.save(image, tmp_path / "c.nii")
    evidence = check_against_nibabel(tmp_path / "c.nii")
    assert "Jane" not in repr(vars(evidence))


def test_gzip_counts_by_content_and_pairs_are_one(tmp_path: Path) -> None:
    array = values("i2")
    raw = write(tmp_path / "a.nii", array, affine(1)).read_bytes()
    (tmp_path / "plain.nii.gz").write_bytes(raw)
    (tmp_path / "zipped.nii").write_bytes(gzip.compress(raw))
    (tmp_path / "nameless").write_bytes(gzip.compress(raw[:4000]) + gzip.compress(raw[4000:]))
    for one in find_evidence([tmp_path]):
        np.testing.assert_array_equal(load_pixels(one).array.T, array)
    pair = tmp_path / "pair"
    pair.mkdir()
    nib.save(nib.Nifti1Pair(array, affine(1)), pair / "x.hdr")
    (found,) = find_evidence([pair])
    assert [one.name for one in found.members] == ["x.hdr", "x.img"]
    check_places(found, nib.load(pair / "x.hdr").affine)
    assert read_file(pair / "x.img").path == pair / "x.hdr"
    (pair / "x.img.gz").write_bytes(gzip.compress((pair / "x.img").read_bytes()))
    (pair / "x.img").unlink()
    np.testing.assert_array_equal(load_pixels(read_file(pair / "x.img.gz")).array.T, array)
    (pair / "x.hdr.gz").write_bytes(gzip.compress((pair / "x.hdr").read_bytes()))
    (pair / "x.hdr").rename(tmp_path / "x.hdr")
    (found,) = find_evidence([pair])
    assert [one.name for one in found.members] == ["x.hdr.gz", "x.img.gz"]
    (tmp_path / "x.hdr").rename(pair / "x.hdr")
    (pair / "x.hdr.gz").unlink()
    np.testing.assert_array_equal(load_pixels(read_file(pair / "x.hdr")).array.T, array)


@pytest.mark.parametrize("spm", [False, True])
@pytest.mark.parametrize("big", [False, True])
def test_analyze(tmp_path: Path, *, spm: bool, big: bool) -> None:
    array = values("i2")
    kind = nib.Spm99AnalyzeImage if spm else nib.AnalyzeImage
    header = kind.header_class(endianness="><"[not big])
    header.set_data_dtype("i2")
    header.set_data_shape(array.shape)
    header.set_zooms((0.5, 0.75, 4.0))
    if spm:
        header["origin"][:3] = (3, 2, 1)
    image = kind(array, None, header)
    nib.save(image, tmp_path / "x.hdr")
    (tmp_path / "x.mat").unlink(missing_ok=True)
    (evidence,) = find_evidence([tmp_path])
    assert evidence.source["object"] == "Analyze"
    assert (evidence.spacing_mm, evidence.orientation) == ((4.0, 0.75, 0.5), None)
    np.testing.assert_array_equal(load_pixels(evidence).array.T, array)


def test_the_scale_factor_of_spm(tmp_path: Path) -> None:
    array = values("f4") / 7
    image = nib.Spm99AnalyzeImage(array, np.diag([-2.0, 3, 4, 1]))
    image.set_data_dtype("i2")
    nib.save(image, tmp_path / "x.hdr")
    (tmp_path / "x.mat").unlink(missing_ok=True)
    wanted = nib.Spm99AnalyzeImage.load(tmp_path / "x.hdr").get_fdata()
    got = load_pixels(read_file(tmp_path / "x.hdr")).array
    assert got.dtype == np.int16  # without an origin nothing tells that SPM wrote it
    patch(tmp_path / "x.hdr", 253, "<3h", 2, 3, 2)
    np.testing.assert_allclose(
        load_pixels(read_file(tmp_path / "x.hdr")).array.T, wanted, rtol=1e-6, atol=1e-3
    )  # fmt: skip


def test_the_display_range_is_the_window_where_it_fits(tmp_path: Path) -> None:
    path = write(tmp_path / "a.nii", values("i2"), affine(1))
    assert read_file(path).window_source == "derived"
    patch(path, 124, "<2f", 500.0, -200.0)
    evidence = read_file(path)
    assert evidence.window_source == "header"
    pixels = load_pixels(evidence)
    assert pixels.window_source == "header"
    center, width = pixels.window
    assert (center - 0.5 - (width - 1) / 2, center - 0.5 + (width - 1) / 2) == (-200.0, 500.0)
    patch(path, 124, "<2f", 90000.0, 80000.0)
    assert load_pixels(read_file(path)).window_source == "derived"
    for greatest, least in ((0.0, 0.0), (float("nan"), 1.0), (1e38, -1e38), (-5.0, 5.0)):
        patch(path, 124, "<2f", greatest, least)
        assert read_file(path).window_source == "derived"


def test_upright_keeps_the_volume_readable(tmp_path: Path) -> None:
    matrix = np.diag([-1.0, 1.0, 2.0, 1.0])
    pixels = load_pixels(read_file(write(tmp_path / "a.nii", values("i2"), matrix)))
    turned = upright(pixels)
    assert (pixels.orientation, turned.orientation) == ("LAS", "LPS")


def test_all_48_ways_to_lie_stay_true_when_turned(tmp_path: Path) -> None:
    array = values("i2")
    for order in itertools.permutations(range(3)):
        for signs in itertools.product((1.0, -1.0), repeat=3):
            matrix = np.zeros((4, 4))
            matrix[order, range(3)] = np.array(signs) * (1, 2, 3)
            matrix[:, 3] = (3, 4, 5, 1)
            path = write(tmp_path / "a.nii", array, matrix)
            pixels = load_pixels(check_against_nibabel(path))
            turned = upright(pixels)
            assert pixels.geometry is not None
            assert turned.geometry is not None
            for index in ((0, 0, 0), (2, 3, 1), (4, 5, 6)):
                point = pixels.geometry.point(index)
                z, y, x = (round(one) for one in turned.geometry.index(point))
                assert turned.array[z, y, x] == pixels.array[index]
                np.testing.assert_allclose(turned.geometry.point((z, y, x)), point, atol=1e-9)


def test_standard_space_is_one_frame(tmp_path: Path) -> None:
    a = read_file(write(tmp_path / "a.nii", values("i2"), affine(1), codes=(0, 4)))
    b = read_file(write(tmp_path / "b.nii", values("u1"), affine(2), codes=(4, 0)))
    c = read_file(write(tmp_path / "c.nii", values("u1"), affine(2), codes=(1, 0)))
    assert a.geometry is not None
    assert b.geometry is not None
    assert c.geometry is not None
    assert a.geometry.frame == b.geometry.frame != c.geometry.frame is None
    assert any("MNI" in note for note in a.notes)


DIMS = [
    ((0, 1, 1, 1, 1, 1, 1, 1), "damaged"), ((8, 1, 1, 1, 1, 1, 1, 1), "damaged"),
    ((3, -4, 4, 4, 1, 1, 1, 1), "damaged"), ((3, 0, 4, 4, 1, 1, 1, 1), "damaged"),
    ((3, 32000, 32000, 32000, 1, 1, 1, 1), "too_large"),
    ((7, 999, 999, 999, 999, 999, 999, 999), "too_large"), ((3, 900, 900, 900, 1, 1, 1, 1), "cut"),
]  # fmt: skip


@pytest.mark.parametrize(("dims", "code"), DIMS)
@pytest.mark.parametrize("zipped", [False, True])
def test_absurd_sizes_are_refused_before_memory_is_taken(
    tmp_path: Path, dims: tuple[int, ...], code: str, *, zipped: bool
) -> None:
    path = patch(write(tmp_path / "a.nii", values("i2"), affine(1)), 40, "<8h", *dims)
    if zipped:
        path.write_bytes(gzip.compress(path.read_bytes()))
    tracemalloc.start()
    try:
        with pytest.raises(EvidenceError) as caught:
            load_pixels(read_file(path))
        assert tracemalloc.get_traced_memory()[1] < 4 << 20
    finally:
        tracemalloc.stop()
    assert caught.value.code == ("truncated" if code == "cut" else code)


def test_a_zipped_bomb_that_its_header_believes_in(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = write(tmp_path / "a.nii.gz", np.zeros((200, 200, 100), np.int16), affine(1))
    assert load_pixels(read_file(path)).array.max() == 0
    monkeypatch.setattr(numbers, "FREE_BYTES", 1 << 20)
    with pytest.raises(EvidenceError) as caught:
        load_pixels(read_file(path))
    assert caught.value.code == "bomb"


@pytest.mark.parametrize("cut", [1, 100, 419])
def test_data_shorter_than_claimed(tmp_path: Path, cut: int) -> None:
    path = write(tmp_path / "a.nii", values("i2"), affine(1))
    path.write_bytes(path.read_bytes()[:-cut])
    zipped = tmp_path / "b.nii.gz"
    zipped.write_bytes(gzip.compress(path.read_bytes()))
    torn = tmp_path / "c.nii.gz"
    torn.write_bytes(gzip.compress(write(tmp_path / "d.nii", values("i2")).read_bytes())[:-cut])
    for one in (path, zipped, torn):
        with pytest.raises(EvidenceError) as caught:
            load_pixels(read_file(one))
        assert caught.value.code == "truncated"


def test_a_wrong_checksum_of_the_whole_is_damage(tmp_path: Path) -> None:
    raw = bytearray(gzip.compress(write(tmp_path / "a.nii", values("i2")).read_bytes()))
    raw[-6] ^= 5
    (tmp_path / "b.nii.gz").write_bytes(bytes(raw))
    with pytest.raises(EvidenceError) as caught:
        load_pixels(read_file(tmp_path / "b.nii.gz"))
    assert caught.value.code == "damaged"
