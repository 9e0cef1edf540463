"""What a model sees: sampling, crops, conversion to RGB, volumes, and the digest."""

from __future__ import annotations

import json
import os
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import SimpleITK as sitk
from PIL import Image

from engine.errors import EvidenceError
from engine.evidence.item import ImageRef, Item, VolumeRef
from engine.evidence.open import find_evidence, load_pixels, read_file
from engine.evidence.orient import upright
from engine.evidence.pixels import digest, item_of, prepare, sample_indices, thumbnail
from tests.engine.evidence_files import dicom, picture, ramp, slices


def test_sampling_is_the_truncating_linspace() -> None:
    assert sample_indices(5, 64) == [0, 1, 2, 3, 4]
    assert sample_indices(64, 64) == list(range(64))
    for count in (65, 100, 128, 300, 1001):
        got = sample_indices(count, 64)
        assert got == [int(i * (count - 1) / 63 + 1e-9) for i in range(64)]
        assert (got[0], got[-1], len(set(got))) == (0, count - 1, 64)
    assert sample_indices(10, 1) == [0]
    assert sample_indices(0, 64) == []


def test_grey_becomes_rgb_unchanged(tmp_path: Path) -> None:
    path = picture(tmp_path / "a.png", ramp())
    seen = prepare(Item(text="t", instruction="i", images=(ImageRef(path),)))
    assert (seen.instruction, seen.texts, seen.volumes) == ("i", ("t",), ())
    assert seen.images[0].dtype == np.uint8
    assert (seen.images[0] == ramp()[..., None]).all()
    assert prepare(Item(images=(ImageRef(path),))).texts == ()
    assert prepare(Item(text="")).texts == ("",)


def test_alpha_is_laid_on_white(tmp_path: Path) -> None:
    values = np.zeros((1, 3, 4), np.uint8)
    values[0, :, 0] = 200
    values[0, :, 3] = (0, 128, 255)
    path = picture(tmp_path / "a.png", values)
    (seen,) = prepare(Item(images=(ImageRef(path),))).images
    assert seen[0].tolist() == [[255, 255, 255], [227, 127, 127], [200, 0, 0]]


def test_deep_pictures_are_windowed(tmp_path: Path) -> None:
    values = np.linspace(1000, 3000, 2000).astype(np.uint16).reshape(40, 50)
    path = picture(tmp_path / "deep.png", values)
    (seen,) = prepare(Item(images=(ImageRef(path),))).images
    assert (seen.min(), seen.max()) == (0, 255)
    assert abs(float(seen.mean()) - 127.5) < 1.0
    assert (np.diff(seen[..., 0].reshape(-1).astype(int)) >= 0).all()


def test_crops_are_cut_from_the_upright_picture(tmp_path: Path) -> None:
    path = picture(tmp_path / "a.png", ramp())
    (seen,) = prepare(Item(images=(ImageRef(path, box=(2, 1, 5, 4)),))).images
    assert (seen[..., 0] == ramp()[1:4, 2:5]).all()
    (clipped,) = prepare(Item(images=(ImageRef(path, box=(-3, -3, 2, 99)),))).images
    assert (clipped[..., 0] == ramp()[:, :2]).all()
    for box in ((8, 0, 9, 2), (3, 3, 3, 5), (5, 1, 2, 4)):
        with pytest.raises(EvidenceError, match="lies outside"):
            prepare(Item(images=(ImageRef(path, box=box),)))
    turned = Image.fromarray(ramp())
    exif = Image.Exif()
    exif[0x0112] = 6
    turned.save(tmp_path / "turned.png", exif=exif)
    (whole,) = prepare(Item(images=(ImageRef(tmp_path / "turned.png"),))).images
    assert (whole[..., 0] == np.rot90(ramp(), -1)).all()
    (part,) = prepare(Item(images=(ImageRef(tmp_path / "turned.png", box=(0, 0, 2, 3)),))).images
    assert (part == whole[:3, :2]).all()


def test_pages_and_frames_are_found_by_number(tmp_path: Path) -> None:
    pages = [Image.fromarray(ramp(start=n)) for n in range(3)]
    path = tmp_path / "pages.tif"
    pages[0].save(path, save_all=True, append_images=pages[1:])
    (seen,) = prepare(Item(images=(ImageRef(path, frame=2),))).images
    assert (seen[..., 0] == ramp(start=2)).all()
    frames = np.stack([ramp(start=n) for n in range(4)])
    cine = dicom(tmp_path / "cine.dcm", frames, NumberOfFrames=4)
    (seen,) = prepare(Item(images=(ImageRef(cine, frame=3),))).images
    assert (seen[..., 0] == ramp(start=3)).all()
    for file in (path, cine):
        with pytest.raises(EvidenceError, match="there is no"):
            prepare(Item(images=(ImageRef(file, frame=4),)))


def test_slice_pictures_take_the_first_one_s_size(tmp_path: Path) -> None:
    first = picture(tmp_path / "0.png", ramp(6, 8))
    second = picture(tmp_path / "1.png", ramp(12, 16))
    third = picture(tmp_path / "2.png", np.stack([ramp(6, 8)] * 3, axis=-1))
    volume = VolumeRef((first, second, third))
    seen = prepare(Item(volumes=(volume,)))
    assert seen.volumes[0].shape == (3, 6, 8, 3)
    assert (seen.volumes[0][0] == ramp(6, 8)[..., None]).all()
    smaller = np.asarray(Image.fromarray(ramp(12, 16)).resize((8, 6), Image.Resampling.BICUBIC))
    assert (seen.volumes[0][1] == smaller[..., None]).all()
    apart = prepare(Item(volumes=(replace(volume, shown_as="images"),)))
    assert apart.volumes == ()
    assert (np.stack(apart.images) == seen.volumes[0]).all()


def test_long_volumes_are_sampled(tmp_path: Path) -> None:
    paths = tuple(
        picture(tmp_path / f"{n:03}.png", np.full((2, 2), n, np.uint8)) for n in range(100)
    )
    (seen,) = prepare(Item(volumes=(VolumeRef(paths),))).volumes
    assert seen[:, 0, 0, 0].tolist() == sample_indices(100, 64)
    (few,) = prepare(Item(volumes=(VolumeRef(paths),)), max_slices=3).volumes
    assert few[:, 0, 0, 0].tolist() == [0, 49, 99]


def test_a_series_is_sorted_whatever_the_order_of_its_files(tmp_path: Path) -> None:
    paths = slices(tmp_path, [30.0, 10.0, 20.0], WindowCenter=2, WindowWidth=4)
    (seen,) = prepare(Item(volumes=(VolumeRef(tuple(paths), kind="series"),))).volumes
    (again,) = prepare(Item(volumes=(VolumeRef(tuple(paths[::-1]), kind="series"),))).volumes
    # values 1, 2, 0 by rising position; LINEAR with centre 2 and width 4 maps 0..3 to 0..255
    assert seen[:, 0, 0, 0].tolist() == [85, 170, 0]
    assert (seen == again).all()
    (two,) = prepare(Item(volumes=(VolumeRef(tuple(paths), kind="series"),)), max_slices=2).volumes
    assert two[:, 0, 0, 0].tolist() == [85, 0]


def test_grids_are_turned_upright(tmp_path: Path) -> None:
    values = np.arange(2 * 3 * 4, dtype=np.uint8).reshape(2, 3, 4)
    image = sitk.GetImageFromArray(values)
    image.SetDirection((-1, 0, 0, 0, -1, 0, 0, 0, 1))
    image.SetSpacing((1.0, 2.0, 5.0))
    path = tmp_path / "ras.nrrd"
    sitk.WriteImage(image, str(path))
    stored = load_pixels(read_file(path))
    assert stored.orientation == "RAS"
    assert (stored.array == values).all()
    turned = upright(stored)
    assert turned.orientation == "LPS"
    assert (turned.array == values[:, ::-1, ::-1]).all()
    assert upright(turned) is turned
    (seen,) = prepare(Item(volumes=(VolumeRef((path,), kind="file"),))).volumes
    assert (seen[..., 0] == values[:, ::-1, ::-1]).all()


def test_upright_swaps_rows_and_columns_where_it_must(tmp_path: Path) -> None:
    values = np.arange(2 * 3 * 4, dtype=np.uint8).reshape(2, 3, 4)
    image = sitk.GetImageFromArray(values)
    image.SetDirection((0, 1, 0, 0, 0, -1, 1, 0, 0))  # columns run to S, rows to L, slices to A
    image.SetSpacing((1.0, 2.0, 5.0))
    sitk.WriteImage(image, str(tmp_path / "odd.mha"))
    stored = load_pixels(read_file(tmp_path / "odd.mha"))
    assert stored.orientation == "SLA"
    turned = upright(stored)
    assert turned.orientation == "LIP"
    assert (turned.array == values.swapaxes(1, 2)[::-1, ::-1, :]).all()
    assert turned.spacing_mm == (5.0, 1.0, 2.0)
    assert turned.aspect == 0.5


def item(path: Path, **changes: object) -> Item:
    return Item(text="t", instruction="i", images=(ImageRef(path, **changes),))  # type: ignore[arg-type]


def test_the_digest_is_of_content_and_not_of_names(tmp_path: Path) -> None:
    path = picture(tmp_path / "a.png", ramp())
    first = digest(item(path))
    assert len(first) == 64
    assert first == digest(item(path))
    moved = path.rename(tmp_path / "b.png")
    assert digest(item(moved)) == first
    raw = bytearray(moved.read_bytes())
    raw[-20] ^= 1
    moved.write_bytes(bytes(raw))
    os.utime(moved, ns=(1, 1))
    assert digest(item(moved)) != first


def test_every_part_of_an_item_counts_in_its_digest(tmp_path: Path) -> None:
    one = picture(tmp_path / "a.png", ramp())
    two = picture(tmp_path / "b.png", ramp(start=3))
    whole = item(one)
    volume = VolumeRef((one, two))
    variants = [
        whole,
        replace(whole, text="u"),
        replace(whole, text=None),
        replace(whole, text=""),
        replace(whole, instruction=None),
        replace(whole, instruction="t", text="i"),
        item(one, frame=1),
        item(one, box=(0, 0, 2, 2)),
        item(one, box=(0, 0, 2, 3)),
        replace(whole, images=(ImageRef(one), ImageRef(two))),
        replace(whole, images=(ImageRef(two), ImageRef(one))),
        replace(whole, images=(), volumes=(volume,)),
        replace(whole, images=(), volumes=(replace(volume, shown_as="images"),)),
        replace(whole, images=(), volumes=(replace(volume, paths=(two, one)),)),
        replace(whole, images=(), volumes=(VolumeRef((one,)), VolumeRef((two,)))),
    ]
    assert len({digest(one) for one in variants}) == len(variants)


def test_a_header_s_data_file_counts_in_the_digest(tmp_path: Path) -> None:
    image = sitk.GetImageFromArray(np.arange(8, dtype=np.int16).reshape(2, 2, 2))
    sitk.WriteImage(image, str(tmp_path / "v.mhd"))
    (evidence,) = find_evidence([tmp_path])
    first = digest(item_of(evidence))
    raw = bytearray((tmp_path / "v.raw").read_bytes())
    raw[0] ^= 1
    (tmp_path / "v.raw").write_bytes(bytes(raw))
    os.utime(tmp_path / "v.raw", ns=(1, 1))
    assert digest(item_of(evidence)) != first


def test_missing_files_are_named(tmp_path: Path) -> None:
    for item_ in (item(tmp_path / "no.png"), Item(volumes=(VolumeRef((tmp_path / "no.png",)),))):
        for ask in (prepare, digest):
            with pytest.raises(EvidenceError, match=r"no\.png: the file is not there"):
                ask(item_)
    with pytest.raises(EvidenceError, match="names no files"):
        prepare(Item(volumes=(VolumeRef(()),)))


def test_evidence_becomes_items(tmp_path: Path) -> None:
    picture(tmp_path / "a.png", ramp())
    (tmp_path / "b.txt").write_text("Normal chest.", encoding="utf-8")
    (tmp_path / "s").mkdir()
    slices(tmp_path / "s", [1.0, 2.0, 3.0])
    dicom(
        tmp_path / "c.dcm", None, SOPClassUID="1.2.840.10008.5.1.4.1.1.481.3", Modality="RTSTRUCT"
    )
    found = {one.kind: one for one in find_evidence([tmp_path])}
    assert item_of(found["image"]) == Item(images=(ImageRef(tmp_path / "a.png"),))
    assert item_of(found["report"]) == Item(text="Normal chest.")
    assert item_of(found["volume"]).volumes[0].kind == "series"
    assert prepare(item_of(found["volume"])).volumes[0].shape == (3, 4, 5, 3)
    with pytest.raises(EvidenceError, match="holds no picture"):
        item_of(found["other"])


def test_thumbnails_fit_and_respect_pixel_shape(tmp_path: Path) -> None:
    wide = picture(tmp_path / "a.png", ramp(10, 20))
    assert thumbnail(ImageRef(wide), 64).shape == (32, 64, 3)
    slices(tmp_path, [1.0, 2.0, 3.0])
    (series,) = [one for one in find_evidence([tmp_path]) if one.kind == "volume"]
    # 4 rows of 2 mm by 5 columns of 3 mm
    assert thumbnail(series, 60).shape == (32, 60, 3)
    assert thumbnail(VolumeRef((wide,)), 16).shape == (8, 16, 3)
    assert json.dumps(thumbnail(ImageRef(wide), 1).tolist())
