"""Measures: exact on phantoms, true under anisotropic pixels, flips, turns and cut planes."""

from __future__ import annotations

import math
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from PySide6.QtCore import QPointF, QRectF, QSizeF, Qt
from PySide6.QtGui import QImage, QPainter, QPolygonF

from app.presenters.viewer_picture import picture_of
from app.widgets import measure, measure_paint
from app.widgets.content import Picture, ViewState, crop
from app.widgets.image_canvas import ImageCanvas
from app.widgets.measure import Measure
from app.widgets.measure_paint import draw_measures
from app.widgets.reslice import planes_of
from engine.evidence import show
from engine.evidence.study import Evidence, Pixels
from tests.app.gestures import MOVE, PRESS, RELEASE, click, drag, hover, mouse, wheel
from tests.app.phantom import ACQUISITIONS, phantom, render

SPACING = (3.0, 0.7, 1.1)  # slice, row, column
STATES = [
    ViewState(),
    ViewState(zoom=2.3, pan_x=0.1, pan_y=-0.2),
    ViewState(flip_h=True),
    ViewState(turns=1),
    ViewState(turns=3, flip_v=True, zoom=0.7),
    ViewState(flip_h=True, flip_v=True, turns=2),
]


def plain(array, **named):
    return Picture(array[None], (100.0, 200.0), render, **named)


@pytest.fixture
def canvas(qtbot):
    made = ImageCanvas()
    qtbot.addWidget(made)
    made.resize(640, 500)
    made.set_picture(phantom())
    made.show()
    qtbot.waitExposed(made)
    return made


def test_distance_follows_the_spacing_of_rows_and_columns():
    shown = phantom()
    assert measure.distance(shown, (2, 3), (12, 3)) == pytest.approx(11.0)
    assert measure.distance(shown, (2, 3), (2, 13)) == pytest.approx(7.0)
    assert measure.distance(shown, (2, 3), (12, 13)) == pytest.approx(math.hypot(11.0, 7.0))


@pytest.mark.parametrize("name", sorted(ACQUISITIONS))
def test_distance_and_angle_are_those_of_patient_points(name):
    planes = planes_of(phantom(name))
    random = np.random.default_rng(1)
    for plane in (planes.axial, planes.coronal, planes.sagittal):
        rows, columns = plane.array.shape[1:3]
        spots = [(random.uniform(0, columns - 1), random.uniform(0, rows - 1)) for _ in range(3)]
        a, b, c = (plane.geometry.point((4, y, x)) for x, y in spots)
        assert measure.distance(plane, spots[0], spots[1]) == pytest.approx(np.linalg.norm(a - b))
        one, two = a - b, c - b
        cosine = one @ two / np.linalg.norm(one) / np.linalg.norm(two)
        assert measure.angle(plane, tuple(spots)) == pytest.approx(
            math.degrees(math.acos(cosine)), abs=1e-5
        )


def test_an_angle_of_unequal_pixels_is_not_that_of_the_grid():
    tall = plain(np.zeros((40, 40), np.int16), spacing_mm=(2.0, 1.0), aspect=2.0)
    assert measure.angle(tall, ((10, 0), (0, 0), (10, 10))) == pytest.approx(
        math.degrees(math.atan2(20, 10))
    )
    unknown = plain(np.zeros((40, 40), np.int16), aspect=2.0)
    assert measure.angle(unknown, ((10, 0), (0, 0), (10, 10))) == pytest.approx(63.4349, abs=1e-3)
    assert measure.angle(tall, ((3, 3), (3, 3), (10, 10))) == 0.0


@pytest.mark.parametrize(
    ("spacing", "source", "words"),
    [((0.5, 0.5), "PixelSpacing", "5.0 mm (Pixel Spacing)"),
     ((0.5, 0.5), "ImagerPixelSpacing", "5.0 mm at the detector (Imager Pixel Spacing)"),
     ((0.5, 0.5), None, "5.0 mm"), (None, None, "10.0 px"), ((0.0, 0.0), "x", "10.0 px")],
)  # fmt: skip
def test_a_length_names_its_spacing(spacing, source, words):
    shown = plain(np.zeros((30, 30), np.int16), spacing_mm=spacing, spacing_source=source)
    one = Measure("distance", 0, 0, ((3, 4), (13, 4)))
    assert measure.words(shown, one) == (words,)


def brute(array, kind, points):
    """Pixels inside, one by one."""
    (x0, y0), (x1, y1) = points
    x0, x1, y0, y1 = min(x0, x1), max(x0, x1), min(y0, y1), max(y0, y1)
    inside = []
    for y in range(array.shape[0]):
        for x in range(array.shape[1]):
            if kind == "rectangle":
                keep = x0 <= x <= x1 and y0 <= y <= y1
            else:
                cx, cy, a, b = (x0 + x1) / 2, (y0 + y1) / 2, (x1 - x0) / 2, (y1 - y0) / 2
                keep = ((x - cx) / a) ** 2 + ((y - cy) / b) ** 2 <= 1 + 1e-12
            if keep:
                inside.append(array[y, x])
    return np.array(inside, np.float64)


@pytest.mark.parametrize("kind", ["ellipse", "rectangle"])
@pytest.mark.parametrize("dtype", [np.int16, np.uint8, np.float32, np.uint16])
def test_a_region_equals_a_sum_over_its_pixels(kind, dtype):
    random = np.random.default_rng(5)
    array = (random.normal(100, 30, (37, 53))).clip(0, 200).astype(dtype)
    shown = plain(array, spacing_mm=(0.7, 1.1))
    for _ in range(15):
        points = tuple((random.uniform(-5, 57), random.uniform(-5, 41)) for _ in range(2))
        found = measure.region_facts(shown, Measure(kind, 0, 0, points))
        inside = brute(array, kind, points)
        assert found.n == len(inside)
        if len(inside):
            assert found.mean == pytest.approx(inside.mean())
            assert found.deviation == pytest.approx(inside.std())
            assert (found.least, found.greatest) == (inside.min(), inside.max())
        assert found.area == pytest.approx(len(inside) * 0.7 * 1.1)


def test_a_region_of_colour_counts_each_pixel_once():
    shown = plain(np.full((20, 20, 3), 9, np.uint8), spacing_mm=(0.5, 0.5))
    one = Measure("rectangle", 0, 0, ((1.5, 1.5), (5.5, 7.5)))
    assert measure.region_facts(shown, one).n == 24
    assert measure.words(shown, one) == ("area 6.0 mm\u00b2   n 24",)


def test_the_area_of_a_large_region_is_that_of_its_shape_inside_the_picture():
    shown = plain(np.zeros((200, 200), np.int16), spacing_mm=(0.5, 0.5))
    whole = measure.region_facts(shown, Measure("ellipse", 0, 0, ((20.2, 30.4), (180.7, 90.1))))
    assert whole.area == pytest.approx(math.pi / 4 * 160.5 * 59.7 * 0.25, rel=0.01)
    half = measure.region_facts(shown, Measure("ellipse", 0, 0, ((-80.5, 30.4), (79.5, 90.1))))
    assert half.area == pytest.approx(math.pi / 8 * 160 * 59.7 * 0.25, rel=0.01)


def test_padding_is_no_value_of_the_picture():
    array = np.full((10, 10), 40, np.int16)
    array[:, :4] = -2000
    shown = plain(array, hounsfield=True, padding=(-2048.0, -1500.0), spacing_mm=(1.0, 1.0))
    one = Measure("rectangle", 0, 0, ((-0.5, -0.5), (9.5, 9.5)))
    facts = measure.region_facts(shown, one)
    assert (facts.n, facts.mean, facts.least, facts.area) == (60, 40.0, 40.0, 60.0)
    assert measure.words(shown, one)[-1] == "padding left out"
    inside = Measure("rectangle", 0, 0, ((5, 5), (8, 8)))
    assert "left out" not in " ".join(measure.words(shown, inside))
    assert measure.probe_words(shown, 0, 0, (2, 5))[0] == "padding"
    assert measure.named_value(replace(shown, hounsfield=False), "padding") == "padding"
    assert measure.words(shown, Measure("probe", 0, 0, ((2, 5),))) == ("padding",)
    assert measure.probe_words(shown, 0, 0, (5, 5))[0] == "40 HU"


def test_millimetres_hold_in_the_calibrated_region_only():
    shown = plain(
        np.zeros((60, 80), np.uint8),
        spacing_mm=(0.5, 0.5),
        spacing_source="SequenceOfUltrasoundRegions (cm to mm)",
        calibrated=(10, 5, 70, 50),
    )

    def said(kind, *points):
        return " ".join(measure.words(shown, Measure(kind, 0, 0, points)))

    assert said("distance", (10, 5), (69, 5)) == "29.5 mm (ultrasound region)"
    assert said("distance", (20, 30), (74, 30)) == "54.0 px, outside the calibrated region"
    assert said("distance", (2, 2), (2, 4)) == "2.0 px, outside the calibrated region"
    assert "mm\u00b2" in said("ellipse", (20, 20), (40, 40))
    partly = said("rectangle", (60.5, 20.5), (75.5, 30.5))
    assert "area 150.0 px\u00b2" in partly
    assert "outside the calibrated region" in partly
    assert "mm" not in partly
    assert said("angle", (20, 10), (20, 20), (30, 20)) == "90.0\u00b0"
    assert "outside the calibrated region" in said("angle", (2, 10), (20, 20), (30, 20))


def test_a_region_cut_out_keeps_what_is_told_in_pixels():
    shown = replace(
        plain(np.zeros((60, 80), np.uint8), calibrated=(10, 5, 70, 50), spacing_mm=(1.0, 1.0)),
        stored=lambda _moment, z, y, x: (z, y, x),
    )
    part = crop(shown, (20, 10, 60, 40))
    assert part.calibrated == (-10, -5, 50, 40)
    assert measure.probe_words(part, 0, 0, (3, 4))[1] == "index z 0, y 14, x 23"


def test_a_region_leaves_out_what_is_no_number_and_says_its_unit():
    array = np.array([[1.0, np.nan], [3.0, np.inf]], np.float32)
    shown = plain(array, hounsfield=True)
    facts = measure.region_facts(shown, Measure("rectangle", 0, 0, ((-0.4, -0.4), (1.4, 1.4))))
    assert (facts.n, facts.mean) == (2, 2.0)
    words = measure.words(shown, Measure("rectangle", 0, 0, ((-0.4, -0.4), (1.4, 1.4))))
    assert words[0].startswith("mean 2.0 HU")
    assert words[-1].endswith("n 2")
    assert "px\u00b2" in words[-1]
    outside = measure.words(shown, Measure("ellipse", 0, 0, ((5, 5), (9, 9))))
    assert outside[0].startswith("mean - HU")


def test_the_probe_reads_value_unit_index_and_place():
    shown = replace(phantom(), unit="SUV")
    said = measure.probe_words(shown, 4, 0, (7.3, 11.6))
    value = int(shown.array[4, 12, 7])
    assert said[0] == f"{value} SUV"
    assert said[1] == "slice 5, row 13, column 8 as shown"
    x, y, z = shown.geometry.point((4, 12, 7))
    assert said[2] == f"R {-x:.1f}  P {y:.1f}  S {z:.1f} mm"
    assert measure.probe_words(shown, 4, 0, (-0.6, 3)) == ()
    color = plain(np.full((3, 3, 3), 9, np.uint8))
    assert measure.probe_words(color, 0, 0, (1, 1))[0] == "RGB 9 9 9"


@pytest.mark.parametrize("state", STATES)
def test_the_way_from_the_screen_and_back_is_exact(canvas, state):
    canvas.set_state(replace(state, depth=0.3))
    placed = canvas.placed
    for x, y in ((0, 0), (15, 19), (3.25, 7.5)):
        back = placed.to_picture(placed.to_screen(x, y))
        assert back == pytest.approx((x, y))


@pytest.mark.parametrize("state", STATES)
def test_a_drag_measures_the_pixels_it_went_over(canvas, state):
    canvas.set_state(state)
    canvas.do("tool-distance")
    start, end = canvas.placed.to_screen(3, 4), canvas.placed.to_screen(11, 14)
    drag(canvas, start, (start + end) / 2, end)
    (one,) = canvas.hand.measures
    assert one.points[0] == pytest.approx((3, 4))
    assert one.points[1] == pytest.approx((11, 14))
    assert measure.words(canvas.picture, one) == (
        f"{math.hypot(8 * 1.1, 10 * 0.7):.1f} mm (Pixel Spacing)",
    )
    canvas.grab()


def test_a_measure_belongs_to_its_slice_and_stays_while_scrolling(canvas, qtbot):
    canvas.do("tool-distance")
    drag(canvas, (200, 200), (300, 260))
    index = canvas.slice_and_moment[0]
    wheel(canvas, -120)
    assert canvas.hand.of(*canvas.slice_and_moment) == []
    wheel(canvas, 120)
    assert len(canvas.hand.of(index, 0)) == 1
    again = replace(canvas.picture)
    canvas.set_picture(again, canvas.state)
    assert len(canvas.hand.measures) == 1  # more of the same series was decoded
    canvas.set_picture(phantom("coronal"))
    assert canvas.hand.measures == []


def test_end_points_and_whole_measures_are_moved(canvas):
    canvas.do("tool-distance")
    drag(canvas, (200, 200), (300, 200))
    drag(canvas, (301, 202), (320, 260))
    (one,) = canvas.hand.measures
    wanted = canvas.placed.to_picture(QPointF(320, 260))
    assert one.points[1] == pytest.approx(wanted, abs=0.2)
    length = measure.distance(canvas.picture, *one.points)
    middle = canvas.placed.to_screen(*np.mean(one.points, axis=0))
    canvas.do("tool-window")
    drag(canvas, middle, middle + QPointF(-40, 30))
    (moved,) = canvas.hand.measures
    assert moved.points != one.points
    assert measure.distance(canvas.picture, *moved.points) == pytest.approx(length)
    assert canvas.state.factor == 1.0
    drag(canvas, (600, 480), (620, 480))
    assert canvas.state.factor != 1.0
    assert canvas.hand.chosen is None


def test_an_angle_is_drawn_by_two_drags_or_three_clicks(canvas):
    canvas.do("tool-angle")
    place = canvas.placed.to_screen
    drag(canvas, place(2, 10), place(8, 10))
    hover(canvas, place(8, 2))
    assert len(canvas.hand.measures[0].points) == 3
    click(canvas, place(8, 2))
    assert measure.words(canvas.picture, canvas.hand.measures[0]) == ("90.0\u00b0",)
    for spot in ((3, 15), (6, 15), (12, 15)):
        hover(canvas, place(*spot))
        click(canvas, place(*spot))
    assert measure.words(canvas.picture, canvas.hand.measures[1]) == ("180.0\u00b0",)
    assert len(canvas.hand.measures) == 2


def test_a_click_and_a_click_is_a_distance_and_escape_gives_up(canvas, qtbot):
    canvas.do("tool-distance")
    click(canvas, (200, 200))
    hover(canvas, (260, 240))
    assert canvas.hand.measures[0].points[0] != canvas.hand.measures[0].points[1]
    click(canvas, (260, 240))
    assert len(canvas.hand.measures) == 1
    click(canvas, (400, 300))
    qtbot.keyClick(canvas, Qt.Key.Key_Escape)
    assert len(canvas.hand.measures) == 1
    click(canvas, (400, 300))
    click(canvas, (400, 300))
    assert len(canvas.hand.measures) == 1


def test_the_chosen_measure_is_deleted_else_the_last(canvas, qtbot):
    canvas.do("tool-roi")
    assert canvas.tool == "roi"
    drag(canvas, (200, 200), (260, 250))
    canvas.do("tool-roi")
    assert canvas.tool == "roi-box"
    drag(canvas, (300, 300), (380, 350))
    assert [one.kind for one in canvas.hand.measures] == ["ellipse", "rectangle"]
    mouse(canvas, PRESS, (200, 200))
    mouse(canvas, RELEASE, (200, 200))
    qtbot.keyClick(canvas, Qt.Key.Key_Delete)
    assert [one.kind for one in canvas.hand.measures] == ["rectangle"]
    assert canvas.do("delete-measure")
    assert not canvas.do("delete-measure")


def test_a_probe_is_dropped_and_the_pointer_reads_values(canvas):
    canvas.do("tool-probe")
    click(canvas, canvas.placed.to_screen(5, 6))
    (one,) = canvas.hand.measures
    index = canvas.slice_and_moment[0]
    assert measure.words(canvas.picture, one) == (str(int(canvas.picture.array[index, 6, 5])),)
    mouse(canvas, MOVE, (300, 300))
    canvas.grab()


def test_where_measures_are_off_their_tools_mean_nothing(canvas):
    canvas.set_measuring(on=False)
    for tool in ("distance", "angle", "roi", "probe"):
        assert not canvas.do(f"tool-{tool}")
    assert canvas.tool == "window"
    assert canvas.do("tool-window")
    drag(canvas, (200, 200), (250, 200))
    assert canvas.state.factor == pytest.approx(1.2)
    assert canvas.hand.measures == []


@pytest.mark.parametrize("letters", ["PSR", "ILA", "SAR", "LPS", "RAS", "IPL", "ASL"])
def test_the_index_is_the_one_that_show_takes(letters):
    stored = np.arange(3 * 4 * 5, dtype=np.int16).reshape(3, 4, 5)
    pixels = Pixels(stored, (1.0, 1.0, 1.0), letters, (30.0, 60.0), display_order=False)
    evidence = Evidence(Path("a.nii"), (Path("a.nii"),), "volume", source={"format": "NIfTI"})
    shown = picture_of(evidence, pixels)
    for place in np.ndindex(shown.array.shape):
        index = shown.stored(0, *place)
        assert stored[index] == shown.array[place]
    z, y, x = shown.stored(0, 1, 2, 3)
    assert measure.probe_words(shown, 1, 0, (3, 2))[1] == f"index z {z}, y {y}, x {x}"
    assert describe_probe(evidence, pixels, (z, y, x)) == shown.array[1, 2, 3]


def test_the_index_of_a_sorted_series_counts_slices_as_delivered():
    array = np.arange(2 * 3 * 4 * 5, dtype=np.int16).reshape(2, 3, 4, 5)
    evidence = Evidence(
        Path("a"), (Path("a"),), "volume", source={"format": "DICOM"}, times=2,
        order=(4, 1, 0, 5, 3, 2),
    )  # fmt: skip
    pixels = Pixels(array[0], times=array)
    shown = picture_of(evidence, pixels)
    for moment in (0, 1):
        for slice_ in range(3):
            index = shown.stored(moment, slice_, 2, 3)
            assert describe_probe(evidence, pixels, index) == array[moment, slice_, 2, 3]


def describe_probe(evidence, pixels, place):
    """What ``triptych show --probe`` prints of a place."""
    return show._probe(evidence, pixels, place)["value"]


def labels_of(canvas):
    """Boxes of the words beside the measures of a canvas."""
    image = QImage(canvas.size(), QImage.Format.Format_RGB32)
    painter = QPainter(image)
    found = [one for _, one in canvas.hand.of(*canvas.slice_and_moment)]
    boxes = draw_measures(
        painter, canvas.picture, found, canvas.placed, QRectF(canvas.rect()), chosen=None
    )
    painter.end()
    return boxes


@pytest.mark.parametrize("state", STATES)
def test_words_of_measures_stand_apart_and_beside_their_marks(canvas, state):
    canvas.set_state(state)
    index = canvas.slice_and_moment[0]
    canvas.hand.measures += [
        Measure("ellipse", index, 0, ((4, 6), (9, 12))),
        Measure("distance", index, 0, ((3, 8), (10, 9))),
        Measure("angle", index, 0, ((4, 14), (8, 9), (12, 14))),
        Measure("rectangle", index, 0, ((9, 8), (12, 12))),
    ]
    boxes = labels_of(canvas)
    assert len(boxes) == 4
    for number, box in enumerate(boxes):
        assert QRectF(canvas.rect()).contains(box)
        assert not any(box.intersects(other) for other in boxes[:number])
    vertex = canvas.placed.to_screen(8, 9)
    apart = QRectF(vertex, vertex).united(boxes[2])
    assert apart.width() - boxes[2].width() < 20
    assert apart.height() - boxes[2].height() < 20


def test_words_stay_off_lines_and_inside_the_view():
    beside = (QRectF(90, 40, 10, 10),) * 4
    size, room = QSizeF(40, 12), QRectF(0, 0, 120, 100)
    free = measure_paint.label_place(beside, size, QRectF(0, 0, 300, 100), [], [])
    assert free.left() >= 100
    box = measure_paint.label_place(beside, size, room, [], [])
    assert box.right() <= 85
    dots = measure_paint.dotted(QPolygonF([QPointF(40, 46), QPointF(90, 46)]))
    off = measure_paint.label_place(beside, size, room, [], dots)
    assert not any(off.contains(spot) for spot in dots)
    assert room.contains(off)
    other = measure_paint.label_place(beside, size, room, [off], dots)
    assert not other.intersects(off)


def test_the_value_under_the_pointer_comes_back_after_a_drag(canvas):
    drag(canvas, (300, 200), (320, 200))
    looks = canvas._looks()
    assert looks.pointer == QPointF(320, 200)
    seen = []
    canvas.update = lambda: seen.append(canvas._looks().pointer)
    drag(canvas, (300, 200), (330, 210))
    assert seen[-1] == QPointF(330, 210)
