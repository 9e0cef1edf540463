"""Damaged tables, arrays and pictures of regions and reports: faults or a sentence, no crash."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from studies.errors import StudyError
from studies.medheb.mini.catalogue import writer
from tests.studies.sources_2d_checks import build, records_of

POINTER = b"version https://git-lfs.github.com/spec/v1\noid sha256:x\nsize 5\n"
# source: its tables and arrays, its pictures (patterns)
MATERIAL: dict[str, tuple[tuple[str, ...], str]] = {
    "chest_imagenome": (("gold_bbox*.csv", "cxr-record-list*.csv"), "*.jpg"),
    "vindr_cxr": (("annotations_test.csv",), "*.dicom"),
    "vindr_mammo": (("finding_annotations.csv",), "*.dicom"),
    "kvasir_seg": (("kavsir_bboxes.json", "polypgen*.npz"), "*.jpg"),
    "isic2018": (("uwaterloo*.npz",), "*_segmentation.png"),
    "ultrasound_nerve": (("usforkidney*.npz",), "*_mask.tif"),
    "mimic_cxr": (("*split.csv.gz", "*metadata.csv.gz"), "*.jpg"),
    "chexpert_plus": (("df_chexpert*.csv", "impression_fixed.json"), "*.png"),
    "usdata": (("new_Liver2.json",), "*.jpeg"),
}
WAYS: dict[str, Callable[[bytes], bytes]] = {
    "half": lambda whole: whole[: len(whole) // 2],
    "empty": lambda whole: b"",
    "pointer": lambda whole: POINTER,
    "noise": lambda whole: bytes(range(255, 0, -1)) * 3,
}


@pytest.fixture(scope="module", params=sorted(MATERIAL))
def mini(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory):
    folder = tmp_path_factory.mktemp("damage") / request.param
    writer(request.param)(folder, seed=3)
    return request.param, folder


@pytest.mark.parametrize("way", WAYS)
def test_damage_is_told(mini: tuple[str, Path], way: str):
    source, folder = mini
    for pattern in MATERIAL[source][0]:
        path = next(iter(sorted(folder.rglob(pattern))))
        content = path.read_bytes()
        path.write_bytes(WAYS[way](content))
        try:
            told = _told(source, folder)
        finally:
            path.write_bytes(content)
        assert told or way == "half", path.name


def _told(source: str, folder: Path) -> list[str]:
    """What is said of a folder: its faults, or the sentence that refuses it."""
    try:
        return [f"{fault.where}: {fault.reason}" for fault in records_of(source, folder)[1]]
    except StudyError as error:
        return [str(error)]


def test_a_damaged_picture_costs_its_own_rows(mini: tuple[str, Path], tmp_path: Path):
    source, folder = mini
    clean = build(source, folder, tmp_path / "clean")
    path = sorted(folder.rglob(MATERIAL[source][1]))[0]
    content = path.read_bytes()
    path.write_bytes(content[: len(content) // 3])
    try:
        hurt = build(source, folder, tmp_path / "hurt")
    finally:
        path.write_bytes(content)
    for task, one in clean["tasks"].items():
        lost = one["rows"] - hurt["tasks"][task]["rows"]
        assert 0 <= lost <= max(30, one["rows"] // 4), task
        told = hurt["faulty"] + hurt["tasks"][task]["faulty"]
        assert told or lost == 0, task
