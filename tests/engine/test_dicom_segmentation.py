"""Segmentations: segments, their frames, labels by the standard's codes, fractions."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from pydicom.dataset import Dataset
from pydicom.sequence import Sequence

from engine.evidence.dicom.decode import decode_file
from engine.evidence.dicom.segmentation import segmentation_of
from engine.evidence.open import read_file
from tests.engine.dicom_files import EXPLICIT, header, save
from tests.shared import shared_path

SEGMENTATION = "1.2.840.10008.5.1.4.1.1.66.4"


def code(value: str, scheme: str, meaning: str) -> Sequence:
    found = Dataset()
    found.CodeValue, found.CodingSchemeDesignator, found.CodeMeaning = value, scheme, meaning
    return Sequence([found])


def segment(number: int, kind: Sequence, category: Sequence | None = None) -> Dataset:
    found = Dataset()
    found.SegmentNumber, found.SegmentLabel = number, "Somebody's own words"
    found.SegmentDescription = "Doe^Jane"
    found.SegmentedPropertyTypeCodeSequence = kind
    if category is not None:
        found.SegmentedPropertyCategoryCodeSequence = category
    return found


LIVER = code("10200004", "SCT", "Doe^Jane")
SEGMENTS = [
    segment(2, code("T-62000", "SRT", "Liver")),
    segment(1, LIVER),
    segment(3, code("1234", "99PRIVATE", "Doe^Jane"), code("49755003", "SCT", "Morphology")),
    segment(4, code("1234", "99PRIVATE", "Doe^Jane")),
]


def made(
    path: Path, frames: NDArray[np.uint8], numbers: list[int], *, bits: int = 8, **elements: Any
) -> Path:
    dataset = header(
        frames.shape[1:],
        bits=bits,
        SOPClassUID=SEGMENTATION,
        Modality="SEG",
        NumberOfFrames=len(frames),
        **elements,
    )
    dataset.SegmentSequence = Sequence(SEGMENTS)
    groups = []
    for number in numbers:
        group, named = Dataset(), Dataset()
        named.ReferencedSegmentNumber = number
        group.SegmentIdentificationSequence = Sequence([named])
        groups.append(group)
    dataset.PerFrameFunctionalGroupsSequence = Sequence(groups)
    if bits == 1:
        dataset.PixelData = np.packbits(frames.reshape(-1), bitorder="little").tobytes()
    else:
        dataset.PixelData = frames.tobytes()
    return save(path, dataset, EXPLICIT)


def header_of(path: Path) -> Dataset:
    from pydicom import dcmread

    return dcmread(path, stop_before_pixels=True)


def test_segments_and_their_frames(tmp_path: Path) -> None:
    frames = np.zeros((5, 3, 4), np.uint8)
    path = made(tmp_path / "a.dcm", frames, [1, 2, 2, 3, 1], bits=1, SegmentationType="BINARY")
    found = segmentation_of(header_of(path), 5)
    assert found is not None
    assert [one.number for one in found.segments] == [1, 2, 3, 4]
    assert [one.frames for one in found.segments] == [(0, 4), (1, 2), (3,), ()]
    assert [one.label for one in found.segments] == [
        "Liver", "Liver", "Morphologically Abnormal Structure", None,
    ]  # fmt: skip


def test_the_evidence_says_that_it_is_no_picture(tmp_path: Path) -> None:
    frames = np.ones((5, 3, 4), np.uint8)
    path = made(tmp_path / "a.dcm", frames, [1, 2, 2, 3, 1], bits=1, SegmentationType="BINARY")
    evidence = read_file(path)
    words = "segmentation: 4 segments over 5 frames (values are labels, not a picture)"
    assert words in evidence.notes
    assert "segments: Liver (1, 2); Morphologically Abnormal Structure (3)" in evidence.notes
    for private in ("Doe", "Jane", "Somebody"):
        assert private not in repr(evidence)


def test_fractions_are_scaled(tmp_path: Path) -> None:
    frames = np.array([[[0, 50, 100, 200]]], np.uint8)
    path = made(
        tmp_path / "a.dcm",
        frames,
        [1],
        SegmentationType="FRACTIONAL",
        SegmentationFractionalType="PROBABILITY",
        MaximumFractionalValue=200,
    )
    found = segmentation_of(header_of(path), 1)
    assert found is not None
    assert (found.kind, found.scale, found.meaning) == ("fractional", 200.0, "probability")
    decoded = decode_file(path).values
    assert decoded.reshape(-1).tolist() == [0, 50, 100, 200]  # as stored
    assert found.fractions(decoded).reshape(-1).tolist() == [0.0, 0.25, 0.5, 1.0]
    assert "the value 200 stands for 1 of probability" in read_file(path).notes


def test_frames_become_a_label_map(tmp_path: Path) -> None:
    frames = np.array([[[1, 1, 0]], [[0, 1, 1]], [[1, 0, 0]]], np.uint8)
    path = made(tmp_path / "a.dcm", frames, [1, 2, 1], SegmentationType="BINARY")
    found = segmentation_of(header_of(path), 3)
    assert found is not None
    labels = found.labels(decode_file(path).values, [0, 0, 1])
    assert labels.tolist() == [[[1, 2, 2]], [[1, 0, 0]]]


def test_a_label_map_is_its_own(tmp_path: Path) -> None:
    frames = np.array([[[0, 1, 3]], [[4, 0, 0]]], np.uint8)
    path = made(tmp_path / "a.dcm", frames, [], SegmentationType="LABELMAP")
    found = segmentation_of(header_of(path), 2)
    assert found is not None
    assert found.kind == "labelmap"
    assert np.array_equal(found.labels(decode_file(path).values, [0, 1]), frames)


def test_full_tilings_hold_one_segment_after_the_other(tmp_path: Path) -> None:
    path = made(
        tmp_path / "a.dcm",
        np.zeros((8, 3, 4), np.uint8),
        [],
        SegmentationType="BINARY",
        DimensionOrganizationType="TILED_FULL",
    )
    found = segmentation_of(header_of(path), 8)
    assert found is not None
    assert [one.frames for one in found.segments] == [(0, 1), (2, 3), (4, 5), (6, 7)]


def test_other_objects_are_none(tmp_path: Path) -> None:
    assert segmentation_of(header((2, 2)), 1) is None
    broken = header((2, 2), SOPClassUID=SEGMENTATION)
    found = segmentation_of(broken, 1)
    assert found is not None
    assert found.segments == ()


@pytest.mark.parametrize("name", ["seg_1bit.dcm", "seg_1bit_nonaligned.dcm"])
def test_handed_segmentations(name: str) -> None:
    path = shared_path(f"data/files/dicom/{name}")
    evidence = read_file(path)
    frames = (evidence.shape or (0,))[0]
    found = segmentation_of(header_of(path), frames)
    assert found is not None
    assert [one.label for one in found.segments] == ["Liver"]
    assert found.segments[0].frames == tuple(range(frames))
