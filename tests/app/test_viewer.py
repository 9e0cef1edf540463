"""The Viewer page over real files: what it finds, shows, refuses and says."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from PIL import Image
from PySide6.QtCore import QPointF, Qt
from PySide6.QtGui import QDragEnterEvent, QDropEvent

from app import theme
from app.presenters.viewer import ViewerPresenter
from app.presenters.viewer_opening import Opened
from app.presenters.viewer_picture import picture_of, title_of
from app.views.settings_keys import KeysView
from app.views.viewer import ViewerView
from app.widgets.blocks import table_view
from app.widgets.content import ViewState, slice_index
from engine.evidence.open import find_evidence, load_pixels
from tests.app import studies_on_disk as disk
from tests.app.fakes import fake_services, picture
from tests.app.test_loader import Later
from tests.shared import shared_path


@pytest.fixture
def folder(tmp_path):
    """Two pictures, a report and a broken file."""
    root = tmp_path / "Akte \u00fc 'x'"
    root.mkdir()
    Image.fromarray(picture(1)).save(root / "a.png")
    Image.fromarray(np.repeat(picture(2)[..., None], 3, axis=2)).save(root / "b.png")
    (root / "report.txt").write_text("FINDINGS: A nodule.\nIMPRESSION: Follow up.", "utf-8")
    (root / "broken.png").write_bytes(b"\x89PNG\r\n\x1a\n broken")
    return root


@pytest.fixture
def page(qtbot):
    view = ViewerView()
    qtbot.addWidget(view)
    view.resize(1100, 760)
    services = fake_services()
    presenter = ViewerPresenter(view, services)
    view.show()
    return view, presenter


def test_it_opens_empty_and_says_what_to_do(page):
    view, presenter = page
    presenter.shown()
    assert view._stack.currentWidget() is view.empty
    assert "Open a file or a folder" in view.empty.sentence.text()


def test_a_folder_fills_strip_frame_and_report(page, folder):
    view, presenter = page
    presenter.shown((folder,))
    assert view.strip.count() == 4
    assert view.frames[0].content.pictures[0].array.shape == (1, 96, 96)
    assert view.report.words.startswith("FINDINGS")
    assert view.report.isVisible()
    broken = [n for n in range(4) if "broken.png" in view.strip.item(n).text()]
    view.series_wanted.emit(broken[0], 0)
    assert view.grid.notices[0].isVisible()
    assert view.grid.notices[0].sentence.startswith("broken.png: ")
    assert not view.frames[0].shown_canvases


def test_nothing_found_is_said(page, tmp_path):
    view, presenter = page
    (tmp_path / "empty").mkdir()
    presenter.shown((tmp_path / "empty",))
    assert "Nothing was found" in view.empty.sentence.text()


def test_a_path_that_is_gone_is_named(page, tmp_path):
    view, presenter = page
    presenter.shown((tmp_path / "gone.dcm",))
    said = view.empty.sentence.text() + "".join(
        view.strip.item(n).text() for n in range(view.strip.count())
    )
    assert "gone.dcm" in said


def test_layouts_take_the_next_series_and_link(page, folder, qtbot):
    view, presenter = page
    presenter.shown((folder,))
    presenter.choose_layout("1x2")
    assert [frame.isVisible() for frame in view.frames] == [True, True, False, False]
    assert len(view.frames[1].content.pictures) == 1
    view.frames[0].canvases[0]._act(ViewState(zoom=2.0))
    assert view.frames[1].first_state().zoom == 2.0
    qtbot.keyClick(view, Qt.Key.Key_K)
    view.frames[0].canvases[0]._act(ViewState(zoom=3.0))
    assert view.frames[1].first_state().zoom == 2.0
    qtbot.keyClick(view, Qt.Key.Key_M)
    assert sum(frame.isVisible() for frame in view.frames) == 1
    qtbot.keyClick(view, Qt.Key.Key_Escape)
    assert sum(frame.isVisible() for frame in view.frames) == 2


def test_a_late_result_of_an_earlier_search_is_dropped(page, folder):
    view, presenter = page
    presenter.shown((folder,))
    before = view.strip.count()
    presenter._opened((presenter._search - 1, Opened()))
    assert view.strip.count() == before


def test_real_files_are_shown_as_the_engine_renders_them(page):
    view, presenter = page
    presenter.shown((shared_path("data/files/nifti"),))
    assert view.strip.count() > 5
    evidence = presenter._found[presenter._frames.current.row]
    shown = view.frames[0].content.pictures[0]
    assert shown.orientation is not None
    assert slice_index(0.5, shown.slices) == view.frames[0].canvases[0].picture.slices // 2
    assert picture_of(evidence, load_pixels(evidence)).array.shape == shown.array.shape


def test_ct_gets_its_presets_and_others_do_not():
    found: dict[str, bool] = {}
    for evidence in find_evidence([shared_path("data/files/dicom")]):
        if evidence.modality in ("CT", "MR") and evidence.modality not in found:
            found[evidence.modality] = picture_of(evidence, load_pixels(evidence)).hounsfield
            assert title_of(evidence).startswith(f"{evidence.modality}, ")
    assert found == {"CT": True, "MR": False}


def test_text_size_changes_what_holds_text_and_leaves_room_for_pictures(page, folder, qapp):
    view, presenter = page
    view.resize(1280, 800)
    presenter.shown((folder,))
    before = (view.strip.width(), view._notes.height(), view.report.minimumWidth())
    theme.theme.apply(qapp, percent=200)
    try:
        now = (view.strip.width(), view._notes.height(), view.report.minimumWidth())
        assert all(large > small for small, large in zip(before, now, strict=True))
        assert view.strip.width() + view.report.minimumWidth() < 0.6 * view.width()
    finally:
        theme.theme.apply(qapp, percent=100)
    assert (view.strip.width(), view._notes.height(), view.report.minimumWidth()) == before


def test_tables_follow_the_text_size(qtbot, qapp):
    table = table_view("Keys")
    qtbot.addWidget(table)
    before = table.verticalHeader().defaultSectionSize()
    theme.theme.apply(qapp, percent=150)
    try:
        assert table.verticalHeader().defaultSectionSize() == round(before * 1.5)
    finally:
        theme.theme.apply(qapp, percent=100)
    assert table.verticalHeader().defaultSectionSize() == before


def test_columns_follow_the_text_size_and_keep_what_was_dragged(qtbot, qapp):
    view = KeysView()
    qtbot.addWidget(view)
    header = view.table.horizontalHeader()
    header.resizeSection(1, 200)
    before = [header.sectionSize(index) for index in range(3)]
    theme.theme.apply(qapp, percent=150)
    try:
        assert [header.sectionSize(index) for index in range(3)] == [540, 300, 300]
    finally:
        theme.theme.apply(qapp, percent=100)
    assert [header.sectionSize(index) for index in range(3)] == before


def test_a_row_dropped_on_the_planes_is_cut(page, tmp_path, qtbot):
    view, presenter = page
    for name in "ab":
        disk.volume(tmp_path / name, disk.body(8), series=name)
    presenter.shown((tmp_path,))
    presenter.choose_layout("mpr")
    assert presenter._frames.current.row == 0
    data = view.strip.mimeData([view.strip.item(1)])
    place, action = QPointF(600, 400), Qt.DropAction.CopyAction
    held = (Qt.MouseButton.LeftButton, Qt.KeyboardModifier.NoModifier)
    entering = QDragEnterEvent(place.toPoint(), action, data, *held)
    view.dragEnterEvent(entering)
    assert entering.isAccepted()
    view.dropEvent(QDropEvent(place, action, data, *held))
    assert view.center.in_planes
    assert presenter._frames.current.row == 1


def test_the_setting_of_linked_viewers_is_followed(page):
    view, presenter = page
    settings = presenter.services.settings
    settings.save(replace(settings.current, linked_viewers=False), origin="elsewhere")
    presenter.shown()
    assert not view.link.on
    presenter.link()
    presenter.shown()
    assert view.link.on  # by hand; the wish is the same


def test_loading_is_told_and_what_is_there_can_be_looked_at(qtbot, tmp_path):
    tasks = Later()
    view = ViewerView()
    qtbot.addWidget(view)
    view.resize(1100, 760)
    presenter = ViewerPresenter(view, fake_services(tasks=tasks))
    view.show()
    folder = disk.volume(tmp_path / "ct", disk.body(20))
    presenter.open([str(folder)])
    assert view._stack.currentWidget() is view.working
    tasks.step()
    assert view.grid.notices[0].kind == "wait"
    assert view._tick.isActive()
    tasks.step()  # the first slice
    canvas = view.center.canvas
    assert not view.grid.notices[0].isVisible()
    assert "loading 1 / 20" in view.frames[0].accessibleName()
    assert canvas.picture.is_ready(10)
    assert not canvas.picture.is_ready(0)
    canvas.do("slice-down")
    canvas.do("zoom-in")
    state = canvas.state
    tasks.all()
    assert "loading" not in view.frames[0].accessibleName()
    assert view.center.canvas.picture.ready is None
    assert view.center.canvas.state == state
    assert not view._tick.isActive()


def test_a_series_left_before_it_came_does_not_push_itself_forward(qtbot, tmp_path):
    tasks = Later()
    view = ViewerView()
    qtbot.addWidget(view)
    presenter = ViewerPresenter(view, fake_services(tasks=tasks))
    for name in "ab":
        disk.volume(tmp_path / name, disk.body(20), study=name, series=name, frame=name, day="")
    presenter.open([str(tmp_path)])
    tasks.step()
    view.series_wanted.emit(1, 0)
    tasks.all()
    assert view.frames[0].content.pictures[0].token == presenter._found[1].series
    assert view.strip.currentRow() == 1


def test_three_planes_wait_for_every_slice_and_are_cut_in_the_pool(qtbot, tmp_path):
    tasks = Later()
    view = ViewerView()
    qtbot.addWidget(view)
    presenter = ViewerPresenter(view, fake_services(tasks=tasks))
    presenter.open([str(disk.volume(tmp_path / "ct", disk.body(12)))])
    tasks.step()
    tasks.step()
    presenter.choose_layout("mpr")
    assert not view.center.in_planes
    assert "every slice" in view._status.words
    tasks.all()
    assert view.center.in_planes
    assert view._status.words == ""
    point = np.array([-4.0, 6.0, 110.0])
    view.center.planes.set_point(point)
    presenter._frames._put_planes()
    tasks.all()
    assert np.allclose(view.center.planes.point, point)
