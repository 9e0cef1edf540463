"""Cells, pairs, JSON and parquet tables: what the sources of words share."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from engine.errors import EvidenceError
from studies.medheb.builders.media import Media, pixels_of
from studies.medheb.builders.record import Fault, Record
from studies.medheb.sources.parquet import Pictures, read_parquet, split_files
from studies.medheb.sources.words import (
    asked,
    folded,
    lowered,
    merged,
    once,
    read_json,
    read_objects,
    text_of,
)
from tests.studies.sources_words_checks import encoded, hub_picture, noise, png, write_parquet

POINTER = b"version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 1\n"


def test_cells_become_texts_and_what_is_none_is_refused():
    cells = (None, float("nan"), " yes ", 3, 2.5, 0)
    assert [text_of(cell) for cell in cells] == ["", "", "yes", "3", "2.5", "0"]
    for cell in (["yes"], {"a": 1}, True, "half \ud800"):
        with pytest.raises(ValueError):
            text_of(cell)
    assert lowered(" Two\n  Words ") == "two words"
    assert folded("It  IS. ") == folded("it is")


def test_a_pair_lacks_nothing_or_is_a_fault():
    made = asked("f, row 1", "k", "what?", 0)
    assert isinstance(made, Record)
    assert made.texts == {"question": "what?", "answer": "0"}
    assert (made.group, made.split) == ("k", "test")
    for question, answer, says in (
        ("", "a", "no question"), ("q", None, "no answer"), ("q", ["a"], "list"),
    ):  # fmt: skip
        fault = asked("f, row 1", "k", question, answer)
        assert isinstance(fault, Fault)
        assert fault.where == "f, row 1"
        assert says in fault.reason


def test_spellings_are_merged_into_the_most_frequent_and_copies_left_out():
    answers = ["Femur", "femur.", "femur.", "FEMUR", "Tibia"]
    listed = [asked("f", str(n), f"{n}?", answer) for n, answer in enumerate(answers)]
    texts = [one.texts["answer"] for one in merged(listed) if isinstance(one, Record)]
    assert texts == ["femur."] * 4 + ["Tibia"]
    twice = [*listed[:2], asked("f", "9", "0?", "Femur")]
    assert [type(one) for one in once(twice)] == [Record, Record, Fault]


def test_json_lines_and_arrays_with_marks_breaks_and_damage(tmp_path: Path):
    path = tmp_path / "x.jsonl"
    path.write_text('\ufeff{"a": "x\u2028y"}\r\n\n[1]\n{"b": \n', "utf-8")
    found = list(read_objects(path))
    assert found[0] == ("x.jsonl, line 1", {"a": "x\u2028y"})
    assert [one.where for one in found[1:] if isinstance(one, Fault)] == [
        "x.jsonl, line 3", "x.jsonl, line 4"
    ]  # fmt: skip
    path.write_text('[{"a": 1}, "text"]', "utf-8")
    assert [isinstance(one, Fault) for one in read_objects(path)] == [False, True]
    for content, says in (
        (POINTER, "pointer"), (b"\xff\xfe\x00", "no text"), (b"[" * 100_000, "no JSON"),
    ):  # fmt: skip
        path.write_bytes(content)
        with pytest.raises(EvidenceError, match=says):
            read_json(path)
    with pytest.raises(EvidenceError, match="cannot be read"):
        read_json(tmp_path / "none.json")


def test_pictures_of_a_table_come_in_any_order_and_from_any_group(tmp_path: Path):
    rows = [{"image": png(place), "n": place} for place in range(11)]
    path = write_parquet(tmp_path / "test-0.parquet", rows, group=4)
    pictures = Pictures(path, "image")
    listed = {n: pictures.picture(n, row["image"]) for n, row in read_parquet(path, ("n",))}
    for place in (0, 3, 9, 10, 2, 2, 5, 4, 0):
        content = listed[place].content
        assert content is not None
        assert content() == png(place)
    with pytest.raises(EvidenceError, match="there is no row 11"):
        pictures.content(11)


def test_plain_bytes_and_every_kind_of_picture(tmp_path: Path):
    kinds = {"PNG": ".png", "JPEG": ".jpg", "GIF": ".gif", "BMP": ".bmp", "TIFF": ".tif",
             "WEBP": ".webp"}  # fmt: skip
    cells = [encoded(noise(1), kind) for kind in kinds]
    path = tmp_path / "t.parquet"
    pq.write_table(pa.table({"image": pa.array(cells, pa.binary())}), path)
    pictures = Pictures(path, "image")
    media = Media(tmp_path / "root")
    for (number, row), suffix in zip(read_parquet(path), kinds.values(), strict=True):
        picture = pictures.picture(number, row["image"])
        assert picture.name.endswith(suffix)
        name = media.picture(picture)
        assert (tmp_path / "root" / name).read_bytes() == cells[number]
        assert pixels_of(picture).shape == (24, 24, 3)
    assert np.array_equal(pixels_of(pictures.picture(0, cells[0])), noise(1))
    for cell in (None, b"", b"text", hub_picture(None, "a.png"), hub_picture(b"x")):
        with pytest.raises(EvidenceError, match="holds no picture"):
            pictures.picture(0, cell)


def test_parts_are_found_whole_or_refused(tmp_path: Path):
    row = [{"a": 1}]
    for name in ("x/data/Test-00000-of-00002-ab.parquet", "x/data/Test-00001-of-00002-cd.parquet"):
        write_parquet(tmp_path / name, row)
    assert [path.name[5:10] for path in split_files(tmp_path, "Test")] == ["00000", "00001"]
    assert split_files(tmp_path, "train") == []
    assert split_files(tmp_path, "Test", inside="benchmark/") == []
    write_parquet(tmp_path / "x" / "data" / "Test-00000-of-00001.parquet", row)
    with pytest.raises(EvidenceError, match="two editions"):
        split_files(tmp_path, "Test")


def test_tables_that_cannot_be_read_say_why(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    path = tmp_path / "test.parquet"
    path.write_bytes(POINTER)
    with pytest.raises(EvidenceError, match="Git LFS pointer"):
        list(read_parquet(path))
    whole = write_parquet(tmp_path / "whole.parquet", [{"a": "x" * 500} for _ in range(50)])
    with pytest.raises(EvidenceError, match="there is no column b, c"):
        list(read_parquet(whole, ("a", "b", "c")))
    path.write_bytes(whole.read_bytes()[:-40])
    with pytest.raises(EvidenceError, match="no readable parquet"):
        list(read_parquet(path))
    monkeypatch.setitem(sys.modules, "pyarrow.parquet", None)
    with pytest.raises(EvidenceError, match=r'pip install "triptych\[engine\]"'):
        list(read_parquet(whole))
