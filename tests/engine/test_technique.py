"""Side, projection and technique leave a header as defined terms and numbers only."""

from __future__ import annotations

import pytest
from pydicom.dataset import Dataset

from engine.evidence.dicom.technique import (
    directions_of,
    frame_ms_of,
    kernel_of,
    projection_of,
    side_of,
    technique_of,
)


def header(**values):
    made = Dataset()
    for keyword, value in values.items():
        setattr(made, keyword, value)
    return made


@pytest.mark.parametrize(
    ("values", "side"),
    [
        ({"ImageLaterality": "R"}, "R"),
        ({"Laterality": "L"}, "L"),
        ({"ImageLaterality": "", "Laterality": "B"}, "B"),
        ({"ImageLaterality": "L", "Laterality": "R"}, "L"),
        ({"ImageLaterality": "MILLER"}, None),
        ({}, None),
    ],
)
def test_the_side(values, side):
    assert side_of(header(**values)) == side


def coded(value):
    item = Dataset()
    item.CodeValue = value
    return [item]


@pytest.mark.parametrize(
    ("values", "view"),
    [
        ({"ViewPosition": "PA"}, "PA"),
        ({"ViewPosition": "MLO "}, "MLO"),
        ({"ViewPosition": "", "ViewCodeSequence": coded("R-10242")}, "CC"),
        ({"ViewCodeSequence": coded("399368009")}, "MLO"),
        ({"ViewPosition": "DR SMITH", "ViewCodeSequence": coded("X")}, None),
        ({}, None),
    ],
)
def test_the_projection(values, view):
    assert projection_of(header(**values)) == view


@pytest.mark.parametrize(
    ("value", "directions"),
    [
        (["L", "F"], "LI"), (["R", "F"], "RI"), (["P", "FL"], "PI"), (["A", "H"], "AS"),
        (["PF", "R"], "PR"), (["L", "R"], None), (["L"], None), (["", ""], None),
        (["X", "F"], None), (None, None),
    ],
)  # fmt: skip
def test_the_directions_of_a_projection(value, directions):
    assert directions_of(header(PatientOrientation=value)) == directions


@pytest.mark.parametrize(
    ("values", "ms"),
    [
        ({"FrameTime": "40"}, 40.0), ({"FrameTimeVector": ["0", "30", "50"]}, 40.0),
        ({"CineRate": "25"}, 40.0), ({"RecommendedDisplayFrameRate": "10"}, 100.0),
        ({"FrameTime": "0", "CineRate": "0"}, None), ({}, None),
    ],
)  # fmt: skip
def test_the_rate_of_a_cine(values, ms):
    assert frame_ms_of(header(**values)) == ms


def test_the_technique_is_numbers_with_units():
    made = header(KVP="120", XRayTubeCurrent="0", SliceThickness="2.5", EchoTime=None)
    assert technique_of(made) == ("120 kV", "2.5 mm thick")
    assert technique_of(header(MagneticFieldStrength="15000", RepetitionTime="500")) == (
        "TR 500 ms",
    )


@pytest.mark.parametrize(
    "word", ["H30s", "B70f", "Br40d", "FC08", "I31f", "SOFT", "Bone", "STANDARD", "YB", "BONEPLUS"]
)
def test_a_kernel_that_looks_like_one_is_said(word):
    assert kernel_of(word) == word


@pytest.mark.parametrize(
    "word",
    ["", "MILLER", "Smith", "MILLER1", "20200105", "H30s MILLER", "JD", "X1234567", "A\\B", "30"],
)
def test_any_other_word_stays(word):
    assert kernel_of(word) is None


def test_what_tells_series_apart():
    made = header(SeriesNumber="3", ConvolutionKernel=["B70f", "2"], KVP="120",
                  ContrastBolusAgent="ULTRAVIST MILLER")  # fmt: skip
    assert technique_of(made) == ("series 3", "kernel B70f", "contrast agent", "120 kV")
    made = header(SeriesNumber="20200105", EchoNumbers="2", ContrastBolusAgent="None",
                  ConvolutionKernel="MILLER", SeriesDescription="MILLER")  # fmt: skip
    assert technique_of(made) == ("echo 2",)
    assert technique_of(header(SeriesNumber=None)) == ()
