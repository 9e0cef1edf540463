"""Stacks that open at the middle and fill outwards."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from engine.control import Control
from engine.errors import Cancelled, EvidenceError
from engine.evidence.open import find_evidence, load_pixels
from engine.evidence.stack import open_stack, outwards
from tests.engine.evidence_files import dicom, slices


def test_the_middle_slice_is_there_first_and_the_rest_around_it(tmp_path: Path) -> None:
    slices(tmp_path, [float(n) for n in range(7)])
    (evidence,) = find_evidence([tmp_path])
    stack = open_stack(evidence)
    assert stack.ready.tolist() == [False, False, False, True, False, False, False]
    assert stack.pixels.array.shape == (7, 4, 5)
    assert stack.pixels.array[3].tolist() == np.full((4, 5), 3).tolist()
    assert not stack.pixels.array[2].any()
    assert not stack.complete
    array, told = stack.pixels.array, []
    final = stack.fill(told=told.append)
    assert told == [2, 4, 1, 5, 0, 6]
    assert stack.complete
    assert np.shares_memory(final.array, array)
    assert final.array.tolist() == load_pixels(evidence).array.tolist()
    assert final.geometry is evidence.geometry is stack.pixels.geometry


def test_a_window_from_the_middle_becomes_that_of_the_whole(tmp_path: Path) -> None:
    slices(tmp_path, [float(n) * 2 for n in range(9)])
    (evidence,) = find_evidence([tmp_path])
    stack = open_stack(evidence)
    first = stack.pixels.window
    assert first[0] == pytest.approx(4.5)
    assert stack.fill().window == load_pixels(evidence).window != first
    assert stack.pixels.window_source == "derived"


def test_a_header_window_is_there_at_once(tmp_path: Path) -> None:
    slices(tmp_path, [0.0, 1.0, 2.0], WindowCenter=40, WindowWidth=400)
    (evidence,) = find_evidence([tmp_path])
    stack = open_stack(evidence)
    assert stack.pixels.window == (40.0, 400.0) == stack.fill().window


def test_stopping_keeps_what_is_there(tmp_path: Path) -> None:
    slices(tmp_path, [float(n) for n in range(6)])
    (evidence,) = find_evidence([tmp_path])
    stack = open_stack(evidence)
    told: list[int] = []
    with pytest.raises(Cancelled):
        stack.fill(control=Control(cancelled=lambda: len(told) == 2), told=told.append)
    assert stack.ready.sum() == 3
    assert stack.fill().array[:, 0, 0].tolist() == [0, 1, 2, 3, 4, 5]


def test_a_missing_slice_is_an_error_and_the_rest_stays(tmp_path: Path) -> None:
    paths = slices(tmp_path, [float(n) for n in range(5)])
    (evidence,) = find_evidence([tmp_path])
    stack = open_stack(evidence)
    paths[0].unlink()
    with pytest.raises(EvidenceError, match="not there"):
        stack.fill()
    assert stack.ready.tolist() == [False, True, True, True, False]
    assert not stack.complete


def test_a_wider_slice_widens_the_array(tmp_path: Path) -> None:
    place = {"ImageOrientationPatient": [1, 0, 0, 0, 1, 0], "PixelSpacing": [1, 1]}
    for number, high in enumerate((100, 100, 65535)):
        dicom(
            tmp_path / f"{number}.dcm", np.full((3, 3), high, np.uint16), RescaleSlope=1,
            RescaleIntercept=-1000, ImagePositionPatient=[0, 0, number], **place,
        )  # fmt: skip
    (evidence,) = find_evidence([tmp_path])
    stack = open_stack(evidence)
    assert stack.pixels.array.dtype == np.int16
    final = stack.fill()
    assert final.array[:, 0, 0].tolist() == [-900, -900, 64535]
    assert final.array.dtype == load_pixels(evidence).array.dtype == np.int32


def test_plain_files_are_there_at_once(tmp_path: Path) -> None:
    path = dicom(tmp_path / "one.dcm", np.ones((3, 3), np.int16))
    (evidence,) = find_evidence([path])
    stack = open_stack(evidence)
    assert stack.complete
    assert stack.fill() is stack.pixels


def test_the_way_outwards() -> None:
    assert list(outwards(6)) == [3, 2, 4, 1, 5, 0]
    assert list(outwards(5)) == [2, 1, 3, 0, 4]
    assert list(outwards(1)) == [0]
