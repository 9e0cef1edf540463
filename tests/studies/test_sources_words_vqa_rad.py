"""VQA-RAD from the hub's copy and from OSF's files."""

from __future__ import annotations

from pathlib import Path

import pytest

from studies.errors import StudyError
from tests.studies.sources_words_checks import (
    build,
    built_task,
    jpeg,
    records_of,
    rows_of,
    texts,
    write_json,
    write_parquet,
)


def row(qid: object, phrase: str, question: str, answer: object, image: str = "synpic1.jpg"):
    return {
        "qid": qid, "phrase_type": phrase, "image_name": image, "image_organ": "HEAD",
        "question": question, "answer": answer, "answer_type": "CLOSED ",
        "question_type": "PRES, SIZE", "question_rephrase": "NULL",
    }  # fmt: skip


@pytest.fixture(scope="module")
def osf(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("osf")
    folder = root / "VQA_RAD Image Folder"
    folder.mkdir()
    for number in (1, 2):
        (folder / f"synpic{number}.jpg").write_bytes(jpeg(number))
    write_json(
        root / "VQA_RAD Dataset Public.json",
        [
            row(1, "test_freeform", "is there a mass?", "Yes "),
            row("2", "test_para", "how many lesions are there?", 3, "synpic2.jpg"),
            row(3, "test_freeform", "what size is it?", 2.5),
            row(4, "freeform", "is it the head?", "yes"),
            row(5, "para", "which side?", "Left", "synpic2.jpg"),
            row(6, "test_freeform", "is it acute?", " yes"),
            row(7, "test_freeform", "where is it?", ""),
            row(8, "test_freeform", "what is this?", "a lung", "synpic9.jpg"),
            row(9, "", "of which part is this?", "none"),
            row(1, "test_freeform", "again?", "no"),
        ],
    )
    return root


@pytest.fixture(scope="module")
def hub(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("hub")
    rows = [
        {"image": jpeg(place % 3), "question": f"question {place}?", "answer": answer}
        for place, answer in enumerate(["Yes", "yes", "no", "Left lung", "No ", "3 cm", "yes"])
    ]
    write_parquet(root / "data" / "test-00000-of-00001-e5bc3d208bb4deeb.parquet", rows)
    train = [{"image": jpeg(0), "question": "where?", "answer": "Brain"}]
    write_parquet(root / "data" / "train-00000-of-00001-eb8844602202be60.parquet", train)
    return root


def test_the_phrase_type_tells_the_part_and_numbers_are_answers(osf: Path):
    records, faults = records_of("vqa_rad", osf)
    assert texts(records) == [
        ("is there a mass?", "yes"),
        ("how many lesions are there?", "3"),
        ("what size is it?", "2.5"),
        ("is it acute?", "yes"),
    ]
    assert {record.split for record in records} == {"test"}
    assert [record.group for record in records][:2] == ["synpic1.jpg", "synpic2.jpg"]
    told = {fault.where.rsplit(" ", 1)[1]: fault.reason for fault in faults}
    assert told["6"] == "there is no answer"
    assert "picture is not in VQA_RAD Image Folder" in told["7"]
    assert "phrase_type" in told["8"]
    assert "qid" in told["9"]


@pytest.mark.parametrize("copy", ["osf", "hub"])
def test_the_task_reads_back_over_the_unique_answers(
    request: pytest.FixtureRequest, copy: str, tmp_path: Path
):
    folder = request.getfixturevalue(copy)
    read, pools = built_task("vqa_rad", folder, tmp_path, "vqa_rad/vqa")
    expected = {"osf": {"yes", "3", "2.5"}, "hub": {"yes", "no", "left lung", "3 cm"}}
    assert {candidate.name for candidate in pools.candidates} == expected[copy]
    assert len(read.queries) == {"osf": 4, "hub": 7}[copy]
    assert pools.name == "answers"
    assert read.built is not None
    assert any({"osf": "OSF", "hub": "hub"}[copy] in note for note in read.built.notes)


def test_equal_pictures_of_the_hub_are_one_file_with_its_own_bytes(hub: Path, tmp_path: Path):
    built_task("vqa_rad", hub, tmp_path, "vqa_rad/vqa")
    rows = rows_of("vqa_rad/vqa", tmp_path)
    names = [one["qry_img_path"] for one in rows]
    assert len(set(names)) == 3
    root = tmp_path / "2D_Images" / "VQA-RAD" / "test"
    for place, name in enumerate(names):
        assert (root / name).read_bytes() == jpeg(place % 3)


def test_the_pool_of_all_answers_holds_those_of_the_training_part(hub: Path, tmp_path: Path):
    read, pools = built_task("vqa_rad", hub, tmp_path, "vqa_rad/vqa", pool="all")
    assert "brain" in {candidate.name for candidate in pools.candidates}
    assert pools.name == "answers:all"
    assert len(read.queries) == 7


def test_a_triplet_of_both_parts_stays_in_the_test(osf: Path, tmp_path: Path):
    write_json(
        tmp_path / "VQA_RAD Dataset Public.json",
        [row(1, "freeform", "acute?", "yes"), row(2, "test_freeform", "acute?", "yes")],
    )
    (tmp_path / "VQA_RAD Image Folder").symlink_to(osf / "VQA_RAD Image Folder")
    records, _ = records_of("vqa_rad", tmp_path, pool="all")
    assert [record.split for record in records] == ["train", "test"]


def test_answers_as_written_and_the_copy_by_name(hub: Path, osf: Path, tmp_path: Path):
    _, pools = built_task("vqa_rad", hub, tmp_path, "vqa_rad/vqa", answers="written")
    assert {one.name for one in pools.candidates} == {
        "Yes", "yes", "no", "No", "Left lung", "3 cm"
    }  # fmt: skip
    _, faults = records_of("vqa_rad", osf)
    assert len(faults) == 4
    with pytest.raises(StudyError, match="there is no parquet table"):
        records_of("vqa_rad", osf, copy="hub")


def test_a_cap_samples_first_and_the_pool_is_of_the_sample(hub: Path, tmp_path: Path):
    read, pools = built_task("vqa_rad", hub, tmp_path, "vqa_rad/vqa", cap=2)
    assert len(read.queries) == 2
    assert len(pools.candidates) <= 2


def test_a_second_build_changes_nothing(hub: Path, tmp_path: Path):
    build("vqa_rad", hub, tmp_path)
    files = {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()}
    build("vqa_rad", hub, tmp_path)
    assert {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()} == files
