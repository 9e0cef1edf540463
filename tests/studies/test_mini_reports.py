"""The miniatures of report sources: official layouts, and which records make a query."""

from __future__ import annotations

import csv
import gzip
import json
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest

from studies.medheb.mini import reports
from tests.studies.mini_checks import Mini, check, same_bytes

SOURCES = {
    "mimic_cxr": [
        "mimic-cxr-reports.zip",
        "cxr-record-list.csv.gz",
        "cxr-study-list.csv.gz",
        "mimic-cxr-jpg/2.1.0/files/p1?/p1???????/s5???????/*.jpg",
        "mimic-cxr-jpg/2.1.0/mimic-cxr-2.0.0-chexpert.csv.gz",
        "mimic-cxr-jpg/2.1.0/mimic-cxr-2.0.0-negbio.csv.gz",
        "mimic-cxr-jpg/2.1.0/mimic-cxr-2.1.0-test-set-labeled.csv",
    ],
    "chexpert_plus": [
        "df_chexpert_plus_240401.csv",
        "chexbert_labels/impression_fixed.json",
        "PNG/PNG/train/patient00001/study1/view1_frontal.png",
        "PNG/PNG/train/patient00004/study1/view2_lateral.png",
        "PNG/PNG/valid/patient?????/study1/view1_frontal.png",
    ],
    "usdata": [
        "USData/new_Thyroid2.json",
        "USData/new_Mammary2.json",
        "USData/new_Liver2.json",
        "USData/Thyroid_report/1_1.jpeg",
        "USData/Liver_report/*_2.jpeg",
        "USData/key_technical_words.txt",
    ],
}


@pytest.mark.parametrize("source", SOURCES)
def test_a_source_goes_through_its_builder(source: str, mini: Callable[[str], Mini]):
    made = mini(source)
    check(made)
    for name in SOURCES[source]:
        assert any(made.official.glob(name)), name


@pytest.mark.parametrize("source", SOURCES)
def test_the_seed_alone_decides_the_bytes(source: str, tmp_path: Path):
    same_bytes(source, tmp_path)


def test_mimic_reports_have_headings_of_several_kinds(mini: Callable[[str], Mini]):
    made = mini("mimic_cxr")
    with zipfile.ZipFile(made.official / "mimic-cxr-reports.zip") as archive:
        texts = [archive.read(name).decode() for name in archive.namelist()]
    for heading in (" FINDINGS:", " Findings:", "CONCLUSION:", "FINDINGS AND IMPRESSION:"):
        assert any(heading in text for text in texts), heading
    assert sum(reports.COMMON in text for text in texts) == 2
    assert all("___" in text for text in texts)


def test_mimic_pairs_findings_with_impressions(mini: Callable[[str], Mini]):
    made = mini("mimic_cxr")
    pairs = made.tasks["mimic_cxr/t2t"].queries
    # 16 test studies less two of each: combined sections, findings without a heading; one bare
    assert len(pairs) == 11
    assert sum(query.gold == reports.COMMON for query in pairs) == 2
    shown = made.tasks["mimic_cxr/i2r"].queries
    assert len(shown) == 10  # one of those has no frontal view
    labels = _labels_of_studies(made.official / "mimic-cxr-jpg" / "2.1.0")
    for query in shown:
        (picture,) = query.item.images
        (label,) = labels[picture.path.parent.name.removeprefix("s")]
        assert f"in keeping with {label.lower()} at" in " ".join(query.gold.split())


def _labels_of_studies(jpg: Path) -> dict[str, list[str]]:
    with gzip.open(jpg / "mimic-cxr-2.0.0-chexpert.csv.gz", "rt", newline="") as stream:
        return {
            row["study_id"]: [name for name, value in row.items() if value == "1.0"]
            for row in csv.DictReader(stream)
        }


def test_chexpert_asks_for_all_fourteen_labels(mini: Callable[[str], Mini]):
    made = mini("chexpert_plus")
    for name in ("chexpert_plus/i2l", "chexpert_plus/t2i"):
        assert len({query.label for query in made.tasks[name].queries}) == 14, name
    with (made.official / "df_chexpert_plus_240401.csv").open(newline="") as stream:
        table = list(csv.DictReader(stream))
    assert {row["split"] for row in table} == {"train", "valid"}
    assert all(row["path_to_image"].endswith(".jpg") for row in table)
    assert any(not row["section_findings"].strip() for row in table)
    labels = (made.official / "chexbert_labels" / "impression_fixed.json").read_text("utf-8")
    marks = [set(json.loads(line).values()) for line in labels.splitlines()]
    assert any(-1.0 in one for one in marks)


def test_usdata_shows_both_pictures_and_merges_equal_texts(mini: Callable[[str], Mini]):
    made = mini("usdata")
    task = made.tasks["usdata/i2r"]
    assert {len(query.item.images) for query in task.queries} == {2}
    texts = [query.gold for query in task.queries]
    assert len(texts) - len(set(texts)) in (0, 3)  # one report of each organ occurs twice
    assert all("_2DS_" in text for text in texts)
    assert (made.official / "USData" / "new_Liver2.json").read_bytes().startswith(b"\xef\xbb\xbf")
