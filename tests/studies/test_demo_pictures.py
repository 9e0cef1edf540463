"""The phantoms: repeatable, different between patients, true to their geometry and finding."""

from __future__ import annotations

import numpy as np
import pytest

from studies.demo.bank import Bank, nucleus_crops, nucleus_kinds
from studies.demo.chest_case import LABELS, LOBES, draw_chest
from studies.demo.chest_findings import finding_centre
from studies.demo.pathology import draw_patch
from studies.demo.phantom_brain import brain_pictures, draw_brain, scan_brain
from studies.demo.phantom_chest import ChestScan, scan_chest
from studies.demo.skin import draw_lesion
from studies.demo.words import REGIONS
from studies.demo.xray import attenuation, project, slice_pictures

SHAPE = (32, 48, 48)


def _scan(index: int, source: str = "chest") -> ChestScan:
    return scan_chest(draw_chest(0, "test", index, source=source), shape=SHAPE)


def test_the_same_patient_gives_the_same_voxels_and_others_do_not() -> None:
    first, again, other = _scan(1), _scan(1), _scan(9)
    assert np.array_equal(first.hu, again.hu)
    assert not np.array_equal(first.hu, other.hu)
    trained = scan_chest(draw_chest(0, "train", 1), shape=SHAPE)
    assert not np.array_equal(first.hu, trained.hu)


def test_a_chest_holds_air_lung_tissue_and_bone_in_plausible_shares() -> None:
    hu = _scan(0).hu
    assert np.mean(hu[:, 0, 0]) == pytest.approx(-1000, abs=20)
    lung = np.mean((hu > -950) & (hu < -700))
    tissue = np.mean((hu > 0) & (hu < 100))
    assert 0.05 < lung < 0.3
    assert 0.1 < tissue < 0.5
    assert np.mean(hu > 200) > 0.005


@pytest.mark.parametrize("index", [1, 2])
def test_a_focal_finding_lies_where_the_case_says(index: int) -> None:
    case = draw_chest(0, "test", index)
    assert case.lobe in LOBES[case.side]
    scan, centre = scan_chest(case), finding_centre(case)
    grid = scan.grid
    z, y, x = (
        int(np.argmin(np.abs(axis.ravel() - value)))
        for axis, value in ((grid.z, centre[2]), (grid.y, centre[1]), (grid.x, centre[0]))
    )
    assert scan.hu[z, y, x] > -100
    assert (centre[0] > 0) == (case.side == "left")


def test_cases_go_round_the_classes_and_grow_with_the_finding() -> None:
    cases = [draw_chest(0, "test", index) for index in range(24)]
    assert [case.label for case in cases[:8]] == list(LABELS)
    wide = {case.heart_ratio for case in cases if case.label == "Cardiomegaly"}
    normal = {case.heart_ratio for case in cases if case.label == "No finding"}
    assert min(wide) > 0.55 > 0.5 > max(normal)


def test_the_film_is_projected_from_its_own_scan() -> None:
    scan = _scan(0)
    clipped = np.clip(scan.hu, -1000, 1200).astype(np.float64)
    expected = (0.0025 * (clipped / 1000 + 1) * (scan.hu > -700)).sum(axis=1)
    assert np.allclose(attenuation(scan), expected * scan.grid.spacing[1], rtol=1e-4)
    changed = ChestScan(scan.hu.copy(), scan.grid)
    changed.hu[12:18, 20:30, 10:16] = 1000
    film = project(scan, source="chest", key=("a",))
    assert np.array_equal(film.pixels, project(scan, source="chest", key=("a",)).pixels)
    brighter = project(changed, source="chest", key=("a",)).pixels.astype(int) - film.pixels
    row = int((film.top_mm - scan.grid.z.flat[15]) / film.pixel_mm)
    column = int((scan.grid.x.flat[13] - film.left_mm) / film.pixel_mm)
    assert brighter[row, column] > 10
    assert abs(brighter[row, -column]) < 10


def test_the_film_stands_head_up_with_the_right_side_at_the_left() -> None:
    scan = _scan(0)
    film = project(scan, source="chest", key=("a",))
    left, top, right, bottom = film.box((40.0, 0.0, 60.0), 10, 10)
    assert left > film.pixels.shape[1] / 2
    assert bottom < film.pixels.shape[0] / 2
    assert right - left >= 28
    assert bottom - top >= 28


def test_the_held_out_source_looks_different() -> None:
    case = draw_chest(0, "test", 0)
    scan = scan_chest(case, shape=SHAPE)
    usual = project(scan, source="chest", key=case.key).pixels
    other = project(scan, source="chest_b", key=case.key).pixels
    assert usual[40:120, 40:150].std() > 1.3 * other[40:120, 40:150].std()
    noise = [np.abs(np.diff(film[60:90, 60:70].astype(int))).mean() for film in (usual, other)]
    assert noise[1] > 1.5 * noise[0]


def test_slices_are_windowed_as_the_release_says() -> None:
    scan = _scan(0)
    shown = slice_pictures(scan, count=64)
    assert shown.shape == SHAPE
    assert shown.dtype == np.uint8
    expected = np.clip(np.rint((scan.hu[5].astype(float) + 1350) / 1500 * 255), 0, 255)
    assert np.abs(shown[5] - expected).max() <= 1
    few = slice_pictures(scan, count=7)
    picks = np.linspace(0, 31, 7).astype(int)
    assert np.array_equal(few, shown[picks])


def test_both_contrasts_share_geometry_and_invert_fluid() -> None:
    scan = scan_brain(draw_brain(0, "test", 5), shape=SHAPE)  # hydrocephalus: much fluid
    assert scan.t1.shape == scan.t2.shape == scan.grid.shape
    head = [np.argwhere(volume > 200) for volume in (scan.t1, scan.t2)]
    for axis in range(3):
        assert abs(head[0][:, axis].min() - head[1][:, axis].min()) <= 1
        assert abs(head[0][:, axis].max() - head[1][:, axis].max()) <= 1
    fluid = scan.t2 > 850
    assert fluid.sum() > 100
    white = (scan.t2 > 250) & (scan.t2 < 420) & (scan.t1 > 520) & (scan.t1 < 760)
    assert white.sum() > 1000
    assert np.median(scan.t1[fluid]) < 260
    assert np.array_equal(scan.t1, scan_brain(draw_brain(0, "test", 5), shape=SHAPE).t1)
    assert brain_pictures(scan.t1, count=4).shape == (4, 48, 48)


def test_patches_and_lesions_repeat_and_differ() -> None:
    assert np.array_equal(draw_patch(0, "test", 0).pixels, draw_patch(0, "test", 0).pixels)
    assert not np.array_equal(draw_patch(0, "test", 0).pixels, draw_patch(0, "test", 6).pixels)
    assert np.array_equal(draw_lesion(0, "test", 3).pixels, draw_lesion(0, "test", 3).pixels)
    assert not np.array_equal(draw_lesion(0, "test", 3).pixels, draw_lesion(1, "test", 3).pixels)


def test_nuclei_are_cropped_inside_the_patch() -> None:
    for index in range(6):
        patch = draw_patch(0, "test", index)
        for kind in nucleus_kinds(patch):
            crops = nucleus_crops(patch, kind)
            assert 1 < len(crops) <= 6
            assert all(min(crop.shape[:2]) >= 28 for crop in crops)


def test_regions_are_crops_of_the_film() -> None:
    bank = Bank(0, "test", shape=SHAPE)
    chest = bank.chest(0)
    for name in REGIONS:
        crop = chest.region(name)
        assert min(crop.shape) >= 28
        assert crop.size < chest.film.pixels.size
    assert bank.chest(0) is chest
