"""What distances mean, and pixels that are not square."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from pydicom.dataset import Dataset
from pydicom.sequence import Sequence

from engine.evidence.dicom import facts
from engine.evidence.dicom.calibration import spacing_notes
from engine.evidence.open import load_pixels, read_file
from engine.evidence.show import describe
from tests.engine.dicom_files import native, smooth


def given(**elements: Any) -> Dataset:
    dataset = Dataset()
    for keyword, value in elements.items():
        setattr(dataset, keyword, value)
    return dataset


@pytest.mark.parametrize(
    ("elements", "source", "spacing", "words"),
    [
        ({"PixelSpacing": [0.2, 0.3]}, "PixelSpacing", (0.2, 0.3), ""),
        ({"ImagerPixelSpacing": [0.1, 0.1]}, "ImagerPixelSpacing", (0.1, 0.1), "at the detector"),
        (
            {"ImagerPixelSpacing": [0.1, 0.1], "EstimatedRadiographicMagnificationFactor": 1.25},
            "ImagerPixelSpacing", (0.1, 0.1), "1.25 times too large",
        ),
        (
            {"ImagerPixelSpacing": [0.1, 0.1], "DistanceSourceToDetector": 1200,
             "DistanceSourceToPatient": 1000},
            "ImagerPixelSpacing", (0.1, 0.1), "1.2 times too large",
        ),
        (
            {"PixelSpacing": [0.08, 0.08], "ImagerPixelSpacing": [0.1, 0.1],
             "PixelSpacingCalibrationType": "GEOMETRY"},
            "PixelSpacing", (0.08, 0.08), "calibrated by known geometry",
        ),
        (
            {"PixelSpacing": [0.08, 0.08], "ImagerPixelSpacing": [0.1, 0.1],
             "PixelSpacingCalibrationType": "FIDUCIAL"},
            "PixelSpacing", (0.08, 0.08), "calibrated by an object of known size",
        ),
        (
            {"PixelSpacing": [0.08, 0.08], "ImagerPixelSpacing": [0.1, 0.1]},
            "PixelSpacing", (0.08, 0.08), "calibrated: Pixel Spacing 0.08, at the detector 0.1",
        ),
        (
            {"PixelSpacing": [0.1, 0.1], "ImagerPixelSpacing": [0.1, 0.1]},
            "PixelSpacing", (0.1, 0.1), "not calibrated",
        ),
        (
            {"NominalScannedPixelSpacing": [0.17, 0.17]},
            "NominalScannedPixelSpacing", (0.17, 0.17), "scanned film",
        ),
        (
            {"PixelSpacing": [0, 0], "ImagerPixelSpacing": [0.1, 0.2]},
            "ImagerPixelSpacing", (0.1, 0.2), "at the detector",
        ),
        (
            {"ImagedVolumeWidth": 20.0, "ImagedVolumeHeight": 10.0,
             "TotalPixelMatrixColumns": 40_000, "TotalPixelMatrixRows": 10_000},
            "ImagedVolumeWidth and ImagedVolumeHeight", (0.001, 0.0005), "",
        ),
    ],
)  # fmt: skip
def test_distances_are_named(
    elements: dict[str, Any], source: str, spacing: tuple[float, float], words: str
) -> None:
    dataset = given(**elements)
    found = facts.in_plane_spacing(dataset)
    assert found is not None
    assert found[1] == source
    assert found[0] == pytest.approx(spacing)
    notes = " ".join(spacing_notes(dataset))
    assert (words in notes) if words else notes == ""


def region(area: int, delta: float, *, units: int = 3, form: int = 1) -> Dataset:
    return given(
        RegionLocationMinX0=0, RegionLocationMinY0=0, RegionLocationMaxX1=area,
        RegionLocationMaxY1=area, PhysicalUnitsXDirection=units, PhysicalUnitsYDirection=units,
        PhysicalDeltaX=delta, PhysicalDeltaY=-2 * delta, RegionSpatialFormat=form,
    )  # fmt: skip


def test_the_largest_flat_ultrasound_region_is_taken() -> None:
    regions = [
        region(50, 0.05),
        region(200, 0.02),
        region(900, 0.9, form=3),
        region(999, 0.7, units=4),
    ]
    dataset = given(SequenceOfUltrasoundRegions=Sequence(regions))
    found = facts.in_plane_spacing(dataset)
    assert found is not None
    assert found[0] == pytest.approx((0.4, 0.2))
    assert "one of 4 ultrasound regions" in " ".join(spacing_notes(dataset))
    alone = given(SequenceOfUltrasoundRegions=Sequence([region(50, 0.05)]))
    assert spacing_notes(alone) == []


def test_distances_hold_in_their_region_only(tmp_path: Path) -> None:
    grey = smooth()
    regions = Sequence([region(9, 0.05)])
    regions[0].RegionLocationMinX0, regions[0].RegionLocationMaxX1 = 4, 99
    path = native(
        tmp_path / "a.dcm", grey.tobytes(), grey.shape, SequenceOfUltrasoundRegions=regions
    )
    evidence = read_file(path)
    assert evidence.calibrated == (4, 0, 30, 10)
    assert load_pixels(evidence).calibrated == (4, 0, 30, 10)
    path = native(
        tmp_path / "b.dcm", grey.tobytes(), grey.shape, PixelSpacing=[1, 1],
        SequenceOfUltrasoundRegions=regions,
    )  # fmt: skip
    assert read_file(path).calibrated is None
    whole = Sequence([region(200, 0.05)])
    path = native(tmp_path / "c.dcm", grey.tobytes(), grey.shape, SequenceOfUltrasoundRegions=whole)
    assert read_file(path).calibrated is None


@pytest.mark.parametrize(("spacing", "said"), [([0.1, 0.1], True), ([0.08, 0.08], False)])
def test_spacing_that_repeats_the_detector_is_that_of_the_detector(
    tmp_path: Path, spacing: list[float], said: bool
) -> None:
    grey = smooth()
    path = native(
        tmp_path / "a.dcm", grey.tobytes(), grey.shape, PixelSpacing=spacing,
        ImagerPixelSpacing=[0.1, 0.1],
    )  # fmt: skip
    evidence = read_file(path)
    assert describe(evidence)["spacing_source"] == "PixelSpacing"
    assert evidence.at_detector is said


@pytest.mark.parametrize("differing", [True, False])
def test_frames_of_different_spacings_have_none(tmp_path: Path, differing: bool) -> None:
    grey = np.stack([smooth()] * 3)
    frames = []
    for number in range(3):
        measures = given(PixelSpacing=[0.5 + 0.25 * number * differing, 0.5])
        place = given(ImagePositionPatient=[0, 0, 2 * number])
        frames.append(given(PixelMeasuresSequence=Sequence([measures]),
                            PlanePositionSequence=Sequence([place])))  # fmt: skip
    way = given(ImageOrientationPatient=[1, 0, 0, 0, 1, 0])
    path = native(
        tmp_path / "a.dcm", grey.tobytes(), grey.shape[1:], NumberOfFrames=3,
        SharedFunctionalGroupsSequence=Sequence([given(PlaneOrientationSequence=Sequence([way]))]),
        PerFrameFunctionalGroupsSequence=Sequence(frames),
    )  # fmt: skip
    evidence = read_file(path)
    said = "frames have different pixel spacings; no distances are given" in evidence.notes
    assert said is differing
    assert (evidence.spacing_mm is None) is differing
    assert (evidence.geometry is None) is differing
    assert (evidence.spacing_source is None) is differing


@pytest.mark.parametrize(
    ("elements", "aspect"),
    [
        ({"PixelAspectRatio": ["2", "1"]}, 2.0),
        ({"PixelAspectRatio": ["1", "1"]}, 1.0),
        ({"PixelAspectRatio": ["0", "1"]}, 1.0),
        ({"PixelSpacing": [0.5, 1.0], "PixelAspectRatio": ["3", "1"]}, 0.5),
    ],
)
def test_pixels_that_are_not_square(
    tmp_path: Path, elements: dict[str, Any], aspect: float
) -> None:
    grey = smooth()
    path = native(tmp_path / "a.dcm", grey.tobytes(), grey.shape, **elements)
    evidence = read_file(path)
    assert evidence.aspect == load_pixels(evidence).aspect == aspect
    said = [note for note in evidence.notes if "times as high as wide" in note]
    assert bool(said) == (aspect == 2.0)


def test_loss_is_said(tmp_path: Path) -> None:
    grey = smooth()
    path = native(
        tmp_path / "a.dcm",
        grey.tobytes(),
        grey.shape,
        LossyImageCompression="01",
        LossyImageCompressionRatio=["4", "12.5"],
    )
    assert "compressed with loss, 12.5 to 1" in read_file(path).notes
