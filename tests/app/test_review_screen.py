"""The reading screen itself: one frame for both sides, equal rectangles, keys that reach nothing
they should not, any type size, the view of last time, the decoded items ahead."""

from __future__ import annotations

import json
from dataclasses import replace
from itertools import groupby
from pathlib import Path

import numpy as np
import pytest
from PySide6.QtCore import QEvent, QObject, QPoint, QPointF, QRect, Qt
from PySide6.QtGui import QCursor, QEnterEvent, QTextCursor
from PySide6.QtWidgets import QApplication, QLabel, QPushButton, QWidget

from app import keys, theme
from app.keys import KeyMap
from app.presenters.review import ReviewPresenter
from app.presenters.review_ahead import Ahead, ItemStore, key_of
from app.presenters.review_media import NoRoom, board_item, bytes_of
from app.presenters.review_resume import MOST_STUDIES, Places, reading_of
from app.presenters.review_words import PRACTICE_OVER, WRITTEN
from app.views.review import ReviewView
from app.views.review_profile import ProfilePage
from app.widgets import drawn_ahead
from app.widgets.board_view import state_from
from app.widgets.content import ViewState
from app.widgets.drawn_ahead import Place
from app.widgets.evidence_frame import grid
from app.widgets.reason_panel import NEEDED
from app.widgets.text_panel import TextPanel
from app.widgets.triptych import NAMES, BoardItem, draw_ahead
from studies.preference.protocol import REASONS
from tests.app.fakes import FakeSource, FakeStudy, fake_services, image_item
from tests.app.test_review_page import REPORT, contents, show

KEY = Qt.Key
SHIFT, CONTROL = Qt.KeyboardModifier.ShiftModifier, Qt.KeyboardModifier.ControlModifier


class PaintLog(QObject):
    """Which widget was painted in which frame of the window: one UpdateRequest is one frame."""

    def __init__(self, window: QWidget) -> None:
        super().__init__(window)
        self._window, self.frame = window, 0
        self.painted: dict[QObject, list[int]] = {}
        QApplication.instance().installEventFilter(self)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if event.type() == QEvent.Type.UpdateRequest and watched is self._window:
            self.frame += 1
        elif event.type() == QEvent.Type.Paint:
            self.painted.setdefault(watched, []).append(self.frame)
        return False

    def forget(self) -> None:
        self.painted.clear()

    def close(self) -> None:
        QApplication.instance().removeEventFilter(self)


@pytest.fixture
def view(qtbot):
    made = ReviewView()
    qtbot.addWidget(made)
    made.resize(1280, 800)
    return made


@pytest.fixture
def painted(view):
    log = PaintLog(view)
    yield log
    log.close()


def parts(frame):
    """What shows evidence in a frame."""
    return [*frame.shown_canvases, *([frame.text.viewport()] if frame.text.isVisible() else [])]


@pytest.mark.parametrize("kind", ["image", "volume", "text", "mixed"])
def test_both_sides_are_revealed_in_the_same_frame(view, painted, qtbot, kind):
    show(view, "image")
    qtbot.waitExposed(view)
    for _ in range(3):  # an item after another one, as in a session
        painted.forget()
        with qtbot.waitSignal(view.revealed):
            show(view, kind)
        frames = {painted.painted[part][0] for frame in view.board.frames for part in parts(frame)}
        assert len(frames) == 1, "frames between the first and the last part of an item"


def test_any_act_on_one_picture_is_painted_on_both_sides_in_the_same_frame(view, painted, qtbot):
    show(view, "volume")
    qtbot.waitExposed(view)
    board = view.board
    for key in (KEY.Key_Down, KEY.Key_I, KEY.Key_Plus):
        painted.forget()
        qtbot.keyClick(view, key)
        canvases = [canvas for frame in board.frames for canvas in frame.shown_canvases]
        qtbot.waitUntil(lambda c=canvases: all(one in painted.painted for one in c))
        assert len({painted.painted[one][0] for one in canvases}) == 1


@pytest.mark.parametrize("kind", ["image", "volume", "mixed", "text"])
@pytest.mark.parametrize("row", [0, 1, 2])
def test_enlarging_left_and_right_gives_the_identical_rectangle(view, kind, row):
    show(view, kind, (1440, 900))
    places = []
    for frame in (view.board.left[row], view.board.right[row]):
        view.board.enlarge(frame)
        large = view.board.large
        places.append([large.geometry(), *(part.geometry() for part in parts(large))])
        places.append([one.placed.rect for one in large.shown_canvases])
        view.board.shrink()
    assert places[:2] == places[2:]


def test_an_enlarged_frame_gives_its_place_to_the_next_one_without_a_blank_frame(
    view, painted, qtbot
):
    show(view, "volume")
    qtbot.waitExposed(view)
    board = view.board
    board.select(board.left[0])
    qtbot.keyClick(view, KEY.Key_M)
    place = board.large.geometry()
    qtbot.keyClick(view, KEY.Key_Right, SHIFT)
    qtbot.keyClick(view, KEY.Key_Right, SHIFT)
    assert board.enlarged_name == "right1"
    assert board.large.geometry() == place
    assert board.large.isVisible()
    qtbot.keyClick(view, KEY.Key_Down)
    qtbot.keyClick(view, KEY.Key_Escape)
    assert len({frame.first_state() for frame in board.frames}) == 1


def test_the_query_takes_the_place_of_an_enlarged_candidate_while_held(view, qtbot):
    show(view, "volume")
    board = view.board
    board.enlarge(board.right[2])
    place = board.large.canvases[0].geometry()
    qtbot.keyPress(view, KEY.Key_Space)
    assert board.large.content is board.query.content
    assert board.large.canvases[0].geometry() == place
    qtbot.keyRelease(view, KEY.Key_Space)
    assert board.large.content is board.right[2].content


def test_frames_are_chosen_by_keys(view, qtbot):
    show(view)
    walk = ((KEY.Key_Left, "left1"), (KEY.Key_Down, "left2"), (KEY.Key_Down, "left3"),
            (KEY.Key_Right, "query"), (KEY.Key_Right, "right1"), (KEY.Key_Up, "right1"),
            (KEY.Key_Down, "right2"), (KEY.Key_Left, "query"))  # fmt: skip
    view.board.select(view.board.query)
    for key, name in walk:
        qtbot.keyClick(view, key, SHIFT)
        assert view.board.selected_name == name


@pytest.mark.parametrize(("key", "name"), [(KEY.Key_Left, "left1"), (KEY.Key_Right, "right1"),
                                           (KEY.Key_Down, "query")])  # fmt: skip
def test_from_nothing_chosen_both_wings_are_one_step_away(view, qtbot, key, name):
    show(view)
    assert view.board.selected_name == ""
    qtbot.keyClick(view, key, SHIFT)
    assert view.board.selected_name == name


def test_with_nothing_chosen_the_frame_under_the_pointer_is_enlarged_or_asked_for(view, qtbot):
    show(view)
    qtbot.waitExposed(view)
    board = view.board
    QCursor.setPos(board.mapToGlobal(board.right[1].geometry().center()))
    board.select(None)
    qtbot.keyClick(view, KEY.Key_M)
    assert board.enlarged_name == "right2"
    qtbot.keyClick(view, KEY.Key_M)
    QCursor.setPos(view.strip.mapToGlobal(QPoint(4, 4)))
    board.select(None)
    with qtbot.waitSignal(view.frame_wanted):
        qtbot.keyClick(view, KEY.Key_M)
    assert not board.enlarged


def test_window_zoom_and_place_are_changed_by_keys_alike_on_all(view, qtbot):
    show(view, "volume")
    board = view.board
    for key, held in ((KEY.Key_Right, CONTROL), (KEY.Key_Up, CONTROL), (KEY.Key_Plus, None),
                      (KEY.Key_Left, Qt.KeyboardModifier.AltModifier)):  # fmt: skip
        before = board.query.first_state()
        qtbot.keyClick(view, key, held or Qt.KeyboardModifier.NoModifier)
        states = {frame.first_state() for frame in board.frames}
        assert len(states) == 1
        assert states.pop() != before


def test_a_text_is_scrolled_by_keys_beside_a_stack_as_well(view, qtbot):
    long = tuple(type(one)(one.pictures, REPORT * 9) for one in contents("mixed"))
    view.show_item(BoardItem(long[0], long, long, "Find it."))
    view.show()
    board = view.board
    board.select(board.left[1])
    bar = board.left[1].text.verticalScrollBar()
    qtbot.keyClick(view, KEY.Key_PageDown, SHIFT)
    assert bar.value() > 0
    qtbot.keyClick(view, KEY.Key_PageUp, SHIFT)
    assert bar.value() == 0
    qtbot.keyClick(view, KEY.Key_Down)  # single pictures: the arrows read on
    assert bar.value() > 0


# comments and reasons keep their keys


def test_letters_of_a_comment_never_rate(view, qtbot):
    show(view)
    view.activateWindow()
    qtbot.waitUntil(view.isActiveWindow)
    view.ask_comment("")
    line = view.details.line
    with qtbot.assertNotEmitted(view.answer_chosen), qtbot.assertNotEmitted(view.pause_asked), \
            qtbot.assertNotEmitted(view.confirm_asked):  # fmt: skip
        for letter in "fjtnpg":
            qtbot.keyClick(line, letter)
        qtbot.keyClick(line, KEY.Key_Up)
        with qtbot.waitSignal(view.comment_kept) as said:
            qtbot.keyClick(line, KEY.Key_Return)
    assert said.args == ["fjtnpg"]
    assert not view.details.writing
    assert view.hasFocus()
    with qtbot.waitSignal(view.answer_chosen):
        qtbot.keyClick(view, KEY.Key_F)


def test_a_comment_is_left_as_it_was_with_escape(view, qtbot):
    show(view)
    QApplication.processEvents()
    board = view.board.geometry()
    view.ask_comment("first")
    assert view.details.line.text() == "first"
    with qtbot.assertNotEmitted(view.comment_kept):
        qtbot.keyClick(view.details.line, KEY.Key_Escape)
    assert not view.details.writing
    QApplication.processEvents()
    assert view.board.geometry() == board  # nothing moved


def test_a_reason_is_taken_by_its_number_or_written(view, qtbot):
    show(view)
    view.ask_reason(REASONS)
    with qtbot.assertNotEmitted(view.answer_chosen), qtbot.waitSignal(view.reason_kept) as said:
        qtbot.keyClick(view.reasons.list, "f")
        qtbot.keyClick(view.reasons.list, "3")
    assert said.args == ["Outside my field"]
    view.ask_reason(REASONS)
    qtbot.keyClick(view.reasons.list, "6")  # another reason needs words
    assert not view.reasons.isHidden()
    assert view.reasons._told.text() == NEEDED
    with qtbot.assertNotEmitted(view.confirm_asked), qtbot.waitSignal(view.reason_kept) as said:
        for letter in "upside down":
            qtbot.keyClick(view.reasons.words, letter)
        qtbot.keyClick(view.reasons.words, KEY.Key_Return)
    assert said.args == ["upside down"]
    view.ask_reason(REASONS)
    qtbot.keyClick(view.reasons.list, KEY.Key_Down)
    qtbot.keyClick(view.reasons.list, KEY.Key_Tab)
    view.reasons.words.setText("both of them")
    with qtbot.waitSignal(view.reason_kept) as said:
        qtbot.keyClick(view.reasons.words, KEY.Key_Return)
    assert said.args == ["Query or task unclear: both of them"]


def test_escape_leaves_the_reasons_without_an_answer(view, qtbot):
    show(view)
    view.ask_reason(REASONS)
    with qtbot.assertNotEmitted(view.reason_kept):
        qtbot.keyClick(view.reasons.list, KEY.Key_Escape)
    assert view.reasons.isHidden()


# keys told on the screen


def test_the_key_strip_tells_the_keys_in_force_and_names_no_key_that_is_gone(view):
    show(view)
    assert "Shift+arrows choose" in view.details.keys.words
    keys.use(KeyMap({"maximise": ("Y",), "slice-up": (), "slice-down": (),
                     "select-left": ("7",), "answer-cannot": ("6",)}))  # fmt: skip
    view.hide()
    view.resize(1920, 1080)
    view.show()
    words = view.details.keys.words
    assert "Y enlarge" in words
    assert "scroll" not in words
    assert "7" in words
    assert view.details.buttons["cannot"].text().endswith("6")


def test_what_the_protocol_turns_off_is_not_on_the_screen(view):
    show(view)
    view.show_protocol(confidence=False, usefulness=False, comments=False)
    texts = [one.text() for one in view.details.findChildren(QPushButton) if one.isVisible()]
    assert texts == ["cannot judge  G"]
    view.show_protocol(confidence=True, usefulness=True, comments=True)
    assert sum(one.isVisible() for one in view.details.findChildren(QPushButton)) == 4


# any type size


@pytest.fixture
def scaled(qapp):
    yield lambda percent: theme.theme.apply(qapp, percent=percent)
    theme.theme.apply(qapp)


@pytest.mark.parametrize("percent", [100, 150, 200])
def test_no_word_is_cut_at_1280_x_800_at_any_type_size(view, scaled, qtbot, percent):
    scaled(percent)
    show(view, "image")
    view.show_progress(1214, 1530, "about 2 h 40 min left of the 2D items")
    view.show_said(confidence=2, usefulness=1, comment="x", cannot=True)
    view.show_hint("Enter stores it and goes on")
    QApplication.processEvents()
    for one in view.findChildren(QPushButton):
        if one.isVisible():
            wanted = one.fontMetrics().horizontalAdvance(one.text())
            assert one.width() >= wanted, one.text()
            assert view.rect().contains(
                one.rect().translated(one.mapTo(view, one.rect().topLeft()))
            )
    for words in ("about 2 h 40 min left of the 2D items", PRACTICE_OVER):
        view.show_progress(1214, 1530, words)
        QApplication.processEvents()
        for one in view.strip.findChildren(QLabel):
            assert one.width() >= one.fontMetrics().horizontalAdvance(one.text()), one.text()
    for button in view.answers.buttons.values():
        assert button.letters >= theme.px("body") - 1
    strip = view.details.keys
    assert strip._face_for(strip.words).pixelSize() == theme.px("body")
    board = view.board
    assert board.height() > 500
    view.ask_reason(REASONS)
    assert view.rect().contains(view.reasons.geometry())
    assert view.reasons.list.height() >= 6 * view.reasons.list.sizeHintForRow(0)


@pytest.mark.parametrize("percent", [100, 200])
def test_nothing_moves_when_something_is_said(view, scaled, qtbot, percent):
    scaled(percent)
    show(view, "image")
    QApplication.processEvents()
    places = [widget.geometry() for widget in (view.board, view.answers, view.details)]
    view.show_answer("left")
    view.show_said(confidence=3, usefulness=2, comment="word", cannot=False)
    view.show_hint("Enter stores it and goes on")
    view.ask_comment("a comment")
    QApplication.processEvents()
    assert [one.geometry() for one in (view.board, view.answers, view.details)] == places


# drawn ahead


@pytest.mark.parametrize("kind", ["image", "volume"])
def test_what_was_drawn_ahead_looks_as_what_is_drawn_when_shown(view, qtbot, kind):
    show(view, kind)
    QApplication.processEvents()
    size = view.board.size()
    plain = picture_of(view, board_of(kind), qtbot)
    again = board_of(kind)
    draw_ahead(again, view.rooms())
    pictures = [c.pictures[0] for c in (again.query, *again.left, *again.right)]
    assert all(
        drawn_ahead.find(one, room) for one, room in zip(pictures, view.rooms(), strict=True)
    )
    assert view.board.size() == size
    assert picture_of(view, again, qtbot) == plain


def test_both_wings_are_drawn_ahead_or_neither_is():
    item, room = board_of("image"), Place(90, 70, 1.0)
    item = replace(item, right=(replace(item.right[0], text="a label"), *item.right[1:]))
    draw_ahead(item, [room] * len(NAMES))
    assert drawn_ahead.find(item.query.pictures[0], room) is not None
    wings = (*item.left, *item.right)
    assert not any(drawn_ahead.find(one.pictures[0], room) for one in wings)


def test_what_was_drawn_ahead_is_forgotten_again():
    room = Place(90, 70, 1.0)
    items = [board_of("image") for _ in range(5)]
    for item in items:
        draw_ahead(item, [room] * len(NAMES))
    kept = [drawn_ahead.find(item.query.pictures[0], room) is not None for item in items]
    assert kept == [False, False, True, True, True]
    left = items[4].left[0].pictures[0]
    assert drawn_ahead.find(left, room) is not None
    assert drawn_ahead.find(left, Place(91, 70, 1.0)) is None


def board_of(kind):
    """Seven pictures, each an object of its own."""
    query, _, _ = contents(kind)
    return BoardItem(query, tuple(contents(kind)), tuple(contents(kind)), "Find one.")


def picture_of(view, item, qtbot):
    with qtbot.waitSignal(view.revealed):
        view.show_item(item)
    return view.board.grab().toImage()


# the view of last time


def session(view, home: Path, study=None, rater="AB"):
    study = study or FakeStudy(3, kind="volume")
    clock = [100.0]
    services = fake_services(home=type("Home", (), {"root": home})())
    source = FakeSource(study)
    presenter = ReviewPresenter(view, services, source=source, now=lambda: clock[0])
    view.show()
    presenter.shown()
    view.begun.emit("s1", rater)
    return presenter, clock, study


def test_a_comment_half_written_is_asked_about_before_closing_and_keys_answer(
    view, qtbot, tmp_path
):
    presenter, clock, _study = session(view, tmp_path)
    qtbot.waitUntil(lambda: presenter._state == "rating")
    clock[0] += 1.0
    view.comment_asked.emit()
    view.details.line.setText("motion in")
    assert presenter.keeps_open()
    assert view.curtain.isVisible()
    assert WRITTEN in view.curtain.sentence.text()
    qtbot.keyClick(view, KEY.Key_Return)
    assert view.board.isVisible()
    assert presenter._said.comment == "motion in"
    presenter.close()


def test_reading_goes_on_in_the_same_window_state(view, qtbot, tmp_path):
    presenter, clock, study = session(view, tmp_path)
    qtbot.waitUntil(lambda: presenter._state == "rating")
    board = view.board
    board.select(board.right[1])
    for key in (KEY.Key_Home, KEY.Key_Down, KEY.Key_I, KEY.Key_Plus):
        qtbot.keyClick(view, key)
    qtbot.keyClick(view, KEY.Key_K)
    qtbot.keyClick(view, KEY.Key_PageDown)  # this frame alone
    qtbot.keyClick(view, KEY.Key_M)
    states = {name: frame.first_state() for name, frame in zip(NAMES, board.frames, strict=True)}
    clock[0] += 10
    presenter.leave()
    kept = json.loads((tmp_path / "reading.json").read_text(encoding="utf-8"))
    assert set(kept) == {reading_of("s1", "AB")}
    assert "AB" not in json.dumps(kept)

    again = ReviewView()
    qtbot.addWidget(again)
    again.resize(1280, 800)
    QCursor.setPos(200, 300)  # over the left wing: a frame that appears under it is not chosen
    presenter, clock, study = session(again, tmp_path, study)
    qtbot.waitUntil(lambda: presenter._state == "rating")
    board = again.board
    found = {name: frame.first_state() for name, frame in zip(NAMES, board.frames, strict=True)}
    assert {n: s for n, s in found.items() if n != "right2"} == {
        n: s for n, s in states.items() if n != "right2"
    }
    assert board.large.first_state().depth != states["query"].depth
    assert (board.enlarged_name, board.selected_name, board.link.on) == ("right2", "right2", False)


def come_to(frame, place):
    """What Qt tells a frame under which the pointer is found."""
    at = QPointF(place)
    QApplication.sendEvent(frame, QEnterEvent(QPointF(5, 5), QPointF(5, 5), at))


def test_a_pointer_nobody_moved_chooses_nothing(view, qtbot):
    board = view.board
    view.show()
    lay = QPoint(700, 300)
    QCursor.setPos(lay)
    picture_of(view, board_of("image"), qtbot)
    board.select(board.right[1])
    come_to(board.left[0], lay)  # it appeared there
    assert board.selected_name == "right2"
    come_to(board.left[1], lay + QPoint(3, 0))
    assert board.selected_name == "left2"
    board.select(board.right[1])
    QCursor.setPos(lay)
    board.enlarge()
    come_to(board.large, lay)
    board.shrink()
    come_to(board.left[0], lay)
    assert board.selected_name == "right2"


@pytest.mark.parametrize("key", [KEY.Key_P, KEY.Key_Return])
def test_the_curtain_opens_by_its_key_and_by_enter_as_all_quiet_pages_do(view, qtbot, key):
    show(view)
    view.show_paused("Item 1 of 3.")
    with qtbot.waitSignal(view.resume_asked):
        qtbot.keyClick(view, key)


def test_a_screen_reader_hears_whether_the_viewers_are_linked(view, qtbot):
    show(view)
    [button] = [
        one for one in view.strip.findChildren(QPushButton) if "viewers" in one.accessibleName()
    ]
    assert button.accessibleDescription() == "linked"
    qtbot.keyClick(view, KEY.Key_K)
    assert button.accessibleDescription() == "not linked"


def test_a_new_item_begins_with_no_frame_chosen(view, qtbot):
    show(view)
    board = view.board
    said = []
    board.selected_changed.connect(said.append)
    board.select(board.right[0])
    show(view)
    assert (board.selected_name, said) == ("", ["right1", ""])
    left, right = (side.grab().toImage() for side in (board.left[0], board.right[0]))
    corners = ((1, 1), (1, left.height() - 2))
    assert [left.pixel(*at) for at in corners] == [right.pixel(*at) for at in corners]


def test_another_reader_does_not_get_the_view_of_the_one_before(view, qtbot, tmp_path):
    presenter, _clock, study = session(view, tmp_path)
    qtbot.waitUntil(lambda: presenter._state == "rating")
    qtbot.keyClick(view, KEY.Key_End)
    presenter.leave()
    view.start.rater.clear()
    presenter, _clock, _study = session(view, tmp_path, study, rater="CD")
    qtbot.waitUntil(lambda: presenter._state == "rating")
    assert view.board.query.first_state() == ViewState()
    assert reading_of("s1", "AB") != reading_of("s1", "CD") != reading_of("s2", "CD")


@pytest.mark.parametrize("percent", [100, 150, 200])
def test_no_field_of_the_profile_is_squeezed(view, scaled, qtbot, percent):
    scaled(percent)
    page = ProfilePage()
    qtbot.addWidget(page)
    page.resize(1130, 750)
    page.show_profile("Reader 8311", display="")
    page.show()
    QApplication.processEvents()
    fields = [*page.fields.values(), page.years]
    short = {one.accessibleName(): one.height() - one.sizeHint().height() for one in fields}
    assert min(short.values()) >= 0, short
    assert page.sentence.height() >= page.sentence.heightForWidth(page.sentence.width())
    assert all(one.mapTo(page, one.rect().bottomRight()).x() <= 1130 for one in fields)


def test_another_item_is_shown_afresh(view, qtbot, tmp_path):
    presenter, _clock, study = session(view, tmp_path)
    qtbot.waitUntil(lambda: presenter._state == "rating")
    qtbot.keyClick(view, KEY.Key_End)
    presenter.leave()
    study.done = 1
    presenter, _clock, _study = session(view, tmp_path, study)
    qtbot.waitUntil(lambda: presenter._state == "rating")
    assert view.board.query.first_state() == ViewState()


def test_what_is_kept_of_a_view_survives_rubbish(tmp_path):
    places = Places(tmp_path)
    for number in range(MOST_STUDIES + 5):
        places.keep(f"s{number}", "i1", 1, {"enlarged": "left1"})
    assert places.find("s24", "i1", 1) == {"enlarged": "left1"}
    assert places.find("s24", "i1", 2) == places.find("s24", "i2", 1) == {}
    assert places.find("s0", "i1", 1) == {}
    for text in ("", "[]", "{", '{"s1": 7}', '{"s1": {"item": "i1", "position": 1, "view": 3}}'):
        places.path.write_text(text, encoding="utf-8")
        assert places.find("s1", "i1", 1) == {}
    assert Places(tmp_path / "nowhere").find("s1", "i1", 1) == {}
    Places(tmp_path / "nowhere").keep("s1", "i1", 1, {})


@pytest.mark.parametrize("change", [
    {"depth": "x"}, {"depth": 2.0}, {"zoom": float("nan")}, {"turns": 7}, {"inverted": 1},
    {"pan_x": 1e9}, {"preset": 3},
])  # fmt: skip
def test_a_damaged_state_is_none(change):
    whole = {"depth": 0.25, "zoom": 2, "inverted": True}
    assert state_from(whole) == ViewState(depth=0.25, zoom=2, inverted=True)
    assert state_from({**whole, **change}) is None
    assert state_from(None) is None


# decoded ahead


class LaterTasks:
    """Work that is done when a test says so."""

    def __init__(self):
        self.waiting = []

    def run(self, _owner, work, done=None, failed=None):
        self.waiting.append((work, done, failed))

    def do(self):
        work, done, failed = self.waiting.pop(0)
        try:
            value = work()
        except Exception as error:  # noqa: BLE001 - as the pool does
            failed(error)
            return
        done(value)


def medium(size):
    return lambda name: np.zeros((1, size, size), np.uint8)[0]


def test_the_next_two_items_are_decoded_in_order_within_the_cap():
    items = [image_item(n + 1, 5) for n in range(5)]
    each = 7 * 100 * 100
    tasks = LaterTasks()
    ahead = Ahead(tasks, 3 * each)
    ahead.open(medium(100))
    got = []
    ahead.get(items[0], got.append, got.append)
    tasks.do()
    ahead.look(items[1:3])
    assert len(tasks.waiting) == 1  # one after the other, so that the next one comes first
    tasks.do()
    tasks.do()
    assert [key_of(one) in ahead.store for one in items] == [True, True, True, False, False]
    ahead.get(items[1], got.append, got.append)
    assert len(got) == 2  # at once
    ahead.look(items[2:4])
    tasks.do()
    assert [key_of(one) in ahead.store for one in items] == [False, True, True, True, False]
    assert ahead.store.most_bytes == 3 * each
    assert bytes_of(got[0]) == each


def test_what_does_not_fit_is_not_decoded_ahead_and_comes_when_it_is_its_turn():
    items = [image_item(n + 1, 3) for n in range(3)]
    tasks = LaterTasks()
    ahead = Ahead(tasks, 8 * 100 * 100)
    ahead.open(medium(100))
    got, failed = [], []
    ahead.get(items[0], got.append, failed.append)
    tasks.do()
    ahead.look(items[1:])
    tasks.do()
    assert tasks.waiting == []
    assert len(ahead.store._kept) == 1
    ahead.get(items[1], got.append, failed.append)
    tasks.do()
    assert (len(got), failed) == (2, [])
    assert ahead.store.bytes <= 8 * 100 * 100


def test_an_item_that_is_asked_for_while_it_is_decoded_is_not_decoded_twice():
    items = [image_item(n + 1, 3) for n in range(3)]
    tasks = LaterTasks()
    ahead = Ahead(tasks, 10**9)
    ahead.open(medium(10))
    got = []
    ahead.get(items[0], got.append, got.append)
    tasks.do()
    ahead.look(items[1:])
    ahead.get(items[1], got.append, got.append)
    assert len(tasks.waiting) == 1
    tasks.do()
    assert len(got) == 2


def test_what_fails_ahead_says_why_once_it_is_its_turn():
    items = [image_item(n + 1, 3) for n in range(3)]
    broken = {f"image{7 * 2 + 3}"}
    tasks = LaterTasks()

    def media(name):
        if name in broken:
            raise OSError("damaged")
        return np.zeros((8, 8), np.uint8)

    ahead = Ahead(tasks, 10**9)
    ahead.open(media)
    got, failed = [], []
    ahead.get(items[0], got.append, failed.append)
    tasks.do()
    ahead.look(items[1:])
    tasks.do()
    assert failed == []
    tasks.do()  # the one after it
    ahead.get(items[1], got.append, failed.append)
    tasks.do()
    assert [str(one) for one in failed] == ["damaged"]
    ahead.close()
    assert ahead.store.bytes == 0


def test_a_repeat_is_not_taken_for_its_first_showing():
    import dataclasses

    item = image_item(3, 9)
    again = dataclasses.replace(item, position=8, kind="repeat")
    assert key_of(item) != key_of(again) or item.item_id != again.item_id
    store = ItemStore(10**6)
    store.put(key_of(item), board_item(item, medium(8)))
    assert key_of(again) not in store


def test_decoding_ahead_stops_as_soon_as_there_is_no_room():
    asked = []

    def media(name):
        asked.append(name)
        return np.zeros((100, 100), np.uint8)

    with pytest.raises(NoRoom):
        board_item(image_item(1, 1), media, room=25_000)
    assert len(asked) == 3


# full screen


def test_full_screen_shows_the_reading_screen_and_nothing_else(program, home, qtbot, tmp_path):
    from tests.app.reading import sit_down
    from tests.studies.preference_material import small_study

    built = small_study(tmp_path, per_task=6, total=6)
    (tmp_path / "home" / "studies" / built.id).rename(home.studies / built.id)
    made = program()
    view = sit_down(qtbot, made.window, built.id)
    made.window.toggle_full_screen()
    qtbot.waitUntil(lambda: view.size() == made.window.size())
    seen = [one for one in made.window.findChildren(QWidget) if one.isVisible()]
    assert all(one is view or view.isAncestorOf(one) or one.isAncestorOf(view) for one in seen)
    made.window.toggle_full_screen()
    made.window.presenter("review").leave()


@pytest.mark.parametrize("percent", [100, 150])
def test_a_bar_stands_beside_a_text_only_where_words_are_out_of_sight(qtbot, scaled, percent):
    scaled(percent)
    panel, kinds = TextPanel(selectable=False), set()
    qtbot.addWidget(panel)
    panel.show()
    panel.show_text("\n".join(f"Line {number} of a report." for number in range(5)))
    bar, end = panel.verticalScrollBar(), panel.textCursor()
    end.movePosition(QTextCursor.MoveOperation.End)
    for high in range(100, 200, 2):
        panel.resize(372, high)
        hidden = panel.cursorRect(end).bottom() > panel.viewport().height()
        assert bar.isVisible() or not hidden, "words out of sight are said to be there"
        kinds.add((bar.maximum() > 0, bar.isVisible()))
    assert kinds == {(True, False), (True, True), (False, False)}, "empty pixels need no bar"


def test_large_type_at_the_least_size_shows_six_lines_in_each_frame_of_the_wings(view, scaled):
    scaled(150)
    show(view, "text", (1280, 800))
    wings = (*view.board.left, *view.board.right)
    assert len({frame.size().toTuple() for frame in wings}) == 1
    for frame in wings:
        whole = 0
        for words in range(10, 60):
            frame.show_content(replace(frame.content, text="lung " * words))
            if not frame.text.verticalScrollBar().isVisible():
                whole = frame.text.document().begin().layout().lineCount()
        assert whole == 6, "four before"


@pytest.mark.parametrize(("count", "rows"), [(2, 1), (3, 1), (4, 2), (5, 2), (6, 2), (7, 2)])
def test_crops_lie_in_even_rows(count, rows):
    """In the room of a candidate at 1280 x 800: no row of three above a row of one."""
    cells = grid(QRect(0, 0, 366, 190), count)
    across = [len(list(row)) for _top, row in groupby(cells, key=QRect.top)]
    assert len(across) == rows
    assert max(across) - min(across) <= 1
    assert len({cell.size().toTuple() for cell in cells}) == 1
