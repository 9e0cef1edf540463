"""A reading session with volumes, replayed: ``python -m tests.bench.reading [--items 24]``.

A made-up study of volumes and pictures in a real study file is read in the real window,
offscreen at 1920 x 1080: an answer, Enter, and the time from that key to the end of the paint
that shows the next item whole, storing included. Between two items the reader looks for a while
(``--seconds``), as readers do: published readers took 6 to 9 s for a set of pictures. Prints
median, 95th percentile and worst, for volumes and for pictures, how much of it was decoding that
had to be waited for, and the most bytes of decoded items that were kept.
"""

from __future__ import annotations

import argparse
import os
import resource
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")

import numpy as np
from PySide6.QtCore import QEventLoop, Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication

from app.main import Program, compose
from app.presenters.review_ahead import key_of
from db import study_items
from db.home import Home
from db.session import Store, open_study_store
from db.settings import load_settings, save_settings
from db.study_items import ItemRow, MediumRow, StudyRow
from studies.preference.frozen import sha256
from studies.preference.media import encode
from studies.preference.panels import Panel
from studies.preference.protocol import Protocol

SIZE = (1920, 1080)
VOLUME, PICTURE = (96, 320, 320), (1024, 1024)
CAP_MB = 400
MOST_S = 60.0


def pixels(shape: tuple[int, ...], seed: int) -> np.ndarray:
    """Smooth shapes with noise: compresses and decodes about as a CT does."""
    random = np.random.default_rng(seed)
    rows, columns = np.mgrid[-1 : 1 : shape[-2] * 1j, -1 : 1 : shape[-1] * 1j]
    body = 120 * (rows**2 + columns**2 * (1.2 + seed % 5 / 9) < 0.7)
    noise = random.integers(0, 24, shape, dtype=np.uint8)
    return (body.astype(np.uint8) + noise).astype(np.uint8)


def build(folder: Path, items: int) -> None:
    """A study file: one half pictures, one half volumes, about 70 MB an item."""
    folder.mkdir(parents=True)
    store = open_study_store(folder / "study.sqlite", create=True)
    rows = []
    for number in range(items):
        block = "3d" if number >= items // 2 else "2d"
        shape, kind = (VOLUME, "volume") if block == "3d" else (PICTURE, "image")
        names = [medium(store, pixels(shape, number * 7 + n), number * 7 + n) for n in range(7)]
        panels = [Panel(kind, (name,), "").to_json() for name in names]
        rows.append(
            ItemRow(f"i{number:03}", "item", block, "Find a series of the same finding.",
                    panels[0], tuple(panels[1:4]), tuple(panels[4:]))
        )  # fmt: skip
    protocol = Protocol(warmup=0, repeat_share=0.0, guess_items=0)
    study_items.freeze(
        store,
        StudyRow("replay", "Replay", "2026-01-01T00:00:00+00:00", "bench", "5",
                 {"protocol": protocol.to_json()}, "0" * 64, "0" * 64, "0" * 64),
        rows,
    )  # fmt: skip
    store.close()


def medium(store: Store, array: np.ndarray, key: int) -> str:
    """Write one medium as studies do; its name."""
    coding, content = encode(array)
    row = MediumRow(key, f"m{key:05}", coding, array.shape, sha256(content), content)
    study_items.add_medium(store, row)
    return row.media_id


class Replay:
    """The window with the study open."""

    def __init__(self, program: Program) -> None:
        self.program = program
        program.window.resize(*SIZE)
        program.window.show()
        program.window.go("review", "replay")
        self.presenter = program.window.presenter("review")
        self.view = self.presenter.view
        self._until(lambda: self.view._stack.currentWidget() is self.view.profile)
        self.view.profile.begin.click()
        self._until(lambda: self.state == "rating")
        self.busy: list[float] = []
        # A loop that sleeps, as the program's own does: one that spins would hold up the lanes.
        self._loop = QEventLoop()
        self.view.revealed.connect(self._loop.quit)
        program.services.changes.watch("study", call=self._ended)

    def _ended(self, _change: object) -> None:
        self._loop.quit()

    @property
    def state(self) -> str:
        return str(self.presenter._state)

    def look(self, seconds: float) -> None:
        """What a reader does: scroll, then think."""
        end = time.monotonic() + seconds
        step = 0
        while time.monotonic() < end:
            QTest.keyClick(self.view, Qt.Key.Key_Down if step % 40 < 20 else Qt.Key.Key_Up)
            step += 1
            self._pump(0.1)

    def next(self) -> tuple[str, float, bool] | None:
        """(block, milliseconds, decoding was waited for) of the next item; None at the end."""
        QTest.keyClick(self.view, Qt.Key.Key_F)
        ahead = self.presenter._opened.session.upcoming(1)
        decoded = all(key_of(one) in self.presenter._ahead.store for one in ahead)
        started, worked = time.perf_counter(), time.process_time()
        QTest.keyClick(self.view, Qt.Key.Key_Return)
        if self.state not in ("rating", "finished"):
            self._loop.exec()
        spent = (time.perf_counter() - started) * 1000
        self.busy.append((time.process_time() - worked) * 1000)
        if self.state == "finished":
            return None
        return self.presenter._presentation.block, spent, not decoded

    def _until(self, there: Callable[[], bool]) -> None:
        end = time.monotonic() + MOST_S
        while not there():
            if time.monotonic() > end:
                raise SystemExit(f"stuck in the state {self.state!r}")
            QApplication.processEvents(QEventLoop.ProcessEventsFlag.AllEvents, 5)
            time.sleep(0.002)

    def _pump(self, seconds: float) -> None:
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            QApplication.processEvents(QEventLoop.ProcessEventsFlag.AllEvents, 5)
            time.sleep(0.004)


def line(name: str, times: list[float], waited: int) -> str:
    """One line of the table."""
    if not times:
        return f"{name:24} no items\n"
    middle, high = np.percentile(times, (50, 95))
    return (
        f"{name:24} n {len(times):3}  p50 {middle:6.1f}  p95 {high:6.1f}  max {max(times):6.1f} ms"
        f"  waited for decoding {waited}\n"
    )


def main() -> None:
    """Build, read, tell."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--items", type=int, default=24)
    parser.add_argument("--seconds", type=float, default=3.0, help="of looking at each item")
    asked = parser.parse_args()
    application = QApplication.instance() or QApplication([])
    with tempfile.TemporaryDirectory(prefix="triptych-reading-") as folder:
        home = Home(Path(folder)).make()
        settings = load_settings(home.settings)
        save_settings(home.settings, replace(settings, picture_memory_mb=CAP_MB, rater_name="R"))
        build(home.studies / "replay", asked.items)
        program = compose(home)
        try:
            times: dict[str, list[tuple[float, bool]]] = {"2d": [], "3d": []}
            replay = Replay(program)
            replay.look(asked.seconds)
            while (found := replay.next()) is not None:
                times[found[0]].append(found[1:])
                replay.look(asked.seconds)
            store = replay.presenter._ahead.store
            sys.stdout.write(tell(times, replay.busy, (store.most_bytes, store.limit)))
        finally:
            program.window.hide()
            program.close()
        application.processEvents()


def tell(
    times: dict[str, list[tuple[float, bool]]], busy: list[float], kept: tuple[int, int]
) -> str:
    """The table; ``cpu`` is what this process worked, which counts where others are at work."""
    made = ""
    for name, block in (("pictures 1024x1024", "2d"), ("volumes 96x320x320", "3d")):
        made += line(name, [one for one, _ in times[block]], sum(late for _, late in times[block]))
    every = [one for block in times.values() for one, _ in block]
    made += line("all", every, sum(late for block in times.values() for _, late in block))
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    return made + (
        f"cpu of the process      p50 {np.median(busy):6.1f}  p95 {np.percentile(busy, 95):6.1f}"
        f"  max {max(busy):6.1f} ms\n"
        f"decoded items: most {kept[0] / 1e6:.0f} MB of at most {kept[1] / 1e6:.0f} MB; "
        f"process at most {peak:.0f} MiB\n"
    )


if __name__ == "__main__":
    main()
