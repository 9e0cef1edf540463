"""What a model sees of evidence: rules by source, and one code for models and readers."""

from __future__ import annotations

import struct
import tracemalloc
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import SimpleITK as sitk
from PIL import Image

from engine.errors import EvidenceError
from engine.evidence import pixels
from engine.evidence.item import ImageRef, Item, VolumeRef
from engine.evidence.open import find_evidence, load_pixels, read_file
from engine.evidence.orient import upright
from engine.evidence.pixels import (
    as_model_sees,
    item_of,
    prepare,
    rule_of,
    sample_indices,
    seen_slices,
    thumbnail,
)
from engine.evidence.rules import SOURCES, WINDOW_WORDS, named_rule
from engine.evidence.show import statistics
from engine.evidence.study import Evidence, Pixels
from engine.evidence.window import show_slice
from tests.engine.evidence_files import dicom, picture, ramp, slices
from tests.fuzz.makers import nifti_bytes
from tests.shared import SHARED, shared_path

FOLDERS = ("dicom", "series", "nifti", "nrrd", "mha", "raster")


def handed() -> list[str]:
    """Every handed file, and every handed series, that may hold a picture."""
    root = SHARED / "data/files"
    found = [path for name in FOLDERS for path in sorted((root / name).glob("*"))]
    return [path.relative_to(root).as_posix() for path in found]


def model_arrays(item: Item) -> list[np.ndarray]:
    seen = prepare(item)
    return [*(one[None] for one in seen.images), *seen.volumes]


@pytest.mark.parametrize("name", handed())
def test_a_reader_is_shown_exactly_what_a_model_sees(name: str) -> None:
    compared = 0
    for evidence in find_evidence([shared_path(f"data/files/{name}")]):
        if evidence.kind not in ("image", "volume", "cine"):
            continue
        (wanted,) = model_arrays(item_of(evidence))
        seen = as_model_sees(evidence)
        assert (seen.array == wanted).all()
        assert seen.array.dtype == np.uint8
        assert len(seen.array) == len(seen.indices) <= 64
        assert list(seen.indices) == list(seen_slices(evidence))
        assert seen.rule.name in SOURCES
        assert seen.sentence.endswith("8-bit RGB")
        compared += 1
    assert compared or name.endswith((".raw", ".zraw", ".img", "DICOMDIR"))


def test_every_rule_speaks() -> None:
    for name in SOURCES:
        for window in WINDOW_WORDS:
            assert named_rule(name, window=window).words.startswith(f"{name}: ")
    assert "at most 7 slices" in named_rule("cine", window="derived", limit=7).words
    fixed = replace(named_rule("DICOM series", window="fixed"), fixed=(40.0, 80.0))
    assert "fixed window 40 / 80" in fixed.words


def test_rules_by_source(tmp_path: Path) -> None:
    series = tuple(slices(tmp_path, [1.0, 2.0, 3.0], WindowCenter=40, WindowWidth=400))
    deep = picture(tmp_path / "deep.png", ramp().astype(np.uint16))
    plain = picture(tmp_path / "plain.png", ramp())
    cine = dicom(tmp_path / "us.dcm", np.stack([ramp()] * 3), NumberOfFrames=3, Modality="US")
    grid = tmp_path / "grid.nrrd"
    sitk.WriteImage(sitk.GetImageFromArray(ramp(6, 8).reshape(2, 3, 8)), str(grid))
    wanted = {
        VolumeRef((plain,) * 3): ("release slices", "stored"),
        VolumeRef(series, kind="series"): ("DICOM series", "header"),
        VolumeRef((grid,), kind="file"): ("grid", "derived"),
        VolumeRef((cine,), kind="file"): ("cine", "derived"),
        ImageRef(series[0]): ("DICOM picture", "header"),
        ImageRef(plain): ("picture", "stored"),
        ImageRef(deep): ("picture", "derived"),
        ImageRef(deep, box=(0, 0, 2, 2)): ("region", "derived"),
    }
    for ref, (name, window) in wanted.items():
        rule = rule_of(ref)
        assert (rule.name, rule.window) == (name, window), ref


def test_a_ct_without_window_takes_one_from_its_values(tmp_path: Path) -> None:
    slices(tmp_path, [float(n) for n in range(5)])
    (series,) = find_evidence([tmp_path])
    seen = as_model_sees(series)
    assert seen.rule.window == "derived"
    assert seen.window == load_pixels(series).window
    assert seen.sentence == "5 of 5 slices, window 2.5 / 5 from the values, 8-bit RGB"
    assert seen.array[:, 0, 0, 0].tolist() == [0, 64, 128, 191, 255]


def test_stored_bytes_are_left_alone(tmp_path: Path) -> None:
    seen = as_model_sees(read_file(picture(tmp_path / "a.png", ramp())))
    assert (seen.window, seen.rule.window) == (None, "stored")
    assert seen.sentence == "grey as stored, 8-bit RGB"
    image = sitk.GetImageFromArray(ramp(6, 8).reshape(2, 3, 8))
    sitk.WriteImage(image, str(tmp_path / "b.nrrd"))
    seen = as_model_sees(read_file(tmp_path / "b.nrrd"))
    assert (seen.window, seen.rule.window) == (None, "stored")
    assert (seen.array[..., 0] == ramp(6, 8).reshape(2, 3, 8)).all()


def test_a_fixed_window_takes_the_place_of_the_files_own(tmp_path: Path) -> None:
    slices(tmp_path, [1.0, 2.0, 3.0], WindowCenter=400, WindowWidth=4000)
    (series,) = find_evidence([tmp_path])
    seen = as_model_sees(series, window=(1.5, 3.0))
    # LINEAR with centre 1.5 and width 3 takes 0, 1, 2 to 0, 127.5, 255
    assert seen.array[:, 0, 0, 0].tolist() == [0, 128, 255]
    assert (seen.rule.window, seen.rule.fixed, seen.window) == ("fixed", (1.5, 3.0), (1.5, 3.0))
    assert "window 1.5 / 3 fixed" in seen.sentence
    deep = read_file(picture(tmp_path / "deep.png", ramp().astype(np.uint16)))
    assert as_model_sees(deep, window=(24.0, 48.0)).array.max() == 255


def test_slices_that_no_model_sees_are_not_decoded(tmp_path: Path, monkeypatch) -> None:
    asked: list[tuple[int, ...]] = []
    real = pixels.load_pixels

    def counted(evidence: Evidence) -> Pixels:
        loaded = real(evidence)
        asked.append(loaded.array.shape)
        return loaded

    monkeypatch.setattr(pixels, "load_pixels", counted)
    window = {"WindowCenter": 40, "WindowWidth": 400}
    cine = dicom(tmp_path / "us.dcm", np.stack([ramp()] * 90), NumberOfFrames=90, FrameTime=40,
                 Modality="US", **window)  # fmt: skip
    for name, more in (("with", window), ("without", {})):
        (tmp_path / name).mkdir()
        slices(tmp_path / name, [float(n) for n in range(100)], **more)
    for place, decoded in ((tmp_path / "with", 64), (tmp_path / "without", 100), (cine, 64)):
        (evidence,) = find_evidence([place])
        asked.clear()
        seen = as_model_sees(evidence)
        assert seen.indices == tuple(sample_indices((evidence.shape or (0,))[0], 64))
        assert [shape[0] for shape in asked] == [decoded]
        whole = upright(real(evidence))
        shown = np.stack([show_slice(whole, index) for index in seen.indices])
        assert (seen.array[..., 0] == shown).all()
        assert (prepare(item_of(evidence)).volumes[0] == seen.array).all()
        asked.clear()
        thumbnail(evidence, 8)
        assert [shape[0] for shape in asked] == [1]


def test_a_cine_and_pages_are_seen_frame_by_frame(tmp_path: Path) -> None:
    frames = np.stack([ramp(start=n) for n in range(70)])
    cine = read_file(
        dicom(tmp_path / "a.dcm", frames, NumberOfFrames=70, Modality="US", FrameTime=40)
    )
    assert cine.kind == "cine"
    seen = as_model_sees(cine)
    assert seen.indices == tuple(sample_indices(70, 64))
    assert seen.array[:, 0, 0, 0].tolist() == list(seen.indices)
    pages = [Image.fromarray(one) for one in frames[:3]]
    pages[0].save(tmp_path / "b.tif", save_all=True, append_images=pages[1:])
    several = read_file(tmp_path / "b.tif")
    assert item_of(several) == Item(volumes=(VolumeRef((tmp_path / "b.tif",), kind="file"),))
    assert rule_of(several).name == "pages"
    assert (as_model_sees(several).array[..., 0] == frames[:3]).all()


def test_the_first_time_point_is_seen_and_said(tmp_path: Path) -> None:
    values = np.arange(2 * 3 * 4 * 5, dtype=np.int16).reshape(2, 3, 4, 5)
    parts = [sitk.GetImageFromArray(one) for one in values]
    sitk.WriteImage(sitk.JoinSeries(parts), str(tmp_path / "t.nii"))
    evidence = read_file(tmp_path / "t.nii")
    assert evidence.times == 2
    seen = as_model_sees(evidence)
    assert seen.array.shape == (3, 4, 5, 3)
    assert "the first of 2 time points" in seen.sentence


def test_a_wrong_name_changes_nothing(tmp_path: Path) -> None:
    (path,) = slices(tmp_path, [1.0], WindowCenter=1, WindowWidth=4)
    wanted = as_model_sees(read_file(path)).array
    for name in ("a.png", "b.tif", "c.jpg", "d", "e.nii", "f.txt"):
        other = tmp_path / name
        other.write_bytes(path.read_bytes())
        evidence = read_file(other)
        assert (as_model_sees(evidence).array == wanted).all()
        assert (prepare(item_of(evidence)).images[0] == wanted[0]).all()
    plain = picture(tmp_path / "p.png", ramp())
    other = tmp_path / "p.dat"
    other.write_bytes(plain.read_bytes())
    assert (prepare(item_of(read_file(other))).images[0][..., 0] == ramp()).all()


def test_words_have_no_picture(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("Normal chest.", encoding="utf-8")
    with pytest.raises(EvidenceError, match="words of a report"):
        as_model_sees(read_file(tmp_path / "a.txt"))


def test_seen_slices_by_count() -> None:
    assert seen_slices(300) == tuple(sample_indices(300, 64))
    assert seen_slices(3, 2) == (0, 2)
    assert seen_slices(0) == ()


def test_statistics_hold_no_second_volume() -> None:
    values = np.arange(6_000_000, dtype=np.float32).reshape(6, 1000, 1000)
    values[2, 5, 7] = np.nan
    values[3, 0, 0] = np.inf
    tracemalloc.start()
    found = statistics(values)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    kept = values[np.isfinite(values)]
    assert found[:2] == (0.0, 5_999_999.0)
    np.testing.assert_allclose(found[2], kept.mean(dtype=np.float64), rtol=1e-12)
    assert peak < values.nbytes / 2
    assert statistics(np.full((2, 2), np.nan)) == (None, None, None)
    assert statistics(np.array([[True, False]])) == (0.0, 1.0, 0.5)


def test_a_mask_says_the_window_that_shows_it(tmp_path: Path) -> None:
    image = sitk.GetImageFromArray((ramp(6, 8) % 2).reshape(2, 3, 8))
    sitk.WriteImage(image, str(tmp_path / "mask.nrrd"))
    seen = as_model_sees(read_file(tmp_path / "mask.nrrd"))
    assert (seen.rule.window, seen.window) == ("derived", (1.0, 2.0))
    assert set(np.unique(seen.array)) == {0, 255}
    assert "window 1 / 2 from the values" in seen.sentence


def test_the_display_range_of_a_grid_is_for_readers_not_for_models(tmp_path: Path) -> None:
    raw = bytearray(nifti_bytes(ramp(6, 8).astype(np.int16).reshape(4, 4, 3), 4))
    plain, ranged = tmp_path / "a.nii", tmp_path / "b.nii"
    plain.write_bytes(bytes(raw))
    struct.pack_into("<2f", raw, 124, 40.0, 10.0)  # cal_max, cal_min
    ranged.write_bytes(bytes(raw))
    one, other = (as_model_sees(read_file(path)) for path in (plain, ranged))
    assert (one.array == other.array).all()
    assert one.window == other.window
    assert other.rule.window == "derived"
    assert "from the values" in other.sentence
    assert (prepare(item_of(read_file(ranged))).volumes[0] == other.array).all()
