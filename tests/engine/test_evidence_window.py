"""The window formulas of PS3.3 C.11.2.1.2 and .3, tables, and the derived window."""

from __future__ import annotations

import math

import numpy as np
import pytest

from engine.evidence.study import Pixels, VoiLut
from engine.evidence.window import apply_lut, derive_window, function_of, show_slice, to_display


def linear(x: float, c: float, w: float) -> float:
    """The standard's own words, y from 0 to 255."""
    if x <= c - 0.5 - (w - 1) / 2:
        return 0.0
    if x > c - 0.5 + (w - 1) / 2:
        return 255.0
    return ((x - (c - 0.5)) / (w - 1) + 0.5) * 255.0


@pytest.mark.parametrize(("center", "width"), [(40, 400), (2048, 4096), (0, 100), (0, 2), (7, 1)])
def test_linear_is_the_formula_of_the_standard(center: int, width: int) -> None:
    values = np.arange(-700, 4200)
    wanted = [round(linear(x, center, width)) for x in values]
    got = to_display(values, center=center, width=width)
    assert got.dtype == np.uint8
    assert np.abs(got.astype(int) - wanted).max() == 0


def test_the_examples_of_the_standard() -> None:
    # C.11.2.1.2.1: c=2048, w=4096 maps 0..4095 to the whole range; w=1 is a threshold at c-0.5
    ends = to_display(np.array([0, 4095]), center=2048, width=4096)
    assert ends.tolist() == [0, 255]
    steps = to_display(np.array([2047, 2048, 2049]), center=2048, width=1)
    assert steps.tolist() == [0, 255, 255]


@pytest.mark.parametrize("dtype", [np.uint8, np.int8, np.uint16, np.int16])
def test_the_table_gives_what_the_formula_gives(dtype: type[np.generic]) -> None:
    info = np.iinfo(dtype)
    small = np.linspace(info.min, info.max, 1000).astype(dtype)
    large = np.tile(small, 200)
    for function in ("linear", "linear_exact", "sigmoid"):
        for inverted in (False, True):
            options = {"center": 30, "width": 90, "inverted": inverted, "function": function}
            assert (to_display(large, **options)[:1000] == to_display(small, **options)).all()


def test_linear_exact_and_sigmoid() -> None:
    values = np.array([-10.0, 0.0, 25.0, 50.0, 75.0, 100.0, 110.0])
    exact = to_display(values, center=50, width=100, function="linear_exact")
    assert exact.tolist() == [0, 0, 64, 128, 191, 255, 255]
    curve = to_display(values, center=50, width=100, function="sigmoid")
    wanted = [round(255 / (1 + math.exp(-4 * (x - 50) / 100))) for x in values]
    assert curve.tolist() == wanted


def test_inversion_is_the_mirror() -> None:
    values = np.arange(0, 500)
    plain = to_display(values, center=200, width=300)
    assert (to_display(values, center=200, width=300, inverted=True) == 255 - plain).all()


def test_what_is_no_number_is_dark() -> None:
    values = np.array([np.nan, -np.inf, np.inf, 5.0])
    assert to_display(values, center=5, width=10).tolist()[:3] == [0, 0, 255]


@pytest.mark.parametrize("width", [0.0, -3.0, 0.5, float("nan"), float("inf")])
def test_a_width_that_is_not_allowed_is_refused(width: float) -> None:
    with pytest.raises(ValueError, match="window width"):
        to_display(np.zeros(3), center=0, width=width)
    with pytest.raises(ValueError, match="window function"):
        to_display(np.zeros(3), center=0, width=10, function="cubic")


def test_derived_window_maps_its_range_to_black_and_white() -> None:
    for low, high in ((-3.0, 900.0), (0.0, 0.0019), (1e6, 3e6)):
        values = np.linspace(low, high, 1001)
        center, width = derive_window(values)
        bottom, top = np.percentile(values, [0.5, 99.5])
        assert to_display(np.array([bottom, top]), center=center, width=width).tolist() == [0, 255]
        middle = to_display(np.array([(low + high) / 2]), center=center, width=width)[0]
        assert abs(int(middle) - 127.5) <= 1


def test_derived_window_leaves_out_padding_and_what_is_no_number() -> None:
    picture = np.linspace(0.0, 100.0, 1000)
    padded = np.concatenate([np.full(5000, -2000.0), [np.nan, np.inf], picture])
    assert derive_window(padded, padding=-2000.0) == pytest.approx(derive_window(picture))
    assert derive_window(padded, padding=(-2100.0, -1900.0)) == pytest.approx(
        derive_window(picture)
    )


def test_derived_window_of_plain_and_empty_pictures() -> None:
    every = np.arange(256, dtype=np.uint8)
    center, width = derive_window(every)
    assert (to_display(every, center=center, width=width) == every).all()
    assert derive_window(np.full(9, 7.0)) == (7.5, 1.0)
    assert derive_window(np.full(9, np.nan))[1] == 1.0
    sparse = np.zeros(100_000)
    sparse[7] = 50.0
    center, width = derive_window(sparse)
    assert to_display(sparse, center=center, width=width)[7] == 255


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("step", [1e-30, 1e-22, 1e-17, 1e-12, 1e-9, 1e-3, 1.0, 1e9, 1e30, 1e37])
def test_a_derived_window_shows_every_step_of_any_size(dtype: type, step: float) -> None:
    values = (np.arange(11.0) * step).astype(dtype)
    window = derive_window(values)
    shown = to_display(values, center=window[0], width=window[1], function=function_of(window))
    plain = derive_window(np.arange(11.0))
    wanted = to_display(np.arange(11.0), center=plain[0], width=plain[1])
    assert np.abs(shown.astype(int) - wanted).max() <= 1
    pixels = Pixels(array=values[None, None], window=window, window_function=function_of(window))
    assert (show_slice(pixels, 0)[0] == shown).all()
    if window[1] < 1.0:  # a reader's own window beside it
        wider = show_slice(pixels, 0, window=(window[0], window[1] * 1.001))
        assert np.abs(wider[0].astype(int) - wanted).max() <= 2


def test_a_derived_window_is_a_number_however_wide_the_range() -> None:
    values = np.array([-1e308, -5e307, 0.0, 5e307, 1e308])
    center, width = window = derive_window(values)
    assert np.isfinite(window).all()
    shown = to_display(values, center=center, width=width, function=function_of(window))
    assert (np.diff(shown.astype(int)) > 0).all()
    assert shown.tolist()[0] == 0
    assert shown.tolist()[-1] == 255


def test_a_table_holds_its_ends() -> None:
    lut = VoiLut(first=10.0, table=np.array([5, 50, 200], np.uint8))
    assert apply_lut(np.array([-4, 10, 11, 12, 99]), lut).tolist() == [5, 5, 50, 200, 200]
    assert apply_lut(np.array([11]), lut, inverted=True).tolist() == [205]


def test_a_reader_s_window_replaces_the_table() -> None:
    lut = VoiLut(first=0.0, table=np.zeros(256, np.uint8))
    pixels = Pixels(array=np.full((1, 2, 2), 90, np.int16), lut=lut, window=(50.0, 10.0))
    assert show_slice(pixels, 0).max() == 0
    assert show_slice(pixels, 0, window=(50.0, 10.0)).min() == 255
