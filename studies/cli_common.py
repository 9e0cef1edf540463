"""What every command shares: the home, output as text or one JSON document, failures, exit codes.

Exit code 0 done, 1 something failed and is named, 2 wrong usage. Messages go to standard error.
"""

from __future__ import annotations

import atexit
import json
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import typer

from db.home import Home, find_home, temporary_home
from engine.catalog import PRESET, find_card
from engine.errors import Cancelled, UnknownModel
from studies.errors import BadRequest
from studies.failures import explain
from studies.terminal import Follower, plain
from studies.worker_client import JobFault, WorkerClient

JsonOption = Annotated[bool, typer.Option("--json", help="Print one JSON document.")]
DeviceOption = Annotated[str, typer.Option("--device", help="auto, cpu, cuda, mps")]
DtypeOption = Annotated[str, typer.Option("--dtype", help="auto, float32, bfloat16")]
TasksOption = Annotated[
    str | None, typer.Option("--tasks", help="Pattern of task ids, such as '*/i2l'.")
]
DataOption = Annotated[Path, typer.Option("--data", help="Data root in the release layout.")]
MadeOption = Annotated[Path, typer.Option("--data", help="Data root, made if it is not there.")]
ISSUES = "Copy the lines above into a report."


@dataclass
class Options:
    """What was said before the command: the home and the form of output."""

    home: Home
    json: bool


def options(*, home: Path | None, temp_home: bool, as_json: bool) -> Options:
    """Find or make the home.

    Raises:
        typer.BadParameter: both a home and a temporary one were asked for.
    """
    if home is not None and temp_home:
        raise typer.BadParameter("choose one of --home and --temp-home")
    if not temp_home:
        return Options(find_home(home), as_json)
    temporary = temporary_home()
    atexit.register(temporary.remove)
    return Options(temporary, as_json)


def say(sentence: str) -> None:
    """One line for a person, on standard error."""
    sys.stderr.write(plain(sentence) + "\n")


def answer(said: Options, document: Any, text: str) -> None:
    """The command's answer on standard output: the text, or the document as JSON."""
    out = json.dumps(document, indent=2, ensure_ascii=False) if said.json else plain(text)
    sys.stdout.write(out.rstrip("\n") + "\n")


@contextmanager
def failures() -> Iterator[None]:
    """Turn an expected failure into one sentence and exit code 1; a bug shows its details."""
    try:
        yield
    except (Cancelled, KeyboardInterrupt):
        say("Stopped. What is stored stays; the same command goes on from there.")
        raise typer.Exit(1) from None
    except (typer.Exit, typer.BadParameter, typer.Abort):
        raise
    except JobFault as fault:
        say(fault.details.rstrip("\n"))
        say(f"{fault} {ISSUES}")
        raise typer.Exit(1) from None
    except BrokenPipeError:
        raise typer.Exit(1) from None
    except Exception as error:  # noqa: BLE001 - the terminal's door, as excepthook is the window's
        failure = explain(error)
        if not failure.expected:
            say(failure.details.rstrip("\n"))
            say(ISSUES)
        say(failure.sentence)
        raise typer.Exit(1) from None


def work(said: Options, kind: str, arguments: dict[str, Any]) -> dict[str, Any]:
    """Do one job in a worker process and follow it on the terminal."""
    follower = Follower()
    with WorkerClient(said.home.make()) as client:
        try:
            return client.run(kind, arguments, listen=follower)
        finally:
            follower.finish()


def expanded(path: Path) -> Path:
    """A path with ``~`` written out; left as it is where that names nobody (``~$report.txt``)."""
    try:
        return path.expanduser()
    except RuntimeError:
        return path


def is_folder(path: Path) -> bool:
    """Whether there is such a folder; words too long or too odd for a path are none."""
    try:
        return expanded(path).is_dir()
    except (OSError, ValueError):
        return False


def model_words(home: Home, model: str, settings: Sequence[str] = ()) -> str:
    """A model's name as the worker understands it from its own folder.

    A folder becomes absolute, an id stays; ``@release`` and ``@setting=value`` stay behind it, and
    each of ``settings`` (``name=value``) is put there.

    Raises:
        UnknownModel: settings are wanted of a model that is none.
        ModelError: a setting or value that the family does not know.
        BadRequest: not of the form ``name=value``.
    """
    if not model.strip():
        raise UnknownModel("No model was named. See which there are: triptych models list")
    plain, variant = model, ""
    while not is_folder(Path(plain)):
        rest, at, last = plain.rpartition("@")
        if not at or not (last == PRESET or "=" in last):
            break
        plain, variant = rest, f"@{last}{variant}"
    for one in settings:
        if "=" not in one.strip("="):
            raise BadRequest(f"--set wants name=value, not {one!r}.")
        variant += f"@{one}"
    named = (absolute(Path(plain)) if is_folder(Path(plain)) else plain) + variant
    if settings:
        find_card(named, cards_dir=home.cards)
    return named


def absolute(path: Path) -> str:
    """A path the worker understands from its own folder."""
    whole = Path.cwd() / expanded(path)
    try:
        return str(whole.resolve())
    except (OSError, RuntimeError):  # links in a circle: the reader says so
        return str(whole)
