"""The other arrangements in which the same files are about: mirrors, unpacked archives, arrays."""

from __future__ import annotations

import shutil
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from engine.control import Control
from studies.errors import StudyError
from studies.medheb.builders.job import build_job
from studies.medheb.mini.catalogue import writer
from studies.medheb.mini.medsegbench import write_arrays
from tests.studies.mini_checks import needs_reader

Change = Callable[[Path], None]


def moved(*pairs: tuple[str, str]) -> Change:
    """Files or folders under another name, the first of each pair taken away."""

    def change(folder: Path) -> None:
        for old, new in pairs:
            (folder / new).parent.mkdir(parents=True, exist_ok=True)
            shutil.move(folder / old, folder / new)

    return change


def doubled(*names: str) -> Change:
    """Folders inside a folder of the same name, as mirrors have them."""

    def change(folder: Path) -> None:
        for name in names:
            inner = (folder / name).rename(folder / "held")
            (folder / name).mkdir()
            inner.rename(folder / name / Path(name).name)

    return change


def unpacked(name: str, into: str) -> Change:
    """An archive's content in place of it."""

    def change(folder: Path) -> None:
        with zipfile.ZipFile(folder / name) as archive:
            archive.extractall(folder / into)
        (folder / name).unlink()

    return change


def arrays_alone(flag: str, keep: str, *, grey: bool = False) -> Change:
    """The first data set of a task as MedSegBench's arrays, its official files not there."""

    def change(folder: Path) -> None:
        for path in folder.iterdir():
            if path.is_dir():
                shutil.rmtree(path)
            elif path.name != keep:
                path.unlink()
        write_arrays(folder, flag, seed=3, kind=5, grey=grey)

    return change


BUNDLE = "A. RFMiD_All_Classes_Dataset"
CHALLENGE = moved(
    ("Training_Set/Training", f"{BUNDLE}/1. Original Images/a. Training Set"),
    ("Evaluation_Set/Validation", f"{BUNDLE}/1. Original Images/b. Validation Set"),
    ("Test_Set/Test", f"{BUNDLE}/1. Original Images/c. Testing Set"),
    (
        "Training_Set/RFMiD_Training_Labels.csv",
        f"{BUNDLE}/2. Groundtruths/a. RFMiD_Training_Labels.csv",
    ),
    (
        "Evaluation_Set/RFMiD_Validation_Labels.csv",
        f"{BUNDLE}/2. Groundtruths/b. RFMiD_Validation_Labels.csv",
    ),
    ("Test_Set/RFMiD_Testing_Labels.csv", f"{BUNDLE}/2. Groundtruths/c. RFMiD_Testing_Labels.csv"),
)
PARTS = ("Training_Set", "Evaluation_Set", "Test_Set")
ANNOTATIONS = "vindr-cxr/1.0.0/annotations"
# source, its change, and the rows of its last task
MIRRORS: dict[str, tuple[str, Change, int]] = {
    "kvasir twice": ("kvasir", doubled("kvasir-dataset-v2"), 16),
    "lc25000 test folder": (
        "lc25000",
        moved(
            (
                "lung_colon_image_set/colon_image_sets",
                "lung_colon_image_set/Test_Set/colon_image_sets",
            ),
            (
                "lung_colon_image_set/lung_image_sets",
                "lung_colon_image_set/Test_Set/lung_image_sets",
            ),
        ),
        70,
    ),
    "rfmid of the challenge": ("rfmid", CHALLENGE, 85),
    "rfmid twice": ("rfmid", doubled(*PARTS), 85),
    "rfmid in small letters": (
        "rfmid",
        moved(("Test_Set/RFMiD_Testing_Labels.csv", "Test_Set/RFMiD_Testing_labels.csv")),
        85,
    ),
    "isic2019 twice": ("isic2019", doubled("ISIC_2019_Test_Input"), 32),
    "vindr_cxr tables beside": (
        "vindr_cxr",
        moved(
            *(
                (f"{ANNOTATIONS}/{name}.csv", f"vindr-cxr/1.0.0/{name}.csv")
                for name in ("annotations_test", "annotations_train")
            )
        ),
        48,
    ),
    "isic2018 twice": (
        "isic2018",
        doubled("ISIC2018_Task1-2_Test_Input", "ISIC2018_Task1_Test_GroundTruth"),
        14,
    ),
    "kvasir_seg arrays": ("kvasir_seg", arrays_alone("kvasir", "polypgen_512.npz"), 12),
    "isic2018 arrays": ("isic2018", arrays_alone("isic2018", "uwaterlooskincancer_512.npz"), 12),
    "nerve arrays": (
        "ultrasound_nerve",
        arrays_alone("ultrasoundnerve", "usforkidney_512.npz", grey=True),
        12,
    ),
    "mimic reports unpacked": (
        "mimic_cxr",
        unpacked("mimic-cxr-reports.zip", "mimic-cxr-reports"),
        11,
    ),
    "mimic in one tree": (
        "mimic_cxr",
        unpacked("mimic-cxr-reports.zip", "mimic-cxr-jpg/2.1.0"),
        11,
    ),
    "chexpert in one PNG": (
        "chexpert_plus",
        moved(("PNG/PNG", "held"), ("held/train", "PNG/train"), ("held/valid", "PNG/valid")),
        33,
    ),
    "chexpert by chunks": (
        "chexpert_plus",
        moved(("PNG/PNG", "PNG/png_chexpert_plus_chunk_0/PNG")),
        33,
    ),
    "usdata twice": ("usdata", doubled("USData/Thyroid_report", "USData/Liver_report"), 18),
}


def build(source: str, folder: Path, data: Path) -> dict[str, Any]:
    given = {"source": source, "folder": str(folder), "data": str(data)}
    return build_job(None, given, Control())  # type: ignore[arg-type]


@pytest.mark.parametrize("name", MIRRORS)
def test_another_arrangement_gives_as_many_rows(name: str, tmp_path: Path):
    source, change, rows = MIRRORS[name]
    needs_reader(source)
    writer(source)(tmp_path / "official", seed=42)
    change(tmp_path / "official")
    document = build(source, tmp_path / "official", tmp_path / "data")
    assert [one["rows"] for one in document["tasks"].values()][-1] == rows
    assert document["faulty"] == 0


def test_the_older_brain_set_is_told_apart(tmp_path: Path):
    writer("brain_tumor_mri")(tmp_path / "official", seed=42)
    for part in ("Training", "Testing"):
        folder = tmp_path / "official" / part
        (folder / "notumor").rename(folder / "no_tumor")
    with pytest.raises(StudyError, match="another data set"):
        build("brain_tumor_mri", tmp_path / "official", tmp_path / "data")
