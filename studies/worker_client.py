"""The terminal's side of the worker: start it, pass one job, follow it, cancel it in steps.

The window has the same client on QProcess (``app/worker_process.py``); both speak
``studies.messages``. Ladder of a cancel: ask, after 5 s terminate, after 2 s more kill.
"""

from __future__ import annotations

import collections
import subprocess
import sys
import threading
from collections.abc import Callable
from typing import Any

from db.home import Home
from engine.errors import Cancelled
from studies.errors import StudyError, WorkerLost
from studies.messages import (
    Cancel,
    Done,
    Failed,
    Message,
    Run,
    Shutdown,
    Stopped,
    from_line,
    to_line,
)

ASK_SECONDS = 5.0
TERMINATE_SECONDS = 2.0
KEPT_LINES = 50


def worker_command(home: Home) -> list[str]:
    """The worker's command line; ``-P`` keeps the folder one stands in off the import path."""
    return [sys.executable, "-P", "-m", "studies.worker", "--home", str(home.root)]


class JobFault(StudyError):
    """A bug inside the worker; ``details`` holds the traceback."""

    def __init__(self, sentence: str, details: str) -> None:
        self.details = details
        super().__init__(sentence)


class WorkerClient:
    """One worker process doing one job after another.

    Args:
        home: the home the worker works on.
    """

    def __init__(self, home: Home) -> None:
        self._process = subprocess.Popen(
            worker_command(home),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            encoding="utf-8",
            errors="replace",  # a library may write any bytes; the reader must not die of them
            start_new_session=True,  # Ctrl+C goes to us; we pass it on as a cancel
            creationflags=getattr(subprocess, "CREATE_NEW_PROCESS_GROUP", 0),  # so on Windows
        )
        self._last_lines: collections.deque[str] = collections.deque(maxlen=KEPT_LINES)
        self._errors = threading.Thread(target=self._drain, daemon=True)
        self._errors.start()
        self._jobs = 0

    @property
    def pid(self) -> int:
        """The worker's process id."""
        return self._process.pid

    def run(
        self,
        kind: str,
        arguments: dict[str, Any],
        *,
        listen: Callable[[Message], None] = lambda message: None,
    ) -> dict[str, Any]:
        """Do one job and return its result.

        Raises:
            Cancelled: Ctrl+C was pressed; what was stored stays.
            StudyError: the job failed as expected failures do.
            JobFault: a bug.
            WorkerLost: the process died.
        """
        self._jobs += 1
        job = f"{kind}-{self._jobs}"
        try:
            self._send(Run(job, kind, arguments))
            return self._follow(job, listen)
        except KeyboardInterrupt:
            self.cancel(job)
            raise Cancelled from None

    def _follow(self, job: str, listen: Callable[[Message], None]) -> dict[str, Any]:
        assert self._process.stdout is not None
        for line in self._process.stdout:
            message = from_line(line)
            listen(message)
            if isinstance(message, Done) and message.job == job:
                return message.result
            if isinstance(message, Stopped) and message.job == job:
                raise Cancelled
            if isinstance(message, Failed) and message.job == job:
                if message.expected:
                    raise StudyError(message.sentence)
                raise JobFault(message.sentence, message.details)
        raise self._lost()

    def cancel(self, job: str) -> None:
        """Ask, then terminate, then kill."""
        try:
            self._send(Cancel(job))
            self._send(Shutdown())
            self._process.wait(ASK_SECONDS)
        except (WorkerLost, subprocess.TimeoutExpired):
            self._process.terminate()
            try:
                self._process.wait(TERMINATE_SECONDS)
            except subprocess.TimeoutExpired:
                self._process.kill()
                self._process.wait()

    def close(self) -> None:
        """End the worker and wait for it."""
        if self._process.stdin is not None:
            try:
                self._process.stdin.close()
            except OSError:
                self._process.kill()  # it is gone already, or its pipe is
        try:
            self._process.wait(ASK_SECONDS + TERMINATE_SECONDS)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        self._errors.join(TERMINATE_SECONDS)
        for stream in (self._process.stdout, self._process.stderr):
            if stream is not None:
                stream.close()

    def __enter__(self) -> WorkerClient:
        """Use as a context: the worker ends with the block."""
        return self

    def __exit__(self, *unused: object) -> None:
        self.close()

    def _send(self, message: Message) -> None:
        assert self._process.stdin is not None
        try:
            self._process.stdin.write(to_line(message) + "\n")
            self._process.stdin.flush()
        except OSError as error:
            raise self._lost() from error

    def _drain(self) -> None:
        assert self._process.stderr is not None
        for line in self._process.stderr:
            self._last_lines.append(line.rstrip("\n"))

    def _lost(self) -> WorkerLost:
        code = self._process.wait()
        self._errors.join(TERMINATE_SECONDS)
        lines = tuple(self._last_lines)
        last = f" Its last line: {lines[-1]}" if lines else ""
        return WorkerLost(
            f"The worker process ended early (exit code {code}); what was stored stays, "
            f"start again to go on.{last}",
            code,
            lines,
        )
