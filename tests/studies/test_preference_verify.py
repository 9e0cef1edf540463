"""One byte changed anywhere, and the study says what."""

from __future__ import annotations

import re
import shutil
import sqlite3
from contextlib import closing

import pytest

from studies.errors import BadStudy
from studies.preference.study import open_study
from studies.preference.unblind import unblind
from studies.preference.verify import verify
from tests.studies.preference_material import PASSPHRASE, small_study


@pytest.fixture(scope="module")
def original(tmp_path_factory):
    built = small_study(tmp_path_factory.mktemp("verify"))
    with open_study(built.path) as study:
        for name in ("Ann", "Bob"):
            session = study.session(name)
            for answer in ("left", "both", "right"):
                session.answer(answer)
    return built.path


@pytest.fixture
def copy(original, tmp_path):
    target = tmp_path / original.name
    shutil.copytree(original, target)
    assert verify(target) == ()
    return target


def change(folder, *statements) -> None:
    with closing(sqlite3.connect(folder / "study.sqlite")) as raw:
        names = raw.execute("SELECT name FROM sqlite_master WHERE type = 'trigger'").fetchall()
        for (name,) in names:
            raw.execute(f"DROP TRIGGER {name}")
        for statement in statements:
            assert raw.execute(statement).rowcount != 0, statement
        raw.commit()


ONE_ITEM = "WHERE item_id = (SELECT min(item_id) FROM item WHERE kind = 'item')"
ONE_MEDIUM = "WHERE key = (SELECT min(key) FROM medium)"


@pytest.mark.parametrize(
    ("statement", "words"),
    [
        (f"UPDATE item SET prompt = prompt || ' ' {ONE_ITEM}", r"^Item \w+ was altered"),
        (f'UPDATE item SET "left" = "right", "right" = "left" {ONE_ITEM}', r"^Item \w+ was alt"),
        (f"UPDATE item SET kind = 'auto_tie' {ONE_ITEM}", r"^Item \w+ was altered"),
        ("DELETE FROM item WHERE kind = 'auto_tie'", r"^Item \w+ was removed"),
        ("INSERT INTO item SELECT 'new', kind, block, prompt, query, \"left\", \"right\" FROM item"
         f" {ONE_ITEM}", r"^Item new was added"),
        (f"UPDATE medium SET key = key + 1 {ONE_MEDIUM}", r"^Medium \w+ was altered"),
        (f"UPDATE medium SET sha256 = 'x' {ONE_MEDIUM}", r"^The pixels of medium \w+"),
        (f"DELETE FROM medium {ONE_MEDIUM}", r"^Medium \w+ was removed"),
        ("UPDATE study SET title = title || '.'", "frame of the study"),
        ("UPDATE study SET order_seed = '1'", "frame of the study"),
        ("UPDATE study SET software = '9'", "frame of the study"),
        ("UPDATE study SET settings = json_set(settings, '$.identical', 'show')", "frame of the"),
        ("UPDATE study SET hash = replace(hash, substr(hash, 1, 1), 'x')", "frame of the study"),
        ("UPDATE study SET sealed_sha256 = 'x'", "key.sealed was altered"),
        ("UPDATE presentation SET swapped = 1 WHERE rater = 'Ann' AND position = 1", "rater Ann"),
        ("UPDATE presentation SET position = position + 90 WHERE rater = 'Bob'", "rater Bob"),
        ("UPDATE rater SET years = 40 WHERE name = 'Ann'", "rater Ann"),
        ("UPDATE entry SET answer = 'both' WHERE answer = 'left'", r"Entry \d+ of the log was alt"),
        ("DELETE FROM entry WHERE number = 5", "lacks entry 5"),
        ("UPDATE item SET query = '{'", "cannot be read"),
    ],
)  # fmt: skip
def test_a_change_is_named(copy, statement, words):
    change(copy, statement)
    faults = verify(copy)
    assert any(re.search(words, fault) for fault in faults), faults


def flip(content: bytes, place: int) -> bytes:
    return content[:place] + bytes([content[place] ^ 1]) + content[place + 1 :]


@pytest.mark.parametrize("table", ["item", "medium"])
def test_one_flipped_byte_of_an_item_or_a_picture_is_named(copy, table):
    """Flipped in the file itself, past SQLite."""
    file = copy / "study.sqlite"
    with closing(sqlite3.connect(file)) as raw:
        query = {
            "item": f"SELECT prompt FROM item {ONE_ITEM}",
            "medium": "SELECT substr(content, 40, 60) FROM medium WHERE coding = 'png' LIMIT 1",
        }[table]
        (value,) = raw.execute(query).fetchone()
    content = file.read_bytes()
    wanted = value.encode() if isinstance(value, str) else value
    places = [found.start() for found in re.finditer(re.escape(wanted), content)]
    assert places
    for place in places:
        content = flip(content, place + len(wanted) // 2)
    file.write_bytes(content)
    words = {"item": r"^Item \w+ was altered", "medium": r"^The pixels of medium \w+ were altered"}
    assert any(re.search(words[table], fault) for fault in verify(copy))


@pytest.mark.parametrize("where", [0.0, 0.3, 0.7, 0.999])
def test_one_flipped_byte_of_the_key_is_named(copy, where):
    file = copy / "key.sealed"
    content = file.read_bytes()
    file.write_bytes(flip(content, int(where * len(content))))
    assert verify(copy) == ("key.sealed was altered.",)
    with pytest.raises(BadStudy, match="not the key that was frozen"):
        unblind(copy, PASSPHRASE, "finished")


def test_a_missing_key_is_named_and_cannot_be_opened(copy):
    (copy / "key.sealed").unlink()
    assert "not beside the study" in verify(copy)[0]
    with pytest.raises(BadStudy, match="Only the coordinator's copy"):
        unblind(copy, PASSPHRASE, "finished")


def test_an_altered_opened_key_is_named(copy):
    unblind(copy, PASSPHRASE, "finished")
    assert verify(copy) == ()
    file = copy / "key.json"
    file.write_bytes(file.read_bytes().replace(b'"left":"A"', b'"left":"B"', 1))
    assert verify(copy) == ("key.json, the opened key, was altered.",)


def test_a_damaged_file_is_a_fault_and_a_missing_one_an_error(copy, tmp_path):
    file = copy / "study.sqlite"
    content = file.read_bytes()
    file.write_bytes(content[:4096] + b"\xff" * 4096 + content[8192:])
    assert any("damaged" in fault or "malformed" in fault for fault in verify(copy))
    with pytest.raises(BadStudy, match=r"no study\.sqlite"):
        verify(tmp_path)
