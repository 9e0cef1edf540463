"""The registry: its counts against the paper, and what it refuses."""

from collections import Counter
from dataclasses import asdict, replace

import pytest

from studies.errors import BadTaskFile, UnknownTask
from studies.medheb.rows import PARSERS as ROW_PARSERS
from studies.medheb.tasks import (
    FAMILIES,
    PARSERS,
    check_tasks,
    load_tasks,
    match_tasks,
    stays_inside,
    tasks_from_rows,
    unlisted,
)
from tests.shared import shared_path
from tests.studies.medheb_tree import task_row, write_registry


def test_counts_are_the_papers():
    tasks = load_tasks()
    assert len(tasks) == 107
    families = Counter(task.family for task in tasks)
    assert [families[name] for name in FAMILIES] == [20, 10, 22, 7, 23, 11, 7, 7]
    forms = Counter((task.form, task.split) for task in tasks)
    assert forms == {
        ("2d", "id"): 60,
        ("2d", "held-out"): 9,
        ("3d", "id"): 30,
        ("3d", "held-out"): 1,
        ("text", "id"): 6,
        ("text", "held-out"): 1,
    }
    ranked = [task for task in tasks if task.eval_type == "global"]
    assert Counter(task.family for task in ranked) == {"VG": 7, "MB-VR": 10, "T-I": 2}


def test_held_out_sources_are_the_five_named():
    sources = {task.source for task in load_tasks() if task.split == "held-out"}
    assert sources == {"chexpert_plus", "rfmid", "lc25000", "omnimedvqa", "brats_men"}


def test_the_shipped_table_is_the_handed_one():
    handed = shared_path("spec/tasks.csv").read_text(encoding="utf-8")
    from studies.places import resources

    assert (resources() / "tasks.csv").read_text(encoding="utf-8") == handed


def test_every_parser_named_has_a_reader():
    assert set(PARSERS) == set(ROW_PARSERS)


def test_the_root_wins_and_rows_survive_a_round_trip(tmp_path):
    write_registry(tmp_path, [task_row("a/i2i", "I-I", "image_i2i")])
    tasks = load_tasks(tmp_path)
    assert [task.id for task in tasks] == ["a/i2i"]
    assert tasks_from_rows([{**asdict(task), "later": 1} for task in tasks]) == tasks
    assert len(load_tasks(tmp_path / "elsewhere")) == 107


def test_yaml_says_where_a_task_lies(tmp_path):
    write_registry(tmp_path, [task_row("a/i2i", "I-I", "image_i2i", release_name="A_i2i")])
    (tmp_path / "2D_Task.yaml").write_text(
        "A_i2i:\n  dataset_parser: image_i2i_vg\n  dataset_name: Other\n  dataset_split: test\n"
        "  image_root: 2D_Images/A\n  data_path: 2D_Task/A/A_new.json\n"
        "  num_sample_per_subset: 5\nNobody:\n  data_path: x.json\n",
        encoding="utf-8",
    )
    (task,) = load_tasks(tmp_path)
    assert (task.parser, task.data_path, task.image_root) == (
        "image_i2i_vg",
        "2D_Task/A/A_new.json",
        "2D_Images/A",
    )
    assert task.eval_type == "global", "a missing value means global"
    assert task.row_limit == 5
    assert unlisted(tmp_path, [task]) == ("Nobody",)


@pytest.mark.parametrize("text", ["- a\n- b\n", "A: [1\n", "A: 3\n"])
def test_a_yaml_that_is_none_is_named(tmp_path, text):
    write_registry(tmp_path, [task_row("a/i2i", "I-I", "image_i2i")])
    (tmp_path / "3D_Task.yaml").write_text(text, encoding="utf-8")
    with pytest.raises(BadTaskFile, match=r"3D_Task\.yaml"):
        load_tasks(tmp_path)


def test_yaml_runs_no_code(tmp_path):
    write_registry(tmp_path, [task_row("a/i2i", "I-I", "image_i2i")])
    (tmp_path / "2D_Task.yaml").write_text("a: !!python/object/apply:os.getcwd []\n")
    with pytest.raises(BadTaskFile, match="not a YAML file"):
        load_tasks(tmp_path)


@pytest.mark.parametrize(
    ("changes", "word"),
    [
        ({"family": "I-X"}, "family"),
        ({"parser": "guess"}, "parser"),
        ({"eval_type": ""}, "eval_type"),
        ({"data_path": "../outside.json"}, "data_path"),
        ({"image_root": "C:\\pictures"}, "image_root"),
        ({"release_name": "a/b"}, "release_name"),
    ],
)
def test_a_bad_row_is_refused_with_its_line(tmp_path, changes, word):
    write_registry(
        tmp_path,
        [task_row("a/i2i", "I-I", "image_i2i"), task_row("b", "I-I", "image_i2i") | changes],
    )
    with pytest.raises(BadTaskFile, match=rf"line 3.*{word}"):
        load_tasks(tmp_path)


def test_names_twice_missing_columns_and_nothing_are_refused(tmp_path):
    (task,) = tasks_from_rows([task_row("a", "I-I", "image_i2i")])
    with pytest.raises(BadTaskFile, match="id 'a' occurs twice"):
        check_tasks([task, task], "here")
    with pytest.raises(BadTaskFile, match="release_name"):
        check_tasks([task, replace(task, id="b")], "here")
    with pytest.raises(BadTaskFile, match="no rows"):
        check_tasks([], "here")
    (tmp_path / "tasks.csv").write_text("id,family\na,I-I\n", encoding="utf-8")
    with pytest.raises(BadTaskFile, match="columns source"):
        load_tasks(tmp_path)


def test_patterns_choose_by_id_name_or_family():
    tasks = load_tasks()
    assert len(match_tasks(tasks, None)) == 107
    assert len(match_tasks(tasks, "*/i2l")) == 22
    assert len(match_tasks(tasks, "VG, kvasir/*")) == 10
    assert [task.id for task in match_tasks(tasks, "RGCC_vqa")] == ["radgenome_chestct_vqa/vqa"]
    with pytest.raises(UnknownTask, match="nothing"):
        match_tasks(tasks, "VG,nothing*")


@pytest.mark.parametrize("name", ["/etc/x", "a/../../b", "C:/x", "\\\\host\\x", "..\\x"])
def test_names_that_leave_the_folder(name):
    assert not stays_inside(name)


def test_names_that_stay():
    assert all(stays_inside(name) for name in ("", "a/b.png", "a..b/c.png", "p10/p1/s1.jpg"))
