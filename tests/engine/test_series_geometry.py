"""Places in the patient: of files, series, frames and turned grids, against SimpleITK."""

from __future__ import annotations

from dataclasses import replace
from itertools import permutations, product

import numpy as np
import pytest
import SimpleITK as sitk

from engine.evidence.geometry import Geometry
from engine.evidence.orient import READ_AS, letters, upright
from engine.evidence.study import Pixels

AXES = {"L": (1, 0, 0), "R": (-1, 0, 0), "P": (0, 1, 0), "A": (0, -1, 0), "S": (0, 0, 1),
        "I": (0, 0, -1)}  # fmt: skip
PAIRS = ("LR", "PA", "SI")
ORIENTATIONS = [
    "".join(sides)
    for axes in permutations(PAIRS)
    for sides in product(*axes)
]  # fmt: skip


def grid(orientation: str) -> Pixels:
    """A stack whose columns, rows and slices run to the named sides."""
    columns, rows, slices = (np.array(AXES[side], float) for side in orientation)
    shape = (4, 5, 6)
    origin = np.array([10.0, -20.0, 30.0])
    geometry = Geometry(
        origin_Z3=origin + np.arange(shape[0])[:, None] * slices * 3.0,
        column_step=columns * 1.5,
        row_step=rows * 2.0,
    )
    return Pixels(
        array=np.arange(120, dtype=np.int16).reshape(shape),
        times=np.arange(240, dtype=np.int16).reshape(2, *shape),
        spacing_mm=(3.0, 2.0, 1.5),
        orientation=orientation,
        display_order=False,
        geometry=geometry,
    )


@pytest.mark.parametrize("orientation", ORIENTATIONS)
def test_a_turned_voxel_keeps_its_place(orientation: str) -> None:
    before = grid(orientation)
    after = upright(before)
    assert before.geometry is not None
    assert after.geometry is not None
    assert after.times is not None
    assert after.orientation == READ_AS[orientation[2]]
    assert after.times[0].tolist() == after.array.tolist()
    for value in (0, 7, 58, 119):
        was = tuple(int(n[0]) for n in np.nonzero(before.array == value))
        now = tuple(int(n[0]) for n in np.nonzero(after.array == value))
        np.testing.assert_allclose(after.geometry.point(now), before.geometry.point(was))
        np.testing.assert_allclose(after.geometry.index(after.geometry.point(now)), now, atol=1e-9)
    assert after.spacing_mm is not None
    assert np.linalg.norm(after.geometry.column_step) == pytest.approx(after.spacing_mm[2])
    assert np.linalg.norm(after.geometry.row_step) == pytest.approx(after.spacing_mm[1])


@pytest.mark.parametrize("orientation", ORIENTATIONS)
def test_letters_are_those_of_itk(orientation: str) -> None:
    directions = [np.array(AXES[side], float) for side in orientation]
    matrix = np.stack(directions, axis=1)
    named = sitk.DICOMOrientImageFilter.GetOrientationFromDirectionCosines(matrix.reshape(-1))
    assert letters(*directions) == named == orientation


def test_letters_of_oblique_stacks_are_those_of_itk() -> None:
    random = np.random.default_rng(3)
    for _ in range(300):
        turned, _ = np.linalg.qr(random.standard_normal((3, 3)))
        columns, rows, slices = turned.T
        named = sitk.DICOMOrientImageFilter.GetOrientationFromDirectionCosines(turned.reshape(-1))
        assert letters(columns, rows, slices) == named


def test_points_are_those_of_itk() -> None:
    image = sitk.Image([6, 5, 4], sitk.sitkInt16)
    turned, _ = np.linalg.qr(np.random.default_rng(5).standard_normal((3, 3)))
    if np.linalg.det(turned) < 0:
        turned[:, 2] *= -1
    image.SetDirection(turned.reshape(-1).tolist())
    image.SetSpacing([0.5, 0.75, 2.5])
    image.SetOrigin([-3.0, 8.0, 100.0])
    geometry = Geometry(
        origin_Z3=np.array([image.TransformIndexToPhysicalPoint((0, 0, z)) for z in range(4)]),
        column_step=turned[:, 0] * 0.5,
        row_step=turned[:, 1] * 0.75,
    )
    for z, y, x in ((0, 0, 0), (1.5, 2.25, 3.0), (3, 4, 5), (-2, 7, 9)):
        wanted = image.TransformContinuousIndexToPhysicalPoint((float(x), float(y), float(z)))
        np.testing.assert_allclose(geometry.point((z, y, x)), wanted, atol=1e-9)
        np.testing.assert_allclose(geometry.index(np.array(wanted)), (z, y, x), atol=1e-9)
    assert geometry.straight
    shift = np.zeros((4, 3))
    shift[1, 0] = 1.0
    bent = replace(geometry, origin_Z3=geometry.origin_Z3 + shift)
    assert not bent.straight
