"""What is said beside the answer, by the protocol: confidence, comment, usefulness, cannot judge,
the profile, packs, the questions at the end; on a fake view and a fake clock."""

from __future__ import annotations

import dataclasses
import logging
from pathlib import Path

import pytest

from app.presenters import review_words as words
from app.presenters.pace import BAND_ITEMS, LATEST, Pace
from app.presenters.review_said import Draft, Said
from studies.errors import BadPack, StudyGone
from studies.preference.protocol import REASONS
from tests.app.fakes import FakeStudy, image_item
from tests.app.test_review import Desk

GONE = StudyGone("It is not there any more. Put the stick back, then try again.")


def study(total: int = 4, **protocol):
    asked = {"usefulness": "optional", **protocol}
    return FakeStudy(total, **asked)


def details(desk, number=0):
    return desk.study.answers[number][2]


def test_what_was_said_of_an_unanswered_item_is_there_again_after_leaving():
    desk = Desk(study()).begin()
    desk.view.comment_kept.emit("motion in the query")
    desk.view.confidence_chosen.emit(3)
    desk.view.usefulness_chosen.emit("left1", 2)
    desk.view.answer_chosen.emit("left")
    desk.view.pause_asked.emit()
    assert words.UNSTORED in desk.view.last("show_paused")[0][0]
    desk.view.leave_asked.emit()
    desk.begin()
    assert desk.view.last("show_hint")[0] == (words.HERE_AGAIN,)
    assert desk.view.last("show_said")[1]["comment"] == "motion in the query"
    assert desk.presenter._said.answer is None
    desk.reveal()
    desk.answer("right")
    kept = details(desk)
    assert (kept["comment"], kept["confidence"]) == ("motion in the query", 3)
    assert kept["usefulness"] == {"left1": 2}
    desk.reveal()
    assert desk.presenter._said == Said()


def test_words_about_an_unanswered_item_are_asked_about_once_before_they_are_lost():
    desk = Desk(study()).begin()
    assert not desk.presenter.keeps_open(), "nothing was written"
    desk.view.answer_chosen.emit("left")
    desk.view.confidence_chosen.emit(3)
    assert not desk.presenter.keeps_open(), "a key or two are no words"
    desk.view.comment_kept.emit("motion in the query")
    assert desk.presenter.keeps_open()
    told = desk.view.last("show_paused")[0][0]
    assert words.WRITTEN in told
    assert "Enter returns to the item" in told
    assert "Ctrl+Q again drops it" in told
    assert not desk.presenter.keeps_open(), "asked again it gives way"
    desk.view.resume_asked.emit()
    desk.clock.now += 1.0
    assert desk.presenter.keeps_open(), "it was answered by going on, so it is asked anew"
    desk.view.resume_asked.emit()
    desk.clock.now += 1.0
    desk.view.confirm_asked.emit()
    assert details(desk)["comment"] == "motion in the query", "nothing of it was lost"
    desk.reveal()
    assert not desk.presenter.keeps_open(), "what has its answer is stored"


def test_a_reason_in_own_words_is_asked_about_too_and_so_is_a_pause():
    desk = Desk(study()).begin()
    desk.view.reason_kept.emit("half of it is missing")
    desk.view.pause_asked.emit()
    assert desk.presenter.keeps_open()
    desk.view.leave_asked.emit()
    assert not desk.presenter.keeps_open()


def test_nothing_said_is_kept_for_another_item_and_the_curtain_promises_nothing():
    desk = Desk(study()).begin()
    desk.view.pause_asked.emit()
    assert words.UNSTORED not in desk.view.last("show_paused")[0][0]
    desk.view.leave_asked.emit()
    desk.begin()
    assert words.HERE_AGAIN not in desk.view.last("show_hint")[0]
    draft = Draft()
    draft.keep(("reading", "i1", 3), Said(answer="left", comment="a"))
    assert draft.find(("reading", "i1", 3)) == Said(comment="a")
    for place in (("other", "i1", 3), ("reading", "i2", 3), ("reading", "i1", 4)):
        assert draft.find(place) == Said()


def test_what_the_protocol_turns_off_is_neither_shown_nor_stored():
    desk = Desk(FakeStudy(2, confidence="off", usefulness="off", comments="off")).begin()
    assert desk.view.last("show_protocol")[1] == {
        "confidence": False, "usefulness": False, "comments": False,
    }  # fmt: skip
    desk.view.confidence_chosen.emit(3)
    desk.view.usefulness_chosen.emit("left1", 2)
    desk.view.comment_asked.emit()
    desk.answer("left")
    assert "ask_comment" not in desk.view.names()
    assert {"confidence", "usefulness", "comment", "reason"}.isdisjoint(details(desk))


def test_confidence_usefulness_and_comment_are_stored_with_the_answer():
    desk = Desk(study()).begin()
    desk.view.confidence_chosen.emit(2)
    desk.view.usefulness_chosen.emit("left1", -1)
    desk.view.usefulness_chosen.emit("left1", -1)
    desk.view.usefulness_chosen.emit("right3", 0)
    desk.view.comment_asked.emit()
    assert desk.view.last("ask_comment") == (("",), {})
    desk.view.comment_kept.emit("motion in the query")
    assert desk.view.last("show_notes")[0][0] == {
        "left1": "1 partly useful", "right3": "0 not useful",
    }  # fmt: skip
    desk.answer("right")
    kept = details(desk)
    assert (kept["confidence"], kept["comment"]) == (2, "motion in the query")
    assert kept["usefulness"] == {"left1": 1, "right3": 0}
    assert desk.view.last("show_notes")[0][0] == {}  # the next item begins afresh
    assert desk.view.last("show_said")[1]["confidence"] is None


def test_usefulness_needs_a_candidate():
    desk = Desk(study()).begin()
    for name in ("", "query"):
        desk.view.usefulness_chosen.emit(name, 2)
        assert words.NO_CANDIDATE in desk.view.last("show_hint")[0][0]
    desk.view.chosen_frame.emit("query")
    assert desk.view.last("show_candidate") == ((), {"chosen": False})
    desk.view.chosen_frame.emit("right2")
    assert desk.view.last("show_candidate") == ((), {"chosen": True})


def test_that_a_candidate_is_needed_is_said_until_the_next_act():
    desk = Desk(study()).begin()
    desk.view.usefulness_chosen.emit("query", 2)
    desk.view.chosen_frame.emit("left1")
    assert desk.view.last("show_hint")[0] == ("",)
    desk.view.answer_chosen.emit("left")
    desk.view.usefulness_chosen.emit("query", 2)
    assert words.NO_CANDIDATE in desk.view.last("show_hint")[0][0]
    desk.view.usefulness_chosen.emit("left1", 2)
    assert desk.view.last("show_hint")[0] == (words.stores(),)
    hints = desk.view.names().count("show_hint")
    desk.view.chosen_frame.emit("right1")  # nothing was asked: other sentences stay
    assert desk.view.names().count("show_hint") == hints


def test_the_next_value_goes_round():
    said = Said()
    seen = []
    for _ in range(4):
        said = said.with_confidence(0)
        seen.append(said.confidence)
    assert seen == [1, 2, 3, None]
    seen = []
    for _ in range(4):
        said = said.with_usefulness("left2", -1)
        seen.append(said.usefulness.get("left2"))
    assert seen == [0, 1, 2, None]


def test_cannot_judge_has_a_reason_and_is_confirmed_like_any_answer():
    desk = Desk(study()).begin()
    desk.view.cannot_asked.emit()
    assert desk.view.names()[-1] == "ask_reason"
    assert desk.view.last("ask_reason")[0] == (REASONS,)
    desk.view.reason_kept.emit("Outside my field")
    assert desk.answers == []
    assert "Outside my field" in desk.view.last("show_hint")[0][0]
    assert desk.view.last("show_said")[1]["cannot"] is True
    desk.view.confirm_asked.emit()
    assert desk.answers == [(1, "cannot")]
    assert details(desk)["reason"] == "Outside my field"


def test_a_reason_goes_with_another_answer_and_with_undo():
    desk = Desk(study()).begin()
    desk.view.reason_kept.emit("Outside my field")
    desk.answer("left")
    assert "reason" not in details(desk)
    desk.reveal()
    desk.view.reason_kept.emit("Outside my field")
    desk.view.undo_asked.emit()
    assert desk.view.last("show_answer") == ((None,), {})
    desk.view.confirm_asked.emit()
    assert desk.answers == [(1, "left")]


def test_nothing_is_said_before_the_item_is_painted():
    desk = Desk(study()).begin()
    desk.answer("left")
    for signal, values in (
        (desk.view.confidence_chosen, (1,)), (desk.view.usefulness_chosen, ("left1", 1)),
        (desk.view.cannot_asked, ()), (desk.view.comment_asked, ()),
        (desk.view.reason_kept, ("x",)),
    ):  # fmt: skip
        signal.emit(*values)
    assert not {"ask_reason", "ask_comment"} & set(desk.view.names())
    assert desk.presenter._said == Said()


def test_comments_and_reasons_are_not_logged(caplog):
    caplog.set_level(logging.DEBUG, logger="triptych")
    desk = Desk(study()).begin()
    desk.view.comment_kept.emit("a word about the patient")
    desk.view.reason_kept.emit("very odd reason")
    desk.view.confirm_asked.emit()
    assert "patient" not in caplog.text
    assert "odd" not in caplog.text


# practice, progress and time left


def test_an_item_taken_back_says_so_and_keeps_what_was_typed():
    desk = Desk(study(3)).begin()
    desk.view.confidence_chosen.emit(2)
    desk.view.usefulness_chosen.emit("left1", 1)
    desk.view.comment_kept.emit("motion in the query")
    desk.answer("left")
    desk.reveal()
    desk.view.undo_asked.emit()
    hints = [values[0] for name, values, _ in desk.view.calls if name == "show_hint"]
    assert hints[-1] == words.TAKEN_BACK
    said = desk.view.last("show_said")[1]
    assert (said["confidence"], said["comment"]) == (2, "motion in the query")
    assert desk.view.last("show_notes")[0][0].keys() == {"left1"}
    assert desk.view.names()[-4:].index("show_notes") > desk.view.names()[-4:].index("show_item")
    desk.reveal()
    desk.view.confirm_asked.emit()
    assert len(desk.answers) == 2, "the choice is open again"
    desk.answer("right")
    assert desk.study.answers[-1][2]["comment"] == "motion in the query"
    assert desk.study.answers[-1][2]["usefulness"] == {"left1": 1}


def test_the_end_of_practice_is_told_once():
    desk = Desk(practice()).begin()
    told = []
    for _ in range(3):
        desk.answer("both")
        told.append(desk.view.last("show_progress")[0][2])
        desk.reveal()
    assert [one == words.PRACTICE_OVER for one in told] == [False, True, False]


@pytest.mark.parametrize("act", ["answer", "look"])
def test_the_end_of_practice_stands_in_the_strip_until_the_first_act(act):
    desk = Desk(practice()).begin()
    for _ in range(2):
        desk.answer("both")
        desk.reveal()
    assert desk.view.last("show_progress")[0][:3] == (1, 4, words.PRACTICE_OVER)
    desk.view.chosen_frame.emit("left1")  # pointing is no act
    assert desk.view.last("show_progress")[0][2] == words.PRACTICE_OVER
    if act == "answer":
        desk.view.answer_chosen.emit("left")
    else:
        desk.view.looked.emit()
    assert desk.view.last("show_progress")[0][2] != words.PRACTICE_OVER


def test_enlarging_nothing_asks_for_a_frame_until_one_is_chosen():
    desk = Desk(study()).begin()
    desk.view.frame_wanted.emit()
    assert desk.view.last("show_hint") == ((words.NO_FRAME,), {"kind": "warn"})
    desk.view.chosen_frame.emit("right1")
    assert desk.view.last("show_hint") == (("",), {})


def practice(total=6, warmups=2):
    items = [image_item(n + 1, total) for n in range(total)]
    items[:warmups] = [dataclasses.replace(one, kind="warmup") for one in items[:warmups]]
    items[4] = dataclasses.replace(items[4], kind="repeat")
    return FakeStudy(total, items=items)


def test_practice_is_named_and_counted_apart_and_a_repeat_looks_like_any_item():
    desk = Desk(practice()).begin()
    seen = []
    for _ in range(6):
        values, named = desk.view.last("show_progress")
        seen.append((*values[:2], named["kind"]))
        desk.answer("left")
        desk.reveal()
    assert seen == [
        (1, 2, "practice"), (2, 2, "practice"), (1, 4, "item"), (2, 4, "item"), (3, 4, "item"),
        (4, 4, "item"),
    ]  # fmt: skip


def test_the_time_left_is_told_by_form_or_not_at_all():
    pace = Pace()
    for seconds in (10, 10, 10):
        pace.add(seconds, "2d")
    assert words.left_words(pace, {"2d": 30}, "2d") == "about 5 min left"
    # nothing is known of volumes yet: the pictures' time is all that can be told
    said = words.left_words(pace, {"2d": 30, "3d": 40}, "2d")
    assert said == "about 5 min left of the 2D items"
    assert words.left_words(pace, {"3d": 40}, "3d") == ""
    for seconds in (60, 60, 60):
        pace.add(seconds, "3d")
    assert words.left_words(pace, {"2d": 30, "3d": 40}, "2d") == "about 45 min left"


def drifting(factor, start=60, total=150, seed=0):
    import numpy as np

    random = np.random.default_rng(seed)
    pace = Pace()
    for number in range(total):
        usual = random.normal(2.0, 0.5)
        pace.add(float(np.exp(usual)) * (factor if number >= start else 1.0), "2d")
        if pace.drifts("2d"):
            return number
    return None


def test_a_drift_of_pace_is_seen_in_either_direction_and_seldom_where_there_is_none():
    slower = [drifting(2.5, seed=n) for n in range(40)]
    faster = [drifting(0.35, seed=n) for n in range(40)]
    steady = [drifting(1.0, seed=n) for n in range(100)]
    assert sum(one is not None and one >= 60 for one in slower) >= 28
    assert sum(one is not None and one >= 60 for one in faster) >= 28
    assert sum(one is not None for one in steady) <= 10
    assert all(one is None or one >= BAND_ITEMS + LATEST - 1 for one in steady)


def test_a_rest_is_proposed_by_times_alone():
    def session(answers):
        desk = Desk(FakeStudy(60, rest_minutes=0)).begin()
        hints = []
        for number in range(59):
            desk.clock.now += 5 if number < 40 else 60
            desk.answer(answers[number % len(answers)])
            desk.reveal()
            hints.append(desk.view.last("show_hint")[0][0])
        return hints

    mixed, same = session(["left", "right", "both", "neither"]), session(["left"])
    assert mixed == same
    assert any("pace has changed" in hint for hint in mixed)
    assert sum("pace has changed" in hint for hint in mixed) == 1


# pauses and idling


def test_after_long_idling_the_curtain_falls_by_itself():
    desk = Desk(study()).begin()
    for _ in range(298):
        desk.clock.now += 1
        desk.view.ticked.emit()
    assert "show_paused" not in desk.view.names()
    desk.clock.now += 2
    desk.view.ticked.emit()
    assert "five minutes" in desk.view.last("show_paused")[0][0]
    assert desk.study.notes == ["pause"]
    desk.clock.now += 5000
    desk.view.resume_asked.emit()
    assert desk.study.notes == ["pause", "resume"]
    desk.clock.now += 1
    desk.answer("left")
    spent, idle = details(desk)["answer_ms"], details(desk)["idle_ms"]
    assert spent == 61_000  # sixty count although nothing moves, then one second
    assert idle == 241_000 + 5_000_000


def test_input_keeps_the_curtain_up():
    desk = Desk(study()).begin()
    for _ in range(20):
        desk.clock.now += 60
        desk.view.input_seen.emit()
        desk.view.ticked.emit()
    assert "show_paused" not in desk.view.names()


def test_a_pause_that_cannot_be_noted_stops_nobody():
    desk = Desk(study()).begin()

    def refuse(_kind):
        raise StudyGone("gone")

    desk.study.note_pause = refuse
    desk.view.pause_asked.emit()
    desk.view.resume_asked.emit()
    desk.clock.now += 1
    desk.answer("left")
    assert desk.answers == [(1, "left")]


# profile and packs


def test_a_new_reader_is_asked_once_and_may_leave_everything_empty():
    new = study()
    new.known = False
    desk = Desk(new)
    desk.presenter.shown()
    desk.view.begun.emit("s1", "AB")
    assert desk.view.last("show_profile") == (("AB",), {"display": ""})
    assert "show_item" not in desk.view.names()
    desk.view.profile_given.emit("", None, "", "")
    assert new.profile == {"specialty": None, "years": None, "modalities": None, "display": None}
    assert "show_item" in desk.view.names()
    desk.presenter.leave()
    desk.view.begun.emit("s1", "AB")
    assert desk.view.names().count("show_profile") == 1


def test_what_was_stated_of_the_display_stands_in_the_profile():
    new = study()
    new.known = False
    desk = Desk(new)
    settings = desk.services.settings
    settings.current = dataclasses.replace(settings.current, display_statement="GSDF, March")
    desk.presenter.shown()
    desk.view.begun.emit("s1", "AB")
    assert desk.view.last("show_profile")[1] == {"display": "GSDF, March"}
    desk.view.profile_given.emit("chest", 12, "CT", "GSDF, March")
    assert new.profile["years"] == 12


def test_leaving_the_profile_lets_go_of_the_study():
    new = study()
    new.known = False
    desk = Desk(new)
    desk.presenter.shown()
    desk.view.begun.emit("s1", "AB")
    desk.view.leave_asked.emit()
    assert new.closed == 1
    assert desk.view.names()[-1] == "show_studies"


def test_a_pack_is_opened_and_chosen_in_the_list():
    desk = Desk(study())
    desk.presenter.shown()
    desk.view.pack_chosen.emit("/media/stick/a.triptych")
    assert desk.source.packs == [Path("/media/stick/a.triptych")]
    assert desk.view.last("show_studies")[1]["chosen"] == "s1"
    desk.source.fail = BadPack("a.triptych was cut. Ask for it again.")
    desk.view.pack_chosen.emit("/media/stick/a.triptych")
    assert desk.services.notify.sentences == ["a.triptych was cut. Ask for it again."]
    assert desk.view.names()[-1] == "show_studies"


def test_a_pack_named_on_the_command_line_is_opened():
    desk = Desk(study())
    desk.presenter.shown("/media/stick/a.triptych")
    assert desk.source.packs == [Path("/media/stick/a.triptych")]


def test_answers_are_handed_back_at_a_pause_and_at_the_end():
    desk = Desk(study(1), seat="AB").begin()
    desk.view.ask_save = lambda name: f"/media/stick/{name}"
    desk.view.pause_asked.emit()
    assert desk.view.last("show_paused")[1] == {"hand_back": True}
    desk.view.hand_back_asked.emit()
    out = Path("/media/stick/Chest-AB.triptych-answers")
    assert desk.source.returned == [out]
    assert str(out) in desk.view.last("say_handed_back")[0][0]
    desk.view.resume_asked.emit()
    desk.clock.now += 1
    desk.answer("left")
    assert desk.view.last("show_finished")[1] == {"hand_back": True, "back": True}
    desk.source.fail = BadPack("The stick is full. Free some room.")
    desk.view.hand_back_asked.emit()
    assert "The stick is full" in desk.view.last("say_handed_back")[0][0]
    desk.view.ask_save = lambda name: ""
    desk.view.hand_back_asked.emit()
    assert len(desk.source.returned) == 1


def test_a_study_that_is_no_pack_has_nothing_to_hand_back():
    desk = Desk(study(1)).begin()
    desk.view.pause_asked.emit()
    assert desk.view.last("show_paused")[1] == {"hand_back": False}


# a study that vanishes


def test_a_vanished_study_is_a_state_and_the_answer_stays():
    desk = Desk(study()).begin()
    desk.view.answer_chosen.emit("both")
    desk.view.confidence_chosen.emit(3)
    desk.study.gone = GONE
    desk.view.confirm_asked.emit()
    assert desk.view.last("show_gone") == ((str(GONE),), {})
    desk.view.retry_asked.emit()
    assert desk.view.names().count("show_gone") == 2  # still not there
    desk.study.gone = None
    desk.view.retry_asked.emit()
    assert desk.view.names().count("show_item") == 1
    assert desk.view.last("show_hint")[0][0] == words.THERE_AGAIN
    desk.clock.now += 1
    desk.view.confirm_asked.emit()
    assert desk.answers == [(1, "both")]
    assert details(desk)["confidence"] == 3


def test_one_may_leave_a_vanished_study():
    desk = Desk(study()).begin()
    desk.study.gone = GONE
    desk.answer("left")
    desk.study.gone = None
    desk.view.leave_asked.emit()
    assert desk.view.names()[-1] == "show_studies"


def test_another_window_was_quicker():
    from db.errors import AnsweredAlready

    desk = Desk(study()).begin()
    real = desk.study.answer

    def taken(_answer, **_more):
        desk.study.done = 1  # what the session sees after it looked again
        desk.study.answer = real
        raise AnsweredAlready("Item 1 has its answer already.")

    desk.study.answer = taken
    desk.answer("left")
    assert desk.view.last("show_progress")[0][0] == 2
    assert (words.ELSEWHERE,) in [call[1] for call in desk.view.calls if call[0] == "show_hint"]
    desk.reveal()
    desk.answer("right")
    assert desk.answers == [(2, "right")]


def test_a_refusal_of_the_item_itself_stays_on_the_screen():
    from db.errors import RatingRefused

    desk = Desk(study()).begin()
    desk.study.fail = RatingRefused("This study was unblinded.")
    desk.answer("left")
    assert desk.view.last("show_fault") == (("This study was unblinded.",), {})
    assert desk.view.names().count("show_item") == 1


# the questions at the end


def guessing():
    asked = study(3)
    asked.to_guess = [asked.items[2], asked.items[0]]
    desk = Desk(asked).begin()
    for _ in range(3):
        desk.answer("left")
        desk.reveal()
    return desk


def test_questions_are_asked_after_the_last_item_and_a_guess_stands():
    desk = guessing()
    assert "2 items" in desk.view.last("show_asking")[0][0]
    desk.view.guess_begun.emit()
    values, named = desk.view.last("show_item")
    assert named == {"guess": True}
    assert values[0].prompt == desk.study.protocol.guess_question
    assert desk.view.last("show_progress") == ((1, 2, ""), {"kind": "guess"})
    desk.reveal()
    desk.view.answer_chosen.emit("left")
    desk.view.undo_asked.emit()
    desk.view.answer_chosen.emit("unsure")
    desk.view.confirm_asked.emit()
    assert desk.study.guessed == [("i3", "unsure")]
    desk.reveal()
    desk.view.undo_asked.emit()
    assert "stands" in desk.view.last("show_hint")[0][0]
    desk.answer("right")
    assert desk.study.guessed == [("i3", "unsure"), ("i1", "right")]
    assert desk.view.names()[-1] == "show_finished"
    assert desk.view.last("show_finished")[1]["back"] is False
    desk.view.undo_asked.emit()
    assert desk.view.last("say_handed_back") == ((words.SETTLED,), {})
    assert "undo" not in {answer for _, answer in desk.answers}


def test_the_page_before_the_questions_says_that_answers_stand_from_then_on():
    desk = guessing()
    (said,), named = desk.view.last("show_asking")
    assert words.SETTLES in said
    assert named == {"back": True}
    desk.view.guess_begun.emit()
    desk.reveal()
    desk.answer("unsure")
    desk.reveal()
    desk.study.fail = StudyGone("gone")
    desk.answer("left")
    desk.study.fail = None
    desk.view.retry_asked.emit()
    (said,), named = desk.view.last("show_asking")
    assert words.SETTLES not in said
    assert named == {"back": False}


def test_before_the_questions_one_can_go_back_to_the_last_item():
    desk = guessing()
    desk.view.undo_asked.emit()
    assert desk.answers[-1] == (3, "undo")
    assert desk.view.last("show_progress")[0][:2] == (3, 3)


def test_a_question_that_was_not_stored_is_asked_again():
    desk = guessing()
    desk.view.guess_begun.emit()
    desk.reveal()
    desk.study.fail = StudyGone("gone")
    desk.answer("left")
    desk.study.fail = None
    assert desk.study.guessed == []
    desk.view.retry_asked.emit()
    assert desk.view.names()[-1] == "show_asking"


def test_no_details_are_said_of_a_question():
    desk = guessing()
    desk.view.guess_begun.emit()
    desk.reveal()
    desk.view.cannot_asked.emit()
    desk.view.confidence_chosen.emit(2)
    desk.view.comment_asked.emit()
    assert not {"ask_reason", "ask_comment"} & set(desk.view.names())


@pytest.mark.parametrize("name", ["show_finished", "show_asking", "show_paused"])
def test_no_count_of_preferences_is_in_any_sentence(name):
    desk = guessing()
    desk.view.guess_begun.emit()
    desk.reveal()
    desk.view.pause_asked.emit()
    desk.view.resume_asked.emit()
    desk.clock.now += 1
    desk.answer("left")
    desk.reveal()
    desk.answer("left")
    said = str(desk.view.last(name)[0][0]).lower()
    assert not any(word in said for word in ("left", "right", "prefer", "better", "model"))
