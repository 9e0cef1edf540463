"""Every handed file of the kinds that this version reads, against its true values.

The manifest lies beside the checkout (see tests/shared.py). What does not pass yet stands in
NEXT_ISSUE with its reason; an entry that passes must be taken out.
"""

from __future__ import annotations

import re
import tomllib
from functools import cache
from typing import Any

import numpy as np
import pytest

from engine.errors import EvidenceError
from engine.evidence.open import find_evidence, load_pixels
from engine.evidence.show import describe
from engine.evidence.study import Evidence
from tests.shared import SHARED, shared_path

KINDS = ("image", "series", "nifti", "itk", "raster", "text")
NEXT_ISSUE: dict[str, str] = {}
LOSSY = {
    "1.2.840.10008.1.2.4.50", "1.2.840.10008.1.2.4.51", "1.2.840.10008.1.2.4.81",
    "1.2.840.10008.1.2.4.91",
}  # fmt: skip
GREY_LEVELS = 3.0


@cache
def manifest() -> list[dict[str, Any]]:
    path = SHARED / "data/files/MANIFEST.toml"
    if not path.exists():
        return []
    return tomllib.loads(path.read_text(encoding="utf-8"))["file"]


def cases(*kinds: str) -> list[dict[str, Any]]:
    return [case for case in manifest() if case["kind"] in kinds]


def names(case: dict[str, Any]) -> str:
    return str(case["file"])


def found_in(case: dict[str, Any]) -> list[Evidence]:
    return list(find_evidence([shared_path(f"data/files/{case['file']}")], salt=b"test"))


def close(got: Any, wanted: Any, tolerance: float = 0.0) -> None:
    np.testing.assert_allclose(
        np.asarray(got, float), np.asarray(wanted, float), rtol=2e-7, atol=max(tolerance, 1e-6)
        if np.max(np.abs(np.asarray(wanted, float))) > 1 else tolerance or 1e-9,
    )  # fmt: skip


def check_dicom_picture(case: dict[str, Any]) -> None:
    truth = case["truth"]
    (evidence,) = found_in(case)
    assert evidence.error is None
    color = "rgb_mean" in truth or "rgb8_mean" in truth
    probes = truth.get("probes_frame_row_col", [])
    probes = truth.get("rgb_probes_frame_row_col", truth.get("rgb8_probes", probes))
    shown = describe(evidence, probes=[tuple(probe["at"]) for probe in probes])
    assert shown["error"] is None
    assert shown["modality"] == truth.get("modality")
    assert shown["photometric"] == truth["photometric"]
    assert shown["source"]["transfer_syntax"] == truth["transfer_syntax"]
    if truth["sop_class"] != "absent":
        assert shown["source"]["object"] == truth["sop_class"]
    assert shown["shape"] == truth.get("rgb_shape", truth["shape"])
    assert list(evidence.shape or ()) == shown["shape"]
    assert shown["dtype"] == truth["dtype"]
    assert shown["color"] == color
    assert shown["display_inverted"] == truth["display_inverted"]
    check_geometry(shown, truth)
    check_places_of_frames(evidence, truth)
    check_window(shown, truth, color=color)
    lossy = truth["transfer_syntax"] in LOSSY
    if color:
        check_color(evidence, truth, lossy=lossy)
    else:
        check_values(shown, truth, lossy=lossy)
    slope = truth.get("rescale", [1.0])[0]
    for probe, seen in zip(probes, shown["probes"], strict=True):
        wanted = probe["value"]
        if "sensible_signed_reading" in truth and wanted > 32767:
            wanted -= 65536
        close(seen["value"], wanted, GREY_LEVELS * slope if lossy else 0.0)


def check_geometry(shown: dict[str, Any], truth: dict[str, Any]) -> None:
    wanted = truth["pixel_spacing_row_col_mm"]
    if wanted:
        close(shown["spacing_mm"][1:], wanted)
        assert shown["spacing_source"] == truth["spacing_source"]
    else:
        assert shown["spacing_mm"] is None
    if "columns_run_towards" in truth:
        letters = truth["columns_run_towards"] + truth["rows_run_towards"]
        assert shown["orientation"][:2] == letters
        # volumes are sorted along the normal; probes count frames as stored, and a note says it
        assert shown["orientation"][2] == truth["plane_normal_towards"]
        sorted_here = not truth.get("frames_stored_in_order", True)
        assert any("sorted by position" in note for note in shown["notes"]) == sorted_here


def check_places_of_frames(evidence: Evidence, truth: dict[str, Any]) -> None:
    """The first stored frame lies where the manifest says, and so do all others it lists."""
    if "image_position_first" not in truth or evidence.spacing_mm is None:
        return
    geometry = evidence.geometry
    assert geometry is not None
    first = evidence.order.index(0) if evidence.order else 0
    close(geometry.origin_Z3[first], truth["image_position_first"], 1e-4)
    rows, columns = evidence.spacing_mm[1:]
    ways = np.array(truth["image_orientation"]).reshape(2, 3)
    close(geometry.column_step, ways[0] * columns, 1e-4)
    close(geometry.row_step, ways[1] * rows, 1e-4)
    order = evidence.order or range(len(geometry.origin_Z3))
    for place, stored in enumerate(order):
        listed = truth.get("frame_positions", [])
        if stored < len(listed):
            close(geometry.origin_Z3[place], listed[stored], 1e-4)


def check_window(shown: dict[str, Any], truth: dict[str, Any], *, color: bool) -> None:
    usable = [window for window in truth["windows"] if window[1] >= 1]
    if color:
        assert shown["window"] is None
    elif usable:
        close(shown["window"], usable[0])
        assert shown["window_source"] == "header"
    elif truth.get("voi_lut_items"):
        assert shown["window_source"] == "lut"
    else:
        assert shown["window_source"] == "derived"
        assert shown["window"][1] >= 1
        if truth["windows"]:
            assert any("not valid" in note for note in shown["notes"])


def check_values(shown: dict[str, Any], truth: dict[str, Any], *, lossy: bool) -> None:
    # two readings are recorded where a signed codestream stands under an unsigned header; the
    # signed one is taken: its values fit the header's window, the other's wrap to 63000 and more
    wanted = truth.get("sensible_signed_reading", truth["after_modality"])
    slope = truth.get("rescale", [1.0])[0]
    close(shown["mean"], wanted["mean"], 0.1 * abs(slope) if lossy else 0.0)
    for key in ("min", "max"):
        close(shown[key], wanted[key], GREY_LEVELS * abs(slope) if lossy else 0.0)


def check_color(evidence: Evidence, truth: dict[str, Any], *, lossy: bool) -> None:
    array = load_pixels(evidence).array
    assert array.dtype == np.uint8
    wanted = truth.get("rgb_mean", truth.get("rgb8_mean"))
    # the manifest's mean of a 16-bit palette is that of unrounded 8-bit values
    tolerance = 0.3 if lossy else 0.15 if "rgb8_mean" in truth else 1e-3
    np.testing.assert_allclose(array.mean(axis=(0, 1, 2)), wanted, atol=tolerance)
    if "rgb_min_max" in truth:
        close([array.min(), array.max()], truth["rgb_min_max"], GREY_LEVELS if lossy else 0.0)


def check_series(case: dict[str, Any]) -> None:
    found = found_in(case)
    assert [one.error for one in found] == [None] * len(found)
    groups = case["truth"]["group"]
    assert len(found) == len(groups)
    for group in groups:
        if "multi_frame_files" in group:
            check_multi_frame(found, group)
        else:
            check_stack(found, group)


def check_stack(found: list[Evidence], group: dict[str, Any]) -> None:
    order = group["order_along_normal"]
    match = [one for one in found if [path.name for path in one.members] == order]
    assert len(match) == 1, [[path.name for path in one.members] for one in found]
    evidence, pixels = match[0], load_pixels(match[0])
    shown = describe(evidence)
    assert shown["shape"] == group["volume_shape_slices_rows_cols"]
    assert shown["modality"] == group["modality"]
    assert shown["kind"] == ("volume" if len(order) > 1 else "image")
    letters = [group[f"{axis}_run_towards"] for axis in ("columns", "rows", "slices")]
    assert shown["orientation"] == "".join(letters)
    close(shown["spacing_mm"][1:], group["pixel_spacing_row_col_mm"])
    for key in ("min", "max", "mean"):
        close(shown[key], group["after_modality"][key])
    every = pixels.array[None] if pixels.times is None else pixels.times
    assert len(every) == evidence.times == group["time_points"]
    # the manifest lists the files of one position together, time points run fastest
    means = every.mean(axis=(2, 3), dtype=np.float64).T.reshape(-1)
    np.testing.assert_allclose(means, group["slice_means_in_order"], atol=1e-3)
    check_places(evidence, group)
    check_stack_notes(shown, group)


def check_places(evidence: Evidence, group: dict[str, Any]) -> None:
    if len(evidence.members) == 1:
        return
    geometry = evidence.geometry
    assert geometry is not None
    np.testing.assert_allclose(geometry.origin_Z3[0], group["first_position"], atol=1e-6)
    np.testing.assert_allclose(geometry.origin_Z3[-1], group["last_position"], atol=1e-6)
    if "simpleitk" in group:
        direction = np.array(group["simpleitk"]["direction"]).reshape(3, 3)
        rows, columns = group["pixel_spacing_row_col_mm"]
        np.testing.assert_allclose(geometry.column_step, direction[:, 0] * columns, atol=1e-5)
        np.testing.assert_allclose(geometry.row_step, direction[:, 1] * rows, atol=1e-5)
        np.testing.assert_allclose(geometry.normal, direction[:, 2], atol=1e-5)


def check_stack_notes(shown: dict[str, Any], group: dict[str, Any]) -> None:
    notes = shown["notes"]
    gaps = [int(match[1]) - 1 for note in notes if (match := re.search(r"after (\d+)$", note))]
    assert gaps == group.get("gap_after_position_index", [])
    assert any("uneven" in note for note in notes) == (not group["uniform_spacing"])
    if group["distances_mm"] and group["uniform_spacing"]:
        close(shown["spacing_mm"][0], np.median(group["distances_mm"]), 2e-3)
    tilt = group.get("angle_between_stack_and_normal_deg", 0.0)
    said = [note for note in notes if "tilt" in note]
    assert bool(said) == (tilt > 0.5)
    if said:
        assert f"{tilt:.1f} degrees" in said[0]
    copies = group["files"] - group["distinct_instances"]
    assert any(f"{copies} duplicate" in note for note in notes) == (copies > 0)
    times = group["time_points"]
    assert any(f"{times} time points" in note for note in notes) == (times > 1)


def check_multi_frame(found: list[Evidence], group: dict[str, Any]) -> None:
    (member,) = group["multi_frame_files"]
    (evidence,) = [one for one in found if one.members[0].name == member["file"]]
    truth = group["after_modality_file0"]
    shown = describe(evidence)
    assert shown["kind"] == "volume"
    assert shown["shape"] == truth["shape"]
    for key in ("min", "max", "mean"):
        close(shown[key], truth["after_modality"][key])
    close(shown["spacing_mm"][1:], group["pixel_spacing_row_col_mm"])
    positions = np.array(group["frame_positions_file0"])
    close(shown["spacing_mm"][0], np.linalg.norm(positions[1] - positions[0]), 1e-4)
    letters = group["columns_run_towards"] + group["rows_run_towards"]
    assert shown["orientation"] == letters + group["plane_normal_towards"]


def check_nifti(case: dict[str, Any]) -> None:
    truth = case["truth"]
    (evidence,) = found_in(case)
    at = [[int(n) for n in reversed(probe["at"])] for probe in truth["probes_ijk"]]
    shown = describe(evidence, probes=[(z, y, x) for z, y, x in at])
    assert shown["error"] is None
    size = [*truth["shape"], 1][:3]
    assert shown["shape"] == size[::-1]
    assert evidence.times == (truth["shape"][3] if len(truth["shape"]) > 3 else 1)
    assert shown["kind"] == ("volume" if size[2] > 1 else "image")
    assert shown["dtype"] == np.dtype(truth["dtype_on_disk"]).name
    assert shown["orientation"] == truth["orientation_code"]
    assert shown["spacing_source"] == truth["affine_from"]
    affine = np.array(truth["affine_ras"])
    close(shown["spacing_mm"], np.linalg.norm(affine[:3, :3], axis=0)[::-1], 1e-5)
    for key in ("min", "max", "mean"):
        close(shown[key], truth["after_scaling"][key], 1e-3 if key == "mean" else 1e-4)
    for probe, seen in zip(truth["probes_ijk"], shown["probes"], strict=True):
        close(seen["value"], probe["value"], 1e-3)


def check_itk(case: dict[str, Any]) -> None:
    truth = case["truth"]
    (evidence,) = found_in(case)
    shown = describe(evidence, probes=[tuple(probe["at"]) for probe in truth["probes_zyx"]])
    assert shown["error"] is None
    size = [*truth["size_xyz"], 1][:3]
    assert shown["shape"] == size[::-1]
    spacing = truth["spacing"][::-1]
    close(shown["spacing_mm"][-len(spacing) :], spacing)
    assert (shown["spacing_mm"][0] is None) == (len(spacing) == 2)
    assert shown["orientation"] == truth.get("axes_run_towards")
    bits = truth["dtype"]
    number = "float" if "float" in bits else "uint" if "unsigned" in bits else "int"
    assert shown["dtype"] == f"{number}{bits.split('-')[0]}"
    for key in ("min", "max", "mean"):
        close(shown[key], truth[key])
    for probe, seen in zip(truth["probes_zyx"], shown["probes"], strict=True):
        close(seen["value"], probe["value"])


def check_raster(case: dict[str, Any]) -> None:
    truth = case["truth"]
    (evidence,) = found_in(case)
    shown = describe(evidence)
    assert shown["error"] is None
    width, height = truth["upright_size_wh"]
    assert shown["shape"][1:3] == [height, width]
    assert list(evidence.shape or ()) == shown["shape"]
    assert any("transparency" in note for note in shown["notes"]) == truth["alpha"]
    assert any("pages" in note for note in shown["notes"]) == (truth["pages"] > 1)
    lossy = truth["format"] == "JPEG"
    decoded = truth["decoded"]
    if "rgb_mean" in truth:
        check_raster_color(evidence, truth, lossy=lossy)
    elif not truth["alpha"]:
        assert shown["color"] is False
        assert shown["dtype"] == np.dtype(decoded["dtype"]).name
        for key in ("min", "max", "mean"):
            close(shown[key], decoded[key], GREY_LEVELS if lossy else 0.0)


def check_raster_color(evidence: Evidence, truth: dict[str, Any], *, lossy: bool) -> None:
    from engine.evidence.pictures.raster import load_picture

    array = load_picture(evidence.path, white=False).array[0]
    assert array.shape[-1] == 3
    tolerance = GREY_LEVELS if lossy else 1e-3
    np.testing.assert_allclose(array.mean(axis=(0, 1)), truth["rgb_mean"], atol=tolerance)
    corners = [array[0, 0], array[0, -1], array[-1, 0], array[-1, -1]]
    wanted = truth["upright_corner_pixels_tl_tr_bl_br"]
    np.testing.assert_allclose(np.array(corners, float), wanted, atol=tolerance)


def check_text(case: dict[str, Any]) -> None:
    truth = case["truth"]
    (evidence,) = found_in(case)
    shown = describe(evidence, with_text=True)
    assert (shown["kind"], shown["form"]) == ("report", "text")
    assert shown["characters"] == truth["characters"]
    assert shown["text"].splitlines()[0] == truth["first_line"]
    assert set(truth["non_ascii"]) == {letter for letter in shown["text"] if ord(letter) > 127}
    assert shown["source"]["encoding"] == truth["encoding"]


CHECKS = {
    "image": check_dicom_picture,
    "series": check_series,
    "nifti": check_nifti,
    "itk": check_itk,
    "raster": check_raster,
    "text": check_text,
}


@pytest.mark.parametrize("case", cases(*KINDS), ids=names)
def test_case_has_its_true_values(case: dict[str, Any]) -> None:
    reason = NEXT_ISSUE.get(case["file"])
    if reason is None:
        CHECKS[case["kind"]](case)
        return
    assert not case.get("core"), "a core case cannot wait for the next issue"
    with pytest.raises(AssertionError):
        CHECKS[case["kind"]](case)


def test_the_manifest_is_beside_the_checkout() -> None:
    shared_path("data/files/MANIFEST.toml")
    listed = {case["file"] for case in manifest()}
    assert set(NEXT_ISSUE) <= listed
    assert sum(bool(case.get("core")) for case in cases(*KINDS)) >= 40


@pytest.mark.parametrize("case", cases("report"), ids=names)
def test_structured_report_is_read_as_text(case: dict[str, Any]) -> None:
    truth = case["truth"]
    (evidence,) = found_in(case)
    shown = describe(evidence, with_text=True)
    assert (shown["kind"], shown["form"], shown["modality"]) == ("report", "text", "SR")
    assert shown["text"].splitlines()[0] == truth["title"]
    flat = " ".join(shown["text"].split())
    for start in truth["text_values_start"]:
        if start != "Foo":  # a person observer's name, stored as text
            assert " ".join(start.split()) in flat
    for part in re.split(r"[\^ ]", truth["patient_name"]):
        if len(part) > 3 and part != "Name":
            assert part not in repr(shown)


@pytest.mark.parametrize("case", cases("charset"), ids=names)
def test_character_sets_do_no_harm_and_names_stay_inside(case: dict[str, Any]) -> None:
    truth = case["truth"]
    (evidence,) = found_in(case)
    shown = describe(evidence)
    if "pixels" in truth:
        assert shown["error"] is None
        assert shown["shape"] == [1, *truth["pixels"]["shape"]]
        for key in ("min", "max", "mean"):
            close(shown[key], truth["pixels"][key])
    else:
        assert shown["error"]["code"] == "no_pixels"
    for part in re.split(r"[\^=]", truth["patient_name_unicode"]):
        assert part not in repr(shown) + repr(evidence)


@pytest.mark.parametrize("case", cases("nonimage"), ids=names)
def test_objects_without_picture_are_named(case: dict[str, Any]) -> None:
    (evidence,) = found_in(case)
    shown = describe(evidence)
    assert shown["error"] is None
    assert shown["shape"] is None
    assert shown["kind"] == ("document" if "mime" in case["truth"] else "other")
    assert shown["source"]["object"] == case["truth"]["sop_class"]
    assert any("no picture" in note for note in shown["notes"])
    with pytest.raises(EvidenceError, match="no picture"):
        load_pixels(evidence)


@pytest.mark.parametrize("case", cases("broken"), ids=names)
def test_broken_files_say_what_is_wrong(case: dict[str, Any]) -> None:
    (evidence,) = found_in(case)
    shown = describe(evidence)
    if case["file"] == "broken/ct_jll_bad_encoder.dcm":
        # wrong at the encoder: nothing in the file tells, three decoders agree on the values
        assert shown["error"] is None
        stored = load_pixels(evidence).array.astype(int) + 1024
        close([stored.min(), stored.max(), stored.mean()], [-32768, 32767, -5381.4198], 1e-3)
        return
    assert shown["kind"] == "error"
    assert shown["error"]["code"] in {"truncated", "damaged", "empty", "not_dicom"}
    assert shown["error"]["message"].count(".") <= 1
    assert (shown["min"], shown["max"], shown["mean"]) == (None, None, None)
    if "cut" in case["file"] or "truncated" in case["file"] or "short" in case["file"]:
        assert shown["error"]["code"] == "truncated"


@pytest.mark.parametrize("case", cases("series_member"), ids=names)
def test_members_of_series_are_pictures_by_themselves(case: dict[str, Any]) -> None:
    (evidence,) = found_in(case)
    assert evidence.error is None
    assert evidence.kind in ("image", "volume")
    assert evidence.members == (evidence.path,)


@pytest.mark.parametrize("case", cases("companion"), ids=names)
def test_data_files_belong_to_their_headers(case: dict[str, Any]) -> None:
    path = shared_path(f"data/files/{case['file']}")
    (alone,) = found_in(case)
    assert alone.kind in ("other", "error", "volume")  # a pair's data file may find its header
    shown = list(find_evidence([path.parent]))
    assert path not in {one.path for one in shown}
    owner = path.with_suffix({".raw": ".nhdr", ".img": ".hdr", ".zraw": ".mhd"}[path.suffix])
    owner = owner if owner.exists() else path.parent / "ball_detached.nhdr"
    (header,) = [one for one in shown if one.path == owner]
    assert header.error is None


def test_every_kind_of_the_manifest_is_tested() -> None:
    tested = {*KINDS, "report", "charset", "nonimage", "broken", "series_member", "companion"}
    assert {case["kind"] for case in manifest()} <= tested


@pytest.mark.parametrize(
    ("file", "kind"),
    [
        ("dicom/us_cine_30f.dcm", "cine"), ("dicom/us_rle_palette_2f.dcm", "cine"),
        ("dicom/nm_13f_noext", "volume"), ("dicom/rtdose_32bit.dcm", "volume"),
        ("dicom/enhanced_mr_10f.dcm", "volume"), ("dicom/enhanced_ct_supplemental.dcm", "volume"),
        ("dicom/seg_1bit_nonaligned.dcm", "volume"), ("dicom/ct_small.dcm", "image"),
    ],
)  # fmt: skip
def test_cine_and_volume_are_told_apart(file: str, kind: str) -> None:
    (evidence,) = find_evidence([shared_path(f"data/files/{file}")])
    assert evidence.kind == kind
