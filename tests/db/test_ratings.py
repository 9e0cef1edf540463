"""The log of a study: append-only, chained, durable, closed by the unblinding."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from sqlalchemy import text
from sqlalchemy.exc import IntegrityError

from db import ratings, study_items
from db.errors import RatingRefused, StoreDamaged
from db.session import STUDY_FILE, Store, open_study_store
from tests.db.studies import item, small_study, tamper


@pytest.fixture
def store(place: Path | str) -> Iterator[Store]:
    with small_study(place) as opened:
        yield opened


def rating(position: int, answer: str = "left", **more: object) -> ratings.NewRating:
    item_id = {1: "i2", 2: "i1"}[position]
    return ratings.NewRating("ann", "se1", position, item_id, "item", answer, **more)


def test_an_answer_comes_back_whole(store):
    given = rating(
        1,
        shown_utc="2026-01-31T12:00:00.000Z",
        first_action_ms=400,
        answer_ms=2100,
        idle_ms=0,
        confidence=3,
        comment="blurred, Ä",
        usefulness={"left1": 2, "right3": 0},
        viewer_state={"window": [40.5, 400.0], "slices": [1, 64]},
        software="0.1.0",
    )
    ratings.add_rating(store, given)
    (row,) = ratings.ratings(store)
    for name in given.__dataclass_fields__:
        assert getattr(row, name) == getattr(given, name), name
    assert ratings.check_chain(store) == ()


@pytest.mark.parametrize(
    ("more", "words"),
    [
        ({"answer_ms": -1}, "answer_ms cannot be -1"),
        ({"idle_ms": 10**30}, "idle_ms cannot be"),
        ({"first_action_ms": 0.5}, "first_action_ms cannot be 0.5"),
        ({"confidence": 4}, "1, 2 or 3, not 4"),
        ({"confidence": True}, "1, 2 or 3, not True"),
        ({"usefulness": {"left1": 3}}, "not left1: 3"),
        ({"usefulness": {"left4": 1}}, "not left4: 1"),
    ],
)
def test_what_no_merge_would_take_is_not_kept(store, more, words):
    with pytest.raises(RatingRefused, match=words):
        ratings.add_rating(store, rating(1, **more))
    assert ratings.ratings(store) == ()
    ratings.add_rating(store, rating(1, answer_ms=0, confidence=1, usefulness={}))


def test_a_change_of_mind_adds_rows(store):
    ratings.add_rating(store, rating(1, "left"))
    ratings.undo(store, rater="ann", session_id="se1", position=1)
    assert ratings.standing(store) == {}
    ratings.add_rating(store, rating(1, "neither"))
    assert [(r.action, r.answer) for r in ratings.ratings(store)] == [
        ("answer", "left"),
        ("undo", None),
        ("answer", "neither"),
    ]
    assert ratings.standing(store)["ann", 1].answer == "neither"
    assert ratings.check_chain(store) == ()


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        (rating(1, "better"), "is no answer"),
        (replace(rating(1), item_id="i1"), "does not hold that item"),
        (replace(rating(1), kind="warmup"), "does not hold that item"),
        (replace(rating(1), position=9), "does not hold that item"),
        (replace(rating(1), rater="bob"), "does not hold that item"),
    ],
)
def test_what_does_not_fit_is_refused(store, wrong, words):
    with pytest.raises(RatingRefused, match=words):
        ratings.add_rating(store, wrong)
    assert ratings.ratings(store) == ()


def test_an_answered_place_takes_no_second_answer(store):
    ratings.add_rating(store, rating(1))
    with pytest.raises(RatingRefused, match="answer already"):
        ratings.add_rating(store, rating(1, "right"))
    with pytest.raises(RatingRefused, match="no answer to take back"):
        ratings.undo(store, rater="ann", session_id="se1", position=2)


def test_after_the_first_guess_no_answer_is_given_or_taken_back(store):
    ratings.add_rating(store, rating(1))
    ratings.add_guess(store, rater="ann", session_id="se1", position=1, item_id="i2", answer="left")
    with pytest.raises(RatingRefused, match="can no longer be changed"):
        ratings.undo(store, rater="ann", session_id="se1", position=1)
    with pytest.raises(RatingRefused, match="can no longer be changed"):
        ratings.add_rating(store, rating(2))
    assert [row.action for row in ratings.ratings(store)] == ["answer"]


def test_after_unblinding_everything_is_refused(store):
    ratings.add_rating(store, rating(1))
    assert ratings.unblinding(store) is None
    ratings.add_unblinding(store, reason="done", software="0.1.0")
    assert ratings.unblinding(store).note == "done"
    for act in (
        lambda: ratings.add_rating(store, rating(2)),
        lambda: ratings.undo(store, rater="ann", session_id="se1", position=1),
        lambda: study_items.add_rater(store, study_items.RaterRow("bob"), [], "x"),
    ):
        with pytest.raises(RatingRefused, match="takes no more ratings"):
            act()
    assert ratings.check_chain(store) == ()


@pytest.mark.parametrize("table", ["study", "item", "medium", "rater", "presentation", "entry"])
def test_the_file_itself_refuses_changes(store, table):
    ratings.add_rating(store, rating(1))
    column = {"study": "title", "item": "prompt", "medium": "sha256", "rater": "specialty"}
    column.update(presentation="kind", entry="answer")
    for statement in (f"DELETE FROM {table}", f"UPDATE {table} SET {column[table]} = 'x'"):
        with pytest.raises(IntegrityError, match="append-only"), store.session() as connection:
            connection.execute(text(statement))


@pytest.mark.parametrize(
    ("statements", "words"),
    [
        (["UPDATE entry SET answer = 'right' WHERE number = 2"], "Entry 2 .* was altered"),
        (["UPDATE entry SET answer_ms = 1 WHERE number = 3"], "Entry 3 .* was altered"),
        (["UPDATE entry SET note = 'x' WHERE number = 1"], "Entry 1 .* was altered"),
        (["DELETE FROM entry WHERE number = 2"], "lacks entry 2"),
        (["DELETE FROM entry WHERE number = 3"], "entries were cut"),
        (
            [
                "DELETE FROM entry WHERE number = 2",
                "UPDATE entry SET number = 2 WHERE number = 3",
            ],
            "does not follow",
        ),
        (
            [
                "INSERT INTO entry (number, action, at_utc, rater, position, answer, previous,"
                " hash) SELECT 4, action, at_utc, rater, position, answer, hash, 'forged'"
                " FROM entry WHERE number = 3",
            ],
            "Entry 4 .* was altered",
        ),
        (
            [
                "UPDATE entry SET number = 4 WHERE number = 3",
                "INSERT INTO entry (number, action, at_utc, previous, hash)"
                " SELECT 3, action, at_utc, hash, 'forged' FROM entry WHERE number = 2",
            ],
            "was altered",
        ),
    ],
    ids=["altered", "time", "order", "removed", "cut", "closed up", "added", "slipped in"],
)
def test_the_chain_shows_what_was_done_to_it(place, statements, words):
    with small_study(place) as store:
        ratings.add_rating(store, rating(1, "left", answer_ms=1500))
        ratings.add_rating(store, rating(2, "both", answer_ms=900))
        assert ratings.check_chain(store) == ()
    tamper(place, *statements)
    with open_study_store(place) as store:
        assert any(re.search(words, fault) for fault in ratings.check_chain(store))


def test_a_cut_log_takes_nothing_more(place):
    with small_study(place) as store:
        ratings.add_rating(store, rating(1))
    tamper(place, "DELETE FROM entry WHERE number = 2")
    with open_study_store(place) as store, pytest.raises(RatingRefused, match="was altered"):
        ratings.add_rating(store, rating(2))


def test_items_media_and_orders_come_back(store):
    assert [row.item_id for row in study_items.items(store)] == ["i1", "i2"]
    assert study_items.item_row(store, "i1") == item("i1")
    assert study_items.count_items(store) == {"item": 2}
    (medium,) = study_items.media(store)
    assert medium == study_items.MediumRow(2**61 + 7, "m1", "zlib", (1, 1), "aa", b"pixels\x00")
    assert [p.item_id for p in study_items.presentations(store, "ann")] == ["i2", "i1"]
    assert study_items.raters(store) == (study_items.RaterRow("ann", "radiology", 9),)
    with pytest.raises(RatingRefused, match="no item"):
        study_items.item_row(store, "i9")
    with pytest.raises(StoreDamaged, match="lacks a picture"):
        study_items.medium_row(store, "m9")


def test_a_build_cut_short_is_no_study(place):
    with (
        Store(place, kind=STUDY_FILE) as store,
        pytest.raises(StoreDamaged, match="no finished study"),
    ):
        study_items.study_row(store)
