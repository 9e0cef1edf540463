"""What was looked at and measured is there again when a series comes back."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from app.presenters.viewer import ViewerPresenter
from app.views.viewer import ViewerView
from app.widgets.measure import Measure
from tests.app import studies_on_disk as disk
from tests.app.fakes import fake_services

LINE = Measure("distance", 3, 0, ((4.0, 5.0), (20.0, 21.0)))


@pytest.fixture
def page(qtbot, tmp_path):
    """Three series of one patient in one frame."""
    for number, slices in enumerate((20, 16, 12)):
        disk.volume(tmp_path / f"{number}", disk.body(slices), series=f"{number}")
    view = ViewerView()
    qtbot.addWidget(view)
    view.resize(1280, 760)
    presenter = ViewerPresenter(view, fake_services())
    view.show()
    presenter.shown((tmp_path,))
    view.series_wanted.emit(0, 0)
    return view, presenter


def canvas_of(view):
    return view.frames[0].canvases[0]


def look(view):
    """Scroll, window, zoom, flip and measure; the state that comes of it."""
    canvas = canvas_of(view)
    for command in ("slice-down-10", "slice-up", "preset-2", "zoom-in", "flip-v"):
        canvas.do(command)
    canvas.hand.measures.append(LINE)
    return canvas.state


def test_the_next_series_and_back_again(page):
    view, _presenter = page
    state = look(view)
    view.do("next-series")
    assert canvas_of(view).hand.measures == []
    assert canvas_of(view).state.depth == 0.5
    view.do("slice-last")
    view.do("previous-series")
    assert canvas_of(view).state == state
    assert canvas_of(view).hand.measures == [LINE]
    view.do("next-series")
    assert canvas_of(view).state.depth == 1.0


def test_what_the_model_saw_and_back_again(page):
    view, _presenter = page
    state = look(view)
    view.do("model-view")
    assert canvas_of(view).hand.measures == []
    view.do("model-view")
    assert canvas_of(view).state == state
    assert canvas_of(view).hand.measures == [LINE]


def test_a_notice_in_between_takes_nothing_away(page):
    view, presenter = page
    state = look(view)
    view.show_notice(0, "Decoding", "", kind="wait")
    presenter._frames._put(0)
    assert canvas_of(view).state == state
    assert canvas_of(view).hand.measures == [LINE]


def test_other_evidence_begins_afresh(page, tmp_path):
    view, presenter = page
    look(view)
    presenter.shown((tmp_path,))
    view.series_wanted.emit(0, 0)
    assert canvas_of(view).hand.measures == []
    assert canvas_of(view).state.depth == 0.5


def test_a_half_drawn_measure_is_given_up(page):
    view, _presenter = page
    canvas_of(view).hand.begin("distance", 3, 0, (1.0, 1.0))
    view.do("next-series")
    view.do("previous-series")
    assert canvas_of(view).hand.measures == []
    assert not canvas_of(view).hand.busy


def test_the_planes_begin_at_the_slice_and_leave_their_series(page):
    view, presenter = page
    canvas = canvas_of(view)
    canvas.act(replace(canvas.state, depth=1.0))
    geometry, rows = canvas.picture.geometry, canvas.picture.array.shape[1:]
    view.do("layout-mpr")
    assert view.center.in_planes
    middle = geometry.point((19, (rows[0] - 1) / 2, (rows[1] - 1) / 2))
    assert np.allclose(view.center.planes.point, middle, atol=0.5)
    view.center.planes.set_point(middle + np.array([3.0, 2.0, -10.0]))
    view.do("next-series")
    view.do("previous-series")
    assert np.allclose(view.center.planes.point, middle + np.array([3.0, 2.0, -10.0]), atol=0.5)
    view.do("next-series")
    view.do("next-series")
    view.do("layout-1")
    assert presenter._frames.row_in(0) == 2
    assert view.strip.currentRow() == 2
    view.do("layout-mpr")
    view.do("layout-1x2")
    assert presenter._frames.row_in(0) == 2


def test_what_the_model_saw_lies_where_the_stored_slices_lie(page, tmp_path):
    view, presenter = page
    disk.volume(tmp_path / "long", disk.body(100), series="long", frame="apart")
    presenter.shown((tmp_path / "long",))
    stored = canvas_of(view).picture
    view.do("model-view")
    shown = canvas_of(view).picture
    assert 1 < shown.slices < stored.slices
    marks = list(stored.marks)
    assert np.array_equal(shown.geometry.origin_Z3, stored.geometry.origin_Z3[marks])
    for index in (0, shown.slices - 1):
        assert shown.array[index].any()
        middle = shown.array.shape[1] // 2
        value = stored.array[marks[index], middle, middle]
        rendered = stored.render(stored.array[marks[index]], stored.window)[middle, middle]
        assert shown.array[index, middle, middle].max() == np.max(rendered), value
