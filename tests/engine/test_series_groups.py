"""Which files belong together, in which order, and what is said about it."""

from __future__ import annotations

import shutil
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import SimpleITK as sitk
from pydicom.uid import SecondaryCaptureImageStorage

from engine.evidence.dicom.facts import Plane
from engine.evidence.dicom.instance import read_dicom
from engine.evidence.dicom.series import group_series
from engine.evidence.open import find_evidence, load_pixels, read_series
from engine.evidence.show import describe
from engine.evidence.study import Evidence
from tests.engine.evidence_files import dicom, slices

AXIAL = [1, 0, 0, 0, 1, 0]


def found(folder: Path, **options: Any) -> list[Evidence]:
    return list(find_evidence([folder], **options))


def picture(
    folder: Path, name: str, value: int, position: Any, orientation: Any = AXIAL, **elements: Any
) -> Path:
    """A 4 x 5 slice filled with a value."""
    values = np.full((4, 5), value, np.int16)
    return dicom(
        folder / name, values, ImageOrientationPatient=list(orientation),
        **{"ImagePositionPatient": list(position), "PixelSpacing": [2.0, 3.0], **elements},
    )  # fmt: skip


def filled(evidence: Evidence) -> list[int]:
    return load_pixels(evidence).array[:, 0, 0].tolist()


def test_order_is_that_of_positions_whatever_names_and_numbers_say(tmp_path: Path) -> None:
    order = np.random.default_rng(0).permutation(20)
    for place, name in enumerate(order):
        picture(tmp_path, f"{name:02}", place, (0, 0, place), InstanceNumber=100 - place)
    (evidence,) = found(tmp_path)
    assert filled(evidence) == list(range(20))
    assert evidence.notes == ()


@pytest.mark.parametrize("seed", range(6))
def test_oblique_stacks_have_the_geometry_of_itk(tmp_path: Path, seed: int) -> None:
    random = np.random.default_rng(seed)
    turned, _ = np.linalg.qr(random.standard_normal((3, 3)))
    columns, rows = turned[:, 0], turned[:, 1]
    normal = np.cross(columns, rows)
    for place in random.permutation(7):
        position = np.array([10.0, -30.0, 5.0]) + normal * 2.5 * place
        picture(
            tmp_path, f"{random.integers(1 << 30)}.dcm", int(place), position.round(6),
            [*columns.round(8), *rows.round(8)],
        )  # fmt: skip
    (evidence,) = found(tmp_path)
    reader = sitk.ImageSeriesReader()
    (uid,) = reader.GetGDCMSeriesIDs(str(tmp_path))
    reader.SetFileNames(reader.GetGDCMSeriesFileNames(str(tmp_path), uid))
    image = reader.Execute()
    pixels = load_pixels(evidence)
    assert pixels.array.tolist() == sitk.GetArrayFromImage(image).tolist()
    geometry = pixels.geometry
    assert geometry is not None
    assert geometry.straight
    for z, y, x in ((0, 0, 0), (3, 2, 4), (6, 3, 1)):
        wanted = image.TransformIndexToPhysicalPoint((x, y, z))
        np.testing.assert_allclose(geometry.point((z, y, x)), wanted, atol=1e-4)
    name = sitk.DICOMOrientImageFilter.GetOrientationFromDirectionCosines(image.GetDirection())
    assert evidence.orientation == name
    np.testing.assert_allclose(evidence.spacing_mm, image.GetSpacing()[::-1], atol=1e-4)


def test_two_series_and_a_localizer_in_one_folder(tmp_path: Path) -> None:
    for place in range(4):
        picture(tmp_path, f"a{place}", place, (0, 0, place))
        picture(tmp_path, f"b{place}", 10 + place, (0, 0, place), SeriesInstanceUID="1.2.10")
    picture(tmp_path, "scout", 99, (0, 0, 2), [0, 1, 0, 0, 0, -1])
    picture(tmp_path, "flat scout", 98, (0, 0, 9), ImageType=["ORIGINAL", "PRIMARY", "LOCALIZER"])
    shown = {tuple(filled(one)): one for one in found(tmp_path)}
    assert set(shown) == {(0, 1, 2, 3), (10, 11, 12, 13), (99,), (98,)}
    assert "localizer" in shown[(98,)].notes


@pytest.mark.parametrize(
    "difference",
    [
        {"FrameOfReferenceUID": "1.2.77"},
        {"PixelSpacing": [2.0, 3.1]},
        {"PhotometricInterpretation": "MONOCHROME1"},
        {"SeriesInstanceUID": "1.2.78"},
    ],
    ids=str,
)
def test_what_is_kept_apart(tmp_path: Path, difference: dict[str, Any]) -> None:
    shared = {"FrameOfReferenceUID": "1.2.76"}
    for place in range(3):
        picture(tmp_path, f"a{place}", place, (0, 0, place), **shared)
        picture(tmp_path, f"b{place}", 10 + place, (0, 0, 3 + place), **{**shared, **difference})
    assert sorted(map(filled, found(tmp_path))) == [[0, 1, 2], [10, 11, 12]]


def test_rounded_spacing_and_mixed_sign_stay_together(tmp_path: Path) -> None:
    picture(tmp_path, "a", 1, (0, 0, 0), PixelSpacing=[0.48828, 0.48828])
    picture(tmp_path, "b", 2, (0, 0, 1), PixelSpacing=[0.488281, 0.488281])
    path = picture(tmp_path, "c", 3, (0, 0, 2), PixelSpacing=[0.48828, 0.48828])
    path.unlink()
    dicom(
        path, np.full((4, 5), 3, np.uint16), ImageOrientationPatient=AXIAL,
        ImagePositionPatient=[0, 0, 2], PixelSpacing=[0.48828, 0.48828],
    )  # fmt: skip
    (evidence,) = found(tmp_path)
    assert filled(evidence) == [1, 2, 3]


# --- copies ---------------------------------------------------------------------------------


def test_a_copied_file_is_left_out(tmp_path: Path) -> None:
    paths = slices(tmp_path, [0.0, 1.0, 2.0])
    shutil.copy(paths[1], tmp_path / "a longer name of a copy.dcm")
    (evidence,) = found(tmp_path)
    assert len(evidence.members) == 3
    assert evidence.notes == ("1 duplicate file of one slice left out",)
    assert tmp_path / "a longer name of a copy.dcm" not in evidence.members


def test_a_copy_under_another_identifier_is_left_out_if_every_byte_is_equal(
    tmp_path: Path,
) -> None:
    for place in range(3):
        picture(tmp_path, f"{place}", place, (0, 0, place), InstanceNumber=place)
    picture(tmp_path, "again", 1, (0, 0, 1), InstanceNumber=1, SOPInstanceUID="1.2.3.999")
    (evidence,) = found(tmp_path)
    assert filled(evidence) == [0, 1, 2]
    assert evidence.notes == ("1 duplicate file of one slice left out",)
    picture(tmp_path, "again", 7, (0, 0, 1), InstanceNumber=1, SOPInstanceUID="1.2.3.999")
    shown = found(tmp_path)
    assert sorted(map(filled, shown)) in ([[0, 1, 2], [7]], [[0, 7, 2], [1]])
    assert all("occur more often" in one.notes[0] for one in shown)


def test_two_pictures_of_one_identity_are_no_copies(tmp_path: Path) -> None:
    for place in range(3):
        picture(tmp_path, f"{place}", place, (0, 0, place), SOPInstanceUID=f"1.2.7.{place}")
    picture(tmp_path, "another", 77, (0, 0, 1), SOPInstanceUID="1.2.7.1")
    (evidence,) = found(tmp_path)
    assert filled(evidence) == [0, 1, 2]
    note = "2 files claim one identity and differ; the one with the shortest name is shown"
    assert evidence.notes == (note,)


def test_one_identity_at_several_places_loses_no_slice(tmp_path: Path) -> None:
    for place in range(3):
        picture(tmp_path, f"{place}", place, (0, 0, place), SOPInstanceUID="1.2.7.1")
    (evidence,) = found(tmp_path)
    assert filled(evidence) == [0, 1, 2]
    assert evidence.notes == ("files of different places claim one identity; all are shown",)


def test_equal_instance_numbers_do_not_matter(tmp_path: Path) -> None:
    for place in (3, 0, 2, 1):
        picture(tmp_path, f"{place}", place, (0, 0, place), InstanceNumber=1)
    (evidence,) = found(tmp_path)
    assert filled(evidence) == [0, 1, 2, 3]
    assert evidence.notes == ()


# --- spacing and position -------------------------------------------------------------------


def test_negative_spacing_is_a_distance(tmp_path: Path) -> None:
    for place in range(3):
        picture(tmp_path, f"{place}", place, (0, 0, -4.0 * place), SpacingBetweenSlices=-4.0)
    (evidence,) = found(tmp_path)
    assert evidence.spacing_mm == (4.0, 2.0, 3.0)
    assert filled(evidence) == [2, 1, 0]
    single = picture(tmp_path / "..", "one.dcm", 1, (0, 0, 0), SpacingBetweenSlices=-4.0)
    (alone,) = find_evidence([single])
    assert alone.spacing_mm == (4.0, 2.0, 3.0)


def test_many_gaps_are_counted(tmp_path: Path) -> None:
    position = 0
    for place in range(90):
        position += 5 if place % 3 == 2 else 1
        picture(tmp_path, f"{place:02}", place, (0, 0, position))
    (evidence,) = found(tmp_path)
    assert len(evidence.notes) == 22
    assert evidence.notes[1] == "gap of 4 slices after 2"
    assert evidence.notes[-1] == "10 more gaps"


def test_slices_without_position_are_sorted_by_slice_location_then_by_number(
    tmp_path: Path,
) -> None:
    for place in range(4):
        dicom(
            tmp_path / f"{place}", np.full((4, 5), place, np.int16), PixelSpacing=[1, 1],
            SliceLocation=10.0 - 2.5 * place, InstanceNumber=place,
        )  # fmt: skip
    (evidence,) = found(tmp_path)
    assert filled(evidence) == [3, 2, 1, 0]
    assert evidence.spacing_mm == (2.5, 1.0, 1.0)
    assert evidence.geometry is None
    assert evidence.notes == ("no positions in the files; sorted by slice location",)
    for place in range(4):
        dicom(
            tmp_path / f"{place}", np.full((4, 5), place, np.int16), PixelSpacing=[1, 1],
            InstanceNumber=place,
        )  # fmt: skip
    (evidence,) = found(tmp_path)
    assert filled(evidence) == [0, 1, 2, 3]
    assert evidence.notes == ("no positions in the files; sorted by instance number",)


def test_captures_and_radiographs_of_one_series_stay_pictures(tmp_path: Path) -> None:
    for number in range(3):
        for modality in ("CT", "DX"):
            dicom(
                tmp_path / f"{modality}{number}", np.full((4, 5), number, np.uint8),
                SOPClassUID=SecondaryCaptureImageStorage, Modality=modality,
                SeriesInstanceUID=f"1.2.{len(modality)}", InstanceNumber=number,
            )  # fmt: skip
    shown = found(tmp_path)
    assert [one.kind for one in shown] == ["image"] * 6


def test_stations_beside_each_other_are_stacks_of_their_own(tmp_path: Path) -> None:
    sagittal = [0, 1, 0, 0, 0, -1]
    for place in range(4):
        picture(tmp_path, f"upper{place}", place, (5.0 * place, -100, 300), sagittal)
        picture(tmp_path, f"lower{place}", 10 + place, (5.0 * place, -100, 50), sagittal)
    assert sorted(sorted(filled(one)) for one in found(tmp_path)) == [
        [0, 1, 2, 3], [10, 11, 12, 13],
    ]  # fmt: skip


# --- several time points --------------------------------------------------------------------


@pytest.mark.parametrize(
    ("label", "elements"),
    [
        ("temporal position", lambda time: {"TemporalPositionIdentifier": time + 1}),
        ("acquisition number", lambda time: {"AcquisitionNumber": 5 - time}),
        ("acquisition time", lambda time: {"AcquisitionTime": f"{235900 + time}.500000"}),
        ("content time", lambda time: {"ContentTime": f"0000{time:02}"}),
        ("trigger time", lambda time: {"TriggerTime": 40.5 * time}),
        ("b-value", lambda time: {"DiffusionBValue": 500.0 * time}),
        ("echo time", lambda time: {"EchoTime": 4.6 + 9 * time}),
        ("instance number", lambda time: {}),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_time_points_are_told_apart(tmp_path: Path, label: str, elements: Any) -> None:
    for time in range(3):
        for place in range(4):
            number = {"InstanceNumber": 4 * time + place}
            known = elements(time)
            picture(
                tmp_path, f"{97 * (4 * time + place) % 100:02}", 10 * time + place,
                (0, 0, place), **{**number, **known},
            )  # fmt: skip
    (evidence,) = found(tmp_path)
    assert (evidence.kind, evidence.shape, evidence.times) == ("volume", (4, 4, 5), 3)
    assert f"3 time points at each of 4 positions, told apart by {label};" in evidence.notes[0]
    pixels = load_pixels(evidence)
    assert pixels.times is not None
    order = [2, 1, 0] if label == "acquisition number" else [0, 1, 2]
    assert pixels.times[:, :, 0, 0].tolist() == [[10 * t + z for z in range(4)] for t in order]
    assert np.shares_memory(pixels.array, pixels.times)
    assert pixels.array.tolist() == pixels.times[0].tolist()
    assert evidence.spacing_mm == (1.0, 2.0, 3.0)


def test_show_counts_files_of_one_position_together(tmp_path: Path) -> None:
    for time in range(2):
        for place in range(3):
            picture(
                tmp_path, f"{time}{place}", 10 * time + place, (0, 0, place),
                TemporalPositionIdentifier=time,
            )  # fmt: skip
    (evidence,) = found(tmp_path)
    assert [path.name for path in evidence.members] == ["00", "10", "01", "11", "02", "12"]
    shown = describe(evidence, probes=[(n, 0, 0) for n in range(7)])
    assert shown["shape"] == [6, 4, 5]
    assert [probe["value"] for probe in shown["probes"]] == [0, 10, 1, 11, 2, 12, None]
    assert (shown["min"], shown["max"]) == (0, 12)


def test_two_labels_together_tell_pictures_apart(tmp_path: Path) -> None:
    for place in range(3):
        for echo in range(2):
            for flip in range(2):
                value = 100 * place + 10 * echo + flip
                picture(
                    tmp_path, f"{value:03}", value, (0, 0, place), EchoTime=5 + echo,
                    FlipAngle=10 + flip,
                )  # fmt: skip
    (evidence,) = found(tmp_path)
    assert evidence.times == 4
    assert "told apart by echo time and flip angle" in evidence.notes[0]
    times = load_pixels(evidence).times
    assert times is not None
    assert times[:, 1, 0, 0].tolist() == [100, 101, 110, 111]


def test_a_missing_file_of_one_time_point_makes_stacks_of_their_own(tmp_path: Path) -> None:
    for time in range(3):
        for place in range(5):
            if (time, place) != (1, 2):
                picture(
                    tmp_path, f"{time}{place}", 10 * time + place, (0, 0, place),
                    AcquisitionNumber=time,
                )  # fmt: skip
    whole, short = found(tmp_path)
    assert (whole.shape, whole.times) == ((5, 4, 5), 2)
    assert filled(short) == [10, 11, 13, 14]
    assert "gap of 1 slice after 2" in short.notes
    assert all("occur more often than others; divided into 2 stacks" in one.notes[0]
               for one in (whole, short))  # fmt: skip


def test_overlapping_acquisitions_are_two_stacks(tmp_path: Path) -> None:
    for place in range(5):
        picture(tmp_path, f"a{place}", place, (0, 0, place), AcquisitionNumber=1)
        picture(tmp_path, f"b{place}", 10 + place, (0, 0, 4 + place), AcquisitionNumber=2)
    assert sorted(map(filled, found(tmp_path))) == [[0, 1, 2, 3, 4], [10, 11, 12, 13, 14]]


def test_one_place_at_many_times_is_a_cine(tmp_path: Path) -> None:
    for time in range(5):
        picture(
            tmp_path, f"{9 - time}", time, (1, 2, 3), Modality="MR", TriggerTime=33.0 * time,
            InstanceNumber=5 - time,
        )  # fmt: skip
    (evidence,) = found(tmp_path)
    assert (evidence.kind, evidence.form, evidence.shape) == ("cine", "2d", (5, 4, 5))
    assert filled(evidence) == [0, 1, 2, 3, 4]
    assert evidence.notes == ("5 pictures of one position, told apart by trigger time",)
    assert evidence.frame_ms == 33.0
    assert evidence.geometry is not None
    assert evidence.geometry.straight


def test_members_may_be_read_in_any_order(tmp_path: Path) -> None:
    paths = [picture(tmp_path, f"{n}", n, (0, 0, n % 3), AcquisitionNumber=n // 3)
             for n in range(6)]  # fmt: skip
    one, other = read_series(paths), read_series(paths[::-1])
    assert one.members == other.members
    assert one.order == other.order


@pytest.mark.parametrize("step", [5.0, 1.25, 0.01])
def test_rounding_of_positions_makes_no_new_places(tmp_path: Path, step: float) -> None:
    for time in range(2):
        for place in range(6):
            picture(
                tmp_path, f"{time}{place}", 10 * time + place,
                (0, 0, round(step * (place + 0.01 * time), 6)), AcquisitionNumber=time,
            )  # fmt: skip
    (evidence,) = found(tmp_path)
    assert (evidence.shape, evidence.times) == ((6, 4, 5), 2)


def test_a_thousand_directions_are_told_apart_in_time(tmp_path: Path) -> None:
    path = picture(tmp_path, "a", 1, (0, 0, 0))
    one = read_dicom(path)
    random = np.random.default_rng(2)
    many = []
    for number in range(4000):
        turned, _ = np.linalg.qr(random.standard_normal((3, 3)))
        plane = Plane(tuple(turned[:, 0]), tuple(turned[:, 1]), (0.0, 0.0, float(number)))
        spot = replace(one.spot, plane=plane)
        many.append(replace(one, spot=spot, instance_uid=str(number)))
    assert len(group_series(many)) > 2000


def test_folders_may_lie_very_deep(tmp_path: Path) -> None:
    place = tmp_path
    for _ in range(300):
        place = place / "d"
    place.mkdir(parents=True)
    picture(place, "a", 1, (0, 0, 0))
    (evidence,) = found(tmp_path)
    assert evidence.kind == "image"
