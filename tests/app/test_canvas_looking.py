"""Gestures and commands beyond the five reflexes: zoom at a place, cine, reset, hidden words."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from PySide6.QtCore import QPointF, Qt
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QApplication

from app import keys
from app.widgets import cine
from app.widgets.content import ViewState, crop, eight_bit
from app.widgets.halo import word
from app.widgets.image_canvas import ImageCanvas
from engine.evidence.study import Overlay
from tests.app.gestures import CONTROL, RIGHT, SHIFT, drag, hover, wheel
from tests.app.phantom import phantom

KEY = Qt.Key


@pytest.fixture
def canvas(qtbot):
    made = ImageCanvas()
    qtbot.addWidget(made)
    made.resize(400, 300)
    made.set_picture(phantom())
    made.show()
    qtbot.waitExposed(made)
    return made


def test_every_picture_command_of_the_list_is_known(canvas):
    not_here = {"model-view"}
    for command in keys.COMMANDS:
        if command.page == "picture" and command.id not in not_here:
            canvas.do("tool-distance")
            drag(canvas, (150, 150), (200, 180))
            assert canvas.do(command.id), command.id
    assert not canvas.do("model-view")
    assert not canvas.do("unheard-of")
    empty = ImageCanvas()
    assert not empty.do("invert")
    empty.deleteLater()


def test_right_drag_and_control_wheel_zoom_around_the_place(canvas):
    at = QPointF(120, 200)
    before = canvas.placed.to_picture(at)
    wheel(canvas, 360, at=(120, 200), modifier=CONTROL)
    assert canvas.state.zoom > 1.5
    assert canvas.placed.to_picture(at) == pytest.approx(before, abs=0.1)
    drag(canvas, at, at + QPointF(0, -40), button=RIGHT)
    assert canvas.placed.to_picture(at) == pytest.approx(before, abs=0.1)


def test_actual_size_is_one_pixel_on_one_pixel(canvas):
    canvas.set_picture(eight_bit(np.zeros((90, 120), np.uint8)))
    canvas.do("actual-size")
    assert canvas.placed.pixel_size() == pytest.approx((1.0, 1.0))
    large = eight_bit(np.zeros((3000, 2000), np.uint8))
    canvas.set_picture(large)
    canvas.do("actual-size")
    assert canvas.placed.pixel_size() == pytest.approx((1.0, 1.0), rel=1e-3)


def test_nought_fits_and_twice_resets(canvas, qtbot, monkeypatch):
    now = [100.0]
    monkeypatch.setattr("app.widgets.image_canvas.time.monotonic", lambda: now[0])
    changed = ViewState(zoom=3.0, flip_h=True, turns=1, preset="2", inverted=True)
    canvas.set_state(changed)
    qtbot.keyClick(canvas, KEY.Key_0)
    assert canvas.state == changed.fitted()
    now[0] += 2.0
    qtbot.keyClick(canvas, KEY.Key_0)
    assert canvas.state.flip_h
    now[0] += 0.3
    qtbot.keyClick(canvas, KEY.Key_0)
    assert canvas.state == ViewState(depth=changed.depth)


def test_a_key_held_down_inverts_once_and_scrolls_on(canvas):
    def press(key, text, *, held):
        kind = QKeyEvent.Type.KeyPress
        none = Qt.KeyboardModifier.NoModifier
        QApplication.sendEvent(canvas, QKeyEvent(kind, key, none, text, held))

    canvas.set_state(ViewState(depth=0.0, zoom=2.0))
    for held in (False, True, True):
        press(KEY.Key_I, "i", held=held)
        press(KEY.Key_0, "0", held=held)
        press(KEY.Key_Down, "", held=held)
    assert canvas.state == ViewState(depth=3 / 11, inverted=True)


def test_x_resets_all_but_the_place_in_the_stack(canvas, qtbot):
    canvas.set_state(ViewState(depth=0.2, zoom=3.0, flip_v=True, turns=3, factor=2.0))
    qtbot.keyClick(canvas, KEY.Key_X)
    assert canvas.state == ViewState(depth=0.2)


def test_space_and_left_pan_until_it_is_released(canvas):
    def space(kind):
        event = QKeyEvent(kind, KEY.Key_Space, Qt.KeyboardModifier.NoModifier, " ")
        QApplication.sendEvent(canvas, event)

    space(QKeyEvent.Type.KeyPress)
    drag(canvas, (100, 100), (140, 100))
    assert canvas.state.pan_x == pytest.approx(0.1)
    space(QKeyEvent.Type.KeyRelease)
    drag(canvas, (100, 100), (140, 100))
    assert canvas.state.pan_x == pytest.approx(0.1)
    assert canvas.state.factor > 1


def test_the_slice_bar_is_dragged(canvas):
    x = canvas.width() - 5
    drag(canvas, (x, 150), (x, 4))
    assert canvas.state.depth == 0.0
    drag(canvas, (x, 20), (x, 295))
    assert canvas.slice_and_moment[0] == 11
    drag(canvas, (x, 20), (x, 150))
    assert canvas.slice_and_moment[0] in (5, 6)
    assert canvas.state.factor == 1.0
    canvas.set_overlays(frozenset())
    drag(canvas, (x - 60, 20), (x, 20))
    assert canvas.state.factor > 1.0


def test_the_inset_of_a_region_turns_with_its_picture(qtbot):
    whole = np.zeros((100, 60), np.uint8)
    whole[:50] = 200
    region = crop(eight_bit(whole), (10, 60, 40, 90))
    canvas = ImageCanvas()
    qtbot.addWidget(canvas)
    canvas.resize(300, 300)
    canvas.set_overlays(frozenset())

    def brightness(state):
        canvas.set_picture(region, state)
        image = canvas.grab().toImage()
        # the inset's size is 90 along its longer side, at 14 and 6 from the corner
        return [image.pixelColor(300 - 14 - 20, y).red() for y in (300 - 6 - 86, 300 - 6 - 4)]

    assert brightness(ViewState()) == [200, 0]
    assert brightness(ViewState(flip_v=True)) == [0, 200]
    assert brightness(ViewState(flip_v=True, inverted=True)) == [255, 55]


def test_the_frame_due_follows_the_clock():
    assert [cine.due(3, seconds, 10.0, 5) for seconds in (0, 0.05, 0.1, 0.35, 1.0)] == [
        3, 3, 4, 1, 3,
    ]  # fmt: skip
    assert cine.rate_of(None) == 10.0
    assert cine.rate_of(40.0) == 25.0
    assert cine.rate_of(0.0) == 10.0
    assert cine.rate_of(1.0) == cine.MOST_RATE
    assert cine.rate_of(90_000.0) == cine.LEAST_RATE


def test_late_frames_are_left_out_rather_than_slowed(qtbot):
    now, seen = [0.0], []
    player = cine.Cine(clock=lambda: now[0])
    player.turn.connect(seen.append)
    player.play(start=0, count=30, rate=10.0)
    for now[0] in (0.05, 0.1, 0.1, 0.9, 1.0):
        player.tick()
    assert seen == [1, 9, 10]
    player.speed(2.0)
    now[0] = 1.11
    player.tick()
    assert seen[-1] == 12
    player.stop()
    player.play(start=0, count=1, rate=10.0)
    assert not player.playing


def test_cine_plays_slices_and_stops_by_space_wheel_and_hiding(canvas, qtbot):
    canvas.set_picture(replace(phantom(), frame_ms=40.0))
    qtbot.keyClick(canvas, KEY.Key_C)
    assert canvas.playing
    assert canvas._cine.rate == 25.0
    qtbot.keyClick(canvas, KEY.Key_Plus)
    assert canvas._cine.rate == 31.25
    canvas._cine.turn.emit(9)
    assert canvas.slice_and_moment == (9, 0)
    canvas.grab()
    qtbot.keyClick(canvas, KEY.Key_Space)
    assert not canvas.playing
    for stop in (
        lambda: qtbot.keyClick(canvas, KEY.Key_C),
        lambda: wheel(canvas, -120),
        canvas.hide,
    ):
        canvas.show()
        canvas.do("cine")
        assert canvas.playing
        stop()
        assert not canvas.playing


def test_cine_of_a_four_dimensional_picture_plays_its_time_points(canvas):
    array = phantom().array
    canvas.set_picture(replace(phantom(), times=np.stack([array] * 4)))
    index = canvas.slice_and_moment[0]
    canvas.do("cine")
    canvas._cine.turn.emit(2)
    assert canvas.slice_and_moment == (index, 2)
    canvas.do("cine")
    assert canvas.do("next-time")
    assert canvas.do("next-time")
    assert canvas.slice_and_moment == (index, 0)
    assert canvas.do("previous-time")
    assert canvas.slice_and_moment == (index, 3)
    assert canvas.state.fresh().moment == 1.0


def test_hidden_words_leave_what_must_not_be_forgotten(canvas):
    bare, told = canvas.grab().toImage(), []
    canvas.words_hidden.connect(told.append)
    canvas.do("overlays")
    assert told == [True]
    hidden = canvas.grab().toImage()
    assert hidden != bare
    assert canvas._shown() == {"badges"}
    canvas.do("flip-h")
    flipped = canvas.grab().toImage()
    corner = [flipped.pixelColor(x, y).red() for x in range(90) for y in range(24)]
    assert max(corner) > 150  # the badge stays
    canvas.do("overlays")
    assert told == [True, False]


def test_shift_and_pointer_tell_the_patient_point(canvas):
    told = []
    canvas.pointed.connect(told.append)
    hover(canvas, (200, 150))
    assert told == []
    hover(canvas, (200, 150), SHIFT)
    (point,) = told
    z, y, x = canvas.picture.geometry.index(point)
    assert round(z) == canvas.slice_and_moment[0]
    assert canvas.placed.to_picture(QPointF(200, 150)) == pytest.approx((x, y), abs=0.51)
    canvas.set_picture(eight_bit(np.zeros((9, 9), np.uint8)))
    hover(canvas, (200, 150), SHIFT)
    assert len(told) == 1


def test_everything_at_once_is_painted_at_every_size(canvas):
    mask = np.zeros((1, 5, 5), bool)
    mask[0, 2] = True
    ready = np.ones(12, bool)
    ready[3:5] = False
    picture = replace(
        phantom(), overlays=(Overlay(mask),), marks=(0, 3, 6, 11), ready=ready, hounsfield=True
    )
    canvas.set_picture(picture)
    canvas.do("tool-probe")
    canvas.set_cross(picture.geometry.point((6, 10, 8)))
    canvas.set_lines((((0.0, 0.0), (10.0, 12.0)),))
    for size in ((60, 40), (240, 180), (900, 700), (1400, 300)):
        canvas.resize(*size)
        hover(canvas, (size[0] / 2, size[1] / 2))
        for state in (ViewState(), ViewState(depth=3 / 11), ViewState(zoom=40.0, turns=1)):
            canvas.set_state(state)
            assert not canvas.grab().isNull()


def test_an_error_while_painting_does_not_leave_the_painter_open(canvas, monkeypatch):
    def fail(*_values):
        raise ValueError("planted")

    monkeypatch.setattr("app.widgets.canvas_layers.paint_words", fail)
    painter_left = []
    try:
        canvas.grab()
    except Exception as error:  # noqa: BLE001  whatever Qt makes of it
        painter_left.append(str(error))
    monkeypatch.undo()
    assert not canvas.grab().isNull()


def test_words_are_drawn_once_and_kept():
    assert word("12 / 300") is word("12 / 300")
    assert word("12 / 300", ratio=2.0).devicePixelRatio() == 2.0
    assert word("12 / 300", ratio=2.0).width() > 1.8 * word("12 / 300").width()
