"""Stacks that open at the middle and fill outwards."""

from __future__ import annotations

import threading
from dataclasses import replace
from pathlib import Path

import numpy as np
import pydicom
import pytest
from pydicom.dataset import Dataset
from pydicom.uid import ExplicitVRLittleEndian, JPEG2000Lossless

from engine.control import Control
from engine.errors import Cancelled, EvidenceError
from engine.evidence.open import find_evidence, load_pixels
from engine.evidence.stack import open_stack, outwards
from tests.bench.series_files import ORIGIN, ct, phantom
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


@pytest.mark.parametrize("syntax", [JPEG2000Lossless, ExplicitVRLittleEndian])
def test_series_of_the_bench_are_read_true(tmp_path: Path, syntax: str) -> None:
    truth = phantom(9, 48)
    (evidence,) = find_evidence([ct(tmp_path / "series", truth, syntax)])
    assert bool(evidence.native) == (syntax == ExplicitVRLittleEndian)
    whole = load_pixels(evidence)
    assert np.array_equal(whole.array, truth)
    assert whole.array.dtype == np.int16
    assert whole.geometry is not None
    assert tuple(whole.geometry.origin_Z3[0]) == ORIGIN
    stack, told = open_stack(evidence), []
    assert np.array_equal(stack.pixels.array[4], truth[4])
    assert np.array_equal(stack.fill(told=told.append).array, truth)
    assert told == [3, 5, 2, 6, 1, 7, 0, 8]


def test_a_damaged_compressed_slice_is_an_error(tmp_path: Path) -> None:
    folder = ct(tmp_path / "series", phantom(9, 48), JPEG2000Lossless)
    (evidence,) = find_evidence([folder])
    bad = evidence.members[8]
    raw = bad.read_bytes()
    at = raw.index(b"\xff\x4f\xff\x51") + 60
    bad.write_bytes(raw[:at] + bytes(40) + raw[at + 40 :])
    with pytest.raises(EvidenceError) as failure:
        load_pixels(evidence)
    assert failure.value.path == bad
    stack = open_stack(evidence)
    with pytest.raises(EvidenceError):
        stack.fill()
    assert not stack.ready[8]
    assert stack.ready[4]


def test_stopping_a_compressed_stack_leaves_no_thread(tmp_path: Path) -> None:
    (evidence,) = find_evidence([ct(tmp_path / "series", phantom(12, 48), JPEG2000Lossless)])
    stack, told = open_stack(evidence), []
    before = threading.active_count()
    with pytest.raises(Cancelled) as failure:
        stack.fill(control=Control(cancelled=lambda: len(told) > 1), told=told.append)
    assert failure.value is not None
    assert threading.active_count() == before
    assert stack.ready.sum() == 3
    assert stack.fill().array.any()


def test_a_file_that_changed_since_it_was_found_is_looked_at_again(tmp_path: Path) -> None:
    paths = slices(tmp_path, [0.0, 1.0, 2.0])
    (evidence,) = find_evidence([tmp_path])
    place = {"ImageOrientationPatient": [1, 0, 0, 0, 1, 0], "ImagePositionPatient": [0, 0, 1.0]}
    dicom(paths[1], np.full((4, 5), 77, np.int16), PixelSpacing=[2.0, 3.0],
          PatientComments="longer", **place)  # fmt: skip
    assert load_pixels(evidence).array[:, 0, 0].tolist() == [0, 77, 2]
    dicom(paths[1], np.full((6, 6), 77, np.int16), PixelSpacing=[2.0, 3.0], **place)
    with pytest.raises(EvidenceError, match="another size"):
        load_pixels(evidence)


def test_a_file_cut_after_it_was_found_gives_no_half_slice(tmp_path: Path) -> None:
    paths = slices(tmp_path, [0.0, 1.0, 2.0])
    (evidence,) = find_evidence([tmp_path])
    paths[2].write_bytes(paths[2].read_bytes()[:-10])
    stack = open_stack(evidence)
    with pytest.raises(EvidenceError) as failure:
        stack.fill()
    assert failure.value.code == "truncated"
    assert not stack.pixels.array[2].any()


@pytest.mark.parametrize(
    ("values", "elements"),
    [
        (np.array([[0, 4095], [17, 2000]], np.uint16), {"BitsStored": 12, "HighBit": 11}),
        (np.array([[0x8FFF, 0x0001], [0xF00F, 3]], np.uint16), {"BitsStored": 12, "HighBit": 11}),
        (np.array([[0x0FFF, 0x0800], [0x07FF, 1]], np.int16), {"BitsStored": 12, "HighBit": 11}),
        (np.array([[0, 65535], [1, 2]], np.uint16), {"RescaleIntercept": -1024}),
        (np.array([[-32768, 32767], [1, 2]], np.int16), {"RescaleIntercept": -1024}),
        (np.array([[1, 200], [1, 2]], np.uint8), {"RescaleSlope": 2, "RescaleIntercept": -3}),
        (np.array([[1, 200], [1, 2]], np.int16), {"RescaleSlope": 0.37}),
        (np.array([[1, 200], [1, 2]], np.uint16), {"PixelPaddingValue": 200}),
        (np.array([[1, 200], [1, 2]], np.uint8), {"PhotometricInterpretation": "MONOCHROME1"}),
    ],
    ids=str,
)
def test_pixels_read_straight_are_those_of_the_full_way(
    tmp_path: Path, values: np.ndarray, elements: dict[str, object]
) -> None:
    elements = {"RescaleSlope": 1, "RescaleIntercept": 0, **elements}
    for place in range(3):
        dicom(
            tmp_path / f"{place}", values, ImageOrientationPatient=[1, 0, 0, 0, 1, 0],
            ImagePositionPatient=[0, 0, place], PixelSpacing=[1, 1], **elements,
        )  # fmt: skip
    (evidence,) = find_evidence([tmp_path])
    assert all(evidence.native)
    straight = load_pixels(evidence)
    full = load_pixels(replace(evidence, native=()))
    assert straight.array.dtype == full.array.dtype
    assert straight.array.tolist() == full.array.tolist()
    assert (straight.padding, straight.window) == (full.padding, full.window)


def test_overlays_of_slices_become_those_of_the_stack(tmp_path: Path) -> None:
    drawn = np.zeros((4, 8), bool)
    drawn[1, 2] = True
    for place, path in enumerate(slices(tmp_path, [0.0, 1.0, 2.0])):
        dataset = pydicom.dcmread(path)
        dataset.Rows, dataset.Columns = 4, 8
        dataset.PixelData = np.full((4, 8), place, np.int16).tobytes()
        if place != 1:
            for element, vr, value in (
                (0x10, "US", 4), (0x11, "US", 8), (0x40, "CS", "G"), (0x50, "SS", [1, 1]),
                (0x100, "US", 1), (0x102, "US", 0),
                (0x3000, "OW", np.packbits(drawn, bitorder="little").tobytes()),
            ):  # fmt: skip
                dataset.add_new((0x6000, element), vr, value)
        dataset.save_as(path)
    (evidence,) = find_evidence([tmp_path])
    (overlay,) = load_pixels(evidence).overlays
    assert overlay.first_frame == 0
    assert [bool(mask[1, 2]) for mask in overlay.mask] == [True, False, True]
    assert overlay.mask.sum() == 2


@pytest.mark.parametrize("kind", [np.uint8, np.int16])
def test_plain_frames_are_read_straight_in_their_sorted_order(
    tmp_path: Path, kind: type[np.generic]
) -> None:
    values = np.arange(4 * 3 * 5).reshape(4, 3, 5).astype(kind)
    groups = []
    for position in (3.0, 1.0, 0.0, 2.0):
        place, group = Dataset(), Dataset()
        place.ImagePositionPatient = [0, 0, position]
        group.PlanePositionSequence = [place]
        groups.append(group)
    path = dicom(
        tmp_path / "a", values, NumberOfFrames=4, PerFrameFunctionalGroupsSequence=groups,
        ImageOrientationPatient=[1, 0, 0, 0, 1, 0], PixelSpacing=[1, 1], RescaleSlope=2,
        RescaleIntercept=-7,
    )  # fmt: skip
    (evidence,) = find_evidence([path])
    assert len(evidence.native) == 4
    array = load_pixels(evidence).array
    assert array.tolist() == (values.astype(int) * 2 - 7)[[2, 1, 3, 0]].tolist()
    assert array.tolist() == load_pixels(replace(evidence, native=())).array.tolist()
    stack = open_stack(evidence)
    assert stack.ready.tolist() == [False, False, True, False]
    assert stack.fill().array.tolist() == array.tolist()
