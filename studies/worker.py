"""The worker process: reads messages on standard input, does one job at a time, answers in lines.

``python -m studies.worker --home DIR``. Standard output belongs to the wire alone: the original
descriptor is kept for messages and descriptor 1 is pointed at standard error, so chatter of a
library cannot corrupt it. If standard input ends, the worker exits: no orphan holds a GPU.
"""

from __future__ import annotations

import argparse
import io
import os
import queue
import sys
import threading
import time
from pathlib import Path
from typing import TextIO

from db.home import Home
from engine.control import Control
from engine.errors import Cancelled
from studies.errors import BadMessage
from studies.failures import explain
from studies.jobs import load_job
from studies.messages import (
    Cancel,
    Done,
    Failed,
    Log,
    Message,
    Progress,
    Ready,
    Run,
    Saved,
    Shutdown,
    Stopped,
    from_line,
    to_line,
)

PROGRESS_SECONDS = 0.1
LEAVE_SECONDS = 5.0


class Wire:
    """Writes messages, one line each, from any thread."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream
        self._lock = threading.Lock()

    def send(self, message: Message) -> None:
        """Write one message; a closed pipe ends the process, since nobody listens any more."""
        with self._lock:
            try:
                self._stream.write(to_line(message) + "\n")
                self._stream.flush()
            except (BrokenPipeError, ValueError):
                os._exit(0)


class Worker:
    """Takes runs from a queue filled by the reading thread."""

    def __init__(self, home: Home, wire: Wire) -> None:
        self.home = home
        self.wire = wire
        self._inbox: queue.Queue[Run | None] = queue.Queue()
        self._cancelled: set[str] = set()
        self._alone = False

    def read(self, stream: TextIO) -> None:
        """Read messages until the stream ends; then stop what runs and leave."""
        try:
            for line in stream:
                if line.strip():
                    self._take(line)
        finally:
            # Asked first, so that a job can clear its half-made things away; one that does not
            # look at its control within a moment must not outlive its owner.
            self._alone = True
            self._inbox.put(None)
            threading.Timer(LEAVE_SECONDS, os._exit, args=(0,)).start()

    def _take(self, line: str) -> None:
        try:
            message = from_line(line)
        except BadMessage as error:
            self.wire.send(Failed("", str(error)))
            return
        if isinstance(message, Run):
            self._inbox.put(message)
        elif isinstance(message, Cancel):
            self._cancelled.add(message.job)
        elif isinstance(message, Shutdown):
            self._inbox.put(None)

    def work(self) -> None:
        """Do jobs until told to stop."""
        self.wire.send(Ready(pid=os.getpid()))
        while (run := self._inbox.get()) is not None:
            self.wire.send(self.do(run))

    def do(self, run: Run) -> Message:
        """Do one job and say how it ended. One of the three doors that catch broadly."""
        try:
            result = load_job(run.kind)(self.home, run.arguments, self._control(run.job))
        except Cancelled:
            return Stopped(run.job)
        except Exception as error:  # noqa: BLE001 - the worker loop is a door
            failure = explain(error)
            return Failed(run.job, failure.sentence, failure.expected, failure.details)
        saved = tuple(result.pop("saved", ()))
        if saved:
            self.wire.send(Saved(run.job, saved))
        return Done(run.job, result)

    def _control(self, job: str) -> Control:
        last_time, last_phase = 0.0, ""

        def report(done: int, total: int, unit: str, phase: str) -> None:
            nonlocal last_time, last_phase
            now = time.monotonic()
            going = done < total or not total
            if going and phase == last_phase and now - last_time < PROGRESS_SECONDS:
                return
            last_time, last_phase = now, phase
            part = control.part
            self.wire.send(
                Progress(job, done, total, unit, phase, part.name, part.done, part.total)
            )

        control = Control(
            cancelled=lambda: self._alone or job in self._cancelled,
            report=report,
            log=lambda sentence: self.wire.send(Log(job, sentence)),
        )
        return control


def take_stdout() -> TextIO:
    """Keep standard output for the wire and send everybody else's prints to standard error."""
    sys.stdout.flush()
    wire = os.fdopen(os.dup(1), "w", encoding="utf-8", newline="\n")
    os.dup2(2, 1)
    return wire


def share_processors() -> None:
    """Let the computing threads sleep while they wait, unless the user said otherwise.

    By default they spin: on a machine with other work the threads then take the processor from
    each other, measured here as nine times the time for a volume. Read once, when torch loads.
    """
    os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")


def main(arguments: list[str] | None = None) -> int:
    """Run the worker until standard input ends or a shutdown comes."""
    share_processors()
    parser = argparse.ArgumentParser(prog="python -m studies.worker", description=__doc__)
    parser.add_argument("--home", type=Path, required=True)
    home = Home(parser.parse_args(arguments).home).make()
    worker = Worker(home, Wire(take_stdout()))
    if isinstance(sys.stdin, io.TextIOWrapper):
        # UTF-8 on every system; a stray byte is one bad message, not the end of the reader
        sys.stdin.reconfigure(encoding="utf-8", errors="replace")
    reader = threading.Thread(target=worker.read, args=(sys.stdin,), daemon=True)
    reader.start()
    worker.work()
    return 0


if __name__ == "__main__":
    code = main()
    sys.stderr.flush()
    os._exit(code)  # the reading thread sits in a blocking read; do not wait for it
