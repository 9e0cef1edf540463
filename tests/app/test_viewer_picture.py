"""What a canvas is told of a picture's distances and padding."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from pydicom.dataset import Dataset
from pydicom.sequence import Sequence

from app.presenters.viewer_picture import notes_of, picture_of
from app.widgets.canvas_words import at_detector
from app.widgets.content import Picture
from engine.evidence.open import load_pixels, read_file
from tests.engine.dicom_files import RLE, even, native, packed, smooth
from tests.engine.test_dicom_syntaxes import rle


def shown(folder: Path, **elements: Any) -> Picture:
    grey = smooth()
    path = native(folder / "a.dcm", grey.tobytes(), grey.shape, **elements)
    evidence = read_file(path)
    return picture_of(evidence, load_pixels(evidence))


def test_a_region_of_ultrasound_and_padding_reach_the_canvas(tmp_path: Path) -> None:
    region = Dataset()
    region.RegionLocationMinX0, region.RegionLocationMinY0 = 4, 0
    region.RegionLocationMaxX1, region.RegionLocationMaxY1 = 99, 9
    region.PhysicalUnitsXDirection = region.PhysicalUnitsYDirection = 3
    region.PhysicalDeltaX = region.PhysicalDeltaY = 0.05
    picture = shown(tmp_path, SequenceOfUltrasoundRegions=Sequence([region]))
    assert picture.calibrated == (4, 0, 30, 10)
    assert picture.spacing == (0.5, 0.5)
    assert picture.padding is None
    assert shown(tmp_path, PixelPaddingValue=7).padding == (7, 7)
    assert shown(tmp_path, PixelPaddingValue=7).calibrated is None


@pytest.mark.parametrize(("spacing", "said"), [([0.1, 0.1], True), ([0.08, 0.08], False)])
def test_spacing_that_repeats_the_detector_is_said_to_be_there(
    tmp_path: Path, spacing: list[float], said: bool
) -> None:
    picture = shown(tmp_path, PixelSpacing=spacing, ImagerPixelSpacing=[0.1, 0.1])
    assert at_detector(picture) is said


def test_what_only_decoding_shows_is_said(tmp_path: Path) -> None:
    grey = smooth()
    path = packed(tmp_path / "a.dcm", [even(rle(grey))], (16, 30), syntax=RLE)
    evidence = read_file(path)
    words = " ".join(notes_of(evidence, load_pixels(evidence)))
    assert "more rows than the header says" in words
    assert "more rows" not in " ".join(notes_of(evidence))
