"""Three planes: the crosshair, the probe and all shown pixels are one point of the patient."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from PySide6.QtCore import QPointF

from app import theme
from app.widgets.canvas_words import edge_letters
from app.widgets.content import ViewState
from app.widgets.measure import (
    Measure,
    distance,
    length_words,
    probe_words,
    region_facts,
    words,
)
from app.widgets.mpr import MprView
from app.widgets.reslice import NAMES, can_reslice, patient_axes, planes_of
from tests.app.gestures import CONTROL, LEFT, SHIFT, click, drag, hover, wheel
from tests.app.phantom import ACQUISITIONS, SHAPE, coded, geometry, index_of, phantom

EVERY = pytest.mark.parametrize("name", sorted(ACQUISITIONS))


@pytest.fixture
def view(qtbot):
    made = MprView()
    qtbot.addWidget(made)
    made.resize(900, 700)
    made.show()
    qtbot.waitExposed(made)
    return made


@EVERY
def test_every_voxel_of_every_plane_keeps_its_patient_point(name):
    volume = phantom(name)
    planes = planes_of(volume)
    random = np.random.default_rng(3)
    for plane in (planes.axial, planes.coronal, planes.sagittal):
        assert np.shares_memory(plane.array, volume.array)
        for _ in range(40):
            index = tuple(int(random.integers(0, size)) for size in plane.array.shape)
            stored = index_of(plane.array[index])
            wanted = volume.geometry.point(stored)
            assert np.allclose(plane.geometry.point(index), wanted, atol=1e-6)
            assert np.allclose(plane.geometry.index(wanted), index, atol=1e-6)


@EVERY
def test_the_planes_are_seen_as_radiologists_see_them(name):
    planes = planes_of(phantom(name))
    for plane, right, bottom in (
        (planes.axial, "L", "P"), (planes.coronal, "L", "F"), (planes.sagittal, "P", "F"),
    ):  # fmt: skip
        letters = edge_letters(plane, ViewState())
        assert letters["right"][0] == right
        assert letters["bottom"][0] == bottom
        row, column = (
            np.linalg.norm(step) for step in (plane.geometry.row_step, plane.geometry.column_step)
        )
        assert plane.aspect == pytest.approx(row / column)


@EVERY
def test_axes_of_the_patient_are_each_taken_once(name):
    assert sorted(patient_axes(geometry(name))) == [0, 1, 2]


def shown_values(view):
    """The stored value that each canvas shows under the crosshair, read from its own pixels."""
    found = []
    for canvas in view.canvases.values():
        placed = canvas.placed
        _z, y, x = canvas.picture.geometry.index(view.point)
        place = placed.to_screen(x, y)
        column, row = (round(part) for part in placed.to_picture(place))
        found.append(int(canvas.picture.values(*canvas.slice_and_moment)[row, column]))
    return found


def under_pointer(canvas, at):
    """(stored index, words) of the pixel that the probe reads at a place."""
    index, moment = canvas.slice_and_moment
    point = canvas.placed.to_picture(at)
    x, y = (round(part) for part in point)
    words = probe_words(canvas.picture, index, moment, point)
    return index_of(canvas.picture.values(index, moment)[y, x]), words


@EVERY
@pytest.mark.parametrize("state", [ViewState(), ViewState(flip_h=True, turns=1, zoom=1.7)])
def test_crosshair_probe_and_three_pixels_are_one_patient_point(view, name, state):
    volume = phantom(name)
    assert view.set_picture(volume)
    for canvas in view.canvases.values():
        canvas.set_state(replace(state, depth=canvas.state.depth))
    told = []
    view.pointed.connect(told.append)
    for plane, share in (("axial", (0.45, 0.52)), ("coronal", (0.55, 0.47)),
                         ("sagittal", (0.48, 0.56))):  # fmt: skip
        canvas = view.canvases[plane]
        at = QPointF(canvas.width() * share[0], canvas.height() * share[1])
        stored, words = under_pointer(canvas, at)
        click(canvas, at)
        assert set(shown_values(view)) == {stored[0] * 4096 + stored[1] * 64 + stored[2]}
        wanted = volume.geometry.point(stored)
        assert np.allclose(view.point, wanted, atol=1e-6)
        assert np.allclose(told[-1], wanted)
        for side, mm in zip(("RL", "AP", "IS"), np.round(wanted, 1), strict=True):
            assert f"{side[int(mm >= 0)]} {abs(mm):.1f}" in words[-1]
        assert str(stored[0] * 4096 + stored[1] * 64 + stored[2]) in view.facts.words.text()


def test_scrolling_a_plane_moves_the_crosshair_along(view):
    view.set_picture(phantom("coronal"))
    before = [view.canvases[name].slice_and_moment[0] for name in NAMES]
    wheel(view.canvases["sagittal"], -240)
    after = [view.canvases[name].slice_and_moment[0] for name in NAMES]
    assert after == [before[0], before[1], before[2] + 2]
    assert len(set(shown_values(view))) == 1


def test_the_crosshair_is_dragged_by_its_lines_and_left_windows_elsewhere(view):
    view.set_picture(phantom())
    canvas = view.canvases["axial"]
    _z, y, x = canvas.picture.geometry.index(view.point)
    at = canvas.placed.to_screen(x, y)
    drag(canvas, at + QPointF(0, 40), at + QPointF(30, 60))
    moved = canvas.placed.to_screen(*canvas.picture.geometry.index(view.point)[:0:-1])
    assert abs(moved.x() - at.x() - 30) < canvas.placed.pixel_size()[0]
    assert len(set(shown_values(view))) == 1
    assert canvas.state.factor == 1.0
    drag(canvas, moved + QPointF(60, 60), moved + QPointF(110, 60), button=LEFT)
    assert canvas.state.factor == pytest.approx(1.2)
    assert view.canvases["coronal"].state.factor == pytest.approx(1.2)
    hover(canvas, moved + QPointF(25, 25), SHIFT)
    assert len(set(shown_values(view))) == 1


def test_uneven_slices_are_drawn_to_scale(view):
    places = [0, 3, 6, 9, 15, 18, 21, 30, 33, 36, 39, 42]
    shape = (12, 20, 16)
    # The value is the height in mm: what is drawn at a height must say that height.
    array = np.repeat(np.array(places, np.int16)[:, None, None], 20, axis=1).repeat(16, axis=2)
    volume = phantom("axial", shape, array=array, places=places)
    planes = planes_of(volume)
    assert any("unevenly" in note for note in planes.notes)
    assert planes.axial.array.shape[0] == 12
    for plane in (planes.coronal, planes.sagittal):
        rows = plane.array.shape[1]
        assert rows == 15
        heights = [plane.geometry.point((0, row, 0))[2] - 140.0 for row in range(rows)]
        assert np.allclose(np.diff(heights), -3.0)
        assert np.allclose(plane.array[0, :, 0], heights, atol=0.51)
    view.set_picture(volume)
    click(view.canvases["coronal"], QPointF(200, 120))
    assert abs(view.canvases["axial"].cross[2] - view.point[2]) < 1e-9


def gapped(places, name="axial"):
    """A volume whose values are the heights of its slices."""
    heights = np.array(places, np.int16)[:, None, None]
    array = np.broadcast_to(heights, (len(places), 20, 16)).copy()
    return replace(
        phantom(name, array.shape, array=array, places=places),
        stored=lambda _moment, z, y, x: (z, y, x),
        unit="HU",
    )


def heights_of(plane):
    """Height of each row of a plane across an axial volume, in mm above the first slice."""
    return [plane.geometry.point((0, row, 0))[2] - 140.0 for row in range(plane.array.shape[1])]


@pytest.mark.parametrize("places", [[0, 3, 6, 9, 12, 64, 67, 70, 73], [0, 2, 25, 30, 52, 54, 90]])
def test_where_slices_are_missing_nothing_is_drawn(view, places):
    volume = gapped(places)
    step = min(np.diff(places)) if len(places) == 9 else 2
    for plane in (planes_of(volume).coronal, planes_of(volume).sagittal):
        for row, height in enumerate(heights_of(plane)):
            apart = min(abs(height - place) for place in places)
            below = max(place for place in places if place <= height + 1e-6)
            above = min(place for place in places if place >= height - 1e-6)
            wanted = above - below > 2 * step + 0.05 and apart > step + 0.05
            assert plane.absent[row].all() == wanted
            assert plane.absent[row].any() == wanted
            if wanted:
                assert probe_words(plane, 0, 0, (3, row))[0] == "no slice here"
                one = Measure("rectangle", 0, 0, ((0, row), (3, row)))
                assert region_facts(plane, one).n == 0
                assert words(plane, one)[-1] == "gap left out"
    assert planes_of(volume).axial.absent is None
    assert view.set_picture(volume)
    assert "hatched" in view.facts.words.text()


def test_a_gap_is_hatched_on_the_canvas_and_the_crosshair_says_so(view):
    volume = gapped([0, 3, 6, 9, 12, 64, 67, 70, 73])
    view.set_picture(volume)
    canvas = view.canvases["coronal"]
    canvas.set_overlays(frozenset())
    view.set_point(volume.geometry.point((4.5, 8, 8)))
    assert "no slice here" in view.facts.words.text()
    assert "index" not in view.facts.words.text()
    canvas.set_cross(None)
    picture = canvas.grab().toImage()
    rows = np.flatnonzero(canvas.picture.absent.all(axis=1))
    middle = canvas.placed.to_screen(8, float(rows.mean()))
    x, y = round(middle.x()), round(middle.y())
    seen = {picture.pixelColor(x + dx, y + dy).name() for dx in range(9) for dy in range(9)}
    assert seen == {theme.PANEL, theme.LINE}
    view.set_point(volume.geometry.point((4, 8, 8)))
    assert "12 HU" in view.facts.words.text()
    assert "index z 4, y 8, x 8" in view.facts.words.text()


def test_steps_that_are_large_everywhere_are_no_gaps():
    assert planes_of(gapped([0, 20, 40, 60, 80])).coronal.absent is None
    assert planes_of(gapped([0, 1, 2, 3, 4, 5, 10, 15, 20, 25, 30])).coronal.absent is None
    assert planes_of(gapped([0, 3, 6, 12, 15, 18])).coronal.absent is None


def test_padding_is_not_mixed_with_values_between_slices():
    array = np.zeros((4, 20, 16), np.int16)
    array[:2] = -2000
    volume = phantom("axial", array.shape, array=array, places=[0, 1, 3, 4])
    coronal = planes_of(replace(volume, padding=(-2000.0, -2000.0))).coronal
    assert set(np.unique(coronal.array)) == {-2000, 0}


@EVERY
def test_the_acquired_plane_counts_its_slices_as_the_single_view(name):
    volume = replace(phantom(name), stored=lambda _moment, z, y, x: (z, y, x))
    planes = planes_of(volume)
    acquired = NAMES[(2, 1, 0).index(patient_axes(volume.geometry)[0])]
    for plane_name in NAMES:
        plane = planes.of(plane_name)
        across = plane_name != acquired
        assert (plane.spacing_source == "PixelSpacing and slice positions") == across
        for index in ((0, 0, 0), (3, 5, 2), (7, 9, 11)):
            stored = index_of(plane.array[index])
            assert plane.stored(0, *index) == stored
            assert across or stored[0] == index[0]
    words_ = length_words(planes.of(acquired), (0, 0), (1, 0))
    assert words_.endswith(" mm (Pixel Spacing)")


def test_a_distance_across_slices_names_their_positions_as_its_source():
    coronal = planes_of(phantom()).coronal
    assert length_words(coronal, (3, 1), (3, 5)) == "12.0 mm (Pixel Spacing and slice positions)"
    grid = planes_of(replace(phantom(), spacing_source="header")).coronal
    assert length_words(grid, (3, 1), (3, 5)) == "12.0 mm (file header)"


def test_between_stored_slices_there_is_no_index():
    coronal = planes_of(gapped([0, 3, 6, 12, 15, 18])).coronal
    rows = [probe_words(coronal, 0, 0, (0, row))[1] for row in range(7)]
    assert rows[3] == "interpolated between stored slices"
    assert [rows[row] for row in (0, 1, 2, 4, 5, 6)] == [
        f"index z {z}, y 0, x 0" for z in (5, 4, 3, 2, 1, 0)
    ]


def test_a_tilted_stack_says_so():
    volume = phantom()
    shift = np.arange(SHAPE[0])[:, None] * np.array([0.0, 0.9, 0.0])
    tilted = replace(volume.geometry, origin_Z3=volume.geometry.origin_Z3 + shift)
    volume = replace(volume, geometry=tilted)
    planes = planes_of(volume)
    assert any("tilted" in note for note in planes.notes)
    for plane in (planes.axial, planes.coronal, planes.sagittal):
        for index in ((0, 0, 0), (3, 5, 2), (7, 9, 11)):
            stored = index_of(plane.array[index])
            assert np.allclose(plane.geometry.point(index), volume.geometry.point(stored))
        ends = plane.geometry.point((2, 1, 3)), plane.geometry.point((2, 9, 8))
        apart = float(np.linalg.norm(ends[1] - ends[0]))
        assert distance(plane, (3, 1), (8, 9)) == pytest.approx(apart)


def test_what_has_no_planes_is_refused_and_nothing_is_shown(view):
    volume = phantom()
    assert not can_reslice(replace(volume, geometry=None))
    single = replace(volume, array=volume.array[:1], geometry=geometry(shape=(1, 20, 16)))
    assert not can_reslice(single)
    assert not view.set_picture(replace(volume, geometry=None))
    assert all(canvas.picture is None for canvas in view.canvases.values())
    assert not view.set_picture(None)
    with pytest.raises(ValueError, match="known"):
        planes_of(replace(volume, geometry=None))


def test_planes_across_wait_until_everything_is_decoded(view):
    ready = np.zeros(SHAPE[0], bool)
    ready[6] = True
    volume = replace(phantom(), ready=ready)
    view.set_picture(volume)
    assert view.canvases["axial"].picture.is_ready(view.canvases["axial"].slice_and_moment[0])
    assert not view.canvases["coronal"].picture.is_ready(3)
    ready[:] = True
    point = view.point
    view.refresh()
    assert view.canvases["coronal"].picture.is_ready(3)
    assert np.allclose(view.point, point)


def test_time_points_colour_marks_and_double_click(view):
    array = coded()
    times = np.stack([array, array[::-1]])
    planes = planes_of(replace(phantom("axial"), times=times, marks=(0, 5)))
    assert planes.coronal.times.shape == (2, 20, 12, 16)
    assert (planes.coronal.times[0] == planes.coronal.array).all()
    assert planes.axial.marks == (0, 5)
    assert planes.coronal.marks == ()
    color = replace(phantom(), array=np.zeros((*SHAPE, 3), np.uint8))
    assert planes_of(color).sagittal.array.shape == (16, 12, 20, 3)
    view.set_picture(phantom())
    view.canvases["coronal"].maximise_asked.emit()
    assert [canvas.isVisible() for canvas in view.canvases.values()] == [False, True, False]
    view.canvases["coronal"].maximise_asked.emit()
    assert all(canvas.isVisible() for canvas in view.canvases.values())
    assert view.do("tool-distance")
    assert {canvas.tool for canvas in view.canvases.values()} == {"distance"}
    view.grab()


def test_a_millimetre_is_as_long_in_every_plane(view):
    def lengths():
        return [
            canvas.placed.pixel_size()[0] / canvas.picture.spacing[1]
            for canvas in view.canvases.values()
        ]

    view.set_picture(phantom("coronal", spacing=(5.0, 0.7, 0.7)))
    assert max(lengths()) == pytest.approx(min(lengths()), rel=0.03)
    view.resize(700, 900)
    view.grab()
    assert max(lengths()) == pytest.approx(min(lengths()), rel=0.03)
    wheel(view.canvases["axial"], 240, modifier=CONTROL)
    zoomed = view.canvases["axial"].state.zoom
    view.resize(800, 800)
    view.grab()
    assert view.canvases["axial"].state.zoom == zoomed
    view.canvases["axial"].do("reset")
    assert max(lengths()) == pytest.approx(min(lengths()), rel=0.03)
    planes = planes_of(phantom())
    assert view.set_picture(phantom(), planes)
    assert view.canvases["axial"].picture is planes.axial
