"""The test pattern: exact greys in device pixels, everything there, the statement kept."""

from __future__ import annotations

import numpy as np
import pytest
from PySide6.QtCore import QRect, Qt
from PySide6.QtGui import QImage, QPainter

from app.presenters.display import MEGABYTE, display_words, picture_bytes
from app.presenters.settings import SettingsPresenter
from app.views.settings import SettingsView
from app.widgets.display_pattern import HIGH, LOW, STEPS, draw, plan
from app.widgets.pattern_screen import PatternScreen
from db.settings import Settings
from tests.app.page_fakes import page_services

SIZES = [(1280, 740), (1920, 1020), (1024, 1280), (3840, 2160)]


def drawn(width, height):
    """The pattern as [Y, X, 3]."""
    image = QImage(width, height, QImage.Format.Format_RGB888)
    painter = QPainter(image)
    laid = draw(painter, width, height)
    painter.end()
    values = np.frombuffer(image.constBits(), np.uint8).reshape(height, image.bytesPerLine())
    return values[:, : width * 3].reshape(height, width, 3).copy(), laid


def part(values, box):
    return values[box.top() : box.bottom() + 1, box.left() : box.right() + 1, 0]


@pytest.mark.parametrize("size", SIZES)
def test_every_part_lies_on_the_display(size):
    laid = plan(*size)
    whole = QRect(0, 0, *size)
    boxes = [*laid.steps, laid.low, laid.high, *laid.ramps, *laid.pairs, laid.words]
    assert all(whole.contains(box) for box in boxes)
    apart = [laid.low, laid.high, *laid.pairs]
    for number, box in enumerate(apart):
        assert not any(box.intersects(other) for other in apart[number + 1 :])


def test_greys_are_exact_and_neutral():
    values, laid = drawn(1920, 1020)
    assert (values[..., 0] == values[..., 1]).all()
    assert (values[..., 0] == values[..., 2]).all()
    assert len(STEPS) == 18
    for grey, box in zip(STEPS, laid.steps, strict=True):
        assert (part(values, box) == grey).all()
    for box, (outer, inner) in ((laid.low, LOW), (laid.high, HIGH)):
        seen = part(values, box)
        assert set(np.unique(seen)) == {outer, inner}
        assert seen[0, 0] == outer
        assert seen[seen.shape[0] // 2, seen.shape[1] // 2] == inner
    assert round(LOW[1] / 255, 2) == 0.05
    assert round(HIGH[1] / 255, 2) == 0.95


def test_the_ramps_run_through_every_grey():
    values, laid = drawn(1920, 1020)
    rising, falling = (part(values, box)[0].astype(int) for box in laid.ramps)
    assert set(rising) == set(range(256))
    assert (np.diff(rising) >= 0).all()
    assert (rising == 255 - falling).all()


def test_line_pairs_of_one_pixel_alternate():
    values, laid = drawn(1920, 1020)
    seen = part(values, laid.pairs[0])
    upright = seen[2, : seen.shape[1] // 4].astype(int)
    lying = seen[: seen.shape[0] // 3, seen.shape[1] // 4 + 2].astype(int)
    for line in (upright, lying):
        assert set(np.abs(np.diff(line))) == {255}


def test_the_border_is_on_the_outermost_pixels():
    values, _ = drawn(1280, 740)
    for edge in (values[0], values[-1], values[:, 0], values[:, -1]):
        assert (edge == 255).all()


def test_the_screen_says_what_the_display_is_and_hands_on_the_statement(qtbot):
    screen = PatternScreen()
    qtbot.addWidget(screen)
    screen.open(screen, "checked")
    assert screen.statement.text() == "checked"
    assert "pixels" in screen.facts.text()
    assert "scale 1" in screen.facts.text()
    with qtbot.waitSignal(screen.stated) as said:
        qtbot.keyClick(screen.statement, Qt.Key.Key_Return)
    assert said.args[1:] == ["scale 1", "checked"]
    image = screen.pattern.grab().toImage()
    assert image.pixelColor(0, 0).red() == 255
    qtbot.keyClick(screen, Qt.Key.Key_F8)
    assert not screen.isVisible()


def test_the_settings_open_it_and_keep_the_statement(qtbot, home):
    view = SettingsView()
    qtbot.addWidget(view)
    services = page_services(home=home)
    presenter = SettingsPresenter(view, services)
    presenter.shown()
    assert "Nothing is stated" in view.display.text()
    view.show()
    view.open_pattern()
    qtbot.addWidget(view._pattern)
    view._pattern.stated.emit("2560 x 1440 pixels", "scale 1", "GSDF in May")
    assert services.settings.current.display_statement == "GSDF in May"
    assert view.display.text() == "2560 x 1440 pixels, scale 1: GSDF in May"
    view._pattern.close()
    assert "nothing stated" in display_words(Settings(display_size="x", display_scale="scale 1"))


def test_the_memory_for_pictures_has_a_first_value_from_the_machine(monkeypatch):
    from app.presenters import display

    assert picture_bytes(300) == 300 * MEGABYTE
    for known, wanted in ((8000, 1000), (64_000, 4096), (None, 1000)):
        monkeypatch.setattr(display, "memory_mb", lambda known=known: known)
        assert picture_bytes(0) == wanted * MEGABYTE
