"""How a job is followed on a terminal: a moving line on a screen, plain lines elsewhere.

Everything goes to standard error; standard output belongs to the answer.
"""

from __future__ import annotations

import re
import sys
import time
from typing import TextIO

from engine.hub import in_words
from studies.messages import Log, Message, Progress

PLAIN_SECONDS = 5.0
BAR = 24
CONTROL = re.compile(r"\r(?!\n)|[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f]")


def plain(text: str) -> str:
    """A text with ``?`` for control characters: a file's name may hold orders to a terminal."""
    return CONTROL.sub("?", text)


class Follower:
    """Shows messages of a job as they come.

    Args:
        stream: where to write; standard error by default.
    """

    def __init__(self, stream: TextIO | None = None) -> None:
        self._stream = stream or sys.stderr
        self._live = self._stream.isatty()
        self._started = time.monotonic()
        self._phase = ""
        self._part, self._part_started = "", 0.0
        self._last = 0.0
        self._width = 0

    def __call__(self, message: Message) -> None:
        """Show one message; ignores those that are not for reading."""
        if isinstance(message, Log):
            self._line(message.sentence)
        elif isinstance(message, Progress):
            self._progress(message)

    def finish(self) -> None:
        """Clear the moving line."""
        if self._live and self._width:
            self._stream.write("\r" + " " * self._width + "\r")
            self._stream.flush()
            self._width = 0

    def _progress(self, message: Progress) -> None:
        if message.phase != self._phase:
            self._phase, self._started, self._last = message.phase, time.monotonic(), 0.0
        now = time.monotonic()
        if message.part != self._part:
            self._part, self._part_started = message.part, now
        if not message.total:
            self._open_ended(message, now)
            return
        if not self._live:
            if now - self._last < PLAIN_SECONDS and message.done < message.total:
                return
            self._last = now
            rest = left(now - self._started, message.done, message.total)
            self._write(f"{message.phase}: {far(message, ' of ')}{rest}{self._piece(message)}\n")
            return
        text = f"\r{message.phase} {bar(message.done, message.total)} {far(message, '/')}"
        text += left(now - self._started, message.done, message.total) + self._piece(message)
        padding = " " * max(0, self._width - len(text))
        self._width = len(text)
        self._write(text + padding)

    def _open_ended(self, message: Progress, now: float) -> None:
        """A phase that knows no end: its name once, then how far it is, now and then."""
        if not message.done:
            self._line(f"{message.phase} ...")
            self._last = now
        elif self._live:
            text = f"\r{message.phase}: {message.done} {message.unit}"
            padding = " " * max(0, self._width - len(text))
            self._width = len(text)
            self._write(text + padding)
        elif now - self._last >= PLAIN_SECONDS:
            self._last = now
            self._write(f"{message.phase}: {message.done} {message.unit}\n")

    def _piece(self, message: Progress) -> str:
        """The piece in hand with the time it takes yet."""
        if not message.part:
            return ""
        spent = time.monotonic() - self._part_started
        rest = left(spent, message.part_done, message.part_total)
        return f"; {message.part} {message.part_done}/{message.part_total}{rest}"

    def _line(self, sentence: str) -> None:
        self.finish()
        self._write(plain(sentence) + "\n")

    def _write(self, text: str) -> None:
        self._stream.write(text)
        self._stream.flush()


def far(message: Progress, between: str) -> str:
    """How far a job is, for example ``12 of 40 items``; bytes in larger units."""
    if message.unit == "bytes":
        return f"{in_words(message.done)}{between}{in_words(message.total)}"
    return f"{message.done}{between}{message.total} {message.unit}"


def bar(done: int, total: int) -> str:
    """A bar of fixed width, for example ``[####....]``."""
    filled = BAR * done // total if total else 0
    return "[" + "#" * filled + "." * (BAR - filled) + "]"


def left(elapsed: float, done: int, total: int) -> str:
    """The time left in words once a tenth of a second says anything about it, else nothing."""
    if done <= 0 or done >= total or elapsed < 1.0:
        return ""
    seconds = elapsed / done * (total - done)
    if seconds < 90:
        return f", about {seconds:.0f} s left"
    if seconds < 5400:
        return f", about {seconds / 60:.0f} min left"
    return f", about {seconds / 3600:.1f} h left"
