"""From values to pixels: exact tables, averages, only what is seen, a bounded store."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from PySide6.QtCore import QPointF, QRectF
from PySide6.QtGui import QColor, QImage

from app.widgets import slice_images
from app.widgets.averaging import BLOCKS, averaged, block_for, blocks_in
from app.widgets.content import Picture, ViewState, eight_bit
from app.widgets.image_canvas import ImageCanvas
from app.widgets.placement import place
from app.widgets.slice_images import ImageStore, SliceImages, graphics_mask
from engine.evidence.study import Overlay
from engine.evidence.window import to_display

VIEW = QRectF(0, 0, 200, 160)


def grey(image: QImage) -> np.ndarray:
    """Red of each pixel; the three are equal for grey."""
    kept = image.convertToFormat(QImage.Format.Format_RGB888)
    lines = np.frombuffer(kept.constBits(), np.uint8).reshape(kept.height(), -1)
    return lines[:, : 3 * kept.width()].reshape(kept.height(), kept.width(), 3)[..., 0].copy()


def shown(array, window=(30.0, 100.0), **named):
    def render(values, asked):
        center, width = asked or window
        return to_display(values, center=center, width=width)

    return Picture(array, window, render, **named)


def drawn(picture, state=ViewState(depth=0.0), view=VIEW):
    found = SliceImages(ImageStore()).slice(picture, state, place(picture, state, view), view)
    assert found is not None
    return found


@pytest.mark.parametrize(
    "dtype", ["u1", "i1", "u2", "i2", ">i2", ">u2", "i4", "u4", "f4", "f8", "i8"]
)
@pytest.mark.parametrize("state", [
    ViewState(depth=0.0), ViewState(depth=0.0, inverted=True),
    ViewState(depth=0.0, shift=0.3, factor=0.2), ViewState(depth=0.0, preset="8"),
])  # fmt: skip
def test_every_number_format_is_shown_as_the_picture_renders_it(dtype, state):
    from app.widgets.content import window_of

    low, high = (-120, 120) if dtype[-2] in "if" else (0, 240)
    array = np.linspace(low, high, 40 * 30).reshape(1, 40, 30).astype(dtype)
    picture = shown(array)
    image = grey(drawn(picture, state).image)
    wanted = picture.render(array[0], window_of(picture, state))
    assert (image == (255 - wanted if state.inverted else wanted)).all()


def test_full_sixteen_bits_and_their_ends():
    for dtype, ends in (("i2", (-32768, 32767)), ("u2", (0, 65535))):
        array = np.array([[[ends[0], -1 if dtype == "i2" else 7], [0, ends[1]]]], dtype)
        picture = shown(array, window=(0.0, 70_000.0))
        assert (grey(drawn(picture).image) == picture.render(array[0], None)).all()


def test_colour_and_named_values_become_colours():
    array = np.random.default_rng(0).integers(0, 255, (1, 20, 20, 3), dtype=np.uint8)
    picture = Picture(array, (128.0, 256.0), lambda values, window: values)
    image = drawn(picture).image
    assert QColor(image.pixel(3, 5)).getRgb()[:3] == tuple(array[0, 5, 3])
    palette = np.array([[0, 0, 0], [255, 0, 0], [0, 0, 255]], np.uint8)
    labels = np.zeros((1, 900, 900), np.uint8)
    labels[:, ::2, ::2] = 2
    named = Picture(labels, (1.0, 2.0), lambda values, window: palette[values])
    image = drawn(named).image
    assert image.width() == 900  # names are not averaged: between 0 and 2 there is no 1
    assert QColor(image.pixel(0, 0)).blue() == 255


@pytest.mark.parametrize("down", [1.0, 1.5, 2.0, 3.0, 4.0])
@pytest.mark.parametrize("across", [1.0, 1.5, 2.0, 6.0])
@pytest.mark.parametrize("shape", [(24, 36), (25, 37), (23, 35, 3), (7, 5), (1, 1)])
def test_averages_are_exact(down, across, shape):
    values = np.random.default_rng(2).integers(-900, 3000, shape).astype(np.int16)
    made = averaged(values, down, across)
    rows, columns = blocks_in(shape[0], down), blocks_in(shape[1], across)
    assert made.shape == (rows, columns, *shape[2:])
    # in halves of pixels every block is whole
    fine = np.pad(values, [(0, 12), (0, 12)] + [(0, 0)] * (len(shape) - 2), mode="edge")
    fine = fine.repeat(2, 0).repeat(2, 1).astype(float)
    for row in range(rows):
        for column in range(columns):
            top, left = int(row * down * 2), int(column * across * 2)
            block = fine[top : top + int(down * 2), left : left + int(across * 2)]
            wanted = block.mean(axis=(0, 1))
            assert np.abs(made[row, column] - wanted).max() <= 0.5 + 1e-3


def test_averages_keep_formats_and_do_not_overflow():
    for dtype in ("u1", "i2", "u2", "i4", "f4", "f8"):
        top = 255 if dtype == "u1" else 30_000
        values = np.full((64, 96), top, dtype)
        for block in BLOCKS:
            made = averaged(values, block, block)
            assert made.dtype == values.dtype
            assert (made == top).all()
    assert (averaged(np.full((64, 64), 65535, np.uint16), 32.0, 32.0) == 65535).all()


def test_what_is_left_to_interpolate_is_never_small():
    for scale in np.linspace(0.03, 3, 400):
        rest = block_for(scale) * scale
        assert rest <= 1.0 or block_for(scale) == 1.0
        assert rest >= 2 / 3 - 1e-9


def test_averaging_before_a_window_equals_averaging_after_it_inside_its_ends():
    values = np.random.default_rng(4).integers(100, 900, (1, 400, 400)).astype(np.uint16)
    picture = shown(values, window=(500.5, 1001.0))
    image = grey(drawn(picture, view=QRectF(0, 0, 200, 200)).image)
    after = averaged(picture.render(values[0], None).astype(np.float32), 2.0, 2.0)
    assert image.shape == (200, 200)
    assert np.abs(image - after).max() <= 1.0


def test_a_large_picture_is_rendered_only_where_it_is_seen():
    picture = shown(np.zeros((1, 4000, 3000), np.uint16))
    state = ViewState(depth=0.0, zoom=25.0)
    found = drawn(picture, state)
    assert found.image.width() * found.image.height() < 600 * 600
    assert found.rect.contains(VIEW)
    whole = drawn(picture)
    assert whole.image.width() * whole.image.height() < 400 * 400


@pytest.mark.parametrize("state", [
    ViewState(depth=0.0, zoom=9.0, pan_x=2.1, pan_y=-1.3),
    ViewState(depth=0.0, zoom=9.0, pan_x=2.1, flip_h=True, turns=1),
    ViewState(depth=0.0, zoom=3.0, turns=3, flip_v=True),
])  # fmt: skip
def test_a_part_shows_the_same_pixels_as_the_whole(state, qtbot, monkeypatch):
    array = np.random.default_rng(6).integers(0, 100, (1, 1400, 1300)).astype(np.int16)
    shots = []
    for limit in (0, 10**9):
        monkeypatch.setattr(slice_images, "WHOLE_PIXELS", limit)
        canvas = ImageCanvas()
        qtbot.addWidget(canvas)
        canvas.resize(300, 240)
        canvas.set_overlays(frozenset())
        canvas.set_picture(shown(array), state)
        shots.append(grey(canvas.grab().toImage()).astype(int))
        again = grey(canvas.grab().toImage())  # the second paint is a kept copy
        third = grey(canvas.grab().toImage())
        assert (again == third).all()
        assert np.abs(again.astype(int) - shots[-1]).max() <= 1
    assert np.abs(shots[0] - shots[1]).max() <= 3
    assert shots[0].std() > 1


@pytest.mark.parametrize(
    ("state", "turned"),
    [(ViewState(flip_h=True), lambda a: a[:, ::-1]), (ViewState(flip_v=True), lambda a: a[::-1]),
     (ViewState(turns=1), lambda a: np.rot90(a, -1)),
     (ViewState(turns=2), lambda a: np.rot90(a, 2)),
     (ViewState(flip_h=True, turns=1), lambda a: np.rot90(a[:, ::-1], -1))],
)  # fmt: skip
def test_flips_and_turns_are_what_is_drawn(qtbot, state, turned):
    values = np.arange(0, 240, 10, dtype=np.uint8).reshape(4, 6)
    canvas = ImageCanvas()
    qtbot.addWidget(canvas)
    canvas.resize(600, 600)
    canvas.set_overlays(frozenset())
    canvas.set_picture(eight_bit(values), state)
    image = grey(canvas.grab().toImage())
    wanted = turned(values)
    rows, columns = wanted.shape
    box = canvas.placed.rect
    for row in range(rows):
        for column in range(columns):
            x = round(box.x() + (column + 0.5) * box.width() / columns)
            y = round(box.y() + (row + 0.5) * box.height() / rows)
            assert abs(int(image[y, x]) - int(wanted[row, column])) <= 3
            # the way from the pointer finds the same stored pixel
            across, down = (round(part) for part in canvas.placed.to_picture(QPointF(x, y)))
            assert int(values[down, across]) == int(wanted[row, column])


def test_the_store_forgets_the_least_used_and_keeps_its_bound():
    store = ImageStore(limit=100)
    owner = object()
    for number in range(5):
        store.put((owner, number), number, 30)
    assert store.bytes <= 100
    assert store.get((owner, 0)) is None
    assert store.get((owner, 2)) == 2
    store.put((owner, 9), 9, 30)
    assert store.get((owner, 3)) is None
    assert store.get((owner, 2)) == 2
    store.put((owner, 2), "again", 20)
    assert store.get((owner, 2)) == "again"
    store.put((owner, 7), 7, 1000)
    assert store.get((owner, 7)) is None
    store.drop(owner)
    assert store.bytes == 0


def test_scrolling_a_large_series_stays_within_the_bound(qtbot, monkeypatch):
    store = ImageStore(limit=3_000_000)
    monkeypatch.setattr(slice_images, "STORE", store)
    canvas = ImageCanvas()
    qtbot.addWidget(canvas)
    canvas.resize(300, 300)
    canvas.set_picture(shown(np.zeros((60, 256, 256), np.int16)))
    for _ in range(60):
        canvas.do("slice-down")
        canvas.grab()
        assert store.bytes <= 3_000_000
    assert store.bytes > 0
    canvas.set_picture(None)
    assert store.bytes == 0


def test_slices_that_are_not_decoded_are_never_drawn_as_pictures(qtbot):
    ready = np.array([True, False, True])
    picture = shown(np.full((3, 50, 50), 60, np.int16), ready=ready)
    canvas = ImageCanvas()
    qtbot.addWidget(canvas)
    canvas.resize(200, 200)
    canvas.set_overlays(frozenset({"bar"}))
    canvas.set_picture(picture)
    waiting = grey(canvas.grab().toImage())
    canvas.set_state(ViewState(depth=0.0))
    bright = grey(canvas.grab().toImage())
    assert bright[40, 100] > 100 > waiting[40, 100]
    ready[1] = True
    canvas.set_state(ViewState(depth=0.5))
    canvas.refresh()
    assert (grey(canvas.grab().toImage())[40:80, 40:80] == bright[40:80, 40:80]).all()


def test_the_full_range_of_a_series_still_being_decoded_is_that_of_what_is_there():
    from app.widgets.content import starting_window

    ready = np.array([True, False])
    array = np.zeros((2, 4, 4), np.int16)
    array[0] = 100
    picture = shown(array, ready=ready)
    assert starting_window(picture, "8") == (100.5, 1.0)
    ready[1] = True
    assert starting_window(picture, "8") == (50.5, 101.0)
    odd = shown(np.array([[[np.nan, 1.0], [3.0, np.inf]]], np.float32))
    assert starting_window(odd, "8") == (2.5, 3.0)


def test_graphics_lie_over_their_frames_and_survive_being_small():
    mask = np.zeros((1, 300, 300), bool)
    mask[0, 100, :] = True
    array = np.zeros((3, 400, 400), np.uint8)
    every = shown(array, overlays=(Overlay(mask, top=-50, left=20),))
    for index in range(3):
        found = graphics_mask(every, index)
        assert found[50, 20:320].all()
        assert found.sum() == 300
    one = shown(array, overlays=(Overlay(np.repeat(mask, 2, 0), first_frame=1, left=390),))
    assert graphics_mask(one, 0) is None
    assert graphics_mask(one, 1).sum() == 10
    small = QRectF(0, 0, 60, 60)
    state = ViewState(depth=0.0)
    images = SliceImages(ImageStore())
    found = images.graphics(every, state, place(every, state, small), QColor("#9db8a4"))
    alpha = [QColor.fromRgba(found.image.pixel(30, y)).alpha() for y in range(60)]
    assert sorted(set(alpha)) == [0, 255]
    assert images.graphics(shown(array), state, place(every, state, small), QColor("red")) is None


def test_a_float_picture_of_a_small_range_can_be_windowed():
    values = np.linspace(0, 1, 16, dtype=np.float32).reshape(1, 4, 4)
    picture = shown(values, window=(1.0, 2.0))
    as_given = grey(drawn(picture).image)
    assert as_given.max() == 255
    assert as_given.min() == 0
    narrow = grey(drawn(picture, ViewState(depth=0.0, factor=0.5)).image)
    assert sorted(set(narrow.ravel())) != [0, 255]
    assert (narrow == 255).sum() > (as_given == 255).sum()


def test_device_pixels_of_a_dense_screen(qtbot):
    picture = shown(np.zeros((1, 100, 100), np.int16))
    state = ViewState()
    plain = place(picture, state, QRectF(0, 0, 301, 201))
    dense = place(picture, state, QRectF(0, 0, 301, 201), 1.5)
    for placed in (plain, dense):
        edges = (placed.rect.x(), placed.rect.y(), placed.rect.right(), placed.rect.bottom())
        assert all(abs(edge * placed.ratio - round(edge * placed.ratio)) < 1e-9 for edge in edges)
    assert dense.pixel_size()[0] == pytest.approx(1.5 * plain.pixel_size()[0], rel=0.01)


def test_time_points_are_shown_each_for_itself():
    times = np.stack([np.full((2, 9, 9), value, np.int16) for value in (0, 60)])
    picture = shown(times[0], times=times)
    first = grey(drawn(picture).image)
    last = grey(drawn(picture, replace(ViewState(depth=0.0), moment=1.0)).image)
    assert first.max() < last.min()


@pytest.mark.parametrize("size", [(301, 287), (400, 300), (333, 250), (150, 120)])
@pytest.mark.parametrize("paints", [1, 3])
def test_at_actual_size_every_pixel_is_itself(qtbot, size, paints):
    values = np.random.default_rng(0).integers(0, 255, (200, 200), dtype=np.uint8)
    canvas = ImageCanvas()
    qtbot.addWidget(canvas)
    canvas.resize(*size)
    canvas.set_overlays(frozenset())
    canvas.set_picture(eight_bit(values))
    canvas.do("actual-size")
    for _ in range(paints):
        image = grey(canvas.grab().toImage())
    left, top = round(canvas.placed.rect.x()), round(canvas.placed.rect.y())
    part = image[max(0, top) : top + 200, max(0, left) : left + 200]
    rows, columns = part.shape
    start = max(0, -top), max(0, -left)
    assert (part == values[start[0] : start[0] + rows, start[1] : start[1] + columns]).all()


def test_while_nothing_happens_the_next_slices_and_zooms_are_made(qtbot, monkeypatch):
    store = ImageStore()
    monkeypatch.setattr(slice_images, "STORE", store)
    canvas = ImageCanvas()
    qtbot.addWidget(canvas)
    canvas.resize(300, 300)
    canvas.show()
    canvas.set_picture(shown(np.zeros((20, 64, 64), np.int16)))
    canvas.grab()
    before = store.bytes
    for _ in range(3):
        canvas._look_ahead()
    assert store.bytes == 4 * before
    canvas.set_picture(shown(np.zeros((1, 2600, 2000), np.uint16)))
    canvas.grab()
    before = store.bytes
    canvas._look_ahead()
    warm = store.bytes
    assert warm > before
    canvas._look_ahead()
    assert store.bytes == warm
    canvas.set_picture(None)
    canvas._look_ahead()
