"""Volume files in their own order, the release's grey values, and its radiograph from a CT."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from engine.errors import EvidenceError
from studies.medheb.builders import projection, volumes
from studies.medheb.sources import stacks
from tests.studies.volume_files import ball, chest, nii


def test_a_file_is_not_turned_whatever_its_affine_says(tmp_path: Path):
    values = np.arange(2 * 3 * 4, dtype=np.int16).reshape(2, 3, 4)
    turned = np.array([[0, -2.0, 0, 9], [3.0, 0, 0, 9], [0, 0, -5.0, 9], [0, 0, 0, 1]])
    for name, affine in (("a.nii.gz", np.eye(4)), ("b.nii", turned)):
        read = stacks.read_grid(nii(tmp_path / name, values, affine=affine))
        assert np.array_equal(read.values, values)
    assert read.spacing_mm == (3.0, 2.0, 5.0)
    assert read.steps[:, 2].tolist() == [0, 0, -5.0]


def test_slices_lie_as_stored_third_axis_first(tmp_path: Path):
    values = np.zeros((5, 7, 9), np.int16)
    values[1, 2, 3] = 1000
    shown = stacks.ct_slices(nii(tmp_path / "a.nii", values), level=0, width=4000)
    assert shown.shape == (9, 5, 7)
    assert np.argwhere(shown == shown.max()).tolist() == [[3, 1, 2]]
    many = nii(tmp_path / "b.nii", np.zeros((3, 4, 200), np.int16))
    assert len(stacks.ct_slices(many, level=0, width=100)) == 64


def test_an_mr_volume_is_stretched_over_its_voxels_above_zero(tmp_path: Path):
    values = ball(3)
    values[:, :, :4] = 0
    path = nii(tmp_path / "a.nii.gz", values)
    shown = stacks.mr_slices(path, share=0.015, low=0.5, high=99.5)
    kept = [z for z in range(16) if (values[:, :, z] > 0).mean() >= 0.015]
    assert len(shown) == 64
    low, high = np.percentile(values[values > 0], (0.5, 99.5))
    first = np.clip((values[:, :, kept[0]] - low) / (high - low), 0, 1) * 255
    assert np.abs(shown[0].astype(int) - first).max() <= 1
    assert np.array_equal(shown, volumes.stacked(
        volumes.stretched(values, 0.5, 99.5), volumes.informative(values, 0.015)
    ))  # fmt: skip


def test_numbers_that_are_none_and_empty_volumes_do_not_stop_it(tmp_path: Path):
    values = ball(1).astype(np.float32)
    values[0, 0, 0], values[1, 1, 1] = np.nan, np.inf
    shown = stacks.mr_slices(nii(tmp_path / "a.nii", values), share=0.01, low=1, high=99.5)
    assert shown.max() > 200
    empty = nii(tmp_path / "b.nii", np.zeros((4, 4, 4), np.int16))
    assert stacks.mr_slices(empty, share=0.01, low=1, high=99.5).max() == 0


def test_a_flat_or_damaged_file_is_refused_in_words(tmp_path: Path):
    with pytest.raises(EvidenceError, match="no volume of grey values"):
        stacks.read_grid(nii(tmp_path / "a.nii", np.ones((4, 4, 1), np.int16)))
    (tmp_path / "b.nii.gz").write_bytes(b"\x1f\x8bnothing")
    with pytest.raises(EvidenceError):
        stacks.read_grid(tmp_path / "b.nii.gz")


def test_closing_and_opening_are_those_of_a_square_of_five_pixels():
    from scipy import ndimage

    mask = np.random.default_rng(0).random((40, 33)) < 0.6
    square = np.ones((5, 5), bool)
    assert np.array_equal(projection.dilated(mask), ndimage.binary_dilation(mask, square))
    assert np.array_equal(
        projection.eroded(mask), ndimage.binary_erosion(mask, square, border_value=1)
    )
    hole = np.ones((20, 20), bool)
    hole[8:12, 8:12] = False
    assert projection.closed(hole).all()
    assert not projection.opened(~hole).any()


def test_a_radiograph_follows_the_release_step_by_step():
    hu, (x, y, z) = chest(1).astype(np.float32), (1.0, 1.5, 2.0)
    hu[:2, :2, 5] = 100  # a thread outside the body: the opening takes it out
    table = np.full((3, 3, 1), 3000.0)
    assert projection.attenuation(table, table > -700)[0, 0, 0] == pytest.approx(0.0025 * 2.2)
    path = projection.path_XZ(hu)
    middle = np.clip(hu[20, :, 10], -1000, 1200)
    body = projection.opened(projection.closed(hu[:, :, 10] > -700))[20]
    assert path[20, 10] == pytest.approx((0.0025 * (middle / 1000 + 1) * body).sum(), rel=1e-5)
    assert path[0, 5] == 0
    whole = projection.squared(
        np.flipud(projection.film(path * np.float32(y)).T), height_mm=z, width_mm=x
    )
    assert whole.shape == (40, 40)  # 20 slices of 2 mm, 40 columns of 1 mm
    seen = projection.radiograph(hu, (x, y, z))
    assert seen.dtype == np.uint8
    assert seen.shape[0] <= 40
    spine, lung = seen[:, seen.shape[1] // 2].mean(), seen[:, seen.shape[1] // 4].mean()
    assert spine > lung + 20


def test_the_head_is_up_in_a_radiograph_and_empty_air_is_no_error():
    hu = chest(1)
    hu[18:22, 16:20, 17:] = 1200  # dense at the far end of z
    seen = projection.radiograph(hu, (1.0, 1.0, 1.0))
    assert seen[:3].max() == 255
    assert projection.radiograph(np.full((9, 9, 9), -1000), (1, 1, 1)).max() == 0
