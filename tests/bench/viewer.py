"""The viewer's reflexes, offscreen at 1920 x 1080: ``python -m tests.bench.viewer``.

Every line is one gesture, timed from its event to the end of the paint that shows it: median,
95th percentile and worst in milliseconds, and how many of the frames took longer than 1/60 s.
``cpu`` is what this process itself worked, which counts where the machine is busy with others.
"""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import replace

os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")

import numpy as np
from PySide6.QtCore import QPoint, QPointF, Qt
from PySide6.QtGui import QMouseEvent, QWheelEvent
from PySide6.QtWidgets import QApplication, QWidget

from app import theme
from app.widgets import content as shown
from app.widgets.image_canvas import ImageCanvas
from app.widgets.image_store import STORE, STORE_BYTES
from app.widgets.mpr import MprView
from app.widgets.triptych import BoardItem, TriptychBoard
from engine.evidence.geometry import Geometry
from engine.evidence.window import to_display

SIZE = (1920, 1080)
ROUNDS = 200
FRAME_MS = 1000 / 60
BUTTON, MODIFIER = Qt.MouseButton, Qt.KeyboardModifier


def picture(array: np.ndarray, center: float, width: float) -> shown.Picture:
    """A picture rendered as the program renders files."""

    def render(values: np.ndarray, window: tuple[float, float] | None) -> np.ndarray:
        c, w = window or (center, width)
        return to_display(values, center=c, width=w)

    return shown.Picture(array, (center, width), render, hounsfield=True, orientation="LPS")


def volume() -> np.ndarray:
    """300 slices of 512 x 512, int16: smooth shapes and noise as in a CT."""
    random = np.random.default_rng(0)
    noise = random.integers(-40, 40, (512 + 300, 512), dtype=np.int16)
    row, column = np.mgrid[-1:1:512j, -1:1:512j]
    body = np.where(row**2 + column**2 * 1.4 < 0.8, 40, -1000).astype(np.int16)
    return np.stack([body + noise[z : z + 512] for z in range(300)])


def radiograph() -> np.ndarray:
    """2048 x 2560, 14 of 16 bits."""
    random = np.random.default_rng(1)
    row = np.linspace(500, 15_000, 2560)[:, None]
    return (row + random.integers(0, 900, (2560, 2048))).astype(np.uint16)[None]


def send(widget: QWidget, kind: QMouseEvent.Type, at: QPointF, button: Qt.MouseButton) -> None:
    """One mouse event with a button held."""
    held = BUTTON.NoButton if kind == QMouseEvent.Type.MouseButtonRelease else button
    asks = BUTTON.NoButton if kind == QMouseEvent.Type.MouseMove else button
    event = QMouseEvent(kind, at, widget.mapToGlobal(at), asks, held, MODIFIER.NoModifier)
    QApplication.sendEvent(widget, event)


def drag(widget: QWidget, button: Qt.MouseButton) -> Iterator[None]:
    """A drag around in small steps; every step is one frame."""
    send(widget, QMouseEvent.Type.MouseButtonPress, QPointF(200, 200), button)
    for step in range(ROUNDS):
        at = QPointF(200 + 60 * np.sin(step / 9), 200 + 60 * np.cos(step / 7))
        send(widget, QMouseEvent.Type.MouseMove, at, button)
        yield
    send(widget, QMouseEvent.Type.MouseButtonRelease, QPointF(200, 200), button)


def wheel(widget: QWidget, *, slices: int = 300) -> Iterator[None]:
    """One notch a frame, from the first slice to the last and back; none is seen twice in a row."""
    at = QPointF(100, 100)
    for step in range(2 * slices):
        turn = QPoint(0, -120 if step < slices else 120)
        event = QWheelEvent(
            at, widget.mapToGlobal(at), QPoint(), turn, BUTTON.NoButton, MODIFIER.NoModifier,
            Qt.ScrollPhase.NoScrollPhase, False,
        )  # fmt: skip
        QApplication.sendEvent(widget, event)
        yield


def repaints(widget: QWidget) -> Iterator[None]:
    """The whole window again."""
    for _ in range(ROUNDS):
        widget.update()
        for child in widget.findChildren(QWidget):
            child.update()
        yield


def measure(name: str, steps: Iterator[None]) -> str:
    """Times of all steps, each with the paint that follows it, as a line of text."""
    times = []
    started, worked = time.perf_counter(), time.process_time()
    for _ in steps:
        QApplication.processEvents()
        now, busy = time.perf_counter(), time.process_time()
        times.append(((now - started) * 1000, (busy - worked) * 1000))
        started, worked = time.perf_counter(), time.process_time()
    wall, cpu = np.array(times[5:]).T
    middle, high = np.percentile(wall, (50, 95))
    late = int((wall > FRAME_MS).sum())
    return (
        f"{name:36} median {middle:6.2f}  p95 {high:6.2f}  max {wall.max():6.2f} ms"
        f"  late {late:3} of {len(wall)}"
        f"   cpu median {np.median(cpu):6.2f}  p95 {np.percentile(cpu, 95):6.2f} ms\n"
    )


def alone(array: np.ndarray, center: float, width: float) -> ImageCanvas:
    """One canvas that fills the screen."""
    canvas = ImageCanvas()
    canvas.resize(*SIZE)
    canvas.set_picture(picture(array, center, width))
    canvas.show()
    canvas.set_state(shown.ViewState(depth=0.0))
    QApplication.processEvents()
    return canvas


def board(array: np.ndarray) -> TriptychBoard:
    """Seven linked viewers with a series each."""
    contents = [shown.Content((picture(array, 40.0, 400.0),)) for _ in range(7)]
    made = TriptychBoard()
    made.resize(*SIZE)
    made.show()
    item = BoardItem(contents[0], tuple(contents[1:4]), tuple(contents[4:]), "Find it.")
    made.show_item(item)
    for frame in made.frames:
        frame.canvases[0].set_state(shown.ViewState(depth=0.0))
    QApplication.processEvents()
    return made


def lines() -> Iterator[str]:
    """Every gesture."""
    left, middle, right = BUTTON.LeftButton, BUTTON.MiddleButton, BUTTON.RightButton
    gestures: tuple[tuple[str, Callable[[QWidget], Iterator[None]]], ...] = (
        ("window", lambda canvas: drag(canvas, left)),
        ("pan", lambda canvas: drag(canvas, middle)),
        ("zoom", lambda canvas: drag(canvas, right)),
    )
    large = alone(radiograph(), 8000.0, 16_000.0)
    for name, gesture in gestures:
        yield measure(f"radiograph 2048x2560, {name}", gesture(large))
    large.set_state(shown.ViewState(zoom=4.0))
    yield measure("radiograph zoomed in, window", drag(large, left))
    large.close()
    values = volume()
    single = alone(values, 40.0, 400.0)
    yield measure("300 slices 512x512, scroll", wheel(single))
    yield measure("300 slices 512x512, window", drag(single, left))
    single.close()
    seven = board(values)
    yield measure("seven viewers, repaint", repaints(seven))
    yield measure("seven linked viewers, scroll", wheel(seven.query.canvases[0]))
    for name, gesture in gestures:
        yield measure(f"seven linked viewers, {name}", gesture(seven.query.canvases[0]))
    seven.close()
    yield from planes(values)
    kept = STORE.bytes / 1024**2
    yield f"images kept {kept:.0f} MiB of at most {STORE_BYTES / 1024**2:.0f} MiB\n"


def planes(values: np.ndarray) -> Iterator[str]:
    """Three planes: the crosshair is dragged through the volume."""
    origin = np.array([[-180.0, -180.0, z * 1.2] for z in range(len(values))])
    placed = Geometry(origin, np.array([0.7, 0.0, 0.0]), np.array([0.0, 0.7, 0.0]), "one")
    view = MprView()
    view.resize(*SIZE)
    view.set_picture(replace(picture(values, 40.0, 400.0), geometry=placed))
    view.show()
    QApplication.processEvents()
    axial = view.canvases["axial"]
    place = axial.placed.rect.center()
    send(axial, QMouseEvent.Type.MouseButtonPress, place, BUTTON.LeftButton)

    def steps() -> Iterator[None]:
        for step in range(ROUNDS):
            way = QPointF(90 * np.sin(step / 9), 90 * np.cos(step / 7))
            send(axial, QMouseEvent.Type.MouseMove, place + way, BUTTON.LeftButton)
            yield

    yield measure("three planes, crosshair", steps())
    send(axial, QMouseEvent.Type.MouseButtonRelease, place, BUTTON.LeftButton)
    yield measure("three planes, scroll", wheel(axial))
    view.close()


if __name__ == "__main__":
    application = QApplication.instance() or QApplication([])
    theme.theme.apply(application)  # type: ignore[arg-type]
    for line in lines():
        sys.stdout.write(line)
