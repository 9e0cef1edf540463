"""The composition root: builds every object of the window, in this order, and closes them
in the reverse order: home, log, settings, store, tasks, jobs, window.

Nothing else in ``app`` makes a shared object. No module here reaches torch.
"""

from __future__ import annotations

import logging
import sys
from dataclasses import dataclass
from pathlib import Path

from PySide6.QtCore import QEventLoop, QTimer
from PySide6.QtWidgets import QApplication, QMessageBox

from app import keys, theme
from app.actions import FIRST_PAGE, PAGES
from app.changes import Change, Changes
from app.failures import LastDoor, sentence
from app.file_open import FileOpener
from app.job_rows import JobRows
from app.jobs import Jobs
from app.log import close_log, open_log
from app.notify import Notify
from app.services import Services
from app.settings import SettingsKeeper
from app.tasks import Tasks
from app.window import TITLE, MainWindow
from app.worker_process import WorkerProcess
from db.errors import StoreError
from db.home import Home
from db.session import Store, open_store
from studies.preference.pack_file import SUFFIX

SMOKE_MS = 300


@dataclass(frozen=True, eq=False)
class Program:
    """Everything that was built; ``close`` takes it down."""

    window: MainWindow
    services: Services
    door: LastDoor
    log: logging.Handler

    def close(self) -> None:
        """End worker, threads, store and log, in this order."""
        self.services.jobs.kill()
        self.services.tasks.close()
        self.services.store.close()
        self.door.remove()
        close_log(self.log)


class Follower:
    """Keeps the look in step with the settings."""

    def __init__(self, settings: SettingsKeeper, changes: Changes) -> None:
        self._settings = settings
        changes.watch("settings", call=self.follow)

    def follow(self, _change: Change | None = None) -> None:
        """Apply the text scale and the keys in force."""
        keys.use(keys.KeyMap.of_text(self._settings.current.key_overrides))
        application = QApplication.instance()
        assert isinstance(application, QApplication)
        percent = self._settings.current.text_scale
        if theme.theme.scale.percent != percent or not application.styleSheet():
            theme.theme.apply(application, percent=percent)


def compose(home: Home) -> Program:
    """Build the program on a home; a QApplication must exist.

    Raises:
        StoreError: home, settings or database cannot be used; the sentence says why.
    """
    home.make()
    log = open_log(home.logs)
    notify, changes = Notify(), Changes()
    door = LastDoor(notify)
    try:
        settings = SettingsKeeper(home.settings, changes)
        store = open_store(home)
    except StoreError:
        close_log(log)
        raise
    tasks = Tasks(notify)
    rows = JobRows(store, tasks)
    jobs = Jobs(WorkerProcess(home.root), changes, notify, remember=rows.remember)
    return _window(home, Parts(notify, changes, settings, store, tasks, jobs, rows), door, log)


@dataclass(frozen=True, eq=False)
class Parts:
    """What stands before the window is built."""

    notify: Notify
    changes: Changes
    settings: SettingsKeeper
    store: Store
    tasks: Tasks
    jobs: Jobs
    rows: JobRows


def _window(home: Home, parts: Parts, door: LastDoor, log: logging.Handler) -> Program:
    follower = Follower(parts.settings, parts.changes)
    follower.follow()
    window = MainWindow(parts.jobs, parts.notify, home.state)
    window.keep(follower, parts.rows)
    services = Services(
        home=home,
        store=parts.store,
        settings=parts.settings,
        tasks=parts.tasks,
        jobs=parts.jobs,
        notify=parts.notify,
        changes=parts.changes,
        open_evidence=lambda paths: window.go("viewer", tuple(Path(path) for path in paths)),
        go=window.go,
        quiet=window.quiet,
        full_screen=window.toggle_full_screen,
    )
    window.attach(services)
    parts.rows.earlier(parts.jobs.adopt)
    parts.notify.listen()
    return Program(window, services, door, log)


def run(
    home: Home,
    *,
    open_study: str | None = None,
    open_paths: tuple[Path, ...] = (),
    smoke: bool = False,
) -> int:
    """Open the window and stay until it is closed.

    Args:
        home: where everything lives.
        open_study: id or folder of a preference study to open at its next item.
        open_paths: files and folders to open in the Viewer.
        smoke: walk through every page once and leave; for checks on machines without a screen.

    Returns:
        The exit code: 0, or 1 if the home cannot be used or the smoke walk met a failure.
    """
    application = QApplication.instance() or QApplication(sys.argv[:1])
    assert isinstance(application, QApplication)
    application.setApplicationName(TITLE)
    try:
        program = compose(home)
    except StoreError as error:
        return _refuse(error, smoke=smoke)
    program.door.install()
    program.window.show()
    program.window.go("review" if open_study else FIRST_PAGE, open_study)
    if open_paths:
        program.services.open_evidence(open_paths)
    opener = FileOpener(lambda file: _open_file(program, file))
    application.installEventFilter(opener)
    try:
        return _smoke(program) if smoke else application.exec()
    finally:
        program.window.hide()
        program.close()


def _open_file(program: Program, file: str) -> None:
    """A file from the system: a rater's pack, or evidence."""
    if file.endswith(SUFFIX):
        program.window.go("review", file)
    else:
        program.services.open_evidence((Path(file),))


def _refuse(error: StoreError, *, smoke: bool) -> int:
    """Without a home there is no window: one sentence, then the end."""
    if smoke:
        sys.stderr.write(sentence(error) + "\n")
    else:
        theme.theme.apply(_application())
        QMessageBox.critical(None, TITLE, sentence(error))
    return 1


def _application() -> QApplication:
    application = QApplication.instance()
    assert isinstance(application, QApplication)
    return application


def _smoke(program: Program) -> int:
    """Show every page for a moment; 1 if an error was told meanwhile."""
    met: list[object] = []
    # A loop of its own: a second quit of the application would outlive this walk.
    loop = QEventLoop()
    program.services.notify.posted.connect(
        lambda notice: met.append(notice) if notice.kind == "error" else None
    )

    def walk(index: int) -> None:
        if index == len(PAGES):
            loop.quit()
            return
        program.window.go(PAGES[index].id)
        QTimer.singleShot(SMOKE_MS, lambda: walk(index + 1))

    QTimer.singleShot(SMOKE_MS, lambda: walk(0))
    loop.exec()
    program.window.close()
    return 1 if met else 0
