"""The wire between a window or terminal and the worker: one JSON object per line, versioned.

To the worker: ``Run``, ``Cancel``, ``Shutdown``. From it: ``Ready``, ``Progress``, ``Saved``,
``Log``, ``Done``, ``Failed``, ``Stopped``. Arrays never cross: the worker writes a file
under the home and names it in ``Done.result``.
"""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, field
from typing import Any

from studies.errors import BadMessage

VERSION = 1


@dataclass(frozen=True)
class Run:
    """Do one job. ``kind`` is a key of ``studies.jobs.JOBS``."""

    job: str
    kind: str
    arguments: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Cancel:
    """Stop that job after the batch in hand."""

    job: str


@dataclass(frozen=True)
class Shutdown:
    """Exit once idle."""


@dataclass(frozen=True)
class Ready:
    """The worker listens."""

    version: int = VERSION
    pid: int = 0


@dataclass(frozen=True)
class Progress:
    """How far a job is, and the piece of it in hand; sent at most ten times a second."""

    job: str
    done: int
    total: int
    unit: str
    phase: str
    part: str = ""
    part_done: int = 0
    part_total: int = 0


@dataclass(frozen=True)
class Saved:
    """Something was stored; ``kinds`` name what changed (``run``, ``collection``, ``study``...)."""

    job: str
    kinds: tuple[str, ...]


@dataclass(frozen=True)
class Log:
    """One sentence."""

    job: str
    sentence: str


@dataclass(frozen=True)
class Done:
    """The job ended well."""

    job: str
    result: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Failed:
    """The job failed. ``expected`` is False for a bug; then ``details`` holds the traceback."""

    job: str
    sentence: str
    expected: bool = True
    details: str = ""


@dataclass(frozen=True)
class Stopped:
    """The job was cancelled; what it stored stays."""

    job: str


Message = Run | Cancel | Shutdown | Ready | Progress | Saved | Log | Done | Failed | Stopped
KINDS: dict[str, type[Any]] = {
    kind.__name__.lower(): kind
    for kind in (Run, Cancel, Shutdown, Ready, Progress, Saved, Log, Done, Failed, Stopped)
}


def to_line(message: Message) -> str:
    """One line of JSON, without the line break."""
    return json.dumps({"type": type(message).__name__.lower(), **asdict(message)}, sort_keys=True)


def from_line(line: str) -> Message:
    """Read one line.

    Raises:
        BadMessage: not JSON, of an unknown type, or with unknown or missing fields.
    """
    try:
        fields = json.loads(line)
        kind = KINDS[fields.pop("type")]
        if "kinds" in fields:
            fields["kinds"] = tuple(fields["kinds"])
        if not isinstance(fields.get("job", ""), str):
            raise TypeError("a job is named by a text")
        message: Message = kind(**fields)
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise BadMessage(f"Not a message of this program: {line[:120]!r}") from error
    return message
