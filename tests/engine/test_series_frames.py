"""Frames of one file: sorted by place, time points told apart, volume or cine."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np
import pydicom
import pytest
from pydicom.dataset import Dataset
from pydicom.uid import (
    EnhancedCTImageStorage,
    EnhancedMRImageStorage,
    NuclearMedicineImageStorage,
    RTDoseStorage,
    UltrasoundMultiFrameImageStorage,
)

from engine.evidence.item import ImageRef
from engine.evidence.open import find_evidence, load_pixels
from engine.evidence.pixels import image_rgb
from engine.evidence.show import describe
from engine.evidence.stack import open_stack
from engine.evidence.study import Evidence
from tests.engine.evidence_files import dicom

AXIAL = [1, 0, 0, 0, 1, 0]
Frame = tuple[float, dict[str, Any]]


def item(**elements: Any) -> Dataset:
    made = Dataset()
    for keyword, value in elements.items():
        setattr(made, keyword, value)
    return made


def group(position: float, **told: Any) -> Dataset:
    """The functional groups of one frame."""
    made = item(PlanePositionSequence=[item(ImagePositionPatient=[1.0, 2.0, position])])
    content = {key: told[key] for key in told if key not in ("EffectiveEchoTime", "Diffusion")}
    if content:
        made.FrameContentSequence = [item(**content)]
    if "EffectiveEchoTime" in told:
        made.MREchoSequence = [item(EffectiveEchoTime=told["EffectiveEchoTime"])]
    if "Diffusion" in told:
        made.MRDiffusionSequence = [item(DiffusionBValue=told["Diffusion"])]
    return made


def enhanced(path: Path, frames: Iterable[Frame], **elements: Any) -> Evidence:
    """A multi-frame file; frame k is filled with the value k."""
    groups = [group(position, **told) for position, told in frames]
    values = np.stack([np.full((4, 5), number, np.int16) for number in range(len(groups))])
    shared = item(
        PixelMeasuresSequence=[item(PixelSpacing=[2.0, 3.0], SliceThickness=9.0)],
        PlaneOrientationSequence=[item(ImageOrientationPatient=AXIAL)],
    )
    dicom(
        path, values, **{
            "NumberOfFrames": len(groups), "SOPClassUID": EnhancedMRImageStorage, "Modality": "MR",
            "SharedFunctionalGroupsSequence": [shared],
            "PerFrameFunctionalGroupsSequence": groups, **elements,
        },
    )  # fmt: skip
    (evidence,) = find_evidence([path])
    assert evidence.error is None
    return evidence


def filled(evidence: Evidence) -> list[int]:
    return load_pixels(evidence).array[:, 0, 0].tolist()


def test_frames_out_of_order_are_sorted_and_probes_count_them_as_stored(tmp_path: Path) -> None:
    positions = [3.0, 0.0, 4.0, 1.0, 2.0]
    evidence = enhanced(tmp_path / "a", [(position, {}) for position in positions])
    assert (evidence.kind, evidence.shape, evidence.orientation) == ("volume", (5, 4, 5), "LPS")
    assert evidence.order == (1, 3, 4, 0, 2)
    assert filled(evidence) == [1, 3, 4, 0, 2]
    assert evidence.spacing_mm == (1.0, 2.0, 3.0)
    assert evidence.geometry is not None
    assert evidence.geometry.origin_Z3.tolist() == [[1.0, 2.0, float(z)] for z in range(5)]
    assert any("sorted by position" in note for note in evidence.notes)
    shown = describe(evidence, probes=[(k, 0, 0) for k in range(5)])
    assert [probe["value"] for probe in shown["probes"]] == [0, 1, 2, 3, 4]


def test_frames_in_order_say_nothing(tmp_path: Path) -> None:
    evidence = enhanced(tmp_path / "a", [(float(place), {}) for place in range(4)])
    assert (evidence.order, evidence.notes) == ((), ())


@pytest.mark.parametrize(
    ("label", "told"),
    [
        ("temporal position", lambda time: {"TemporalPositionIndex": 3 - time}),
        ("echo time", lambda time: {"EffectiveEchoTime": 30.0 - 10 * time}),
        ("b-value", lambda time: {"Diffusion": 800.0 - 400 * time}),
        ("stack", lambda time: {"StackID": str(3 - time)}),
        ("acquisition time", lambda time: {"FrameAcquisitionDateTime": f"2001010112000{5 - time}"}),
        ("instance number", lambda time: {}),
    ],
)
def test_time_points_of_one_file(tmp_path: Path, label: str, told: Any) -> None:
    frames = [(float(place), told(time)) for time in range(3) for place in (1, 0, 2, 3)]
    evidence = enhanced(tmp_path / "a", frames)
    assert (evidence.kind, evidence.shape, evidence.times) == ("volume", (4, 4, 5), 3)
    assert f"told apart by {label};" in " ".join(evidence.notes)
    times = load_pixels(evidence).times
    assert times is not None
    order = [0, 1, 2] if label == "instance number" else [2, 1, 0]
    assert times[:, :, 0, 0].tolist() == [[4 * t + z for z in (1, 0, 2, 3)] for t in order]
    shown = describe(evidence, probes=[(k, 0, 0) for k in (0, 5, 11)])
    assert shown["shape"] == [12, 4, 5]
    assert [probe["value"] for probe in shown["probes"]] == [0, 5, 11]
    assert np.array_equal(open_stack(evidence).fill().times, times)


def test_dimension_index_values_break_ties(tmp_path: Path) -> None:
    organised = [
        item(DimensionIndexPointer=0x00209057, FunctionalGroupPointer=0x00209111),
        item(DimensionIndexPointer=0x00189151, FunctionalGroupPointer=0x00209111),
    ]
    frames = [
        (float(place), {"DimensionIndexValues": [place + 1, 2 - time]})
        for time in range(2) for place in range(3)
    ]  # fmt: skip
    evidence = enhanced(tmp_path / "a", frames, DimensionIndexSequence=organised)
    assert evidence.times == 2
    assert "told apart by dimension index" in evidence.notes[0]
    assert filled(evidence) == [3, 4, 5]


def test_one_place_at_many_times_is_a_cine(tmp_path: Path) -> None:
    frames = [(7.0, {"TemporalPositionIndex": index}) for index in (3, 1, 2)]
    evidence = enhanced(tmp_path / "a", frames)
    assert (evidence.kind, evidence.shape, evidence.times) == ("cine", (3, 4, 5), 1)
    assert filled(evidence) == [1, 2, 0]
    assert "3 frames of one position, told apart by temporal position" in evidence.notes


def test_frames_in_several_directions_are_no_volume(tmp_path: Path) -> None:
    frames = [(float(place), {}) for place in range(3)]
    path = tmp_path / "a"
    enhanced(path, frames)
    dataset = pydicom.dcmread(path)
    del dataset.SharedFunctionalGroupsSequence[0].PlaneOrientationSequence
    for place, way in enumerate((AXIAL, [0, 1, 0, 0, 0, -1], [1, 0, 0, 0, 0, -1])):
        one = dataset.PerFrameFunctionalGroupsSequence[place]
        one.PlaneOrientationSequence = [item(ImageOrientationPatient=way)]
    dataset.save_as(path)
    (evidence,) = find_evidence([path])
    assert (evidence.kind, evidence.geometry) == ("cine", None)
    assert any("several directions" in note for note in evidence.notes)


def test_places_with_unequal_frames_stay_as_stored(tmp_path: Path) -> None:
    evidence = enhanced(tmp_path / "a", [(2.0, {}), (1.0, {}), (2.0, {})])
    assert (evidence.times, evidence.order) == (1, ())
    assert filled(evidence) == [0, 1, 2]
    assert any("stand as stored" in note for note in evidence.notes)


def test_a_tilted_file_is_said(tmp_path: Path) -> None:
    path = tmp_path / "a"
    enhanced(path, [(float(place), {}) for place in range(5)], SOPClassUID=EnhancedCTImageStorage)
    dataset = pydicom.dcmread(path)
    for place, one in enumerate(dataset.PerFrameFunctionalGroupsSequence):
        one.PlanePositionSequence[0].ImagePositionPatient = [0, 0.5 * place, place]
    dataset.save_as(path)
    (evidence,) = find_evidence([path])
    assert any("gantry tilt of 26.6 degrees" in note for note in evidence.notes)
    assert evidence.geometry is not None
    assert not evidence.geometry.straight


@pytest.mark.parametrize("step", [3.0, -3.0])
def test_dose_frames_follow_their_offsets(tmp_path: Path, step: float) -> None:
    values = np.stack([np.full((4, 5), number, np.uint16) for number in range(3)])
    path = dicom(
        tmp_path / "dose", values, NumberOfFrames=3, SOPClassUID=RTDoseStorage, Modality="RTDOSE",
        GridFrameOffsetVector=[0.0, step, 2 * step], PixelSpacing=[1.0, 1.0],
        ImagePositionPatient=[0, 0, 50.0], ImageOrientationPatient=AXIAL, DoseGridScaling=1.0,
        FrameIncrementPointer=0x3004000C,
    )  # fmt: skip
    (evidence,) = find_evidence([path])
    assert (evidence.kind, evidence.spacing_mm) == ("volume", (3.0, 1.0, 1.0))
    assert filled(evidence) == ([0, 1, 2] if step > 0 else [2, 1, 0])
    assert evidence.geometry is not None
    heights = [50.0, 53.0, 56.0] if step > 0 else [44.0, 47.0, 50.0]
    assert evidence.geometry.origin_Z3[:, 2].tolist() == heights


def nuclear(path: Path, kind: str, count: int, **elements: Any) -> Evidence:
    values = np.stack([np.full((4, 5), number, np.uint16) for number in range(count)])
    dicom(
        path, values, NumberOfFrames=count, SOPClassUID=NuclearMedicineImageStorage, Modality="NM",
        ImageType=["ORIGINAL", "PRIMARY", kind, "EMISSION"], PixelSpacing=[4.0, 4.0], **elements,
    )  # fmt: skip
    (evidence,) = find_evidence([path])
    return evidence


def test_reconstructed_nuclear_slices_are_a_volume(tmp_path: Path) -> None:
    detector = item(ImagePositionPatient=[0, 0, 10.0], ImageOrientationPatient=AXIAL)
    told = {"SliceVector": [1, 2, 3], "DetectorInformationSequence": [detector]}
    evidence = nuclear(tmp_path / "a", "RECON TOMO", 3, SpacingBetweenSlices=-4.0, **told)
    assert (evidence.kind, evidence.orientation) == ("volume", "LPS")
    assert filled(evidence) == [2, 1, 0]
    assert evidence.spacing_mm == (4.0, 4.0, 4.0)
    assert evidence.geometry is not None
    assert evidence.geometry.origin_Z3[:, 2].tolist() == [2.0, 6.0, 10.0]


def test_gated_nuclear_slices_have_time_points(tmp_path: Path) -> None:
    evidence = nuclear(
        tmp_path / "a", "RECON GATED TOMO", 6, SpacingBetweenSlices=4.0,
        SliceVector=[1, 2, 3, 1, 2, 3], TimeSlotVector=[1, 1, 1, 2, 2, 2],
    )  # fmt: skip
    assert (evidence.kind, evidence.times, evidence.shape) == ("volume", 2, (3, 4, 5))
    assert "told apart by time slot" in evidence.notes[0]


@pytest.mark.parametrize(
    ("kind", "words"),
    [("TOMO", "turning detector"), ("DYNAMIC", "over time"), ("WHOLE BODY", "separate views")],
)
def test_nuclear_views_are_no_volume(tmp_path: Path, kind: str, words: str) -> None:
    evidence = nuclear(tmp_path / "a", kind, 4, RotationVector=[1, 1, 1, 1])
    assert evidence.kind == "cine"
    assert any(words in note for note in evidence.notes)


def test_ultrasound_frames_are_a_cine(tmp_path: Path) -> None:
    values = np.zeros((3, 4, 5), np.uint8)
    path = dicom(
        tmp_path / "a", values, NumberOfFrames=3, SOPClassUID=UltrasoundMultiFrameImageStorage,
        Modality="US", FrameTime=33.3, FrameIncrementPointer=0x00181063,
    )  # fmt: skip
    (evidence,) = find_evidence([path])
    assert (evidence.kind, evidence.form, evidence.shape) == ("cine", "2d", (3, 4, 5))


def test_frames_that_only_the_first_places_follow_at_the_spacing(tmp_path: Path) -> None:
    path = dicom(
        tmp_path / "a", np.zeros((3, 4, 5), np.int16), NumberOfFrames=3, PixelSpacing=[1, 1],
        ImagePositionPatient=[0, 0, 5], ImageOrientationPatient=AXIAL, SpacingBetweenSlices=2.0,
    )  # fmt: skip
    (evidence,) = find_evidence([path])
    assert evidence.kind == "volume"
    assert evidence.geometry is not None
    assert evidence.geometry.origin_Z3[:, 2].tolist() == [5.0, 7.0, 9.0]
    assert any("the first frame only" in note for note in evidence.notes)


def test_a_named_frame_is_the_stored_one(tmp_path: Path) -> None:
    enhanced(
        tmp_path / "a", [(place, {}) for place in (2.0, 0.0, 1.0)], WindowCenter=1.5,
        WindowWidth=4,
    )  # fmt: skip
    seen = [image_rgb(ImageRef(tmp_path / "a", frame=frame))[0, 0, 0] for frame in range(3)]
    assert seen == sorted(seen)
    assert len(set(seen)) == 3


def test_a_claim_of_countless_frames_is_refused(tmp_path: Path) -> None:
    many = dicom(
        tmp_path / "b", np.zeros((250_000, 1, 1), np.uint8), NumberOfFrames=250_000,
        ImagePositionPatient=[0, 0, 0], ImageOrientationPatient=AXIAL, PixelSpacing=[1, 1],
    )  # fmt: skip
    (evidence,) = find_evidence([many])
    assert evidence.error is not None
    assert evidence.error.code == "too_large"


def test_missing_functional_groups_leave_frames_as_stored(tmp_path: Path) -> None:
    path = tmp_path / "a"
    enhanced(path, [(float(place), {}) for place in (2, 0, 1)])
    dataset = pydicom.dcmread(path)
    del dataset.PerFrameFunctionalGroupsSequence[2]
    dataset.save_as(path)
    (evidence,) = find_evidence([path])
    assert (evidence.kind, evidence.order) == ("volume", ())
    assert filled(evidence) == [0, 1, 2]
