"""Colour of more than 8 bits: shown with 8, its numbers are those stored."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from engine.evidence.dicom.color import deep_rgb, to_rgb
from engine.evidence.open import load_pixels, read_file
from engine.evidence.show import describe
from tests.engine.dicom_files import J2K, even, native, packed, rainbow
from tests.engine.test_dicom_syntaxes import j2k

DEEP = rainbow().astype(np.uint16) * 257 - 3


@pytest.mark.parametrize("coded", [False, True])
def test_numbers_of_deep_colour_are_those_stored(tmp_path: Path, coded: bool) -> None:
    if coded:
        path = packed(tmp_path / "a.dcm", [even(j2k(DEEP))], DEEP.shape, syntax=J2K)
    else:
        path = native(tmp_path / "a.dcm", DEEP.tobytes(), DEEP.shape)
    evidence = read_file(path)
    shown = describe(evidence, probes=[(0, 3, 4)])
    assert shown["dtype"] == "uint16"
    assert (shown["min"], shown["max"]) == (DEEP.min(), DEEP.max())
    assert shown["mean"] == pytest.approx(DEEP.mean())
    assert shown["probes"][0]["value"] == DEEP[3, 4].tolist()
    assert "uint16 colour, shown with 8 bits" in shown["notes"]
    assert (load_pixels(evidence).array[0] == DEEP >> 8).all()


def test_unused_bits_of_colour_are_no_part_of_it(tmp_path: Path) -> None:
    twelve = rainbow().astype(np.uint16) << 4
    path = native(tmp_path / "a.dcm", (twelve << 4).tobytes(), twelve.shape, BitsStored=12,
                  HighBit=15)  # fmt: skip
    assert (load_pixels(read_file(path)).array[0] == rainbow()).all()
    assert describe(read_file(path))["max"] == twelve.max()
    path = native(tmp_path / "b.dcm", (twelve | 0xF000).astype("<u2").tobytes(), twelve.shape,
                  BitsStored=12, HighBit=11)  # fmt: skip
    assert (load_pixels(read_file(path)).array[0] == rainbow()).all()


@pytest.mark.parametrize("space", ["ybr", "partial"])
def test_deep_ybr_is_eight_bit_ybr_of_another_scale(space: str) -> None:
    values = np.random.default_rng(4).integers(16, 235, (9, 9, 3)).astype(np.uint16)
    deep = deep_rgb(values << 8, space, bits=16)
    assert np.abs(deep / 256.0 - to_rgb(values.astype(np.uint8), space, bits=8)).max() <= 1.0
