"""What has no picture says so where the picture would be; what is hidden says how to come back."""

from __future__ import annotations

from pathlib import Path

import pytest

from app.presenters.viewer import ViewerPresenter
from app.presenters.viewer_frames import NO_PLANES
from app.presenters.viewer_picture import NO_PICTURE, nothing_to_see
from app.views.viewer import ViewerView
from engine.evidence.study import Evidence
from tests.app import studies_on_disk as disk
from tests.app.fakes import fake_services


@pytest.fixture
def page(qtbot):
    view = ViewerView()
    qtbot.addWidget(view)
    view.resize(1280, 760)
    presenter = ViewerPresenter(view, fake_services())
    view.show()
    return view, presenter


def empty_pdf(path):
    path.write_bytes(
        b"%PDF-1.4\n1 0 obj<</Type/Catalog/Pages 2 0 R>>endobj\n"
        b"2 0 obj<</Type/Pages/Kids[3 0 R]/Count 1>>endobj\n"
        b"3 0 obj<</Type/Page/Parent 2 0 R/MediaBox[0 0 200 200]>>endobj\n"
        b"trailer<</Root 1 0 R>>\n%%EOF\n"
    )
    return path


def test_a_document_alone_says_so_in_the_middle_of_its_frame(page, tmp_path):
    view, presenter = page
    presenter.shown((empty_pdf(tmp_path / "scan.pdf"),))
    (evidence,) = presenter._found
    said = view.grid.notices[0].sentence
    assert view.grid.notices[0].isVisible()
    assert said == (nothing_to_see(evidence) if evidence.error is None else said)
    assert len(said) > 20
    assert view.center.isVisible()
    view.do("layout-mpr")
    assert not view.center.in_planes


def test_the_reason_stands_in_the_sentence():
    path = Path("x.pdf")
    one = Evidence(path=path, members=(path,), kind="document", notes=("no text layer",))
    assert nothing_to_see(one) == f"{NO_PICTURE} No text layer."


def test_a_document_beside_a_series_is_said_in_its_frame_and_the_series_comes_back(page, tmp_path):
    view, presenter = page
    disk.volume(tmp_path / "ct", disk.body(9))
    presenter.shown((tmp_path / "ct",))
    other = Evidence(path=Path("x"), members=(Path("x"),), kind="other", notes=("a list",))
    found = (*presenter._found, other)
    presenter._found = found
    presenter._frames.give(found)
    presenter._reports.give(found)
    view.series_wanted.emit(0, 0)
    view.do("layout-mpr")
    assert view.center.in_planes
    view.series_wanted.emit(1, 0)
    assert not view.center.in_planes
    assert view.grid.notices[0].sentence.startswith(NO_PICTURE)
    view.do("layout-mpr")
    assert view._status.words == NO_PLANES
    view.do("next-series")
    assert view.frames[0].shown_canvases
    assert not view.grid.notices[0].isVisible()


def test_a_hidden_report_says_how_it_comes_back(page, tmp_path):
    view, presenter = page
    (tmp_path / "r.txt").write_text("FINDINGS: none.", "utf-8")
    disk.volume(tmp_path / "ct", disk.body(3))
    presenter.shown((tmp_path,))
    row = next(row for row, one in enumerate(presenter._found) if one.text)
    view.series_wanted.emit(row, 0)
    view.do("fold-report")
    assert not view.report.isVisible()
    assert "F7" in view._status.words
    view.do("fold-report")
    assert view.report.isVisible()
    assert view._status.words == ""
