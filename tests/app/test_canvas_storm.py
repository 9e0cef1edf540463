"""Hundreds of random gestures and commands on odd pictures: nothing fails, links hold."""

from __future__ import annotations

import random
from dataclasses import replace

import numpy as np
import pytest
from PySide6.QtCore import Qt

from app import keys
from app.widgets.content import Picture, ViewState, crop, eight_bit
from app.widgets.image_canvas import ImageCanvas
from app.widgets.mpr import MprView
from app.widgets.view_link import ViewLink
from engine.evidence.study import Overlay
from tests.app.gestures import CONTROL, LEFT, MIDDLE, NONE, RIGHT, SHIFT, click, drag, hover, wheel
from tests.app.phantom import phantom, render

COMMANDS = [command.id for command in keys.COMMANDS if command.page == "picture"]
COMMANDS += ["next-time", "previous-time"]


def odd_pictures():
    mask = np.zeros((2, 9, 9), bool)
    mask[:, 4] = True
    values = np.random.default_rng(0).integers(0, 255, (3, 40, 50, 3), dtype=np.uint8)
    return [
        phantom("oblique"),
        replace(phantom(), times=np.stack([phantom().array] * 3), overlays=(Overlay(mask, 1),)),
        eight_bit(np.zeros((1, 1), np.uint8)),
        eight_bit(values),
        crop(eight_bit(values[0]), (3, 4, 20, 30)),
        Picture(np.full((2, 5, 7), np.nan, np.float32), (0.5, 1.0), render, aspect=3.0),
        Picture(np.zeros((1, 2000, 3), np.uint16), (0.5, 1.0), render, spacing_mm=(0.1, 0.1)),
        replace(phantom("coronal"), ready=np.arange(12) % 3 == 0, marks=(0, 11)),
    ]


def act(canvas, chance):
    width, height = canvas.width(), canvas.height()

    def spot():
        return chance.uniform(-20, width + 20), chance.uniform(-20, height + 20)

    modifier = chance.choice([NONE, NONE, SHIFT, CONTROL])
    what = chance.randrange(6)
    if what == 0:
        canvas.do(chance.choice(COMMANDS))
    elif what == 1:
        button = chance.choice([LEFT, LEFT, MIDDLE, RIGHT])
        drag(canvas, spot(), spot(), spot(), button=button, modifier=modifier)
    elif what == 2:
        wheel(canvas, chance.choice([-360, -120, -30, 30, 120, 360]), spot(), modifier)
    elif what == 3:
        hover(canvas, spot(), modifier)
    elif what == 4:
        click(canvas, spot())
    else:
        canvas.resize(chance.randrange(1, 500), chance.randrange(1, 400))


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("by_position", [False, True])
def test_a_storm_of_gestures(qtbot, seed, by_position):
    chance = random.Random(seed)
    link, canvases = ViewLink(by_position=by_position), []
    for picture in odd_pictures():
        canvas = ImageCanvas()
        qtbot.addWidget(canvas)
        canvas.resize(300, 220)
        canvas.set_picture(picture)
        canvas.show()
        canvases.append(canvas)
    link.join(canvases)
    link.set_lines(on=True)
    for _ in range(120):
        acting = chance.choice(canvases)
        act(acting, chance)
        chance.choice(canvases).grab()
        if not by_position:
            assert len({canvas.state for canvas in canvases}) == 1
        for canvas in canvases:
            assert 0 <= canvas.state.depth <= 1
            assert np.isfinite([canvas.state.pan_x, canvas.state.pan_y, canvas.state.zoom]).all()
    for canvas in canvases:
        canvas.do("reset")
        canvas.hide()
        assert not canvas.playing


@pytest.mark.parametrize("name", ["axial", "double oblique coronal"])
def test_a_storm_on_three_planes(qtbot, name):
    chance = random.Random(7)
    view = MprView()
    qtbot.addWidget(view)
    view.resize(500, 400)
    view.set_picture(phantom(name))
    view.show()
    for _ in range(120):
        canvas = chance.choice(list(view.canvases.values()))
        if chance.random() < 0.1:
            canvas.maximise_asked.emit()
        else:
            act(canvas, chance)
        view.grab()
        for other in view.canvases.values():
            assert np.allclose(other.cross, view.point)
            z = other.picture.geometry.index(view.point)[0]
            assert round(z) == other.slice_and_moment[0]


def test_keys_without_a_picture_do_nothing(qtbot):
    canvas = ImageCanvas()
    qtbot.addWidget(canvas)
    for key in (Qt.Key.Key_I, Qt.Key.Key_Space, Qt.Key.Key_C, Qt.Key.Key_Delete):
        qtbot.keyClick(canvas, key)
    for command in COMMANDS:
        assert not canvas.do(command)
    drag(canvas, (10, 10), (30, 40))
    wheel(canvas, 120)
    hover(canvas, (5, 5), SHIFT)
    canvas.grab()
    assert canvas.state == ViewState()
