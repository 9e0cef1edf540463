"""IHE Basic Image Review and the issue's own list: one test per line, on the page, by events.

Every test opens real files through the presenter and acts by mouse, wheel and keys; what is
written over a picture is read where it is painted.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from PIL import Image
from PySide6.QtCore import QMimeData, QPoint, QPointF, Qt, QUrl
from PySide6.QtGui import QDragEnterEvent, QDropEvent
from PySide6.QtWidgets import QApplication

from app.presenters.viewer import ViewerPresenter
from app.presenters.viewer_opening import Opened
from app.views.viewer import ViewerView
from app.widgets import halo
from app.widgets.content import slice_index, window_of
from tests.app import studies_on_disk as disk
from tests.app.fakes import fake_services, picture
from tests.app.gestures import (
    CONTROL,
    DOUBLE,
    LEFT,
    MIDDLE,
    RIGHT,
    click,
    drag,
    hover,
    mouse,
    wheel,
)
from tests.shared import shared_path

KEY = Qt.Key


@dataclass(frozen=True)
class Page:
    view: ViewerView
    presenter: ViewerPresenter
    qtbot: Any

    @property
    def canvas(self) -> Any:
        return self.view.center.canvas

    def canvases(self) -> list[Any]:
        return [frame.shown_canvases[0] for frame in self.view.frames if frame.shown_canvases]

    def key(self, key: Any, modifier: Any = Qt.KeyboardModifier.NoModifier) -> None:
        self.qtbot.keyClick(self.view, key, modifier)

    def index(self, canvas: Any = None) -> int:
        canvas = canvas or self.canvas
        return slice_index(canvas.state.depth, canvas.picture.slices)

    def open(self, *paths: Path) -> None:
        self.presenter.open([str(path) for path in paths])


@pytest.fixture
def page(qtbot) -> Page:
    view = ViewerView()
    qtbot.addWidget(view)
    view.resize(1180, 760)
    presenter = ViewerPresenter(view, fake_services())
    view.show()
    qtbot.waitExposed(view)
    return Page(view, presenter, qtbot)


@pytest.fixture
def painted(monkeypatch):
    """What one canvas writes over its picture."""
    true = halo.word
    said: list[str] = []

    def word(text: str, **named: Any) -> Any:
        said.append(text)
        return true(text, **named)

    monkeypatch.setattr(halo, "word", word)

    def of(canvas: Any) -> list[str]:
        said.clear()
        canvas.grab()
        return list(said)

    return of


@pytest.fixture
def ct(tmp_path) -> Path:
    return disk.volume(tmp_path / "ct", disk.body())


# any modality, grey and colour


def test_any_modality_is_shown_in_grey_and_in_colour(page, tmp_path):
    disk.volume(tmp_path / "ct", disk.body(4), modality="CT")
    disk.volume(tmp_path / "mr", disk.body(4) + 1000, modality="MR", study="mr", window=None)
    disk.projection(tmp_path / "dx" / "a.dcm", disk.shape(1))
    red = np.zeros((3, 40, 60, 3), np.uint8)
    red[..., 0] = 200
    disk.cine(tmp_path / "us" / "c.dcm", red)
    Image.fromarray(red[0]).save(tmp_path / "slide.png")
    page.open(tmp_path)
    kinds = set()
    for row in range(page.view.strip.count()):
        page.view.series_wanted.emit(row, 0)
        shown = page.canvas.picture
        kinds.add((shown.color, shown.kind))
        image = page.canvas.grab().toImage()
        middle = image.pixelColor(image.width() // 2, image.height() // 2)
        if shown.color:
            assert (middle.red(), middle.green(), middle.blue()) == (200, 0, 0)
        else:
            assert middle.red() == middle.green() == middle.blue()
    assert kinds == {(False, "volume"), (False, "image"), (True, "cine"), (True, "image")}


# thumbnails


def test_every_series_has_a_thumbnail(page, ct, tmp_path):
    disk.projection(tmp_path / "dx" / "a.dcm", disk.shape(1))
    page.open(tmp_path)
    from app.widgets.series_strip import IMAGE

    images = [page.view.strip.item(row).data(IMAGE) for row in range(page.view.strip.count())]
    assert len(images) == 2
    assert all(max(image.width(), image.height()) == 64 for image in images)


def test_a_series_is_dragged_onto_a_frame(page, ct, tmp_path):
    disk.projection(tmp_path / "dx" / "a.dcm", disk.shape(1))
    page.open(tmp_path)
    page.key(KEY.Key_F3)
    strip = page.view.strip
    data = strip.mimeData([strip.item(1)])
    for frame in (0, 1):
        assert drop(page.view.frames[frame], data)
    tokens = [frame.content.pictures[0].token for frame in page.view.frames[:2]]
    assert tokens[0] == tokens[1]
    assert page.view.active == 1


def drop(widget: Any, data: Any) -> bool:
    """Drag something in and let it fall; whether it was taken."""
    copy, left, none = Qt.DropAction.CopyAction, LEFT, Qt.KeyboardModifier.NoModifier
    enter = QDragEnterEvent(QPoint(10, 10), copy, data, left, none)
    QApplication.sendEvent(widget, enter)
    event = QDropEvent(QPointF(10, 10), copy, data, left, none)
    QApplication.sendEvent(widget, event)
    return event.isAccepted()


# two sets side by side, synchronised


@pytest.fixture
def pair(page, tmp_path) -> Page:
    """A prior beside the current study, of another length and another place of the table."""
    disk.volume(tmp_path / "old", disk.body(10), study="old", day="20190105", frame="then")
    disk.volume(tmp_path / "new", disk.body(20), study="new", day="20200105", frame="now")
    page.open(tmp_path)
    assert len(page.canvases()) == 2
    return page


def test_two_sets_stand_side_by_side_with_scroll_pan_and_zoom_together(pair):
    left, right = pair.canvases()
    wheel(left, -120 * 5)
    assert pair.index(left) == slice_index(0.5, 20) + 5
    assert right.state.depth == left.state.depth  # by relative depth: no common space
    drag(left, (100, 100), (140, 160), button=MIDDLE)
    drag(right, (100, 200), (100, 150), button=RIGHT)
    assert left.state.zoom == right.state.zoom != 1.0
    assert (left.state.pan_x, left.state.pan_y) == (right.state.pan_x, right.state.pan_y)
    drag(left, (100, 100), (180, 100))
    assert left.state.factor == right.state.factor != 1.0


def test_linking_is_switched_by_k(pair):
    left, right = pair.canvases()
    pair.key(KEY.Key_K)
    wheel(left, -120)
    assert left.state.depth != right.state.depth
    assert not pair.view.bar.checked("link")


def test_where_frames_of_reference_agree_the_same_place_is_shown(page, tmp_path):
    disk.volume(tmp_path / "a", disk.body(20), series="a")
    disk.volume(tmp_path / "b", disk.body(9), series="b", first=(-20.0, -10.0, 110.0))
    page.open(tmp_path)
    page.key(KEY.Key_F3)
    one, other = page.canvases()
    pictures = {one.picture.slices: one, other.picture.slices: other}
    long, short = pictures[20], pictures[9]
    page.key(KEY.Key_Home)
    for index in range(4, 13):
        while page.index(long) != index:
            wheel(long, -120 if page.index(long) < index else 120)
        there = long.picture.geometry.origin_Z3[index][2]
        here = short.picture.geometry.origin_Z3[page.index(short)][2]
        assert here == pytest.approx(there)


# annotation


def test_laterality_orientation_and_place_are_written(page, ct, painted):
    page.open(ct)
    said = painted(page.canvas)
    assert {"R", "L", "A", "P"} <= set(said)
    assert "patient left on the right of the picture" in said
    assert "11 / 20" in said
    assert "S 125.0 mm" in said  # 100 + 10 x 2.5
    assert any("W 400" in words and "L 40" in words for words in said)
    assert any(words.endswith("cm") or words.endswith("mm") for words in said)


def test_the_side_of_a_projection_is_named(page, tmp_path, painted):
    disk.projection(tmp_path / "a.dcm", disk.shape(1), modality="MG", view="CC", side="L",
                    orientation=["A", "R"])  # fmt: skip
    page.open(tmp_path)
    assert "MG, L CC" in page.view.frames[0].accessibleName()
    assert {"A", "P", "R", "L"} <= set(painted(page.canvas))


def test_technique_is_said_and_demographics_are_not(page, ct):
    page.open(ct)
    title = page.view.frames[0].accessibleName()
    assert "120 kV" in title
    assert "2.5 mm thick" in title
    for words in all_words(page.view):
        assert "SECRET" not in words
        assert "2020" not in words


def all_words(widget):
    """Every string that a reader or a screen reader could get at."""
    from PySide6.QtWidgets import QLabel, QWidget

    strip = widget.strip
    words = [strip.item(row).text() for row in range(strip.count())]
    for one in widget.findChildren(QWidget):
        words += [one.accessibleName(), one.toolTip(), one.windowTitle()]
        if isinstance(one, QLabel):
            words.append(one.text())
    return words


# distance, angle, region, probe


def pixel(canvas, row, column):
    """Where the middle of a pixel lies on the canvas."""
    at = canvas.placed.to_screen(column, row)
    return (at.x(), at.y())


def test_distance_in_millimetres(page, ct, painted):
    page.open(ct)
    page.key(KEY.Key_D)
    assert page.view.bar.checked("tool-distance")
    drag(page.canvas, pixel(page.canvas, 10, 10), pixel(page.canvas, 10, 35))
    assert any(words.startswith("20.0 mm") for words in painted(page.canvas))  # 25 x 0.8
    page.key(KEY.Key_Delete)
    assert not any(words.startswith("20.0 mm") for words in painted(page.canvas))


def test_angle_in_degrees(page, ct, painted):
    page.open(ct)
    page.key(KEY.Key_A)
    for place in ((10, 30), (10, 10), (30, 10)):
        click(page.canvas, pixel(page.canvas, *place))
    assert any("90.0" in words for words in painted(page.canvas))


def test_region_mean_and_pixel_value(page, ct, painted):
    page.open(ct)
    page.key(KEY.Key_O)
    drag(page.canvas, pixel(page.canvas, 20, 20), pixel(page.canvas, 28, 28))
    assert any("330" in words for words in painted(page.canvas))  # 300 + 3 x slice 10
    page.key(KEY.Key_Q)
    hover(page.canvas, pixel(page.canvas, 24, 24))
    assert any("330 HU" in words for words in painted(page.canvas))


# cine


def test_cine_plays_at_the_rate_of_the_file_and_stops(page, tmp_path, qtbot):
    frames = np.zeros((8, 40, 60, 3), np.uint8)
    frames[:, :, :, 0] = np.arange(8)[:, None, None] * 30
    disk.cine(tmp_path / "c.dcm", frames, ms=20.0)
    page.open(tmp_path)
    assert page.canvas.picture.frame_ms == pytest.approx(20.0)
    before = page.index()
    page.key(KEY.Key_C)
    assert page.view.bar.checked("cine")
    qtbot.waitUntil(lambda: page.index() != before, timeout=5000)
    page.key(KEY.Key_C)
    assert not page.canvas.playing
    assert not page.view.bar.checked("cine")


# opening state


def test_a_fresh_set_opens_in_the_middle_fitted_windowed_and_scrolls(page, ct):
    page.open(ct)
    state = page.canvas.state
    assert page.index() == slice_index(0.5, 20)
    assert (state.zoom, state.pan_x, state.pan_y) == (1.0, 0.0, 0.0)
    assert page.canvas.picture.window == (40.0, 400.0)
    assert window_of(page.canvas.picture, state) is None  # as the header asks
    wheel(page.canvas, -120)
    assert page.index() == slice_index(0.5, 20) + 1


def test_without_a_window_the_values_decide_and_it_is_said(page, tmp_path):
    disk.volume(tmp_path / "mr", disk.body(6) + 1000, modality="MR", window=None)
    page.open(tmp_path)
    center, width = page.canvas.picture.window
    assert center - width / 2 >= -50
    assert center + width / 2 <= 1400
    assert "window derived" in page.view._notes.words


# the five reflexes and the keys


def test_wheel_arrows_and_pages_scroll(page, ct):
    page.open(ct)
    middle = page.index()
    wheel(page.canvas, 120)
    assert page.index() == middle - 1
    for key, wanted in (
        (KEY.Key_Down, middle), (KEY.Key_Up, middle - 1), (KEY.Key_Home, 0), (KEY.Key_PageDown, 10),
        (KEY.Key_End, 19), (KEY.Key_PageUp, 9),
    ):  # fmt: skip
        page.key(key)
        assert page.index() == wanted


def test_left_drag_windows_middle_pans_right_zooms(page, ct):
    page.open(ct)
    drag(page.canvas, (100, 100), (150, 100), button=LEFT)
    assert window_of(page.canvas.picture, page.canvas.state)[1] > 400
    drag(page.canvas, (100, 100), (100, 150), button=LEFT)
    assert page.canvas.state.shift != 0
    drag(page.canvas, (100, 100), (150, 150), button=MIDDLE)
    assert page.canvas.state.pan_x > 0 < page.canvas.state.pan_y
    drag(page.canvas, (100, 200), (100, 150), button=RIGHT)
    assert page.canvas.state.zoom > 1
    wheel(page.canvas, -120, modifier=CONTROL)
    page.key(KEY.Key_X)
    state = page.canvas.state
    assert (state.zoom, state.pan_x, state.shift, state.factor) == (1.0, 0.0, 0.0, 1.0)


def test_presets_invert_and_full_range(page, ct, painted):
    page.open(ct)
    wanted = {KEY.Key_1: (40, 400), KEY.Key_2: (-600, 1500), KEY.Key_3: (480, 2500),
              KEY.Key_4: (40, 80), KEY.Key_5: (90, 150)}  # fmt: skip
    for key, window in wanted.items():
        page.key(key)
        assert window_of(page.canvas.picture, page.canvas.state) == window
    page.key(KEY.Key_8)
    assert window_of(page.canvas.picture, page.canvas.state)[1] > 1300
    page.key(KEY.Key_9)
    assert window_of(page.canvas.picture, page.canvas.state) is None
    page.key(KEY.Key_I)
    assert any("inverted" in words for words in painted(page.canvas))
    names = [words for _id, words in page.view.presets()]
    assert any(name.startswith("Lung") and "1500 / -600" in name for name in names)


@pytest.mark.parametrize("key", [KEY.Key_H, KEY.Key_V, KEY.Key_R, KEY.Key_L])
def test_flips_and_turns_leave_a_badge_that_cannot_be_hidden(page, ct, painted, key):
    page.open(ct)
    letters = painted(page.canvas)
    page.key(key)
    page.key(KEY.Key_S)
    said = painted(page.canvas)
    assert any("flipped" in words or "turned" in words for words in said)
    assert "11 / 20" not in said
    page.key(KEY.Key_S)
    assert painted(page.canvas) != letters
    page.key(KEY.Key_X)
    assert not any("flipped" in words or "turned" in words for words in painted(page.canvas))


def test_double_click_maximises_and_escape_returns(pair):
    left, _right = pair.canvases()
    mouse(left, DOUBLE, (50, 50))
    assert [frame.isVisible() for frame in pair.view.frames[:2]] == [True, False]
    pair.key(KEY.Key_Escape)
    assert [frame.isVisible() for frame in pair.view.frames[:2]] == [True, True]
    pair.key(KEY.Key_M)
    pair.key(KEY.Key_M)
    assert [frame.isVisible() for frame in pair.view.frames[:2]] == [True, True]


def test_question_mark_shows_the_keys(page, ct):
    page.open(ct)
    page.qtbot.keyClick(page.view, "?")
    assert page.view.help.isVisible()
    assert "Flip left and right" in page.view.help.words()
    before = page.canvas.state
    page.key(KEY.Key_I)
    assert not page.view.help.isVisible()
    assert page.canvas.state == before


# three planes, reference lines


def test_three_planes_meet_in_one_patient_point(page, tmp_path):
    array = np.full((20, 48, 48), -1000, np.int16)
    array[6, 12, 30] = 2000  # at x = -20 + 30 x 0.8, y = -10 + 12 x 0.8, z = 100 + 6 x 2.5
    disk.volume(tmp_path / "ct", array)
    page.open(tmp_path)
    page.key(KEY.Key_F5)
    planes = page.view.center.planes
    assert page.view.center.in_planes
    point = np.array([4.0, -0.4, 115.0])
    planes.set_point(point)
    for canvas in planes.canvases.values():
        z, y, x = canvas.picture.geometry.index(point)
        shown = canvas.picture.values(canvas.slice_and_moment[0])
        assert round(z) == canvas.slice_and_moment[0]
        assert shown[round(y), round(x)] == 2000
    assert "L 4.0  A 0.4  S 115.0 mm" in planes.facts.words.text()
    page.key(KEY.Key_F2)
    assert not page.view.center.in_planes


def test_a_single_picture_has_no_three_planes_and_it_is_said(page, tmp_path):
    disk.projection(tmp_path / "a.dcm", disk.shape(1))
    page.open(tmp_path)
    page.key(KEY.Key_F5)
    assert not page.view.center.in_planes
    assert "Three planes need" in page.view._status.words
    assert page.view.bar.checked("layout-1")


def test_in_three_planes_keys_and_the_strip_go_on_working(page, tmp_path):
    array = disk.body(16, side=32)
    disk.volume(tmp_path / "a", array, tilt=0.8)
    disk.volume(tmp_path / "b", array, series="b", study="b", modality="MR")
    disk.projection(tmp_path / "c.dcm", disk.shape(1))
    page.open(tmp_path)
    page.key(KEY.Key_F5)
    planes = page.view.center.planes
    page.key(KEY.Key_2)
    assert {canvas.state.preset for canvas in planes.canvases.values()} == {"2"}
    page.key(KEY.Key_M)
    assert sum(canvas.isVisible() for canvas in planes.canvases.values()) == 1
    page.key(KEY.Key_Escape)
    assert sum(canvas.isVisible() for canvas in planes.canvases.values()) == 3
    rows = {page.view.strip.item(row).text().split(",")[0]: row for row in range(3)}
    page.view.series_wanted.emit(rows["CT"], 0)
    page.key(KEY.Key_T)
    assert planes.picture.geometry.straight
    page.view.series_wanted.emit(rows["MR"], 0)
    assert not planes.picture.hounsfield
    page.view.series_wanted.emit(rows["DX"], 0)
    assert not page.view.center.in_planes
    assert page.canvas.picture.kind == "image"


def test_reference_lines_cross_the_other_plane(page, tmp_path):
    disk.volume(tmp_path / "ax", disk.body(12), modality="MR", series="ax")
    disk.volume(tmp_path / "cor", disk.body(12), modality="MR", series="cor",
                directions=disk.CORONAL, first=(-20.0, 0.0, 130.0))  # fmt: skip
    page.open(tmp_path)
    assert "axial beside coronal" in page.view._status.words
    axial, coronal = page.canvases()
    hover(axial, (20, 20))
    axial.chosen.emit()
    wheel(axial, -120)
    assert coronal._lines
    page.key(KEY.Key_B)
    assert not coronal._lines


# time points, presets by mouse


def test_time_points_by_slider_and_keys(page, painted):
    page.open(shared_path("data/files/series/mr_epi_2timepoints"))
    slider = page.view.bar.time.slider
    assert slider.isVisible()
    assert "8 / 15   time 1 / 2" in painted(page.canvas)
    slider.setValue(1)
    assert page.canvas.slice_and_moment == (7, 1)
    assert page.view.bar.time.words.text() == "time 2 / 2"
    page.qtbot.keyClick(page.view, ",")
    assert slider.value() == 0


def test_presets_and_tools_by_mouse(page, ct, tmp_path):
    page.open(ct)
    page.view.bar.menu.aboutToShow.emit()
    actions = {one.text().split("   ")[0]: one for one in page.view.bar.menu.actions()}
    actions["Lung"].trigger()
    assert window_of(page.canvas.picture, page.canvas.state) == (-600, 1500)
    page.view.bar.click("tool-roi")
    assert page.canvas.tool == "roi"
    assert page.view.bar.checked("tool-roi")
    page.view.bar.click("layout-2x2")
    assert page.view.grid.layout_name == "2x2"
    assert page.view.bar.checked("layout-2x2")
    assert not page.view.bar.checked("layout-1")


# report, hanging, what the model saw, display


def test_the_report_stands_beside_with_its_headings(page, ct):
    (ct / "report.txt").write_text("FINDINGS: A nodule.\nIMPRESSION: Follow up.", "utf-8")
    page.open(ct)
    assert page.view.report.isVisible()
    assert page.view.report.words.startswith("FINDINGS")
    text = page.view.report.text
    assert set(text._starts) == {"findings", "impression"}
    page.key(KEY.Key_F7)
    assert not page.view.report.isVisible()
    page.key(KEY.Key_J)
    assert page.view.report.isVisible()


def test_the_prior_hangs_beside_the_current_study_by_rule(pair):
    assert "Prior beside current" in pair.view._status.words
    left, right = pair.canvases()
    assert (left.picture.slices, right.picture.slices) == (20, 10)


def test_mammograms_hang_back_to_back(page, tmp_path):
    wide = np.tile(np.arange(90) * 20, (60, 1))
    disk.projection(tmp_path / "l.dcm", wide, modality="MG", view="CC", side="L",
                    orientation=["A", "R"])  # fmt: skip
    disk.projection(tmp_path / "r.dcm", wide, modality="MG", view="CC", side="R",
                    orientation=["A", "L"])  # fmt: skip
    page.open(tmp_path)
    left, right = page.canvases()
    assert "R CC" in page.view.frames[0].accessibleName()
    assert left.state.flip_h  # its chest wall belongs to the middle
    assert not right.state.flip_h
    wheel(right, -120, modifier=CONTROL)
    assert left.state.zoom == right.state.zoom
    assert left.state.flip_h
    assert not right.state.flip_h


def test_what_the_model_saw_takes_the_place_of_the_picture(page, tmp_path):
    from engine.evidence.open import find_evidence
    from engine.evidence.pixels import as_model_sees

    folder = disk.volume(tmp_path / "ct", disk.body(100, side=24))
    page.open(folder)
    seen = as_model_sees(next(iter(find_evidence([folder]))))
    stored = page.canvas.picture
    assert stored.marks == seen.indices
    assert len(seen.indices) == 64
    page.key(KEY.Key_E)
    shown = page.canvas.picture
    assert np.array_equal(shown.array, seen.array[..., 0])
    assert "as the model saw it" in page.view._notes.words
    assert "64 of 100 slices" in page.view._notes.words
    assert page.view.bar.checked("model-view")
    page.key(KEY.Key_E)
    assert page.canvas.picture is stored
    assert not page.view.bar.checked("model-view")


def test_a_tilted_series_is_straightened_only_on_request(page, tmp_path):
    array = np.full((6, 24, 24), -1000, np.int16)
    array[:, 10, 10] = 500
    page.open(disk.volume(tmp_path / "ct", array, tilt=1.6))  # two rows from slice to slice
    stored = page.canvas.picture
    assert "tilt" in page.view._notes.words
    assert not page.view.bar.checked("straighten")
    page.key(KEY.Key_T)
    shown = page.canvas.picture
    assert page.view.bar.checked("straighten")
    assert "straightened on request" in page.view._notes.words
    assert shown.geometry.straight
    rows = [int(np.argmax(shown.array[place, :, 10])) for place in range(6)]
    assert np.all(np.abs(np.diff(rows)) == 2)  # a line along the patient is oblique as it is
    page.key(KEY.Key_T)
    assert page.canvas.picture is stored


def test_the_test_pattern_is_one_key_away_and_its_statement_is_kept(page, ct, qtbot):
    page.open(ct)
    page.key(KEY.Key_F8)
    screen = page.view._pattern
    qtbot.addWidget(screen)
    assert screen.isVisible()
    screen.statement.setText("GSDF checked in May")
    qtbot.keyClick(screen.statement, KEY.Key_Return)
    kept = page.presenter.services.settings.current
    assert kept.display_statement == "GSDF checked in May"
    assert "pixels" in kept.display_size
    assert kept.display_scale == "scale 1"
    qtbot.keyClick(screen, KEY.Key_Escape)
    assert not screen.isVisible()


# errors and drops


def test_files_and_folders_are_dropped_anywhere(page, ct):
    for target in (page.view, page.view.frames[0]):
        data = QMimeData()
        data.setUrls([QUrl.fromLocalFile(str(ct))])
        assert drop(target, data)
        assert page.view.strip.count() == 1
        page.presenter._opened((page.presenter._search, Opened()))
        assert page.view._stack.currentWidget() is page.view.empty


def test_what_cannot_be_shown_says_why_in_its_frame(page, ct, tmp_path):
    (tmp_path / "notes.dcm").write_bytes(b"this is no picture " * 40)
    whole = (ct / "003.dcm").read_bytes()
    (tmp_path / "cut.dcm").write_bytes(whole[: len(whole) // 2])
    page.open(tmp_path / "notes.dcm", tmp_path / "cut.dcm")
    for row in range(2):
        page.view.series_wanted.emit(row, 0)
        notice = page.view.grid.notices[0]
        assert notice.isVisible()
        assert notice.kind == "error"
        assert ";" in notice.sentence  # what happened; what to do
        assert not page.view.frames[0].shown_canvases


def test_a_picture_of_no_known_side_says_so(page, tmp_path, painted):
    Image.fromarray(picture(3)).save(tmp_path / "plain.png")
    page.open(tmp_path)
    assert "sides unknown" in painted(page.canvas)


def test_tab_goes_from_the_bar_to_the_series_to_the_frames_to_the_report(page, ct):
    (ct / "report.txt").write_text("FINDINGS: A nodule.\nIMPRESSION: Follow up.", "utf-8")
    page.open(ct)
    view = page.view
    view.activateWindow()
    page.qtbot.waitUntil(view.isActiveWindow)
    first = view.bar.tab_chain()[0]
    first.setFocus()
    seen = []
    for _ in range(60):
        seen.append(QApplication.focusWidget())
        view.focusNextChild()
        if QApplication.focusWidget() is first:
            break
    order = [view.bar.tab_chain()[1], view.strip, view.frames[0], view.report.text]
    places = [seen.index(widget) for widget in order]
    assert places == sorted(places)


def test_nothing_of_the_page_is_named_after_a_person(page, ct):
    page.open(ct)
    names = SimpleNamespace(strip=page.view.strip)
    assert names.strip.accessibleName() == "Series"
    for widget in (page.view, page.view.strip, page.view.report, page.view.bar):
        assert widget.accessibleName()
    for button in page.view.bar._buttons.values():
        assert button.accessibleName()
