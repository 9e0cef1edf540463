"""The job behind ``triptych bench own``: a person's table or collection becomes tasks of a root.

Owns the order of things: read, recognise, split by patient, make rows by the makers that make the
benchmark's, register. Refuses data that feed no task, saying what was recognised.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from db.home import Home
from db.session import open_store
from engine.control import Control
from studies.errors import BadRequest
from studies.medheb.builders.built import KEEP_FAULTS
from studies.medheb.builders.card import COMMON, Choice, SourceCard, settled
from studies.medheb.builders.job import build, told
from studies.medheb.own_collection import read_collection
from studies.medheb.own_columns import ROLES, shown
from studies.medheb.own_entries import records_of, tokens_of
from studies.medheb.own_plans import own_name, plans_of, register_tasks
from studies.medheb.own_table import Read, Reading, read_own
from studies.medheb.tasks import OWN

OWN_CHOICES = (
    Choice("folder", "", (), "where relative paths of the table lie; the table's own folder"),
    Choice("words", "", (), "classes for the codes of the label column: 0:normal,1:pneumonia"),
    Choice(
        "label_question", "Which category does this show?", (), "asked where a class is to be named"
    ),
    Choice("box_as", "corners", ("corners", "size"), "x1,y1,x2,y2 or x,y,width,height of a box"),
    Choice("scrub", True, (), "take days, numbers and names with a title out of texts"),
    *(Choice(role, "", (), "the column that holds it; none leaves it out") for role in ROLES),
)


def own_job(home: Home, arguments: dict[str, Any], control: Control) -> dict[str, Any]:
    """Make tasks of a person's own data.

    Args:
        home: holds the collections.
        arguments: ``table`` (a path; or a collection's name if there is no such file), ``data``
            (the root) and optionally ``name`` and ``settings``.
        control: asked between rows, told the progress.

    Returns:
        As ``build_job``, with ``columns`` (what was recognised) and ``found`` (role to column).

    Raises:
        BadRequest: neither table nor collection, a column that is not there, or nothing to ask.
        StudyError: a setting that is not known.
        NotWritable: the data root cannot be written.
        Cancelled: the user asked to stop; nothing is registered.
    """
    given, root = str(arguments["table"]), Path(arguments["data"])
    path = Path(given)
    is_file = path.is_file()
    name = own_name(arguments.get("name") or (path.stem if is_file else path.name))
    choices = (*COMMON, *OWN_CHOICES)
    settings = settled(f"{OWN}/{name}", choices, arguments.get("settings") or {})
    read = _read(home, path if is_file else given, settings, control)
    columns = shown(read.found, read.columns) if read.columns else ""
    notes = [columns] if columns else []
    records = records_of(
        read.entries, scrub=settings["scrub"], seed=settings["seed"],
        share=float(settings["test_share"]), notes=notes,
    )  # fmt: skip
    planned = plans_of(name, records, str(settings["label_question"]))
    if not planned:
        raise BadRequest(_nothing(read, columns))
    card = _card(name, tuple(plan for _, plan in planned))
    tasks = [task for task, _ in planned]
    made = build(card, records, root, settings, notes=notes, control=control, tasks=tasks,
                 groups=tokens_of(records, seed=settings["seed"]))  # fmt: skip
    ready = [task for task in tasks if made[task.id].rows]
    register_tasks(root, name, ready)
    return {
        "source": card.id, "data": str(root), "columns": columns, "settings": settings,
        "tasks": {task: told(one) for task, one in made.items()}, **_told(read),
    }  # fmt: skip


def _told(read: Read) -> dict[str, Any]:
    return {
        "records": len(read.entries),
        "found": dict(read.found),
        "faults": [{"where": f.where, "reason": f.reason} for f in read.faults[:KEEP_FAULTS]],
        "faulty": len(read.faults),
    }


def _read(home: Home, given: Path | str, settings: Mapping[str, Any], control: Control) -> Read:
    words = coded(str(settings["words"]))
    if isinstance(given, str):
        with open_store(home) as store:
            return read_collection(store, given, words, control)
    columns = {role: str(settings[role]) for role in ROLES if settings[role]}
    folder = Path(settings["folder"]) if settings["folder"] else given.parent
    reading = Reading(folder, columns, words, str(settings["box_as"]))
    return read_own(given, reading, control)


def coded(words: str) -> dict[str, str]:
    """``0:normal,1:pneumonia`` as a mapping.

    Raises:
        BadRequest: a part without a colon.
    """
    found = {}
    for part in filter(None, (one.strip() for one in words.split(","))):
        code, colon, word = part.partition(":")
        if not colon or not word.strip():
            raise BadRequest(f"words are CODE:WORD,CODE:WORD, not {part!r}.")
        found[code.strip()] = word.strip()
    return found


def _nothing(read: Read, columns: str) -> str:
    first = "".join(f" The first fault: {one.where}: {one.reason}." for one in read.faults[:1])
    return (
        "Nothing to ask was found: tasks need a picture or volume with a label of two classes, a "
        "report, a question with its answer or a box; or question and answer, or findings and "
        f"impression; or two modalities of one patient. {columns}{first}"
    )


def _card(name: str, plans: tuple[Any, ...]) -> SourceCard:
    return SourceCard(
        id=f"{OWN}/{name}", title=name, form="2d", modality="own data", anatomy="multi_region",
        access="open", licence="your own", url="", obtain="", expects=(),
        read=lambda _root, _settings: iter(()), plans=plans,
    )  # fmt: skip
