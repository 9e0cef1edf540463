"""What the Review page decides, on a fake view and a fake clock."""

from __future__ import annotations

import logging

import pytest

from app.presenters.pace import ItemClock, Pace
from app.presenters.review import ReviewPresenter
from app.presenters.review_media import board_item, text_role
from app.views.review import ReviewView
from app.widgets.content import Content
from db.errors import DiskFull
from tests.app.fakes import (
    FakeSource,
    FakeStudy,
    Panel,
    Presentation,
    fake_services,
    picture,
)
from tests.app.page_fakes import view_like


class Clock:
    def __init__(self):
        self.now = 100.0

    def __call__(self):
        return self.now


class Desk:
    """A presenter at work."""

    def __init__(self, study=None, *, seat="", **services):
        self.study = study
        self.view = view_like(ReviewView)
        self.clock = Clock()
        self.services = fake_services(**services)
        self.source = FakeSource(study, seat=seat)
        self.presenter = ReviewPresenter(
            self.view, self.services, source=self.source, now=self.clock
        )

    def begin(self):
        self.presenter.shown()
        self.view.begun.emit("s1", "AB")
        self.reveal()
        return self

    def reveal(self):
        self.view.revealed.emit()
        self.clock.now += 1.0

    def answer(self, answer):
        self.view.answer_chosen.emit(answer)
        self.view.confirm_asked.emit()

    @property
    def answers(self):
        return [(position, answer) for position, answer, _ in self.study.answers]


@pytest.fixture
def desk():
    return Desk(FakeStudy(4)).begin()


def test_an_empty_home_says_so_and_shows_the_way():
    desk = Desk(None)
    desk.presenter.shown()
    (rows,), named = desk.view.last("show_studies")
    assert rows == []
    assert "no study" in named["sentence"]
    desk.view.build_asked.emit()
    assert desk.services.went == [("study", None)]


def test_an_answer_is_stored_before_the_next_item_is_drawn(desk):
    shown = [name for name in desk.view.names() if name == "show_item"]
    assert len(shown) == 1
    order = []
    store, draw = desk.study.answer, desk.view.show_item
    desk.study.answer = lambda answer, **t: order.append("stored") or store(answer, **t)
    desk.view.show_item = lambda item, **n: order.append("drawn") or draw(item, **n)
    desk.answer("left")
    assert order == ["stored", "drawn"]
    assert desk.answers == [(1, "left")]
    assert desk.services.told == [("rating",)]


def test_a_chosen_answer_waits_for_its_confirmation(desk):
    desk.view.answer_chosen.emit("left")
    desk.view.answer_chosen.emit("both")
    assert desk.answers == []
    desk.view.confirm_asked.emit()
    assert desk.answers == [(1, "both")]


def test_enter_without_an_answer_stores_nothing(desk):
    desk.view.confirm_asked.emit()
    assert desk.answers == []
    assert "Choose first" in desk.view.last("show_hint")[0][0]


def test_keys_are_ignored_for_300_ms_after_a_new_item(desk):
    desk.answer("left")
    desk.view.revealed.emit()
    desk.clock.now += 0.29
    desk.answer("right")
    assert desk.answers == [(1, "left")]
    desk.clock.now += 0.02
    desk.answer("right")
    assert desk.answers == [(1, "left"), (2, "right")]


def test_keys_are_ignored_until_the_whole_item_is_painted(desk):
    desk.answer("left")
    desk.clock.now += 60
    desk.answer("right")
    assert desk.answers == [(1, "left")]
    assert desk.view.last("set_live") == ((False,), {})
    desk.reveal()
    assert desk.view.last("set_live") == ((True,), {})
    desk.answer("right")
    assert len(desk.answers) == 2


def test_a_held_down_key_cannot_store_twice(desk):
    desk.view.answer_chosen.emit("left")
    for _ in range(5):
        desk.view.confirm_asked.emit()
    assert desk.answers == [(1, "left")]


def test_undo_takes_the_choice_back_then_the_answer_before(desk):
    desk.answer("left")
    desk.reveal()
    desk.view.answer_chosen.emit("right")
    desk.view.undo_asked.emit()
    assert desk.view.last("show_answer") == ((None,), {})
    assert desk.answers == [(1, "left")]
    desk.view.undo_asked.emit()
    assert desk.answers == [(1, "left"), (1, "undo")]
    assert desk.view.last("show_progress")[0][0] == 1
    desk.reveal()
    desk.view.undo_asked.emit()
    assert desk.answers[-1] == (1, "undo")
    assert "first item" in desk.view.last("show_hint")[0][0]


def test_a_refused_answer_stays_on_the_screen_with_the_reason(desk):
    desk.study.fail = DiskFull("The disk is full. Free some room.")
    desk.answer("left")
    assert desk.view.last("show_fault") == (("The disk is full. Free some room.",), {})
    assert desk.view.names().count("show_item") == 1
    assert desk.view.last("set_live") == ((True,), {})
    desk.study.fail = None
    desk.view.confirm_asked.emit()
    assert desk.answers == [(1, "left")]
    assert ("show_fault", ("",), {}) in desk.view.calls


def test_a_session_goes_on_where_it_stopped():
    study = FakeStudy(4)
    desk = Desk(study).begin()
    desk.answer("left")
    desk.reveal()
    desk.answer("both")
    desk.presenter.close()
    again = Desk(study).begin()
    assert again.view.last("show_progress")[0][:2] == (3, 4)


def test_the_last_answer_finishes_the_study(desk):
    for answer in ("left", "right", "both", "neither"):
        desk.answer(answer)
        desk.reveal()
    assert [answer for _, answer in desk.answers] == ["left", "right", "both", "neither"]
    assert "every answer is stored" in desk.view.last("show_finished")[0][0]
    assert desk.services.quiets[-1] is False
    assert desk.study.closed == 1


def test_from_the_end_one_can_go_back_to_the_last_item(desk):
    for answer in ("left", "right", "both", "neither"):
        desk.answer(answer)
        desk.reveal()
    desk.view.undo_asked.emit()
    assert desk.answers[-1] == (4, "undo")
    assert desk.view.last("show_progress")[0][:2] == (4, 4)
    desk.reveal()
    desk.answer("left")
    assert desk.answers[-1] == (4, "left")
    assert desk.view.names()[-1] == "show_finished"


def test_a_pause_hides_the_pictures_and_its_time_does_not_count(desk):
    desk.clock.now += 4
    desk.view.pause_asked.emit()
    assert desk.view.names()[-1] == "show_paused"
    assert desk.services.quiets == [False, True, False]
    desk.answer("left")
    assert desk.answers == []
    desk.clock.now += 1000
    desk.view.resume_asked.emit()
    desk.clock.now += 1
    desk.answer("left")
    timing = desk.study.answers[0][2]
    assert timing["answer_ms"] == 6000
    assert timing["idle_ms"] == 1_000_000


def test_another_page_pauses(desk):
    desk.presenter.hidden()
    assert desk.view.names()[-1] == "show_paused"


def test_leaving_the_page_while_an_answer_is_stored_brings_the_rail_back(desk):
    later = []
    desk.services.tasks.query = lambda owner, work, done=None, failed=None: later.append(
        lambda: (done or id)(work())
    )
    desk.answer("left")
    desk.presenter.hidden()
    assert desk.services.quiets[-1] is False
    for call in later:
        call()
    assert desk.answers == [(1, "left")]
    assert desk.view.names()[-1] == "show_paused"
    assert desk.services.quiets[-1] is False
    desk.presenter.shown()
    desk.view.resume_asked.emit()
    desk.reveal()
    assert desk.services.quiets[-1] is True


def test_idling_is_taken_out_of_the_time():
    clock = Clock()
    item = ItemClock(clock)
    clock.now += 10
    item.act()
    clock.now += 200
    item.touch()
    clock.now += 5
    assert item.milliseconds() == (10_000, 75_000, 140_000)


def test_what_is_stored_with_an_answer(desk):
    desk.clock.now += 2
    desk.view.answer_chosen.emit("left")
    desk.clock.now += 2
    desk.view.confirm_asked.emit()
    timing = desk.study.answers[0][2]
    assert set(timing) == {
        "item_id", "shown_utc", "first_action_ms", "answer_ms", "idle_ms", "viewer_state",
    }  # fmt: skip
    assert (timing["item_id"], timing["first_action_ms"], timing["answer_ms"]) == ("i1", 3000, 5000)
    assert timing["shown_utc"].endswith("+00:00")


def test_time_left_needs_three_answers_and_takes_the_median():
    pace = Pace()
    for seconds in (10, 20):
        pace.add(seconds, "2d")
    assert pace.seconds_left({"2d": 100}) is None
    pace.add(600, "2d")
    assert pace.seconds_left({"2d": 100}) == 2000
    assert pace.seconds_left({"2d": 100, "3d": 1}) is None
    for seconds in (60, 80, 90):
        pace.add(seconds, "3d")
    assert pace.seconds_left({"2d": 100, "3d": 10}) == 2800
    pace.add(5, "text", counted=False)
    assert pace.seconds_left({"text": 1}) is None


def test_the_first_look_is_the_first_action(desk):
    desk.clock.now += 1
    desk.view.looked.emit()
    desk.clock.now += 5
    desk.answer("left")
    assert desk.study.answers[0][2]["first_action_ms"] == 2000


def test_a_rest_is_proposed_once_per_stretch():
    desk = Desk(FakeStudy(6, rest_minutes=1)).begin()
    hints = []
    for _ in range(4):
        desk.clock.now += 40
        desk.answer("left")
        desk.reveal()
        hints.append("P pauses" in desk.view.last("show_hint")[0][0])
    assert hints == [False, True, False, True]


def test_the_log_tells_positions_and_never_an_answer(desk, caplog):
    caplog.set_level(logging.INFO, logger="triptych")
    for answer in ("left", "neither"):
        desk.answer(answer)
        desk.reveal()
    text = caplog.text
    assert "answer stored 1 of 4" in text
    assert not any(word in text for word in ("left", "right", "both", "neither", "image"))


def test_the_rater_is_remembered_for_next_time(desk):
    assert desk.services.settings.current.rater_name == "AB"


@pytest.mark.parametrize("name", ["s1", "some/where/s1", "handed/over/study.sqlite"])
def test_a_study_named_on_the_command_line_opens_at_once(name):
    desk = Desk(FakeStudy(4))
    desk.presenter.shown(name)
    assert desk.view.last("show_progress")[0][:2] == (1, 4)
    assert desk.study.rater == "reader"


def test_one_size_of_type_for_all_six():
    short = tuple(Content((), text) for text in ("Yes", "No", "Pleural effusion"))
    assert text_role(short * 2) == "title"
    assert text_role((*short, Content((), "a long sentence " * 9))) == "reading"
    assert text_role(()) == "reading"


def test_a_list_shorter_than_three_is_filled_up_with_nothing():
    short = (Panel("text", (), "Yes"),)
    item = Presentation(Panel("text", (), "Q"), short, short, "Find the answer.", 1, 1)
    board = board_item(item, picture)
    assert [content.text for content in board.left] == ["Yes", None, None]
    assert len(board.right) == 3


def test_the_same_medium_in_both_lists_is_decoded_once_and_drawn_alike():
    asked = []
    panel = Panel("image", ("image1",), "")
    item = Presentation(panel, (panel,) * 3, (panel,) * 3, "Find it.", 1, 1)
    board = board_item(item, lambda name: asked.append(name) or picture(1))
    assert asked == ["image1"]
    assert board.left[0].pictures[0] is board.right[2].pictures[0]
