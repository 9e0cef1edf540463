"""Slices against the release's rules, computed a second time from the official files.

Which slices, which grey values: array axis 2 without turning, windows and percentiles by source.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import nibabel
import numpy as np
import pytest
import SimpleITK as sitk
from PIL import Image
from scipy import ndimage

from studies.medheb.release import Query
from tests.studies.mini_checks import Mini
from tests.studies.mini_root import MiniRoot

Get = Callable[[str], Mini]
SLICES = 64


@pytest.fixture(scope="module")
def mini(mini_root: MiniRoot) -> Get:
    return mini_root.of


def array(path: Path) -> np.ndarray:
    """[X, Y, Z], as nibabel and pynrrd read it."""
    if path.name.endswith(".nrrd"):
        return sitk.GetArrayFromImage(sitk.ReadImage(str(path))).T
    return np.asarray(nibabel.load(path).dataobj)


def shown(paths: tuple[Path, ...]) -> np.ndarray:
    """[S, H, W]."""
    slices = []
    for path in paths:
        with Image.open(path) as picture:
            assert picture.mode == "L"
            slices.append(np.asarray(picture).astype(int))
    return np.stack(slices)


def windowed(values: np.ndarray, level: float, width: float) -> np.ndarray:
    return np.clip((values - (level - width / 2)) / width, 0, 1) * 255


def stretched(values: np.ndarray, low: float, high: float) -> np.ndarray:
    bottom, top = np.percentile(values[values > 0], (low, high))
    return np.clip((values - bottom) / (top - bottom), 0, 1) * 255


def whole(values: np.ndarray) -> list[int]:
    """All slices where there are fewer than 64."""
    return list(range(values.shape[2]))


def informative(values: np.ndarray, share: float) -> list[int]:
    kept = [k for k in range(values.shape[2]) if (values[:, :, k] > 0).mean() >= share]
    assert 1 < len(kept) < SLICES
    return [kept[round(place)] for place in np.linspace(0, len(kept) - 1, SLICES)]


def between(values: np.ndarray, share: float) -> list[int]:
    kept = [k for k in range(values.shape[2]) if (values[:, :, k] > 0).mean() >= share]
    return [int(place) for place in np.linspace(kept[0], kept[-1], SLICES)]


def agree(found: np.ndarray, grey: np.ndarray, places: list[int]) -> None:
    """Within one grey value, and never mirrored or turned."""
    expected = np.moveaxis(grey[:, :, places], 2, 0)
    assert found.shape == expected.shape
    assert np.abs(found - expected).max() <= 1
    assert expected.std() > 5


def query_paths(query: Query) -> tuple[Path, ...]:
    return query.item.volumes[0].paths


def target_paths(query: Query) -> tuple[Path, ...]:
    return query.candidates[0].item.volumes[0].paths


def case_of(paths: tuple[Path, ...]) -> str:
    return paths[0].parent.name


def test_heads(mini: Get):
    made = mini("han_seg")
    for query in made.tasks["han_seg/mri-ct"].queries:
        case = f"case_{case_of(query_paths(query))}"
        base = made.official / "HaN-Seg" / "set_1" / case
        ct, mr = array(base / f"{case}_IMG_CT.nrrd"), array(base / f"{case}_IMG_MR_T1.nrrd")
        agree(shown(target_paths(query)), windowed(ct, 50, 350), whole(ct))
        agree(shown(query_paths(query)), stretched(mr, 0.5, 99.5), informative(mr, 0.015))


@pytest.mark.parametrize(
    ("region", "window", "share", "low"),
    [("brain", (40, 80), 0.015, 0.5), ("pelvis", (35, 350), 0.02, 1)],
)
def test_brains_and_pelves(
    mini: Get, region: str, window: tuple[float, float], share: float, low: float
):
    made = mini(f"synthrad2023_{region}")
    for query in made.tasks[f"synthrad2023_{region}/mri-ct"].queries:
        base = made.official / "Task1" / region / case_of(query_paths(query))
        ct, mr = array(base / "ct.nii.gz"), array(base / "mr.nii.gz")
        agree(shown(target_paths(query)), windowed(ct, *window), whole(ct))
        agree(shown(query_paths(query)), stretched(mr, low, 99.5), informative(mr, share))


def test_brains_of_children(mini: Get):
    made = mini("brats")
    for query in made.tasks["brats/t1-t2"].queries:
        name = f"BraTS-{case_of(query_paths(query))}"
        case = name if "PED" in name else name.replace("BraTS-", "BraTS-PED-")
        (base,) = made.official.glob(f"*ValidationData/{case}")
        for paths, sequence in ((query_paths(query), "t1n"), (target_paths(query), "t2w")):
            values = array(base / f"{case}-{sequence}.nii.gz")
            agree(shown(paths), stretched(values, 0.5, 99.5), informative(values, 0.015))


def test_meningiomas(mini: Get):
    made = mini("brats_men_reports")
    for query in made.tasks["brats_men/i2r"].queries:
        case = case_of(query_paths(query))
        (path,) = made.official.glob(f"*/{case}/{case}-t1n.nii.gz")
        values = array(path)
        agree(shown(query_paths(query)), stretched(values, 0.5, 99.5), informative(values, 0.015))


def test_livers(mini: Get):
    made = mini("cirrmri600_plus")
    checked = 0
    for query in made.tasks["cirrmri600/t1-t2"].queries:
        for paths, tree in ((query_paths(query), "T1"), (target_paths(query), "T2")):
            name = case_of(paths)
            if name.isdecimal():
                path = made.official / f"Cirrhosis_{tree}_3D" / "test_images" / f"{name}.nii.gz"
            else:
                folder = made.official / "Healthy_subjects" / f"{tree}_W_Healthy"
                path = folder / f"{tree}_images" / f"{name.rpartition('_')[2]}.nii.gz"
            values = array(path)
            agree(shown(paths), stretched(values, 1, 99.5), between(values, 0.01))
            checked += 1
    assert checked == 20


def test_chests(mini: Get):
    made = mini("ct_rate")
    for query in made.tasks["ct_rate/i2l"].queries:
        (path,) = made.official.rglob(f"{case_of(query_paths(query))}.nii.gz")
        values = array(path)
        agree(shown(query_paths(query)), windowed(values, -600, 1500), whole(values))


def test_resampled_chests(mini: Get):
    made = mini("radgenome_chest_ct")
    for query in made.tasks["radgenome_chestct/i2r"].queries:
        (path,) = made.official.rglob(f"{case_of(query_paths(query))}.nii.gz")
        values = array(path)
        agree(shown(query_paths(query)), windowed(values, -600, 1500), whole(values))


@pytest.mark.parametrize("source", ["organmnist3d", "nodulemnist3d", "synapsemnist3d"])
def test_arrays(source: str, mini: Get):
    made = mini(source)
    with np.load(made.official / f"{source}.npz") as arrays:
        volumes = arrays["test_images"]
    queries = made.tasks[f"{source}/i2l"].queries
    for query, values in zip(queries, volumes, strict=True):
        agree(shown(query_paths(query)), values.astype(float), whole(values))


def test_teeth(mini: Get):
    """Canonical orientation, transposed, the window widened at its upper end."""
    made = mini("mmdental")
    for query in made.tasks["mmdental/i2r"].queries:
        paths = query_paths(query)
        (path,) = made.official.rglob(f"{case_of(paths)}.nii.gz")
        values = np.asarray(nibabel.as_closest_canonical(nibabel.load(path)).dataobj, float)
        low, high = np.percentile(values[values != 0], (0.5, 99.5))
        grey = np.clip((values - low) / (1.2 * (high - low)), 0, 1) * 255
        for plane, axis in enumerate((2, 1, 0)):
            count = grey.shape[axis]
            places = np.linspace(0.05 * (count - 1), 0.95 * (count - 1), 20)
            for place, one in zip(places, paths[20 * plane : 20 * plane + 20], strict=True):
                with Image.open(one) as picture:
                    pixels = np.asarray(picture).astype(int)
                near = {int(place), min(int(place) + 1, count - 1)}  # rounding is not told
                gaps = [np.abs(np.take(grey, k, axis).T - pixels).max() for k in near]
                assert min(gaps) <= 1, (one, place)


def test_knees_are_ten_slices_of_each_plane_in_order(mini: Get):
    """Which slices and which scale is not told; each is one of its plane's, in order."""
    made = mini("mrnet")
    for query in made.tasks["mrnet/i2l"].queries:
        paths = query_paths(query)
        for plane, name in enumerate(("axial", "coronal", "sagittal")):
            base = made.official / "MRNet-v1.0" / "valid" / name
            stored = np.load(base / f"{case_of(paths)}.npy").astype(float)
            ten = shown(paths[10 * plane : 10 * plane + 10]).astype(float)
            flat = stored.reshape(len(stored), -1)
            alike = [np.corrcoef(one.ravel(), flat)[0, 1:] for one in ten]
            places = [int(np.argmax(one)) for one in alike]
            assert all(one.max() > 0.99 for one in alike), "neither turned nor of another plane"
            assert places == sorted(places)
            assert len(set(places)) == 10


def film(path: Path) -> np.ndarray:
    """The release's radiograph of a chest, from its description."""
    loaded = nibabel.load(path)
    units = np.clip(np.asarray(loaded.dataobj, float), -1000, 1200)
    across, along, up = (float(step) for step in loaded.header.get_zooms())
    square = np.ones((5, 5, 1))
    body = ndimage.binary_opening(ndimage.binary_closing(units > -700, square), square)
    attenuation = np.where(body, 0.0025 * (units / 1000 + 1), 0)
    through = np.exp(-attenuation.sum(axis=1) * along)
    low, high = np.percentile(through, (0.5, 99.5))
    grey = 255 * (1 - np.clip((through - low) / (high - low), 0, 1)).T[::-1]
    smaller = min(across, up)
    size = (round(grey.shape[1] * across / smaller), round(grey.shape[0] * up / smaller))
    grey = np.asarray(Image.fromarray(grey.astype(np.uint8)).resize(size, Image.BILINEAR), float)
    rows, columns = np.where(grey > np.percentile(grey, 3))
    top, left = max(rows.min() - 8, 0), max(columns.min() - 8, 0)
    return grey[top : rows.max() + 9, left : columns.max() + 9]


def test_radiographs(mini: Get):
    made = mini("ct_rate")
    for query in made.tasks["ct_rate/xray-ct"].queries:
        (image,) = query.item.images
        (path,) = made.official.rglob(f"{image.path.stem}.nii.gz")
        with Image.open(image.path) as picture:
            pixels = np.asarray(picture.convert("L")).astype(float)
        expected = film(path)
        assert pixels.std() > 20
        assert np.abs(np.subtract(pixels.shape, expected.shape)).max() <= 1
        high, wide = np.minimum(pixels.shape, expected.shape)
        first, second = pixels[:high, :wide], expected[:high, :wide]
        alike = [
            np.corrcoef(first.ravel(), one.ravel())[0, 1]
            for one in (second, second[::-1], second[:, ::-1])
        ]
        assert alike[0] > 0.99
        assert alike[0] > max(alike[1:]), "neither upside down nor the wrong way round"
