"""What every test of the window gets: the theme, no real dialogs, and a whole program if asked."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from PySide6.QtCore import QCoreApplication, QEvent
from PySide6.QtWidgets import QApplication, QFileDialog, QMessageBox

import tests.studies.probe_jobs as probe
from app import keys, theme
from app.main import Program, compose
from app.window import MainWindow
from db.home import Home
from studies import jobs as studies_jobs

PROBE = Path(probe.__file__)


@pytest.fixture(scope="session", autouse=True)
def dressed(qapp: QApplication) -> None:
    """The look of the program, once."""
    theme.theme.apply(qapp)


@pytest.fixture(autouse=True)
def no_dialogs(monkeypatch: pytest.MonkeyPatch) -> None:
    """A dialog in a test would wait for ever."""

    def refuse(*_values: Any, **_named: Any) -> None:
        raise AssertionError("a dialog was opened")

    for name in ("getExistingDirectory", "getOpenFileName", "getOpenFileNames", "getSaveFileName"):
        monkeypatch.setattr(QFileDialog, name, refuse)
    for name in ("critical", "warning", "question", "information"):
        monkeypatch.setattr(QMessageBox, name, refuse)


@pytest.fixture(autouse=True)
def swept(dressed: None) -> None:
    """Widgets of earlier tests are gone, not only closed: a change of the look styles them all."""
    QCoreApplication.sendPostedEvents(None, int(QEvent.Type.DeferredDelete.value))
    left = [one for one in QApplication.topLevelWidgets() if isinstance(one, MainWindow)]
    assert not left, "an earlier test left a whole window, and all its pages, behind"


@pytest.fixture(autouse=True)
def first_keys() -> Iterator[None]:
    """Keys that a test changed are not those of the next one."""
    yield
    keys.use(keys.KeyMap())


@pytest.fixture
def program(home: Home, qtbot: Any) -> Iterator[Callable[[], Program]]:
    """Makes the whole program on the test's home; taken down afterwards."""
    made: list[Program] = []

    def make() -> Program:
        program = compose(home)
        program.window.resize(1280, 800)
        program.window.show()
        qtbot.waitExposed(program.window)
        made.append(program)
        return program

    yield make
    for one in made:
        one.window.stop_and_close()
        one.window.close()
        one.close()
        one.window.deleteLater()


@pytest.fixture
def site(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Lets the worker know the probe jobs."""
    folder = tmp_path / "site"
    folder.mkdir()
    (folder / "sitecustomize.py").write_text(
        "import sys\n"
        f"sys.path.insert(0, {str(PROBE.parent)!r})\n"
        "from studies.jobs import JOBS\n"
        "for name in ('echo', 'noisy', 'slow', 'stuck', 'bug', 'die'):\n"
        "    JOBS[name] = f'probe_jobs:{name}'\n",
        encoding="utf-8",
    )
    root = str(Path(studies_jobs.__file__).resolve().parents[1])
    before = os.environ.get("PYTHONPATH", "")
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join([str(folder), root, before]).strip(os.pathsep))
