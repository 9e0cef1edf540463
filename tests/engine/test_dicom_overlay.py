"""Overlay planes: their own data or bits of the pixels, where they lie, and over which frames."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from pydicom.dataelem import DataElement
from pydicom.dataset import Dataset

from engine.evidence.dicom.decode import decode_file, decode_frame_of
from engine.evidence.dicom.overlay import at_frame, overlays_of, stacked
from engine.evidence.open import find_evidence, load_pixels, read_file
from engine.evidence.study import Overlay
from tests.engine.dicom_files import (
    BIG,
    EXPLICIT,
    IMPLICIT,
    LOSSLESS_70,
    even,
    header,
    packed,
    save,
    smooth,
)  # fmt: skip
from tests.engine.test_dicom_syntaxes import lossless

GREY = smooth()
MARK = np.zeros((7, 5), bool)
MARK[1:3, 2] = MARK[5, :4] = True


def put(
    dataset: Dataset,
    mask: NDArray[np.bool_] | None,
    *,
    group: int = 0x6000,
    order: str = "<",
    vr: str = "OW",
    origin: tuple[int, int] = (1, 1),
    kind: str = "G",
    **other: Any,
) -> Dataset:
    """Add an overlay group; ``mask`` is [Y, X] or [F, Y, X], None for one in the pixels."""

    def add(tag: int, vr: str, value: Any) -> None:
        dataset[group << 16 | tag] = DataElement(group << 16 | tag, vr, value)

    shape = other.get("shape", None if mask is None else mask.shape[-2:])
    add(0x10, "US", shape[0])
    add(0x11, "US", shape[1])
    add(0x40, "CS", kind)
    add(0x50, "SS", list(origin))
    add(0x100, "US", other.get("allocated", 1))
    add(0x102, "US", other.get("bit", 0))
    add(0x22, "LO", "Name^Of Someone")
    if "frames" in other:
        add(0x15, "IS", str(other["frames"]))
    if "first" in other:
        add(0x51, "US", other["first"])
    if mask is not None:
        raw = even(np.packbits(mask.reshape(-1), bitorder="little").tobytes())
        if order == ">" and vr == "OW":
            raw = np.frombuffer(raw, "<u2").astype(">u2").tobytes()
        add(0x3000, vr, raw[: other.get("cut", len(raw))])
    return dataset


def written(path: Path, dataset: Dataset, array: NDArray[Any], syntax: str = EXPLICIT) -> Path:
    order = ">" if syntax == BIG else "<"
    raw = array.astype(array.dtype.newbyteorder(order)).tobytes()
    dataset["PixelData"] = DataElement(0x7FE00010, "OW", raw)
    return save(path, dataset, syntax)


@pytest.mark.parametrize(
    ("syntax", "vr"),
    [(EXPLICIT, "OW"), (EXPLICIT, "OB"), (IMPLICIT, "OW"), (BIG, "OW"), (BIG, "OB")],
)
def test_a_plane_with_its_own_bits(tmp_path: Path, syntax: str, vr: str) -> None:
    dataset = put(header(GREY.shape), MARK, order=">" if syntax == BIG else "<", vr=vr)
    path = written(tmp_path / "a.dcm", dataset, GREY, syntax)
    (overlay,) = decode_file(path).overlays
    assert np.array_equal(overlay.mask, MARK[None])
    assert (overlay.top, overlay.left, overlay.first_frame, overlay.kind) == (0, 0, 0, "graphics")
    assert np.array_equal(decode_file(path).values[0], GREY)
    evidence = read_file(path)
    assert "overlay graphics: 1 plane, drawn over the picture" in evidence.notes
    assert "Someone" not in repr(evidence) + repr(decode_file(path))
    assert load_pixels(evidence).overlays[0].mask.sum() == MARK.sum()


def test_origin_kind_and_groups(tmp_path: Path) -> None:
    dataset = put(header(GREY.shape), MARK, origin=(4, -2), kind="R")
    put(dataset, np.ones((60, 80), bool), group=0x601E, origin=(-5, -7))
    first, second = decode_file(written(tmp_path / "a.dcm", dataset, GREY)).overlays
    assert (first.top, first.left, first.kind) == (3, -3, "roi")
    assert (second.top, second.left, second.mask.shape) == (-6, -8, (1, 60, 80))
    notes = read_file(tmp_path / "a.dcm").notes
    assert "overlay graphics: 1 plane, drawn over the picture" in notes
    assert "overlay regions: 1 plane, drawn over the picture" in notes


@pytest.mark.parametrize("signed", [0, 1])
@pytest.mark.parametrize("syntax", [EXPLICIT, BIG, LOSSLESS_70])
def test_planes_in_bits_of_the_pixels(tmp_path: Path, syntax: str, signed: int) -> None:
    """12-bit values with graphics in bit 12 and 15; the values come out clean."""
    one, two = GREY > 2000, GREY % 3 == 0
    word = GREY | (one.astype(np.uint16) << 12) | (two.astype(np.uint16) << 15)
    dataset = header(GREY.shape, BitsStored=12, PixelRepresentation=signed)
    put(dataset, None, shape=GREY.shape, allocated=16, bit=12)
    put(dataset, None, group=0x6002, shape=GREY.shape, allocated=16, bit=15)
    path = tmp_path / "a.dcm"
    if syntax == LOSSLESS_70:
        groups = {element.tag: element for element in dataset if element.tag.group >> 8 == 0x60}
        written(path, dataset, word)
        raw = path.read_bytes()
        packed(tmp_path / "b.dcm", [even(lossless(word))], GREY.shape, syntax=syntax)
        tail = (tmp_path / "b.dcm").read_bytes()
        at, cut = raw.index(b"\xe0\x7f\x10\x00"), tail.index(b"\xe0\x7f\x10\x00")
        body = raw[raw.index(b"\x08\x00\x16\x00") : at]
        path.write_bytes(tail[: tail.index(b"\x08\x00\x16\x00")] + body + tail[cut:])
        assert len(groups) == 14
    else:
        written(path, dataset, word, syntax)
    found = decode_file(path)
    wanted = GREY.astype(int)
    wanted = np.where(wanted > 2047, wanted - 4096, wanted) if signed else wanted
    assert np.array_equal(found.values[0], wanted)
    assert np.array_equal(found.overlays[0].mask[0], one)
    assert np.array_equal(found.overlays[1].mask[0], two)


def test_a_bit_of_the_value_is_no_overlay(tmp_path: Path) -> None:
    dataset = put(header(GREY.shape), None, shape=GREY.shape, allocated=16, bit=3)
    path = written(tmp_path / "a.dcm", dataset, GREY)
    assert decode_file(path).overlays == ()
    assert not any("overlay" in note for note in read_file(path).notes)


def test_planes_of_several_frames(tmp_path: Path) -> None:
    frames = np.stack([GREY + frame for frame in range(4)])
    masks = np.stack([np.roll(MARK, frame, axis=0) for frame in range(2)])
    dataset = put(header(GREY.shape, NumberOfFrames=4), masks, frames=2, first=3)
    put(dataset, MARK, group=0x6002)
    put(dataset, MARK, group=0x6004, frames=1, first=2)
    path = written(tmp_path / "a.dcm", dataset, frames)
    several, always, second = decode_file(path).overlays
    assert (several.first_frame, several.mask.shape) == (2, (2, 7, 5))
    assert len(always.mask) == 1
    assert (second.first_frame, len(second.mask)) == (1, 2)  # not one, which would be every frame
    drawn = [len(decode_frame_of(path, frame).overlays) for frame in range(4)]
    assert drawn == [1, 2, 2, 2]
    (mask, _) = decode_frame_of(path, 3).overlays
    assert np.array_equal(mask.mask[0], masks[1])
    pixels = load_pixels(read_file(path))
    shown = [sum(len(at_frame([one], frame)) for one in pixels.overlays) for frame in range(4)]
    assert shown == drawn


@pytest.mark.parametrize("cut", [0, 2])
def test_a_plane_that_is_cut_is_left_out(tmp_path: Path, cut: int) -> None:
    dataset = put(header(GREY.shape), MARK, cut=cut)
    assert decode_file(written(tmp_path / "a.dcm", dataset, GREY)).overlays == ()


def test_absurd_planes_cost_nothing() -> None:
    dataset = put(Dataset(), None, shape=(65_535, 65_535), allocated=16, bit=15)
    dataset.BitsStored = 12
    assert overlays_of(dataset, 1) == ()
    put(dataset, MARK, shape=(60_000, 60_000))
    assert overlays_of(dataset, 1) == ()


def test_overlays_of_slices_become_those_of_their_stack() -> None:
    def plane(mask: NDArray[np.bool_], top: int = 0) -> Overlay:
        return Overlay(mask[None], top=top)

    other = ~MARK
    everywhere = stacked([(place, (plane(MARK),)) for place in range(3)], 3)
    assert [one.mask.shape for one in everywhere] == [(1, 7, 5)]
    (apart,) = stacked([(3, (plane(MARK),)), (1, (plane(other),))], 6)
    assert (apart.first_frame, apart.mask.shape) == (1, (3, 7, 5))
    assert np.array_equal(apart.mask[0], other)
    assert not apart.mask[1].any()
    assert np.array_equal(apart.mask[2], MARK)
    (single,) = stacked([(4, (plane(MARK),))], 6)
    assert (single.first_frame, len(single.mask), int(single.mask[1].sum())) == (4, 2, 0)
    two = stacked([(0, (plane(MARK), plane(other))), (1, (plane(MARK, top=5),))], 2)
    assert len(two) == 3


def test_a_series_keeps_the_overlays_of_its_slices(tmp_path: Path) -> None:
    for number in range(4):
        dataset = header(
            GREY.shape,
            ImagePositionPatient=[0, 0, 2.0 * number],
            InstanceNumber=9 - number,
            ImageOrientationPatient=[1, 0, 0, 0, 1, 0],
            PixelSpacing=[1, 1],
            SOPInstanceUID=f"1.2.3.{number}",
            Modality="CT",
            SOPClassUID="1.2.840.10008.5.1.4.1.1.2",
        )
        if number in (1, 2):
            put(dataset, np.roll(MARK, number, axis=1))
        written(tmp_path / f"{number}.dcm", dataset, GREY + number)
    (evidence,) = find_evidence([tmp_path])
    pixels = load_pixels(evidence)
    assert pixels.array.shape == (4, *GREY.shape)
    drawn = [at_frame(pixels.overlays, place) for place in range(4)]
    assert [len(one) for one in drawn] == [0, 1, 1, 0]
    assert np.array_equal(drawn[2][0].mask[0], np.roll(MARK, 2, axis=1))
