"""Packs and answers in careless hands: names that fall together, files in the way, cut openings."""

from __future__ import annotations

import shutil

import pytest

from studies.errors import BadPack, BadStudy
from studies.preference.answers import read_answers
from studies.preference.merge import merge
from studies.preference.packs import OPENED, make_pack, open_pack, return_answers
from studies.preference.study import list_studies
from studies.preference.unfinished import UNFINISHED
from tests.studies.packs_on_disk import built, copied, laptop, pack_of, read


@pytest.fixture(scope="module")
def original(tmp_path_factory):
    return built(tmp_path_factory.mktemp("sloppy"))


@pytest.fixture
def path(original, tmp_path):
    return copied(original, tmp_path)


def test_a_folder_that_was_never_finished_is_not_read_in(path, tmp_path):
    """A kill, or another window, between the last file and the folder's name."""
    file, home = pack_of(path, tmp_path / "stick"), laptop(tmp_path)
    whole = open_pack(home, file)
    cut = home.studies / f"{UNFINISHED}0123456789ab"
    shutil.move(whole, cut)
    assert (cut / OPENED).is_file()
    opened = open_pack(home, file)
    assert opened == whole
    assert [info.path for info in list_studies(home)] == [whole]


def test_names_of_one_spelling_in_ascii_get_a_file_each(path, tmp_path):
    names = ("李 明", "王 芳", "é", "e")
    files = [make_pack(path, tmp_path, rater=name) for name in names]
    assert len(set(files)) == len(names)
    assert all(file.suffix == ".triptych" and file.name.isascii() for file in files)
    stick = tmp_path / "stick"
    stick.mkdir()
    backs = []
    for name, file in zip(names, files, strict=True):
        opened = open_pack(laptop(tmp_path / name), file)
        read(opened, 2, name)
        backs += [return_answers(opened, stick), return_answers(opened, stick)]
    assert len(set(backs)) == len(names) == len(list(stick.iterdir()))
    assert {read_answers(back.read_bytes()).rater for back in backs} == set(names)
    assert {one.state for one in merge(path, [str(back) for back in set(backs)])} == {"merged"}


def test_answers_replace_only_answers_of_their_own_pack(path, tmp_path):
    opened = open_pack(laptop(tmp_path), pack_of(path, tmp_path / "stick"))
    read(opened, 2)
    other = open_pack(laptop(tmp_path / "b"), pack_of(path, tmp_path / "stick", "Bob"))
    thesis = tmp_path / "thesis.docx"
    thesis.write_bytes(b"years of work")
    theirs = return_answers(other, tmp_path / "bob.triptych-answers")
    for file in (thesis, theirs):
        before = file.read_bytes()
        with pytest.raises(BadStudy, match=f"{file.name} holds something else"):
            return_answers(opened, file)
        assert file.read_bytes() == before
    mine = return_answers(opened, tmp_path / "mine.triptych-answers")
    read(opened, 1)
    assert return_answers(opened, mine) == mine
    assert len(read_answers(mine.read_bytes()).entries) == 4


def test_a_replaced_pack_does_not_take_the_place_of_the_lost_one(path, tmp_path):
    first = make_pack(path, tmp_path, rater="Ann Lee")
    with pytest.raises(BadStudy, match="not overwritten"):
        make_pack(path, tmp_path, rater="Ann Lee", again=True)
    assert first.is_file()


def test_a_name_that_fits_nowhere_is_refused(path, tmp_path):
    with pytest.raises(BadStudy, match="120 characters at most"):
        make_pack(path, tmp_path, rater="n" * 121)
    assert make_pack(path, tmp_path, rater="n" * 120).is_file()


def test_a_folder_that_lost_its_study_is_named(path, tmp_path):
    file, home = pack_of(path, tmp_path / "stick"), laptop(tmp_path)
    opened = open_pack(home, file)
    kept = shutil.move(opened / "study.sqlite", tmp_path / "study.sqlite")
    with pytest.raises(BadPack, match=f"{opened.name} stands where this pack is read"):
        open_pack(home, file)
    assert [folder.name for folder in home.studies.iterdir()] == [opened.name]
    shutil.move(kept, opened / "study.sqlite")
    assert open_pack(home, file) == opened
