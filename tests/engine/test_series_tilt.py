"""Gantry tilt undone and slice distances made even, against SimpleITK's resampling."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import SimpleITK as sitk

from engine.evidence.geometry import Geometry
from engine.evidence.open import find_evidence, load_pixels
from engine.evidence.study import Pixels
from engine.evidence.tilt import even, straighten
from tests.engine.evidence_files import dicom
from tests.shared import shared_path


def tilted(degrees: float, *, steps: list[float], rows: int = 40, across: float = 0.0) -> Pixels:
    """A phantom of a smooth function of patient space, sampled by a sheared stack."""
    along = np.concatenate([[0.0], np.cumsum(steps)])
    shear = np.tan(np.radians(degrees))
    way = np.stack([across * along, along * shear, along], axis=1)
    origins = way + np.array([5.0, -8.0, 100.0])
    geometry = Geometry(origins, np.array([0.9, 0, 0]), np.array([0, 0.7, 0]), frame="f")
    return Pixels(
        array=sampled(geometry, rows, 30).astype(np.int16),
        spacing_mm=(float(np.median(steps)), 0.7, 0.9),
        orientation="LPS",
        geometry=geometry,
        padding=(-2000.0, -2000.0),
    )


def sampled(geometry: Geometry, rows: int, columns: int) -> np.ndarray:
    y, x = np.mgrid[:rows, :columns]
    places = (
        geometry.origin_Z3[:, None, None]
        + y[..., None] * geometry.row_step
        + x[..., None] * geometry.column_step
    )
    return field(places)


def field(places: np.ndarray) -> np.ndarray:
    """Values of the phantom: linear, so that linear interpolation is exact up to rounding."""
    return 100 * places[..., 0] + 70 * places[..., 1] + 30 * places[..., 2] - 1500


@pytest.mark.parametrize("degrees", [-18.5, -3.0, 2.5, 9.0, 24.0])
def test_every_straightened_voxel_has_the_value_of_its_place(degrees: float) -> None:
    before = tilted(degrees, steps=[3.0] * 11)
    assert before.geometry is not None
    assert not before.geometry.straight
    after = straighten(before)
    assert after.geometry is not None
    assert after.geometry.straight
    assert after.array.dtype == np.int16
    wanted = sampled(after.geometry, *after.array.shape[1:])
    known = after.array != -2000
    assert known.sum() > 0.9 * before.array.size
    assert np.abs(after.array - wanted)[known].max() <= 1.0
    np.testing.assert_allclose(after.geometry.distance(), before.geometry.distance())


@pytest.mark.parametrize("degrees", [-18.5, 7.0])
def test_straightened_slices_are_those_of_itk(degrees: float) -> None:
    before = tilted(degrees, steps=[2.0, 5.0, 5.0, 3.0], across=0.2)
    noise = np.random.default_rng(1).integers(-900, 900, before.array.shape).astype(np.int16)
    before = replace(before, array=noise)
    after = straighten(before)
    assert before.geometry is not None
    assert after.geometry is not None
    for place in range(len(noise)):
        image = sitk.GetImageFromArray(noise[place].astype(np.float64))
        image.SetSpacing([0.9, 0.7])
        image.SetOrigin(before.geometry.origin_Z3[place, :2].tolist())
        grid = sitk.Image(after.array.shape[2], after.array.shape[1], sitk.sitkFloat64)
        grid.SetSpacing([0.9, 0.7])
        grid.SetOrigin(after.geometry.origin_Z3[place, :2].tolist())
        theirs = sitk.GetArrayFromImage(
            sitk.Resample(image, grid, sitk.Transform(), sitk.sitkLinear, -2000.0)
        )
        known = (theirs != -2000.0) & (after.array[place] != -2000)
        assert known.sum() > 0.9 * noise[place].size
        assert np.abs(theirs - after.array[place])[known].max() <= 1.0


def test_a_straight_stack_comes_back_as_it_is() -> None:
    before = tilted(0.0, steps=[2.0] * 5)
    assert straighten(before) is before
    assert even(before) is before
    assert straighten(replace(before, geometry=None)) is not None


def test_time_points_are_straightened_together() -> None:
    before = tilted(10.0, steps=[2.0] * 4)
    before = replace(before, times=np.stack([before.array, before.array + 7]))
    after = straighten(before)
    assert after.times is not None
    assert np.shares_memory(after.array, after.times)
    known = after.times[0] != -2000
    assert (after.times[1] - after.times[0])[known].min() >= 6


def test_uneven_slices_become_even() -> None:
    before = tilted(0.0, steps=[1.0, 4.0, 4.0, 7.0, 4.0])
    after = even(before)
    assert after.geometry is not None
    assert after.geometry.straight
    assert after.spacing_mm == (4.0, 0.7, 0.9)
    assert len(after.array) == 6
    assert np.abs(after.array - sampled(after.geometry, 40, 30)).max() <= 1.0
    finer = even(before, step_mm=0.5)
    assert len(finer.array) == 41
    assert finer.geometry is not None
    assert np.abs(finer.array - sampled(finer.geometry, 40, 30)).max() <= 1.0
    with pytest.raises(ValueError, match="not possible"):
        even(before, step_mm=0.0)


def test_the_handed_tilted_series_is_straightened() -> None:
    (evidence,) = find_evidence([shared_path("data/files/series/ct_tilt_variable_spacing")])
    before = load_pixels(evidence)
    after = straighten(before)
    assert after.geometry is not None
    assert after.geometry.straight is False  # its distances stay uneven
    np.testing.assert_allclose(
        np.diff(after.geometry.origin_Z3, axis=0),
        np.diff(after.geometry.distance())[:, None] * after.geometry.normal[None], atol=1e-9,
    )  # fmt: skip
    whole = even(before)
    assert whole.geometry is not None
    assert whole.geometry.straight
    assert whole.array.dtype == before.array.dtype


def test_a_tilted_series_of_files_is_said_and_straightened(tmp_path: Path) -> None:
    for place in range(6):
        values = np.zeros((20, 8), np.int16)
        values[10 - place, 3] = 1000  # one point of the patient, seen by every slice
        dicom(
            tmp_path / f"{place}", values, ImageOrientationPatient=[1, 0, 0, 0, 1, 0],
            ImagePositionPatient=[0, 1.0 * place, 2.0 * place], PixelSpacing=[1.0, 1.0],
            RescaleSlope=1, RescaleIntercept=-1000,
        )  # fmt: skip
    (evidence,) = find_evidence([tmp_path])
    assert any("gantry tilt of 26.6 degrees" in note for note in evidence.notes)
    after = straighten(load_pixels(evidence))
    assert [tuple(np.argwhere(one == 0)[0]) for one in after.array] == [(10, 3)] * 6
    assert after.array.min() == -1000


@pytest.mark.parametrize("far", [1e8, 1e12, 1e300])
def test_places_that_must_be_wrong_fill_no_memory(far: float) -> None:
    before = tilted(0.0, steps=[2.0] * 5)
    assert before.geometry is not None
    beside = before.geometry.origin_Z3.copy()
    beside[-1, 1] = far
    wrong = replace(before, geometry=replace(before.geometry, origin_Z3=beside))
    assert straighten(wrong) is wrong
    above = before.geometry.origin_Z3.copy()
    above[-1, 2] = far * 1e4
    wrong = replace(before, geometry=replace(before.geometry, origin_Z3=above))
    assert even(wrong) is wrong
