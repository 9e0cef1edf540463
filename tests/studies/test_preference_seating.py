"""How a study is read: practice, repeats with sides exchanged, blocks, pauses, guesses, reasons."""

from __future__ import annotations

import itertools

import pytest

from db import packs, ratings, study_items
from db.errors import AnsweredAlready, RatingRefused
from studies.errors import BadStudy
from studies.preference.protocol import Protocol
from studies.preference.study import open_study
from studies.preference.verify import verify
from tests.studies.plain_study import PROTOCOL, on_server, plain_study

ITEMS = 20


@pytest.fixture(params=["file", "server"])
def path(request, tmp_path):
    made = plain_study(tmp_path, ITEMS)
    return (
        made
        if request.param == "file"
        else on_server(made, request.getfixturevalue("server").study())
    )


def read_all(session, answer: str = "left") -> list:
    seen = []
    while (now := session.current()) is not None:
        seen.append(now)
        session.answer(answer, item_id=now.item_id)
    return seen


def test_practice_comes_first_and_repeats_show_the_sides_exchanged(path):
    with open_study(path) as study:
        session = study.session("Ann")
        assert (session.protocol, study.protocol) == (PROTOCOL, PROTOCOL)
        assert (session.warmups, session.total) == (2, 2 + ITEMS + 4)
        seen = read_all(session)
    assert [one.position for one in seen] == list(range(1, session.total + 1))
    assert [one.kind for one in seen[:2]] == ["warmup", "warmup"]
    first = {one.item_id: one for one in seen if one.kind == "item"}
    again = [one for one in seen if one.kind == "repeat"]
    assert (len(first), len(again)) == (ITEMS, 4)
    for one in again:
        before = first[one.item_id]
        assert (one.left, one.right) == (before.right, before.left)
        assert one.position - before.position >= PROTOCOL.repeat_gap
    assert verify(path) == ()


def test_blocks_are_read_one_after_the_other(path):
    with open_study(path) as study:
        study.session("Ann")
        blocks = {row.item_id: row.block for row in study_items.items(study.store)}
        order = study_items.presentations(study.store, "Ann")
    read = [blocks[place.item_id] for place in order if place.kind == "item"]
    changes = [1 for one, other in itertools.pairwise(read) if one != other]
    assert len(changes) == 1


def test_an_order_is_drawn_from_the_seed_and_the_name(tmp_path):
    orders = []
    for folder in ("one", "two"):
        with open_study(plain_study(tmp_path / folder)) as study:
            for name in ("Ann", "Bob"):
                study.session(name)
                places = study_items.presentations(study.store, name)
                orders.append([(p.item_id, p.kind, p.swapped) for p in places])
    assert orders[:2] == orders[2:]
    assert orders[0] != orders[1]


def test_the_next_items_are_told_beforehand(path):
    with open_study(path) as study:
        session = study.session("Ann")
        one, two = session.upcoming()
        (alone,) = session.upcoming(1)
        assert (one.position, two.position, alone) == (2, 3, one)
        assert len(session.upcoming(5)) == 5
        assert session.answer("left") == one
        read_all(session)
        assert session.upcoming() == ()


def test_what_cannot_be_judged_needs_a_reason(path):
    with open_study(path) as study:
        session = study.session("Ann")
        for reason in (None, "  "):
            with pytest.raises(RatingRefused, match="Say why"):
                session.answer("cannot", reason=reason)
        with pytest.raises(RatingRefused, match="belongs to an item that cannot be judged"):
            session.answer("left", reason="too dark")
        assert session.answered == 0
        session.answer("cannot", reason=" too dark ")
        session.answer("both")
        told = [(row.answer, row.reason) for row in ratings.ratings(study.store)]
        assert told == [("cannot", "too dark"), ("both", None)]
        assert (session.answered, study.info().answered) == (2, 2)
    assert verify(path) == ()


def test_pauses_are_kept_and_change_nothing_else(path):
    with open_study(path) as study:
        session = study.session("Ann")
        before = session.current()
        session.note_pause("pause")
        session.note_pause("resume")
        assert [kind for kind, _ in session.pauses()] == ["pause", "resume"]
        assert (session.current(), session.answered) == (before, 0)
        with pytest.raises(RatingRefused, match="neither of pause, resume"):
            session.note_pause("nap")
        assert study.session("Bob").pauses() == ()
    assert verify(path) == ()


def test_the_guess_comes_at_the_end_and_stands(path):
    with open_study(path) as study:
        session = study.session("Ann")
        assert session.guesses() == ()
        seen = read_all(session)
        asked = session.guesses()
        items = [one.item_id for one in seen if one.kind == "item"]
        assert len({one.item_id for one in asked} & set(items)) == len(asked) == 5
        assert {one.kind for one in asked} == {"item"}
        assert session.guess(asked[0].item_id, "unsure") == asked[1:]
        with pytest.raises(RatingRefused, match="not to be guessed now"):
            session.guess(asked[0].item_id, "left")
        with pytest.raises(RatingRefused, match="not to be guessed now"):
            session.guess(next(i for i in items if i not in {a.item_id for a in asked}), "left")
        with pytest.raises(RatingRefused, match="is no guess"):
            session.guess(asked[1].item_id, "A")
    with open_study(path) as study:
        session = study.session("Ann")
        assert session.guesses() == asked[1:]
        with pytest.raises(RatingRefused, match="can no longer be changed"):
            session.undo()
        assert session.current() is None
        for one in asked[1:]:
            session.guess(one.item_id, "left")
        assert session.guesses() == ()
        assert [row.answer for row in ratings.guesses(study.store)] == ["unsure", *["left"] * 4]
    assert verify(path) == ()


def test_two_windows_cannot_guess_one_item_twice(path):
    with open_study(path) as study:
        one = study.session("Ann")
        read_all(one)
        other = study.session("Ann")
        first, second, *_ = one.guesses()
        one.guess(first.item_id, "left")
        with pytest.raises(AnsweredAlready, match="a guess stands"):
            other.guess(first.item_id, "right")
        assert other.guesses()[0] == second
        assert [row.answer for row in ratings.guesses(study.store)] == ["left"]


def test_a_study_without_guesses_asks_none(tmp_path):
    path = plain_study(tmp_path, 3, protocol=Protocol(warmup=0, repeat_share=0, guess_items=0))
    with open_study(path) as study:
        session = study.session("Ann")
        assert [one.kind for one in read_all(session)] == ["item"] * 3
        assert (session.guesses(), session.warmups) == ((), 0)


def test_a_study_from_before_there_were_protocols_is_read_plainly(tmp_path):
    path = plain_study(tmp_path, 4, protocol=None)
    with open_study(path) as study:
        session = study.session("Ann")
        assert (session.protocol.confidence, session.warmups) == ("off", 0)
        assert [one.kind for one in read_all(session)] == ["item"] * 4
        assert session.guesses() == ()
    assert verify(path) == ()


def test_a_profile_is_kept_with_the_first_sitting(path):
    with open_study(path) as study:
        study.session(
            "Ann", specialty=" chest  radiology ", years=9, modalities="", display="a\x00b"
        )
        study.session("Ann", specialty="neuro")
        (row,) = study_items.raters(study.store)
        assert row == study_items.RaterRow("Ann", "chest radiology", 9, None, "a b")
        with pytest.raises(BadStudy, match="between 0 and 80"):
            study.session("Bob", years=900)
        assert study.info().raters == (("Ann", 0),)
    assert verify(path) == ()


def test_a_pack_is_for_one_rater(path):
    with open_study(path) as study:
        packs.take_seat(study.store, packs.SeatRow("p1", "Ann", "key"))
        assert (study.info().seat, study.session(" Ann").rater) == ("Ann", "Ann")
        with pytest.raises(BadStudy, match="was handed to Ann"):
            study.session("Bob")
        assert [name for name, _ in study.info().raters] == ["Ann"]
