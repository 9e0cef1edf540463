"""What was done to a log, a pack or a return is named, in a file and on a server alike."""

from __future__ import annotations

import hashlib
import re
import shutil
from pathlib import Path

import pytest

from db import packs, ratings
from db.chain import append
from db.session import open_study_store
from studies.preference.study import open_study
from studies.preference.verify import verify
from studies.preference.verify_log import acts_faults
from tests.db.studies import tamper
from tests.studies.plain_study import on_server, plain_study

CONTENT = b'{"answers": []}'


def read_through(place) -> None:
    """Items read and guessed by Ann; a pack for Bob, returned once."""
    with open_study(place) as study:
        session = study.session("Ann", specialty="chest")
        session.note_pause("pause")
        while (now := session.current()) is not None:
            session.answer("cannot", reason="dark") if now.position == 1 else session.answer("left")
        session.guess(session.guesses()[0].item_id, "left")
        packs.add_pack(study.store, packs.PackRow("p1", "Bob", "2026-01-01", "key"))
        sha = hashlib.sha256(CONTENT).hexdigest()
        row = packs.ReturnedRow(0, "p1", "Bob", "2026-01-02", 0, "head", sha, CONTENT)
        packs.add_returned(study.store, row)
    assert faults_of(place) == []


@pytest.fixture(scope="module")
def original(tmp_path_factory):
    made = plain_study(tmp_path_factory.mktemp("log"), 6)
    read_through(made)
    return made


@pytest.fixture
def path(original, tmp_path):
    return Path(shutil.copytree(original, tmp_path / original.name))


def faults_of(place) -> list[str]:
    """All but what merging says of the made-up document."""
    return [fault for fault in verify(place) if not fault.startswith("Return 1 ")]


CHANGES = (
    ("UPDATE entry SET answer = 'right' WHERE action = 'guess'", "of the log was altered"),
    ("UPDATE entry SET note = 'other' WHERE answer = 'cannot'", "of the log was altered"),
    ("DELETE FROM entry WHERE action = 'pause'", "lacks entry"),
    ("UPDATE pack SET public_key = 'other'", "pack of rater Bob was altered or added"),
    ("DELETE FROM pack", "pack of rater Bob was removed or altered"),
    ("INSERT INTO pack VALUES ('p2', 'Eve', 'now', 'key', NULL)", "pack of rater Eve was alt"),
    ("UPDATE returned SET sha256 = 'other'", "returned by Bob .* were altered"),
    ("UPDATE returned SET rater = 'Eve'", "returned answers are not those of the log"),
    ("DELETE FROM returned", "returned answers are not those of the log"),
    ("UPDATE returned SET number = 5", "not numbered from one"),
    (
        "UPDATE presentation SET swapped = NOT swapped WHERE position = 1",
        "order .* of rater Ann",
    ),
    ("UPDATE rater SET specialty = 'heart'", "profile of rater Ann"),
    ("UPDATE head SET hash = 'other'", "The end of the log is not the one last written"),
    ("UPDATE study SET title = 'Other'", "The frame of the study"),
    ("UPDATE item SET prompt = 'Other' WHERE item_id = '000000000001'", "Item 000000000001"),
)


@pytest.mark.parametrize(("statement", "words"), CHANGES)
def test_a_change_is_named(path, statement, words):
    tamper(path, statement)
    faults = verify(path)
    assert any(re.search(words, fault) for fault in faults), faults


def test_the_same_changes_are_named_on_a_server(tmp_path, server):
    """One after another in one study; those that remove come last."""
    place = on_server(plain_study(tmp_path, 6), server.study())
    read_through(place)
    for statement, words in sorted(CHANGES, key=lambda change: change[0].startswith("DELETE")):
        tamper(place, statement)
        faults = verify(place)
        assert any(re.search(words, fault) for fault in faults), (statement, faults)


def forged(**changes: object) -> dict[str, object]:
    return {"action": "answer", "rater": "Ann", "session_id": "x", "answer": "left", **changes}


def at(study, position: int) -> dict[str, object]:
    place = next(p for p in study._order if p.position == position)
    return {"position": position, "item_id": place.item_id, "kind": place.kind}


def test_entries_that_this_program_would_not_have_written_are_named(path):
    """By another program that knows how to chain."""
    with open_study(path) as study:
        session = study.session("Ann")
        third, first = at(session, 3), at(session, 1)
        guessed = ratings.guesses(study.store)[0].position
        with study.store.session() as connection:
            for values, _ in (acts := [
                (forged(**third), "answers an item that has its answer"),
                (forged(**{**third, "item_id": "000000000000", "position": 99}), "did not stand"),
                (forged(**first, action="undo", answer=None), "changes an answer after the first"),
                (forged(**first, answer="cannot"), "no answer that could be given"),
                (forged(**first, answer="A"), "no answer that could be given"),
                (forged(**first, action="undo", answer=None), "answer that there was not"),
                (forged(**at(session, 3), action="guess"), "a guess before every item"),
                (forged(**first), "changes an answer after the first guess"),
                (forged(**at(session, guessed), action="guess"), "a second time"),
                (forged(**first, action="guess", answer="left"), "no guess that could be made"),
                ({"action": "unblind"}, ""),
                (forged(**first, action="undo", answer=None), "after the unblinding"),
            ]):  # fmt: skip
                append(connection, values)
    faults = [
        fault for fault in verify(path) if re.match(r"Entry \d+ of the log (?!was alt)", fault)
    ]
    wanted = [words for _, words in acts if words]
    assert len(faults) == len(wanted), faults
    for words, fault in zip(wanted, faults, strict=True):
        assert words in fault


def test_a_whole_session_is_a_log_that_makes_sense(path):
    with open_study_store(path) as store, open_study(path) as study:
        assert acts_faults(ratings.entries(store), study.session("Ann")._order) == ()
