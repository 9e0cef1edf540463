"""Pictures of a data root: whole, safely named, and never of two settings at once."""

from __future__ import annotations

import json
import multiprocessing
from dataclasses import replace
from functools import partial
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from engine.errors import EvidenceError
from studies.medheb.builders import built
from studies.medheb.builders.card import COMMON, Choice, SourceCard, TaskPlan
from studies.medheb.builders.job import build
from studies.medheb.builders.media import Media
from studies.medheb.builders.names import portable
from studies.medheb.builders.pictures import POINTER, STATE
from studies.medheb.builders.record import Picture, Pixels, Record
from studies.medheb.sources.arrays import map_npy, npz_part
from studies.medheb.sources.packed import Packed
from studies.medheb.sources.words import unpacked
from studies.medheb.tasks import load_tasks
from tests.studies.sources_2d_checks import noise, save

TASKS = ("kvasir/i2l", "kvasir/i2i", "kvasir/t2i")
MAKES = dict(zip(TASKS, ("label", "exemplars", "text-exemplars"), strict=True))
SETTINGS = {choice.name: choice.default for choice in COMMON} | {"shade": 1}
ROOT = next(task.image_root for task in load_tasks() if task.id == TASKS[0])
POINTS = POINTER + b"v1\noid sha256:" + b"0" * 64 + b"\nsize 9\n"


def card(*tasks: str) -> SourceCard:
    return SourceCard(
        "made", "Made", "2d", "", "", "open", "", "", "", (), lambda *_: iter(()),
        tuple(TaskPlan(task, MAKES[task]) for task in tasks), labels=("a", "b"),
        settings=(Choice("shade", 1, (), ""),),
    )  # fmt: skip


def shaded(shade: int, dies: bool) -> Pixels:
    if dies:
        raise KeyboardInterrupt
    return np.full((8, 8), shade, np.uint8)


def records(shade: int, *, dies_at: str = "") -> list[Record]:
    keys = [f"{label}{number}" for label in "ab" for number in range(4)]
    return [
        Record(key, key, "test", (key[0],),
               (Picture(f"{key}.png", pixels=partial(shaded, shade, key == dies_at)),))
        for key in keys
    ]  # fmt: skip


def make(root: Path, shade: int, *tasks: str, dies_at: str = "", cap: int = 1000) -> None:
    settings = {**SETTINGS, "shade": shade, "cap": cap}
    build(card(*(tasks or TASKS)), records(shade, dies_at=dies_at), root, settings)


def shades(root: Path) -> set[int]:
    files = sorted((root / ROOT).glob("*.png"))
    return {int(np.asarray(Image.open(path))[0, 0]) for path in files}


@pytest.mark.parametrize("shade", [1, 2])
def test_a_build_cut_off_and_one_with_other_settings_never_mix(tmp_path: Path, shade: int):
    with pytest.raises(KeyboardInterrupt):
        make(tmp_path, 1, dies_at="b1")
    assert not (tmp_path / built.BUILD).exists()
    assert shades(tmp_path) == {1}
    make(tmp_path, shade)
    assert shades(tmp_path) == {shade}


def test_a_change_cut_off_and_taken_back_leaves_nothing_of_it(tmp_path: Path):
    make(tmp_path, 1)
    with pytest.raises(KeyboardInterrupt):
        make(tmp_path, 2, dies_at="b1")
    assert shades(tmp_path) == {1, 2}
    make(tmp_path, 1)
    assert shades(tmp_path) == {1}


def test_a_task_built_later_takes_no_picture_of_earlier_settings(tmp_path: Path):
    make(tmp_path, 1, TASKS[0])
    make(tmp_path, 2, TASKS[0], cap=4)
    make(tmp_path, 2, TASKS[2], cap=4)
    rows = json.loads((tmp_path / load_of(TASKS[2])).read_text("utf-8"))
    for name in {name for row in rows for name in row["tgt_img_path"]}:
        assert np.asarray(Image.open(tmp_path / ROOT / name))[0, 0] == 2


def load_of(task: str) -> str:
    return next(one.data_path for one in load_tasks() if one.id == task)


def test_a_task_that_comes_out_empty_leaves_no_index_of_the_build_before(tmp_path: Path):
    make(tmp_path, 1, TASKS[0])
    index = tmp_path / load_of(TASKS[0])
    assert index.is_file()
    unlabelled = [replace(record, labels=()) for record in records(1)]
    for theirs in (False, True):
        if theirs:
            index.write_text("[]", encoding="utf-8")  # somebody else's is left alone
        build(card(TASKS[0]), unlabelled, tmp_path, SETTINGS | {"shade": 1})
        assert index.is_file() == theirs
        assert built.read_built(tmp_path)[TASKS[0]].rows == 0


def test_a_build_that_goes_on_writes_only_what_is_not_there(tmp_path: Path):
    make(tmp_path, 1)
    with pytest.raises(KeyboardInterrupt):
        make(tmp_path, 2, dies_at="b3")
    kept = (tmp_path / ROOT / "a0.png").stat().st_mtime_ns
    make(tmp_path, 2)
    assert (tmp_path / ROOT / "a0.png").stat().st_mtime_ns == kept
    assert json.loads((tmp_path / STATE).read_text("utf-8"))[ROOT]["made"]["settings"]["shade"] == 2


@pytest.mark.parametrize("ending", [".jpg", ".png"])
@pytest.mark.parametrize(
    "damage", [lambda _: b"", lambda _: POINTS, lambda full: full[: len(full) // 2]]
)
def test_a_picture_that_is_not_whole_is_no_row_until_it_is(tmp_path: Path, ending: str, damage):
    source = save(tmp_path / f"one{ending}", noise(1, shape=(64, 64, 3)))
    full = source.read_bytes()
    source.write_bytes(damage(full))
    picture = Picture(f"one{ending}", source)
    with pytest.raises(EvidenceError):
        Media(tmp_path / "root").picture(picture)
    assert not (tmp_path / "root" / f"one{ending}").exists()
    source.write_bytes(full)
    Media(tmp_path / "root").picture(picture)
    assert (tmp_path / "root" / f"one{ending}").read_bytes() == full


def test_a_file_that_was_fetched_anew_takes_the_place_of_its_old_copy(tmp_path: Path):
    source = save(tmp_path / "one.png", noise(1))
    Media(tmp_path / "root").picture(Picture("one.png", source))
    save(source, noise(2, shape=(48, 48, 3)))
    Media(tmp_path / "root").picture(Picture("one.png", source))
    assert (tmp_path / "root" / "one.png").read_bytes() == source.read_bytes()


@pytest.mark.parametrize(
    "name", ["polyps/cju1-2_3 (4).jpg", "p10/p10000032/s5/02aa804e-bde0afdd.jpg", "Grüße/ü.png"]
)
def test_clean_names_stay(name: str):
    assert portable(name) == name


@pytest.mark.parametrize(
    "name",
    ["a:b.jpg", "CON.jpg", "x/nul", "com1.tar.png", "dot./x.jpg", "q?.jpg", "end ", "a\\b.jpg"],
)
def test_names_that_some_system_cannot_hold_are_made_anew(name: str):
    made = portable(name)
    assert made != name
    assert portable(made) == made
    assert made.count("/") == name.count("/")
    assert made.rpartition(".")[2] == name.rpartition(".")[2] or "." not in name


def test_two_hostile_names_do_not_become_one(tmp_path: Path):
    media = Media(tmp_path / "root")
    pictures = [Picture(f"a{sign}.png", pixels=partial(shaded, n, False))
                for n, sign in enumerate(":?*")]  # fmt: skip
    names = [media.picture(picture) for picture in pictures]
    assert len(set(names)) == 3
    assert all((tmp_path / "root" / name).is_file() for name in names)


def test_a_pointer_is_called_a_pointer(tmp_path: Path):
    for name in ("a.npy", "a.npz", "a.zip"):
        (tmp_path / name).write_bytes(POINTS)
    asked = (
        partial(map_npy, tmp_path / "a.npy"),
        partial(npz_part, tmp_path / "a.npz", "test_images"),
        partial(Packed, tmp_path / "a.zip"),
        partial(unpacked, tmp_path, "images", "a.zip"),
    )
    for ask in asked:
        with pytest.raises(EvidenceError, match="Git LFS pointer"):
            ask()
    (tmp_path / "a.zip").write_bytes(b"PK\x03\x04 half of it")
    with pytest.raises(EvidenceError, match="download it again"):
        unpacked(tmp_path, "images", "a.zip")


def add(root: Path, first: int) -> None:
    one = built.Built("made", "split", {}, 1)
    for number in range(first, first + 20):
        built.write_built(root, {f"made/{number}": replace(one, rows=number)})


def test_two_builds_into_one_root_keep_each_others_words(tmp_path: Path):
    context = multiprocessing.get_context("spawn")
    workers = [context.Process(target=add, args=(tmp_path, first)) for first in (0, 100)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join(60)
    assert [worker.exitcode for worker in workers] == [0, 0]
    assert len(built.read_built(tmp_path)) == 40
