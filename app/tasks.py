"""Short work off the window thread: a small pool, and one serial lane for the database.

Owns the threads. Results come back on the window thread in the order in which they finish;
they are dropped if their owner is gone. Long work, and everything with torch, belongs to the
worker process (``app.jobs``).
"""

from __future__ import annotations

import inspect
import weakref
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any, TypeVar

import shiboken6
from PySide6.QtCore import QObject, Qt, Signal

from app.failures import notice_of
from app.notify import Notify

Value = TypeVar("Value")
POOL_THREADS = 3


@dataclass(frozen=True, eq=False)
class _Outcome:
    owner: Callable[[], Any]
    call: Callable[[], Callable[[Any], None] | None]
    value: Any


class Tasks(QObject):
    """Runs callables on threads and hands their results to the window thread.

    Args:
        notify: tells of a failure that nobody else handles.
    """

    _finished = Signal(object)

    def __init__(self, notify: Notify, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._notify = notify
        self._open = True
        self._pool = ThreadPoolExecutor(POOL_THREADS, thread_name_prefix="task")
        self._database = ThreadPoolExecutor(1, thread_name_prefix="database")
        self._finished.connect(self._deliver, Qt.ConnectionType.QueuedConnection)

    def run(
        self,
        owner: object,
        work: Callable[[], Value],
        done: Callable[[Value], None] | None = None,
        failed: Callable[[Exception], None] | None = None,
    ) -> None:
        """Do ``work`` in the pool: decoding a slice, a thumbnail, reading a file.

        Args:
            owner: whom the result is for; if it is gone by then the result is dropped.
            work: called on another thread; must not touch widgets.
            done: receives the result on the window thread.
            failed: receives the exception on the window thread; without it a notice is shown.
        """
        self._submit(self._pool, owner, work, done, failed)

    def query(
        self,
        owner: object,
        work: Callable[[], Value],
        done: Callable[[Value], None] | None = None,
        failed: Callable[[Exception], None] | None = None,
    ) -> None:
        """Do ``work`` on the one database thread, in order; arguments as for ``run``."""
        self._submit(self._database, owner, work, done, failed)

    def close(self) -> None:
        """Finish what runs, forget what waits, deliver nothing more."""
        self._open = False
        self._pool.shutdown(wait=True, cancel_futures=True)
        # Writes that wait are finished, never forgotten.
        self._database.shutdown(wait=True, cancel_futures=False)

    def _submit(
        self,
        lane: ThreadPoolExecutor,
        owner: object,
        work: Callable[[], Any],
        done: Callable[[Any], None] | None,
        failed: Callable[[Exception], None] | None,
    ) -> None:
        if not self._open:
            return
        alive, good = weakref.ref(owner), _weak(done or _ignore)
        bad = _weak(failed or self._tell)

        def on_thread() -> None:
            try:
                outcome = _Outcome(alive, good, work())
            except Exception as error:  # noqa: BLE001 - one of the three doors
                outcome = _Outcome(alive, bad, error)
            if self._open:
                self._finished.emit(outcome)

        lane.submit(on_thread)

    def _deliver(self, outcome: _Outcome) -> None:
        owner, call = outcome.owner(), outcome.call()
        if not self._open or owner is None or call is None:
            return
        if isinstance(owner, QObject) and not shiboken6.isValid(owner):
            return
        call(outcome.value)

    def _tell(self, error: Exception) -> None:
        self._notify.post(notice_of(error))


def _ignore(_value: object) -> None:
    """Nobody waits for the result."""


def _weak(call: Callable[[Any], None]) -> Callable[[], Callable[[Any], None] | None]:
    """Hold a bound method weakly, so that waiting work does not keep its owner alive."""
    if inspect.ismethod(call):
        return weakref.WeakMethod(call)
    return lambda: call
