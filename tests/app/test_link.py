"""Linked viewers: by patient position in one frame of reference, by relative depth otherwise."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from PySide6.QtCore import QEvent, QObject, QPointF
from PySide6.QtWidgets import QApplication, QWidget

from app import theme
from app.widgets.content import Content, ViewState, eight_bit
from app.widgets.evidence_frame import EvidenceFrame
from app.widgets.image_canvas import ImageCanvas
from app.widgets.link_geometry import nearest_slice, reference_line
from app.widgets.triptych import BoardItem, TriptychBoard
from app.widgets.view_link import ViewLink
from tests.app.gestures import MIDDLE, NONE, RIGHT, SHIFT, drag, hover, wheel
from tests.app.phantom import moved, phantom


@pytest.fixture
def linked(qtbot):
    """Makes canvases with pictures, linked by position."""

    def make(*pictures, by_position=True):
        link, canvases = ViewLink(by_position=by_position), []
        for picture in pictures:
            canvas = ImageCanvas()
            qtbot.addWidget(canvas)
            canvas.resize(400, 320)
            canvas.set_picture(picture)
            canvas.show()
            canvases.append(canvas)
        link.join(canvases)
        return link, canvases

    return make


def height(canvas):
    return float(canvas.picture.geometry.origin_Z3[canvas.slice_and_moment[0]][2])


def test_one_space_scrolls_to_the_nearest_slice_of_the_same_place(linked):
    thin = phantom(shape=(30, 20, 16), spacing=(1.0, 0.7, 1.1))
    thick = phantom(shape=(8, 20, 16), spacing=(4.0, 0.7, 1.1))
    _link, (one, two) = linked(thin, thick)
    for step in (-120, -120, -120, -360, 240, -1200):
        wheel(one, step)
        gaps = np.abs(two.picture.geometry.origin_Z3[:, 2] - height(one))
        assert abs(height(two) - height(one)) == pytest.approx(gaps.min())
    wheel(two, 240)
    assert abs(height(one) - height(two)) < 0.51


def test_reversed_and_shifted_stacks_still_meet(linked):
    up, down = phantom("axial"), phantom("axial, feet last")
    _link, (one, two) = linked(up, moved(down, 0, 0, 33))
    wheel(one, -240)
    assert height(one) == height(two)


def test_other_frames_of_reference_follow_by_relative_depth(linked):
    near = phantom(shape=(21, 20, 16))
    far = phantom(shape=(11, 20, 16), frame="two")
    none = phantom(shape=(11, 20, 16), frame=None)
    _link, (one, two, three) = linked(near, far, none)
    wheel(one, 120 * 100)
    assert one.state.depth == two.state.depth == three.state.depth == 0.0
    wheel(three, -120)
    assert one.slice_and_moment[0] == 2
    assert two.slice_and_moment[0] == 1


def test_planes_across_stay_and_zoom_moves_no_slice(linked):
    axial, sagittal = phantom("axial"), phantom("sagittal")
    _link, (one, two) = linked(axial, sagittal)
    before = two.state.depth
    wheel(one, -360)
    assert two.state.depth == before
    two.set_state(replace(two.state, depth=0.0))
    drag(one, (200, 200), (200, 150), button=RIGHT)
    assert two.state.depth == 0.0
    assert two.state.zoom == one.state.zoom > 1
    drag(one, (200, 200), (250, 180))
    drag(one, (200, 200), (230, 220), button=MIDDLE)
    one.do("flip-h")
    assert replace(two.state, depth=0.5) == replace(one.state, depth=0.5)


def test_parallel_planes_of_one_space_show_the_same_place_at_the_same_scale(linked):
    wide = phantom(shape=(12, 60, 60), spacing=(3.0, 1.5, 1.5))
    narrow = moved(phantom(shape=(12, 50, 40), spacing=(3.0, 0.8, 0.8)), 21, 17, 0)
    _link, (one, two) = linked(wide, narrow)
    two.resize(300, 500)

    def middle(canvas):
        x, y = canvas.placed.to_picture(QPointF(canvas.rect().center()))
        return canvas.picture.geometry.point((canvas.slice_and_moment[0], y, x))

    def scale(canvas):
        return canvas.placed.pixel_size()[0] / canvas.picture.spacing[1]

    for act in (
        lambda: drag(one, (150, 100), (150, 40), button=RIGHT),
        lambda: drag(one, (150, 100), (120, 130), button=MIDDLE),
        lambda: one.do("zoom-in"),
        lambda: (one.do("flip-h"), one.do("rotate-right"), one.do("zoom-in")),
        lambda: drag(two, (100, 100), (110, 90), button=MIDDLE),
    ):
        act()
        assert scale(two) == pytest.approx(scale(one), rel=0.02)
        assert np.abs(middle(one) - middle(two))[:2].max() < 1.5
    one.do("fit")
    assert two.state.zoom == 1.0
    wheel(one, -120)
    assert two.state.zoom == 1.0


def test_pictures_hung_back_to_back_are_moved_back_to_back(linked):
    left, right = (replace(phantom(), geometry=None, token=name) for name in ("one", "two"))
    _link, (one, two) = linked(left, right)
    two.set_state(ViewState(flip_h=True))
    drag(one, (200, 160), (240, 140), button=MIDDLE)
    assert two.state.flip_h
    assert two.state.pan_x == pytest.approx(-one.state.pan_x)
    assert two.state.pan_y == pytest.approx(one.state.pan_y)
    one.do("flip-v")
    assert two.state.flip_v
    assert not two.state.flip_h


def test_a_cine_is_nobodys_hand(linked):
    link, (one, _two) = linked(phantom(), phantom("coronal"))
    told = []
    link.moved.connect(told.append)
    wheel(one, -120)
    assert told == [one]
    one.do("cine")
    one._cine.turn.emit(2)
    assert told == [one]
    assert one.slice_and_moment[0] == 2
    one.do("cine")


def test_without_positions_all_states_are_equal_after_any_command(linked):
    pictures = [phantom(), phantom("coronal"), eight_bit(np.zeros((5, 9, 7), np.uint8))]
    _link, canvases = linked(*pictures, by_position=False)
    for acting, command in enumerate(
        ("slice-down", "flip-h", "rotate-right", "invert", "preset-2", "zoom-in", "actual-size",
         "window-full", "rotate-left", "flip-v", "slice-last", "window-given", "fit", "reset")
    ):  # fmt: skip
        assert canvases[acting % 3].do(command)
        assert canvases[0].state == canvases[1].state == canvases[2].state


def test_reference_lines_lie_where_the_planes_meet(linked):
    axial, coronal = phantom("axial"), moved(phantom("coronal"), 0, 0, 15)
    line = reference_line(axial, 3, coronal, 4)
    assert line is not None
    for x, y in line:
        point = axial.geometry.point((3, y, x))
        away = (point - coronal.geometry.origin_Z3[4]) @ coronal.geometry.normal
        assert abs(away) < 1e-9
        _z, row, column = coronal.geometry.index(point)
        assert -0.51 <= row <= coronal.array.shape[1]
        assert -0.51 <= column <= coronal.array.shape[2] - 0.49
    assert reference_line(axial, 3, phantom("axial"), 4) is None
    assert reference_line(axial, 3, replace(coronal, geometry=None), 4) is None
    other = replace(coronal, geometry=replace(coronal.geometry, frame="two"))
    assert reference_line(axial, 3, other, 4) is None
    assert reference_line(axial, 3, moved(coronal, 0, 500, 0), 4) is None


@pytest.mark.parametrize("name", ["oblique", "double oblique coronal", "sagittal"])
def test_reference_lines_of_oblique_planes(name):
    shown, cut = phantom("axial"), phantom(name)
    middle = shown.geometry.point((6, 10, 8))
    cut = moved(cut, *(middle - cut.geometry.point((6, 9, 8))))
    line = reference_line(shown, 6, cut, 6)
    assert line is not None
    for x, y in line:
        point = shown.geometry.point((6, y, x))
        assert abs((point - cut.geometry.origin_Z3[6]) @ cut.geometry.normal) < 1e-9


def test_the_active_viewer_draws_its_line_on_the_others(linked):
    link, (one, two, three) = linked(
        phantom("axial"), moved(phantom("coronal"), 0, -10, 26), phantom(frame="two")
    )
    link.set_lines(on=True)
    wheel(one, -120)
    assert one._lines == ()
    assert len(two._lines) == 1
    assert three._lines == ()
    before = two._lines
    wheel(one, -120)
    assert two._lines != before
    two.chosen.emit()
    assert len(one._lines) == 1
    assert two._lines == ()
    two.grab()
    one.grab()
    link.set_lines(on=False)
    assert one._lines == ()


def test_shift_puts_the_crosshair_on_one_point_everywhere(linked):
    _link, (one, two, three) = linked(phantom("axial"), phantom("coronal"), phantom(frame="two"))
    hover(one, (190, 150), SHIFT)
    point = one.cross
    assert np.allclose(two.cross, point)
    assert three.cross is None
    assert two.slice_and_moment[0] == nearest_slice(two.picture, point)
    index, row, column = (round(part) for part in one.picture.geometry.index(point))
    assert index == one.slice_and_moment[0]
    place = one.placed.to_screen(column, row)
    assert abs(place.x() - 190) <= one.placed.pixel_size()[0]
    hover(one, (100, 100), NONE)
    assert np.allclose(one.cross, point)
    two.do("reset")
    assert one.cross is None
    assert two.cross is None


def test_tools_and_hidden_words_are_everyones_even_unlinked(linked, qtbot):
    link, (one, two) = linked(phantom(), phantom("coronal"))
    link.set_on(False)
    one.do("tool-distance")
    two.do("overlays")
    assert two.tool == "distance"
    assert one._hidden
    late = ImageCanvas()
    qtbot.addWidget(late)
    link.join([late])
    assert late.tool == "distance"
    assert late._hidden
    wheel(one, -120)
    assert two.slice_and_moment[0] != one.slice_and_moment[0] or two.state.depth == 0.5


def test_while_rating_flips_are_everyones_and_measures_nobodys(qtbot):
    board = TriptychBoard()
    qtbot.addWidget(board)
    frames = (board.query, *board.left, *board.right)
    stack = eight_bit(np.random.default_rng(0).integers(0, 255, (6, 40, 30), dtype=np.uint8))
    one = Content((stack,))
    board.resize(1280, 800)
    board.show_item(BoardItem(one, (one,) * 3, (one,) * 3, "Find it."))
    canvases = [frame.canvases[0] for frame in frames]
    for command in ("flip-h", "rotate-right", "invert", "slice-down"):
        assert canvases[2].do(command)
        assert len({canvas.state for canvas in canvases}) == 1
    assert not canvases[1].do("tool-distance")
    assert all("badges" in canvas._overlays for canvas in canvases)
    canvases[3].do("overlays")
    assert len({canvas._hidden for canvas in canvases}) == 1
    canvases[4].do("cine")
    canvases[4]._cine.turn.emit(3)
    assert len({canvas.state for canvas in canvases}) == 1
    board.mark(("left",))
    board.grab()


def test_frames_pass_their_overlays_on(qtbot):
    frame = EvidenceFrame("One")
    qtbot.addWidget(frame)
    frame.set_overlays(frozenset({"letters"}))
    frame.show_content(Content((phantom(),)), state=ViewState(depth=0.0))
    assert frame.canvases[0]._overlays == {"letters"}
    assert frame.canvases[0].placed.to_picture(QPointF(0, 0))[0] < 0


def test_a_whole_new_paint_paints_each_frame_once(qtbot):
    board = TriptychBoard()
    qtbot.addWidget(board)
    board.resize(900, 600)
    content = Content((phantom(),))
    board.show_item(BoardItem(content, (content,) * 3, (content,) * 3, "Find it."))
    board.show()
    qtbot.waitExposed(board)
    paints = Paints(board)
    for frame in board.frames:
        frame.installEventFilter(paints)
    board.update()
    for child in board.findChildren(QWidget):
        child.update()
    QApplication.processEvents()
    assert paints.count == len(board.frames) == 7
    seen = board.grab().toImage()
    for frame in board.frames:
        at = frame.mapTo(board, frame.rect().bottomRight())
        assert seen.pixelColor(at).name() in (theme.LINE, theme.QUIET)


class Paints(QObject):
    """Counts paints."""

    count = 0

    def eventFilter(self, watched, event):
        self.count += event.type() == QEvent.Type.Paint
        return False
