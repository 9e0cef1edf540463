"""The Statistics page for ``python -m tests.screens``: locked, each sheet, list, item, 200 %.

The large study is simulated: 530 items over 107 tasks, read by one tiring and two other readers.
Its tables stand in for those of the demo's finished study; the list and the item are the demo's.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from PySide6.QtWidgets import QApplication

from app import theme
from app.main import Program
from app.presenters.statistics import Computed, Loaded
from app.shown_statistics import Behind
from studies.demo_run import STUDY_TITLE
from studies.preference.analysis.analyse import analyse
from studies.preference.analysis.readers import READERS
from studies.preference.analysis.simulate import World, simulated
from studies.preference.study import list_studies
from tests.screens_home import READ_TITLE
from tests.screens_pump import pump

Step = Callable[[Program], None]
MOST = 60.0
DRAWS = 2_000
_found: dict[str, Any] = {}


def page(program: Program) -> Any:
    """The statistics page."""
    return program.window.pages.currentWidget()


def study_id(program: Program, title: str) -> str:
    return next(i.id for i in list_studies(program.services.home) if i.title == title)


def locked(program: Program) -> None:
    program.window.go("statistics", study_id(program, STUDY_TITLE))


def demo(program: Program) -> None:
    """The demo's finished study, once it is computed."""
    program.window.go("statistics", study_id(program, READ_TITLE))
    pump(MOST, lambda: page(program).tabs.count() > 0)


def sheet(place: int, *, scroll: int = 0) -> Step:
    """One sheet of the simulated study."""

    def step(program: Program) -> None:
        demo(program)
        large(program)
        page(program).tabs.setCurrentIndex(place)
        pump(0.3)
        page(program).tabs.currentWidget().verticalScrollBar().setValue(scroll)

    return step


def large(program: Program) -> None:
    """Put the simulated study in the place of the demo's."""
    presenter = program.window.presenter("statistics")
    if not _found:
        names = ("unbiased", "left-biased", "tiring")
        _found["demo"] = presenter._loaded
        tables = simulated(World(auto_ties=22), [READERS[name] for name in names], seed=7)
        _found["analysis"] = analyse(tables, draws=DRAWS)
        _found["loaded"] = Loaded(presenter._info(), presenter._loaded.unblinded, tables)
    if presenter._loaded is not _found["loaded"]:
        found = Computed(_found["loaded"], None, _found["analysis"], presenter._wish)
        presenter._computed(found)


def small(program: Program) -> None:
    """The demo's own numbers again."""
    demo(program)
    page(program).study_chosen.emit(study_id(program, STUDY_TITLE))
    demo(program)


def answers(program: Program) -> None:
    small(program)
    page(program).behind_wanted.emit(Behind("All that were read"))


def item(program: Program) -> None:
    answers(program)
    page(program).answer_wanted.emit(0)
    pump(MOST, lambda: not page(program).item.board.isHidden())


def up(program: Program) -> None:
    page(program).up_wanted.emit()
    page(program).up_wanted.emit()


def twice(step: Step) -> Step:
    """A state at 200 %."""

    def larger(program: Program) -> None:
        theme.theme.apply(_application(), percent=200)
        step(program)

    return larger


def once(program: Program) -> None:
    up(program)
    theme.theme.apply(_application(), percent=100)


def _application() -> QApplication:
    application = QApplication.instance()
    assert isinstance(application, QApplication)
    return application


def nothing(_program: Program) -> None:
    """Leave the window as it is."""


STATISTICS_SCREENS: tuple[tuple[str, Step, Step], ...] = (
    ("statistics-locked", locked, nothing),
    ("statistics", sheet(0), nothing),
    ("statistics-groups", sheet(0, scroll=700), nothing),
    ("statistics-forest", sheet(1), nothing),
    ("statistics-sides", sheet(2), nothing),
    ("statistics-session", sheet(3), nothing),
    ("statistics-consistency", sheet(4), nothing),
    ("statistics-correctness", sheet(5), nothing),
    ("statistics-checks", sheet(6), nothing),
    ("statistics-large-text", twice(sheet(0)), once),
    ("statistics-large-forest", twice(sheet(1)), once),
    ("statistics-demo", small, nothing),
    ("statistics-answers", answers, up),
    ("statistics-item", item, up),
    ("statistics-item-large", twice(item), once),
)
