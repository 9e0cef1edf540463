"""Letters, convention, place, scale, badges: what a reader must be able to trust."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from PySide6.QtCore import QPointF, QRectF
from PySide6.QtGui import QColor, QImage, QPainter

from app import theme
from app.widgets import canvas_paint, halo
from app.widgets import canvas_words as words
from app.widgets.content import Picture, ViewState
from app.widgets.image_canvas import ImageCanvas
from app.widgets.window_presets import window_of
from tests.app.gestures import CONTROL, wheel
from tests.app.phantom import ACQUISITIONS, geometry, phantom, render, turned

OPPOSITE = {"L": "R", "R": "L", "A": "P", "P": "A", "H": "F", "F": "H"}


def at(step, other=(0.0, 1.0, 0.0)):
    """An axial-like picture whose columns run along ``step``."""
    placed = geometry("axial")
    return replace(
        phantom(), geometry=replace(placed, column_step=np.array(step), row_step=np.array(other))
    )


@pytest.mark.parametrize(
    ("direction", "letters"),
    [((1, 0, 0), "L"), ((-1, 0, 0), "R"), ((0, 1, 0), "P"), ((0, -1, 0), "A"), ((0, 0, 1), "H"),
     ((0, 0, -1), "F"), ((0.9, 0.3, 0), "L"), ((0.9, 0.44, 0), "LP"), ((0.5, -0.6, 0), "AL"),
     ((-0.7, 0, -0.7), "RF"), ((0.6, 0.6, 0.55), "LPH"), ((0, 0, 0), "")],
)  # fmt: skip
def test_letters_of_a_direction(direction, letters):
    assert words.letters_of(np.array(direction, float)) == letters


@pytest.mark.parametrize("name", sorted(ACQUISITIONS))
@pytest.mark.parametrize("flip_h", [False, True])
@pytest.mark.parametrize("flip_v", [False, True])
@pytest.mark.parametrize("turns", [0, 1, 2, 3])
def test_letters_follow_the_patient_through_flips_and_turns(name, flip_h, flip_v, turns):
    picture = phantom(name)
    state = ViewState(flip_h=flip_h, flip_v=flip_v, turns=turns)
    from PySide6.QtCore import QRectF

    from app.widgets.placement import place

    placed = place(picture, state, QRectF(0, 0, 300, 300))
    found = words.edge_letters(picture, state)
    middle = placed.rect.center()
    start = picture.geometry.point((0, *placed.to_picture(middle)[::-1]))
    for edge, (dx, dy) in {
        "right": (9, 0),
        "left": (-9, 0),
        "top": (0, -9),
        "bottom": (0, 9),
    }.items():
        moved = middle.__class__(middle.x() + dx, middle.y() + dy)
        way = picture.geometry.point((0, *placed.to_picture(moved)[::-1])) - start
        assert found[edge] == words.letters_of(way)
    assert found["left"] == "".join(OPPOSITE[letter] for letter in found["right"])


def test_sides_without_a_geometry_come_from_the_letters_of_the_file():
    plain = replace(phantom(), geometry=None, orientation="LPS")
    assert words.edge_letters(plain, ViewState())["right"] == "L"
    assert words.edge_letters(plain, ViewState(turns=1))["bottom"] == "L"
    assert words.edge_letters(replace(plain, orientation="??"), ViewState()) == {}


def test_the_convention_is_stated_and_its_breach_is_a_warning():
    axial = phantom()
    assert words.convention(axial, ViewState()) == (
        "patient left on the right of the picture", False,
    )  # fmt: skip
    said, warning = words.convention(axial, ViewState(flip_h=True))
    assert warning
    assert "left on the left" in said
    assert words.convention(phantom("sagittal"), ViewState()) == ("", False)
    unknown = replace(axial, geometry=None)
    assert words.convention(unknown, ViewState()) == ("sides unknown", True)
    photo = Picture(np.zeros((1, 4, 4, 3), np.uint8), (128, 256), render)
    assert words.convention(photo, ViewState()) == ("", False)


@pytest.mark.parametrize(
    ("state", "said"),
    [(ViewState(), []), (ViewState(flip_h=True), ["flipped"]),
     (ViewState(turns=1), ["turned 90\u00b0"]), (ViewState(turns=3), ["turned 270\u00b0"]),
     (ViewState(flip_h=True, flip_v=True), ["turned 180\u00b0"]),
     (ViewState(flip_h=True, flip_v=True, turns=2), []),
     (ViewState(flip_v=True), ["flipped", "turned 180\u00b0"]),
     (ViewState(flip_h=True, turns=1), ["flipped", "turned 90\u00b0"])],
)  # fmt: skip
def test_badges_name_what_is_seen(state, said):
    assert words.badges(state) == said


def test_flips_and_turns_act_on_what_is_seen():
    state = ViewState().turned(1).flipped(across=True)
    assert (state.flip_h, state.flip_v, state.turns) == (False, True, 1)
    assert state.flipped(across=True).turned(3) == ViewState()
    around = ViewState(pan_x=0.1, pan_y=0.2, zoom=3.0)
    assert around.flipped(across=True).pan_x == pytest.approx(-0.1)
    quarter = around.turned(1, ratio=2.0)
    assert (quarter.pan_x, quarter.pan_y) == (pytest.approx(-0.1), pytest.approx(0.2))
    four = around.turned(1, ratio=2.0).turned(1, ratio=2.0).turned(2, ratio=2.0)
    assert (four.pan_x, four.pan_y) == (pytest.approx(0.1), pytest.approx(0.2))


@pytest.mark.parametrize(
    ("name", "index", "said"),
    [("axial", 0, "S 140.0 mm"), ("axial, feet last", 2, "S 134.0 mm"),
     ("coronal", 1, "P 15.5 mm"), ("sagittal", 0, "R 31.0 mm"),
     ("coronal, back first", 6, "A 5.5 mm")],
)  # fmt: skip
def test_the_place_of_a_slice(name, index, said):
    picture = phantom(name)
    assert words.position_words(picture, ViewState(depth=index / 11)) == said
    assert words.position_words(replace(picture, geometry=None), ViewState()) == ""


def test_an_oblique_slice_is_placed_along_its_normal():
    picture = phantom("oblique")
    normal = turned(20, 0) @ turned(13, 2) @ np.array([0.0, 0, 1])
    place = picture.geometry.origin_Z3[3] @ normal
    assert words.position_words(picture, ViewState(depth=3 / 11)) == f"S {place:.1f} mm"


@pytest.mark.parametrize(
    ("mm_per_unit", "length", "said"),
    [(1.0, 100, "10 cm"), (0.1, 10, "1 cm"), (0.02, 2, "2 mm"), (0.9, 100, "10 cm")],
)
def test_the_scale_bar_is_as_long_as_it_says(mm_per_unit, length, said):
    found = words.scale_bar(phantom(), mm_per_unit, 600.0)
    assert found is not None
    assert found[0] * mm_per_unit == pytest.approx(length)
    assert found[0] <= 150
    assert found[1] == said


def test_no_scale_without_a_spacing_and_the_detectors_says_so():
    bare = replace(phantom(), geometry=None, spacing_mm=None)
    assert words.scale_bar(bare, 1.0, 600.0) is None
    detector = replace(phantom(), spacing_source="ImagerPixelSpacing")
    assert words.scale_bar(detector, 1.0, 600.0)[1] == "10 cm at the detector"


def test_windows_of_the_header_are_gone_through():
    picture = replace(
        phantom(), hounsfield=True, window=(40.0, 400.0),
        windows=((40.0, 400.0), (-600.0, 1500.0), (480.0, 2500.0)),
    )  # fmt: skip
    from app.widgets.view_commands import STATE_COMMANDS, Room

    state, seen = ViewState(), []
    for _ in range(4):
        seen.append((window_of(picture, state), words.window_words(picture, state)))
        state = STATE_COMMANDS["window-given"](state, picture, Room(100, 100))
    assert [window for window, _said in seen] == [None, (-600, 1500), (480, 2500), None]
    assert seen[1][1] == "header 2 of 3  W 1500  L -600"
    touched = ViewState(given=1).windowed(0.5, 0.0)
    assert STATE_COMMANDS["window-given"](touched, picture, Room(1, 1)).given == 0
    assert window_of(picture, touched) == (-600, 2250)


def test_slices_and_times_are_counted_from_one():
    assert words.slice_words(phantom(), ViewState(depth=1.0)) == "12 / 12"
    times = np.zeros((5, *phantom().array.shape), np.int16)
    several = replace(phantom(), times=times)
    assert words.slice_words(several, ViewState(depth=0.0, moment=0.5)) == "1 / 12   time 3 / 5"


def test_a_window_of_small_numbers_says_what_counts():
    array = np.linspace(0, 2e-5, 60, dtype=np.float32).reshape(1, 6, 10)
    tiny = Picture(array, (0.50001, 1.00002), render)
    assert words.window_words(tiny, ViewState()) == "W 2e-05  L 1e-05"
    exact = Picture(array, (1e-9, 2e-9), render)  # narrower than LINEAR allows
    assert words.window_words(exact, ViewState()) == "W 2e-09  L 1e-09"
    assert window_of(exact, ViewState().windowed(0.5, 0.0)) == pytest.approx((1e-9, 3e-9))
    assert window_of(exact, ViewState(preset="8")) == pytest.approx((1e-5, 2e-5))
    assert words.window_words(replace(phantom(), window=(40.0, 400.0)), ViewState()) == (
        "W 400  L 40"
    )
    assert words.window_words(replace(phantom(), window=(0.5, 2.5)), ViewState()) == (
        "W 2.50  L 0.50"
    )


@pytest.mark.parametrize("anchor", [-1.0, 0.0, 1.0])
@pytest.mark.parametrize("turn", [240, -360, 1200])
def test_what_lies_under_the_pointer_stays_there_while_zooming(qtbot, anchor, turn):
    canvas = ImageCanvas()
    qtbot.addWidget(canvas)
    canvas.resize(700, 400)
    canvas.set_picture(replace(phantom(), anchor=anchor))
    at = canvas.placed.to_screen(5, 6)
    for _ in range(4):
        spot = canvas.placed.to_picture(at)
        wheel(canvas, turn, (at.x(), at.y()), CONTROL)
        now = canvas.placed.to_screen(*spot)
        assert abs(now.x() - at.x()) <= 1.01  # whole pixels
        assert abs(now.y() - at.y()) <= 1.01


@pytest.mark.parametrize("width", [260, 330, 420, 560, 900])
def test_words_at_the_top_left_do_not_meet_the_top_letter(qtbot, width, monkeypatch):
    monkeypatch.setattr(theme.theme, "scale", theme.Scale(150))
    picture, state = phantom(), ViewState(turns=1)
    view, put = QRectF(0, 0, width, 400), []
    monkeypatch.setattr(halo, "put", lambda _painter, box, place, image: put.append(
        QRectF(place_of(box, place, image), halo.size(image))))  # fmt: skip
    image = QImage(width, 400, QImage.Format.Format_RGB32)
    painter = QPainter(image)
    canvas_paint.draw_letters(painter, picture, state, view)
    letters = list(put)
    put.clear()
    shown = frozenset({"badges", "convention", "letters"})
    canvas_paint.draw_badges(painter, picture, state, view, shown, "region: rectangle")
    painter.end()
    assert put
    for line in put:
        lean = line.adjusted(halo.EDGE, halo.EDGE + 1, -halo.EDGE, -halo.EDGE - 1)
        assert not any(lean.intersects(letter) for letter in letters if letter.top() < 20)


def place_of(box, place, image):
    """Where ``halo.put`` draws a word."""
    room = halo.size(image)
    return QPointF(
        box.left() - halo.EDGE + place[0] * (box.width() - room.width() + 2 * halo.EDGE),
        box.top() - halo.EDGE + place[1] * (box.height() - room.height() + 2 * halo.EDGE),
    )


def _contrast(one: tuple[float, float, float], other: tuple[float, float, float]) -> float:
    """Of two colours from 0 to 255 (WCAG 2.2)."""

    def light(colour: tuple[float, float, float]) -> float:
        parts = [part / 255 for part in colour]
        r, g, b = (p / 12.92 if p <= 0.04045 else ((p + 0.055) / 1.055) ** 2.4 for p in parts)
        return 0.2126 * r + 0.7152 * g + 0.0722 * b

    low, high = sorted((light(one), light(other)))
    return (high + 0.05) / (low + 0.05)


@pytest.mark.parametrize("under", ["#ffffff", "#ffd080", "#f0a0c0", "#80ffff", "#000000"])
def test_a_badge_keeps_its_contrast_over_any_picture(under):
    """Microscopy and photographs are bright and coloured: the word stands on a plate."""
    image = QImage(220, 160, QImage.Format.Format_ARGB32_Premultiplied)
    image.fill(QColor(under))
    painter = QPainter(image)
    view, state = QRectF(0, 0, 220, 160), ViewState(flip_h=True)
    canvas_paint.draw_badges(painter, phantom(), state, view, frozenset({"badges"}), "")
    painter.end()
    word = QImage(image)
    rows = range(6, 6 + round(halo.size(halo.word("flipped", color=theme.WARN)).height()) - 4)
    plate = [word.pixelColor(6, y) for y in rows]  # left of the triangle nothing is drawn
    amber = QColor(theme.WARN).getRgb()[:3]
    assert all(_contrast(colour.getRgb()[:3], amber) >= 4.5 for colour in plate)
    assert image.pixelColor(219, 159) == QColor(under), "the plate is no larger than its words"
