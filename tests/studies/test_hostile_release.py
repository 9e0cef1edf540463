"""Rows and tables that break the rules in ways a spreadsheet or another program would."""

from __future__ import annotations

import json

import pytest

from studies.errors import BadTaskFile
from studies.medheb.release import read_task
from studies.medheb.tasks import load_tasks
from studies.medheb.writer import model_folder
from tests.studies.medheb_tree import task_row, write_index, write_registry

ROW = {"qry_text": "q", "tgt_text": ["a", "b"]}


def read(root, rows, raw=None):
    row = task_row("made/t2t", "T-T", "text_qa", form="text", image_root="-")
    write_registry(root, [row])
    path = write_index(root, row, rows)
    if raw is not None:
        path.write_bytes(raw)
    return read_task(load_tasks(root)[0], root)


def test_an_empty_cell_is_no_answer(tmp_path):
    rows = [ROW, {**ROW, "tgt_text": [float("nan"), "b"]}, {**ROW, "qry_text": float("nan")}]
    data = read(tmp_path, [*rows, {**ROW, "qry_inst": float("nan")}])
    assert [number for number, _ in data.failures] == [1, 2]
    assert "NaN" in data.failures[0][1]
    assert data.queries[-1].item.instruction is None


@pytest.mark.parametrize("column", ["qry_text", "tgt_text", "qry_inst"])
def test_half_a_character_breaks_its_row_alone(tmp_path, column):
    data = read(tmp_path, [ROW, {**ROW, column: "\ud800"}])
    assert len(data.queries) == 1
    assert "half a character" in data.failures[0][1]


def test_byte_order_mark_and_windows_lines_are_taken_in_stride(tmp_path):
    data = read(tmp_path, [], raw=b"\xef\xbb\xbf" + json.dumps([ROW], indent=1).encode() + b"\r\n")
    assert len(data.queries) == 1
    table = tmp_path / "tasks.csv"
    plain = table.read_bytes().replace(b"\r\n", b"\n")
    table.write_bytes(b"\xef\xbb\xbf" + plain.replace(b"\n", b"\r\n"))
    assert len(load_tasks(tmp_path)) == 1


def test_a_yaml_file_without_end_is_named(tmp_path):
    read(tmp_path, [ROW])
    (tmp_path / "2D_Task.yaml").write_text("[" * 3000, encoding="utf-8")
    with pytest.raises(BadTaskFile, match="2D_Task"):
        load_tasks(tmp_path)


def test_a_hundred_thousand_candidates_are_read(tmp_path):
    data = read(tmp_path, [{**ROW, "tgt_text": [f"c{i}" for i in range(100_000)]}])
    assert len(data.queries[0].candidates) == 100_000


def test_no_two_models_share_a_folder_on_any_system():
    ids = [
        "model",
        "Model",
        "model.",
        "con",
        "CON",
        "nul.v2",
        "com1",
        "aux",
        "m:1",
        "m/1",
        "..",
        "ü",
    ]
    folders = [model_folder(name) for name in ids]
    assert len({name.lower() for name in folders}) == len(ids)
    for name in folders:
        assert name.split(".")[0].lower() not in {"con", "nul", "com1"}
        assert not name.endswith(".")
    assert model_folder("medemb-2b") == "medemb-2b"
