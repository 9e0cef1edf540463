"""The Review page itself: mirror symmetry to the pixel, keys, flip, enlarge, a real study."""

from __future__ import annotations

from pathlib import Path

import pytest
from PySide6.QtCore import QRect, Qt
from PySide6.QtWidgets import QPushButton, QWidget

from app.presenters.review import ReviewPresenter
from app.views.review import ReviewView
from app.widgets.board_geometry import large_enough
from app.widgets.content import Content, eight_bit
from app.widgets.triptych import BoardItem, geometry, mirrored, wing_width
from db import ratings
from studies.preference.study import open_study
from tests.app.fakes import FakeSource, FakeStudy, fake_services, picture
from tests.app.reading import answer, ready, sit_down
from tests.studies.preference_material import small_study

KEY = Qt.Key
SIZES = [(1280, 800), (1281, 801), (1440, 900), (1920, 1080), (2560, 1440), (3839, 2159)]
REPORT = "FINDINGS: A nodule in the left upper lobe.\nIMPRESSION: Follow up in 3 months.\n"


def contents(kind):
    if kind == "text":
        return [Content((), REPORT * (n + 1)) for n in range(3)]
    if kind == "mixed":
        return [Content((eight_bit(picture(n)),), REPORT) for n in range(3)]
    shape = (12, 64, 64) if kind == "volume" else (96, 96)
    return [Content((eight_bit(picture(n, shape)),)) for n in range(3)]


@pytest.fixture
def view(qtbot):
    made = ReviewView()
    qtbot.addWidget(made)
    made.resize(1280, 800)
    return made


def show(view, kind="image", size=(1280, 800)):
    view.resize(*size)
    same = tuple(contents(kind))
    view.show_item(BoardItem(same[0], same, same, "Find a picture of the same category."))
    view.set_live(True)
    view.show()


@pytest.mark.parametrize("size", SIZES)
def test_the_geometry_is_its_own_mirror_image(size):
    plan = geometry(*size)
    assert plan.right == mirrored(plan.left, size[0])
    for left, right in zip(plan.left_frames, plan.right_frames, strict=True):
        assert right == mirrored(left, size[0])
        assert plan.left.contains(left)
    for middle in (plan.query, plan.prompt):
        assert middle == mirrored(middle, size[0])
    assert plan.query.intersects(plan.left) is False


def test_the_wings_are_as_wide_as_drawn():
    assert (wing_width(1280), wing_width(1920)) == (380, 560)
    assert geometry(1920, 980).query.width() == 780
    assert geometry(1280, 700).query.width() == 500


@pytest.mark.parametrize("size", SIZES[:4])
@pytest.mark.parametrize("answer", [None, "both"])
def test_every_widget_of_the_left_has_its_mirror_image_on_the_right(view, size, answer):
    show(view, "mixed", size)
    view.show_answer(answer)
    board = view.board
    for left, right in zip(board.left, board.right, strict=True):
        assert right.geometry() == mirrored(left.geometry(), board.width())
        inner = zip(left.findChildren(QWidget), right.findChildren(QWidget), strict=True)
        for one, other in inner:
            # Inside a frame both sides are laid out alike, not mirrored: equal pictures
            # must be painted equally.
            assert one.geometry() == other.geometry()
    bar = view.answers
    for one, other in (("left", "right"), ("both", "neither")):
        place = bar.buttons[one].geometry()
        assert bar.buttons[other].geometry() == mirrored(place, bar.width())


@pytest.mark.parametrize("kind", ["image", "volume", "text", "mixed"])
@pytest.mark.parametrize("size", [(1280, 800), (1921, 1080)])
@pytest.mark.parametrize("answer", [None, "both", "neither"])
def test_equal_lists_are_painted_equally(view, qtbot, kind, size, answer):
    show(view, kind, size)
    view.show_answer(answer)
    image = view.board.grab().toImage()
    for left, right in zip(view.board.left, view.board.right, strict=True):
        for one, other in zip(left.shown_canvases, right.shown_canvases, strict=True):
            pair = [
                image.copy(QRect(frame.mapTo(view.board, frame.rect().topLeft()), frame.size()))
                for frame in (one, other)
            ]
            assert pair[0] == pair[1]
        texts = [frame.text.grab().toImage() for frame in (left, right)]
        assert texts[0] == texts[1]


@pytest.mark.parametrize("answer", [None, "both"])
def test_the_board_without_words_is_a_mirror_image_to_the_pixel(view, answer):
    same = eight_bit(picture(0) * 0 + 90)
    item = BoardItem(Content((same,)), *[(Content((same,)),) * 3] * 2, "")
    view.show_item(item)
    view.show()
    for frame in view.board.frames:
        frame._title.hide()
    view.board.prompt.hide()
    view.show_answer(answer)
    image = view.board.grab().toImage()
    assert image == image.flipped(Qt.Orientation.Horizontal)


def test_a_new_item_appears_whole_in_one_frame(view, qtbot):
    show(view)
    painted = []
    for frame in view.board.frames:
        for canvas in frame.canvases:
            canvas.painted.connect(lambda: painted.append("canvas"))
    view.revealed.connect(lambda: painted.append("revealed"))
    with qtbot.waitSignal(view.revealed):
        show(view)
    assert painted == ["canvas"] * 7 + ["revealed"]


def test_the_window_says_when_it_is_too_small(view, qtbot):
    show(view, size=(1279, 800))
    assert view._stack.currentWidget() is view.small
    assert "1279 x 800" in view.small.sentence.text()
    [whole] = [one for one in view.small.findChildren(QPushButton) if "Full" in one.text()]
    assert not whole.isHidden()
    view.pages.say_small("It has 960 x 540 pixels.", full=True)
    assert whole.isHidden()
    view.resize(1280, 800)
    assert view._stack.currentWidget() is view._reading


@pytest.mark.parametrize(
    ("size", "ratio", "percent", "enough"),
    [
        ((1280, 800), 1.0, 200, True), ((1280, 720), 1.0, 100, False),
        ((1280, 720), 1.5, 100, True),  # 1920 x 1080 drawn at 150 %
        ((960, 540), 2.0, 100, True), ((960, 540), 2.0, 150, False),
        ((1067, 600), 1.2, 100, False),  # 1280 x 720 in all
    ],
)  # fmt: skip
def test_pixels_count_not_points(size, ratio, percent, enough):
    assert large_enough(*size, ratio=ratio, percent=percent) is enough


def test_a_laptop_on_which_everything_is_drawn_larger_is_read_on(view, qtbot, monkeypatch):
    monkeypatch.setattr(ReviewView, "devicePixelRatioF", lambda _self: 1.5)
    show(view, size=(1280, 720))
    assert view._stack.currentWidget() is view._reading
    board = view.board
    assert board.right[0].geometry() == mirrored(board.left[0].geometry(), board.width())
    view.resize(850, 530)
    assert view._stack.currentWidget() is view.small
    assert "1275 x 795 pixels" in view.small.sentence.text()
    monkeypatch.setattr(ReviewView, "devicePixelRatioF", lambda _self: 2.0)
    view.resize(840, 520)  # sharp enough, but no room for the words
    assert "Words as large" in view.small.sentence.text()


@pytest.mark.parametrize(
    ("key", "answer"),
    [(KEY.Key_F, "left"), (KEY.Key_J, "right"), (KEY.Key_T, "both"), (KEY.Key_N, "neither")],
)
def test_rating_keys(view, qtbot, key, answer):
    show(view)
    with qtbot.waitSignal(view.answer_chosen) as said:
        qtbot.keyClick(view, key)
    assert said.args == [answer]
    with qtbot.waitSignal(view.answer_chosen) as said:
        qtbot.mouseClick(view.answers.buttons[answer], Qt.MouseButton.LeftButton)
    assert said.args == [answer]
    assert not view.answers.buttons[answer].isChecked()
    view.show_answer(answer)
    assert [name for name, one in view.answers.buttons.items() if one.isChecked()] == [answer]


def test_the_other_keys(view, qtbot):
    show(view)
    for key, signal in (
        (KEY.Key_Return, view.confirm_asked),
        (KEY.Key_Enter, view.confirm_asked),
        (KEY.Key_P, view.pause_asked),
    ):
        with qtbot.waitSignal(signal):
            qtbot.keyClick(view, key)
    with qtbot.waitSignal(view.undo_asked):
        qtbot.keyClick(view, KEY.Key_Z, Qt.KeyboardModifier.ControlModifier)
    qtbot.keyClick(view, KEY.Key_K)
    assert not view.board.link.on
    qtbot.keyClick(view, "?")
    assert view.help.isVisible()
    with qtbot.assertNotEmitted(view.answer_chosen):
        qtbot.keyClick(view, KEY.Key_F)
    assert not view.help.isVisible()
    with qtbot.assertNotEmitted(view.answer_chosen):
        qtbot.keyClick(view, KEY.Key_F, Qt.KeyboardModifier.AltModifier)


def test_once_a_question_is_answered_no_page_leads_back_to_the_last_item(view):
    show(view)
    for page, tell in ((view.pages.asking, view.show_asking), (view.end, view.show_finished)):
        for there in (True, False):
            tell("Every item has its answer.", back=there)
            (button,) = (one for one in page._buttons if "last item" in one.text())
            assert button.isHidden() != there


@pytest.mark.parametrize("asked", [True, False])
def test_the_keys_told_are_those_of_what_the_study_asks(view, asked):
    show(view)
    view.show_protocol(confidence=asked, usefulness=False, comments=asked)
    view.help.open()
    told = view.help.words()
    assert ("Confidence: next" in told, "Write a comment" in told) == (asked, asked)
    assert "not useful" not in told
    assert "Left list is better" in told


@pytest.mark.parametrize("ask", ["getSaveFileName", "getOpenFileName", "getExistingDirectory"])
def test_file_dialogs_open_where_the_person_keeps_documents(view, ask, tmp_path, monkeypatch):
    from PySide6.QtCore import QStandardPaths
    from PySide6.QtWidgets import QFileDialog

    asked = []
    monkeypatch.setattr(QStandardPaths, "writableLocation", lambda _kind: str(tmp_path))
    monkeypatch.setattr(
        QFileDialog, ask,
        lambda *values: asked.append(values[2]) or ("" if "Existing" in ask else ("", "")),
    )  # fmt: skip
    act, name = {
        "getSaveFileName": (lambda: view.ask_save("AB.triptych-answers"), "AB.triptych-answers"),
        "getOpenFileName": (view.start._ask_pack, ""),
        "getExistingDirectory": (view.start._ask_folder, ""),
    }[ask]
    act()
    assert [Path(one) for one in asked] == [tmp_path / name]


def test_rating_keys_never_meet_viewer_keys(view, qtbot):
    show(view, "volume")
    board = view.board
    board.select(board.left[0])
    with qtbot.assertNotEmitted(view.answer_chosen):
        for key in (KEY.Key_1, KEY.Key_4, KEY.Key_Down, KEY.Key_PageUp, KEY.Key_R, KEY.Key_I):
            qtbot.keyClick(view, key)
    states = {frame.first_state() for frame in board.frames}
    assert len(states) == 1
    assert states.pop().inverted


def test_space_shows_the_candidate_in_the_place_of_the_query(view, qtbot):
    show(view, "volume")
    board = view.board
    board.select(board.right[1])
    qtbot.keyClick(view, KEY.Key_Down)
    place = board.query.canvases[0].geometry()
    query = board.query.content
    qtbot.keyPress(view, KEY.Key_Space)
    assert board.query.content is board.right[1].content
    assert board.query.first_state() == board.right[1].first_state()
    assert board.query.canvases[0].geometry() == place
    qtbot.keyRelease(view, KEY.Key_Space)
    assert board.query.content is query


def test_m_and_double_click_enlarge_and_esc_returns(view, qtbot):
    show(view, "volume")
    board = view.board
    board.select(board.left[2])
    qtbot.keyClick(view, KEY.Key_M)
    assert board.large.isVisible()
    assert board.large.content is board.left[2].content
    qtbot.keyClick(view, KEY.Key_End)
    qtbot.keyClick(view, KEY.Key_Escape)
    assert not board.large.isVisible()
    assert board.left[2].first_state().depth == 1.0
    qtbot.mouseDClick(board.right[0].canvases[0], Qt.MouseButton.LeftButton)
    assert board.large.content is board.right[0].content


def test_tab_goes_through_the_frames_in_reading_order(view, qtbot):
    show(view)
    view.activateWindow()
    qtbot.waitUntil(view.isActiveWindow)
    board = view.board
    board.left[0].setFocus()
    seen = []
    for _ in range(7):
        seen.append(board.selected)
        view.focusNextChild()
    assert seen == [*board.left, board.query, *board.right]


def test_no_accent_colour_beside_a_picture(view):
    show(view)
    view.board.select(view.board.left[0])
    view.show_answer("left")
    image = view.grab().toImage()
    for y in range(0, image.height(), 3):
        for x in range(0, image.width(), 3):
            color = image.pixelColor(x, y)
            # Greys only; sub-pixel text is off in this platform.
            assert (
                max(color.red(), color.green(), color.blue())
                - min(color.red(), color.green(), color.blue())
                < 9
            ), (x, y, color.name())


def test_texts_cannot_be_copied_while_rating(view):
    show(view, "text")
    for frame in view.board.frames:
        assert frame.text.textInteractionFlags() == Qt.TextInteractionFlag.NoTextInteraction


def test_a_whole_session_by_keys(view, qtbot):
    study, services = FakeStudy(3, kind="volume"), fake_services()
    clock = [0.0]
    presenter = ReviewPresenter(view, services, source=FakeSource(study), now=lambda: clock[0])
    view.show()
    presenter.shown()
    view.start.rater.setText("AB")
    qtbot.mouseClick(view.start.begin, Qt.MouseButton.LeftButton)
    for number, key in enumerate((KEY.Key_F, KEY.Key_T, KEY.Key_J), start=1):
        qtbot.waitUntil(lambda: presenter._state == "rating")
        assert view.strip._place.text() == f"item {number} of 3"
        qtbot.keyClick(view, key)  # too early
        clock[0] += 1
        qtbot.keyClick(view, key)
        qtbot.keyClick(view, KEY.Key_Return)
    assert [answer for _, answer, _ in study.answers] == ["left", "both", "right"]
    assert view._stack.currentWidget() is view.end
    assert set(study.answers[0][2]["viewer_state"]) == {
        "query", "left1", "left2", "left3", "right1", "right2", "right3",
    }  # fmt: skip


def test_a_real_study_is_read_stopped_and_gone_on_with(qtbot, program, home, tmp_path):
    built = small_study(tmp_path, per_task=6, total=6)
    (tmp_path / "home" / "studies" / built.id).rename(home.studies / built.id)
    path = home.studies / built.id
    made = program()
    window = made.window
    view = sit_down(qtbot, window, built.id)
    presenter = window.presenter("review")
    for number, key in enumerate((KEY.Key_F, KEY.Key_N), start=1):
        ready(qtbot, window, at=number)
        answer(qtbot, view, key)
    ready(qtbot, window, at=3)
    assert not window.rail.isVisible()
    assert "about" not in view.strip._left.text()
    qtbot.keyClick(view, KEY.Key_P)
    assert window.rail.isVisible()
    presenter.leave()
    qtbot.waitUntil(lambda: "2 of 6" in view.start.list.item(0).text(), timeout=20_000)
    with open_study(path) as study:
        kept = [(row.position, row.answer) for row in ratings.ratings(study.store)]
        assert kept == [(1, "left"), (2, "neither")]
    view.start.rater.setText("reader")
    qtbot.mouseClick(view.start.begin, Qt.MouseButton.LeftButton)
    ready(qtbot, window)
    assert view.strip._place.text().startswith("item 3 of")
    presenter.leave()
