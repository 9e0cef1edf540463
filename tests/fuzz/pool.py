"""Workers that may die: each mutant is answered, or its death is the finding."""

from __future__ import annotations

import json
import os
import queue
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

from tests.fuzz.mutate import Recipe

ROOT = Path(__file__).resolve().parents[2]
WALL = 90.0  # seconds; a worker that waits for something is ended
EACH = 400  # mutants of one worker process


class Worker:
    """One process, started again where it dies."""

    def __init__(self) -> None:
        self._process: subprocess.Popen[str] | None = None
        self._done = 0

    def ask(self, recipe: Recipe) -> dict[str, Any]:
        """The report on a recipe; of a dead or silent worker its end as a finding."""
        process = self._running()
        assert process.stdin is not None
        assert process.stdout is not None
        answers: queue.Queue[str] = queue.Queue()
        stdout = process.stdout
        reader = threading.Thread(target=lambda: answers.put(stdout.readline()))
        reader.start()
        try:
            process.stdin.write(json.dumps(recipe) + "\n")
            process.stdin.flush()
            line = answers.get(timeout=WALL)
        except (OSError, queue.Empty):
            line = ""
        if line:
            reader.join()
            self._done += 1
            return dict(json.loads(line))
        hung = process.poll() is None and not self._ended(process)
        self.close()
        reader.join()
        return {"findings": [_death(process.returncode, hung=hung)], "ends": ["dead"]}

    def _ended(self, process: subprocess.Popen[str]) -> bool:
        """True if it is about to be gone by itself."""
        try:
            process.wait(2.0)
        except subprocess.TimeoutExpired:
            return False
        return True

    def _running(self) -> subprocess.Popen[str]:
        """The process, a new one where there is none or it has done enough."""
        if self._process is None or self._done >= EACH:
            self.close()
            variables = {**os.environ, "OMP_NUM_THREADS": "1", "PYTHONHASHSEED": "0"}
            self._process = subprocess.Popen(
                [sys.executable, "-X", "faulthandler", "-m", "tests.fuzz.worker"],
                cwd=ROOT, env=variables, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                text=True, encoding="utf-8",
            )  # fmt: skip
            self._done = 0
        return self._process

    def close(self) -> None:
        """End the process, if there is one."""
        process, self._process = self._process, None
        if process is None:
            return
        process.kill()
        process.wait()
        for stream in (process.stdin, process.stdout):
            if stream is not None:
                with _forgiving():
                    stream.close()


def _death(code: int, *, hung: bool) -> list[str]:
    """The finding of a worker's end."""
    if hung:
        return ["hang", f"no answer for {WALL:g} seconds of waiting", ""]
    if code in (-27, 155):  # SIGPROF
        return ["hang", "computes longer than a mutant may", ""]
    return ["crash", f"the process ends with {code}", ""]


class _forgiving:
    """A pipe whose other end is gone cannot be flushed; nothing is lost."""

    def __enter__(self) -> None:
        return None

    def __exit__(self, kind: type[BaseException] | None, *rest: object) -> bool:
        return kind is not None and issubclass(kind, OSError)
