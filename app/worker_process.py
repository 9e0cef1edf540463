"""The client of the worker process: one QProcess running ``python -m studies.worker``.

Owns the process, its pipe and the cancel ladder (ask, 5 s, terminate, 2 s, kill). Knows no
job list (``app.jobs``) and never waits for the process on the window thread.
"""

from __future__ import annotations

import os
import sys
from collections import deque
from collections.abc import Sequence
from pathlib import Path

from PySide6.QtCore import QObject, QProcess, QProcessEnvironment, QTimer, Signal

from studies.errors import BadMessage, WorkerLost
from studies.messages import Cancel, Message, Shutdown, from_line, to_line

ASK_MS = 5000
TERMINATE_MS = 2000
LAST_LINES = 20


class WorkerProcess(QObject):
    """Starts a worker, speaks JSON lines with it, and says when it is gone.

    Args:
        home: the home's root folder, passed on as ``--home``.
        command: program and arguments before ``--home``; tests pass their own.
    """

    message = Signal(object)
    lost = Signal(object)
    ended = Signal()

    def __init__(
        self,
        home: Path,
        *,
        command: Sequence[str] | None = None,
        ask_ms: int = ASK_MS,
        parent: QObject | None = None,
    ) -> None:
        super().__init__(parent)
        self._home = home
        self._command = tuple(command or (sys.executable, "-P", "-m", "studies.worker"))
        self._ask_ms = ask_ms
        self._process: QProcess | None = None
        self._buffer = b""
        self._last: deque[str] = deque(maxlen=LAST_LINES)
        self._leaving = False
        self._ladder = QTimer(self, singleShot=True)
        self._ladder.timeout.connect(self._push)
        self._terminated = False

    @property
    def running(self) -> bool:
        """True from start until the process has ended."""
        return self._process is not None

    def start(self) -> None:
        """Start the process; nothing if one runs."""
        if self._process is not None:
            return
        self._buffer, self._leaving, self._terminated = b"", False, False
        self._last.clear()
        process = QProcess(self)
        process.setProcessEnvironment(_environment())
        process.readyReadStandardOutput.connect(self._read)
        process.readyReadStandardError.connect(self._read_errors)
        process.finished.connect(self._finished)
        process.errorOccurred.connect(self._failed)
        self._process = process
        process.start(self._command[0], [*self._command[1:], "--home", str(self._home)])

    def send(self, message: Message) -> None:
        """Write one message; what is sent before the worker is up waits in the pipe."""
        if self._process is not None:
            self._process.write(to_line(message).encode("utf-8") + b"\n")

    def cancel(self, job: str) -> None:
        """Ask the worker to stop ``job``; if it does not answer in time, end it."""
        self._leaving = True
        self.send(Cancel(job))
        self._ladder.start(self._ask_ms)

    def settled(self) -> None:
        """The job that was asked to stop has ended; the worker may live on."""
        self._ladder.stop()
        self._leaving = False

    def shutdown(self) -> None:
        """Ask the worker to leave; after the ladder's time it is ended."""
        if self._process is None:
            return
        self._leaving = True
        self.send(Shutdown())
        self._process.closeWriteChannel()
        self._ladder.start(self._ask_ms)

    def kill(self) -> None:
        """End the process now and wait for its end (at the program's own end only)."""
        self._leaving = True
        self._ladder.stop()
        process = self._process
        if process is not None:
            process.kill()
            process.waitForFinished(3000)

    def _push(self) -> None:
        """Climb the ladder one step."""
        if self._process is None:
            return
        # On Windows terminate() posts a window message, which a console program never sees.
        if self._terminated or os.name == "nt":
            self._process.kill()
            return
        self._terminated = True
        self._process.terminate()
        self._ladder.start(TERMINATE_MS)

    def _read(self) -> None:
        if self._process is None:
            return
        self._buffer += bytes(self._process.readAllStandardOutput().data())
        *lines, self._buffer = self._buffer.split(b"\n")
        for line in lines:
            self._take(line.decode("utf-8", errors="replace").strip())

    def _take(self, line: str) -> None:
        if not line:
            return
        try:
            message = from_line(line)
        except BadMessage:
            self._last.append(line)  # a library that prints; kept for the lost state
            return
        self.message.emit(message)

    def _read_errors(self) -> None:
        if self._process is not None:
            text = bytes(self._process.readAllStandardError().data())
            self._last.extend(text.decode("utf-8", errors="replace").splitlines())

    def _failed(self, error: QProcess.ProcessError) -> None:
        if error == QProcess.ProcessError.FailedToStart:
            self._gone(None)

    def _finished(self, exit_code: int, _status: QProcess.ExitStatus) -> None:
        self._read()
        self._read_errors()
        self._gone(exit_code)

    def _gone(self, exit_code: int | None) -> None:
        process, self._process = self._process, None
        self._ladder.stop()
        if process is not None:
            process.deleteLater()
        if self._leaving:
            self.ended.emit()
            return
        how = "could not be started" if exit_code is None else f"ended (exit code {exit_code})"
        self.lost.emit(
            WorkerLost(
                f"The worker process {how}. What it stored is kept; start the job again to go on.",
                exit_code,
                tuple(self._last),
            )
        )


def _environment() -> QProcessEnvironment:
    """The worker's environment: this program's own, with UTF-8 pipes that are not held back."""
    environment = QProcessEnvironment.systemEnvironment()
    environment.insert("PYTHONUNBUFFERED", "1")
    environment.insert("PYTHONUTF8", "1")
    return environment
