"""From values to the screen: windows, tables, presentation LUT, inversion."""

from __future__ import annotations

import math
import struct
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from pydicom.dataelem import DataElement
from pydicom.dataset import Dataset
from pydicom.sequence import Sequence

from engine.evidence.dicom import facts
from engine.evidence.open import load_pixels, read_file
from engine.evidence.study import Evidence, Pixels
from engine.evidence.window import look_up, lookup_table, show_slice, to_display
from tests.engine.dicom_files import BIG, EXPLICIT, IMPLICIT, native

RAMP = np.arange(0, 4096, 16, dtype=np.uint16).reshape(16, 16)


def made(tmp_path: Path, array: NDArray[Any] = RAMP, **elements: Any) -> tuple[Evidence, Pixels]:
    """A grey picture, described and decoded."""
    path = native(tmp_path / "a.dcm", array.tobytes(), array.shape, **elements)
    evidence = read_file(path)
    return evidence, load_pixels(evidence)


def formula(x: float, center: float, width: float, function: str) -> float:
    """PS3.3 C.11.2.1.2.1, C.11.2.1.3.1 and C.11.2.1.3.2, from 0 to 255."""
    if function == "SIGMOID":
        return 255.0 / (1.0 + math.exp(min(700.0, -4.0 * (x - center) / width)))
    if function == "LINEAR_EXACT":
        if x <= center - width / 2:
            return 0.0
        return 255.0 if x > center + width / 2 else ((x - center) / width + 0.5) * 255.0
    if x <= center - 0.5 - (width - 1) / 2:
        return 0.0
    if x > center - 0.5 + (width - 1) / 2:
        return 255.0
    return ((x - (center - 0.5)) / (width - 1) + 0.5) * 255.0


@pytest.mark.parametrize("function", ["", "LINEAR", "LINEAR_EXACT", "SIGMOID"])
@pytest.mark.parametrize(("center", "width"), [(1000, 900), (40.5, 1.5), (2000, 1)])
@pytest.mark.parametrize(("slope", "intercept"), [(1, 0), (1, -1024), (0.5, 3)])
def test_the_header_s_window_is_the_formula(
    tmp_path: Path, function: str, center: float, width: float, slope: float, intercept: float
) -> None:
    extra = {"VOILUTFunction": function} if function else {}
    evidence, pixels = made(
        tmp_path,
        WindowCenter=str(center),
        WindowWidth=str(width),
        RescaleSlope=str(slope),
        RescaleIntercept=str(intercept),
        **extra,
    )
    assert evidence.window_source == "header"
    assert evidence.window_function == (function or "LINEAR").lower()
    shown = show_slice(pixels, 0).reshape(-1)
    for place in range(0, 256, 5):
        value = int(RAMP.reshape(-1)[place]) * slope + intercept
        assert abs(shown[place] - formula(value, center, width, function)) <= 0.5 + 1e-9


def test_several_windows_are_offered_once_each(tmp_path: Path) -> None:
    evidence, pixels = made(
        tmp_path, WindowCenter=["40", "40", "300", "7"], WindowWidth=["400", "400", "1500", "0"]
    )
    assert evidence.window == (40.0, 400.0)
    assert evidence.windows == pixels.windows == ((40.0, 400.0), (300.0, 1500.0))


@pytest.mark.parametrize(
    ("function", "width", "usable"),
    [
        ("LINEAR", 0.5, False),
        ("LINEAR", 1, True),
        ("LINEAR_EXACT", 0.5, True),
        ("SIGMOID", 0.2, True),
        ("LINEAR_EXACT", 0, False),
        ("SIGMOID", -4, False),
        ("LINEAR", -400, False),
    ],
)
def test_widths_that_are_not_allowed_are_not_used(
    tmp_path: Path, function: str, width: float, usable: bool
) -> None:
    evidence, pixels = made(
        tmp_path, WindowCenter="40", WindowWidth=str(width), VOILUTFunction=function
    )
    assert (evidence.window_source == "header") == usable
    assert any("not valid" in note for note in evidence.notes) == (not usable)
    assert pixels.window[1] > 0
    show_slice(pixels, 0)


def test_a_pair_with_a_hole_does_not_shift_the_next(tmp_path: Path) -> None:
    dataset = Dataset()
    dataset.WindowCenter, dataset.WindowWidth = [40, 300], [None, 1500]
    assert facts.windows_of(dataset) == ((300.0, 1500.0),)
    dataset.WindowCenter, dataset.WindowWidth = [40, 300], 400
    assert facts.windows_of(dataset) == ((40.0, 400.0),)


def test_every_window_of_the_header_keeps_its_function(tmp_path: Path) -> None:
    _, pixels = made(
        tmp_path, WindowCenter=["40", "2000"], WindowWidth=["400", "900"], VOILUTFunction="SIGMOID"
    )
    for window, function in (((2000.0, 900.0), "SIGMOID"), ((2000.0, 901.0), "LINEAR")):
        shown = show_slice(pixels, 0, window=window).reshape(-1)
        wanted = [formula(int(value), *window, function) for value in RAMP.reshape(-1)]
        assert np.abs(shown - wanted).max() <= 0.5 + 1e-9


def window_group(center: float, width: float) -> Dataset:
    window, group = Dataset(), Dataset()
    window.WindowCenter, window.WindowWidth = center, width
    group.FrameVOILUTSequence = Sequence([window])
    return group


def test_windows_of_enhanced_frames(tmp_path: Path) -> None:
    frames = np.stack([RAMP, RAMP + 1])
    groups = [window_group(40, 400), window_group(300, 1500)]
    path = native(
        tmp_path / "a.dcm",
        frames.tobytes(),
        RAMP.shape,
        NumberOfFrames=2,
        PerFrameFunctionalGroupsSequence=Sequence(groups),
    )
    evidence = read_file(path)
    assert evidence.window == (40.0, 400.0)
    assert any("different windows" in note for note in evidence.notes)
    dataset = Dataset()
    dataset.PerFrameFunctionalGroupsSequence = Sequence(groups)
    assert facts.windows_of(dataset, 1) == ((300.0, 1500.0),)
    shared = native(
        tmp_path / "b.dcm",
        frames.tobytes(),
        RAMP.shape,
        NumberOfFrames=2,
        SharedFunctionalGroupsSequence=Sequence([window_group(50, 350)]),
    )
    assert read_file(shared).windows == ((50.0, 350.0),)


def lut(
    entries: list[int],
    first: int,
    bits: int,
    *,
    vr: str = "US",
    order: str = "<",
    wide: bool = True,
    first_vr: str = "US",
) -> Dataset:
    """A LUT item; ``OW`` puts the entries as words or as bytes."""
    found = Dataset()
    found["LUTDescriptor"] = DataElement(0x00283002, first_vr, [len(entries), first, bits])
    raw: Any = entries
    if vr == "OW":
        raw = struct.pack(f"{order}{len(entries)}H", *entries) if wide else bytes(entries)
        if not wide and order == ">":
            raw = np.frombuffer(raw, "<u2").astype(">u2").tobytes()
    found["LUTData"] = DataElement(0x00283006, vr, raw)
    return found


@pytest.mark.parametrize("syntax", [EXPLICIT, IMPLICIT, BIG])
@pytest.mark.parametrize(
    ("bits", "vr", "wide"),
    [(8, "US", True), (8, "OW", True), (8, "OW", False), (12, "US", True), (16, "OW", True)],
)
def test_voi_table_in_every_form(
    tmp_path: Path, syntax: str, bits: int, vr: str, wide: bool
) -> None:
    order = ">" if syntax == BIG else "<"
    top = (1 << bits) - 1
    entries = [round(top * (place / 63) ** 2) for place in range(64)]
    item = lut(entries, 100, bits, vr=vr, order=order, wide=wide)
    array = np.array([[0, 100, 101], [120, 163, 900]], f"{order}u2")
    path = native(
        tmp_path / "a.dcm",
        array.tobytes(),
        array.shape,
        syntax=syntax,
        VOILUTSequence=Sequence([item]),
    )
    evidence = read_file(path)
    assert evidence.window_source == "lut"
    shown = show_slice(load_pixels(evidence), 0).reshape(-1)
    places = [0, 0, 1, 20, 63, 63]
    wanted = [round(entries[place] / top * 255) for place in places]
    assert shown.tolist() == wanted


@pytest.mark.parametrize("first_vr", ["US", "SS"])
def test_voi_table_below_zero(tmp_path: Path, first_vr: str) -> None:
    """A first value of -1000 after a rescale, written with either sign."""
    first = -1000 if first_vr == "SS" else 64_536
    item = lut(list(range(256)), first, 8, first_vr=first_vr)
    array = np.array([[0, 24, 124, 279, 4000, 25]], np.uint16)
    _, pixels = made(
        tmp_path, array, VOILUTSequence=Sequence([item]), RescaleIntercept="-1024", RescaleSlope="1"
    )
    assert show_slice(pixels, 0).reshape(-1).tolist() == [0, 0, 100, 255, 255, 1]


def test_a_window_comes_before_a_voi_table(tmp_path: Path) -> None:
    item = lut([255, 0], 0, 8)
    evidence, pixels = made(
        tmp_path, WindowCenter="2048", WindowWidth="4096", VOILUTSequence=Sequence([item])
    )
    assert evidence.window_source == "header"
    assert pixels.lut is None


def test_a_window_after_a_modality_table(tmp_path: Path) -> None:
    table = lut(list(range(4095, -1, -1)), 0, 16)
    table.ModalityLUTType = "US"
    _, pixels = made(
        tmp_path, ModalityLUTSequence=Sequence([table]), WindowCenter="1000", WindowWidth="900"
    )
    shown = show_slice(pixels, 0).reshape(-1)
    for place in range(0, 256, 7):
        value = 4095 - int(RAMP.reshape(-1)[place])
        assert abs(shown[place] - formula(value, 1000, 900, "LINEAR")) <= 0.5 + 1e-9


@pytest.mark.parametrize(
    ("photometric", "shape", "inverted", "said"),
    [
        ("MONOCHROME2", None, False, False),
        ("MONOCHROME2", "IDENTITY", False, False),
        ("MONOCHROME1", None, True, False),
        ("MONOCHROME1", "INVERSE", True, False),
        ("MONOCHROME1", "IDENTITY", True, True),
        ("MONOCHROME2", "INVERSE", False, True),
    ],
)
def test_low_values_are_turned_once(
    tmp_path: Path, photometric: str, shape: str | None, inverted: bool, said: bool
) -> None:
    extra = {} if shape is None else {"PresentationLUTShape": shape}
    evidence, pixels = made(
        tmp_path,
        PhotometricInterpretation=photometric,
        WindowCenter="2048",
        WindowWidth="4096",
        **extra,
    )
    assert evidence.display_inverted == pixels.display_inverted == inverted
    shown = show_slice(pixels, 0).reshape(-1)
    plain = [round(formula(int(value), 2048, 4096, "LINEAR")) for value in RAMP.reshape(-1)]
    assert shown.tolist() == [255 - value if inverted else value for value in plain]
    assert any("contradicts" in note for note in evidence.notes) == said
    assert pixels.array.min() == 0  # values are never turned, only what is shown


@pytest.mark.parametrize("inverted", [False, True])
@pytest.mark.parametrize("voi", ["window", "table", "none"])
def test_an_embedded_presentation_lut_follows_the_window(
    tmp_path: Path, voi: str, inverted: bool
) -> None:
    entries = [round(1023 * (place / 255) ** 0.5) for place in range(256)]
    extra: dict[str, Any] = {"PresentationLUTSequence": Sequence([lut(entries, 0, 10)])}
    if voi == "window":
        extra.update(WindowCenter="2048", WindowWidth="4096")
    if voi == "table":
        extra["VOILUTSequence"] = Sequence([lut([place // 16 for place in range(4096)], 0, 8)])
    photometric = "MONOCHROME1" if inverted else "MONOCHROME2"
    evidence, pixels = made(tmp_path, PhotometricInterpretation=photometric, **extra)
    assert any("presentation LUT" in note for note in evidence.notes)
    center, width = (2048, 4096) if voi == "window" else pixels.window
    shown = show_slice(pixels, 0).reshape(-1)
    for place in range(0, 256, 5):
        value = int(RAMP.reshape(-1)[place])
        first = value // 16 if voi == "table" else formula(value, center, width, "LINEAR")
        last = entries[round(first)] / 1023 * 255
        wanted = 255 - last if inverted else last
        assert abs(int(shown[place]) - wanted) <= 1.5


@pytest.mark.parametrize("dtype", ["uint8", "int8", "uint16", "int16"])
@pytest.mark.parametrize("function", ["linear", "linear_exact", "sigmoid"])
@pytest.mark.parametrize("inverted", [False, True])
def test_a_lookup_table_is_the_formula_for_every_value(
    dtype: str, function: str, inverted: bool
) -> None:
    info = np.iinfo(dtype)
    every = np.arange(info.min, info.max + 1)
    for center, width in ((40, 400), (0, 1), (-70_000, 10), (70_000, 10), (1000.5, 33.3), (0, 2e5)):
        options = {"center": center, "width": width, "inverted": inverted, "function": function}
        table = lookup_table(np.dtype(dtype), **options)
        assert table.shape == (len(every),)
        shown = look_up(table, every.astype(dtype))
        assert np.array_equal(shown, to_display(every.astype(np.float64), **options))
        assert np.array_equal(table.take(every.astype(dtype).view(f"u{info.bits // 8}")), shown)


@pytest.mark.parametrize("function", ["linear", "linear_exact", "sigmoid"])
@pytest.mark.parametrize("inverted", [False, True])
@pytest.mark.parametrize(("center", "width"), [(40, 400), (0.001, 1.002), (1e6, 3e5), (-3, 1)])
def test_single_precision_is_true_to_the_formula(
    function: str, inverted: bool, center: float, width: float
) -> None:
    values = np.linspace(center - width, center + width, 20_001).astype(np.float32)
    options = {"center": center, "width": width, "inverted": inverted, "function": function}
    fast = to_display(values, **options).astype(int)
    exact = to_display(values.astype(np.float64), **options).astype(int)
    assert np.abs(fast - exact).max() <= 1
    assert (fast != exact).mean() < 0.005
    odd = np.array([np.nan, np.inf, -np.inf, 3e38, -3e38], np.float32)
    white = [0, 0, 255, 0, 255] if inverted else [0, 255, 0, 255, 0]
    assert to_display(odd, **options).tolist() == white


def test_a_lookup_table_refuses_other_formats_and_widths() -> None:
    with pytest.raises(ValueError, match="no table"):
        lookup_table(np.float32, center=0, width=10)
    with pytest.raises(ValueError, match="window width"):
        lookup_table(np.int16, center=0, width=0)


def test_what_is_no_number_is_black_in_both_directions() -> None:
    values = np.array([np.nan, -np.inf, np.inf, 5.0])
    assert to_display(values, center=5, width=10).tolist()[:3] == [0, 0, 255]
    assert to_display(values, center=5, width=10, inverted=True).tolist()[:3] == [0, 255, 0]
