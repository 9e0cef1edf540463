"""Pictures of every page: ``python -m tests.screens OUT [--home DIR] [--only PAGE]``.

Renders each page at 1280x800 and 1920x1080 with the demo home, without a display, into PNG
files named ``<page>-<width>.png``. Looks and clicks only; what it opens it closes.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from tests.screens_pump import pump

os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")

from PySide6.QtWidgets import QApplication

from app.main import Program, compose
from app.widgets.pattern_screen import PatternScreen
from db.home import Home
from studies.preference.study import list_studies
from tests.screens_home import STUDY_TITLE
from tests.screens_review import REVIEW_SCREENS
from tests.screens_statistics import STATISTICS_SCREENS
from tests.screens_study import STUDY_SCREENS
from tests.screens_viewer import VIEWER_SCREENS

SIZES = ((1280, 800), (1920, 1080))
SETTLE, MOST = 0.8, 20.0
JOB_SECONDS = 180.0
Step = Callable[[Program], None]


def settle(program: Program) -> None:
    """Wait until the window looks the same for a while: thumbnails come late."""
    end = time.monotonic() + MOST
    before = None
    while time.monotonic() < end:
        pump(SETTLE)
        now = program.window.grab().toImage()
        if before is not None and now == before:
            return
        before = now


def view_of(program: Program) -> Any:
    """The page on show."""
    return program.window.pages.currentWidget()


def study_id(program: Program, title: str) -> str:
    """The id of a study of the home."""
    return next(i.id for i in list_studies(program.services.home) if i.title == title)


def go(page: str, argument: Any = None) -> Step:
    """A step that shows a page."""
    return lambda program: program.window.go(page, argument)


def library_table(program: Program) -> None:
    program.window.go("library")
    pump(SETTLE)
    view_of(program)._group.button(1).click()


def library_empty(program: Program) -> None:
    """As it is before anything is imported; once the page has loaded what there is."""
    program.window.go("library")
    settle(program)
    view_of(program).show_collections((), "")


def viewer(program: Program) -> None:
    """A CT series of the demo with its folder's report."""
    evidence = program.services.home.demo / "Evidence"
    folders = sorted(path for path in evidence.rglob("*") if path.is_dir()
                     and len(list(path.glob("*.dcm"))) > 1)  # fmt: skip
    program.services.open_evidence([folders[0]] if folders else [evidence])


def benchmark_sources(program: Program) -> None:
    """The sources with one of them in hand; the cards are read on a thread."""
    program.window.go("benchmark")
    view_of(program).tabs.setCurrentIndex(1)
    pump(2 * MOST, lambda: view_of(program).sources.model.rowCount() > 0)


def drawn(program: Program) -> bool:
    """Whether every figure and table in sight is there."""
    panels = [one for one in view_of(program).figures.values() if one.isVisible()]
    return all(one.figure.accessibleDescription() for one in panels)


def results_tab(place: int, *, paper: bool = False) -> Step:
    def step(program: Program) -> None:
        program.window.go("results")
        pump(SETTLE)
        pump(MOST, lambda: " models" in view_of(program).note.text())
        view_of(program).compare.setChecked(paper)
        view_of(program).show_tab(place)
        pump(MOST, lambda: drawn(program))
        if place == 2:
            view_of(program).heat.choose(0, 0)
            view_of(program).cell_chosen.emit(0, 0)

    return step


def results_wide(program: Program) -> None:
    """The queries alone, only those that the left model has and the right has not."""
    results_tab(2)(program)
    pump(SETTLE)
    view_of(program).queries.fold.click()
    view_of(program).filter_chosen.emit("left")


def results_wide_back(program: Program) -> None:
    view_of(program).queries.fold.click()


def neighbours(program: Program) -> None:
    """Search from the first object of the library; the worker does it."""
    program.window.go("library")
    pump(SETTLE)
    rows = (view_of(program).model.row_at(place) for place in range(50))
    key = next(row.key for row in rows if row is not None and row.kind == "volume")
    program.window.go("neighbours", int(key))
    pump(SETTLE)
    choose_last(view_of(program).models["right"])
    view_of(program).search_wanted.emit()
    pump(JOB_SECONDS, lambda: program.services.jobs.current is None)


def choose_last(box: Any) -> None:
    """Make sure that two models are compared."""
    if not box.currentData():
        box.setCurrentIndex(box.count() - 1)


def review(program: Program) -> None:
    program.window.go("review", study_id(program, STUDY_TITLE))
    pump(SETTLE)


def settings_keys(program: Program) -> None:
    program.window.go("settings")
    view_of(program).tabs.setCurrentIndex(1)


def models_settings(program: Program) -> None:
    """The settings of a model beside the cards, and a question on a card."""
    program.window.go("models")
    pump(MOST, lambda: program.services.machine.looked)
    view_of(program).card("siglip-so400m-384").download.click()
    view_of(program).card("siglip-nano").settings.click()


def models_add(program: Program) -> None:
    program.window.go("models")
    pump(SETTLE)
    view_of(program).add.click()


def leave_models(program: Program) -> None:
    view_of(program).side.leave()


def nothing(_program: Program) -> None:
    """Leave the window as it is."""


# name, how to get there, how to leave
SCREENS: tuple[tuple[str, Step, Step], ...] = (
    ("library", go("library"), nothing),
    ("library-table", library_table, lambda p: view_of(p)._group.button(0).click()),
    ("library-empty", library_empty, nothing),
    ("viewer", viewer, nothing),
    *VIEWER_SCREENS,
    ("neighbours", neighbours, nothing),
    ("benchmark", go("benchmark"), nothing),
    ("benchmark-sources", benchmark_sources, lambda p: view_of(p).tabs.setCurrentIndex(0)),
    ("results", results_tab(0), nothing),
    ("results-paper", results_tab(0, paper=True), nothing),
    ("results-splits", results_tab(1), nothing),
    ("results-queries", results_tab(2), nothing),
    ("results-wide", results_wide, results_wide_back),
    ("results-difficulty", results_tab(3), nothing),
    ("results-anatomy", results_tab(4), nothing),
    ("results-profile", results_tab(5), nothing),
    ("results-length", results_tab(6), nothing),
    ("results-graded", results_tab(7), nothing),
    ("results-pair", results_tab(8), nothing),
    ("results-record", results_tab(9), nothing),
    *STUDY_SCREENS,
    ("review", review, lambda p: p.window.presenter("review").leave()),
    *REVIEW_SCREENS,
    *STATISTICS_SCREENS,
    ("models", go("models"), nothing),
    ("models-settings", models_settings, leave_models),
    ("models-add", models_add, leave_models),
    ("settings", go("settings"), nothing),
    ("settings-keys", settings_keys, nothing),
)


def covering(program: Program) -> Any:
    """The window, or the screen that covers it."""
    above = (one for one in QApplication.topLevelWidgets() if isinstance(one, PatternScreen))
    return next((one for one in above if one.isVisible()), program.window)


def shoot(program: Program, out: Path, only: str) -> list[Path]:
    """Render every page at every size; the names of the files."""
    made = []
    for name, arrive, leave in SCREENS:
        if only and not name.startswith(only):
            continue
        program.window.resize(*SIZES[0])
        arrive(program)
        for width, height in SIZES:
            program.window.resize(width, height)
            settle(program)
            made.append(out / f"{name}-{width}.png")
            shown = covering(program)
            shown.resize(width, height)
            pump(SETTLE)
            shown.grab().save(str(made[-1]))
        leave(program)
    return made


def main(arguments: list[str] | None = None) -> int:
    """Make or reuse the demo home, open the window on it, take the pictures."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("out", type=Path)
    parser.add_argument("--home", type=Path, help="a demo home to make or to use again")
    parser.add_argument("--only", default="", help="first letters of the pages to take")
    asked = parser.parse_args(arguments)
    asked.out.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="triptych-screens-") as folder:
        home = Home((asked.home or Path(folder)).resolve())
        # In a process of its own: this one must stay without torch, like the window itself.
        subprocess.run([sys.executable, "-m", "tests.screens_home", str(home.root)], check=True)
        application = QApplication.instance() or QApplication([])
        program = compose(home)
        program.window.show()
        try:
            made = shoot(program, asked.out, asked.only)
        finally:
            program.window.hide()
            program.close()
        application.processEvents()
    sys.stdout.write("\n".join(str(path) for path in made) + "\n")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
