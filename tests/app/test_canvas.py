"""The live viewer: five mouse reflexes, keys, presets, link, letters, aspect, texts."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from PySide6.QtCore import QPoint, QPointF, QRect, QRectF, Qt
from PySide6.QtGui import QMouseEvent, QWheelEvent
from PySide6.QtWidgets import QApplication

from app.widgets import canvas_words as words
from app.widgets import placement
from app.widgets.content import (
    Content,
    Picture,
    ViewState,
    crop,
    eight_bit,
    slice_index,
    window_of,
)
from app.widgets.evidence_frame import EvidenceFrame, grid, split
from app.widgets.image_canvas import ImageCanvas
from app.widgets.text_panel import TextPanel, set_lines, split_heading
from app.widgets.view_link import ViewLink
from engine.evidence.window import to_display
from tests.app.fakes import picture

KEY, BUTTON, MODIFIER = Qt.Key, Qt.MouseButton, Qt.KeyboardModifier


def volume(slices=20, modality="CT"):
    array = np.linspace(-1000, 1000, slices * 64 * 48).reshape(slices, 64, 48).astype(np.int16)

    def render(values, window):
        center, width = window or (40.0, 400.0)
        return to_display(values, center=center, width=width)

    return Picture(array, (40.0, 400.0), render, orientation="LPS", hounsfield=modality == "CT")


@pytest.fixture
def canvas(qtbot):
    made = ImageCanvas()
    qtbot.addWidget(made)
    made.resize(300, 300)
    made.set_picture(volume())
    made.show()
    qtbot.waitExposed(made)
    return made


def drag(widget, button, dx, dy, modifier=MODIFIER.NoModifier):
    start = QPointF(100, 100)
    for kind, place, held in (
        (QMouseEvent.Type.MouseButtonPress, start, button),
        (QMouseEvent.Type.MouseMove, start + QPointF(dx, dy), button),
        (QMouseEvent.Type.MouseButtonRelease, start + QPointF(dx, dy), BUTTON.NoButton),
    ):
        pressed = BUTTON.NoButton if kind == QMouseEvent.Type.MouseMove else button
        event = QMouseEvent(kind, place, widget.mapToGlobal(place), pressed, held, modifier)
        QApplication.sendEvent(widget, event)


def wheel(widget, turn, modifier=MODIFIER.NoModifier):
    place = QPointF(100, 100)
    event = QWheelEvent(
        place, widget.mapToGlobal(place), QPoint(), QPoint(0, turn), BUTTON.NoButton, modifier,
        Qt.ScrollPhase.NoScrollPhase, False,
    )  # fmt: skip
    QApplication.sendEvent(widget, event)


def index(canvas):
    return slice_index(canvas.state.depth, canvas.picture.slices)


def test_a_volume_opens_in_the_middle_fitted_as_its_file_asks(canvas):
    assert index(canvas) in (9, 10)
    assert canvas.state == ViewState()
    assert window_of(canvas.picture, canvas.state) is None


def test_the_wheel_scrolls_without_any_mode(canvas):
    before = index(canvas)
    wheel(canvas, -120)
    assert index(canvas) == before + 1
    wheel(canvas, 240)
    assert index(canvas) == before - 1
    for _ in range(3):  # a touchpad sends parts of a notch
        wheel(canvas, -40)
    assert index(canvas) == before
    wheel(canvas, -120 * 100)
    assert index(canvas) == 19


def test_left_drag_windows_across_width_down_level(canvas):
    drag(canvas, BUTTON.LeftButton, 50, 0)
    center, width = window_of(canvas.picture, canvas.state)
    assert width == pytest.approx(400 * 1.2)
    assert center == 40
    drag(canvas, BUTTON.LeftButton, 0, 25)
    assert window_of(canvas.picture, canvas.state)[0] == pytest.approx(40 + 0.1 * 400)


def test_middle_drag_pans_right_drag_zooms_and_laptops_have_a_way(canvas):
    drag(canvas, BUTTON.MiddleButton, 30, -60)
    assert (canvas.state.pan_x, canvas.state.pan_y) == (pytest.approx(0.1), pytest.approx(-0.2))
    drag(canvas, BUTTON.LeftButton, 30, 0, MODIFIER.ShiftModifier)
    assert canvas.state.pan_x == pytest.approx(0.2)
    drag(canvas, BUTTON.RightButton, 0, -75)
    assert canvas.state.zoom == pytest.approx(1.5)
    wheel(canvas, 120, MODIFIER.ControlModifier)
    assert canvas.state.zoom > 1.6


@pytest.mark.parametrize(
    ("key", "steps"),
    [(KEY.Key_Down, 1), (KEY.Key_Up, -1), (KEY.Key_PageDown, 10), (KEY.Key_Home, -99),
     (KEY.Key_End, 99)],
)  # fmt: skip
def test_keys_scroll(qtbot, canvas, key, steps):
    before = index(canvas)
    qtbot.keyClick(canvas, key)
    assert index(canvas) == min(19, max(0, before + steps))


@pytest.mark.parametrize(
    ("key", "window"),
    [(KEY.Key_1, (40, 400)), (KEY.Key_2, (-600, 1500)), (KEY.Key_3, (480, 2500)),
     (KEY.Key_4, (40, 80))],
)  # fmt: skip
def test_presets_of_ct(qtbot, canvas, key, window):
    drag(canvas, BUTTON.LeftButton, 40, 40)
    qtbot.keyClick(canvas, key)
    assert window_of(canvas.picture, canvas.state) == window


def test_full_range_given_invert_and_reset(qtbot, canvas):
    qtbot.keyClick(canvas, KEY.Key_8)
    center, width = window_of(canvas.picture, canvas.state)
    assert (center - 0.5 - (width - 1) / 2, center - 0.5 + (width - 1) / 2) == (-1000, 1000)
    qtbot.keyClick(canvas, KEY.Key_9)
    assert window_of(canvas.picture, canvas.state) is None
    qtbot.keyClick(canvas, KEY.Key_I)
    assert canvas.state.inverted
    qtbot.keyClick(canvas, KEY.Key_Plus)
    qtbot.keyClick(canvas, KEY.Key_X)
    assert canvas.state == ViewState(depth=canvas.state.depth)


def test_linked_canvases_have_equal_states_after_any_action(qtbot):
    link, canvases = ViewLink(), [ImageCanvas() for _ in range(3)]
    for canvas, slices in zip(canvases, (20, 7, 1), strict=True):
        qtbot.addWidget(canvas)
        canvas.resize(200 + slices, 200)
        canvas.set_picture(volume(slices))
    link.join(canvases)
    for act in (
        lambda: wheel(canvases[0], -360),
        lambda: drag(canvases[1], BUTTON.LeftButton, 20, 9),
        lambda: drag(canvases[2], BUTTON.MiddleButton, 20, 9),
        lambda: qtbot.keyClick(canvases[1], KEY.Key_2),
        lambda: qtbot.keyClick(canvases[1], KEY.Key_End),
    ):
        act()
        assert canvases[0].state == canvases[1].state == canvases[2].state
    assert [index(canvas) for canvas in canvases] == [19, 6, 0]
    link.set_on(False)
    wheel(canvases[0], 120)
    assert canvases[1].state.depth == 1.0


def test_equal_pictures_are_painted_equally(qtbot):
    shots = []
    for _ in range(2):
        canvas = ImageCanvas()
        qtbot.addWidget(canvas)
        canvas.resize(280, 190)
        canvas.set_picture(eight_bit(picture(3)))
        shots.append(canvas.grab().toImage())
    assert shots[0] == shots[1]


def test_what_is_drawn_is_the_value_through_the_window(qtbot):
    values = np.array([[0, 85], [170, 255]], np.uint8)
    canvas = ImageCanvas()
    qtbot.addWidget(canvas)
    canvas.set_overlays(frozenset())
    canvas.resize(200, 200)
    canvas.set_picture(eight_bit(values))
    image = canvas.grab().toImage()
    corners = [image.pixelColor(x, y).red() for y in (5, 194) for x in (5, 194)]
    assert corners == [0, 85, 170, 255]


def test_pixel_aspect_is_kept():
    wide = volume()
    tall = Picture(wide.array, wide.window, wide.render, aspect=2.0)
    box = placement.place(tall, ViewState(), QRectF(0, 0, 300, 300)).rect
    assert box.height() / box.width() == pytest.approx(64 * 2 / 48, rel=0.01)
    assert box.height() == pytest.approx(300)


@pytest.mark.parametrize(
    ("orientation", "letters"),
    [("LPS", {"left": "R", "right": "L", "top": "A", "bottom": "P"}),
     ("LIP", {"left": "R", "right": "L", "top": "H", "bottom": "F"}),
     ("PIL", {"left": "A", "right": "P", "top": "H", "bottom": "F"}),
     (None, {}), ("", {})],
)  # fmt: skip
def test_orientation_letters(orientation, letters):
    shown = replace(volume(2), orientation=orientation)
    assert words.edge_letters(shown, ViewState()) == letters


def test_colour_that_is_grey_is_windowed_and_colour_is_not():
    grey = np.repeat(picture(1)[..., None], 3, axis=2)
    assert not eight_bit(grey).color
    colour = grey.copy()
    colour[0, 0] = (255, 0, 0)
    shown = eight_bit(colour)
    assert shown.color
    assert (shown.render(shown.array[0], (10.0, 5.0)) == colour).all()


@pytest.mark.parametrize("shape", [(9, 7), (9, 7, 3), (5, 9, 7), (5, 9, 7, 3)])
def test_media_of_every_shape_become_pictures(shape):
    values = np.random.default_rng(0).integers(0, 256, shape, dtype=np.uint8)
    shown = eight_bit(values)
    assert shown.array.shape[1:3] == (9, 7)
    assert shown.slices == (5 if len(shape) > 2 and shape[0] == 5 else 1)


def test_a_region_is_cut_and_keeps_its_whole():
    whole = eight_bit(picture(5))
    cut = crop(whole, (10, 20, 60, 70))
    assert (cut.array[0] == picture(5)[20:70, 10:60]).all()
    assert (cut.source == picture(5)).all()


def test_texts_keep_headings_and_are_never_markup(qtbot, ugly):
    panel = TextPanel()
    qtbot.addWidget(panel)
    panel.resize(300, 200)
    panel.show_text(ugly)
    assert panel.words == ugly
    plain = panel.toPlainText()
    if "<b>" in ugly:
        assert "<b>bold</b>" in plain
    assert panel.document().characterCount() < 6000


@pytest.mark.parametrize(
    ("said", "heading", "rest"),
    [("FINDINGS: There is a nodule.", "FINDINGS:", "There is a nodule."),
     ("Impression:", "Impression:", ""),
     ("CLINICAL HISTORY", "CLINICAL HISTORY", ""),
     ("CT of the chest shows: nothing", "", "CT of the chest shows: nothing"),
     ("The heart is normal.", "", "The heart is normal."),
     ("MRI brain", "", "MRI brain")],
)  # fmt: skip
def test_headings(said, heading, rest):
    assert split_heading(said) == (heading, rest)


@pytest.mark.parametrize(
    ("said", "lines"),
    [("FINDINGS: Clear. Sternal wires. IMPRESSION: Normal.",
      [("FINDINGS:", "Clear. Sternal wires."), ("IMPRESSION:", "Normal.")]),
     ("Nodule of 5 mm. Impression: Follow up.\nNo effusion.",
      [("", "Nodule of 5 mm."), ("Impression:", "Follow up."), ("", "No effusion.")]),
     ("FINDINGS:\nClear.\n\nIMPRESSION:\nNormal.",
      [("FINDINGS:", ""), ("", "Clear."), ("IMPRESSION:", ""), ("", "Normal.")]),
     ("Befund: unauffällig.", [("Befund:", "unauffällig.")]),
     ("LUNGS: clear", [("LUNGS:", "clear")]),
     ("Findings", [("", "Findings")]),
     ("The ratio is: one", [("", "The ratio is: one")]),
     ("", [])],
)  # fmt: skip
def test_headings_are_set_alike_wherever_they_stand(qtbot, said, lines):
    assert list(set_lines(said)) == lines
    panel = TextPanel()
    qtbot.addWidget(panel)
    panel.show_text(said)
    assert panel.toPlainText().split() == said.split(), "no word is changed"


def test_a_long_text_starts_at_its_top_and_scrolls_by_keys(qtbot):
    panel = TextPanel(selectable=False)
    qtbot.addWidget(panel)
    panel.show_text("\n".join(f"line {n}" for n in range(200)))
    panel.resize(300, 200)
    panel.show()
    assert panel.verticalScrollBar().value() == 0
    assert panel.textInteractionFlags() == Qt.TextInteractionFlag.NoTextInteraction


@pytest.mark.parametrize("count", range(1, 17))
@pytest.mark.parametrize("size", [(380, 220), (780, 640), (200, 600)])
def test_pictures_of_one_frame_do_not_overlap(count, size):
    room = QRect(3, 25, *size)
    cells = grid(room, count)
    assert len(cells) == count
    assert all(room.contains(cell) for cell in cells)
    pairs = [(a, b) for n, a in enumerate(cells) for b in cells[:n]]
    assert not any(a.intersects(b) for a, b in pairs)


@pytest.mark.parametrize("size", [(380, 220), (780, 640), (200, 600)])
def test_picture_and_text_share_a_frame(size):
    first, second = split(QRect(3, 3, *size), pictures=True, text=True)
    assert not first.intersects(second)
    assert first.width() * first.height() > second.width() * second.height() * 0.9


def test_a_frame_shows_each_kind_of_content(qtbot):
    frame = EvidenceFrame("LEFT 1", selectable=False)
    qtbot.addWidget(frame)
    frame.resize(500, 300)
    frame.show()
    one, two = eight_bit(picture(1)), eight_bit(picture(2))
    for content in (
        Content((one,)),
        Content((one, two, one)),
        Content((), "report"),
        Content((one,), "report"),
        Content((crop(one, (5, 5, 50, 50)),)),
        Content(),
    ):
        frame.show_content(content)
        assert len(frame.shown_canvases) == len(content.pictures)
        assert all(canvas.isVisible() for canvas in frame.shown_canvases)
        assert frame.text.isVisible() == (content.text is not None)
        frame.grab()
