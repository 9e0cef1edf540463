"""PMC-VQA: letters and options in both versions, figures in folders and archives."""

from __future__ import annotations

import csv
import zipfile
from pathlib import Path

import pytest

from studies.errors import StudyError
from tests.studies.sources_words_checks import (
    built_task,
    jpeg,
    records_of,
    rows_of,
    texts,
)

FIRST = ("Figure_path", "Question", "Answer", "Choice A", "Choice B", "Choice C", "Choice D",
         "Answer_label")  # fmt: skip
SECOND = ("index", "Figure_path", "Caption", "Question", "Choice A", "Choice B", "Choice C",
          "Choice D", "Answer", "split")  # fmt: skip
OPTIONS = (" A:Diffuse uptake pattern ", " B:Focal uptake pattern ", " C:No uptake", " D:C: none")


def table(path: Path, columns: tuple[str, ...], rows: list[tuple[str, ...]]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("w", encoding="utf-8", newline="") as stream:
        writer = csv.writer(stream)
        writer.writerow(columns)
        writer.writerows(rows)


@pytest.fixture
def first(tmp_path: Path) -> Path:
    root = tmp_path / "set"
    rows = [
        ("a_F1.jpg", "Which uptake?", "Focal uptake pattern", *OPTIONS, "B"),
        ("a_F1.jpg", "And\nthis, then?", " focal uptake pattern.", *OPTIONS, ""),
        ("b_F1.jpg", "Or here?", "Something else", *OPTIONS, ""),
        ("b_F1.jpg", "Last?", "C: none", *OPTIONS, "D"),
        ("c_F1.jpg", "Lost?", "No uptake", *OPTIONS, "C"),
    ]
    table(root / "test.csv", FIRST, rows)
    (root / "images").mkdir()
    for name in "ab":
        (root / "images" / f"{name}_F1.jpg").write_bytes(jpeg(ord(name)))
    return root


@pytest.fixture
def second(tmp_path: Path) -> Path:
    root = tmp_path / "second"
    rows = [
        ("0", "a_F1.jpg", "A caption.", "Which?", *OPTIONS, "A", "test"),
        ("1", "b_F1.jpg", "A caption.", "What?", *OPTIONS, "B", "test"),
    ]
    table(root / "test_2.csv", SECOND, rows)
    table(root / "train_2.csv", SECOND, [(*rows[0][:-1], "train")])
    with zipfile.ZipFile(root / "images_2.zip", "w") as archive:
        for name in "ab":
            archive.writestr(f"figures/{name}_F1.jpg", jpeg(ord(name)))
    return root


def test_version_1_takes_the_option_of_the_letter_without_it(first: Path):
    records, faults = records_of("pmc_vqa", first)
    assert texts(records) == [
        ("Which uptake?", "Focal uptake pattern"),
        ("And\nthis, then?", "Focal uptake pattern"),
        ("Last?", "C: none"),
    ]
    assert [fault.reason for fault in faults] == [
        "its answer is none of its options", "its picture is not in images"
    ]  # fmt: skip
    kept, _ = records_of("pmc_vqa", first, unmatched="keep")
    assert ("Or here?", "Something else") in texts(kept)


def test_the_misspelt_column_of_early_revisions_is_read(first: Path):
    path = first / "test.csv"
    path.write_text(path.read_text("utf-8").replace("Answer", "Anwser", 1), "utf-8")
    records, _ = records_of("pmc_vqa", first)
    assert texts(records)[1] == ("And\nthis, then?", "Focal uptake pattern")


def test_the_task_reads_back_and_no_query_shows_its_options(first: Path, tmp_path: Path):
    read, pools = built_task("pmc_vqa", first, tmp_path / "data", "pmc_vqa/vqa")
    assert {one.name for one in pools.candidates} == {"Focal uptake pattern", "C: none"}
    assert len(read.queries) == 3
    for row in rows_of("pmc_vqa/vqa", tmp_path / "data"):
        assert row["tgt_text"][0] not in row["qry_text"]
    root = tmp_path / "data" / "2D_Images" / "PMC"
    assert (root / "a_F1.jpg").read_bytes() == jpeg(ord("a"))


def test_version_2_names_the_letter_alone_and_its_archive_may_stay_packed(
    second: Path, tmp_path: Path
):
    read, pools = built_task("pmc_vqa", second, tmp_path / "data", "pmc_vqa/vqa")
    assert {one.name for one in pools.candidates} == {
        "Diffuse uptake pattern", "Focal uptake pattern"
    }  # fmt: skip
    assert read.built is not None
    assert "Read from test_2.csv." in read.built.notes
    root = tmp_path / "data" / "2D_Images" / "PMC"
    assert (root / "b_F1.jpg").read_bytes() == jpeg(ord("b"))


def test_figures_of_the_training_part_can_be_left_out(second: Path):
    records, faults = records_of("pmc_vqa", second, train_figures="drop")
    assert texts(records) == [("What?", "Focal uptake pattern")]
    assert [fault.reason for fault in faults] == [
        "its figure stands in train_2.csv too: not tested"
    ]  # fmt: skip
    (second / "train_2.csv").unlink()
    with pytest.raises(StudyError, match=r"train_2\.csv: it is needed"):
        records_of("pmc_vqa", second, train_figures="drop")


def test_the_version_with_pictures_is_taken_and_a_missing_one_refused(first: Path, second: Path):
    (first / "test_2.csv").write_bytes((second / "test_2.csv").read_bytes())
    assert len(records_of("pmc_vqa", first)[0]) == 3
    with pytest.raises(StudyError, match=r"neither the folder figures nor images_2\.zip"):
        records_of("pmc_vqa", first, version="2")
    with pytest.raises(StudyError, match=r"test_clean\.csv: it is not there"):
        records_of("pmc_vqa", first, version="1-clean")
