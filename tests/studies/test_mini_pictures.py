"""The miniatures of label sources: official layouts that their builders read without a fault."""

from __future__ import annotations

import csv
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from studies.medheb.mini import medmnist
from tests.studies.mini_checks import Mini, check, same_bytes

# source to: quirks left out, and names that the official layout holds
SOURCES = {
    "kvasir": (0, ["kvasir-dataset-v2/dyed-lifted-polyps/*-*-4*-a*-*.jpg"]),
    "lc25000": (
        0,
        [
            "lung_colon_image_set/colon_image_sets/colon_aca/colonca1.jpeg",
            "lung_colon_image_set/lung_image_sets/lung_scc/lungscc14.jpeg",
        ],
    ),
    "rfmid": (
        0,
        [
            "Training_Set/Training/1.png",
            "Evaluation_Set/Validation/1.png",
            "Test_Set/Test/1.png",
            "Evaluation_Set/RFMiD_Validation_Labels.csv",
            "Test_Set/RFMiD_Testing_Labels.csv",
        ],
    ),
    # the two copies of one eye under two grades
    "aptos2019": (2, ["train.csv", "test.csv", "sample_submission.csv", "test_images/*.png"]),
    "mimic_cxr_lt": (
        0,
        [
            "labels/mimic-cxr-lt_single-label_train.csv",
            "labels/mimic-cxr-lt_single-label_balanced-test.csv",
            "files/p1?/p1???????/s5???????/????????-????????-????????-????????-????????.jpg",
            "mimic-cxr-2.0.0-split.csv.gz",
            "mimic-cxr-2.0.0-metadata.csv.gz",
        ],
    ),
    "isic2019": (
        0,
        [
            "ISIC_2019_Training_Input/ISIC_???????_downsampled.jpg",
            "ISIC_2019_Test_Input/ISIC_???????.jpg",
            "ISIC_2019_Training_Metadata.csv",
            "ISIC_2019_Test_GroundTruth.csv",
        ],
    ),
    "brain_tumor_mri": (0, ["Training/notumor/Tr-no_0010.jpg", "Testing/glioma/Te-gl_0013.jpg"]),
    "pannuke": (
        0,
        [
            "Fold 1/images/fold1/images.npy",
            "Fold 2/images/fold2/types.npy",
            "Fold 3/masks/fold3/masks.npy",
            "Fold 3/masks/by-nc-sa.md",
        ],
    ),
    **{name: (0, [f"{name}.npz", f"{name}_64.npz"]) for name in medmnist.SETS},
}


@pytest.mark.parametrize("source", SOURCES)
def test_a_source_goes_through_its_builder(source: str, mini: Callable[[str], Mini]):
    faulty, names = SOURCES[source]
    made = mini(source)
    check(made, faulty=faulty)
    for name in names:
        assert any(made.official.glob(name)), name


@pytest.mark.parametrize("source", ["lc25000", "aptos2019", "rfmid", "octmnist"])
def test_the_seed_alone_decides_the_bytes(source: str, tmp_path: Path):
    same_bytes(source, tmp_path)


@pytest.mark.parametrize(
    ("source", "classes"),
    [
        ("kvasir", 8),
        ("lc25000", 5),
        ("aptos2019", 5),
        ("mimic_cxr_lt", 19),
        ("isic2019", 8),
        ("brain_tumor_mri", 4),
        ("chestmnist", 14),
        ("tissuemnist", 8),
        ("pannuke", 19),
    ],
)
def test_every_class_is_asked_for_and_has_another_patient(
    source: str, classes: int, mini: Callable[[str], Mini]
):
    task = mini(source).tasks[f"{source}/i2i"]
    assert len({query.label for query in task.queries}) == classes
    assert {len(query.candidates) for query in task.queries} == {classes}


def test_chestmnist_rows_without_or_with_two_findings_are_no_queries(mini: Callable[[str], Mini]):
    made = mini("chestmnist")
    with np.load(made.official / "chestmnist_64.npz", allow_pickle=False) as arrays:
        sums = arrays["test_labels"].sum(axis=1)
        assert arrays["test_images"].shape == (len(sums), 64, 64)
    assert set(np.unique(sums)) == {0, 1, 2}
    assert len(made.tasks["chestmnist/i2l"].queries) == (sums == 1).sum()


def test_both_sizes_of_a_set_hold_the_same_samples(mini: Callable[[str], Mini]):
    folder = mini("bloodmnist").official
    small = np.load(folder / "bloodmnist.npz", allow_pickle=False)
    large = np.load(folder / "bloodmnist_64.npz", allow_pickle=False)
    assert small["test_images"].shape == (32, 28, 28, 3)
    np.testing.assert_array_equal(small["test_labels"], large["test_labels"])
    assert small["test_labels"].shape == (32, 1)


def test_rfmid_leaves_out_what_has_two_diseases(mini: Callable[[str], Mini]):
    made = mini("rfmid")
    with (made.official / "Test_Set" / "RFMiD_Testing_Labels.csv").open(newline="") as stream:
        rows = list(csv.DictReader(stream))
    named = [name for name in rows[0] if name not in ("ID", "Disease_Risk")]
    assert len(named) == 45
    assert "ODE " in named
    single = [row for row in rows if sum(int(row[name]) for name in named) <= 1]
    assert len(rows) - len(single) == 2
    queries = made.tasks["rfmid/i2i"].queries
    # two classes have one picture and no positive, as many more have none at all
    assert len(queries) == len(single) - 2
    assert "optic disc edema" in {query.label for query in queries}
    assert "normal" in {query.label for query in queries}


def test_lc25000_never_answers_with_a_copy_of_the_query(mini: Callable[[str], Mini]):
    made = mini("lc25000")
    for query in made.tasks["lc25000/i2i"].queries:
        own = int("".join(filter(str.isdigit, Path(query.item.images[0].path).stem)))
        gold = int("".join(filter(str.isdigit, Path(query.gold.partition(":")[0]).stem)))
        assert (own - 1) // 2 != (gold - 1) // 2  # two files of each original, in a row


def test_isic2019_has_a_class_that_nobody_is_asked_about(mini: Callable[[str], Mini]):
    made = mini("isic2019")
    queries = made.tasks["isic2019/i2l"].queries
    assert len(queries) == len(list((made.official / "ISIC_2019_Test_Input").glob("*.jpg"))) - 4
    assert all(len(query.candidates) == 8 for query in queries)


def test_pannuke_asks_for_several_crops_at_once(mini: Callable[[str], Mini]):
    made = mini("pannuke")
    texts = {query.label for query in made.tasks["pannuke_vg/t2r"].queries}
    assert len(texts) >= 4
    sizes = {len(query.candidates[0].item.images) for query in made.tasks["pannuke_vg/t2r"].queries}
    assert max(sizes) > 1


@pytest.mark.parametrize("source", ["kvasir", "octmnist", "pathmnist"])
def test_a_class_can_be_told_by_its_look(source: str, mini: Callable[[str], Mini]):
    """Mean colours and their spread find the class well above chance."""
    made = mini(source)
    task, hits = made.tasks[f"{source}/i2i"], []
    for query in task.queries:
        asked = _colours(query.item.images[0].path)
        near = min(
            query.candidates, key=lambda one: _apart(asked, _colours(one.item.images[0].path))
        )
        hits.append(near.name == query.gold)
    chance = 1 / len(task.queries[0].candidates)
    assert np.mean(hits) > 2 * chance


def _colours(path: Path) -> np.ndarray:
    pixels = np.asarray(Image.open(path).convert("RGB"), np.float64)
    return np.concatenate([pixels.mean(axis=(0, 1)), pixels.std(axis=(0, 1))])


def _apart(one: np.ndarray, other: np.ndarray) -> float:
    return float(((one - other) ** 2).sum())
