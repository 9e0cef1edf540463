"""ROCO by questions of the hub's copy and by captions of both versions."""

from __future__ import annotations

import csv
from pathlib import Path

import pytest

from studies.errors import StudyError
from tests.studies.sources_words_checks import (
    built_task,
    jpeg,
    png,
    records_of,
    rows_of,
    texts,
    write_parquet,
)


def rows(count: int, start: int = 0) -> list[dict]:
    return [
        {
            "image_id": f"ROCO_{place:05d}",
            "image": png(place) if place % 2 else jpeg(place),
            "question": f"What is seen in number {place}?",
            "answer": f"Finding {place // 2}",
        }
        for place in range(start, start + count)
    ]


@pytest.fixture
def hub(tmp_path: Path) -> Path:
    root = tmp_path / "set"
    write_parquet(root / "data" / "Test-00000-of-00001.parquet", rows(5))
    write_parquet(root / "data" / "Vaild-00000-of-00001.parquet", rows(3, 10))
    return root


def names(data: Path) -> list[str]:
    return [row["qry_img_path"] for row in rows_of("roco_vqa/vqa", data)]


def test_the_copy_is_read_as_it_is_and_numbered_within_the_test_part(hub: Path, tmp_path: Path):
    read, pools = built_task("roco_vqa", hub, tmp_path / "data", "roco_vqa/vqa")
    assert len(read.queries) == 5
    assert {one.name for one in pools.candidates} == {"Finding 0", "Finding 1", "Finding 2"}
    assert names(tmp_path / "data") == [
        "Test_000000.jpg", "Test_000001.png", "Test_000002.jpg", "Test_000003.png",
        "Test_000004.jpg",
    ]  # fmt: skip
    root = tmp_path / "data" / "2D_Images" / "ROCO-VQA"
    assert (root / "Test_000003.png").read_bytes() == png(3)


def test_the_authors_count_over_five_files_in_their_order(hub: Path, tmp_path: Path):
    with pytest.raises(StudyError, match=r"Train-\*\.parquet: it is needed to count"):
        records_of("roco_vqa", hub, numbering="release")
    write_parquet(hub / "data" / "Train-00000-of-00001.parquet", rows(7, 20))
    write_parquet(hub / "data" / "Valid-00000-of-00002.parquet", rows(2, 40))
    write_parquet(hub / "data" / "Valid-00001-of-00002.parquet", rows(4, 50))
    built_task("roco_vqa", hub, tmp_path / "data", "roco_vqa/vqa", numbering="release")
    assert names(tmp_path / "data")[0] == f"Test_{3 + 7 + 4:06d}.jpg"


def first_version(root: Path) -> Path:
    folder = root / "all_data" / "test" / "radiology"
    (folder / "images").mkdir(parents=True)
    lines = [
        "ROCO_00001\t A CT of the  chest. ", "ROCO_00002\tA\tsecond caption.\r",
        "ROCO_00003\tLost picture.", "", "ROCO_00004\t ", "ROCO_00005\tA CT of the chest.",
    ]  # fmt: skip
    (folder / "captions.txt").write_text("\n".join(lines), "utf-8")
    for number in (1, 2, 4, 5):
        (folder / "images" / f"ROCO_0000{number}.jpg").write_bytes(jpeg(number))
    return root


def test_captions_of_the_first_version_answer_one_question(tmp_path: Path):
    root = first_version(tmp_path / "set")
    records, faults = records_of("roco_vqa", root)
    assert {words[0] for words in texts(records)} == {"What does the image show?"}
    assert [words[1] for words in texts(records)] == [
        "A CT of the chest.", "A second caption.", "A CT of the chest."
    ]  # fmt: skip
    assert [fault.reason for fault in faults] == [
        "its picture is not in images", "there is no answer"
    ]  # fmt: skip
    read, pools = built_task(
        "roco_vqa", root, tmp_path / "data", "roco_vqa/vqa", question="What is this?"
    )
    assert {query.item.text for query in read.queries} == {"What is this?"}
    assert len(pools.candidates) == 2
    assert read.built is not None
    assert "Captions of ROCO 1 as answers to one fixed question." in read.built.notes


def test_captions_of_the_second_version_and_no_mixing(tmp_path: Path):
    root = tmp_path / "set"
    (root / "test").mkdir(parents=True)
    with (root / "test_captions.csv").open("w", encoding="utf-8", newline="") as stream:
        writer = csv.writer(stream)
        writer.writerows([("ID", "Caption"), ("ROCOv2_2023_test_000001", "One, two.")])
    (root / "test" / "ROCOv2_2023_test_000001.jpg").write_bytes(jpeg(1))
    records, _ = records_of("roco_vqa", root)
    assert texts(records) == [("What does the image show?", "One, two.")]
    first_version(root)
    assert len(records_of("roco_vqa", root)[0]) == 3
    assert len(records_of("roco_vqa", root, route="captions-2")[0]) == 1
    with pytest.raises(StudyError, match="the test part is not there"):
        records_of("roco_vqa", root, route="qa")
