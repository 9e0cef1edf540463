"""What distances mean, and pixels that are not square."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from pydicom.dataset import Dataset
from pydicom.sequence import Sequence

from engine.evidence.dicom import facts
from engine.evidence.dicom.calibration import spacing_notes
from engine.evidence.open import load_pixels, read_file
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
