"""The job behind ``triptych bench mini``: all tasks on small invented data, through every builder.

Owns the order: each source's official layout is written, its builders run over it, and the tasks
are left ready. Refuses a data root that holds anything else. A source without generator or reader,
or whose builder fails, is a sentence in the answer, never a gap.
"""

from __future__ import annotations

import json
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from db.home import Home
from engine.control import Control
from engine.errors import EngineError
from studies.errors import StudyError
from studies.medheb.builders.built import read_built
from studies.medheb.builders.card import SourceCard
from studies.medheb.builders.catalogue import source_cards
from studies.medheb.builders.job import build_job
from studies.medheb.lines import write_lines
from studies.medheb.mini.catalogue import WRITERS, writer
from studies.medheb.release import find_index
from studies.medheb.tasks import load_tasks

MARK = "triptych_mini.json"
SEED = 42
Document = dict[str, Any]


def mini_job(home: Home, arguments: dict[str, Any], control: Control) -> Document:
    """Generate small data of every source and build its tasks.

    Args:
        home: handed on to the builders.
        arguments: ``data`` (the data root), and optionally ``sources`` (ids, all when left out),
            ``seed`` (of the invented data) and ``keep_official`` (leave the official layouts in
            ``<data>-official`` beside the data root).
        control: asked between sources and records, told the progress.

    Returns:
        ``data``, ``official`` (folder or None), ``seed``, ``built`` (source to what its builder
        says), ``left_out`` (source to why), ``tasks`` (the ids that are ready), ``missing`` (task
        to why, of the sources asked for), and how many are ``ready`` ``of`` the registry's.

    Raises:
        StudyError: a source nobody knows, or a data root or folder that holds something else.
        NotWritable: the data root cannot be written.
        Cancelled: the user asked to stop; finished tasks stay.
    """
    data, given = Path(arguments["data"]), arguments.get("seed")
    seed = SEED if given is None else int(given)
    wanted = _wanted(arguments.get("sources"))
    kept = data.with_name(f"{data.name}-official") if arguments.get("keep_official") else None
    claim(data, seed)
    if kept is not None:
        claim(kept, seed)
    left_out = {source: reason for source in wanted if (reason := _no_way(source))}
    with _room(kept) as official:
        built = _build(home, official, data, wanted, left_out, seed=seed, control=control)
    return {
        "data": str(data), "official": str(kept) if kept else None, "seed": seed, "built": built,
        "left_out": left_out, **_state(data, wanted, left_out),
    }  # fmt: skip


@contextmanager
def _room(kept: Path | None) -> Iterator[Path]:
    """Where the official layouts are written: the folder to keep, or one that goes afterwards."""
    if kept is not None:
        yield kept
        return
    with tempfile.TemporaryDirectory(prefix="triptych-mini-") as folder:
        yield Path(folder)


def _build(
    home: Home,
    official: Path,
    data: Path,
    wanted: Sequence[str],
    left_out: dict[str, str],
    *,
    seed: int,
    control: Control,
) -> dict[str, Document]:
    """Write and build the sources, one after another; what fails goes into ``left_out``."""
    built: dict[str, Document] = {}
    for card in source_cards():
        if card.id not in wanted or card.id in left_out:
            continue
        control.check()
        control.say(f"{card.title} in miniature")
        try:
            folder = _official(official, card.id, seed)
            given = {"source": card.id, "folder": str(folder), "data": str(data)}
            built[card.id] = build_job(home, given, control)
        except (StudyError, EngineError) as error:
            left_out[card.id] = str(error)
    return built


def claim(folder: Path, seed: int) -> None:
    """Take a folder for a miniature of this seed, by a mark in it.

    Raises:
        StudyError: it holds something else, or the miniature of another seed.
        NotWritable: it cannot be written.
    """
    mark = folder / MARK
    if mark.is_file():
        if _seed_of(mark) != seed:
            raise StudyError(f"{folder} holds the miniature of another seed; take another folder.")
        return
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise StudyError(f"{folder} is not empty and holds no miniature; take another folder.")
    write_lines(mark, [json.dumps({"seed": seed, "note": "Invented data; nobody is in it."})])


def _seed_of(mark: Path) -> int | None:
    try:
        found = json.loads(mark.read_text(encoding="utf-8"))["seed"]
    except (OSError, ValueError, TypeError, KeyError):
        return None
    return found if isinstance(found, int) else None


def _known() -> Mapping[str, SourceCard]:
    """Every name of a source, aliases too, to its card."""
    return {name: card for card in source_cards() for name in (card.id, *card.aliases)}


def _wanted(given: Sequence[str] | None) -> list[str]:
    """The ids of the sources asked for: of their cards, else of their generators."""
    cards = _known()
    every = list(dict.fromkeys([*(card.id for card in cards.values()), *WRITERS]))
    if given is None:
        return [name for name in every if name not in cards or cards[name].id == name]
    for name in given:
        if name not in cards and name not in WRITERS:
            raise StudyError(f"There is no source {name!r}; known are {', '.join(sorted(every))}.")
    return list(dict.fromkeys(cards[name].id if name in cards else name for name in given))


def _no_way(source: str) -> str:
    """Why a source cannot be built here; empty where it can."""
    card = _known().get(source)
    if card is None:
        return f"{source} has no reader yet."
    return "" if _written_as(card) else f"{source} has no generator yet."


def _written_as(card: SourceCard) -> str | None:
    """The id under which the source's generator stands."""
    return next((name for name in (card.id, *card.aliases) if name in WRITERS), None)


def _official(root: Path, source: str, seed: int) -> Path:
    """The folder of a source's official layout; sources of one module share it, written once."""
    name = _written_as(_known()[source])
    assert name is not None
    folder = root / WRITERS[name]
    done = folder.with_name(f".{folder.name}.done")
    try:
        if not done.exists():
            writer(name)(folder, seed=seed)
            done.touch()
    except OSError as error:
        raise StudyError(f"{folder} cannot be written ({error.strerror}).") from error
    return folder


def _state(data: Path, wanted: Sequence[str], left_out: Mapping[str, str]) -> Document:
    """Which tasks of the registry are ready, and why others of the sources asked for are not."""
    built = read_built(data)
    serves = {plan.task: card.id for card in source_cards() for plan in card.plans}
    ready: list[str] = []
    missing: dict[str, str] = {}
    tasks = load_tasks()
    for task in tasks:
        source = serves.get(task.id, task.source)
        if task.id in built and find_index(task, data) is not None:
            ready.append(task.id)
        elif source in wanted or task.id not in serves:
            reason = left_out.get(source, f"the builder of {source} made no row of it")
            missing[task.id] = reason
    return {"tasks": ready, "missing": missing, "ready": len(ready), "of": len(tasks)}
