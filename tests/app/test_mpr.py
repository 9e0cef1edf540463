"""Three planes: the crosshair, the probe and all shown pixels are one point of the patient."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from PySide6.QtCore import QPointF

from app.widgets.canvas_words import edge_letters
from app.widgets.content import ViewState
from app.widgets.measure import distance, probe_words
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
    assert planes.axial.marks == (11, 6)
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
