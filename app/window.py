"""The window: rail of pages, page stack, notices, job tray, close guard.

Owns which page is shown and where. Builds a page when it is first shown; decides nothing about
what is in it.
"""

from __future__ import annotations

import contextlib
import json
from typing import TYPE_CHECKING, Any, cast

from PySide6.QtCore import QByteArray, QSize, Qt
from PySide6.QtGui import QCloseEvent, QGuiApplication, QKeyEvent, QKeySequence, QShortcut
from PySide6.QtWidgets import (
    QHBoxLayout,
    QMainWindow,
    QPushButton,
    QStackedWidget,
    QToolButton,
    QVBoxLayout,
    QWidget,
)

from app import keys, theme
from app.actions import COMMANDS, FIRST_PAGE, PAGES, build, page
from app.jobs import Jobs
from app.notify import Notify
from app.presenters.job_tray import JobTrayPresenter
from app.widgets.job_tray import JobTray
from app.widgets.notice import NoticeBar
from app.widgets.rail import Rail

if TYPE_CHECKING:
    from pathlib import Path

    from app.services import Services

TITLE = "Triptych"
FIRST_SIZE = (1440, 900)
LEAST_SIZE = (960, 640)
OPENING = ("open", "open-files")  # commands of the Viewer that count on every page
FRAME = QSize(16, 40)  # what the system draws around a window


class MainWindow(QMainWindow):
    """The one window.

    Args:
        jobs: guards the close and fills the tray.
        notify: whose notices are shown.
        state: the file that keeps geometry and last page; nothing else is written there.
    """

    def __init__(self, jobs: Jobs, notify: Notify, state: Path) -> None:
        super().__init__()
        self._jobs = jobs
        self._notify = notify
        self._state = state
        self._services: Services | None = None
        self._presenters: dict[str, Any] = {}
        self._views: dict[str, QWidget] = {}
        self._shown = ""
        self._leaving = False
        self._left = False
        self._restored = False
        self._helpers: tuple[object, ...] = ()
        self._shortcuts: dict[str, QShortcut] = {}
        self.setWindowTitle(TITLE)
        self.setWindowIcon(theme.icon("app", size=64))
        self._fit_screen()
        self.rail, self.pages = Rail(PAGES), QStackedWidget()
        self.notices, self.tray = NoticeBar(), JobTray()
        self._tray = JobTrayPresenter(self.tray, jobs)
        self._lay_out()
        self._bind_keys()
        jobs.idle.connect(self._jobs_gone)
        notify.posted.connect(self.notices.post)
        notify.recalled.connect(self.notices.recall)

    def attach(self, services: Services) -> None:
        """Give the window what its pages' presenters need."""
        self._services = services
        services.changes.watch("settings", call=self.name_keys)
        self._restore()

    def keep(self, *helpers: object) -> None:
        """Hold objects that live as long as the window."""
        self._helpers = helpers

    def go(self, page_id: str, argument: Any = None) -> None:
        """Show a page, building it the first time; ``argument`` reaches ``shown``."""
        if page_id not in self._presenters:
            self._build(page_id)
        before = self._presenters.get(self._shown)
        if before is not None and self._shown != page_id:
            before.hidden()
        if self._shown != page_id:
            self.notices.leave_page(page_id)
        self._shown = page_id
        for command_id in OPENING:  # the Viewer hears them itself, a rating has no such keys
            self._shortcuts[command_id].setEnabled(page_id not in ("viewer", "review"))
        self.pages.setCurrentWidget(self._views[page_id])
        self.rail.check(page_id)
        self._presenters[page_id].shown(argument)

    @property
    def page_id(self) -> str:
        """The page on show."""
        return self._shown

    def presenter(self, page_id: str) -> Any:
        """A page's presenter, or None before it was first shown."""
        return self._presenters.get(page_id)

    def quiet(self, quiet: bool) -> None:
        """Hide all but the page while a reader rates, and hold notices back."""
        self._notify.hold(quiet)
        self._tray.blank(quiet)
        self.rail.setVisible(not quiet)
        self.tray.setVisible(not quiet)
        self.notices.setVisible(not quiet and self.notices.current is not None)

    def open_with(self, command_id: str) -> None:
        """Open evidence from another page: the Viewer asks for it."""
        self.go("viewer")
        self._views["viewer"].do(command_id)  # type: ignore[attr-defined]

    def toggle_full_screen(self) -> None:
        self.showNormal() if self.isFullScreen() else self.showFullScreen()

    def toggle_jobs(self) -> None:
        self._tray.toggle()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Enter presses the button that has the keys, as Space does."""
        held = self.focusWidget()
        enter = event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter) and not event.isAutoRepeat()
        if enter and isinstance(held, QPushButton | QToolButton) and held.isEnabled():
            held.click()
        else:
            super().keyPressEvent(event)

    def closeEvent(self, event: QCloseEvent) -> None:
        """Ask once before words are lost or while a job runs; then stop it without freezing."""
        if not self._left and not self._leaving and self._page_asks():
            event.ignore()
            return
        if self._left or self._jobs.current is None:
            self._leave()
            event.accept()
            return
        event.ignore()
        if not self._leaving:
            title = self._jobs.current.title
            self.quiet(False)
            self._notify.warn(
                f"{title} is running. Closing stops it after the batch in hand; what is stored "
                "stays, and it goes on from there next time.",
                action="Stop and close",
                act=self.stop_and_close,
            )

    def _page_asks(self) -> bool:
        """Whether a page asks about what would be lost; none holds up the end of a session."""
        if cast(QGuiApplication, QGuiApplication.instance()).isSavingSession():
            return False
        asking = next((name for name, one in self._presenters.items() if one.keeps_open()), "")
        if asking:
            self.go(asking)
        return bool(asking)

    def stop_and_close(self) -> None:
        """Stop the jobs, then close."""
        self._leaving = True
        self._jobs.close()

    def _jobs_gone(self) -> None:
        if self._leaving:
            self._left = True
            self.close()

    def _leave(self) -> None:
        if self._left and not self._presenters:
            return
        self._left = True
        self._save()
        for presenter in self._presenters.values():
            presenter.close()
        self._presenters.clear()

    def _build(self, page_id: str) -> None:
        assert self._services is not None, "attach() comes before go()"
        view, presenter = build(page(page_id), self._services)
        self._views[page_id], self._presenters[page_id] = view, presenter
        self.pages.addWidget(view)

    def _lay_out(self) -> None:
        body, right = QWidget(), QVBoxLayout()
        row = QHBoxLayout(body)
        for layout in (row, right):
            layout.setContentsMargins(0, 0, 0, 0)
            layout.setSpacing(0)
        right.addWidget(self.pages, 1)
        right.addWidget(self.notices)
        right.addWidget(self.tray)
        row.addWidget(self.rail)
        row.addLayout(right, 1)
        self.setCentralWidget(body)

    def _bind_keys(self) -> None:
        self.rail.chosen.connect(self.go)
        for entry in PAGES:
            self._shortcut(f"go-{entry.id}", lambda page_id=entry.id: self.go(page_id))
        for command in COMMANDS:
            self._shortcut(command.id, getattr(self, command.method))
        for command_id in OPENING:
            self._shortcut(command_id, lambda id_=command_id: self.open_with(id_))
        self.name_keys()

    def _shortcut(self, command: str, call: Any) -> None:
        shortcut = QShortcut(self)
        shortcut.setContext(Qt.ShortcutContext.WindowShortcut)
        shortcut.activated.connect(lambda: call())
        self._shortcuts[command] = shortcut

    def name_keys(self, _change: object = None) -> None:
        """Listen to the keys in force."""
        self.rail.name_keys(PAGES)
        for command, shortcut in self._shortcuts.items():
            shortcut.setKeys([QKeySequence(name) for name in keys.current().keys_of(command)])

    def _fit_screen(self) -> None:
        """As large as is useful, never larger than what the screen leaves free."""
        screen = self.screen() or QGuiApplication.primaryScreen()
        room = room_on(None if screen is None else screen.availableGeometry().size())
        self.setMinimumSize(QSize(*LEAST_SIZE).boundedTo(room))
        self.resize(self.size().boundedTo(room) if self._restored else room)

    def _restore(self) -> None:
        """Geometry of last time; a damaged file is worth no sentence."""
        with contextlib.suppress(OSError, ValueError, AttributeError, TypeError):
            kept = json.loads(self._state.read_text(encoding="utf-8"))
            geometry = QByteArray.fromBase64(kept.get("geometry", "").encode("ascii"))
            self._restored = self.restoreGeometry(geometry)
        if self._restored and not self.isMaximized() and not self.isFullScreen():
            self._fit_screen()  # the screen of last time may have been larger

    def _save(self) -> None:
        kept = {
            "geometry": bytes(self.saveGeometry().toBase64().data()).decode("ascii"),
            "page": self._shown or FIRST_PAGE,
        }
        with contextlib.suppress(OSError):
            self._state.write_text(json.dumps(kept), encoding="utf-8")


def room_on(screen: QSize | None) -> QSize:
    """Size of the first window on a screen's free part."""
    wanted = QSize(*FIRST_SIZE)
    return wanted if screen is None else wanted.boundedTo(screen - FRAME)
