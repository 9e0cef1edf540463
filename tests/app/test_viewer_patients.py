"""Two patients are never shown side by side, linked or read together without a word."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pydicom
import pytest

from app.presenters.viewer import ViewerPresenter
from app.presenters.viewer_kin import (
    BY_DEPTH,
    NO_MORE,
    OTHER,
    OTHER_REPORT,
    UNKNOWN,
    UNKNOWN_REPORT,
    remark_of,
    report_of,
)
from app.views.viewer import ViewerView
from engine.evidence.geometry import Geometry
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


@pytest.fixture
def two(tmp_path):
    """Two series of patient a, one of patient b, all in one frame of reference by name."""
    disk.volume(tmp_path / "1", disk.body(9), patient="a", series="one")
    disk.volume(tmp_path / "2", disk.body(7), patient="a", series="two", frame="hall")
    disk.volume(tmp_path / "3", disk.body(8), patient="b", series="one")
    return tmp_path


def rows_of(presenter):
    """Rows of the strip by patient, the larger group first."""
    groups: dict[str, list[int]] = {}
    for row, one in enumerate(presenter._found):
        groups.setdefault(one.subject, []).append(row)
    return sorted(groups.values(), key=len, reverse=True)


def test_another_patient_is_never_hung_beside(page, two):
    view, presenter = page
    presenter.shown((two,))
    (first, second), (other,) = rows_of(presenter)
    view.series_wanted.emit(first, 0)
    presenter.choose_layout("2x2")
    assert {presenter._frames.row_in(number) for number in range(4)} == {first, second, None}
    assert view.grid.notices[2].sentence == NO_MORE
    view.series_wanted.emit(other, 0)
    presenter.choose_layout("1")
    presenter.choose_layout("1x2")
    assert presenter._frames.row_in(0) == other
    assert presenter._frames.row_in(1) is None
    assert not view.frames[1].shown_canvases


def test_another_patient_put_beside_is_said_and_not_linked(page, two):
    view, presenter = page
    presenter.shown((two,))
    (first, second), (other,) = rows_of(presenter)
    view.series_wanted.emit(first, 0)
    presenter.choose_layout("1x2")
    view.series_wanted.emit(second, 1)
    assert view.frames[1].remark.words == BY_DEPTH
    assert not view.frames[1].remark.warn
    presenter.link()
    assert view.frames[1].remark.words == ""
    presenter.link()
    view.series_wanted.emit(other, 1)
    assert (view.frames[1].remark.words, view.frames[1].remark.warn) == (OTHER, True)
    assert "other patient" in view.frames[1].accessibleName()
    before = view.frames[1].first_state()
    for command in ("slice-first", "preset-2", "zoom-in", "invert"):
        view.do(command)
    assert view.frames[0].first_state().depth == 0.0
    assert view.frames[1].first_state() == before
    view.series_wanted.emit(second, 1)
    view.do("slice-last")
    view.do("slice-first")
    assert view.frames[1].first_state().depth == 0.0


def one(name, *, kind="image", **more):
    path = Path(name)
    return Evidence(path=path, members=(path,), kind=kind, **more)


@pytest.mark.parametrize(
    ("first", "other", "words"),
    [
        ({"subject": "a"}, {"subject": "b"}, OTHER),
        ({"subject": "a"}, {"subject": "a"}, ""),
        ({"subject": "a"}, {}, UNKNOWN),
        ({"study": "s"}, {"study": "s", "subject": "a"}, ""),
        ({}, {}, ""),
        ({"error": object()}, {"subject": "a"}, ""),
    ],
)  # fmt: skip
def test_what_is_said_of_two(first, other, words):
    made = remark_of(one("a.dcm", **first), one("b.dcm", **other), linked=True)
    assert made.words == words
    assert made.warn == bool(words)


def test_one_frame_of_reference_needs_no_words():
    space = Geometry(np.zeros((5, 3)), np.array([1.0, 0, 0]), np.array([0, 1.0, 0]), frame="f")
    known = {"shape": (5, 8, 8), "geometry": space, "subject": "a"}
    assert remark_of(one("a", **known), one("b", **known), linked=True).words == ""
    assert remark_of(one("a", **known), one("b", **{**known, "geometry": None}),
                     linked=True).words == BY_DEPTH  # fmt: skip


def test_a_report_comes_beside_its_own_patient_only():
    mine, other = one("x/a.dcm", subject="a", study="s"), one("y/b.dcm", subject="b", study="t")
    loose = one("x/r.txt", kind="report", text="words")
    assert report_of([mine, loose], mine) == 1
    assert report_of([mine, other, loose], mine) is None
    own = one("z/r.dcm", kind="report", text="words", subject="b")
    assert report_of([mine, other, own], mine) is None
    assert report_of([mine, other, own], other) == 2
    beside = one("x/r2.txt", kind="report", text="words", subject="b")
    assert report_of([mine, beside], mine) is None


def test_a_report_of_somebody_else_says_so(page, two):
    view, presenter = page
    (two / "1" / "note.txt").write_text("FINDINGS: a nodule.", "utf-8")
    presenter.shown((two,))
    assert view.report.words == ""  # two patients: nobody knows whose it is
    row = next(row for row, one in enumerate(presenter._found) if one.text)
    view.series_wanted.emit(row, 0)
    assert view.report.words.startswith("FINDINGS")
    assert UNKNOWN_REPORT in view.report.doubt.text()
    assert view.report.doubt.isVisible()
    assert OTHER_REPORT not in view.report.doubt.text()


def test_reports_can_be_stepped_through(page, tmp_path):
    view, presenter = page
    for number in range(3):
        (tmp_path / f"r{number}.txt").write_text(f"FINDINGS: number {number}.", "utf-8")
    presenter.shown((tmp_path,))
    assert view.report.place.text() == "1 / 3"
    assert not view.report.before.isEnabled()
    view.report.after.click()
    assert "number 1" in view.report.words
    view.do("fold-report")
    assert not view.report.isVisible()
    view.series_wanted.emit(2, 0)
    assert view.report.isVisible()
    assert not view.report.after.isEnabled()


def test_two_reconstructions_do_not_read_alike(page, tmp_path):
    view, presenter = page
    for number, (kernel, window) in enumerate((("H30s", (40, 400)), ("B70f", (-600, 1500))), 1):
        folder = disk.volume(tmp_path / f"{number}", disk.body(5), series=kernel, window=window)
        for path in sorted(folder.iterdir()):
            made = pydicom.dcmread(path)
            made.SeriesNumber, made.ConvolutionKernel = number, kernel
            made.save_as(path)
    presenter.shown((tmp_path,))
    words = [view.strip.item(row).text() for row in range(2)]
    assert "series 1  5 slices  H30s" in words[0]
    assert "W 400 L 40" in words[0]
    assert "series 2  5 slices  B70f" in words[1]
    assert "W 1500 L -600" in words[1]
    assert "5 slices   series 1  H30s   Chest" in view.frames[0].accessibleName()
