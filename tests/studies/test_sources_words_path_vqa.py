"""PathVQA: the hub's copy, the archive as JSON, and pickles that stay closed."""

from __future__ import annotations

import pickle
from pathlib import Path

import numpy as np
import pytest

from engine.evidence.pixels import prepare
from studies.errors import StudyError
from tests.studies.sources_words_checks import (
    built_task,
    encoded,
    jpeg,
    noise,
    records_of,
    texts,
    write_json,
    write_parquet,
)

ASKED = (
    ("what are positively charged?", "The histone subunits"),
    ("are the bone marrow cells seen?", "yes"),
    ("is it blue?", "No "),
    ("are the bone marrow cells seen?", "yes"),
    ("is it grey?", "YES"),
)


class Bomb:
    """Writes a file when it is unpickled."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def __reduce__(self):
        return (Path.touch, (self.path,))


def archive(root: Path) -> Path:
    for name in ("a", "b"):
        (root / "pvqa" / "images" / "test").mkdir(parents=True, exist_ok=True)
        (root / "pvqa" / "images" / "test" / f"test_000{name}.jpg").write_bytes(jpeg(ord(name)))
    (root / "pvqa" / "qas" / "test").mkdir(parents=True)
    return root


def test_the_parquet_copy_is_read_with_every_kind_of_picture(tmp_path: Path):
    grey = encoded(noise(2)[..., 0], "JPEG")
    pictures = [jpeg(1), jpeg(1, mode="CMYK"), grey, jpeg(1, mode="CMYK"), jpeg(1)]
    rows = [
        {"image": picture, "question": question, "answer": answer}
        for picture, (question, answer) in zip(pictures, ASKED, strict=True)
    ]
    write_parquet(tmp_path / "set" / "data" / "test-00000-of-00002-1.parquet", rows[:3], group=2)
    write_parquet(tmp_path / "set" / "data" / "test-00001-of-00002-2.parquet", rows[3:])
    read, pools = built_task("path_vqa", tmp_path / "set", tmp_path / "data", "path_vqa/vqa")
    assert len(read.queries) == 4
    assert {one.name for one in pools.candidates} == {"the histone subunits", "yes", "no"}
    for query in read.queries:
        (pixels,) = prepare(query.item).images
        assert pixels.shape == (24, 24, 3)
        assert pixels.dtype == np.uint8
    kept, _ = built_task(
        "path_vqa", tmp_path / "set", tmp_path / "data", "path_vqa/vqa", duplicates="keep"
    )
    assert len(kept.queries) == 5


def test_a_missing_part_and_a_row_without_picture_are_told(tmp_path: Path):
    row = {"image": jpeg(1), "question": "what?", "answer": "this"}
    part = tmp_path / "data" / "test-00000-of-00003.parquet"
    write_parquet(part, [row])
    with pytest.raises(StudyError, match="of 3 parts number 00001, 00002 is not there"):
        records_of("path_vqa", tmp_path)
    part.unlink()
    broken = {**row, "image": b"no picture"}
    write_parquet(
        part.with_name("test-00000-of-00001.parquet"), [row, broken, {**row, "answer": ""}]
    )
    records, faults = records_of("path_vqa", tmp_path)
    assert texts(records) == [("what?", "this")]
    assert [fault.reason for fault in faults] == [
        "column image holds no picture", "there is no answer"
    ]  # fmt: skip
    (tmp_path / "data" / "test-00000-of-00001.parquet").write_bytes(b"PAR1 damaged PAR1")
    with pytest.raises(StudyError, match="no readable parquet table"):
        records_of("path_vqa", tmp_path)


def test_a_pickle_is_refused_unread(tmp_path: Path):
    archive(tmp_path)
    trap = tmp_path / "sprung"
    content = pickle.dumps(Bomb(trap))
    (tmp_path / "pvqa" / "qas" / "test" / "test_qa.pkl").write_bytes(content)
    with pytest.raises(StudyError, match="pickle, which runs code"):
        records_of("path_vqa", tmp_path)
    assert not trap.exists()


def test_the_archive_as_json_is_read(tmp_path: Path):
    archive(tmp_path / "set")
    rows = [
        {"image": f"test_000{'ab'[place % 2]}", "question": question, "answer": answer}
        for place, (question, answer) in enumerate(ASKED)
    ]
    rows.append({"image": "test_0009", "question": "where?", "answer": "nowhere"})
    rows.append({"image": "../test_000a", "question": "where?", "answer": "outside"})
    write_json(tmp_path / "set" / "pvqa" / "qas" / "test" / "test_qa.json", rows)
    records, faults = records_of("path_vqa", tmp_path / "set")
    assert len(records) == 4
    assert [fault.reason for fault in faults] == [
        "the same question and answer stood there already: left out",
        "its picture is not in test",
        "names no picture inside the set",
    ]
    read, pools = built_task("path_vqa", tmp_path / "set", tmp_path / "data", "path_vqa/vqa")
    assert len(read.queries) == 4
    assert len(pools.candidates) == 3
