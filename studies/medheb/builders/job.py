"""The job behind ``triptych bench build``: a source's official files become tasks of a data root.

Owns the order of things: look at the folder, read the records, choose the test side, make the rows,
write them. Refuses a folder that is not the source's, naming what was looked for; a record that
cannot be read or placed is a fault with its reason, and the build goes on.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from db.home import Home
from engine.control import Control
from engine.errors import EvidenceError
from studies.errors import StudyError
from studies.medheb.builders import choose
from studies.medheb.builders.built import KEEP_FAULTS, Built, read_built, write_built
from studies.medheb.builders.card import SourceCard, TaskPlan, settle
from studies.medheb.builders.catalogue import source_card, source_cards
from studies.medheb.builders.media import Media
from studies.medheb.builders.pictures import since
from studies.medheb.builders.record import Fault, Record
from studies.medheb.builders.rows import MAKERS, Made, Making
from studies.medheb.builders.write import write_index
from studies.medheb.tasks import Task, load_tasks, match_tasks

SHOWN_NAMES = 6  # of what a folder lacks


def build_job(home: Home, arguments: dict[str, Any], control: Control) -> dict[str, Any]:
    """Build the tasks of one source.

    Args:
        home: not used; all jobs are called so.
        arguments: ``source`` (id), ``folder`` (its files), ``data`` (the data root), and
            optionally ``tasks`` (patterns) and ``settings``.
        control: asked between records, told the progress.

    Returns:
        ``source``, ``data``, ``tasks`` (id to rows, pool, faults, notes) and ``faults``.

    Raises:
        StudyError: no such source, setting or task, or the folder is not the source's.
        NotWritable: the data root cannot be written.
        Cancelled: the user asked to stop; finished tasks stay.
    """
    card = source_card(str(arguments["source"]))
    settings = settle(card, arguments.get("settings") or {})
    root, folder = Path(arguments["data"]), Path(arguments["folder"])
    if root == folder:
        raise StudyError(f"{root} is the folder of the source; give another for the data root.")
    chosen_plans(card, load_tasks(), arguments.get("tasks"))  # before hours of reading
    records, faults = read_records(card, folder, settings, control)
    made = build(
        card, records, root, settings,
        pattern=arguments.get("tasks"), notes=_found(card, folder, settings), control=control,
    )  # fmt: skip
    return {
        "source": card.id,
        "data": str(root),
        "records": len(records),
        "tasks": {task: told(one) for task, one in made.items()},
        "faults": [{"where": f.where, "reason": f.reason} for f in faults[:KEEP_FAULTS]],
        "faulty": len(faults),
        "settings": settings,
    }


def _found(card: SourceCard, folder: Path, settings: Mapping[str, Any]) -> Sequence[str]:
    """What lies in the folder, in words; damage of a part is a fault of the reading already."""
    try:
        return card.found(folder, settings)
    except EvidenceError as error:
        return (f"Which edition lies there cannot be told: {error}",)


def told(one: Built) -> dict[str, Any]:
    """What a build made of one task, as plain values."""
    faults = [{"where": where, "reason": reason} for where, reason in one.faults]
    return {
        "rows": one.rows, "pool": one.pool, "notes": list(one.notes), "faulty": one.faulty,
        "faults": faults,
    }  # fmt: skip


def read_records(
    card: SourceCard, folder: Path, settings: Mapping[str, Any], control: Control
) -> tuple[list[Record], list[Fault]]:
    """All records of a source, and what could not be read.

    Raises:
        StudyError: the folder is not there or not the source's, or two records share a key.
    """
    if not folder.is_dir():
        raise StudyError(f"{folder}: there is no such folder; give the files of {card.title}.")
    if not any(any(folder.glob(name)) for name in card.expects):
        names = list(dict.fromkeys(name.lstrip("*/") for name in card.expects))
        wanted = " and no ".join(names[:SHOWN_NAMES])
        raise StudyError(
            f"{folder} does not look like {card.title}: there is no {wanted}. {card.obtain}"
        )
    control.begin(0, unit="records", phase=f"Reading {card.title}")
    records: list[Record] = []
    faults: list[Fault] = []
    for found in card.read(folder, settings):
        control.check()
        (faults if isinstance(found, Fault) else records).append(found)  # type: ignore[arg-type]
        control.step()
    twice = [key for key, count in Counter(record.key for record in records).items() if count > 1]
    if twice:
        raise StudyError(f"{card.title}: {twice[0]} occurs twice in {folder}; keep one.")
    if not records:
        first = f" The first fault: {faults[0].where}: {faults[0].reason}" if faults else ""
        raise StudyError(f"{folder} holds nothing of {card.title} that can be read.{first}")
    return records, faults


def build(
    card: SourceCard,
    records: Sequence[Record],
    root: Path,
    settings: Mapping[str, Any],
    *,
    pattern: str | None = None,
    notes: Sequence[str] = (),
    control: Control = Control(),
    tasks: Sequence[Task] | None = None,
    groups: Mapping[str, str] | None = None,
) -> dict[str, Built]:
    """Make and write the tasks of a source's records; the notes go with each.

    Args:
        card: of the source.
        records: of it.
        root: the data root.
        settings: all of the build.
        pattern: of the tasks to make, None for all.
        notes: go with every task.
        control: asked between rows, told the progress.
        tasks: the registry that the card's plans name, None for the one that ships.
        groups: a record's group to the token that its rows tell of it, None to tell nothing.

    Returns:
        Task id to what was decided and counted.
    """
    known = load_tasks() if tasks is None else tasks
    registry = {task.id: task for task in known}
    plans = chosen_plans(card, known, pattern)
    before, made = read_built(root), {}
    for plan in plans:
        task = registry[plan.task]
        other = plan.task in before and dict(before[plan.task].settings) != dict(settings)
        start = 0 if card.stable else since(root, task.image_root, card.id, settings, other=other)
        media = Media(root / task.image_root, since=start)
        making = Making(
            task, plan, media, settings, _labels(card, records), every_label(), control, [*notes],
            groups=groups or {},
        )  # fmt: skip
        made[plan.task] = _write(card, making, _make(making, plan, records), root)
        if plan.task in before and not made[plan.task].rows:
            _take_back(root / task.data_path, before[plan.task])
        write_built(root, made)
    return made


def chosen_plans(card: SourceCard, tasks: Sequence[Task], pattern: str | None) -> list[TaskPlan]:
    """The tasks of a source that a pattern means, all without one.

    Raises:
        StudyError: it fits none of them.
    """
    registry = {task.id: task for task in tasks}
    plans = [plan for plan in card.plans if _wanted(registry[plan.task], pattern)]
    if not plans:
        feeds = ", ".join(plan.task for plan in card.plans)
        raise StudyError(f"{card.id} has no task that fits {pattern!r}; it feeds {feeds}.")
    return plans


def _wanted(task: Task, pattern: str | None) -> bool:
    return not pattern or task in match_tasks([task, *_others(task)], pattern)


def _others(task: Task) -> list[Task]:
    """All other tasks, so that a pattern that fits none of a source's is no error here."""
    return [other for other in load_tasks() if other.id != task.id]


def _make(making: Making, plan: TaskPlan, records: Sequence[Record]) -> Made:
    serving = [record for record in records if plan.serves is None or plan.serves(record)]
    settings, making.every = making.settings, serving
    tested = choose.side_of_test(serving, seed=making.seed, share=float(settings["test_share"]))
    count = min(_asked(tested, plan), making.cap)
    making.control.begin(count, unit="rows", phase=f"Building {plan.task}")
    return MAKERS[plan.make](making, tested)


def _asked(tested: Sequence[Record], plan: TaskPlan) -> int:
    """How many rows there can be: one a record, or one for each text of its regions."""
    if plan.make != "region":
        return len(tested)
    return sum(len({region.text for region in record.regions}) for record in tested)


def _write(card: SourceCard, making: Making, result: Made, root: Path) -> Built:
    digest = ""
    if result.rows:
        path = write_index(root, making.task, result)
        digest = hashlib.sha256(path.read_bytes()).hexdigest()
    else:
        making.notes.append("No row could be made, so no index file was written.")
    faults = tuple((fault.where, fault.reason) for fault in making.faults[:KEEP_FAULTS])
    return Built(
        card.id, result.pool, dict(making.settings), len(result.rows), faults, len(making.faults),
        tuple(making.notes), digest,
    )  # fmt: skip


def _take_back(path: Path, old: Built) -> None:
    """Remove the index file of an earlier build where the new one makes no row; none but ours."""
    there = hashlib.sha256(path.read_bytes()).hexdigest() if path.is_file() else ""
    if there and there == old.index:
        path.unlink()


def _labels(card: SourceCard, records: Sequence[Record]) -> tuple[str, ...]:
    """The source's classes; those of its records where they are worded otherwise than the card."""
    found = {label for record in records for label in record.labels}
    return card.labels if found <= set(card.labels) else tuple(sorted(found))


def every_label() -> tuple[str, ...]:
    """The classes of all label tasks, in the order of the cards, duplicates merged."""
    found: dict[str, str] = {}
    for card in source_cards():
        if any(plan.make == "label" for plan in card.plans):
            for label in card.labels:
                found.setdefault(label.strip().lower(), label)
    return tuple(found.values())
