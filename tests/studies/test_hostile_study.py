"""Studies under unlucky raters and coordinators."""

from __future__ import annotations

import os
import sqlite3
import threading
import unicodedata
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from db.errors import RatingRefused, StoreDamaged
from db.home import Home
from db.study_items import MediumRow
from engine.evidence.item import Item
from studies.errors import BadStudy, StudyError, WrongPassphrase
from studies.preference import build
from studies.preference.build import build_from
from studies.preference.lists import Comparison, Listed
from studies.preference.media import MediaPool, coded, decode
from studies.preference.sealing import seal, unseal
from studies.preference.study import open_study
from studies.preference.unblind import unblind
from studies.preference.unfinished import KEEP_UNFINISHED_S
from studies.preference.verify import verify
from tests.studies.preference_material import PASSPHRASE, material, small_study, wish


def test_an_answer_that_is_one_of_our_own_words_does_not_forbid_the_study(tmp_path):
    """Two models that both answer "left" are an automatic tie; "left" is also a column's name."""
    made = material(tmp_path / "evidence", per_task=6)
    words = tuple(Listed(word, Item(text=word)) for word in ("left", "image", "text"))
    same = Comparison("made/vqa", "VQA", "2d", "id", 0, Item(text="side?"), "left", words, words)
    given = replace(made, comparisons={**made.comparisons, "made/vqa": (same,)})
    built = build_from(Home(tmp_path / "home").make(), given, wish(total=100))
    assert built.auto_ties == 3


def test_volumes_of_equal_bytes_and_other_shapes_stay_apart():
    written: list[MediumRow] = []
    pool = MediaPool(written.append)
    shapes = [(2, 4, 8), (4, 2, 8), (2, 4, 8)]
    names = [pool.keep(coded(np.zeros(shape, np.uint8))) for shape in shapes]
    assert names[0] == names[2] != names[1]
    assert [decode(row).shape for row in written] == shapes[:2]


def test_what_a_killed_build_left_is_cleared_by_the_next_of_another_day(tmp_path):
    home = Home(tmp_path / "home").make()
    for name, age in ((".building-old", KEEP_UNFINISHED_S + 60), (".building-new", 0)):
        folder = home.studies / name
        folder.mkdir()
        (folder / "study.sqlite").write_bytes(b"half")
        then = folder.stat().st_mtime - age
        os.utime(folder / "study.sqlite", (then, then))
        os.utime(folder, (then, then))
    build_from(home, material(tmp_path / "evidence", per_task=2), wish(total=4))
    left = sorted(path.name for path in home.studies.glob(".*"))
    assert left == [".building-new"]


def test_one_rater_in_three_windows_at_once_is_seated_once(tmp_path):
    path = small_study(tmp_path, per_task=2).path
    together, seated = threading.Barrier(3), []

    def sit() -> None:
        with open_study(path) as study:
            together.wait()
            seated.append(study.session("ann").total)

    threads = [threading.Thread(target=sit) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(seated) == 3
    assert len(set(seated)) == 1
    assert verify(path) == ()


def test_a_window_left_behind_catches_up_after_one_refusal(tmp_path):
    with open_study(small_study(tmp_path).path) as study:
        one, other = study.session("ann"), study.session("ann")
        following = one.answer("left")
        with pytest.raises(RatingRefused, match="has its answer already"):
            other.answer("right")
        assert other.current() == following
        other.undo()
        with pytest.raises(RatingRefused, match="no answer to take back"):
            one.undo()
        assert one.current() == other.current()


def test_half_characters_are_kept_as_question_marks(tmp_path):
    path = small_study(tmp_path).path
    with open_study(path) as study:
        session = study.session("ann \ud800")
        session.answer("left", comment="x\ud800y", viewer_state={"note": "\udfff"})
        assert session.rater == "ann ?"
    assert verify(path) == ()
    assert unblind(path, PASSPHRASE, "done \udcff").reason == "done ?"


def test_a_title_is_one_plain_line_of_some_length(tmp_path, monkeypatch):
    titles = []
    monkeypatch.setattr(build, "build_from", lambda *made, **_: titles.append(made[2].title))
    monkeypatch.setattr("studies.preference.source.read_material", lambda *_a, **_k: None)

    def made(title):
        build.build_study(
            Home(tmp_path),
            data=tmp_path,
            models=("random", "siglip-nano"),
            total=1,
            seed=1,
            title=title,
            passphrase=PASSPHRASE,
        )

    made("\u202eChest\n  2026\u202c\x1b[31m \ud800")
    assert titles == ["Chest 2026 [31m ?"]
    with pytest.raises(BadStudy, match="siglip"):
        made("Against sig\u200blip")
    with pytest.raises(BadStudy, match="120 characters at most"):
        made("T" * 121)


def test_the_reason_of_the_unblinding_is_one_plain_line(tmp_path):
    path = small_study(tmp_path).path
    with pytest.raises(StudyError, match="needs a reason"):
        unblind(path, PASSPHRASE, "\u200b \x07")
    assert unblind(path, PASSPHRASE, "all\nread\x1b[2J").reason == "all read [2J"


def test_less_than_was_asked_for_is_said(tmp_path):
    made = small_study(tmp_path, per_task=6, total=99, warmup=3)
    assert made.items + made.auto_ties == 15
    assert made.notes == (
        "Asked for were 99 items; there are 15 that can be compared.",
        "Asked for were 3 practice items; beside the sample there are 0.",
    )
    assert small_study(tmp_path / "b", total=9, warmup=2).notes == ()


def test_one_name_in_two_spellings_is_one_rater(tmp_path):
    with open_study(small_study(tmp_path, per_task=2).path) as study:
        for form in ("NFC", "NFD"):
            study.session(unicodedata.normalize(form, "René"))
        assert [name for name, _ in study.info().raters] == ["René"]


def test_one_person_in_other_capitals_is_not_seated_twice(tmp_path):
    with open_study(small_study(tmp_path, per_task=2).path) as study:
        study.session("Ann")
        with pytest.raises(BadStudy, match="ANN and Ann, who is in this study already"):
            study.session("ANN")
        assert study.session("Ann\u200b").rater == "Ann"
        study.session("\u0410nn")  # another letter that only looks alike: another name
        assert [name for name, _ in study.info().raters] == ["Ann", "\u0410nn"]


def test_a_passphrase_opens_however_its_accents_are_spelled():
    sealed = seal(b"{}", unicodedata.normalize("NFD", "Schlüssel é"))
    assert unseal(sealed, unicodedata.normalize("NFC", "Schlüssel é")) == b"{}"
    with pytest.raises(WrongPassphrase):
        unseal(sealed, "\udcff")


def test_an_item_altered_into_nonsense_is_damage_not_a_fault(tmp_path):
    path = small_study(tmp_path, per_task=2).path
    alter(path, "item", "UPDATE item SET query = '{bad'")
    with open_study(path) as study, pytest.raises(StoreDamaged, match="stored value"):
        study.session("ann").current()


def test_a_seed_below_zero_is_refused_before_anything_is_read(tmp_path):
    with pytest.raises(BadStudy, match="seed must be 0 or more"):
        build_from(Home(tmp_path).make(), material(tmp_path / "e", per_task=1), wish(seed=-1))


@pytest.mark.parametrize("panel", ['{"kind": "text"}', "3", "[]", "null"])
def test_an_item_that_lost_a_part_is_damage_not_a_fault(tmp_path, panel):
    path = small_study(tmp_path, per_task=2).path
    alter(path, "item", f"UPDATE item SET query = '{panel}'")
    with open_study(path) as study, pytest.raises((BadStudy, StoreDamaged), match="damaged"):
        study.session("ann").current()


def test_a_text_that_is_no_text_is_damage_and_is_not_quoted(tmp_path):
    path = small_study(tmp_path, per_task=2).path
    alter(path, "item", "UPDATE item SET prompt = CAST(x'7175696574ff' AS TEXT)")
    with open_study(path) as study, pytest.raises(StoreDamaged, match="not UTF-8") as caught:
        study.session("ann").current()
    assert "quiet" not in str(caught.value)
    [fault] = verify(path)
    assert "not UTF-8" in fault


def alter(path: Path, table: str, statement: str) -> None:
    connection = sqlite3.connect(path / "study.sqlite")
    connection.execute(f"DROP TRIGGER {table}_no_update")
    connection.execute(statement)
    connection.commit()
    connection.close()
