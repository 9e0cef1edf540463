"""What every presenter is given: one frozen bundle of the program's objects.

Owns the bundle and nothing in it. ``app.main`` builds it once; tests build it from fakes.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from app.presenters.machine import Machine

if TYPE_CHECKING:
    from app.changes import Changes
    from app.jobs import Jobs
    from app.notify import Notify
    from app.settings import SettingsKeeper
    from app.tasks import Tasks
    from db.home import Home
    from db.session import Store


class Go(Protocol):
    """Shows a page; ``argument`` reaches its presenter's ``shown(argument)``."""

    def __call__(self, page_id: str, argument: Any = None) -> None: ...


def _nothing() -> None:
    """A window that cannot do this."""


@dataclass(frozen=True)
class Services:
    """The objects a presenter may use.

    Attributes:
        home: every path.
        store: the database; use it only inside ``tasks.query``.
        settings: ``settings.current`` is the frozen Settings; ``settings.save(new)`` keeps it.
        tasks: short work off the window thread (``run``) and on the database lane (``query``).
        jobs: long work in the worker process.
        notify: one sentence to the user, with at most one action.
        changes: who wrote what, so that pages refresh.
        open_evidence: opens files or folders in the Viewer page.
        go: shows a page by its id in ``app.actions.PAGES``.
        quiet: True hides rail and tray and holds notices (while rating); False brings them back.
        full_screen: switches full screen on or off.
        machine: what is known of this machine's devices, shared by the pages that show models.
    """

    home: Home
    store: Store
    settings: SettingsKeeper
    tasks: Tasks
    jobs: Jobs
    notify: Notify
    changes: Changes
    open_evidence: Callable[[Sequence[Path]], None]
    go: Go
    quiet: Callable[[bool], None]
    full_screen: Callable[[], None] = _nothing
    machine: Machine = field(default_factory=Machine)
