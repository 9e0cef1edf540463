"""Reading the release layout: the seven parsers and every trap that the specification names."""

import os
from dataclasses import replace

import pytest

from engine.evidence.item import ImageRef, Item, VolumeRef
from studies.errors import BadTaskFile
from studies.medheb.release import ReleaseSettings, data_digest, find_index, read_task
from studies.medheb.tasks import load_tasks, tasks_from_rows
from studies.medheb.text import clean
from tests.studies.medheb_tree import (
    small_root,
    task_row,
    write_index,
    write_picture,
    write_registry,
    write_volume,
)


def made(root, parser, rows, *, settings=ReleaseSettings(), **changes):
    """Write one task's index and read it back."""
    row = task_row("a/x", "I-I", parser, **changes)
    write_index(root, row, rows)
    (task,) = tasks_from_rows([row])
    return read_task(task, root, settings=settings)


def pictures(root, *names):
    row = task_row("a/x", "I-I", "image_i2i")
    return [write_picture(root, row, name) for name in names]


def test_all_parsers_read_the_small_root(tmp_path):
    root = small_root(tmp_path, queries=4)
    tasks = load_tasks(root)
    read = {task.id: read_task(task, root) for task in tasks}
    assert [len(data.queries) for data in read.values()] == [4] * 9
    assert not any(data.failures for data in read.values())
    assert all(q.gold == q.candidates[0].name for d in read.values() for q in d.queries)


@pytest.mark.parametrize("parser", ["image_cls", "image_qa"])
def test_picture_to_texts(tmp_path, parser):
    a, b = pictures(tmp_path, "a.png", "sub/b.png")
    rows = [
        {"qry_inst": "I:", "qry_text": "What?", "qry_img_path": a, "tgt_text": ["x", "y", "x"]},
        {"qry_inst": "", "qry_text": "", "qry_img_path": [a, b], "tgt_text": "y"},
    ]
    one, two = made(tmp_path, parser, rows).queries
    folder = tmp_path / "2D_Images/a_x"
    assert one.item == Item("What?", (ImageRef(folder / "a.png"),), (), "I:")
    assert [c.name for c in one.candidates] == ["x", "y"], "equal names are one candidate"
    assert two.item.text is None
    assert two.item.instruction is None
    assert [ref.path.name for ref in two.item.images] == ["a.png", "b.png"]
    assert [c.item for c in two.candidates] == [Item(text="y")]


@pytest.mark.parametrize("parser", ["image_i2i", "image_i2i_vg"])
def test_pairs_of_text_and_picture(tmp_path, parser):
    a, b = pictures(tmp_path, "a.png", "b.png")
    row = {"qry_inst": "", "qry_text": "<image>", "qry_img_path": a}
    rows = [row | {"tgt_text": ["", "t"], "tgt_img_path": [a, b]}]
    (query,) = made(tmp_path, parser, rows).queries
    assert query.item.text is None, "<image> stands for no text"
    assert [c.name for c in query.candidates] == ["a.png:", "b.png:t"]
    assert [c.item.text for c in query.candidates] == [None, "t"]


def test_several_pictures_with_one_text_are_one_candidate_flat_or_nested(tmp_path):
    a, b, c = pictures(tmp_path, "a.png", "b.png", "c.png")
    row = {"qry_inst": "", "qry_text": "nodule", "qry_img_path": a}
    rows = [
        row | {"tgt_text": ["t"], "tgt_img_path": [a, b, c]},
        row | {"tgt_text": ["t"], "tgt_img_path": [[a, b, c]]},
        row | {"tgt_text": ["t", "u"], "tgt_img_path": [[a, b], [c]]},
        row | {"tgt_text": ["t"], "tgt_img_path": [[c]]},
    ]
    data = made(tmp_path, "image_i2i", rows)
    assert [[c.name for c in q.candidates] for q in data.queries] == [
        ["a.png+b.png+c.png"],
        ["a.png+b.png+c.png"],
        ["a.png+b.png", "c.png:u"],
        ["c.png:t"],
    ]
    assert data.queries[0].candidates == data.queries[1].candidates
    assert len(data.queries[0].candidates[0].item.images) == 3
    assert data.failures == ()


def test_text_to_pictures(tmp_path):
    a, b = pictures(tmp_path, "a.png", "b.png")
    rows = [
        {"qry_inst": "", "qry_text": "q", "tgt_text": ["", "note"], "tgt_img_path": [a, b]},
        {"qry_inst": "", "qry_text": "q", "tgt_img_path": [a, b]},
        {"qry_inst": "", "qry_text": "q", "tgt_text": [""], "tgt_img_path": [a, b]},
    ]
    data = made(tmp_path, "image_t2i", rows)
    assert [c.name for c in data.queries[0].candidates] == ["a.png", "b.png"]
    assert [c.item.text for c in data.queries[0].candidates] == [None, "note"]
    assert len(data.queries[1].candidates) == 2
    assert [row for row, _ in data.failures] == [2]
    assert "must be pairs" in data.failures[0][1]


def test_volumes_and_modalities(tmp_path):
    row = task_row("a/x", "I-I", "volume_i2i")
    ct = write_volume(tmp_path, row, "ct", slices=5)
    mr = write_volume(tmp_path, row, "mr", slices=2)
    (xray,) = pictures(tmp_path, "x.png")
    base = {"qry_inst": "", "qry_text": "", "tgt_text": [""]}
    rows = [
        base | {"qry_img_path": ct, "tgt_img_path": [mr, ct]},
        base | {"qry_img_path": [xray], "qry_modality": "image", "tgt_img_path": ct},
        base | {"qry_img_path": mr, "tgt_img_path": [mr], "tgt_modality": "image"},
        base
        | {"qry_img_path": mr, "qry_modality": "image", "tgt_img_path": [["x.png"]]}
        | {"tgt_modality": "image"},
    ]
    one, two, three, four = made(tmp_path, "volume_i2i", rows).queries
    assert one.item.volumes[0].shown_as == "video", "video when the column is missing"
    assert len(one.item.volumes[0].paths) == 5
    assert [c.name for c in one.candidates] == [
        "mr/slice_000.png+mr/slice_001.png...",
        "ct/slice_000.png+ct/slice_001.png+ct/slice_002.png...",
    ]
    assert two.item == Item(images=(ImageRef(tmp_path / "2D_Images/a_x/x.png"),))
    assert [len(c.item.volumes[0].paths) for c in two.candidates] == [5], "a flat list is one"
    assert three.candidates[0].item.volumes[0].shown_as == "images"
    assert isinstance(four.item.volumes[0], VolumeRef)
    assert four.candidates[0].item.images


def test_text_to_volumes_takes_the_text_at_the_same_place(tmp_path):
    row = task_row("a/x", "I-I", "volume_t2i")
    one, two = (write_volume(tmp_path, row, name) for name in ("1", "2"))
    rows = [{"qry_inst": "", "qry_text": "q", "tgt_img_path": [one, two], "tgt_text": ["", "t"]}]
    (query,) = made(tmp_path, "volume_t2i", rows).queries
    assert [c.item.text for c in query.candidates] == [None, "t"]
    assert query.item == Item(text="q")


def test_unlike_volumes_of_one_name_are_taken_for_one_and_counted(tmp_path):
    row = task_row("a/x", "I-I", "volume_t2i")
    whole = write_volume(tmp_path, row, "v", slices=5)
    rows = [
        {"qry_inst": "", "qry_text": "q", "tgt_img_path": [whole]},
        {"qry_inst": "", "qry_text": "q", "tgt_img_path": [whole[:4]]},
    ]
    data = made(tmp_path, "volume_t2i", rows)
    assert data.queries[0].gold == data.queries[1].gold
    assert any("share a name" in note for note in data.notes)


def test_a_positive_without_words_is_no_answer(tmp_path):
    texts = ([None, "yes"], ["", "yes"], [" ", "no"], ["yes", None], ["no", ""])
    data = made(tmp_path, "text_qa", [{"qry_text": "q", "tgt_text": text} for text in texts])
    assert [query.row for query in data.queries] == [3, 4]
    assert [row for row, _ in data.failures] == [0, 1, 2]
    assert all("the positive needs words" in why for _, why in data.failures)


def test_picture_marks_are_stripped_and_counted_or_kept(tmp_path):
    (a,) = pictures(tmp_path, "a.png")
    rows = [
        {
            "qry_inst": "<|image_1|>\nLocate:",
            "qry_text": "<image> left lung",
            "qry_img_path": a,
            "tgt_text": ["<|image_1|>\n"],
            "tgt_img_path": [a],
        }
    ]
    data = made(tmp_path, "image_i2i", rows)
    (query,) = data.queries
    assert (query.item.instruction, query.item.text) == ("Locate:", "left lung")
    assert query.candidates[0].item.text is None
    assert data.marks_stripped == 2
    assert "2 picture marks stripped from texts" in data.notes
    kept = made(tmp_path, "image_i2i", rows, settings=ReleaseSettings(keep_marks=True))
    assert kept.queries[0].item.instruction == "<|image_1|>\nLocate:"
    assert kept.marks_stripped == 0
    assert kept.digest != data.digest


def test_cleaning_is_a_setting_and_merges_names(tmp_path):
    rows = [{"qry_inst": "", "qry_text": "T2-weighted\nMR?", "tgt_text": ["<5 %", "5", "5 mm"]}]
    raw = made(tmp_path, "text_qa", rows, image_root="")
    assert raw.queries[0].item.text == "T2-weighted\nMR?"
    assert [c.name for c in raw.queries[0].candidates] == ["<5 %", "5", "5 mm"]
    cleaned = made(
        tmp_path, "text_qa", rows, image_root="", settings=ReleaseSettings(clean_text=True)
    )
    assert cleaned.queries[0].item.text == "T2 weighted MR"
    assert [c.name for c in cleaned.queries[0].candidates] == ["5", "5 mm"]


def test_the_cleaning_rules():
    assert clean("A___b--c\r\nd") == "A b c d"
    assert clean("Größe: (1,5 cm); 3.2!") == "Größe: (1,5 cm); 3.2"
    assert clean("T2-weighted <5 %") == "T2 weighted 5"


def test_both_file_suffixes_are_tried(tmp_path):
    row = task_row("a/x", "I-I", "text_qa")
    (task,) = tasks_from_rows([row])
    assert find_index(task, tmp_path) is None
    path = write_index(tmp_path, row, [{"qry_text": "q", "tgt_text": ["t"]}])
    other = path.with_name("a_x_new.json")
    path.rename(other)
    assert find_index(task, tmp_path) == other
    assert "read a_x_new.json in place of a_x_test.json" in read_task(task, tmp_path).notes
    newer = replace(task, data_path="2D_Task/a_x/b_new.json")
    other.rename(other.with_name("b_test.json"))
    assert find_index(newer, tmp_path) is not None


BROKEN = [
    ("not an object", "expected an object"),
    ({"qry_text": "q", "tgt_text": ["t"]}, "no qry_img_path"),
    ({"qry_img_path": "gone.png", "tgt_text": ["t"]}, "gone.png, which is not in"),
    ({"qry_img_path": "../../x.png", "tgt_text": ["t"]}, "outside"),
    ({"qry_img_path": "a.png"}, "no tgt_text"),
    ({"qry_img_path": "a.png", "tgt_text": []}, "no candidate"),
    ({"qry_img_path": [], "tgt_text": ["t"]}, "lists no picture"),
    ({"qry_img_path": 7, "tgt_text": ["t"]}, "names no picture"),
    ({"qry_img_path": "a.png", "tgt_text": [["t"]]}, "expected a text"),
    ({"qry_img_path": "a.png", "qry_text": {}, "tgt_text": ["t"]}, "expected a text"),
    ({"qry_img_path": "a\u0000.png", "tgt_text": ["t"]}, "which is not in"),
]


@pytest.mark.parametrize(("broken", "words"), BROKEN)
def test_a_broken_row_is_named_and_the_rest_goes_on(tmp_path, broken, words):
    (a,) = pictures(tmp_path, "a.png")
    good = {"qry_inst": "", "qry_text": "q", "qry_img_path": a, "tgt_text": ["t"]}
    data = made(tmp_path, "image_cls", [good, broken, good])
    assert [query.row for query in data.queries] == [0, 2]
    ((row, sentence),) = data.failures
    assert row == 1
    assert "a_x_test.json, row 1 (from 0)" in sentence
    assert words in sentence
    assert data.rows == 3


def test_a_candidate_picture_that_is_gone_fails_its_row(tmp_path):
    a, b = pictures(tmp_path, "a.png", "b.png")
    good = {"qry_inst": "", "qry_text": "q", "tgt_text": ["", ""], "tgt_img_path": [a, b]}
    data = made(tmp_path, "image_t2i", [good, good | {"tgt_img_path": [a, "gone.png"]}])
    assert len(data.queries) == 1
    assert "gone.png" in data.failures[0][1]


@pytest.mark.parametrize("text", ["{", '{"a": 1}', "[]", "[1, 2]", "[" * 100_000, "\ud800"])
def test_a_damaged_file_is_one_sentence(tmp_path, text):
    row = task_row("a/x", "I-I", "text_qa")
    (task,) = tasks_from_rows([row])
    path = write_index(tmp_path, row, [])
    path.write_bytes(text.encode("utf-8", "surrogatepass"))
    with pytest.raises(BadTaskFile, match=r"a_x_test\.json"):
        read_task(task, tmp_path)


def test_a_missing_file_says_what_to_do(tmp_path):
    (task,) = tasks_from_rows([task_row("a/x", "I-I", "text_qa")])
    with pytest.raises(BadTaskFile, match="Put the release's file there"):
        read_task(task, tmp_path)


def test_numbers_and_row_limit(tmp_path):
    rows = [{"qry_text": i, "tgt_text": [1, 2.5, None]} for i in range(4)]
    row = task_row("a/x", "I-I", "text_qa")
    write_index(tmp_path, row, rows)
    (task,) = tasks_from_rows([row])
    data = read_task(replace(task, row_limit=3), tmp_path)
    assert data.rows == len(data.queries) == 3
    assert [c.name for c in data.queries[0].candidates] == ["1", "2.5", ""]


def test_digests_follow_the_content(tmp_path):
    root = small_root(tmp_path / "one", queries=3)
    twin = small_root(tmp_path / "two", queries=3)
    other = small_root(tmp_path / "three", queries=4)
    tasks = load_tasks(root)
    assert data_digest(root, tasks) == data_digest(twin, load_tasks(twin))
    assert data_digest(root, tasks) != data_digest(other, load_tasks(other))
    skin = next(task for task in tasks if task.id == "skin/i2i")
    before = read_task(skin, root)
    assert before.digest == read_task(skin, root).digest
    assert before.digest != read_task(replace(skin, eval_type="global"), root).digest
    write_picture(root, task_row("skin/i2i", "I-I", ""), "0_q.png", side=9)
    assert before.digest != read_task(skin, root).digest
    with pytest.raises(BadTaskFile, match="no such folder"):
        data_digest(tmp_path / "nowhere", tasks)


def test_a_picture_replaced_by_one_of_the_same_size_is_noticed(tmp_path):
    root = small_root(tmp_path, queries=2)
    tasks = load_tasks(root)
    whole, skin = data_digest(root, tasks), next(t for t in tasks if t.id == "skin/i2i")
    before = read_task(skin, root).digest
    picture = root / skin.image_root / "0_q.png"
    seen = picture.stat()
    picture.write_bytes(picture.read_bytes()[::-1])
    os.utime(picture, ns=(seen.st_atime_ns, seen.st_mtime_ns + 1_000_000))
    assert picture.stat().st_size == seen.st_size
    assert read_task(skin, root).digest != before
    assert data_digest(root, tasks) == whole, "pictures are no part of the root's name"
    os.utime(picture, ns=(seen.st_atime_ns, seen.st_mtime_ns))
    assert read_task(skin, root).digest == before


def test_a_task_missing_from_the_root_changes_its_name(tmp_path):
    root = small_root(tmp_path, queries=2)
    tasks = load_tasks(root)
    whole = data_digest(root, tasks)
    (root / tasks[0].data_path).unlink()
    assert data_digest(root, tasks) != whole
    write_registry(root, [task_row("a", "I-I", "image_i2i")])
    assert data_digest(root, load_tasks(root)) != whole
