"""One task in the making: where its pictures go, what is left out, and a row's first columns.

Refuses nothing: a record that cannot be placed is a fault, the rest goes on.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from engine.control import Control
from engine.errors import EvidenceError
from studies.medheb.builders.card import TaskPlan
from studies.medheb.builders.media import Media, names_of
from studies.medheb.builders.record import Fault, Record
from studies.medheb.tasks import Task

Row = dict[str, Any]
OWN_POSITIVE = ("text", "text-to-volume", "pairs", "region")  # makers: it is the record's own


@dataclass
class Making:
    """One task in the making.

    Attributes:
        task: its registry row; instruction and query text come from there.
        plan: how its source makes it.
        media: puts pictures there.
        settings: of the build, all of them.
        labels: the source's classes.
        every_label: the classes of all label tasks, duplicates merged.
        control: asked between rows.
        notes: sentences about what was left out or chosen.
        faults: records that could not be placed.
        broken: keys of records whose pictures turned out unreadable: nobody's candidates.
        every: all records of the source, also those that are not evaluated.
        groups: a record's group to the token that its rows tell of it; none are told without.
    """

    task: Task
    plan: TaskPlan
    media: Media
    settings: Mapping[str, Any]
    labels: Sequence[str]
    every_label: Sequence[str]
    control: Control = field(default_factory=Control)
    notes: list[str] = field(default_factory=list)
    faults: list[Fault] = field(default_factory=list)
    broken: set[str] = field(default_factory=set)
    every: Sequence[Record] = ()
    groups: Mapping[str, str] = field(default_factory=dict)

    @property
    def seed(self) -> int:
        """Of every random choice."""
        return int(self.settings["seed"])

    @property
    def cap(self) -> int:
        """Most rows."""
        return int(self.settings["cap"])

    def start(self, **columns: Any) -> Row:
        """A row's first columns: the task's instruction and query text, and what is given."""
        text = self.task.qry_text
        return {
            "qry_inst": self.task.qry_inst,
            "qry_text": "" if text.startswith(("<", "{")) else text,
            **columns,
        }

    def placed(self, records: Iterable[Record], make: Callable[[Record], Row]) -> Iterator[Row]:
        """The rows of the records that can be placed; a fault for each that cannot."""
        for record in records:
            self.control.check()
            try:
                yield {**self._told(record), **make(record)}
            except EvidenceError as error:
                self.faults.append(Fault(record.key, str(error)))
            self.control.step()

    def _told(self, record: Record) -> Row:
        """Whose a row is: the query's group, and the positive's where that is its own."""
        token = self.groups.get(record.group)
        if token is None or self.plan.make == "text-exemplars":  # a class asks, nobody's text
            return {}
        own = {"tgt_group": [token]} if self.plan.make in OWN_POSITIVE else {}
        return {"qry_group": token, **own}

    def told_of(self, records: Iterable[Record]) -> Row:
        """The column of the candidates' groups, where groups are told."""
        tokens = [self.groups.get(record.group, "") for record in records]
        return {"tgt_group": tokens} if self.groups else {}

    def seen(self, record: Record, role: str = "") -> str | list[str] | list[list[str]]:
        """The names of what a record shows: a volume's slices, one picture, or several."""
        if role or not record.pictures:
            name = role or next(iter(record.volumes))
            return self.media.volume(record.volumes[name])
        names = names_of(self.media, record.pictures)
        return names[0] if len(names) == 1 else names

    def readable(
        self, choices: Callable[[set[str]], Sequence[Record]]
    ) -> list[tuple[Record, str | list[str] | list[list[str]]]]:
        """What is chosen once all of it can be read, and the names of what it shows.

        Args:
            choices: chooses anew without the records of these keys; asked again until nothing of
                its choice is broken.
        """
        while True:
            found = []
            for record in choices(self.broken):
                try:
                    found.append((record, self.seen(record)))
                except EvidenceError:
                    self.broken.add(record.key)
                    break
            else:
                return found


@dataclass(frozen=True)
class Made:
    """Rows and how they are ranked.

    Attributes:
        rows: of the index file.
        pool: the recorded name of the pool.
        eval_type: ``local`` or ``global``.
    """

    rows: tuple[Row, ...]
    pool: str
    eval_type: str


def video(row: Row, making: Making, *, target: bool = False) -> Row:
    """The release's word for slices shown as one sequence, on the side that holds them."""
    if making.task.parser.startswith("volume"):
        row["tgt_modality" if target else "qry_modality"] = "video"
    return row


def listed(names: Any, making: Making) -> Any:
    """Volume parsers want a list of slices even where there is one."""
    return [names] if making.task.parser.startswith("volume") and isinstance(names, str) else names
