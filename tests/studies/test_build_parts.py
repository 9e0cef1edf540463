"""Boxes, slices, grey values: the release's rules as numbers."""

from __future__ import annotations

import numpy as np
import pytest

from studies.medheb.builders import regions, volumes


def test_boxes_are_tight_clipped_widened_and_merged():
    mask = np.zeros((20, 30))
    mask[4:9, 10:12] = 3
    assert regions.of_mask(mask) == (10, 4, 12, 9)
    assert regions.of_mask(np.zeros((3, 3))) is None
    assert regions.clip((-4.2, 2.5, 12.1, 99), 50, 40) == (0, 2, 13, 50)
    assert regions.clip((45, 2, 50, 9), 50, 40) is None
    assert regions.clip((float("nan"), 0, 1, 1), 50, 40) is None
    assert regions.widen((10, 4, 12, 9), 100, 100) == (0, 0, 28, 28)
    assert regions.widen((90, 40, 95, 90), 100, 100) == (72, 40, 100, 90)
    assert regions.widen((1, 1, 3, 3), 20, 10) == (0, 0, 10, 20)


def test_boxes_of_one_class_are_joined_by_overlap_alone():
    near, inner, far = (0, 0, 10, 10), (1, 1, 4, 4), (50, 50, 60, 60)
    assert regions.merged([near, inner, far]) == [(0, 0, 10, 10), far]
    touching = [(0, 0, 10, 10), (9, 0, 19, 10)]
    assert regions.merged(touching) == touching
    assert regions.merged([(0, 0, 10, 10), (2, 0, 12, 10)]) == [(0, 0, 12, 10)]


def test_slices_are_chosen_as_the_release_chooses_them():
    assert volumes.evenly(10) == list(range(10))
    assert volumes.evenly(100) == np.linspace(0, 99, 64).astype(int).tolist()
    stack = np.zeros((10, 10, 40))
    stack[:, :, 5:25] = 1
    assert volumes.filled(stack, 0.01) == list(range(5, 25))
    chosen = volumes.informative(stack, 0.015)
    assert (len(chosen), chosen[0], chosen[-1]) == (64, 5, 24)
    assert volumes.between_filled(stack, 0.01)[0] == 5
    assert len(volumes.informative(np.zeros((4, 4, 9)), 0.01)) == 64


def test_grey_values_of_windows_and_percentiles():
    units = np.array([[[-2000.0, -1350.0, -600.0, 150.0, 3000.0]]])
    assert volumes.windowed(units, level=-600, width=1500).ravel().tolist() == [0, 0, 127, 255, 255]
    grey = volumes.stretched(np.arange(-100, 101, dtype=float).reshape(1, 1, -1), 0, 100)
    assert (grey.min(), grey.max()) == (0, 255)
    assert volumes.stretched(np.zeros((2, 2, 2)), 1, 99).max() == 0
    turned = volumes.stacked(np.arange(24, dtype=np.uint8).reshape(2, 3, 4), [1, 3])
    assert turned.shape == (2, 2, 3)
    assert turned[0, 1, 2] == np.arange(24).reshape(2, 3, 4)[1, 2, 1]


@pytest.mark.parametrize("share", [0.01, 0.015, 0.02])
def test_a_share_of_filled_voxels_is_met_exactly(share: float):
    stack = np.zeros((100, 10, 3))
    stack.reshape(1000, 3)[: int(1000 * share), 1] = 5
    assert volumes.filled(stack, share) == [1]
